"""A picture of a table, taken apart so that nobody sees what their seat may not see."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

import numpy as np

from katz_env.drawing import lettering

Symbols = Mapping[str, str]
"""SVG elements by their ids, which pictures refer to with ``<use href="#id">``."""

_REFERENCE = re.compile(r'href="#([^"]+)"')


@dataclass(frozen=True)
class Picture:
    """One table, drawn.

    Attributes
    ----------
    width, height
        The size, the same for every table of a game.
    public
        SVG of all that everybody sees, in pieces: those that stay the same from move to move are equal strings.
    hidden, shown
        For each seat, SVG of its private things as the others see them, and as the seat itself sees them.
    symbols
        What the SVG refers to, besides the characters of `lettering`.
    """

    width: int
    height: int
    public: tuple[str, ...]
    hidden: tuple[str, ...]
    shown: tuple[str, ...]
    symbols: Symbols

    def svg(self, seat: int | None = None, label: str = "") -> str:
        """The picture from the eyes of `seat`, or with everything open if None.

        Parameters
        ----------
        seat
            From whose eyes.
        label
            What a screen reader says instead of the picture.

        Raises
        ------
        ValueError
            If there is no such seat.
        """
        if seat is not None and (
            type(seat) is bool or not isinstance(seat, (int, np.integer)) or not 0 <= seat < len(self.shown)
        ):
            raise ValueError(f"seat is {seat!r}; it must be a seat from 0 to {len(self.shown) - 1}, or None for open hands")
        seats = [self.shown[i] if seat is None or seat == i else self.hidden[i] for i in range(len(self.shown))]
        spoken = escape(label).replace("\n", "&#10;")
        body = "".join([*self.public, *seats])
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" role="img" aria-label="{spoken}">'
            f"<defs>{definitions(body, self.symbols)}</defs>{body}</svg>"
        )


def definitions(body: str, symbols: Symbols) -> str:
    """The symbols and characters that `body` refers to, directly or through other symbols."""
    known, found = lettering.symbols() | dict(symbols), dict[str, str]()
    waiting = [body]
    while waiting:
        for name in _REFERENCE.findall(waiting.pop()):
            if name not in found:
                found[name] = known[name]
                waiting.append(known[name])
    return "".join(found[name] for name in sorted(found))
