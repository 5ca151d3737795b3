"""The thread pool: one pool of workers for the process, and a queue of chunks for each job.

A job is divided into chunks. The calling thread takes chunks from the front of the queue and the workers take them from its
back, so if a worker wakes late on a busy machine, the others do its part. Workers sleep between jobs. docs/threads.md
explains this choice.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

MAX_THREADS = 1024
"""The largest number of threads that can be requested, so that a typing error does not start a million."""

NUM_THREADS_VARIABLE = "KATZ_ENV_NUM_THREADS"
"""The environment variable that sets the default number of threads."""


class _Pool:
    """The worker threads of this process, which take jobs from one queue of jobs."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[_Job] = SimpleQueue()
        self._workers = 0

    def ensure(self, workers: int) -> None:
        """Start workers until there are at least `workers`."""
        while self._workers < workers:
            self._workers += 1
            Thread(target=self._work, name="katz_env", daemon=True).start()

    def _work(self) -> None:
        while True:
            job = self.jobs.get()
            job.take_from_back()
            del job  # so that the arrays it refers to are freed before the next job


_pool = _Pool()


def _new_pool() -> None:
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_pool)  # a forked process does not inherit its parent's threads


class _Job:
    """A queue of chunks of work, and a count of the workers that are at work on them.

    `work` is called with the bounds of a chunk. Lists and deques are only changed by single operations, which are atomic in
    Python, so that an interrupt cannot leave them inconsistent.
    """

    def __init__(self, work: Callable[[int, int], object], chunks: Sequence[tuple[int, int]]) -> None:
        self._work, self._chunks = work, deque(chunks)
        self._entered: list[None] = []
        self._left: list[None] = []
        self._wake: SimpleQueue[None] = SimpleQueue()
        self.errors: list[BaseException] = []

    def take_from_front(self) -> None:
        """Process chunks in the calling thread until the queue is empty."""
        while self._chunks:
            try:
                start, stop = self._chunks.popleft()
            except IndexError:
                return
            self._work(start, stop)

    def take_from_back(self) -> None:
        """Process chunks in a worker until the queue is empty; an exception is kept in `errors`."""
        self._entered.append(None)
        try:
            while self._chunks:
                self._work(*self._chunks.pop())
        except IndexError:
            pass
        except BaseException as error:
            self._chunks.clear()
            self.errors.append(error)
        finally:
            self._left.append(None)
            self._wake.put(None)

    def wait(self) -> None:
        """Empty the queue and wait until no worker is at work; an interrupt meanwhile is raised afterwards."""
        interrupt: BaseException | None = None
        while True:
            try:
                self._chunks.clear()  # a worker that starts from now on finds no chunk
                while len(self._left) < len(self._entered):
                    self._wake.get()
                break
            except BaseException as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt


def run_chunks(work: Callable[[int, int], object], chunks: Sequence[tuple[int, int]], threads: int) -> None:
    """Call ``work(start, stop)`` for every chunk, in this thread and in workers.

    The function returns or raises only when no worker is at work any more. After an exception, which may come from a signal
    handler, chunks that no thread had begun are not processed.

    Parameters
    ----------
    work
        The function to call. It must release the GIL to run in parallel, and must not depend on the order of the chunks.
    chunks
        The bounds ``(start, stop)`` of each chunk.
    threads
        The number of threads, including the calling thread.
    """
    workers = min(threads, len(chunks)) - 1
    job = _Job(work, chunks)
    try:
        if workers > 0:
            _pool.ensure(workers)
            for _ in range(workers):
                _pool.jobs.put(job)
        job.take_from_front()
    finally:
        job.wait()
    if job.errors:
        raise job.errors[0]


def in_threads(work: Callable[[int, int], object], size: int, threads: int) -> None:
    """Call ``work(start, stop)`` for chunks of 0..size whose sizes decrease, so that the load is balanced (guided scheduling).

    It suits work that takes long; see `run_chunks`.
    """
    chunks, start = [], 0
    while start < size:
        stop = min(size, start + max(1, (size - start) // (2 * threads)))
        chunks.append((start, stop))
        start = stop
    run_chunks(work, chunks, threads)


# --- the number of threads ---------------------------------------------------------------------------------------------------


def available_cores() -> int:
    """Return the number of threads that this process may keep busy.

    The environment variable ``KATZ_ENV_NUM_THREADS`` sets it. Without the variable, it is the number of processors that the
    process may run on, or the quota of its control group, whichever is less.

    Raises
    ------
    ValueError
        If the environment variable is not an integer from 1 to 1024.
    """
    wanted = os.environ.get(NUM_THREADS_VARIABLE, "").strip()
    if wanted:
        if not wanted.isdecimal() or not 1 <= int(wanted) <= MAX_THREADS:
            raise ValueError(f"{NUM_THREADS_VARIABLE} is {wanted!r}; it must be an integer from 1 to {MAX_THREADS}")
        return int(wanted)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, int(cpu_quota())))


def cpu_quota(root: Path = Path("/")) -> float:
    """Return how many processors the control groups of this process grant it; `MAX_THREADS` if they set no limit.

    Parameters
    ----------
    root
        The folder in which the file systems ``proc`` and ``sys`` are mounted.
    """
    quota = float(MAX_THREADS)
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        group = path.strip("/")
        if controllers == "":  # version 2: one hierarchy
            for folder in _up(root / "sys/fs/cgroup", group):
                limit, _, period = _text(folder / "cpu.max").partition(" ")
                quota = min(quota, _ratio(limit, period))
        elif "cpu" in controllers.split(","):
            for name in (controllers, "cpu"):
                for folder in _up(root / "sys/fs/cgroup" / name, group):
                    quota = min(quota, _ratio(_text(folder / "cpu.cfs_quota_us"), _text(folder / "cpu.cfs_period_us")))
    return quota


def _up(root: Path, group: str) -> list[Path]:
    """Return the folders of a control group and of all its ancestors; in a container only the root may be visible."""
    parts = Path(group).parts
    return [root.joinpath(*parts[:count]) for count in range(len(parts), -1, -1)]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def _ratio(limit: str, period: str) -> float:
    try:
        ratio = int(limit) / int(period)
    except (ValueError, ZeroDivisionError):  # "max", or no such file
        return float(MAX_THREADS)
    return ratio if ratio > 0 else float(MAX_THREADS)  # -1 means no limit in version 1
