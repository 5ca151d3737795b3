"""What `Tables` refuses: a ValueError names the wrong value and what would be right, and no array changes."""

import json

import numpy as np
import pytest
from in_play import DECK, INTEGERS, assert_refused, every_wrong_deck, every_wrong_table, legal_actions, tables_in_play

from katz_env import Katzenjammer, Tables


def with_one(array, index, value):
    changed = np.array(array)
    changed[index] = value
    return changed


def an_illegal_id(tables, table):
    return int(np.flatnonzero(~tables.action_masks[table])[3])


# --- steps


@pytest.mark.parametrize("action", [-1, -256, 256, 10**12, 6 * 29 + 6])
def test_an_impossible_action_at_one_table_moves_no_table(action):
    tables = tables_in_play()
    message = rf"action {action} is illegal at table 5; legal are \d+ \("
    assert_refused(tables, lambda t: t.step(with_one(legal_actions(t), 5, action)), message)


def test_the_message_about_an_illegal_action_lists_legal_ones_by_id_and_name():
    tables = Tables(Katzenjammer(2), autoreset=False)
    deck = "333444" + "112255" + "433" + "4" * 11 + "3" * 10 + "1" * 13 + "2" * 13 + "5" * 13 + "J" * 15
    tables.deal({"deck": deck, "bandleader": 1})
    assert_refused(tables, lambda t: t.step([255]), r"action 255 is illegal at table 0; legal are 0 \(pass\), 4 \(1x3\)")


def test_an_illegal_action_is_named_with_its_table_when_only_some_are_stepped():
    tables = tables_in_play()
    wrong = an_illegal_id(tables, 6)
    actions = np.array([legal_actions(tables)[2], wrong])
    assert_refused(tables, lambda t: t.step(actions, np.array([2, 6])), f"action {wrong} is illegal at table 6")


@pytest.mark.parametrize(
    ("actions", "message"),
    [(np.zeros(8), "actions are of type float64; they must be integers"),
     (np.zeros(8, bool), "actions are of type bool; they must be integers"),
     (["pass"] * 8, "actions are of type <U4; they must be integers"),
     (np.zeros(7, int), r"actions have the shape \(7,\); it must be \(8,\)"),
     (np.zeros((8, 1), int), r"actions have the shape \(8, 1\); it must be \(8,\)"),
     (0, r"actions have the shape \(\); it must be \(8,\)"),
     ([None] * 8, "actions are of type object; they must be integers")],
)  # fmt: skip
def test_actions_of_the_wrong_kind_or_number_are_refused(actions, message):
    assert_refused(tables_in_play(), lambda t: t.step(actions), message)


@every_wrong_table
def test_tables_that_do_not_exist_are_refused_everywhere(where, message):
    tables = tables_in_play()
    records = tables.records[: len(where)].copy()
    actions = legal_actions(tables)[: len(where)]
    assert_refused(tables, lambda t: t.step(actions, np.array(where)), message)
    assert_refused(tables, lambda t: t.reset(where=where), message)
    assert_refused(tables, lambda t: t.reset(1, where), message)
    assert_refused(tables, lambda t: t.deal([{"deck": DECK}] * len(where), where), message)
    assert_refused(tables, lambda t: t.restore(records, where), message)


@pytest.mark.parametrize(
    ("seats", "message"),
    [(3, "seat 3 does not exist; seats are 0 to 2"),
     ([0] * 7 + [-1], "seat -1 does not exist; seats are 0 to 2"),
     ([0, 1], r"seats have the shape \(2,\); it must be \(8,\)"),
     (0.5, "seats are of type float64; they must be integers")],
)  # fmt: skip
def test_seats_that_do_not_exist_are_refused(seats, message):
    tables = tables_in_play()
    assert_refused(tables, lambda t: t.observe(seats), message)
    assert_refused(tables, lambda t: t.state(seats), message)


@pytest.mark.parametrize("seed", [-1, 1.5, True, "1"])
def test_a_wrong_seed_is_refused(seed):
    assert_refused(tables_in_play(), lambda t: t.reset(seed), f"seed is {seed!r}; it must be an integer of at least 0")
    with pytest.raises(ValueError, match="seed is"):
        Tables(Katzenjammer(3), seed=seed)


# --- deals


@every_wrong_deck
def test_a_wrong_deck_is_refused_and_the_right_ones_beside_it_are_not_dealt(deck, message):
    assert_refused(tables_in_play(), lambda t: t.deal([{"deck": DECK}, {"deck": deck}], [0, 1]), message)


@pytest.mark.parametrize(
    ("seats", "message"),
    [([0, 3], "bandleader is 3; it must be an integer from 0 to 2"),
     ([-1, 0], "bandleader is -1; it must be an integer from 0 to 2"),
     ([0], "there are 1 deals for 2 tables"),
     ([0.0, 1.0], "bandleader is 0.0; it must be an integer from 0 to 2"),
     ([True, 1], "bandleader is True; it must be an integer from 0 to 2"),
     ([256, 0], "bandleader is 256; it must be an integer from 0 to 2")],
)  # fmt: skip
def test_a_wrong_bandleader_is_refused(seats, message):
    assert_refused(tables_in_play(), lambda t: t.deal([{"bandleader": seat} for seat in seats], [0, 1]), message)
    deals = [{"deck": DECK, "bandleader": seat} for seat in seats]
    assert_refused(tables_in_play(), lambda t: t.deal(deals, [0, 1]), message)


def test_the_number_of_deals_must_be_the_number_of_tables():
    assert_refused(tables_in_play(), lambda t: t.deal([{"deck": DECK}] * 3), "there are 3 deals for 8 tables")


def test_one_deal_is_for_all_tables_and_nonsense_is_refused():
    tables = tables_in_play(3)
    tables.deal({"deck": DECK})
    assert tables.records["deal"].tolist() == [INTEGERS] * 3
    for deck in (7, 1.5, b"1", object()):
        message = "a deck must be 90 characters of 12345J or 90 integers"
        assert_refused(tables, lambda t, deck=deck: t.deal({"deck": deck}), message)


@pytest.mark.parametrize("deals", [7, 1.5, DECK, b"1", [DECK], [[0]], [0], [""], np.zeros(1)])
def test_what_is_no_mapping_is_no_deal(deals):
    assert_refused(tables_in_play(1), lambda t: t.deal(deals), "deals?.*must be a mapping|there are 90 deals for 1 tables")


@pytest.mark.parametrize("key", ["deal", "first_seat", "Deck", 0])
def test_a_key_that_a_deal_does_not_have_is_named_with_those_that_it_has(key):
    message = f"a deal has no {key!r}; its keys are 'deck', 'bandleader'"
    assert_refused(tables_in_play(), lambda t: t.deal({"deck": DECK, key: 0}), message)


@pytest.mark.parametrize(
    ("deals", "first_seats", "message"),
    [(np.zeros((2, 89), np.int8), None, r"deals are int8 \(2, 89\); they must be int8 \(2, 90\)"),
     (np.zeros((2, 90), np.int64), None, r"deals are int64 \(2, 90\); they must be int8 \(2, 90\)"),
     (None, np.zeros(3, np.int8), r"first_seats are int8 \(3,\); they must be int8 \(2,\)"),
     (None, np.zeros(2), r"first_seats are float64 \(2,\); they must be int8 \(2,\)"),
     (None, np.array([0, 3], np.int8), "seat 3 does not exist"),
     (None, np.array([-2, 0], np.int8), "seat -2 does not exist")],
)  # fmt: skip
def test_vectors_of_deals_have_the_type_and_the_shape_of_the_field(deals, first_seats, message):
    assert_refused(tables_in_play(), lambda t: t.deal_vectors(deals, first_seats, np.array([0, 1])), message)


def test_vectors_of_deals_hold_nothing_but_cards():
    deals = np.full((2, 90), -1, np.int8)
    deals[1, 7] = 6
    assert_refused(
        tables_in_play(), lambda t: t.deal_vectors(deals, None, np.array([0, 1])), "deal 1 is no deck; it must have 15 cards"
    )


# --- settings


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [((Katzenjammer(3), 0), {}, "num_tables is 0; it must be an integer of at least 1"),
     ((Katzenjammer(3), 2.0), {}, "num_tables is 2.0; it must be an integer"),
     ((Katzenjammer(3), True), {}, "num_tables is True"),
     ((3,), {}, r"game is 3; it must be a game such as Katzenjammer\(num_players=3\)"),
     ((Katzenjammer(3),), {"autoreset": "x"}, "autoreset is 'x'; it must be True or False"),
     ((Katzenjammer(3),), {"events": "yes"}, "events is 'yes'; it must be True or False"),
     ((Katzenjammer(3),), {"events": 1}, "events is 1; it must be True or False"),
     ((Katzenjammer(3),), {"reward": "mice"}, "reward is 'mice'; it must be one of 'win', 'score'"),
     ((Katzenjammer(3),), {"num_threads": 0}, "num_threads is 0; it must be an integer from 1 to 1024"),
     ((Katzenjammer(3),), {"num_threads": 1.5}, "num_threads is 1.5"),
     ((Katzenjammer(3),), {"num_threads": 10**9}, "num_threads is 1000000000; it must be")],
)  # fmt: skip
def test_wrong_settings_of_tables_are_refused(arguments, settings, message):
    with pytest.raises(ValueError, match=message):
        Tables(*arguments, **settings)


def test_what_is_wrong_with_a_restored_record_is_said_in_one_line():
    tables = tables_in_play()
    records = tables.records.copy()
    records["deal"][0] = 99
    with pytest.raises(ValueError, match="^record 0 is not a possible table: deal is .*; it must be ") as refusal:
        tables.restore(records)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.uint64])
def test_rules_in_integers_of_numpy_are_the_same_rules(kind):
    game = Katzenjammer(kind(3), kind(20), values=kind(5), copies=kind(15), hand_size=kind(6), set_size=kind(4))
    assert game.num_actions == 256
    assert json.loads(json.dumps(game.describe())) == Katzenjammer(3).describe()
    with pytest.raises(ValueError, match="copies is"):
        Katzenjammer(3, values=kind(8), copies=kind(15))


def test_a_time_difference_is_no_integer():
    with pytest.raises(ValueError, match="mice is np.timedelta64"):
        Katzenjammer(3, np.timedelta64(3))
