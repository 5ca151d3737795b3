"""The cards and signs of the pictures as SVG symbols, and the layout of cards that are spread out."""

from __future__ import annotations

from typing import Any

from katz_env.drawing import Symbols, lettering

LIGHT, DIM, GOLD, INK = "#f6f2e4", "#a3b1cc", "#ffc83d", "#1b2236"
VALUE_COLORS = ("#1f6fd6", "#c2500a", "#12805c", "#a1329e", "#c22a3c", "#0e7490", "#7a5230", "#566074")
CARD_WIDTH, CARD_HEIGHT = 36, 50

Items = list[tuple[str, int]]
"""Symbols and the number of each, in the order in which they lie."""


def kind_name(kind: int, kinds: int) -> str:
    """Return the name of a kind of card in the ids of symbols: its value, or ``J``."""
    return "J" if kind == kinds - 1 else str(kind + 1)


def faces(counts: Any) -> Items:
    """Return the symbols of cards that lie face up, given their counts by kind."""
    return [(f"card{kind_name(kind, len(counts))}", int(count)) for kind, count in enumerate(counts) if count]


def backs(number: int, known: Any) -> Items:
    """Return the symbols of a hand that lies face down; cards that everybody knows show their value on the back.

    Parameters
    ----------
    number
        The number of cards in the hand.
    known
        The counts of the known cards by kind.
    """
    items = [(f"known{kind_name(kind, len(known))}", int(count)) for kind, count in enumerate(known) if count]
    rest = int(number) - sum(count for _, count in items)
    return items + ([("card-back", rest)] if rest else [])


def spread(items: Items, x: float, y: float, room: float, height: float) -> str:
    """Return SVG of cards side by side; if they would hide each other too much, smaller piles with their numbers below.

    Parameters
    ----------
    items
        The symbols and their numbers.
    x, y
        The upper left corner.
    room, height
        The largest width of all cards together, and the height of a card.
    """
    zoom = height / CARD_HEIGHT
    single = [(symbol, 1) for symbol, count in items for _ in range(count)]
    step = _step(len(single), room / zoom, CARD_WIDTH, CARD_WIDTH + 4)
    if step < CARD_WIDTH + 2:
        step = min(step, 27)  # so that a card hides the pips at the right edge of the one below it
    if step >= 24:
        parts = [f'<use href="#{symbol}" x="{place * step:.4g}"/>' for place, (symbol, _) in enumerate(single)]
    else:
        zoom *= 0.76
        step = _step(len(items), room / zoom, CARD_WIDTH + 6, CARD_WIDTH + 18)
        parts = [_pile(symbol, count, place * step) for place, (symbol, count) in enumerate(items)]
        y -= 3
    return f'<g transform="translate({x:g} {y:g}) scale({zoom:.3g})">{"".join(parts)}</g>'


def _step(number: int, room: float, width: float, widest: float) -> float:
    """Return the distance between neighbouring cards of this width, at most `widest`."""
    return min(widest, (room - width) / (number - 1)) if number > 1 else widest


def _pile(symbol: str, count: int, x: float) -> str:
    behind = "".join(f'<use href="#{symbol}" x="{x + 3 * i:.4g}"/>' for i in range(min(count, 3) - 1, 0, -1))
    number = lettering.draw(f"\N{MULTIPLICATION SIGN}{count}", x + CARD_WIDTH / 2, CARD_HEIGHT + 20, 19, LIGHT, "middle")
    return f'{behind}<use href="#{symbol}" x="{x:.4g}"/>{number}'


def _card(fill: str, edge: str, inside: str) -> str:
    return f'<rect x=".75" y=".75" width="34.5" height="48.5" rx="5" fill="{fill}" stroke="{edge}" stroke-width="1.5"/>{inside}'


def _digit(word: str, fill: str, size: float, x: float, y: float) -> str:
    return lettering.draw(word, x, y, size, fill, "middle")


_STAR = "M0-7 1.8-2.2 6.7-2.2 2.8.9 4.1 5.7 0 2.9-4.1 5.7-2.8.9-6.7-2.2-1.8-2.2Z"
_BACK = '<rect x="4.5" y="4.5" width="27" height="41" rx="3" fill="none" stroke="#7f93c4" stroke-width="1.5"/>'
_DIAMOND = '<path d="M18 14 26 25 18 36 10 25Z" fill="#7f93c4"/>'


def _symbols() -> dict[str, str]:
    """Return all symbols by id."""
    found = {
        "card-back": _card("#3d4f82", LIGHT, _BACK + _DIAMOND),
        "sign-mouse": (
            '<path d="M20 15c5 2 6-2 5-6" fill="none" stroke="#d8a7a7" stroke-width="1.8" stroke-linecap="round"/>'
            '<ellipse cx="12" cy="13" rx="10" ry="6.5" fill="#c9cede"/><circle cx="6.5" cy="7" r="4" fill="#c9cede"/>'
            '<circle cx="6.5" cy="7" r="2" fill="#d8a7a7"/><circle cx="4.6" cy="12" r="1.2" fill="#1b2236"/>'
        ),
        "sign-note": (
            f'<ellipse cx="5" cy="15" rx="4.6" ry="3.4" transform="rotate(-18 5 15)" fill="{GOLD}"/>'
            f'<path d="M9 14V1c1 4 6 4 5 10" fill="none" stroke="{GOLD}" stroke-width="2"/>'
        ),
    }
    colors = {str(value + 1): color for value, color in enumerate(VALUE_COLORS)}
    for word, color in colors.items():
        pips = "".join(
            f'<circle cx="30" cy="{25 + 5 * (i - (int(word) - 1) / 2):g}" r="1.7" fill="#fff" opacity=".75"/>'
            for i in range(int(word))
        )
        found[f"card{word}"] = _card(color, LIGHT, _digit(word, "#fff", 28, 14.5, 35) + pips)
    star = f'<path transform="translate(30 8.5) scale(.5)" d="{_STAR}" fill="{INK}"/>'
    found["cardJ"] = _card(GOLD, LIGHT, _digit("J", INK, 28, 14.5, 31.5) + star)
    for word, color in [*colors.items(), ("J", GOLD)]:
        ink = INK if word == "J" else "#fff"
        found[f"known{word}"] = _card("#3d4f82", LIGHT, _BACK) + (
            f'<circle cx="15" cy="25" r="9.5" fill="{color}"/>' + _digit(word, ink, 15, 15, 29 if word == "J" else 30.5)
        )
        found[f"chip{word}"] = f'<rect width="16" height="22" rx="3" fill="{color}"/>' + _digit(
            word, ink, 14, 8, 14.5 if word == "J" else 16
        )
    return {name: f'<g id="{name}">{shape}</g>' for name, shape in found.items()}


SYMBOLS: Symbols = _symbols()
