"""Tables at which agents play all seats except those that are left open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from katz_env.core.agents import Agent, ask, make_agent
from katz_env.core.compiled_agents import GAME_ENDED, compiled_agents
from katz_env.core.rng import one_way_generator
from katz_env.core.tables import Tables
from katz_env.core.validation import check_integer, there_are, writable

OPEN = -1
"""In a seating: an open seat, at which the user of the arena decides."""

Seating = Callable[[np.random.Generator, int], NDArray[np.int64]]
"""``seating(rng, k)`` returns who sits where in k new games: ``(k, n)`` indices of agents, or `OPEN`."""


@dataclass(frozen=True)
class FixedSeating:
    """The same seating in every game: `players` has an agent's index, or `OPEN`, for each seat."""

    players: tuple[int, ...]

    def __call__(self, rng: np.random.Generator, k: int) -> NDArray[np.int64]:
        """Return the seating of k games, int64 ``(k, n)``."""
        del rng  # nothing is drawn
        return np.tile(np.asarray(self.players, np.int64), (k, 1))


@dataclass(frozen=True)
class OneOpenSeat:
    """One open seat, drawn for every game if `seat` is None; agents 0, 1, ... sit clockwise from its left neighbour.

    If there are fewer agents than other seats, the last agent takes the remaining seats.
    """

    num_players: int
    num_agents: int
    seat: int | None

    def __call__(self, rng: np.random.Generator, k: int) -> NDArray[np.int64]:
        """Return the seating of k games, int64 ``(k, n)``."""
        open_seats = rng.integers(self.num_players, size=k) if self.seat is None else np.full(k, self.seat)
        return self._seatings[open_seats]

    @cached_property
    def _seatings(self) -> NDArray[np.int64]:
        """The seating for each possible open seat, int64 ``(n, n)``."""
        seats = np.arange(self.num_players)
        return np.minimum((seats - seats[:, None]) % self.num_players - 1, self.num_agents - 1)


Opponents = str | Agent | Sequence[str | Agent]


def one_open_seat(num_players: int, opponents: Opponents, seat: int | None) -> tuple[list[Agent], OneOpenSeat]:
    """Return agents and a seating with one open seat.

    Parameters
    ----------
    num_players
        The number of seats at a table.
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
        raise ValueError(f"opponents are {opponents!r}; they must be a name, an Agent object, or a sequence of these")
    alike = isinstance(opponents, (str, Agent))
    listed: Sequence[str | Agent] = [opponents] if isinstance(opponents, (str, Agent)) else opponents
    agents = [make_agent(opponent) for opponent in listed]
    if not alike and len(agents) != num_players - 1:
        found = there_are(len(agents), "opponent")
        raise ValueError(f"{found}; {num_players} players need one for all or {num_players - 1}")
    return agents, OneOpenSeat(num_players, len(agents), seat)


class Arena:
    """Tables at which agents play their seats until every table waits for an open seat or is finished.

    An agent whose decision is compiled (see `Agent.decision`) plays without Python; any other agent decides for all its waiting
    tables in one call. An arena without an open seat is a tournament; with one open seat it is a single-player environment. The
    rewards of an open seat accumulate until its own next turn, or until its game ends.

    Parameters
    ----------
    tables
        The tables. With ``autoreset`` games follow one another; without it every table plays one game.
    agents
        The agents that a seating refers to by index.
    seating
        Decides who sits where in every new game.
    rng
        Draws the seatings and the seeds of the agents' generators, which do not lead back to it; see
        `katz_env.core.rng.one_way_generator`.
    log_moves
        Whether to keep the names of the moves in `moves`.

    Attributes
    ----------
    players : int64 (N, n)
        Who sits where now: an agent's index, or `OPEN`.
    rewards : float32 (N, n)
        What each seat has earned since its last move in the current game.
    ended : bool (N,)
        Whether a game ended in the last call of `step`.
    final_rewards : float32 (N, n)
        What each seat of the ended game had earned since its last move.
    final_players : int64 (N, n)
        Who sat where in the ended game.
    final_records : structured array (N,)
        The table of the ended game as it ended; only with autoreset.
    moves : list of list of str
        With `log_moves`, the names of the moves of each table's current game; without autoreset, of its only game.
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
        self._everyone = np.arange(size)
        self.final_records = tables.final_records.copy()
        self.log_moves = log_moves
        self.moves: list[list[str]] = [[] for _ in range(size)]
        self._compiled = None if log_moves else compiled_agents(tables, self.agents, self.players, self.rewards)
        self.seed(rng)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the compiled agents, which a copy makes for its own arrays, but their random numbers."""
        return self.__dict__ | {"_compiled": None if self._compiled is None else self._compiled.get_draws()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the state, copying arrays that lie in read-only memory, and make the compiled agents."""
        self.__dict__.update(writable(state))
        if state["_compiled"] is not None:
            self._compiled = compiled_agents(self.tables, self.agents, self.players, self.rewards)
            assert self._compiled is not None
            self._compiled.set_draws(state["_compiled"])

    def seed(self, rng: np.random.Generator) -> None:
        """Seed the generators of the seating and of the agents from `rng`."""
        self._seeds = rng.integers(0, 2**63, (1 + len(self.agents), 4))
        self._rngs: dict[int, np.random.Generator] = {}
        if self._compiled is not None:
            self._compiled.forget_draws()

    def _rng(self, player: int) -> np.random.Generator:
        """Return the generator of an agent, or of the seating (`OPEN`); it is made on first use, since that takes time."""
        if player not in self._rngs:
            seeds = self._seeds[1 + player]
            # An agent must not find out the seed of the deals from its generator.
            rng = np.random.default_rng(seeds.view(np.uint32)) if player == OPEN else one_way_generator("agent", *seeds)
            self._rngs[player] = rng
        return self._rngs[player]

    def get_state(self) -> dict[str, Any]:
        """Return the state of play without tables, agents and seating: copies of arrays, and JSON values."""
        return {
            "players": self.players.copy(),
            "rewards": self.rewards.copy(),
            "seeds": self._seeds.copy(),
            "generators": {str(player): rng.bit_generator.state for player, rng in self._rngs.items()},
            "draws": {} if self._compiled is None else self._compiled.get_draws(),
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on as from `get_state`, with agents and a seating that are as they were; the tables are restored beside.

        Raises
        ------
        ValueError
            If the state is of another arena, or an agent does not exist.
        """
        players, rewards, seeds = (np.asarray(state[name]) for name in ("players", "rewards", "seeds"))
        for name, mine, given in (
            ("players", self.players, players),
            ("rewards", self.rewards, rewards),
            ("seeds", self._seeds, seeds),
        ):
            if given.shape != mine.shape or given.dtype != mine.dtype:
                raise ValueError(f"{name} are {given.dtype} {given.shape}; they must be {mine.dtype} {mine.shape}")
        if not ((players >= OPEN) & (players < len(self.agents))).all():
            raise ValueError(f"players must be from {OPEN} to {len(self.agents) - 1}")
        self.seed(np.random.default_rng(0))
        self.players[:], self.rewards[:], self._seeds[:] = players, rewards, seeds
        for player, generator in state["generators"].items():
            check_integer("player", int(player), OPEN, len(self.agents) - 1)
            self._rng(int(player)).bit_generator.state = generator
        if self._compiled is not None:
            self._compiled.set_draws(state["draws"])

    def start(self, where: NDArray[np.int64] | None = None) -> None:
        """Seat the agents at newly dealt tables, all or those `where` says, and play until the open seats must decide."""
        where = self._everyone if where is None else self.tables.indices(where)
        self.ended[where] = False
        self._seat(where)
        if self._compiled is None or not len(where):
            self._advance(where)
        else:
            self._play(where, None)

    def step(self, actions: NDArray[Any], where: NDArray[np.int64] | None = None) -> None:
        """Play the actions of the open seats, then let the agents play until the open seats must decide again.

        Parameters
        ----------
        actions
            ``(k,)`` action ids, one for each table.
        where
            ``(k,)`` indices of the tables; None for all.

        Raises
        ------
        ValueError
            If an action is illegal; no table is changed.
        """
        where = self._everyone if where is None else self.tables.indices(where)
        self.ended[where] = False
        checked = self.tables.checked_actions(actions, len(where))
        if self._compiled is None or not len(where):
            self._move(where, checked, self.tables.turn[where])
            self._advance(where)
        else:
            self._play(where, checked)

    def _play(self, where: NDArray[np.int64], actions: NDArray[np.int64] | None) -> None:
        """Do what `_move` (if there are actions) and `_advance` do, with compiled agents."""
        tables, agents, player = self.tables, self._compiled, 0
        assert agents is not None
        agents.give(player, where, actions)
        while True:
            result = agents.play(player, self._rng)
            if result == GAME_ENDED:
                moved = agents.moved(player)
                self._note_ended(moved[tables.terminated[moved]])
            elif actions is not None and result >= 0:
                tables.step_at(where, actions)  # raises the error that names the illegal action
            elif len(self.agents) == 1 or (tables.terminated.item(0) and not tables.autoreset):
                return
            else:  # there is one table, and it may be another agent's turn
                player = self.players.item(tables.turn.item(0))
                if player == OPEN:
                    return
                agents.give(player, where)

    def _seat(self, where: NDArray[np.int64]) -> None:
        self.players[where] = self._checked(self.seating(self._rng(OPEN), len(where)), len(where))
        self.rewards[where] = 0
        if self.log_moves:
            for i in where:
                self.moves[i] = []

    def _checked(self, players: Any, k: int) -> NDArray[np.int64]:
        """Return what a seating says about k games; raise ValueError if it is not an agent's index or `OPEN` for each seat."""
        shape, found = (k, self.tables.game.num_players), np.asarray(players)
        if found.shape != shape or found.dtype.kind not in "iu":
            raise ValueError(f"the seating returned {found.dtype} {found.shape}; it must return integers {shape}")
        if k and not (found.min() >= OPEN and found.max() < len(self.agents)):
            raise ValueError(f"the seating has other numbers than {OPEN}, for an open seat, to {len(self.agents) - 1}")
        return found

    def _advance(self, where: NDArray[np.int64]) -> None:
        """Let the agents play at the tables `where` until each of them waits for an open seat or is finished."""
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
        """Return the actions that the agents choose at the tables `where`, int64 ``(k,)``."""
        if len(where) == 1:  # for one table the arrays of the general case would cost more than most agents
            return self._answer(int(self.players[where[0], seats[0]]), where)
        players = self.players[where, seats]
        actions = np.empty(len(where), np.int64)
        for player in np.unique(players):
            mine = np.flatnonzero(players == player)
            actions[mine] = self._answer(player, where[mine])
        return actions

    def _answer(self, player: int, where: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the actions that one agent chooses at the tables `where`; raise ValueError if they are not legal."""
        return ask(self.agents[player], self.tables.view(where, self._rng(player)))

    def _move(self, where: NDArray[np.int64], actions: NDArray[np.int64], seats: NDArray[np.int8]) -> None:
        tables = self.tables
        if self.log_moves:  # before the step, since the name of a move may depend on the table it is made at
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
        """Keep the results of games that ended; with autoreset, draw the seating of the next games."""
        first = ended[~self.ended[ended]]  # a second game that began and ended within this call is not reported
        self.ended[first] = True
        self.final_rewards[first] = self.rewards[first]
        self.final_players[first] = self.players[first]
        if self.tables.autoreset:
            self._keep_final(first)
            self._seat(ended)

    def _keep_final(self, where: NDArray[np.int64]) -> None:
        """Copy the ended tables, since a table that ends again in the same call overwrites `Tables.final_records`."""
        self.final_records[where] = self.tables.final_records[where]
