"""A quick scripted player: buys rows that bring more than they cost, and presents what needs few jokers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from katz_env import Agent, Game, View
from katz_env.core.linked import linked
from katz_env.core.turns import PlayTurns, Turns
from katz_env.katzenjammer import Katzenjammer, engine, turns

SPARED = (1.1, 1.2)  # what the second highest and the highest value cost; lower ones cost 1
SPARED_JOKER = 1.3  # what a joker costs
JOKERS_IN_FOURSOME = 1  # more than this are not spent on a foursome


class Greedy(Agent):
    """Bids the cheapest way to win a row that brings more than it costs, sparing high values and jokers.

    It counts cards: it makes the legal bid whose cheapest payment costs least, if the row brings more cards than that. The two
    highest values and jokers cost a little more than a card. It pays the cheapest way, and presents the highest foursome that
    needs at most one joker.
    """

    name = "greedy"

    def act(self, view: View) -> NDArray[np.int64]:
        """A legal action for every table."""
        if not isinstance(view.game, Katzenjammer):
            raise ValueError(f"greedy plays Katzenjammer Blues, not {view.game!r}")
        return _choose(view.tables, view.seats, view.action_masks, *card_counts(view.game.rules.values))

    def compiled(self, game: Game) -> PlayTurns | None:
        """The same for a single table."""
        return (_play_turns, card_counts(game.rules.values)) if isinstance(game, Katzenjammer) else None


def card_counts(values: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What a card of each kind counts in a row, and in a payment, each ``(values + 1,)``, jokers last."""
    costs = np.ones(values + 1)
    costs[-3:] = *SPARED, SPARED_JOKER
    return np.ones(values + 1), costs


@njit(cache=True, nogil=True, error_model="numpy")
def _choose(tables: Any, seats: Any, masks: Any, gains: Any, costs: Any) -> Any:
    actions = np.empty(len(seats), np.int64)
    for i in range(len(seats)):
        actions[i] = decide(tables[i], seats[i], masks[i], gains, costs)
    return actions


@linked(turns, engine)
def _play_turns(at: Turns, gains: Any, costs: Any) -> None:
    while turns.to_act(at):
        turns.move(at, decide(at.seen[0], at.seen[0].turn, at.out[1][0], gains, costs))


@njit(cache=True, nogil=True, error_model="numpy")
def decide(t: Any, seat: int, mask: Any, gains: Any, costs: Any) -> int:
    """The action of one seat at one table.

    `gains` and `costs` have a number for each kind of card: what it counts in a row, and in a payment.
    """
    if t.phase == 0:
        return _bid(t, seat, mask, gains, costs)
    if t.phase == 1:
        return _payment(t, mask, costs)
    return _foursome(t, mask)


@njit(cache=True, nogil=True, error_model="numpy")
def _bid(t: Any, seat: int, mask: Any, gains: Any, costs: Any) -> int:
    """The cheapest bid if it costs less than the row brings, else pass."""
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
                for v in range(joker):  # the lowest values first
                    if left > 0 and t.hand[seat, v] > 0:
                        cost += costs[v]
                        left -= 1
                cost += left * costs[joker]
            if cost < limit:
                best, limit = action, cost
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def _payment(t: Any, mask: Any, costs: Any) -> int:
    """The payment whose cards cost least."""
    kinds = t.row.shape[0]
    joker, copies = kinds - 1, t.deck.shape[0] // kinds
    number, kind = (int(t.bid) - 1) // kinds + 1, (int(t.bid) - 1) % kinds
    base = 1 + 2 * t.deck.shape[0]
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


@njit(cache=True, nogil=True, error_model="numpy")
def _foursome(t: Any, mask: Any) -> int:
    """The highest foursome with few jokers, else done."""
    kinds = t.row.shape[0]
    base = 1 + 2 * t.deck.shape[0] + t.deck.shape[0] // kinds + 1 + (1 << (kinds - 1))
    for v in range(kinds - 2, -1, -1):
        for jokers in range(min(JOKERS_IN_FOURSOME, t.set_size) + 1):
            action = base + v * (t.set_size + 1) + jokers
            if mask[action]:
                return action
    return base + (kinds - 1) * (t.set_size + 1) + 1
