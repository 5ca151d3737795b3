"""How tables get generators of their own from one seed."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


def table_seeds(seed: int, num_tables: int) -> NDArray[np.uint64]:
    """The first state of each table's generator, which depends on (seed, table) alone: uint64 (num_tables,)."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed is {seed!r}; it must be an integer of at least 0")
    states = np.empty(num_tables, np.uint64)
    _fill_states(np.random.SeedSequence(int(seed)).generate_state(2, np.uint64), states)
    return states


@njit(cache=True)
def _fill_states(keys: NDArray[np.uint64], states: NDArray[np.uint64]) -> None:
    """Fill `states` from two keys by two rounds of a 64-bit mixer (Stafford's variant 13): unrelated places of the stream."""
    for i in range(len(states)):
        z = keys[0] + np.uint64(i + 1) * np.uint64(0x9E3779B97F4A7C15)
        for key in keys:
            z = (z ^ key ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            z = z ^ (z >> np.uint64(31))
        states[i] = z
