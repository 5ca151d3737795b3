"""Games and agents that packages add by name: found, listed, and refused with a word on who is to blame."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import katz_env
from katz_env import agent_names, game_names, make_agent, make_game

TOY_GAME = Path(__file__).parent / "toy_game"
WORKING = """
from katz_env import Agent
from kuhn_poker import KuhnPoker

class Other(KuhnPoker):
    name = "other_poker"

class Folder(Agent):
    name = "folder"
    def act(self, view):
        return view.action_masks.argmax(1)
"""


def install(folder, package, module, points, source=""):
    """Lay a package with entry points down in a folder, as pip would; `points` are lines by group."""
    folder.mkdir(parents=True, exist_ok=True)
    about = folder / f"{package.replace('-', '_')}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    groups = (f"[katz_env.{group}]\n{line}\n" for group, line in points.items())
    (about / "entry_points.txt").write_text("\n".join(groups))
    if source:
        (folder / f"{module}.py").write_text(source)
    return folder


def output(code, *folders):
    """What a new process prints in which packages lie in these folders."""
    path = os.pathsep.join(map(str, (*folders, TOY_GAME)))
    command = [sys.executable, "-W", "error", "-c", code]
    environment = os.environ | {"PYTHONPATH": path, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def error_of(call, *folders):
    """The ValueError that an expression raises in a new process, which must be one line."""
    lines = output(f"from katz_env import *\ntry:\n    print({call})\nexcept ValueError as error:\n    print(error)", *folders)
    assert len(lines) == 1
    return lines[0]


def test_games_are_found_by_name():
    assert game_names() == ["katz_und_maus", "katzenjammer", "kuhn_poker", "meow"]
    assert make_game("katzenjammer") == katz_env.Katzenjammer()
    assert make_game("katzenjammer", num_players=4, mice=10) == katz_env.Katzenjammer(4, mice=10)
    assert type(make_game("kuhn_poker")).__name__ == "KuhnPoker"


@pytest.mark.parametrize("name", ["chess", "", "Katzenjammer", "katzenjammer "])
def test_an_unknown_game_is_answered_with_those_that_there_are(name):
    with pytest.raises(ValueError, match=f"^there is no game '{name}'; installed are {', '.join(game_names())}$"):
        make_game(name)


@pytest.mark.parametrize("name", [None, 3, b"katzenjammer", ["katzenjammer"]])
def test_a_name_that_is_no_string_is_answered_with_those_that_there_are(name):
    with pytest.raises(
        ValueError, match=f"the name of a game must be a string, not .*; installed are {', '.join(game_names())}$"
    ):
        make_game(name)


def test_an_unknown_agent_is_answered_with_those_that_there_are():
    with pytest.raises(ValueError, match=f"^there is no agent 'dealer'; installed are {', '.join(agent_names())}$"):
        make_agent("dealer")


def test_settings_are_those_of_the_game():
    with pytest.raises(ValueError, match="num_players is 7; it must be an integer from 2 to 6"):
        make_game("katzenjammer", num_players=7)
    with pytest.raises(ValueError, match="num_players is 3; it must be 2"):
        make_game("kuhn_poker", num_players=3)
    with pytest.raises(TypeError, match="mice"):
        make_game("kuhn_poker", mice=3)


def test_other_packages_add_games_and_agents(tmp_path):
    points = {"games": "other_poker = others:Other", "agents": "folder = others:Folder"}
    folder = install(tmp_path, "other-games", "others", points, WORKING)
    code = "from katz_env import *\nprint(game_names(), make_agent('folder'), make_game('other_poker').num_players)"
    assert output(code, folder) == [f"{sorted([*game_names(), 'other_poker'])} <agent folder> 2"]


BROKEN = {
    "no module": ("", "broken:Thing", "No module named 'broken'"),
    "no attribute": ("x = 1", "broken:Thing", "module 'broken' has no attribute 'Thing'"),
    "error at import": ("raise RuntimeError('no\\n  GPU')", "broken:Thing", "no GPU"),
    "syntax error": ("def (", "broken:Thing", "invalid syntax"),
    "exit at import": ("raise SystemExit(3)", "broken:Thing", "3"),
}


@pytest.mark.parametrize(("group", "make"), [("games", "make_game"), ("agents", "make_agent")])
@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_package_is_named_in_a_line_and_breaks_nobody_else(tmp_path, group, make, case):
    source, value, reason = BROKEN[case]
    folder = install(tmp_path, "broken-package", "broken", {group: f"thing = {value}"}, source)
    message = error_of(f"{make}('thing')", folder)
    assert message.startswith(f"the {group[:-1]} 'thing' of the package broken-package cannot be loaded: ")
    assert reason in message
    code = (
        "from katz_env import *\nprint(make_game('kuhn_poker'), make_agent('random'), 'thing' in game_names() + agent_names())"
    )
    assert output(code, folder) == ["KuhnPoker(num_players=2) <agent random> True"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("json:loads", "what is installed as the game 'thing' is <function loads at .*>, not a subclass of katz_env.Game"),
        ("kuhn_poker:KuhnPoker", "what is installed as the game 'thing' calls itself 'kuhn_poker'"),
    ],
)
def test_what_is_no_game_of_its_name_is_refused(tmp_path, value, message):
    folder = install(tmp_path, "strange", "strange", {"games": f"thing = {value}"})
    assert re.fullmatch(message, error_of("make_game('thing')", folder))


def test_what_makes_no_agent_is_refused(tmp_path):
    folder = install(tmp_path, "strange", "strange", {"agents": "thing = fractions:Fraction"})
    message = error_of("make_agent('thing')", folder)
    assert message == "what is installed as the agent 'thing' makes a Fraction; it must make a katz_env.Agent"


@pytest.mark.parametrize(
    ("group", "point", "make"),
    [
        ("games", "other_poker = others:Other", "make_game('other_poker')"),
        ("agents", "folder = others:Folder", "make_agent('folder')"),
    ],
)
def test_two_packages_with_one_name_are_both_named(tmp_path, group, point, make):
    kind, name = group[:-1], point.partition(" ")[0]
    first = install(tmp_path / "a", "anna", "others", {group: point}, WORKING)
    second = install(tmp_path / "b", "bert", "others", {group: point})
    expected = f"the {kind} '{name}' is in several packages: anna and bert; uninstall one, or have it use another name"
    assert error_of(make, first, second) == expected
    assert error_of(make, second, first) == expected


@pytest.mark.parametrize(
    ("group", "point", "make"),
    [
        ("games", "katzenjammer = others:Other", "make_game('katzenjammer')"),
        ("agents", "greedy = others:Folder", "make_agent('greedy')"),
    ],
)
def test_a_package_that_takes_a_name_of_ours_replaces_nothing(tmp_path, group, point, make):
    folder = install(tmp_path, "usurper", "others", {group: point}, WORKING)
    message = error_of(make, folder)
    assert "is in several packages: katz_env and usurper; uninstall one" in message
    others = "from katz_env import *\nprint(make_game('kuhn_poker'), make_agent('random'))"
    assert output(others, folder) == ["KuhnPoker(num_players=2) <agent random>"]


def test_a_package_that_is_found_twice_is_one_package(tmp_path):
    points = {"games": "other_poker = others:Other"}
    folders = [install(tmp_path / place, "other-games", "others", points, WORKING) for place in "ab"]
    assert output("from katz_env import *\nprint(make_game('other_poker'))", *folders) == ["Other(num_players=2)"]
