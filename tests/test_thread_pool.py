"""Threads that share a step: an interrupt leaves none running and no table broken, and nothing is left of them afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from random_play import random_actions

from katz_env import Katzenjammer, Tables
from katz_env.core import thread_pool
from katz_env.core.thread_pool import MAX_THREADS, available_cores, cpu_quota, in_threads, run_chunks

HERE = Path(__file__).parent
MANY = 4096  # so many tables are stepped by several threads


# --- interrupts

INTERRUPTED = """
import signal
import sys
import time
import numpy as np
from katz_env import Katzenjammer, Tables
from random_play import random_actions
from test_invariants import assert_possible

class Interrupt(BaseException):
    pass

def interrupt(number, frame):
    raise {exception}

signal.signal(signal.SIGALRM, interrupt)
tables, rng = Tables(Katzenjammer(3), {tables}, seed=1, num_threads=2), np.random.default_rng(1)
actions = random_actions(tables.action_masks, rng)
start = time.perf_counter()
for _ in range(5):
    tables.step(random_actions(tables.action_masks, rng))
longest = (time.perf_counter() - start) / 5
interrupted = 0
for attempt in range(100 * {interrupts}):
    if interrupted == {interrupts}:
        break
    actions = random_actions(tables.action_masks, rng)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-6 + rng.random() * longest)
        try:
            tables.step(actions)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except {exception}:
        interrupted += 1
        after = tables.records.copy()
        time.sleep(0.0005)
        assert np.array_equal(tables.records, after), "somebody is still at work"
        masks = tables.action_masks.copy()
        tables.restore(tables.records.copy())
        assert np.array_equal(masks, tables.action_masks), "an output does not belong to its table"
        assert_possible(tables.records, tables.game.rules.mice)
        tables.game.check(tables.records)
print(interrupted)
"""


@pytest.mark.parametrize(
    ("exception", "interrupts"),
    [("KeyboardInterrupt", 100), ("Interrupt", 100), pytest.param("KeyboardInterrupt", 2000, marks=pytest.mark.full)],
)
def test_an_interrupt_leaves_no_worker_running_and_all_tables_whole(exception, interrupts):
    program = INTERRUPTED.format(exception=exception, interrupts=interrupts, tables=MANY)
    done = subprocess.run([sys.executable, "-c", program], cwd=HERE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(interrupts)]


def test_after_an_interrupt_every_table_has_moved_whole_or_not_at_all(monkeypatch):
    """Chunks that nobody has begun are not done; the rest is as if nothing had happened."""
    tables, twin = (Tables(Katzenjammer(3), MANY, seed=2, num_threads=2) for _ in range(2))
    actions = random_actions(tables.action_masks, np.random.default_rng(2))
    before = tables.records.copy()
    twin.step(actions)

    class Interrupted(thread_pool._Job):
        def take_from_front(self):
            raise KeyboardInterrupt

    monkeypatch.setattr(thread_pool, "_Job", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        tables.step(actions)
    monkeypatch.undo()
    moved = tables.records == twin.records
    assert (moved | (tables.records == before)).all()
    for name in ("observations", "action_masks", "turn", "rewards", "terminated", "scores"):
        np.testing.assert_array_equal(getattr(tables, name)[moved], getattr(twin, name)[moved], err_msg=name)
    tables.step(random_actions(tables.action_masks, np.random.default_rng(3)))


# --- several Python threads


def test_two_python_threads_at_one_set_of_tables_get_an_error_and_harm_nothing():
    from test_invariants import assert_possible

    tables = Tables(Katzenjammer(3), 4 * MANY, seed=4, num_threads=1)
    refused, stepped = [], []
    barrier = threading.Barrier(2)

    def play(seed):
        rng = np.random.default_rng(seed)
        actions = random_actions(tables.action_masks, rng)
        barrier.wait()
        for _ in range(20_000):  # far more than it takes for both to step and for one to be refused
            if set(stepped) == {0, 1} and refused and len(stepped) > 40:
                return
            try:
                tables.step(actions)
                stepped.append(seed)
            except RuntimeError as error:
                refused.append(str(error))
            except ValueError:  # the other thread has moved since these actions were chosen
                pass
            actions = tables.action_masks.argmax(1)

    players = [threading.Thread(target=play, args=(seed,)) for seed in range(2)]
    for player in players:
        player.start()
    for player in players:
        player.join()
    assert set(stepped) == {0, 1}
    assert refused
    assert all("these tables are being stepped by another thread" in message for message in refused)
    assert_possible(tables.records, tables.game.rules.mice)
    tables.game.check(tables.records)


@pytest.mark.parametrize("call", ["step", "reset", "reset with a seed", "deal", "restore"])
def test_tables_that_are_being_stepped_are_neither_stepped_nor_dealt_nor_restored(call):
    tables = Tables(Katzenjammer(3), 4, seed=5)
    before, raised = tables.records.copy(), []
    calls = {
        "step": lambda: tables.step(tables.action_masks.argmax(1)),
        "reset": lambda: tables.reset(),
        "reset with a seed": lambda: tables.reset(6),
        "deal": lambda: tables.deal(),
        "restore": lambda: tables.restore(before),
    }

    def other():
        try:
            calls[call]()
        except RuntimeError as error:
            raised.append(str(error))

    with tables._lock:  # as if this thread were in the middle of a step
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert raised
    assert "another thread" in raised[0]
    np.testing.assert_array_equal(tables.records, before)
    calls[call]()


# --- what is left of a step


def affinities():
    """The processors that each thread of this process may run on."""
    return [os.sched_getaffinity(int(task.name)) for task in Path("/proc/self/task").iterdir()]


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system knows no affinity")
def test_no_thread_is_bound_to_a_processor():
    before = os.sched_getaffinity(0)
    tables = Tables(Katzenjammer(3), MANY, seed=6, num_threads=2)
    for _ in range(20):
        tables.step(tables.action_masks.argmax(1))
    assert os.sched_getaffinity(0) == before
    assert all(affinity == before for affinity in affinities())


def test_after_the_last_step_no_processor_time_is_burned():
    tables = Tables(Katzenjammer(3), MANY, seed=7, num_threads=3)
    for _ in range(20):
        tables.step(tables.action_masks.argmax(1))
    burned = []
    for _ in range(5):
        start = time.process_time()
        time.sleep(0.3)
        burned.append((time.process_time() - start) / 0.3)
    assert min(burned) < 0.1


# --- the pool


def test_every_chunk_is_done_once():
    for threads in (1, 2, 5):
        done = []
        run_chunks(lambda start, stop, done=done: done.append((start, stop)), [(k, k + 1) for k in range(20)], threads)
        assert sorted(done) == [(k, k + 1) for k in range(20)]


@pytest.mark.parametrize("size", [0, 1, 7, 1000])
def test_in_threads_cuts_a_job_into_chunks_without_gaps(size):
    done = []
    in_threads(lambda start, stop: done.extend(range(start, stop)), size, 3)
    assert sorted(done) == list(range(size))


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_a_chunk_is_raised_and_nothing_is_begun_after_it(threads):
    done = []

    def work(start, stop):
        done.append(start)
        if len(done) == 3:
            raise LookupError("chunk")

    with pytest.raises(LookupError, match="chunk"):
        run_chunks(work, [(k, k + 1) for k in range(1000)], threads)
    assert len(done) < 10


def test_the_pool_does_not_keep_what_a_job_used_alive():
    import gc
    import weakref

    class Big:
        """Something that a job uses."""

    big = Big()
    gone = weakref.ref(big)
    run_chunks(lambda start, stop, big=big: time.sleep(0.001), [(k, k + 1) for k in range(8)], 3)
    del big
    for _ in range(100):
        gc.collect()
        if gone() is None:
            break
        time.sleep(0.01)
    assert gone() is None


# --- how many threads


@pytest.mark.parametrize("wanted", ["0", "-1", "1.5", "many", "1025"])
def test_a_wrong_number_of_threads_in_the_environment_is_named(wanted, monkeypatch):
    monkeypatch.setenv(thread_pool.NUM_THREADS_VARIABLE, wanted)
    with pytest.raises(ValueError, match=f"KATZ_ENV_NUM_THREADS is '{wanted}'; it must be an integer from 1 to 1024"):
        available_cores()


def test_the_environment_says_how_many_threads_are_used(monkeypatch):
    monkeypatch.setenv(thread_pool.NUM_THREADS_VARIABLE, " 7 ")
    assert available_cores() == 7
    assert Tables(Katzenjammer(3)).num_threads == 7
    monkeypatch.delenv(thread_pool.NUM_THREADS_VARIABLE)
    assert 1 <= available_cores() <= (os.cpu_count() or 1)


def written(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("files", "quota"),
    [({}, MAX_THREADS),
     ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "150000 100000"}, 1.5),
     ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "max 100000",
       "sys/fs/cgroup/a/cpu.max": "300000 100000"}, 3),
     ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000"}, MAX_THREADS),
     ({"proc/self/cgroup": "3:cpu,cpuacct:/a\n", "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "250000",
       "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "100000"}, 2.5),
     ({"proc/self/cgroup": "3:cpu:/a\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
       "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000"}, MAX_THREADS),
     ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "nonsense"}, MAX_THREADS)],
)  # fmt: skip
def test_the_quota_of_the_control_groups_is_read(files, quota, tmp_path):
    assert cpu_quota(written(tmp_path, files)) == quota
