"""The engine has not become slower: its time in units of a fixed piece of work, measured in turn, against a stored number.

Others that use the machine make both slower, and only for a while: slices are short, the quickest tenth counts, and a loss must
show in every one of several attempts, between which time passes. Makers of processors differ in what is quick, so each has
numbers of its own; ``python tests/test_speed.py`` measures and prints those for ``data/speed.json``.
"""

import json
import time
from pathlib import Path

import numpy as np
import pytest
from numba import njit

from katz_env import Katzenjammer, Tables
from katz_env.core.agents import random_legal

BASELINE = Path(__file__).parent / "data" / "speed.json"
LARGEST_LOSS = 0.15
ATTEMPTS, ROUNDS = 30, 150
PAUSE = 1.0  # seconds between attempts: a neighbour on the same core slows the engine more than its yardstick, for seconds


@njit(cache=True, nogil=True)
def shuffled_bytes(decks, state):
    """The yardstick for the engine: shuffles and sums of bytes, which no change of the engine makes quicker or slower."""
    for i in range(decks.shape[0]):
        for a in range(decks.shape[1] - 1, 0, -1):
            state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9) + np.uint64(0x9E3779B97F4A7C15)
            b = np.int64(((state >> np.uint64(32)) * np.uint64(a + 1)) >> np.uint64(32))
            if decks[i, a] != decks[i, b]:
                decks[i, a], decks[i, b] = decks[i, b], decks[i, a]
    return state


class Engine:
    """Steps of many tables, beside the shuffles."""

    def __init__(self):
        self.tables = Tables(Katzenjammer(3), 512, seed=0, num_threads=1)
        self.rng, self.actions = np.random.default_rng(0), np.zeros(512, np.int64)
        self.decks = np.arange(90 * 300).reshape(300, 90).astype(np.int8)

    def prepare(self):
        random_legal(self.tables.action_masks, self.rng.random(512), self.actions)

    def measured(self):
        self.tables.step(self.actions)

    def yardstick(self):
        shuffled_bytes(self.decks, np.uint64(1))


class OneTable:
    """Steps of one table from Python, beside a loop of calls of NumPy and of a compiled function."""

    def __init__(self):
        self.tables = Tables(Katzenjammer(3), 1, seed=0, num_threads=1)
        self.numbers, self.decks = np.arange(3), np.arange(30).reshape(1, 30).astype(np.int8)

    def prepare(self):
        pass

    def measured(self):
        for _ in range(40):
            self.tables.step(self.tables.action_masks.argmax(axis=1))

    def yardstick(self):
        for _ in range(40):
            {"sum": int(self.numbers.sum()), "copy": self.numbers.copy()}.values()
            shuffled_bytes(self.decks, np.uint64(1))
            self.tables.action_masks.argmax(axis=1)


SUBJECTS = {"engine": Engine, "one_table": OneTable}


def maker():
    """Who made this processor, as Linux calls it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "unknown"
    return next((line.split(": ")[1] for line in lines if line.startswith("vendor_id")), "unknown")


def baseline(name):
    """The number for processors of this maker, or else the largest of the others."""
    stored = json.loads(BASELINE.read_text())
    return stored.get(maker(), {}).get(name) or max(numbers[name] for numbers in stored.values() if name in numbers)


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def cost(subject):
    """The time of a step in units of the yardstick."""
    measured, yardstick = [], []
    for _ in range(ROUNDS):
        subject.prepare()
        measured.append(seconds(subject.measured))
        yardstick.append(seconds(subject.yardstick))
    return np.quantile(measured, 0.1) / np.quantile(yardstick, 0.1)


@pytest.mark.parametrize("name", SUBJECTS)
def test_no_step_costs_much_more_than_it_did(name):
    subject, stored = SUBJECTS[name](), baseline(name)
    cost(subject)  # compiles
    seen = []
    for _ in range(ATTEMPTS):
        seen.append(cost(subject))
        if seen[-1] <= stored / (1 - LARGEST_LOSS):
            return
        time.sleep(PAUSE)
    pytest.fail(f"{name}: a step costs {min(seen):.3f} yardsticks; it was {stored} (all attempts: {np.round(seen, 3)})")


def test_the_measure_notices_what_is_added_to_a_step():
    subject = Engine()
    cost(subject)
    step, costs = subject.measured, {}

    def longer():
        step()
        shuffled_bytes(subject.decks[:100], np.uint64(1))  # a third of a yardstick

    for _ in range(10):
        for measured in (step, longer):  # in turn, so that both meet the machine when it is quick
            subject.measured = measured
            costs.setdefault(measured, []).append(cost(subject))
    assert min(costs[longer]) > min(costs[step]) / (1 - LARGEST_LOSS)


if __name__ == "__main__":
    costs = {name: round(float(np.median([cost(make()) for _ in range(9)])), 3) for name, make in SUBJECTS.items()}
    print(json.dumps({maker(): costs}))
