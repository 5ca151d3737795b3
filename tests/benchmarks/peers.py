"""Random legal moves, with masks and observations, in other libraries and in this one: in turn, repeated, medians and ratios.

The games differ, so this compares what people would use, not implementations of one game. It needs an environment of its own:

    python3 -m venv .venv-bench && . .venv-bench/bin/activate
    pip install -c constraints.txt -e ".[bench]" && python tests/benchmarks/peers.py
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

from katz_env import Katzenjammer, Tables, katzenjammer_v0
from katz_env.command_line import check_above_zero, check_at_least, run_command
from katz_env.core.agents import random_legal

Player = Callable[[float], float]
"""Plays for some seconds and returns moves a second."""


@dataclass
class Settings:
    """Compare the speed of card-game environments."""

    seconds: float = 2.0
    """Seconds for each measurement."""
    repeats: int = 5
    """Measurements of each library, taken in turn; the median is shown."""
    batch: int = 4096
    """Games at once, where a library can."""


def katz_tables(batch: int, threads: int | None) -> Player:
    """The engine, with the choice of the moves counted, as it is for the others."""
    tables, rng, actions = (
        Tables(Katzenjammer(3), batch, seed=0, num_threads=threads),
        np.random.default_rng(0),
        np.zeros(batch, int),
    )

    def play(seconds: float) -> float:
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            random_legal(tables.action_masks, rng.random(batch), actions)
            tables.step(actions)
            steps += 1
        return steps * batch / (time.perf_counter() - start)

    return play


def pettingzoo_loop(env: Any) -> Player:
    """The usual loop over an AEC environment."""
    rng = np.random.default_rng(0)
    env.reset(seed=0)

    def play(seconds: float) -> float:
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            for _agent in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                    continue
                legal = np.flatnonzero(observation["action_mask"])
                env.step(int(legal[int(rng.random() * len(legal))]))
                steps += 1
            env.reset()
        return steps / (time.perf_counter() - start)

    return play


def pettingzoo_classic(name: str) -> Player:
    """An environment of PettingZoo's classic games."""
    from importlib import import_module

    return pettingzoo_loop(import_module(f"pettingzoo.classic.{name}").env())


def rlcard_game(name: str) -> Player:
    """A game of RLCard: states hold an observation and the legal actions."""
    import rlcard

    env, rng = rlcard.make(name, config={"seed": 0}), np.random.default_rng(0)

    def play(seconds: float) -> float:
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            state, _ = env.reset()
            while not env.is_over():
                legal = list(state["legal_actions"])
                state, _ = env.step(legal[int(rng.random() * len(legal))])
                steps += 1
        return steps / (time.perf_counter() - start)

    return play


def open_spiel_game(name: str) -> Player:
    """A game of OpenSpiel from Python: the observation and the mask of the player to move."""
    import pyspiel

    game, rng = pyspiel.load_game(name), np.random.default_rng(0)

    def play(seconds: float) -> float:
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    outcomes, _ = zip(*state.chance_outcomes(), strict=True)
                    state.apply_action(outcomes[int(rng.random() * len(outcomes))])
                    continue
                state.observation_tensor()
                state.legal_actions_mask()
                legal = state.legal_actions()
                state.apply_action(legal[int(rng.random() * len(legal))])
                steps += 1
        return steps / (time.perf_counter() - start)

    return play


def pgx_game(name: str, batch: int) -> Player:
    """A game of Pgx on the CPU, compiled for a batch, with games dealt anew; the chooser is compiled in."""
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make(name)
    step = auto_reset(env.step, env.init)

    @jax.jit
    def move(state: Any, key: Any) -> Any:
        key, choose, deal = jax.random.split(key, 3)
        actions = jax.random.categorical(choose, jnp.where(state.legal_action_mask, 0.0, -jnp.inf))
        return jax.vmap(step)(state, actions, jax.random.split(deal, batch)), key

    state, key = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), batch)), jax.random.PRNGKey(1)
    state, key = move(state, key)  # compiles

    def play(seconds: float) -> float:
        now, chance, steps, start = state, key, 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            now, chance = move(now, chance)
            now.observation.block_until_ready()
            steps += 1
        return steps * batch / (time.perf_counter() - start)

    return play


def measure(settings: Settings) -> int:
    """Measure every library that is installed, and print a table in Markdown; returns the exit code."""
    check_at_least(settings, repeats=1, batch=1)
    check_above_zero(settings, "seconds")
    makers: dict[tuple[str, str, str], Callable[[], Player]] = {
        ("katz_env", "Katzenjammer Blues, Tables", f"{settings.batch:,}"): lambda: katz_tables(settings.batch, None),
        ("katz_env", "Katzenjammer Blues, Tables, 1 thread", f"{settings.batch:,}"): lambda: katz_tables(settings.batch, 1),
        ("katz_env", "Katzenjammer Blues, raw_env", "1"): lambda: pettingzoo_loop(katzenjammer_v0.raw_env()),
        ("katz_env", "Katzenjammer Blues, env", "1"): lambda: pettingzoo_loop(katzenjammer_v0.env()),
        ("pgx", "Leduc hold'em", f"{settings.batch:,}"): lambda: pgx_game("leduc_holdem", settings.batch),
        ("pgx", "Sparrow Mahjong", f"{settings.batch:,}"): lambda: pgx_game("sparrow_mahjong", settings.batch),
        ("open_spiel", "Leduc poker", "1"): lambda: open_spiel_game("leduc_poker"),
        ("open_spiel", "Gin rummy", "1"): lambda: open_spiel_game("gin_rummy"),
        ("rlcard", "Leduc hold'em", "1"): lambda: rlcard_game("leduc-holdem"),
        ("rlcard", "Uno", "1"): lambda: rlcard_game("uno"),
        ("pettingzoo", "Leduc hold'em", "1"): lambda: pettingzoo_classic("leduc_holdem_v4"),
        ("pettingzoo", "Texas hold'em", "1"): lambda: pettingzoo_classic("texas_holdem_v4"),
    }
    console = Console(stderr=True)
    players, found = {}, {}
    with console.status("starting") as status:
        for name, make in makers.items():
            status.update(f"starting {' '.join(name)}")
            try:
                players[name], found[name] = make(), []
            except Exception as error:  # whatever keeps another library from starting should not stop the others
                console.print(f"left out: {name[0]}, {name[1]}: {error!r}")
        for repeat in range(settings.repeats):
            for name, play in players.items():
                status.update(f"round {repeat + 1} of {settings.repeats}: {' '.join(name)}")
                found[name].append(play(settings.seconds))
    _print(found)
    return 0


def _print(found: dict[tuple[str, str, str], list[float]]) -> None:
    medians = {name: statistics.median(values) for name, values in found.items()}
    best = max(medians.values())
    table = Table("library", "game", "games at once", "moves a second", "the fastest makes", box=None)
    print("| library | game | games at once | moves a second | the first line makes |\n| --- | --- | --- | --- | --- |")
    for (library, game, batch), median in medians.items():
        try:
            release = version(library)
        except PackageNotFoundError:
            release = "?"
        print(f"| {library} {release} | {game} | {batch} | {median:,.0f} | {best / median:,.1f} times as many |")
        table.add_row(library, game, batch, f"{median:,.0f}", f"{best / median:,.1f}")


if __name__ == "__main__":
    settings = tyro.cli(Settings, description=__doc__)
    sys.exit(run_command(lambda: measure(settings), "peers.py"))
