"""Training: masks are obeyed, a run goes from settings to a measured model, and can be resumed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import torch
import tyro
from sb3_contrib import MaskablePPO

from katz_env import Katzenjammer, Tables
from katz_env.core.vector import GameVectorEnv

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "train"))

import checkpoint  # noqa: E402
import ppo as ppo_module  # noqa: E402
import vec_env  # noqa: E402

QUICK = ("--total-steps", 600, "--num-envs", 8, "--rollout-steps", 32, "--batch-size", 64, "--epochs", 1, "--hidden", 16)
QUICK = (*QUICK, "--evaluation-deals", 4, "--checkpoint-every", 250, "--threads", 1)


def ppo(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "train" / "ppo.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("run") / "ppo"
    return folder, ppo(*QUICK, "--run-dir", folder)


def test_a_run_ends_with_a_measured_model(run):
    folder, result = run
    assert result.returncode == 0, result.stderr
    assert "2 x random" in result.stdout
    assert "2 x greedy" in result.stdout
    found = json.loads((folder / "evaluation.json").read_text())
    assert found["fair_share"] == pytest.approx(1 / 3)
    for name in ("random", "greedy"):
        assert 0 <= found["against"][name]["win_share"] <= 1
    assert (folder / "model.zip").is_file()
    assert [path.stem for path in sorted((folder / "checkpoints").iterdir())] == ["0000000256", "0000000512", "0000000768"]
    assert list(folder.glob("events.out.tfevents.*"))


def test_the_checkpoint_says_what_it_plays(run):
    folder, _ = run
    model = checkpoint.load(folder / "model.zip", Katzenjammer(3))
    assert model.katz_env == Katzenjammer(3).describe()
    assert model.num_timesteps == 768


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (Katzenjammer(4), "was trained for settings .*'num_players': 3.*this run is for .*'num_players': 4"),
        (Katzenjammer(3, mice=5), "was trained for settings .*'mice': 20.*this run is for .*'mice': 5"),
    ],
)
def test_a_checkpoint_of_another_game_is_refused(run, game, message):
    with pytest.raises(ValueError, match=message):
        checkpoint.load(run[0] / "model.zip", game)


def test_a_checkpoint_of_another_layout_is_refused(run):
    game = Katzenjammer(3)
    game.observation_parts = game.observation_parts[:-1]
    with pytest.raises(ValueError, match="was trained for observation another layout"):
        checkpoint.load(run[0] / "model.zip", game)


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path):
    (tmp_path / "model.zip").write_text("nothing")
    with pytest.raises(ValueError, match="is not a checkpoint"):
        checkpoint.load(tmp_path / "model.zip", Katzenjammer(3))
    with pytest.raises(ValueError, match="there is no checkpoint"):
        checkpoint.load(tmp_path / "other.zip", Katzenjammer(3))


def test_a_run_is_not_overwritten_but_resumed(run):
    folder, _ = run
    again = ppo(*QUICK, "--run-dir", folder)
    assert again.returncode == 1
    assert f"{folder} holds a run already; use --resume" in again.stderr
    resumed = ppo(*QUICK, "--run-dir", folder, "--resume", "--total-steps", 1000)
    assert resumed.returncode == 0, resumed.stderr
    assert "going on from" in resumed.stdout
    assert checkpoint.load(folder / "model.zip", Katzenjammer(3)).num_timesteps == 1024


def test_the_same_seed_gives_the_same_model(run, tmp_path):
    ppo(*QUICK, "--run-dir", tmp_path / "again")
    models = (
        MaskablePPO.load(run[0] / "checkpoints" / "0000000256.zip"),
        MaskablePPO.load(tmp_path / "again/checkpoints/0000000256.zip"),
    )
    first, second = (model.policy.state_dict() for model in models)
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_an_interrupted_run_saves_what_it_has(tmp_path):
    command = [sys.executable, str(ROOT / "train" / "ppo.py"), *map(str, QUICK), "--total-steps", "100000000"]
    process = subprocess.Popen([*command, "--run-dir", str(tmp_path / "run")], stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob("run/checkpoints/*.zip")):
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert "go on with the same command and --resume" in errors
    assert "Traceback" not in errors
    newest = max((tmp_path / "run" / "checkpoints").glob("[0-9]*.zip"))
    assert checkpoint.load(newest, Katzenjammer(3)).num_timesteps == int(newest.stem)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--num-envs", 0), "--num-envs is 0; it must be at least 1"),
        (("--total-steps", 0), "--total-steps is 0; it must be at least 1"),
        (("--num-players", 1), "num_players is 1; it must be an integer from 2 to 6"),
        (("--opponents", "gready"), "there is no agent 'gready'"),
        (("--opponents", "greedy", "random", "random"), "there are 3 opponents; 3 players need one for all or 2"),
        (("--reward", "fame"), "reward is 'fame'; it must be one of 'win', 'score'"),
        (("--resume",), "to resume from"),
    ],
)
def test_bad_settings_are_named_and_leave_nothing_behind(arguments, message, tmp_path):
    settings = tyro.cli(ppo_module.Settings, args=[*map(str, (*QUICK, *arguments)), "--run-dir", str(tmp_path / "run")])
    with pytest.raises(ValueError, match=message):
        ppo_module.train(settings)
    assert not (tmp_path / "run").exists()


def test_the_command_answers_bad_settings_in_one_line(tmp_path):
    result = ppo(*QUICK, "--num-envs", 0, "--run-dir", tmp_path / "run")
    assert result.returncode == 1
    assert result.stderr == "train/ppo.py: --num-envs is 0; it must be at least 1\n"


class OneLegalMove(GameVectorEnv):
    """Hides all legal moves but the last: whoever obeys the mask always plays it."""

    def _infos(self):
        infos = super()._infos()
        masks = infos["action_mask"]
        last = masks.shape[1] - 1 - masks[:, ::-1].argmax(1)
        infos["action_mask"] = np.zeros_like(masks)
        infos["action_mask"][np.arange(len(masks)), last] = 1
        self.expected = last
        return infos

    def step(self, actions):
        assert (np.asarray(actions) == self.expected).all(), "the learner disobeyed the mask"
        return super().step(actions)


@pytest.mark.parametrize("masked", [True, False])
def test_a_mask_of_one_legal_move_is_always_obeyed(masked):
    env = vec_env.SB3VecEnv(OneLegalMove(Katzenjammer(2), 8, opponents="random"))
    model = MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=128, n_epochs=1, seed=0, device="cpu")
    if masked:
        model.learn(1024)
        assert model.num_timesteps == 1024
    else:  # the same check fails without masks, so it does check something
        with pytest.raises(AssertionError, match="disobeyed"):
            model.learn(1024, use_masking=False)


def test_the_learner_is_paid_for_its_own_seat():
    env = vec_env.SB3VecEnv(GameVectorEnv(Katzenjammer(3), 64, opponents="random"))
    env.seed(3)
    env.reset()
    ended = 0
    for _ in range(60):
        masks = np.stack(env.env_method("action_masks"))
        seats = env.env._tables.turn.copy()
        _, rewards, dones, infos = env.step(masks.argmax(1))
        arena = env.env._arena
        paid, _ = env.env.game.outcome(arena.final_records[dones], 0) if dones.any() else (np.zeros((0, 3)), None)
        assert np.array_equal(rewards[dones], paid[np.arange(dones.sum()), seats[dones]])
        assert (rewards[~dones] == 0).all()
        assert all(infos[i]["episode"]["r"] == rewards[i] for i in np.flatnonzero(dones))
        ended += dones.sum()
    assert ended > 64


def test_a_model_agent_plays_legal_moves(run):
    game = Katzenjammer(3)
    agent = checkpoint.ModelAgent(checkpoint.load(run[0] / "model.zip", game), game)
    tables = Tables(game, 50, seed=1)
    for _ in range(30):
        tables.step(agent.act(tables.view(np.arange(50), np.random.default_rng(0))))
    assert len(tables) == 50


def test_masks_are_found_through_gymnasium_make():
    env = gymnasium.make("katz_env/Katzenjammer-v0", opponents="random")
    model = MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=64, n_epochs=1, seed=0, device="cpu")
    model.learn(64)
    assert not model.rollout_buffer.action_masks.all(), "no masks were used"
    assert model.rollout_buffer.action_masks.any()
