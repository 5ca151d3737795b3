"""Checkpoints and models: what they hold, what is refused, that nothing in them is ever run, and that others can load them."""

from __future__ import annotations

import errno
import io
import json
import pickle
import subprocess
import sys
import zipfile

import gymnasium
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.save_util import load_from_zip_file
from training_runs import QUICK, ppo, settings

import ppo as ppo_module
from katz_agents.archive import load_arrays, save_arrays
from katz_agents.layers import forward
from katz_agents.policy import Policy
from katz_env import Katzenjammer, Tables
from katz_train import sb3_model
from katz_train.checkpoint import load_state, save_state
from katz_train.run_directory import write_file

GAME = Katzenjammer(3)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run, for which the value network saw no more than the policy."""
    directory = tmp_path_factory.mktemp("run") / "ppo"
    result = ppo(*QUICK, "--total-steps", 300, "--no-full-state", "--run-dir", directory)
    assert result.returncode == 0, result.stderr
    return directory


@pytest.fixture
def copied(run, tmp_path):
    """A copy of the run whose checkpoint a test may change: ``copied(change)``, and how to resume it."""
    directory = tmp_path / "ppo"
    subprocess.run(["cp", "-r", run, directory], check=True)

    def resume(*arguments):
        return ppo_module.train(settings(directory, "--total-steps", 300, "--no-full-state", "--resume", *arguments))

    return directory, resume


def test_a_checkpoint_says_what_it_plays_and_how_far_it_is(run):
    state = load_state(run / "checkpoint.npz")
    assert state["game"] == GAME.describe()
    assert state["learner"]["num_timesteps"] == 384
    assert state["env"]["records"].dtype == GAME.new_tables(1).dtype


def test_a_state_comes_back_as_it_was(tmp_path):
    state = {
        "a": np.arange(6).reshape(2, 3),
        "b": {"c": np.zeros(0, np.float32), "d": [1, None, "x"]},
        "e": {},
        "f": np.array(3.5),
    }
    save_state(tmp_path / "state.npz", state)
    loaded = load_state(tmp_path / "state.npz")
    assert loaded["b"].pop("d") == state["b"].pop("d")
    assert loaded["e"] == {}
    for mine, theirs in ((state["a"], loaded["a"]), (state["b"]["c"], loaded["b"]["c"]), (state["f"], loaded["f"])):
        assert mine.dtype == theirs.dtype
        assert np.array_equal(mine, theirs)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--num-players", 4), "was trained for settings .*'num_players': 3.*this run is for .*'num_players': 4"),
        (("--rules", "mice=5"), "was trained for settings .*'mice': 20.*this run is for .*'mice': 5"),
    ],
)
def test_a_checkpoint_of_another_game_is_refused(copied, arguments, message):
    with pytest.raises(ValueError, match=message):
        copied[1](*arguments)


# --- what is broken


class Runs:
    """Pickled, it is a program that makes a file when it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize("how", ["whole", "array", "sb3", "json"])
def test_a_forged_checkpoint_runs_nothing(copied, how, tmp_path):
    directory, resume = copied
    path, trap = directory / "checkpoint.npz", tmp_path / "trap"
    forged = pickle.dumps(Runs(trap))
    if how == "whole":
        path.write_bytes(forged)
    elif how == "array":
        arrays = load_arrays(path)
        np.savez(path, **(arrays | {"parameters/policy/action_net.bias": np.array([Runs(trap)], object)}))
    elif how == "sb3":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("data", json.dumps({"run_state": {":type:": "bytes", ":serialized:": forged.hex()}}))
            torch.save({"x": Runs(trap)}, archive.open("policy.pth", "w"))
    else:
        np.savez(path, json=np.frombuffer(forged, np.uint8))
    with pytest.raises(ValueError, match="checkpoint.npz") as raised:
        resume()
    assert "\n" not in str(raised.value)
    assert not trap.exists()


@pytest.mark.parametrize(
    "damage", ["text", "cut", "no json", "no game", "no tables", "shape", "moments", "seating", "generator"]
)
def test_a_broken_checkpoint_is_refused_in_one_line(copied, damage):
    directory, resume = copied
    path = directory / "checkpoint.npz"
    state = load_state(path)
    if damage == "text":
        path.write_text("shopping list")
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    elif damage == "no json":
        save_arrays(path, {name: array for name, array in load_arrays(path).items() if name != "json"})
    else:
        if damage == "no game":
            del state["game"]
        elif damage == "no tables":
            del state["env"]["records"]
        elif damage == "shape":
            state["parameters"]["policy"]["action_net.bias"] = np.zeros(3, np.float32)
        elif damage == "moments":
            state["parameters"]["optimizer"]["0"]["exp_avg"] = np.zeros(3, np.float32)
        elif damage == "seating":
            state["env"]["arena"]["players"] += 100
        else:
            state["learner"]["rng"] = "none"
        save_state(path, state)
    with pytest.raises(ValueError, match=r"checkpoint\.npz (is not a checkpoint|does not say|cannot be resumed)") as raised:
        resume()
    assert "\n" not in str(raised.value)


def npz(path, entries):
    """An archive of these entries, compressed."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(f"{name}.npy", data)


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def test_an_archive_that_unpacks_to_far_more_than_its_size_is_refused_by_its_declared_size(tmp_path):
    path = tmp_path / "bomb.npz"
    npz(path, {"a": npy(np.zeros(200_000_000, np.int8))})
    assert path.stat().st_size < 1_000_000
    script = (
        "import resource, sys; from pathlib import Path; from katz_agents.archive import load_arrays\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: load_arrays(Path(sys.argv[1]))\n"
        "except ValueError as error: print(error)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    result = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True)
    message, taken = result.stdout.splitlines()
    assert "declare to unpack to 200,000,128" in message
    assert int(taken) < 50_000  # kB


@pytest.mark.parametrize("declared", ["998", "9" * 15])
def test_an_entry_that_declares_another_size_than_it_has_is_refused(tmp_path, declared):
    header = (
        np.lib.format.magic(1, 0),
        f"{{'descr': '|i1', 'fortran_order': False, 'shape': ({declared},)}}".ljust(117).encode() + b"\n",
    )
    npz(tmp_path / "lie.npz", {"a": header[0] + len(header[1]).to_bytes(2, "little") + header[1] + bytes(999)})
    with pytest.raises(ValueError, match=rf"a.npy is declared as int8 \({declared},\), but holds 999 bytes"):
        load_arrays(tmp_path / "lie.npz")


def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "checkpoint.npz"
    save_state(path, {"a": np.arange(3)})
    before = path.read_bytes()

    def full(beside, **_):
        beside.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(ValueError, match=r"cannot save .*checkpoint.npz: No space left"):
        save_state(path, {"a": np.arange(4)})

    def broken(beside):
        beside.write_bytes(b"half")
        raise RuntimeError("PytorchStreamWriter failed writing file")

    with pytest.raises(ValueError, match=r"cannot save .*checkpoint.npz: PytorchStreamWriter"):
        write_file(path, broken)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


# --- what others load


def test_the_exported_policy_is_that_of_the_checkpoint(run):
    weights = load_state(run / "checkpoint.npz")["parameters"]["policy"]
    exported = Policy(str(run / "policy.npz"))
    names = ("mlp_extractor.policy_net.0", "action_net")
    for name, (weight, bias) in zip(names, exported.layers, strict=True):
        assert np.array_equal(weights[f"{name}.weight"].T, weight)
        assert np.array_equal(weights[f"{name}.bias"], bias)


PLAYS = """
import sys
import gymnasium
from sb3_contrib import MaskablePPO
model = MaskablePPO.load(sys.argv[1], device="cpu")
env = gymnasium.make("katz_env:katz_env/Katzenjammer-v0", opponents="greedy", seat=1)
actions, values = [], []
for seed in range(3):
    observation, info = env.reset(seed=seed)
    over = False
    while not over:
        action, _ = model.predict(observation, action_masks=info["action_mask"], deterministic=True)
        tensor, _ = model.policy.obs_to_tensor(observation)
        values.append(model.policy.predict_values(tensor).item())
        observation, _, over, _, info = env.step(int(action))
        actions.append(int(action))
print(actions)
print(values)
assert not {name for name in sys.modules if "katz_train" in name}
"""


def test_anybody_can_load_the_model_and_play_it_from_the_gymnasium_observation(run, tmp_path):
    result = subprocess.run(
        [sys.executable, "-I", "-c", PLAYS, run / "model.zip"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "Warning" not in result.stderr
    actions, values = map(json.loads, result.stdout.splitlines())
    # The exported policy makes the same moves in the same games, but where two are as good to seven digits.
    policy, left = Policy(str(run / "policy.npz")), iter(actions)
    env = gymnasium.make("katz_env/Katzenjammer-v0", opponents="greedy", seat=1)
    for seed in range(3):
        env.reset(seed=seed)
        over = False
        while not over:
            view = env.unwrapped._tables.view(np.array([0]), np.random.default_rng(0))
            best, action = int(policy.act(view)[0]), next(left)
            logits = forward(policy.encoding(view.observations), policy.layers)[0]
            assert logits[action] == pytest.approx(logits[best], abs=1e-6)
            _, _, over, _, _ = env.step(action)
    assert next(left, None) is None
    assert len({*values}) > 10  # the value network of the run, for it was shown what the policy sees
    data, _, _ = load_from_zip_file(run / "model.zip")
    assert data["katz_env"] == GAME.describe()


def test_a_model_whose_value_network_saw_more_gets_one_that_values_everything_at_zero(tmp_path):
    chosen = settings(tmp_path)
    pool = ppo_module.make_pool(chosen, GAME)
    learner = ppo_module.make_learner(chosen, GAME, ppo_module.make_env(chosen, GAME, pool))
    sb3_model.save_plain_model(learner, GAME, tmp_path / "model.zip")
    model = MaskablePPO.load(tmp_path / "model.zip", device="cpu")
    tables = Tables(GAME, 50, seed=1)
    scaled = torch.from_numpy(tables.observations.astype(np.float32))
    assert not model.policy.predict_values(scaled).any()
    # It can be trained further as any model of SB3 can.
    env = gymnasium.make("katz_env/Katzenjammer-v0")
    model = MaskablePPO.load(tmp_path / "model.zip", env=env, device="cpu", n_steps=64)
    assert model.learn(10).num_timesteps > 0
