"""What agents that play their turns as compiled code are made of; see ``katz_env/core/turns.py``.

Such an agent's function, decorated with `playing`, is a loop: ``while to_decide(at): choose(at, decide(at.seen[0], ...))``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from numpy.typing import NDArray

from katz_env.core import shares
from katz_env.core import turns as core
from katz_env.core.linked import linked
from katz_env.core.turns import CHOSEN, COUNT, DRAWS_NEEDED, ENDED, GIVEN, NOT_LOOKED, PLAYED, RESULT, USED, WRONG, Turns
from katz_env.katzenjammer import engine


def playing(*modules: ModuleType) -> Callable[[Callable[..., None]], Any]:
    """Compile an agent's loop, which may also call into `modules`, with a disk cache that notices edits of all of them."""
    return linked(sys.modules[__name__], core, engine, shares, *modules)


_compiled = linked(core, engine, shares)


@_compiled
def to_decide(at: Turns) -> bool:
    """Whether the agent is to decide at one more table; then `seen` is what its seat sees there. If not, RESULT says why.

    In every round all waiting tables move together, so random numbers are used in the order in which `Agent.act` uses them.
    """
    state, waiting = at.state, at.waiting
    if state[CHOSEN] == state[COUNT]:
        illegal = shares.first_illegal(waiting[: state[COUNT]], at.actions, at.out[1], at.out[4])
        if illegal >= 0:
            at.actions[0] = at.actions[illegal]
            state[RESULT] = illegal if state[GIVEN] else WRONG
            return False
        state[GIVEN], state[CHOSEN] = 0, NOT_LOOKED
        if _move(at):
            state[RESULT] = ENDED
            return False
    if state[CHOSEN] == NOT_LOOKED:
        state[COUNT] = _still_waiting(at)
        if state[COUNT] == 0:
            state[RESULT] = PLAYED
            return False
        state[CHOSEN] = 0
    at.seen[0] = at.records[waiting[state[CHOSEN]]]
    engine.redact(at.seen[0], at.seen[0].turn)
    return True


@_compiled
def mask(at: Turns) -> NDArray[Any]:
    """The legal moves at the table to decide at, ``(A,)``."""
    return at.out[1][at.waiting[at.state[CHOSEN]]]


@_compiled
def can_draw(at: Turns) -> bool:
    """Whether a random number is left; an agent that needs one asks before it decides, and returns if not."""
    if at.state[USED] < at.draws.shape[0]:
        return True
    at.state[RESULT] = DRAWS_NEEDED
    return False


@_compiled
def draw(at: Turns) -> float:
    """The agent's next random number, uniform in 0..1."""
    at.state[USED] += 1
    return at.draws[at.state[USED] - 1]


@_compiled
def choose(at: Turns, action: int) -> None:
    """Choose the action at the table to decide at."""
    at.actions[at.state[CHOSEN]] = action
    at.state[CHOSEN] += 1


@_compiled
def _still_waiting(at: Turns) -> int:
    """Leave only those tables in `waiting` where it is the agent's turn; returns how many."""
    turn, terminated, count = at.out[2], at.out[4], 0
    for k in range(at.state[COUNT]):
        i = at.waiting[k]
        if at.players[i, turn[i]] == at.me and (at.autoreset or not terminated[i]):
            at.waiting[count] = i
            count += 1
    return count


@_compiled
def _move(at: Turns) -> bool:
    """Play the chosen actions at all waiting tables; whether a game ended."""
    turn, rewards, terminated = at.out[2], at.out[3], at.out[4]
    count, waiting, ended = at.state[COUNT], at.waiting, False
    for k in range(count):
        at.earned[waiting[k], turn[waiting[k]]] = 0
    engine.step_piece(at.records, waiting, at.actions, 0, count, at.reward, at.autoreset, *at.out)
    for k in range(count):
        i = waiting[k]
        for seat in range(rewards.shape[1]):
            at.earned[i, seat] += rewards[i, seat]
        ended |= terminated[i]
    return ended
