"""Training is stopped, starved and shot at: it ends at once, in one line, keeps what it says it keeps, and goes on exactly."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
from training_runs import QUICK, ROOT, assert_same_run, command, ppo, settings

import ppo as ppo_module
from katz_agents.katzenjammer.evaluation import Weights
from katz_train.checkpoint import load_state
from katz_train.training_callback import TrainingCallback

HANG = 300
"""Seconds after which something that should end soon is taken to hang."""
LONG = (*QUICK, "--total-steps", 100_000_000)


def start(script, *arguments, **keywords) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(script, *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **keywords,
    )


def wait_until(what):
    end = time.monotonic() + HANG
    while not (found := what()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def wait_for(what, process):
    """Wait until ``what()`` is true, while the process goes on."""

    def found_or_ended():
        assert process.poll() is None, process.stderr.read()
        return what()

    return wait_until(found_or_ended)


def children(pid) -> list[int]:
    found = subprocess.run(
        ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    ).stdout
    return [int(line.split()[0]) for line in found.splitlines() if "katz_train" in line]


def gone(pid) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def lines(errors) -> list[str]:
    """What a person reads in the end, without the progress bar."""
    return [line for line in errors.replace("\r", "\n").splitlines() if line.strip() and "decisions/s" not in line]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_keeps_its_work_and_goes_on_exactly(number, tmp_path):
    directory, whole = tmp_path / "run", (*QUICK, "--total-steps", 6000)
    process = start("ppo.py", *whole, "--run-dir", directory)
    wait_for((directory / "checkpoint.npz").exists, process)
    process.send_signal(number)
    process.send_signal(number)  # an impatient second time
    _, errors = process.communicate(timeout=HANG)
    assert process.returncode == 128 + number
    kept = load_state(directory / "checkpoint.npz")["learner"]["num_timesteps"]
    assert lines(errors) == [f"interrupted: {directory} keeps the first {kept:,} steps; the same command with --resume goes on"]
    assert 128 <= kept < 6000
    assert ppo(*whole, "--resume", "--run-dir", directory).returncode == 0
    assert ppo(*whole, "--run-dir", tmp_path / "unbroken").returncode == 0
    assert_same_run(directory, tmp_path / "unbroken")


@pytest.mark.full
def test_an_interrupt_at_any_moment_ends_in_one_line(tmp_path):
    """From the first import to the end, one run for each moment."""
    for tenths in range(1, 150, 7):
        directory = tmp_path / f"{tenths}"
        process = start("ppo.py", *LONG, "--run-dir", directory)
        time.sleep(tenths / 10)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=HANG)
        assert process.returncode == 130, (tenths, errors)
        assert len(lines(errors)) == 1, (tenths, errors)
        assert "interrupted" in errors
        kept = (directory / "checkpoint.npz").exists()
        assert kept == ("--resume" in errors), (tenths, errors)
        result = ppo(*QUICK, *(["--resume"] if kept else []), "--run-dir", directory)
        assert result.returncode == 0, (tenths, result.stderr)


@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        ("ppo.py", LONG),
        ("evaluate.py", ("random", "greedy", "random", "--deals", 10**6)),
        ("exploit.py", ("greedy",)),
        ("pretrained.py", (3,)),
        ("throughput.py", ()),
        ("tune_heuristic.py", ()),
        ("fit_value_network.py", ()),
        ("fit_position_value.py", ()),
    ],
)
def test_an_interrupt_while_a_script_imports_ends_it_in_one_line(script, arguments, tmp_path):
    process = start(script, *arguments, cwd=tmp_path, env={**os.environ, "PYTHONVERBOSE": "1"})
    read = []
    for line in process.stderr:  # what Python imports, one line each
        read.append(line)
        if line.startswith("import 'numpy'"):
            break
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=HANG)
    assert process.returncode == 130
    name = f"train/{script}: "  # it may stand behind the beginning of a line of Python's about an import
    told = [name + line.partition(name)[2] if name in line else line for line in errors.splitlines()]
    told = [line for line in told if not line.startswith(("#", "import "))]
    said = [line for line in told if "interrupted" in line or "Traceback" in line or "Error" in line]
    assert said == [f"train/{script}: interrupted before the work began; nothing was changed, the same command starts again"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("victim", ["parent", "child"])
def test_a_killed_process_takes_the_other_with_it_silently(victim, tmp_path):
    directory = tmp_path / "run"
    process = start("ppo.py", *LONG, "--run-dir", directory)
    (child,) = wait_for(lambda: children(process.pid), process)
    if victim == "parent":  # at once, while the child imports
        process.kill()
        output, errors = process.communicate(timeout=HANG)  # the pipes close when the child has ended too
        assert (output, lines(errors)) == ("", [])
    else:
        wait_for((directory / "checkpoint.npz").exists, process)
        os.kill(child, signal.SIGKILL)
        _, errors = process.communicate(timeout=HANG)
        assert process.returncode == 1
        said = "the process in which the networks learn has ended; go on with --resume, or without it with --processes 1"
        assert lines(errors) == [f"train/ppo.py: {said}"]
    wait_until(lambda: gone(child))


def test_ctrl_c_while_the_learner_process_starts_is_not_lost(tmp_path):
    process = start("ppo.py", *LONG, "--run-dir", tmp_path / "run")
    (child,) = wait_for(lambda: children(process.pid), process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=HANG)
    assert process.returncode == 130
    assert len(lines(errors)) == 1
    assert "interrupted" in errors
    wait_until(lambda: gone(child))


def test_a_stop_while_it_measures_keeps_the_policy(tmp_path):
    directory = tmp_path / "run"
    process = start("ppo.py", *QUICK, "--evaluation-deals", 50_000, "--evaluate-every", 10**6, "--run-dir", directory)
    wait_for((directory / "policy.npz").exists, process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=HANG)
    assert process.returncode == 130
    assert lines(errors)[-1] == "interrupted: the trained policy is kept; the same command with --resume measures it"
    assert ppo(*QUICK, "--resume", "--run-dir", directory).returncode == 0
    assert (directory / "evaluation.json").exists()


# --- the run directory


def stop_after(monkeypatch, steps, then):
    """Do something in the middle of a run, once."""
    step, done = TrainingCallback._on_step, []

    def stepped(self):
        if self.num_timesteps >= steps and not done:
            done.append(True)
            then()
        return step(self)

    monkeypatch.setattr(TrainingCallback, "_on_step", stepped)


def test_a_run_whose_directory_was_deleted_stops_in_one_line_and_writes_nothing(monkeypatch, tmp_path):
    directory = tmp_path / "run"
    stop_after(monkeypatch, 300, lambda: shutil.rmtree(directory))
    with pytest.raises(
        ValueError, match=r"run/\.lock was removed while the run was at work, so the run stops and saves nothing more"
    ):
        ppo_module.train(settings(directory))
    assert list(tmp_path.iterdir()) == []


def test_a_deleted_pool_is_written_again_with_the_next_checkpoint(monkeypatch, tmp_path):
    directory = tmp_path / "run"
    with monkeypatch.context() as patch:
        stop_after(patch, 300, lambda: shutil.rmtree(directory / "pool"))
        assert ppo_module.train(settings(directory)) == 0
    assert ppo_module.train(settings(directory, "--resume", "--total-steps", 1000)) == 0
    assert len(list((directory / "pool").iterdir())) >= 3


def test_a_disk_that_is_full_from_the_first_byte_is_named_in_one_line(tmp_path):
    if os.geteuid() != 0:
        pytest.fail("this test mounts a file system, which needs root")
    place = tmp_path / "full"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", place], capture_output=True, check=False)
    assert mounted.returncode == 0, mounted.stderr
    try:
        result = ppo(*QUICK, "--run-dir", place / "run")
    finally:
        subprocess.run(["umount", "-l", place], check=True)
    assert result.returncode == 1
    (line,) = lines(result.stderr)
    assert re.fullmatch(rf"train/ppo\.py: cannot save {place}/run/\S+: No space left on device", line)


def test_a_disk_that_fills_up_while_it_logs_is_named_in_one_line(monkeypatch, tmp_path):
    def full(self):
        del self
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("tensorboard.summary.writer.record_writer.RecordWriter.write", lambda self, data: full(self))
        with pytest.raises(ValueError, match=r"cannot save .*events.out\S+: No space left on device"):
            ppo_module.train(settings(tmp_path / "run"))


# --- where a second process is hard to have

CALLER = """
import sys
sys.path.insert(0, {train!r})
import ppo
from katz_train.ppo_settings import PpoSettings
{body}
"""
CALL = "ppo.train(PpoSettings({settings}, run_dir=__import__('pathlib').Path({directory!r})))"
SMALL = (
    "total_steps=200, num_envs=8, rollout_steps=8, batch_size=32, epochs=1, hidden=(8,), imitation_steps=0, "
    "evaluation_deals=2, evaluate_every=10**6, evaluation_opponents=('random',), opponents=('random',), pool_size=0"
)


@pytest.mark.parametrize("how", ["no guard", "stdin", "daemonic", "no executable"])
def test_train_works_where_multiprocessing_would_not(how, tmp_path):
    call = CALL.format(settings=SMALL, directory=str(tmp_path / "run"))
    body = call
    if how == "daemonic":
        body = (
            f"def work():\n    sys.exit({call})\n\nif __name__ == '__main__':\n    import multiprocessing\n"
            "    worker = multiprocessing.get_context('spawn').Process(target=work, daemon=True)\n"
            "    worker.start()\n    worker.join()\n    sys.exit(worker.exitcode)\n"
        )
    elif how == "no executable":
        body = f"sys.executable = ''\n{call}"
    script = CALLER.format(train=str(ROOT / "train"), body=body)
    file = tmp_path / "caller.py"
    file.write_text(script)
    if how == "stdin":
        result = subprocess.run([sys.executable], input=script, capture_output=True, text=True, check=False, cwd=tmp_path)
    else:
        result = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "run" / "evaluation.json").exists()
    said = [line for line in lines(result.stderr) if "learn" in line]
    if how == "no executable":
        assert len(said) == 1
        assert said[0].startswith("the networks learn in this process, for a second one could not be started: ")
    else:
        assert said == []


def test_the_script_works_isolated_and_from_another_directory(tmp_path):
    result = ppo(*QUICK, "--total-steps", 128, "--run-dir", "run", flags=("-I",), cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert json.loads((tmp_path / "run" / "settings.json").read_text())["settings"]["total_steps"] == 128


# --- the other scripts


def test_an_interrupted_tournament_keeps_its_deals_also_if_interrupted_twice(tmp_path):
    out = tmp_path / "out"
    process = start("evaluate.py", "random", "greedy", "heuristic", "--deals", 10**6, "--out", out)
    wait_for(out.exists, process)
    time.sleep(10)  # the first deals
    process.send_signal(signal.SIGINT)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=HANG)
    assert process.returncode == 130
    assert "Traceback" not in errors
    if "nothing to keep" not in errors:
        results = json.loads((out / "results.json").read_text())
        assert f"interrupted: these are the first {results['deals']} of 1000000 deals" in errors
        assert len((out / "games.jsonl").read_text().splitlines()) == results["games"]


def test_an_interrupted_search_prints_its_weights_also_if_interrupted_twice(tmp_path):
    process = start(
        "tune_heuristic.py", "--population", 2, "--elite", 1, "--deals", 1, "--generations", 0, "--final-deals", 10**7
    )
    first = "".join(process.stdout.readline() for _ in Weights._fields)  # printed at once, before they are measured
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=HANG)
    assert process.returncode == 130
    names = [line.split(":")[0].strip() for line in (first + output).splitlines()]
    assert names == [*Weights._fields]
    assert lines(errors)[-1] == "interrupted: these are the weights found so far, not measured to the end"


def test_a_search_can_be_interrupted(tmp_path):
    process = start("tune_heuristic.py", "--generations", 10**6)
    wait_until(lambda: "generation" in process.stderr.readline() or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=HANG)
    assert process.returncode == 130
    assert len(output.splitlines()) == len(Weights._fields)
    assert "Traceback" not in errors


@pytest.mark.parametrize("out", ["/proc/results", "taken/results"])
def test_a_tournament_whose_results_cannot_be_written_plays_no_games(out, tmp_path):
    (tmp_path / "taken").touch()
    arguments = ("random", "greedy", "random", "--deals", 10**6, "--out", out)
    result = subprocess.run(command("evaluate.py", *arguments), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    (line,) = lines(result.stderr)
    assert line.startswith(f"train/evaluate.py: cannot write into {out}: ")


@pytest.mark.parametrize("script", ["ppo.py", "evaluate.py"])
def test_the_reader_of_the_help_may_stop_reading(script):
    with start(script, "--help") as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode in (0, -signal.SIGPIPE)
