"""The commands of ``katz`` for a game that brings nothing for them: no screen, no picture and no agent of its own."""

from __future__ import annotations

import json

import numpy as np
import pytest
from rich.console import Console

from katz_env import make_agent, make_game
from katz_env.core.game_records import verify
from katz_env.play.dialogue import Dialogue
from katz_env.play.screen import Screen
from katz_env.play.session import Session

GAME = "kuhn_poker"


def test_games_are_played_out_replayed_and_drawn(tmp_path, katz_here):
    file, page, picture = (tmp_path / name for name in ("games.jsonl", "page.html", "position.svg"))
    code, lines, _ = katz_here("play-out", "--game", GAME, "--games", 3, "--out", file)
    assert (code, lines) == (0, [f"3 games written to {file}"])
    records = [json.loads(line) for line in file.read_text().splitlines()]
    assert {record["game"] for record in records} == {GAME}
    assert {agent for record in records for agent in record["agents"]} == {"random"}  # greedy does not play it
    moves = sum(len(record["moves"]) for record in records)
    code, lines, _ = katz_here("replay", file, "--game", GAME, "--html", page, "--agent", "random")
    assert (code, lines) == (0, [f"3 games, {moves} moves: all right", f"{page} written"])
    assert katz_here("draw", file, "--moves", 1, "--seat", 0, "--out", picture)[0] == 0
    assert picture.read_text().startswith("<svg")


def test_a_person_plays_it_with_a_list_of_moves_and_the_news_in_words(monkeypatch, capsys):
    game = make_game(GAME)
    session = Session(game, [make_agent("random")], None, np.random.default_rng(0))
    dialogue = Dialogue(session, make_agent("random"), Console(highlight=False))
    assert type(dialogue.screen) is Screen
    answers = iter(["?", "h", "", "nonsense", *["1"] * 10])
    monkeypatch.setattr("builtins.input", lambda: next(answers))
    dialogue.run()
    assert session.over
    shown = " ".join(capsys.readouterr().out.split())
    assert "random would play " in shown
    assert "'nonsense' is not a move here; type a number from 1 to 2 or a name such as " in shown
    assert "you got " in shown
    assert f"player_{1 - session.seat} got Q" not in shown
    assert " win" in shown
    assert verify(json.loads(json.dumps(session.record()))) == len(session.record()["moves"])


def test_an_agent_that_does_not_play_the_game_says_so(tmp_path, katz_here):
    code, _, errors = katz_here("play", "--game", GAME, "--opponents", "heuristic", "--out", tmp_path / "played.jsonl")
    assert code == 1
    assert errors[-1].startswith("katz: heuristic plays katzenjammer, katz_und_maus and meow, not kuhn_poker")


def test_settings_that_the_game_does_not_have_are_refused(tmp_path, katz_here):
    code, _, errors = katz_here("play-out", "--game", GAME, "--rules", "mice=3", "--out", tmp_path / "games.jsonl")
    assert (code, len(errors)) == (1, 1)
    assert f"the game '{GAME}': " in errors[0]
    assert errors[0].endswith("; its settings are num_players")
    code, _, errors = katz_here("play-out", "--game", GAME, "--num-players", 3, "--out", tmp_path / "games.jsonl")
    assert (code, errors) == (1, ["katz: num_players is 3; it must be 2"])


def test_a_screen_that_cannot_be_loaded_is_named(monkeypatch):
    game = make_game(GAME)
    for path in ("no_such_module:Screen", "katz_env.play.screen:NoScreen", "nonsense path"):
        monkeypatch.setattr(type(game), "screen_path", path)
        session = Session(game, [make_agent("random")], 0, np.random.default_rng(0))
        with pytest.raises(ValueError, match=f"the screen '{path}' of the game 'kuhn_poker' cannot be loaded: "):
            Dialogue(session, make_agent("random"), Console())


def test_bench_measures_the_numbers_of_players_that_can_play_it(katz_here):
    code, lines, errors = katz_here("bench", "--game", GAME, "--num-tables", 8, "--seconds", 0.01, "--repeats", 1)
    assert (code, errors) == (0, [])
    rows = [line for line in lines if line.startswith("│")]
    assert len(rows) == 1  # two players and no other number
    assert rows[0].split()[1] == "2"
    shown = " ".join(lines)
    assert "PettingZoo loop, 2 players" in shown
    assert "against random" in shown
    assert "greedy" not in shown
