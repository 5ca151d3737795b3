"""Agents that play their turns at a single table as compiled code, without coming back to Python for every move.

A single table asks one agent at a time for one move. To make a `View` of it takes a hundred times longer than a scripted player
thinks, so an agent may offer a compiled function besides, which must play exactly as its `Agent.act`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from katz_env.core.agents import Agent
from katz_env.core.game import compiled_for
from katz_env.core.tables import Tables
from katz_env.core.turns import Turns

DRAWS = 64
"""How many random numbers an agent is given at a time."""


class CompiledAgents:
    """The agents of an arena of one table, as far as they are compiled.

    Parameters
    ----------
    tables
        One table, without autoreset.
    agents
        The agents.
    players, earned
        ``(n,)`` arrays of the arena: who sits where, and what each seat has earned since its last move.
    draws, used
        ``(len(agents), DRAWS)`` and ``(len(agents), 1)``: the random numbers of each agent, and how many of them are used up.
    """

    def __init__(
        self,
        tables: Tables,
        agents: Sequence[Agent],
        players: NDArray[np.int64],
        earned: NDArray[np.float32],
        draws: NDArray[np.float64],
        used: NDArray[np.int64],
    ) -> None:
        records, reward, out = tables.arrays()
        room = tables.game.new_tables(1), np.zeros(1, np.int64), np.zeros(1, np.int64)
        self._used, self._draws = used, draws
        self._plays: list[tuple[Any, Turns, tuple[Any, ...]] | None] = []
        for me, agent in enumerate(agents):
            offered = agent.compiled(tables.game)
            if offered is None:
                self._plays.append(None)
                continue
            function, settings = offered
            seen, where, actions = room
            turns = Turns(records, seen, players, me, draws[me], used[me], earned, where, actions, reward, out)
            self._plays.append((compiled_for(function, turns, *settings), turns, settings))

    def play(self, player: int, rng: np.random.Generator) -> bool:
        """Let an agent play while it is its turn, or at least one move; False if it is not compiled."""
        offered = self._plays[player]
        if offered is None:
            return False
        if self._used[player, 0] == DRAWS:
            self._draws[player] = rng.random(DRAWS)
            self._used[player] = 0
        play, turns, settings = offered
        play(turns, *settings)
        return True
