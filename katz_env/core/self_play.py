"""Tables whose open seats a learner plays, all of them or some: the base of the training environments.

At every table one open seat is to act at a time, and with several open seats the next decision usually belongs to another one.
A step therefore returns its rewards as `Credits`: each names the decision that it pays for. A seat is paid at its own next
turn, or when its game ends, so that no reward reaches another seat.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from katz_env.core.agents import Agent, make_agent
from katz_env.core.arena import OPEN, Arena, FixedSeating, Seating
from katz_env.core.game import Game, Records
from katz_env.core.tables import Tables
from katz_env.core.validation import check_at_least, integer_array, writable

NOT_DEALT, BROKEN_OFF = "no game was dealt", "the game was broken off by an exception"
"""The reasons why nothing but a reset is accepted, for error messages."""

NOBODY = -1
"""In `Finished.culprits`: the game ended by its rules."""


class Credits(NamedTuple):
    """The decisions whose rewards became known in a step, one row each.

    Attributes
    ----------
    tables, seats : int64 (k,)
        The table at which the decision was made, and the seat that made it.
    steps : int64 (k,)
        The number of the step that played it: `SelfPlay.num_steps` before that step.
    rewards : float32 (k,)
        What its seat has earned since.
    done : bool (k,)
        Whether its game is over. If it is not, the seat's next decision is the one that is due now.
    """

    tables: NDArray[np.int64]
    seats: NDArray[np.int64]
    steps: NDArray[np.int64]
    rewards: NDArray[np.float32]
    done: NDArray[np.bool_]

    def by_table(self, num_tables: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return the rewards, float32 ``(N,)``, and which are the last, bool ``(N,)``, of tables with one open seat each."""
        rewards, done = np.zeros(num_tables, np.float32), np.zeros(num_tables, np.bool_)
        rewards[self.tables], done[self.tables] = self.rewards, self.done
        return rewards, done


class Finished(NamedTuple):
    """The games that ended in a step, one row each; ``game.results(records)`` returns their results.

    Attributes
    ----------
    tables : int64 (k,)
        The tables.
    records : structured array (k,)
        The tables as the games ended.
    players : int64 (k, n)
        Who sat where: the index of an agent, or `OPEN`.
    culprits : int64 (k,)
        The seat whose illegal action broke the game off, or `NOBODY`.
    """

    tables: NDArray[np.int64]
    records: Records
    players: NDArray[np.int64]
    culprits: NDArray[np.int64]

    def open_seats(self) -> NDArray[np.int64]:
        """Return the first open seat of each game, int64 ``(k,)``."""
        return np.argmax(self.players == OPEN, axis=1)


class SelfPlay:
    """Many tables at which a learner decides for the open seats, and agents play the others.

    Every step plays one action at every table, for the seat to act there. An exception in the middle of a step, such as an
    agent's error or a KeyboardInterrupt, breaks all games off: then only a `reset` of all tables is accepted.

    Parameters
    ----------
    game
        The game to play.
    num_tables
        The number of tables, N.
    agents, seating
        The agents, by name or as objects, and who sits where: ``seating(rng, k)`` returns int64 ``(k, n)`` for k new games: the
        index of an agent, or `OPEN` (-1), for each seat, with at least one open seat in every game. By default all are open.
    reward, autoreset, num_threads, history
        The settings of `Tables`. Without `autoreset` a table whose game is over ignores its action until it is dealt
        anew.
    illegal_reward
        None: an illegal action is a ValueError that changes nothing. A number: it breaks the game off and is paid so much.

    Attributes
    ----------
    tables : Tables
        The tables.
    arena : Arena
        The tables with their agents.
    num_steps : int
        The number of steps since all tables were dealt anew.
    finished : Finished
        The games that ended in the last step.
    over : bool (N,)
        Without `autoreset`, whether the game of a table is over, so that it must be dealt anew.
    not_in_play : str
        The reason why only a `reset` of all tables is accepted; empty while games are in play.

    Raises
    ------
    ValueError
        If a setting is not one of its possible values.
    """

    def __init__(
        self,
        game: Game,
        num_tables: int,
        *,
        agents: str | Agent | Sequence[str | Agent] = (),
        seating: Seating | None = None,
        reward: str = "win",
        autoreset: bool = True,
        num_threads: int | None = None,
        illegal_reward: float | None = None,
        history: int = 0,
    ) -> None:
        self.tables = Tables(game, num_tables, reward=reward, autoreset=autoreset, num_threads=num_threads, history=history)
        seating = FixedSeating((OPEN,) * game.num_players) if seating is None else seating
        if not callable(seating):
            raise ValueError(f"seating is of type {type(seating).__name__}; it must be a function of a generator and a number")
        listed = [agents] if isinstance(agents, (str, Agent)) else agents
        self.arena = Arena(self.tables, [make_agent(agent) for agent in listed], seating, np.random.default_rng())
        self.illegal_reward = illegal_reward
        self.not_in_play = NOT_DEALT
        self.num_steps = 0
        self.over = np.zeros(num_tables, np.bool_)
        self._last = np.full((num_tables, game.num_players), -1)  # the step of each seat's last decision in the current game
        self.finished = self._no_games()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the state, copying arrays that lie in read-only memory."""
        self.__dict__.update(writable(state))

    def _no_games(self) -> Finished:
        none = np.zeros(0, np.int64)
        return Finished(none, self.tables.records[:0], np.zeros((0, self.game.num_players), np.int64), none)

    @property
    def game(self) -> Game:
        """The game."""
        return self.tables.game

    @property
    def seats(self) -> NDArray[np.int64]:
        """The seat to act at each table, int64 ``(N,)``."""
        return self.tables.turn.astype(np.int64)

    def open_seats(self) -> NDArray[np.int64]:
        """Return the first open seat of each table, int64 ``(N,)``: the only one of environments for one learner."""
        return np.argmax(self.arena.players == OPEN, axis=1)

    @property
    def observations(self) -> NDArray[np.int8]:
        """What the seats to act see, before scaling, int8 ``(N, D)``; the array changes with the next step."""
        return self.tables.observations

    @property
    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions of the seats to act, bool ``(N, A)``; the array changes with the next step."""
        return self.tables.action_masks

    def reset(self, seed: int | None = None, where: ArrayLike | None = None, rng: np.random.Generator | None = None) -> None:
        """Deal new games at all tables, or at some, and let the agents play to the first decisions of open seats.

        Parameters
        ----------
        seed
            Seeds the generators of these tables, of the seating and of the agents; with None they continue their streams.
        where
            The tables: ``(k,)`` distinct indices, or bool ``(N,)``; None for all.
        rng
            Seeds the generators of the seating and of the agents in place of `seed`.

        Raises
        ------
        ValueError
            If the seed or an index is invalid, or a part of the tables is to be dealt and no games are in play.
        """
        indices = self.tables.indices(where)
        if self.not_in_play and len(indices) < len(self.tables):
            raise ValueError(f"{self.not_in_play}: all tables must be dealt anew")
        if seed is not None:
            check_at_least("seed", seed, 0)
            rng = rng or np.random.default_rng(seed)
        if rng is not None:
            self.arena.seed(rng)
        self.not_in_play = BROKEN_OFF  # until all games reach a decision
        if len(indices) == len(self.tables):
            self.num_steps = 0
        self._deal(indices, seed)
        self.not_in_play = ""

    def _deal(self, where: NDArray[np.int64], seed: int | None = None) -> None:
        self._last[where], self.over[where] = -1, False
        self.tables.reset(seed, where)
        self.arena.start(where)
        while not self.tables.autoreset:  # a game that ended before an open seat had a decision is dealt again
            where = where[self.tables.terminated[where]]
            if not len(where):
                return
            self.tables.reset(where=where)
            self.arena.start(where)

    def step(self, actions: ArrayLike) -> Credits:
        """Play an action at every table, then let the agents play until open seats are to act.

        Parameters
        ----------
        actions
            The action ids, integers ``(N,)``.

        Returns
        -------
        Credits
            The rewards that became known.

        Raises
        ------
        ValueError
            If no games are in play, the actions are not N integers, or one is illegal and there is no `illegal_reward`; no
            table is changed.
        """
        if self.not_in_play:
            raise ValueError(f"{self.not_in_play}; call reset()")
        tables, arena, seats = self.tables, self.arena, self.seats
        actions = integer_array(actions, "actions", len(tables))
        where = np.flatnonzero(~self.over)
        actions = actions[where]
        legal = tables.are_legal(actions, where)
        if self.illegal_reward is None and not legal.all():
            raise tables.illegal_action(actions, where, int(np.argmin(legal)))
        self.not_in_play = BROKEN_OFF  # until the step has succeeded
        self._last[where, seats[where]] = self.num_steps
        wrong, where = where[~legal], where[legal]
        broken_off = tables.records[wrong]
        arena.step(actions[legal], None if len(where) == len(tables) else where)
        ended = where[arena.ended[where]]
        records = arena.final_records[ended] if tables.autoreset else tables.records[ended]
        culprits = np.full(len(ended) + len(wrong), NOBODY)
        culprits[len(ended) :] = seats[wrong]
        self.finished = Finished(
            np.concatenate((ended, wrong)),
            np.concatenate((records, broken_off)) if len(wrong) else records,
            np.concatenate((arena.final_players[ended], arena.players[wrong])),
            culprits,
        )
        credits = self._credits(where)
        if not tables.autoreset:
            self.over[self.finished.tables] = True
        elif len(wrong):
            self._deal(wrong)
        self.num_steps += 1
        self.not_in_play = ""
        return credits

    def _credits(self, where: NDArray[np.int64]) -> Credits:
        """Return the rewards of a step at the tables `where`, and of the games that it finished."""
        arena, finished = self.arena, self.finished
        going_on = where[~arena.ended[where]]
        turn = self.seats[going_on]
        again = self._last[going_on, turn] >= 0
        going_on, turn = going_on[again], turn[again]
        rewards, steps = arena.rewards[going_on, turn], self._last[going_on, turn]
        if not len(finished.tables):
            return Credits(going_on, turn, steps, rewards, np.zeros(len(going_on), np.bool_))
        # At the end of a game every open seat that had a decision is paid.
        earned = np.where(
            finished.culprits[:, None] == NOBODY, arena.final_rewards[finished.tables], arena.rewards[finished.tables]
        )
        broken = np.flatnonzero(finished.culprits != NOBODY)
        earned[broken, finished.culprits[broken]] = self.illegal_reward
        last = self._last[finished.tables]
        game, seat = np.nonzero((finished.players == OPEN) & (last >= 0))
        self._last[finished.tables] = -1
        return Credits(
            np.concatenate((going_on, finished.tables[game])),
            np.concatenate((turn, seat)),
            np.concatenate((steps, last[game, seat])),
            np.concatenate((rewards, earned[game, seat])),
            np.concatenate((np.zeros(len(going_on), np.bool_), np.ones(len(game), np.bool_))),
        )

    def results(self, seats: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Return the results of the seats ``(k,)`` in the `finished` games by name, ``(k,)`` each; see `Game.results`."""
        games = np.arange(len(self.finished.tables))
        results = self.game.results_unchecked(self.finished.records)
        return {name: values[games, seats] for name, values in results.items()}

    def get_state(self) -> dict[str, Any]:
        """Return the state of play without agents and seating: copies of arrays, and JSON values."""
        state = {"records": self.tables.records.copy(), "arena": self.arena.get_state()}
        return state | {"last": self._last.copy(), "num_steps": self.num_steps}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on as from `get_state`, with agents and a seating that are as they were.

        Raises
        ------
        ValueError
            If the state is of other tables.
        """
        missing = {"records", "arena", "last", "num_steps"} - set(state if isinstance(state, Mapping) else ())
        if missing:
            raise ValueError(f"the state lacks {', '.join(sorted(missing))}; it must be one from get_state")
        last = np.asarray(state["last"])
        if last.shape != self._last.shape or last.dtype != self._last.dtype:
            raise ValueError(f"last is {last.dtype} {last.shape}; it must be {self._last.dtype} {self._last.shape}")
        check_at_least("num_steps", state["num_steps"], 0)
        self.tables.restore(state["records"])
        self.arena.set_state(state["arena"])
        self._last[:], self.num_steps = last, int(state["num_steps"])
        self.over = self.tables.terminated.copy()
        self.finished, self.not_in_play = self._no_games(), ""
