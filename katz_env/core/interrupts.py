"""Interrupts: signals that end a process are raised like Ctrl-C, and saving is not interrupted."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Terminated(KeyboardInterrupt):
    """A signal other than that of Ctrl-C asked the process to end, for example because its terminal was closed.

    Attributes
    ----------
    signum : signal.Signals
        The signal.
    """

    def __init__(self, signum: int) -> None:
        self.signum = signal.Signals(signum)
        super().__init__(self.signum.name)


def interrupted_code(interrupt: KeyboardInterrupt) -> int:
    """Return the exit code of an interrupted process: 128 plus the number of the signal, which is 130 after Ctrl-C."""
    return 128 + (interrupt.signum if isinstance(interrupt, Terminated) else signal.SIGINT)


def ignore_leftovers() -> None:
    """Let Python say nothing of objects that an interrupt left half made, and that therefore cannot be cleaned up."""
    sys.unraisablehook = lambda _: None


@contextmanager
def signals_raised() -> Iterator[None]:
    """Raise `Terminated` in the block for SIGTERM and SIGHUP, unless the process ignores or handles them already.

    Python allows handlers in the main thread only; in another thread the block runs as it is.
    """

    def terminate(signum: int, _: object) -> None:
        if os.getpid() != owner:  # a forked child ends as it would have without this handler
            signal.signal(signum, signal.SIG_DFL)
            signal.raise_signal(signum)
        for other in changed:  # closing a terminal may send the signal twice; the second must not interrupt the saving
            signal.signal(other, signal.SIG_IGN)
        raise Terminated(signum)

    owner, changed = os.getpid(), []
    if threading.current_thread() is threading.main_thread():
        changed = [signum for signum in _SIGNALS if signal.getsignal(signum) is signal.SIG_DFL]
    for signum in changed:
        signal.signal(signum, terminate)
    try:
        yield
    finally:
        for signum in changed:
            signal.signal(signum, signal.SIG_DFL)


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Defer interrupts while the block saves something; one that arrives meanwhile is raised when the block has ended."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []
    handlers = {signum: handler for signum in _SIGNALS if callable(handler := signal.getsignal(signum))}
    for signum in handlers:
        signal.signal(signum, lambda signum, _: arrived.append(signum))
    try:
        yield
    finally:
        for signum, handler in handlers.items():
            signal.signal(signum, handler)
        if arrived:
            signal.raise_signal(arrived[0])
