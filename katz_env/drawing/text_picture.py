"""The picture of a table for games that draw nothing themselves: its text."""

from __future__ import annotations

from collections.abc import Sequence

from katz_env.drawing import lettering
from katz_env.drawing.picture import Picture

_WIDTH, _MARGIN, _SIZE, _LINE = 520, 14, 14, 22
_GROUND, _INK = "#22345a", "#f6f2e4"


def text_picture(public: str, views: Sequence[str]) -> Picture:
    """Draw a table as text.

    Parameters
    ----------
    public
        What everybody may see, in any number of lines.
    views
        For each seat, what only the seat itself sees, in one line.
    """
    lines = public.splitlines()
    height = 2 * _MARGIN + _LINE * (len(lines) + len(views))
    ground = f'<rect width="{_WIDTH}" height="{height}" rx="12" fill="{_GROUND}"/>'
    shown = [_draw(line, i) for i, line in enumerate(lines)]
    private = [_draw(line, len(lines) + i) for i, line in enumerate(views)]
    return Picture(_WIDTH, height, (ground, *shown), tuple("" for _ in views), tuple(private), {})


def _draw(line: str, number: int) -> str:
    y = _MARGIN + _LINE * number + _SIZE
    return lettering.draw(line, _MARGIN, y, _SIZE, _INK, room=_WIDTH - 2 * _MARGIN) if line else ""
