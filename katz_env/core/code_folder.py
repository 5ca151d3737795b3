"""Importing this gives Numba a folder for compiled code where it would find none, and then refuse to compile.

That is so where neither this package nor the home folder can be written, as in many containers. The folder lives as long as the
process, so that every process compiles anew.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile

from numba import config
from numba.core.caching import FunctionCache


def _nothing() -> None:
    """Stands for the functions of this package."""


try:
    FunctionCache(_nothing)
except RuntimeError:
    config.CACHE_DIR = tempfile.mkdtemp(prefix="katz_env-")
    atexit.register(shutil.rmtree, config.CACHE_DIR, ignore_errors=True)
