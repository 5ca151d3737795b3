"""The playout model of Katz und Maus: `heuristic` plays on until the searching seat's next turn, which is then judged.

Playouts to the end would say little: a game has some 150 decisions, and who wins it depends on all of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from katz_agents.katz_und_maus import heuristic, position_value
from katz_agents.playouts import GOES_ON, PlayoutModel
from katz_env import Game
from katz_env.core.jit import compiled
from katz_env.core.types import Mask, Table
from katz_env.games.katz_und_maus.engine import deposit_top

POSITIONS = 100
"""The number of positions that a move of a playout looks at: `heuristic` looks at more, which makes it hardly stronger."""


TRUST = 0.02
"""The win share by which another move must be better than that of `heuristic`, because estimates differ by chance."""


class _Settings(NamedTuple):
    weights: heuristic.Weights
    value: position_value.Features


def model_of(game: Game) -> PlayoutModel:
    """Return the playout model of a game."""
    settings = _Settings(heuristic.Weights(), np.array(position_value.WEIGHTS))
    return PlayoutModel(
        game.functions.resample, choose, judge, settings, lambda: np.empty(position_value.NUM_FEATURES), leave_out, TRUST
    )


@compiled(allocates=True)
def choose(t: Table, me: int, mask: Mask, bits: int, settings: _Settings) -> int:
    """Return the action of the seat to act."""
    return heuristic.best_move(t, int(t.turn), POSITIONS, np.empty((heuristic.LONGEST + 1, 6), np.int64), settings.weights)


@compiled
def judge(t: Table, me: int, root: Table, settings: _Settings, scratch: position_value.Features) -> float:
    """Return the win share that `me` can expect when its next turn begins, else `GOES_ON`.

    A turn of the opponent lies between if the opponent's deposits have changed, which every turn does.
    """
    if t.turn != me:
        return GOES_ON
    other, changed = 1 - me, False
    for place in range(t.deposit_tops.shape[1]):
        changed |= t.deposit_tops[other, place] != root.deposit_tops[other, place]
    if not changed:
        return GOES_ON
    position_value.write_features(t, me, scratch)
    return position_value.chance_to_win(scratch, settings.value)


@compiled
def leave_out(t: Table, action: int, settings: _Settings) -> bool:
    """Return whether the same move to a stack as high with a lower number is legal too, or a tidier discard of the same card.

    So of the discards of a card one is left. Discarded kings are left out, too.
    """
    kinds, stacks, deposits = t.hidden.shape[0], t.heights.shape[0], t.deposit_sizes.shape[1]
    first_discard = stacks * (kinds + deposits + 1)
    if action == first_discard + deposits * kinds:
        return False
    worse = False
    if action < first_discard:
        stack = action % stacks
        for other in range(stack):
            worse |= t.heights[other] == t.heights[stack]
        return worse
    kind, deposit = (action - first_discard) // deposits, (action - first_discard) % deposits
    mine = heuristic.tidiness(deposit_top(t, int(t.turn), deposit), kind, kinds - 1, settings.weights)
    for other in range(deposits):
        value = heuristic.tidiness(deposit_top(t, int(t.turn), other), kind, kinds - 1, settings.weights)
        worse |= value > mine or (value == mine and other < deposit)
    return worse or kind == kinds - 1
