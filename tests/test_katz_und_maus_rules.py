"""The rules of Katz und Maus case by case, its settings, and what is wrong with a deal, a rule or a move."""

import itertools
from collections import Counter

import gymnasium
import numpy as np
import pettingzoo
import pytest
from any_game import positions, to_act

from katz_env import KatzUndMaus, Tables, katz_und_maus_v0, make_game
from katz_env.games.katz_und_maus import ActionTable, Rules


class Scripted:
    """One table with given cards, played by the names of moves.

    The cards that are not given lie behind those that are: the stocks are filled up, and the rest is the talon.
    """

    def __init__(self, stocks=("", ""), hands=("", ""), talon="", first_seat=0, **options):
        self.game = KatzUndMaus(**options)
        rules, left = self.game.rules, Counter(self.game.cards * self.game.rules.copies)
        left.subtract("".join([*stocks, *hands, talon]))
        assert min(left.values()) >= 0
        rest = list(left.elements())
        piles = []
        for pile, size in (*((stock, rules.stock_size) for stock in stocks), *((hand, rules.hand_size) for hand in hands)):
            piles.append(pile + "".join(rest.pop() for _ in range(size - len(pile))))
        self.tables = Tables(self.game, 1, seed=1, autoreset=False)
        self.tables.deal({"deck": "".join(piles) + talon + "".join(rest[::-1]), "first_seat": first_seat})

    @property
    def table(self):
        return self.tables.records[0]

    @property
    def legal(self):
        return set(self.game.legal_names(self.table, self.tables.action_masks[0]))

    @property
    def talon(self):
        return len(self.table["deal"]) - int(self.table["drawn"])

    def hand(self, seat):
        return "".join(card * int(count) for card, count in zip(self.game.cards, self.table["hand"][seat], strict=True))

    def play(self, moves):
        for move in moves.split():
            self.tables.step([self.game.legal_names(self.table, self.tables.action_masks[0])[move]])
        return self


# --- playing onto stacks


def test_an_empty_stack_takes_an_ace_or_a_king():
    legal = Scripted(stocks=("5", "5"), hands=("A2K34", "")).legal
    assert {f"{card}>s{i}" for card in "AK" for i in range(1, 5)} <= legal
    assert not {f"{card}>s{i}" for card in "234" for i in range(1, 5)} & legal
    assert not {f"stock>s{i}" for i in range(1, 5)} & legal
    assert legal == {f"{card}>s{i}" for card in "AK" for i in range(1, 5)} | {f"{c}>d{i}" for c in "A2K34" for i in range(1, 5)}


def test_a_king_stands_for_the_rank_that_the_stack_wants():
    table = Scripted(stocks=("5", "5"), hands=("A2K34", "")).play("K>s1")
    assert table.table["heights"].tolist() == [1, 0, 0, 0]
    assert "2>s1" in table.legal
    assert "A>s1" not in table.legal
    assert "A>s2" in table.legal


def test_a_complete_stack_is_taken_away_also_by_a_king():
    table = Scripted(stocks=("KJ", "5"), hands=("A2345", ""), talon="6789T").play("A>s1 2>s1 3>s1 4>s1 5>s1")
    assert (table.hand(0), table.talon, table.table["turn"]) == ("6789T", 111, 0)
    table.play("6>s1 7>s1 8>s1 9>s1")
    assert table.table["heights"].tolist() == [9, 0, 0, 0]
    table.play("T>s1")
    assert table.table["turn"] == 0
    table.play("stock>s1")  # a king as jack, on height ten
    assert table.table["heights"].tolist() == [11, 0, 0, 0]
    assert table.legal & {"stock>s1", "A>s1", "J>s1"} == set()
    other = Scripted(stocks=("KK", "5"), hands=("A2345", ""), talon="6789TJQQQQ")
    other.play("A>s3 2>s3 3>s3 4>s3 5>s3 6>s3 7>s3 8>s3 9>s3 T>s3 J>s3")
    assert other.table["heights"].tolist() == [0, 0, 11, 0]
    other.play("stock>s3")  # a king as queen
    assert other.table["heights"].tolist() == [0, 0, 0, 0]
    assert "stock>s3" in other.legal  # the next king begins it anew
    assert "Q>s3" not in other.legal


def test_a_king_on_a_deposit_stays_wild():
    table = Scripted(stocks=("9", "9"), hands=("K2222", "A2345"), talon="362222").play(
        "K>d1 A>s1 2>s1 3>s1 4>s1 5>s1 6>s1 2>d1"
    )
    assert table.table["heights"].tolist() == [6, 0, 0, 0]
    assert {"d1>s1", "d1>s2"} <= table.legal
    table.play("d1>s1")  # as a seven
    assert table.table["heights"].tolist() == [7, 0, 0, 0]
    assert table.table["deposit_sizes"].tolist() == [[0, 0, 0, 0], [1, 0, 0, 0]]


def test_only_the_top_of_a_deposit_can_be_played_and_only_hand_cards_end_a_turn():
    table = Scripted(stocks=("Q", "Q"), hands=("AA999", "99999"), talon="8877").play("A>d1 9>d1 9>d1 9>d1 A>d1")
    assert table.table["turn"] == 1
    table.play("9>d1")
    assert {"d1>s1", "d1>s2"} <= table.legal  # the upper ace
    table.play("d1>s1")
    assert not any(move.startswith("d1>") for move in table.legal)  # a nine lies on the lower one
    assert not any(move.startswith(("stock>d", "d1>d")) for move in table.legal)
    assert table.table["turn"] == 0


# --- drawing


def test_who_plays_the_hand_away_draws_and_goes_on():
    table = Scripted(stocks=("9", "9"), hands=("A2345", ""), talon="66677").play("A>s1 2>s1 3>s1 4>s1")
    assert (table.table["hand_sizes"][0], table.talon) == (1, 116)
    table.play("5>s1")
    assert (table.hand(0), table.talon, table.table["turn"]) == ("66677", 111, 0)


def test_who_discards_the_last_card_draws_and_the_turn_is_over():
    table = Scripted(stocks=("9", "9"), hands=("A2348", ""), talon="66677").play("A>s1 2>s1 3>s1 4>s1 8>d2")
    assert (table.hand(0), table.talon, table.table["turn"]) == ("66677", 111, 1)


def test_the_hand_is_full_again_before_the_other_acts():
    table = Scripted(stocks=("9", "9"), hands=("A2888", ""), talon="345").play("A>s1 2>s1 8>d1")
    assert (table.hand(0), table.talon, table.table["turn"]) == ("34588", 113, 1)


@pytest.mark.uncompiled
def test_when_the_talon_has_too_few_cards_those_are_drawn_and_the_round_is_finished():
    small = {"stock_size": 72}  # leaves two cards for the talon
    table = Scripted(stocks=("9", "9"), hands=("A2888", "55555"), talon="34", **small).play("A>s1 2>s1 8>d1")
    assert (table.hand(0), table.talon, table.table["turn"], table.table["phase"]) == ("3488", 0, 1, 0)
    table.play("5>d1")
    assert (table.table["phase"], table.game.ending(table.table), table.table["turn"]) == (1, "talon", 1)
    assert table.hand(1) == "5555"
    assert table.legal == set()
    table = Scripted(stocks=("9", "9"), hands=("55555", "A2888"), talon="34", **small).play("5>d1 A>s1 2>s1 8>d1")
    assert (table.hand(1), table.table["phase"], table.table["turn"]) == ("488", 1, 1)
    table = Scripted(stocks=("9", "9"), hands=("A2888", "55555"), talon="34", talon_end="turn", **small)
    table.play("A>s1 2>s1 8>d1")
    assert (table.table["phase"], table.table["turn"]) == (1, 0)


@pytest.mark.uncompiled
def test_who_plays_the_hand_away_gets_what_the_talon_has_and_then_may_end():
    small = {"ranks": 12, "copies": 12, "stock_size": 71, "hand_size": 5}  # leaves four cards for the talon
    table = Scripted(stocks=("9", "9"), hands=("A2345", "66666"), talon="6789", **small)
    table.play("A>s1 2>s1 3>s1 4>s1 5>s1")
    assert (table.hand(0), table.talon, table.table["turn"]) == ("6789", 0, 0)
    assert "end" not in table.legal
    table.play("6>s1 7>s1 8>s1")
    assert (table.hand(0), table.legal) == ("9", {"9>s1", "stock>s1", "9>d1", "9>d2", "9>d3", "9>d4"})
    table.play("9>d1")
    assert (table.hand(0), table.table["turn"]) == ("", 1)
    table = Scripted(stocks=("9T", "9"), hands=("A2345", "66666"), talon="678A", **small)
    table.play("A>s1 2>s1 3>s1 4>s1 5>s1 6>s1 7>s1 8>s1 A>s2")
    assert table.legal == {"stock>s1", "end"}  # an empty hand and an empty talon
    table.play("end")
    assert (table.table["turn"], table.table["phase"]) == (1, 0)


# --- the end


@pytest.mark.uncompiled
def test_who_plays_the_last_stock_card_wins_at_once():
    table = Scripted(stocks=("A2", "9"), hands=("45678", ""), stock_size=2).play("stock>s1 stock>s1")
    assert (table.table["phase"], table.table["turn"], table.hand(0)) == (1, 0, "45678")
    assert table.tables.scores[0].tolist() == [0, -2]
    assert table.tables.rewards[0].tolist() == [0.5, -0.5]
    assert table.game.ending(table.table) == "stock"


@pytest.mark.uncompiled
@pytest.mark.parametrize(("moves", "winners"), [("4>d1 5>d1", [0, 1]), ("A>s1 stock>s1 4>d1 5>d1", [0])])
def test_when_the_talon_is_used_up_fewer_stock_cards_win(moves, winners):
    table = Scripted(stocks=("2", "7"), hands=("A4444", "55555"), stock_size=72).play(moves)
    assert table.table["phase"] == 1
    results = table.game.results(table.tables.records)
    assert np.flatnonzero(results["win_share"][0]).tolist() == winners
    assert (results["score"] == -results["stock"]).all()


# --- equal moves


def test_merged_moves_are_those_of_the_lowest_number():
    table = Scripted(stocks=("5", "5"), hands=("A2K34", "9"), merge_equal=True)
    assert table.legal == {"A>s1", "K>s1", "A>d1", "2>d1", "K>d1", "3>d1", "4>d1"}
    table.play("A>s1")
    assert table.legal == {"2>s1", "K>s1", "K>s2", "2>d1", "K>d1", "3>d1", "4>d1"}
    table.play("2>d1 9>d1")
    assert {"3>d1", "3>d2"} <= table.legal
    assert not {"3>d3", "3>d4"} & table.legal


def test_merging_leaves_one_of_each_set_of_equal_moves():
    """Whatever is legal without merging is equal to a move that is legal with it."""
    game, merged = KatzUndMaus(), KatzUndMaus(merge_equal=True)
    records = positions(merged, steps=120)
    plain = records.copy()
    plain["merge_equal"] = 0
    tables, other = Tables(merged, len(records), autoreset=False), Tables(game, len(records), autoreset=False)
    tables.restore(records)
    other.restore(plain)
    for i, record in enumerate(records):
        heights, sizes = record["heights"], record["deposit_sizes"][record["turn"]]

        def merged_into(name, heights=heights, sizes=sizes):
            source, _, target = name.partition(">")
            if target[:1] == "s":
                return f"{source}>s{heights.tolist().index(heights[int(target[1:]) - 1]) + 1}"
            if target[:1] == "d" and sizes[int(target[1:]) - 1] == 0:
                return f"{source}>d{sizes.tolist().index(0) + 1}"
            return name

        legal = set(merged.legal_names(record, tables.action_masks[i]))
        assert legal == {merged_into(name) for name in game.legal_names(record, other.action_masks[i])}


# --- action ids


def test_action_ids_are_those_of_the_documentation():
    actions = ActionTable(Rules())
    assert actions.size == 125
    named = {0: "A>s1", 3: "A>s4", 51: "K>s4", 52: "d1>s1", 57: "d2>s2", 67: "d4>s4", 68: "stock>s1", 71: "stock>s4"}
    named |= {72: "A>d1", 75: "A>d4", 123: "K>d4", 124: "end", 24: "7>s1"}
    assert {action: actions.name(action) for action in named} == named
    for rules in (Rules(), Rules(ranks=3, copies=8, stock_size=2, hand_size=2, stacks=2, deposits=5)):
        names = [ActionTable(rules).name(action) for action in range(ActionTable(rules).size)]
        assert len(set(names)) == len(names)
    for action in (-1, 125, "end", True):
        with pytest.raises(ValueError, match="does not exist; action ids are 0 to 124"):
            actions.decode(action)


# --- hidden cards


@pytest.mark.uncompiled
@pytest.mark.parametrize("first_seat", [0, 1])
def test_worlds_are_uniform_over_all_arrangements_of_the_unseen_cards(first_seat):
    """Against a list of all of them: the other hand, both stocks below the open card, and the talon."""
    game = KatzUndMaus(ranks=2, copies=3, stock_size=2, hand_size=1, stacks=1, deposits=1)
    tables = Tables(game, 1, seed=1, autoreset=False)
    tables.deal({"deck": "2K2AKAAK2", "first_seat": first_seat})  # seat 0's stock, seat 1's, hands, talon
    seat = int(tables.turn[0])
    assert tables.records["drawn"] == 6
    own = tables.records["hand"][0, seat].copy()
    places = [1, 3, 5 - seat, 6, 7, 8]  # below both stocks' tops, the other hand, the talon
    unseen = sorted(tables.records["deal"][0][places].tolist())
    seen = game.redact(tables.records, [seat])
    worlds = game.redeal(np.repeat(seen, 4000), np.full(4000, seat), np.random.default_rng(1))
    assert (worlds["hand"][:, seat] == own).all()
    found = Counter()
    for world in worlds:
        other = int(np.flatnonzero(world["hand"][1 - seat])[0])
        found[(int(world["deal"][1]), int(world["deal"][3]), other, *world["deal"][6:].tolist())] += 1
    possible = set(itertools.permutations(unseen))
    assert set(found) == possible
    expected = 4000 / len(possible)
    deviation = sum((found[world] - expected) ** 2 / expected for world in possible)  # chi square
    degrees = len(possible) - 1
    assert deviation < degrees + 4 * np.sqrt(2 * degrees)


def test_worlds_of_both_seats_are_possible_also_when_it_is_not_their_turn():
    game = KatzUndMaus()
    records = positions(game, steps=140)
    for seats in (to_act(records), 1 - to_act(records)):
        seen = game.redact(records, seats)
        np.testing.assert_array_equal(game.observe(seen, seats), game.observe(records, seats))
        worlds = game.redeal(seen, seats, np.random.default_rng(2))
        np.testing.assert_array_equal(game.check(worlds), worlds)
        np.testing.assert_array_equal(game.observe(worlds, seats), game.observe(records, seats))
        np.testing.assert_array_equal(np.sort(worlds["deal"], 1), np.sort(records["deal"], 1))


# --- what is wrong

DECK = "A23456789TJQK" * 12


@pytest.mark.parametrize(
    ("deck", "message"),
    [
        (DECK[:-1], "the deck has 155 cards; it must have 156"),
        (DECK + "A", "the deck has 157 cards; it must have 156"),
        ("2" + DECK[1:], "the deck has 11 cards 'A'; it must have 12 of each"),
        ("1" + DECK[1:], "the deck has a card '1'; the cards are A 2 3 4 5 6 7 8 9 T J Q K"),
        ([0] * 156, "a deck is a string of 156 card characters, not "),
        (7, "a deck is a string of 156 card characters, not 7"),
    ],
)
def test_a_deck_that_is_not_twelve_of_each_is_refused(deck, message):
    with pytest.raises(ValueError, match=message):
        Tables(KatzUndMaus(), 1, seed=1).deal({"deck": deck})
    env = katz_und_maus_v0.env()
    with pytest.raises(ValueError, match=message):
        env.reset(options={"deal": {"deck": deck, "first_seat": 0}})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 3}, "num_players is 3; it must be 2"),
        ({"num_players": 1}, "num_players is 1; it must be 2"),
        ({"ranks": 13}, "ranks is 13; it must be an integer from 1 to 12"),
        ({"copies": 0}, "copies is 0; it must be an integer from 1 to 20"),
        ({"copies": 19}, "ranks=12 and copies=19 make 247 cards; at most 240 are possible"),
        (
            {"stock_size": 73},
            "stock_size=73 and hand_size=5 leave no card of 156 for the talon; together they must be at most 77",
        ),
        ({"stock_size": 101}, "stock_size is 101; it must be an integer from 1 to 100"),
        ({"hand_size": 0}, "hand_size is 0; it must be an integer from 1 to 10"),
        ({"stacks": 9}, "stacks is 9; it must be an integer from 1 to 8"),
        ({"deposits": 0}, "deposits is 0; it must be an integer from 1 to 8"),
        ({"stacks": 4.0}, "stacks is 4.0; it must be an integer from 1 to 8"),
        ({"talon_end": "never"}, "talon_end is 'never'; it must be 'round' or 'turn'"),
        ({"merge_equal": 2}, "merge_equal is 2; it must be True or False"),
    ],
    ids=str,
)
def test_impossible_rules_are_refused_in_one_line(options, message):
    for make in (KatzUndMaus, katz_und_maus_v0.env, lambda **options: make_game("katz_und_maus", **options)):
        with pytest.raises(ValueError, match=f"^{message}$"):
            make(**options)


@pytest.mark.parametrize("name", ["A>s5", "A>d0", "d5>s1", "stock>s9", "Z>s1", "end"])
def test_a_stack_or_deposit_that_does_not_exist_is_named(name):
    env = katz_und_maus_v0.raw_env()
    env.reset(seed=1)
    with pytest.raises(ValueError, match=f"^'{name}' is not a legal move; legal are "):
        env.play(name)


# --- settings, doors and names


def test_settings_make_the_same_game_and_stand_in_records():
    options = {"ranks": 6, "copies": 5, "stock_size": 4, "talon_end": "turn", "merge_equal": True, "stacks": 2}
    game = KatzUndMaus(**options)
    assert KatzUndMaus(**game.settings) == game
    assert game.record_settings() == options
    assert KatzUndMaus.from_record({"players": 2} | options) == game
    assert KatzUndMaus().record_settings() == {}
    assert repr(KatzUndMaus(merge_equal=True)) == "KatzUndMaus(merge_equal=True)"
    assert KatzUndMaus(2, np.int64(12)) == KatzUndMaus()


def test_every_front_door_opens_the_game():
    env = pettingzoo.make("aec", "katz_env/katz_und_maus_v0", merge_equal=True)
    assert env.unwrapped.game == KatzUndMaus(merge_equal=True)
    assert env.metadata["name"] == "katz_und_maus_v0"
    single = gymnasium.make("katz_env/KatzUndMaus-v0", num_players=2, opponents="random")
    _, info = single.reset(seed=1, options={"deal": {"deck": DECK, "first_seat": 0}})
    assert info["action_mask"].shape == (125,)
    vector = gymnasium.make_vec("katz_env/KatzUndMaus-v0", num_envs=3, opponents="random")
    assert vector.reset(seed=1)[0].shape == (3, KatzUndMaus().observation_size)


def test_bounds_on_moves_and_deposits_are_those_of_the_usual_game():
    rules = Rules()
    assert (rules.most_moves, rules.deposit_depth, rules.talon_size) == (284, 58, 116)
