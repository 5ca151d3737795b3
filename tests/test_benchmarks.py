"""The benchmarks: wrong settings are named in one line, before anything is measured; the port to C agrees with the engine."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from katz_env import Katzenjammer, KatzUndMaus, Meow
from katz_env.core.batch import REWARDS

BENCHMARKS = Path(__file__).parent / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

from port import COMPILER, check, compiled_port  # noqa: E402


@pytest.mark.parametrize(
    ("script", "arguments", "message"),
    [
        ("growth.py", ("--largest", "0"), "--largest is 0; it must be at least 1"),
        ("growth.py", ("--num-players", "9"), "num_players is 9; it must be an integer from 2 to 6"),
        ("peers.py", ("--repeats", "0"), "--repeats is 0; it must be at least 1"),
        ("peers.py", ("--seconds", "nan"), "--seconds is nan; it must be above 0"),
        ("port.py", ("--rounds", "0"), "--rounds is 0; it must be at least 1"),
        ("port.py", ("--tables", "0"), "--tables is 0; it must be at least 1"),
        ("port.py", ("--game", "chess"), "there is no port of 'chess'; there are those of katzenjammer, meow, katz_und_maus"),
        ("port.py", ("--num-players", "9"), "num_players is 9; it must be an integer from 2 to 6"),
    ],
)
def test_the_benchmarks_name_wrong_settings_in_one_line(script, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, str(BENCHMARKS / script), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (1, f"{script}: {message}\n")


def test_without_a_c_compiler_the_port_says_so_in_one_line(tmp_path):
    command, environment = [sys.executable, str(BENCHMARKS / "port.py")], {**os.environ, "PATH": str(tmp_path)}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (result.returncode, result.stderr) == (1, f"port.py: there is no C compiler {COMPILER!r} on this machine\n")


@pytest.mark.skipif(shutil.which(COMPILER) is None, reason=f"there is no C compiler {COMPILER!r}")
@pytest.mark.parametrize(
    "options",
    [
        {"num_players": 2},
        {"num_players": 4},
        {"num_players": 2, "mice": 5, "values": 8, "copies": 6, "hand_size": 20},  # high bids, and the supply runs out
        # empty hands, and deals without a decision
        {"num_players": 3, "values": 2, "copies": 3, "hand_size": 1, "set_size": 2},
    ],
)
def test_the_port_to_c_fills_every_array_as_the_engine_does(options):
    assert_port_agrees(Katzenjammer(**options))


@pytest.mark.skipif(shutil.which(COMPILER) is None, reason=f"there is no C compiler {COMPILER!r}")
@pytest.mark.parametrize(
    "options", [{}, {"merge_equal": True}, pytest.param({"deposits": 1, "talon_end": "turn"}, marks=pytest.mark.full)]
)
def test_the_port_of_katz_und_maus_fills_every_array_as_the_engine_does(options):
    assert_port_agrees(KatzUndMaus(**options))


@pytest.mark.skipif(shutil.which(COMPILER) is None, reason=f"there is no C compiler {COMPILER!r}")
@pytest.mark.parametrize(
    "options",
    [
        {"num_players": 3},
        *(pytest.param({"num_players": n, "expert": True}, marks=pytest.mark.full) for n in (2, 4, 6)),
        pytest.param({"num_players": 2, "ranks": 30, "vase_scores": (3, 0, -300, 20, 40)}, marks=pytest.mark.full),
    ],
)
def test_the_port_of_meow_fills_every_array_as_the_engine_does(options):
    assert_port_agrees(Meow(**options))


def assert_port_agrees(game):
    step = compiled_port(game)
    for reward in REWARDS:
        check(game, step, reward)


def test_a_port_that_does_something_else_is_noticed():
    with pytest.raises(ValueError, match="the records of table 0 differ after step 1"):
        check(Katzenjammer(2), lambda *arrays: -1)
