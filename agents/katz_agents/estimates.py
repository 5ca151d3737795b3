"""Networks that estimate the win share that a seat can expect in games of a policy, kept apart by what they may see.

============== ==================================================== ==============================================
name           what it sees                                         what it is for
============== ==================================================== ==============================================
critic         everything, and who plays                            training alone; it is not part of a policy
leaf value     everything in a world but the order of hidden cards  worlds that a searcher has dealt
value          the observation of the seat to act                   what a player may ask for at the table
============== ==================================================== ==============================================

A searcher plays a world on until a *stage* of the game ends, such as an auction or a round, and asks for the leaf value there.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from katz_agents.layers import Layers, forward
from katz_env import Game, Katzenjammer
from katz_env.core.encoding import Encoding
from katz_env.core.fields import Field, named_fields, offsets
from katz_env.core.game import Records


class Estimates(NamedTuple):
    """The networks of a policy, with ReLU between their layers and one logit; None where there is none."""

    leaf: Layers | None
    """From `leaf_inputs`."""
    value: Layers | None
    """From the encoded observation."""


NO_ESTIMATES = Estimates(leaf=None, value=None)

STAGES: dict[str, Callable[[Records], NDArray[np.int64]]] = {
    "katzenjammer": lambda records: records["position"].astype(np.int64),
    "meow": lambda records: records["round_index"].astype(np.int64),
    "katz_und_maus": lambda records: records["turn"].astype(np.int64),
}
"""By game, the number of the stage that tables ``(k,)`` are in: a stage has ended when it changes. An auction of Katzenjammer
Blues, a round of Meow, a turn of Katz und Maus. The stage of other games is the whole game."""

HIDDEN_ORDER = ("next_cards", "next_tiles", "stocks")
"""The fields of states that hold the order of hidden cards, which says nothing of a world that was dealt at random."""


def stages(game: Game, records: Records) -> NDArray[np.int64]:
    """Return the stages of tables, int64 ``(k,)``; see `STAGES`."""
    known = STAGES.get(game.name)
    return np.zeros(len(records), np.int64) if known is None else known(records)


class _Shown(NamedTuple):
    """What a leaf network sees of a state: the fields, where their numbers stand in it, and what makes inputs of them."""

    fields: list[Field]
    columns: NDArray[np.int64]
    encoding: Encoding


@functools.cache
def _shown(game: Game) -> _Shown:
    """Return what a leaf network sees of the states of a game."""
    fields = [field for field in game.state_fields if field.name not in HIDDEN_ORDER]
    places = offsets(game.state_fields)
    columns = [np.arange(game.state_size)[places[field.name]] for field in fields]
    return _Shown(fields, np.concatenate(columns), Encoding(game, fields))


def leaf_columns(game: Game) -> NDArray[np.int64]:
    """Return which numbers of a state a leaf network sees, int64 ``(c,)``."""
    return _shown(game).columns


def leaf_inputs(game: Game, seen: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the inputs of a leaf network, float32 ``(k, F)``, for the `leaf_columns` of states, int8 ``(k, c)``.

    They are what `Encoding` makes of these numbers; in Katzenjammer Blues also the complete sets of each hand and the cards
    beyond them.
    """
    inputs = _shown(game).encoding(seen)
    if not isinstance(game, Katzenjammer):
        return inputs
    size = game.rules.set_size
    hands = named_fields(seen, _shown(game).fields)["hands"][:, :, :-1]  # the jokers, which come last, make no sets
    sets = [(part / np.float32(size)).reshape(len(seen), -1) for part in (hands // size, hands % size)]
    return np.concatenate([inputs, *sets], 1)


def win_share(inputs: NDArray[np.float32], layers: Layers) -> NDArray[np.float32]:
    """Return the estimate of a network, float32 ``(k,)``."""
    return np.asarray(1 / (1 + np.exp(-forward(inputs, layers, "relu")[:, 0])), np.float32)
