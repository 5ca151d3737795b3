"""The measurements of ``katz bench``: decisions a second, the PettingZoo loop, the time from the start to an observation."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import OrderEnforcingWrapper
from rich.console import Console
from rich.table import Table

from katz_env import Game, Tables, make_agent
from katz_env.command_line import check_plays
from katz_env.core.aec import GameAECEnv, QuickLast
from katz_env.core.aec import wrapped as wrapped_env
from katz_env.core.agents import random_legal
from katz_env.core.gym_env import SingleEnv
from katz_env.core.thread_pool import available_cores

_FIRST_OBSERVATION = """
import ast, sys, time
start = time.perf_counter()
import katz_env
imported = time.perf_counter()
from katz_env.core.aec import GameAECEnv
env = GameAECEnv(katz_env.make_game(sys.argv[1], **ast.literal_eval(sys.argv[2])))
env.reset(seed=0)
env.last()
print(imported - start, time.perf_counter() - start)
"""


def decisions_per_second(tables: Tables, seconds: float) -> float:
    """Measure steps of random legal moves with mask, observation and re-deal; the time to choose the moves is not counted."""
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
    """Measure the usual loop of `last` and `step` with the first legal action, resets included."""
    env.reset(seed=0)
    env.step(int(env.last()[0]["action_mask"].argmax()))  # the first one compiles, or loads what was compiled
    env.reset()
    steps, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        for _agent in env.agent_iter():
            observation, _reward, termination, _truncation, _info = env.last()
            env.step(None if termination else int(observation["action_mask"].argmax()))
            steps += 1
        env.reset()
    return steps / (time.perf_counter() - start)


def gymnasium_steps_per_second(env: Any, seconds: float) -> float:
    """Measure random legal moves of the open seat, resets included."""
    _, info = env.reset(seed=0)
    env.step(int(info["action_mask"].argmax()))  # the first one compiles, or loads what was compiled
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
    """An environment that does nothing: it shows what PettingZoo's own loop and wrappers cost."""

    metadata: dict[str, Any] = {"name": "empty", "is_parallelizable": False}

    def __init__(self, like: Any) -> None:
        super().__init__()
        self.possible_agents = list(like.possible_agents)
        self.action_spaces = like.action_spaces
        self._seen = {"observation": np.zeros(1, np.float32), "action_mask": np.ones(like.game.num_actions, np.int8)}

    def action_space(self, agent: str) -> Any:
        """The action space of the environment that it stands in for."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        """Begin a game of fifty steps."""
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
        """Return the same observation every time."""
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


def start_times(game: Game, cache: str) -> tuple[float, float]:
    """Measure in a new process, in seconds, ``import katz_env`` and the time from the start to the first observation.

    Parameters
    ----------
    game
        The game.
    cache
        The folder of compiled code that the process uses.
    """
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", _FIRST_OBSERVATION, game.name, repr(game.settings)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    imported, first = map(float, result.stdout.split())
    return imported, first


def run(games: Sequence[Game], num_tables: int, seconds: float, repeats: int) -> None:
    """Measure everything and print the medians.

    Parameters
    ----------
    games
        One game for different numbers of players. What is measured for one of them only is measured for three players if
        possible, else for the first.
    num_tables
        The number of tables that are stepped together.
    seconds
        Seconds for each measurement.
    repeats
        The number of measurements of each figure, taken in turn.
    """
    cores = available_cores()
    sizes = (1, 1), (num_tables, 1), (num_tables, cores)
    measures: dict[Any, Callable[[], float]] = {}
    for game in games:
        for size, threads in sizes:
            tables = Tables(game, size, seed=0, num_threads=threads)
            measures[game.num_players, size, threads] = partial(decisions_per_second, tables, seconds)
    one = next((game for game in games if game.num_players == 3), games[0])
    raw = GameAECEnv(one)
    wrapped = {"env": wrapped_env(raw, QuickLast), "empty": wrapped_env(EmptyEnv(raw), OrderEnforcingWrapper)}
    for name, env in {"raw": raw, **wrapped}.items():
        measures[name] = partial(aec_steps_per_second, env, seconds)
    for opponents in _known_opponents(one):
        measures[opponents] = partial(gymnasium_steps_per_second, _gymnasium_env(one, opponents), seconds)

    console = Console()
    measured: dict[Any, list[float]] = {name: [] for name in measures}
    with console.status("measuring") as status:
        for repeat in range(repeats):
            for name, measure in measures.items():
                status.update(f"measuring, round {repeat + 1} of {repeats}")
                measured[name].append(measure())
        with tempfile.TemporaryDirectory() as cache:
            status.update("compiling in a new process")
            cold = start_times(one, cache)
            cached = [start_times(one, cache) for _ in range(repeats)]
    medians = {name: statistics.median(values) for name, values in measured.items()}

    table = Table(title="decisions a second, with mask, observation and re-deal")
    for heading in ("players", "1 table", f"{num_tables:,} tables, 1 thread", f"{num_tables:,} tables, {cores} threads"):
        table.add_column(heading, justify="right")
    for game in games:
        n = game.num_players
        table.add_row(str(n), *(f"{medians[n, size, threads]:,.0f}" for size, threads in sizes))
    console.print(table)
    console.print(
        f"PettingZoo loop, {one.num_players} players: raw_env {medians['raw']:,.0f}, env {medians['env']:,.0f} steps a second, "
        f"which is {medians['env'] / medians['empty']:.2f} times what PettingZoo's wrappers around an environment "
        "that does nothing reach"
    )
    against = ", ".join(f"{medians[name]:,.0f} against {name}" for name in ("random", "greedy") if name in medians)
    console.print(f"gym.make, {one.num_players} players, steps a second: {against}")
    imported, first = (statistics.median(column) for column in zip(*cached, strict=True))
    console.print(
        f"import katz_env: {imported:.2f} s; start to first observation: {first:.2f} s cached, {cold[1]:.1f} s with compiling"
    )


def _gymnasium_env(game: Game, opponents: str) -> gymnasium.Env[Any, Any]:
    """The environment that ``gymnasium.make`` gives, with the wrappers that it adds."""
    spec = gymnasium.envs.registration.EnvSpec("katz_env/bench-v0", entry_point=partial(SingleEnv, game))
    return gymnasium.make(spec, opponents=opponents)


def _known_opponents(game: Game) -> list[str]:
    """Those of random and greedy that play this game."""
    found = []
    for name in ("random", "greedy"):
        with suppress(ValueError):
            check_plays(make_agent(name), game)
            found.append(name)
    return found
