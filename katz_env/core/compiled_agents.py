"""Agents that play their turns as compiled code, without returning to Python for every move.

Making a `View` of one table takes a hundred times longer than a scripted player takes to decide. So an agent may offer its
decision function as a `Decision`, and this module supplies the loop around it. The decision function receives the table
redacted for its seat, and no other record.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katz_env.core.agents import Agent, Decision, View
from katz_env.core.batch import StepOutputs, first_illegal
from katz_env.core.event_log import Log
from katz_env.core.game import Records
from katz_env.core.jit import cached, compiled, specialised
from katz_env.core.tables import Tables
from katz_env.core.types import Indices, Mask

_DRAWS = 256
"""The number of random numbers that the loop of an agent receives at a time."""

PLAYED, GAME_ENDED, DRAWS_NEEDED, ILLEGAL = -1, -2, -3, -4
"""Result codes of an agent's loop: no table waits for the agent any more; games ended at some of its tables; all random
numbers are used; the agent chose the illegal action ``actions[0]``. A result of at least zero is the index of an illegal
given action."""

_COUNT, _CHOSEN, _GIVEN, _USED, _RESULT = range(5)
"""The indices of `_Turns.state`: the number of waiting tables; the number of those whose action is chosen, or `_UNSORTED`;
whether these actions were given by the caller instead of chosen by the agent; the number of used random numbers; the result
code."""

_UNSORTED = -1
"""In ``state[_CHOSEN]``: the waiting tables must be filtered, since it may no longer be the agent's turn at some of them."""


class CompiledAgent(Agent):
    """An agent that is defined by its `Decision`: a subclass defines `decision`, and `act` follows from it."""

    def act(self, view: View) -> NDArray[np.int64]:
        """Return an action for every table of the view, int64 ``(k,)``.

        Raises
        ------
        ValueError
            If the agent does not play this game.
        """
        decision = self.decision(view.game)
        if decision is None:
            raise ValueError(f"{self.name} does not play {view.game!r}")
        draws = view.rng.random(len(view)) if decision.stochastic else np.zeros(len(view))
        actions = np.empty(len(view), np.int64)
        decide_all = _decide_all(view.game.name, decision.decide)
        decide_all(view.tables, view.seats, view.action_masks, draws, decision.settings, actions)
        return actions


def _name(game: str, decide: Any) -> str:
    return f"{game}.{decide.__module__}.{decide.__name__}"


@functools.cache
def _decide_all(game: str, decide: Callable[..., int]) -> Any:
    """Return the compiled loop that decides at all tables of a view."""

    def decide_all(
        tables: Records, seats: Indices, masks: Mask, draws: NDArray[np.float64], settings: Any, actions: Indices
    ) -> None:
        for i in range(len(seats)):
            actions[i] = decide(tables[i], seats[i], masks[i], draws[i], settings)

    return cached(decide_all, name=f"{_name(game, decide)}.decide_all", allocates=True)


class _Turns(NamedTuple):
    """The decision context of one agent: the tables and everything else that its loop works on."""

    records: Records
    """``(N,)``: the tables."""
    seen: Records
    """``(1,)``: scratch memory for a table redacted for the seat to act."""
    mask: NDArray[np.bool_]
    """``(A,)``: scratch memory for its legal actions; whatever the agent does to them, the table's own mask decides."""
    players: NDArray[np.int64]
    """``(N, n)``: who sits where."""
    me: int
    """The index of this agent in `players`."""
    earned: NDArray[np.float32]
    """``(N, n)``: what each seat has earned since its last move."""
    waiting: NDArray[np.int64]
    """``(N,)``: the first entries are the indices of the tables to play at."""
    actions: NDArray[np.int64]
    """``(N,)``: the first entries are the actions chosen at the waiting tables."""
    draws: NDArray[np.float64]
    """Random numbers from the agent's generator, uniform in [0, 1)."""
    state: NDArray[np.int64]
    """``(5,)``: the progress of the loop; see `_COUNT`."""
    reward: int
    """The reward scheme, an index into `katz_env.core.batch.REWARDS`."""
    autoreset: bool
    """Whether a finished game is followed by another one."""
    out: StepOutputs
    """The arrays that a step fills."""
    log: Log | None
    """The event log of the tables, or None."""


@compiled
def _sort_out(turns: _Turns) -> int:
    """Keep only those tables in `waiting` where it is the agent's turn, and return their number."""
    out, count = turns.out, 0
    for k in range(turns.state[_COUNT]):
        i = turns.waiting[k]
        if turns.players[i, out.turn[i]] == turns.me and (turns.autoreset or not out.terminated[i]):
            turns.waiting[count] = i
            count += 1
    return count


@functools.cache
def _loop_of(game: str, step_some: Any, redact: Any, decide: Callable[..., int], stochastic: bool) -> Any:
    """Return the loop of an agent, which plays at its tables until none waits for the agent, or until Python is needed.

    In every round all waiting tables move together, so random numbers are used in the same order as by `Agent.act`.
    """

    @compiled
    def move(turns: _Turns) -> bool:
        """Play the chosen actions at all waiting tables, and return whether a game ended."""
        out, count, waiting, ended = turns.out, turns.state[_COUNT], turns.waiting, False
        for k in range(count):
            turns.earned[waiting[k], out.turn[waiting[k]]] = 0
        step_some(turns.records, waiting, turns.actions, 0, count, turns.reward, turns.autoreset, out, turns.log)
        for k in range(count):
            i = waiting[k]
            for seat in range(out.rewards.shape[1]):
                turns.earned[i, seat] += out.rewards[i, seat]
            ended |= out.terminated[i]
        return ended

    def play_turns(turns: _Turns, settings: Any) -> None:
        state, waiting, out = turns.state, turns.waiting, turns.out
        while True:
            if state[_CHOSEN] == state[_COUNT]:
                illegal = first_illegal(waiting[: state[_COUNT]], turns.actions, out.action_masks, out.terminated)
                if illegal >= 0:
                    turns.actions[0] = turns.actions[illegal]
                    state[_RESULT] = illegal if state[_GIVEN] else ILLEGAL
                    return
                state[_GIVEN], state[_CHOSEN] = 0, _UNSORTED
                if move(turns):
                    state[_RESULT] = GAME_ENDED
                    return
            if state[_CHOSEN] == _UNSORTED:
                state[_COUNT] = _sort_out(turns)
                if state[_COUNT] == 0:
                    state[_RESULT] = PLAYED
                    return
                state[_CHOSEN] = 0
            draw = 0.0
            if stochastic:
                if state[_USED] == turns.draws.shape[0]:
                    state[_RESULT] = DRAWS_NEEDED
                    return
                draw = turns.draws[state[_USED]]
                state[_USED] += 1
            i = waiting[state[_CHOSEN]]
            turns.seen[0] = turns.records[i]
            redact(turns.seen[0], turns.seen[0].turn)
            for action in range(turns.mask.shape[0]):  # Numba would take longer to assign the row as a whole
                turns.mask[action] = out.action_masks[i, action]
            turns.actions[state[_CHOSEN]] = decide(turns.seen[0], turns.seen[0].turn, turns.mask, draw, settings)
            state[_CHOSEN] += 1

    return cached(play_turns, name=f"{_name(game, decide)}.play_turns", allocates=True)


def compiled_agents(
    tables: Tables, agents: Sequence[Agent], players: NDArray[np.int64], earned: NDArray[np.float32]
) -> CompiledAgents | None:
    """Return the agents of an arena as compiled code, or None if the arena must call `Agent.act`.

    All agents must offer a `Decision`, and there must be one agent or one table: several agents at many tables move in
    rounds, for which the arena calls them.

    Parameters
    ----------
    tables, agents
        The tables and agents of the arena.
    players
        int64 ``(N, n)``, the arena's array of who sits where.
    earned
        float32 ``(N, n)``, the arena's array of what each seat has earned since its last move.
    """
    offers = [agent.decision(tables.game) if _decides_as_compiled(agent) else None for agent in agents]
    decisions = [decision for decision in offers if decision is not None]
    if not decisions or len(decisions) < len(agents) or (len(decisions) > 1 and len(tables) > 1):
        return None
    return CompiledAgents(tables, agents, decisions, players, earned)


def _decides_as_compiled(agent: Agent) -> bool:
    """Return whether the agent's `decision` matches its `act`, which a subclass or a caller may have replaced."""
    owner = next(kind for kind in type(agent).__mro__ if "act" in vars(kind) or "decision" in vars(kind))
    return "decision" in vars(owner) and "act" not in vars(agent)


class CompiledAgents:
    """The agents of an arena, all of which offer a `Decision`; see `compiled_agents`."""

    def __init__(
        self,
        tables: Tables,
        agents: Sequence[Agent],
        decisions: Sequence[Decision],
        players: NDArray[np.int64],
        earned: NDArray[np.float32],
    ) -> None:
        self._agents, self._decisions, self._game = agents, decisions, tables.game
        self._loops: list[Any] = []
        records, out, log = tables.arrays()
        size, seen, mask = len(tables), tables.game.new_tables(1), np.zeros(tables.game.num_actions, np.bool_)
        self._waiting, self._actions = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self._turns = []
        for me in range(len(agents)):
            draws, state = np.zeros(_DRAWS), np.zeros(5, np.int64)
            room = self._waiting, self._actions, draws, state
            rules = tables.reward_index, tables.autoreset
            self._turns.append(_Turns(records, seen, mask, players, me, earned, *room, *rules, out, log))
        self.forget_draws()

    def forget_draws(self) -> None:
        """Discard the random numbers drawn ahead, because the agents' generators were seeded again."""
        for turns in self._turns:
            turns.state[_USED] = _DRAWS

    def get_draws(self) -> dict[str, NDArray[np.float64]]:
        """Return the unused random numbers of each agent, by its index."""
        return {str(i): turns.draws[turns.state[_USED] :].copy() for i, turns in enumerate(self._turns)}

    def set_draws(self, draws: Mapping[str, NDArray[np.float64]]) -> None:
        """Continue with the random numbers from `get_draws`; raise ValueError if there are too many."""
        for i, turns in enumerate(self._turns):
            left = np.asarray(draws[str(i)], np.float64)
            if left.ndim != 1 or len(left) > _DRAWS:
                raise ValueError(f"there are {left.shape} random numbers for an agent; there must be at most {_DRAWS}")
            turns.state[_USED] = _DRAWS - len(left)
            turns.draws[_DRAWS - len(left) :] = left

    def give(self, player: int, where: NDArray[np.int64], actions: NDArray[np.int64] | None = None) -> None:
        """Set the tables `where` at which an agent is to play, and optionally the first actions there, both int64 ``(k,)``."""
        size, state = len(where), self._turns[player].state
        self._waiting[:size] = where
        state[_COUNT], state[_CHOSEN], state[_GIVEN] = size, _UNSORTED, actions is not None
        if actions is not None:
            self._actions[:size], state[_CHOSEN] = actions, size

    def play(self, player: int, rng: Callable[[int], np.random.Generator]) -> int:
        """Let an agent play at its tables.

        Parameters
        ----------
        player
            The index of the agent.
        rng
            Returns the generator of an agent by its index.

        Returns
        -------
        int
            `PLAYED`, `GAME_ENDED`, or the index of an illegal given action.

        Raises
        ------
        ValueError
            If the agent chose an illegal action.
        """
        if not self._loops:
            for decision, turns in zip(self._decisions, self._turns, strict=True):
                game = self._game
                loop = _loop_of(game.name, game.loops.step_some, game.functions.redact, decision.decide, decision.stochastic)
                self._loops.append(specialised(loop, turns, decision.settings))
        loop, turns, settings = self._loops[player], self._turns[player], self._decisions[player].settings
        loop(turns, settings)
        while (result := turns.state.item(_RESULT)) == DRAWS_NEEDED:
            turns.draws[:], turns.state[_USED] = rng(player).random(_DRAWS), 0
            loop(turns, settings)
        if result == ILLEGAL:
            raise ValueError(f"{self._agents[player]!r} chose the illegal action {self._actions[0]}")
        return result

    def moved(self, player: int) -> NDArray[np.int64]:
        """Return the indices of the tables at which the last moves were made; call it after `GAME_ENDED`."""
        return self._waiting[: self._turns[player].state[_COUNT]].copy()
