"""What networks are shown besides an observation: how far each stack is from the cards that a seat could play on it.

All of it follows from the observation. It is counted from the height of each stack, so that a network need not learn the same
line of play for every rank anew. The plays that begin a line to the stock or to a new hand are found by search (`lines`), and
every discard is compared with the card that it would cover.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from katz_env.core.features import Features
from katz_env.core.fields import Field
from katz_env.core.jit import cached, compiled
from katz_env.games.katz_und_maus.lines import TO_NEW_HAND, TO_STOCK, TO_STOCK_NATURALLY, write_lines
from katz_env.games.katz_und_maus.observation import observation_fields
from katz_env.games.katz_und_maus.rules import PLAYERS, SHOWN, Rules

MOST_SHORT = 4
"""A seat that is short of more cards is shown as short of so many."""

ABSENT, ONTO_NOTHING, ONTO_SAME, ONTO_NEXT, ONTO_HIGHER, COVERS = range(6)
"""What a discard would do to a deposit: the values of the field ``discards``."""


def feature_fields(rules: Rules) -> tuple[Field, ...]:
    """Return the fields, in order; the values are int8 before scaling."""
    n, kinds, ranks, stacks, deposits = PLAYERS, rules.kinds, rules.ranks, rules.stacks, rules.deposits
    most, first = min(rules.copies, rules.hand_size), "by the number of cards that must go onto it before"
    plays = "1 for the plays from hand and deposits, in the order of their actions, that"
    return (
        Field("tops", (n, deposits), 1, 0, kinds, "for each seat and deposit: its top card, kind + 1, 0 for none", True),
        Field("hand_ahead", (stacks, ranks), 1, 0, most, f"for each stack: own hand cards {first}"),
        Field("tops_ahead", (stacks, ranks), 1, 0, deposits, f"for each stack: tops of own deposits {first}"),
        Field(
            "distance",
            (n, stacks),
            1,
            0,
            ranks,
            f"for each seat and stack: how many cards must go onto it before the open stock card; {ranks} if it is too late",
            True,
        ),
        Field(
            "lacking",
            (n, stacks),
            1,
            0,
            ranks,
            "the same without cards that the seat has there: on top of deposits and, if it is the observer, in hand",
            True,
        ),
        Field("kings", (n,), 1 / 2, 0, rules.copies, "for each seat: kings that it has there"),
        Field(
            "short",
            (n,),
            1,
            0,
            MOST_SHORT,
            f"for each seat: how many cards its best stack lacks when kings are used; at most {MOST_SHORT}",
            True,
        ),
        Field("to_stock", (kinds + deposits, stacks), 1, 0, 1, f"{plays} begin a line that leads to the own stock card"),
        Field("to_stock_naturally", (kinds + deposits, stacks), 1, 0, 1, "the same for lines without kings"),
        Field("to_new_hand", (kinds + deposits, stacks), 1, 0, 1, f"{plays} begin a line that plays away the hand"),
        Field(
            "discards",
            (kinds, deposits),
            1,
            ABSENT,
            COVERS,
            "for each kind and own deposit: 0 the kind is not in hand, 1 the deposit is empty, 2 its top card is of this kind, "
            "3 of the next higher one, 4 of a still higher one, 5 of a lower one",
            True,
        ),
    )


def features_of(rules: Rules) -> Features:
    """Return what computes the features."""
    read = ("hand", "stock_tops", "heights", "deposit_tops")
    sizes = rules.ranks, rules.stacks, rules.deposits
    return Features(feature_fields(rules), write_features, observation_fields(rules), read, sizes)


@cached(name="katz_und_maus.write_features", allocates=True)
def write_features(
    observations: NDArray[np.int8], starts: tuple[int, ...], sizes: tuple[int, int, int], out: NDArray[np.int8]
) -> None:
    """Fill the zeroed `out` ``(k, F)`` in the order of `feature_fields`.

    Parameters
    ----------
    observations
        int8 ``(k, at least D)``.
    starts
        Where the fields ``hand``, ``stock_tops``, ``heights`` and ``deposit_tops`` begin.
    sizes
        The numbers of ranks, stacks and deposits.
    """
    hand, stock_tops, heights, deposit_tops = starts
    ranks, stacks, deposits = sizes
    wild, held = ranks, np.zeros((2, ranks + 1), np.int64)  # what each seat is seen to have at hand, by kind
    plays = stacks * (ranks + 1 + deposits)
    found = np.zeros(plays, np.int8)
    for i in range(observations.shape[0]):
        seen, row = observations[i], out[i]
        held[:] = 0
        for seat in range(2):
            for deposit in range(deposits):
                top = seen[deposit_tops + (seat * deposits + deposit + 1) * SHOWN - 1]
                row[seat * deposits + deposit] = top
                if top > 0:
                    held[seat, top - 1] += 1
        k = 2 * deposits
        for stack in range(stacks):
            height = seen[heights + stack]
            for rank in range(height, ranks):
                row[k + stack * ranks + rank - height] = seen[hand + rank]
                row[k + (stacks + stack) * ranks + rank - height] = held[0, rank]
        k += 2 * stacks * ranks
        for kind in range(ranks + 1):
            held[0, kind] += seen[hand + kind]
        for seat in range(2):
            stock, least = -1, ranks
            for kind in range(ranks + 1):
                if seen[stock_tops + seat * (ranks + 1) + kind]:
                    stock = kind
            for stack in range(stacks):
                height = seen[heights + stack]
                distance, lacking = ranks, ranks
                if stock == wild:
                    distance, lacking = 0, 0
                elif stock >= height:
                    distance, lacking = stock - height, 0
                    for rank in range(height, stock):
                        lacking += held[seat, rank] == 0
                row[k + seat * stacks + stack] = distance
                row[k + (2 + seat) * stacks + stack] = lacking
                least = min(least, lacking)
            row[k + 4 * stacks + seat] = held[seat, wild]
            row[k + 4 * stacks + 2 + seat] = min(MOST_SHORT, max(0, least - held[seat, wild]))
        k += 4 * stacks + 4
        write_lines(seen, starts, sizes, found)
        for action in range(plays):
            row[k + action] = found[action] & TO_STOCK != 0
            row[k + plays + action] = found[action] & TO_STOCK_NATURALLY != 0
            row[k + 2 * plays + action] = found[action] & TO_NEW_HAND != 0
        k += 3 * plays
        for kind in range(ranks + 1):
            for deposit in range(deposits):
                if seen[hand + kind]:
                    row[k + deposits * kind + deposit] = _discard(kind, row[deposit] - 1)


@compiled(inline=True)
def _discard(kind: int, top: int) -> int:
    """Return what a discard of a kind would do to a deposit with this top card, -1 for none."""
    if top < 0:
        return ONTO_NOTHING
    if top == kind:
        return ONTO_SAME
    if top == kind + 1:
        return ONTO_NEXT
    return ONTO_HIGHER if top > kind else COVERS
