"""The options of Katzenjammer Blues and the record that holds one table.

The printed game: 90 cards, 15 each of the values 1 to 5 and 15 jokers; 2 to 6 players with six cards each bid for rows
with cards from their hands; four of a value (jokers stand in) earn as many mice as the value says; the most displayed
jokers cost five mice. Small decks (``values=2, copies=3, set_size=2``) make games that can be solved exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from katz_env.core.game import check_integer

AUCTION, PAYMENT, FOURSOMES, OVER = range(4)
"""The phases of a table, as the field ``phase`` holds them."""

PHASES = ("auction", "payment", "foursomes", "over")


@dataclass(frozen=True)
class Rules:
    """The options of a game; the defaults are the printed game.

    Parameters
    ----------
    num_players
        2 to 6.
    mice
        Mice in the supply, 1 to 127. None: 20 for up to four players, 24 for five and six.
    values
        How many card values there are besides the jokers, 2 to 8.
    copies
        How many cards of each value, and how many jokers, at least 2. All cards together may be 127 at most.
    hand_size
        Cards dealt to each player. At least three cards must be left for the draw pile.
    set_size
        Cards in a set (the printed game's foursome), 2 to 8 and at most `copies`.
    joker_penalty
        Mice lost by whoever displays the most jokers, 0 to 100.

    Raises
    ------
    ValueError
        If an option is out of its range, or not an integer.
    """

    num_players: int = 3
    mice: int | None = None
    values: int = 5
    copies: int = 15
    hand_size: int = 6
    set_size: int = 4
    joker_penalty: int = 5

    def __post_init__(self) -> None:
        """Replace the default of `mice` and check every option."""
        self._check("num_players", 2, 6)
        if self.mice is None:
            object.__setattr__(self, "mice", 20 if self.num_players <= 4 else 24)
        self._check("mice", 1, 127)
        self._check("values", 2, 8)
        self._check("copies", 2, 127 // (self.values + 1))  # so that every count fits in an int8
        self._check("set_size", 2, min(8, self.copies))
        self._check("joker_penalty", 0, 100)
        # With fewer than three cards in the draw pile no row can be auctioned: a game would have no decision.
        self._check("hand_size", 1, (self.num_cards - 3) // self.num_players)

    def _check(self, option: str, low: int, high: int) -> None:
        value = getattr(self, option)
        check_integer(option, value, low, high)
        object.__setattr__(self, option, int(value))  # NumPy's integers overflow, and JSON does not know them

    @property
    def num_cards(self) -> int:
        """Cards in the deck."""
        return (self.values + 1) * self.copies


def table_dtype(rules: Rules) -> np.dtype[Any]:
    """The record of one table.

    The sizes of the fields tell the compiler the number of players, of values and of cards; the other options travel in
    the record. `known` is what everybody knows to be in a hand: cards taken from a row and surely not yet spent.
    """
    n, kinds = rules.num_players, rules.values + 1
    fields: list[tuple[Any, ...]] = [
        ("rng", np.uint64),  # this table's generator
        ("bid", np.int16),  # the highest bid as an action id, 0 none
        ("position", np.int16),  # how many cards have left the deck
        ("best", np.int16, (n,)),  # the highest bid that each hand can pay, as an action id, 0 none
        ("hand", np.int8, (n, kinds)),  # cards by kind; the last kind is the jokers
        ("known", np.int8, (n, kinds)),  # those of them that everybody knows to be there
        ("claims", np.int8, (n, kinds)),  # largest number bid in this auction, kind 0 = different values, v = value v
        ("hand_sizes", np.int8, (n,)),  # cards in each hand
        ("displayed", np.int8, (n,)),  # jokers in front of each player
        ("mice", np.int8, (n,)),  # mice won, before the penalty
        ("passed", np.int8, (n,)),  # 1 = out of this auction
        ("row", np.int8, (kinds,)),  # the revealed row by kind
        ("discard", np.int8, (kinds,)),  # the discard pile by kind
        ("supply", np.int8),  # mice left
        ("bandleader", np.int8),  # seat
        ("turn", np.int8),  # seat to act; of the last move when the game is over
        ("high_bidder", np.int8),  # seat, -1 none
        ("phase", np.int8),  # 0 auction, 1 payment, 2 foursomes, 3 over
        ("total_mice", np.int8),  # an option of the rules, as are the next three
        ("hand_size", np.int8),
        ("set_size", np.int8),
        ("joker_penalty", np.int8),
        ("deck", np.int8, (rules.num_cards,)),  # the cards in their order, 0..values-1, values = joker
    ]
    # Records of the kind np.record have attributes in plain Python too, so the engine runs with compilation off. The
    # aligned layout keeps each table's first field, the generator, on an eight-byte boundary.
    return np.dtype((np.record, np.dtype(fields, align=True)))


def rules_of(record: Any) -> Rules:
    """The rules that a table is played by, from the sizes and the options in its record."""
    n, kinds = record["hand"].shape
    options = {name: int(record[name]) for name in ("hand_size", "set_size", "joker_penalty")}
    return Rules(n, int(record["total_mice"]), values=kinds - 1, copies=len(record["deck"]) // kinds, **options)
