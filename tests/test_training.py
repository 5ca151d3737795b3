"""Training: a run goes from settings to a measured model, is not overwritten, stops and goes on exactly, names bad settings."""

from __future__ import annotations

import dataclasses
import json
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from training_runs import QUICK, assert_same_run, flat, ppo, settings

import exploit
import ppo as ppo_module
import throughput
from katz_agents.policy import Policy
from katz_agents.pretrained import pretrained_path
from katz_env import make_agent, make_game
from katz_train.checkpoint import load_state
from katz_train.learner_process import LearnerProcess
from katz_train.run_directory import run_directory_lock
from katz_train.training_callback import TrainingCallback


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("run") / "ppo"
    return folder, ppo(*QUICK, "--run-dir", folder)


def test_a_run_ends_with_a_measured_model(run):
    folder, result = run
    assert result.returncode == 0, result.stderr
    found = json.loads((folder / "evaluation.json").read_text())
    assert found["fair_share"] == pytest.approx(1 / 3)
    for name in ("random", "greedy", "heuristic"):
        assert f"2 x {name}" in result.stdout
        against = found["against"][name]
        assert 0 <= against["low"] <= against["win_share"] <= against["high"] <= 1
        assert against["version"] == make_agent(name).version
    assert [point["steps"] for point in found["curve"]] == [128, 384, 640, 768]
    assert (folder / "learning_curve.png").stat().st_size > 10_000
    written = json.loads((folder / "settings.json").read_text())
    assert written["settings"]["total_steps"] == 700
    assert written["versions"]["torch"] == torch.__version__
    events = EventAccumulator(str(folder)).Reload()
    measured = {name: events.Scalars(f"evaluation/{name}")[-1] for name in found["against"]}
    assert {name: (event.step, pytest.approx(event.value)) for name, event in measured.items()} == {
        name: (768, result["win_share"]) for name, result in found["against"].items()
    }
    # Six snapshots were taken; three are kept, and those that still play.
    pool = sorted(int(path.stem) for path in (folder / "pool").glob("*.npz"))
    assert {128, 640} <= set(pool) <= {128, 256, 384, 512, 640}


def test_a_run_is_not_overwritten(run):
    folder, _ = run
    before = (folder / "model.zip").read_bytes()
    with pytest.raises(ValueError, match="ppo holds a run already; use --resume to go on with it, or another --run-dir"):
        ppo_module.train(settings(folder))
    assert (folder / "model.zip").read_bytes() == before


def test_what_a_run_left_before_its_first_checkpoint_is_no_run(tmp_path):
    folder = tmp_path / "run"
    (folder / "pool").mkdir(parents=True)
    (folder / "settings.json").write_text("{}")
    (folder / "events.out.tfevents.1").write_bytes(b"")
    (folder / ".checkpoint.tmp.npz").write_bytes(b"")  # killed while it saved for the first time
    with run_directory_lock(folder, resume=False):
        assert not (folder / "events.out.tfevents.1").exists()
        with pytest.raises(
            ValueError, match="another process is at work in .*run; wait until it ends, or use another --run-dir"
        ):
            ppo_module.train(settings(folder))
    (folder / "thesis.tex").write_text("")
    with pytest.raises(ValueError, match="holds a run already"), run_directory_lock(folder, resume=False):
        pass


def test_one_process_gives_the_same_run_as_two(run, tmp_path):
    assert ppo_module.train(settings(tmp_path / "run")) == 0
    assert_same_run(run[0], tmp_path / "run")


@pytest.fixture
def second(monkeypatch):
    """The process in which the networks learn, of each run in this process."""
    started = []
    begin = LearnerProcess.begin

    def watched(self, request):
        started.append(self.process)
        begin(self, request)

    monkeypatch.setattr(LearnerProcess, "begin", watched)
    return started


def test_a_run_whose_second_process_was_killed_goes_on_later(run, second, monkeypatch, tmp_path):
    folder, step = tmp_path / "run", TrainingCallback._on_step

    def killed(self):
        if self.num_timesteps == 512:
            second[-1].kill()
            second[-1].wait()
        return step(self)

    with monkeypatch.context() as patch:
        patch.setattr(TrainingCallback, "_on_step", killed)
        with pytest.raises(ValueError, match="the process in which the networks learn has ended; go on with --resume"):
            ppo_module.train(settings(folder, "--processes", 2))
    assert ppo_module.train(settings(folder, "--resume")) == 0
    assert_same_run(run[0], folder)


def test_an_error_of_the_second_process_is_raised_in_the_first(second, monkeypatch, tmp_path):
    make = ppo_module.make_learner

    def broken(*arguments):
        learner = make(*arguments)
        learner.batch_size = "many"
        return learner

    monkeypatch.setattr(ppo_module, "make_learner", broken)
    with pytest.raises(TypeError):
        ppo_module.train(settings(tmp_path / "run", "--processes", 2))
    assert second[-1].poll() is not None


@pytest.mark.parametrize(("stops", "processes"), [([300], 2), ([72, 136, 520], 1)])
def test_an_interrupted_run_goes_on_as_if_nothing_had_been(run, stops, processes, stopped_at, tmp_path):
    folder = tmp_path / "run"
    for i, stop in enumerate(stops):
        stopped_at[0] = stop
        assert ppo_module.train(settings(folder, "--processes", processes, *(["--resume"] if i else []))) == 130
        assert not (folder / "model.zip").exists()
    assert ppo_module.train(settings(folder, "--processes", processes, "--resume")) == 0
    assert_same_run(run[0], folder)


def test_a_run_that_was_killed_goes_on_from_its_last_snapshot(run, monkeypatch, tmp_path):
    folder = tmp_path / "run"

    def killed(self):
        if self.num_timesteps >= 600:
            raise MemoryError
        return True

    with monkeypatch.context() as patch:
        patch.setattr(TrainingCallback, "_on_step", killed)
        patch.setattr(TrainingCallback, "close", lambda self: self.bar.close())
        with pytest.raises(MemoryError):
            ppo_module.train(settings(folder))
    assert ppo_module.train(settings(folder, "--resume", "--total-steps", 512)) == 0
    assert load_state(folder / "checkpoint.npz")["learner"]["num_timesteps"] == 512
    del run


def test_a_run_does_not_go_on_with_other_settings_or_without_its_pool(run, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(run[0], folder)
    for arguments, message in (
        (("--num-envs", 16), "was started with num_envs 8, not 16"),
        (("--num-players", 4), "was trained for settings .*'num_players': 3.*this run is for .*'num_players': 4"),
        (("--imitation-steps", 300), "was started with imitation_steps 200, not 300"),
        (("--opponents", "greedy"), r"was started with opponents \['random', 'greedy', 'heuristic'\], not \['greedy'\]"),
    ):
        with pytest.raises(ValueError, match=message):
            ppo_module.train(settings(folder, "--resume", *arguments))
    (folder / "pool" / "000000000640.npz").unlink()
    with pytest.raises(ValueError, match="cannot read the policy .*000000000640.npz"):
        ppo_module.train(settings(folder, "--resume"))
    shutil.rmtree(folder / "pool")
    with pytest.raises(ValueError, match="the folder of the pool .* is missing"):
        ppo_module.train(settings(folder, "--resume"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--num-envs", 0), "--num-envs is 0; it must be at least 1"),
        (("--total-steps", 0), "--total-steps is 0; it must be at least 1"),
        (("--num-players", 1), "num_players is 1; it must be an integer from 2 to 6"),
        (("--opponents", "gready"), "there is no agent 'gready'"),
        (("--evaluation-opponents", "gready"), "there is no agent 'gready'"),
        (("--pool-size", 1), "--pool-size is 1; it must be at least 2, or 0 for none"),
        (("--pool-size", 99999999999999999999), "--pool-size is 99999999999999999999; it must be at most 100000"),
        (("--seed", 2**32), "--seed is 4294967296; it must be at most 4294967295"),
        (("--game", "poker"), "there is no game 'poker'"),
        (("--rules", "mice"), "--rules has 'mice'; a rule is written KEY=VALUE"),
        (
            ("--latest-share", 0.8, "--scripted-share", 0.3),
            "--latest-share 0.8 and --scripted-share 0.3 must be above 0 and together at most 1",
        ),
        (("--same-opponent-share", 1.5), "--same-opponent-share is 1.5; it must be from 0 to 1"),
        (("--expert", "gready"), "there is no agent 'gready'"),
        (("--imitation-steps", -1), "--imitation-steps is -1; it must be at least 0"),
        (("--pfsp-power", -1), "--pfsp-power is -1.0; it must be at least 0"),
        (("--pfsp-power", "nan"), "--pfsp-power is nan; it must be at least 0"),
        (("--score-weight", "nan"), "--score-weight is nan; it must be at least 0"),
        (("--hidden", 10**9), r"--hidden is \(1000000000,\); it must name at least one layer, each of 1 to 16384 units"),
        (("--threads", 10**6), "--threads is 1000000; it must be at most 1024"),
        (("--gamma", 1.5), "--gamma is 1.5; it must be from 0 to 1"),
        (("--gae-lambda", -1), "--gae-lambda is -1.0; it must be from 0 to 1"),
        (("--learning-rate", 0), "--learning-rate is 0.0; it must be above 0"),
        (("--clip", 0), "--clip is 0.0; it must be above 0"),
        (("--max-gradient-norm", "nan"), "--max-gradient-norm is nan; it must be above 0"),
        (("--value-weight", -1), "--value-weight is -1.0; it must be at least 0"),
        (("--evaluation-opponents",), "--evaluation-opponents must name at least one player"),
        (("--num-players", 5, "--opponents", "ppo"), "ppo is shipped for 2, 3, 4 players"),
        (("--num-players", 5, "--evaluation-opponents", "ppo"), "ppo is shipped for 2, 3, 4 players"),
        (("--critic-steps", -1), "--critic-steps is -1; it must be at least 0"),
        (("--start-from", "greedy"), "'greedy' plays no network; a policy is ppo or policy:path/to/file.npz"),
        (("--start-from", "nowhere.npz"), "cannot read the policy nowhere.npz: No such file or directory"),
        (
            ("--start-from", "ppo", "--game", "katz_und_maus"),
            "ppo is shipped for katzenjammer, meow; there is none for katz_und_maus",
        ),
        (("--start-from", "ppo", "--rules", "mice=9"), "ppo for 3 players was trained for settings .*; this game has"),
        (("--reward", "fame"), "reward is 'fame'; it must be one of 'win', 'score'"),
        (("--resume",), "there is no checkpoint in .* to resume from"),
    ],
)
def test_bad_settings_are_named_and_leave_nothing_behind(arguments, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        ppo_module.train(settings(tmp_path / "run", *arguments))
    assert not (tmp_path / "run").exists()


def test_the_command_answers_bad_settings_in_one_line(tmp_path):
    result = ppo(*QUICK, "--num-envs", 0, "--run-dir", tmp_path / "run")
    assert result.returncode == 1
    assert result.stderr == "train/ppo.py: --num-envs is 0; it must be at least 1\n"


def weights(path):
    return [array for layer in Policy(str(path)).layers for array in layer]


def test_a_learner_starts_from_a_policy_and_leaves_it_alone_while_only_the_critic_learns(run, tmp_path):
    start = run[0] / "policy.npz"
    arguments = ("--start-from", start, "--imitation-steps", 0, "--total-steps", 256, "--hidden", 5)
    for name, critic_steps in (("critic", 257), ("both", 129)):
        assert ppo_module.train(settings(tmp_path / name, *arguments, "--critic-steps", critic_steps)) == 0
    values = [dict(flat(load_state(folder / "checkpoint.npz"))) for folder in (run[0], tmp_path / "critic")]
    (critic,) = (name for name in values[0] if name.endswith("policy/value_net.weight"))
    assert (values[0][critic] != values[1][critic]).any()
    same, learned = (weights(tmp_path / name / "policy.npz") for name in ("critic", "both"))
    for before, after in zip(weights(start), same, strict=True):
        np.testing.assert_array_equal(before, after)
    assert any((before != after).any() for before, after in zip(weights(start), learned, strict=True))


def test_a_search_may_be_the_expert(run, tmp_path):
    expert = ("--expert", "policy_search:worlds=2,moves=2")
    arguments = ("--start-from", "ppo", "--total-steps", 128, "--imitation-steps", 129, "--evaluation-opponents", "random")
    assert ppo_module.train(settings(tmp_path / "run", *arguments, *expert)) == 0
    before, after = weights(pretrained_path(3)), weights(tmp_path / "run" / "policy.npz")
    assert any((one != other).any() for one, other in zip(before, after, strict=True))
    without_leaf = f"policy_search:policy=policy:{run[0] / 'policy.npz'}"
    with pytest.raises(ValueError, match="policy.npz has no leaf network, which a search needs"):
        ppo_module.train(settings(tmp_path / "other", *arguments, "--expert", without_leaf))


def test_exploit_reports_what_a_fresh_learner_reaches(run, monkeypatch, tmp_path, capsys):
    quick = settings(tmp_path / "run")
    keep = {
        name: getattr(quick, name)
        for name in ("num_envs", "rollout_steps", "batch_size", "epochs", "hidden", "imitation_steps")
    }
    of_learner = exploit.Settings.of_learner
    monkeypatch.setattr(exploit.Settings, "of_learner", lambda self: dataclasses.replace(of_learner(self), **keep))
    chosen = exploit.Settings(str(run[0] / "policy.npz"), total_steps=300, run_dir=tmp_path / "run", evaluation_deals=4)
    assert exploit.exploit(chosen) == 0, "a policy without a leaf network"
    written = json.loads((tmp_path / "run" / "evaluation.json").read_text())["against"]
    (name,) = written
    assert name == f"policy:{run[0] / 'policy.npz'}"
    rollout = quick.rollout_steps * quick.num_envs
    steps = rollout * math.ceil(300 / rollout)
    printed = capsys.readouterr().out
    assert f"a learner of {steps} decisions wins {written[name]['win_share']:.3f}" in printed
    assert "not measured against a search" in printed
    assert "has no leaf network" in printed
    start = exploit.Settings("greedy", start_from=str(run[0] / "policy.npz"), total_steps=300, run_dir=tmp_path / "warm")
    assert (of_learner(start).imitation_steps, of_learner(start).critic_steps) == (0, 30)
    with pytest.raises(ValueError, match="--search-deals is 1; it must be at least 2"):
        exploit.exploit(dataclasses.replace(chosen, search_deals=1))
    with pytest.raises(ValueError, match="cannot read the policy nowhere.npz"):
        exploit.exploit(exploit.Settings("nowhere.npz", run_dir=tmp_path / "other"))
    assert not (tmp_path / "other").exists()


def test_exploit_reports_what_a_search_reaches(capsys):
    share, low, high = exploit.search_share("ppo", make_game("katzenjammer", num_players=2), 2, 0)
    assert 0 <= low <= share <= high <= 1
    assert "measuring policy_search, which foresees ppo, over 2 deals" in capsys.readouterr().out


def test_throughput_is_measured(tmp_path, capsys):
    quick = throughput.Settings(num_envs=4, rollout_steps=8, batch_size=16, epochs=1, hidden=(8,), snapshots=2, rounds=1)
    assert throughput.measure(quick, tmp_path) == 0
    printed = capsys.readouterr().out
    for name in ("self-play", "against greedy", "environment that costs nothing", "gym.make", "opponents", "update"):
        assert name in printed


@pytest.mark.parametrize(("name", "value"), [("rounds", 0), ("snapshots", 1), ("num_envs", 0), ("hidden", ())])
def test_what_cannot_be_measured_is_named(name, value, tmp_path):
    with pytest.raises(ValueError, match=f"--{name.replace('_', '-')} is .*; it must"):
        throughput.measure(dataclasses.replace(throughput.Settings(), **{name: value}), tmp_path)
