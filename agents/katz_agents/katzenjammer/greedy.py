"""The player ``greedy``: it buys rows that bring more than they cost, and presents foursomes that need few jokers.

It counts cards. It makes the legal bid whose cheapest payment costs least, if the row brings more cards than that. Cards of
the two highest values and jokers cost a little more than one card. It pays in the cheapest way, and presents the highest
foursome that needs at most one joker.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from katz_env import Decision, Game, Katzenjammer
from katz_env.core.jit import compiled
from katz_env.core.types import Mask, Table

Costs = NDArray[np.float64]
"""The value of a card of each kind, in cards, float64 ``(kinds,)``, jokers last."""

SPARED = (1.1, 1.2)  # the costs of the second highest and the highest value; lower values cost 1
SPARED_JOKER = 1.3  # the cost of a joker
JOKERS_IN_FOURSOME = 1  # the most jokers that are spent on a foursome


def decision(game: Game) -> Decision:
    """Return the decision function of the player."""
    assert isinstance(game, Katzenjammer)
    return Decision(decide, card_counts(game.rules.values))


def card_counts(values: int) -> tuple[Costs, Costs]:
    """Return the value of a card of each kind in a row, and its cost in a payment, each ``(values + 1,)``, jokers last."""
    costs = np.ones(values + 1)
    costs[-3:] = *SPARED, SPARED_JOKER
    return np.ones(values + 1), costs


@compiled
def decide(t: Table, seat: int, mask: Mask, draw: float, settings: tuple[Costs, Costs]) -> int:
    """Return the action of one seat at one table; `settings` are the values and costs of `card_counts`."""
    gains, costs = settings
    if t.phase == 0:
        return _bid(t, seat, mask, gains, costs)
    if t.phase == 1:
        return _payment(t, mask, costs)
    return _foursome(t, mask)


@compiled
def _bid(t: Table, seat: int, mask: Mask, gains: Costs, costs: Costs) -> int:
    """Return the cheapest bid if it costs less than the row brings, else pass."""
    kinds = t.row.shape[0]
    joker = kinds - 1
    limit = 0.0
    for kind in range(kinds):
        limit += t.row[kind] * gains[kind]
    best = 0
    bid = int(t.bid)
    number = (bid - 1) // kinds + 1 if bid > 0 else 1
    for count in range(number, number + 2):  # higher numbers only cost more
        for kind in range(kinds):
            action = kinds * (count - 1) + kind + 1
            if action >= mask.shape[0] or not mask[action]:
                continue
            cost = 0.0
            if kind > 0:
                own = min(count, int(t.hand[seat, kind - 1]))
                cost = own * costs[kind - 1] + (count - own) * costs[joker]
            else:
                left = count
                for v in range(joker):  # lowest values first
                    if left > 0 and t.hand[seat, v] > 0:
                        cost += costs[v]
                        left -= 1
                cost += left * costs[joker]
            if cost < limit:
                best, limit = action, cost
    return best


@compiled
def _payment(t: Table, mask: Mask, costs: Costs) -> int:
    """Return the cheapest payment."""
    kinds = t.row.shape[0]
    joker, copies = kinds - 1, t.deal.shape[0] // kinds
    number, kind = (int(t.bid) - 1) // kinds + 1, (int(t.bid) - 1) % kinds
    base = 1 + 2 * t.deal.shape[0]
    best, lowest = -1, 1e9
    for choice in range(copies + 1 + (1 << joker)):
        action = base + choice
        if not mask[action]:
            continue
        if kind > 0:
            cost = (number - choice) * costs[kind - 1] + choice * costs[joker]
        else:
            cost, left = 0.0, number
            for v in range(joker):
                if (choice - copies - 1) >> v & 1:
                    cost += costs[v]
                    left -= 1
            cost += left * costs[joker]
        if cost < lowest:
            best, lowest = action, cost
    return best


@compiled
def _foursome(t: Table, mask: Mask) -> int:
    """Return the highest foursome that needs few jokers, else done."""
    kinds, size = t.row.shape[0], int(t.set_size)
    base = 1 + 2 * t.deal.shape[0] + t.deal.shape[0] // kinds + 1 + (1 << (kinds - 1))
    for v in range(kinds - 2, -1, -1):
        for jokers in range(min(JOKERS_IN_FOURSOME, size) + 1):
            action = base + v * (size + 1) + jokers
            if mask[action]:
                return action
    return base + (kinds - 1) * (size + 1) + 1
