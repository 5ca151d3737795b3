"""Ctrl-C and other signals that end a process as requests, which are met where nothing is lost."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self

from katz_env.command_line import run_command
from katz_env.core.interrupts import ignore_leftovers
from katz_train.startup import Handler, install


class Interrupted(KeyboardInterrupt):
    """The work was given up because of a signal."""


class Interrupts:
    """While it is entered, SIGINT, SIGTERM and SIGHUP ask for a stop instead of raising exceptions wherever the program is.

    A signal raises `Interrupted` within `abandonable`, and else as soon as that is entered. Later signals change nothing, so an
    impatient second Ctrl-C cannot lose what the first one saves. Outside of the main thread, which alone receives signals,
    entering does nothing.

    Attributes
    ----------
    number : int
        The first signal that arrived, or 0.
    """

    number: int = 0

    def __init__(self) -> None:
        self._abandonable = False
        self._before: dict[signal.Signals, Handler] = {}
        self._hook = sys.unraisablehook

    def __enter__(self) -> Self:
        """Handle the signals."""
        if threading.current_thread() is threading.main_thread():
            self._before = install(self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        """Put the handlers back that were there."""
        for number, handler in self._before.items():
            if signal.getsignal(number) == self._handle:
                signal.signal(number, handler)
        if self.number:
            sys.unraisablehook = self._hook
        self._before = {}

    def _handle(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.number = self.number or number
        ignore_leftovers()
        if self._abandonable:
            self._abandonable = False
            raise Interrupted

    @property
    def exit_code(self) -> int:
        """What a shell calls a program that a signal ended: 130 for SIGINT, 143 for SIGTERM."""
        return 128 + (self.number or signal.SIGINT)

    @contextmanager
    def abandonable(self) -> Iterator[None]:
        """Around work that is given up when a signal arrives: raises `Interrupted` then, or at once if one has arrived."""
        self.check()
        self._abandonable = True
        try:
            yield
        finally:
            self._abandonable = False

    def check(self) -> None:
        """Raise `Interrupted` if a signal has arrived."""
        if self.number:
            raise Interrupted


def run_script(run: Callable[[Interrupts], int], script: str) -> None:
    """Run a script and exit.

    Parameters
    ----------
    run
        Is given the `Interrupts`, entered, and returns the exit code: 130 if it stopped because of a signal.
    script
        What the script is called in its messages.
    """
    with Interrupts() as interrupts:
        code = run_command(lambda: run(interrupts), script)
        install(signal.SIG_IGN)  # the end of the interpreter would print a traceback for an exception
    if interrupts.number:
        ignore_leftovers()
    sys.exit(interrupts.exit_code if code == 130 else code)
