"""Paired comparisons: both agents play the same deals in the same seats, and the intervals of differences hold."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from katz_agents import compare, tournament
from katz_agents.intervals import mean_interval, share_interval
from katz_agents.match import play_match
from katz_agents.paired import Comparison
from katz_env import Agent, Katzenjammer, make_agent

ROOT = Path(__file__).parent.parent


def comparison_of(win_shares):
    """The comparison with these win shares, ``(2, deals, rotations)``."""
    _, deals, players = win_shares.shape
    outcomes = {"win_share": win_shares, "score": 10 * win_shares}
    return Comparison(("A", "B"), (1, 2), ["C"] * (players - 1), players, 0, deals, outcomes)


def test_both_play_the_same_deals_against_the_same_others():
    found = compare("greedy", "random", ["random", "heuristic"], deals=30, seed=4)
    for i, name in enumerate(("greedy", "random")):
        for number, (start, size) in enumerate(((0, 25), (25, 5))):
            rng = np.random.default_rng([4, 3, number])
            line_up = [make_agent(agent) for agent in (name, "random", "heuristic")]
            match = play_match(Katzenjammer(3), line_up, size, rng)
            assert np.array_equal(found.outcomes["score"][i, start : start + size], match.results["score"][:, :, 0])
    assert found.against == ["random", "heuristic"]
    assert found.mean("score", 0)[0] - found.mean("score", 1)[0] == pytest.approx(found.difference("score")[0])
    assert found.difference()[1] > 0, "greedy is better than random"
    assert found.names == ("greedy", "random")
    assert found.versions == (make_agent("greedy").version, make_agent("random").version)


def test_the_same_seed_gives_the_same_results():
    def play(seed):
        return compare("greedy", "heuristic", "random", 2, deals=10, seed=seed).to_json()

    assert play(1) == play(1)
    assert play(1) != play(2)
    assert "seed" in compare("random", "random", "random", 2, deals=2).to_json()


def test_an_agent_does_not_differ_from_itself():
    found = compare("heuristic", "heuristic", "greedy", 3, deals=20, seed=1)
    mean, low, high = found.difference()
    assert mean == 0
    assert -0.09 < low < -0.08, "20 deals are no proof"
    assert high == -low
    assert found.difference("score") == (0, 0, 0)


def test_the_difference_by_hand():
    shares = np.array([[[1, 1], [0, 1], [1, 0.5]], [[1, 0], [0, 1], [0, 0.5]]], float)
    found = comparison_of(shares)
    assert found.difference("score") == pytest.approx(mean_interval(np.array([5, 0, 5])))
    mean, low, high = found.difference()
    assert mean == pytest.approx(1 / 3)
    # the differences 1/2, 0, 1/2 have the variance 1/12; t is 4.3027; two more games of six for each rotation add 4 / 36
    assert (low, high) == (-1, 1), "half of it is 4.3027 * sqrt(5 / 36) = 1.6"
    assert found.mean("win_share", 1) == share_interval(np.array([1, 1, 0.5]), np.array([2, 2, 2]))
    assert repr(found) == "<A less B: win share +0.333 (-1.000 to +1.000), 3 deals>"


@pytest.mark.parametrize(("share", "better"), [(0.5, 0.0), (0.3, 0.1), (0.02, 0.0), (0.02, 0.03), (0.9, 0.08), (0.05, 0.3)])
@pytest.mark.parametrize("deals", [10, 25, 100])
@pytest.mark.parametrize("players", [2, 4])
def test_intervals_of_differences_hold(share, better, deals, players):
    """Of both agents the luck of a deal and of its games is nearly the same."""
    rng, covered, narrower = np.random.default_rng(5), 0, []
    for _ in range(600):
        same = rng.random((deals, players))
        luck = [np.where(rng.random((deals, players)) < 0.8, same, rng.random((deals, players))) for _ in range(2)]
        deal = np.where(rng.random((deals, 1)) < 0.3, rng.random((deals, 1)), np.nan)  # all games alike
        luck = [np.where(np.isnan(deal), each, deal) for each in luck]
        found = comparison_of(np.stack([luck[0] < share + better, luck[1] < share]).astype(float))
        _, low, high = found.difference()
        covered += low <= better <= high
        narrower.append((high - low) / np.hypot(*(np.diff(found.mean("win_share", agent)[1:]) for agent in (0, 1))))
    assert covered / 600 >= 0.93
    if deals == 100 and 0.1 < share < 0.9:
        assert np.mean(narrower) < 0.75, "narrower than for different deals"


class Interrupting(Agent):
    """Plays the first legal move until the user presses Ctrl-C."""

    name = "interrupting"

    def __init__(self, after):
        self.left, self.asked = after, 0

    def act(self, view):
        self.left -= len(view)
        self.asked += len(view)
        if self.left < 0:
            raise KeyboardInterrupt
        return view.action_masks.argmax(1)


def test_an_interrupted_comparison_keeps_what_both_have_played(monkeypatch):
    monkeypatch.setattr(tournament, "DEALS_IN_BATCH", 5)
    agent, told = Interrupting(10**9), []
    whole = compare("random", agent, "random", 2, deals=20, seed=1, progress=lambda *numbers: told.append(numbers))
    assert told == [(10 * i, 80) for i in range(1, 9)]
    part = compare("random", Interrupting(agent.asked - 1), "random", 2, deals=20, seed=1)
    assert (part.interrupted, part.deals) == (True, 15)
    assert np.array_equal(part.outcomes["score"], whole.outcomes["score"][:, :15])
    with pytest.raises(KeyboardInterrupt):
        compare("random", Interrupting(3), "random", 2, deals=20, seed=1)


@pytest.mark.parametrize(
    ("against", "settings", "message"),
    [
        (["random"] * 3, {}, "there are 3 agents for the other seats; there must be 1, for all of them, or 2"),
        ([], {}, "there are 0 agents for the other seats"),
        ("gready", {}, "there is no agent 'gready'"),
        ("random", {"deals": 1}, "deals is 1; it must be an integer of at least 2"),
        ("random", {"seed": -1}, "seed is -1; it must be an integer of at least 0"),
    ],
)
def test_bad_input_is_named(against, settings, message):
    with pytest.raises(ValueError, match=message):
        compare("random", "greedy", against, **settings)


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, str(ROOT / "train" / "evaluate.py"), *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def test_the_command_prints_and_writes(tmp_path):
    arguments = ("greedy", "random", "--against", "random", "--deals", 6, "--seed", 1, "--out", tmp_path / "out")
    result = command(*arguments)
    assert result.returncode == 0, result.stderr
    found = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert found == json.loads(json.dumps(compare("greedy", "random", "random", deals=6, seed=1).to_json()))
    mean, low, high = found["difference"]["win_share"]
    assert f"{mean:+.3f} ({low:+.3f} to {high:+.3f})" in result.stdout
    again = command(*arguments)
    assert again.returncode == 1
    assert "holds results already; use --force" in again.stderr
    result = command("greedy", "random", "heuristic", "--against", "random")
    assert (result.returncode, result.stderr) == (1, "train/evaluate.py: --against compares 2 agents; 3 are named\n")
