"""What networks are shown: amounts scaled, categories one-hot, features; the same with NumPy, PyTorch and a model of SB3."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
import torch
from any_game import every_game, positions, to_act
from sb3_contrib import MaskablePPO
from training_runs import QUICK, ppo  # first: it makes the scripts importable

import ppo as ppo_module  # isort: skip

from katz_agents.layers import forward
from katz_agents.policy import Policy
from katz_env import Field, KatzUndMaus, Tables, make_agent
from katz_env.core.arena import OPEN, FixedSeating
from katz_env.core.encoding import Encoding, encoded_size
from katz_env.core.fields import named_fields, scales
from katz_train.checkpoint import export_policy
from katz_train.ppo_settings import PpoSettings
from katz_train.vec_env import TrainingEnv

GAME = KatzUndMaus(merge_equal=True)
FIELDS = (
    Field("amount", (2,), 1 / 4, -3, 5, "an amount"),
    Field("name", (2,), 1 / 3, -1, 2, "a name", categorical=True),
    Field("only", (1,), 1, 7, 7, "a name that is always the same", categorical=True),
    Field("last", (1,), 1 / 2, 0, 127, "an amount"),
)


def by_definition(vector, fields):
    inputs, place = [], 0
    for field in fields:
        for number in map(int, vector[place : place + field.size]):
            if field.categorical:
                inputs += [float(number == value) for value in range(field.low, field.high + 1)]
            else:
                inputs.append(float(np.float32(number) * np.float32(field.scale)))
        place += field.size
    return inputs


def encoding_of(fields):
    return Encoding(SimpleNamespace(observation_fields=fields, observation_size=6, feature_fields=()))


def test_amounts_are_scaled_and_names_are_one_hot():
    vectors = np.array([[-3, 5, -1, 2, 7, 127], [0, 1, 0, 1, 7, 0]], np.int8)
    encoding = encoding_of(FIELDS)
    assert encoding(vectors).tolist() == [
        [-0.75, 1.25, 1, 0, 0, 0, 0, 0, 0, 1, 1, 63.5],
        [0.0, 0.25, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0.0],
    ]
    assert (encoding.length, encoding.size) == (6, 12)
    assert encoded_size([field.layout for field in FIELDS]) == 12


def test_numbers_beyond_the_fields_are_left_out_and_impossible_names_are_nobodys():
    vectors = np.array([[0, 0, 3, -2, 0, 0, 9, 9]], np.int8)
    assert encoding_of(FIELDS)(vectors).tolist() == [[0.0] * 12]


@every_game
@pytest.mark.parametrize("what", ["observe", "state"])
def test_every_vector_is_encoded_as_its_fields_and_the_features_say(game, what):
    fields = {"observe": game.observation_fields, "state": game.state_fields}[what]
    records = positions(game, finished=True)
    vectors = getattr(game, what)(records, to_act(records))
    encoding, size = Encoding(game, fields), game.observation_size
    inputs, features = encoding(vectors), game.features(vectors)
    assert inputs.dtype == np.float32
    assert inputs.shape == (len(records), encoding.size)
    assert features.shape == (len(records), sum(field.size for field in game.feature_fields))
    np.testing.assert_array_equal(features, game.features(game.observe(records, to_act(records))))
    shown = (*game.observation_fields, *game.feature_fields, *fields[len(game.observation_fields) :])
    for vector, more, row in zip(vectors, features, inputs, strict=True):
        assert row.tolist() == by_definition([*vector[:size], *more, *vector[size:]], shown)
    for field, numbers in named_fields(features, game.feature_fields).items():
        (bounds,) = [(one.low, one.high) for one in game.feature_fields if one.name == field]
        assert bounds[0] <= numbers.min() <= numbers.max() <= bounds[1], field
    assert encoded_size(game.describe()["observation"]) == Encoding(game).size
    if not game.feature_fields:  # what the shipped policies were trained on
        np.testing.assert_array_equal(inputs, vectors * scales(fields))


def test_a_field_that_has_become_categorical_is_another_layout():
    plain = Field("x", (3,), 1 / 2, 0, 4, "x")
    assert plain.layout == ["x", [3], 0.5]  # as in the files of policies from before there were categorical fields
    assert Field("x", (3,), 1 / 2, 0, 4, "x", categorical=True).layout == ["x", [3], 0.5, [0, 4]]


def test_a_policy_of_a_game_with_features_plays_the_same_with_numpy_and_with_pytorch(tmp_path):
    assert any(field.categorical for field in GAME.feature_fields)
    env = TrainingEnv(GAME, 4, [make_agent("random")], FixedSeating((OPEN, 0)), full_state=True, scripted=1)
    model = ppo_module.make_learner(PpoSettings(num_envs=4, rollout_steps=16, batch_size=64, hidden=(32, 16)), GAME, env)
    actor = model.policy.networks.actor
    actor.network[-1].weight.data *= 100  # an untrained network hardly tells actions apart
    export_policy(actor, GAME, None, tmp_path / "policy.npz")
    exported, tables = Policy(str(tmp_path / "policy.npz")), Tables(GAME, 100, seed=1)
    chosen = set()
    for _ in range(20):
        view = tables.view(np.arange(100), np.random.default_rng(0))
        logits = np.where(view.action_masks, model._outputs(actor, view.observations), -np.inf)
        actions = exported.act(view)
        np.testing.assert_allclose(np.take_along_axis(logits, actions[:, None], 1)[:, 0], logits.max(1), atol=1e-3)
        chosen |= {*actions.tolist()}
        tables.step(actions)
    assert len(chosen) > 20


PLAYS = """
import sys
import gymnasium
from sb3_contrib import MaskablePPO
model = MaskablePPO.load(sys.argv[1], device="cpu")
env = gymnasium.make("katz_env:katz_env/KatzUndMaus-v0", opponents="greedy", seat=1, merge_equal=True)
actions = []
for seed in range(2):
    observation, info = env.reset(seed=seed)
    over = False
    while not over:
        action, _ = model.predict(observation, action_masks=info["action_mask"], deterministic=True)
        observation, _, over, _, info = env.step(int(action))
        actions.append(int(action))
print(actions)
assert not {name for name in sys.modules if "katz_train" in name}
"""


def test_a_run_of_a_game_with_features_ends_with_a_model_that_plays_as_its_policy(tmp_path):
    run = tmp_path / "run"
    arguments = ("--game", "katz_und_maus", "--rules", "merge_equal=True", "--total-steps", 300, "--no-full-state")
    result = ppo(*QUICK, *arguments, "--run-dir", run)
    assert result.returncode == 0, result.stderr
    result = subprocess.run(
        [sys.executable, "-I", "-c", PLAYS, run / "model.zip"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    left = iter(json.loads(result.stdout))
    policy = Policy(str(run / "policy.npz"))
    model = MaskablePPO.load(run / "model.zip", device="cpu")
    env = gymnasium.make("katz_env/KatzUndMaus-v0", opponents="greedy", seat=1, merge_equal=True)
    for seed in range(2):
        observation, _ = env.reset(seed=seed)
        over = False
        while not over:
            view = env.unwrapped._tables.view(np.array([0]), np.random.default_rng(0))
            best, action = int(policy.act(view)[0]), next(left)
            inputs = policy.encoding(view.observations)
            features = model.policy.features_extractor(torch.from_numpy(observation)[None])
            np.testing.assert_allclose(features.numpy(), inputs, rtol=1e-6)
            logits = forward(inputs, policy.layers)[0]
            assert logits[action] == pytest.approx(logits[best], abs=1e-6)
            observation, _, over, _, _ = env.step(action)
    assert next(left, None) is None
