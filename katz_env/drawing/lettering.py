"""Text as outlines, so that it looks the same everywhere and needs no fonts.

The outlines in ``lettering.json`` are those of DejaVu Sans Condensed Bold; its license is in ``LICENSE.lettering.txt``.
Characters that it lacks are drawn as ``?``.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files


@cache
def glyphs() -> dict[str, tuple[float, str]]:
    """The advance width and the outline of each character, in hundredths of the font size."""
    text = files("katz_env.drawing").joinpath("lettering.json").read_text(encoding="utf-8")
    return {character: (width, path) for character, (width, path) in json.loads(text).items()}


def symbols() -> dict[str, str]:
    """The characters as SVG elements, by the ids under which `draw` refers to them."""
    return {_id(character): f'<path id="{_id(character)}" d="{path}"/>' for character, (_, path) in glyphs().items() if path}


def _id(character: str) -> str:
    return f"t{ord(character):x}"


def width(text: str, size: float) -> float:
    """The width of a text at this font size, in units of the picture."""
    return sum(glyphs().get(character, glyphs()["?"])[0] for character in text) * size / 100


def shorten(text: str, size: float, room: float) -> str:
    """Replace the end of a text by an ellipsis if the text is wider than `room`."""
    if width(text, size) <= room:
        return text
    text = text[: int(5 * room / size)]  # no character is narrower than a fifth of its height
    while text and width(text + "…", size) > room:
        text = text[:-1]
    return text.rstrip() + "…"


def draw(text: str, x: float, y: float, size: float, fill: str, anchor: str = "start", room: float | None = None) -> str:
    """Draw a text as an SVG element.

    Parameters
    ----------
    text
        One line.
    x, y
        The point of the baseline where the text starts, is centred or ends; see `anchor`.
    size
        The font size, which is the height of an em in units of the picture.
    fill
        A colour.
    anchor
        ``"start"``, ``"middle"`` or ``"end"``.
    room
        The greatest width; a wider text is shortened. None for any width.
    """
    if room is not None:
        text = shorten(text, size, room)
    x -= {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * width(text, size)
    table, pen, uses = glyphs(), 0.0, []
    for character in text:
        character = character if character in table else "?"
        if table[character][1]:
            uses.append(f'<use href="#{_id(character)}"' + (f' x="{pen:g}"/>' if pen else "/>"))
        pen = round(pen + table[character][0], 1)
    return f'<g transform="translate({x:.4g} {y:.4g}) scale({size / 100:.3g})" fill="{fill}">{"".join(uses)}</g>'
