"""A window that shows one picture after another and answers while it waits."""

from __future__ import annotations

import os
import time
import warnings
from contextlib import suppress
from typing import Any

from katz_env.drawing.pixels import need, rgb

_POLL = 0.02  # seconds between two checks of what the user does with the window


class Window:
    """A window of pygame-ce, which opens with the first picture. When the user closes it, it stays closed.

    It leaves the windows of others alone, such as those of other environments in the same process: it neither draws into them
    nor closes them, and passes their events on.

    Parameters
    ----------
    title
        The title of the window.
    seconds
        How long each picture is shown at least.

    Attributes
    ----------
    is_closed
        Whether the user has closed it.
    """

    def __init__(self, title: str, seconds: float) -> None:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        self.title, self.seconds, self.is_closed = title, seconds, False
        self._pygame = need("pygame")
        self._window: Any = None
        self._svg, self._size = "", (1, 1)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy opens a window of its own."""
        return Window, (self.title, self.seconds)

    def show(self, svg: str, width: int, height: int) -> None:
        """Show a picture for its time; meanwhile the window can be resized and closed.

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
        if not self._is_open():
            self._open()
        self._draw()
        end = time.monotonic() + self.seconds
        while self._answer() and time.monotonic() < end:
            time.sleep(_POLL)

    def _is_open(self) -> bool:
        """Whether there is a window; another environment may have ended all of pygame."""
        if self._window is None:
            return False
        try:
            self._window.get_surface()
        except self._pygame.error:
            self._window = None
        return self._window is not None

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
            self._window = pygame.Window(self.title, size, resizable=True)
        except pygame.error as error:
            raise RuntimeError(f"cannot open a window ({error}); render_mode='rgb_array' needs none") from None

    def _draw(self) -> None:
        """Draw the picture as large as the window allows, in its middle."""
        surface = self._window.get_surface()
        room = surface.get_size()
        zoom = max(0.1, min(room[0] / self._size[0], room[1] / self._size[1]))
        pixels = rgb(self._svg, zoom)
        drawn = self._pygame.surfarray.make_surface(pixels.swapaxes(0, 1))
        surface.fill((0, 0, 0))
        surface.blit(drawn, drawn.get_rect(center=surface.get_rect().center))
        self._window.flip()

    def _answer(self) -> bool:
        """React to what the user does with the window; False once it is closed."""
        pygame, resized, events = self._pygame, False, self._pygame.event.get()
        shared = pygame.display.get_surface() is not None  # there is a window of `pygame.display` too
        for event in events:
            window = getattr(event, "window", None)
            if window is self._window:
                self.is_closed |= event.type == pygame.WINDOWCLOSE
                resized |= event.type in (pygame.WINDOWSIZECHANGED, pygame.WINDOWEXPOSED)
            elif shared or window is not None:
                with suppress(pygame.error):  # there may be no room for an event that nobody has fetched for long
                    pygame.event.post(event)
        if self.is_closed:
            self.close()
        elif resized:
            self._draw()
        return not self.is_closed

    def close(self) -> None:
        """Close the window; the next picture opens it again, unless the user has closed it."""
        if self._is_open():
            self._window.destroy()
        self._window = None
