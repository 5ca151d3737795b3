"""How environments show a table: as text, as pixels, in a window."""

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
ZOOM = 1.5  # pixels a unit of a picture

Frame = str | NDArray[np.uint8]


class Renderer:
    """Shows tables of a game in one render mode.

    Parameters
    ----------
    game
        The game.
    mode
        None; ``"ansi"``: text; ``"rgb_array"``: pixels, uint8 ``(height, width, 3)``, the same size for every table;
        ``"human"``: a window.
    known
        The modes that the environment has.

    Raises
    ------
    ValueError
        If there is no such mode.
    """

    def __init__(self, game: Game, mode: str | None, known: Sequence[str] = RENDER_MODES) -> None:
        if mode is not None and mode not in known:
            raise ValueError(f"render_mode is {mode!r}; it must be None or one of {', '.join(map(repr, known))}")
        self.game, self.mode = game, mode
        if mode == "human":  # pixels may never be asked for, and then need nothing: Stable-Baselines3 always sets the mode
            for module in ("resvg_py", "PIL.Image"):
                need(module)
        self._window = Window(game.name, 1 / RENDER_FPS) if mode == "human" else None

    def render(self, record: Any, seat: int | None) -> Frame | None:
        """The table from the eyes of `seat` (None: open) as the mode says; in a window it is shown, and None returned.

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
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
