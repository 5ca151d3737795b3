"""The rules of Meow, one by one: who wins a trick, what tiles count, how rounds follow each other, and what is refused."""

import functools

import numpy as np
import pytest
from any_game import play, positions
from meow_games import SMALL
from meow_referee import cards_in_play, score_of, winning_place

import katz_env
from katz_env import Meow, Tables, make_game, meow_v0
from katz_env.games.meow import Rules, picture

GAME = Meow(3)
PRINTED_TILES = [*(f"+{value}" for value in Rules().bowls), *(f"-{value}" for value in Rules().fishbones)] + 4 * [
    "fish",
    "vase",
]

TRICKS = """
    B8 B5 B13 -> B13    B8 P18 -> B8        B18 G5 B13 -> G5     G18 G1 G7 -> G1     B18 B1 B17 -> B1    B17 B1 -> B17
    B18 B1 G2 -> G2     P5 B1 B18 -> P5     B3 G1 G18 -> G1      B1 G18 -> G18       B1 B17 B18 -> B1    B17 B18 B1 -> B1
    P5 P1 B18 -> P5     G1 G18 -> G1        P1 P2 -> P2          P1 B18 G3 -> G3     P18 P1 -> P1        B2 P3 G1 -> G1
"""


def written_tricks():
    """The cards of each trick above, and the one that wins."""
    parts = [part.split() for part in TRICKS.split("->")]
    ends = [part[0] for part in parts[1:]]
    return [(cards[first:], end) for cards, end, first in zip(parts, ends, [0, *[1] * len(ends)], strict=False)]


TILES = [
    ("+8 +5 -5 fish vase", 13),
    ("-10 -3 fish", -3),
    ("fish -3 -10", -3),
    ("-3 fish -10", -3),
    ("fish fish -4 +2", 2),
    ("+10 vase vase fish", -10),
    ("vase", 0),
    ("vase vase vase", -20),
    ("vase vase vase vase", -40),
    ("fish", 0),
    ("-1 -2 -3 fish fish", -1),
    ("-10 -8 -6 -5 fish", -19),
    ("fish fish fish fish -10 -8 -6 -5 -4", -4),
    ("-5 fish -5 -5", -10),
    ("fish -5 -3 -8 fish -2", -5),
]


def deal_of(cards, game):
    """A deck in which each seat, from 0 on, holds its card of the trick, and else nothing of the colour that is led."""
    rest = [card for card in game.cards if card not in cards and card[0] != cards[0][0]]
    size = game.rules.tricks - 1
    hands = [[card, *rest[size * seat : size * (seat + 1)]] for seat, card in enumerate(cards)]
    dealt = [card for hand in hands for card in hand]
    return [*dealt, *(card for card in game.cards if card not in dealt)]


@pytest.mark.uncompiled
def test_a_trick_is_won_by_the_right_card():
    for cards, winner in written_tricks():
        game, place = Meow(len(cards)), cards.index(winner)
        assert winning_place(cards, 18) == place
        ids = [game.cards.index(card) for card in cards]
        assert picture.winning_seat(list(enumerate(ids)), 18) == place
        tables = Tables(game, 1, seed=1)
        decks = [" ".join(deal_of(cards, game)), *(" ".join(game.cards) for _ in range(2))]
        tables.deal({"decks": decks, "tiles": PRINTED_TILES, "first_seat": 0})
        for seat, card in enumerate(ids):
            if tables.records["trick"][0] == 0 and tables.turn[0] == seat:  # else it was forced
                tables.step([card])
        assert tables.records["last_card"][0].tolist() == ids
        assert tables.records["leader"][0] == tables.turn[0] == place, cards
        assert tables.records["won"][0].sum(1).tolist() == [int(seat == place) for seat in range(len(cards))]


@pytest.mark.uncompiled
def test_tiles_count_what_the_rules_say():
    """For a seat with nothing but trumps, which wins all tiles of a game, in this order; the other seat wins nothing."""
    for tiles, score in TILES:
        names = [*tiles.split(), "+1", "+1"]
        values = {sign: [int(name[1:]) for name in names if name[0] == sign] for sign in "+-"}
        sizes = {"ranks": len(names), "tricks": len(names), "rounds": 1}
        numbers = {"bowls": values["+"], "fishbones": values["-"], "fish": names.count("fish"), "vases": names.count("vase")}
        game = Meow(2, **sizes, **numbers)
        blue, pink, green = (game.cards[i * len(names) : (i + 1) * len(names)] for i in range(3))
        tables = Tables(game, 1, seed=1, autoreset=False)
        tables.deal({"decks": [" ".join(blue + green + pink)], "tiles": names, "first_seat": 0})
        while not tables.terminated[0]:
            record = tables.records[0]
            gone = names[: record["trick"]]
            now, then = (score_of(won, (0, 0, -20, -20, -40)) for won in (gone, [*gone, names[record["trick"]]]))
            assert (record["score"][1], record["gain"][1]) == (now, then - now)
            tables.step(tables.action_masks.argmax(1))
        assert tables.scores[0].tolist() == [0, score + 2], tiles
        assert game.results(tables.records)["score"][0].tolist() == [0, score + 2]


@pytest.mark.uncompiled
def test_rounds_are_led_by_one_seat_after_the_other():
    tables = Tables(Meow(4), 1, seed=2, autoreset=False, events=True)
    tables.deal({"first_seat": 1})
    leaders, winners = [], []
    for _ in play(tables, 108):
        for event in tables.events(0):
            kind = tables.game.event_kinds[event["kind"]]
            if kind == "leads":
                leaders.append(int(event["seat"]))
            if kind == "won" and event["number"] == 9:
                winners.append(int(event["seat"]))
    assert [1, *leaders] == [1, 2, 3]
    assert [1, *winners[:2]] != [1, 2, 3]  # whoever won the last trick
    assert tables.turn[0] == winners[2]  # where the turn stays


def test_no_fish_takes_more_than_one_fishbone_whenever_it_came():
    for record in positions(GAME, steps=90, num_tables=20, finished=True)[::7]:
        for seat in range(3):
            names = [GAME.tiles[kind] for kind in picture.won(record, seat)]
            assert record["score"][seat] == score_of(names, (0, 0, -20, -20, -40))


@pytest.mark.uncompiled
def test_every_card_and_every_tile_is_somewhere_once():
    for settings in (*SMALL, {"num_players": 3, "expert": True}, {"num_players": 5}):
        game = Meow(**settings)
        state_fields, ranks = game.state_fields, game.rules.ranks
        for record in positions(game, steps=30, num_tables=3, finished=True)[::5]:
            state = katz_env.named_fields(game.state(record.reshape(1), [0])[0], state_fields)
            cards = state["hands"].sum(0) + state["played"].sum(0) + state["undealt"]
            names = cards_in_play(game.num_players, game.rules.expert, ranks, game.rules.tricks)
            assert {game.cards[i] for i in np.flatnonzero(cards)} == set(names)
            assert cards.max() == 1
            row = np.bincount(record["row_type"][record["trick"] :], minlength=len(game.tiles))
            assert (state["won"].sum(0) + state["to_come"] + row).tolist() == list(game.rules.tile_counts)


def test_a_forced_card_looks_like_a_chosen_one():
    tables, forced = Tables(GAME, 30, seed=4, events=True, autoreset=False), 0
    for _ in play(tables, 60):
        for i in range(30):
            played = [event for event in tables.events(i) if tables.game.event_kinds[event["kind"]] == "played"]
            forced += max(0, len(played) - 1)
            for event in played:
                assert (event["number"], event["seen_by"], event["cards"].sum()) == (0, -1, 1)
    assert forced > 100


# --- what is refused


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_players": 1}, "num_players is 1; it must be an integer from 2 to 6"),
        ({"ranks": 41}, "ranks is 41; it must be an integer from 2 to 40"),
        ({"tricks": 1}, "tricks is 1; it must be an integer from 2 to 20"),
        ({"rounds": 7}, "rounds is 7; it must be an integer from 1 to 6"),
        ({"expert": 1}, "expert is 1; it must be True or False"),
        ({"bowls": (0,)}, "bowls has 0; all of them must be integers from 1 to 100"),
        ({"fishbones": (-1,)}, "fishbones has -1; all of them must be integers from 1 to 100"),
        ({"fishbones": 3}, "fishbones is 3; it must be a list of integers"),
        ({"fish": 5}, "bowls, fishbones, fish and vases are 28 tiles; they must be tricks \\* rounds = 27"),
        ({"vase_scores": (0, 0, -20, -20)}, "vase_scores has 4 numbers; with vases=4 it must have 5"),
        ({"vase_scores": (0, 0, -20, -20, 1001)}, "vase_scores has 1001; .* from -1000 to 1000"),
        ({"num_players": 6, "ranks": 17}, "tricks is 9; 6 hands of so many cards are 54, but ranks=17 has only 51 cards"),
        ({"num_players": 4, "expert": True, "tricks": 10}, "expert is True; .* divisible by 3 and at least 6, and it is 40"),
        ({"num_players": 2, "expert": True, "tricks": 2, "rounds": 6}, "expert is True; .* and it is 4"),
        ({"tricks": 13, "rounds": 5}, "tricks \\* rounds is 65; it must be at most 60"),
    ],
    ids=repr,
)
def test_impossible_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message) as raised:
        make_game("meow", **settings)
    assert "\n" not in str(raised.value)


def test_an_unknown_setting_is_named_with_the_known_ones():
    for make in (Meow, functools.partial(make_game, "meow"), meow_v0.env):
        with pytest.raises(TypeError, match="unexpected keyword argument 'mice'; its settings are num_players, expert, ranks"):
            make(mice=3)


def changed(names, place, name):
    return [*names[:place], name, *names[place + 1 :]]


@pytest.mark.parametrize(
    ("deal", "message"),
    [
        ({"tiles": PRINTED_TILES[:-1]}, "tiles: there are 3 of the tile vase; there must be 4"),
        ({"tiles": changed(PRINTED_TILES, 0, "+2")}, r"tiles: there are 0 of the tile \+1; there must be 1"),
        ({"tiles": changed(PRINTED_TILES, 0, "+11")}, r"tiles: there is no tile '\+11' in this game; tiles are \+1, "),
        ({"tiles": changed(PRINTED_TILES, 0, ["+1"])}, r"tiles: there is no tile \['\+1'\] in this game"),
        ({"tiles": "fish"}, "tiles are 'fish'; they must be a list such as"),
        ({"decks": [" ".join(GAME.cards)] * 2}, "decks are a list of 2; they must be a list of 3, one for each round"),
        ({"decks": " ".join(GAME.cards)}, "decks are 'B1 .*; they must be a list of 3"),
        ({"decks": [" ".join(changed(GAME.cards, 1, "B1"))] * 3}, "deck 1: there are 2 of the card B1; there must be 1"),
        ({"decks": [" ".join(GAME.cards[:-1])] * 3}, "deck 1: there are 0 of the card G18"),
        ({"decks": [" ".join(changed(GAME.cards, 1, "G19"))] * 3}, "deck 1: there is no card 'G19' in this game; cards are B1"),
        ({"decks": [7, 7, 7]}, "deck 1 is 7; it must be cards such as"),
        ({"first_seat": 3}, "first_seat is 3; it must be an integer from 0 to 2"),
        ({"deck": "B1"}, "a deal has no 'deck'; its keys are 'decks', 'tiles', 'first_seat'"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_impossible_deals_are_named(deal, message):
    with pytest.raises(ValueError, match=message) as raised:
        Tables(GAME, 1, seed=1).deal(deal)
    assert "\n" not in str(raised.value)


def test_with_expert_rules_a_deck_has_no_middle_ranks():
    game = Meow(3, expert=True)
    assert [game.cards[card] for card in game.rules.cards_in_play[:9]] == [*(f"B{rank}" for rank in range(1, 9)), "B18"]
    decks = [" ".join(game.cards[card] for card in game.rules.cards_in_play)] * 3
    decks[1] = decks[1].replace("B8", "B9")
    with pytest.raises(ValueError, match="deck 2: there is no card 'B9' in this game"):
        game.parse_deal({"decks": decks})


def test_a_deal_may_be_given_in_part():
    tables = Tables(GAME, 50, seed=6)
    tables.deal({"tiles": PRINTED_TILES, "first_seat": 2})
    assert [GAME.tiles[kind] for kind in tables.records["row_type"][0]] == PRINTED_TILES[:9]
    assert (tables.records["first_seat"] == 2).all()
    assert len({tuple(deal) for deal in tables.records["deal"].tolist()}) == 50  # the decks are drawn


def test_the_settings_of_a_record_follow_from_its_tiles():
    record = {
        "players": 2,
        "tiles": ["+3", "fish", "-2", "vase"],
        "tricks": 2,
        "rounds": 2,
        "ranks": 6,
        "bowls": [9],
        "vases": 7,
    }
    game = Meow.from_record(record)
    assert (game.rules.bowls, game.rules.fishbones, game.rules.fish, game.rules.vases) == ((3,), (2,), 1, 1)
    assert game.record_settings() == {"expert": False, "ranks": 6, "tricks": 2, "rounds": 2}
    for tiles, message in (("+3", "'tiles' is '\\+3'"), ([3], "'tiles' has 3"), (["+3", "cat"], "'tiles' has 'cat'")):
        with pytest.raises(ValueError, match=message):
            Meow.from_record(record | {"tiles": tiles})


def test_settings_have_one_form_and_make_the_same_game():
    game = Meow(2, ranks=np.int64(18), bowls=np.array(Rules().bowls[::-1]), expert=np.bool_(False))
    assert game == Meow(2)
    assert repr(game) == "Meow(num_players=2)"
    assert repr(Meow(3, True, vases=3, fish=5)) == "Meow(num_players=3, expert=True, fish=5, vases=3)"
    assert game.settings["bowls"] == list(Rules().bowls)
