"""The benchmarks: wrong settings are named in one line, before anything is measured."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("script", "arguments", "message"),
    [
        ("growth.py", ("--largest", "0"), "--largest is 0; it must be at least 1"),
        ("growth.py", ("--num-players", "9"), "num_players is 9; it must be an integer from 2 to 6"),
        ("peers.py", ("--repeats", "0"), "--repeats is 0; it must be at least 1"),
        ("peers.py", ("--seconds", "nan"), "--seconds is nan; it must be above 0"),
    ],
)
def test_the_benchmarks_name_wrong_settings_in_one_line(script, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, str(Path(__file__).parent / "benchmarks" / script), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (1, f"{script}: {message}\n")
