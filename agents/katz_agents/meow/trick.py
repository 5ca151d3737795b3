"""What players ask of a trick of Meow: which card would win it as it lies, and which cards are out."""

from __future__ import annotations

from katz_env.core.jit import compiled
from katz_env.core.types import Table
from katz_env.games.meow.rules import GREEN


@compiled(inline=True)
def wins_now(t: Table, colour: int, rank: int) -> bool:
    """Return whether a card, played by the seat to act, would win the trick if it ended then."""
    n, ranks = t.hand.shape[0], t.in_play.shape[0]
    if t.played_count == 0:
        return True
    highest, one, trumps = 0, False, 0
    for seat in range(n):
        trumps += t.trick_colour[seat, GREEN]
        if t.trick_colour[seat, colour]:
            highest = max(highest, int(t.trick_rank[seat]))
            one |= t.trick_rank[seat] == 1
    if colour != GREEN and (trumps > 0 or colour != t.led):
        return False
    if rank == ranks:
        return not one
    if rank == 1:
        return highest == ranks or highest == 0
    return rank > highest


@compiled(inline=True)
def winner_now(t: Table) -> int:
    """Return the seat that would win the trick if it ended now; -1 before the lead."""
    n, ranks = t.hand.shape[0], t.in_play.shape[0]
    if t.played_count == 0:
        return -1
    trumps = 0
    for seat in range(n):
        trumps += t.trick_colour[seat, GREEN]
    deciding = GREEN if trumps > 0 else int(t.led)
    winner, highest, one = -1, 0, -1
    for seat in range(n):
        if t.trick_colour[seat, deciding]:
            if t.trick_rank[seat] == 1:
                one = seat
            if t.trick_rank[seat] > highest:
                winner, highest = seat, int(t.trick_rank[seat])
    return one if highest == ranks and one >= 0 else winner


@compiled(inline=True)
def unseen(t: Table, seat: int, colour: int) -> int:
    """Return the cards of a colour, as a bit set, that a seat has not seen in this round: in other hands, or not dealt."""
    cards = 0
    for rank in range(t.in_play.shape[0]):
        cards |= int(t.in_play[rank]) << rank
    for other in range(t.hand.shape[0]):
        cards &= ~t.played[other, colour]
    return cards & ~t.hand[seat, colour]
