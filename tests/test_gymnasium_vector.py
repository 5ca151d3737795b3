"""The vector environment speaks Gymnasium's own SAME_STEP layout, and its tables are those of the single environment."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from random_play import random_actions

from katz_env import Katzenjammer
from katz_env.core.fields import offsets

ENV_ID = "katz_env/Katzenjammer-v0"


def one(players=3, **settings):
    return gymnasium.make(ENV_ID, num_players=players, **settings)


def many(num_envs, players=3, **settings):
    return gymnasium.make_vec(ENV_ID, num_envs=num_envs, num_players=players, **settings)


def legal(masks, rng):
    return random_actions(np.atleast_2d(masks), rng)


def assert_same_layout(ours, theirs):
    """The same keys, dtypes and shapes; but for object arrays, whose entries are compared."""
    assert set(ours) == set(theirs)
    for key, value in theirs.items():
        if isinstance(value, dict):
            assert_same_layout(ours[key], value)
        else:
            assert (ours[key].dtype, ours[key].shape) == (value.dtype, value.shape), key
            for mine, their in zip(ours[key], value, strict=True):
                if value.dtype == object and mine is not None and their is not None:
                    assert (mine.dtype, mine.shape) == (their.dtype, their.shape)


def first_final(envs, choose):
    """Steps until a game has ended, and gives all that this step returned."""
    _, infos = envs.reset(seed=8)
    while "final_info" not in infos:
        *rest, infos = envs.step(choose(infos["action_mask"]))
    return (*rest, infos)


@pytest.mark.parametrize("how", ["legal", "illegal"])
def test_the_layout_is_that_of_gymnasium_in_the_same_step_mode(how):
    theirs = SyncVectorEnv([one] * 3, autoreset_mode=AutoresetMode.SAME_STEP)
    ours = many(3)
    assert ours.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    assert ours.single_observation_space == theirs.single_observation_space
    assert (ours.observation_space, ours.action_space) == (theirs.observation_space, theirs.action_space)
    choices = {"legal": lambda masks: legal(masks, np.random.default_rng(9)), "illegal": lambda masks: np.full(3, 255)}
    assert_same_layout(ours.reset(seed=8)[1], theirs.reset(seed=8)[1])
    (*mine, infos), (*their, their_infos) = (first_final(envs, choices[how]) for envs in (ours, theirs))
    for k, name in enumerate(("observations", "rewards", "terminated", "truncated")):
        assert mine[k].shape == their[k].shape, name
        assert mine[k].dtype == their[k].dtype or name == "rewards"
    assert_same_layout(infos, their_infos)


@pytest.mark.parametrize("reward", ["win", "score"])
def test_final_infos_tell_of_the_ended_game_and_the_rest_of_the_new_one(players, reward):
    envs, rng = many(60, players, reward=reward), np.random.default_rng(10)
    observations, infos = envs.reset(seed=10)
    ended_games = 0
    for _ in range(60):
        before = infos["seat"]
        observations, rewards, terminated, truncated, infos = envs.step(legal(infos["action_mask"], rng))
        assert not truncated.any()
        assert not rewards[~terminated].any()
        assert (infos["action_mask"].sum(1) >= 2).all()
        assert envs.observation_space.contains(observations)
        if terminated.any():
            assert_final(infos, terminated, rewards, before, players, reward)
        else:
            assert "final_info" not in infos
        ended_games += terminated.sum()
    assert ended_games > 60


def assert_final(infos, terminated, rewards, seats, players, reward):
    final = infos["final_info"]
    for mask in (infos["_final_info"], infos["_final_obs"], final["_score"], final["_win_share"], final["_action_mask"]):
        np.testing.assert_array_equal(mask, terminated)
    np.testing.assert_array_equal(final["seat"][terminated], seats[terminated])
    expected = final["score"] if reward == "score" else final["win_share"] - 1 / players
    np.testing.assert_allclose(rewards[terminated], expected[terminated], atol=1e-6)
    assert not final["action_mask"].any()
    assert [observation is not None for observation in infos["final_obs"]] == terminated.tolist()
    fields = Katzenjammer(players).observation_fields
    start = offsets(fields)["phase"].start
    assert all(observation[start + 3] == 1 for observation in infos["final_obs"][terminated])


def test_illegal_actions_end_only_their_games():
    envs = many(6)
    _, infos = envs.reset(seed=11)
    actions, seats = infos["action_mask"].argmax(1), infos["seat"]
    actions[[1, 4]] = [300, -5]
    _, rewards, terminated, _, infos = envs.step(actions)
    assert rewards[[1, 4]].tolist() == [-1, -1]
    assert terminated[[1, 4]].all()
    assert infos["final_info"]["illegal_action"][[1, 4]].all()
    assert infos["final_info"]["_illegal_action"].tolist() == [False, True, False, False, True, False]
    assert infos["final_info"]["seat"][[1, 4]].tolist() == seats[[1, 4]].tolist()
    assert (infos["action_mask"].sum(1) >= 2).all()


def test_a_reset_mask_deals_only_its_tables():
    envs, rng = many(8), np.random.default_rng(12)
    observations, infos = envs.reset(seed=12)
    for _ in range(3):
        observations, _, _, _, infos = envs.step(legal(infos["action_mask"], rng))
    mask = np.array([1, 0, 0, 1, 0, 0, 0, 0], bool)
    again, _ = envs.reset(options={"reset_mask": mask, "another key": 1})
    np.testing.assert_array_equal(again[~mask], observations[~mask])
    assert (again[mask] != observations[mask]).any(1).all()


@pytest.mark.parametrize("mask", [np.zeros(4, bool), np.ones(3, bool), np.ones(4, int), [True] * 4])
def test_a_wrong_reset_mask_is_refused(mask):
    envs = many(4)
    envs.reset(seed=13)
    before = envs.unwrapped._tables.records.copy()
    with pytest.raises(ValueError, match=r"reset_mask must be a bool array of shape \(4,\) with at least one True"):
        envs.reset(options={"reset_mask": mask})
    np.testing.assert_array_equal(envs.unwrapped._tables.records, before)


@pytest.mark.parametrize(
    ("actions", "message"),
    [(np.zeros(4), "actions are float64"), (np.zeros(3, int), r"\(3,\); they must be integers \(4,\)")],
)
def test_actions_of_the_wrong_kind_are_refused(actions, message):
    envs = many(4)
    with pytest.raises(ValueError, match=r"call reset\(\) before step\(\)"):
        envs.step(np.zeros(4, int))
    envs.reset(seed=14)
    with pytest.raises(ValueError, match=message):
        envs.step(actions)


def test_vector_environments_are_reproducible_and_hand_out_copies():
    seen = []
    for threads in (1, 3):
        envs, rng = many(1500, opponents="random", num_threads=threads), np.random.default_rng(15)
        observations, infos = envs.reset(seed=15)
        kept = observations.copy()
        for _ in range(20):
            new, rewards, _, _, infos = envs.step(legal(infos["action_mask"], rng))
            np.testing.assert_array_equal(observations, kept)
            observations, kept = new, new.copy()
        for array in (observations, rewards, infos["action_mask"], infos["seat"], envs.unwrapped.action_masks()):
            assert not np.shares_memory(array, envs.unwrapped._tables.observations)
            assert not np.shares_memory(array, envs.unwrapped._tables.action_masks)
        seen.append((observations, rewards, infos["seat"]))
    for one_thread, three_threads in zip(*seen, strict=True):
        np.testing.assert_array_equal(one_thread, three_threads)


def test_the_first_open_seat_sees_what_the_single_environment_shows():
    single, vector = one(2, seat=0, opponents="greedy"), many(1, 2, seat=0, opponents="greedy")
    observation, info = single.reset(seed=16)
    observations, infos = vector.reset(seed=16)
    for _ in range(40):
        np.testing.assert_array_equal(observation, observations[0])
        action = int(info["action_mask"].argmax())
        observation, reward, over, _, info = single.step(action)
        observations, rewards, terminated, _, infos = vector.step(np.array([action]))
        assert (reward, over) == (pytest.approx(rewards[0]), terminated[0])
        if over:
            np.testing.assert_array_equal(infos["final_obs"][0], observation)
            break
    assert over
