"""The player ``heuristic``: it compares the value of its position before and after every move; see `evaluation`."""

from __future__ import annotations

import numpy as np

from katz_agents.katzenjammer.evaluation import (
    Hand,
    Outlook,
    Weights,
    final_standing,
    group_value,
    hand_value,
    logistic,
    outlook,
)
from katz_env import Decision, Game
from katz_env.core.jit import compiled
from katz_env.core.types import Mask, Table


def decision(game: Game, weights: Weights | None = None) -> Decision:
    """Return the decision function of the player, by default with the tuned weights."""
    del game
    return Decision(decide, weights or Weights())


@compiled(allocates=True)
def decide(t: Table, seat: int, mask: Mask, draw: float, w: Weights) -> int:
    """Return the action of `seat`, which is to act at the table `t`.

    The function reads only what the seat may know, so `t` may be redacted or not. `mask` ``(A,)`` marks the legal actions.
    """
    hand = np.empty(t.row.shape[0], np.int64)
    for kind in range(len(hand)):
        hand[kind] = t.hand[seat, kind]
    o = outlook(t, seat, -1, w)
    if t.phase == 0:
        return _bid(t, seat, mask, hand, o, w)
    if t.phase == 1:
        return _payment(t, seat, mask, hand, o, w)
    choice = _best_foursome(hand, int(t.displayed[seat]), int(t.supply), float(t.mice[seat]), o, w)
    action = 1 + 2 * t.deal.shape[0] + t.deal.shape[0] // len(hand) + 1 + (1 << (len(hand) - 1)) + choice
    return action if choice >= 0 else mask.shape[0] - 1


# --- foursomes -----------------------------------------------------------------------------------------------------------


@compiled
def _best_foursome(hand: Hand, displayed: int, supply: int, mice: float, o: Outlook, w: Weights) -> int:
    """Return the best foursome as an offset from the first foursome's action id, or -1 to present none.

    Sets that could be presented after this one count as complete sets in hand.
    """
    joker, size = len(hand) - 1, o.set_size
    jokers = hand[joker]
    best, highest = -1, hand_value(hand, displayed, mice, o, w)
    for v in range(joker):
        if hand[v] + jokers < size:
            continue
        for used in range(max(0, size - hand[v]), min(jokers, size) + 1):
            won = min(v + 1, supply)
            hand[v] -= size - used
            hand[joker] -= used
            if won < supply:
                value = hand_value(hand, displayed + used, mice + won, o, w)
            else:
                value = final_standing(mice + won, displayed + jokers, o, w)
            hand[v] += size - used
            hand[joker] += used
            if value > highest:
                best, highest = v * (size + 1) + used, value
    if jokers >= size:
        hand[joker] -= size
        value = hand_value(hand, displayed, mice, o, w)
        hand[joker] += size
        if value > highest:
            best, highest = joker * (size + 1), value
    return best


@compiled
def _winner_value(hand: Hand, displayed: int, supply: int, mice: float, o: Outlook, w: Weights) -> float:
    """Return the value of a hand to the winner of an auction, who may present foursomes; `hand` is overwritten.

    To be quick, it considers each value once, the highest first, and only foursomes with as few jokers as possible.
    """
    joker, size = len(hand) - 1, o.set_size
    value = hand_value(hand, displayed, mice, o, w)
    for v in range(joker - 1, -1, -1):
        while hand[v] + hand[joker] >= size:
            used = max(0, size - hand[v])
            won = min(v + 1, supply)
            if won == supply:
                return max(value, final_standing(mice + won, displayed + hand[joker], o, w))
            hand[v] -= size - used
            hand[joker] -= used
            after = hand_value(hand, displayed + used, mice + won, o, w)
            if after < value:
                hand[v] += size - used
                hand[joker] += used
                break
            value = after
            displayed, mice, supply = displayed + used, mice + won, supply - won
    if hand[joker] >= size:
        hand[joker] -= size
        value = max(value, hand_value(hand, displayed, mice, o, w))
    return value


# --- payment -------------------------------------------------------------------------------------------------------------


@compiled(inline=True)
def _value_after(
    t: Table, seat: int, hand: Hand, work: Hand, bid: int, values: int, jokers: int, o: Outlook, w: Weights
) -> float:
    """Return the value of the hand after paying `bid` with `jokers` and the bit set `values`, and taking the row."""
    joker = len(hand) - 1
    number, kind = (bid - 1) // (joker + 1) + 1, (bid - 1) % (joker + 1)
    for k in range(joker + 1):
        work[k] = hand[k] + t.row[k]
    work[joker] -= jokers
    if kind > 0:
        work[kind - 1] -= number - jokers
    else:
        for v in range(joker):
            work[v] -= values >> v & 1
    return _winner_value(work, int(t.displayed[seat]) + jokers, int(t.supply), float(t.mice[seat]), o, w)


@compiled(allocates=True)
def _payment(t: Table, seat: int, mask: Mask, hand: Hand, o: Outlook, w: Weights) -> int:
    """Return the payment after which the hand, with the row, has the highest value."""
    kinds = len(hand)
    copies = t.deal.shape[0] // kinds
    number, kind = (int(t.bid) - 1) // kinds + 1, (int(t.bid) - 1) % kinds
    base = 1 + 2 * t.deal.shape[0]
    work = np.empty(kinds, np.int64)
    best, highest = -1, 0.0
    for choice in range(copies + 1 + (1 << (kinds - 1))):
        if not mask[base + choice]:
            continue
        values = max(0, choice - copies - 1)
        jokers = choice
        if kind == 0:
            jokers = number
            for v in range(kinds - 1):
                jokers -= values >> v & 1
        value = _value_after(t, seat, hand, work, int(t.bid), values, jokers, o, w)
        if best < 0 or value > highest:
            best, highest = base + choice, value
    return best


# --- the auction ---------------------------------------------------------------------------------------------------------


@compiled(inline=True)
def _bid_value(t: Table, seat: int, hand: Hand, work: Hand, order: Hand, bid: int, o: Outlook, w: Weights) -> float:
    """Return the value of the hand after winning with `bid` and paying well; `order` lists the values, cheapest first."""
    kinds = len(hand)
    joker = kinds - 1
    number, kind = (bid - 1) // kinds + 1, (bid - 1) % kinds
    highest = -1e9
    own = hand[kind - 1]
    if kind == 0:
        own = 0
        for v in range(joker):
            own += hand[v] > 0
    fewest = max(0, number - own)
    for jokers in range(fewest, min(hand[joker], number, fewest + 1) + 1):
        values, missing = 0, number - jokers
        for k in range(joker):
            if kind == 0 and missing > 0 and hand[order[k]] > 0:
                values |= 1 << order[k]
                missing -= 1
        highest = max(highest, _value_after(t, seat, hand, work, bid, values, jokers, o, w))
    return highest


@compiled(allocates=True)
def _cheapest_first(t: Table, hand: Hand, order: Hand, o: Outlook, w: Weights) -> None:
    """Sort the values into `order` by the loss of giving up one card of each, the row included."""
    losses = np.empty(len(order))
    for v in range(len(order)):
        count = hand[v] + t.row[v]
        loss = group_value(v, count, o, w) - group_value(v, count - 1, o, w)
        k = v
        while k > 0 and losses[k - 1] > loss:
            losses[k], order[k] = losses[k - 1], order[k - 1]
            k -= 1
        losses[k], order[k] = loss, v


@compiled
def _passing_value(t: Table, seat: int, hand: Hand, o: Outlook, w: Weights) -> float:
    """Return the value of the hand after passing: each rival still in the auction is equally likely to take the row."""
    total, takers = 0.0, 0
    for other in range(t.hand.shape[0]):
        if other != seat and t.passed[other] == 0:
            takers += 1
            after = outlook(t, seat, other, w)
            total += hand_value(hand, int(t.displayed[seat]), t.mice[seat] - w.lead, after, w)
    if takers == 0:
        return hand_value(hand, int(t.displayed[seat]), t.mice[seat] - w.lead, o, w)
    return total / takers


@compiled(inline=True)
def _chance_to_win(t: Table, seat: int, bid: int, w: Weights) -> float:
    """Return the probability that nobody outbids `bid`."""
    kinds = t.row.shape[0]
    level = (bid - 1) / kinds + 1.0
    chance = 1.0
    for other in range(t.hand.shape[0]):
        if other != seat and t.passed[other] == 0:
            z = w.rival_slope * (level - w.rival_level - w.rival_hand * t.hand_sizes[other])
            chance *= logistic(z)
    return chance


@compiled(allocates=True)
def _bid(t: Table, seat: int, mask: Mask, hand: Hand, o: Outlook, w: Weights) -> int:
    """Return the bid with the largest product of gain and chance, or pass if no bid gains."""
    kinds = len(hand)
    number = (int(t.bid) - 1) // kinds + 1 if t.bid > 0 else 1
    work, order = np.empty(kinds, np.int64), np.empty(kinds - 1, np.int64)
    _cheapest_first(t, hand, order, o, w)
    passing = _passing_value(t, seat, hand, o, w)
    best, highest = 0, 0.0
    for bid in range(int(t.bid) + 1, min(kinds * (number + 1), 2 * t.deal.shape[0]) + 1):
        if mask[bid]:
            gain = _bid_value(t, seat, hand, work, order, bid, o, w) - passing
            if gain > highest:  # the factor below is at most 1
                gain *= w.retry + (1.0 - w.retry) * _chance_to_win(t, seat, bid, w)
                if gain > highest:
                    best, highest = bid, gain
    return best
