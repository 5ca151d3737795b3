"""Katz und Maus as a `Game`: settings, names, records and drawings around the compiled engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from katz_env.core.batch import TableFunctions
from katz_env.core.game import Game, Records
from katz_env.core.validation import check_integer
from katz_env.drawing import Picture
from katz_env.games.katz_und_maus import commentary, engine, hidden, observation, picture, validation
from katz_env.games.katz_und_maus.actions import ActionTable
from katz_env.games.katz_und_maus.features import features_of
from katz_env.games.katz_und_maus.observation import observation_fields, state_fields
from katz_env.games.katz_und_maus.rules import EVENTS, PHASES, PLAYERS, Rules, table_dtype


class KatzUndMaus(Game):
    """Katz und Maus.

    Parameters
    ----------
    num_players
        The number of players, which must be 2.
    ranks, copies, stock_size, hand_size, stacks, deposits, talon_end, merge_equal
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
    """

    name: ClassVar[str] = "katz_und_maus"
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
    points_name: ClassVar[str] = "Score: minus the cards left in the stock"
    word_fields: ClassVar[tuple[str, ...]] = ("heights", "hand", "hidden", "deposit_tops")
    screen_path: ClassVar[str] = "katz_env.games.katz_und_maus.terminal:KatzUndMausScreen"

    def __init__(
        self,
        num_players: int = PLAYERS,
        ranks: int = 12,
        copies: int = 12,
        stock_size: int = 15,
        hand_size: int = 5,
        stacks: int = 4,
        deposits: int = 4,
        talon_end: str = "round",
        merge_equal: bool = False,
    ) -> None:
        check_integer("num_players", num_players, PLAYERS, PLAYERS)
        self.rules = Rules(ranks, copies, stock_size, hand_size, stacks, deposits, talon_end, merge_equal)
        self.actions = ActionTable(self.rules)
        self._features = features_of(self.rules)
        self.feature_fields = self._features.fields
        self.cards = self.card_names = self.actions.cards  # type: ignore[misc]
        super().__init__(
            PLAYERS, self.actions.size, table_dtype(self.rules), observation_fields(self.rules), state_fields(self.rules)
        )

    def __repr__(self) -> str:
        """Return the call that makes this game, without default options."""
        return f"KatzUndMaus({', '.join(f'{name}={value!r}' for name, value in self.record_settings().items())})"

    @property
    def settings(self) -> dict[str, Any]:
        """The number of players and the fields of `Rules` as keyword arguments."""
        return {"num_players": PLAYERS} | asdict(self.rules)

    def features(self, observations: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return how far each stack is from the cards that a seat could play on it, int8 ``(k, F)``; see `features.py`."""
        return self._features(observations)

    # --- tables

    def prepare(self, records: Records) -> None:
        """Write the options of the rules into new tables."""
        records["stock_size"], records["hand_size"] = self.rules.stock_size, self.rules.hand_size
        records["merge_equal"], records["ends_with_turn"] = self.rules.merge_equal, self.rules.talon_end == "turn"

    @property
    def max_events(self) -> int:
        """An upper bound on the events of one deal or step, forced moves included."""
        # With several deposits to choose from, a move is forced only if the hand is empty and the talon too.
        rules = self.rules
        moves = 3 if rules.deposits > 1 and not rules.merge_equal else rules.most_moves
        return 8 + 4 * moves

    def parse_deal(self, given: Mapping[str, Any]) -> NDArray[np.int8]:
        """Return the kinds of the cards of a given ``deck``, int8: characters such as ``"A2K"``, in the order of the deal.

        Raises
        ------
        ValueError
            If a card is unknown, or the number of cards or of a kind is wrong.
        """
        deck, size, copies = given["deck"], self.rules.num_cards, self.rules.copies
        if not isinstance(deck, str):
            raise ValueError(f"a deck is a string of {size} card characters, not {deck!r}")
        strange = next((card for card in deck if card not in self.cards), None)
        if strange is not None:
            raise ValueError(f"the deck has a card {strange!r}; the cards are {' '.join(self.cards)}")
        if len(deck) != size:
            raise ValueError(f"the deck has {len(deck)} cards; it must have {size}")
        for card in self.cards:
            if deck.count(card) != copies:
                raise ValueError(f"the deck has {deck.count(card)} cards {card!r}; it must have {copies} of each")
        return np.array([self.cards.index(card) for card in deck], np.int8)

    def describe_deal(self, record: Any) -> dict[str, Any]:
        """Return the ``deck`` as characters, in the order of the deal."""
        return {"deck": "".join(self.cards[kind] for kind in record["deal"])}

    def check_deals(self, deals: NDArray[np.int8]) -> None:
        """Check that every row is a whole deck or, if all of it is to be drawn, negative."""
        copies, kinds = self.rules.copies, np.arange(len(self.cards))
        given = np.flatnonzero((deals >= 0).any(1))
        wrong = given[((deals[given, :, None] == kinds).sum(1) != copies).any(1)]
        if len(wrong):
            raise ValueError(f"deal {wrong[0]} is no deck; it must have {copies} cards of each kind from 0 to {kinds[-1]}")

    def extra_results(self, records: Records) -> dict[str, NDArray[np.int64]]:
        """Return the cards left in each `stock`, int64 ``(k, n)``."""
        return {"stock": records["stock_sizes"].astype(np.int64)}

    def points(self, records: Records) -> NDArray[np.int64]:
        """Return minus the cards left in the stocks, int64 ``(k, n)``."""
        return -self._checked_records(records)["stock_sizes"].astype(np.int64)

    def check_tables(self, records: Records) -> Records:
        """Check tables that are put back into play; see `Game.check_tables`."""
        return validation.checked(self, records)

    def check_ranges(self, records: Records) -> None:
        """Check places, sizes and counts; see `Game.check_ranges`."""
        validation.check_ranges(self, records)

    # --- words

    def action_name(self, record: Any, action: int) -> str:
        """Return the name of `action`, such as ``7>s1`` or ``stock>s2``."""
        del record
        return self.actions.name(action)

    def text(self, record: Any, seat: int | None) -> str:
        """Return a table as text, from the point of view of `seat`, or with both hands open if it is None."""
        return picture.text(self, record, seat)

    def tell(self, events: NDArray[Any], names: Sequence[str], seat: int | None) -> list[str]:
        """Return what happened in words; see `Game.tell`."""
        return commentary.tell(self, events, names, seat)

    def picture(self, record: Any, names: Sequence[str] | None = None) -> Picture:
        """Return a table as a picture; see `Game.picture`."""
        return picture.picture(self, record, names)

    # --- game records

    def record_settings(self) -> dict[str, Any]:
        """Return the options that differ from the usual game."""
        usual = asdict(Rules())
        return {name: value for name, value in asdict(self.rules).items() if value != usual[name]}

    def ending(self, record: Any) -> str:
        """Return ``stock`` if a stock was played away, else ``talon``."""
        return "stock" if (record["stock_sizes"] == 0).any() else "talon"
