"""The entry point of ``katz``: an interrupt while its modules are imported, which takes a while, ends it with one line."""

from __future__ import annotations

import os
import signal
from contextlib import suppress


def main() -> None:
    """Import the command and run it."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, _exit)
    from katz_env import cli

    signal.signal(signal.SIGINT, handler)
    cli.main()


def _exit(signum: int, frame: object) -> None:
    """End the process at once: an exception would be lost where an imported module catches it."""
    del frame
    with suppress(OSError):
        os.write(2, b"katz: interrupted\n")
    os._exit(128 + signum)
