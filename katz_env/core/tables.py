"""Tables: many tables of one game, dealt, stepped, observed, copied and restored together."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import config
from numpy.typing import ArrayLike, NDArray

from katz_env.core import shares
from katz_env.core.agents import View
from katz_env.core.game import Game, Records, check_integer, named
from katz_env.core.seeds import table_seeds
from katz_env.core.team import Team
from katz_env.core.threads import MAX_THREADS, available_cores, crew

_TABLES_PER_THREAD = 256  # below this, waking a thread costs more than it saves
_SETTINGS = ("game", "num_tables", "reward", "autoreset", "num_threads")
_COMPILED = not config.DISABLE_JIT
_INT64 = np.dtype(np.int64)


class Tables:
    """Many tables of one game.

    The arrays are allocated once, reused by every call and read-only; copy what you want to keep. Table i depends on
    ``(seed, i)`` and its moves alone, for any number of tables and threads.

    Parameters
    ----------
    game
        The game, such as ``Katzenjammer(num_players=4)``.
    num_tables
        How many tables, N.
    seed
        Seeds the tables' generators; None draws from the operating system.
    reward
        How games are paid: ``"win"`` (1 split among the winners minus 1/n for everybody) or ``"score"``.
    autoreset
        Whether a table whose game ends is dealt anew in the same step.
    num_threads
        Threads that share the tables of a step; None for all available cores.

    Attributes
    ----------
    records : structured array (N,)
        The tables, described in ``katz_env/katzenjammer/rules.py``. `restore` writes them.
    observations : int8 (N, D)
        What the seat to act sees, as counts; `named_observations` gives the parts by name.
    action_masks : bool (N, A)
        The legal actions of the seat to act; all False at a finished table.
    turn : int8 (N,)
        The seat to act.
    rewards : float32 (N, n)
        The rewards of the last step.
    terminated : bool (N,)
        Whether a game ended in the last step, or had ended before and was not dealt anew.
    scores : int16 (N, n)
        The final scores of these games, zero elsewhere.
    final_records : structured array (N,)
        The last finished game of each table, as it ended.
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
    ) -> None:
        if not isinstance(game, Game):
            raise ValueError(f"game is {game!r}; it must be a game such as Katzenjammer(num_players=3)")
        if isinstance(num_tables, bool) or not isinstance(num_tables, (int, np.integer)) or num_tables < 1:
            raise ValueError(f"num_tables is {num_tables!r}; it must be an integer of at least 1")
        if num_threads is not None:
            check_integer("num_threads", num_threads, 1, MAX_THREADS)
        if reward not in game.reward_kinds:
            raise ValueError(f"reward is {reward!r}; it must be one of {', '.join(map(repr, game.reward_kinds))}")
        self.game, self.num_tables, self.reward, self.autoreset = game, int(num_tables), reward, bool(autoreset)
        self.num_threads = int(num_threads or available_cores())
        self._reward_kind = game.reward_kinds.index(reward)
        self._all = np.arange(num_tables)
        n = game.num_players
        self._records = game.new_tables(num_tables)
        self._out = (
            np.zeros((num_tables, game.observation_size), np.int8),
            np.zeros((num_tables, game.num_actions), np.bool_),
            np.zeros(num_tables, np.int8),
            np.zeros((num_tables, n), np.float32),
            np.zeros(num_tables, np.bool_),
            np.zeros((num_tables, n), np.int16),
            game.new_tables(num_tables),
        )
        self._team: Team | None = None
        self._show()
        self.reset(seed=secrets.randbits(63) if seed is None else seed)

    def _show(self) -> None:
        """Make the public, read-only views of the arrays."""
        views: list[Any] = [array.view() for array in (self._records, *self._out)]
        for view in views:
            view.flags.writeable = False
        self.records: Records = views[0]
        self.observations: NDArray[np.int8] = views[1]
        self.action_masks: NDArray[np.bool_] = views[2]
        self.turn: NDArray[np.int8] = views[3]
        self.rewards: NDArray[np.float32] = views[4]
        self.terminated: NDArray[np.bool_] = views[5]
        self.scores: NDArray[np.int16] = views[6]
        self.final_records: Records = views[7]

    def __getstate__(self) -> dict[str, Any]:
        """The arrays without the views of them, which a copy makes for itself."""
        kept = {name: value for name, value in self.__dict__.items() if name.startswith("_") or name in _SETTINGS}
        return kept | {"_team": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the arrays and make the views."""
        self.__dict__.update(state)
        self._show()

    # --- dealing

    def reset(self, seed: int | None = None, where: ArrayLike | None = None) -> None:
        """Deal a new random game at every table, or at some.

        Parameters
        ----------
        seed
            Starts the generators of these tables anew; None goes on with them.
        where
            ``(k,)`` indices of different tables, or ``(N,)`` bool; None for all.
        """
        indices = self._indices(where)
        if seed is not None:
            self._records["rng"][indices] = table_seeds(seed, self.num_tables)[indices]
        self.deal(where=indices)

    def deal(
        self, decks: ArrayLike | None = None, bandleaders: ArrayLike | None = None, where: ArrayLike | None = None
    ) -> None:
        """Deal new games at some tables.

        A random deal that ends before anybody had a decision (only small decks can) is dealt again; a given deck is played as
        it is, and a table that is finished at once counts as ended.

        Parameters
        ----------
        decks
            ``(k, cards)`` cards by kind or k strings of card characters; None draws them.
        bandleaders
            ``(k,)`` first seats; None draws them.
        where
            ``(k,)`` indices of different tables; None for all.

        Raises
        ------
        ValueError
            If a deck, a seat or an index is wrong; no table is changed.
        """
        indices = self._indices(where)
        parsed = None
        if decks is not None:
            rows: Sequence[Any] = decks if isinstance(decks, (list, tuple)) else np.atleast_1d(decks)  # type: ignore[assignment]
            if len(rows) != len(indices):
                raise ValueError(f"there are {len(rows)} decks for {len(indices)} tables")
            parsed = np.stack([self.game.parse_deck(row) for row in rows]) if len(rows) else None
        seats = None
        if bandleaders is not None:
            given = self._integers(bandleaders, "bandleaders", len(indices))
            self._check_range("bandleader", given, 0, self.game.num_players - 1)
            seats = given.astype(np.int8)
        self.game.deal(self._records, indices, parsed, seats)
        self.game.look(self._records, indices, self._reward_kind, self._out)

    def restore(self, records: Records, where: ArrayLike | None = None) -> None:
        """Put copied records back; play then goes on exactly as it did from them.

        Parameters
        ----------
        records
            ``(k,)`` records of this game.
        where
            ``(k,)`` indices of different tables; None for all.

        Raises
        ------
        ValueError
            If a record is not a possible table of these rules; no table is changed.
        """
        indices = self._indices(where)
        records = np.atleast_1d(records)
        if records.shape != indices.shape:
            raise ValueError(f"there are {len(records)} records for {len(indices)} tables")
        self._records[indices] = self.game.check(records)
        self.game.look(self._records, indices, self._reward_kind, self._out)

    # --- playing

    def step(self, actions: ArrayLike, where: NDArray[np.int64] | None = None) -> None:
        """Play one move at every table, or at some.

        Every action is checked before any table moves. Afterwards `rewards`, `terminated` and `scores` tell of games that
        ended in this step; with `autoreset` everything else is of the new game dealt there, and `final_records` holds the
        ended table. Without, a finished table stays as it is and ignores its action.

        Parameters
        ----------
        actions
            ``(k,)`` action ids.
        where
            ``(k,)`` indices of different tables; None for all. The arrays of other tables stay as they are.

        Raises
        ------
        ValueError
            If an action is illegal at its table; no table is changed.
        """
        indices = self._all if where is None else self._indices(where)
        self.step_at(indices, self._integers(actions, "actions", len(indices)))

    def step_at(self, indices: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """`step` for whoever knows that both are contiguous int64 ``(k,)`` and `indices` are different tables.

        Only the actions are checked; a wrong index corrupts memory.
        """
        settings = self._reward_kind, self.autoreset, self._out
        team = self._ready_team(len(indices))
        if team is None:
            result = self.game.step(self._records, indices, actions, shares.ALONE, 0, shares.ALONE, *settings)
        else:
            team.helpers.call()
            result = self.game.step(self._records, indices, actions, team.share, 0, team.bell, *settings)
            if result == shares.OTHERS_WORK:
                team.helpers.wait(lambda: shares.all_done(team.share))
                team.late()
            else:
                team.in_time()
        if result >= 0:
            self._complain(actions, indices, result)

    def _ready_team(self, size: int) -> Team | None:
        """The threads for a step of `size` tables, or None if it is better done alone."""
        if self.num_threads == 1 or size < 2 * _TABLES_PER_THREAD or not _COMPILED:
            return None
        if self._team is None or self._team.helpers.crew is not crew():
            self._team = Team(self.game.step, self._records, (self._reward_kind, self.autoreset, self._out), self.num_threads)
        return self._team if self._team.rested() else None

    def checked_actions(self, actions: ArrayLike, size: int) -> NDArray[np.int64]:
        """Actions as `step_at` wants them, or ValueError if they are not `size` integers."""
        return self._integers(actions, "actions", size)

    def _complain(self, actions: NDArray[np.int64], indices: NDArray[np.int64], k: int) -> None:
        """ValueError that names the illegal action number k."""
        table = int(indices[k])
        names = self.game.legal_names(self._records[table], self._out[1][table])
        shown = ", ".join(f"{action} ({name})" for name, action in list(names.items())[:12])
        more = ", ..." if len(names) > 12 else ""
        raise ValueError(f"action {actions[k]} is illegal at table {table}; legal are {shown}{more}")

    def arrays(self) -> tuple[Records, int, tuple[NDArray[Any], ...]]:
        """The records, the way to pay and the arrays that a step fills, for code that steps the tables itself."""
        return self._records, self._reward_kind, self._out

    # --- looking

    def observe(self, seats: ArrayLike) -> NDArray[np.int8]:
        """What given seats see: int8 counts ``(N, D)`` for ``(N,)`` seats, or one seat for all tables."""
        return self.game.observe(self._records, self._seats(seats))

    def state(self, seats: ArrayLike | None = None) -> NDArray[np.int8]:
        """The perfect-information state ``(N, S)``, seats counted from `seats`, or from the seat to act."""
        return self.game.state(self._records, self._seats(self.turn if seats is None else seats))

    def named_observations(self) -> dict[str, NDArray[np.int8]]:
        """Views of `observations` by the names of its parts, each ``(N, *shape)``."""
        return named(self.observations, self.game.observation_parts)

    def view(self, where: NDArray[np.int64], rng: np.random.Generator) -> View:
        """What the seats to act at the tables `where` may know, for an agent with the generator `rng`."""
        seats = self.turn[where].astype(np.int64)
        return View(
            game=self.game,
            tables=self.game.redact(self._records[where], seats),
            seats=seats,
            observations=self.observations[where],
            action_masks=self.action_masks[where],
            rng=rng,
        )

    def svg(self, table: int = 0, seat: int | None = None, names: Sequence[str] | None = None) -> str:
        """One table as a picture.

        Parameters
        ----------
        table
            Which one.
        seat
            From whose eyes; None shows all hands.
        names
            What the seats are called.

        Raises
        ------
        ValueError
            If there is no such table or seat, or not one name for each seat.
        """
        check_integer("table", table, 0, self.num_tables - 1)
        return self.game.svg(self._records[table], seat, names)

    def _repr_svg_(self) -> str:
        """How a notebook shows tables: the first one, with all hands open."""
        return self.svg()

    def __len__(self) -> int:
        """How many tables there are."""
        return self.num_tables

    def __repr__(self) -> str:
        """The game and the number of tables."""
        return f"Tables({self.game!r}, num_tables={self.num_tables})"

    # --- checks

    def _seats(self, seats: ArrayLike) -> NDArray[np.int64]:
        array = np.asarray(seats)
        array = self._integers(np.full(self.num_tables, array) if array.ndim == 0 else array, "seats", self.num_tables)
        self._check_range("seat", array, 0, self.game.num_players - 1)
        return array

    def _indices(self, where: ArrayLike | None) -> NDArray[np.int64]:
        if where is None or where is self._all:
            return self._all
        array = np.asarray(where)
        if array.dtype == np.bool_ and array.shape == (self.num_tables,):
            return np.flatnonzero(array)
        array = self._integers(array, "where", array.size)
        self._check_range("table", array, 0, self.num_tables - 1)
        if len(np.unique(array)) != len(array):
            raise ValueError("where names a table twice")
        return array

    @staticmethod
    def _integers(values: ArrayLike, name: str, size: int) -> NDArray[np.int64]:
        array = np.asarray(values)
        if array.dtype is _INT64 and array.shape == (size,) and array.flags.c_contiguous:
            return array
        if array.size == 0 and size == 0:
            return np.zeros(0, np.int64)
        if not np.issubdtype(array.dtype, np.integer):
            raise ValueError(f"{name} are of type {array.dtype}; they must be integers")
        if array.shape != (size,):
            raise ValueError(f"{name} have the shape {array.shape}; it must be ({size},)")
        return np.ascontiguousarray(array, np.int64)

    @staticmethod
    def _check_range(name: str, values: NDArray[np.int64], low: int, high: int) -> None:
        wrong = values[(values < low) | (values > high)]
        if len(wrong):
            raise ValueError(f"{name} {wrong[0]} does not exist; {name}s are {low} to {high}")
