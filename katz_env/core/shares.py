"""How threads share the tables of one step without Python: pieces, taken from an array of counters by atomic operations.

A share is an int64 array. Every thread owns a part of the tables, takes it piece by piece, and then helps with the parts of the
others, so that tables mostly stay in the cache of one core, and a thread that wakes late or runs slowly is not waited for. A
helping thread goes on waiting for a moment after a step: the next one usually follows soon, and waking it would take long.

A function that calls these is compiled together with them, so its disk cache must notice edits of this file; see `linked`.
"""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

Share = NDArray[np.int64]

PIECE = 64
"""Tables in a piece: some microseconds of work."""

SPINS = 120_000
"""How often a helper looks for the next step before it gives up: about three milliseconds, in which a caller can choose the
moves of thousands of tables."""

LAST_SPINS = 1_000
"""How often thread 0 looks whether the others have done their last pieces: longer than a piece takes."""

_LINE = 8  # numbers in a cache line; what different threads write has lines of its own
_THREADS, _SIZE, _STEPS, _DONE, _NEXT = 0, 1, _LINE, 2 * _LINE, 3 * _LINE
_STOP = 32  # the upper bits of a counter at _NEXT are the end of the thread's part, the lower ones the next table in it

ALONE: Share = np.zeros(0, np.int64)
"""For a thread that takes all tables by itself."""

ALL_DONE, OTHERS_WORK = -1, -2
"""What `end_share` returns."""


def new_share(threads: int, num_tables: int) -> tuple[Share, Share, Share]:
    """A share for some threads and at most `num_tables` tables; and the copies of `where` and `actions` in it."""
    counters = _NEXT + _LINE * threads
    share = np.zeros(counters + 2 * num_tables, np.int64)
    share[_THREADS] = threads
    where, actions = share[counters:].reshape(2, num_tables)
    return share, where, actions


# --- atomic operations; in plain Python, where no threads are used, they are what stands below them


def add_atomic(array: Share, index: int, value: int) -> int:
    """Add to a number and return what it was."""
    before = array[index]
    array[index] += value
    return before


def load_atomic(array: Share, index: int) -> int:
    """Read a number that another thread may write."""
    return array[index]


def store_atomic(array: Share, index: int, value: int) -> None:
    """Write a number that other threads read; what this thread has written before is visible to who sees it."""
    array[index] = value


def pause() -> None:
    """Tell the processor that this thread spins."""


def _address(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.gep(array.data, [args[1]])


@intrinsic
def _add(typing: Any, array: Any, index: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", _address(context, builder, signature, args), args[2], "seq_cst")

    return types.int64(array, types.intp, types.int64), generate


@intrinsic
def _load(typing: Any, array: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_address(context, builder, signature, args), "seq_cst", 8)

    return types.int64(array, types.intp), generate


@intrinsic
def _store(typing: Any, array: Any, index: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store_atomic(args[2], _address(context, builder, signature, args), "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.int64), generate


@intrinsic
def _pause(typing: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if platform.machine().lower() in ("x86_64", "amd64"):
            function_type = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, function_type, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), generate


@overload(add_atomic)
def _compiled_add(array, index, value):  # type: ignore[no-untyped-def]
    return lambda array, index, value: _add(array, index, value)


@overload(load_atomic)
def _compiled_load(array, index):  # type: ignore[no-untyped-def]
    return lambda array, index: _load(array, index)


@overload(store_atomic)
def _compiled_store(array, index, value):  # type: ignore[no-untyped-def]
    return lambda array, index, value: _store(array, index, value)


@overload(pause)
def _compiled_pause():  # type: ignore[no-untyped-def]
    return lambda: _pause()


# --- taking pieces


@njit(cache=True, nogil=True)
def first_illegal(where: Share, actions: Share, masks: NDArray[np.bool_], terminated: NDArray[np.bool_]) -> int:
    """The first k whose action is illegal at table ``where[k]``, or -1; finished tables ignore their actions."""
    size, count = where.shape[0], masks.shape[1]
    legal = True
    for k in range(size):  # without branches this is quick, and mostly all are legal
        action = actions[k]
        possible = (action >= 0) & (action < count)
        legal &= possible & masks[where[k], action if possible else 0]
    if legal:
        return -1
    for k in range(size):
        i, action = where[k], actions[k]
        illegal = action < 0 or action >= count or not masks[i, action]
        if illegal and not (terminated[i] and not masks[i].any()):
            return k
    return -1


@njit(nogil=True, forceinline=True)
def first_piece(share: Share, me: int, bell: Share, where: Share, actions: Share) -> tuple[int, int]:
    """The first piece (start, stop) of thread `me`; if start is not below stop there is none.

    Thread 0 gives out the tables `where`; alone it takes them all. The others wait for that, until the bell rings or they give
    up.
    """
    size, parts = where.shape[0], share.shape[0]
    if parts == 0:
        return 0, size
    if me == 0:
        parts = share[_THREADS]
        copies = _NEXT + _LINE * parts
        most = (share.shape[0] - copies) // 2
        for k in range(size):
            share[copies + k], share[copies + most + k] = where[k], actions[k]
        share[_SIZE] = size
        store_atomic(share, _DONE, 0)
        start = 0
        for part in range(parts):
            stop = size if part == parts - 1 else size * (part + 1) // parts // PIECE * PIECE
            store_atomic(share, _NEXT + _LINE * part, stop << _STOP | start)  # from here on it is taken from
            start = stop
        add_atomic(share, _STEPS, 1)
    return next_piece(share, me, bell, 0)


@njit(nogil=True, forceinline=True)
def next_piece(share: Share, me: int, bell: Share, done: int) -> tuple[int, int]:
    """The next piece of thread `me`: of its own part, or else of another's; `done` says how many tables it did since the last.

    Threads other than 0 wait for the next step when all is taken, until the bell rings or they give up.
    """
    if share.shape[0] == 0:
        return 0, 0
    add_atomic(share, _DONE, done)
    threads, rings = share[_THREADS], load_atomic(bell, 0)
    while True:
        steps = load_atomic(share, _STEPS)
        for k in range(threads):
            part = me + k if me + k < threads else me + k - threads
            counter = add_atomic(share, _NEXT + _LINE * part, PIECE)
            start, stop = counter & ((1 << _STOP) - 1), counter >> _STOP
            if start < stop:
                return start, min(start + PIECE, stop)
        if me == 0:
            return 0, 0
        left = SPINS
        while load_atomic(share, _STEPS) == steps:
            left -= 1
            if left < 0 or load_atomic(bell, 0) != rings:
                return 0, 0
            pause()


@njit(nogil=True, forceinline=True)
def end_share(share: Share, me: int) -> int:
    """Thread 0 waits a moment for the others; `ALL_DONE` or `OTHERS_WORK`."""
    if share.shape[0] == 0 or me > 0:
        return ALL_DONE
    for _ in range(LAST_SPINS):
        if load_atomic(share, _DONE) == share[_SIZE]:
            return ALL_DONE
        pause()
    return OTHERS_WORK


def all_done(share: Share) -> bool:
    """Whether all tables of the share are done."""
    return bool(share[_DONE] == share[_SIZE])


# --- the bell: rung to call threads away from the share that they wait for


def new_bell() -> Share:
    """A bell."""
    return np.zeros(_LINE, np.int64)


@njit(cache=True, nogil=True)
def ring(bell: Share) -> None:
    """Ring the bell."""
    add_atomic(bell, 0, 1)
