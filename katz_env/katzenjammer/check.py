"""Tells possible tables from impossible ones, before they are put back into play: the engine trusts its records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from katz_env.core.game import Records
from katz_env.katzenjammer import engine
from katz_env.katzenjammer.rules import AUCTION, FOURSOMES, OVER, PAYMENT

if TYPE_CHECKING:
    from katz_env.katzenjammer.game import Katzenjammer


def checked(game: Katzenjammer, records: Any) -> Records:
    """A copy of records in which the fields that follow from the hands (`hand_sizes`, `best`) are renewed.

    Raises
    ------
    ValueError
        If a record cannot be a table of this game; it names the record, the field and what would be right.
    """
    if not isinstance(records, np.ndarray) or records.dtype != game.dtype or records.ndim != 1:
        raise ValueError(f"records must be an array of the dtype of {game!r}")
    records = records.copy()
    _check_ranges(game, records)
    _check_cards(game, records)
    engine.renew_many(records)
    _check_auction(game, records)
    return records


def _require(good: Any, records: Records, field: str, expected: str) -> None:
    if not np.all(good):
        i = int(np.argmin(good))
        raise ValueError(f"record {i} is not a possible table: {field} is {records[field][i]}; it must be {expected}")


def _check_ranges(game: Katzenjammer, records: Records) -> None:
    """Options of the rules, seats, phases and counts."""
    rules, n = game.rules, game.num_players
    options = {"total_mice": rules.mice, "hand_size": rules.hand_size, "set_size": rules.set_size}
    for name, value in (options | {"joker_penalty": rules.joker_penalty}).items():
        _require(records[name] == value, records, name, f"{value}, as in the rules of these tables")
    for name, low, high in (
        ("phase", AUCTION, OVER),
        ("turn", 0, n - 1),
        ("bandleader", 0, n - 1),
        ("high_bidder", -1, n - 1),
        ("bid", 0, game.actions.first_pay_equal - 1),
        ("position", n * rules.hand_size, rules.num_cards),
    ):
        _require((records[name] >= low) & (records[name] <= high), records, name, f"from {low} to {high}")
    for name in ("hand", "known", "displayed", "mice", "row", "discard", "supply", "claims"):
        _require((_flat(records, name) >= 0).all(1), records, name, "counts of at least 0")
    _require((_flat(records, "claims") <= 2 * rules.copies).all(1), records, "claims", f"at most {2 * rules.copies}")
    _require(np.isin(_flat(records, "passed"), (0, 1)).all(1), records, "passed", "0 or 1 for each seat")
    mice = records["mice"].sum(1, dtype=int) + records["supply"]
    _require(mice == rules.mice, records, "mice", f"{rules.mice} with the supply")


def _flat(records: Records, field: str) -> Any:
    array = records[field]
    return array.reshape(len(records), int(np.prod(array.shape[1:], dtype=int)))


def _check_cards(game: Katzenjammer, records: Records) -> None:
    """All cards are somewhere, once, and the deck has as many of each as the rules say."""
    copies = game.rules.copies
    deck, position = records["deck"], records["position"]
    placed = records["hand"].sum(1, dtype=int) + records["row"] + records["discard"]
    placed[:, -1] += records["displayed"].sum(1, dtype=int)
    gone = np.arange(deck.shape[1]) < position[:, None]
    for kind in range(game.rules.values + 1):
        _require((deck == kind).sum(1) == copies, records, "deck", f"{copies} cards of each kind")
        _require(((deck == kind) & gone).sum(1) == placed[:, kind], records, "hand", "the cards that have left the deck")
    _require((records["known"] <= records["hand"]).all((1, 2)), records, "known", "cards of the hand")
    goes_on = records["phase"] != OVER
    _require(~goes_on | (position < deck.shape[1]), records, "position", "below the deck's size while the game goes on")
    jokers_shown = records["hand"][:, :, -1].sum(1) == 0
    _require(goes_on | jokers_shown, records, "hand", "without jokers when the game is over: they are displayed")
    _require(~goes_on | (records["supply"] > 0), records, "supply", "at least 1 while the game goes on")


def _check_auction(game: Katzenjammer, records: Records) -> None:
    """The highest bid belongs to its bidder, all bids can be paid, and the seat to act has a choice."""
    bid, bidder = records["bid"].astype(int), records["high_bidder"].astype(int)
    phase, turn = records["phase"], records["turn"]
    everyone = np.arange(len(records))
    _require((bid > 0) == (bidder >= 0), records, "high_bidder", "a seat exactly when there is a bid")
    _require((phase != PAYMENT) | (bidder == turn), records, "turn", "the high bidder's in a payment")
    _require((phase != FOURSOMES) | (records["bandleader"] == turn), records, "turn", "the bandleader's in the foursomes")
    _require((phase != AUCTION) | (bidder != turn), records, "turn", "another seat than the high bidder's in an auction")
    _require((phase != AUCTION) | (records["passed"][everyone, turn] == 0), records, "turn", "a seat that has a choice")
    number, kind = np.divmod(np.maximum(bid - 1, 0), game.rules.values + 1)
    in_auction = ((phase == AUCTION) | (phase == PAYMENT)) & (bid > 0)
    claimed = records["claims"][everyone, bidder, kind] == number + 1
    _require(~in_auction | claimed, records, "claims", "those of the bids, the highest included")
    payable, choices = np.empty(len(records), np.bool_), np.empty(len(records), np.int64)
    engine.payable_many(records, payable)
    _require(payable, records, "claims", "payable from the hands of their bidders")
    engine.count_choices_many(records, np.empty(game.num_actions, np.bool_), choices)
    _require((phase == OVER) | (choices > 1), records, "turn", "a seat that has a choice")
