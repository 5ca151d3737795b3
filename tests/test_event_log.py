"""The event log: it tells every step of any game, keeps hidden cards hidden, and what is forced looks like what is chosen."""

import numpy as np
import pytest
from any_game import GAMES, KUHN, arrays, assert_alike, every_game, nth_legal, play

from katz_env import Tables
from katz_env.core.event_log import EVERYONE, NOBODY
from katz_env.games.katzenjammer import rules

KATZENJAMMER = [game for game in GAMES if game.name == "katzenjammer"]
katzenjammer = pytest.mark.parametrize("game", KATZENJAMMER, ids=lambda game: f"{game.num_players}")


def logged(game, num_tables, seed, **settings):
    return Tables(game, num_tables, seed=seed, events=True, autoreset=False, **settings)


@every_game
def test_every_deal_and_step_is_told_by_the_seat_that_moved(game):
    tables = logged(game, 24, seed=1)
    for i in range(24):
        dealt = tables.events(i)
        assert {event["seat"] for event in dealt} >= set(range(game.num_players))
        assert 0 < len(dealt) <= game.max_events
    going, most = np.ones(24, bool), 0
    while going.any():
        moved = tables.turn.copy()
        tables.step(nth_legal(tables.action_masks, np.random.default_rng(most).random(24)))
        for i in range(24):
            events = tables.events(i)
            if not going[i]:
                assert not len(events)  # a finished table tells nothing more
                continue
            assert events["seat"][0] == moved[i]
            assert ((events["kind"] >= 0) & (events["kind"] < len(game.event_kinds))).all()
            assert ((events["seat"] >= NOBODY) & (events["seat"] < game.num_players)).all()
            assert (events["cards"] >= 0).all()
            assert len(events) <= game.max_events
            assert game.tell(events, [f"player {seat}" for seat in range(game.num_players)], None)
            most += 1
        going = ~tables.terminated


@every_game
def test_a_seat_sees_the_cards_that_are_its_own_or_everybodys(game):
    tables, hidden = logged(game, 16, seed=2), 0
    for _ in play(tables, 30):
        for i in range(16):
            everything = tables.events(i)
            for seat in range(game.num_players):
                seen = tables.events(i, seat)
                visible = (everything["seen_by"] == EVERYONE) | (everything["seen_by"] == seat)
                np.testing.assert_array_equal(seen["cards"][visible], everything["cards"][visible])
                assert not seen["cards"][~visible].any()
                hidden += (~visible).sum()
                for field in ("kind", "seat", "number", "seen_by"):
                    np.testing.assert_array_equal(seen[field], everything[field])
    assert hidden > 0 or game is KUHN


def test_a_card_of_kuhn_poker_is_seen_by_its_owner_alone_until_it_is_shown():
    tables = logged(KUHN, 1, seed=3)
    tables.deal({"cards": "QKJ", "first_seat": 0})
    names = ["Ann", "Bob"]
    assert KUHN.tell(tables.events(0, 0), names, 0) == ["Ann got Q", "Bob got"]
    assert KUHN.tell(tables.events(0, 1), names, 1) == ["Ann got", "Bob got K"]
    tables.step([1])
    assert KUHN.tell(tables.events(0, 1), names, 1) == ["Ann put chip"]
    tables.step([1])
    assert KUHN.tell(tables.events(0, 0), names, 0) == ["Bob put chip", "Ann showed Q", "Bob showed K", "Bob won 2"]
    tables.deal({"cards": "QKJ", "first_seat": 0})
    tables.step([1])
    tables.step([0])
    assert KUHN.tell(tables.events(0, 0), names, 0) == ["Bob passed", "Ann won 1"]


@every_game
def test_with_events_nothing_else_changes(game):
    for settings in ({}, {"autoreset": False}):
        silent = Tables(game, 32, seed=4, **settings)
        telling = Tables(game, 32, seed=4, events=True, **settings)
        for _ in zip(play(silent, 60), play(telling, 60), strict=True):
            assert_alike(silent, telling)
    with pytest.raises(ValueError, match="these tables log no events; make them with events=True"):
        silent.events(0)


@every_game
def test_a_new_deal_follows_the_end_of_a_game_in_the_same_step(game):
    tables, stays = Tables(game, 16, seed=5, events=True), logged(game, 16, seed=5)
    while not stays.terminated.any():
        actions = nth_legal(tables.action_masks, np.random.default_rng(5).random(16))
        tables.step(actions)
        stays.step(actions)
    for i in np.flatnonzero(stays.terminated):
        both, last = tables.events(i), stays.events(i)
        assert len(both) > len(last)
        np.testing.assert_array_equal(both[: len(last)], last)


@every_game
def test_copied_tables_tell_their_own_events(game):
    import copy

    tables = logged(game, 4, seed=6)
    twin, before = copy.deepcopy(tables), tables.events(0)
    for _ in play(twin, 1):
        pass
    np.testing.assert_array_equal(tables.events(0), before)
    assert arrays(twin)["records"].dtype == game.dtype


# --- Katzenjammer Blues


def whole_games(game, number, seed):
    """For each game all its events in order, each with whether a player chose it or it followed from the rules."""
    tables = logged(game, number, seed)
    histories = [[(event, False) for event in tables.events(i)] for i in range(number)]
    going = np.ones(number, bool)
    for step in range(500):
        tables.step(nth_legal(tables.action_masks, np.random.default_rng((seed, step)).random(number)))
        for i in np.flatnonzero(going):
            histories[i] += [(event, k == 0) for k, event in enumerate(tables.events(i))]  # the first was chosen
        going = ~tables.terminated
        if not going.any():
            return histories
    raise AssertionError("games did not end")


def auctions(history):
    """The events of each auction, from a revealed row to what becomes of it, each with whether it was chosen."""
    current = []
    for event, chosen in history:
        if event["kind"] == rules.REVEALED:
            current = []
        elif event["kind"] in (rules.BID, rules.PASSED):
            current.append((event, chosen))
        elif event["kind"] in (rules.PAID, rules.DISCARDED):
            yield current, event


@katzenjammer
def test_a_forced_pass_is_told_as_a_chosen_one(game):
    """In every auction every seat but the winner passes once, and every pass is the same event, whoever was asked."""
    forced = chosen = 0
    for history in whole_games(game, 20, seed=7):
        for events, end in auctions(history):
            passes = [event for event, _ in events if event["kind"] == rules.PASSED]
            expected = set(range(game.num_players)) - ({int(end["seat"])} if end["kind"] == rules.PAID else set())
            assert sorted(event["seat"] for event in passes) == sorted(expected)
            for event, was_chosen in events:
                if event["kind"] == rules.PASSED:
                    assert (event["number"], event["seen_by"], event["cards"].sum()) == (0, EVERYONE, 0)
                    forced, chosen = forced + (not was_chosen), chosen + was_chosen
    assert forced > 20
    assert chosen > 20


@katzenjammer
def test_a_forced_payment_and_a_forced_end_of_presenting_are_told_as_chosen_ones(game):
    forced = chosen = 0
    for history in whole_games(game, 20, seed=8):
        kinds = [int(event["kind"]) for event, _ in history]
        for k, (event, was_chosen) in enumerate(history):
            if event["kind"] != rules.PAID:
                continue
            forced, chosen = forced + (not was_chosen), chosen + was_chosen
            bid = next(bid for bid, _ in reversed(history[:k]) if bid["kind"] == rules.BID)
            assert (event["seat"], event["number"], event["seen_by"]) == (bid["seat"], bid["number"], EVERYONE)
            assert event["cards"].sum() == game.actions.decode(int(bid["number"])).count
            assert kinds[k + 1] == rules.TOOK
            after = [kind for kind in kinds[k + 2 :] if kind not in (rules.PRESENTED, rules.WON_MICE, rules.THREW)]
            assert after[0] in (rules.FINISHED, rules.DISPLAYED)
    assert forced > 20
    assert chosen > 5


@katzenjammer
def test_the_log_tells_where_all_cards_and_mice_went(game):
    """From the events alone: what each seat holds at the end, and how many mice it has won."""
    tables = logged(game, 8, seed=9)
    held = np.zeros((8, game.num_players, 6), int)
    mice = np.zeros((8, game.num_players), int)
    adds = dict.fromkeys((rules.DEALT, rules.DREW, rules.TOOK), 1)
    adds |= dict.fromkeys((rules.PAID, rules.PRESENTED, rules.THREW, rules.DISPLAYED), -1)

    def read(where):
        for i in where:
            for event in tables.events(i):
                held[i, event["seat"]] += adds.get(int(event["kind"]), 0) * event["cards"]
                mice[i, event["seat"]] += event["number"] if event["kind"] == rules.WON_MICE else 0

    read(range(8))
    going = np.ones(8, bool)
    for _ in play(tables, 400):
        read(np.flatnonzero(going))
        going = ~tables.terminated
        np.testing.assert_array_equal(held, tables.records["hand"])
        np.testing.assert_array_equal(mice, tables.records["mice"])
    assert not going.any()
