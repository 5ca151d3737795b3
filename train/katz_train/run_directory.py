"""The directory of a run: it is not overwritten, one process at a time works in it, and its files are always whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

CHECKPOINT = "checkpoint.npz"
LOCK = ".lock"


class RunDirectory:
    """A directory that this process has locked; see `run_directory_lock`.

    Attributes
    ----------
    path : Path
        The directory.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = self._identity()

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = (self.path / LOCK).stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def check(self) -> None:
        """ValueError if the lock has gone since, and with it probably the directory: then nothing may be written there."""
        if self._lock is None or self._identity() != self._lock:
            raise ValueError(
                f"{self.path / LOCK} was removed while the run was at work, so the run stops and saves nothing more"
            )


@contextmanager
def run_directory_lock(path: Path, resume: bool, checkpoint: str = CHECKPOINT) -> Iterator[RunDirectory]:
    """Make the directory of a new run, or check that its run can be resumed, and lock it against other processes.

    Parameters
    ----------
    path
        The directory.
    resume
        Whether the run is to be resumed.
    checkpoint
        The name of the file from which it can be.

    Raises
    ------
    ValueError
        If it holds a run that is not to be resumed, or none that could be, or if another process works in it.
    """
    if resume:
        if not (path / checkpoint).is_file():
            raise ValueError(f"there is no checkpoint in {path} to resume from")
    elif path.exists() and not all(_before_checkpoint(inside) for inside in path.iterdir()):
        raise ValueError(f"{path} holds a run already; use --resume to go on with it, or another --run-dir")
    path.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path / LOCK, blocking=False)
    try:
        lock.acquire()
    except Timeout:
        raise ValueError(f"another process is at work in {path}; wait until it ends, or use another --run-dir") from None
    try:
        if not resume:
            for events in path.glob("events.*"):
                events.unlink()
        yield RunDirectory(path)
    finally:
        lock.release()


def _before_checkpoint(path: Path) -> bool:
    """Whether a run that was stopped before its first checkpoint leaves this: there is nothing to go on with."""
    known = path.name in ("settings.json", "pool", "iterations", LOCK)
    return known or path.name.startswith(("events.", ".checkpoint.", ".settings."))


def check_same_settings(before: Mapping[str, object], now: Mapping[str, object], path: Path) -> None:
    """Raise ValueError if a run is to be resumed with other settings than it was started with."""
    for name, value in now.items():
        if before.get(name) != value:
            raise ValueError(f"the run in {path} was started with {name} {before.get(name)!r}, not {value!r}")


def write_file(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` make a file beside `path`, then rename it: the file is always whole, and what was there is not lost.

    Raises
    ------
    ValueError
        If it cannot be written.
    """
    beside = path.with_name(f".{path.stem}.tmp{path.suffix}")
    try:
        write(beside)
        beside.replace(path)
    except (OSError, RuntimeError) as error:  # PyTorch turns a full disk into a RuntimeError
        raise cannot_save(path, error) from None
    finally:
        beside.unlink(missing_ok=True)


def cannot_save(path: Path, error: Exception) -> ValueError:
    """What to raise if a file cannot be written."""
    return ValueError(f"cannot save {path}: {getattr(error, 'strerror', None) or error}")
