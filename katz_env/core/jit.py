"""How functions are compiled, and how compiled code is cached on disk.

Building blocks, such as the rules of a game, are decorated with `compiled`. Entry points, which Python calls, are decorated
with `cached`: their code, which includes that of every building block they call, is kept on disk under a name that contains a
digest of its source files. So outdated code is never loaded, and processes that compile at the same time write the same file.
This is the only module that uses private parts of Numba.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import pickle
import re
import sys
import uuid
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba import config, njit, typeof
from numba.core import sigutils, types
from numba.core.caching import CompileResultCacheImpl, _Cache
from numba.core.dispatcher import Dispatcher

COMPILED = not config.DISABLE_JIT
"""False if the environment variable NUMBA_DISABLE_JIT is set; all compiled functions then run as plain Python."""

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_PACKAGE = "katz_env"
_CORE = Path(__file__).parent

# Numba derives the symbol of a compiled function from its argument types. But it names a record type by a number that is
# counted up in each process, and a nested array without its shape. So two processes can give the same symbol to a function
# for two players and to one for four; if both are then loaded into one process, calls reach the wrong one. Symbols that
# follow from the types prevent it.
setattr(  # noqa: B010  # mypy does not let a method become a property
    types.Record, "mangling_args", property(lambda self: ("Record", (hashlib.sha256(self.name.encode()).hexdigest()[:20],)))
)
setattr(types.NestedArray, "mangling_args", property(lambda self: ("NestedArray", (self.dtype, *self.shape))))  # noqa: B010


def compiled(function: Any = None, *, inline: bool = False, allocates: bool = False) -> Any:
    """Compile a building block: a function that other compiled functions call.

    Parameters
    ----------
    function
        The function to compile. Without it, a decorator with these options is returned.
    inline
        Whether the function must be inlined into every caller. Small functions that take fields of a table need this: only
        then does the compiler know the sizes of the fields, so that a division by the number of players is a division by a
        constant.
    allocates
        Whether the function allocates arrays. If not, Numba generates no reference counting, which would cost a few percent
        for the views ``masks[i]`` of arrays that outlive the call; compiling a function that allocates is then an error.
    """
    options = _OPTIONS | ({} if allocates else {"_nrt": False}) | ({"forceinline": True} if inline else {})
    return njit(**options) if function is None else njit(**options)(function)


def cached(function: Any = None, *, name: str | None = None, allocates: bool = False) -> Any:
    """Compile an entry point: a function that Python calls, and whose code is kept on disk.

    Parameters
    ----------
    function
        The function to compile. It may be a closure over building blocks, as in ``batch.py``; it then needs a `name`. Without a
        function, a decorator with these options is returned.
    name
        A name that no other cached function has; by default its module and qualified name.
    allocates
        Whether the function allocates arrays; see `compiled`.
    """

    def decorate(function: Any) -> Any:
        function.__qualname__ = name or function.__qualname__  # Numba derives the symbols from it
        entry = compiled(function, allocates=allocates)
        if COMPILED:
            entry._cache = _CodeCache(function, name or f"{function.__module__}.{function.__qualname__}")
        return entry

    return decorate if function is None else decorate(function)


_callbacks: list[Callable[[], None]] = []


def call_when_compiling(callback: Callable[[], None]) -> None:
    """Call `callback` once, before the next entry point is compiled, so that a command can say what takes so long."""
    _callbacks[:] = [callback]


def specialised(function: Any, *arguments: Any) -> Any:
    """Return the specialisation of a compiled function for the types of these arguments.

    Calling it skips the dispatch on argument types, which for small calls takes longer than the function itself. The caller
    guarantees that the types never change. With compilation off, the function itself is returned.
    """
    return function.compile(tuple(map(typeof, arguments))) if COMPILED else function


# --- the source files that a function is compiled from -------------------------------------------------------------------


def sources_of(function: Any) -> list[Path]:
    """Return the files whose content determines the code of a function, sorted.

    They are the compiled modules of ``katz_env.core`` and, for every other building block that the function reaches, all
    modules of its package, since a constant that it uses may be defined in any of them.
    """
    files = set(_core_files())
    for module in {block.__module__ for block in _reached(function)}:
        files.update(_files_beside(sys.modules[module]))
    return sorted(files)


@functools.cache
def _core_files() -> tuple[Path, ...]:
    """Return the modules of the core that contain compiled functions: those that import a decorator from this module."""
    decorates = re.compile(rb"core\.jit import [^\n]*\b(compiled|cached)\b")
    return tuple(path for path in _CORE.glob("*.py") if path.name == "jit.py" or decorates.search(path.read_bytes()))


def _files_beside(module: ModuleType) -> Iterator[Path]:
    package, file = module.__package__, getattr(module, "__file__", None)
    if file is None or package == f"{_PACKAGE}.core":
        return
    yield from Path(file).parent.rglob("*.py") if package else (Path(file),)


def _reached(function: Any) -> set[FunctionType]:
    """Return a function and all building blocks that it calls, directly or indirectly."""
    found: set[FunctionType] = set()
    waiting = [function]
    while waiting:
        value = waiting.pop()
        value = value.py_func if isinstance(value, Dispatcher) else value
        if not isinstance(value, FunctionType) or value in found:
            continue
        found.add(value)
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        waiting += [item for cell in cells for item in (cell if isinstance(cell, tuple) else (cell,))]
        names = set(_names(value.__code__))
        for name in names & value.__globals__.keys():
            used = value.__globals__[name]
            if isinstance(used, ModuleType):
                waiting += [
                    vars(used)[inner] for inner in names & vars(used).keys() if isinstance(vars(used)[inner], Dispatcher)
                ]
            elif isinstance(used, Dispatcher):
                waiting.append(used)
    return found


def constants_of(function: Any) -> list[str]:
    """Return the constants that a function and its building blocks use, by name and value, sorted.

    They are part of the stamp because they may come from modules anywhere.
    """
    found: set[str] = set()
    for block in _reached(function):
        cells = zip(block.__code__.co_freevars, block.__closure__ or (), strict=True)
        used = {name: cell.cell_contents for name, cell in cells}
        names = set(_names(block.__code__))
        for name in names & block.__globals__.keys():
            value = block.__globals__[name]
            if isinstance(value, ModuleType):
                used |= {inner: vars(value)[inner] for inner in names & vars(value).keys()}
            used[name] = value
        place = f"{block.__module__}.{block.__name__}"
        found.update(f"{place}: {name} = {value!r}" for name, value in used.items() if _plain(value))
    return sorted(found)


def _plain(value: Any) -> bool:
    """Return whether the printed form of a value determines the value."""
    if isinstance(value, tuple):
        return all(map(_plain, value))
    return isinstance(value, (int, float, complex, str, bytes, np.generic))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


@functools.cache
def _content(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


def digest_of(files: list[Path], constants: list[str]) -> str:
    """Return a digest of the names and contents of files, and of constants."""
    contents = b"".join(path.name.encode() + _content(path) for path in files)
    return hashlib.sha256(contents + "\n".join(constants).encode()).hexdigest()[:16]


# --- the cache -----------------------------------------------------------------------------------------------------------


class _CodeCache(_Cache):
    """The compiled code of one function on disk: one file for every signature and version of the sources.

    A file states what it contains, with a checksum. If it is damaged or contains something else, the function is compiled
    again and the file replaced. Where nothing can be written, every process compiles for itself.
    """

    def __init__(self, function: FunctionType, name: str) -> None:
        self._function, self._name, self._enabled = function, name, True

    @property
    def cache_path(self) -> str | None:
        """The folder of the files, or None if no folder is writable."""
        folder = _folder(self._function)
        return None if folder is None else str(folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code for a signature, or None if it is not on disk and must be compiled."""
        found = self._loaded(sig, target_context)
        if found is None and _callbacks:
            _callbacks.pop()()
        return found

    def _loaded(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        path, key = self._place(sig, target_context.codegen())
        if path is None:
            return None
        try:
            checksum, found, code = _parts(path.read_bytes())
            if found != key or hashlib.sha256(key + code).digest() != checksum:
                return None
            result = CompileResultCacheImpl.rebuild(None, target_context, pickle.loads(code))
            arguments, _ = sigutils.normalize_signature(sig)
            same = result.signature.args == arguments and result.fndesc.qualname == self._function.__qualname__
            return result if same else None
        except Exception:  # the file does not exist; or it is damaged, and unpickling may raise anything
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the code for a signature to disk, if that is possible."""
        path, key = self._place(sig, data.codegen)
        if path is None or data.library.has_dynamic_globals:
            return
        code = pickle.dumps(CompileResultCacheImpl.reduce(None, data))
        whole = b"".join((hashlib.sha256(key + code).digest(), len(key).to_bytes(4, "little"), key, code))
        try:
            _write_whole(path, whole)
            for other in self._files(path.parent):
                if not other.name.startswith(f"{self._name}-{self._digest}-"):
                    other.unlink(missing_ok=True)  # it was compiled from older sources
        except OSError as error:
            _say_once(error.strerror or str(error), path.parent)

    def enable(self) -> None:
        """Enable reading and writing files."""
        self._enabled = True

    def disable(self) -> None:
        """Disable reading and writing files."""
        self._enabled = False

    def flush(self) -> None:
        """Delete all files of this function."""
        folder = self.cache_path
        for path in self._files(Path(folder)) if folder else ():
            path.unlink(missing_ok=True)

    def _files(self, folder: Path) -> list[Path]:
        """Return all files of this function in a folder."""
        mine = re.compile(re.escape(self._name) + "(-[0-9a-f]{16}){2}\\.code")
        return [path for path in folder.iterdir() if mine.fullmatch(path.name)]

    @functools.cached_property
    def _digest(self) -> str:
        return digest_of(sources_of(self._function), constants_of(self._function))

    def _place(self, sig: Any, codegen: Any) -> tuple[Path | None, bytes]:
        """Return the file for a signature, and the key that it must contain."""
        folder = self.cache_path if self._enabled else None
        if folder is None:
            return None, b""
        made_with = (sys.version, numba.__version__, llvmlite.__version__, config.BOUNDSCHECK, config.OPT, config.CPU_NAME)
        key = repr((self._name, self._digest, str(sig), codegen.magic_tuple(), *map(str, made_with))).encode()
        return Path(folder) / f"{self._name}-{self._digest}-{hashlib.sha256(key).hexdigest()[:16]}.code", key


def _parts(whole: bytes) -> tuple[bytes, bytes, bytes]:
    """Split the content of a file into checksum, key and code."""
    end = 36 + int.from_bytes(whole[32:36], "little")
    return whole[:32], whole[36:end], whole[end:]


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically: it is written beside `path` and renamed, so that no reader sees a part of it."""
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


_folders: dict[str, Path | None] = {}


def _folder(function: FunctionType) -> Path | None:
    """Return the first writable folder of ``NUMBA_CACHE_DIR``, that of the function's file and the user's cache, or None."""
    beside = f"{config.CACHE_DIR}:{Path(inspect.getfile(function)).parent}"
    if beside not in _folders:
        try:
            _folders[beside] = Path(CompileResultCacheImpl(function).locator.get_cache_path())
        except (RuntimeError, OSError):  # Numba found no folder that can be written
            _folders[beside] = None
    return _folders[beside]


_said: set[str] = set()


def _say_once(reason: str, folder: Path) -> None:
    if reason not in _said:
        _said.add(reason)
        message = f"compiled code cannot be kept in {folder}: {reason}; it is compiled in every process"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
