"""Threads that share work: made when first needed, anew in a forked process, and safe to use from several threads at once."""

from __future__ import annotations

import functools
import os
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any

_threads: dict[int, tuple[SimpleQueue[Any], list[Thread]]] = {}


def _queue_of_threads(count: int) -> SimpleQueue[Any]:
    """What the threads of this process, at least `count`, take their work from.

    They are made when they are first needed: a forked process has none of its parent's. An executor of the standard library
    would do the same, but waking one of its threads takes a noticeable part of a step's time.
    """
    queue, threads = _threads.setdefault(os.getpid(), (SimpleQueue(), []))
    while len(threads) < count:
        threads.append(Thread(target=_work, args=(queue,), name="katz_env", daemon=True))
        threads[-1].start()
    return queue


def _work(queue: SimpleQueue[Any]) -> None:
    while True:
        function = queue.get()
        function()
        del function  # or what it refers to would live until the next call


@functools.lru_cache(64)
def _pieces(size: int, threads: int, smallest: int) -> tuple[tuple[int, int], ...]:
    """Bounds that cut 0..size into ever smaller pieces.

    Threads that wake late, or run slowly because the machine is busy, take fewer of them, and all end at about the same time.
    """
    pieces, start = [], 0
    while start < size:
        stop = min(size, start + max(smallest, (size - start) // (2 * threads)))
        pieces.append((start, stop))
        start = stop
    return tuple(pieces)


def in_threads(work: Callable[[int, int], None], size: int, threads: int, smallest: int) -> None:
    """Call ``work(start, stop)`` for pieces that make up 0..size, in this thread and others.

    Parameters
    ----------
    work
        Must release the GIL to gain anything, and must not care where the pieces are cut.
    size
        How many things there are to work on.
    threads
        How many threads, this one included.
    smallest
        The fewest things in a piece, but for the last.
    """
    pieces = _pieces(size, threads, smallest)
    todo, done = deque(pieces), SimpleQueue[BaseException | None]()

    def share() -> None:
        while True:
            try:
                start, stop = todo.popleft()
            except IndexError:
                return
            try:
                work(start, stop)
                done.put(None)
            except BaseException as error:
                done.put(error)

    if threads > 1:
        queue = _queue_of_threads(threads - 1)
        for _ in range(min(threads, len(pieces)) - 1):
            queue.put(share)
    share()
    errors = [done.get() for _ in pieces]  # a thread that wakes when all pieces are taken is not waited for
    for error in errors:
        if error is not None:
            raise error


def available_cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
