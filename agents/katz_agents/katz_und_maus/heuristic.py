"""The player ``heuristic``: it searches the lines of this turn, and judges the position that each of them leaves.

A line is a sequence of plays onto stacks. It ends with the open stock card, with the last card of the hand, which brings new
ones, or with a discard. What comes after the first two is not known, so only the first move of the best line is played, and
the rest of the turn is thought over again.

The position is worth more the fewer cards its stock card still lacks, and less the fewer the opponent's lacks. Kings are
worth keeping, and deposits should be short and fall in steps of one, so that their cards can be played one after the other.

During a line the hand, the heights of the stacks and the number of cards taken from each deposit are integers with four bits
for each entry.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from katz_env import Decision, Game
from katz_env.core.jit import compiled
from katz_env.core.packed import count_bits
from katz_env.core.types import Mask, Table
from katz_env.games.katz_und_maus.rules import SHOWN

FAR = 99
"""More than any number of cards that a stack can lack."""
POSITIONS = 250
"""The number of positions after which a search looks at no further lines."""
LONGEST = 20
"""The most plays of a line."""


class Weights(NamedTuple):
    """The weights of the evaluation, tuned by win share against each other; only their ratios matter."""

    stock: float = 10.0
    """The value of playing the open stock card."""
    new_hand: float = 3.16
    """The value of the new cards that follow when the hand is played away."""
    played: float = 0.6
    """The value of each hand card that is played, because a new one is drawn for it."""
    taken: float = -0.4
    """The value of each card taken from a deposit."""
    king: float = 2.25
    """The value of a king in hand."""
    own: tuple[float, float, float, float, float] = (2.87, 1.6, 0.9, 0.4, 0.0)
    """The value of the player's stock card after the turn, by the number of cards that it lacks; the last is for all more."""
    threat: tuple[float, float, float, float, float] = (-5.24, -4.0, -2.2, -1.0, 0.0)
    """The same for the opponent's stock card, with what lies on the opponent's deposits."""
    wild_threat: float = -6.0
    """The value of an opponent's stock card that is a king."""
    step: float = 0.04
    """The value of a discard on a card of the next higher rank."""
    same: float = 0.242
    """The value of a discard on a card of the same rank."""
    above: float = -0.3
    """The value of a discard on a card of a rank that is higher by more than one."""
    gap: float = -0.115
    """The value of each rank of that difference."""
    empty: float = -0.256
    """The value of a discard on an empty deposit."""
    cover: float = -1.2
    """The value of a discard that covers a card of a lower rank."""
    depth: float = -0.1
    """The value of each rank of that difference."""
    cover_king: float = -3.0
    """The value of a discard that covers a king."""
    waste_king: float = -1.5
    """The value of a discarded king, besides that it leaves the hand."""
    spare: float = 0.4
    """The value of discarding one of several equal cards."""
    rank: float = 0.08
    """The value of each rank of a discarded card, because high cards wait longest."""


def decision(game: Game, weights: Weights | None = None) -> Decision:
    """Return the decision function of the player, by default with the tuned weights."""
    del game
    return Decision(decide, weights or Weights())


@compiled(allocates=True)
def decide(t: Table, seat: int, mask: Mask, draw: float, w: Weights) -> int:
    """Return the action of `seat`, which is to act at the table `t`; `mask` ``(A,)`` marks the legal actions.

    The function reads only what the seat may know, so `t` may be redacted or not.
    """
    return best_move(t, int(seat), POSITIONS, np.empty((LONGEST + 1, 6), np.int64), w)


@compiled
def best_move(t: Table, seat: int, most: int, line: NDArray[np.int64], w: Weights) -> int:
    """Return the first action of the best line, by depth-first search over at most so many positions.

    The rows of `line` ``(LONGEST + 1, 6)`` are the positions of the line that is looked at: the heights of the stacks, the
    hand, the cards taken from each deposit, the number of hand cards played, the next choice to try, and the last choice made.
    Plays on different stacks can be made in any order; lower stacks come first, unless the last play uncovered the card.
    """
    kinds, stacks, deposits = t.hidden.shape[0], t.heights.shape[0], t.deposit_sizes.shape[1]
    wild, sources = kinds - 1, 2 + deposits  # a source is the natural card or a king from the hand, or a deposit
    hand, heights = 0, 0
    for kind in range(kinds):
        hand |= int(t.hand[seat, kind]) << 4 * kind
    for stack in range(stacks):
        heights |= int(t.heights[stack]) << 4 * stack
    line[0, 0], line[0, 1], line[0, 2], line[0, 3], line[0, 4], line[0, 5] = heights, hand, 0, 0, 0, -1
    value, action = _value(t, seat, heights, hand, 0, 0, w)
    first, depth, positions = -1, 0, 1
    while depth >= 0:
        choice, last = line[depth, 4], line[depth, 5]
        if choice == stacks * sources or depth == LONGEST or positions == most:
            depth -= 1
            continue
        line[depth, 4] += 1
        heights, hand, taken, played = line[depth, 0], line[depth, 1], line[depth, 2], line[depth, 3]
        stack, source = choice // sources, choice % sources
        height, from_hand = heights >> 4 * stack & 15, source < 2
        if last >= 0 and stack < last // sources and (from_hand or source != last % sources):
            continue
        if from_hand:
            kind = height if source == 0 else wild
            if hand >> 4 * kind & 15 == 0:
                continue
            place, hand = kind, hand - (1 << 4 * kind)
        else:
            kind = _top(t, seat, source - 2, taken)
            if kind != height and kind != wild:
                continue
            place, taken = kinds + source - 2, taken + (1 << 4 * (source - 2))
        if _seen_before(heights, stack):
            continue
        if depth == 0:
            first = stacks * place + stack
        played += from_hand
        heights = _raised(heights, stack, wild)
        if hand == 0 and from_hand and t.drawn < t.deal.shape[0]:
            found = w.new_hand + _worth(taken, played, w) + _threat(t, seat, heights, w)
        else:
            found, _ = _value(t, seat, heights, hand, taken, played, w)
            positions += 1
            depth += 1
            line[depth, 0], line[depth, 1], line[depth, 2], line[depth, 3] = heights, hand, taken, played
            line[depth, 4], line[depth, 5] = 0, choice
        if found > value:
            value, action = found, first
    return action


@compiled(inline=True)
def _raised(heights: int, stack: int, complete: int) -> int:
    """Return the heights after a card was played onto a stack."""
    height = heights >> 4 * stack & 15
    return heights + (1 << 4 * stack) if height + 1 < complete else heights & ~(15 << 4 * stack)


@compiled(inline=True)
def _worth(taken: int, played: int, w: Weights) -> float:
    """Return the value of the plays of a line as such."""
    cards = 0
    while taken:
        cards += taken & 15
        taken >>= 4
    return w.taken * cards + w.played * played


@compiled
def _value(t: Table, seat: int, heights: int, hand: int, taken: int, played: int, w: Weights) -> tuple[float, int]:
    """Return the value of a position in which the line ends with a discard or with the stock card, and that action."""
    kinds, stacks, deposits = t.hidden.shape[0], t.heights.shape[0], t.deposit_sizes.shape[1]
    wild, goal = kinds - 1, int(t.stock_tops[seat])
    value, action = _stop(t, seat, heights, hand, taken, w)
    value += _threat(t, seat, heights, w)
    for stack in range(stacks):
        if (goal == heights >> 4 * stack & 15 or goal == wild) and not _seen_before(heights, stack):
            found = w.stock + _threat(t, seat, _raised(heights, stack, wild), w) + w.king * (hand >> 4 * wild & 15)
            if found > value:
                value, action = found, stacks * (kinds + deposits) + stack
    return value + _worth(taken, played, w), action


@compiled(inline=True)
def _seen_before(heights: int, stack: int) -> bool:
    """Return whether a stack with a lower number is as high."""
    height, seen = heights >> 4 * stack & 15, False
    for other in range(stack):
        seen |= heights >> 4 * other & 15 == height
    return seen


@compiled(inline=True)
def _top(t: Table, seat: int, deposit: int, taken: int) -> int:
    """Return the kind of the top card of a deposit from which some were taken, -1 if none of the upper ones is left."""
    place = SHOWN - 1 - (taken >> 4 * deposit & 15)
    return int(t.deposit_tops[seat, deposit * SHOWN + place]) - 1 if place >= 0 else -1


@compiled(inline=True)
def _lacking(heights: int, stacks: int, goal: int, available: int) -> int:
    """Return the fewest cards that a stack lacks before it takes the kind `goal`; `available` is the set of kinds at hand."""
    fewest = FAR
    for stack in range(stacks):
        height = heights >> 4 * stack & 15
        if height <= goal:
            fewest = min(fewest, count_bits((1 << goal) - (1 << height) & ~available))
    return fewest


@compiled
def _threat(t: Table, seat: int, heights: int, w: Weights) -> float:
    """Return the value of the opponent's stock card."""
    goal, available = int(t.stock_tops[1 - seat]), 0
    if goal == t.hidden.shape[0] - 1:
        return w.wild_threat
    for deposit in range(t.deposit_sizes.shape[1]):
        available |= 1 << _top(t, 1 - seat, deposit, 0) + 1
    return w.threat[min(4, _lacking(heights, t.heights.shape[0], goal, available >> 1))]


@compiled
def _stop(t: Table, seat: int, heights: int, hand: int, taken: int, w: Weights) -> tuple[float, int]:
    """Return the value of the best discard and its action, or of ``end``."""
    kinds, stacks, deposits = t.hidden.shape[0], t.heights.shape[0], t.deposit_sizes.shape[1]
    wild, goal, first = kinds - 1, int(t.stock_tops[seat]), stacks * (kinds + deposits + 1)
    in_hand = 0
    for kind in range(wild):
        in_hand |= (hand >> 4 * kind & 15 > 0) << kind
    kings = hand >> 4 * wild & 15
    best, action = -1e9, first + deposits * kinds
    if hand == 0:
        return 0.0, action
    for kind in range(kinds):
        count = hand >> 4 * kind & 15
        if count == 0:
            continue
        kept = in_hand & ~(1 << kind) if count == 1 else in_hand
        base = w.king * (kings - (kind == wild)) + w.rank * kind + w.spare * (count > 1)
        if kind == wild:
            base += w.waste_king
        empty_seen = False
        for deposit in range(deposits):
            top = _top(t, seat, deposit, taken)
            if top < 0:
                if empty_seen:
                    continue
                empty_seen = True
            available = 2 << kind
            for other in range(deposits):
                if other != deposit:
                    available |= 1 << _top(t, seat, other, taken) + 1
            value = base + tidiness(top, kind, wild, w)
            if goal != wild:
                lacks = _lacking(heights, stacks, goal, available >> 1 | kept) - kings + (kind == wild)
                value += w.own[min(4, max(0, lacks))]
            if value > best:
                best, action = value, first + deposits * kind + deposit
    return best, action


@compiled(inline=True)
def tidiness(top: int, kind: int, wild: int, w: Weights) -> float:
    """Return the value of the order in which a discard leaves its deposit."""
    if top < 0:
        return w.empty
    if top == wild:
        return w.cover_king
    if top == kind:
        return w.same
    if top == kind + 1:
        return w.step
    return w.above + w.gap * (top - kind) if top > kind else w.cover + w.depth * (kind - top)


@compiled
def lacking(t: Table, seat: int) -> int:
    """Return the fewest cards that a stack lacks before it takes a seat's stock card, with the hand and tops of deposits."""
    kinds, goal, available, heights = t.hidden.shape[0], int(t.stock_tops[seat]), 0, 0
    if goal == kinds - 1 or goal < 0:
        return 0
    for stack in range(t.heights.shape[0]):
        heights |= int(t.heights[stack]) << 4 * stack
    for deposit in range(t.deposit_sizes.shape[1]):
        available |= 1 << _top(t, seat, deposit, 0) + 1
    available >>= 1
    for kind in range(kinds - 1):
        available |= (t.hand[seat, kind] > 0) << kind
    return max(0, _lacking(heights, t.heights.shape[0], goal, available) - int(t.hand[seat, kinds - 1]))
