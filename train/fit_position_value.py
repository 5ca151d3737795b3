"""Fit the chance to win at the beginning of a turn of Katz und Maus, with which `search` ends its playouts.

`heuristic` plays against itself. At the beginning of every turn the features of the table are kept, with the win share that the
seat got in the end; a logistic regression, fitted by Newton's method, gives the weights, which are printed to be pasted into
``position_value.py``. In two games out of three some moves are random, so that the fit also meets positions that good players
avoid. It takes about half a minute.

    python train/fit_position_value.py
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # python -I leaves it out

from katz_train import startup

if __name__ == "__main__":
    startup.begin("train/fit_position_value.py")

from dataclasses import dataclass
from typing import Any

import numpy as np
import tyro
from numpy.typing import NDArray

from katz_agents.katz_und_maus.position_value import NUM_FEATURES, write_features
from katz_env import KatzUndMaus, Tables, make_agent
from katz_env.command_line import check_at_least
from katz_env.core.jit import cached
from katz_train.interrupts import run_script

STEPS = 20
"""The number of Newton steps, after which nothing changes any more."""
RANDOM_MOVES = (0.0, 0.05, 0.2)
"""The share of random moves, in one game out of three each."""
RIDGE = 0.01
"""The weight of the squares of the weights in the loss."""

Array = NDArray[np.float64]


@dataclass
class Settings:
    """How to fit."""

    games: int = 9000
    """Games to learn from; one in five is only measured on."""
    seed: int = 1
    """Seed of the games."""


@cached(name="katz_und_maus.features_of")
def features_of(records: NDArray[Any], seats: NDArray[np.int64], out: Array) -> None:
    """Write the features of ``records[i]`` for ``seats[i]`` into ``out[i]``."""
    for i in range(records.shape[0]):
        write_features(records[i], seats[i], out[i])


def played(settings: Settings) -> tuple[Array, Array, NDArray[np.int64]]:
    """Play the games; return the features ``(k, NUM_FEATURES)``, win shares ``(k,)`` and games ``(k,)`` of positions."""
    game, agent, rng = KatzUndMaus(), make_agent("heuristic"), np.random.default_rng(settings.seed)
    tables = Tables(game, settings.games, seed=settings.seed, autoreset=False)
    features, seats, games = [], [], []
    turn, shares = np.full(settings.games, -1), np.resize(RANDOM_MOVES, settings.games)
    while not tables.terminated.all():
        going = np.flatnonzero(~tables.terminated)
        begins = going[tables.turn[going] != turn[going]]
        out = np.empty((len(begins), NUM_FEATURES))
        features_of(tables.records[begins], tables.turn[begins].astype(np.int64), out)
        features.append(out)
        seats.append(tables.turn[begins])
        games.append(begins)
        turn[going] = tables.turn[going]
        actions = agent.act(tables.view(going, rng))
        drawn = nth_legal(tables.action_masks[going], rng.random(len(going)))
        tables.step(np.where(rng.random(len(going)) < shares[going], drawn, actions), going)
    share = game.results(tables.records)["win_share"]
    return np.concatenate(features), share[np.concatenate(games), np.concatenate(seats)], np.concatenate(games)


def nth_legal(masks: NDArray[np.bool_], draws: Array) -> NDArray[np.int64]:
    """Return for each mask ``(k, A)`` the legal action at a fraction of all legal ones, int64 ``(k,)``."""
    wanted = np.floor(draws * masks.sum(1))
    return np.argmax(np.cumsum(masks, 1) > wanted[:, None], 1)


def fitted(features: Array, shares: Array) -> Array:
    """Return the weights of the logistic regression, float64 ``(NUM_FEATURES,)``."""
    weights = np.zeros(features.shape[1])
    for _ in range(STEPS):
        chances = 1 / (1 + np.exp(-features @ weights))
        gradient = features.T @ (shares - chances) - RIDGE * weights
        curvature = (features.T * (chances * (1 - chances))) @ features + RIDGE * np.eye(len(weights))
        weights += np.linalg.solve(curvature, gradient)
    return weights


def loss(weights: Array, features: Array, shares: Array) -> float:
    """Return the mean cross entropy."""
    chances = 1 / (1 + np.exp(-features @ weights))
    return float(-(shares * np.log(chances) + (1 - shares) * np.log(1 - chances)).mean())


def fit(settings: Settings) -> int:
    """Play, fit and print the weights; returns the exit code."""
    check_at_least(settings, games=10, seed=0)
    features, shares, games = played(settings)
    kept = games % 5 == 0
    weights = fitted(features[~kept], shares[~kept])
    print(f"{len(shares)} positions; loss {loss(weights, features[kept], shares[kept]):.4f}, by chance {np.log(2):.4f}")
    print(f"WEIGHTS = {tuple(weights.round(3).tolist())}")
    return 0


def main() -> None:
    """Read the settings from the command line and run."""
    settings = tyro.cli(Settings, prog="python train/fit_position_value.py", description=__doc__)
    run_script(lambda _: fit(settings), "train/fit_position_value.py")


if __name__ == "__main__":
    main()
