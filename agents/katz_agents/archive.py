"""Named arrays in ``.npz`` files, read without pickle; archives that declare too large sizes are refused before unpacking."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SMALL = 16 * 1024**2
"""The number of bytes that every archive may unpack to."""
LARGEST_RATIO = 10
"""The largest ratio of unpacked to packed size of a larger archive; trained float32 weights compress to nine tenths."""


def load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read the arrays of an archive.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        In one line, if it is no archive of arrays, is broken, holds Python objects, or declares to unpack to far more than a
        file of its size can hold.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise ValueError("it is not a regular file")  # opening a pipe would wait for a writer
    with path.open("rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                size, declared = file.seek(0, io.SEEK_END), sum(entry.file_size for entry in archive.infolist())
                if declared > SMALL + LARGEST_RATIO * size:
                    raise ValueError(f"its {size:,} bytes declare to unpack to {declared:,}")
                return {entry.filename.removesuffix(".npy"): _read(archive, entry) for entry in archive.infolist()}
        except OSError:
            raise
        except Exception as error:  # zipfile, zlib and NumPy may raise anything for a broken file
            raise ValueError(" ".join(str(error).split()) or type(error).__name__) from None


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> NDArray[Any]:
    """Return the array of an entry, after checking that its header declares exactly the bytes of the entry."""
    with archive.open(entry) as file:
        data = file.read(entry.file_size)  # the argument limits what is unpacked, whatever the entry contains
    name, stream = entry.filename, io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran_order, dtype = read_header(stream)
    if dtype.hasobject:
        raise ValueError(f"{name} holds Python objects, which are never loaded")
    if math.prod(shape) * dtype.itemsize != len(data) - stream.tell():
        raise ValueError(f"{name} is declared as {dtype} {shape}, but holds {len(data) - stream.tell():,} bytes")
    array: NDArray[Any] = np.frombuffer(bytearray(data), dtype, math.prod(shape), stream.tell())
    return array.reshape(shape, order="F" if fortran_order else "C")


def save_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], *, compressed: bool = True) -> None:
    """Write named arrays to a file atomically: they are written beside `path`, which is then replaced."""
    beside = path.with_name(f".{path.stem}.tmp.npz")
    try:
        (np.savez_compressed if compressed else np.savez)(beside, **arrays)  # type: ignore[arg-type]
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
