"""README.md and the pages of docs/: examples run as printed, tables are those of the code, and commands exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import documentation  # noqa: E402

PAGES = {path.name: path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]}
EVERYTHING = "\n".join(PAGES.values())
EXAMPLES = {
    f"{name}-{number}": example
    for name, page in PAGES.items()
    for number, example in enumerate(re.findall(r"```python\n(.*?)```", page, re.DOTALL), 1)
}
TABLES = [
    table
    for page in PAGES.values()
    for table in re.findall(r"<!-- ([\w ]+): generated -->\n(.*?)<!-- end -->", page, re.DOTALL)
    if table[0] != "shipped players"  # train/pretrained.py writes it; see test_pretrained.py
]
TRAINING_COMMANDS = re.findall(r"python (train/\w+\.py)([^\n`]*)", EVERYTHING)


def test_there_are_examples():
    assert len(EXAMPLES) >= 4
    assert any("agent_iter" in example for example in EXAMPLES.values())
    assert any("make_vec" in example for example in EXAMPLES.values())


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs_as_printed(name, tmp_path):
    script = tmp_path / "example.py"
    script.write_text(EXAMPLES[name], encoding="utf-8")
    result = subprocess.run([sys.executable, "-W", "error", script], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert result.returncode == 0, result.stderr


def test_there_are_generated_tables():
    assert {name for name, _ in TABLES} == set(documentation.TABLES)


@pytest.mark.parametrize(("name", "table"), TABLES, ids=[name for name, _ in TABLES])
def test_a_generated_table_is_up_to_date(name, table):
    assert documentation.TABLES[name]() == table.rstrip("\n")


def test_the_test_command_is_the_one_of_ci():
    assert "python -m pytest" in EVERYTHING
    assert "\npython -m pytest" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("script", sorted({script for script, _ in TRAINING_COMMANDS}))
def test_documented_options_of_training_exist(script):
    used = {option for other, rest in TRAINING_COMMANDS if other == script for option in re.findall(r"--[a-z-]+", rest)}
    shown = subprocess.run([sys.executable, script, "--help"], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert sorted(option for option in used if option not in shown) == []


def test_the_main_training_script_is_documented_with_options():
    assert any(script == "train/ppo.py" and "--" in rest for script, rest in TRAINING_COMMANDS)


def test_the_picture_is_what_its_command_draws(tmp_path):
    ((arguments, picture),) = re.findall(r"^katz (draw .*) --out (docs/\S+) --force$", EVERYTHING, re.MULTILINE)
    assert f"]({picture})" in PAGES["README.md"] or f"]({picture.removeprefix('docs/')})" in EVERYTHING
    drawn = tmp_path / Path(picture).name
    command = [sys.executable, "-m", "katz_env.cli", *arguments.split(), "--out", drawn]
    subprocess.run(command, check=True, cwd=ROOT)
    assert drawn.read_text(encoding="utf-8") == (ROOT / picture).read_text(encoding="utf-8")
