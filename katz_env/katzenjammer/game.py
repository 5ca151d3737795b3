"""Katzenjammer Blues behind the contract of ``core/game.py``: sizes, names and records around the compiled engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from katz_env.core.game import UNFINISHED, Game, Records, compiled_for
from katz_env.core.shares import Share
from katz_env.drawing import Picture
from katz_env.katzenjammer import engine, picture
from katz_env.katzenjammer.actions import ActionTable, card_characters
from katz_env.katzenjammer.check import checked
from katz_env.katzenjammer.observation import observation_parts, state_parts
from katz_env.katzenjammer.rules import OVER, Rules, table_dtype

_REDEAL_TRIES = 200


class Katzenjammer(Game):
    """Katzenjammer Blues; the keywords are the fields of `Rules`.

    Attributes
    ----------
    rules
        The options.
    actions
        The action table: ids and names.
    dtype
        The record of one table, described in ``rules.py``.
    """

    name: ClassVar[str] = "katzenjammer"
    reward_kinds: ClassVar[tuple[str, ...]] = ("win", "score")
    points_name: ClassVar[str] = "Mice, and at the end the score"

    def __init__(self, num_players: int = 3, mice: int | None = None, **options: int) -> None:
        known = [field.name for field in fields(Rules)]
        for option in options:
            if option not in known:
                raise ValueError(f"unknown option {option!r}; the options of the rules are {', '.join(known)}")
        self.rules = Rules(num_players, mice, **options)
        self.num_players = self.rules.num_players
        self.actions = ActionTable(self.rules)
        self.num_actions = self.actions.size
        self.dtype = table_dtype(self.rules)
        self.observation_parts = observation_parts(self.rules)
        self.state_parts = state_parts(self.rules)
        self.cards = card_characters(self.rules.values)
        self._step_many: Any = None  # the engine's function for this dtype, once it is compiled

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the compiled function, which copies in other processes look up for themselves."""
        return self.__dict__ | {"_step_many": None}

    def __repr__(self) -> str:
        """The call that makes this game, without the defaults."""
        shown = [f"num_players={self.num_players}"]
        shown += [f"{name}={value}" for name, value in self.unusual_rules.items()]
        return f"Katzenjammer({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        """Games are equal when their rules are."""
        return isinstance(other, Katzenjammer) and self.rules == other.rules

    def __hash__(self) -> int:
        """Equal games hash alike."""
        return hash((self.name, self.rules))

    @property
    def settings(self) -> dict[str, Any]:
        """The rules as keywords."""
        return asdict(self.rules)

    @property
    def unusual_rules(self) -> dict[str, int]:
        """The options, besides the number of players, that differ from the printed game."""
        printed = asdict(Rules(self.num_players))
        return {name: value for name, value in self.settings.items() if value != printed[name]}

    # --- tables

    def new_tables(self, num_tables: int) -> Records:
        """Tables that have not been dealt; the options of the rules are filled in."""
        records = np.zeros(num_tables, self.dtype)
        records["total_mice"] = self.rules.mice
        for option in ("hand_size", "set_size", "joker_penalty"):
            records[option] = getattr(self.rules, option)
        return records

    def parse_deck(self, deck: str | Sequence[int]) -> NDArray[np.int8]:
        """The kinds of a deck's cards, top first.

        Parameters
        ----------
        deck
            A string of card characters (``1`` to ``5`` and ``J``), or integers 0..4 for the values 1..5 and 5 for a joker.

        Raises
        ------
        ValueError
            If a character is unknown, or the length or a card's number is wrong.
        """
        size, copies = self.rules.num_cards, self.rules.copies
        if isinstance(deck, str):
            strange = next((c for c in deck if c not in self.cards), None)
            if strange is not None:
                raise ValueError(f"the deck has a card {strange!r}; the cards are {' '.join(self.cards)}")
            kinds = np.array([self.cards.index(c) for c in deck], np.int64)
        else:
            try:
                array = np.asarray(deck)
            except ValueError:
                array = np.array(None)
            if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
                raise ValueError(f"a deck must be {size} characters of {self.cards} or {size} integers")
            kinds = array.astype(np.int64)
        if len(kinds) != size:
            raise ValueError(f"the deck has {len(kinds)} cards; it must have {size}")
        if kinds.min() < 0 or kinds.max() >= len(self.cards):
            wrong = kinds[(kinds < 0) | (kinds >= len(self.cards))][0]
            raise ValueError(f"the deck has a card {wrong}; cards are 0 to {len(self.cards) - 1}, the last for a joker")
        for kind, number in enumerate(np.bincount(kinds, minlength=len(self.cards))):
            if number != copies:
                raise ValueError(f"the deck has {number} cards {self.cards[kind]!r}; it must have {copies} of each")
        return kinds.astype(np.int8)

    def deal(
        self,
        records: Records,
        where: NDArray[np.int64],
        decks: NDArray[np.int8] | None,
        first_seats: NDArray[np.int8] | None,
    ) -> None:
        """Deal new games at ``records[where]``; see `Game.deal`."""
        if decks is None:
            decks = np.full((len(where), self.rules.num_cards), -1, np.int8)
        if first_seats is None:
            first_seats = np.full(len(where), -1, np.int8)
        engine.deal_many(records, where, np.ascontiguousarray(decks), first_seats)

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
        """Play one move at each table of this thread's pieces; see `Game.step`."""
        if self._step_many is None:
            self._step_many = compiled_for(engine.step_many, records, where, actions, share, me, bell, reward, autoreset, *out)
        return self._step_many(records, where, actions, share, me, bell, reward, autoreset, *out)

    def look(self, records: Records, where: NDArray[np.int64], reward: int, out: tuple[NDArray[Any], ...]) -> None:
        """Fill `out` for tables that were dealt or restored; see `Game.look`."""
        engine.look_many(records, where, reward, *out)

    def observe(self, records: Records, seats: NDArray[np.int64]) -> NDArray[np.int8]:
        """What each seat sees, int8 ``(len(records), observation_size)``."""
        out = np.empty((len(records), self.observation_size), np.int8)
        engine.observe_many(records, seats, out)
        return out

    def state(self, records: Records, seats: NDArray[np.int64]) -> NDArray[np.int8]:
        """The perfect-information state, int8 ``(len(records), state_size)``."""
        out = np.empty((len(records), self.state_size), np.int8)
        engine.state_many(records, seats, out)
        return out

    def outcome(self, records: Records, reward: int) -> tuple[NDArray[np.float32], NDArray[np.int16]]:
        """Rewards and scores of finished tables; zero where a game goes on."""
        rewards = np.zeros((len(records), self.num_players), np.float32)
        scores = np.zeros((len(records), self.num_players), np.int16)
        engine.outcome_many(records, reward, rewards, scores)
        return rewards, scores

    def over(self, records: Records) -> NDArray[np.bool_]:
        """Which tables are finished."""
        return np.asarray(records["phase"] == OVER)

    def results(self, records: Records) -> dict[str, NDArray[Any]]:
        """`score`, `mice` (before the penalty), `jokers` (displayed) and `win_share`, each ``(len(records), n)``."""
        rewards, scores = self.outcome(records, engine.WIN)
        winners = rewards > -0.5 / self.num_players  # who did not win is paid -1/n
        return {
            "score": scores.astype(np.int64),
            "mice": records["mice"].astype(np.int64),
            "jokers": records["displayed"].astype(np.int64),
            "win_share": winners / winners.sum(1, keepdims=True),
        }

    def points(self, records: Records) -> NDArray[np.int64]:
        """The mice won so far, and of finished tables the scores."""
        _, scores = self.outcome(records, engine.WIN)
        return np.where(self.over(records)[:, None], scores, records["mice"]).astype(np.int64)

    # --- hidden information

    def redact(self, records: Records, seats: NDArray[np.int64]) -> Records:
        """Copies with the deck (-1), the generator (0) and the other hands (0) wiped."""
        records = records.copy()
        engine.redact_many(records, seats)
        return records

    def redeal(self, redacted: Records, seats: NDArray[np.int64], rng: np.random.Generator) -> Records:
        """Worlds that the seats cannot tell from the one they see; see `engine.redeal`.

        Raises
        ------
        ValueError
            If a table has no possible world, because it did not come from a real game, or a seat does not exist.
        """
        worlds, seats = redacted.copy(), np.asarray(seats, np.int64)
        if seats.shape != worlds.shape or (len(seats) and not 0 <= seats.min() <= seats.max() < self.num_players):
            raise ValueError(f"seats must be {len(worlds)} seats from 0 to {self.num_players - 1}, one for each table")
        seeds = rng.integers(0, 2**64, len(worlds), np.uint64)
        failed = engine.redeal_many(worlds, seats, seeds, _REDEAL_TRIES)
        if failed >= 0:
            raise ValueError(f"table {failed} has no possible world: some bid of its auction cannot be paid by its bidder")
        return worlds

    def check(self, records: Records) -> Records:
        """A copy of records for play, or ValueError; see `checked`."""
        return checked(self, records)

    # --- words

    def action_name(self, record: Any, action: int) -> str:
        """How players call `action` at this table, such as ``3x2`` or ``pay 22J``."""
        return self.actions.name(action, int(record["bid"]))

    def text(self, record: Any, seat: int | None) -> str:
        """A table as text, from the eyes of `seat`, or open if None."""
        return picture.text(record, seat)

    def picture(self, record: Any, names: Sequence[str] | None = None) -> Picture:
        """A table as a picture; see `Game.picture`."""
        return picture.picture(record, names)

    # --- game records

    def write_record(self, start: Any, moves: Sequence[str], end: Any) -> dict[str, Any]:
        """The JSON object of one game; `start` is the table as it was dealt, `end` as it finished or was left."""
        record: dict[str, Any] = {"game": self.name, "players": self.num_players, "mice": self.rules.mice}
        rules = {name: value for name, value in self.unusual_rules.items() if name != "mice"}
        if rules:
            record["rules"] = rules
        record["bandleader"] = int(start["bandleader"])
        record["deck"] = "".join(self.cards[kind] for kind in start["deck"])
        record["moves"] = list(moves)
        return record | self.record_results(end)

    def record_results(self, end: Any) -> dict[str, Any]:
        """The keys `scores`, `jokers`, `winners` and `end` of a finished table's record; only `end` of an unfinished one."""
        if end["phase"] != OVER:
            return {"end": UNFINISHED}
        results = self.results(end.reshape(1))
        return {
            "scores": results["score"][0].tolist(),
            "jokers": results["jokers"][0].tolist(),
            "winners": np.flatnonzero(results["win_share"][0]).tolist(),
            "end": "mice" if end["supply"] == 0 else "deck",
        }

    @classmethod
    def read_record(cls, record: Mapping[str, Any]) -> tuple[Katzenjammer, NDArray[np.int8], int]:
        """The game, the deck and the first bandleader of a record, or ValueError that names what is wrong."""
        for key in ("players", "mice", "bandleader", "deck"):
            if key not in record:
                raise ValueError(f"the record has no {key!r}")
        rules = record.get("rules", {})
        if not isinstance(rules, dict):
            raise ValueError(f"'rules' is {rules!r}; it must be an object of rule options")
        game = cls(num_players=record["players"], mice=record["mice"], **rules)
        if not isinstance(record["deck"], str):
            raise ValueError("'deck' must be a string of card characters")
        bandleader = record["bandleader"]
        if isinstance(bandleader, bool) or not isinstance(bandleader, int) or not 0 <= bandleader < game.num_players:
            raise ValueError(f"'bandleader' is {bandleader!r}; it must be a seat from 0 to {game.num_players - 1}")
        return game, game.parse_deck(record["deck"]), bandleader
