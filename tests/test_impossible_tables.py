"""`Tables.restore` refuses records that cannot be a table of its game, names the field, and changes nothing."""

import numpy as np
import pytest
from random_play import play_on, random_positions

from katz_env import Katzenjammer, Tables

GAME = Katzenjammer(3)
POSITIONS = random_positions(GAME, 64, 12, seed=1)


def a_table(phase, with_bid=True):
    """A possible table in a phase; in an auction, with or without a bid."""
    fits = (POSITIONS["phase"] == phase) & ((POSITIONS["bid"] > 0) | (not with_bid))
    fits &= (POSITIONS["row"].sum(1) > 0) | (phase == 2)
    return POSITIONS[fits][0].copy()


def set_to(field, value, index=...):
    def spoil(record):
        record[field][index] = value

    def spoil_number(record):
        record[field] = value

    return spoil_number if index is ... else spoil


def add(field, index, number=1):
    def spoil(record):
        record[field][index] += number

    return spoil


def swap_in_deck(record):
    """Puts a card of another kind on the draw pile, which then has one too many of it."""
    kinds, last = record["deal"], len(record["deal"]) - 1
    kinds[last] = (kinds[last] + 1) % 6


def move_a_card_to_a_hand(record):
    """Exchanges a card of a hand for one of another kind that lies elsewhere."""
    kind = int(np.argmax(record["hand"][0]))
    record["hand"][0, kind] -= 1
    record["hand"][0, (kind + 1) % 6] += 1


def know_too_much(record):
    record["known"][0] = record["hand"][0] + 1


def forget_the_claims(record):
    record["claims"][:] = 0


def no_choice(record):
    record["passed"][record["turn"]] = 1


def take_all_mice(record):
    record["mice"][:] = 0
    record["mice"][0] = record["total_mice"]
    record["supply"] = 0


def take_the_whole_pile(record):
    """Puts the draw pile into the discard pile, as if it had been taken."""
    for kind in record["deal"][record["position"] :]:
        record["discard"][kind] += 1
    record["position"] = len(record["deal"])


SPOILED = [
    ("total_mice is 24; it must be 20, as in the rules", 0, set_to("total_mice", 24)),
    ("hand_size is 5; it must be 6, as in the rules", 0, set_to("hand_size", 5)),
    ("set_size is 3; it must be 4, as in the rules", 0, set_to("set_size", 3)),
    ("joker_penalty is 0; it must be 5, as in the rules", 0, set_to("joker_penalty", 0)),
    ("phase is 4; it must be from 0 to 3", 0, set_to("phase", 4)),
    ("phase is -1; it must be from 0 to 3", 0, set_to("phase", -1)),
    ("turn is 3; it must be from 0 to 2", 0, set_to("turn", 3)),
    ("bandleader is -1; it must be from 0 to 2", 0, set_to("bandleader", -1)),
    ("high_bidder is 3; it must be from -1 to 2", 0, set_to("high_bidder", 3)),
    ("hand is .* counts of at least 0", 0, set_to("hand", -1, (1, 2))),
    ("known is .* counts of at least 0", 0, set_to("known", -1, (1, 2))),
    ("displayed is .* counts of at least 0", 0, set_to("displayed", -1, 0)),
    ("mice is .* counts of at least 0", 0, set_to("mice", -1, 0)),
    ("row is .* counts of at least 0", 0, set_to("row", -1, 0)),
    ("discard is .* counts of at least 0", 0, set_to("discard", -1, 0)),
    ("supply is -1; it must be counts of at least 0", 0, set_to("supply", -1)),
    ("passed is .* 0 or 1 for each seat", 0, set_to("passed", 2, 0)),
    ("passed is .* 0 or 1 for each seat", 0, set_to("passed", -1, 0)),
    ("position is -1; it must be from 18 to 90", 0, set_to("position", -1)),
    ("position is 91; it must be from 18 to 90", 0, set_to("position", 91)),
    ("deal is .* 15 cards of each kind", 0, swap_in_deck),
    ("deal is .* 15 cards of each kind", 0, set_to("deal", -1, slice(None))),
    ("hand is .* the cards that have left the deck", 0, move_a_card_to_a_hand),
    ("hand is .* the cards that have left the deck", 0, add("discard", 3)),
    ("hand is .* the cards that have left the deck", 0, add("displayed", 1)),
    ("known is .* cards of the hand", 0, know_too_much),
    ("position is 90; it must be below the deck's size while the game goes on", 0, take_the_whole_pile),
    ("mice is .* it must be 20 with the supply", 0, add("mice", 1)),
    ("supply is 0; it must be at least 1 while the game goes on", 0, take_all_mice),
    ("bid is -1; it must be from 0 to 180", 0, set_to("bid", -1)),
    ("bid is 181; it must be from 0 to 180", 0, set_to("bid", 181)),
    ("high_bidder is -1; it must be a seat exactly when there is a bid", 0, set_to("high_bidder", -1)),
    ("high_bidder is .* a seat exactly when there is a bid", 0, set_to("bid", 0)),
    ("turn is .* the high bidder's in a payment", 1, lambda r: set_to("turn", (r["turn"] + 1) % 3)(r)),
    ("turn is .* the bandleader's in the foursomes", 2, lambda r: set_to("turn", (r["turn"] + 1) % 3)(r)),
    ("claims is .* counts of at least 0", 0, set_to("claims", -1, (0, 0))),
    ("claims is .* those of the bids, the highest included", 0, forget_the_claims),
    ("claims is .* payable from the hands of their bidders", 0, lambda r: set_to("claims", 30, (int(r["turn"]), 5))(r)),
    ("turn is .* a seat that has a choice", 0, no_choice),
]
cases = [pytest.param(*case, id=f"{number}-{case[0].partition(' ')[0]}") for number, case in enumerate(SPOILED)]


def everything(tables):
    return [array.copy() for array in (tables.records, tables.observations, tables.action_masks, tables.rewards, tables.turn)]


@pytest.mark.parametrize(("message", "phase", "spoil"), cases)
def test_restore_refuses_an_impossible_table_and_leaves_the_others_alone(message, phase, spoil):
    tables = Tables(GAME, 6, seed=2)
    before = everything(tables)
    good = a_table(phase)
    GAME.check(np.array([good, good]))
    bad = good.copy()
    spoil(bad)
    records = np.array([good, bad])
    with pytest.raises(ValueError, match=r"(?s)^record 1 is not a possible table: " + message):
        tables.restore(records, [4, 1])
    for array, old in zip(everything(tables), before, strict=True):
        np.testing.assert_array_equal(array, old)


@pytest.mark.parametrize(
    "records",
    [
        Katzenjammer(4).new_tables(1),
        np.zeros(1, np.int8),
        np.zeros(1),
        Katzenjammer(3, values=4).new_tables(1),
    ],
    ids=["four players", "int8", "float", "four values"],
)
def test_restore_refuses_records_of_another_kind(records):
    tables = Tables(GAME, 1, seed=3)
    before = everything(tables)
    with pytest.raises(ValueError, match=r"records must be an array of the dtype of Katzenjammer\(num_players=3\)"):
        tables.restore(records)
    for array, old in zip(everything(tables), before, strict=True):
        np.testing.assert_array_equal(array, old)


def test_restore_refuses_another_number_of_records_than_tables():
    tables = Tables(GAME, 4, seed=4)
    with pytest.raises(ValueError, match="there are 2 records for 4 tables"):
        tables.restore(tables.records[:2].copy())


def test_restore_renews_what_follows_from_the_hands():
    tables, twin = Tables(GAME, 8, seed=7), Tables(GAME, 8, seed=8)
    records = tables.records.copy()
    records["hand_sizes"], records["best"] = 1, 180
    twin.restore(records)
    assert (records["best"] == 180).all()
    for array, other in zip(everything(tables), everything(twin), strict=True):
        np.testing.assert_array_equal(array, other)


def test_restoring_no_tables_changes_nothing():
    tables = Tables(GAME, 4, seed=5)
    before = everything(tables)
    tables.restore(tables.records[:0].copy(), np.zeros(0, int))
    for array, old in zip(everything(tables), before, strict=True):
        np.testing.assert_array_equal(array, old)


def test_a_check_of_no_tables_finds_nothing_wrong():
    GAME.check(GAME.new_tables(0))


def test_restore_accepts_every_table_of_random_games(players):
    game = Katzenjammer(players)
    tables = Tables(game, 24, seed=6, autoreset=False)
    for _ in play_on(tables, np.random.default_rng(6), 150):
        tables.restore(tables.records.copy())
