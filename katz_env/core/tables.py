"""Many tables of one game that are dealt, stepped, observed, copied and restored together."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from katz_env.core import event_log
from katz_env.core.agents import View
from katz_env.core.batch import REWARDS, StepOutputs, first_illegal
from katz_env.core.fields import named_fields
from katz_env.core.game import Game, Records
from katz_env.core.jit import COMPILED, specialised
from katz_env.core.rng import table_seeds
from katz_env.core.thread_pool import MAX_THREADS, available_cores, run_chunks
from katz_env.core.validation import check_at_least, check_boolean, check_integer, check_range, integer_array

_TABLES_PER_THREAD = 1024
"""The fewest tables per thread: with fewer, waking a thread costs more than it saves."""

_KEPT_EVENTS = 1024
"""With a history, so many earlier events are kept beyond its length: more than a whole game of the games here has."""

MAX_HISTORY = 10_000
"""The most events of earlier steps that tables can keep; a game has fewer."""

_SETTINGS = ("game", "num_tables", "reward", "reward_index", "autoreset", "num_threads", "history_length")


class Tables:
    """Many tables of one game.

    The arrays are allocated once, reused by every call, and read-only; copy what you want to keep. Table i depends only on
    ``(seed, i)`` and its moves, whatever the number of tables and threads.

    Parameters
    ----------
    game
        The game to play, such as ``Katzenjammer(num_players=4)``.
    num_tables
        The number of tables, N.
    seed
        The seed of the tables' generators; with None they are seeded by the operating system.
    reward
        The reward scheme: ``"win"`` (1 split among the winners minus 1/n for everybody) or ``"score"``.
    autoreset
        Whether a table whose game ends is dealt anew in the same step.
    num_threads
        The number of threads that share the tables of a step; None for as many as `available_cores` grants.
    events
        Whether to log the events that the method `events` returns.
    history
        The number of events of earlier steps that are kept as well, at least; anything above 0 includes `events`.

    Attributes
    ----------
    records : structured array (N,)
        The tables, described in ``rules.py`` of the game; `restore` writes them.
    observations : int8 (N, D)
        What the seat to act sees, before scaling; `named_observations` returns the fields by name.
    action_masks : bool (N, A)
        The legal actions of the seat to act; all False at a finished table.
    turn : int8 (N,)
        The seat to act.
    rewards : float32 (N, n)
        The rewards of the last step.
    terminated : bool (N,)
        Whether a game ended in the last step, or had ended before and was not dealt anew.
    scores : int16 (N, n)
        The final scores of terminated games, zero elsewhere.
    final_records : structured array (N,)
        The last finished game of each table, as it ended.

    Raises
    ------
    ValueError
        If a setting is out of its range.
    """

    def __init__(
        self,
        game: Game,
        num_tables: int = 1,
        seed: int | None = None,
        *,
        reward: str = "win",
        autoreset: bool = True,
        num_threads: int | None = None,
        events: bool = False,
        history: int = 0,
    ) -> None:
        if not isinstance(game, Game):
            raise ValueError(f"game is {game!r}; it must be a game such as Katzenjammer(num_players=3)")
        check_at_least("num_tables", num_tables, 1)
        check_integer("history", history, 0, MAX_HISTORY)
        check_boolean("autoreset", autoreset)
        check_boolean("events", events)
        if num_threads is not None:
            check_integer("num_threads", num_threads, 1, MAX_THREADS)
        if reward not in REWARDS:
            raise ValueError(f"reward is {reward!r}; it must be one of {', '.join(map(repr, REWARDS))}")
        self.game, self.num_tables, self.reward, self.autoreset = game, int(num_tables), reward, bool(autoreset)
        self.num_threads, self.history_length = int(num_threads or available_cores()), int(history)
        self._all = np.arange(num_tables)
        self._records = game.new_tables(num_tables)
        self._out = game.new_outputs(num_tables)
        room = 2 * game.max_events + (history + _KEPT_EVENTS) * bool(history)
        logged = events or history
        self._log = event_log.new_log(num_tables, room, game.event_cards, game.num_players) if logged else None
        self._make_views()
        self.reset(seed=secrets.randbits(63) if seed is None else seed)

    def _make_views(self) -> None:
        """Make the attributes that are not copied or pickled: the read-only views, the lock and the compiled loops."""
        self._lock = RLock()  # reentrant, so that a lock which an interrupt left locked does not keep its own thread out
        self._compiled: dict[str, Any] = {}  # the loops compiled for the types of these arrays, by name
        self.reward_index = REWARDS.index(self.reward)
        self._step_settings = self.reward_index, self.autoreset, self._out, self._log
        shared = COMPILED and self.num_threads > 1
        self._fewest_shared = 2 * _TABLES_PER_THREAD if shared else self.num_tables + 1
        out = StepOutputs._make(array.view() for array in self._out)
        self.records: Records = self._records.view()
        for view in (self.records, *out):
            view.flags.writeable = False
        self.observations, self.action_masks, self.turn = out.observations, out.action_masks, out.turn
        self.rewards, self.terminated, self.scores = out.rewards, out.terminated, out.scores
        self.final_records: Records = out.final_records

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without what `_make_views` makes."""
        kept = {name: value for name, value in self.__dict__.items() if name.startswith("_") or name in _SETTINGS}
        return {name: value for name, value in kept.items() if name not in ("_lock", "_compiled", "_step_settings")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the state, copying arrays that lie in read-only memory, and make the rest."""
        self.__dict__.update(state)
        self._records, self._all = np.require(self._records, requirements="W"), np.require(self._all, requirements="W")
        self._out = StepOutputs._make(np.require(array, requirements="W") for array in self._out)
        if self._log is not None:
            self._log = event_log.Log._make(np.require(array, requirements="W") for array in self._log)
        self._make_views()

    # --- dealing

    def reset(self, seed: int | None = None, where: ArrayLike | None = None) -> None:
        """Deal a new random game at every table, or at some.

        Parameters
        ----------
        seed
            Seeds the generators of these tables; with None they continue their streams.
        where
            The tables: ``(k,)`` distinct indices, or bool ``(N,)``; None for all.

        Raises
        ------
        ValueError
            If the seed or an index is invalid; no table is changed.
        """
        indices = self.indices(where)
        states = None if seed is None else table_seeds(seed, self.num_tables)[indices]
        with self._lock_held():
            if states is not None:
                self._records["rng"][indices] = states
            self.deal_vectors(where=indices)

    def deal(
        self, deals: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None, where: ArrayLike | None = None
    ) -> None:
        """Deal new games at all tables, or at some.

        A random deal whose game ends before its first decision (possible with small decks only) is dealt again. A deal that is
        given whole is played as it is, and a game that ends at once counts as terminated.

        Parameters
        ----------
        deals
            What chance decides: a mapping with the keys of the game's records, such as ``{"deck": "31J...", "bandleader":
            0}``, for all tables, or a sequence of k such mappings. What is left out is drawn; None draws everything.
        where
            The tables: ``(k,)`` distinct indices, or bool ``(N,)``; None for all.

        Raises
        ------
        ValueError
            If a deal or an index is invalid; no table is changed.
        """
        indices = self.indices(where)
        if deals is None or isinstance(deals, Mapping):
            rows = [deals] * len(indices)
        elif isinstance(deals, Sequence):
            rows = list(deals)
        else:
            raise ValueError(f"deals are {deals!r}; they must be a mapping, a sequence of mappings, or None")
        if len(rows) != len(indices):
            raise ValueError(f"there are {len(rows)} deals for {len(indices)} tables")
        vectors = np.full((len(rows), self._records["deal"].shape[1]), -1, np.int8)
        seats = np.full(len(rows), -1, np.int8)
        for k, row in enumerate(rows):
            vector, seat = self.game.given_deal({} if row is None else row)
            vectors[k] = -1 if vector is None else vector
            seats[k] = -1 if seat is None else seat
        self.deal_vectors(vectors, seats, indices)

    def deal_vectors(
        self,
        deals: NDArray[np.int8] | None = None,
        first_seats: NDArray[np.int8] | None = None,
        where: NDArray[np.int64] | None = None,
    ) -> None:
        """Deal new games from arrays: a faster `deal` for many deals.

        Parameters
        ----------
        deals
            The values of the field ``deal``, int8 ``(k, size)``. Negative values are drawn; None draws all.
        first_seats
            The first seats, int8 ``(k,)``. Where it is -1 the first seat is drawn; None draws all.
        where
            The tables, ``(k,)`` distinct indices; None for all.

        Raises
        ------
        ValueError
            If an array has another dtype or shape, a deal is impossible, or an index or seat does not exist. No table is
            changed.
        """
        indices = self.indices(where)
        size = len(indices)
        if deals is None:
            deals = np.full((size, self._records["deal"].shape[1]), -1, np.int8)
        else:
            deals = _int8_array(deals, "deals", (size, self._records["deal"].shape[1]))
            self.game.check_deals(deals)
        if first_seats is None:
            first_seats = np.full(size, -1, np.int8)
        else:
            first_seats = _int8_array(first_seats, "first_seats", (size,))
            check_range("seat", first_seats.astype(np.int64), -1, self.game.num_players - 1)
        with self._lock_held():
            self._run("deal", self._records, indices, deals, first_seats, self.game.num_players, self._log)
            self._refresh(indices)

    def _refresh(self, indices: NDArray[np.int64]) -> None:
        """Fill the outputs of tables that were dealt or restored."""
        self._run("refresh", self._records, indices, self.reward_index, self._out)

    def _run(self, loop: str, *arguments: Any) -> Any:
        """Call a loop of the game; the types of its arguments must never change."""
        return (self._compiled.get(loop) or self._specialised(loop, *arguments))(*arguments)

    def _specialised(self, loop: str, *arguments: Any) -> Any:
        self._compiled[loop] = specialised(getattr(self.game.loops, loop), *arguments)
        return self._compiled[loop]

    def restore(self, records: Records, where: ArrayLike | None = None) -> None:
        """Put copies of records back; from there, the same actions lead to the same games.

        Parameters
        ----------
        records
            ``(k,)``: records of this game.
        where
            The tables: ``(k,)`` distinct indices, or bool ``(N,)``; None for all.

        Raises
        ------
        ValueError
            If a record is not a possible table of these rules; no table is changed.
        """
        indices = self.indices(where)
        if isinstance(records, np.generic):  # one record
            records = np.atleast_1d(records)
        if isinstance(records, np.ndarray) and records.ndim == 1 and len(records) != len(indices):
            raise ValueError(f"there are {len(records)} records for {len(indices)} tables")
        checked = self.game.check(records)
        with self._lock_held():
            self._records[indices] = checked
            if self._log is not None:
                self._log.before[indices] += self._log.counts[indices]
                self._log.counts[indices] = 0
                self._log.game_start[indices] = self._log.decided[indices] = self._log.before[indices]
            self._refresh(indices)

    # --- playing

    def step(self, actions: ArrayLike, where: NDArray[np.int64] | None = None) -> None:
        """Play one move at every table, or at some.

        All actions are checked before any table moves. Afterwards `rewards`, `terminated` and `scores` describe the games
        that ended in this step. With `autoreset`, the other arrays already describe the next game, and `final_records` holds
        the ended table. Without it, a finished table stays as it is and ignores its action.

        Parameters
        ----------
        actions
            The action ids, integers ``(k,)``.
        where
            The tables, ``(k,)`` distinct indices; None for all. The rows of other tables stay unchanged.

        Raises
        ------
        ValueError
            If an action is illegal at its table; no table is changed.
        RuntimeError
            If another thread is stepping, dealing or restoring these tables.

        Notes
        -----
        `step` returns or raises only when no thread works on the tables any more. After an exception from outside, such as
        KeyboardInterrupt, each table has either made its move, and its rows are filled, or is unchanged. All tables are
        consistent, and play can continue with the legal actions of `action_masks`.
        """
        indices = self._all if where is None else self.indices(where)
        self.step_at(indices, integer_array(actions, "actions", len(indices)))

    def step_at(self, indices: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Do what `step` does, for callers that guarantee contiguous int64 ``(k,)`` arrays and distinct `indices`.

        Only the legality of the actions is checked: an index out of range corrupts memory.
        """
        size, records, settings = len(indices), self._records, self._step_settings
        step = self._compiled.get("step") or self._specialised("step", records, indices, actions, 0, size, False, *settings)
        if not self._lock.acquire(False):
            raise RuntimeError(_BUSY)
        try:
            if size < self._fewest_shared:
                illegal = step(records, indices, actions, 0, size, False, *settings)
            else:
                illegal = self._step_shared(step, indices, actions)
        finally:
            self._lock.release()
        if illegal >= 0:
            raise self.illegal_action(actions, indices, illegal)

    def _step_shared(self, step: Any, indices: NDArray[np.int64], actions: NDArray[np.int64]) -> int:
        """Do what `step_at` does with several threads and without the lock; return the index k of an illegal action, or -1."""
        records, settings, size = self._records, self._step_settings, len(indices)
        illegal = first_illegal(indices, actions, self._out.action_masks, self._out.terminated)
        if illegal < 0:
            threads = min(self.num_threads, size // _TABLES_PER_THREAD)
            bounds = [size * part // threads for part in range(threads + 1)]

            def step_chunk(start: int, stop: int) -> None:
                step(records, indices, actions, start, stop, True, *settings)

            run_chunks(step_chunk, list(pairwise(bounds)), threads)
        return int(illegal)

    @contextmanager
    def _lock_held(self) -> Iterator[None]:
        if not self._lock.acquire(False):
            raise RuntimeError(_BUSY)
        try:
            yield
        finally:
            self._lock.release()

    def checked_actions(self, actions: ArrayLike, size: int) -> NDArray[np.int64]:
        """Return actions as `step_at` requires them; raise ValueError if they are not `size` integers."""
        return integer_array(actions, "actions", size)

    def are_legal(self, actions: NDArray[np.int64], indices: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether ``actions[k]`` is legal at the table ``indices[k]``, bool ``(k,)``."""
        possible = (actions >= 0) & (actions < self.game.num_actions)
        legal: NDArray[np.bool_] = possible & self.action_masks[indices, np.where(possible, actions, 0)]
        return legal

    def illegal_action(self, actions: NDArray[np.int64], indices: NDArray[np.int64], k: int) -> ValueError:
        """Return the error about the illegal action ``actions[k]`` at the table ``indices[k]``."""
        table = int(indices[k])
        names = self.game.legal_names(self._records[table], self._out.action_masks[table])
        shown = ", ".join(f"{action} ({name})" for name, action in list(names.items())[:12])
        more = ", ..." if len(names) > 12 else ""
        return ValueError(f"action {actions[k]} is illegal at table {table}; legal are {shown}{more}")

    def arrays(self) -> tuple[Records, StepOutputs, event_log.Log | None]:
        """Return the writable records, outputs and event log (or None), for compiled code that steps the tables itself."""
        return self._records, self._out, self._log

    # --- observing

    def observe(self, seats: ArrayLike) -> NDArray[np.int8]:
        """Return what the given seats see, int8 ``(N, D)``, before scaling.

        Parameters
        ----------
        seats
            One seat for each table, ``(N,)``, or one seat for all.

        Raises
        ------
        ValueError
            If a seat does not exist.
        """
        out = np.empty((self.num_tables, self.game.observation_size), np.int8)
        self._run("observe", self._records, self._seats(seats), out)
        return out

    def state(self, seats: ArrayLike | None = None) -> NDArray[np.int8]:
        """Return the perfect-information state, int8 ``(N, S)``, before scaling.

        Parameters
        ----------
        seats
            The seats from which seats are counted, ``(N,)``, or one for all tables; None for the seats to act.

        Raises
        ------
        ValueError
            If a seat does not exist.
        """
        out = np.empty((self.num_tables, self.game.state_size), np.int8)
        self._run("state", self._records, self._seats(self.turn if seats is None else seats), out)
        return out

    def named_observations(self) -> dict[str, NDArray[np.int8]]:
        """Return views of `observations` by field name, int8 ``(N, *shape)`` each."""
        return named_fields(self.observations, self.game.observation_fields)

    def events(self, table: int = 0, seat: int | None = None, since: str = "step") -> NDArray[Any]:
        """Return what happened at a table, in order, as a seat may know it.

        Parameters
        ----------
        table
            The index of the table.
        seat
            The observing seat; the counts of cards that it did not see are zero. None sees all cards.
        since
            From where on: ``"step"`` is the last step or deal, ``"decision"`` the last decision of `seat` in this game,
            ``"game"`` the beginning of the game. Events of earlier steps need the setting `history`.

        Returns
        -------
        structured array (k,)
            The events; see `katz_env.core.event_log.event_dtype`. ``game.tell`` puts them into words. If a game ended and
            another was dealt in one step, the events of the new deal follow.

        Raises
        ------
        ValueError
            If there is no such table or seat, there were more events than are kept, or the tables were made without
            ``events=True``.
        """
        check_integer("table", table, 0, self.num_tables - 1)
        if seat is not None:
            check_integer("seat", seat, 0, self.game.num_players - 1)
        if self._log is None:
            raise ValueError("these tables log no events; make them with events=True")
        if since not in event_log.SINCE or (since == "decision" and seat is None):
            names = ", ".join(map(repr, event_log.SINCE))
            raise ValueError(f"since is {since!r}; it must be one of {names}, and 'decision' needs a seat")
        return event_log.read(self._log, table, seat, since)

    def history(self, where: NDArray[np.int64], seats: NDArray[np.int64], *, finished: bool = False) -> NDArray[np.float32]:
        """Return the last events at some tables as one seat each sees them, float32 ``(k, history, W)``.

        Parameters
        ----------
        where, seats
            The tables, and the observing seat at each, int64 ``(k,)``.
        finished
            Whether to tell of the last finished game instead of the current one.

        Returns
        -------
        float32 (k, history, W)
            The number of events is the setting `history`; `katz_env.core.event_log.history` says how one is described.

        Raises
        ------
        ValueError
            If a table or seat does not exist, or the tables were made without `history`.
        """
        if self._log is None or not self.history_length:
            raise ValueError("these tables keep no history; make them with history=16, for example")
        check_range("table", where, 0, self.num_tables - 1)
        check_range("seat", seats, 0, self.game.num_players - 1)
        kinds = len(self.game.event_kinds), self.game.num_actions
        return event_log.history(self._log, where, seats, self.history_length, kinds, finished)

    def view(self, where: NDArray[np.int64], rng: np.random.Generator) -> View:
        """Return what the seats to act at the tables `where` ``(k,)`` may know, for an agent with the generator `rng`."""
        seats = self.turn[where].astype(np.int64)
        tables = self._records[where]
        self.game.loops.redact(tables, seats)
        return View.of_whole_arrays(
            game=self.game,
            tables=tables,
            seats=seats,
            observations=self.observations[where],
            action_masks=self.action_masks[where],
            rng=rng,
        )

    def svg(self, table: int = 0, seat: int | None = None, names: Sequence[str] | None = None) -> str:
        """Return a picture of one table as SVG.

        Parameters
        ----------
        table
            The index of the table.
        seat
            The point of view; None shows all hands.
        names
            The names of the seats.

        Raises
        ------
        ValueError
            If there is no such table or seat, or not one name for each seat.
        """
        check_integer("table", table, 0, self.num_tables - 1)
        return self.game.svg(self._records[table], seat, names)

    def _repr_svg_(self) -> str:
        """Return the picture that a notebook shows: the first table, with all hands open."""
        return self.svg()

    def __len__(self) -> int:
        """Return the number of tables."""
        return self.num_tables

    def __repr__(self) -> str:
        """Return the game and the number of tables."""
        return f"Tables({self.game!r}, num_tables={self.num_tables})"

    # --- checks

    def _seats(self, seats: ArrayLike) -> NDArray[np.int64]:
        array = np.asarray(seats)
        array = integer_array(np.full(self.num_tables, array) if array.ndim == 0 else array, "seats", self.num_tables)
        check_range("seat", array, 0, self.game.num_players - 1)
        return array

    def indices(self, where: ArrayLike | None) -> NDArray[np.int64]:
        """Return the indices of tables, int64 ``(k,)``; raise ValueError if one does not exist or occurs twice."""
        if where is None or where is self._all:
            return self._all
        array = np.asarray(where)
        if array.dtype == np.bool_ and array.shape == (self.num_tables,):
            return np.flatnonzero(array)
        array = integer_array(array, "where", array.size)
        check_range("table", array, 0, self.num_tables - 1)
        if len(np.unique(array)) != len(array):
            raise ValueError("where names a table twice")
        return array


_BUSY = "these tables are being stepped by another thread; give each thread tables of its own, or a lock around them"


def _int8_array(values: Any, name: str, shape: tuple[int, ...]) -> NDArray[np.int8]:
    """Return values as a contiguous array; raise ValueError if they are not int8 of this shape."""
    array = np.ascontiguousarray(values)
    if array.dtype != np.int8 or array.shape != shape:
        raise ValueError(f"{name} are {array.dtype} {array.shape}; they must be int8 {shape}")
    return array
