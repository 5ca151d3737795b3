"""What holds after every step of every game: cards and mice are conserved, there is a choice, and games end."""

import numpy as np
import pytest
from random_play import play_on, play_to_the_end, random_actions

from katz_env import Katzenjammer, Tables
from katz_env.core.batch import REWARDS

REVEALS_AND_CHOICES = 400  # no game of 90 cards has more decisions than this: every round takes a card from the pile


def cards_on_the_table(records):
    """How many of each kind lie anywhere, ``(N, kinds)``."""
    pile = np.arange(records["deal"].shape[1]) >= records["position"][:, None]
    in_pile = np.stack([((records["deal"] == kind) & pile).sum(1) for kind in range(6)], axis=1)
    total = in_pile + records["hand"].sum(1, dtype=int) + records["row"] + records["discard"]
    total[:, 5] += records["displayed"].sum(1, dtype=int)
    return total


def unpayable_claims(records):
    """How many claims of this auction a hand cannot pay, counted one by one."""
    failures = 0
    for record in records[records["phase"] <= 1]:
        for hand, claims in zip(record["hand"].astype(int), record["claims"].astype(int), strict=True):
            failures += claims[0] > np.count_nonzero(hand[:5]) + hand[5]
            failures += sum(claims[value] > hand[value - 1] + hand[5] for value in range(1, 6))
    return failures


def assert_possible(records, mice):
    np.testing.assert_array_equal(cards_on_the_table(records), 15)
    np.testing.assert_array_equal(records["mice"].sum(1, dtype=int) + records["supply"], mice)
    np.testing.assert_array_equal(records["hand_sizes"], records["hand"].sum(2))
    assert (records["known"] >= 0).all()
    assert (records["known"] <= records["hand"]).all()


def test_cards_and_mice_are_conserved_after_every_step(players):
    tables = Tables(Katzenjammer(players), 64, seed=1)
    assert_possible(tables.records, tables.game.rules.mice)
    for _ in play_on(tables, np.random.default_rng(1), 150):
        assert_possible(tables.records, tables.game.rules.mice)
        if tables.terminated.any():
            assert_possible(tables.final_records[tables.terminated], tables.game.rules.mice)


def test_every_decision_has_two_legal_moves_and_every_claim_can_be_paid(players):
    tables = Tables(Katzenjammer(players), 64, seed=2)
    for _ in play_on(tables, np.random.default_rng(2), 150):
        assert (tables.action_masks.sum(1) >= 2).all()
        assert unpayable_claims(tables.records) == 0
        assert (tables.records["phase"] < 3).all()


def test_the_claims_hold_the_highest_bid_at_its_bidder(players):
    tables = Tables(Katzenjammer(players), 64, seed=3)
    for _ in play_on(tables, np.random.default_rng(3), 100):
        records = tables.records[(tables.records["phase"] < 2) & (tables.records["bid"] > 0)]
        number, kind = np.divmod(records["bid"].astype(int) - 1, 6)
        every = np.arange(len(records))
        np.testing.assert_array_equal(records["claims"][every, records["high_bidder"], kind], number + 1)


def test_a_check_of_possible_tables_accepts_all_tables_of_random_games(players):
    tables = Tables(Katzenjammer(players), 32, seed=4)
    for _ in play_on(tables, np.random.default_rng(4), 120):
        tables.game.check(tables.records)
        if tables.terminated.any():
            tables.game.check(tables.final_records[tables.terminated])


@pytest.mark.parametrize("reward", ["win", "score"])
def test_games_end_and_pay_what_they_say(players, reward):
    tables = Tables(Katzenjammer(players), 100, seed=5, reward=reward, autoreset=False)
    paid = np.zeros((100, players))
    for step in play_to_the_end(tables, np.random.default_rng(5)):
        assert step < REVEALS_AND_CHOICES
        paid += tables.rewards
    assert not tables.action_masks.any()
    most = tables.records["displayed"].max(1, keepdims=True)
    penalty = 5 * (tables.records["displayed"] == most)
    np.testing.assert_array_equal(tables.scores, tables.records["mice"] - penalty)
    if reward == "win":
        np.testing.assert_allclose(paid.sum(1), 0, atol=1e-6)
    else:
        np.testing.assert_array_equal(paid, tables.scores)


@pytest.mark.parametrize("reward", ["win", "score"])
def test_with_autoreset_a_step_tells_of_the_ended_game_and_deals_the_new_one(players, reward):
    tables = Tables(Katzenjammer(players), 64, seed=6, reward=reward)
    ended_games = 0
    for _ in play_on(tables, np.random.default_rng(6), 150):
        ended = tables.terminated
        ended_games += ended.sum()
        game, final = tables.game, tables.final_records[ended]
        rewards, scores = game.outcome(final, REWARDS.index(reward))
        assert (final["phase"] == 3).all()
        np.testing.assert_array_equal(tables.rewards[ended], rewards)
        np.testing.assert_array_equal(tables.scores[ended], scores)
        assert not tables.rewards[~ended].any()
        assert not tables.scores[~ended].any()
        new = tables.records[ended]
        assert (new["phase"] == 0).all()
        assert not new["mice"].any()
        np.testing.assert_array_equal(tables.turn, tables.records["turn"])
        np.testing.assert_array_equal(tables.observations, game.observe(tables.records, tables.turn.astype(int)))
    assert ended_games > 64


def test_the_final_record_is_the_table_as_it_would_have_stayed(players):
    again = Tables(Katzenjammer(players), 64, seed=7)
    stays = Tables(Katzenjammer(players), 64, seed=7, autoreset=False)
    rng = np.random.default_rng(7)
    while not stays.terminated.any():
        actions = random_actions(stays.action_masks, rng)
        again.step(actions)
        stays.step(actions)
    ended = stays.terminated
    assert again.terminated.tolist() == ended.tolist()
    np.testing.assert_array_equal(again.final_records[ended], stays.records[ended])
    np.testing.assert_array_equal(again.records[~ended], stays.records[~ended])
    np.testing.assert_array_equal(again.rewards, stays.rewards)


def test_without_autoreset_a_finished_table_ignores_its_action_and_is_paid_once(players):
    tables = Tables(Katzenjammer(players), 16, seed=8, autoreset=False)
    for _ in play_to_the_end(tables, np.random.default_rng(8)):
        pass
    before, scores = tables.records.copy(), tables.scores.copy()
    for action in (0, 255, 17, -1, 10**9):
        tables.step(np.full(16, action))
        np.testing.assert_array_equal(tables.records, before)
        np.testing.assert_array_equal(tables.scores, scores)
        assert tables.terminated.all()
        assert not tables.rewards.any()
        assert not tables.action_masks.any()


def test_a_finished_table_waits_while_others_go_on(players):
    tables = Tables(Katzenjammer(players), 32, seed=9, autoreset=False)
    finished = {}
    for _ in play_to_the_end(tables, np.random.default_rng(9)):
        for i in np.flatnonzero(tables.terminated):
            if i in finished:
                assert tables.records[i] == finished[i]
                assert not tables.rewards[i].any()
            finished[i] = tables.records[i].copy()
    assert len(finished) == 32
