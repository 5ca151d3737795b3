"""An agent that plays other moves than before has another version; versions that are asked for are those that play.

``data/agent_digests.json`` holds digests of the moves of every agent that has a name, with its version. After raising the
version of an agent, ``python tests/test_agent_versions.py`` writes them anew.
"""

import hashlib
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import katz_env
from katz_agents import pretrained
from katz_agents.match import play_match
from katz_agents.pretrained import Ppo, pretrained_path
from katz_agents.tournament import evaluate
from katz_env import Agent, Katzenjammer, Tables, make_agent, make_game
from katz_env.command_line import check_plays
from katz_env.core.registry import game_class

FILE = Path(__file__).parent / "data" / "agent_digests.json"
HOW = "then run python tests/test_agent_versions.py"
AGENTS = {name: name for name in ("random", "greedy", "heuristic", "ppo")} | {"search": "search:playouts=40,worlds=10"}
DEALS = {"search": 1}


PLAYERS = {"ppo": range(2, 7)}  # a network for each


def games_of(agent):
    """The games of this package that an agent plays, for two players and for three, where there can be three."""
    for name in katz_env.game_names():
        if not game_class(name).__module__.startswith("katz_env."):
            continue
        for players in PLAYERS.get(agent.name, (2, 3)):
            try:
                game = make_game(name, num_players=players)
                check_plays(agent, game)
            except ValueError:  # there is no such game, or the agent does not play it
                continue
            yield f"{name}, {players} players", game


def digests(name):
    """By game, a digest of the moves that an agent plays in all seats."""
    agent, found = make_agent(AGENTS[name]), {}
    for text, game in games_of(agent):
        line_up = [agent] * game.num_players
        match = play_match(game, line_up, DEALS.get(name, 4), np.random.default_rng(1), keep_games=True)
        moves = [record["moves"] for record in match.games]
        found[text] = hashlib.sha256(json.dumps(moves).encode()).hexdigest()[:16]
    return {"version": agent.version, "games": found}


def complaint(name, kept, found):
    """What is wrong with the digests of an agent that were kept, for those found now; None if they agree."""
    if kept == found:
        return None
    changed = [game for game, digest in found["games"].items() if kept["games"].get(game, digest) != digest]
    if changed and found["version"] <= kept["version"]:
        version = kept["version"]
        return f"{name} plays other moves in {'; '.join(changed)}: raise its version from {version} to {version + 1}, {HOW}"
    return f"the digests of {name} are not those of this version: {HOW.removeprefix('then ')}"


def test_all_agents_with_a_name_have_digests():
    assert set(json.loads(FILE.read_text())) == set(AGENTS)
    follow = {"policy", "policy_search"}  # their moves are those of the policy that they are given
    assert set(AGENTS) == set(katz_env.agent_names()) - follow


@pytest.mark.parametrize("name", AGENTS)
def test_other_moves_have_another_version(name):
    wrong = complaint(name, json.loads(FILE.read_text())[name], digests(name))
    assert wrong is None, wrong


def test_a_changed_agent_is_told_from_a_new_version_and_a_new_game():
    kept = {"version": 2, "games": {"meow": "a", "chess": "b"}}
    assert complaint("greedy", kept, {"version": 2, "games": {"meow": "a", "chess": "b"}}) is None
    changed = complaint("greedy", kept, {"version": 2, "games": {"meow": "a", "chess": "c"}})
    assert changed == f"greedy plays other moves in chess: raise its version from 2 to 3, {HOW}"
    for other in ({"version": 3, "games": {"meow": "a", "chess": "c"}}, {"version": 2, "games": {**kept["games"], "go": "d"}}):
        assert complaint("greedy", kept, other) == "the digests of greedy are not those of this version: " + HOW[5:]


@pytest.mark.parametrize("name", ["random", "greedy", "heuristic", "search:playouts=20", "ppo"])
def test_the_current_version_can_be_asked_for(name):
    current = make_agent(name).version
    spec = f"{name}{',' if ':' in name else ':'}version={current}"
    agent = make_agent(spec)
    assert (agent.name, agent.version) == (spec, current)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("greedy:version=2", "greedy is at version 1; there is no newer one"),
        ("search:version=1", "search is at version 2; old code is not kept: install the katz_agents that had it"),
        ("search:version=9", "search is at version 2; there is no newer one"),
        ("greedy:version=0", "version is 0; it must be an integer of at least 1"),
        ("greedy:version=old", "version is 'old'; it must be an integer of at least 1"),
        ("ppo:version=2", "ppo has no version 2; there is version 1"),
        ("ppo:version=x", "ppo has no version 'x'; there is version 1"),
        ("search:playouts=1,playouts=2", "agent 'search:playouts=1,playouts=2': playouts is given twice"),
    ],
)
def test_versions_that_do_not_exist_are_named(spec, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        make_agent(spec)


def test_old_code_is_not_kept(monkeypatch):
    monkeypatch.setattr("katz_agents.scripted.Greedy.version", 3)
    assert make_agent("greedy:version=3").version == 3
    with pytest.raises(ValueError, match="^greedy is at version 3; old code is not kept: install the katz_agents that had it$"):
        make_agent("greedy:version=1")


def test_the_version_of_an_agent_must_be_one(monkeypatch):
    monkeypatch.setattr("katz_agents.scripted.Greedy.version", "two")
    with pytest.raises(ValueError, match="^the version of the agent 'greedy' is 'two'; it must be an integer of at least 1$"):
        make_agent("greedy")


def moves_of(agent, game):
    view = Tables(game, 60, seed=1).view(np.arange(60), np.random.default_rng(0))
    return agent.act(view).tolist()


def test_networks_that_were_replaced_can_still_be_played(tmp_path, monkeypatch):
    folder, shipped = tmp_path / "katzenjammer", pretrained_path(3).parent
    folder.mkdir()
    three, two = shipped / "3.npz", shipped / "2.npz"
    with np.load(three) as file:
        arrays = dict(file)
    last = max(name for name in arrays if name.startswith("weight_"))  # other networks differ in their output layer
    for number, path in {"3-v1": three, "2": two}.items():
        shutil.copy(path, folder / f"{number}.npz")
    np.savez(folder / "3-v2.npz", **(arrays | {last: -arrays[last]}))
    np.savez(folder / "3.npz", **(arrays | {last: 0 * arrays[last]}))
    game, first = Katzenjammer(3), moves_of(make_agent("ppo:version=1"), Katzenjammer(3))

    monkeypatch.setattr(pretrained, "FOLDER", tmp_path)
    monkeypatch.setattr(Ppo, "version", 3)
    assert [make_agent(f"ppo:version={version}").version for version in (1, 2, 3)] == [1, 2, 3]
    assert make_agent("ppo").version == 3
    played = [moves_of(make_agent(f"ppo:version={version}"), game) for version in (1, 2, 3)]
    assert played[0] == first
    assert played[0] != played[1] != played[2]
    assert moves_of(make_agent("ppo"), game) == played[2]
    assert pretrained_path(2, version=1) == pretrained_path(2) == folder / "2.npz", "it never changed"
    assert pretrained.pretrained_players() == [2, 3]
    with pytest.raises(ValueError, match="^ppo has no version 4; there are versions 1 to 3$"):
        make_agent("ppo:version=4")


class Newer(Agent):
    name, version = "newer", 7

    def act(self, view):
        return view.action_masks.argmax(1)


class WithoutVersion(Agent):
    name = "without"

    def act(self, view):
        return view.action_masks.argmax(1)


def test_results_tell_the_versions():
    results = evaluate([Newer(), WithoutVersion(), "random"], 3, deals=2, seed=1)
    assert results.versions == [7, 1, 1]
    assert [player["version"] for player in results.to_json()["players"]] == [7, 1, 1]


if __name__ == "__main__":
    written = {name: digests(name) for name in AGENTS}
    FILE.write_text(json.dumps(written, indent=1) + "\n")
    sys.exit(0)
