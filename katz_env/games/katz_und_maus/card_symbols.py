"""The cards of the pictures as SVG symbols, and the layouts of several cards."""

from __future__ import annotations

from collections.abc import Sequence

from katz_env.drawing import Symbols, lettering
from katz_env.games.katz_und_maus.actions import RANKS, WILD

LIGHT, DIM, GOLD, INK = "#f6f2e4", "#a3b1cc", "#ffc83d", "#1b2236"
CARD_WIDTH, CARD_HEIGHT = 36, 50
PEEP = 17
"""The height of the strip of a covered card on a deposit in which its rank can be read."""

# Twelve hues in the order of the ranks, all dark enough for white letters.
_COLORS = (
    "#b3261e", "#c2500a", "#97690b", "#6b7410", "#3c7d1e", "#12805c",
    "#0e7490", "#1f6fd6", "#4a55c7", "#7446c0", "#a1329e", "#b02a63",
)  # fmt: skip


def card(character: str) -> str:
    """Return the id of the symbol of a card that lies face up."""
    return f"card{character}"


def place(symbol: str, x: float, y: float, zoom: float = 1) -> str:
    """Return SVG of one symbol with its upper left corner at a point."""
    return f'<use href="#{symbol}" transform="translate({x:.4g} {y:.4g}) scale({zoom:.3g})"/>'


def empty_place(x: float, y: float, zoom: float = 1) -> str:
    """Return SVG of a place where no card lies."""
    width, height = CARD_WIDTH * zoom - 3, CARD_HEIGHT * zoom - 3
    return (
        f'<rect x="{x + 1.5:.4g}" y="{y + 1.5:.4g}" width="{width:.4g}" height="{height:.4g}" rx="{5 * zoom:.3g}" fill="none" '
        f'stroke="{DIM}" stroke-width="1.5" stroke-dasharray="5 5"/>'
    )


def pile(symbol: str, count: int, x: float, y: float, zoom: float = 1) -> str:
    """Return SVG of a pile of cards, of which `symbol` is the top one."""
    if not count:
        return empty_place(x, y, zoom)
    behind = [place("card-back", x - 2.5 * i, y - 2.5 * i, zoom) for i in range(min(count, 4) - 1, 0, -1)]
    return "".join([*behind, place(symbol, x, y, zoom)])


def row(symbols: Sequence[str], x: float, y: float, room: float, zoom: float = 1) -> str:
    """Return SVG of cards side by side, which overlap where they would need more than `room`."""
    width = CARD_WIDTH * zoom
    step = min(width + 4, (room - width) / (len(symbols) - 1)) if len(symbols) > 1 else 0
    return "".join(place(symbol, x + i * step, y, zoom) for i, symbol in enumerate(symbols))


def fan(symbols: Sequence[str], x: float, y: float, room: float) -> str:
    """Return SVG of a deposit, the top card last and lowest, so that the ranks of the covered cards can be read."""
    step = min(PEEP, (room - CARD_HEIGHT) / (len(symbols) - 1)) if len(symbols) > 1 else 0
    return "".join(place(symbol, x, y + i * step) for i, symbol in enumerate(symbols)) or empty_place(x, y)


def _card(fill: str, inside: str) -> str:
    return (
        f'<rect x=".75" y=".75" width="34.5" height="48.5" rx="5" fill="{fill}" stroke="{LIGHT}" stroke-width="1.5"/>{inside}'
    )


def _symbols() -> dict[str, str]:
    """Return all symbols by id."""
    back = '<rect x="4.5" y="4.5" width="27" height="41" rx="3" fill="none" stroke="#7f93c4" stroke-width="1.5"/>'
    # The face of a cat: ears, head, eyes and whiskers.
    cat = (
        '<path d="M10 20 11 11 17 15H19L25 11 26 20Q27 33 18 34 9 33 10 20Z" fill="#7f93c4"/>'
        '<circle cx="14.5" cy="22" r="1.8" fill="#3d4f82"/><circle cx="21.5" cy="22" r="1.8" fill="#3d4f82"/>'
        '<path d="M18 26v3M6 25l7 2M6 31l7-2M30 25l-7 2M30 31l-7-2" stroke="#3d4f82" stroke-width="1.2" fill="none"/>'
    )
    found = {"card-back": _card("#3d4f82", back + cat)}
    for character, color in zip(RANKS, _COLORS, strict=True):
        word = "10" if character == "T" else character
        small = lettering.draw(word, 4, 14.5, 13, "#fff")
        large = lettering.draw(word, 20, 42, 25 if len(word) == 1 else 20, "#fff", "middle")
        found[card(character)] = _card(color, small + large)
    crown = f'<path d="M9 20 11 12 15 17 20 10 25 17 29 12 31 20Z" transform="translate(10 -4) scale(.8)" fill="{INK}"/>'
    small = lettering.draw(WILD, 4, 14.5, 13, INK)
    found[card(WILD)] = _card(GOLD, small + lettering.draw(WILD, 20, 44, 25, INK, "middle") + crown)
    return {name: f'<g id="{name}">{shape}</g>' for name, shape in found.items()}


SYMBOLS: Symbols = _symbols()
