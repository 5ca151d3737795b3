"""The cards and tiles of the pictures as SVG symbols."""

from __future__ import annotations

from katz_env.drawing import Symbols, lettering
from katz_env.games.meow.rules import BOWL, COLOURS, FISH, FISHBONE, Tile

LIGHT, DIM, GOLD, INK = "#f6f2e4", "#a3b1cc", "#ffc83d", "#1b2236"
CARD_COLOURS = ("#1f6fd6", "#d23f86", "#12805c")
CARD_WIDTH, CARD_HEIGHT = 36, 50
TILE_WIDTH, TILE_HEIGHT = 44, 54
MOST_RANKS = 40

_TRUMP = "M-6-4-3-1 0-6 3-1 6-4 4.5 4-4.5 4Z"  # a crown
_BACK = (
    '<rect x="4.5" y="4.5" width="27" height="41" rx="3" fill="none" stroke="#7f93c4" stroke-width="1.5"/>'
    '<g fill="#7f93c4"><ellipse cx="18" cy="29" rx="6" ry="5"/><circle cx="10.5" cy="22" r="2.6"/>'
    '<circle cx="15.5" cy="18" r="2.6"/><circle cx="20.5" cy="18" r="2.6"/><circle cx="25.5" cy="22" r="2.6"/></g>'
)


def card_symbol(card: int, ranks: int) -> str:
    """Return the id of the symbol of a card."""
    return f"card{COLOURS[card // ranks]}{card % ranks + 1}"


def tile_symbol(tile: Tile) -> str:
    """Return the id of the symbol of a tile."""
    return f"tile{tile.name.replace('+', 'p').replace('-', 'm')}"


def _rounded(width: int, height: int, fill: str, edge: str, inside: str) -> str:
    size = f'width="{width - 1.5}" height="{height - 1.5}"'
    return f'<rect x=".75" y=".75" {size} rx="5" fill="{fill}" stroke="{edge}" stroke-width="1.5"/>{inside}'


def _card(colour: int, rank: int) -> str:
    """Return a card: the ground says its colour; trumps have a golden edge and a crown."""
    trump = colour == len(COLOURS) - 1
    crown = f'<path transform="translate(18 9.5) scale(.9)" d="{_TRUMP}" fill="{GOLD}"/>' if trump else ""
    letter = "" if trump else lettering.draw(COLOURS[colour], 18, 13, 10, "#fff", "middle")
    number = lettering.draw(str(rank), 18, 37, 24 if rank < 10 else 21, "#fff", "middle")
    return _rounded(CARD_WIDTH, CARD_HEIGHT, CARD_COLOURS[colour], GOLD if trump else LIGHT, crown + letter + number)


def tile_face(tile: Tile) -> str:
    """Return the face of a tile: a bowl, a fishbone, a fish or a broken vase, and its value."""
    if tile.kind == BOWL:
        food = "".join(f'<circle cx="{x}" cy="{y}" r="3" fill="#8a5a2b"/>' for x, y in ((15, 17), (22, 15), (29, 17)))
        drawing = f'{food}<path d="M8 19H36L32 31H12Z" fill="#2f8f5b"/>'
        return _tile("#e9f2e2", "#2f8f5b", drawing, tile.name)
    if tile.kind == FISHBONE:
        ribs = "".join(f"M{x} {19 - h}V{19 + h}" for x, h in ((17, 5), (21, 6.5), (25, 5.5), (29, 4)))
        drawing = (
            f'<path d="M13 19H34{ribs}M34 19 39 14M34 19 39 24" fill="none" stroke="#7a2a33" stroke-width="2" '
            'stroke-linecap="round"/><circle cx="10" cy="19" r="4.5" fill="#7a2a33"/>'
            '<circle cx="9" cy="18" r="1.1" fill="#fff"/>'
        )
        return _tile("#f6dede", "#a3303d", drawing, tile.name.replace("-", "\N{MINUS SIGN}"))
    if tile.kind == FISH:
        drawing = (
            '<path d="M6 26C12 14 26 14 32 26 26 38 12 38 6 26Z" fill="#2f77b8"/><path d="M30 26 40 18V34Z" fill="#2f77b8"/>'
            '<circle cx="13" cy="24" r="1.8" fill="#fff"/>'
            '<path d="M19 20q3 6 0 12" fill="none" stroke="#fff" stroke-width="1.5"/>'
        )
        return _tile("#dcebf7", "#2f77b8", drawing, "")
    drawing = (
        '<path d="M16 12H20L18 17 22 21 19 25 24 29 21 33 25 44H17C10 40 10 28 16 20Z" fill="#8d6bb0"/>'
        '<path d="M24 13H28L28 20C34 28 35 38 29 44L26 35 29 30 24 26 27 21 23 17Z" fill="#a98bc8"/>'
    )
    return _tile("#ece4f4", "#7a559f", drawing, "")


def _tile(ground: str, edge: str, drawing: str, value: str) -> str:
    number = lettering.draw(value, TILE_WIDTH / 2, 48, 16, INK, "middle") if value else ""
    return _rounded(TILE_WIDTH, TILE_HEIGHT, ground, edge, drawing + number)


def _symbols() -> dict[str, str]:
    """Return all symbols by id."""
    found = {
        "card-back": _rounded(CARD_WIDTH, CARD_HEIGHT, "#3d4f82", LIGHT, _BACK),
        "sign-trump": f'<path d="{_TRUMP}" fill="{GOLD}"/>',
        "sign-marker": (
            f'<circle r="10" fill="{GOLD}"/><g fill="{INK}"><path d="M-6-8-2-4H2L6-8V1A6 6 0 0 1-6 1Z"/></g>'
            f'<circle cx="-2.4" cy="-.5" r="1.2" fill="{GOLD}"/><circle cx="2.4" cy="-.5" r="1.2" fill="{GOLD}"/>'
        ),
    }
    for colour, letter in enumerate(COLOURS):
        for rank in range(1, MOST_RANKS + 1):
            found[f"card{letter}{rank}"] = _card(colour, rank)
    return {name: f'<g id="{name}">{shape}</g>' for name, shape in found.items()}


def symbols_of(tiles: tuple[Tile, ...]) -> Symbols:
    """Return the symbols of cards and signs, and those of the given types of tiles."""
    return SYMBOLS | {tile_symbol(tile): f'<g id="{tile_symbol(tile)}">{tile_face(tile)}</g>' for tile in tiles}


SYMBOLS = _symbols()
