"""What agents that play their turns as compiled code are made of; see ``katz_env/core/turns.py``.

Such an agent's function is a loop: ``while to_act(turns): move(turns, decide(turns.seen[0], ...))``.
"""

from __future__ import annotations

from katz_env.core.linked import linked
from katz_env.core.turns import Turns
from katz_env.katzenjammer import engine


@linked(engine)
def to_act(turns: Turns) -> bool:
    """Whether it is this agent's turn, and a random number is left; if so, `seen` is what its seat sees."""
    table, seen = turns.records[0], turns.seen[0]
    if table.phase == engine.OVER or turns.players[table.turn] != turns.me or turns.used[0] == turns.draws.shape[0]:
        return False
    turns.seen[0] = turns.records[0]
    engine.redact(seen, table.turn)
    return True


@linked(engine)
def draw(turns: Turns) -> float:
    """The agent's next random number."""
    turns.used[0] += 1
    return turns.draws[turns.used[0] - 1]


@linked(engine)
def move(turns: Turns, action: int) -> None:
    """Play the action of the seat to act; what a step fills is filled."""
    observations, masks, turn, rewards, terminated, scores, final_records = turns.out
    if not masks[0, action]:
        raise ValueError("a compiled agent chose an illegal action")
    turns.earned[turns.records[0].turn] = 0
    turns.actions[0] = action
    engine.step_piece(
        turns.records,
        turns.where,
        turns.actions,
        0,
        1,
        turns.reward,
        False,
        observations,
        masks,
        turn,
        rewards,
        terminated,
        scores,
        final_records,
    )
    turns.earned[:] += rewards[0]
