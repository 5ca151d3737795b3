"""What an agent is given that plays its turns as compiled code; see `Agent.compiled`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katz_env.core.game import Records

COUNT, CHOSEN, GIVEN, USED, RESULT = range(5)
"""In `Turns.state`: how many tables stand in `waiting`; at how many of them moves are chosen, or `NOT_LOOKED`; whether these
moves were given and not chosen by the agent; how many draws are used up; why the agent's function has returned."""

NOT_LOOKED = -1
"""It has not been looked whose turn it is at the tables in `waiting`."""

PLAYED, ENDED, DRAWS_NEEDED, WRONG = -1, -2, -3, -4
"""In RESULT: it is nowhere the agent's turn any more; games ended at some of the tables in `waiting`; all draws are used; the
agent chose the illegal ``actions[0]``. Or, at least zero, the number of an illegal action that was given."""


class Turns(NamedTuple):
    """Tables and one agent at them, as a compiled function is given them."""

    records: Records
    """``(N,)`` the tables. What the agent decides must not depend on them, only on `seen`."""
    seen: Records
    """``(1,)`` a table as the seat to act sees it: all that it cannot know is wiped."""
    players: NDArray[np.int64]
    """``(N, n)`` who sits where."""
    me: int
    """This agent in `players`."""
    earned: NDArray[np.float32]
    """``(N, n)`` what each seat has earned since its last move."""
    waiting: NDArray[np.int64]
    """``(N,)`` room for the tables to play at."""
    actions: NDArray[np.int64]
    """``(N,)`` room for their moves."""
    draws: NDArray[np.float64]
    """Random numbers, uniform in 0..1, from the agent's generator."""
    state: NDArray[np.int64]
    """``(5,)`` see `COUNT`."""
    reward: int
    """The way to pay, an index into ``game.reward_kinds``."""
    autoreset: bool
    """Whether a game that ends is followed by another one."""
    out: tuple[NDArray[Any], ...]
    """What a step fills; see `Game.step`."""
