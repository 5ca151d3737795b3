"""Short training runs, and what is compared of two."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import tyro

from katz_agents.policy import Policy

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "train"))

from katz_train.checkpoint import load_state  # noqa: E402
from katz_train.ppo_settings import PpoSettings  # noqa: E402

QUICK: tuple[object, ...] = ("--total-steps", 700, "--num-envs", 8, "--rollout-steps", 16, "--batch-size", 64, "--epochs", 1)
QUICK += ("--hidden", 16, "--imitation-steps", 200, "--evaluation-deals", 4, "--snapshot-every", 128)
QUICK += ("--evaluate-every", 256, "--pool-size", 3)


def command(script, *arguments, flags=()) -> list[str]:
    return [sys.executable, *flags, str(ROOT / "train" / script), *map(str, arguments)]


def ppo(*arguments, flags=(), **keywords) -> subprocess.CompletedProcess[str]:
    """A run by the script, in two processes."""
    return subprocess.run(command("ppo.py", *arguments, flags=flags), capture_output=True, text=True, check=False, **keywords)


def settings(directory, *arguments) -> PpoSettings:
    """For a run in this process alone."""
    return tyro.cli(PpoSettings, args=[*map(str, (*QUICK, "--processes", 1, *arguments)), "--run-dir", str(directory)])


def flat(state, prefix=""):
    """The arrays and values of a nested state, by path."""
    for name, value in state.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", value


def assert_same_run(first, second):
    """The last checkpoints, the measurements and the pools of two runs are the same to the last bit."""
    one, other = (dict(flat(load_state(directory / "checkpoint.npz"))) for directory in (first, second))
    assert one.keys() == other.keys()
    for name, value in one.items():
        if not name.endswith("seconds"):
            assert np.array_equal(value, other[name]) if isinstance(value, np.ndarray) else value == other[name], name
    measured = [json.loads((directory / "evaluation.json").read_text()) for directory in (first, second)]
    for name in ("curve", "against"):
        assert measured[0][name] == measured[1][name]
    pools = [
        {path.name: Policy(str(path)).layers[0][0].tolist() for path in (d / "pool").glob("*.npz")} for d in (first, second)
    ]
    assert pools[0] == pools[1]
