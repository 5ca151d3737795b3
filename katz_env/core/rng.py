"""Random numbers in compiled code: a generator in every table (splitmix64), and the seeding of all tables from one seed.

Splitmix64 is due to Steele, Lea and Flood (2014), "Fast splittable pseudorandom number generators". The increment is theirs;
the multipliers of the mixer are those of Stafford's variant 13.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from katz_env.core.jit import COMPILED, cached, compiled
from katz_env.core.validation import check_at_least


def one_way_generator(purpose: str, *seeds: int) -> np.random.Generator:
    """Return a generator for somebody who must not learn its seeds, such as an agent, which could compute the deals from them.

    It starts from a SHA-256 digest, so that neither its state nor its ``seed_seq`` leads back to the seeds. What remains
    possible is to guess: whoever tries all small seeds of an environment finds the one that gives this generator. Where that
    matters, as in a benchmark of agents that nobody has read, draw seeds from the full range: ``secrets.randbits(63)``.

    Parameters
    ----------
    purpose
        What the generator is for; the same seeds give unrelated generators for different purposes.
    *seeds
        The same integers give the same generator.
    """
    digest = hashlib.sha256(repr((purpose, *map(int, seeds))).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest, "little"))


def wraps_around(function: Any) -> Any:
    """Let 64-bit numbers wrap around in plain Python without a warning too, as they do in compiled code."""
    return function if COMPILED else np.errstate(over="ignore")(function)


@compiled(inline=True)
@wraps_around
def random_below(t: Any, n: int) -> int:
    """Draw an integer in 0..n-1 from the table's generator, for n < 2**31; the bias of the method is below n * 2**-32."""
    t.rng = t.rng + np.uint64(0x9E3779B97F4A7C15)
    return _mixed_below(t.rng, n)


@compiled(inline=True)
@wraps_around
def _mixed_below(z: Any, n: int) -> int:
    """Return an integer in 0..n-1 for a state of a generator."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return int(((z >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@compiled(inline=True)
@wraps_around
def shuffle(t: Any, cards: NDArray[np.int8]) -> None:
    """Put all cards into a random order (Fisher-Yates shuffle), beginning at the last place."""
    state = t.rng  # a local variable: the compiler cannot know that writing cards leaves the record's field alone
    for i in range(cards.shape[0] - 1, 0, -1):
        state = state + np.uint64(0x9E3779B97F4A7C15)
        # Unsigned indices save the test for negative ones, to which Numba would add the length.
        a, b = np.uint64(i), np.uint64(_mixed_below(state, i + 1))
        cards[a], cards[b] = cards[b], cards[a]
    t.rng = state


def table_seeds(seed: int, num_tables: int) -> NDArray[np.uint64]:
    """Return the initial state of each table's generator, uint64 ``(num_tables,)``.

    The state of a table depends on the seed and the index of the table alone.

    Raises
    ------
    ValueError
        If the seed is not an integer of at least 0.
    """
    check_at_least("seed", seed, 0)
    states = np.empty(num_tables, np.uint64)
    _fill_states(np.random.SeedSequence(int(seed)).generate_state(2, np.uint64), states)
    return states


@cached
@wraps_around
def _fill_states(keys: NDArray[np.uint64], states: NDArray[np.uint64]) -> None:
    """Fill `states` from two keys by two rounds of a 64-bit mixer, so that tables start at unrelated places."""
    for i in range(len(states)):
        z = keys[0] + np.uint64(i + 1) * np.uint64(0x9E3779B97F4A7C15)
        for key in keys:
            z = (z ^ key ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            z = z ^ (z >> np.uint64(31))
        states[i] = z
