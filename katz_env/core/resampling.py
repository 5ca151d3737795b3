"""Building blocks that deal hidden cards anew, for every game that counts cards by kind.

The cards that a seat cannot place are laid out in a vector, such as the back of ``t.deal``, and drawn from it at random into
hands.
"""

from __future__ import annotations

from katz_env.core.jit import compiled
from katz_env.core.rng import random_below
from katz_env.core.types import Counts, Table


@compiled(inline=True)
def lay_out(cards: Counts, place: int, kind: int, count: int) -> int:
    """Write `count` cards of a kind to ``cards[place:]``; return the place after them."""
    for _ in range(count):
        cards[place] = kind
        place += 1
    return place


@compiled(inline=True)
def draw_into(t: Table, cards: Counts, place: int, hand: Counts, seat: int, count: int) -> int:
    """Draw cards from ``cards[place:]`` at random into a hand.

    Parameters
    ----------
    t
        The table whose generator draws.
    cards
        The vector of hidden cards; drawn cards move to the front of ``cards[place:]``.
    place
        The place of the first card that is not drawn yet.
    hand, seat
        The counts of cards by seat and kind ``(n, kinds)``, and the seat that receives the cards.
    count
        The number of cards to draw.

    Returns
    -------
    int
        The place of the first card that is still not drawn.
    """
    size = cards.shape[0]
    for _ in range(count):
        j = place + random_below(t, size - place)
        cards[place], cards[j] = cards[j], cards[place]
        hand[seat, cards[place]] += 1
        place += 1
    return place


@compiled(inline=True)
def shuffle_from(t: Table, cards: Counts, place: int) -> None:
    """Put ``cards[place:]`` into a random order, drawn from the table's generator."""
    for i in range(cards.shape[0] - 1, place, -1):
        j = place + random_below(t, i + 1 - place)
        cards[i], cards[j] = cards[j], cards[i]
