"""The action table: every id has one meaning and one name, and the engine computes the same ids."""

import re

import numpy as np
import pytest

from katz_env import ActionTable, Katzenjammer, Rules, Tables
from katz_env.games.katzenjammer import engine, payment

PRINTED = ActionTable(Rules(3))
OPTIONS = [
    {"num_players": 2},
    {"num_players": 6},
    {"num_players": 2, "values": 2, "copies": 3, "set_size": 2, "hand_size": 2},
    {"num_players": 2, "values": 8, "copies": 10, "set_size": 5, "hand_size": 7},
]
every_rule_set = pytest.mark.parametrize("options", OPTIONS)


def name_by_hand(action):
    """The name of an id of the printed game, put together here from its parts."""
    if action == 0:
        return "pass"
    if action <= 180:
        count, kind = divmod(action - 1, 6)
        return f"{count + 1}x{kind}" if kind else f"{count + 1}d"
    if action >= 254:
        return "four JJJJ" if action == 254 else "done"
    value, jokers = divmod(action - 229, 5)
    return f"four {str(value + 1) * (4 - jokers)}{'J' * jokers}" + (f"={value + 1}" if jokers == 4 else "")


def id_of(table, move):
    """Puts an id together again from its parts."""
    jokers_in_a_set = table.rules.set_size + 1
    return {
        "pass": 0,
        "bid": table.bid(move.count, move.value),
        "pay_equal": table.first_pay_equal + move.jokers,
        "pay_different": table.first_pay_different + move.value_set,
        "four": table.first_four + jokers_in_a_set * (move.value - 1) + move.jokers,
        "four_free": table.four_free,
        "done": table.done,
    }[move.kind]


def test_the_printed_game_has_exactly_one_byte_of_actions():
    assert PRINTED.size == 256
    starts = (PRINTED.first_pay_equal, PRINTED.first_pay_different, PRINTED.first_four, PRINTED.four_free, PRINTED.done)
    assert starts == (181, 197, 229, 254, 255)


@pytest.mark.parametrize("action", [*range(181), *range(229, 256)])
def test_an_id_has_the_name_that_its_parts_make(action):
    assert PRINTED.name(action) == name_by_hand(action)


@every_rule_set
def test_every_id_comes_apart_and_together_again(options):
    table = ActionTable(Rules(**options))
    for action in range(table.size):
        move = table.decode(action)
        assert (move.id, id_of(table, move)) == (action, action)


@every_rule_set
def test_names_of_moves_that_are_no_payments_are_all_different(options):
    table = ActionTable(Rules(**options))
    others = [a for a in range(table.size) if not table.decode(a).kind.startswith("pay")]
    assert len({table.name(action) for action in others}) == len(others)


@pytest.mark.parametrize("action", [-1, 256, 1000])
def test_an_id_that_does_not_exist_is_named(action):
    with pytest.raises(ValueError, match=rf"action {action} does not exist; action ids are 0 to 255"):
        PRINTED.decode(action)


@pytest.mark.parametrize(
    ("lower", "higher"),
    [("1x1", "1x5"), ("1x5", "2d"), ("2d", "2x1"), ("1x5", "2x2"), ("3x1", "3x2"), ("3x5", "4d"), ("4d", "4x1"), ("5d", "5x1"),
     ("5x5", "6x1")],
)  # fmt: skip
def test_a_higher_bid_has_a_larger_id(lower, higher):
    ids = {PRINTED.name(action): action for action in range(1, 181)}
    assert ids[lower] < ids[higher]


@pytest.mark.parametrize(
    ("bid", "payments"),
    [("3x2", {181 + 1: "pay 22J", 181 + 2: "pay 2JJ"}),
     ("2x2", {181: "pay 22", 182: "pay 2J", 183: "pay JJ"}),
     ("2d", {197 + 0b101: "pay 13", 197 + 0b001: "pay 1J", 197 + 0b100: "pay 3J"}),
     ("3d", {197 + 0b101: "pay 13J"})],
)  # fmt: skip
def test_a_bid_is_paid_by_these_ids(bid, payments):
    bid_id = {PRINTED.name(action): action for action in range(1, 181)}[bid]
    assert {action: PRINTED.name(action, bid_id) for action in payments} == payments


def test_the_same_words_mean_another_payment_after_another_bid():
    assert PRINTED.name(182, bid=PRINTED.bid(2, 3)) == PRINTED.name(197 + 0b100, bid=PRINTED.bid(2, 0)) == "pay 3J"


def test_an_action_costs_the_cards_in_its_name():
    for action in range(229, 255):
        counts = PRINTED.cards(action, 0)
        shown = "".join(card * k for card, k in zip("12345J", counts, strict=True))
        assert PRINTED.name(action).partition("=")[0] == f"four {shown}"
    assert not any(any(PRINTED.cards(action, 0)) for action in [*range(181), 255])


@pytest.mark.parametrize("options", [*OPTIONS, {"num_players": 3}])
def test_the_documentation_covers_every_id_exactly_once(options):
    table = ActionTable(Rules(**options))
    covered = []
    for ids, _, _ in table.documentation():
        first, last = re.fullmatch(r"(\d+)(?: to (\d+))?", ids).groups()
        covered += range(int(first), int(last or first) + 1)
    assert covered == list(range(table.size))


@pytest.mark.parametrize("row", PRINTED.documentation(), ids=lambda row: row[0])
def test_the_names_in_the_documentation_belong_to_their_ids(row):
    first, last = re.fullmatch(r"(\d+)(?: to (\d+))?", row[0]).groups()
    bids = [PRINTED.bid(3, 2), PRINTED.bid(3, 0)]
    possible = set()
    for action in range(int(first), int(last or first) + 1):
        kind = PRINTED.decode(action).kind
        possible |= {PRINTED.name(action, bid) for bid in bids[kind == "pay_different" :]}
    assert set(re.findall(r"`([^`]+)`", row[1])) <= possible


# --- the engine's ids


def rich_table(options, phase, bid=0):
    """A table at which seat 0 is to act and holds one half of all cards, six jokers or more in the printed game."""
    game = Katzenjammer(**options)
    record = game.new_tables(1)[0]
    record["hand"][0] = (game.rules.copies + 1) // 2
    record["phase"], record["bid"], record["high_bidder"] = phase, bid, 0 if bid else -1
    record["best"] = game.actions.bid(int(record["hand"][0, 0] + record["hand"][0, -1]), game.rules.values)
    mask = np.zeros(game.num_actions, bool)
    engine.write_mask(record, mask)
    return game, record["hand"][0].astype(int), {int(action) for action in np.flatnonzero(mask)}


def affordable(game, hand, kind, bid=0):
    """All ids of a kind whose cards, by the action table, lie in a hand."""
    ids = (action for action in range(game.num_actions) if game.actions.decode(action).kind == kind)
    costs = {action: np.array(game.actions.cards(action, bid)) for action in ids}
    return {action for action, cost in costs.items() if (cost >= 0).all() and (cost <= hand).all()}


@every_rule_set
def test_the_engine_starts_each_group_of_ids_where_the_action_table_does(options):
    game = Katzenjammer(**options)
    record = game.new_tables(1)[0]
    assert payment.first_payment(record) == game.actions.first_pay_equal
    assert payment.first_foursome(record) == game.actions.first_four


@every_rule_set
def test_the_engine_allows_the_bids_of_the_action_table(options):
    game, hand, legal = rich_table(options, phase=0)
    expected = {0}
    for count in range(1, 2 * game.rules.copies + 1):
        expected |= {game.actions.bid(count, value) for value in range(1, game.rules.values + 1) if count <= 2 * hand[0]}
        expected |= {game.actions.bid(count, 0)} if 2 <= count <= game.rules.values else set()
    assert legal == expected


@every_rule_set
@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_engine_allows_the_payments_of_the_action_table(options, count):
    values = Rules(**options).values
    for value in range(values + 1) if 2 <= count <= values else range(1, values + 1):
        bid = ActionTable(Rules(**options)).bid(count, value)
        game, hand, legal = rich_table(options, phase=1, bid=bid)
        assert legal == affordable(game, hand, "pay_equal" if value else "pay_different", bid)


@every_rule_set
def test_the_engine_allows_the_foursomes_of_the_action_table(options):
    game, hand, legal = rich_table(options, phase=2)
    expected = affordable(game, hand, "four") | affordable(game, hand, "four_free") | {game.actions.done}
    assert legal == expected
    assert game.actions.first_four in legal


@pytest.mark.parametrize("options", [*OPTIONS, {"num_players": 2, "values": 2, "copies": 2, "set_size": 2, "hand_size": 1}])
def test_the_engine_writes_no_mask_beyond_its_end(options):
    game = Katzenjammer(**options)
    record = game.new_tables(1)[0]
    record["hand"][0] = game.rules.copies
    record["best"] = game.actions.bid(2 * game.rules.copies, game.rules.values)
    for bid in range(game.actions.first_pay_equal):
        record["bid"] = bid
        memory = np.full(game.num_actions + 128, 7, np.int8)
        engine.write_mask(record, memory.view(bool)[64:-64])
        assert (memory[:64] == 7).all()
        assert (memory[-64:] == 7).all()


def test_four_threes_and_four_fours_presented_together_bring_seven_mice():
    tables = Tables(Katzenjammer(2), autoreset=False)
    deck = "333444" + "112255" + "433" + "4" * 11 + "3" * 10 + "1" * 13 + "2" * 13 + "5" * 13 + "J" * 15
    tables.deal({"deck": deck, "bandleader": 1})
    for move in ("1x3", "pass"):  # seat 0 pays a three (forced) for a four and two threes
        tables.step([tables.game.legal_names(tables.records[0], tables.action_masks[0])[move]])
    for move in ("four 3333", "four 4444"):
        tables.step([tables.game.legal_names(tables.records[0], tables.action_masks[0])[move]])
    assert tables.records["mice"][0].tolist() == [7, 0]
