"""Checks that tables are possible before they are put back into play, since the engine trusts its records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from katz_env.core.game import Records, check_field, require
from katz_env.games.katz_und_maus.rules import OVER, PLAYERS

if TYPE_CHECKING:
    from katz_env.games.katz_und_maus.game import KatzUndMaus


def checked(game: KatzUndMaus, records: Records) -> Records:
    """Check tables, and recompute the fields that follow from others; see `Game.check_tables`.

    Raises
    ------
    ValueError
        If a record cannot be a table of this game. The message names the record, the field and the right values.
    """
    check_ranges(game, records)
    _check_cards(game, records)
    possible, num_legal = game.renewed(records)
    require(possible, records, "heights", "those of the cards that are in no other place")
    _check_turn(game, records)
    require((records["phase"] == OVER) | (num_legal > 1), records, "turn", "a seat that has a choice")
    return records


def check_ranges(game: KatzUndMaus, records: Records) -> None:
    """Check places, sizes and counts, also of redacted tables, so that no value makes compiled functions leave an array."""
    rules = game.rules
    options = {"stock_size": rules.stock_size, "hand_size": rules.hand_size, "merge_equal": int(rules.merge_equal)}
    for name, value in (options | {"ends_with_turn": int(rules.talon_end == "turn")}).items():
        require(records[name] == value, records, name, f"{value}, as in the rules of these tables")
    first = PLAYERS * (rules.stock_size + rules.hand_size)
    for name, low, high in (
        ("drawn", first, rules.num_cards),
        ("hand_sizes", 0, rules.hand_size),
        ("stock_sizes", 0, rules.stock_size),
        ("stock_tops", -1, rules.ranks),
        ("heights", 0, rules.ranks - 1),
        ("hand", 0, min(rules.copies, rules.hand_size)),
        ("hidden", 0, rules.copies),
        ("deposit_sizes", 0, rules.deposit_depth),
        ("buried", 0, rules.copies),
        ("deposit_tops", 0, rules.kinds),
        ("deposited", 0, rules.kinds),
        ("deal", -1, rules.ranks),
    ):
        check_field(records, name, low, high)


def _check_cards(game: KatzUndMaus, records: Records) -> None:
    """Check the deck, and that each deposit has as many cards as it says, at its places."""
    copies, depth = game.rules.copies, game.rules.deposit_depth
    for kind in range(game.rules.kinds):
        require((records["deal"] == kind).sum(1) == copies, records, "deal", f"{copies} cards of each kind")
    holds = np.arange(depth) < records["deposit_sizes"][..., None]
    right = ((records["deposited"] > 0) == holds).all((1, 2, 3))
    require(right, records, "deposited", "cards at the places that deposit_sizes says, and zeros at the others")
    sizes = records["hand"].sum(2, dtype=int)
    require((sizes <= game.rules.hand_size).all(1), records, "hand", f"hands of at most {game.rules.hand_size} cards")


def _check_turn(game: KatzUndMaus, records: Records) -> None:
    """Check that the game can be at this turn, and can go on until the end without a deposit that grows too deep."""
    everyone, over, turn = np.arange(len(records)), records["phase"] == OVER, records["turn"].astype(int)
    empty, full = records["drawn"] == game.rules.num_cards, game.rules.hand_size
    sizes, stocks = records["hand_sizes"], records["stock_sizes"]
    mine, theirs = sizes[everyone, turn], sizes[everyone, 1 - turn]
    require((theirs == full) | empty, records, "hand", f"{full} cards of the seat that waits, unless the talon is empty")
    require((mine > 0) | empty | over, records, "hand", "a card of the seat to act, unless the talon is empty")
    second = turn != records["first_seat"]
    away = stocks[everyone, turn] == 0
    require(stocks[everyone, 1 - turn] > 0, records, "stock_sizes", "at least 1 for the seat that waits")
    require(over | ~away, records, "stock_sizes", "at least 1 while the game goes on")
    ends = away | (empty & (second | (game.rules.talon_end == "turn")))
    require(~over | ends, records, "phase", "that of a game that goes on, with cards in stocks and talon")
    # Each turn lays one card on a deposit and draws at least one, but for the last; see `Rules.deposit_depth`.
    drawn = records["drawn"].astype(int) - PLAYERS * (game.rules.stock_size + full)
    laid = records["deposit_sizes"].sum(2, dtype=int)
    for seat in range(PLAYERS):
        went_first = records["first_seat"] == seat
        before = (drawn + 1) // 2
        before = np.where(over | second & went_first, before, np.where(second, (drawn - 1) // 2, drawn // 2))
        require(laid[:, seat] <= before, records, "deposit_sizes", "as many cards as there were turns")
