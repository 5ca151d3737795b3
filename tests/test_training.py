"""Training: a run goes from settings to a measured model, is not overwritten, stops and goes on exactly, names bad settings."""

from __future__ import annotations

import dataclasses
import errno
import json
import math
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
import tyro
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from katz_agents.policy import Policy
from katz_env import Katzenjammer, Tables

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "train"))

import apart  # noqa: E402
import checkpoint  # noqa: E402
import exploit  # noqa: E402
import ppo as ppo_module  # noqa: E402
import throughput  # noqa: E402
import watch  # noqa: E402
from run_folder import held  # noqa: E402

QUICK = ("--total-steps", 700, "--num-envs", 8, "--rollout-steps", 16, "--batch-size", 64, "--epochs", 1, "--hidden", 16)
QUICK = (
    *QUICK,
    "--imitation",
    200,
    "--evaluation-deals",
    4,
    "--snapshot-every",
    128,
    "--evaluate-every",
    256,
    "--pool-size",
    3,
)


def ppo(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "train" / "ppo.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def settings(folder, *arguments) -> ppo_module.Settings:
    """For a run in this process alone; `ppo` makes runs in two processes."""
    return tyro.cli(ppo_module.Settings, args=[*map(str, (*QUICK, "--processes", 1, *arguments)), "--run-dir", str(folder)])


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
        assert 0 <= found["against"][name]["win_share"] <= 1
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


def test_the_checkpoint_says_what_it_plays(run):
    folder, _ = run
    model = checkpoint.load(folder / "model.zip", Katzenjammer(3))
    assert model.katz_env == Katzenjammer(3).describe()
    assert model.num_timesteps == 768


def test_the_exported_policy_is_that_of_the_model(run):
    model = checkpoint.load(run[0] / "model.zip", Katzenjammer(3))
    exported = Policy(str(run[0] / "policy.npz"))
    for (weight, bias), (saved_weight, saved_bias) in zip(model.policy.networks.actor.layers(), exported.layers, strict=True):
        assert np.array_equal(weight, saved_weight)
        assert np.array_equal(bias, saved_bias)


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


@pytest.mark.parametrize("part", ["data", "policy.pth", "policy.optimizer.pth"])
@pytest.mark.parametrize("content", [None, b"junk", b"[1, 2]"])
def test_a_checkpoint_of_which_a_part_is_broken_is_refused_in_one_line(run, part, content, tmp_path):
    path = tmp_path / "checkpoint.zip"
    with zipfile.ZipFile(run[0] / "checkpoint.zip") as whole, zipfile.ZipFile(path, "w") as broken:
        for name in whole.namelist():
            if name != part or content is not None:
                broken.writestr(name, content if name == part else whole.read(name))
    game = Katzenjammer(3)
    with pytest.raises(ValueError, match=r"checkpoint.zip (is not a checkpoint|does not say)") as raised:
        checkpoint.load(path, game)
    assert "\n" not in str(raised.value)


def test_a_checkpoint_without_the_state_of_its_run_cannot_be_resumed(run, tmp_path):
    folder = tmp_path / "ppo"
    shutil.copytree(run[0], folder)
    model = checkpoint.load(folder / "checkpoint.zip", Katzenjammer(3))
    for state in (None, b"junk"):
        vars(model).pop("run_state", None)
        if state is not None:
            model.run_state = state
        checkpoint.save(model, Katzenjammer(3), folder / "checkpoint.zip")
        with pytest.raises(ValueError, match=r"checkpoint.zip cannot be resumed: it holds no state of a run"):
            ppo_module.train(settings(folder, "--resume"))


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
    (folder / ".checkpoint.tmp.zip").write_bytes(b"")  # killed while it saved for the first time
    with held(folder, resume=False):
        assert not (folder / "events.out.tfevents.1").exists()
        with pytest.raises(
            ValueError, match="another process is at work in .*run; wait until it ends, or use another --run-dir"
        ):
            ppo_module.train(settings(folder))
    (folder / "thesis.tex").write_text("")
    with pytest.raises(ValueError, match="holds a run already"), held(folder, resume=False):
        pass


def parameters(folder):
    model = checkpoint.load(folder / "model.zip", Katzenjammer(3))
    optimizer = model.policy.optimizer.state_dict()["state"]
    moments = {f"{i} {name}": value for i, values in optimizer.items() for name, value in values.items()}
    return model.policy.state_dict() | moments


def assert_same_run(first, second):
    one, other = parameters(first), parameters(second)
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)
    for name in ("curve", "against"):
        assert (
            json.loads((first / "evaluation.json").read_text())[name]
            == (json.loads((second / "evaluation.json").read_text())[name])
        )
    pools = [
        {path.name: Policy(str(path)).layers[0][0].tolist() for path in (f / "pool").glob("*.npz")} for f in (first, second)
    ]
    assert pools[0] == pools[1]


@pytest.fixture
def stopped_at(monkeypatch):
    """Runs in this process get Ctrl-C in the middle of the rollout that passes so many decisions."""
    limit = [10**9]
    step = watch.Watch._on_step

    def interrupted(self):
        if self.num_timesteps >= limit[0]:
            self.stop = True
        return step(self)

    monkeypatch.setattr(watch.Watch, "_on_step", interrupted)
    return limit


def test_one_process_gives_the_same_run_as_two(run, tmp_path):
    assert ppo_module.train(settings(tmp_path / "run")) == 0
    assert_same_run(run[0], tmp_path / "run")


@pytest.fixture
def second(monkeypatch):
    """The process in which the networks learn, of each run in this process."""
    started = []
    begin = apart.Apart.begin

    def watched(self, lesson):
        started.append(self.process)
        begin(self, lesson)

    monkeypatch.setattr(apart.Apart, "begin", watched)
    return started


def test_a_run_whose_second_process_was_killed_goes_on_later(run, second, monkeypatch, tmp_path):
    folder, step = tmp_path / "run", watch.Watch._on_step

    def killed(self):
        if self.num_timesteps == 512:
            second[-1].kill()
            second[-1].join()
        return step(self)

    with monkeypatch.context() as patch:
        patch.setattr(watch.Watch, "_on_step", killed)
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
    assert not second[-1].is_alive()


@pytest.mark.parametrize(("stops", "processes"), [([300], 2), ([72, 136, 520], 1)])
def test_an_interrupted_run_goes_on_as_if_nothing_had_been(run, stops, processes, stopped_at, tmp_path):
    folder = tmp_path / "run"
    for i, stop in enumerate(stops):
        stopped_at[0] = stop
        assert ppo_module.train(settings(folder, "--processes", processes, *(["--resume"] if i else []))) == 130
        assert not (folder / "model.zip").exists()
    stopped_at[0] = 10**9
    assert ppo_module.train(settings(folder, "--processes", processes, "--resume")) == 0
    assert_same_run(run[0], folder)


def test_a_run_that_was_killed_goes_on_from_its_last_snapshot(run, monkeypatch, tmp_path):
    folder = tmp_path / "run"

    def killed(self):
        if self.num_timesteps >= 600:
            raise MemoryError
        return True

    with monkeypatch.context() as patch:
        patch.setattr(watch.Watch, "_on_step", killed)
        patch.setattr(watch.Watch, "close", lambda self: self.bar.close())
        with pytest.raises(MemoryError):
            ppo_module.train(settings(folder))
    assert ppo_module.train(settings(folder, "--resume", "--total-steps", 512)) == 0
    assert checkpoint.load(folder / "model.zip", Katzenjammer(3)).num_timesteps == 512
    del run


def test_a_run_does_not_go_on_with_other_settings_or_without_its_pool(run, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(run[0], folder)
    for arguments, message in (
        (("--num-envs", 16), "was started with num_envs 8, not 16"),
        (("--num-players", 4), "was trained for settings .*'num_players': 3.*this run is for .*'num_players': 4"),
        (("--imitation", 300), "was started with imitation 200, not 300"),
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


def test_a_full_disk_leaves_the_previous_checkpoint(run, monkeypatch, tmp_path):
    game = Katzenjammer(3)
    model = checkpoint.load(run[0] / "model.zip", game)
    path = tmp_path / "checkpoint.zip"
    checkpoint.save(model, game, path)
    before = path.read_bytes()

    for error in (OSError(errno.ENOSPC, "No space left on device"), RuntimeError("PytorchStreamWriter failed writing file")):

        def full(beside, error=error):
            Path(beside).write_bytes(b"half")
            raise error

        monkeypatch.setattr(model, "save", full)
        with pytest.raises(ValueError, match=r"cannot save .*checkpoint.zip: (No space left|PytorchStreamWriter)"):
            checkpoint.save(model, game, path)
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]


def test_an_interrupted_command_saves_what_it_has(tmp_path):
    command = [sys.executable, str(ROOT / "train" / "ppo.py"), *map(str, QUICK), "--total-steps", "100000000"]
    process = subprocess.Popen([*command, "--run-dir", str(tmp_path / "run")], stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "run" / "checkpoint.zip").exists():
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert "stopping after this update" in errors
    assert "go on with the same command and --resume" in errors
    assert "Traceback" not in errors
    assert checkpoint.load(tmp_path / "run" / "checkpoint.zip", Katzenjammer(3)).num_timesteps >= 128


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--num-envs", 0), "--num-envs is 0; it must be at least 1"),
        (("--total-steps", 0), "--total-steps is 0; it must be at least 1"),
        (("--num-players", 1), "num_players is 1; it must be an integer from 2 to 6"),
        (("--opponents", "gready"), "there is no agent 'gready'"),
        (("--evaluated-against", "gready"), "there is no agent 'gready'"),
        (("--pool-size", 1), "--pool-size is 1; it must be at least 2, or 0 for none"),
        (("--latest", 0.8, "--scripted", 0.3), "--latest 0.8 and --scripted 0.3 must be above 0 and together at most 1"),
        (("--same-opponent", 1.5), "--same-opponent is 1.5; it must be from 0 to 1"),
        (("--imitated", "gready"), "there is no agent 'gready'"),
        (("--imitation", -1), "--imitation is -1; it must be at least 0"),
        (("--hardness", -1), "--hardness is -1.0; it must be at least 0"),
        (("--hardness", "nan"), "--hardness is nan; it must be at least 0"),
        (("--score-weight", "nan"), "--score-weight is nan; it must be at least 0"),
        (("--hidden", 10**9), r"--hidden is \(1000000000,\); it must name at least one layer, each of 1 to 16384 units"),
        (("--threads", 10**6), "--threads is 1000000; it must be at most 1024"),
        (("--gamma", 1.5), "--gamma is 1.5; it must be at least 0 and at most 1"),
        (("--gae-lambda", -1), "--gae-lambda is -1.0; it must be at least 0 and at most 1"),
        (("--learning-rate", 0), "--learning-rate is 0.0; it must be above 0"),
        (("--evaluated-against",), "--evaluated-against must name at least one player"),
        (("--num-players", 5, "--opponents", "ppo"), "ppo is shipped for 2, 3, 4 players"),
        (("--num-players", 5, "--evaluated-against", "ppo"), "ppo is shipped for 2, 3, 4 players"),
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


def test_the_agent_of_a_model_plays_legal_moves(run):
    game = Katzenjammer(3)
    agent = checkpoint.network_agent(checkpoint.load(run[0] / "model.zip", game).policy.networks.actor, game)
    tables = Tables(game, 50, seed=1)
    for _ in range(30):
        tables.step(agent.act(tables.view(np.arange(50), np.random.default_rng(0))))


def test_exploit_reports_what_a_fresh_learner_reaches(run, monkeypatch, tmp_path, capsys):
    quick = settings(tmp_path / "run")
    keep = {name: getattr(quick, name) for name in ("num_envs", "rollout_steps", "batch_size", "epochs", "hidden", "imitation")}
    of_learner = exploit.Settings.of_learner
    monkeypatch.setattr(exploit.Settings, "of_learner", lambda self: ppo_module.dataclasses.replace(of_learner(self), **keep))
    chosen = exploit.Settings(str(run[0] / "policy.npz"), total_steps=300, run_dir=tmp_path / "run", evaluation_deals=4)
    assert exploit.exploit(chosen) == 0
    written = json.loads((tmp_path / "run" / "evaluation.json").read_text())["against"]
    (name,) = written
    assert name == f"policy:{run[0] / 'policy.npz'}"
    rollout = quick.rollout_steps * quick.num_envs
    steps = rollout * math.ceil(300 / rollout)
    assert f"a learner of {steps} decisions wins {written[name]['win_share']:.3f}" in capsys.readouterr().out
    with pytest.raises(ValueError, match="cannot read the policy nowhere.npz"):
        exploit.exploit(exploit.Settings("nowhere.npz", run_dir=tmp_path / "other"))
    assert not (tmp_path / "other").exists()


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
