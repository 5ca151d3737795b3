"""What a seat sees: the list of observation fields, and the functions that write them.

The list defines the flat vector, the named views (`katz_env.named_fields`) and the table in the documentation.
`write_observation` writes the fields in the same order, and a test compares every field with the table. Seats are counted
from the observer: index 0 is the observer, index 1 its left neighbour.
"""

from __future__ import annotations

from katz_env.core.fields import Field
from katz_env.core.jit import compiled
from katz_env.core.packed import copy_rotated, copy_row, write_one_hot, write_one_hot_seat, write_seats
from katz_env.core.types import Counts, Table
from katz_env.games.katzenjammer.rules import Rules


def observation_fields(rules: Rules) -> tuple[Field, ...]:
    """Return the fields of an observation, in order; the values are int8 before scaling."""
    n, kinds, copies = rules.num_players, rules.values + 1, rules.copies
    cards, mice = rules.num_cards, int(rules.mice or 0)
    return (
        Field("hand", (kinds,), 1 / 2, 0, copies, "own cards by kind (values ascending, jokers last)"),
        Field("row", (kinds,), 1, 0, copies, "the revealed row by kind"),
        Field("discard", (kinds,), 1 / 8, 0, copies, "the discard pile by kind"),
        Field("draw_pile", (1,), 1 / 32, 0, cards, "cards left in the draw pile"),
        Field("supply", (1,), 1 / 10, 0, mice, "mice left"),
        Field("phase", (4,), 1, 0, 1, "one-hot: auction, payment, foursomes, over"),
        Field("bid_number", (1,), 1 / 3, 0, 2 * copies, "cards of the highest bid, 0 without a bid"),
        Field("bid_kind", (kinds,), 1, 0, 1, "one-hot: different values, then each value; all zero without a bid"),
        Field(
            "bid_rank",
            (1,),
            1 / 24,
            0,
            min(127, 2 * cards),
            "the highest bid's action id, its place in the order of bids; at most 127",
        ),
        Field("hand_sizes", (n,), 1 / 8, 0, cards, "for each seat: cards in hand"),
        Field("mice", (n,), 1 / 8, 0, mice, "for each seat: mice won"),
        Field("displayed", (n,), 1 / 4, 0, copies, "for each seat: displayed jokers"),
        Field("passed", (n,), 1, 0, 1, "for each seat: 1 if out of this auction"),
        Field("bandleader", (n,), 1, 0, 1, "one-hot: the bandleader's seat"),
        Field("high_bidder", (n,), 1, 0, 1, "one-hot: the seat of the highest bid; all zero without a bid"),
        Field("turn", (n,), 1, 0, 1, "one-hot: the seat to act (the last to have acted when the game is over)"),
        Field(
            "claims",
            (n, kinds),
            1 / 3,
            0,
            2 * copies,
            "for each seat: the largest number bid in this auction, by kind of bid (0: different)",
        ),
        Field("known", (n, kinds), 1 / 2, 0, copies, "for each seat: cards that everybody knows to be in the hand, by kind"),
    )


def state_fields(rules: Rules) -> tuple[Field, ...]:
    """Return the fields of the perfect-information state: those of an observation, then what it hides."""
    n, kinds, copies = rules.num_players, rules.values + 1, rules.copies
    pile = rules.num_cards - n * rules.hand_size
    return (
        *observation_fields(rules),
        Field("hands", (n, kinds), 1 / 2, 0, copies, "for each seat: cards by kind"),
        Field("pile", (kinds,), 1 / 8, 0, copies, "the draw pile by kind"),
        Field(
            "next_cards",
            (pile,),
            1 / kinds,
            0,
            kinds,
            "the draw pile in its order, the next card first: kind + 1, 0 past its end",
        ),
    )


@compiled(inline=True)
def write_observation(t: Table, seat: int, out: Counts) -> int:
    """Fill `out` ``(D,)`` with what `seat` sees, in the order of `observation_fields`; return D."""
    n, kinds = t.hand.shape
    bid, seat = int(t.bid), int(seat)
    number = (bid - 1) // kinds + 1 if bid > 0 else 0
    kind = bid - 1 - kinds * (number - 1) if bid > 0 else -1
    copy_row(t.hand, seat, out, 0)
    copy_row(t.row, 0, out, kinds)
    copy_row(t.discard, 0, out, 2 * kinds)
    k = 3 * kinds
    out[k] = t.deal.shape[0] - t.position
    out[k + 1] = t.supply
    k = write_one_hot(int(t.phase), 4, out, k + 2)
    out[k] = number
    out[k + 1] = kind == 0  # written separately, because nine kinds are more than a word
    k = write_one_hot(kind - 1, kinds - 1, out, k + 2)
    out[k] = min(bid, 127)
    k = write_seats(t.hand_sizes, seat, out, k + 1)
    k = write_seats(t.mice, seat, out, k)
    k = write_seats(t.displayed, seat, out, k)
    k = write_seats(t.passed, seat, out, k)
    k = write_one_hot_seat(int(t.bandleader), seat, out, k, n)
    k = write_one_hot_seat(int(t.high_bidder), seat, out, k, n)
    k = write_one_hot_seat(int(t.turn), seat, out, k, n)
    copy_rotated(t.claims, seat, out, k)
    copy_rotated(t.known, seat, out, k + n * kinds)
    return k + 2 * n * kinds


@compiled
def write_state(t: Table, seat: int, out: Counts) -> int:
    """Fill `out` ``(S,)`` with the perfect-information state, seats counted from `seat`; return S."""
    n, kinds = t.hand.shape
    size = t.deal.shape[0]
    k = write_observation(t, seat, out)
    for i in range(n):
        other = seat + i
        copy_row(t.hand, other if other < n else other - n, out, k + i * kinds)
    k += n * kinds
    for kind in range(kinds):
        out[k + kind] = 0
    for i in range(t.position, size):
        if t.deal[i] >= 0:  # else the table is redacted
            out[k + int(t.deal[i])] += 1
    k += kinds
    for i in range(size - n * int(t.hand_size)):
        place = t.position + i
        out[k + i] = t.deal[place] + 1 if place < size else 0
    return k + size - n * int(t.hand_size)
