"""What an agent is given that plays its turns at a single table as compiled code; see `Agent.compiled`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katz_env.core.game import Records


class Turns(NamedTuple):
    """One table and one agent at it, as a compiled function is given them."""

    records: Records
    """``(1,)`` the table. What the agent decides must not depend on it, only on `seen`."""
    seen: Records
    """``(1,)`` the table as the seat to act sees it: all that it cannot know is wiped."""
    players: NDArray[np.int64]
    """``(n,)`` who sits where."""
    me: int
    """This agent in `players`."""
    draws: NDArray[np.float64]
    """Random numbers, uniform in 0..1, from the agent's generator, ..."""
    used: NDArray[np.int64]
    """... ``(1,)`` and how many of them are used up."""
    earned: NDArray[np.float32]
    """``(n,)`` what each seat has earned since its last move."""
    where: NDArray[np.int64]
    """``(1,)`` zero, the index of the table."""
    actions: NDArray[np.int64]
    """``(1,)`` room for the action."""
    reward: int
    """The way to pay, an index into ``game.reward_kinds``."""
    out: tuple[NDArray[Any], ...]
    """What a step fills; see `Game.step`."""


PlayTurns = tuple[Callable[..., None], tuple[Any, ...]]
"""A compiled function ``play(turns, *settings)`` and its settings. It plays while its agent is to act and `draws` are left."""
