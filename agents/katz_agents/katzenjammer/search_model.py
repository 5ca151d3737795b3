"""The playout model of Katzenjammer Blues: the players of a playout, and the value network that ends it early."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from katz_agents.katzenjammer import greedy, heuristic, value_network
from katz_agents.playouts import GOES_ON, PlayoutModel
from katz_env import Game, Katzenjammer
from katz_env.core.jit import compiled
from katz_env.core.types import Mask, Table
from katz_env.games.katzenjammer.hidden import resample_within

_GREEDY, _LIKE_PPO, _HEURISTIC = range(3)
"""Who plays in a seat of a world; 3 is `heuristic` too."""
_TRIES = 100
"""The number of worlds that are dealt and rejected before one is repaired instead."""

LIKE_PPO = heuristic.Weights(
    ready=1.43,
    helped=0.00353,
    part=1.14,
    part_square=0.0707,
    value_base=0.143,
    size=5.21,
    power=0.232,
    distinct=0.115,
    joker=1.27,
    risk=1.82,
    risk_shift=-0.272,
    blur_end=1.23,
    blur_start=1.19,
    dump=1.08,
    dump_part=0.98,
    cards_per_round=14.4,
    mice_per_round=6.18,
    patience=2.27,
    ready_patience=3.38,
    doubt_end=1.82,
    doubt_start=16.9,
    lead=0.0404,
    rival_known=0.143,
    rival_size=1.88,
    rival_risk=-0.307,
    rival_row=-0.0934,
    rival_level=0.0359,
    rival_hand=0.24,
    rival_slope=-0.0959,
    retry=0.644,
)
"""The weights with which `heuristic` plays most like `ppo`: for three players it then makes 0.575 of its moves, otherwise
0.433. They are those of ``train/tune_heuristic.py --imitate ppo``, with the options that `docs/training.md` names."""


class _Settings(NamedTuple):
    weights: heuristic.Weights
    like_ppo: heuristic.Weights
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

    In a playout the searching seat plays like `heuristic`. Each other seat plays like `greedy` in one world of four, about like
    `ppo` in another one, and like `heuristic` in two.
    """
    assert isinstance(game, Katzenjammer)
    network = value_network.load_network(game)
    settings = _Settings(heuristic.Weights(), LIKE_PPO, *greedy.card_counts(game.rules.values), network)

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
    """Return the action of the seat to act; `bits` has two bits for each seat, which say who plays there."""
    who = _HEURISTIC if t.turn == me else bits >> 2 * t.turn & 3
    if who == _GREEDY:
        return greedy.decide(t, t.turn, mask, 0.0, (settings.gains, settings.costs))
    return heuristic.decide(t, t.turn, mask, 0.0, settings.like_ppo if who == _LIKE_PPO else settings.weights)


@compiled
def judge(t: Table, me: int, root: Table, settings: _Settings, scratch: _Scratch) -> float:
    """Return the win share that `me` can expect once a card has left the draw pile since `root`, else `GOES_ON`.

    Without a network every playout continues.
    """
    if t.position == root.position or len(scratch.hidden1) == 0:
        return GOES_ON
    value_network.write_features(t, me, scratch.features)
    return value_network.expected_win_share(scratch.features, settings.network, scratch.hidden1, scratch.hidden2)
