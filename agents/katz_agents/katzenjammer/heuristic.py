"""The player ``heuristic``: it compares the value of its position before and after every move.

The value is an estimate of the chance to win. It adds up what the hand promises in mice, and compares it with the best rival
and with the risk of displaying the most jokers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from katz_env import Decision, Game
from katz_env.core.jit import compiled
from katz_env.core.types import Mask, Table

Hand = NDArray[np.int64]
"""Cards by kind, jokers last; or values in some order."""


class Weights(NamedTuple):
    """The weights of the evaluation, in mice unless stated otherwise; ``train/tune_heuristic.py`` tuned them."""

    ready: float = 1.0
    """The value of each mouse of a complete set, which can only be presented after winning another auction."""
    helped: float = 0.469
    """The value of each mouse of a set that jokers in hand complete."""
    part: float = 0.556
    """The value of an incomplete set, per mouse that it would earn, times the share of it that is held."""
    part_square: float = 0.575
    """The same, times the square of that share, because the last cards are worth more than the first."""
    value_base: float = 1.37
    """The mice added to those of an incomplete set, because low cards pay bids as well as high ones."""
    size: float = 1.36
    """The value of cards in hand, which pay bids, times the square root of their number."""
    power: float = 0.164
    """The value of each card in the largest group of equal cards and jokers, which decides auctions."""
    distinct: float = 0.493
    """The value of each different value in hand, which pay bids of different values."""
    joker: float = 0.0587
    """The value of jokers in hand, times the square root of their number, besides their risk and the sets that they
    complete."""
    risk: float = 2.01
    """The loss through the most displayed jokers, as a multiple of the joker penalty."""
    risk_shift: float = -0.17
    """The number of jokers added to the player's own before they are compared with the most of a rival."""
    blur_end: float = 0.415
    """The uncertainty of a difference in displayed jokers, in jokers, when the draw pile is empty."""
    blur_start: float = 1.46
    """The uncertainty, in jokers, that a full draw pile adds to `blur_end`."""
    dump: float = 0.397
    """The probability of discarding a set of held jokers before the end of the game."""
    dump_part: float = 0.295
    """The same for an incomplete set of jokers, times the square of the share of it that is held."""
    cards_per_round: float = 7.54
    """The number of cards of the draw pile that one round takes, for the estimate of the rounds left."""
    mice_per_round: float = 2.9
    """The number of mice of the supply that one round takes, for the same estimate."""
    patience: float = 5.37
    """The number of rounds left at which cards that need more rounds keep half of their value."""
    ready_patience: float = 1.6
    """The number of rounds left at which complete sets keep half of their value."""
    doubt_end: float = 1.14
    """The uncertainty of a lead, in mice, at the end of the game."""
    doubt_start: float = 8.7
    """The uncertainty, in mice, that a game without end would add to `doubt_end`."""
    lead: float = -0.0334
    """The value of winning an auction as such: the winner may present sets, and bids last in the next auction."""
    rival_known: float = 0.269
    """The value of a rival's known cards, as a multiple of their value in the player's own hand."""
    rival_size: float = 0.907
    """The value of the cards in a rival's hand, times the square root of their number."""
    rival_risk: float = 0.777
    """The loss of a rival through the most displayed jokers, as a multiple of the joker penalty."""
    rival_row: float = -0.149
    """The value of each card of the row to the rival who takes it, less the cost of the bid, besides `rival_known`."""
    rival_level: float = 0.273
    """The number of cards that a rival with an empty hand bids, in the estimate of the chance to be outbid."""
    rival_hand: float = 0.15
    """The number of cards that each card in the rival's hand adds to `rival_level`."""
    rival_slope: float = 0.0987
    """The slope, per card bid, with which the chance to be outbid falls."""
    retry: float = 0.376
    """The share of a row's gain that remains after being outbid, since the player may bid again."""


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
    o = _outlook(t, seat, -1, w)
    if t.phase == 0:
        return _bid(t, seat, mask, hand, o, w)
    if t.phase == 1:
        return _payment(t, seat, mask, hand, o, w)
    choice = _best_foursome(hand, int(t.displayed[seat]), int(t.supply), float(t.mice[seat]), o, w)
    action = 1 + 2 * t.deal.shape[0] + t.deal.shape[0] // len(hand) + 1 + (1 << (len(hand) - 1)) + choice
    return action if choice >= 0 else mask.shape[0] - 1


# --- the value of a hand -------------------------------------------------------------------------------------------------


class _Outlook(NamedTuple):
    """The part of the evaluation that is the same for all moves that are compared."""

    set_size: int
    penalty: float
    later: float  # the share of their value that cards keep which need more rounds
    soon: float  # the share of their value that complete sets keep
    blur: float  # the uncertainty of a difference in displayed jokers, in jokers
    doubt: float  # the uncertainty of a lead, in mice
    density: float  # the share of jokers among the cards that cannot be placed
    rival_jokers: float  # the most jokers that a rival will have displayed
    rival_promise: float  # the value of the best rival's position, in mice, if the game goes on
    rival_mice: float  # the mice of the best rival, if the game ends now


@compiled(inline=True)
def _chance(z: float) -> float:
    return 1.0 / (1.0 + np.exp(-z))


@compiled
def _joker_density(t: Table, seat: int) -> float:
    """Return the share of jokers among the cards that `seat` cannot place."""
    joker, size = t.row.shape[0] - 1, t.deal.shape[0]
    unseen = size // (joker + 1) - int(t.row[joker]) - int(t.discard[joker]) - int(t.hand[seat, joker])
    hidden = size - int(t.position)
    for other in range(t.hand.shape[0]):
        unseen -= t.displayed[other]
        if other != seat:
            unseen -= t.known[other, joker]
            hidden += _concealed(t, other)
    return unseen / max(1, hidden)


@compiled(inline=True)
def _concealed(t: Table, other: int) -> int:
    """Return the number of unknown cards in the hand of the seat `other`."""
    count = int(t.hand_sizes[other])
    for kind in range(t.row.shape[0]):
        count -= t.known[other, kind]
    return count


@compiled
def _outlook(t: Table, seat: int, taker: int, w: Weights) -> _Outlook:
    """Return the outlook of `seat` if the rival `taker` gets the row (-1 for nobody)."""
    left = t.deal.shape[0] - int(t.position)
    rounds = min(left / w.cards_per_round, t.supply / w.mice_per_round)
    later, soon = rounds / (rounds + w.patience), rounds / (rounds + w.ready_patience)
    blur, doubt = w.blur_end + w.blur_start * left / t.deal.shape[0], w.doubt_end + w.doubt_start * later
    size, penalty, density = int(t.set_size), float(t.joker_penalty), _joker_density(t, seat)
    o = _Outlook(size, penalty, later, soon, blur, doubt, density, 0.0, 0.0, 0.0)
    most, promise, mice = _rivals(t, seat, taker, o, w)
    return _Outlook(size, penalty, later, soon, blur, doubt, density, most, promise, mice)


@compiled(inline=True)
def _shown(t: Table, seat: int, other: int, taker: int, density: float) -> float:
    """Return how many jokers `other` can be expected to display at the end, as far as `seat` knows, if `taker` gets the row."""
    joker = t.row.shape[0] - 1
    if other == seat:
        return float(t.displayed[other] + t.hand[other, joker])
    shown = t.displayed[other] + t.known[other, joker] + density * _concealed(t, other)
    return shown + t.row[joker] if other == taker else shown


@compiled
def _rivals(t: Table, seat: int, taker: int, o: _Outlook, w: Weights) -> tuple[float, float, float]:
    """Return the most jokers of a rival, the best value of a rival's position, and the most mice of a rival at an end now."""
    n, joker = t.hand.shape[0], t.row.shape[0] - 1
    first, second, who = -100.0, -100.0, -1  # the two largest numbers of jokers, and the seat of the largest
    for other in range(n):
        shown = _shown(t, seat, other, taker, o.density)
        if shown > first:
            first, second, who = shown, first, other
        elif shown > second:
            second = shown
    most, promise, mice = -100.0, -100.0, -100.0
    for other in range(n):
        if other == seat:
            continue
        shown = _shown(t, seat, other, taker, o.density)
        most = max(most, shown)
        ahead = shown - (second if other == who else first)
        value = w.rival_size * o.later * np.sqrt(float(t.hand_sizes[other]))
        value -= w.rival_risk * o.penalty * _chance(ahead / o.blur)
        for v in range(joker):
            known = int(t.known[other, v])
            if other == taker:
                known += t.row[v]
                value += w.rival_row * o.later * t.row[v]
            if known > 0:
                value += w.rival_known * _group(v, known, o, w)
        promise = max(promise, t.mice[other] + value)
        mice = max(mice, t.mice[other] - (o.penalty if ahead >= 0.0 else 0.0))
    return most, promise, mice


@compiled(inline=True)
def _standing(mice: float, jokers: float, o: _Outlook, w: Weights) -> float:
    """Return the chance to win with `mice`, including those that the hand promises, and this many displayed jokers."""
    loss = _chance((jokers + w.risk_shift - o.rival_jokers) / o.blur)
    lead = mice - o.rival_promise
    return (1.0 - loss) * _chance(lead / o.doubt) + loss * _chance((lead - w.risk * o.penalty) / o.doubt)


@compiled(inline=True)
def _final_standing(mice: float, jokers: float, o: _Outlook, w: Weights) -> float:
    """Return the chance to win if the game ends now, when only the jokers in other hands are uncertain."""
    loss = _chance((jokers + w.risk_shift - o.rival_jokers) / w.blur_end)
    lead = mice - o.rival_mice
    return (1.0 - loss) * _chance(lead / w.doubt_end) + loss * _chance((lead - o.penalty) / w.doubt_end)


@compiled(inline=True)
def _split(count: int, size: int) -> tuple[int, int]:
    """Return the number of sets in `count` cards, and the remainder; for few sets this is faster than a division."""
    sets = 0
    while count >= size:
        count -= size
        sets += 1
    return sets, count


@compiled(inline=True)
def _group(v: int, count: int, o: _Outlook, w: Weights) -> float:
    """Return the value of `count` cards of kind `v` without jokers, in mice."""
    sets, rest = _split(count, o.set_size)
    share = rest / o.set_size
    begun = share * (w.part + w.part_square * share) * (v + 1 + w.value_base)
    return w.ready * o.soon * sets * (v + 1) + o.later * begun


@compiled(inline=True)
def _hand_value(hand: Hand, displayed: int, mice: float, o: _Outlook, w: Weights) -> float:
    """Return the chance to win with a hand (counts by kind), displayed jokers and mice."""
    joker = len(hand) - 1
    jokers = hand[joker]
    free, total, distinct, most, helped, value = jokers, jokers, 0, 0, 0, 0.0
    for v in range(joker - 1, -1, -1):
        count = hand[v]
        if count > 0:
            total += count
            distinct += 1
            most = max(most, count)
            value += _group(v, count, o, w)
            missing = o.set_size - _split(count, o.set_size)[1]
            if missing <= free and 2 * missing <= o.set_size:
                free -= missing
                helped += v + 1
    value += w.helped * o.soon * helped
    value += o.later * (
        w.size * np.sqrt(float(total)) + w.joker * np.sqrt(float(jokers)) + w.power * (most + jokers) + w.distinct * distinct
    )
    _, rest = _split(jokers, o.set_size)
    shown = displayed + jokers - w.dump * (jokers - rest) - w.dump_part * rest * rest / o.set_size
    return _standing(mice + value, shown, o, w)


# --- foursomes -----------------------------------------------------------------------------------------------------------


@compiled
def _best_foursome(hand: Hand, displayed: int, supply: int, mice: float, o: _Outlook, w: Weights) -> int:
    """Return the best foursome as an offset from the first foursome's action id, or -1 to present none.

    Sets that could be presented after this one count as complete sets in hand.
    """
    joker, size = len(hand) - 1, o.set_size
    jokers = hand[joker]
    best, highest = -1, _hand_value(hand, displayed, mice, o, w)
    for v in range(joker):
        if hand[v] + jokers < size:
            continue
        for used in range(max(0, size - hand[v]), min(jokers, size) + 1):
            won = min(v + 1, supply)
            hand[v] -= size - used
            hand[joker] -= used
            if won < supply:
                value = _hand_value(hand, displayed + used, mice + won, o, w)
            else:
                value = _final_standing(mice + won, displayed + jokers, o, w)
            hand[v] += size - used
            hand[joker] += used
            if value > highest:
                best, highest = v * (size + 1) + used, value
    if jokers >= size:
        hand[joker] -= size
        value = _hand_value(hand, displayed, mice, o, w)
        hand[joker] += size
        if value > highest:
            best, highest = joker * (size + 1), value
    return best


@compiled
def _winner_value(hand: Hand, displayed: int, supply: int, mice: float, o: _Outlook, w: Weights) -> float:
    """Return the value of a hand to the winner of an auction, who may present foursomes; `hand` is overwritten.

    To be quick, it considers each value once, the highest first, and only foursomes with as few jokers as possible.
    """
    joker, size = len(hand) - 1, o.set_size
    value = _hand_value(hand, displayed, mice, o, w)
    for v in range(joker - 1, -1, -1):
        while hand[v] + hand[joker] >= size:
            used = max(0, size - hand[v])
            won = min(v + 1, supply)
            if won == supply:
                return max(value, _final_standing(mice + won, displayed + hand[joker], o, w))
            hand[v] -= size - used
            hand[joker] -= used
            after = _hand_value(hand, displayed + used, mice + won, o, w)
            if after < value:
                hand[v] += size - used
                hand[joker] += used
                break
            value = after
            displayed, mice, supply = displayed + used, mice + won, supply - won
    if hand[joker] >= size:
        hand[joker] -= size
        value = max(value, _hand_value(hand, displayed, mice, o, w))
    return value


# --- payment -------------------------------------------------------------------------------------------------------------


@compiled(inline=True)
def _value_after(
    t: Table, seat: int, hand: Hand, work: Hand, bid: int, values: int, jokers: int, o: _Outlook, w: Weights
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
def _payment(t: Table, seat: int, mask: Mask, hand: Hand, o: _Outlook, w: Weights) -> int:
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
def _bid_value(t: Table, seat: int, hand: Hand, work: Hand, order: Hand, bid: int, o: _Outlook, w: Weights) -> float:
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
def _cheapest_first(t: Table, hand: Hand, order: Hand, o: _Outlook, w: Weights) -> None:
    """Sort the values into `order` by the loss of giving up one card of each, the row included."""
    losses = np.empty(len(order))
    for v in range(len(order)):
        count = hand[v] + t.row[v]
        loss = _group(v, count, o, w) - _group(v, count - 1, o, w)
        k = v
        while k > 0 and losses[k - 1] > loss:
            losses[k], order[k] = losses[k - 1], order[k - 1]
            k -= 1
        losses[k], order[k] = loss, v


@compiled
def _passing_value(t: Table, seat: int, hand: Hand, o: _Outlook, w: Weights) -> float:
    """Return the value of the hand after passing: each rival still in the auction is equally likely to take the row."""
    total, takers = 0.0, 0
    for other in range(t.hand.shape[0]):
        if other != seat and t.passed[other] == 0:
            takers += 1
            after = _outlook(t, seat, other, w)
            total += _hand_value(hand, int(t.displayed[seat]), t.mice[seat] - w.lead, after, w)
    if takers == 0:
        return _hand_value(hand, int(t.displayed[seat]), t.mice[seat] - w.lead, o, w)
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
            chance *= _chance(z)
    return chance


@compiled(allocates=True)
def _bid(t: Table, seat: int, mask: Mask, hand: Hand, o: _Outlook, w: Weights) -> int:
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
