"""The rules of Katzenjammer Blues on one table, compiled by Numba, and the loops over many tables.

Every function takes a table record ``t`` (see ``rules.py``) by reference. ``play`` makes one legal move and then every forced
one, so a table always waits for a seat with at least two legal moves, or is over. Nothing here allocates, raises or touches
Python objects.

Numba's on-disk cache notices edits of this file only, so all that is compiled together stays in it. The words "kind" and
"value" mean: kinds are 0..K-1 with the jokers last; value v of the printed cards is kind v-1. In a bid, kind 0 is "different
values" and v is "equal values v". ``J = K - 1`` is the kind of the jokers and also the number of values.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from katz_env.core import shares
from katz_env.core.linked import linked

_Function = TypeVar("_Function", bound=Callable[..., Any])

AUCTION, PAYMENT, FOURSOMES, OVER = 0, 1, 2, 3
WIN, SCORE = 0, 1
AHEAD = 8  # so many tables before a mask is written it is fetched

# Numba names a compiled function after its argument types, but a record type by a number that is counted up in each process,
# and a nested array without its shape. Two processes can so give one name to functions for two and for four players; when
# one of them is then loaded from the disk cache, calls go to the wrong one. Names that follow from the types prevent that.
setattr(
    types.Record, "mangling_args", property(lambda self: ("Record", (hashlib.sha256(self.name.encode()).hexdigest()[:20],)))
)
setattr(types.NestedArray, "mangling_args", property(lambda self: ("NestedArray", (self.dtype, *self.shape))))

# Without Numba's reference counting, which costs some percent for the views ``masks[i]`` of arrays that live anyhow. With it
# off, a function that would allocate an array is refused when it is compiled.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
_compiled: Callable[[_Function], _Function] = njit(**_OPTIONS, cache=True)
# Small functions that take fields are always inlined: only then the compiler knows the fields' sizes, and divisions by the
# number of players or kinds stay divisions by a constant. So are those that the loops call for every table.
#
# Indices that are surely not negative are turned into unsigned ones where it matters: for others Numba adds the length if they
# are below zero.
_inlined: Callable[[_Function], _Function] = njit(**_OPTIONS, cache=True, forceinline=True)


# --- several small counts at once ----------------------------------------------------------------------------------------
#
# Compiled, a loop over bytes moves one at a time, because the compiler must assume that what it writes overlaps what it reads.
# The functions here move up to eight bytes, or a whole field, at once; in plain Python they are what stands below them.

ONES = 0x0101010101010101
"""A word with 1 in each of its eight bytes."""


def load_word(field: Any, start: int, count: int) -> int:
    """The `count` (at most 8) bytes from ``field.flat[start]`` on as one integer, the first byte lowest.

    Compiled, eight bytes are read and the rest is masked out, so there must be more of the record behind the field.
    """
    return int.from_bytes(field.tobytes()[start : start + count], "little")


def store_word(out: Any, k: int, word: int) -> None:
    """Write the eight bytes of `word` at ``out[k : k + 8]``, the lowest first.

    Whoever needs fewer writes the next part afterwards, over the rest.
    """
    out[k : k + 8] = np.frombuffer((word & 0xFFFFFFFFFFFFFFFF).to_bytes(8, "little"), np.int8)


def copy_row(field: Any, row: int, out: Any, k: int) -> None:
    """``out[k : k + kinds] = field[row]``; a field of one dimension is one row."""
    kinds = field.shape[-1]
    out[k : k + kinds] = field.reshape(-1, kinds)[row]


def copy_rotated(field: Any, seat: int, out: Any, k: int) -> None:
    """``out[k : k + n * kinds]`` = the rows of `field` (n, kinds), beginning with that of `seat`.

    Compiled, as many bytes in front of the field and behind it are read too, so the record must have so many there.
    """
    out[k : k + field.size] = np.roll(field, -seat, 0).reshape(-1)


def claim_row(masks: Any, i: int) -> None:
    """Have ``masks[i]`` brought into this core's cache, to be written soon.

    Who chose the moves has just read it on another core, and to wait for every line when it is written takes a third of a
    step. In plain Python nothing is to be done.
    """


def _address(context: Any, builder: Any, signature: Any, args: Any, array: int, index: Any) -> Any:
    """The address of an item of the argument number `array`."""
    start = context.make_array(signature.args[array])(context, builder, args[array]).data
    return builder.gep(start, [index])


@intrinsic
def _load_word(typing: Any, field: Any, start: Any, count: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(64)
        address = builder.bitcast(_address(context, builder, signature, args, 0, args[1]), word.as_pointer())
        bits = builder.mul(builder.sub(word(8), args[2]), word(8))
        loaded = builder.load(address, align=1)
        return builder.lshr(builder.shl(loaded, bits), bits)

    return types.int64(field, types.int64, types.int64), generate


@intrinsic
def _store_word(typing: Any, out: Any, k: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = _address(context, builder, signature, args, 0, args[1])
        builder.store(args[2], builder.bitcast(address, ir.IntType(64).as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(out, types.int64, types.int64), generate


@intrinsic
def _copy_row(typing: Any, field: Any, row: Any, out: Any, k: Any) -> Any:
    size = field.shape[-1]

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        start = builder.mul(args[1], ir.Constant(args[1].type, size))
        source = _address(context, builder, signature, args, 0, start)
        target = _address(context, builder, signature, args, 2, args[3])
        cgutils.raw_memcpy(builder, target, source, ir.Constant(ir.IntType(64), size), 1)
        return context.get_dummy_value()

    return types.void(field, types.intp, out, types.intp), generate


@intrinsic
def _copy_rotated(typing: Any, field: Any, seat: Any, out: Any, k: Any) -> Any:
    """Two words as long as the field, one beginning at the seat's row and one ending in front of it, are put together."""
    n, kinds = field.shape
    size = n * kinds

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word, index = ir.VectorType(ir.IntType(8), size), ir.VectorType(ir.IntType(32), size)

        def load(start: Any) -> Any:
            return builder.load(
                builder.bitcast(_address(context, builder, signature, args, 0, start), word.as_pointer()), align=1
            )

        length = ir.Constant(args[1].type, size)
        start = builder.mul(args[1], ir.Constant(args[1].type, kinds))
        left = builder.trunc(builder.sub(length, start), ir.IntType(8))  # bytes from the seat's row to the end
        nothing = ir.Constant(word, ir.Undefined)
        first = builder.insert_element(nothing, left, ir.Constant(ir.IntType(32), 0))
        border = builder.shuffle_vector(first, nothing, ir.Constant(index, [0] * size))
        in_front = builder.icmp_unsigned("<", ir.Constant(word, list(range(size))), border)
        rotated = builder.select(in_front, load(start), load(builder.sub(start, length)))
        target = builder.bitcast(_address(context, builder, signature, args, 2, args[3]), word.as_pointer())
        builder.store(rotated, target, align=1)
        return context.get_dummy_value()

    return types.void(field, types.intp, out, types.intp), generate


@intrinsic
def _claim_row(typing: Any, masks: Any, i: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        size = builder.extract_value(array.shape, 1)
        start = builder.gep(array.data, [builder.mul(args[1], size)])
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch")  # LLVM completes its name
        with cgutils.for_range_slice(builder, size.type(0), size, size.type(64)) as (k, _):
            address = builder.bitcast(builder.gep(start, [k]), byte)
            builder.call(prefetch, [address, number(1), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(masks, types.int64), generate


@overload(claim_row)
def _compiled_claim_row(masks, i):  # type: ignore[no-untyped-def]
    return lambda masks, i: _claim_row(masks, i)


@overload(load_word)
def _compiled_load_word(field, start, count):  # type: ignore[no-untyped-def]
    return lambda field, start, count: _load_word(field, start, count)


@overload(store_word)
def _compiled_store_word(out, k, word):  # type: ignore[no-untyped-def]
    return lambda out, k, word: _store_word(out, k, word)


@overload(copy_row)
def _compiled_copy_row(field, row, out, k):  # type: ignore[no-untyped-def]
    return lambda field, row, out, k: _copy_row(field, row, out, k)


@overload(copy_rotated)
def _compiled_copy_rotated(field, seat, out, k):  # type: ignore[no-untyped-def]
    return lambda field, seat, out, k: _copy_rotated(field, seat, out, k)


@_inlined
def bits(value_set: int) -> int:
    """How many bits are set."""
    count = 0
    while value_set:  # the compiler knows this loop and makes it one instruction
        value_set &= value_set - 1
        count += 1
    return count


# --- random numbers: splitmix64, one 64-bit state in each table --------------------------------------------------------


@_inlined
def random_below(t: Any, n: int) -> int:
    """A whole number in 0..n-1 (n < 2**31; the bias of the multiplication is below 2**-25)."""
    t.rng = t.rng + np.uint64(0x9E3779B97F4A7C15)
    z = t.rng
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return int(((z >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@_compiled
def shuffle(t: Any) -> None:
    """Put the whole deck in a random order."""
    kinds, size = t.row.shape[0], t.deck.shape[0]
    copies = size // kinds
    for i in range(size):
        t.deck[i] = i // copies
    for i in range(size - 1, 0, -1):
        a, b = np.uint64(i), np.uint64(random_below(t, i + 1))
        t.deck[a], t.deck[b] = t.deck[b], t.deck[a]


# --- a round -------------------------------------------------------------------------------------------------------------


@_compiled
def deal(t: Any) -> None:
    """Deal from `deck` with the first `bandleader`, reveal the first row and play forced moves."""
    n, _kinds = t.hand.shape
    t.hand[:] = 0
    t.known[:] = 0
    t.displayed[:] = 0
    t.mice[:] = 0
    t.row[:] = 0
    t.discard[:] = 0
    t.supply = t.total_mice
    t.turn = t.bandleader
    place = 0
    for seat in range(n):
        for _ in range(t.hand_size):
            t.hand[seat, np.uint64(t.deck[place])] += 1
            place += 1
        t.hand_sizes[seat] = t.hand_size
    t.position = place
    note_best_bids(t)
    reveal(t)
    settle(t)


@_compiled
def reveal(t: Any) -> None:
    """Begin a round: clear the auction, turn up the row, and draw a card each if it ends with a joker.

    The game is over when the last card of the draw pile is taken.
    """
    n, kinds = t.hand.shape
    joker, size = np.uint64(kinds - 1), t.deck.shape[0]
    t.bid = 0
    t.high_bidder = -1
    t.passed[:] = 0
    t.claims[:] = 0
    t.phase = AUCTION
    after = t.bandleader + 1
    first = after if after < n else 0
    place = int(t.position)
    while True:
        kind = np.uint64(t.deck[np.uint64(place)])
        place += 1
        t.row[kind] += 1
        if place == size:
            t.position = place
            finish(t)
            return
        if kind == joker:
            break
        if t.row[kind] == 2:
            t.position = place
            t.turn = first
            return
    seat = first
    for _ in range(n):
        t.hand[np.uint64(seat), np.uint64(t.deck[np.uint64(place)])] += 1
        t.hand_sizes[np.uint64(seat)] += 1
        seat = seat + 1 if seat + 1 < n else 0
        place += 1
        if place == size:
            t.position = place
            finish(t)
            return
    t.position = place
    note_best_bids(t)
    t.turn = first


@_compiled
def finish(t: Any) -> None:
    """End the game: jokers still in hands are displayed."""
    n, kinds = t.hand.shape
    joker = kinds - 1
    for seat in range(n):
        jokers = t.hand[seat, joker]
        t.displayed[seat] += jokers
        t.hand_sizes[seat] -= jokers
        t.hand[seat, joker] = 0
        t.known[seat, joker] = 0
    note_best_bids(t)
    t.phase = OVER


@_inlined
def best_bid(t: Any, seat: int) -> int:
    """The id of the highest bid that a seat's hand can pay, 0 if none. It can outbid exactly when this is above `bid`."""
    kinds = t.row.shape[0]
    joker = kinds - 1
    jokers = int(t.hand[seat, joker])
    most, distinct = 0, 0
    for v in range(joker):
        count = int(t.hand[seat, v])
        most = max(most, kinds * count + v)  # number and value in one: the highest value of which the hand has most
        distinct += count > 0
    different = min(joker, distinct + jokers)
    return max(0, kinds * (jokers - 1) + most + 2, kinds * (different - 1) + 1)


@_compiled
def note_best_bids(t: Any) -> None:
    """Renew `best`, after hands have changed."""
    for seat in range(t.hand.shape[0]):
        t.best[seat] = best_bid(t, seat)


@_inlined
def ask(t: Any) -> bool:
    """Whether somebody is to bid: passes the seats from `turn` on that cannot; if nobody is left, the auction is over.

    Sets of seats are bits here, for who is to bid next is not foreseeable and mispredicted branches cost more than all else.
    """
    n, turn, bid = t.hand.shape[0], int(t.turn), int(t.bid)
    able = 0
    for seat in range(n):
        able |= ((t.passed[seat] == 0) & (t.best[seat] > bid)) << seat
    able &= ~((1 << (int(t.high_bidder) + 1)) >> 1)  # nothing, without a high bidder (-1)
    turned = ((able >> turn) | (able << (n - turn))) & ((1 << n) - 1)  # bit i is now the i-th seat from `turn` on
    if turned == 0:
        end_auction(t)
        return False
    before = (turned & -turned) - 1  # the seats in front of the first that can bid
    passing = (before << turn) | (before >> (n - turn))
    for seat in range(n):
        t.passed[seat] |= (passing >> seat) & 1
    turn += bits(before)
    t.turn = turn if turn < n else turn - n
    return True


@_compiled
def end_auction(t: Any) -> None:
    """Pass all but the high bidder, who is to pay; if there is none, the row is discarded and the next one revealed."""
    n, kinds = t.hand.shape
    seat, last = int(t.turn), t.turn
    for _ in range(n):
        if t.passed[seat] == 0 and seat != t.high_bidder:
            t.passed[seat] = 1
            last = seat
        seat = seat + 1 if seat + 1 < n else 0
    if t.high_bidder >= 0:
        t.turn = t.high_bidder
        t.phase = PAYMENT
        return
    t.turn = last
    for kind in range(kinds):
        t.discard[kind] += t.row[kind]
        t.row[kind] = 0
    reveal(t)


@_compiled
def settle(t: Any) -> None:
    """Play forced moves until a seat has at least two legal moves or the game is over."""
    while True:
        if t.phase == AUCTION:
            if ask(t):
                return
        elif t.phase == PAYMENT:
            choices, only = count_payments(t)
            if choices > 1:
                return
            pay(t, only)
        elif t.phase == FOURSOMES:
            if can_present(t):
                return
            reveal(t)
        else:
            return


@_compiled
def play(t: Any, action: int) -> None:
    """Make the legal move `action` for the seat to act, then every forced move."""
    n, kinds = t.hand.shape
    if t.phase == AUCTION:
        seat = t.turn
        if action == 0:
            t.passed[seat] = 1
        else:
            t.bid = action
            t.high_bidder = seat
            number, kind = (action - 1) // kinds + 1, (action - 1) % kinds
            t.claims[seat, kind] = number  # bids rise, so the newest of a kind is its largest
            t.turn = (seat + 1) % n
    elif t.phase == PAYMENT:
        pay(t, action)
    elif t.phase == FOURSOMES:
        present(t, action)
    settle(t)


@_inlined
def spend(t: Any, seat: int, kind: int, count: int) -> None:
    """Take cards out of a hand; what everybody knew of it shrinks with them."""
    t.hand[seat, kind] -= count
    t.hand_sizes[seat] -= count
    t.known[seat, kind] = max(0, int(t.known[seat, kind]) - count)


# --- payment -------------------------------------------------------------------------------------------------------------


@_inlined
def values_in_hand(t: Any, seat: int) -> int:
    """The values that a hand holds, as a set of bits."""
    value_set = 0
    for v in range(t.row.shape[0] - 1):
        if t.hand[seat, v] > 0:
            value_set |= 1 << v
    return value_set


@_inlined
def first_payment(t: Any) -> int:
    """The action id of paying equal values without jokers; ids of different values follow after copies + 1 more."""
    return 1 + 2 * t.deck.shape[0]


@_compiled
def count_payments(t: Any) -> tuple[int, int]:
    """How many ways the high bidder can pay, and the id of one of them."""
    kinds, seat = t.row.shape[0], t.high_bidder
    joker, copies = kinds - 1, t.deck.shape[0] // kinds
    number, kind = (int(t.bid) - 1) // kinds + 1, (int(t.bid) - 1) % kinds
    jokers = int(t.hand[seat, joker])
    if kind > 0:
        fewest, most = max(0, number - int(t.hand[seat, kind - 1])), min(jokers, number)
        return most - fewest + 1, first_payment(t) + fewest
    held = values_in_hand(t, seat)
    distinct = bits(held)
    fewest, most = max(0, number - jokers), min(number, distinct)  # how many value cards
    different = first_payment(t) + copies + 1
    if fewest < most:
        return 2, different
    if most == distinct:
        return 1, different + held
    return 2, different


@_compiled
def pay(t: Any, action: int) -> None:
    """The high bidder puts the bid down, takes the row and becomes the bandleader."""
    kinds, seat = t.row.shape[0], t.high_bidder
    joker, copies = kinds - 1, t.deck.shape[0] // kinds
    number, kind = (int(t.bid) - 1) // kinds + 1, (int(t.bid) - 1) % kinds
    choice = action - first_payment(t)
    jokers = number
    if kind > 0:
        jokers = choice
        spend(t, seat, kind - 1, number - jokers)
        t.discard[kind - 1] += number - jokers
    else:
        value_set = choice - copies - 1
        for v in range(joker):
            if value_set >> v & 1:
                spend(t, seat, v, 1)
                t.discard[v] += 1
                jokers -= 1
    spend(t, seat, joker, jokers)
    t.displayed[seat] += jokers
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


@_inlined
def can_present(t: Any) -> bool:
    """Whether the bandleader holds a foursome."""
    seat, joker = t.bandleader, t.row.shape[0] - 1
    most = 0
    for v in range(joker):
        most = max(most, int(t.hand[seat, v]))
    return most + t.hand[seat, joker] >= t.set_size


@_inlined
def first_foursome(t: Any) -> int:
    """The action id of four ones without a joker."""
    kinds = t.row.shape[0]
    return first_payment(t) + t.deck.shape[0] // kinds + 1 + (1 << (kinds - 1))


@_compiled
def present(t: Any, action: int) -> None:
    """The bandleader presents a foursome, throws four jokers away, or is done."""
    seat, joker = t.bandleader, t.row.shape[0] - 1
    choice = action - first_foursome(t)
    free = joker * (t.set_size + 1)
    if choice > free:
        reveal(t)
        return
    if choice == free:
        spend(t, seat, joker, t.set_size)
        t.discard[joker] += t.set_size
        t.best[seat] = best_bid(t, seat)
        return
    v, jokers = choice // (t.set_size + 1), choice % (t.set_size + 1)
    spend(t, seat, v, t.set_size - jokers)
    t.discard[v] += t.set_size - jokers
    spend(t, seat, joker, jokers)
    t.displayed[seat] += jokers
    t.best[seat] = best_bid(t, seat)
    won = min(v + 1, int(t.supply))
    t.mice[seat] += won
    t.supply -= won
    if t.supply == 0:
        finish(t)


# --- legal moves, rewards, observations ----------------------------------------------------------------------------------


@_inlined
def write_bids(t: Any, mask: Any) -> None:
    """Mark the bids above the highest that the seat to act can pay.

    The bids of one number of cards lie side by side: different values, then a word of equal values, whose bytes are compared
    all at once. Where a byte holds at least `number`, its high bit stays set.
    """
    kinds, seat, bid = t.row.shape[0], int(t.turn), int(t.bid)
    values = kinds - 1
    jokers = int(t.hand[seat, values])
    word = load_word(t.hand, seat * kinds, values)
    different = min(values, bits((word + 127 * ONES) & 128 * ONES) + jokers)
    limits = (word + jokers * (ONES >> 8 * (8 - values))) | 128 * ONES
    number = (bid - 1) // kinds + 1 if bid > 0 else 1
    first = kinds * (number - 1) + 1
    taken = max(0, bid - first)  # how many of the equal values of this number are not above the highest bid
    mask[first] = (different >= number) & (number > 1) & (first > bid)  # a single card is not a bid of different values
    store_word(mask, first + 1, ((limits - number * ONES) >> 7) & (ONES << 4 * taken << 4 * taken))
    top = (int(t.best[seat]) - 1) // kinds + 1
    while True:  # three rows at a time, though the last may be empty: loops that end after a varying number of turns are slow
        for _ in range(3):
            number += 1
            first += kinds
            mask[first] = different >= number
            store_word(mask, first + 1, ((limits - number * ONES) >> 7) & ONES)
        if number >= top:
            return


@_inlined
def write_mask(t: Any, mask: Any) -> None:
    """Fill `mask` (num_actions,) with the legal moves of the seat to act."""
    mask[:] = False
    kinds, seat = t.row.shape[0], t.turn
    joker, copies = kinds - 1, t.deck.shape[0] // kinds
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
                size = bits(value_set)
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


@_compiled
def write_outcome(t: Any, reward: int, rewards: Any, scores: Any) -> None:
    """Fill `scores` and `rewards` (num_players,) of a finished table.

    ``WIN`` pays 1 split among the winners minus 1/n for everybody; ``SCORE`` pays the score.
    """
    n = t.displayed.shape[0]
    most = 0
    for seat in range(n):
        most = max(most, int(t.displayed[seat]))
    best = -(1 << 30)
    winners = 0
    for seat in range(n):
        score = int(t.mice[seat])
        if t.displayed[seat] == most:
            score -= int(t.joker_penalty)
        scores[seat] = score
        rank = 256 * score - int(t.displayed[seat])  # ties are broken by fewer displayed jokers
        if rank > best:
            best, winners = rank, 1
        elif rank == best:
            winners += 1
    for seat in range(n):
        if reward == SCORE:
            rewards[seat] = scores[seat]
        else:
            won = 256 * int(scores[seat]) - int(t.displayed[seat]) == best
            rewards[seat] = (1.0 / winners if won else 0.0) - 1.0 / n


@_inlined
def write_seats(field: Any, seat: int, out: Any, k: int) -> int:
    """Write a field of one number a seat, counted from `seat`, at ``out[k:]``; returns where the next part begins."""
    n = field.shape[0]
    word = load_word(field, 0, n)
    store_word(out, k, (word >> 8 * seat) | (word << 8 * (n - seat)))
    return k + n


@_inlined
def write_one_hot(index: int, size: int, out: Any, k: int) -> int:
    """Write `size` (at most 8) numbers, all zero but the one at `index` (none if negative)."""
    store_word(out, k, 1 << 8 * index if index >= 0 else 0)
    return k + size


@_inlined
def write_seat(other: int, seat: int, out: Any, k: int, n: int) -> int:
    """Write a seat (none if negative) as one of `n` numbers, counted from `seat`."""
    place = other - seat if other >= seat else other - seat + n
    return write_one_hot(place if other >= 0 else -1, n, out, k)


@_inlined
def write_observation(t: Any, seat: int, out: Any) -> int:
    """Fill `out` with what `seat` sees, part by part in the order of ``observation.py``; returns the length."""
    n, kinds = t.hand.shape
    bid, seat = int(t.bid), int(seat)
    number = (bid - 1) // kinds + 1 if bid > 0 else 0
    kind = bid - 1 - kinds * (number - 1) if bid > 0 else -1
    copy_row(t.hand, seat, out, 0)
    copy_row(t.row, 0, out, kinds)
    copy_row(t.discard, 0, out, 2 * kinds)
    k = 3 * kinds
    out[k] = t.deck.shape[0] - t.position
    out[k + 1] = t.supply
    k = write_one_hot(int(t.phase), 4, out, k + 2)
    out[k] = number
    out[k + 1] = kind == 0  # by itself: nine kinds are more than a word
    k = write_one_hot(kind - 1, kinds - 1, out, k + 2)
    out[k] = min(bid, 127)
    k = write_seats(t.hand_sizes, seat, out, k + 1)
    k = write_seats(t.mice, seat, out, k)
    k = write_seats(t.displayed, seat, out, k)
    k = write_seats(t.passed, seat, out, k)
    k = write_seat(int(t.bandleader), seat, out, k, n)
    k = write_seat(int(t.high_bidder), seat, out, k, n)
    k = write_seat(int(t.turn), seat, out, k, n)
    copy_rotated(t.claims, seat, out, k)
    copy_rotated(t.known, seat, out, k + n * kinds)
    return k + 2 * n * kinds


@_compiled
def write_state(t: Any, seat: int, out: Any) -> int:
    """Fill `out` with everything there is to know, seats counted from `seat`; returns the length."""
    n, kinds = t.hand.shape
    size = t.deck.shape[0]
    k = write_observation(t, seat, out)
    for i in range(n):
        other = seat + i
        copy_row(t.hand, other if other < n else other - n, out, k + i * kinds)
    k += n * kinds
    for kind in range(kinds):
        out[k + kind] = 0
    for i in range(t.position, size):
        out[k + int(t.deck[i])] += 1
    k += kinds
    for i in range(size - n * int(t.hand_size)):
        place = t.position + i
        out[k + i] = t.deck[place] + 1 if place < size else 0
    return k + size - n * int(t.hand_size)


# --- what a seat may know, and the worlds it cannot tell apart -----------------------------------------------------------


@_compiled
def redact(t: Any, seat: int) -> None:
    """Wipe the deck (to -1), the generator and the other hands."""
    n, _kinds = t.hand.shape
    t.rng = np.uint64(0)
    t.deck[:] = -1
    for other in range(n):
        if other != seat:
            t.hand[other, :] = 0
            t.best[other] = 0


@_compiled
def shortfall(t: Any, seat: int) -> int:
    """By how many cards a hand fails to pay what its owner bid in this auction; 0 if all its bids can be paid.

    When the game is over nothing is to be paid any more, but all jokers have left the hands.
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


@_compiled
def total_shortfall(t: Any) -> int:
    """The shortfall of all seats together."""
    missing = 0
    for seat in range(t.hand.shape[0]):
        missing += shortfall(t, seat)
    return missing


@_compiled
def hidden_owner(t: Any, seat: int, slot: int) -> int:
    """The seat whose hand the hidden card number `slot` lies in, or -1 for the draw pile.

    Hidden cards are numbered through: first those of seat 0 that are not known, then those of seat 1, ...; the rest is the
    draw pile.
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


@_compiled
def swap_hidden(t: Any, seat: int, a: int, b: int) -> None:
    """Exchange two hidden cards, which lie in ``deck[position_of_hidden:]`` by their numbers."""
    first = t.deck.shape[0] - hidden_cards(t, seat)
    owner_a, owner_b = hidden_owner(t, seat, a), hidden_owner(t, seat, b)
    kind_a, kind_b = t.deck[first + a], t.deck[first + b]
    t.deck[first + a], t.deck[first + b] = kind_b, kind_a
    if owner_a >= 0:
        t.hand[owner_a, kind_a] -= 1
        t.hand[owner_a, kind_b] += 1
    if owner_b >= 0:
        t.hand[owner_b, kind_b] -= 1
        t.hand[owner_b, kind_a] += 1


@_compiled
def hidden_cards(t: Any, seat: int) -> int:
    """How many cards `seat` cannot place: the draw pile and the unknown cards of the other hands."""
    hidden = t.deck.shape[0] - int(t.position)
    for other in range(t.hand.shape[0]):
        if other != seat:
            hidden += t.hand_sizes[other]
            for kind in range(t.row.shape[0]):
                hidden -= t.known[other, kind]
    return hidden


@_compiled
def lay_out_unseen(t: Any, seat: int) -> int:
    """Give the other hands their known cards and order the deck: placed cards first, unseen ones behind.

    Returns where in the deck the unseen cards begin.
    """
    n, kinds = t.hand.shape
    copies = t.deck.shape[0] // kinds
    front, back = 0, t.deck.shape[0] - hidden_cards(t, seat)
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
        for i in range(copies):
            if i < placed:
                t.deck[front] = kind
                front += 1
            else:
                t.deck[back] = kind
                back += 1
    return first


@_compiled
def deal_hidden(t: Any, seat: int, first: int) -> None:
    """Deal the unseen cards ``deck[first:]`` at random: to the other hands, and the rest is the draw pile."""
    n, kinds = t.hand.shape
    size = t.deck.shape[0]
    place = first
    for other in range(n):
        if other == seat:
            continue
        hidden = int(t.hand_sizes[other])
        for kind in range(kinds):
            t.hand[other, kind] = t.known[other, kind]
            hidden -= t.known[other, kind]
        for _ in range(hidden):
            j = place + random_below(t, size - place)
            t.deck[place], t.deck[j] = t.deck[j], t.deck[place]
            t.hand[other, t.deck[place]] += 1
            place += 1


@_compiled
def repair(t: Any, seat: int, steps: int, mixing: int) -> bool:
    """Walk from an impossible world to a possible one by exchanging hidden cards; False if `steps` were not enough.

    Exchanges that make the shortfall larger are taken rarely, those that do not always. Once the world is possible, `mixing`
    more exchanges that keep it so make it close to uniform: the walk is symmetric on the possible worlds.
    """
    hidden = hidden_cards(t, seat)
    in_hands = hidden - (t.deck.shape[0] - int(t.position))
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


@_compiled
def redeal(t: Any, seat: int, seed: Any, tries: int) -> bool:
    """Fill a redacted table with a random world that `seat` cannot tell from the real one.

    Worlds are drawn uniformly over the ways of dealing the unseen cards to the unknown places, given that every bid of this
    auction can be paid by its bidder: by rejection, and after `tries` rejections by `repair`. False if no possible world was
    found, which means that the table cannot have come from a real game.
    """
    t.rng = seed
    first = lay_out_unseen(t, seat)
    found = False
    for _ in range(tries):
        deal_hidden(t, seat, first)
        if total_shortfall(t) == 0:
            found = True
            break
    if not found:
        deal_hidden(t, seat, first)
        found = repair(t, seat, 200_000, 2_000)
    note_best_bids(t)
    for i in range(t.deck.shape[0] - 1, int(t.position), -1):
        j = int(t.position) + random_below(t, i + 1 - int(t.position))
        t.deck[i], t.deck[j] = t.deck[j], t.deck[i]
    return found


# --- loops over the tables where[start:stop] -----------------------------------------------------------------------------


@_compiled
def deal_random(t: Any) -> None:
    """Deal a random deck with a random bandleader, again while the game ends before anybody could decide."""
    while True:
        t.bandleader = random_below(t, t.hand.shape[0])
        shuffle(t)
        deal(t)
        if t.phase != OVER:
            return


@_compiled
def deal_many(records: Any, where: Any, decks: Any, bandleaders: Any) -> None:
    """Deal at each table; ``decks[k, 0] < 0`` and ``bandleaders[k] < 0`` mean: drawn at random."""
    n = records[0].hand.shape[0]
    for k in range(where.shape[0]):
        t = records[where[k]]
        given = decks[k, 0] >= 0
        if not given and bandleaders[k] < 0:
            deal_random(t)
            continue
        while True:
            t.bandleader = bandleaders[k] if bandleaders[k] >= 0 else random_below(t, n)
            if given:
                for place in range(t.deck.shape[0]):
                    t.deck[place] = decks[k, place]
            else:
                shuffle(t)
            deal(t)
            if given or t.phase != OVER:
                break


@_compiled
def look_many(
    records: Any,
    where: Any,
    reward: int,
    observations: Any,
    masks: Any,
    turn: Any,
    rewards: Any,
    terminated: Any,
    scores: Any,
    final_records: Any,
) -> None:
    """Fill what `step_many` fills, for tables that were dealt or restored."""
    for k in range(where.shape[0]):
        i = where[k]
        t = records[i]
        terminated[i] = t.phase == OVER
        rewards[i, :] = 0
        scores[i, :] = 0
        if terminated[i]:
            write_outcome(t, reward, rewards[i], scores[i])
            final_records[i] = t
        write_mask(t, masks[i])
        write_observation(t, t.turn, observations[i])
        turn[i] = t.turn


@_compiled
def step_piece(
    records: Any,
    where: Any,
    actions: Any,
    start: int,
    stop: int,
    reward: int,
    autoreset: bool,
    observations: Any,
    masks: Any,
    turn: Any,
    rewards: Any,
    terminated: Any,
    scores: Any,
    final_records: Any,
) -> None:
    """Move, re-deal, mask and observe, table by table."""
    for k in range(start, stop):
        i = where[k]
        claim_row(masks, where[min(k + AHEAD, stop - 1)])
        t = records[i]
        was_over = t.phase == OVER
        if not was_over:
            play(t, actions[k])
        elif autoreset:
            deal_random(t)
        if t.phase != OVER:
            if terminated[i]:
                terminated[i] = False
                rewards[i, :] = 0
                scores[i, :] = 0
        elif was_over:
            rewards[i, :] = 0  # paid when it ended
        else:
            terminated[i] = True
            write_outcome(t, reward, rewards[i], scores[i])
            final_records[i] = t
            if autoreset:
                deal_random(t)
        write_mask(t, masks[i])
        write_observation(t, t.turn, observations[i])
        turn[i] = t.turn


@linked(shares, **_OPTIONS)
def step_many(
    records: Any,
    where: Any,
    actions: Any,
    share: Any,
    me: int,
    bell: Any,
    reward: int,
    autoreset: bool,
    observations: Any,
    masks: Any,
    turn: Any,
    rewards: Any,
    terminated: Any,
    scores: Any,
    final_records: Any,
) -> int:
    """Step the tables in the pieces that thread `me` gets of the share, unless an action is illegal; see `Game.step`."""
    if me == 0:
        illegal = shares.first_illegal(where, actions, masks, terminated)
        if illegal >= 0:
            return illegal
    start, stop = shares.first_piece(share, me, bell, where, actions)
    while start < stop:
        step_piece(
            records,
            where,
            actions,
            start,
            stop,
            reward,
            autoreset,
            observations,
            masks,
            turn,
            rewards,
            terminated,
            scores,
            final_records,
        )
        start, stop = shares.next_piece(share, me, bell, stop - start)
    return shares.end_share(share, me)


@_compiled
def observe_many(records: Any, seats: Any, out: Any) -> None:
    """``out[i]`` = what ``seats[i]`` sees of ``records[i]``."""
    for i in range(records.shape[0]):
        write_observation(records[i], seats[i], out[i])


@_compiled
def state_many(records: Any, seats: Any, out: Any) -> None:
    """``out[i]`` = the perfect-information state of ``records[i]``, counted from ``seats[i]``."""
    for i in range(records.shape[0]):
        write_state(records[i], seats[i], out[i])


@_compiled
def outcome_many(records: Any, reward: int, rewards: Any, scores: Any) -> None:
    """Rewards and scores of the finished tables; the others are left as they are."""
    for i in range(records.shape[0]):
        if records[i].phase == OVER:
            write_outcome(records[i], reward, rewards[i], scores[i])


@_compiled
def redact_many(records: Any, seats: Any) -> None:
    """Wipe in each table what its seat cannot know."""
    for i in range(records.shape[0]):
        redact(records[i], seats[i])


@_compiled
def renew_many(records: Any) -> None:
    """Renew the fields that follow from the hands."""
    for i in range(records.shape[0]):
        t = records[i]
        for seat in range(t.hand.shape[0]):
            size = 0
            for kind in range(t.hand.shape[1]):
                size += int(t.hand[seat, kind])
            t.hand_sizes[seat] = size
        note_best_bids(t)


@_compiled
def payable_many(records: Any, out: Any) -> None:
    """``out[i]``: whether all bids of the auction can be paid by their bidders."""
    for i in range(records.shape[0]):
        out[i] = total_shortfall(records[i]) == 0


@_compiled
def count_choices_many(records: Any, mask: Any, out: Any) -> None:
    """``out[i]``: how many legal moves the seat to act has; `mask` is for the work."""
    for i in range(records.shape[0]):
        write_mask(records[i], mask)
        count = 0
        for action in range(mask.shape[0]):
            count += mask[action]
        out[i] = count


@_compiled
def redeal_many(records: Any, seats: Any, seeds: Any, tries: int) -> int:
    """Fill redacted tables with worlds; returns the index of the first that has none, or -1."""
    for i in range(records.shape[0]):
        if not redeal(records[i], seats[i], seeds[i], tries):
            return i
    return -1
