"""Game records and the command katz: what is written replays, and every difference is named with its line and move."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from katz_env import Katzenjammer, make_agent
from katz_env.core.game_records import RecordError, parse_line, play_out, verify
from katz_env.core.replay_page import Page

RECORDED = Path(__file__).parent / "data" / "games.jsonl"


def katz(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "katz_env.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def record() -> dict:
    (record,) = play_out(Katzenjammer(num_players=3), [make_agent("greedy")], 1, np.random.default_rng(5))
    return record


@pytest.mark.parametrize("rules", [{}, {"num_players": 2, "values": 2, "copies": 3, "hand_size": 2, "set_size": 2}])
def test_what_is_played_out_replays(rules):
    game = Katzenjammer(**rules)
    records = list(play_out(game, [make_agent("random")], 40, np.random.default_rng(1)))
    assert len(records) == 40
    for record in records:
        assert verify(json.loads(json.dumps(record))) == len(record["moves"])


def test_agents_change_seats_every_game():
    agents = [make_agent("greedy"), make_agent("random"), make_agent("random")]
    records = play_out(Katzenjammer(num_players=3), agents, 4, np.random.default_rng(1), first_game=1)
    assert [record["agents"].index("greedy") for record in records] == [2, 1, 0, 2]


def test_play_out_is_reproducible():
    agents = [make_agent("greedy"), make_agent("random")]
    first, second = (list(play_out(Katzenjammer(2), agents, 10, np.random.default_rng(3))) for _ in range(2))
    assert first == second


def changed(record, **changes):
    return {**record, **changes}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: {"moves": ["3x9", *r["moves"][1:]]}, r"move 1: expected a legal move of seat \d \(pass.*got '3x9'"),
        (lambda r: {"moves": [*r["moves"][:-1], 7]}, r"move \d+: expected a legal move .*, got 7"),
        (lambda r: {"moves": r["moves"][:-1]}, r"move \d+: expected a move of seat \d, got the end of the record"),
        (lambda r: {"moves": [*r["moves"], "pass"]}, r"move \d+: expected the end of the game, got 'pass'"),
        (lambda r: {"moves": "pass"}, r"'moves' is 'pass'; it must be a list"),
        (lambda r: {"scores": [99, *r["scores"][1:]]}, r"after move \d+: expected scores \[.*, got \[99"),
        (lambda r: {"winners": [0, 1, 2]}, r"after move \d+: expected winners"),
        (lambda r: {"jokers": None}, r"after move \d+: expected jokers .*, got None"),
        (
            lambda r: {"end": "tea"},
            r"after move \d+: expected end '(deck|mice)', got 'tea'",
        ),
        (lambda r: {"game": "whist"}, "there is no game 'whist'; installed are .*katzenjammer"),
        (lambda r: {"players": 9}, "num_players is 9; it must be an integer from 2 to 6"),
        (lambda r: {"players": "three"}, "num_players is 'three'"),
        (lambda r: {"bandleader": 3}, "'bandleader' is 3; it must be a seat from 0 to 2"),
        (lambda r: {"deck": r["deck"][:-1]}, "the deck has 89 cards; it must have 90"),
        (lambda r: {"deck": "X" + r["deck"][1:]}, "the deck has a card 'X'"),
        (lambda r: {"deck": 5}, "'deck' must be a string"),
        (lambda r: {"rules": {"colours": 2}}, "unexpected keyword argument 'colours'"),
        (lambda r: {"rules": 3}, "'rules' is 3"),
    ],
)
def test_a_difference_is_named(record, change, message):
    with pytest.raises(RecordError, match=message):
        verify(changed(record, **change(record)))


@pytest.mark.parametrize("key", ["players", "mice", "bandleader", "deck", "moves", "scores", "jokers", "winners", "end"])
def test_a_missing_key_is_named(record, key):
    with pytest.raises(RecordError, match=key):
        verify({name: value for name, value in record.items() if name != key})


def test_a_game_that_was_broken_off_says_so_and_replays(record):
    results = ("scores", "jokers", "winners")
    started = {name: value for name, value in record.items() if name not in results} | {"end": "unfinished"}
    for number in (0, 1, len(record["moves"]) - 1):
        assert verify(changed(started, moves=record["moves"][:number])) == number
    with pytest.raises(RecordError, match=r"after move \d+: expected scores .*, but there is no key 'scores'"):
        verify(started)
    with pytest.raises(RecordError, match=r"move 1: expected a legal move"):
        verify(changed(started, moves=["done"]))


def test_the_page_shows_no_results_of_a_game_that_was_broken_off(record):
    page = Page("games")
    page.add(record, "1")
    page.add(changed(record, moves=record["moves"][:3], end="unfinished"), "2")
    assert page.games[0]["results"]["score"] == record["scores"]
    assert page.games[1]["results"] is None


@pytest.mark.parametrize("key", ["game", "deck", "moves", "end", "players", "scores"])
def test_a_value_of_any_length_is_shortened_in_the_message(record, key):
    for value in ("x" * 100_000, ["x"] * 100_000, {"x" * 100_000: 1}):
        with pytest.raises(RecordError) as caught:
            verify(changed(record, **{key: value}))
        assert len(str(caught.value)) < 1000
    if key == "moves":
        with pytest.raises(RecordError) as caught:
            verify(changed(record, moves=["x" * 100_000]))
        assert len(str(caught.value)) < 1000


def test_unknown_keys_are_ignored(record):
    assert verify(changed(record, weather="fine")) == len(record["moves"])


@pytest.mark.parametrize(
    "line", ["{", "[1, 2]", "null", '{"game": "katzenjammer"', "\x00", "[" * 100_000, '{"a": ' + "9" * 5000 + "}"]
)
def test_a_broken_line_is_named(line):
    with pytest.raises(RecordError, match=r"not JSON|not a record|a record must be a JSON object"):
        parse_line(line)


def test_command_replays_the_recorded_games():
    result = katz("replay", RECORDED)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "69 games, 4444 moves: all right\n"


def test_command_checks_the_lines_after_a_broken_one(record, tmp_path):
    file = tmp_path / "games.jsonl"
    lines = [json.dumps(record), "{", json.dumps(changed(record, scores=[0, 0, 99])), json.dumps(record)]
    file.write_text("\n".join(lines))
    result = katz("replay", file)
    assert result.returncode == 1
    assert result.stdout.startswith("4 games")
    problems = result.stderr.splitlines()
    assert len(problems) == 2
    assert "line 2: not JSON" in problems[0]
    assert "line 3: after move" in problems[1]


def test_command_lists_the_first_few_lines_of_a_file_that_holds_no_records(tmp_path):
    file = tmp_path / "letter.txt"
    file.write_text("Dear cat,\n" * 40)
    result = katz("replay", file)
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 6
    assert result.stderr.endswith(f"{file}: and 35 more\n")
    assert result.stdout == "40 games, 0 moves replayed; 40 lines wrong\n"


def test_command_says_that_there_is_no_game_in_a_file(tmp_path):
    file = tmp_path / "empty.jsonl"
    file.write_text("\n")
    result = katz("replay", file)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"katz: there is no game in {file}\n"


def test_command_plays_out_and_refuses_to_overwrite(tmp_path):
    file = tmp_path / "games.jsonl"
    arguments = ("play-out", "--agents", "greedy", "random", "--games", 70, "--seed", 4, "--out", file)
    assert katz(*arguments).returncode == 0
    written = file.read_text()
    assert len(written.splitlines()) == 70
    refused = katz(*arguments)
    assert refused.returncode == 1
    assert refused.stderr.strip() == f"katz: {file} exists; use --force to overwrite it"
    assert katz(*arguments, "--force").returncode == 0
    assert file.read_text() == written
    assert katz("replay", file).returncode == 0


def test_a_command_that_fails_at_once_keeps_the_file_that_it_was_to_overwrite(tmp_path):
    file = tmp_path / "games.jsonl"
    file.write_text(RECORDED.read_text())
    for arguments in (("play-out", "--agents", "ppo", "--num-players", "5", "--out"), ("replay", file, "--html")):
        result = katz(*arguments, file, "--force")
        assert result.returncode == 1
        assert len(result.stderr.splitlines()) == 1
        assert file.read_text() == RECORDED.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("replay", "nowhere.jsonl"), "cannot read nowhere.jsonl: No such file or directory"),
        (("play-out", "--agents", "gready", "--out", "x.jsonl"), "there is no agent 'gready'; installed are "),
        (("play-out", "--games", "0", "--out", "x.jsonl"), "--games is 0; it must be at least 1"),
        (("play-out", "--seed", "-1", "--out", "x.jsonl"), "--seed is -1; it must be at least 0"),
        (("play-out", "--num-players", "7", "--out", "x.jsonl"), "num_players is 7; it must be an integer from 2 to 6"),
        (
            ("play-out", "--agents", "greedy", "random", "--num-players", "3", "--out", "x.jsonl"),
            "there are 2 agents; 3 players",
        ),
        (("play-out", "--out", "no/such/folder.jsonl"), "there is no folder no/such"),
        (("play-out", "--num-players", "0", "--out", "x.jsonl"), "num_players is 0; it must be an integer from 2 to 6"),
        (
            ("play-out", "--agents", "ppo", "--num-players", "5", "--out", "x.jsonl"),
            "ppo is shipped for 2, 3, 4 players; this game has 5",
        ),
        (("draw", RECORDED, "--out", "x.svg", "--moves", str(10**30)), f"--moves is {10**30}; this game has 71"),
        (("draw", RECORDED, "--out", "x.svg", "--seat", "7"), "--seat is 7; it must be from 0 to "),
        (("bench", "--num-tables", str(10**12)), "there is not enough memory"),
        (("bench", "--repeats", "0"), "--repeats is 0; it must be at least 1"),
    ],
)
def test_command_answers_bad_input_in_one_line(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = katz(*arguments)
    assert result.returncode == 1
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
