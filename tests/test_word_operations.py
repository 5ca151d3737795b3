"""Word operations do the same compiled and as plain Python, and write nothing beside their targets."""

import numpy as np
import pytest

from katz_env.core.jit import COMPILED, cached
from katz_env.core.packed import copy_fields, highest_bit, write_bits

pytestmark = pytest.mark.skipif(not COMPILED, reason="compares compiled code with plain Python")


@cached
def written_bits(bits, size, out, k):
    return write_bits(bits, size, out, k)


@cached
def index_of_highest(bits):
    return highest_bit(bits)


@cached
def copied(table, out, k):
    copy_fields(table[0].field, 13, out, k)


@pytest.mark.parametrize("size", [1, 7, 18, 31, 32, 33, 54, 63, 64])
def test_bits_are_written_and_nothing_beyond(size):
    rng = np.random.default_rng(size)
    for bits in [0, -1, *rng.integers(-(2**63), 2**63, 20)]:
        out = np.full(100, 7, np.int8)
        assert written_bits(bits, size, out, 20) == 20 + size
        assert out[20 : 20 + size].tolist() == [int(bits) >> i & 1 for i in range(size)]
        assert (out[:20] == 7).all()
        assert (out[20 + size :] == 7).all()
        plain = np.full(100, 7, np.int8)
        write_bits.py_func(bits, size, plain, 20)
        np.testing.assert_array_equal(plain, out)


def test_the_highest_bit_is_found():
    for bits, index in ((0, -1), (1, 0), (2, 1), (3, 1), (0b10110, 4), (2**62, 62), (2**63 - 1, 62)):
        assert index_of_highest(np.int64(bits)) == highest_bit(np.int64(bits)) == index


def test_fields_are_copied_together_and_nothing_beyond():
    table = np.zeros(1, np.dtype([("front", np.int8), ("field", np.int8, (2, 5)), ("one", np.int8), ("behind", np.int8, 4)]))
    table["field"], table["one"], table["behind"] = np.arange(10).reshape(2, 5), 10, np.arange(11, 15)
    for out, copy in ((np.full(40, -1, np.int8), copied), (np.full(40, -1, np.int8), lambda *args: plain_copy(*args))):
        copy(table, out, 9)
        assert out.tolist() == [-1] * 9 + list(range(13)) + [-1] * 18


def plain_copy(table, out, k):
    copy_fields(table["field"][0], 13, out, k)
