"""Tables of every game: the same games however they are played, whole copies, and rewards that say who won."""

import copy
import pickle

import numpy as np
import pytest
from any_game import GAMES, KUHN, arrays, assert_alike, every_game, nth_legal, play, positions

from katz_env import Tables, make_game


@every_game
def test_games_do_not_depend_on_the_number_of_tables_or_threads(game):
    many, threads, few = (Tables(game, size, seed=1, num_threads=n) for size, n in ((600, 1), (600, 2), (3, 1)))
    for _ in zip(play(many, 60), play(threads, 60), play(few, 60), strict=True):
        assert_alike(many, threads)
        assert_alike(few, many, first=3)


@every_game
def test_a_seed_decides_the_games_and_another_seed_others(game):
    same, again, other = (Tables(game, 64, seed=seed) for seed in (2, 2, 3))
    assert_alike(same, again)
    assert (same.records["deal"] != other.records["deal"]).any()
    again.reset(seed=3)
    assert_alike(other, again)


@every_game
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))], ids=["copy", "pickle"])
def test_copies_go_on_alike_and_leave_the_original_alone(game, duplicate):
    tables = Tables(game, 8, seed=4)
    for _ in play(tables, 11):
        pass
    twin, before = duplicate(tables), arrays(tables)
    assert_alike(tables, twin)
    for _ in play(twin, 40, seed=5):
        pass
    assert_alike(tables, before)
    for _ in play(tables, 40, seed=5):
        pass
    assert_alike(tables, twin)


@every_game
def test_restored_tables_go_on_as_they_did(game):
    tables = Tables(game, 8, seed=6)
    for step in play(tables, 60, seed=6):
        if step == 20:
            kept = tables.records.copy()
    after, other = arrays(tables), Tables(game, 8, seed=7)
    other.restore(kept)
    np.testing.assert_array_equal(other.records, kept)
    for step in range(21, 60):
        draws = np.random.default_rng((6, step)).random(4096)[:8]
        other.step(nth_legal(other.action_masks, draws))
    assert_alike(other, after)


@every_game
def test_tables_from_a_file_go_on_and_have_the_type_that_the_loops_are_compiled_for(game, tmp_path):
    tables, seats = Tables(game, 4, seed=7), np.zeros(4, np.int64)
    np.save(tmp_path / "tables.npy", tables.records)
    loaded = np.load(tmp_path / "tables.npy")
    assert not loaded.dtype.isalignedstruct, "NumPy does not save this mark"
    for records in (game.check(loaded), game.checked(loaded, seats)[0], game.checked(loaded[::-1], seats)[0]):
        assert records.dtype.isalignedstruct == game.dtype.isalignedstruct
        assert records.flags.c_contiguous
    before = arrays(tables)
    tables.restore(loaded)
    assert_alike(tables, before)


@every_game
def test_every_table_of_random_games_can_be_put_back(game):
    records = positions(game, steps=150, finished=True)
    assert (records["phase"] == game.over_phase).any()
    np.testing.assert_array_equal(game.check(records), records)


@every_game
def test_every_decision_is_a_choice_and_is_shown_to_the_seat_to_act(game):
    tables = Tables(game, 32, seed=8)
    for _ in play(tables, 80):
        assert (tables.action_masks.sum(1) >= 2).all()
        np.testing.assert_array_equal(tables.turn, tables.records["turn"])
        np.testing.assert_array_equal(tables.observations, tables.observe(tables.turn))
        np.testing.assert_array_equal(tables.observations, game.observe(tables.records, tables.turn))


@every_game
def test_with_autoreset_a_game_ends_as_without(game):
    again, stays = (Tables(game, 32, seed=9, autoreset=autoreset) for autoreset in (True, False))
    finished = np.zeros(32, bool)
    for _ in zip(play(again, 200), play(stays, 200), strict=True):
        ends = stays.terminated & ~finished
        for name in ("rewards", "scores"):
            np.testing.assert_array_equal(getattr(again, name)[ends], getattr(stays, name)[ends])
        assert (again.final_records[ends] == stays.records[ends]).all()
        assert not stays.rewards[finished].any()
        assert not stays.action_masks[finished].any()
        finished |= ends
    assert finished.all()
    assert not stays.terminated.any() or stays.terminated.all()


@every_game
def test_rewards_share_the_victory_or_are_the_scores(game):
    win, score = (Tables(game, 64, seed=10, reward=reward) for reward in ("win", "score"))
    games = 0
    for _ in zip(play(win, 200), play(score, 200), strict=True):
        ended = win.terminated
        games += ended.sum()
        np.testing.assert_array_equal(score.rewards, score.scores)
        np.testing.assert_allclose(win.rewards.sum(1), 0, atol=1e-6)
        assert not win.rewards[~ended].any()
        won = win.rewards[ended] > -0.5 / game.num_players
        assert won.any(1).all()
        assert (win.scores[ended].max(1) == np.where(won, win.scores[ended], -99).max(1)).all()  # a winner has the best score
    assert games > 50


def test_chips_of_kuhn_poker_are_conserved():
    tables = Tables(KUHN, 64, seed=11, reward="score")
    for _ in play(tables, 40):
        assert not tables.rewards.sum(1).any()
        assert set(np.abs(tables.scores[tables.terminated]).ravel()) <= {1, 2}


@every_game
def test_a_deal_written_down_and_given_is_the_same_deal(game):
    tables, given = Tables(game, 6, seed=12), Tables(game, 6, seed=13)
    given.deal([game.describe_deal(t) | {game.first_seat_key: int(t["first_seat"])} for t in tables.records])
    for name, array in arrays(tables).items():
        if name == "records":
            array["rng"] = given.records["rng"]
        np.testing.assert_array_equal(getattr(given, name), array)


@every_game
def test_an_illegal_action_changes_nothing(game):
    tables = Tables(game, 4, seed=14)
    before = arrays(tables)
    actions = tables.action_masks.argmax(1)
    for wrong in (-1, game.num_actions, 10**12):
        with pytest.raises(ValueError, match=rf"action {wrong} is illegal at table 2"):
            tables.step([*actions[:2], wrong, actions[3]])
        assert_alike(tables, before)


@every_game
def test_a_game_is_made_again_from_its_name_and_settings(game):
    again = make_game(game.name, **game.settings)
    assert again == game
    assert hash(again) == hash(game)
    assert pickle.loads(pickle.dumps(game)) == game
    assert [other for other in GAMES if other == game] == [game]
