"""The playout model: what `search` needs to know of a game to deal hidden cards anew and to play a table to its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from katz_env import Game
from katz_env.core.jit import compiled
from katz_env.core.rng import random_below
from katz_env.core.types import Mask, Table

GOES_ON = -1.0
"""The result of `PlayoutModel.judge` where the playout continues."""


@compiled
def leave_out_nothing(t: Table, action: int, settings: Any) -> bool:
    """Return False, so that every legal action is tried."""
    return False


class PlayoutModel(NamedTuple):
    """How playouts proceed in one game; `resample`, `choose` and `judge` are compiled building blocks."""

    resample: Callable[..., bool]
    """``resample(t, seat)`` deals the hidden cards anew; see `katz_env.core.batch.TableFunctions`."""
    choose: Callable[..., int]
    """``choose(t, me, mask, bits, settings)`` returns the action of the seat to act while `me` searches; `bits` has a random
    bit for each seat, drawn once for each world."""
    judge: Callable[..., float]
    """``judge(t, me, root, settings, scratch)`` returns the win share that `me` can expect, or `GOES_ON`; `root` is the table
    that is searched."""
    settings: Any
    """The value passed as `settings`."""
    new_scratch: Callable[[], Any]
    """A function that makes the scratch memory which one thread passes to `judge`."""
    leave_out: Callable[..., bool] = leave_out_nothing
    """``leave_out(t, action, settings)`` returns whether a legal action of the table that is searched is not worth a try, as
    when it is the mirror image of another one. What `choose` would play is tried in any case."""
    trust: float = 0.0
    """The win share that is added to the move which `choose` would make: others must promise more to be preferred."""


def random_model(game: Game) -> PlayoutModel:
    """Return the model for games without a model of their own: random moves to the end of the game."""
    return PlayoutModel(game.functions.resample, choose_randomly, judge_nothing, (), tuple)


@compiled
def choose_randomly(t: Table, me: int, mask: Mask, bits: int, settings: Any) -> int:
    """Return a uniformly random legal action, drawn from the table's generator."""
    left = random_below(t, mask.sum())
    for action in range(len(mask)):
        if mask[action]:
            if left == 0:
                return action
            left -= 1
    return -1


@compiled
def judge_nothing(t: Table, me: int, root: Table, settings: Any, scratch: Any) -> float:
    """Return `GOES_ON`, so that every playout continues to the end of the game."""
    return GOES_ON
