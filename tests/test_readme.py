"""README.md: its examples run as printed, its tables are those of the code, and its commands exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from katz_env.katzenjammer.documentation import fill

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_there_are_examples():
    assert len(EXAMPLES) >= 4
    assert any("agent_iter" in example for example in EXAMPLES)
    assert any("make_vec" in example for example in EXAMPLES)


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_example_runs_as_printed(example, tmp_path):
    script = tmp_path / "example.py"
    script.write_text(example, encoding="utf-8")
    result = subprocess.run([sys.executable, "-W", "error", script], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert result.returncode == 0, result.stderr


def test_generated_tables_are_up_to_date():
    assert fill(README) == README


def test_the_test_command_is_the_one_of_ci():
    assert "python -m pytest" in README
    assert "\npython -m pytest" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_documented_options_of_training_exist():
    options = set(re.findall(r"python train/ppo\.py[^\n`]*", README))
    names = {name for command in options for name in re.findall(r"--[a-z-]+", command)} - {"--help"}
    shown = subprocess.run(
        [sys.executable, "train/ppo.py", "--help"], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    assert names
    assert all(name in shown for name in names)


def test_the_picture_is_what_its_command_draws(tmp_path):
    (command,) = re.findall(r"^katz (draw .*) --out (docs/\S+) --force$", README, re.MULTILINE)
    arguments, picture = command[0].split(), ROOT / command[1]
    assert f"]({command[1]})" in README
    drawn = tmp_path / picture.name
    subprocess.run([sys.executable, "-m", "katz_env.cli", *arguments, "--out", drawn], check=True, cwd=ROOT)
    assert drawn.read_text(encoding="utf-8") == picture.read_text(encoding="utf-8")
