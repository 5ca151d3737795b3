"""A round of Katzenjammer Blues up to the end of its auction, and the end of the game, compiled; see `engine`."""

from __future__ import annotations

import numpy as np

from katz_env.core.event_log import NOBODY, Log, emit, emit_cards
from katz_env.core.jit import compiled
from katz_env.core.packed import count_bits
from katz_env.core.types import EventLog, Table
from katz_env.games.katzenjammer.rules import AUCTION, DISCARDED, DISPLAYED, DREW, ENDED, OVER, PASSED, PAYMENT, REVEALED


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
