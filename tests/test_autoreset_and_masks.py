"""Gymnasium's three autoreset modes, and action masks inside observations."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from any_game import every_game, nth_legal
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from katz_env import make_game
from katz_env.core.gym_env import SingleEnv
from katz_env.core.gym_vector_env import GameVectorEnv

MODES = list(AutoresetMode)
ENV_ID = "katz_env/Katzenjammer-v0"


def mask_of(observations, infos):
    return observations["action_mask"] if isinstance(observations, dict) else infos["action_mask"]


def games(game, mode, mask, seed):
    """Step, last observation, reward and results of two games at one table; the moves depend on the game and its step only."""
    envs = GameVectorEnv(game, 1, opponents="random", seat=0, num_threads=1, mask=mask, autoreset_mode=mode)
    observations, infos = envs.reset(seed=seed)
    found, step = [], 0
    while len(found) < 2:
        draws = np.random.default_rng((seed, len(found), step)).random(1)
        masks = mask_of(observations, infos)
        observations, rewards, terminated, truncated, infos = envs.step(nth_legal(masks, draws))
        assert not truncated.any()
        assert envs.observation_space.contains(observations)
        step += 1
        for i in np.flatnonzero(terminated):
            if mode == AutoresetMode.SAME_STEP:
                last, told = infos["final_obs"][i], infos["final_info"]
                assert mask_of(observations, infos)[i].any()
            else:
                last, told = observations, infos
                last = {name: array[i] for name, array in last.items()} if mask == "observation" else last[i]
                assert not mask_of(observations, infos)[i].any()
            results = {name: told[name][i].item() for name in ("score", "win_share", "illegal_action", "seat")}
            assert told["_score"].tolist() == terminated.tolist()
            found.append((step, last, rewards[i], results))
            step = 0
        if mode == AutoresetMode.NEXT_STEP and terminated.any():
            observations, _, _, _, infos = envs.step(np.zeros(1, int))
        if mode == AutoresetMode.DISABLED and terminated.any():
            observations, infos = envs.reset(options={"reset_mask": terminated})
    return found


@every_game
@pytest.mark.parametrize("mask", ["info", "observation"])
@pytest.mark.parametrize("seed", range(3))
def test_games_are_the_same_in_all_modes(game, mask, seed):
    same, following, disabled = (games(game, mode, mask, seed) for mode in MODES)
    for other in (following, disabled):
        for mine, theirs in zip(same, other, strict=True):
            np.testing.assert_equal(theirs, mine)


def until_an_end(envs):
    """Play the first legal actions until a game ends; the last step's return values."""
    observations, infos = envs.reset(seed=2)
    while True:
        step = envs.step(mask_of(observations, infos).argmax(1))
        observations, terminated, infos = step[0], step[2], step[4]
        if terminated.any():
            return step


@every_game
def test_the_next_step_deals_anew_and_ignores_the_action(game):
    envs = GameVectorEnv(game, 3, opponents="random", autoreset_mode="next_step", num_threads=1)
    _, _, terminated, _, infos = until_an_end(envs)
    actions = infos["action_mask"].argmax(1)
    actions[terminated] = game.num_actions + 5  # would be illegal
    observations, rewards, again, _, infos = envs.step(actions)
    assert not again[terminated].any()
    assert not rewards[terminated].any()
    assert infos["action_mask"][terminated].any(1).all()
    named = envs.named_observations()
    np.testing.assert_array_equal(
        observations, np.concatenate([part.reshape(3, -1) for part in named.values()], 1) * envs._observer._scale
    )


@every_game
def test_disabled_waits_for_a_reset_of_the_ended_tables(game):
    envs = GameVectorEnv(game, 3, opponents="random", autoreset_mode=AutoresetMode.DISABLED, num_threads=1, mask="observation")
    observations, _, terminated, _, _ = until_an_end(envs)
    table = int(terminated.argmax())
    with pytest.raises(ValueError, match=f"the game of table {table} is over; reset it with options="):
        envs.step(observations["action_mask"].argmax(1))
    after, _ = envs.reset(options={"reset_mask": terminated})
    assert after["action_mask"].any(1).all()
    for name, array in after.items():
        np.testing.assert_array_equal(array[~terminated], observations[name][~terminated])
    envs.step(after["action_mask"].argmax(1))


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_an_illegal_action_ends_the_game_in_every_mode(mode):
    envs = gymnasium.make_vec(ENV_ID, num_envs=3, num_players=2, seat=1, autoreset_mode=mode)
    assert envs.unwrapped.autoreset_mode is envs.metadata["autoreset_mode"] is mode
    _, infos = envs.reset(seed=0)
    actions = infos["action_mask"].argmax(1)
    actions[1] = -7
    _, rewards, terminated, _, infos = envs.step(actions)
    assert (rewards[1], terminated.tolist()) == (-1.0, [False, True, False])
    told = infos["final_info"] if mode == AutoresetMode.SAME_STEP else infos
    assert (told["illegal_action"][1], told["win_share"][1]) == (True, 0.0)
    if mode != AutoresetMode.SAME_STEP:
        assert not infos["action_mask"][1].any()
        assert envs.unwrapped.named_observations()["hand"].shape[0] == 3
        assert infos["seat"].tolist() == [1, 1, 1]


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP], ids=lambda mode: mode.name)
def test_gymnasium_counts_episodes(mode):
    envs = RecordEpisodeStatistics(gymnasium.make_vec(ENV_ID, num_envs=4, num_players=2, autoreset_mode=mode))
    _, infos = envs.reset(seed=1)
    lengths, steps, ended = [], np.zeros(4, int), np.zeros(4, bool)
    for _ in range(60):
        _, _, terminated, _, infos = envs.step(infos["action_mask"].argmax(1))
        steps = np.where(ended & (mode == AutoresetMode.NEXT_STEP), 0, steps + 1)
        for i in np.flatnonzero(terminated):
            episode = (infos["final_info"] if "final_info" in infos and "episode" in infos["final_info"] else infos)["episode"]
            lengths.append((int(episode["l"][i]), steps[i]))
            steps[i] = 0
        ended = terminated
    assert len(lengths) > 3
    assert all(counted == made for counted, made in lengths)


@every_game
def test_masks_in_observations_pass_gymnasium_s_check(game):
    env = SingleEnv(game, opponents="random", mask="observation")
    check_env(env, skip_render_check=True)
    observation, info = env.reset(seed=3)
    np.testing.assert_array_equal(observation["action_mask"], env.action_masks())
    assert set(info) == {"seat"}
    over = False
    while not over:
        observation, _, over, _, info = env.step(int(observation["action_mask"].argmax()))
    assert not observation["action_mask"].any()
    assert "action_mask" not in info


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mask": "nowhere"}, "mask is 'nowhere'; it must be 'info' or 'observation'"),
        ({"mask": True}, "mask is True"),
        (
            {"autoreset_mode": "sometimes"},
            "autoreset_mode is 'sometimes'; it must be one of 'NEXT_STEP', 'SAME_STEP', 'DISABLED'",
        ),
        ({"autoreset_mode": None}, "autoreset_mode is None; it must be one of"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        GameVectorEnv(make_game("kuhn_poker"), 2, opponents="random", **settings)


def test_many_tables_take_no_deal():
    envs = gymnasium.make_vec(ENV_ID, num_envs=2, num_players=2)
    for options in ({"deal": {"bandleader": 1}}, {"bandleader": 1}, {"deck": "12345J" * 15}):
        with pytest.raises(ValueError, match=f"many tables take no '{next(iter(options))}'; gym.make and Tables.deal do"):
            envs.reset(options=options)


def test_an_unknown_setting_is_named_with_all_known_ones():
    for make, setting in ((gymnasium.make, "num_threads"), (gymnasium.make_vec, "colours")):
        with pytest.raises(
            TypeError, match=f"unexpected keyword argument '{setting}'; its settings are num_players, .*, history"
        ):
            make(ENV_ID, **{setting: 2})
