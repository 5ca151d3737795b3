"""Standard streams that do not stop a command when they are closed, full, or in an encoding that lacks a character."""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from typing import Any, TextIO

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_SIMPLE = "katz_env.simple"  # the error handler that is registered below
_SIMPLE_CHARACTERS = dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼", "+") | dict.fromkeys("─━", "-") | dict.fromkeys("│┃", "|")
_SIMPLE_CHARACTERS |= {
    "•": "*",
    "·": ".",
    "…": "...",
    "\N{EN DASH}": "-",
    "\N{MINUS SIGN}": "-",
    "\N{MULTIPLICATION SIGN}": "x",
}


class _ForgivingFile(io.FileIO):
    """A file descriptor for writing; what cannot be written is dropped, and the first error is kept in `error`."""

    error: OSError | None = None

    def write(self, data: Any, /) -> int:
        """Write, or drop `data` where that fails."""
        try:
            return super().write(data)
        except OSError as error:
            self.error = self.error or error
            return memoryview(data).nbytes


def prepare_streams() -> None:
    """Make the standard streams of this process forgiving. Calling it again does nothing.

    - Characters that the encoding of a stream lacks are written as simpler ones or as ``?``.
    - A closed stream becomes the null device, also its file descriptor, so that no file is opened under its number.
    - What cannot be written, because a pipe is closed or a disk is full, is dropped; see `lost_output`.

    Streams that somebody has replaced, as tests and notebooks do, stay as they are.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free: this one
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8")
    elif sys.stdin is sys.__stdin__ and isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    codecs.register_error(_SIMPLE, _simplify)
    if sys.stdout is sys.__stdout__:
        sys.stdout = _forgiving(sys.stdout, 1)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _forgiving(sys.stderr, 2)


def lost_output() -> OSError | None:
    """The error if standard output went to a place that is full; None if it could be written, or nobody reads it any more."""
    sys.stdout.flush()
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    error = raw.error if isinstance(raw, _ForgivingFile) else None
    return error if error is not None and error.errno in _FULL else None


def _forgiving(stream: TextIO | None, descriptor: int) -> TextIO:
    """The same stream with a `_ForgivingFile` below it."""
    if stream is not None and (os.name == "nt" or not isinstance(stream, io.TextIOWrapper)):
        if isinstance(stream, io.TextIOWrapper):  # a console of Windows, which takes every character
            stream.reconfigure(errors=_SIMPLE)
        return stream
    if isinstance(stream, io.TextIOWrapper):
        stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_ForgivingFile(descriptor, "w", closefd=False)),
        encoding="utf-8" if stream is None else stream.encoding,
        errors=_SIMPLE,
        line_buffering=stream is None or stream.line_buffering,
        write_through=stream is not None and stream.write_through,
    )


def _simplify(error: UnicodeError) -> tuple[str, int]:
    """Encode what an encoding lacks: lines and dots as ASCII, everything else as ``?``."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join("." if "\u2800" <= c <= "\u28ff" else _SIMPLE_CHARACTERS.get(c, "?") for c in missing), error.end
