"""The playout model of Katzenjammer Blues: the players of a playout, and the value network that ends it early."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from katz_agents.katzenjammer import evaluation, greedy, heuristic, value_network
from katz_agents.playouts import GOES_ON, PlayoutModel
from katz_env import Game, Katzenjammer
from katz_env.core.jit import compiled
from katz_env.core.types import Mask, Table
from katz_env.games.katzenjammer.hidden import resample_within

_TRIES = 100
"""The number of worlds that are dealt and rejected before one is repaired instead."""


class _Settings(NamedTuple):
    weights: evaluation.Weights
    gains: greedy.Costs
    costs: greedy.Costs
    network: value_network.Network


class _Scratch(NamedTuple):
    """The scratch memory of one thread."""

    features: NDArray[np.int8]
    hidden1: NDArray[np.float32]
    hidden2: NDArray[np.float32]


def model_of(game: Game) -> PlayoutModel:
    """Return the playout model of a game.

    In a playout the searching seat plays like `heuristic`. Each other seat plays like `greedy` in one world of four, else like
    `heuristic`.
    """
    assert isinstance(game, Katzenjammer)
    network = value_network.load_network(game)
    settings = _Settings(evaluation.Weights(), *greedy.card_counts(game.rules.values), network)

    def new_scratch() -> _Scratch:
        size = value_network.num_features(game.num_players, len(game.cards))
        return _Scratch(
            np.empty(size, np.int8),
            np.empty(len(network.biases1), np.float32),
            np.empty(len(network.biases2), np.float32),
        )

    return PlayoutModel(resample, choose, judge, settings, new_scratch)


@compiled
def resample(t: Table, seat: int) -> bool:
    """Fill a redacted table with a random world, with fewer rejections than the game's own function allows."""
    return resample_within(t, seat, _TRIES)


@compiled(allocates=True)
def choose(t: Table, me: int, mask: Mask, bits: int, settings: _Settings) -> int:
    """Return the action of the seat to act; `bits` has a bit for each seat, which is set where `greedy` plays."""
    if t.turn != me and bits >> t.turn & 1:
        return greedy.decide(t, t.turn, mask, 0.0, (settings.gains, settings.costs))
    return heuristic.decide(t, t.turn, mask, 0.0, settings.weights)


@compiled
def judge(t: Table, me: int, root: Table, settings: _Settings, scratch: _Scratch) -> float:
    """Return the win share that `me` can expect once a card has left the draw pile since `root`, else `GOES_ON`.

    Without a network every playout continues.
    """
    if t.position == root.position or len(scratch.hidden1) == 0:
        return GOES_ON
    value_network.write_features(t, me, scratch.features)
    return value_network.expected_win_share(scratch.features, settings.network, scratch.hidden1, scratch.hidden2)
