"""The options of Meow, and the dtype of the record that holds one table.

The printed game has 54 cards, the ranks 1 to 18 in three colours of which green is always trump, and 27 prize tiles. Two to six
players play three rounds of nine tricks; every trick wins the next tile of the row, good or bad. Small settings (``ranks=6,
tricks=3, rounds=1`` and three tiles) make games that can be solved exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from katz_env.core.validation import check_boolean, check_integer, is_integer

PLAYING, OVER = range(2)
"""The phases of a table: the values of its field ``phase``."""

PHASES = ("playing", "tricks")
"""The names of the phases; the last one is also how a game ends, because its last trick has been played."""

BLUE, PINK, GREEN = range(3)
"""The colours of the cards; green is trump."""

COLOURS = "BPG"

BOWL, FISHBONE, FISH, VASE = range(4)
"""The kinds of tiles."""

NO_LIMIT = -127
"""In the field ``bone_limit``: a seat without fish pays the whole value of its next fishbone."""

(
    OPENED,  # a round began; number: the round, from 1
    LAID,  # the next tile of its row, from the left; number: its place, from 1; cards: the tile
    DEALT,  # a seat was dealt a hand; cards: the hand, seen by its owner; number: its size
    LEADS,  # a seat holds the start marker and leads the first trick of the round
    PLAYED,  # a seat played a card; cards: the card
    WON,  # a seat won the trick and took the leftmost tile; cards: the tile; number: the trick of the round, from 1
    ENDED,  # the last trick was played
) = range(7)
"""The kinds of events: the values of the field ``kind`` of an event; see `katz_env.core.event_log`."""

EVENTS = ("opened", "laid", "dealt", "leads", "played", "won", "ended")


class Tile(NamedTuple):
    """A prize tile; tiles of the same kind and value are alike."""

    kind: int
    value: int
    """The value of a bowl, the negative value of a fishbone; 0 for a fish or a vase."""

    @property
    def name(self) -> str:
        """The name in game records: ``+5``, ``-10``, ``fish`` or ``vase``."""
        return f"{self.value:+}" if self.value else ("fish" if self.kind == FISH else "vase")


@dataclass(frozen=True)
class Rules:
    """The options of a game; the defaults are those of the printed game, with an assumption about the values of its tiles.

    Parameters
    ----------
    num_players
        The number of players, 2 to 6.
    expert
        Whether middle ranks are taken out, so that all cards are dealt. ``num_players * tricks`` must then be at least 6 and
        divisible by 3.
    ranks
        The number of cards of each colour, 2 to 40; ``3 * ranks`` must be at least ``num_players * tricks``.
    tricks
        The number of tricks of a round, and of cards in a hand, 2 to 20.
    rounds
        The number of rounds, 1 to 6.
    bowls, fishbones
        The values of the bowls and of the fishbones, 1 to 100 each, in any order.
    fish, vases
        The numbers of fish and of broken vases. All tiles together must number ``tricks * rounds``, at most 60.
    vase_scores
        What no vase, one vase, two vases and so on count, -1000 to 1000 each; at least ``vases + 1`` numbers.

    Raises
    ------
    ValueError
        If an option is out of its range, or of another type.
    """

    num_players: int = 4
    expert: bool = False
    ranks: int = 18
    tricks: int = 9
    rounds: int = 3
    bowls: Sequence[int] = (1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10)
    fishbones: Sequence[int] = (1, 2, 3, 4, 5, 6, 8, 10)
    fish: int = 4
    vases: int = 4
    vase_scores: Sequence[int] = (0, 0, -20, -20, -40)

    def __post_init__(self) -> None:
        """Check every option, and give each one form: Python's integers, tiles in ascending order."""
        check_boolean("expert", self.expert)
        object.__setattr__(self, "expert", bool(self.expert))
        limits = {
            "num_players": (2, 6),
            "ranks": (2, 40),
            "tricks": (2, 20),
            "rounds": (1, 6),
            "fish": (0, 60),
            "vases": (0, 60),
        }
        for option, (low, high) in limits.items():
            check_integer(option, getattr(self, option), low, high)
            object.__setattr__(self, option, int(getattr(self, option)))
        for option, low, high in (("bowls", 1, 100), ("fishbones", 1, 100), ("vase_scores", -1000, 1000)):
            object.__setattr__(self, option, _integers(option, getattr(self, option), low, high))
        for option in ("bowls", "fishbones"):
            object.__setattr__(self, option, tuple(sorted(getattr(self, option))))
        self._check_numbers()

    def _check_numbers(self) -> None:
        """Check the options against each other."""
        dealt, places = self.num_players * self.tricks, self.tricks * self.rounds
        tiles = len(self.bowls) + len(self.fishbones) + self.fish + self.vases
        if dealt > 3 * self.ranks:
            raise ValueError(
                f"tricks is {self.tricks}; {self.num_players} hands of so many cards are {dealt}, but ranks={self.ranks} "
                f"has only {3 * self.ranks} cards"
            )
        if self.expert and (dealt % 3 or dealt < 6):
            raise ValueError(
                f"expert is True; num_players * tricks must then be divisible by 3 and at least 6, and it is {dealt}"
            )
        if places > 60:
            raise ValueError(f"tricks * rounds is {places}; it must be at most 60")
        if tiles != places:
            raise ValueError(f"bowls, fishbones, fish and vases are {tiles} tiles; they must be tricks * rounds = {places}")
        if len(self.vase_scores) <= self.vases:
            raise ValueError(
                f"vase_scores has {len(self.vase_scores)} numbers; with vases={self.vases} it must have {self.vases + 1}"
            )

    @property
    def kept(self) -> int:
        """The number of cards of each colour in play: the lowest ranks but one, and the highest."""
        return self.num_players * self.tricks // 3 if self.expert else self.ranks

    @cached_property
    def tiles(self) -> tuple[Tile, ...]:
        """All tiles, those that are alike side by side."""
        return (
            *(Tile(BOWL, value) for value in self.bowls),
            *(Tile(FISHBONE, -value) for value in self.fishbones),
            *(Tile(FISH, 0) for _ in range(self.fish)),
            *(Tile(VASE, 0) for _ in range(self.vases)),
        )

    @cached_property
    def tile_types(self) -> tuple[Tile, ...]:
        """The different tiles, in order: bowls and fishbones by ascending size, fish, vase."""
        return tuple(dict.fromkeys(self.tiles))

    @cached_property
    def tile_counts(self) -> tuple[int, ...]:
        """How many tiles there are of each of the `tile_types`."""
        return tuple(self.tiles.count(tile) for tile in self.tile_types)

    @cached_property
    def cards_in_play(self) -> tuple[int, ...]:
        """The ids of the cards in play, ascending."""
        ranks = [*range(1, self.kept), self.ranks]
        return tuple(self.ranks * colour + rank - 1 for colour in range(3) for rank in ranks)


def _integers(option: str, values: Any, low: int, high: int) -> tuple[int, ...]:
    """Return a list of integers as a tuple; raise ValueError if it is none, or one of them is out of its range."""
    if isinstance(values, (str, bytes)) or not isinstance(values, (Sequence, np.ndarray)):
        raise ValueError(f"{option} is {values!r}; it must be a list of integers")
    for value in values:
        if not is_integer(value) or not low <= value <= high:
            raise ValueError(f"{option} has {value!r}; all of them must be integers from {low} to {high}")
    return tuple(map(int, values))


def table_dtype(rules: Rules) -> np.dtype[Any]:
    """Return the dtype of one table.

    The sizes of the fields tell the compiler the numbers of players, cards and tiles; other options are in the record. Hands
    are bit sets, one for each colour, whose bit rank - 1 stands for a card. Fields that observations show are bytes in the
    order of the observation, so that they are copied whole.
    """
    n, kinds, num_bones = rules.num_players, len(rules.tile_types), max(1, len(rules.fishbones))
    bones = np.int16 if num_bones < 16 else np.int64
    cards = np.int32 if rules.ranks < 32 else np.int64
    chance = rules.rounds * len(rules.cards_in_play) + len(rules.tiles)
    fields: list[tuple[Any, ...]] = [
        ("rng", np.uint64),  # the state of this table's generator
        ("hand", cards, (n, 3)),  # the cards in each hand, bit sets by colour
        ("played", cards, (n, 3)),  # the cards that each seat has played in this round, bit sets by colour
        ("undealt", cards, (3,)),  # the cards that were not dealt in this round, bit sets by colour
        ("bones_left", bones, (n,)),  # the fishbones of each seat that count, a bit set: the higher the bit, the worse
        ("bones_taken", bones, (n,)),  # those that its fish take away
        ("score", np.int16, (n,)),  # what the won tiles of each seat count now
        ("vase_scores", np.int16, (rules.vases + 1,)),  # an option of the rules
        ("best", np.int16),  # the highest `strength` of a card in the trick, 0 if there is none
        ("row_type", np.int8, (rules.tricks,)),  # the types of the tiles of the row
        ("row_kind", np.int8, (rules.tricks, 4)),  # their kinds, one-hot
        ("row_value", np.int8, (rules.tricks,)),  # their values
        ("row_gone", np.int8, (rules.tricks,)),  # 1 if the tile has been won
        ("next_kind", np.int8, (4,)),  # the kind of the next tile, one-hot; zeros when the game is over
        ("next_value", np.int8),  # its value
        ("to_come", np.int8, (kinds,)),  # the tiles in stacks that are not opened yet, by type
        ("round_shown", np.int8, (rules.rounds,)),  # the present round, one-hot
        ("trick", np.int8),  # the number of tricks played in this round
        ("expert", np.int8),  # an option of the rules: 1 if middle ranks are taken out
        ("phase", np.int8),  # 0 playing, 1 over
        ("won", np.int8, (n, kinds)),  # the won tiles of each seat by type
        ("trick_colour", np.int8, (n, 3)),  # the card of each seat in the trick: its colour, one-hot
        ("void", np.int8, (n, 3)),  # 1 if the seat did not follow this colour in this round, and so has none of it
        ("trick_rank", np.int8, (n,)),  # the card of each seat in the trick: its rank, 0 if it has not played
        ("shown_score", np.int8, (n,)),  # the score as an observation shows it
        ("gain", np.int8, (n,)),  # what the next tile would add to the score of each seat, as an observation shows it
        ("fish", np.int8, (n,)),  # the fish of each seat
        ("vases", np.int8, (n,)),  # the vases of each seat
        ("fish_gain", np.int8, (n,)),  # what a fish would add to the score: the worst fishbone that counts, 0 if none
        ("bone_limit", np.int8, (n,)),  # the least that a fishbone can add, a negative number: a fish takes any worse one away
        ("vase_gain", np.int8, (n,)),  # what a vase would add to the score, as an observation shows it
        ("led", np.int8),  # the colour led, -1 before the lead
        ("leader", np.int8),  # the seat that leads this trick
        ("played_count", np.int8),  # the number of cards in the trick
        ("round_index", np.int8),  # the number of rounds played before this one
        ("first_seat", np.int8),  # the holder of the start marker in the first round
        ("marker", np.int8),  # the present holder
        ("turn", np.int8),  # the seat to act; the winner of the last trick when the game is over
        ("in_play", np.int8, (rules.ranks,)),  # an option of the rules: 1 for each rank in play
        ("tile_kind", np.int8, (kinds,)),  # options of the rules: of each type of tile its kind
        ("tile_value", np.int8, (kinds,)),  # its value, negative for fishbones
        ("tile_count", np.int8, (kinds,)),  # how many there are
        ("first_bone", np.int8),  # the first type that is a fishbone, after the bowls
        ("first_fish", np.int8),  # the first type after the fishbones
        ("bone_place", np.int8, (kinds,)),  # of each type of fishbone the number of fishbones before it, smaller ones
        ("bone_value", np.int8, (num_bones,)),  # the values of all fishbones, ascending in size
        ("last_card", np.int8, (n,)),  # the card that each seat has played last, in this game, -1 if it has not played
        ("deal", np.int8, (chance,)),  # the decks of all rounds (ids of cards), then the tiles (types)
    ]
    return np.dtype((np.record, np.dtype(fields, align=True)))
