"""The evaluation of a position for the player ``heuristic``: an estimate of the chance to win.

It adds up what the hand promises in mice, and compares it with the best rival and with the risk of displaying the most jokers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from katz_env.core.jit import compiled
from katz_env.core.types import Table

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


class Outlook(NamedTuple):
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
def logistic(z: float) -> float:
    """Return the probability that a difference of `z` units of its uncertainty turns out to be positive."""
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
def outlook(t: Table, seat: int, taker: int, w: Weights) -> Outlook:
    """Return the outlook of `seat` if the rival `taker` gets the row (-1 for nobody)."""
    left = t.deal.shape[0] - int(t.position)
    rounds = min(left / w.cards_per_round, t.supply / w.mice_per_round)
    later, soon = rounds / (rounds + w.patience), rounds / (rounds + w.ready_patience)
    blur, doubt = w.blur_end + w.blur_start * left / t.deal.shape[0], w.doubt_end + w.doubt_start * later
    size, penalty, density = int(t.set_size), float(t.joker_penalty), _joker_density(t, seat)
    o = Outlook(size, penalty, later, soon, blur, doubt, density, 0.0, 0.0, 0.0)
    most, promise, mice = _rivals(t, seat, taker, o, w)
    return Outlook(size, penalty, later, soon, blur, doubt, density, most, promise, mice)


@compiled(inline=True)
def _shown(t: Table, seat: int, other: int, taker: int, density: float) -> float:
    """Return how many jokers `other` can be expected to display at the end, as far as `seat` knows, if `taker` gets the row."""
    joker = t.row.shape[0] - 1
    if other == seat:
        return float(t.displayed[other] + t.hand[other, joker])
    shown = t.displayed[other] + t.known[other, joker] + density * _concealed(t, other)
    return shown + t.row[joker] if other == taker else shown


@compiled
def _rivals(t: Table, seat: int, taker: int, o: Outlook, w: Weights) -> tuple[float, float, float]:
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
        value -= w.rival_risk * o.penalty * logistic(ahead / o.blur)
        for v in range(joker):
            known = int(t.known[other, v])
            if other == taker:
                known += t.row[v]
                value += w.rival_row * o.later * t.row[v]
            if known > 0:
                value += w.rival_known * group_value(v, known, o, w)
        promise = max(promise, t.mice[other] + value)
        mice = max(mice, t.mice[other] - (o.penalty if ahead >= 0.0 else 0.0))
    return most, promise, mice


@compiled(inline=True)
def _standing(mice: float, jokers: float, o: Outlook, w: Weights) -> float:
    """Return the chance to win with `mice`, including those that the hand promises, and this many displayed jokers."""
    loss = logistic((jokers + w.risk_shift - o.rival_jokers) / o.blur)
    lead = mice - o.rival_promise
    return (1.0 - loss) * logistic(lead / o.doubt) + loss * logistic((lead - w.risk * o.penalty) / o.doubt)


@compiled(inline=True)
def final_standing(mice: float, jokers: float, o: Outlook, w: Weights) -> float:
    """Return the chance to win if the game ends now, when only the jokers in other hands are uncertain."""
    loss = logistic((jokers + w.risk_shift - o.rival_jokers) / w.blur_end)
    lead = mice - o.rival_mice
    return (1.0 - loss) * logistic(lead / w.doubt_end) + loss * logistic((lead - o.penalty) / w.doubt_end)


@compiled(inline=True)
def _split(count: int, size: int) -> tuple[int, int]:
    """Return the number of sets in `count` cards, and the remainder; for few sets this is faster than a division."""
    sets = 0
    while count >= size:
        count -= size
        sets += 1
    return sets, count


@compiled(inline=True)
def group_value(v: int, count: int, o: Outlook, w: Weights) -> float:
    """Return the value of `count` cards of kind `v` without jokers, in mice."""
    sets, rest = _split(count, o.set_size)
    share = rest / o.set_size
    begun = share * (w.part + w.part_square * share) * (v + 1 + w.value_base)
    return w.ready * o.soon * sets * (v + 1) + o.later * begun


@compiled(inline=True)
def hand_value(hand: Hand, displayed: int, mice: float, o: Outlook, w: Weights) -> float:
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
            value += group_value(v, count, o, w)
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
