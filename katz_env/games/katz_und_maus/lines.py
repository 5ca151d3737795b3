"""The lines of a turn: sequences of plays onto stacks, found by depth-first search in an observation.

A line leads *to the stock* if the open card of the observer's stock can be played after it, and *to a new hand* if it plays the
last card of the hand. A network that is shown which plays begin such lines need not look ahead itself. What the search shows is
true; it may miss a line where there are very many.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from katz_env.core.jit import compiled
from katz_env.games.katz_und_maus.rules import SHOWN

LONGEST = 16
"""The most plays of a line."""
POSITIONS = 1000
"""The number of positions after which the search for lines that begin with a play ends: with large hands it may miss some."""
TO_STOCK, TO_STOCK_NATURALLY, TO_NEW_HAND = 1, 2, 4
"""What lines lead to, as bits; *naturally* is without kings."""
EVERYTHING = TO_STOCK | TO_STOCK_NATURALLY | TO_NEW_HAND


@compiled(allocates=True)
def write_lines(seen: NDArray[np.int8], starts: tuple[int, ...], sizes: tuple[int, int, int], out: NDArray[np.int8]) -> None:
    """Fill `out` ``(plays,)``, by action id, with what the lines lead to that begin with a play; 0 if it is not possible.

    Parameters
    ----------
    seen
        One observation, int8.
    starts
        Where its fields ``hand``, ``stock_tops``, ``heights`` and ``deposit_tops`` begin.
    sizes
        The numbers of ranks, stacks and deposits.
    out
        Filled with bits; an action from the hand or a deposit is ``stacks * source + stack``, as in `actions`.
    """
    hand, stock_tops, heights, deposit_tops = starts
    ranks, stacks, deposits = sizes
    goal = 0
    while goal < ranks and not seen[stock_tops + goal]:
        goal += 1
    # The rows are the positions of the line that is looked at: heights, hand, and cards taken from each deposit.
    line = np.zeros((LONGEST + 1, stacks + ranks + 1 + deposits), np.int64)
    tops = seen[deposit_tops : deposit_tops + deposits * SHOWN]
    line[0, :stacks] = seen[heights : heights + stacks]
    line[0, stacks : stacks + ranks + 1] = seen[hand : hand + ranks + 1]
    kings, choices = np.zeros(LONGEST + 1, np.int64), np.zeros(LONGEST + 1, np.int64)
    for stack in range(stacks):
        equal = _equal_below(line[0], stack)
        for source in range(ranks + 1 + deposits):
            action = stacks * source + stack
            if equal >= 0:
                out[action] = out[stacks * source + equal]
            else:
                out[action] = _lines_from(line, kings, choices, tops, source, stack, goal, sizes)


@compiled
def _lines_from(
    line: NDArray[np.int64],
    kings: NDArray[np.int64],
    choices: NDArray[np.int64],
    tops: NDArray[np.int8],
    source: int,
    stack: int,
    goal: int,
    sizes: tuple[int, int, int],
) -> int:
    """Return what the lines lead to that begin with a play from a source onto a stack, in the position ``line[0]``.

    `kings` and `choices` ``(LONGEST + 1,)`` are scratch: for each position, the kings played and the next choice to try.
    """
    ranks, stacks, deposits = sizes
    ways = 2 + deposits  # the natural card or a king from the hand, or the top of a deposit
    kind = _play(line[0], line[1], tops, source, stack, sizes)
    if kind < 0:
        return 0
    kings[1], choices[1] = kind == ranks, 0
    found = _found(line[1], source, kings[1], goal, sizes)
    depth, positions = 1, 1
    while depth >= 1 and found != EVERYTHING:
        choice = choices[depth]
        if choice == stacks * ways or depth == LONGEST or positions == POSITIONS:
            depth -= 1
            continue
        choices[depth] += 1
        onto, way = choice // ways, choice % ways
        # Plays onto different stacks can be made in any order: lower stacks come first, unless the last play uncovered the
        # card.
        last = choices[depth - 1] - 1 if depth > 1 else -1
        if last >= 0 and onto < last // ways and (way < 2 or way != last % ways):
            continue
        if _equal_below(line[depth], onto) >= 0:
            continue
        place = line[depth, onto] if way == 0 else ranks - 1 + way
        kind = _play(line[depth], line[depth + 1], tops, place, onto, sizes)
        if kind >= 0:
            depth += 1
            positions += 1
            kings[depth], choices[depth] = kings[depth - 1] + (kind == ranks), 0
            found |= _found(line[depth], place, kings[depth], goal, sizes)
    return found


@compiled
def _equal_below(position: NDArray[np.int64], stack: int) -> int:
    """Return a stack with a lower number that is as high, or -1."""
    for other in range(stack):
        if position[other] == position[stack]:
            return other
    return -1


@compiled
def _play(
    position: NDArray[np.int64],
    after: NDArray[np.int64],
    tops: NDArray[np.int8],
    source: int,
    stack: int,
    sizes: tuple[int, int, int],
) -> int:
    """Fill `after` with the position after a play, and return the kind of the card, or -1 if the play is not possible.

    A source is a kind, for a card of the hand, or ``kinds + d`` for deposit d.
    """
    ranks, stacks, _ = sizes
    kinds = ranks + 1
    if source < kinds:
        kind = source if position[stacks + source] else -1
    else:
        place = int(SHOWN - 1 - position[stacks + source])
        kind = int(tops[(source - kinds) * SHOWN + place]) - 1 if place >= 0 else -1
    if kind != ranks and kind != position[stack]:
        return -1
    for k in range(len(position)):  # a slice would be copied by way of a new array
        after[k] = position[k]
    after[stack] = 0 if position[stack] + 1 == ranks else position[stack] + 1
    after[stacks + source] += -1 if source < kinds else 1
    return kind


@compiled
def _found(position: NDArray[np.int64], source: int, kings: int, goal: int, sizes: tuple[int, int, int]) -> int:
    """Return what a line has led to when its last card came from a source."""
    ranks, stacks, _ = sizes
    ready = goal == ranks
    for stack in range(stacks):
        ready |= position[stack] == goal
    found = 0
    if ready:
        found = TO_STOCK if kings else TO_STOCK | TO_STOCK_NATURALLY
    if source <= ranks and not position[stacks : stacks + ranks + 1].any():
        found |= TO_NEW_HAND
    return found
