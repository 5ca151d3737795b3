"""Tournaments: the numbers are those worked out by hand, the same seed gives the same results, bad input is named."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from katz_agents import tournament
from katz_agents.intervals import mean_interval, share_interval
from katz_agents.tournament import Results, evaluate, line_ups
from katz_env import Agent, make_agent
from katz_env.core.game_records import verify

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "train"))

from katz_train.tournament_pictures import draw_pairs, draw_ratings  # noqa: E402


def made_up_results() -> Results:
    """Three players A, B, C in two-player games: line-ups AB and AC, two deals, both rotations.

    Win shares of the first agent of a line-up: AB deal 0: 1 and 1, deal 1: 1 and 0; AC deal 0: 0 and 1/2, deal 1: 0 and 0.
    """
    first = np.array([[[1, 1], [1, 0]], [[0, 0.5], [0, 0]]], float)
    shares = np.stack([first, 1 - first], -1)
    scores = 10 * shares
    outcomes = {"win_share": shares, "score": scores, "mice": scores + 1, "jokers": np.ones_like(scores)}
    return Results(["A", "B", "C"], 2, 0, 2, [(0, 1), (0, 2)], outcomes, [8, 4, 4], [2.0, 1.0, 1.0], [1, 1, 1])


def test_shares_by_hand():
    results = made_up_results()
    # A: deal 0 (1 + 1 + 0 + 1/2) / 4, deal 1 (1 + 0 + 0 + 0) / 4
    assert results.per_deal("win_share", 0).tolist() == [0.625, 0.25]
    assert results.mean("win_share", 0)[0] == pytest.approx(0.4375)
    assert results.mean("win_share", 1)[0] == pytest.approx(0.25)
    assert results.mean("win_share", 2)[0] == pytest.approx(0.875)
    assert results.mean("score", 2)[0] == pytest.approx(8.75)
    assert results.mean("mice", 1)[0] == pytest.approx(3.5)
    assert results.mean("jokers", 0) == (1, 1, 1)


def test_intervals_are_those_over_deals():
    results = made_up_results()
    # two line-ups and two rotations: A has four games in a deal, of which it wins 2.5 and 1; B has two, and wins 0 and 1
    assert results.mean("win_share", 0) == share_interval(np.array([2.5, 1]), np.array([4, 4]))
    assert results.mean("win_share", 1) == share_interval(np.array([0, 1]), np.array([2, 2]))
    assert results.mean("score", 1) == mean_interval(np.array([0, 5]))


def test_pairs_by_hand():
    results = made_up_results()
    assert results.pair(0, 1)[0] == pytest.approx(3 / 4)
    assert results.pair(1, 0)[0] == pytest.approx(1 / 4)
    assert results.pair(0, 2)[0] == pytest.approx(0.5 / 4)
    assert np.isnan(results.pair(1, 2)[0]), "they never met"
    # A against B: deal 0 gives 2 of 2 wins, deal 1 gives 1 of 2
    assert results.pair(0, 1) == share_interval(np.array([2, 1]), np.array([2, 2]))


def test_a_player_with_two_places_counts_once_a_place():
    shares = np.array([[[[1, 0, 0], [0, 1, 0]]]], float)  # line-up A B B, one deal, two rotations
    results = Results(["A", "B"], 3, 0, 1, [(0, 1, 1)], {"win_share": shares}, [1, 1], [1, 1], [1, 1])
    assert results.mean("win_share", 0)[0] == pytest.approx(0.5)
    assert results.mean("win_share", 1)[0] == pytest.approx(0.25)
    assert results.pair(0, 1)[0] == pytest.approx(1 / 1.5)


def test_ratings_follow_the_results():
    ratings = made_up_results().ratings()
    assert ratings[2][0] > ratings[0][0] > ratings[1][0]
    assert all(sigma > 0 for _, sigma in ratings)


def test_line_ups():
    rng = np.random.default_rng(0)
    assert line_ups(4, 3, 100, rng) == [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]
    drawn = line_ups(10, 3, 7, rng)
    assert len(set(drawn)) == 7
    assert all(len(set(line_up)) == 3 for line_up in drawn)


def test_all_line_ups_play_the_same_deals_in_all_rotations():
    results = evaluate(["greedy", "random", "random"], 3, deals=30, seed=5, keep_games=True)
    assert results.names == ["greedy", "random"]
    assert results.line_ups == [(0, 1, 1)]
    assert len(results.games) == 90
    decks = [game["deck"] for game in results.games]
    assert len(set(decks)) == 30
    for first in range(0, 90, 3):
        assert len(set(decks[first : first + 3])) == 1
        assert {game["agents"].index("greedy") for game in results.games[first : first + 3]} == {0, 1, 2}
    for game in results.games:
        verify(game)
    greedy = [game["scores"][game["agents"].index("greedy")] for game in results.games]
    assert results.mean("score", 0)[0] == pytest.approx(np.mean(greedy))
    assert results.mean("win_share", 0)[0] + 2 * results.mean("win_share", 1)[0] == pytest.approx(1)


def comparable(results: Results) -> str:
    found = results.to_json()
    for player in found["players"]:
        del player["milliseconds_per_decision"]
    return json.dumps(found)


def test_the_same_seed_gives_the_same_results_for_any_number_of_threads():
    def play(threads):
        agents = ["random", "greedy", f"search:playouts=20,worlds=5,num_threads={threads}"]
        return comparable(evaluate(agents, 3, deals=4, seed=2)).replace(f"num_threads={threads}", "")

    assert play(1) == play(2) == play(3)


def test_another_seed_gives_other_results():
    assert comparable(evaluate(["random"] * 2, 2, deals=20, seed=1)) != comparable(
        evaluate(["random"] * 2, 2, deals=20, seed=2)
    )


class Interrupting(Agent):
    """Plays at random until the user presses Ctrl-C."""

    name = "interrupting"

    def __init__(self, after):
        self.agent, self.left = make_agent("random"), after

    def act(self, view):
        self.left -= len(view)
        if self.left < 0:
            raise KeyboardInterrupt
        return self.agent.act(view)


def test_an_interrupted_tournament_reports_the_finished_deals(monkeypatch):
    monkeypatch.setattr(tournament, "DEALS_IN_BATCH", 5)
    whole = evaluate([Interrupting(10**9), "random"], 2, deals=20, seed=1)
    part = evaluate([Interrupting(whole.decisions[0] - 1), "random"], 2, deals=20, seed=1)
    assert part.interrupted
    assert part.deals == 15
    assert np.array_equal(part.outcomes["score"], whole.outcomes["score"][:, :15])
    with pytest.raises(KeyboardInterrupt):
        evaluate([Interrupting(3), "random"], 2, deals=20, seed=1)


@pytest.mark.parametrize(
    ("agents", "settings", "message"),
    [
        (["greedy"], {}, "there is 1 agent; 3 players need at least 3"),
        (["greedy", "random"], {}, "there are 2 agents; 3 players need at least 3"),
        (["greedy"] * 3, {"deals": 1}, "deals is 1; it must be an integer of at least 2"),
        (["greedy"] * 3, {"seed": -1}, "seed is -1; it must be an integer of at least 0"),
        (["greedy"] * 3, {"max_line_ups": 0}, "max_line_ups is 0; it must be an integer of at least 1"),
        (["greedy"] * 8, {"num_players": 8}, "num_players is 8; it must be an integer from 2 to 6"),
        (["greedy", "random", "gready"], {}, "there is no agent 'gready'"),
        (["greedy", "random", "search:playouts=0"], {}, "playouts is 0; it must be an integer from 1"),
        (["greedy", "random", "search:depth=2"], {}, "agent 'search:depth=2'.*depth"),
        (["greedy", "random", "policy:no.npz"], {}, "cannot read the policy no.npz: No such file"),
        (["greedy", "random", "policy"], {}, "a policy needs its file"),
    ],
)
def test_bad_input_is_named(agents, settings, message):
    with pytest.raises(ValueError, match=message):
        evaluate(agents, **settings)


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, str(ROOT / "train" / "evaluate.py"), *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def test_the_command_prints_and_writes(tmp_path):
    arguments = ("random", "greedy", "random", "--deals", 6, "--seed", 1, "--out", tmp_path / "out")
    result = command(*arguments)
    assert result.returncode == 0, result.stderr
    assert "greedy" in result.stdout
    found = json.loads((tmp_path / "out" / "results.json").read_text())
    assert found["games"] == 18
    assert [player["name"] for player in found["players"]] == ["random", "greedy"]
    games = (tmp_path / "out" / "games.jsonl").read_text().splitlines()
    assert len(games) == 18
    assert verify(json.loads(games[0])) > 0
    table = (tmp_path / "out" / "standings.md").read_text(encoding="utf-8")
    for player in found["players"]:
        share, low, high = player["win_share"]
        assert f"| {player['name']} | {share:.3f} ({low:.3f} to {high:.3f}) |" in table
    for picture in ("ratings.png", "pairs.png"):
        assert (tmp_path / "out" / picture).read_bytes().startswith(b"\x89PNG")
    again = command(*arguments)
    assert again.returncode == 1
    assert "holds results already; use --force" in again.stderr


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("draw", [draw_pairs, draw_ratings])
def test_pictures_have_room_for_the_path_of_a_policy(draw, tmp_path):
    long = dataclasses.replace(made_up_results(), names=["A", f"policy:file={'folder/' * 20}policy.npz", "C"])
    draw(made_up_results(), tmp_path / "short.png")
    draw(long, tmp_path / "long.png")
    assert (tmp_path / "long.png").read_bytes() != (tmp_path / "short.png").read_bytes()


def test_the_command_answers_bad_input_in_one_line():
    result = command("random", "greedy")
    assert result.returncode == 1
    assert result.stderr.strip().splitlines()[-1] == "train/evaluate.py: there are 2 agents; 3 players need at least 3"
    assert "Traceback" not in result.stderr


def test_numbers_out_of_range_are_called_as_on_the_command_line():
    result = command("random", "greedy", "random", "--deals", 0)
    assert (result.returncode, result.stderr) == (1, "train/evaluate.py: --deals is 0; it must be at least 2\n")


def test_a_folder_that_cannot_be_written_is_named_before_the_games(tmp_path):
    (tmp_path / "file").touch()
    for out in (tmp_path / "file", tmp_path / "file" / "deeper"):
        result = command("random", "greedy", "random", "--out", out)
        assert result.returncode == 1
        assert result.stderr == f"train/evaluate.py: cannot write into {out}: {tmp_path / 'file'} is not a folder\n"
