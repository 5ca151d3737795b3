"""The options of Katz und Maus, and the dtype of the record that holds one table.

Katz und Maus (Cat and Mouse, Spite and Malice) is the ancestor of Skip-Bo: two players build common stacks from ace to queen,
kings are wild, and whoever first gets rid of their stock wins. The usual game has 156 cards, twelve of each rank, of which
each player gets a stock of 15 cards and a hand of five. In a turn a player plays any number of cards onto stacks, from the
hand, the top of the stock and the tops of their deposits, and then lays a hand card on one of their deposits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from katz_env.core.validation import check_boolean, check_integer

PLAYERS = 2
"""The number of players, which is no option."""

SHOWN = 8
"""The number of cards at the top of each deposit that an observation shows in their order: as many as a word holds."""

PLAYING, OVER = range(2)
"""The phases of a table: the values of its field ``phase``."""

PHASES = ("playing", "over")

(
    DEALT,  # a seat was dealt a hand; cards: the hand, seen by its owner; number: its size
    OPENED,  # the top card of a seat's stock was turned up; cards: the card; number: the cards left in the stock
    LED,  # a seat begins
    FROM_HAND,  # a seat played a hand card onto a stack; cards: the card; number: the action id
    FROM_DEPOSIT,  # a seat played the top card of a deposit onto a stack; cards: the card; number: the action id
    FROM_STOCK,  # a seat played the top card of its stock onto a stack; cards: the card; number: the action id
    GREW,  # the stack of this play reached a height; number: the height
    COMPLETED,  # the stack of this play was complete and was taken away; number: its index
    DISCARDED,  # a seat laid a hand card on a deposit, which ended its turn; cards: the card; number: the action id
    PASSED_ON,  # a seat without a card in hand ended its turn
    DREW,  # a seat drew cards from the talon; cards: the cards, seen by the seat; number: how many
    ENDED,  # the game ended; number: 1 if the seat has played away its stock, 0 if the talon was used up
) = range(12)
"""The kinds of events: the values of the field ``kind`` of an event; see `katz_env.core.event_log`."""

EVENTS = (
    "dealt",
    "opened",
    "led",
    "from_hand",
    "from_deposit",
    "from_stock",
    "grew",
    "completed",
    "discarded",
    "passed_on",
    "drew",
    "ended",
)

ENDS = ("round", "turn")
"""When an empty talon ends the game: after a round, or after any turn."""


@dataclass(frozen=True)
class Rules:
    """The options of a game; the defaults are the usual ones.

    Parameters
    ----------
    ranks
        The number of ranks below the wild card, 1 to 12: the height at which a stack is complete.
    copies
        The number of cards of each rank, and of wild cards, 1 to 20. The deck may have at most 240 cards.
    stock_size, hand_size
        The cards dealt to each player's stock, 1 to 100, and hand, 1 to 10. A card must be left for the talon.
    stacks, deposits
        The number of stacks in the middle, and of deposits of each player, 1 to 8 each.
    talon_end
        ``"round"``: an empty talon ends the game after the turn of the player who went second. ``"turn"``: after any turn.
    merge_equal
        Whether of moves that differ only by symmetry one is legal: among stacks of equal height, and among empty deposits, the
        lowest-numbered.

    Raises
    ------
    ValueError
        If an option is out of its range, or of another type.
    """

    ranks: int = 12
    copies: int = 12
    stock_size: int = 15
    hand_size: int = 5
    stacks: int = 4
    deposits: int = 4
    talon_end: str = "round"
    merge_equal: bool = False

    def __post_init__(self) -> None:
        """Check every option."""
        self._check("ranks", 1, 12)
        self._check("copies", 1, 20)
        self._check("stock_size", 1, 100)
        self._check("hand_size", 1, 10)
        self._check("stacks", 1, 8)
        self._check("deposits", 1, 8)
        if self.num_cards > 240:
            raise ValueError(
                f"ranks={self.ranks} and copies={self.copies} make {self.num_cards} cards; at most 240 are possible"
            )
        if self.talon_size < 1:
            raise ValueError(
                f"stock_size={self.stock_size} and hand_size={self.hand_size} leave no card of {self.num_cards} for the talon; "
                f"together they must be at most {(self.num_cards - 1) // 2}"
            )
        if self.talon_end not in ENDS:
            raise ValueError(f"talon_end is {self.talon_end!r}; it must be 'round' or 'turn'")
        check_boolean("merge_equal", self.merge_equal)
        object.__setattr__(self, "merge_equal", bool(self.merge_equal))

    def _check(self, option: str, low: int, high: int) -> None:
        value = getattr(self, option)
        check_integer(option, value, low, high)
        object.__setattr__(self, option, int(value))  # NumPy's integers are not JSON values

    @property
    def kinds(self) -> int:
        """The number of kinds of cards: the ranks and the wild card."""
        return self.ranks + 1

    @property
    def num_cards(self) -> int:
        """The number of cards in the deck."""
        return self.kinds * self.copies

    @property
    def talon_size(self) -> int:
        """The number of cards in the talon after the deal."""
        return self.num_cards - PLAYERS * (self.stock_size + self.hand_size)

    @property
    def deposit_depth(self) -> int:
        """The most cards that a deposit can hold.

        Every turn lays one card on a deposit and draws at least one from the talon, and the game ends with the round in which
        the talon runs out.
        """
        return (self.talon_size + 1) // 2

    @property
    def most_moves(self) -> int:
        """The most moves of a game, forced ones included."""
        return 2 * self.num_cards - 2 * self.stock_size + 2


def table_dtype(rules: Rules) -> np.dtype[Any]:
    """Return the dtype of one table.

    The sizes of the fields tell the compiler the numbers of ranks, stacks, deposits and cards; the other options are stored in
    the record. A *kind* is the index of a rank, 0 for the ace; the wild king has the last one.
    """
    n, kinds, deposits = PLAYERS, rules.kinds, rules.deposits
    fields: list[tuple[Any, ...]] = [
        ("rng", np.uint64),  # the state of this table's generator
        ("drawn", np.int16),  # the place in the deck of the talon's top card
        ("turn", np.int8),  # the seat to act; the seat that moved last when the game is over
        ("phase", np.int8),  # 0 playing, 1 over
        ("first_seat", np.int8),  # the seat that begins
        ("merge_equal", np.int8),  # an option of the rules, as are the next three
        ("ends_with_turn", np.int8),  # 1 if an empty talon ends the game after any turn
        ("stock_size", np.int8),
        ("hand_size", np.int8),
        ("hand_sizes", np.int8, (n,)),  # the number of cards in each hand
        ("stock_sizes", np.int8, (n,)),  # the number of cards in each stock, the open one included
        ("stock_tops", np.int8, (n,)),  # the kind of each stock's open card, -1 if the stock is played away
        ("heights", np.int8, (rules.stacks,)),  # the height of each stack, which is the kind that it wants
        ("hand", np.int8, (n, kinds)),  # the cards in each hand by kind
        ("hidden", np.int8, (kinds,)),  # the cards that nobody has seen, by kind: the talon, and the stocks below their tops
        ("deposit_sizes", np.int8, (n, deposits)),  # the number of cards on each deposit
        ("buried", np.int8, (n, deposits * kinds)),  # of each deposit by kind: the cards below the upper SHOWN ones
        # The upper SHOWN cards of each deposit as kind + 1, the top one last, zeros for those that it lacks: a word for each.
        ("deposit_tops", np.int8, (n, deposits * SHOWN)),
        ("deal", np.int8, (rules.num_cards,)),  # the kinds of the deck's cards: stocks, hands and talon
        ("deposited", np.int8, (n, deposits, rules.deposit_depth)),  # all cards of each deposit as kind + 1, the lowest first
        ("padding", np.int8, (8,)),  # room for the word operations on the fields before it
    ]
    # The fields of np.record are attributes in plain Python too, so the engine runs with compilation off. The aligned layout
    # keeps the first field of every table, the generator, on an eight-byte boundary.
    return np.dtype((np.record, np.dtype(fields, align=True)))
