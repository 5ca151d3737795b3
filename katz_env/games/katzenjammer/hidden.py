"""Hidden information: what a seat cannot know, and the worlds that it cannot tell from the real one.

A *world* (in the literature: a determinization) is a table in which all hidden cards are dealt anew, consistently with
everything that the seat knows.
"""

from __future__ import annotations

import numpy as np

from katz_env.core.jit import compiled
from katz_env.core.resampling import draw_into, lay_out, shuffle_from
from katz_env.core.rng import random_below
from katz_env.core.types import Table
from katz_env.games.katzenjammer.auction import note_best_bids
from katz_env.games.katzenjammer.rules import OVER

_TRIES = 200
"""The number of worlds that are dealt and rejected before one is repaired instead."""

_REPAIR_STEPS, _MIXING_STEPS = 200_000, 2_000
"""The largest number of exchanges to reach a possible world, and the number of those that then make it close to uniform."""


@compiled
def redact(t: Table, seat: int) -> None:
    """Wipe everything that `seat` cannot know: the deal (to -1), the generator and the other hands."""
    n, _kinds = t.hand.shape
    t.rng = np.uint64(0)
    t.deal[:] = -1
    for other in range(n):
        if other != seat:
            t.hand[other, :] = 0
            t.best[other] = 0


@compiled
def shortfall(t: Table, seat: int) -> int:
    """Return how many cards a hand lacks to pay the bids of its owner in this auction; 0 if it can pay each of them.

    When the game is over there is nothing to pay, but no hand may hold a joker; the result is then the number of jokers.
    """
    joker = t.row.shape[0] - 1
    if t.phase == OVER:
        return int(t.hand[seat, joker])
    jokers, missing, distinct = int(t.hand[seat, joker]), 0, 0
    for v in range(joker):
        missing += max(0, int(t.claims[seat, v + 1]) - int(t.hand[seat, v]) - jokers)
        if t.hand[seat, v] > 0:
            distinct += 1
    return missing + max(0, int(t.claims[seat, 0]) - distinct - jokers)


@compiled
def total_shortfall(t: Table) -> int:
    """Return the sum of the shortfalls of all seats."""
    missing = 0
    for seat in range(t.hand.shape[0]):
        missing += shortfall(t, seat)
    return missing


@compiled
def hidden_owner(t: Table, seat: int, slot: int) -> int:
    """Return the seat that holds the hidden card number `slot`, or -1 if it lies in the draw pile.

    Hidden cards are numbered consecutively: first the unknown cards of seat 0, then those of seat 1, and so on, without those
    of `seat`; then the draw pile.
    """
    for other in range(t.hand.shape[0]):
        if other != seat:
            hidden = int(t.hand_sizes[other])
            for kind in range(t.row.shape[0]):
                hidden -= t.known[other, kind]
            if slot < hidden:
                return other
            slot -= hidden
    return -1


@compiled
def swap_hidden(t: Table, seat: int, a: int, b: int) -> None:
    """Exchange the hidden cards number `a` and `b`; the hidden cards are the last ones in ``t.deal``."""
    first = t.deal.shape[0] - hidden_cards(t, seat)
    owner_a, owner_b = hidden_owner(t, seat, a), hidden_owner(t, seat, b)
    kind_a, kind_b = t.deal[first + a], t.deal[first + b]
    t.deal[first + a], t.deal[first + b] = kind_b, kind_a
    if owner_a >= 0:
        t.hand[owner_a, kind_a] -= 1
        t.hand[owner_a, kind_b] += 1
    if owner_b >= 0:
        t.hand[owner_b, kind_b] -= 1
        t.hand[owner_b, kind_a] += 1


@compiled
def hidden_cards(t: Table, seat: int) -> int:
    """Return the number of cards that `seat` cannot place: the draw pile and the unknown cards of the other hands."""
    hidden = t.deal.shape[0] - int(t.position)
    for other in range(t.hand.shape[0]):
        if other != seat:
            hidden += t.hand_sizes[other]
            for kind in range(t.row.shape[0]):
                hidden -= t.known[other, kind]
    return hidden


@compiled
def cards_come_out_even(t: Table, seat: int) -> bool:
    """Return whether the cards that `seat` has not seen are exactly as many as the places they can be in."""
    n, kinds = t.hand.shape
    copies, unseen = t.deal.shape[0] // kinds, 0
    for other in range(n):
        concealed = int(t.hand_sizes[other])
        for kind in range(kinds):
            concealed -= t.known[other, kind]
        if other != seat and concealed < 0:
            return False
    for kind in range(kinds):
        left = copies - int(t.row[kind]) - int(t.discard[kind]) - int(t.hand[seat, kind])
        for other in range(n):
            if other != seat:
                left -= t.known[other, kind]
            if kind == kinds - 1:
                left -= t.displayed[other]
        if left < 0:
            return False
        unseen += left
    return unseen == hidden_cards(t, seat) and t.position <= t.deal.shape[0]


@compiled
def lay_out_unseen(t: Table, seat: int) -> int:
    """Give the other hands their known cards, and order ``t.deal``: placed cards first, then unseen cards.

    Return the place in ``t.deal`` at which the unseen cards begin.
    """
    n, kinds = t.hand.shape
    copies = t.deal.shape[0] // kinds
    front, back = 0, t.deal.shape[0] - hidden_cards(t, seat)
    first = back
    for other in range(n):
        if other != seat:
            for kind in range(kinds):
                t.hand[other, kind] = t.known[other, kind]
    for kind in range(kinds):
        placed = int(t.row[kind]) + int(t.discard[kind])
        for other in range(n):
            placed += t.hand[other, kind]
            if kind == kinds - 1:
                placed += t.displayed[other]
        front = lay_out(t.deal, front, kind, placed)
        back = lay_out(t.deal, back, kind, copies - placed)
    return first


@compiled
def deal_hidden(t: Table, seat: int, first: int) -> None:
    """Deal the unseen cards ``t.deal[first:]`` at random to the other hands; the rest is the draw pile."""
    n, kinds = t.hand.shape
    place = first
    for other in range(n):
        if other == seat:
            continue
        concealed = int(t.hand_sizes[other])
        for kind in range(kinds):
            t.hand[other, kind] = t.known[other, kind]
            concealed -= t.known[other, kind]
        place = draw_into(t, t.deal, place, t.hand, other, concealed)


@compiled
def repair(t: Table, seat: int, steps: int, mixing: int) -> bool:
    """Walk from an impossible world to a possible one by exchanging hidden cards; return False if `steps` do not suffice.

    An exchange that increases the shortfall is accepted rarely, any other always. From the first possible world on, `mixing`
    exchanges are tried and accepted if the world stays possible. This walk is symmetric, so its stationary distribution on the
    possible worlds is uniform.
    """
    hidden = hidden_cards(t, seat)
    in_hands = hidden - (t.deal.shape[0] - int(t.position))
    missing = total_shortfall(t)
    if in_hands == 0:
        return missing == 0
    left, mixed = steps, 0
    while mixed < mixing:
        possible = missing == 0
        mixed += possible
        left -= not possible
        if left < 0:
            return False
        a, b = random_below(t, in_hands), random_below(t, hidden)
        swap_hidden(t, seat, a, b)
        now = total_shortfall(t)
        if now > missing and (possible or random_below(t, 16 << min(now - missing, 8)) > 0):
            swap_hidden(t, seat, a, b)
        else:
            missing = now
    return True


@compiled
def resample_within(t: Table, seat: int, tries: int) -> bool:
    """Fill a redacted table with a random world that `seat` cannot tell from the real one; return False if none was found.

    The distribution is uniform over the ways of dealing the unseen cards to the unknown places, given that every bidder can
    pay their bids of this auction. Worlds are drawn by rejection sampling and, after `tries` rejections, approximately by
    `repair`. If no possible world is found, the table does not come from a game.
    """
    if not cards_come_out_even(t, seat):
        return False
    first = lay_out_unseen(t, seat)
    found = False
    for _ in range(tries):
        deal_hidden(t, seat, first)
        if total_shortfall(t) == 0:
            found = True
            break
    if not found:
        deal_hidden(t, seat, first)
        found = repair(t, seat, _REPAIR_STEPS, _MIXING_STEPS)
    note_best_bids(t)
    shuffle_from(t, t.deal, int(t.position))
    return found


@compiled
def resample(t: Table, seat: int) -> bool:
    """Fill a redacted table with a random world; return False if none was found. See `resample_within`."""
    return resample_within(t, seat, _TRIES)


@compiled
def renew(t: Table) -> bool:
    """Recompute the fields that follow from the hands; return whether all bidders can pay their bids of this auction."""
    for seat in range(t.hand.shape[0]):
        size = 0
        for kind in range(t.hand.shape[1]):
            size += int(t.hand[seat, kind])
        t.hand_sizes[seat] = size
    note_best_bids(t)
    return total_shortfall(t) == 0
