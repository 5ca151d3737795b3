"""The network that judges the tables of expert iteration: it sees everything but the order of hidden cards, and who plays.

It is for training alone. The leaf network of a policy, which a search uses, is not told who holds the other seats.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from katz_agents.estimates import leaf_columns, leaf_inputs, win_share
from katz_agents.layers import Layers
from katz_env import Agent, Game, Tables
from katz_env.core.arena import OPEN, Seating
from katz_env.core.game import Records
from katz_train.outcomes import TABLES, Fit, fit, play_games

RANDOM_SHARE = 0.04
"""The part of the moves that are random, in every other game, so that tables are met that good players avoid."""


def others_of(players: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return who holds the seats that are not open, int64 ``(k,)``, for players ``(k, n)``: an agent, or `OPEN` for none."""
    return np.asarray(players.max(1))


class TableValue(NamedTuple):
    """The win share that an open seat can expect, all of which the policy holds."""

    game: Game
    layers: Layers
    agents: int
    """How many agents there are, of which one holds all seats that are not open, if there are such."""

    def __call__(self, records: Records, seats: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the win shares of seats ``(k,)`` at tables ``(k,)`` with others ``(k,)``, float32 ``(k,)``."""
        return win_share(inputs_of(self.game, self.agents, rows_of(self.game, records, seats, others)), self.layers)


def rows_of(game: Game, records: Records, seats: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int8]:
    """Return what is shown of tables, int8 ``(k, c)``: columns of the state, then who holds the other seats."""
    return np.concatenate([game.state(records, seats)[:, leaf_columns(game)], others[:, None].astype(np.int8)], 1)


def inputs_of(game: Game, agents: int, rows: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the inputs of the network, float32 ``(k, F)``, for rows ``(k, c)``."""
    who = np.eye(agents + 1, dtype=np.float32)[rows[:, -1] - OPEN]
    return np.concatenate([leaf_inputs(game, rows[:, :-1]), who], 1)


def play(
    game: Game, agents: Sequence[Agent], players: NDArray[np.int64], rng: np.random.Generator, bar: tqdm
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Play a batch of games, the first agent in the open seats of `players`, ``(TABLES, n)``, and the others elsewhere.

    Returns
    -------
    rows, shares
        What is shown of the open seats' tables at the start of every stage, ``(k, c)``, and what they won in the end, ``(k,)``.
    """
    others, kept = others_of(players), []

    def look(tables: Tables, _: NDArray[np.int64], begun: NDArray[np.int64]) -> None:
        table, seats = np.nonzero(players[begun] == OPEN)
        of = begun[table]
        kept.append((rows_of(game, tables.records[of], seats, others[of]), of, seats))

    random_shares = np.where(np.arange(len(players)) % 2 == 0, RANDOM_SHARE, 0.0)
    won = play_games(game, agents, players - OPEN, random_shares, look, int(rng.integers(2**63)), rng, bar)
    rows, of, seats = (np.concatenate(arrays) for arrays in zip(*kept, strict=True))
    return rows, won[of, seats]


def fit_table_value(
    game: Game, policy: Agent, agents: Sequence[Agent], seating: Seating, games: int, how: Fit, rng: np.random.Generator
) -> TableValue:
    """Return a network that was fitted to what the policy won in games that are played now; say how well it fits.

    Parameters
    ----------
    game
        What is played.
    policy
        Holds the open seats.
    agents, seating
        Hold the other seats; see `SelfPlay`.
    games
        How many games are learned from at least; `TABLES` more are measured on.
    how
        How the network is fitted.
    rng
        Draws everything but the order of the rows.
    """
    batches = 1 + -(-games // TABLES)  # the last one is for validation
    with tqdm(total=batches * TABLES, unit=" games", desc="play games to judge by") as bar:
        played = [play(game, (policy, *agents), seating(rng, TABLES), rng, bar) for _ in range(batches)]
    rows, shares = (np.concatenate(arrays) for arrays in zip(*played, strict=True))
    torch.manual_seed(how.seed)

    def inputs(some: NDArray[np.int8]) -> NDArray[np.float32]:
        return inputs_of(game, len(agents), some)

    layers, explained = fit("table value", rows, shares, inputs, len(played[-1][0]), how)
    print(f"the network that judges explains {explained:.3f} of the variance of the win shares")
    return TableValue(game, layers, len(agents))
