"""Katzenjammer Blues as a `Game`: settings, names, records and drawings around the compiled engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from katz_env.core.batch import TableFunctions
from katz_env.core.game import Game, Records
from katz_env.core.validation import check_keywords
from katz_env.drawing import Picture
from katz_env.games.katzenjammer import commentary, engine, hidden, observation, picture, validation
from katz_env.games.katzenjammer.actions import ActionTable, card_characters
from katz_env.games.katzenjammer.observation import observation_fields, state_fields
from katz_env.games.katzenjammer.rules import EVENTS, PHASES, Rules, table_dtype


class Katzenjammer(Game):
    """Katzenjammer Blues.

    Parameters
    ----------
    num_players, mice, **options
        The fields of `Rules`.

    Attributes
    ----------
    rules : Rules
        The options of the rules.
    actions : ActionTable
        The ids and names of actions.
    cards : str
        The characters of the cards by kind.

    Raises
    ------
    ValueError
        If an option is out of its range.
    TypeError
        If an option is unknown.
    """

    name: ClassVar[str] = "katzenjammer"
    functions: ClassVar[TableFunctions] = TableFunctions(
        fill_deal=engine.fill_deal,
        deal=engine.deal,
        play=engine.play,
        write_mask=engine.write_mask,
        write_observation=observation.write_observation,
        write_state=observation.write_state,
        write_scores=engine.write_scores,
        redact=hidden.redact,
        resample=hidden.resample,
        renew=hidden.renew,
    )
    phases: ClassVar[tuple[str, ...]] = PHASES
    event_kinds: ClassVar[tuple[str, ...]] = EVENTS
    points_name: ClassVar[str] = "Mice, and at the end the score"
    first_seat_key: ClassVar[str] = "bandleader"
    word_fields: ClassVar[tuple[str, ...]] = ("hand", "hand_sizes", "mice", "displayed", "passed")
    rotated_fields: ClassVar[tuple[str, ...]] = ("claims", "known")
    screen_path: ClassVar[str] = "katz_env.games.katzenjammer.terminal:KatzenjammerScreen"
    impossible_world: ClassVar[str] = "some bid of its auction cannot be paid by its bidder"

    def __init__(self, num_players: int = 3, mice: int | None = None, **options: int) -> None:
        check_keywords("Katzenjammer", options, self.setting_names())
        self.rules = Rules(num_players, mice, **options)
        self.actions = ActionTable(self.rules)
        self.cards = card_characters(self.rules.values)
        super().__init__(
            self.rules.num_players,
            self.actions.size,
            table_dtype(self.rules),
            observation_fields(self.rules),
            state_fields(self.rules),
        )

    def __repr__(self) -> str:
        """Return the call that makes this game, without default options."""
        shown = [f"num_players={self.num_players}"]
        shown += [f"{name}={value}" for name, value in self.unusual_rules.items()]
        return f"Katzenjammer({', '.join(shown)})"

    @property
    def settings(self) -> dict[str, Any]:
        """The fields of `Rules` as keyword arguments."""
        return asdict(self.rules)

    @property
    def unusual_rules(self) -> dict[str, int]:
        """The options other than the number of players that differ from the printed game."""
        printed = asdict(Rules(self.num_players))
        return {name: value for name, value in self.settings.items() if value != printed[name]}

    @classmethod
    def setting_names(cls) -> Sequence[str]:
        """Return the names of the fields of `Rules`."""
        return [field.name for field in fields(Rules)]

    # --- tables

    def prepare(self, records: Records) -> None:
        """Write the options of the rules into new tables."""
        records["total_mice"] = self.rules.mice
        for option in ("hand_size", "set_size", "joker_penalty"):
            records[option] = getattr(self.rules, option)

    @property
    def max_events(self) -> int:
        """An upper bound on the events of one deal or step, forced moves included."""
        # Every round that passes without a decision takes at least two cards from the draw pile.
        n, rules = self.num_players, self.rules
        rounds = (rules.num_cards - n * rules.hand_size) // 2 + 2
        return rounds * (n + 2) + 4 * n + 8

    @property
    def event_cards(self) -> int:
        """The number of kinds of cards, jokers included."""
        return self.rules.values + 1

    def parse_deal(self, given: Mapping[str, Any]) -> NDArray[np.int8]:
        """Return the kinds of the cards of a given ``deck``; see `parse_deck`."""
        return self.parse_deck(given["deck"])

    def describe_deal(self, record: Any) -> dict[str, Any]:
        """Return the ``deck`` as characters, top card first."""
        return {"deck": "".join(self.cards[kind] for kind in record["deal"])}

    def check_deals(self, deals: NDArray[np.int8]) -> None:
        """Check that every row is a whole deck or, if all of it is to be drawn, negative."""
        copies, kinds = self.rules.copies, np.arange(len(self.cards))
        given = np.flatnonzero((deals >= 0).any(1))
        wrong = given[((deals[given, :, None] == kinds).sum(1) != copies).any(1)]
        if len(wrong):
            raise ValueError(f"deal {wrong[0]} is no deck; it must have {copies} cards of each kind from 0 to {kinds[-1]}")

    def parse_deck(self, deck: str | Sequence[int]) -> NDArray[np.int8]:
        """Return the kinds of a deck's cards, int8, top card first.

        Parameters
        ----------
        deck
            A string of card characters (``1`` to ``5`` and ``J``), or integers 0..4 for the values 1..5 and 5 for a joker.

        Raises
        ------
        ValueError
            If a card is unknown, or the number of cards or of a kind is wrong.
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
            if array.ndim != 1 or array.dtype.kind not in "iu":
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

    def extra_results(self, records: Records) -> dict[str, NDArray[np.int64]]:
        """Return `mice` (before the penalty) and displayed `jokers`, int64 ``(k, n)`` each."""
        return {"mice": records["mice"].astype(np.int64), "jokers": records["displayed"].astype(np.int64)}

    def recorded_results(self, results: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return the displayed `jokers`."""
        return {"jokers": results["jokers"]}

    def points(self, records: Records) -> NDArray[np.int64]:
        """Return the mice won so far, and the scores of finished tables, int64 ``(k, n)``."""
        _, scores = self.outcome(records)
        return np.where(self.over(records)[:, None], scores, records["mice"]).astype(np.int64)

    def check_tables(self, records: Records) -> Records:
        """Check tables that are put back into play; see `Game.check_tables`."""
        return validation.checked(self, records)

    def check_ranges(self, records: Records) -> None:
        """Check seats, phases and counts; see `Game.check_ranges`."""
        validation.check_ranges(self, records)

    # --- words

    def action_name(self, record: Any, action: int) -> str:
        """Return the name of `action` at this table, such as ``3x2`` or ``pay 22J``."""
        return self.actions.name(action, int(record["bid"]))

    def text(self, record: Any, seat: int | None) -> str:
        """Return a table as text, from the point of view of `seat`, or with all hands open if it is None."""
        return picture.text(self, record, seat)

    def tell(self, events: NDArray[Any], names: Sequence[str], seat: int | None) -> list[str]:
        """Return what happened in words; see `Game.tell`."""
        return commentary.tell(self, events, names, seat)

    def picture(self, record: Any, names: Sequence[str] | None = None) -> Picture:
        """Return a table as a picture; see `Game.picture`."""
        return picture.picture(self, record, names)

    # --- game records

    def record_settings(self) -> dict[str, Any]:
        """Return `mice`, and under `rules` all other options that differ from the printed game."""
        rules = {name: value for name, value in self.unusual_rules.items() if name != "mice"}
        return {"mice": self.rules.mice} | ({"rules": rules} if rules else {})

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Katzenjammer:
        """Return the game of a record; see `Game.from_record`."""
        if "mice" not in record:
            raise ValueError("the record has no 'mice'")
        rules = record.get("rules", {})
        if not isinstance(rules, dict):
            raise ValueError(f"'rules' is {rules!r}; it must be an object of rule options")
        if not isinstance(record["deck"], str):
            raise ValueError("'deck' must be a string of card characters")
        return cls(num_players=record["players"], mice=record["mice"], **rules)

    def ending(self, record: Any) -> str:
        """Return ``mice`` if the last mouse was taken, else ``deck``."""
        return "mice" if record["supply"] == 0 else "deck"
