"""Compiled functions that call compiled functions of other files, with a disk cache that notices edits of all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile


def linked(*modules: ModuleType, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Like ``njit(cache=True, nogil=True, **options)``, for functions that call into `modules`.

    Numba's disk cache compares the time stamp of the file that holds the cached function only; code that was compiled in from
    another file would go stale unnoticed. Here the stamp is that of the file and of all `modules`.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        compiled = njit(**{"nogil": True, "error_model": "numpy"} | options)(function)
        try:
            cache = FunctionCache(function)
        except RuntimeError:  # no folder can be written: compile in every process, as njit(cache=True) would refuse to
            return compiled
        stamps = [cache._impl.locator.get_source_stamp()]
        for module in modules:
            status = Path(str(module.__file__)).stat()
            stamps.append((status.st_mtime, status.st_size))
        cache._cache_file = IndexDataCacheFile(cache._cache_path, cache._impl.filename_base, tuple(stamps))
        compiled._cache = cache
        return compiled

    return decorate
