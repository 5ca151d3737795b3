"""Rendering of a table for the environments: as text, as pixels, or in a window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from katz_env.core.game import Game
from katz_env.drawing.pixels import need, rgb
from katz_env.drawing.window import Window

RENDER_MODES = ("ansi", "rgb_array", "human")
RENDER_FPS = 2
ZOOM = 1.5  # pixels per unit of a picture

Frame = str | NDArray[np.uint8]


class Renderer:
    """A renderer of the tables of a game in one render mode.

    Parameters
    ----------
    game
        The game whose tables are rendered.
    mode
        ``"ansi"`` for text; ``"rgb_array"`` for pixels, uint8 ``(height, width, 3)``, of the same size for every table;
        ``"human"`` for a window; None for nothing.
    known
        The render modes of the environment.

    Raises
    ------
    ValueError
        If the environment has no such mode.
    DependencyNotInstalled
        If the mode is ``"human"`` and the extra ``render`` is not installed.
    """

    def __init__(self, game: Game, mode: str | None, known: Sequence[str] = RENDER_MODES) -> None:
        if mode is not None and mode not in known:
            raise ValueError(f"render_mode is {mode!r}; it must be None or one of {', '.join(map(repr, known))}")
        self.game, self.mode = game, mode
        if mode == "human":  # not for "rgb_array", which Stable-Baselines3 sets without ever asking for pixels
            for module in ("resvg_py", "PIL.Image"):
                need(module)
        self._window = Window(game.name, 1 / RENDER_FPS) if mode == "human" else None

    def render(self, record: Any, seat: int | None) -> Frame | None:
        """Render a table from the point of view of `seat`, or with all hands open if it is None.

        Returns
        -------
        str, uint8 (height, width, 3) or None
            The text or the pixels; None if the table is shown in a window, or the mode is None.

        Raises
        ------
        DependencyNotInstalled
            If the mode needs the extra ``render`` and it is not installed.
        """
        if self.mode == "ansi":
            return self.game.text(record, seat)
        if self.mode is None:
            return None
        picture = self.game.picture(record)
        svg = picture.svg(seat)
        if self._window is None:
            return rgb(svg, ZOOM)
        self._window.show(svg, picture.width, picture.height)
        return None

    def close(self) -> None:
        """Close the window, if one is open."""
        if self._window is not None:
            self._window.close()
