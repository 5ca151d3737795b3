"""What a seat sees: the list of observation fields, and the functions that write them.

The list defines the flat vector, the named views (`katz_env.named_fields`) and the table in the documentation.
`write_observation` writes the fields in the same order, and a test compares every field with the table. Seats are counted
from the observer: index 0 is the observer, index 1 the opponent.
"""

from __future__ import annotations

from katz_env.core.fields import Field
from katz_env.core.jit import compiled
from katz_env.core.packed import WORD, copy_row, load_word, store_word
from katz_env.core.types import Counts, Table
from katz_env.games.katz_und_maus.rules import OVER, PLAYERS, SHOWN, Rules

MOST = 127
"""The largest number that an observation can hold."""


def observation_fields(rules: Rules) -> tuple[Field, ...]:
    """Return the fields of an observation, in order; the values are int8 before scaling."""
    n, kinds, copies, stacks, deposits = PLAYERS, rules.kinds, rules.copies, rules.stacks, rules.deposits
    depth, talon = rules.deposit_depth, min(MOST, rules.talon_size)
    return (
        Field("hand", (kinds,), 1 / 2, 0, min(copies, rules.hand_size), "own cards by kind (ranks ascending, kings last)"),
        Field("stock_tops", (n, kinds), 1, 0, 1, "for each seat, by kind: 1 for the open card of the stock"),
        Field("stock_sizes", (n,), 1 / 16, 0, rules.stock_size, "for each seat: cards in the stock, the open one included"),
        Field("heights", (stacks,), 1 / 8, 0, rules.ranks - 1, "for each stack: its height"),
        Field("wanted", (stacks, rules.ranks), 1, 0, 1, "for each stack, by rank: 1 for the rank that it wants"),
        Field("deposit_sizes", (n, deposits), 1 / 8, 0, depth, "for each seat and deposit: its number of cards"),
        Field(
            "deposit_tops",
            (n, deposits, SHOWN),
            1 / kinds,
            0,
            kinds,
            f"for each seat and deposit: its upper {SHOWN} cards, the top one last: kind + 1, 0 for those that it lacks",
        ),
        Field(
            "buried",
            (n, deposits, kinds),
            1,
            0,
            copies,
            f"for each seat and deposit: the cards below the upper {SHOWN} ones, by kind",
        ),
        Field("unseen", (kinds,), 1 / 8, 0, copies, "cards that the observer has not seen, by kind"),
        Field("hand_sizes", (n,), 1 / 4, 0, rules.hand_size, "for each seat: cards in hand"),
        Field(
            "talon",
            (1,),
            1 / 32,
            0,
            talon,
            f"cards left in the talon; at most {MOST}" if talon == MOST else "cards left in the talon",
        ),
        Field("turn", (n,), 1, 0, 1, "one-hot: the seat to act (the last to have acted when the game is over)"),
        Field("second", (n,), 1, 0, 1, "one-hot: the seat that went second, after whose turn an empty talon ends the game"),
        Field("over", (1,), 1, 0, 1, "1 when the game is over"),
    )


def state_fields(rules: Rules) -> tuple[Field, ...]:
    """Return the fields of the perfect-information state: those of an observation, then what it hides."""
    n, kinds, copies, stock = PLAYERS, rules.kinds, rules.copies, rules.stock_size
    order = "the next card first: kind + 1, 0 past its end"
    return (
        *observation_fields(rules),
        Field("hands", (n, kinds), 1 / 2, 0, min(copies, rules.hand_size), "for each seat: cards by kind"),
        Field("stocks", (n, stock), 1 / kinds, 0, kinds, f"for each seat: the stock in its order, {order}"),
        Field("talon_counts", (kinds,), 1 / 8, 0, copies, "the talon by kind"),
        Field("next_cards", (rules.talon_size,), 1 / kinds, 0, kinds, f"the talon in its order, {order}"),
    )


@compiled(inline=True)
def write_observation(t: Table, seat: int, out: Counts) -> int:
    """Fill `out` ``(D,)`` with what `seat` sees, in the order of `observation_fields`; return D."""
    kinds, stacks, deposits = t.hidden.shape[0], t.heights.shape[0], t.deposit_sizes.shape[1]
    ranks, seat = kinds - 1, int(seat)
    other = 1 - seat
    copy_row(t.hand, seat, out, 0)
    k = kinds
    for i in range(2 * kinds):
        out[k + i] = 0
    if t.stock_tops[seat] >= 0:
        out[k + int(t.stock_tops[seat])] = 1
    if t.stock_tops[other] >= 0:
        out[k + kinds + int(t.stock_tops[other])] = 1
    k += 2 * kinds
    out[k] = t.stock_sizes[seat]
    out[k + 1] = t.stock_sizes[other]
    copy_row(t.heights, 0, out, k + 2)
    k += 2 + stacks
    for i in range(stacks * ranks):
        out[k + i] = 0
    for stack in range(stacks):
        out[k + stack * ranks + int(t.heights[stack])] = 1
    k += stacks * ranks
    copy_row(t.deposit_sizes, seat, out, k)
    copy_row(t.deposit_sizes, other, out, k + deposits)
    k += 2 * deposits
    copy_row(t.deposit_tops, seat, out, k)
    copy_row(t.deposit_tops, other, out, k + deposits * SHOWN)
    k += 2 * deposits * SHOWN
    copy_row(t.buried, seat, out, k)
    copy_row(t.buried, other, out, k + deposits * kinds)
    k += 2 * deposits * kinds
    first = min(kinds, WORD)
    store_word(out, k, load_word(t.hidden, 0, first) + load_word(t.hand, other * kinds, first))
    if kinds > WORD:
        rest = kinds - WORD
        store_word(out, k + WORD, load_word(t.hidden, WORD, rest) + load_word(t.hand, other * kinds + WORD, rest))
    k += kinds
    out[k] = t.hand_sizes[seat]
    out[k + 1] = t.hand_sizes[other]
    out[k + 2] = min(MOST, t.deal.shape[0] - int(t.drawn))
    out[k + 3] = t.turn == seat
    out[k + 4] = t.turn != seat
    out[k + 5] = t.first_seat != seat
    out[k + 6] = t.first_seat == seat
    out[k + 7] = t.phase == OVER
    return k + 8


@compiled
def write_state(t: Table, seat: int, out: Counts) -> int:
    """Fill `out` ``(S,)`` with the perfect-information state, seats counted from `seat`; return S."""
    n, kinds = t.hand.shape
    size, stock = t.deal.shape[0], int(t.stock_size)
    k = write_observation(t, seat, out)
    for i in range(n):
        copy_row(t.hand, seat if i == 0 else 1 - seat, out, k)
        k += kinds
    for i in range(n):
        owner = seat if i == 0 else 1 - seat
        for j in range(stock):
            place = stock - int(t.stock_sizes[owner]) + j
            out[k + j] = t.deal[owner * stock + place] + 1 if place < stock else 0
        if t.stock_tops[owner] >= 0:
            out[k] = t.stock_tops[owner] + 1  # also in a redacted table
        k += stock
    for kind in range(kinds):
        out[k + kind] = 0
    for place in range(int(t.drawn), size):
        if t.deal[place] >= 0:  # else the table is redacted
            out[k + int(t.deal[place])] += 1
    k += kinds
    first = n * (stock + int(t.hand_size))
    for i in range(size - first):
        place = int(t.drawn) + i
        out[k + i] = t.deal[place] + 1 if place < size else 0
    return k + size - first
