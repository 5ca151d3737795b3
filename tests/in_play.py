"""Tables in the middle of their games, and the check that a refused call changes none of their arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from random_play import play_on

from katz_env import Katzenjammer, Tables

DECK = "12345J" * 15
INTEGERS = [0, 1, 2, 3, 4, 5] * 15

WRONG_DECKS = [
    (DECK[:-1], "the deck has 89 cards; it must have 90"),
    (DECK + "1", "the deck has 91 cards; it must have 90"),
    ("", "the deck has 0 cards; it must have 90"),
    ("2" + DECK[1:], "the deck has 14 cards '1'; it must have 15 of each"),
    ("0" + DECK[1:], "the deck has a card '0'; the cards are 1 2 3 4 5 J"),
    ("j" + DECK[1:], "the deck has a card 'j'; the cards are 1 2 3 4 5 J"),
    ([6, *INTEGERS], "the deck has 91 cards; it must have 90"),
    ([6, *INTEGERS[1:]], "the deck has a card 6; cards are 0 to 5"),
    ([-1, *INTEGERS[1:]], "the deck has a card -1; cards are 0 to 5"),
    ([1, *INTEGERS[1:]], "the deck has 14 cards '1'; it must have 15 of each"),
    (np.arange(90) % 6 + 0.0, "a deck must be 90 characters of 12345J or 90 integers"),
    (np.zeros((2, 45), int), "a deck must be 90 characters of 12345J or 90 integers"),
    (7, "a deck must be 90 characters of 12345J or 90 integers"),
    ([[1, 2], [3]], "a deck must be 90 characters of 12345J or 90 integers"),
]
every_wrong_deck = pytest.mark.parametrize(("deck", "message"), WRONG_DECKS)

WRONG_TABLES = [
    ([8], "table 8 does not exist; tables are 0 to 7"),
    ([-1], "table -1 does not exist; tables are 0 to 7"),
    ([1.0], "where are of type float64; they must be integers"),
    ([[1]], r"where have the shape \(1, 1\); it must be \(1,\)"),
    ([True], "where are of type bool"),
    ([3, 3], "where names a table twice"),
]
every_wrong_table = pytest.mark.parametrize(("where", "message"), WRONG_TABLES)


def tables_in_play(num_tables: int = 8, **settings: Any) -> Tables:
    """Tables of three players after some moves."""
    tables = Tables(Katzenjammer(3), num_tables, seed=1, **settings)
    for _ in play_on(tables, np.random.default_rng(1), 7):
        pass
    return tables


def arrays(tables: Tables) -> dict[str, np.ndarray]:
    """Copies of all public arrays of tables, by name."""
    names = ("records", "observations", "action_masks", "turn", "rewards", "terminated", "scores", "final_records")
    return {name: getattr(tables, name).copy() for name in names}


def assert_refused(tables: Tables, call: Callable[[Tables], object], message: str) -> None:
    """The call is a ValueError with this message, and no array of the tables changes."""
    before = arrays(tables)
    with pytest.raises(ValueError, match=message):
        call(tables)
    assert_unchanged(tables, before)


def assert_unchanged(tables: Tables, before: dict[str, np.ndarray]) -> None:
    """All arrays are as they were."""
    for name, array in arrays(tables).items():
        np.testing.assert_array_equal(array, before[name], err_msg=name)


def legal_actions(tables: Tables) -> np.ndarray:
    """The first legal action at every table."""
    return tables.action_masks.argmax(1)
