"""The engine against a plain port of a game's step to C: checks that both do the same, then measures both in turn.

python tests/benchmarks/port.py --game meow

It needs a C compiler. Moves are chosen and counted as ``katz bench`` does it, for both by the same function.
"""

from __future__ import annotations

import ctypes
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from katz_env import Game, Katzenjammer, KatzUndMaus, Meow, Tables
from katz_env.bench import decisions_per_second
from katz_env.command_line import check_above_zero, check_at_least, game_from, run_command
from katz_env.core.agents import random_legal
from katz_env.core.batch import StepOutputs

COMPILER, OPTIONS = "cc", ("-O3", "-march=native", "-shared", "-fPIC")
SOURCES = {"katzenjammer": "port.c", "meow": "port_meow.c", "katz_und_maus": "port_katz_und_maus.c"}
"""The ports by the names of their games, in the folder of this file."""


@dataclass
class Settings:
    """Measure the engine against a plain port of it to C."""

    game: str = "katzenjammer"
    """A game that has a port."""
    num_players: int | None = None
    """The number of players; None for 4, or for the only number that the game allows."""
    tables: int = 4096
    """Tables that are stepped together, by one thread."""
    rounds: int = 9
    """Measurements of each, taken in turn; the medians are shown."""
    seconds: float = 0.3
    """Seconds for each measurement."""


def sizes_of(game: Game) -> dict[str, int]:
    """The numbers of a game that its port knows when it is compiled, by the names of its macros."""
    sizes = {"RECORD_SIZE": game.dtype.itemsize, "OBSERVATION_SIZE": game.observation_size}
    if isinstance(game, KatzUndMaus):
        names = {"RANKS": "ranks", "COPIES": "copies", "STACKS": "stacks", "DEPOSITS": "deposits", "DEPTH": "deposit_depth"}
        return sizes | {macro: getattr(game.rules, name) for macro, name in names.items()}
    sizes |= {"NUM_PLAYERS": game.num_players}
    if isinstance(game, Meow):
        names = {"RANKS": "ranks", "KEPT": "kept", "TRICKS": "tricks", "ROUNDS": "rounds", "VASES": "vases"}
        named = {macro: getattr(game.rules, name) for macro, name in names.items()}
        return sizes | named | {"KINDS": len(game.rules.tile_types), "BONES": game.dtype["bone_value"].shape[0]}
    assert isinstance(game, Katzenjammer)
    return sizes | {"VALUES": game.rules.values, "COPIES": game.rules.copies}


def compiled_port(game: Game) -> Callable[..., int]:
    """The function ``step`` of the port, compiled for the sizes of a game.

    Raises
    ------
    OSError
        If there is no C compiler, or it refuses the port.
    """
    if shutil.which(COMPILER) is None:
        raise OSError(f"there is no C compiler {COMPILER!r} on this machine")
    source = Path(__file__).with_name(SOURCES[game.name])
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "port.so"
        macros = [f"-D{name}={value}" for name, value in sizes_of(game).items()]
        command = [COMPILER, *OPTIONS, *macros, "-o", str(library), str(source)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            complaint = next((line for line in result.stderr.splitlines() if "error" in line), f"exit code {result.returncode}")
            raise OSError(f"{COMPILER} cannot compile {source.name}: {complaint}")
        step = ctypes.CDLL(str(library)).step  # stays loaded when the file is gone
    array, number = ctypes.c_void_p, ctypes.c_int64
    step.argtypes = [array, array, array, number, number, ctypes.c_int, *[array] * len(StepOutputs._fields)]
    step.restype = number
    return step


class Port:
    """Tables, with autoreset, that the port steps instead of the engine: it writes into their arrays."""

    def __init__(self, tables: Tables, step: Callable[..., int]) -> None:
        self.tables, self.action_masks, self._step = tables, tables.action_masks, step
        records, out, _ = tables.arrays()
        self._where = np.arange(len(tables))
        # Objects of ctypes spare the conversion of numbers in every call.
        self._first = [ctypes.c_void_p(array.ctypes.data) for array in (records, self._where)]
        self._last = [ctypes.c_void_p(array.ctypes.data) for array in out]
        self._numbers = tables.game.num_actions, tables.reward_index

    def __len__(self) -> int:
        return len(self.tables)

    def step(self, actions: NDArray[np.int64]) -> None:
        """Like `Tables.step`, for contiguous actions."""
        illegal = self._step(*self._first, actions.ctypes.data, len(actions), *self._numbers, *self._last)
        if illegal >= 0:
            raise ValueError(f"action {actions[illegal]} is illegal at table {illegal}")


def arrays_of(tables: Tables) -> list[NDArray[Any]]:
    """The records and all that a step fills."""
    records, out, _ = tables.arrays()
    return [records, *out]


def check(game: Game, step: Callable[..., int], reward: str = "win", num_tables: int = 64, steps: int = 300) -> None:
    """Play random legal moves with the engine and with the port, from the same records.

    Raises
    ------
    ValueError
        If an array of the two is not the same in every byte.
    """
    engine, port = (Tables(game, num_tables, seed=0, reward=reward, num_threads=1) for _ in range(2))
    stepped = Port(port, step)
    rng, actions = np.random.default_rng(0), np.zeros(num_tables, np.int64)
    for number in range(steps):
        random_legal(engine.action_masks, rng.random(num_tables), actions)
        engine.step(actions)
        stepped.step(actions)
        for name, mine, theirs in zip(("records", *StepOutputs._fields), arrays_of(engine), arrays_of(port), strict=True):
            different = [i for i in range(num_tables) if mine[i].tobytes() != theirs[i].tobytes()]
            if different:
                raise ValueError(f"the {name} of table {different[0]} differ after step {number + 1}")


def measure(settings: Settings) -> int:
    """Check the port, measure both, and print the medians; returns the exit code."""
    check_at_least(settings, tables=1, rounds=1)
    check_above_zero(settings, "seconds")
    if settings.game not in SOURCES:
        raise ValueError(f"there is no port of {settings.game!r}; there are those of {', '.join(SOURCES)}")
    usual = None if settings.game == "katz_und_maus" else 4
    game, console = game_from(settings.game, settings.num_players or usual), Console()
    found: dict[str, list[float]] = {"engine": [], "port": []}
    with console.status("compiling and checking") as status:
        step = compiled_port(game)
        check(game, step)
        engine, port = (Tables(game, settings.tables, seed=0, num_threads=1) for _ in found)
        players: dict[str, Any] = {"engine": engine, "port": Port(port, step)}
        for stepped in players.values():  # until the games of the tables are at different moves
            decisions_per_second(stepped, settings.seconds)
        for number in range(settings.rounds):
            status.update(f"measuring, round {number + 1} of {settings.rounds}")
            for name, stepped in players.items():
                found[name].append(decisions_per_second(stepped, settings.seconds))
    table = Table(title=f"{game.name}: decisions a second, {game.num_players} players, {settings.tables:,} tables, 1 thread")
    for heading in ("engine", "port", "engine / port", "lowest", "highest"):
        table.add_column(heading, justify="right")
    ratios = [mine / theirs for mine, theirs in zip(found["engine"], found["port"], strict=True)]
    medians = {name: statistics.median(values) for name, values in found.items()}
    table.add_row(
        *(f"{median:,.0f}" for median in medians.values()),
        *(f"{ratio:.2f}" for ratio in (medians["engine"] / medians["port"], min(ratios), max(ratios))),
    )
    console.print(table)
    return 0


if __name__ == "__main__":
    settings = tyro.cli(Settings, description=__doc__)
    sys.exit(run_command(lambda: measure(settings), "port.py"))
