"""Writes ``lettering.json`` anew: ``python -m katz_env.drawing.make_lettering DejaVuSansCondensed-Bold.ttf``.

Needs fontTools, which comes with matplotlib.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.transformPen import TransformPen
from fontTools.ttLib import TTFont

CHARACTERS = "".join(map(chr, [*range(32, 127), *range(0xC0, 0x100)])) + "…\N{MINUS SIGN}\N{EN DASH}\N{MIDDLE DOT}"


def main() -> None:
    """Take the outlines of `CHARACTERS` from a font file: advance width and path, 100 units an em, y downwards."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m katz_env.drawing.make_lettering FONT.ttf")
    font = TTFont(sys.argv[1])
    glyphs, names, scale = font.getGlyphSet(), font.getBestCmap(), 100 / font["head"].unitsPerEm
    lines = []
    for character in CHARACTERS:
        glyph = glyphs[names[ord(character)]]
        pen = SVGPathPen(glyphs, ntos=lambda number: f"{round(number, 1):g}")
        glyph.draw(TransformPen(pen, (scale, 0, 0, -scale, 0, 0)))
        entry = [round(glyph.width * scale, 1), pen.getCommands()]
        lines.append(f"{json.dumps(character, ensure_ascii=False)}: {json.dumps(entry)}")
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    Path(__file__).with_name("lettering.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
