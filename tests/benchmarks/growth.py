"""How decisions a second and memory grow with the number of tables and threads: measures and draws ``docs/growth.svg``.

python tests/benchmarks/growth.py
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
import tyro
from matplotlib import pyplot as plt
from rich.progress import track

from katz_env import Katzenjammer, Tables
from katz_env.command_line import check_above_zero, check_at_least, run_command
from katz_env.core.agents import random_legal
from katz_env.core.thread_pool import available_cores

QUICK = 0.1  # the quantile of the times of a step that is shown: what the machine does when others leave it alone


@dataclass
class Settings:
    """Measure how speed and memory grow."""

    out: Path = Path(__file__).parents[2] / "docs" / "growth.svg"
    """The picture to write."""
    num_players: int = 4
    """2 to 6."""
    largest: int = 1_048_576
    """The largest number of tables; powers of four from 1 on are measured."""
    seconds: float = 1.0
    """Seconds for each measurement."""


def bytes_a_table(tables: Tables) -> float:
    """The memory of all arrays of the tables, for each table."""
    return sum(array.nbytes for array in (tables._records, *tables._out, tables._all)) / len(tables)


def decisions_a_second(tables: Tables, seconds: float) -> float:
    """Random legal moves with mask, observation and re-deal; choosing the moves is not counted."""
    size = len(tables)
    rng, actions, times = np.random.default_rng(0), np.zeros(size, np.int64), []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        random_legal(tables.action_masks, rng.random(size), actions)
        start = time.perf_counter()
        tables.step(actions)
        times.append(time.perf_counter() - start)
    return size / float(np.quantile(times, QUICK))


def measure(settings: Settings) -> int:
    """Measure and draw; prints every number. Returns the exit code."""
    check_at_least(settings, largest=1)
    check_above_zero(settings, "seconds")
    settings.out.parent.mkdir(parents=True, exist_ok=True)  # before all measurements, if it cannot be made
    game, cores = Katzenjammer(settings.num_players), available_cores()
    sizes = [4**k for k in range(20) if 4**k <= settings.largest]
    threads = sorted({1, *(2**k for k in range(10) if 2**k <= cores), cores})
    speed = np.zeros((len(threads), len(sizes)))
    memory = np.zeros(len(sizes))
    for column, size in enumerate(track(sizes, "measuring")):
        for row, count in enumerate(threads):
            tables = Tables(game, size, seed=0, num_threads=count)
            speed[row, column], memory[column] = decisions_a_second(tables, settings.seconds), bytes_a_table(tables)
            del tables
        shown = ", ".join(f"{count} threads {speed[row, column]:,.0f}" for row, count in enumerate(threads))
        print(f"{size:,} tables: {memory[column]:.0f} bytes a table; decisions a second: {shown}")

    matplotlib.use("svg")
    plt.rcParams["svg.hashsalt"] = "katz_env"
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    for row, count in enumerate(threads):
        left.plot(sizes, speed[row] / 1e6, marker="o", label=f"{count} thread{'s' * (count > 1)}")
    left.set(xscale="log", yscale="log", xlabel="tables", ylabel="million decisions a second", title="Speed")
    left.legend()
    right.plot(sizes, memory, marker="o", color="tab:green")
    right.set(xscale="log", xlabel="tables", ylabel="bytes a table", title="Memory of the arrays", ylim=(0, None))
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.savefig(settings.out, metadata={"Date": None})
    print(f"written to {settings.out}")
    return 0


if __name__ == "__main__":
    settings = tyro.cli(Settings, description=__doc__)
    sys.exit(run_command(lambda: measure(settings), "growth.py"))
