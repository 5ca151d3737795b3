"""The folder of a run: it is not overwritten, and one process at a time is at work in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from watch import CHECKPOINT

LOCK = ".lock"


@contextmanager
def held(folder: Path, resume: bool) -> Iterator[None]:
    """Make the folder of a new run, or check that it can be resumed, and hold it against other processes.

    Raises
    ------
    ValueError
        If it holds a run that is not to be resumed, or none that could be, or if another process is at work in it.
    """
    if resume:
        if not (folder / CHECKPOINT).is_file():
            raise ValueError(f"there is no checkpoint in {folder} to resume from")
    elif folder.exists() and not all(_before_checkpoint(path) for path in folder.iterdir()):
        raise ValueError(f"{folder} holds a run already; use --resume to go on with it, or another --run-dir")
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK, blocking=False)
    try:
        lock.acquire()
    except Timeout:
        raise ValueError(f"another process is at work in {folder}; wait until it ends, or use another --run-dir") from None
    try:
        if not resume:
            for path in folder.glob("events.*"):
                path.unlink()
        yield
    finally:
        lock.release()


def _before_checkpoint(path: Path) -> bool:
    """Whether a run that was stopped before its first checkpoint leaves this: there is nothing to go on with."""
    return path.name in ("settings.json", "pool", LOCK) or path.name.startswith(("events.", ".checkpoint."))
