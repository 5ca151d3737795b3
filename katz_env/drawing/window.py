"""A window that shows a picture after the other and answers while it waits."""

from __future__ import annotations

import os
import time
import warnings
from typing import Any

from katz_env.drawing.pixels import need, rgb

_PATIENCE = 0.02  # seconds between two looks at what the user does with the window


class Window:
    """A window through pygame-ce; it opens with the first picture. When the user closes it, it stays closed.

    Parameters
    ----------
    title
        What stands above the picture.
    seconds
        How long a picture is shown at least.

    Attributes
    ----------
    is_closed
        Whether the user has closed it.
    """

    def __init__(self, title: str, seconds: float) -> None:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        self.title, self.seconds, self.is_closed = title, seconds, False
        self._pygame = need("pygame")
        self._svg, self._size = "", (1, 1)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy opens a window of its own."""
        return Window, (self.title, self.seconds)

    def show(self, svg: str, width: int, height: int) -> None:
        """Show a picture for its time; the window stays responsive and may be resized or closed meanwhile.

        Parameters
        ----------
        svg
            The picture.
        width, height
            Its size.

        Raises
        ------
        RuntimeError
            If no window can be opened here.
        """
        if self.is_closed:
            return
        self._svg, self._size = svg, (width, height)
        if not (self._pygame.display.get_init() and self._pygame.display.get_surface()):
            self._open()
        self._draw()
        end = time.monotonic() + self.seconds
        while self._answer() and time.monotonic() < end:
            time.sleep(_PATIENCE)

    def _open(self) -> None:
        pygame = self._pygame
        try:
            pygame.display.init()
            if pygame.display.get_driver() == "offscreen" and "SDL_VIDEODRIVER" not in os.environ:
                # Not an error: environment checkers try every render mode, on machines without a screen too.
                warnings.warn("there is no screen, so nobody sees the window; render_mode='rgb_array' needs none", stacklevel=2)
            room_x, room_y = pygame.display.get_desktop_sizes()[0]
            zoom = min(1.5, 0.9 * room_x / self._size[0], 0.85 * room_y / self._size[1])
            size = [round(zoom * length) for length in self._size]
            pygame.display.set_mode(size, pygame.RESIZABLE)
            pygame.display.set_caption(self.title)
        except pygame.error as error:
            raise RuntimeError(f"cannot open a window ({error}); render_mode='rgb_array' needs none") from None

    def _draw(self) -> None:
        """Draw the picture as large as the window allows, in its middle."""
        pygame = self._pygame
        surface = pygame.display.get_surface()
        room = surface.get_size()
        zoom = max(0.1, min(room[0] / self._size[0], room[1] / self._size[1]))
        pixels = rgb(self._svg, zoom)
        drawn = pygame.surfarray.make_surface(pixels.swapaxes(0, 1))
        surface.fill((0, 0, 0))
        surface.blit(drawn, drawn.get_rect(center=surface.get_rect().center))
        pygame.display.flip()

    def _answer(self) -> bool:
        """React to what the user does with the window; False once it is closed."""
        pygame = self._pygame
        resized = False
        for event in pygame.event.get():
            if event.type == pygame.QUIT:
                self.is_closed = True
                self.close()
                return False
            resized |= event.type in (pygame.VIDEORESIZE, pygame.WINDOWEXPOSED)
        if resized:
            self._draw()
        return True

    def close(self) -> None:
        """Close the window; the next picture opens it again, unless the user has closed it."""
        self._pygame.display.quit()
