"""Generate ``katz_env/drawing/lettering.json`` from a font: ``python tools/make_lettering.py DejaVuSansCondensed-Bold.ttf``.

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
OUTPUT = Path(__file__).parents[1] / "katz_env/drawing/lettering.json"


def main() -> None:
    """Extract the advance width and the outline of each of `CHARACTERS`, at 100 units an em with the y axis pointing down."""
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/make_lettering.py FONT.ttf")
    font = TTFont(sys.argv[1])
    glyphs, names, scale = font.getGlyphSet(), font.getBestCmap(), 100 / font["head"].unitsPerEm
    lines = []
    for character in CHARACTERS:
        glyph = glyphs[names[ord(character)]]
        pen = SVGPathPen(glyphs, ntos=lambda number: f"{round(number, 1):g}")
        glyph.draw(TransformPen(pen, (scale, 0, 0, -scale, 0, 0)))
        entry = [round(glyph.width * scale, 1), pen.getCommands()]
        lines.append(f"{json.dumps(character, ensure_ascii=False)}: {json.dumps(entry)}")
    OUTPUT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
