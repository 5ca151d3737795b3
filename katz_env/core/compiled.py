"""Agents that play their turns as compiled code, without coming back to Python for every move.

To make a `View` of one table takes a hundred times longer than a scripted player thinks, so an agent may offer a compiled
function besides, which must play exactly as its `Agent.act`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from katz_env.core.agents import Agent, PlayTurns
from katz_env.core.game import compiled_for
from katz_env.core.tables import Tables
from katz_env.core.turns import CHOSEN, COUNT, DRAWS_NEEDED, GIVEN, NOT_LOOKED, RESULT, USED, WRONG, Turns

_DRAWS = 256
"""How many random numbers an agent is given at a time."""


def compiled_agents(
    tables: Tables, agents: Sequence[Agent], players: NDArray[np.int64], earned: NDArray[np.float32]
) -> CompiledAgents | None:
    """The agents of an arena as compiled code, or None if they must be asked.

    Where several agents sit at many tables, each is asked in every round; one agent, or one table, is played without rounds.

    Parameters
    ----------
    tables, agents
        Those of the arena.
    players, earned
        ``(N, n)`` arrays of the arena: who sits where, and what each seat has earned since its last move.
    """
    offers = [agent.compiled(tables.game) if _plays_as_compiled(agent) else None for agent in agents]
    plays = [play for play in offers if play is not None]
    if not plays or len(plays) < len(agents) or (len(plays) > 1 and len(tables) > 1):
        return None
    return CompiledAgents(tables, agents, plays, players, earned)


def _plays_as_compiled(agent: Agent) -> bool:
    """Whether `Agent.compiled` belongs to the agent's `act`, which a subclass or a caller may have replaced."""
    owner = next(kind for kind in type(agent).__mro__ if "act" in vars(kind) or "compiled" in vars(kind))
    return "compiled" in vars(owner) and "act" not in vars(agent)


class CompiledAgents:
    """The agents of an arena, all of which offer a compiled function; see `compiled_agents`."""

    def __init__(
        self,
        tables: Tables,
        agents: Sequence[Agent],
        plays: Sequence[PlayTurns],
        players: NDArray[np.int64],
        earned: NDArray[np.float32],
    ) -> None:
        self._agents, self._plays = agents, plays
        self._functions: list[Any] = []
        records, reward, out = tables.arrays()
        size, seen = len(tables), tables.game.new_tables(1)
        self._waiting, self._actions = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self._turns = []
        for me in range(len(agents)):
            draws, state = np.zeros(_DRAWS), np.zeros(5, np.int64)
            room = self._waiting, self._actions, draws, state
            self._turns.append(Turns(records, seen, players, me, earned, *room, reward, tables.autoreset, out))
        self.forget_draws()

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the compiled functions, which a copy looks up for itself."""
        return self.__dict__ | {"_functions": []}

    def forget_draws(self) -> None:
        """Draw anew from now on."""
        for turns in self._turns:
            turns.state[USED] = _DRAWS

    def give(self, player: int, where: NDArray[np.int64], actions: NDArray[np.int64] | None = None) -> None:
        """Give an agent tables to play at, and the moves to make there first."""
        size, state = len(where), self._turns[player].state
        self._waiting[:size] = where
        state[COUNT], state[CHOSEN], state[GIVEN] = size, NOT_LOOKED, actions is not None
        if actions is not None:
            self._actions[:size], state[CHOSEN] = actions, size

    def play(self, player: int, rng: Callable[[int], np.random.Generator]) -> int:
        """Let an agent play at its tables; returns `turns.PLAYED`, `turns.ENDED` or the number of an illegal given action.

        ``rng(player)`` is the agent's generator.
        """
        if not self._functions:
            every = zip(self._plays, self._turns, strict=True)
            self._functions = [compiled_for(function, turns, *settings) for (function, settings), turns in every]
        function, turns, settings = self._functions[player], self._turns[player], self._plays[player][1]
        function(turns, *settings)
        while (result := turns.state.item(RESULT)) == DRAWS_NEEDED:
            turns.draws[:], turns.state[USED] = rng(player).random(_DRAWS), 0
            function(turns, *settings)
        if result == WRONG:
            raise ValueError(f"{self._agents[player]!r} chose the illegal action {self._actions[0]}")
        return result

    def moved(self, player: int) -> NDArray[np.int64]:
        """The tables at which the last moves were made, after `turns.ENDED`."""
        return self._waiting[: self._turns[player].state[COUNT]].copy()
