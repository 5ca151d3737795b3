"""The Gymnasium environment of one table passes both checkers and pays and seats its players as it says."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from random_play import random_actions
from stable_baselines3.common.env_checker import check_env as check_env_for_stable_baselines
from stable_baselines3.common.vec_env import DummyVecEnv

from katz_env import Agent, make_agent
from katz_env.core.batch import REWARDS

ENV_ID = "katz_env/Katzenjammer-v0"


def one(players=3, **settings):
    return gymnasium.make(ENV_ID, num_players=players, **settings)


def many(num_envs, players=3, **settings):
    return gymnasium.make_vec(ENV_ID, num_envs=num_envs, num_players=players, **settings)


def legal(masks, rng):
    return random_actions(np.atleast_2d(masks), rng)


class Witness(Agent):
    """Plays like the bot "random" and notes which seats it was asked for."""

    def __init__(self, name="witness"):
        self.name, self.seats, self.player = name, [], make_agent("random")

    def act(self, view):
        self.seats += view.seats.tolist()
        return self.player.act(view)


# --- the checkers


def test_the_checker_of_gymnasium_finds_nothing(players, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")  # it opens a window too
    monkeypatch.setattr("katz_env.core.rendering.RENDER_FPS", 1000)
    check_env(one(players).unwrapped)
    check_env(one(players, opponents="random", seat=players - 1, render_mode="ansi").unwrapped)


def test_the_checker_of_stable_baselines_finds_nothing(players):
    check_env_for_stable_baselines(one(players).unwrapped, warn=True)


# --- one environment


def play_a_game(env, rng, **reset):
    """The observations, total reward and last info of a game of random legal moves."""
    observation, info = env.reset(**reset)
    seen, total, over = [observation], 0.0, False
    while not over:
        assert info["action_mask"].dtype == np.int8
        assert info["action_mask"].sum() >= 2
        np.testing.assert_array_equal(info["action_mask"], env.get_wrapper_attr("action_masks")())
        observation, reward, over, truncated, info = env.step(int(legal(info["action_mask"], rng)[0]))
        assert truncated is False
        assert reward == 0 or over
        seen.append(observation)
        total += reward
    return seen, total, info


@pytest.mark.parametrize("reward", ["win", "score"])
def test_the_reward_is_the_outcome_of_the_open_seat(players, reward):
    env, rng = one(players, reward=reward), np.random.default_rng(1)
    for _ in range(5):
        _, total, info = play_a_game(env, rng)
        game, record = env.unwrapped.game, env.unwrapped._tables.records
        rewards, scores = game.outcome(record, REWARDS.index(reward))
        assert total == pytest.approx(rewards[0, info["seat"]])
        assert info["score"] == scores[0, info["seat"]]
        assert info["mice"] == record["mice"][0, info["seat"]]
        assert not info["action_mask"].any()
    with pytest.raises(ValueError, match=r"the game is over; call reset\(\)"):
        env.unwrapped.step(0)


@pytest.mark.parametrize("action", [-1, 256, 255])
def test_an_illegal_action_ends_the_game_with_minus_one(action):
    env = one(opponents="random").unwrapped
    _, info = env.reset(seed=1)
    assert "illegal_action" not in info
    observation, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated, info["illegal_action"]) == (-1.0, True, False, True)
    assert env.observation_space.contains(observation)
    assert not info["action_mask"].any()
    assert not env.action_masks().any()
    env.reset()
    assert env.action_masks().sum() >= 2


def test_action_masks_are_found_where_maskable_ppo_looks():
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

    env = one()
    env.reset(seed=2)
    assert is_masking_supported(env.unwrapped)
    np.testing.assert_array_equal(get_action_masks(env), env.unwrapped.action_masks())
    envs = DummyVecEnv([one, one])
    envs.reset()
    assert is_masking_supported(envs)
    assert get_action_masks(envs).shape == (2, 256)


def test_a_given_seat_is_open_in_every_game_and_no_seat_means_that_it_is_drawn(players):
    fixed, drawn = one(players, seat=players - 1), one(players)
    assert {fixed.reset(seed=seed)[1]["seat"] for seed in range(10)} == {players - 1}
    assert {drawn.reset(seed=seed)[1]["seat"] for seed in range(60)} == set(range(players))
    assert many(20, players, seat=1).reset(seed=1)[1]["seat"].tolist() == [1] * 20
    assert set(many(100, players).reset(seed=1)[1]["seat"]) == set(range(players))


def test_opponents_one_by_one_sit_clockwise_from_the_left_neighbour(players):
    for seat in range(players):
        witnesses = [Witness(f"number {k}") for k in range(players - 1)]
        env, rng = one(players, opponents=witnesses, seat=seat), np.random.default_rng(3)
        for game in range(6):
            play_a_game(env, rng, seed=game)
        for k, witness in enumerate(witnesses):
            assert set(witness.seats) == {(seat + 1 + k) % players}


@pytest.mark.parametrize("opponents", ["greedy", Witness(), ["random", "greedy"], [Witness(), "greedy"]])
def test_opponents_may_be_a_name_an_agent_or_one_of_them_for_each_seat(opponents):
    seen, _, _ = play_a_game(one(opponents=opponents), np.random.default_rng(4), seed=4)
    assert len(seen) > 1
    observations, _ = many(4, opponents=opponents).reset(seed=4)
    assert observations.shape[0] == 4


def test_the_same_seed_gives_the_same_game_and_reset_without_goes_on():
    env, again = one(opponents="random"), one(opponents="random")
    rngs = [np.random.default_rng(5) for _ in range(2)]
    for reset in ({"seed": 5}, {}, {}):
        first, second = (play_a_game(e, rng, **reset)[0] for e, rng in zip((env, again), rngs, strict=True))
        np.testing.assert_array_equal(first, second)
    start, _ = env.reset(seed=5)
    assert (start != env.reset(seed=6)[0]).any()
    np.testing.assert_array_equal(start, env.reset(seed=5)[0])


def test_reset_deals_the_given_deck():
    deck = "333444" + "112255" + "433" + "4" * 11 + "3" * 10 + "1" * 13 + "2" * 13 + "5" * 13 + "J" * 15
    env = one(2, seat=0).unwrapped
    env.reset(seed=1, options={"deck": deck, "bandleader": 1, "another key": 0})
    assert env.named_observation()["hand"].tolist() == [0, 0, 3, 3, 0, 0]


def test_render_shows_the_hand_of_the_open_seat_only():
    env = one(3, seat=1, render_mode="ansi")
    env.reset(seed=7)
    hands = [line.partition("hand ")[2].split()[0] for line in env.render().splitlines()[1:]]
    assert "." not in hands[1]
    assert set(hands[0]) == set(hands[2]) == {"."}


@pytest.mark.parametrize("make", [gymnasium.make, gymnasium.make_vec])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_go_on_exactly_as_the_original(make, copied):
    env = make("katz_env/Katzenjammer-v0", opponents="random").unwrapped
    env.reset(seed=3)
    other = copied(env)
    for _ in range(12):
        masks = env.action_masks()
        first, second = (e.step(masks.argmax(-1)) for e in (env, other))
        assert np.array_equal(first[0], second[0])
        assert first[1] == second[1]
        assert np.array_equal(env.action_masks(), other.action_masks())
        if make is gymnasium.make and first[2]:
            break
