"""The rules of Katzenjammer Blues on one table, compiled; `auction` and `payment` hold the parts of a round.

Every function takes a table record ``t``; see ``rules.py``. `play` plays one legal action and then every forced move, so a
table always waits for a seat with at least two legal moves, or is over. No function allocates arrays, raises, or uses Python
objects.

Two terms recur. The *kinds* of cards are 0..K-1 with the jokers last: the printed value v is the kind v-1, and the number of
values, ``joker``, is also the kind of the jokers. The *kind of a bid* is 0 for different values and v for equal values v.
"""

from __future__ import annotations

import numpy as np

from katz_env.core.event_log import emit, emit_cards
from katz_env.core.jit import compiled
from katz_env.core.packed import ONES, count_bits, load_word, store_word
from katz_env.core.rng import shuffle
from katz_env.core.types import EventLog, Mask, Ranks, Scores, Table
from katz_env.games.katzenjammer.auction import find_next_bidder, note_best_bids, reveal
from katz_env.games.katzenjammer.payment import (
    can_present,
    count_payments,
    finish_presenting,
    first_foursome,
    first_payment,
    pay,
    present,
    values_in_hand,
)
from katz_env.games.katzenjammer.rules import AUCTION, BID, DEALT, FOURSOMES, LED, PASSED, PAYMENT


@compiled
def fill_deal(t: Table) -> None:
    """Put the whole deck into a random order, drawn from the table's generator."""
    kinds, size = t.row.shape[0], t.deal.shape[0]
    copies = size // kinds
    for i in range(size):
        t.deal[i] = i // copies
    shuffle(t, t.deal)


@compiled
def deal(t: Table, log: EventLog) -> None:
    """Deal the hands from ``t.deal`` with the first bandleader ``t.first_seat``, reveal the first row and play forced moves."""
    n, _kinds = t.hand.shape
    t.hand[:] = 0
    t.known[:] = 0
    t.displayed[:] = 0
    t.mice[:] = 0
    t.row[:] = 0
    t.discard[:] = 0
    t.supply = t.total_mice
    t.bandleader = t.first_seat
    t.turn = t.first_seat
    place = 0
    for seat in range(n):
        if log is not None:
            emit(log, DEALT, seat, t.hand_size, seat)
        for _ in range(t.hand_size):
            t.hand[seat, np.uint64(t.deal[place])] += 1
            if log is not None:
                emit_cards(log, t.deal[place], 1)
            place += 1
        t.hand_sizes[seat] = t.hand_size
    if log is not None:
        emit(log, LED, t.bandleader)
    t.position = place
    note_best_bids(t)
    reveal(t, log)
    play_forced_moves(t, log)


@compiled
def play_forced_moves(t: Table, log: EventLog) -> None:
    """Play forced moves until a seat has at least two legal moves or the game is over."""
    while True:
        if t.phase == AUCTION:
            if find_next_bidder(t, log):
                return
        elif t.phase == PAYMENT:
            choices, only = count_payments(t)
            if choices > 1:
                return
            pay(t, only, log)
        elif t.phase == FOURSOMES:
            if can_present(t):
                return
            finish_presenting(t, log)
        else:
            return


@compiled
def play(t: Table, action: int, log: EventLog) -> None:
    """Play the legal action `action` of the seat to act, then every forced move."""
    n, kinds = t.hand.shape
    if t.phase == AUCTION:
        seat = t.turn
        if action == 0:
            t.passed[seat] = 1
            if log is not None:
                emit(log, PASSED, seat)
        else:
            if log is not None:
                emit(log, BID, seat, action)
            t.bid = action
            t.high_bidder = seat
            number, kind = (action - 1) // kinds + 1, (action - 1) % kinds
            t.claims[seat, kind] = number  # bids rise, so the latest bid of a kind is the largest
            t.turn = (seat + 1) % n
    elif t.phase == PAYMENT:
        pay(t, action, log)
    elif t.phase == FOURSOMES:
        present(t, action, log)
    play_forced_moves(t, log)


# --- legal moves and scores ----------------------------------------------------------------------------------------------


@compiled(inline=True)
def write_bids(t: Table, mask: Mask) -> None:
    """Mark the bids above the highest bid that the seat to act can pay.

    The ids of bids with the same number of cards are adjacent: first different values, then equal values. The latter form a
    word whose bytes are compared at once: subtracting `number` leaves the high bit of a byte set where the hand has enough
    cards.
    """
    kinds, seat, bid = t.row.shape[0], int(t.turn), int(t.bid)
    values = kinds - 1
    jokers = int(t.hand[seat, values])
    word = load_word(t.hand, seat * kinds, values)
    different = min(values, count_bits((word + 127 * ONES) & 128 * ONES) + jokers)
    limits = (word + jokers * (ONES >> 8 * (8 - values))) | 128 * ONES
    number = (bid - 1) // kinds + 1 if bid > 0 else 1
    first = kinds * (number - 1) + 1
    taken = max(0, bid - first)  # the bids of equal values with this number that are not above the highest bid
    mask[first] = (different >= number) & (number > 1) & (first > bid)  # one card is not a bid of different values
    store_word(mask, first + 1, ((limits - number * ONES) >> 7) & (ONES << 4 * taken << 4 * taken))
    top = (int(t.best[seat]) - 1) // kinds + 1
    while True:  # three numbers at a time, though the last may have no bids, because loops of unpredictable length are slow
        for _ in range(3):
            number += 1
            first += kinds
            mask[first] = different >= number
            store_word(mask, first + 1, ((limits - number * ONES) >> 7) & ONES)
        if number >= top:
            return


@compiled(inline=True)
def write_mask(t: Table, mask: Mask) -> None:
    """Fill `mask` ``(A,)`` with the legal actions of the seat to act."""
    mask[:] = False
    kinds, seat = t.row.shape[0], t.turn
    joker, copies = kinds - 1, t.deal.shape[0] // kinds
    jokers = int(t.hand[seat, joker])
    if t.phase == AUCTION:
        mask[0] = True
        write_bids(t, mask)
    elif t.phase == PAYMENT:
        number, kind = (int(t.bid) - 1) // kinds + 1, (int(t.bid) - 1) % kinds
        base = first_payment(t)
        if kind > 0:
            fewest = max(0, number - int(t.hand[seat, kind - 1]))
            for k in range(fewest, min(jokers, number) + 1):
                mask[base + k] = True
        else:
            held = values_in_hand(t, seat)
            for value_set in range(1 << joker):
                size = count_bits(value_set)
                if value_set & ~held == 0 and number - jokers <= size <= number:
                    mask[base + copies + 1 + value_set] = True
    elif t.phase == FOURSOMES:
        base, size = first_foursome(t), int(t.set_size)
        for v in range(joker):
            for k in range(max(0, size - int(t.hand[seat, v])), min(jokers, size) + 1):
                mask[base + v * (size + 1) + k] = True
        free = base + joker * (size + 1)
        mask[free] = jokers >= size
        mask[free + 1] = True


@compiled
def write_scores(t: Table, scores: Scores, ranks: Ranks) -> None:
    """Write the final scores and ranks: the score is the mice less the joker penalty, and fewer displayed jokers break ties."""
    n = t.displayed.shape[0]
    most = 0
    for seat in range(n):
        most = max(most, int(t.displayed[seat]))
    for seat in range(n):
        score = int(t.mice[seat])
        if t.displayed[seat] == most:
            score -= int(t.joker_penalty)
        scores[seat] = score
        ranks[seat] = 256 * score - int(t.displayed[seat])
