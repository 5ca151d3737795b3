"""The playout model of Meow: everybody plays like ``heuristic`` to the end of the round, and the scores are judged then."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from katz_agents.meow import heuristic
from katz_agents.playouts import GOES_ON, PlayoutModel
from katz_env import Game
from katz_env.core.jit import compiled
from katz_env.core.types import Mask, Table


class _Settings(NamedTuple):
    weights: heuristic.Weights
    doubt: float = 7.0
    """The points by which a lead must grow for the odds to grow by a factor of e, if one round is to come."""


def model_of(game: Game) -> PlayoutModel:
    """Return the playout model of a game.

    The cards of coming rounds are dealt anew and say nothing about the move, so a playout ends with its round. The win share
    that the scores promise then is that of a softmax, whose temperature grows with the square root of the rounds to come.
    """
    return PlayoutModel(game.functions.resample, choose, judge, _Settings(heuristic.Weights()), tuple)


@compiled
def choose(t: Table, me: int, mask: Mask, bits: int, settings: _Settings) -> int:
    """Return the action of the seat to act."""
    return heuristic.decide(t, int(t.turn), mask, 0.0, settings.weights)


@compiled
def judge(t: Table, me: int, root: Table, settings: _Settings, scratch: Any) -> float:
    """Return the win share that `me` can expect once the round of `root` is over, else `GOES_ON`."""
    if t.round_index == root.round_index:
        return GOES_ON
    temperature = settings.doubt * np.sqrt(float(t.round_shown.shape[0] - t.round_index))
    total = 0.0
    for seat in range(t.hand.shape[0]):
        total += np.exp((t.score[seat] - t.score[me]) / temperature)
    return 1.0 / total
