"""A strong scripted player: it compares the value of its hand before and after every move."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from katz_env import Agent, Game, View
from katz_env.core.linked import linked
from katz_env.core.turns import PlayTurns, Turns
from katz_env.katzenjammer import Katzenjammer, engine, turns

_compiled = njit(cache=True, nogil=True, error_model="numpy")
# Small functions are inlined, else each call would copy all the weights.
_inlined = njit(cache=True, nogil=True, error_model="numpy", forceinline=True)


class Weights(NamedTuple):
    """What the player values, in mice where nothing else is said; tuned by ``train/tune_heuristic.py``."""

    ready: float = 1.0
    """A mouse of a set that is complete, but can only be presented after another auction."""
    helped: float = 0.469
    """A mouse of a set that jokers in hand complete."""
    part: float = 0.556
    """An incomplete set: times the mice it would earn and the share of it that is held."""
    part_square: float = 0.575
    """The same, times the square of that share: the last cards count more than the first."""
    value_base: float = 1.37
    """Added to the mice a set earns before an incomplete set is valued: low cards pay bids as well as high ones."""
    size: float = 1.36
    """Cards in hand, times the square root of their number: they pay bids."""
    power: float = 0.164
    """Each card of the largest group of equal cards with the jokers: what decides auctions."""
    distinct: float = 0.493
    """Each different value in hand: they pay bids of different values."""
    joker: float = 0.0587
    """Jokers in hand, times the square root of their number, besides their risk and what they complete."""
    risk: float = 2.01
    """The mice lost by the most displayed jokers."""
    risk_shift: float = -0.17
    """Jokers added to the own ones before they are compared with the most that a rival will show."""
    blur_end: float = 0.415
    """How many jokers' difference are uncertain when the draw pile is empty, ..."""
    blur_start: float = 1.46
    """... and what a full draw pile adds to that."""
    dump: float = 0.397
    """The chance to throw a set of held jokers away before the end."""
    dump_part: float = 0.295
    """The same of an incomplete set of jokers, times the square of the share of it that is held."""
    cards_per_round: float = 7.54
    """How many cards of the draw pile make a round, when the rounds left are counted."""
    mice_per_round: float = 2.9
    """How many mice of the supply make a round."""
    patience: float = 5.37
    """Rounds left that are needed for half of what is begun to become worth anything."""
    ready_patience: float = 1.6
    """Rounds left that are needed for half of what is ready to be presented."""
    doubt_end: float = 1.14
    """How many mice's lead are uncertain at the end, ..."""
    doubt_start: float = 8.7
    """... and what a game without end would add to that."""
    lead: float = -0.0334
    """Winning an auction as such: the winner may present sets, and bids last in the next one."""
    rival_known: float = 0.269
    """What a rival's hand as far as it is known promises, as a share of what it would promise in the own hand."""
    rival_size: float = 0.907
    """Cards in a rival's hand, times the square root of their number."""
    rival_risk: float = 0.777
    """The mice a rival may lose by the most displayed jokers."""
    rival_row: float = -0.149
    """Each card of the row to the rival who takes it, besides what is known; less what is paid for it."""
    rival_level: float = 0.273
    """Cards that a rival bids at most with an empty hand, ..."""
    rival_hand: float = 0.15
    """... and for each card of the hand."""
    rival_slope: float = 0.0987
    """How sharply the chance to be outbid falls with the number of cards bid."""
    retry: float = 0.376
    """What is left of a row's gain after being outbid, since the player may bid again."""


class Heuristic(Agent):
    """Plays the move after which its hand is worth most; see `Weights` for what it values.

    Parameters
    ----------
    weights
        The numbers it plays by.
    """

    name = "heuristic"

    def __init__(self, *, weights: Weights | None = None) -> None:
        self.weights = weights or Weights()

    def act(self, view: View) -> NDArray[np.int64]:
        """A legal action for every table."""
        if not isinstance(view.game, Katzenjammer):
            raise ValueError(f"heuristic plays Katzenjammer Blues, not {view.game!r}")
        return _decide_many(view.tables, view.seats, view.action_masks, self.weights)

    def compiled(self, game: Game) -> PlayTurns | None:
        """The same for a single table."""
        return (_play_turns, (self.weights,)) if isinstance(game, Katzenjammer) else None


@linked(turns, engine)
def _play_turns(at: Turns, w: Any) -> None:
    while turns.to_act(at):
        turns.move(at, decide(at.seen[0], at.seen[0].turn, at.out[1][0], w))


@_compiled
def _decide_many(tables: Any, seats: Any, masks: Any, w: Any) -> Any:
    actions = np.empty(len(seats), np.int64)
    for i in range(len(seats)):
        actions[i] = decide(tables[i], seats[i], masks[i], w)
    return actions


@_compiled
def decide(t: Any, seat: int, mask: Any, w: Any) -> int:
    """The move of `seat`, which is to act at the table record `t`.

    Only what the seat may know is read, so `t` may be redacted or open. `mask` holds the legal moves, `w` the `Weights`.
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
    action = 1 + 2 * t.deck.shape[0] + t.deck.shape[0] // len(hand) + 1 + (1 << (len(hand) - 1)) + choice
    return action if choice >= 0 else mask.shape[0] - 1


# --- what a hand is worth ------------------------------------------------------------------------------------------------


class _Outlook(NamedTuple):
    """What does not change while moves are compared."""

    set_size: int
    penalty: float
    later: float  # what is left of the worth of cards that need more rounds
    soon: float  # what is left of the worth of sets that are ready
    blur: float  # how many jokers' difference are uncertain
    doubt: float  # how many mice's lead are uncertain
    density: float  # the share of jokers among the cards that cannot be placed
    rival_jokers: float  # the most jokers that a rival will have displayed
    rival_promise: float  # the best rival's mice, if the game goes on
    rival_mice: float  # the best rival's mice, if it ends now


@_inlined
def _chance(z: float) -> float:
    return 1.0 / (1.0 + np.exp(-z))


@_compiled
def _joker_density(t: Any, seat: int) -> float:
    """The share of jokers among the cards that `seat` cannot place."""
    joker, size = t.row.shape[0] - 1, t.deck.shape[0]
    unseen = size // (joker + 1) - int(t.row[joker]) - int(t.discard[joker]) - int(t.hand[seat, joker])
    hidden = size - int(t.position)
    for other in range(t.hand.shape[0]):
        unseen -= t.displayed[other]
        if other != seat:
            unseen -= t.known[other, joker]
            hidden += _concealed(t, other)
    return unseen / max(1, hidden)


@_inlined
def _concealed(t: Any, other: int) -> int:
    """How many cards of a hand are unknown."""
    count = int(t.hand_sizes[other])
    for kind in range(t.row.shape[0]):
        count -= t.known[other, kind]
    return count


@_compiled
def _outlook(t: Any, seat: int, taker: int, w: Any) -> Any:
    """Count rounds left, and everybody's jokers and mice, if the rival `taker` gets the row (-1 nobody)."""
    left = t.deck.shape[0] - int(t.position)
    rounds = min(left / w.cards_per_round, t.supply / w.mice_per_round)
    later, soon = rounds / (rounds + w.patience), rounds / (rounds + w.ready_patience)
    blur, doubt = w.blur_end + w.blur_start * left / t.deck.shape[0], w.doubt_end + w.doubt_start * later
    size, penalty, density = int(t.set_size), float(t.joker_penalty), _joker_density(t, seat)
    o = _Outlook(size, penalty, later, soon, blur, doubt, density, 0.0, 0.0, 0.0)
    most, promise, mice = _rivals(t, seat, taker, o, w)
    return _Outlook(size, penalty, later, soon, blur, doubt, density, most, promise, mice)


@_inlined
def _shown(t: Any, seat: int, other: int, taker: int, density: float) -> float:
    """How many jokers somebody will have displayed, as far as `seat` knows, if `taker` gets the row."""
    joker = t.row.shape[0] - 1
    if other == seat:
        return float(t.displayed[other] + t.hand[other, joker])
    shown = t.displayed[other] + t.known[other, joker] + density * _concealed(t, other)
    return shown + t.row[joker] if other == taker else shown


@_compiled
def _rivals(t: Any, seat: int, taker: int, o: Any, w: Any) -> tuple[float, float, float]:
    """The most jokers of a rival, the best promise of one, and the most mice of one."""
    n, joker = t.hand.shape[0], t.row.shape[0] - 1
    first, second, who = -100.0, -100.0, -1  # the two largest numbers of jokers, and whose the first is
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


@_inlined
def _standing(mice: float, jokers: float, o: Any, w: Any) -> float:
    """The chance to win with so many mice, those that the hand promises included, and so many displayed jokers."""
    loss = _chance((jokers + w.risk_shift - o.rival_jokers) / o.blur)
    lead = mice - o.rival_promise
    return (1.0 - loss) * _chance(lead / o.doubt) + loss * _chance((lead - w.risk * o.penalty) / o.doubt)


@_inlined
def _final_standing(mice: float, jokers: float, o: Any, w: Any) -> float:
    """The same if the game ends now; only the jokers in the other hands are uncertain."""
    loss = _chance((jokers + w.risk_shift - o.rival_jokers) / w.blur_end)
    lead = mice - o.rival_mice
    return (1.0 - loss) * _chance(lead / w.doubt_end) + loss * _chance((lead - o.penalty) / w.doubt_end)


@_inlined
def _split(count: int, size: int) -> tuple[int, int]:
    """How many sets are in `count` cards, and the rest; faster than a division, as there are few."""
    sets = 0
    while count >= size:
        count -= size
        sets += 1
    return sets, count


@_inlined
def _group(v: int, count: int, o: Any, w: Any) -> float:
    """What `count` equal cards are worth without jokers."""
    sets, rest = _split(count, o.set_size)
    share = rest / o.set_size
    begun = share * (w.part + w.part_square * share) * (v + 1 + w.value_base)
    return w.ready * o.soon * sets * (v + 1) + o.later * begun


@_inlined
def _hand_value(hand: Any, displayed: int, mice: float, o: Any, w: Any) -> float:
    """The chance to win with a hand, displayed jokers and mice."""
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


@_compiled
def _best_foursome(hand: Any, displayed: int, supply: int, mice: float, o: Any, w: Any) -> int:
    """The foursome, counted from the first foursome's action, after which the hand is worth most.

    -1 if the hand is worth more as it is. Sets that could be presented after this one count as ready.
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


@_compiled
def _winner_value(hand: Any, displayed: int, supply: int, mice: float, o: Any, w: Any) -> float:
    """What a hand is worth to the winner of an auction, who may present foursomes; `hand` is used up.

    To be quick it looks at each value once, the highest first, and at foursomes with as few jokers as can be.
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


@_inlined
def _value_after(t: Any, seat: int, hand: Any, work: Any, bid: int, values: int, jokers: int, o: Any, w: Any) -> float:
    """What the hand is worth after paying `bid` with `jokers`, and with the set of bits `values`, and taking the row."""
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


@_compiled
def _payment(t: Any, seat: int, mask: Any, hand: Any, o: Any, w: Any) -> int:
    """The payment after which the hand, with the row, is worth most."""
    kinds = len(hand)
    copies = t.deck.shape[0] // kinds
    number, kind = (int(t.bid) - 1) // kinds + 1, (int(t.bid) - 1) % kinds
    base = 1 + 2 * t.deck.shape[0]
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


@_inlined
def _bid_value(t: Any, seat: int, hand: Any, work: Any, order: Any, bid: int, o: Any, w: Any) -> float:
    """What the hand is worth after winning with `bid`, paid in the best way. `order` lists the values, the cheapest first."""
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


@_compiled
def _cheapest_first(t: Any, hand: Any, order: Any, o: Any, w: Any) -> None:
    """Sort the values by what one card less of them costs, counted with the row."""
    losses = np.empty(len(order))
    for v in range(len(order)):
        count = hand[v] + t.row[v]
        loss = _group(v, count, o, w) - _group(v, count - 1, o, w)
        k = v
        while k > 0 and losses[k - 1] > loss:
            losses[k], order[k] = losses[k - 1], order[k - 1]
            k -= 1
        losses[k], order[k] = loss, v


@_compiled
def _passing_value(t: Any, seat: int, hand: Any, o: Any, w: Any) -> float:
    """What the hand is worth when a rival takes the row, each of those who still bid as likely; or nobody does."""
    total, takers = 0.0, 0
    for other in range(t.hand.shape[0]):
        if other != seat and t.passed[other] == 0:
            takers += 1
            after = _outlook(t, seat, other, w)
            total += _hand_value(hand, int(t.displayed[seat]), t.mice[seat] - w.lead, after, w)
    if takers == 0:
        return _hand_value(hand, int(t.displayed[seat]), t.mice[seat] - w.lead, o, w)
    return total / takers


@_inlined
def _chance_to_win(t: Any, seat: int, bid: int, w: Any) -> float:
    """The chance that nobody outbids `bid`."""
    kinds = t.row.shape[0]
    level = (bid - 1) / kinds + 1.0
    chance = 1.0
    for other in range(t.hand.shape[0]):
        if other != seat and t.passed[other] == 0:
            z = w.rival_slope * (level - w.rival_level - w.rival_hand * t.hand_sizes[other])
            chance *= _chance(z)
    return chance


@_compiled
def _bid(t: Any, seat: int, mask: Any, hand: Any, o: Any, w: Any) -> int:
    """The bid with the best product of gain and chance, or pass if none gains."""
    kinds = len(hand)
    number = (int(t.bid) - 1) // kinds + 1 if t.bid > 0 else 1
    work, order = np.empty(kinds, np.int64), np.empty(kinds - 1, np.int64)
    _cheapest_first(t, hand, order, o, w)
    passing = _passing_value(t, seat, hand, o, w)
    best, highest = 0, 0.0
    for bid in range(int(t.bid) + 1, min(kinds * (number + 1), 2 * t.deck.shape[0]) + 1):
        if mask[bid]:
            gain = _bid_value(t, seat, hand, work, order, bid, o, w) - passing
            if gain > highest:  # the chance can only lessen it
                gain *= w.retry + (1.0 - w.retry) * _chance_to_win(t, seat, bid, w)
                if gain > highest:
                    best, highest = bid, gain
    return best
