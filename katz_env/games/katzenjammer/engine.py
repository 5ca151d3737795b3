"""The rules of Katzenjammer Blues on one table, compiled.

Every function takes a table record ``t``; see ``rules.py``. `play` plays one legal action and then every forced move, so a
table always waits for a seat with at least two legal moves, or is over. No function allocates arrays, raises, or uses Python
objects.

Two terms recur. The *kinds* of cards are 0..K-1 with the jokers last: the printed value v is the kind v-1, and the number of
values, ``joker``, is also the kind of the jokers. The *kind of a bid* is 0 for different values and v for equal values v.
"""

from __future__ import annotations

import numpy as np

from katz_env.core.event_log import NOBODY, Log, emit, emit_cards
from katz_env.core.jit import compiled
from katz_env.core.packed import ONES, count_bits, load_word, store_word
from katz_env.core.rng import shuffle
from katz_env.core.types import EventLog, Mask, Ranks, Scores, Table
from katz_env.games.katzenjammer.rules import (
    AUCTION,
    BID,
    DEALT,
    DISCARDED,
    DISPLAYED,
    DREW,
    ENDED,
    FINISHED,
    FOURSOMES,
    LED,
    OVER,
    PAID,
    PASSED,
    PAYMENT,
    PRESENTED,
    REVEALED,
    THREW,
    TOOK,
    WON_MICE,
)


@compiled
def fill_deal(t: Table) -> None:
    """Put the whole deck into a random order, drawn from the table's generator."""
    kinds, size = t.row.shape[0], t.deal.shape[0]
    copies = size // kinds
    for i in range(size):
        t.deal[i] = i // copies
    shuffle(t, t.deal)


# --- a round -------------------------------------------------------------------------------------------------------------


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
def reveal(t: Table, log: EventLog) -> None:
    """Begin a round: clear the auction, reveal the row and, if it ends with a joker, let every player draw a card.

    The game ends when the last card of the draw pile is taken.
    """
    n, kinds = t.hand.shape
    joker, size = np.uint64(kinds - 1), t.deal.shape[0]
    t.bid = 0
    t.high_bidder = -1
    t.passed[:] = 0
    t.claims[:] = 0
    t.phase = AUCTION
    after = t.bandleader + 1
    first = after if after < n else 0
    place = int(t.position)
    while True:
        kind = np.uint64(t.deal[np.uint64(place)])
        place += 1
        t.row[kind] += 1
        if place == size:
            t.position = place
            if log is not None:
                emit_row(t, REVEALED, t.bandleader, log)
            finish(t, log)
            return
        if kind == joker:
            break
        if t.row[kind] == 2:
            t.position = place
            t.turn = first
            if log is not None:
                emit_row(t, REVEALED, t.bandleader, log)
            return
    if log is not None:
        emit_row(t, REVEALED, t.bandleader, log)
    seat = first
    for _ in range(n):
        t.hand[np.uint64(seat), np.uint64(t.deal[np.uint64(place)])] += 1
        t.hand_sizes[np.uint64(seat)] += 1
        if log is not None:
            emit(log, DREW, seat, 1, seat)
            emit_cards(log, t.deal[np.uint64(place)], 1)
        seat = seat + 1 if seat + 1 < n else 0
        place += 1
        if place == size:
            t.position = place
            finish(t, log)
            return
    t.position = place
    note_best_bids(t)
    t.turn = first


@compiled(inline=True)
def emit_row(t: Table, kind: int, seat: int, log: Log) -> None:
    """Log an event that shows all cards of the row."""
    emit(log, kind, seat)
    for card in range(t.row.shape[0]):
        emit_cards(log, card, t.row[card])


@compiled
def finish(t: Table, log: EventLog) -> None:
    """End the game: display the jokers that are still in hands."""
    n, kinds = t.hand.shape
    joker = kinds - 1
    for seat in range(n):
        jokers = t.hand[seat, joker]
        if log is not None:
            emit(log, DISPLAYED, seat)
            emit_cards(log, joker, jokers)
        t.displayed[seat] += jokers
        t.hand_sizes[seat] -= jokers
        t.hand[seat, joker] = 0
        t.known[seat, joker] = 0
    note_best_bids(t)
    t.phase = OVER
    if log is not None:
        emit(log, ENDED, NOBODY, t.supply == 0)


@compiled(inline=True)
def best_bid(t: Table, seat: int) -> int:
    """Return the id of the highest bid that a seat can pay, 0 if none; it can bid exactly when this is above ``t.bid``."""
    kinds = t.row.shape[0]
    joker = kinds - 1
    jokers = int(t.hand[seat, joker])
    most, distinct = 0, 0
    for v in range(joker):
        count = int(t.hand[seat, v])
        most = max(most, kinds * count + v)  # the largest count, and among equal counts the highest value
        distinct += count > 0
    different = min(joker, distinct + jokers)
    return max(0, kinds * (jokers - 1) + most + 2, kinds * (different - 1) + 1)


@compiled
def note_best_bids(t: Table) -> None:
    """Recompute ``t.best`` for all seats after hands have changed."""
    for seat in range(t.hand.shape[0]):
        t.best[seat] = best_bid(t, seat)


@compiled(inline=True)
def emit_passes(t: Table, passing: int, log: Log) -> None:
    """Log the passes of those seats of a bit set that have not passed before, clockwise from ``t.turn``."""
    seat = int(t.turn)
    for _ in range(t.hand.shape[0]):
        if passing >> seat & 1 and t.passed[seat] == 0:
            emit(log, PASSED, seat)
        seat = seat + 1 if seat + 1 < t.hand.shape[0] else 0


@compiled(inline=True)
def find_next_bidder(t: Table, log: EventLog) -> bool:
    """Find the next bidder: pass for the seats from ``t.turn`` on that cannot bid, and return whether a seat can.

    If there is none, the auction ends. Sets of seats are bit sets here, because the next bidder is unpredictable, and
    mispredicted branches would cost more than everything else.
    """
    n, turn, bid = t.hand.shape[0], int(t.turn), int(t.bid)
    able = 0
    for seat in range(n):
        able |= ((t.passed[seat] == 0) & (t.best[seat] > bid)) << seat
    able &= ~((1 << (int(t.high_bidder) + 1)) >> 1)  # without a high bidder (-1) this removes no seat
    turned = ((able >> turn) | (able << (n - turn))) & ((1 << n) - 1)  # bit i is now the i-th seat from `turn` on
    if turned == 0:
        end_auction(t, log)
        return False
    before = (turned & -turned) - 1  # the seats before the first that can bid
    passing = (before << turn) | (before >> (n - turn))
    if log is not None:
        emit_passes(t, passing, log)
    for seat in range(n):
        t.passed[seat] |= (passing >> seat) & 1
    turn += count_bits(before)
    t.turn = turn if turn < n else turn - n
    return True


@compiled
def end_auction(t: Table, log: EventLog) -> None:
    """Pass for all seats but the high bidder, who must pay; without a high bidder, discard the row and reveal the next one."""
    n, kinds = t.hand.shape
    seat, last = int(t.turn), t.turn
    for _ in range(n):
        if t.passed[seat] == 0 and seat != t.high_bidder:
            t.passed[seat] = 1
            if log is not None:
                emit(log, PASSED, seat)
            last = seat
        seat = seat + 1 if seat + 1 < n else 0
    if t.high_bidder >= 0:
        t.turn = t.high_bidder
        t.phase = PAYMENT
        return
    t.turn = last
    if log is not None:
        emit_row(t, DISCARDED, NOBODY, log)
    for kind in range(kinds):
        t.discard[kind] += t.row[kind]
        t.row[kind] = 0
    reveal(t, log)


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


@compiled(inline=True)
def remove_from_hand(t: Table, seat: int, kind: int, count: int, log: EventLog) -> None:
    """Remove `count` cards of a kind from a hand and from its known cards, and add them to the last event."""
    if log is not None:
        emit_cards(log, kind, count)
    t.hand[seat, kind] -= count
    t.hand_sizes[seat] -= count
    t.known[seat, kind] = max(0, int(t.known[seat, kind]) - count)


# --- payment -------------------------------------------------------------------------------------------------------------


@compiled(inline=True)
def values_in_hand(t: Table, seat: int) -> int:
    """Return the values that a hand holds as a bit set."""
    value_set = 0
    for v in range(t.row.shape[0] - 1):
        if t.hand[seat, v] > 0:
            value_set |= 1 << v
    return value_set


@compiled(inline=True)
def first_payment(t: Table) -> int:
    """Return the id of paying a bid of equal values without jokers; the ids for different values begin copies + 1 later."""
    return 1 + 2 * t.deal.shape[0]


@compiled
def count_payments(t: Table) -> tuple[int, int]:
    """Return the number of possible payments (2 may stand for more) and, if there is only one, its id."""
    kinds, seat = t.row.shape[0], t.high_bidder
    joker, copies = kinds - 1, t.deal.shape[0] // kinds
    number, kind = (int(t.bid) - 1) // kinds + 1, (int(t.bid) - 1) % kinds
    jokers = int(t.hand[seat, joker])
    if kind > 0:
        fewest, most = max(0, number - int(t.hand[seat, kind - 1])), min(jokers, number)
        return most - fewest + 1, first_payment(t) + fewest
    held = values_in_hand(t, seat)
    distinct = count_bits(held)
    fewest, most = max(0, number - jokers), min(number, distinct)  # the possible numbers of value cards
    different = first_payment(t) + copies + 1
    if fewest < most:
        return 2, different
    if most == distinct:
        return 1, different + held
    return 2, different


@compiled
def pay(t: Table, action: int, log: EventLog) -> None:
    """Let the high bidder put down the cards of the bid, take the row and become the bandleader."""
    kinds, seat = t.row.shape[0], t.high_bidder
    joker, copies = kinds - 1, t.deal.shape[0] // kinds
    number, kind = (int(t.bid) - 1) // kinds + 1, (int(t.bid) - 1) % kinds
    choice = action - first_payment(t)
    if log is not None:
        emit(log, PAID, seat, t.bid)
    jokers = number
    if kind > 0:
        jokers = choice
        remove_from_hand(t, seat, kind - 1, number - jokers, log)
        t.discard[kind - 1] += number - jokers
    else:
        value_set = choice - copies - 1
        for v in range(joker):
            if value_set >> v & 1:
                remove_from_hand(t, seat, v, 1, log)
                t.discard[v] += 1
                jokers -= 1
    remove_from_hand(t, seat, joker, jokers, log)
    t.displayed[seat] += jokers
    if log is not None:
        emit_row(t, TOOK, seat, log)
    for k in range(kinds):
        t.hand[seat, k] += t.row[k]
        t.known[seat, k] += t.row[k]
        t.hand_sizes[seat] += t.row[k]
        t.row[k] = 0
        t.claims[seat, k] = 0
    t.best[seat] = best_bid(t, seat)
    t.bandleader = seat
    t.phase = FOURSOMES


# --- foursomes -----------------------------------------------------------------------------------------------------------


@compiled(inline=True)
def can_present(t: Table) -> bool:
    """Return whether the bandleader holds a foursome."""
    seat, joker = t.bandleader, t.row.shape[0] - 1
    most = 0
    for v in range(joker):
        most = max(most, int(t.hand[seat, v]))
    return most + t.hand[seat, joker] >= t.set_size


@compiled(inline=True)
def first_foursome(t: Table) -> int:
    """Return the id of presenting a foursome of ones without jokers."""
    kinds = t.row.shape[0]
    return first_payment(t) + t.deal.shape[0] // kinds + 1 + (1 << (kinds - 1))


@compiled
def finish_presenting(t: Table, log: EventLog) -> None:
    """Begin the next round, because the bandleader presents no more foursomes, by choice or for lack of one."""
    if log is not None:
        emit(log, FINISHED, t.bandleader)
    reveal(t, log)


@compiled
def present(t: Table, action: int, log: EventLog) -> None:
    """Let the bandleader present a foursome, discard four jokers, or be done."""
    seat, joker = t.bandleader, t.row.shape[0] - 1
    choice = action - first_foursome(t)
    free = joker * (t.set_size + 1)
    if choice > free:
        finish_presenting(t, log)
        return
    if choice == free:
        if log is not None:
            emit(log, THREW, seat)
        remove_from_hand(t, seat, joker, t.set_size, log)
        t.discard[joker] += t.set_size
        t.best[seat] = best_bid(t, seat)
        return
    v, jokers = choice // (t.set_size + 1), choice % (t.set_size + 1)
    if log is not None:
        emit(log, PRESENTED, seat, v + 1)
    remove_from_hand(t, seat, v, t.set_size - jokers, log)
    t.discard[v] += t.set_size - jokers
    remove_from_hand(t, seat, joker, jokers, log)
    t.displayed[seat] += jokers
    t.best[seat] = best_bid(t, seat)
    won = min(v + 1, int(t.supply))
    if log is not None:
        emit(log, WON_MICE, seat, won)
    t.mice[seat] += won
    t.supply -= won
    if t.supply == 0:
        finish(t, log)


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
