"""A round of Katzenjammer Blues after its auction, compiled: the payment and the foursomes; see `engine`."""

from __future__ import annotations

from katz_env.core.event_log import emit, emit_cards
from katz_env.core.jit import compiled
from katz_env.core.packed import count_bits
from katz_env.core.types import EventLog, Table
from katz_env.games.katzenjammer.auction import best_bid, emit_row, finish, reveal
from katz_env.games.katzenjammer.rules import FINISHED, FOURSOMES, PAID, PRESENTED, THREW, TOOK, WON_MICE


@compiled(inline=True)
def remove_from_hand(t: Table, seat: int, kind: int, count: int, log: EventLog) -> None:
    """Remove `count` cards of a kind from a hand and from its known cards, and add them to the last event."""
    if log is not None:
        emit_cards(log, kind, count)
    t.hand[seat, kind] -= count
    t.hand_sizes[seat] -= count
    t.known[seat, kind] = max(0, int(t.known[seat, kind]) - count)


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
