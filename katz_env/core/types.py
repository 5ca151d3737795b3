"""Type aliases for the parameters of compiled functions. Numba infers the types; the aliases are for readers."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from katz_env.core.event_log import Log

Table: TypeAlias = Any
"""One table: a record with the fields that the game's ``rules.py`` lists, passed by reference."""

Tables: TypeAlias = NDArray[Any]
"""Many tables: a structured array ``(N,)``."""

Mask: TypeAlias = NDArray[np.bool_]
"""An action mask, bool ``(A,)``."""

Counts: TypeAlias = NDArray[np.int8]
"""Small integers, int8, such as cards by kind, or one observation or many."""

Scores: TypeAlias = NDArray[np.int16]
"""The scores of the seats, int16 ``(n,)``."""

Ranks: TypeAlias = NDArray[np.int32]
"""The ranks of the seats, int32 ``(n,)``; the highest rank wins, and equal ranks share the victory."""

EventLog: TypeAlias = Log | None
"""The event log of one table, or None if nobody asked for events."""

Rewards: TypeAlias = NDArray[np.float32]
"""The rewards of the seats, float32 ``(n,)``."""

Indices: TypeAlias = NDArray[np.int64]
"""Numbers of tables, seats or actions, int64 ``(k,)``."""

Seeds: TypeAlias = NDArray[np.uint64]
"""First states of generators, uint64 ``(k,)``."""
