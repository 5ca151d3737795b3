"""Fit the value networks of `search`: how likely a seat is to win, from games of the scripted players and their outcomes.

In every game one seat plays `heuristic`; each of the others plays `heuristic` or, once in four times, `greedy`, like the
opponents in the playouts of `search`. At every reveal the network's inputs for the seats of `heuristic` are kept with the win
shares that they got in the end. In two games out of three some moves are random, so that the network also meets tables that
good players avoid. One network is fitted for each number of players, one to two minutes each on one core.

    python train/fit_value_network.py
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # python -I leaves it out

from katz_train import startup

if __name__ == "__main__":
    startup.begin("train/fit_value_network.py")

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from tqdm import tqdm

from katz_agents.archive import load_arrays, save_arrays
from katz_agents.katzenjammer import value_network
from katz_env import Katzenjammer, Tables, make_agent
from katz_env.command_line import check_above_zero, check_at_least, check_plays
from katz_env.core.jit import cached
from katz_train.interrupts import Interrupted, Interrupts, run_script
from katz_train.outcomes import TABLES, Fit, fit, play_games
from katz_train.torch_settings import torch_settings

HIDDEN = (64, 32)
"""Units of the hidden layers."""
RANDOM_MOVES = (0.0, 0.02, 0.08)
"""The share of random moves, in one game out of three each."""


@dataclass
class Settings:
    """How to fit."""

    num_players: tuple[int, ...] = (2, 3, 4, 5, 6)
    """Numbers of players to fit a network for; the others in the file are kept."""
    others: tuple[str, ...] = ("heuristic", "heuristic", "heuristic", "greedy")
    """The agents that the other seats draw from, by name."""
    positions: int = 3_000_000
    """Positions to learn from."""
    validation: int = 200_000
    """Positions that are only measured on."""
    epochs: int = 3
    """How often every position is learned from."""
    batch_size: int = 2048
    """Positions in one step of the optimiser."""
    learning_rate: float = 2e-3
    """The optimiser's step size, which falls to zero along a cosine."""
    seed: int = 1
    """Seed of the games and of the network."""
    out: Path = value_network.FILE
    """The file to write; it ends in .npz."""

    def check(self) -> None:
        """ValueError that names a setting that is out of range."""
        if not self.num_players:
            raise ValueError("--num-players must name at least one number of players")
        if not self.others:
            raise ValueError("--others must name at least one agent")
        check_at_least(self, validation=1, epochs=1, batch_size=1, seed=0)
        if self.positions < self.batch_size:
            raise ValueError(f"--positions is {self.positions}; it must be at least --batch-size, {self.batch_size}")
        check_above_zero(self, "learning_rate")
        if self.out.suffix != ".npz":
            raise ValueError(f"--out is {self.out}; it must end in .npz")
        if not self.out.parent.is_dir():
            raise ValueError(f"there is no folder {self.out.parent} for {self.out.name}")


@cached(name="fit_value_network.write_all_features")
def write_all_features(records: NDArray[Any], seats: NDArray[np.int64], out: NDArray[np.int8]) -> None:
    """Write the features of ``records[i]`` for ``seats[i]`` into ``out[i]``."""
    for i in range(records.shape[0]):
        value_network.write_features(records[i], seats[i], out[i])


def play(
    game: Katzenjammer, others: Sequence[str], rng: np.random.Generator, bar: tqdm
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Play a batch of games; return features ``(k, F)`` at reveals, and what their seats won, ``(k,)``."""
    n, names = game.num_players, list(dict.fromkeys(("heuristic", *others)))
    seed = int(rng.integers(2**63))
    players = np.array([names.index(name) for name in others])[rng.integers(len(others), size=(TABLES, n))]
    players[np.arange(TABLES), rng.integers(n, size=TABLES)] = 0
    judged = players == 0
    pieces = []

    def look(tables: Tables, alive: NDArray[np.int64], begun: NDArray[np.int64]) -> None:
        del alive
        rows, seats = np.nonzero(judged[begun])
        of = begun[rows]
        features = np.empty((len(of), value_network.num_features(n, len(game.cards))), np.int8)
        write_all_features(tables.records[of], seats, features)
        pieces.append((features, of, seats))

    random_shares = np.resize(RANDOM_MOVES, TABLES)
    shares = play_games(game, [make_agent(name) for name in names], players, random_shares, look, seed, rng, bar)
    features, of, seats = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
    return features, shares[of, seats]


def positions(
    game: Katzenjammer, others: Sequence[str], number: int, rng: np.random.Generator
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Features ``(number, F)`` and win shares ``(number,)`` of positions when an auction begins."""
    pieces: list[tuple[NDArray[np.int8], NDArray[np.float32]]] = []
    with tqdm(unit=" games", unit_scale=True, desc=f"{game.num_players} players, {number:,} positions") as bar:
        while sum(len(shares) for _, shares in pieces) < number:
            pieces.append(play(game, others, rng, bar))
    features, shares = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
    return features[:number], shares[:number]


def fitted(
    features: NDArray[np.int8], shares: NDArray[np.float32], settings: Settings, seed: int
) -> tuple[value_network.Network, float]:
    """The network, and the part of the variance of the last positions that it explains."""
    torch.manual_seed(seed)
    how = Fit(HIDDEN, settings.epochs, settings.batch_size, settings.learning_rate, seed)
    layers, explained = fit("value", features, shares, lambda rows: rows.astype(np.float32), settings.validation, how)
    (weights1, biases1), (weights2, biases2), (weights3, bias3) = layers
    arrays = weights1, biases1, weights2, biases2, weights3[:, 0], bias3
    return value_network.Network(*(np.ascontiguousarray(array, np.float32) for array in arrays)), explained


def saved_networks(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file; none if there is no file, ValueError if it is not such a file."""
    if not path.exists():
        return {}
    try:
        return load_arrays(path)
    except ValueError as error:
        raise ValueError(f"{path} holds no networks ({error}); name another --out") from None


@torch_settings(threads=1, precision="highest")
def fit_all(settings: Settings, interrupts: Interrupts | None = None) -> int:
    """Fit a network for each number of players; each is in the file as soon as it is fitted. Returns the exit code."""
    interrupts = interrupts or Interrupts()
    settings.check()
    games_of = {n: Katzenjammer(n) for n in settings.num_players}
    for game, name in itertools.product(games_of.values(), settings.others):
        check_plays(make_agent(name), game)
    saved_networks(settings.out)  # before hours of work: is it such a file?
    for n, game in games_of.items():
        games, network = np.random.SeedSequence([settings.seed, n]).spawn(2)
        number = settings.positions + settings.validation
        try:
            with interrupts.abandonable():
                features, shares = positions(game, settings.others, number, np.random.default_rng(games))
                found, explained = fitted(features, shares, settings, int(network.generate_state(1)[0]))
        except Interrupted:
            print(
                f"interrupted: the network for {n} players is not fitted; those fitted before are in {settings.out}",
                file=sys.stderr,
            )
            return 130
        print(f"{n} players: the network explains {explained:.3f} of the variance of the win shares")
        arrays = {f"{name}_{n}": array for name, array in found._asdict().items()}
        save_arrays(settings.out, saved_networks(settings.out) | arrays)
    return 0


def main() -> None:
    """Read the settings from the command line and fit."""
    settings = tyro.cli(Settings, prog="python train/fit_value_network.py", description=__doc__)
    run_script(lambda interrupts: fit_all(settings, interrupts), "train/fit_value_network.py")


if __name__ == "__main__":
    main()
