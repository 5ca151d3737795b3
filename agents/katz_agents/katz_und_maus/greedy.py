"""The player ``greedy``: the stock first, then cards that lead a stack to the rank of the open stock card.

It plays the open card of its stock whenever it can. Else it looks for the stack that can be raised to the rank of that card
with cards at hand, natural ones before kings, and plays the next card of that way. Else it plays the last card of the hand, or
natural cards unless that helps the opponent. It ends the turn by tidying: a card goes on a card of the same rank or of the
next higher one, or on an empty deposit, and does not cover a lower one.
"""

from __future__ import annotations

from typing import Any

from katz_env import Decision, Game
from katz_env.core.jit import compiled
from katz_env.core.types import Mask, Table
from katz_env.games.katz_und_maus.engine import deposit_top

FAR = 99
"""More than any number of cards that a stack can lack."""
DANGER = 2
"""A stack that lacks so many cards, or fewer, before it takes the opponent's open stock card is not raised for nothing."""


def decision(game: Game) -> Decision:
    """Return the decision function of the player."""
    del game
    return Decision(decide)


@compiled
def decide(t: Table, seat: int, mask: Mask, draw: float, settings: Any) -> int:
    """Return the action of `seat`, which is to act at the table `t`; `mask` ``(A,)`` marks the legal actions.

    The function reads only what the seat may know, so `t` may be redacted or not.
    """
    kinds, stacks, deposits = t.hidden.shape[0], t.heights.shape[0], t.deposit_sizes.shape[1]
    first_from_stock = stacks * (kinds + deposits)
    action = _safest(t, seat, mask, first_from_stock, first_from_stock + stacks, -1)
    if action >= 0:
        return action
    action = _toward_stock(t, seat, mask)
    if action >= 0:
        return action
    if t.hand_sizes[seat] == 1 and t.drawn < t.deal.shape[0]:
        action = _safest(t, seat, mask, 0, stacks * kinds, -1)
        if action >= 0:
            return action
    action = _safest(t, seat, mask, stacks * kinds, first_from_stock, DANGER)
    if action < 0:
        action = _safest(t, seat, mask, 0, stacks * (kinds - 1), DANGER)
    return action if action >= 0 else _discard(t, seat, mask)


@compiled
def lacking(t: Table, height: int, kind: int) -> int:
    """Return the number of cards that a stack lacks before it takes a card of a kind; `FAR` if it is beyond it."""
    height = 0 if height == t.hidden.shape[0] - 1 else height
    return kind - height if kind >= height else FAR


@compiled
def _safest(t: Table, seat: int, mask: Mask, start: int, stop: int, danger: int) -> int:
    """Return the legal play onto a stack, of the ids from `start` to `stop`, that helps the opponent least, or -1.

    Plays that leave the opponent's stock card at most `danger` cards away are left out. So are kings from deposits if some are.
    """
    kinds, stacks = t.hidden.shape[0], t.heights.shape[0]
    best, farthest = -1, danger
    for action in range(start, stop):
        if not mask[action]:
            continue
        deposit = action // stacks - kinds
        if danger >= 0 and 0 <= deposit < t.deposit_sizes.shape[1] and deposit_top(t, seat, deposit) == kinds - 1:
            continue
        distance = lacking(t, int(t.heights[action % stacks]) + 1, int(t.stock_tops[1 - seat]))
        if distance > farthest:
            best, farthest = action, distance
    return best


@compiled
def _toward_stock(t: Table, seat: int, mask: Mask) -> int:
    """Return the next card of the cheapest way to raise a stack to the open stock card, or -1 if there is none."""
    kinds, stacks, deposits = t.hidden.shape[0], t.heights.shape[0], t.deposit_sizes.shape[1]
    wild, goal = kinds - 1, int(t.stock_tops[seat])
    kings = int(t.hand[seat, wild])
    for deposit in range(deposits):
        kings += deposit_top(t, seat, deposit) == wild
    best, cheapest = -1, FAR
    for stack in range(stacks):
        height, need, cost = int(t.heights[stack]), 0, 0
        if goal == wild or height > goal:
            continue
        for kind in range(height, goal):
            source = _source(t, seat, kind)
            cost += 1
            if source < 0:
                need += 1
        cost += 4 * need
        if need <= kings and cost < cheapest:
            source = _source(t, seat, height)
            source = source if source >= 0 else _source(t, seat, wild)
            if mask[stacks * source + stack]:
                best, cheapest = stacks * source + stack, cost
    return best


@compiled
def _source(t: Table, seat: int, kind: int) -> int:
    """Return where a card of a kind can be played from: ``kinds + d`` for deposit d, the kind for the hand, or -1."""
    kinds = t.hidden.shape[0]
    for deposit in range(t.deposit_sizes.shape[1]):
        if deposit_top(t, seat, deposit) == kind:
            return kinds + deposit
    return kind if t.hand[seat, kind] > 0 else -1


@compiled
def _discard(t: Table, seat: int, mask: Mask) -> int:
    """Return the tidiest discard, or ``end``."""
    kinds, deposits = t.hidden.shape[0], t.deposit_sizes.shape[1]
    first = t.heights.shape[0] * (kinds + deposits + 1)
    best, most = mask.shape[0] - 1, -1000
    for kind in range(kinds):
        for deposit in range(deposits):
            action = first + deposits * kind + deposit
            if not mask[action]:
                continue
            top = deposit_top(t, seat, deposit)
            gap = top - kind
            if top < 0:
                value = 6
            elif gap == 0 or gap == 1:
                value = 12 - gap
            elif gap > 0:
                value = 5 - gap // 2
            else:
                value = gap - 2
            value = 4 * value + 3 * (t.hand[seat, kind] > 1) + kind // 2
            if kind == kinds - 1:
                value -= 200
            if value > most:
                best, most = action, value
    return best
