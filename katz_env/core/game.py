"""The contract between a card game and everything that plays it, trains on it or records it.

A game consists of a NumPy structured dtype for a table, a few compiled functions on one table (`TableFunctions`), and a
subclass of `Game` that gives their numbers a meaning. Nothing in ``katz_env.core`` depends on a game. docs/add_a_game.md
shows a whole game.
"""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from katz_env.core.batch import WIN, Loops, StepOutputs, TableFunctions, loops_of
from katz_env.core.event_log import NOBODY
from katz_env.core.fields import Field
from katz_env.core.packed import check_room
from katz_env.core.validation import check_integer, check_range, integer_array, is_integer
from katz_env.drawing import Picture
from katz_env.drawing.text_picture import text_picture

Records = NDArray[Any]
"""A structured array of tables, one record per table."""

UNFINISHED = "unfinished"
"""The value of ``end`` in the record of a game that was not played to its end; such a record has no other results."""

_REQUIRED = {"rng": "uint64", "deal": "int8", "first_seat": "int8", "turn": "int8", "phase": "int8"}
"""The fields that every table must have, and their types."""


class Game(ABC):
    """A card game for several seats, played on many tables at once.

    A subclass sets the class attributes, makes the dtype and the lists of fields, calls ``super().__init__`` with them, and
    defines the abstract methods. The dtype of a table must have the fields ``rng`` (uint64, the state of the table's own
    generator), ``deal`` (an int8 vector of everything that chance decides, in order), ``first_seat``, ``turn`` (the seat to
    act) and ``phase`` (int8 each).

    Parameters
    ----------
    num_players, num_actions
        The number of seats and the number of action ids.
    dtype
        The dtype of one table, or the list of fields that makes one.
    observation_fields, state_fields
        The fields that `functions` write into observations and states, in order.

    Raises
    ------
    ValueError
        If the dtype lacks a field that every table must have, or the padding that word operations on a field need.
    """

    name: ClassVar[str]
    """The name of the game, as in its game records."""
    functions: ClassVar[TableFunctions]
    """The compiled functions on one table."""
    phases: ClassVar[tuple[str, ...]]
    """The names of the phases of a table by number; the last one means that the game is over."""
    event_kinds: ClassVar[tuple[str, ...]]
    """The names of the kinds of events by number; see `katz_env.core.event_log`."""
    card_names: ClassVar[Sequence[str]] = ()
    """The names of the kinds of cards that events count; the default `tell` uses them."""
    field_ranges: ClassVar[Mapping[str, tuple[int, int]]] = {}
    """The lowest and the highest value of every field of a table, redacted or not, that compiled functions use as an index."""
    points_name: ClassVar[str] = "Score"
    """The heading of a plot of `points`."""
    first_seat_key: ClassVar[str] = "first_seat"
    """The key of the first seat in game records and deals."""
    deal_keys: ClassVar[tuple[str, ...]] = ("deck",)
    """The keys of game records and deals for everything else that chance decides."""
    word_fields: ClassVar[tuple[str, ...]] = ()
    """The fields on which `functions` use word operations; see `katz_env.core.packed.check_room`."""
    rotated_fields: ClassVar[tuple[str, ...]] = ()
    """The fields that `functions` copy with `katz_env.core.packed.copy_rotated`."""
    copied_together: ClassVar[tuple[str, ...]] = ()
    """The fields that `functions` copy in one piece with `katz_env.core.packed.copy_fields`, in their order."""
    screen_path: ClassVar[str] = "katz_env.play.screen:Screen"
    """The class that shows the game to a person in a terminal, as ``package.module:Class``."""
    feature_fields: tuple[Field, ...] = ()
    """The fields of `features`, which networks are shown besides an observation."""

    def __init__(
        self,
        num_players: int,
        num_actions: int,
        dtype: DTypeLike,
        observation_fields: Sequence[Field],
        state_fields: Sequence[Field],
    ) -> None:
        for attribute in ("name", "functions", "phases", "event_kinds"):
            if not hasattr(self, attribute):
                raise ValueError(f"{type(self).__name__} has no {attribute!r}, which every game must have")
        dtype = np.dtype(dtype)
        for field, kind in _REQUIRED.items():
            if field not in (dtype.names or ()):
                raise ValueError(f"the table of {self.name} has no field {field!r}; every table needs one of type {kind}")
            found = dtype[field]
            if found.base != np.dtype(kind) or len(found.shape) != (field == "deal"):
                raise ValueError(f"the field {field!r} of {self.name}'s table is {found}; it must be {kind}")
        for field in self.field_ranges:
            if field not in (dtype.names or ()):
                raise ValueError(f"the table of {self.name} has no field {field!r}, which stands in its field_ranges")
        check_room(dtype, self.word_fields, self.rotated_fields, self.copied_together)
        self.num_players, self.num_actions = num_players, num_actions
        self.dtype = np.dtype((np.record, dtype))  # such records have attributes in plain Python too
        self.observation_fields, self.state_fields = tuple(observation_fields), tuple(state_fields)
        self.observation_size = sum(field.size for field in self.observation_fields)
        self.state_size = sum(field.size for field in self.state_fields)

    # --- what a game writes

    @property
    def settings(self) -> dict[str, Any]:
        """The keyword arguments of this game: ``type(game)(**game.settings)`` equals `game`. The values are JSON values.

        By default ``num_players`` is the only one.
        """
        return {"num_players": self.num_players}

    @classmethod
    def setting_names(cls) -> Sequence[str]:
        """Return the names of the keyword arguments of this game; by default the parameters of its constructor."""
        return list(inspect.signature(cls).parameters)

    def prepare(self, records: Records) -> None:
        """Initialise new tables: write what does not depend on the deal, such as options that the compiled functions read.

        By default there is nothing to write.
        """
        del records

    @property
    @abstractmethod
    def max_events(self) -> int:
        """The largest number of events of one deal, or of one move with all forced moves that follow."""

    @property
    def event_cards(self) -> int:
        """The number of kinds of cards that an event counts; by default those that have `card_names`."""
        return len(self.card_names)

    @property
    def deal_options(self) -> tuple[str, ...]:
        """The keys of a deal, the first seat's last; each may be an option of ``reset`` too."""
        return (*self.deal_keys, self.first_seat_key)

    @abstractmethod
    def parse_deal(self, given: Mapping[str, Any]) -> NDArray[np.int8]:
        """Return the vector ``deal``, int8, given some of the `deal_keys`.

        Entries that are to be drawn are -1.

        Raises
        ------
        ValueError
            If the deal is impossible.
        """

    @abstractmethod
    def describe_deal(self, record: Any) -> dict[str, Any]:
        """Return the ``deal`` of a table as JSON values by `deal_keys`: the inverse of `parse_deal`."""

    def record_settings(self) -> dict[str, Any]:
        """Return the keys of a game record that identify the rules, except ``players``; by default the settings."""
        return {name: value for name, value in self.settings.items() if name != "num_players"}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the game whose rules a game record identifies.

        Raises
        ------
        ValueError, TypeError
            If the rules are impossible; the message names what is wrong.
        """
        return cls(
            **{"num_players": record["players"]} | {name: record[name] for name in cls.setting_names() if name in record}
        )

    def ending(self, record: Any) -> str:
        """Return how a finished game ended, in one word, for its game record; by default the name of the last phase."""
        return self.phases[record["phase"]]

    @abstractmethod
    def action_name(self, record: Any, action: int) -> str:
        """Return the name of `action` at this table, as players would say it."""

    def public_text(self, record: Any) -> str:
        """Return what everybody sees of a table, as one or more lines of text; by default only whose turn it is."""
        over = record["phase"] == self.over_phase
        return "the game is over" if over else f"{self.phases[record['phase']]}: player_{record['turn']} is to act"

    def private_text(self, record: Any, seat: int) -> str:
        """Return what only `seat` sees in addition, as one line of text; by default nothing."""
        del record, seat
        return ""

    def text(self, record: Any, seat: int | None) -> str:
        """Return a table as text, from the point of view of `seat`, or with all hands open if it is None."""
        seats = range(self.num_players) if seat is None else (seat,)
        return "\n".join(filter(None, [self.public_text(record), *(self.private_text(record, other) for other in seats)]))

    def tell(self, events: NDArray[Any], names: Sequence[str], seat: int | None) -> list[str]:
        """Return what happened in words, as lines of text.

        By default every event is a line: its seat, its kind, its number unless that is zero, and its cards.

        Parameters
        ----------
        events
            Events of one step or deal, as `seat` may see them; see `Tables.events`.
        names
            The names of the players by seat.
        seat
            The seat of the reader, whose name is "you"; None for a bystander.
        """
        del seat
        lines = []
        for event in events:
            words = [] if event["seat"] == NOBODY else [names[event["seat"]]]
            words.append(self.event_kinds[event["kind"]].replace("_", " "))
            if event["number"]:
                words.append(str(event["number"]))
            for card, count in zip(self.card_names, event["cards"], strict=False):
                words += [card] * count
            lines.append(" ".join(words))
        return lines

    def picture(self, record: Any, names: Sequence[str] | None = None) -> Picture:
        """Return a table as a picture; `names` are the names of the seats.

        The picture has two drawings of every private area: the one that the others see, and the one that its seat sees. The
        default draws the text of `public_text` and `private_text`.
        """
        del names
        return text_picture(self.public_text(record), [self.private_text(record, seat) for seat in range(self.num_players)])

    def check_tables(self, records: Records) -> Records:
        """Check tables that are put back into play against the rules; it is called after the checks of `check`.

        Parameters
        ----------
        records
            ``(k,)``: a copy of the tables, in which the derived fields are not yet recomputed.

        Returns
        -------
        structured array (k,)
            The tables with their derived fields recomputed.

        Raises
        ------
        ValueError
            If a record cannot be a table of this game. The message names the record, the field and the right values.
        """
        self.check_ranges(records)
        possible, _ = self.renewed(records)
        require(possible, records, "phase", "that of a table which can have come from a game")
        return records

    def check_ranges(self, records: Records) -> None:
        """Raise ValueError if a value in these tables, which may be redacted, would make compiled functions leave an array.

        By default it checks `field_ranges`.
        """
        for field, (low, high) in self.field_ranges.items():
            check_field(records, field, low, high)

    def features(self, observations: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return what networks are shown besides observations: numbers that follow from these, but are hard to learn.

        Parameters
        ----------
        observations
            int8 ``(k, at least D)``, of which the first D numbers count.

        Returns
        -------
        int8 (k, F)
            The numbers that `feature_fields` describes.
        """
        return np.zeros((len(observations), 0), np.int8)

    def extra_results(self, records: Records) -> dict[str, NDArray[np.int64]]:
        """Return further results of tables, finished or not, besides the score, int64 ``(k, n)`` each, by name."""
        del records
        return {}

    def points(self, records: Records) -> NDArray[np.int64]:
        """Return the current points of the seats, int64 ``(k, n)``, for a plot over time; at the end they are the scores."""
        return self.outcome(records)[1].astype(np.int64)

    # --- what follows from it

    @property
    def over_phase(self) -> int:
        """The phase of a finished table."""
        return len(self.phases) - 1

    @functools.cached_property
    def loops(self) -> Loops:
        """The compiled loops over many tables."""
        return loops_of(self.name, self.functions, self.over_phase)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the compiled loops, which a copy makes again."""
        return {name: value for name, value in self.__dict__.items() if name != "loops"}

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same game with the same settings."""
        return type(self) is type(other) and self.settings == other.settings

    def __hash__(self) -> int:
        """Return a hash that equal games share."""
        return hash((self.name, self.num_players, self.num_actions))

    def __repr__(self) -> str:
        """Return the call that makes this game."""
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.settings.items())})"

    def describe(self) -> dict[str, Any]:
        """Return what a trained network depends on (game, settings, observation layout), as JSON values."""
        layout = [field.layout for field in (*self.observation_fields, *self.feature_fields)]
        return {"game": self.name, "settings": self.settings, "observation": layout}

    def difference(self, trained_for: Mapping[str, Any]) -> tuple[str, str, str] | None:
        """Compare this game with the one that a network was trained for.

        Parameters
        ----------
        trained_for
            The `describe` of the game that the network was trained for.

        Returns
        -------
        tuple of str or None
            The first key that differs, what the network was trained for and what this game has, in words; None if nothing
            differs.
        """
        for key, mine in self.describe().items():
            theirs = trained_for.get(key)
            if theirs != mine:
                if key == "observation":  # too long to print
                    return key, "another layout", "the layout of this version"
                if isinstance(theirs, dict) and isinstance(mine, dict) and theirs.keys() == mine.keys():
                    differ = [name for name in mine if mine[name] != theirs[name]]
                    return key, repr({name: theirs[name] for name in differ}), repr({name: mine[name] for name in differ})
                return key, repr(theirs), repr(mine)
        return None

    def new_tables(self, num_tables: int) -> Records:
        """Return tables that have not been dealt, a structured array ``(num_tables,)``."""
        records = np.zeros(num_tables, self.dtype)
        self.prepare(records)
        return records

    def new_outputs(self, num_tables: int) -> StepOutputs:
        """Return zeroed arrays for a step to fill."""
        n = self.num_players
        return StepOutputs(
            observations=np.zeros((num_tables, self.observation_size), np.int8),
            action_masks=np.zeros((num_tables, self.num_actions), np.bool_),
            turn=np.zeros(num_tables, np.int8),
            rewards=np.zeros((num_tables, n), np.float32),
            terminated=np.zeros(num_tables, np.bool_),
            scores=np.zeros((num_tables, n), np.int16),
            ranks=np.zeros((num_tables, n), np.int32),
            final_records=self.new_tables(num_tables),
        )

    def given_deal(self, given: Mapping[str, Any]) -> tuple[NDArray[np.int8] | None, int | None]:
        """Parse a deal with the keys of the game's records.

        Returns
        -------
        deal : int8 (size,) or None
            The vector ``deal``, with -1 where it is to be drawn; None if all of it is.
        first_seat : int or None
            The first seat; None if it is to be drawn.

        Raises
        ------
        ValueError
            If a key is unknown or its value is impossible.
        """
        if not isinstance(given, Mapping):
            raise ValueError(f"a deal is {given!r}; it must be a mapping with keys such as {self.deal_keys[0]!r}")
        for key in given:
            if key not in self.deal_options:
                raise ValueError(f"a deal has no {key!r}; its keys are {', '.join(map(repr, self.deal_options))}")
        seat = given.get(self.first_seat_key)
        if seat is not None:
            check_integer(self.first_seat_key, seat, 0, self.num_players - 1)
        cards = {key: given[key] for key in self.deal_keys if given.get(key) is not None}
        return self.parse_deal(cards) if cards else None, None if seat is None else int(seat)

    def check_deals(self, deals: NDArray[np.int8]) -> None:
        """Check vectors that are to be written into the field ``deal``.

        Parameters
        ----------
        deals
            int8 ``(k, size)``. A vector of negative numbers is to be drawn; by default every other one must hold the cards that
            the game itself deals, in any order.

        Raises
        ------
        ValueError
            If the game cannot begin with one of them; the message names the first.
        """
        given = np.flatnonzero((deals >= 0).any(1))
        wrong = (np.sort(deals[given], 1) != self._dealt_cards).any(1)
        if wrong.any():
            i = given[np.argmax(wrong)]
            raise ValueError(f"deal {i} is {deals[i].tolist()}; it must hold the cards that {self.name} deals, in some order")

    @functools.cached_property
    def _dealt_cards(self) -> NDArray[np.int8]:
        """The numbers of a drawn deal in ascending order, ``(size,)``."""
        tables, seat = self.new_tables(1), np.full(1, -1, np.int8)
        drawn = np.full(tables["deal"].shape, -1, np.int8)
        self.loops.deal(tables, np.zeros(1, np.int64), drawn, seat, self.num_players, None)
        return np.sort(tables["deal"][0])

    def over(self, records: Records) -> NDArray[np.bool_]:
        """Return which tables are finished, bool ``(k,)``."""
        return np.asarray(records["phase"] == self.over_phase)

    def observe(self, records: Records, seats: ArrayLike) -> NDArray[np.int8]:
        """Return what seat ``seats[i]`` sees of ``records[i]``, int8 ``(k, D)``, before scaling.

        Raises
        ------
        ValueError
            If the records are not tables of this game, or a seat does not exist.
        """
        return self.observe_unchecked(*self.checked(records, seats))

    def observe_unchecked(self, records: Records, seats: NDArray[np.int64]) -> NDArray[np.int8]:
        """`observe` for records and seats that are known to be valid, such as those of `Tables`, without the checks."""
        return self._written(self.loops.observe, self.observation_size, records, seats)

    def state(self, records: Records, seats: ArrayLike) -> NDArray[np.int8]:
        """Return the perfect-information state with seats counted from ``seats[i]``, int8 ``(k, S)``, before scaling.

        Raises
        ------
        ValueError
            If the records are not tables of this game, or a seat does not exist.
        """
        return self._written(self.loops.state, self.state_size, *self.checked(records, seats))

    def _written(self, loop: Any, size: int, records: Records, seats: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return what a loop writes for each table and its seat, int8 ``(k, size)``."""
        out = np.empty((len(records), size), np.int8)
        loop(records, seats, out)
        return out

    def redact(self, records: Records, seats: ArrayLike) -> Records:
        """Return copies in which everything that seat ``seats[i]`` cannot know is wiped: the deal, the generator, other hands.

        Raises
        ------
        ValueError
            If the records are not tables of this game, or a seat does not exist.
        """
        records, seats = self.checked(records, seats)
        records = records.copy()
        self.loops.redact(records, seats)
        return records

    def redeal(self, redacted: Records, seats: ArrayLike, rng: np.random.Generator) -> Records:
        """Return worlds (determinizations): whole tables, drawn uniformly, that the seats cannot tell from the real ones.

        Parameters
        ----------
        redacted
            ``(k,)``: tables redacted for the seats; see `redact`.
        seats
            ``(k,)``: the seats to act.
        rng
            The generator that draws the worlds.

        Returns
        -------
        structured array (k,)
            One world for each table.

        Raises
        ------
        ValueError
            If a table has no possible world, because it does not come from a real game, or a seat does not exist.
        """
        records, seats = self.checked(redacted, seats)
        worlds = records.copy()
        seeds = rng.integers(0, 2**64, len(worlds), np.uint64)
        failed = self.loops.resample(worlds, seats, seeds)
        if failed >= 0:
            raise ValueError(f"table {failed} has no possible world: {self.impossible_world}")
        return worlds

    impossible_world: ClassVar[str] = "its cards do not come out even"
    """The reason why a table has no possible world, for error messages."""

    def outcome(self, records: Records, reward: int = WIN) -> tuple[NDArray[np.float32], NDArray[np.int16]]:
        """Return the rewards, float32, and scores, int16, of finished tables, each ``(k, n)``; zero where a game goes on.

        Parameters
        ----------
        records
            ``(k,)``: the tables.
        reward
            The reward scheme, an index into `katz_env.core.batch.REWARDS`.

        Raises
        ------
        ValueError
            If the records are not tables of this game.
        """
        return self._outcome(self._checked_records(records), reward)

    def results(self, records: Records) -> dict[str, NDArray[Any]]:
        """Return the results of tables by name, each ``(k, n)``.

        Every game has ``score`` and ``win_share`` (1 split among the winners); see `extra_results` for the others. Where a game
        is not over, such as one that an illegal move broke off, nobody has a win share, and ``score`` holds the `points` so
        far.
        """
        return self.results_unchecked(self._checked_records(records))

    def results_unchecked(self, records: Records) -> dict[str, NDArray[Any]]:
        """Do what `results` does, for callers that guarantee tables of this game, such as those of `Tables`."""
        rewards, scores = self._outcome(records, WIN)
        over = self.over(records)[:, None]
        winners = over & (rewards > -0.5 / self.num_players)  # losers are paid -1/n, winners more
        return {
            "score": scores.astype(np.int64) if over.all() else np.where(over, scores, self.points(records)),
            **self.extra_results(records),
            "win_share": winners / np.maximum(1, winners.sum(1, keepdims=True)),
        }

    def _outcome(self, records: Records, reward: int) -> tuple[NDArray[np.float32], NDArray[np.int16]]:
        shape = len(records), self.num_players
        rewards, scores = np.zeros(shape, np.float32), np.zeros(shape, np.int16)
        self.loops.outcome(records, reward, rewards, scores, np.zeros(shape, np.int32))
        return rewards, scores

    def check(self, records: Records) -> Records:
        """Return a checked copy of tables, with consistent fields, that can be put back into play.

        Raises
        ------
        ValueError
            If a record cannot be a table of this game. The message names the first such record, the field and the right values.
        """
        if not isinstance(records, np.ndarray) or records.dtype != self.dtype or records.ndim != 1:
            raise ValueError(f"records must be an array of the dtype of {self!r}")
        records = records.copy().view(self.dtype)  # loaded records lack marks that would make Numba compile for them
        self._check_common_fields(records)
        return self.check_tables(records)

    def renewed(self, records: Records) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Recompute derived fields in place, in tables whose values are all in range.

        Returns
        -------
        possible : bool (k,)
            Whether each table can have come from a game.
        num_legal : int64 (k,)
            How many legal moves its seat to act has.
        """
        possible, num_legal = np.empty(len(records), np.bool_), np.empty(len(records), np.int64)
        self.loops.renew(records, np.empty(self.num_actions, np.bool_), possible, num_legal)
        return possible, num_legal

    def legal_names(self, record: Any, mask: NDArray[Any]) -> dict[str, int]:
        """Return the legal moves of a table as ``{name: action id}``; `mask` ``(A,)`` is its action mask."""
        return {self.action_name(record, int(action)): int(action) for action in np.flatnonzero(mask)}

    def svg(self, record: Any, seat: int | None = None, names: Sequence[str] | None = None) -> str:
        """Return a table as SVG, from the point of view of `seat`, or with all hands open if it is None."""
        return self.picture(record, names).svg(seat, self.text(record, seat))

    # --- game records

    def write_record(self, start: Any, moves: Sequence[str], end: Any) -> dict[str, Any]:
        """Return the game record (a JSON object) of a game that began as the table `start` and stands at the table `end`."""
        return {
            "game": self.name,
            "players": self.num_players,
            **self.record_settings(),
            self.first_seat_key: int(start["first_seat"]),
            **self.describe_deal(start),
            "moves": list(moves),
            **self.record_results(end),
        }

    def record_results(self, end: Any) -> dict[str, Any]:
        """Return the results that a game record states; ``{"end": UNFINISHED}`` if the table `end` is not finished."""
        tables = end.reshape(1)
        if not self.over(tables)[0]:
            return {"end": UNFINISHED}
        results = self.results(tables)
        return {
            "scores": results["score"][0].tolist(),
            **{name: values[0].tolist() for name, values in self.recorded_results(results).items()},
            "winners": np.flatnonzero(results["win_share"][0]).tolist(),
            "end": self.ending(end),
        }

    def recorded_results(self, results: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return those of the `results`, besides the scores, that a game record states."""
        del results
        return {}

    @classmethod
    def read_record(cls, record: Mapping[str, Any]) -> tuple[Self, NDArray[np.int8], int]:
        """Return the game, the vector ``deal`` and the first seat of a game record.

        Raises
        ------
        ValueError, TypeError
            If a key is missing or its value impossible; the message names it.
        """
        for key in ("players", cls.first_seat_key, *cls.deal_keys):
            if key not in record:
                raise ValueError(f"the record has no {key!r}")
        game = cls.from_record(record)
        seat = record[cls.first_seat_key]
        if not is_integer(seat) or not 0 <= seat < game.num_players:
            raise ValueError(f"{cls.first_seat_key!r} is {seat!r}; it must be a seat from 0 to {game.num_players - 1}")
        return game, game.parse_deal({key: record[key] for key in cls.deal_keys}), seat

    # --- checks of what compiled functions are given

    def checked(self, records: Any, seats: ArrayLike) -> tuple[Records, NDArray[np.int64]]:
        """Return tables ``(k,)``, redacted or not, and a seat for each, int64 ``(k,)``, as compiled functions may have them.

        Raises
        ------
        ValueError
            If the records are not tables of this game, or a seat does not exist.
        """
        records = self._checked_records(records)
        seats = np.asarray(seats)
        if seats.shape != records.shape:
            raise ValueError(f"seats must be {len(records)} seats from 0 to {self.num_players - 1}, one for each table")
        checked = integer_array(seats, "seats", len(records))
        check_range("seat", checked, 0, self.num_players - 1)
        return records, checked

    def _checked_records(self, records: Any) -> Records:
        if not isinstance(records, np.ndarray) or records.dtype != self.dtype or records.ndim != 1:
            raise ValueError(f"records must be an array (k,) of the dtype of {self!r}")
        self._check_common_fields(records)
        self.check_ranges(records)
        return np.require(records.view(self.dtype), requirements=["C", "A"])

    def _check_common_fields(self, records: Records) -> None:
        check_field(records, "phase", 0, self.over_phase)
        check_field(records, "turn", 0, self.num_players - 1)
        check_field(records, "first_seat", 0, self.num_players - 1)


def check_field(records: Records, field: str, low: int, high: int) -> None:
    """Raise ValueError that names the first record in which a value of `field` is not from `low` to `high`."""
    values = records[field]
    good = (values >= low) & (values <= high)
    require(good.all(axis=tuple(range(1, good.ndim))), records, field, f"from {low} to {high}")


def require(good: Any, records: Records, field: str, expected: str) -> None:
    """Raise ValueError that names the first record whose `field` is not `good`, bool ``(k,)``, and the `expected` values."""
    if not np.all(good):
        i = int(np.argmin(good))
        found = " ".join(str(records[field][i]).split())  # an array may be printed in several lines
        raise ValueError(f"record {i} is not a possible table: {field} is {found}; it must be {expected}")
