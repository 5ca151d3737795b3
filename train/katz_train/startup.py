"""What every script does first, before its slow imports; this module imports nothing that takes time.

NumPy's matrix products are told to use one thread: the networks are so small that a second thread hardly helps on a free
machine, and on a busy one the threads wait for each other, so that a product takes many times as long.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What stops a script: Ctrl-C, what ``kill`` and job schedulers send, and a terminal that is closed."""

Handler = Any
"""What `signal.signal` takes and returns."""


def install(handler: Handler) -> dict[signal.Signals, Handler]:
    """Handle the signals that stop a script, but none that is ignored, as under ``nohup``; returns the handlers before."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    return {number: signal.signal(number, handler) for number in SIGNALS if before[number] is not signal.SIG_IGN}


def begin(script: str) -> None:
    """End the script with one line if it is interrupted while it imports and prepares.

    An exception would be no use there: the modules that are being imported swallow it, or print a traceback. The exit code is
    128 plus the number of the signal: 130 after Ctrl-C, 143 after SIGTERM. Other handlers take over when the work begins; see
    `interrupts.Interrupts`.
    """

    def end(number: int, frame: FrameType | None) -> None:
        del frame
        line = f"{script}: interrupted before the work began; nothing was changed, the same command starts again\n"
        try:
            os.write(2, line.encode())
        finally:
            os._exit(128 + number)

    install(end)
    if {"-h", "--help"} & set(sys.argv):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # the reader of the help, such as head, may stop reading
