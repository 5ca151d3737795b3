"""Word operations: several small counts at once, in the int8 fields of a table and in rows of outputs.

A compiled loop over bytes moves one byte at a time, because the compiler must assume that its target overlaps its source. The
functions here move up to eight bytes, or a whole field, at once. Their bodies define in plain Python what they do, and run
when compilation is off. When compiled, some of them read beyond the field or write beyond the target: `check_room` checks
that a record has the padding that this needs.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from katz_env.core.jit import compiled

ONES = 0x0101010101010101
"""A word with the value 1 in each of its eight bytes."""

WORD = 8
"""The number of bytes in a word."""

BITS = 32
"""The number of bits that `store_bits` writes."""


def check_room(
    dtype: np.dtype[Any], words: Sequence[str] = (), rotated: Sequence[str] = (), together: Sequence[str] = ()
) -> None:
    """Check that a record has the padding for the word operations on its fields.

    Parameters
    ----------
    dtype
        The dtype of a table.
    words
        The names of the fields that are passed to `load_word` or `write_seats`.
    rotated
        The names of the fields that are passed to `copy_rotated`.
    together
        The names of the fields that `copy_fields` copies together, in their order.

    Raises
    ------
    ValueError
        If a field is missing or not int8, if too few bytes of the record lie before or after it, or if fields that are copied
        together do not lie side by side.
    """
    for name in (*words, *rotated, *together):
        if name not in (dtype.names or ()):
            raise ValueError(f"the table has no field {name!r}, but word operations are to read it")
        field, offset = dtype.fields[name][:2]  # type: ignore[index]
        if field.base != np.int8:
            raise ValueError(f"the field {name!r} is of type {field.base}; word operations read int8 only")
        if name in rotated:
            front, behind = field.itemsize, field.itemsize
        else:
            front, behind = 0, WORD - 1 if name in words else 0
        left = dtype.itemsize - offset - field.itemsize
        if offset < front or left < behind:
            raise ValueError(
                f"the field {name!r} has {offset} bytes of the record in front of it and {left} behind it; word operations "
                f"need {front} and {behind}: move it, or put a longer field behind it"
            )
    for before, name in itertools.pairwise(together):
        field, offset = dtype.fields[before][:2]  # type: ignore[index]
        if offset + field.itemsize != dtype.fields[name][1]:  # type: ignore[index]
            raise ValueError(f"the field {name!r} does not follow {before!r} in the record; they are copied together")


def load_word(field: NDArray[np.int8], start: int, count: int) -> int:
    """Return `count` (at most 8) bytes, beginning at ``field.flat[start]``, as one little-endian integer.

    The compiled version reads eight bytes and masks out the rest, so seven more bytes of the record must follow the field.
    """
    return int.from_bytes(field.tobytes()[start : start + count], "little")


def store_word(out: NDArray[Any], k: int, word: int) -> None:
    """Write the eight bytes of `word`, little-endian, to ``out[k : k + 8]``.

    A caller that needs fewer bytes writes the next field afterwards, over the rest; so this cannot write the last field of a
    row.
    """
    out[k : k + WORD] = np.frombuffer((word & 0xFFFFFFFFFFFFFFFF).to_bytes(WORD, "little"), np.int8)


def store_bits(out: NDArray[Any], k: int, bits: int) -> None:
    """Write the lowest 32 bits as numbers 0 or 1 to ``out[k : k + 32]``."""
    out[k : k + BITS] = [int(bits) >> i & 1 for i in range(BITS)]


def copy_row(field: NDArray[np.int8], row: int, out: NDArray[np.int8], k: int) -> None:
    """Copy one row of a field: ``out[k : k + size] = field[row]``. A field of one dimension is a single row."""
    size = field.shape[-1]
    out[k : k + size] = field.reshape(-1, size)[row]


def copy_fields(field: NDArray[np.int8], size: int, out: NDArray[np.int8], k: int) -> None:
    """Copy `size` bytes to ``out[k : k + size]``: those of `field`, and those of the fields that follow it in the record."""
    out[k : k + size] = np.lib.stride_tricks.as_strided(field, (size,), (1,))


def copy_rotated(field: NDArray[np.int8], seat: int, out: NDArray[np.int8], k: int) -> None:
    """Copy the rows of `field` ``(n, size)`` to ``out[k : k + field.size]``, beginning with the row of `seat`.

    The compiled version also reads ``field.size`` bytes before and after the field, so the record must have as many there.
    """
    out[k : k + field.size] = np.roll(field, -seat, 0).reshape(-1)


def prefetch_row(rows: NDArray[np.bool_], i: int) -> None:
    """Prefetch ``rows[i]`` into this core's cache because it will be written soon; plain Python does nothing.

    The code that chose the actions has just read the masks, perhaps on another core. Waiting for each cache line when it is
    written took a third of a step.
    """


def prefetch_record(records: NDArray[Any], i: int) -> None:
    """Prefetch ``records[i]``, a table that will be read and written soon; plain Python does nothing.

    It does nothing either for tables of less than 512 bytes, which the processor fetches in time by itself. Longer ones are not
    read from end to end, so it does not foresee which parts of the next table will be needed.
    """


def _address(context: Any, builder: Any, signature: Any, args: Any, array: int, index: Any) -> Any:
    """Return the address of the item `index` of the argument number `array`, which is an array."""
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
def _store_bits(typing: Any, out: Any, k: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        flags, row = ir.VectorType(ir.IntType(1), BITS), ir.VectorType(ir.IntType(8), BITS)
        spread = builder.zext(builder.bitcast(builder.trunc(args[2], ir.IntType(BITS)), flags), row)
        address = _address(context, builder, signature, args, 0, args[1])
        builder.store(spread, builder.bitcast(address, row.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(out, types.int64, types.int64), generate


@intrinsic
def _highest_bit(typing: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.sub(args[0].type(63), builder.ctlz(args[0], ir.IntType(1)(0)))

    return types.int64(types.int64), generate


@intrinsic
def _copy_row(typing: Any, field: Any, row: Any, out: Any, k: Any) -> Any:
    return types.void(field, types.intp, out, types.intp), _copy(field.shape[-1])


@intrinsic
def _copy_fields(typing: Any, field: Any, size: Any, out: Any, k: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source = _address(context, builder, signature, args, 0, ir.Constant(args[1].type, 0))
        target = _address(context, builder, signature, args, 2, args[3])
        cgutils.raw_memcpy(builder, target, source, args[1], 1)
        return context.get_dummy_value()

    return types.void(field, types.intp, out, types.intp), generate


def _copy(size: int) -> Any:
    """Return the code that copies the row, of `size` numbers, whose index is the second argument."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        start = builder.mul(args[1], ir.Constant(args[1].type, size))
        source = _address(context, builder, signature, args, 0, start)
        target = _address(context, builder, signature, args, 2, args[3])
        cgutils.raw_memcpy(builder, target, source, ir.Constant(ir.IntType(64), size), 1)
        return context.get_dummy_value()

    return generate


@intrinsic
def _copy_rotated(typing: Any, field: Any, seat: Any, out: Any, k: Any) -> Any:
    """Combine two vectors as long as the field: one that begins at the seat's row, and one that ends before it."""
    n, row = field.shape
    size = n * row

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word, index = ir.VectorType(ir.IntType(8), size), ir.VectorType(ir.IntType(32), size)

        def load(start: Any) -> Any:
            return builder.load(
                builder.bitcast(_address(context, builder, signature, args, 0, start), word.as_pointer()), align=1
            )

        length = ir.Constant(args[1].type, size)
        start = builder.mul(args[1], ir.Constant(args[1].type, row))
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
def _prefetch_row(typing: Any, rows: Any, i: Any) -> Any:
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

    return types.void(rows, types.int64), generate


@intrinsic
def _prefetch_record(typing: Any, records: Any, i: Any) -> Any:
    size = records.dtype.size

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        data = builder.bitcast(context.make_array(signature.args[0])(context, builder, args[0]).data, byte)
        start = builder.gep(data, [builder.mul(args[1], ir.Constant(args[1].type, size))])
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch")
        for k in range(0, size if size >= 512 else 0, 64):
            builder.call(prefetch, [builder.gep(start, [ir.IntType(64)(k)]), number(1), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(records, types.int64), generate


@overload(prefetch_record)
def _compiled_prefetch_record(records, i):  # type: ignore[no-untyped-def]
    return lambda records, i: _prefetch_record(records, i)


@overload(prefetch_row)
def _compiled_prefetch_row(rows, i):  # type: ignore[no-untyped-def]
    return lambda rows, i: _prefetch_row(rows, i)


@overload(load_word)
def _compiled_load_word(field, start, count):  # type: ignore[no-untyped-def]
    return lambda field, start, count: _load_word(field, start, count)


@overload(store_word)
def _compiled_store_word(out, k, word):  # type: ignore[no-untyped-def]
    return lambda out, k, word: _store_word(out, k, word)


@overload(store_bits)
def _compiled_store_bits(out, k, bits):  # type: ignore[no-untyped-def]
    return lambda out, k, bits: _store_bits(out, k, bits)


@overload(copy_row)
def _compiled_copy_row(field, row, out, k):  # type: ignore[no-untyped-def]
    return lambda field, row, out, k: _copy_row(field, row, out, k)


@overload(copy_fields)
def _compiled_copy_fields(field, size, out, k):  # type: ignore[no-untyped-def]
    return lambda field, size, out, k: _copy_fields(field, size, out, k)


@overload(copy_rotated)
def _compiled_copy_rotated(field, seat, out, k):  # type: ignore[no-untyped-def]
    return lambda field, seat, out, k: _copy_rotated(field, seat, out, k)


# --- writers of observation fields ---------------------------------------------------------------------------------------


@compiled(inline=True)
def count_bits(bits: int) -> int:
    """Return the number of bits that are set."""
    count = 0
    while bits:  # the compiler recognises this loop and replaces it by one instruction
        bits &= bits - 1
        count += 1
    return count


def highest_bit(bits: int) -> int:
    """Return the index of the highest bit that is set, -1 if there is none; `bits` is not negative."""
    return int(bits).bit_length() - 1


@overload(highest_bit)
def _compiled_highest_bit(bits):  # type: ignore[no-untyped-def]
    return lambda bits: _highest_bit(bits)


@compiled(inline=True)
def write_seats(field: NDArray[np.int8], seat: int, out: NDArray[np.int8], k: int) -> int:
    """Write a field with one number per seat to ``out[k:]``, seats counted from `seat`; return the place after it."""
    n = field.shape[0]
    word = load_word(field, 0, n)
    store_word(out, k, (word >> 8 * seat) | (word << 8 * (n - seat)))
    return k + n


@compiled(inline=True)
def write_one_hot(index: int, size: int, out: NDArray[np.int8], k: int) -> int:
    """Write a one-hot vector of `size` (at most 8) entries, all zero if `index` is negative; return the place after it."""
    store_word(out, k, 1 << 8 * index if index >= 0 else 0)
    return k + size


@compiled(inline=True)
def write_one_hot_seat(other: int, seat: int, out: NDArray[np.int8], k: int, n: int) -> int:
    """Write the seat `other` (none if negative), counted from `seat`, one-hot over `n` seats; return the place after it."""
    place = other - seat if other >= seat else other - seat + n
    return write_one_hot(place if other >= 0 else -1, n, out, k)


@compiled(inline=True)
def write_bits(bits: int, size: int, out: NDArray[Any], k: int) -> int:
    """Write the lowest `size` (at most 64) bits as numbers 0 or 1 to ``out[k:]``; return the place after them."""
    if size < BITS:
        for i in range(size):
            out[k + i] = bits >> i & 1
    else:
        store_bits(out, k, bits)
        store_bits(out, k + size - BITS, bits >> (size - BITS))  # may overlap the others
    return k + size
