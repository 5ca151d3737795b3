"""The agent policy: the exported network plays exactly like the trained model, and wrong files are named."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from katz_agents.policy import Network, Policy
from katz_agents.policy_file import save_policy
from katz_env import Katzenjammer, Tables, make_agent
from katz_env.core.arena import OPEN, FixedSeating

sys.path.insert(0, str(Path(__file__).parent.parent / "train"))

import ppo
from katz_train.checkpoint import export_policy
from katz_train.ppo_settings import PpoSettings
from katz_train.vec_env import TrainingEnv

GAME = Katzenjammer(3)


def random_layers(sizes, rng):
    return [(rng.normal(size=(a, b)), rng.normal(size=b)) for a, b in zip(sizes[:-1], sizes[1:], strict=True)]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "policy.npz"
    save_policy(path, GAME, random_layers([GAME.observation_size, 8, GAME.num_actions], np.random.default_rng(0)))
    return path


def test_it_plays_like_the_model_it_was_exported_from(tmp_path):
    env = TrainingEnv(GAME, 4, [make_agent("random")], FixedSeating((OPEN, 0, 0)))
    model = ppo.make_learner(PpoSettings(num_envs=4, rollout_steps=16, batch_size=64, hidden=(32, 16)), GAME, env)
    model.policy.action_net.weight.data *= 100  # an untrained network hardly tells actions apart
    export_policy(model.policy.networks.actor, GAME, None, tmp_path / "policy.npz")
    exported = Policy(str(tmp_path / "policy.npz"))
    tables = Tables(GAME, 200, seed=1)
    for _ in range(20):
        view = tables.view(np.arange(200), np.random.default_rng(0))
        actions, _ = model.predict(view.observations, action_masks=view.action_masks, deterministic=True)
        assert np.array_equal(exported.act(view), actions)
        tables.step(actions)


def test_it_is_found_by_name(file):
    assert make_agent(f"policy:{file}").name == f"policy:{file}"


def test_sampling_follows_the_softmax(tmp_path):
    layers = [(np.zeros((GAME.observation_size, GAME.num_actions)), np.log(1.0 + np.arange(GAME.num_actions)))]
    save_policy(tmp_path / "flat.npz", GAME, layers)
    agent = Policy(str(tmp_path / "flat.npz"), sample=True)
    tables = Tables(GAME, 1, seed=3)
    view = tables.view(np.zeros(20_000, int), np.random.default_rng(0))
    legal = np.flatnonzero(tables.action_masks[0])
    expected = (1.0 + legal) / (1.0 + legal).sum()
    found = np.bincount(agent.act(view), minlength=GAME.num_actions)
    assert found.sum() == found[legal].sum() == 20_000
    assert np.abs(found[legal] / 20_000 - expected).max() < 0.015


def test_a_policy_for_another_game_is_refused(file):
    for game in (Katzenjammer(4), Katzenjammer(3, mice=7)):
        tables = Tables(game, 2, seed=1)
        with pytest.raises(ValueError, match=r"was trained for settings \{'[a-z_]+': \d+\}; this game has \{'[a-z_]+': \d+\}"):
            Policy(str(file)).act(tables.view(np.arange(2), np.random.default_rng(0)))


def broken(tmp_path, **arrays):
    path = tmp_path / "broken.npz"
    np.savez(path, **arrays)
    return path


def test_unreadable_files_are_named(tmp_path):
    with pytest.raises(ValueError, match="cannot read the policy .*nowhere.npz: No such file"):
        Policy(str(tmp_path / "nowhere.npz"))
    with pytest.raises(ValueError, match="cannot read the policy .*: Is a directory"):
        Policy(str(tmp_path))
    (tmp_path / "text.npz").write_text("text")
    with pytest.raises(ValueError, match="text.npz is not a policy"):
        Policy(str(tmp_path / "text.npz"))
    with pytest.raises(ValueError, match="is not a policy"):
        Policy(str(broken(tmp_path, a=np.zeros(3))))
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(ValueError, match="is not a policy: it does not say what it was trained for; a policy is"):
        Policy(str(tmp_path / "other.npz"))


@pytest.mark.parametrize("sizes", [[7, 256], [89, 8], []])
def test_layers_of_the_wrong_size_are_named(tmp_path, sizes):
    path = tmp_path / "wrong.npz"
    save_policy(path, GAME, random_layers(sizes, np.random.default_rng(0)))
    with pytest.raises(ValueError, match="is not a policy"):
        Policy(str(path)).act(Tables(GAME, 2, seed=1).view(np.arange(2), np.random.default_rng(0)))


def _changed(file, **arrays):
    with np.load(file) as data:
        np.savez(file, **{**data, **arrays})


@pytest.mark.parametrize("damage", ["array", "bytes", "cut", "nan", "double", "text", "layout", "nested"])
def test_a_broken_file_is_named_whatever_is_broken(damage, file):
    whole = file.read_bytes()
    if damage == "array":
        with file.open("wb") as opened:
            np.save(opened, np.zeros(3))
    elif damage == "bytes":  # in the middle of compressed numbers
        file.write_bytes(whole[: len(whole) // 2] + bytes(200) + whole[len(whole) // 2 + 200 :])
    elif damage == "cut":
        file.write_bytes(whole[: len(whole) // 2])
    elif damage == "nan":
        _changed(file, bias_1=np.full(GAME.num_actions, np.nan, np.float32))
    elif damage == "double":
        _changed(file, bias_1=np.zeros(GAME.num_actions))
    elif damage == "text":
        _changed(file, bias_1=np.full(GAME.num_actions, "x"))
    elif damage == "layout":
        _changed(file, trained_for=np.array('{"observation": 5}'))
    else:
        _changed(file, trained_for=np.array("[" * 100_000))
    for make in (lambda: Policy(str(file)), lambda: make_agent(f"policy:{file}")):
        with pytest.raises(ValueError, match=r"policy.npz is not a policy: ") as raised:
            make()
        assert "\n" not in str(raised.value)


def test_a_network_that_has_become_nan_answers_no_action():
    tables = Tables(GAME, 2, seed=1)
    layers = [(np.full((GAME.observation_size, GAME.num_actions), np.nan, np.float32), np.zeros(GAME.num_actions, np.float32))]
    assert Network(layers, GAME.describe(), "nan").act(tables.view(np.arange(2), np.random.default_rng(0))).tolist() == [-1, -1]


def test_a_path_may_hold_an_equals_sign_and_settings_are_checked(file):
    folder = file.parent / "rate=0.1"
    folder.mkdir()
    file.rename(folder / file.name)
    assert make_agent(f"policy:{folder / file.name},sample=True").sample is True
    with pytest.raises(ValueError, match="sample is 'maybe'; it must be True or False"):
        make_agent(f"policy:{folder / file.name},sample=maybe")
