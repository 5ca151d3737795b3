"""What ``katz bench`` measures: decisions a second, the PettingZoo loop, and the time from start to the first observation."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import OrderEnforcingWrapper
from rich.console import Console
from rich.table import Table

from katz_env import Katzenjammer, Tables, katzenjammer_v0
from katz_env.core.agents import random_legal
from katz_env.core.threads import available_cores

PLAYERS = 2, 3, 4, 6
_FIRST_OBSERVATION = """
import time
start = time.perf_counter()
import katz_env
imported = time.perf_counter()
env = katz_env.katzenjammer_v0.raw_env(num_players=3)
env.reset(seed=0)
env.last()
print(imported - start, time.perf_counter() - start)
"""


def decisions_per_second(tables: Tables, seconds: float) -> float:
    """Random legal moves with mask, observation and re-deal; choosing the moves is not counted."""
    rng, actions, steps, spent = np.random.default_rng(0), np.zeros(len(tables), np.int64), 0, 0.0
    tables.step(tables.action_masks.argmax(1))  # the first one compiles, or loads what was compiled
    while spent < seconds:
        random_legal(tables.action_masks, rng.random(len(tables)), actions)
        start = time.perf_counter()
        tables.step(actions)
        spent += time.perf_counter() - start
        steps += 1
    return steps * len(tables) / spent


def aec_steps_per_second(env: Any, seconds: float) -> float:
    """The usual loop: last() and step() with the first legal action, resets included."""
    env.reset(seed=0)
    steps, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        for _agent in env.agent_iter():
            observation, _reward, termination, _truncation, _info = env.last()
            env.step(None if termination else int(observation["action_mask"].argmax()))
            steps += 1
        env.reset()
    return steps / (time.perf_counter() - start)


def gymnasium_steps_per_second(env: Any, seconds: float) -> float:
    """Random legal moves of the open seat, resets included."""
    env.reset(seed=0)
    rng, steps, start = np.random.default_rng(0), 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        _, info = env.reset()
        over = False
        while not over:
            (legal,) = info["action_mask"].nonzero()
            _, _, over, _, info = env.step(int(legal[int(rng.random() * len(legal))]))
            steps += 1
    return steps / (time.perf_counter() - start)


class EmptyEnv(AECEnv[str, dict[str, Any], int]):
    """An environment that does nothing: what PettingZoo's own loop and wrappers cost."""

    metadata: dict[str, Any] = {"name": "empty", "is_parallelizable": False}

    def __init__(self, like: Any) -> None:
        super().__init__()
        self.possible_agents = list(like.possible_agents)
        self.action_spaces = like.action_spaces
        self._seen = {"observation": np.zeros(1, np.float32), "action_mask": np.ones(like.game.num_actions, np.int8)}

    def action_space(self, agent: str) -> Any:
        """That of the environment it stands for."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        """Begin a game without an end."""
        del seed, options
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]
        self._left = 50  # as many as a game of three players, roughly

    def observe(self, agent: str) -> dict[str, Any]:
        """Always the same."""
        del agent
        return self._seen

    def step(self, action: int | None) -> None:
        """Do nothing; the game ends after fifty steps."""
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        self._left -= 1
        if self._left == 0:
            self.terminations = dict.fromkeys(self.agents, True)


def start_times(cache: str) -> tuple[float, float]:
    """Seconds for ``import katz_env`` and until the first observation, in a new process with this cache of compiled code."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", _FIRST_OBSERVATION]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    imported, first = map(float, result.stdout.split())
    return imported, first


def run(num_tables: int, seconds: float, repeats: int) -> None:
    """Measure everything in turn, `repeats` times, and print the medians."""
    cores = available_cores()
    measures: dict[str, Callable[[], float]] = {}
    for n in PLAYERS:
        for size, threads in ((1, 1), (num_tables, 1), (num_tables, cores)):
            tables = Tables(Katzenjammer(num_players=n), size, seed=0, num_threads=threads)
            measures[f"{n} {size} {threads}"] = lambda tables=tables: decisions_per_second(tables, seconds)  # type: ignore[misc]
    raw, wrapped = katzenjammer_v0.raw_env(), katzenjammer_v0.env()
    measures["raw"] = lambda: aec_steps_per_second(raw, seconds)
    measures["env"] = lambda: aec_steps_per_second(wrapped, seconds)
    empty = katzenjammer_v0.wrapped(EmptyEnv(raw), OrderEnforcingWrapper)
    measures["empty"] = lambda: aec_steps_per_second(empty, seconds)
    for opponents in ("random", "greedy"):
        single = gymnasium.make("katz_env/Katzenjammer-v0", opponents=opponents)
        measures[opponents] = lambda single=single: gymnasium_steps_per_second(single, seconds)  # type: ignore[misc]

    console = Console()
    found: dict[str, list[float]] = {name: [] for name in measures}
    with console.status("measuring") as status:
        for repeat in range(repeats):
            for name, measure in measures.items():
                status.update(f"measuring, round {repeat + 1} of {repeats}")
                found[name].append(measure())
        with tempfile.TemporaryDirectory() as cache:
            status.update("compiling in a new process")
            cold = start_times(cache)
            cached = [start_times(cache) for _ in range(repeats)]
    medians = {name: statistics.median(values) for name, values in found.items()}
    _print(console, medians, num_tables, cores, cold, cached)


def _print(
    console: Console,
    medians: dict[str, float],
    num_tables: int,
    cores: int,
    cold: tuple[float, float],
    cached: list[tuple[float, float]],
) -> None:
    table = Table(title="decisions a second, with mask, observation and re-deal")
    for heading in ("players", "1 table", f"{num_tables:,} tables, 1 thread", f"{num_tables:,} tables, {cores} threads"):
        table.add_column(heading, justify="right")
    for n in PLAYERS:
        table.add_row(str(n), *(f"{medians[f'{n} {s} {t}']:,.0f}" for s, t in ((1, 1), (num_tables, 1), (num_tables, cores))))
    console.print(table)
    console.print(
        f"PettingZoo loop, 3 players: raw_env {medians['raw']:,.0f}, env {medians['env']:,.0f} steps a second, which is "
        f"{medians['env'] / medians['empty']:.2f} times what PettingZoo's wrappers around an environment "
        "that does nothing reach"
    )
    console.print(
        f"gym.make, 3 players: {medians['random']:,.0f} steps a second against random, {medians['greedy']:,.0f} against greedy"
    )
    imported, first = (statistics.median(column) for column in zip(*cached, strict=True))
    console.print(
        f"import katz_env: {imported:.2f} s; start to first observation: {first:.2f} s cached, {cold[1]:.1f} s with compiling"
    )
