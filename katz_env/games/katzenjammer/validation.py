"""Checks that tables are possible before they are put back into play, since the engine trusts its records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from katz_env.core.game import Records, check_field, require
from katz_env.games.katzenjammer.rules import AUCTION, FOURSOMES, OVER, PAYMENT

if TYPE_CHECKING:
    from katz_env.games.katzenjammer.game import Katzenjammer


def checked(game: Katzenjammer, records: Records) -> Records:
    """Check tables, and recompute the fields that follow from the hands (`hand_sizes`, `best`); see `Game.check_tables`.

    Raises
    ------
    ValueError
        If a record cannot be a table of this game. The message names the record, the field and the right values.
    """
    check_ranges(game, records)
    _check_cards(game, records)
    possible, num_legal = game.renewed(records)
    _check_auction(game, records, possible, num_legal)
    return records


def _check_options(game: Katzenjammer, records: Records) -> None:
    rules = game.rules
    options = {"total_mice": rules.mice, "hand_size": rules.hand_size, "set_size": rules.set_size}
    for name, value in (options | {"joker_penalty": rules.joker_penalty}).items():
        require(records[name] == value, records, name, f"{value}, as in the rules of these tables")


def check_ranges(game: Katzenjammer, records: Records) -> None:
    """Check seats and counts, also of redacted tables, so that no value makes compiled functions leave an array."""
    rules, n = game.rules, game.num_players
    _check_options(game, records)
    for name, low, high in (
        ("bandleader", 0, n - 1),
        ("high_bidder", -1, n - 1),
        ("bid", 0, game.actions.first_pay_equal - 1),
        ("position", n * rules.hand_size, rules.num_cards),
    ):
        require((records[name] >= low) & (records[name] <= high), records, name, f"from {low} to {high}")
    for name in ("hand", "hand_sizes", "known", "displayed", "mice", "row", "discard", "supply", "claims"):
        require((_flat(records, name) >= 0).all(1), records, name, "counts of at least 0")
    for name in ("hand", "known", "displayed", "row", "discard"):
        require((_flat(records, name) <= rules.copies).all(1), records, name, f"at most {rules.copies} cards of a kind")
    check_field(records, "deal", -1, rules.values)
    require((_flat(records, "claims") <= 2 * rules.copies).all(1), records, "claims", f"at most {2 * rules.copies}")
    require(np.isin(_flat(records, "passed"), (0, 1)).all(1), records, "passed", "0 or 1 for each seat")
    mice = records["mice"].sum(1, dtype=int) + records["supply"]
    require(mice == rules.mice, records, "mice", f"{rules.mice} with the supply")


def _flat(records: Records, field: str) -> Any:
    array = records[field]
    return array.reshape(len(records), int(np.prod(array.shape[1:], dtype=int)))


def _check_cards(game: Katzenjammer, records: Records) -> None:
    """Check that every card is in exactly one place, and that the deck has as many of each kind as the rules say."""
    copies = game.rules.copies
    deal, position = records["deal"], records["position"]
    placed = records["hand"].sum(1, dtype=int) + records["row"] + records["discard"]
    placed[:, -1] += records["displayed"].sum(1, dtype=int)
    gone = np.arange(deal.shape[1]) < position[:, None]
    for kind in range(game.rules.values + 1):
        require((deal == kind).sum(1) == copies, records, "deal", f"{copies} cards of each kind")
        require(((deal == kind) & gone).sum(1) == placed[:, kind], records, "hand", "the cards that have left the deck")
    require((records["known"] <= records["hand"]).all((1, 2)), records, "known", "cards of the hand")
    goes_on = records["phase"] != OVER
    require(~goes_on | (position < deal.shape[1]), records, "position", "below the deck's size while the game goes on")
    jokers_shown = records["hand"][:, :, -1].sum(1) == 0
    require(goes_on | jokers_shown, records, "hand", "without jokers when the game is over: they are displayed")
    require(~goes_on | (records["supply"] > 0), records, "supply", "at least 1 while the game goes on")


def _check_auction(game: Katzenjammer, records: Records, possible: Any, num_legal: Any) -> None:
    """Check that the highest bid belongs to its bidder, all bids can be paid, and the seat to act has a choice."""
    bid, bidder = records["bid"].astype(int), records["high_bidder"].astype(int)
    phase, turn = records["phase"], records["turn"]
    everyone = np.arange(len(records))
    require((bid > 0) == (bidder >= 0), records, "high_bidder", "a seat exactly when there is a bid")
    require((phase != PAYMENT) | (bidder == turn), records, "turn", "the high bidder's in a payment")
    require((phase != FOURSOMES) | (records["bandleader"] == turn), records, "turn", "the bandleader's in the foursomes")
    require((phase != AUCTION) | (bidder != turn), records, "turn", "another seat than the high bidder's in an auction")
    require((phase != AUCTION) | (records["passed"][everyone, turn] == 0), records, "turn", "a seat that has a choice")
    number, kind = np.divmod(np.maximum(bid - 1, 0), game.rules.values + 1)
    in_auction = ((phase == AUCTION) | (phase == PAYMENT)) & (bid > 0)
    claimed = records["claims"][everyone, bidder, kind] == number + 1
    require(~in_auction | claimed, records, "claims", "those of the bids, the highest included")
    require(possible, records, "claims", "payable from the hands of their bidders")
    require((phase == OVER) | (num_legal > 1), records, "turn", "a seat that has a choice")
