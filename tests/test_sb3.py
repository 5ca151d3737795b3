"""`katz_env.sb3.make_vec_env` is a ``VecEnv`` that Stable-Baselines3 and sb3-contrib use without a shim."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import gymnasium
import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import is_wrapped
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

import katz_env
from katz_env import sb3

ENV_ID = "katz_env/Katzenjammer-v0"


def make(num_envs=16, **settings):
    return sb3.make_vec_env(ENV_ID, num_envs, num_players=2, **settings)


def learner(env, algorithm=MaskablePPO, **settings):
    return algorithm("MlpPolicy", env, n_steps=16, batch_size=64, n_epochs=1, seed=0, device="cpu", **settings)


def test_it_plays_what_the_gymnasium_vector_environment_plays():
    env, envs = make(seed=4), gymnasium.make_vec(ENV_ID, num_envs=16, num_players=2)
    observations = env.reset()
    expected, infos = envs.reset(seed=4)
    np.testing.assert_array_equal(env.reset_infos[3]["seat"], infos["seat"][3])
    ended = 0
    for _ in range(80):
        np.testing.assert_array_equal(observations, expected)
        np.testing.assert_array_equal(env.env_method("action_masks"), infos["action_mask"])
        actions = infos["action_mask"].argmax(1)
        observations, rewards, dones, told = env.step(actions)
        expected, expected_rewards, terminated, _, infos = envs.step(actions)
        np.testing.assert_array_equal(rewards, expected_rewards)
        np.testing.assert_array_equal(dones, terminated)
        for i in np.flatnonzero(dones):
            ended += 1
            np.testing.assert_array_equal(told[i]["terminal_observation"], infos["final_obs"][i])
            final = infos["final_info"]
            assert {name: told[i][name] for name in ("score", "win_share", "illegal_action")} == {
                name: final[name][i] for name in ("score", "win_share", "illegal_action")
            }
            assert told[i]["TimeLimit.truncated"] is False
        assert all(told[i] == {} for i in np.flatnonzero(~dones))
    assert ended > 10


def test_maskable_ppo_learns_with_monitor_and_normalisation_and_is_evaluated_and_saved(tmp_path):
    env = VecNormalize(VecMonitor(make(), info_keywords=("score", "win_share")), norm_reward=False)
    model = learner(env)
    model.learn(2000)
    assert len(model.ep_info_buffer) > 10
    assert {"r", "l", "score", "win_share"} <= set(model.ep_info_buffer[0])
    model.save(tmp_path / "model")
    loaded = MaskablePPO.load(tmp_path / "model", env=VecMonitor(make(8)))
    mean, _ = evaluate_policy(loaded, loaded.get_env(), n_eval_episodes=8)
    assert -0.5 <= mean <= 0.5
    loaded.learn(200)


def test_plain_ppo_is_paid_for_its_illegal_moves():
    env = VecMonitor(make(), info_keywords=("score", "illegal_action"))
    model = learner(env, PPO)
    model.learn(500)
    illegal = [episode for episode in model.ep_info_buffer if episode["illegal_action"]]
    assert illegal
    assert {episode["r"] for episode in illegal} == {-1.0}


def test_attributes_and_methods():
    env = make(4, render_mode="rgb_array")
    env.reset()
    assert env.has_attr("action_masks")
    assert not env.has_attr("nonsense")
    assert env.get_attr("game", 1) == [env.game]
    assert env.env_is_wrapped(Monitor) == [False] * 4
    assert not is_wrapped(env, Monitor)
    assert [mask.shape for mask in env.env_method("action_masks", indices=[0, 2])] == [(env.game.num_actions,)] * 2
    for refused in (
        lambda: env.get_attr("nonsense"),
        lambda: env.set_attr("game", 3),
        lambda: env.env_method("nonsense"),
    ):
        with pytest.raises(AttributeError):
            refused()
    assert env.get_images()[0].ndim == 3


def test_the_same_seed_learns_the_same():
    found = []
    for _ in range(2):
        model = learner(make(seed=1))
        model.learn(600)
        found.append(model.policy.state_dict()["action_net.weight"].numpy().copy())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"env_id": "CartPole-v1"},
            ValueError,
            "no environment 'CartPole-v1' of katz_env; there is .*Katzenjammer-v0",
        ),
        ({"env_id": 3}, ValueError, "there is no environment 3 of katz_env"),
        ({"num_envs": 0}, ValueError, "num_envs is 0; it must be an integer of at least 1"),
        ({"seed": -1}, ValueError, "seed is -1; it must be an integer of at least 0"),
        ({"opponents": "nobody"}, ValueError, "there is no agent 'nobody'"),
        ({"colours": 3}, TypeError, "unexpected keyword argument 'colours'"),
    ],
)
def test_wrong_settings_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        sb3.make_vec_env(**arguments)


def test_the_id_with_the_module_in_front_is_accepted_too():
    assert sb3.make_vec_env(f"katz_env:{ENV_ID}", 2, num_players=2).num_envs == 2


def test_a_library_that_is_missing_or_too_old_is_named(monkeypatch):
    monkeypatch.setattr(sb3, "version", lambda name: "2.0.0")
    with pytest.raises(ImportError, match=r"katz_env.sb3 needs stable-baselines3>=2.\d; 2.0.0 is installed"):
        make()
    monkeypatch.setattr(sb3, "version", lambda name: version("no-such-package"))
    with pytest.raises(ImportError, match=r"needs stable-baselines3>=2.\d; install the extra: katz_env\[train\]"):
        make()


def test_the_library_is_imported_only_when_it_is_called():
    code = "import sys, katz_env; katz_env.sb3.make_vec_env; assert 'stable_baselines3' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert katz_env.sb3 is sb3
