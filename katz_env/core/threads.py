"""Threads that help with a job: made when first needed, anew in a forked process, and safe to use from several threads."""

from __future__ import annotations

import ctypes
import os
import time
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread

from katz_env.core import shares

MAX_THREADS = 1024  # that may be asked for: a slip of the keyboard should not start a million
_POLL = 20e-6  # seconds


def _find_current_processor() -> Callable[[], int]:
    try:
        return ctypes.CDLL(None).sched_getcpu
    except (AttributeError, OSError, TypeError):
        return lambda: -1


_current_processor = _find_current_processor()


def _leave(processor: int) -> None:
    """Have the calling thread run elsewhere, if it runs on this processor.

    Linux likes to wake a thread where its waker runs, and two threads that take turns there are slower than one.
    """
    if processor >= 0 and _current_processor() == processor:
        allowed = os.sched_getaffinity(0)
        if len(allowed) > 1:
            os.sched_setaffinity(0, allowed - {processor})
            os.sched_setaffinity(0, allowed)


class Crew:
    """The helping threads of this process. They take jobs from one queue.

    A helper may stay in a job to wait for more of the same work (see `shares`); it leaves when the bell rings.
    """

    def __init__(self) -> None:
        self.bell = shares.new_bell()
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._threads = 0
        self._free = 0  # how many wait for a job

    def ensure(self, helpers: int) -> None:
        """Have at least so many helpers."""
        while self._threads < helpers:
            self._threads += 1
            Thread(target=self._work, name="katz_env", daemon=True).start()

    def call(self, job: Callable[[], None]) -> None:
        """Have a helper do a job, which must not raise."""
        self._jobs.put(job)

    def hurry(self) -> None:
        """Call helpers away from work that they only wait for, if there are more jobs than free helpers."""
        if self._jobs.qsize() > self._free:
            shares.ring(self.bell)

    def _work(self) -> None:
        while True:
            self._free += 1
            job = self._jobs.get()
            self._free -= 1
            job()
            del job  # or what it refers to would live until the next call


_crew = Crew()


def crew() -> Crew:
    """The helpers of this process."""
    return _crew


def _new_crew() -> None:
    global _crew
    _crew = Crew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_crew)  # a forked process has none of its parent's threads


class Helpers:
    """Threads that do one kind of work together with the calling thread, again and again.

    Parameters
    ----------
    work
        ``work(me)`` does the part of thread `me`, 1 to ``threads - 1``; a helper may stay in it for a while.
    threads
        How many threads, the calling one included.
    """

    def __init__(self, work: Callable[[int], object], threads: int) -> None:
        self.crew = crew()
        self.crew.ensure(threads - 1)
        self._work, self._threads = work, threads
        self._caller = -1
        self._away = list(range(1, threads))  # the numbers of those that have not been called
        self._errors: list[BaseException] = []

    def call(self) -> None:
        """Call those that are away."""
        if self._away:
            self._caller = _current_processor()
        while self._away:
            me = self._away.pop()
            self.crew.call(lambda me=me: self._help(me))  # type: ignore[misc]
        self.crew.hurry()

    def _help(self, me: int) -> None:
        try:
            _leave(self._caller)
            self._work(me)
        except BaseException as error:
            self._errors.append(error)
        self._away.append(me)

    def wait(self, done: Callable[[], bool]) -> None:
        """Wait until `done`, though not for helpers that come when nothing is left; raises what a helper raised."""
        while not done():
            if self._errors:
                raise self._errors.pop()
            time.sleep(_POLL)


def in_threads(work: Callable[[int, int], None], size: int, threads: int) -> None:
    """Call ``work(start, stop)`` for pieces that make up 0..size, in this thread and others.

    For work that takes long; `Tables.step` shares its tables without calls from Python.

    Parameters
    ----------
    work
        Must release the GIL to gain anything, and must not care where the pieces are cut.
    size
        How many things there are to work on.
    threads
        How many threads, this one included.
    """
    todo, done = deque(_pieces(size, threads)), []

    def take(_: int) -> None:
        while True:
            try:
                start, stop = todo.popleft()
            except IndexError:
                return
            work(start, stop)
            done.append(stop - start)

    helpers = Helpers(take, threads)
    helpers.call()
    take(0)
    helpers.wait(lambda: sum(done) == size)


def _pieces(size: int, threads: int) -> list[tuple[int, int]]:
    """Bounds that cut 0..size into ever smaller pieces, so that threads which run slowly take fewer of them."""
    pieces, start = [], 0
    while start < size:
        stop = min(size, start + max(1, (size - start) // (2 * threads)))
        pieces.append((start, stop))
        start = stop
    return pieces


def available_cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
