"""Every game behind the interfaces of PettingZoo and Gymnasium, checked by their own checks; warnings are errors."""

import warnings

import gymnasium
import numpy as np
import pytest
from any_game import every_game, nth_legal
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test

from katz_env import Tables
from katz_env.core.aec import GameAECEnv, QuickLast, wrapped
from katz_env.core.gym_env import SingleEnv
from katz_env.core.gym_vector_env import GameVectorEnv

ALLOWED = {  # what any observation with an action mask draws from api_test
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
}


@every_game
@pytest.mark.parametrize("reward", ["win", "score"])
def test_pettingzoo_api(game, reward, capsys):
    with warnings.catch_warnings(record=True) as drawn:
        warnings.simplefilter("always")
        api_test(wrapped(GameAECEnv(game, reward), QuickLast), num_cycles=300)
    assert {str(warning.message) for warning in drawn} <= ALLOWED
    assert "Passed" in capsys.readouterr().out


@every_game
def test_pettingzoo_seeds(game):
    seed_test(lambda: wrapped(GameAECEnv(game), QuickLast), num_cycles=60)


@every_game
def test_rewards_of_pettingzoo_come_at_the_end(game):
    env, rng = GameAECEnv(game, "score"), np.random.default_rng(1)
    for seed in range(20):
        env.reset(seed=seed)
        while not any(env.terminations.values()):
            assert not any(env.rewards.values())
            env.step(int(rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]))))
        assert env.rewards == {agent: env.infos[agent]["score"] for agent in env.possible_agents}


@every_game
def test_seats_that_are_not_to_act_have_an_empty_mask(game):
    env = GameAECEnv(game)
    env.reset(seed=2)
    masks = {agent: env.observe(agent)["action_mask"].sum() for agent in env.agents}
    assert masks.pop(env.agent_selection) >= 2
    assert not any(masks.values())


@every_game
def test_moves_have_names_and_are_played_by_them(game):
    env, rng = GameAECEnv(game), np.random.default_rng(3)
    env.reset(seed=3)
    while env.agents and not env.terminations[env.agent_selection]:
        moves = env.moves()
        assert len(moves) == env.observe(env.agent_selection)["action_mask"].sum()  # no two have the same name
        env.play(rng.choice(list(moves)))


@every_game
@pytest.mark.parametrize("reward", ["win", "score"])
def test_gymnasium_accepts_the_single_environment(game, reward):
    check_env(SingleEnv(game, "random", reward=reward), skip_render_check=True)


@every_game
def test_gymnasium_renders(game):
    for mode, kind in (("ansi", str), ("rgb_array", np.ndarray)):
        env = SingleEnv(game, "random", render_mode=mode)
        env.reset(seed=4)
        assert isinstance(env.render(), kind)


@every_game
def test_the_vector_environment_has_the_spaces_and_rewards_that_it_says(game):
    env, rng = GameVectorEnv(game, 16, "random", reward="score"), np.random.default_rng(5)
    observations, infos = env.reset(seed=5)
    ended = 0
    for _ in range(200):
        assert env.observation_space.contains(observations)
        actions = nth_legal(infos["action_mask"], rng.random(16))
        assert env.action_space.contains(actions)
        observations, rewards, terminated, truncated, infos = env.step(actions)
        assert not truncated.any()
        assert not rewards[~terminated].any()
        if terminated.any():
            ended += terminated.sum()
            final = infos["final_info"]
            np.testing.assert_array_equal(rewards[terminated], final["score"][terminated])
            assert all(env.single_observation_space.contains(seen) for seen in infos["final_obs"][terminated])
    assert ended > 16


@every_game
def test_one_table_of_the_vector_environment_is_the_single_environment(game):
    single, vector = SingleEnv(game, "random", seat=0), GameVectorEnv(game, 1, "random", seat=0)
    seen, info = single.reset(seed=6)
    rows, infos = vector.reset(seed=6)
    assert isinstance(vector, gymnasium.vector.VectorEnv)
    for step in range(200):
        np.testing.assert_array_equal(seen, rows[0])
        np.testing.assert_array_equal(info["action_mask"], infos["action_mask"][0])
        action = np.flatnonzero(info["action_mask"])[step % info["action_mask"].sum()]
        seen, reward, terminated, _, info = single.step(int(action))
        rows, rewards, ends, _, infos = vector.step(np.array([action]))
        assert (reward, terminated) == (rewards[0], ends[0])
        if terminated:
            np.testing.assert_array_equal(seen, infos["final_obs"][0])
            return
    raise AssertionError("the game did not end")


@every_game
def test_a_deal_may_be_given(game):
    aec = GameAECEnv(game)
    aec.reset(seed=7)
    table = aec._tables.records[0].copy()
    deal = game.describe_deal(table) | {game.first_seat_key: int(table["first_seat"])}
    for env in (aec, SingleEnv(game, "random", seat=0)):
        env.reset(seed=8, options={"deal": deal})
        assert env._tables.records["deal"].tolist() == [table["deal"].tolist()]
        assert env._tables.records["first_seat"] == table["first_seat"]
    with pytest.raises(ValueError, match="a deal has no 'trumps'; its keys are "):
        aec.reset(options={"deal": {"trumps": 1}})


@every_game
def test_the_keys_of_a_deal_may_be_options_themselves(game):
    dealt = Tables(game, 1, seed=5).records[0]
    deal = {**game.describe_deal(dealt), game.first_seat_key: int(dealt["first_seat"])}
    for env in (GameAECEnv(game), SingleEnv(game, "random", seat=0)):
        env.reset(seed=8, options=deal)
        assert env._tables.records["deal"].tolist() == [dealt["deal"].tolist()]
        for key in deal:
            with pytest.raises(ValueError, match=f"the options have both 'deal' and '{key}'"):
                env.reset(options={"deal": deal, key: deal[key]})
    for key in deal:
        with pytest.raises(ValueError, match=f"many tables take no '{key}'"):
            GameVectorEnv(game, 2, "random").reset(options={key: deal[key]})
