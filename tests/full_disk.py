"""A file system with little room, for tests of what happens when a disk is full."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_file_system(folder: Path, kilobytes: int = 64) -> Iterator[None]:
    """Mount a tmpfs of this size on a folder; the test is skipped, aloud, where that is not allowed."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no command mount, so no small file system can be made")
    if mounted.returncode:
        pytest.skip(f"a small file system cannot be mounted here, so a full disk is not tested: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(file: Path, room: int = 0) -> None:
    """Fill the file system of a file with zeros, but for this many bytes."""
    with file.open("wb", buffering=0) as out:
        try:
            while True:
                out.write(bytes(4096))
        except OSError:
            out.truncate(max(0, out.tell() - room))
