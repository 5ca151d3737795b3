"""Checks that tables are possible before they are put back into play, since the engine trusts its records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from katz_env.core.game import Records, check_field, require
from katz_env.games.meow import deals
from katz_env.games.meow.rules import OVER

if TYPE_CHECKING:
    from katz_env.games.meow.game import Meow


def checked(game: Meow, records: Records) -> Records:
    """Check tables, and recompute the fields that follow from the deal and from what was played; see `Game.check_tables`.

    Raises
    ------
    ValueError
        If a record cannot be a table of this game. The message names the record, the field and the right values.
    """
    check_ranges(game, records)
    require((records["deal"] >= 0).all(1), records, "deal", "cards and tiles, because the table is not redacted")
    try:
        deals.check(game, records["deal"])
    except ValueError as error:
        raise ValueError(f"record {str(error).removeprefix('deal ')}") from None
    possible, num_legal = game.renewed(records)
    require(possible, records, "played", "cards, and with them tiles, that the deal and the tricks so far can have led to")
    require((records["phase"] == OVER) | (num_legal > 1), records, "turn", "a seat that has a choice")
    return records


def check_ranges(game: Meow, records: Records) -> None:
    """Check seats, cards, tiles and counts, also of redacted tables, so that no value makes compiled code leave an array."""
    rules, n, kinds = game.rules, game.num_players, len(game.tiles)
    for field, values in game.fixed_fields.items():
        good = (records[field] == values).reshape(len(records), np.size(values)).all(1)
        require(good, records, field, f"{values}, as in the rules of these tables")
    for field, low, high in (
        ("deal", -1, max(len(game.cards), kinds) - 1),
        ("hand", 0, (1 << rules.ranks) - 1),
        ("undealt", 0, (1 << rules.ranks) - 1),
        ("played", 0, (1 << rules.ranks) - 1),
        ("trick_colour", 0, 1),
        ("trick_rank", 0, rules.ranks),
        ("last_card", -1, len(game.cards) - 1),
        ("void", 0, 1),
        ("led", -1, 2),
        ("row_type", 0, kinds - 1),
        ("round_index", 0, rules.rounds - 1),
        ("trick", 0, rules.tricks),
        ("leader", 0, n - 1),
        ("marker", 0, n - 1),
        ("played_count", 0, n - 1),
    ):
        check_field(records, field, low, high)
    for field in ("fish", "vases"):
        check_field(records, field, 0, getattr(rules, field))
    for field in ("won", "to_come"):
        counts = records[field].reshape(len(records), -1, kinds) if len(records) else records[field]
        good = (counts >= 0) & (counts <= np.array(rules.tile_counts, np.int8))
        require(good.all(axis=tuple(range(1, good.ndim))), records, field, "tiles of each type, no more than the game has")
