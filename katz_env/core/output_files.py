"""Output files that are replaced atomically: they are written beside their path, then renamed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

from katz_env.core.interrupts import interrupts_deferred


def check_output(path: Path, *, force: bool) -> None:
    """Check that `path` can be written, before any work is done for it.

    Parameters
    ----------
    path
        The file that is to be written.
    force
        Whether an existing file may be overwritten.

    Raises
    ------
    ValueError
        If it exists and `force` is False, is no regular file, or cannot be written.
    """
    if path.exists():
        if not path.is_file():
            raise ValueError(f"cannot write {path}: it is not a regular file; name another one")
        if not force:
            raise ValueError(f"{path} exists; use --force to overwrite it")
    elif not path.parent.is_dir():
        raise ValueError(f"cannot write {path}: there is no folder {path.parent}")
    beside = _beside(path).with_suffix(".test")
    try:
        beside.open("wb").close()
        beside.unlink()
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror}") from None


@contextmanager
def replaced_file(path: Path) -> Iterator[FileIO]:
    """Open a new file that takes the place of `path` when the block ends without an exception.

    After an exception `path` is what it was before. An existing file keeps its permissions; a link goes on pointing where it
    points.

    Parameters
    ----------
    path
        The file to write or replace.

    Yields
    ------
    FileIO
        An unbuffered binary file; see `write_whole`.

    Raises
    ------
    ValueError
        If the file cannot be written.
    """
    target, beside = Path(os.path.realpath(path)), _beside(path)
    try:
        file = beside.open("wb", buffering=0)
        try:
            yield file
            with interrupts_deferred():
                os.fsync(file.fileno())
                file.close()
                if target.exists():
                    beside.chmod(target.stat().st_mode & 0o7777)
                beside.replace(target)
        finally:
            file.close()
            with suppress(OSError):
                beside.unlink()
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror or error}") from None


def write_file(path: Path, content: bytes) -> None:
    """Write or replace a whole file; see `replaced_file`."""
    with replaced_file(path) as file:
        write_whole(file, content)


def write_whole(file: FileIO, content: bytes) -> None:
    """Append `content` to an unbuffered file, all of it or nothing.

    Raises
    ------
    OSError
        If there is no room, for example; what was written of `content` is cut off again.
    """
    start, rest = file.seek(0, os.SEEK_END), memoryview(content)
    try:
        while rest:
            rest = rest[file.write(rest) :]
    except BaseException:
        file.truncate(start)
        raise


def _beside(path: Path) -> Path:
    """Return the name under which a file is written before it is renamed; it is short, because names are limited in length."""
    return Path(os.path.realpath(path)).with_name(f".katz_env-{os.getpid()}.part")
