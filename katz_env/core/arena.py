"""Arena: tables whose seats are played by agents, except the seats left open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from katz_env.core.agents import Agent, make_agent
from katz_env.core.compiled import DRAWS, CompiledAgents
from katz_env.core.game import check_integer
from katz_env.core.shares import first_illegal
from katz_env.core.tables import Tables

OPEN = -1
"""In a seating: nobody's seat, whoever uses the arena decides there."""

Seating = Callable[[np.random.Generator, int], NDArray[np.int64]]
"""``seating(rng, k)`` says for k new games who sits where: ``(k, n)`` indices of agents, or `OPEN`."""


@dataclass(frozen=True)
class FixedSeating:
    """The same seating for every game: an agent's index, or `OPEN`, for each seat."""

    players: tuple[int, ...]

    def __call__(self, rng: np.random.Generator, k: int) -> NDArray[np.int64]:
        """The seating of k games."""
        del rng  # nothing is drawn
        return np.tile(np.asarray(self.players, np.int64), (k, 1))


@dataclass(frozen=True)
class OneOpenSeat:
    """One open seat, drawn for every game if `seat` is None; agents 0, 1, ... sit clockwise from its left neighbour.

    With fewer agents than other seats the last agent takes the rest.
    """

    num_players: int
    num_agents: int
    seat: int | None

    def __call__(self, rng: np.random.Generator, k: int) -> NDArray[np.int64]:
        """The seating of k games."""
        open_seats = rng.integers(self.num_players, size=k) if self.seat is None else np.full(k, self.seat)
        players = (np.arange(self.num_players) - open_seats[:, None]) % self.num_players - 1
        return np.minimum(players, self.num_agents - 1)


Opponents = str | Agent | Sequence[str | Agent]


def one_open_seat(num_players: int, opponents: Opponents, seat: int | None) -> tuple[list[Agent], OneOpenSeat]:
    """Agents and a seating with one open seat.

    Parameters
    ----------
    num_players
        How many seats there are.
    opponents
        A name or an agent for all other seats; or one for each, clockwise from the open seat's left neighbour.
    seat
        The open seat; None draws one for every game.

    Raises
    ------
    ValueError
        If an opponent or the seat does not exist, or the number of opponents is wrong.
    """
    if seat is not None:
        check_integer("seat", seat, 0, num_players - 1)
    if not isinstance(opponents, (str, Agent, Sequence)):
        raise ValueError(f"opponents are {opponents!r}; they must be a name, an agent, or a sequence of these")
    alike = isinstance(opponents, (str, Agent))
    listed: Sequence[str | Agent] = [opponents] if isinstance(opponents, (str, Agent)) else opponents
    agents = [make_agent(opponent) for opponent in listed]
    if not alike and len(agents) != num_players - 1:
        raise ValueError(f"there are {len(agents)} opponents; {num_players} players need one for all or {num_players - 1}")
    return agents, OneOpenSeat(num_players, len(agents), seat)


class Arena:
    """Plays the seats of agents until every table waits for an open seat, or is finished.

    Each agent is asked once for all its waiting tables together; at a single table without autoreset those that offer it play
    their turns as compiled code, see `Agent.compiled`. With no open seat an arena is a tournament; with one it is a
    single-player environment. An open seat is paid at its own next turn, or when its game ends.

    Parameters
    ----------
    tables
        The tables. With ``autoreset`` games follow one another; without, every table plays one game.
    agents
        The agents that a seating refers to by index.
    seating
        Who sits where, asked for every new game.
    rng
        For the seating; the agents get generators spawned from it.
    log_moves
        Whether to keep the moves of the games in `moves`.

    Attributes
    ----------
    players : int64 (N, n)
        Who sits where now: an agent's index or `OPEN`.
    rewards : float32 (N, n)
        What each seat has earned since its last move in the game that goes on.
    ended : bool (N,)
        Whether a game ended in the last call of `step`.
    final_rewards : float32 (N, n)
        In a game that ended: what each seat had earned since its last move.
    final_players : int64 (N, n)
        Who sat where in the game that ended.
    moves : list of list of str
        With `log_moves`, the names of the moves of each table's current game (of its only game without autoreset).
    """

    def __init__(
        self,
        tables: Tables,
        agents: Sequence[Agent],
        seating: Seating,
        rng: np.random.Generator,
        *,
        log_moves: bool = False,
    ) -> None:
        self.tables, self.agents, self.seating = tables, list(agents), seating
        n, size = tables.game.num_players, tables.num_tables
        self.players = np.full((size, n), OPEN)
        self.rewards = np.zeros((size, n), np.float32)
        self.ended = np.zeros(size, np.bool_)
        self.final_rewards = np.zeros((size, n), np.float32)
        self.final_players = np.full((size, n), OPEN)
        self._everyone, self._nobody = np.arange(size), np.zeros(size, np.bool_)
        self.log_moves = log_moves
        self.moves: list[list[str]] = [[] for _ in range(size)]
        self._draws, self._used = np.zeros((len(self.agents), DRAWS)), np.zeros((len(self.agents), 1), np.int64)
        self._compiled: CompiledAgents | None = None
        self.seed(rng)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the compiled agents, which hold the arrays of this arena and not those of a copy."""
        return self.__dict__ | {"_compiled": None}

    def seed(self, rng: np.random.Generator) -> None:
        """Start the seating's and the agents' generators anew."""
        # Seeded by drawn numbers: a spawned generator would tell its agent the seed it stems from, maybe that of the decks.
        seeds = rng.integers(0, 2**63, (1 + len(self.agents), 4))
        self._rng, *self._agent_rngs = (np.random.default_rng(seed) for seed in seeds)
        self._used[:] = DRAWS

    def start(self, where: NDArray[np.int64] | None = None) -> None:
        """Seat the players at newly dealt tables (all, or those given) and play until open seats must decide."""
        where = self._everyone if where is None else where
        self.ended[where] = False
        self._seat(where)
        if self._single:
            self._advance_single()
        else:
            self._advance(where)

    def step(self, actions: NDArray[Any], where: NDArray[np.int64] | None = None) -> None:
        """Play the actions ``(k,)`` of open seats, then the agents until open seats must decide again.

        Parameters
        ----------
        actions
            An action id for each table.
        where
            ``(k,)`` tables; None for all.

        Raises
        ------
        ValueError
            If an action is illegal; no table is changed.
        """
        where = self._everyone if where is None else where
        self.ended[where] = False
        checked = self.tables.checked_actions(actions, len(where))
        if self._single:
            seat = self.tables.turn[0]
            self.tables.step_at(where, checked)
            self.rewards[0, seat] = 0
            self.rewards[0] += self.tables.rewards[0]
            self._advance_single()
        else:
            self._move(where, checked, self.tables.turn[where])
            self._advance(where)

    @property
    def _single(self) -> bool:
        return len(self._everyone) == 1 and not self.tables.autoreset and not self.log_moves

    def _advance_single(self) -> None:
        """`_advance` for one table: agents that are compiled play without coming back for every move."""
        tables, players, where = self.tables, self.players[0], self._everyone
        if self._compiled is None:
            self._compiled = CompiledAgents(tables, self.agents, players, self.rewards[0], self._draws, self._used)
        while not tables.terminated[0] and (player := int(players[tables.turn[0]])) != OPEN:
            if not self._compiled.play(player, self._agent_rngs[player]):
                self._move(where, self._answer(player, where), tables.turn[where])
        if tables.terminated[0]:
            self._note_ended(where)

    def _seat(self, where: NDArray[np.int64]) -> None:
        self.players[where] = self.seating(self._rng, len(where))
        self.rewards[where] = 0
        if self.log_moves:
            for i in where:
                self.moves[i] = []

    def _advance(self, where: NDArray[np.int64]) -> None:
        """Let agents play at the tables `where` until all of these wait for an open seat or are finished."""
        tables = self.tables
        while True:
            seats = tables.turn[where]
            waiting = self.players[where, seats] != OPEN
            if not tables.autoreset:
                waiting &= ~tables.terminated[where]
            where, seats = where[waiting], seats[waiting]
            if not len(where):
                return
            self._move(where, self._ask(where, seats), seats)

    def _ask(self, where: NDArray[np.int64], seats: NDArray[np.int8]) -> NDArray[np.int64]:
        """The actions that the agents choose at the tables `where`."""
        if len(where) == 1:  # one table alone: the arrays of the general way cost more than most agents
            return self._answer(int(self.players[where[0], seats[0]]), where)
        players = self.players[where, seats]
        actions = np.empty(len(where), np.int64)
        for player in np.unique(players):
            mine = np.flatnonzero(players == player)
            actions[mine] = self._answer(player, where[mine])
        return actions

    def _answer(self, player: int, where: NDArray[np.int64]) -> NDArray[np.int64]:
        """The actions that one agent chooses at the tables `where`, or ValueError if they are not legal ones."""
        agent, view = self.agents[player], self.tables.view(where, self._agent_rngs[player])
        chosen = np.asarray(agent.act(view))
        if chosen.shape != where.shape or chosen.dtype.kind not in "iu":
            raise ValueError(f"{agent!r} answered {chosen.dtype} {chosen.shape}; {len(where)} action ids were asked for")
        chosen = np.ascontiguousarray(chosen, np.int64)
        wrong = first_illegal(self._everyone[: len(where)], chosen, view.action_masks, self._nobody)
        if wrong >= 0:
            raise ValueError(f"{agent!r} chose the illegal action {chosen[wrong]}")
        return chosen

    def _move(self, where: NDArray[np.int64], actions: NDArray[np.int64], seats: NDArray[np.int8]) -> None:
        tables = self.tables
        if self.log_moves:  # before the step: a payment's name depends on the bid that it pays
            names = [tables.game.action_name(tables.records[i], int(a)) for i, a in zip(where, actions, strict=True)]
        tables.step_at(where, actions)
        if self.log_moves:
            for i, name in zip(where, names, strict=True):
                self.moves[i].append(name)
        self.rewards[where, seats] = 0
        self.rewards[where] += tables.rewards[where]
        ended = where[tables.terminated[where]]
        if len(ended):
            self._note_ended(ended)

    def _note_ended(self, ended: NDArray[np.int64]) -> None:
        """Keep what is to be known of games that ended; with autoreset new players sit down."""
        first = ended[~self.ended[ended]]  # a game that began and ended before an open seat could decide is not reported
        self.ended[first] = True
        self.final_rewards[first] = self.rewards[first]
        self.final_players[first] = self.players[first]
        if self.tables.autoreset:
            self._keep_final(first)
            self._seat(ended)

    def _keep_final(self, where: NDArray[np.int64]) -> None:
        """Copy the ended tables: a table that ends again in the same call overwrites `Tables.final_records`."""
        if not hasattr(self, "final_records"):
            self.final_records = self.tables.final_records.copy()
        self.final_records[where] = self.tables.final_records[where]
