"""Fit the estimates of a policy: the leaf network, which `policy_search` needs, and the value network of its observation.

The policy plays games with itself. Some of the seats are held by another agent, and in every other game some moves are random,
so that the networks also meet tables that good players avoid. At the start of every stage (an auction, a round, a turn) the
state is kept as each seat sees it in a world, and at some decisions the observation of the seat to act, with what the seat won
in the end. The policy is written again with both networks beside its own layers; its moves stay as they are.

    python train/fit_estimates.py runs/ppo-katzenjammer-3-0/policy.npz
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # python -I leaves it out

from katz_train import startup

if __name__ == "__main__":
    startup.begin("train/fit_estimates.py")

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from tqdm import tqdm

from katz_agents.estimates import Estimates, leaf_columns, leaf_inputs
from katz_agents.policy import Policy
from katz_agents.policy_file import save_policy
from katz_env import Agent, Game, Tables, make_agent, make_game
from katz_env.command_line import check_above_zero, check_at_least, check_between, check_layers, check_plays
from katz_env.core.encoding import Encoding
from katz_train.interrupts import Interrupted, Interrupts, run_script
from katz_train.outcomes import TABLES, Fit, fit, play_games
from katz_train.torch_settings import torch_settings

EVERY = 4
"""One decision of so many is kept for the value network: those of one game are much alike."""


@dataclass
class Settings:
    """Fit the leaf network and the value network of a policy."""

    policy: tyro.conf.Positional[Path]
    """The policy, a file that ends in .npz, which is written anew."""
    games: int = 60_000
    """Games to learn from, rounded up to a whole number of batches."""
    other: str = "heuristic"
    """The agent that holds some of the seats, by name."""
    other_share: float = 0.15
    """The part of the seats that it holds."""
    random_share: float = 0.04
    """The part of the moves that are random, in every other game."""
    hidden: tuple[int, ...] = (256, 128)
    """Units of the layers of both networks."""
    epochs: int = 3
    """How often every position is learned from."""
    batch_size: int = 2048
    """Positions in one step of the optimiser."""
    learning_rate: float = 2e-3
    """The optimiser's step size, which falls to zero along a cosine."""
    seed: int = 0
    """Seeds the games and the networks: the same settings give the same networks on the same machine."""

    def check(self) -> None:
        """Raise ValueError that names a setting that is out of range."""
        check_at_least(self, games=1, epochs=1, batch_size=1, seed=0)
        check_above_zero(self, "learning_rate")
        check_layers(self, "hidden")
        check_between(self, 0, 1, "other_share", "random_share")


class Positions(NamedTuple):
    """What both networks learn from: positions as a seat sees them, and what it won in the end."""

    states: NDArray[np.int8]
    """``(k, c)``: the columns of states that a leaf network sees."""
    leaf_shares: NDArray[np.float32]
    """``(k,)``: the win shares of their seats."""
    observations: NDArray[np.int8]
    """``(d, D)``: observations at decisions."""
    value_shares: NDArray[np.float32]
    """``(d,)``: the win shares of the seats that were to act."""


def play(policy: Agent, other: Agent, game: Game, settings: Settings, rng: np.random.Generator, bar: tqdm) -> Positions:
    """Play a batch of games."""
    n, columns = game.num_players, leaf_columns(game)
    seed = int(rng.integers(2**63))
    players = (rng.random((TABLES, n)) < settings.other_share).astype(np.int64)
    random_shares = np.where(np.arange(TABLES) % 2 == 0, settings.random_share, 0.0)
    states, observations = [], []

    def look(tables: Tables, alive: NDArray[np.int64], begun: NDArray[np.int64]) -> None:
        if len(begun):
            of, seats = np.repeat(begun, n), np.tile(np.arange(n), len(begun))
            states.append((game.state(tables.records[of], seats)[:, columns], of, seats))
        kept = alive[rng.integers(EVERY, size=len(alive)) == 0]
        observations.append((tables.observations[kept], kept, tables.turn[kept].astype(np.int64)))

    shares = play_games(game, (policy, other), players, random_shares, look, seed, rng, bar)
    (of_leaves, tables_of_leaves, seats_of_leaves), (seen, tables_seen, seats_seen) = (
        tuple(np.concatenate(arrays) for arrays in zip(*pieces, strict=True)) for pieces in (states, observations)
    )
    return Positions(of_leaves, shares[tables_of_leaves, seats_of_leaves], seen, shares[tables_seen, seats_seen])


class Fitted(NamedTuple):
    """How well the networks fit."""

    games: int
    """The games that were learned from."""
    leaf: float
    """The part of the variance of the win shares that the leaf network explains, in `TABLES` other games."""
    value: float
    """The same of the value network."""


@torch_settings(threads=1, precision="medium")
def write_estimates(settings: Settings) -> Fitted:
    """Play, fit, and write the policy anew."""
    settings.check()
    policy = Policy(str(settings.policy))
    game = make_game(str(policy.trained_for["game"]), **policy.trained_for["settings"])
    policy.check(game)
    other = make_agent(settings.other)
    check_plays(other, game)
    torch.manual_seed(settings.seed)
    rng = np.random.default_rng([settings.seed, 0])
    batches = 1 + -(-settings.games // TABLES)  # the last one is for validation
    with tqdm(total=batches * TABLES, unit=" games", desc="play") as bar:
        played = [play(policy, other, game, settings, rng, bar) for _ in range(batches)]
    whole = Positions(*(np.concatenate(arrays) for arrays in zip(*played, strict=True)))
    how = Fit(settings.hidden, settings.epochs, settings.batch_size, settings.learning_rate, settings.seed)
    leaf, of_leaf = fit(
        "leaf", whole.states, whole.leaf_shares, lambda states: leaf_inputs(game, states), len(played[-1].states), how
    )
    value, of_value = fit("value", whole.observations, whole.value_shares, Encoding(game), len(played[-1].observations), how)
    save_policy(settings.policy, game, policy.layers, Estimates(leaf, value), policy.base)
    return Fitted((batches - 1) * TABLES, of_leaf, of_value)


def fit_estimates(settings: Settings, interrupts: Interrupts | None = None) -> int:
    """Play, fit and write; returns the exit code, 130 if a signal came before the end: then the file is as it was."""
    interrupts = interrupts or Interrupts()
    try:
        with interrupts.abandonable():
            fitted = write_estimates(settings)
    except Interrupted:
        print(f"interrupted: {settings.policy} is as it was", file=sys.stderr)
        return 130
    for what, part in (("leaf", fitted.leaf), ("value", fitted.value)):
        print(f"{what} network: explains {part:.3f} of the variance of the win shares")
    print(f"written: {settings.policy}")
    return 0


def main() -> None:
    """Read the settings from the command line and fit."""
    settings = tyro.cli(Settings, prog="python train/fit_estimates.py", description=__doc__)
    run_script(lambda interrupts: fit_estimates(settings, interrupts), "train/fit_estimates.py")


if __name__ == "__main__":
    main()
