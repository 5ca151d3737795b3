"""Hidden information: what a seat cannot know, and the worlds that it cannot tell from the real one.

A *world* (in the literature: a determinization) is a table in which all hidden cards are dealt anew, consistently with
everything that the seat knows. Playing onto stacks is never compulsory and a discard may be any card, so moves prove nothing:
all arrangements of the unseen cards are equally likely.
"""

from __future__ import annotations

import numpy as np

from katz_env.core.jit import compiled
from katz_env.core.rng import random_below
from katz_env.core.types import Table
from katz_env.games.katz_und_maus.rules import SHOWN

_GONE, _OPEN, _HIDDEN = range(3)
"""Where the card of a place in the deck is: it has left the deck, it lies open on a stock, or nobody has seen it."""


@compiled
def redact(t: Table, seat: int) -> None:
    """Wipe everything that `seat` cannot know: the deal (to -1), the generator and the other hand.

    The cards of the other hand are added to the `hidden` ones, so that the unseen cards stay the same.
    """
    other = 1 - seat
    t.rng = np.uint64(0)
    t.deal[:] = -1
    for kind in range(t.hidden.shape[0]):
        t.hidden[kind] += t.hand[other, kind]
        t.hand[other, kind] = 0


@compiled(inline=True)
def status(t: Table, place: int) -> int:
    """Return where the card at a place in the deck is."""
    stock = int(t.stock_size)
    if place >= 2 * stock:
        return _GONE if place < t.drawn else _HIDDEN
    owner = 1 if place >= stock else 0
    top = (owner + 1) * stock - int(t.stock_sizes[owner])
    if place < top:
        return _GONE
    return _OPEN if place == top else _HIDDEN


@compiled(inline=True)
def placed_cards(t: Table, kind: int) -> int:
    """Return the number of cards of a kind that have left the deck, without the hand that is not dealt yet."""
    copies = t.deal.shape[0] // t.hidden.shape[0]
    return copies - int(t.hidden[kind]) - (t.stock_tops[0] == kind) - (t.stock_tops[1] == kind)


@compiled
def cards_come_out_even(t: Table, seat: int) -> bool:
    """Return whether the cards that `seat` has not seen are exactly as many as the places they can be in."""
    places = int(t.hand_sizes[1 - seat])
    for place in range(t.deal.shape[0]):
        places += status(t, place) == _HIDDEN
    for owner in range(t.stock_tops.shape[0]):
        if (t.stock_tops[owner] < 0) != (t.stock_sizes[owner] == 0):
            return False
    for kind in range(t.hidden.shape[0]):
        if t.hand[1 - seat, kind] != 0 or t.hidden[kind] < 0 or placed_cards(t, kind) < 0:
            return False
        places -= int(t.hidden[kind])
    return places == 0


@compiled(inline=True)
def draw_hidden(t: Table, count: int) -> int:
    """Draw one of the `count` hidden cards, remove it from ``t.hidden`` and return its kind."""
    left, kind = random_below(t, count), 0
    while left >= int(t.hidden[kind]):
        left -= int(t.hidden[kind])
        kind += 1
    t.hidden[kind] -= 1
    return kind


@compiled
def resample(t: Table, seat: int) -> bool:
    """Fill a redacted table with a random world that `seat` cannot tell from the real one; return False if there is none.

    The distribution is uniform over the ways of dealing the unseen cards to the unknown places. The order of the cards that
    have left the deck means nothing any more.
    """
    kinds, size, other = t.hidden.shape[0], t.deal.shape[0], 1 - seat
    if not cards_come_out_even(t, seat):
        return False
    kind, left, hidden = 0, placed_cards(t, 0), 0
    for k in range(kinds):
        hidden += int(t.hidden[k])
    for place in range(size):
        where = status(t, place)
        if where == _OPEN:
            t.deal[place] = t.stock_tops[1 if place >= t.stock_size else 0]
        elif where == _GONE:
            while kind < kinds and left == 0:
                kind += 1
                left = placed_cards(t, kind) if kind < kinds else 0
            if kind < kinds:
                t.deal[place] = kind
                left -= 1
            else:
                t.deal[place] = draw_hidden(t, hidden)
                t.hand[other, t.deal[place]] += 1
                hidden -= 1
    for place in range(size):
        if status(t, place) == _HIDDEN:
            t.deal[place] = draw_hidden(t, hidden)
            hidden -= 1
    for place in range(size):
        if status(t, place) == _HIDDEN:
            t.hidden[t.deal[place]] += 1
    return True


@compiled
def renew(t: Table) -> bool:
    """Recompute the fields that follow from others, and return whether the cards on the stacks are possible.

    The ranges of all fields are checked before. Of each rank as many cards or kings lie on a stack, or were taken away with
    one, as the heights and the number of complete stacks say.
    """
    n, kinds = t.hand.shape
    deposits, copies, size = t.deposit_sizes.shape[1], t.deal.shape[0] // kinds, t.deal.shape[0]
    t.hidden[:] = 0
    t.buried[:] = 0
    for place in range(size):
        if status(t, place) == _HIDDEN:
            t.hidden[t.deal[place]] += 1
    for seat in range(n):
        size_of_hand = 0
        for kind in range(kinds):
            size_of_hand += int(t.hand[seat, kind])
        t.hand_sizes[seat] = size_of_hand
        open_place = (seat + 1) * int(t.stock_size) - int(t.stock_sizes[seat])
        t.stock_tops[seat] = t.deal[open_place] if t.stock_sizes[seat] > 0 else -1
        for deposit in range(deposits):
            count = int(t.deposit_sizes[seat, deposit])
            for i in range(count - SHOWN):
                t.buried[seat, deposit * kinds + t.deposited[seat, deposit, i] - 1] += 1
            for i in range(SHOWN):
                place = count - SHOWN + i
                t.deposit_tops[seat, deposit * SHOWN + i] = t.deposited[seat, deposit, place] if place >= 0 else 0
    played, on_stacks = 0, 0
    for kind in range(kinds):
        played += played_cards(t, kind, copies)
    for stack in range(t.heights.shape[0]):
        on_stacks += int(t.heights[stack])
    complete = (played - on_stacks) // (kinds - 1)
    if played < on_stacks or on_stacks + complete * (kinds - 1) != played:
        return False
    for kind in range(kinds):
        wanted = complete if kind < kinds - 1 else 0
        for stack in range(t.heights.shape[0]):
            wanted += t.heights[stack] > kind
        found = played_cards(t, kind, copies)
        if found < 0 or (kind < kinds - 1 and found > wanted):
            return False
    return True


@compiled
def played_cards(t: Table, kind: int, copies: int) -> int:
    """Return the number of cards of a kind that are neither in the deck or a stock nor in a hand or on a deposit."""
    count = copies - int(t.hidden[kind])
    for seat in range(t.hand.shape[0]):
        count -= int(t.hand[seat, kind]) + (t.stock_tops[seat] == kind)
        for deposit in range(t.deposit_sizes.shape[1]):
            for i in range(int(t.deposit_sizes[seat, deposit])):
                count -= t.deposited[seat, deposit, i] == kind + 1
    return count
