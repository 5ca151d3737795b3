"""The contract between a card game and everything that plays, trains on or records it.

A game is a set of sizes, one NumPy structured dtype for a table, and functions that take arrays and fill arrays. Nothing
in ``katz_env.core`` knows any card: to add a game, subclass `Game` in a package beside ``katz_env/katzenjammer``.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numba import typeof
from numpy.typing import NDArray

from katz_env.core.shares import Share
from katz_env.drawing import Picture

Records = NDArray[Any]
"""A structured array of tables, one record per table."""


UNFINISHED = "unfinished"
"""What stands under ``end`` in the record of a game that was broken off; its other results are left out."""


@dataclass(frozen=True)
class Part:
    """One named part of an observation vector.

    Parameters
    ----------
    name
        What the named view is called.
    shape
        Its shape; the flat vector holds it in C order.
    scale
        What the int8 counts are multiplied with to give a float32 of order one.
    meaning
        One line for the documentation.
    """

    name: str
    shape: tuple[int, ...]
    scale: float
    meaning: str

    @property
    def size(self) -> int:
        """How many numbers of the flat vector belong to this part."""
        return int(np.prod(self.shape, dtype=int))


def offsets(parts: Sequence[Part]) -> dict[str, slice]:
    """Where each part lies in the flat vector."""
    result, start = {}, 0
    for part in parts:
        result[part.name] = slice(start, start + part.size)
        start += part.size
    return result


def scales(parts: Sequence[Part]) -> NDArray[np.float32]:
    """The factor of every number of the flat vector, float32."""
    return np.concatenate([np.full(part.size, part.scale, np.float32) for part in parts])


def named(vector: NDArray[Any], parts: Sequence[Part]) -> dict[str, NDArray[Any]]:
    """Views of a flat vector ``(..., D)`` by name, each ``(..., *part.shape)``.

    Raises
    ------
    ValueError
        If the last axis of `vector` is not as long as the parts are together.
    """
    size = sum(part.size for part in parts)
    if np.ndim(vector) < 1:
        raise ValueError(f"the vector is {vector!r}; it must be an array whose last axis has {size} numbers")
    if vector.shape[-1] != size:
        raise ValueError(f"the vector has {vector.shape[-1]} numbers; the parts have {size}")
    return {
        part.name: vector[..., place].reshape(*vector.shape[:-1], *part.shape)
        for part, place in zip(parts, offsets(parts).values(), strict=True)
    }


def compiled_for(function: Any, *arguments: Any) -> Any:
    """The version of a Numba function for arguments of these types.

    It is called without a look at the types, which for many small calls takes more time than the function. The caller
    promises that they stay the same. With compilation off it is the function itself.
    """
    return function.compile(tuple(map(typeof, arguments))) if hasattr(function, "compile") else function


def check_integer(name: str, value: Any, low: int, high: int) -> None:
    """ValueError that names a value which is not an integer from low to high."""
    unlike = (bool, np.bool_, np.timedelta64)  # a time difference is an integer for NumPy
    if isinstance(value, unlike) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise ValueError(f"{name} is {value!r}; it must be an integer from {low} to {high}")


class Game(ABC):
    """A card game for several seats, played on many tables at once.

    The dtype of a table must have the fields ``turn`` (the seat to act), ``phase`` and ``rng`` (uint64, the state of the
    table's own generator). Methods that fill arrays change the tables they are asked for only and release the GIL, so that
    threads may share the arrays.
    """

    name: ClassVar[str]
    reward_kinds: ClassVar[tuple[str, ...]]
    """The names of the ways to pay, the default first."""
    points_name: ClassVar[str]
    """What `points` are, in words, as a heading."""

    num_players: int
    num_actions: int
    dtype: np.dtype[Any]
    observation_parts: tuple[Part, ...]
    state_parts: tuple[Part, ...]

    @functools.cached_property
    def observation_size(self) -> int:
        """How many numbers an observation has."""
        return sum(part.size for part in self.observation_parts)

    @functools.cached_property
    def state_size(self) -> int:
        """How many numbers the perfect-information state has."""
        return sum(part.size for part in self.state_parts)

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """The keywords that make this game again: ``type(game)(**game.settings)``."""

    def describe(self) -> dict[str, Any]:
        """What a trained network must agree on with the game it plays, as JSON values."""
        layout = [[part.name, list(part.shape), part.scale] for part in self.observation_parts]
        return {"game": self.name, "settings": self.settings, "observation": layout}

    def difference(self, trained_for: Mapping[str, Any]) -> tuple[str, str, str] | None:
        """In what a network that was `trained_for` another game (see `describe`) differs from this one; None if in nothing.

        The key that differs, what it was trained for and what this game has, in words.
        """
        for key, mine in self.describe().items():
            theirs = trained_for.get(key)
            if theirs != mine:
                if key == "observation":  # too long to print
                    return key, "another layout", "the layout of this version"
                return key, repr(theirs), repr(mine)
        return None

    @abstractmethod
    def new_tables(self, num_tables: int) -> Records:
        """Tables that have not been dealt, shape ``(num_tables,)``."""

    @abstractmethod
    def parse_deck(self, deck: str | Sequence[int]) -> NDArray[np.int8]:
        """The cards of a deck written as characters or as integers, or ValueError."""

    @abstractmethod
    def deal(
        self,
        records: Records,
        where: NDArray[np.int64],
        decks: NDArray[np.int8] | None,
        first_seats: NDArray[np.int8] | None,
    ) -> None:
        """Deal new games at ``records[where]``; what is None is drawn from the tables' own generators.

        A random deal that ends before anybody had a decision is dealt again; a given deck is played as it is.
        """

    @abstractmethod
    def step(
        self,
        records: Records,
        where: NDArray[np.int64],
        actions: NDArray[np.int64],
        share: Share,
        me: int,
        bell: Share,
        reward: int,
        autoreset: bool,
        out: tuple[NDArray[Any], ...],
    ) -> int:
        """Play ``actions[k]`` at table ``where[k]`` for the k in the pieces that thread `me` gets of a share, and fill `out`.

        Pieces are taken with the functions of `katz_env.core.shares`, which tells what `share`, `me` and `bell` are. Thread 0
        first calls its `first_illegal`: if that finds an illegal action, nothing is changed and its number k is returned; else
        what `end_share` returns.

        `out` is (observations, action_masks, turn, rewards, terminated, scores, final_records), each indexed by table.
        A table that ends is copied to final_records; with `autoreset` it
        is dealt anew at once. A table that was finished before ignores its action (with `autoreset` it is dealt anew).
        """

    @abstractmethod
    def look(self, records: Records, where: NDArray[np.int64], reward: int, out: tuple[NDArray[Any], ...]) -> None:
        """Fill `out` (see `step`) for tables that were dealt or restored; a finished one counts as just ended."""

    @abstractmethod
    def observe(self, records: Records, seats: NDArray[np.int64]) -> NDArray[np.int8]:
        """What seat ``seats[i]`` sees of ``records[i]``: int8 counts ``(len(records), observation_size)``."""

    @abstractmethod
    def state(self, records: Records, seats: NDArray[np.int64]) -> NDArray[np.int8]:
        """Everything there is to know, seats counted from ``seats[i]``: int8 ``(len(records), state_size)``."""

    @abstractmethod
    def outcome(self, records: Records, reward: int) -> tuple[NDArray[np.float32], NDArray[np.int16]]:
        """Rewards and scores of finished tables, each ``(len(records), num_players)``; zero where a game goes on."""

    @abstractmethod
    def results(self, records: Records) -> dict[str, NDArray[Any]]:
        """What players want to read at the end, by name, each ``(len(records), num_players)``.

        ``score`` and ``win_share`` (1 split among the winners) are always there. The tables must be finished.
        """

    @abstractmethod
    def points(self, records: Records) -> NDArray[np.int64]:
        """How the seats stand, for a line over time: at the end the scores; before, what players compare. ``(k, n)``."""

    @abstractmethod
    def over(self, records: Records) -> NDArray[np.bool_]:
        """Which tables are finished."""

    @abstractmethod
    def redact(self, records: Records, seats: NDArray[np.int64]) -> Records:
        """Copies in which all that seat ``seats[i]`` cannot know is wiped."""

    @abstractmethod
    def redeal(self, redacted: Records, seats: NDArray[np.int64], rng: np.random.Generator) -> Records:
        """Whole tables that seat ``seats[i]`` cannot tell from the one it sees, drawn uniformly."""

    @abstractmethod
    def check(self, records: Records) -> Records:
        """A copy of records in which all fields agree, or ValueError that names the first record that cannot be a table."""

    @abstractmethod
    def action_name(self, record: Any, action: int) -> str:
        """How players call `action` at this table."""

    def legal_names(self, record: Any, mask: NDArray[Any]) -> dict[str, int]:
        """The legal moves by name, as ``{name: action id}``."""
        return {self.action_name(record, int(action)): int(action) for action in np.flatnonzero(mask)}

    @abstractmethod
    def text(self, record: Any, seat: int | None) -> str:
        """A table as text, from the eyes of `seat`, or open if None."""

    @abstractmethod
    def picture(self, record: Any, names: Sequence[str] | None = None) -> Picture:
        """A table as a picture; `names` are those of the seats.

        Of a seat's private things it holds two drawings: what the others see of them, and what the seat itself sees.
        """

    def svg(self, record: Any, seat: int | None = None, names: Sequence[str] | None = None) -> str:
        """A table as SVG, from the eyes of `seat`, or open if None."""
        return self.picture(record, names).svg(seat, self.text(record, seat))

    @abstractmethod
    def write_record(self, start: Any, moves: Sequence[str], end: Any) -> dict[str, Any]:
        """The game record (a JSON object) of a game that began as `start` and came to `end`, finished or not."""

    @classmethod
    @abstractmethod
    def read_record(cls, record: Mapping[str, Any]) -> tuple[Game, NDArray[np.int8], int]:
        """The game, the deck and the first seat of a game record, or ValueError that names what is wrong."""

    @abstractmethod
    def record_results(self, end: Any) -> dict[str, Any]:
        """Those keys of a game record that tell how the game ended; ``{"end": UNFINISHED}`` if `end` is not finished."""
