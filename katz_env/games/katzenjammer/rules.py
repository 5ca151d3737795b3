"""The options of Katzenjammer Blues, and the dtype of the record that holds one table.

The printed game has 90 cards: 15 of each value 1 to 5, and 15 jokers. Two to six players with six cards each bid cards from
their hands for rows of cards. Four cards of a value, jokers standing in, earn as many mice as the value says. Whoever
displays the most jokers at the end loses five mice. Small decks (``values=2, copies=3, set_size=2``) make games that can be
solved exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from katz_env.core.validation import check_integer

AUCTION, PAYMENT, FOURSOMES, OVER = range(4)
"""The phases of a table: the values of its field ``phase``."""

PHASES = ("auction", "payment", "foursomes", "over")

(
    DEALT,  # a seat was dealt a hand; cards: the hand, seen by its owner; number: its size
    LED,  # a seat is the first bandleader
    REVEALED,  # the bandleader revealed a row; cards: the row
    DREW,  # a seat drew a card from the draw pile; cards: the card, seen by its owner; number: 1
    BID,  # a seat bid; number: the action id of the bid
    PASSED,  # a seat passed
    DISCARDED,  # nobody bid; cards: the row, which was discarded
    PAID,  # the high bidder paid; cards: those put down; number: the action id of the bid
    TOOK,  # the high bidder took the row; cards: the row
    PRESENTED,  # a seat presented a foursome; cards: the foursome; number: its value
    WON_MICE,  # the foursome earned mice; number: how many
    THREW,  # a seat discarded a set of jokers without value; cards: the jokers
    FINISHED,  # a seat finished presenting foursomes
    DISPLAYED,  # the game ended; cards: the jokers left in a hand, now displayed
    ENDED,  # the game ended; number: 1 if the last mouse was taken, 0 if the last card was
) = range(15)
"""The kinds of events: the values of the field ``kind`` of an event; see `katz_env.core.event_log`."""

EVENTS = (
    "dealt",
    "led",
    "revealed",
    "drew",
    "bid",
    "passed",
    "discarded",
    "paid",
    "took",
    "presented",
    "won_mice",
    "threw",
    "finished",
    "displayed",
    "ended",
)


@dataclass(frozen=True)
class Rules:
    """The options of a game; the defaults are those of the printed game.

    Parameters
    ----------
    num_players
        The number of players, 2 to 6.
    mice
        The mice in the supply, 1 to 127. None means 20 for up to four players and 24 for five or six.
    values
        The number of card values besides the jokers, 2 to 8, and at most ``2 * copies``: so many cards can a bid of equal
        values name, and with more values one of different values could name more.
    copies
        The number of cards of each value, and of jokers, at least 2. The deck may have at most 127 cards.
    hand_size
        The number of cards dealt to each player. At least three cards must be left for the draw pile.
    set_size
        The number of cards in a set (the foursome of the printed game), 2 to 8 and at most `copies`.
    joker_penalty
        The mice lost by whoever displays the most jokers, 0 to 100.

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
        """Set the default of `mice` and check every option."""
        self._check("num_players", 2, 6)
        if self.mice is None:
            object.__setattr__(self, "mice", 20 if self.num_players <= 4 else 24)
        self._check("mice", 1, 127)
        self._check("values", 2, 8)
        self._check("copies", 2, 127 // (self.values + 1))  # so that every count fits in an int8
        if self.values > 2 * self.copies:  # its id would be that of a payment
            raise ValueError(
                f"values is {self.values}; with copies={self.copies} it must be at most {2 * self.copies}: "
                "a bid of different values must not name more cards than one of equal values can"
            )
        self._check("set_size", 2, min(8, self.copies))
        self._check("joker_penalty", 0, 100)
        # With fewer than three cards in the draw pile no row can be auctioned: a game would have no decision.
        self._check("hand_size", 1, (self.num_cards - 3) // self.num_players)

    def _check(self, option: str, low: int, high: int) -> None:
        value = getattr(self, option)
        check_integer(option, value, low, high)
        object.__setattr__(self, option, int(value))  # NumPy's integers overflow, and are not JSON values

    @property
    def num_cards(self) -> int:
        """The number of cards in the deck."""
        return (self.values + 1) * self.copies


def table_dtype(rules: Rules) -> np.dtype[Any]:
    """Return the dtype of one table.

    The sizes of the fields tell the compiler the numbers of players, values and cards; the other options are stored in the
    record. `known` counts the cards that everybody knows to be in a hand: those taken from a row that have certainly not been
    spent.
    """
    n, kinds = rules.num_players, rules.values + 1
    fields: list[tuple[Any, ...]] = [
        ("rng", np.uint64),  # the state of this table's generator
        ("bid", np.int16),  # the highest bid as an action id, 0 if none
        ("position", np.int16),  # the number of cards that have left the deck
        ("best", np.int16, (n,)),  # the highest bid that each hand can pay, as an action id, 0 if none
        ("hand", np.int8, (n, kinds)),  # the cards in each hand by kind; the last kind is the jokers
        ("known", np.int8, (n, kinds)),  # those of them that everybody knows to be there
        ("claims", np.int8, (n, kinds)),  # the largest number bid in this auction; kind 0 is different values, v is value v
        ("hand_sizes", np.int8, (n,)),  # the number of cards in each hand
        ("displayed", np.int8, (n,)),  # the jokers displayed in front of each player
        ("mice", np.int8, (n,)),  # the mice won, before the penalty
        ("passed", np.int8, (n,)),  # 1 if out of this auction
        ("row", np.int8, (kinds,)),  # the revealed row by kind
        ("discard", np.int8, (kinds,)),  # the discard pile by kind
        ("supply", np.int8),  # the mice that are left
        ("first_seat", np.int8),  # the first bandleader
        ("bandleader", np.int8),  # the present bandleader
        ("turn", np.int8),  # the seat to act; the seat that moved last when the game is over
        ("high_bidder", np.int8),  # the seat of the highest bid, -1 if none
        ("phase", np.int8),  # 0 auction, 1 payment, 2 foursomes, 3 over
        ("total_mice", np.int8),  # an option of the rules, as are the next three
        ("hand_size", np.int8),
        ("set_size", np.int8),
        ("joker_penalty", np.int8),
        ("deal", np.int8, (rules.num_cards,)),  # the kinds of the deck's cards, top card first
    ]
    # The fields of np.record are attributes in plain Python too, so the engine runs with compilation off. The aligned layout
    # keeps the first field of every table, the generator, on an eight-byte boundary.
    return np.dtype((np.record, np.dtype(fields, align=True)))


def rules_of(record: Any) -> Rules:
    """Return the rules of a table, from the sizes and the options in its record."""
    n, kinds = record["hand"].shape
    options = {name: int(record[name]) for name in ("hand_size", "set_size", "joker_penalty")}
    return Rules(n, int(record["total_mice"]), values=kinds - 1, copies=len(record["deal"]) // kinds, **options)
