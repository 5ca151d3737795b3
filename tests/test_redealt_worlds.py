"""The worlds that a seat imagines behind what it sees are possible, random and uniform."""

import json
from collections import Counter
from itertools import permutations
from math import factorial
from pathlib import Path

import numpy as np
import pytest
from random_play import play_on, random_positions

from katz_env import Katzenjammer, Tables
from katz_env.core.jit import cached
from katz_env.games.katzenjammer.hidden import resample_within

RECORDED = Path(__file__).parent / "data" / "games.jsonl"


def positions(players, seed=1):
    return Katzenjammer(players), random_positions(Katzenjammer(players), 16, 12, seed)


def seats_to_act(records):
    return records["turn"].astype(np.int64)


def assert_possible_worlds(game, worlds, records, seats):
    """Consistent with what the seats see, and complete: cards conserved, known cards and own hands in place."""
    everyone = np.arange(len(records))
    np.testing.assert_array_equal(np.sort(worlds["deal"], axis=1), np.sort(records["deal"], axis=1))
    gone = np.arange(game.rules.num_cards) < worlds["position"][:, None]
    in_pile = np.stack([((worlds["deal"] == kind) & ~gone).sum(1) for kind in range(game.rules.values + 1)], axis=1)
    placed = worlds["hand"].sum(1, dtype=int) + worlds["row"] + worlds["discard"] + in_pile
    placed[:, -1] += worlds["displayed"].sum(1, dtype=int)
    np.testing.assert_array_equal(placed, game.rules.copies)
    assert (worlds["hand"] >= worlds["known"]).all()
    np.testing.assert_array_equal(worlds["hand"].sum(2), records["hand_sizes"])
    np.testing.assert_array_equal(worlds["hand"][everyone, seats], records["hand"][everyone, seats])
    assert all(can_pay_every_claim(world) for world in worlds)


def can_pay_every_claim(record):
    """Each claim of this auction lies in its bidder's hand, counted without the engine."""
    if record["phase"] == 3:
        return True
    for hand, claims in zip(record["hand"].astype(int), record["claims"].astype(int), strict=True):
        possible = [np.count_nonzero(hand[:-1]) + hand[-1], *(hand[:-1] + hand[-1])]
        if (claims > possible).any():
            return False
    return True


def test_worlds_are_possible_for_every_seat(players):
    game, records = positions(players)
    original = records.copy()
    for seat in range(players):
        seats = np.full(len(records), seat)
        worlds = game.redeal(game.redact(records, seats), seats, np.random.default_rng(5))
        assert_possible_worlds(game, worlds, records, seats)
    np.testing.assert_array_equal(records, original)


def test_worlds_of_the_seats_to_act_can_be_played_on(players):
    game, records = positions(players)
    seats, tables, rng = seats_to_act(records), Tables(game, len(records)), np.random.default_rng(6)
    worlds = game.redeal(game.redact(records, seats), seats, rng)
    game.check(worlds)
    tables.restore(worlds)
    for _ in play_on(tables, rng, 20):
        game.check(tables.records)


def test_worlds_of_finished_tables_have_no_jokers_in_hands(players):
    """At the end every joker has been displayed, so everybody knows that no hand holds one."""
    game = Katzenjammer(players, mice=2)
    tables, rng = Tables(game, 64, seed=7), np.random.default_rng(7)
    for _ in play_on(tables, rng, 120):
        records = tables.final_records[tables.terminated].copy()
        seats = seats_to_act(records)
        worlds = game.redeal(game.redact(records, seats), seats, rng)
        assert_possible_worlds(game, worlds, records, seats)
        assert not worlds["hand"][:, :, 5].any()


def test_worlds_differ_unless_the_generator_is_the_same_and_leave_what_they_came_from_alone(players):
    game, records = positions(players)
    seats = seats_to_act(records)
    seen = game.redact(records, seats)
    before = seen.copy()
    first, again, other = (game.redeal(seen, seats, np.random.default_rng(seed)) for seed in (8, 8, 9))
    np.testing.assert_array_equal(seen, before)
    np.testing.assert_array_equal(first, again)
    hidden = records["position"] < 60
    assert (first["deal"] != other["deal"]).any(1)[hidden].all()
    assert len(set(first["rng"].tolist())) == len(first)
    assert not np.isin(first["rng"], records["rng"]).any()


def test_a_table_without_a_possible_world_is_refused():
    game = Katzenjammer(2)
    tables = Tables(game, 1, seed=10)
    impossible = game.redact(tables.records, seats_to_act(tables.records))
    impossible["claims"][0, 1 - impossible["turn"][0], 1] = 30
    with pytest.raises(ValueError, match="table 0 has no possible world: some bid of its auction cannot be paid"):
        game.redeal(impossible, seats_to_act(tables.records), np.random.default_rng(10))


# --- the fallback of the re-deal, when rejection does not find a world


@cached
def fill_world(tables, seat, tries):
    return resample_within(tables[0], seat, tries)


def after_high_bids(players):
    """The decisions of the recorded games after a bid of five cards or more, in its auction and payment."""
    found = []
    for game in (game for game in map(json.loads, RECORDED.read_text().splitlines()) if game["players"] == players):
        tables = Tables(Katzenjammer(players, game["mice"]), autoreset=False)
        tables.deal({"deck": game["deck"], "bandleader": game["bandleader"]})
        for move in game["moves"]:
            if tables.records["bid"][0] >= tables.game.actions.bid(5, 0) and tables.records["phase"][0] < 2:
                found.append((tables.game, tables.records[0].copy()))
            tables.step([tables.game.legal_names(tables.records[0], tables.action_masks[0])[move]])
    return found


def test_repair_finds_possible_worlds_after_the_high_bids_of_recorded_games(players):
    found = after_high_bids(players)
    assert found
    highest_first = sorted(found, key=lambda position: -position[1]["bid"])
    for k, (game, record) in enumerate(highest_first[:20]):
        for seat in range(game.num_players):
            assert_repaired(game, record, seat, k)


def test_repair_finds_possible_worlds_in_random_auctions(players):
    game, records = positions(players, seed=11)
    auctions = records[(records["phase"] < 2) & (records["bid"] > 12)]
    assert len(auctions) > 20
    for k, record in enumerate(auctions[:20]):
        assert_repaired(game, record, k % players, k)


def assert_repaired(game, record, seat, seed):
    seats = np.array([seat])
    world = game.redact(record.reshape(1), seats)
    world["rng"] = seed
    assert fill_world(world, seat, 0)
    assert_possible_worlds(game, world, record.reshape(1), seats)
    np.testing.assert_array_equal(game.observe(world, seats), game.observe(record.reshape(1), seats))


# --- uniformity


def small_auction(players, hand_size):
    """An auction with nine cards, after bids that rule out many worlds of the seat to act but leave six or more."""
    game = Katzenjammer(players, values=2, copies=3, set_size=2, hand_size=hand_size)
    records = random_positions(game, 64, 8, seed=3)
    for record in records[(records["phase"] == 0) & (records["claims"].sum((1, 2)) > 0)]:
        seat = int(record["turn"])
        ways = all_worlds(game, record, seat) if hidden_cards(game, record, seat) <= 6 else Counter()
        if len(ways) >= 6 and ways.total() <= 0.6 * factorial(hidden_cards(game, record, seat)):
            return game, record, seat, ways
    raise AssertionError("there is no such auction among the random ones")


def hidden_cards(game, record, seat):
    """How many cards a seat cannot place."""
    in_hands = record["hand_sizes"] - record["known"].sum(1)
    return game.rules.num_cards - int(record["position"]) + int(np.delete(in_hands, seat).sum())


def all_worlds(game, record, seat):
    """Every world as (hidden hands, draw pile), with the number of ways of dealing it: all orders of the unseen cards."""
    unseen = [int(kind) for kind in record["deal"][record["position"] :]]
    others = [other for other in range(game.num_players) if other != seat]
    for other in others:
        unseen += [kind for kind in range(3) for _ in range(record["hand"][other, kind] - record["known"][other, kind])]
    worlds = Counter()
    for order in permutations(unseen):
        world, place = record.copy(), 0
        for other in others:
            hidden = int(record["hand_sizes"][other] - record["known"][other].sum())
            world["hand"][other] = record["known"][other] + np.bincount(order[place : place + hidden], minlength=3)
            place += hidden
        if can_pay_every_claim(world):
            worlds[world["hand"].tobytes(), order[place:]] += 1
    return worlds


def chi_square_is_plausible(counts, expected):
    """Whether drawn counts lie within five standard deviations of what is expected of their chi-square statistic."""
    total, ways = sum(counts.values()), sum(expected.values())
    wanted = {world: total * number / ways for world, number in expected.items()}
    statistic = sum((counts[world] - mean) ** 2 / mean for world, mean in wanted.items())
    freedom = len(expected) - 1
    return abs(statistic - freedom) < 5 * (2 * freedom) ** 0.5


def draw_worlds(game, record, seat, number, tries):
    counts, seats = Counter(), np.array([seat])
    seeds = np.random.default_rng(12).integers(0, 2**64, number, np.uint64)
    seen = game.redact(record.reshape(1), seats)
    for seed in seeds:
        world = seen.copy()
        world["rng"] = seed
        assert fill_world(world, seat, tries)
        counts[world["hand"][0].tobytes(), tuple(world["deal"][0, world["position"][0] :].tolist())] += 1
    return counts


@pytest.mark.parametrize(("players", "hand_size"), [(2, 2), (3, 1)])
@pytest.mark.parametrize(("tries", "number"), [(1000, 4000), (0, 400)], ids=["rejection", "repair"])
def test_worlds_are_uniform_over_the_ways_of_dealing_the_unseen_cards(players, hand_size, tries, number):
    game, record, seat, ways = small_auction(players, hand_size)
    counts = draw_worlds(game, record, seat, number, tries)
    assert set(counts) <= set(ways)
    assert chi_square_is_plausible(counts, ways)


def test_the_chi_square_bound_rejects_a_lopsided_generator():
    expected = Counter(dict.fromkeys(range(10), 1))
    lopsided = Counter({world: 400 + 60 * (world == 0) - 60 * (world == 9) for world in range(10)})
    assert chi_square_is_plausible(Counter({world: 400 + (-1) ** world * 15 for world in range(10)}), expected)
    assert not chi_square_is_plausible(lopsided.copy() | Counter({0: 600}), expected)
