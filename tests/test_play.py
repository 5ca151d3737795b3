"""A person against agents: the session, what is understood and answered, and the file."""

from __future__ import annotations

import io
import json
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from random_play import random_positions
from rich.console import Console

from katz_env import Agent, Game, Katzenjammer, Tables, make_agent
from katz_env.core.game_records import append_record, verify
from katz_env.games.katzenjammer.terminal import KatzenjammerScreen
from katz_env.play.dialogue import Dialogue
from katz_env.play.screen import Move, Screen
from katz_env.play.session import PERSON, Session


def new_session(seed=1, players=3, opponents=("greedy",), seat=None) -> Session:
    agents = [make_agent(name) for name in opponents]
    session = Session(Katzenjammer(players), agents, seat, np.random.default_rng(seed))
    session.start()
    return session


def first_legal(session: Session) -> int:
    return int(np.flatnonzero(session.mask)[0])


def listed(session: Session) -> list[Move]:
    return [move for group in KatzenjammerScreen(session).groups().values() for move in group]


# --- the session


@pytest.mark.parametrize("opponents", [("random",), ("greedy", "random")])
def test_a_game_to_its_end_is_a_valid_record(opponents):
    session = new_session(opponents=opponents, seat=1)
    while not session.over:
        assert session.table["turn"] == 1
        assert session.news
        session.play(first_legal(session))
    record = json.loads(json.dumps(session.record()))
    assert verify(record) == len(record["moves"])
    assert record["agents"] == [opponents[-1], PERSON, opponents[0]]  # clockwise from the left neighbour
    assert record["scores"] == session.results["score"]


def test_the_same_seed_is_the_same_game():
    def game(seed):
        session = new_session(seed, opponents=("random",))
        while not session.over:
            session.play(first_legal(session))
        return session.record()

    assert game(5) == game(5)
    assert game(5) != game(6)


def test_the_seat_is_drawn_unless_it_is_given():
    assert {new_session(seed, players=3).seat for seed in range(20)} == {0, 1, 2}
    assert {new_session(seed, players=3, seat=2).seat for seed in range(5)} == {2}


def test_after_undo_the_same_moves_have_the_same_answers():
    session = new_session(opponents=("random",))
    path = []
    while not session.over:
        path.append((session.table.copy(), list(session.news), first_legal(session)))
        session.play(path[-1][2])
    record = session.record()
    for table, news, _ in reversed(path):
        assert session.undo()
        assert session.table == table
        assert session.news == news
    assert not session.undo()
    for _, _, action in path:
        session.play(action)
    assert session.record() == record


def test_the_person_is_shown_nothing_hidden():
    session = new_session(opponents=("random",))
    others = [seat for seat in range(3) if seat != session.seat]
    while not session.over:
        assert (session.table["deal"] == -1).all()
        assert not session.table["hand"][others].any()
        assert session.table["rng"] == 0
        session.play(first_legal(session))


class Spy(Agent):
    name = "spy"

    def act(self, view):
        self.view = view
        return np.array([view.rng.choice(np.flatnonzero(view.action_masks[0]))])


def test_advice_comes_from_what_the_person_sees_and_stays_the_same_and_changes_nothing():
    session, undisturbed, spy = new_session(opponents=("random",)), new_session(opponents=("random",)), Spy()
    given = []
    while not session.over:
        given.append(session.advice(spy))
        assert session.mask[given[-1]]
        assert session.advice(spy) == given[-1]
        assert spy.view.tables[0] == session.table
        assert spy.view.seats == [session.seat]
        session.play(first_legal(session))
        undisturbed.play(first_legal(undisturbed))
    assert session.record() == undisturbed.record()
    assert len(set(given)) > 3


class Interrupted(Agent):
    name = "interrupted"
    patience = 10**9

    def act(self, view):
        self.patience -= 1
        if self.patience < 0:
            raise KeyboardInterrupt
        return view.action_masks.argmax(1)


def test_an_interrupt_while_the_others_think_loses_only_the_move_that_was_not_finished():
    agent = Interrupted()
    session = Session(Katzenjammer(3), [agent], 0, np.random.default_rng(1))
    session.start()
    session.play(first_legal(session))
    before, agent.patience = session.record(), 1
    with pytest.raises(KeyboardInterrupt):
        session.play(first_legal(session))
    assert session.record() == before
    assert before["end"] == "unfinished"
    verify(before)


# --- what is understood


@dataclass
class Position:
    """What a screen needs of a session."""

    game: Game
    table: Any
    mask: Any
    seat: int = 0


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("kind", [KatzenjammerScreen, Screen])
def test_every_legal_move_is_listed_once_and_understood_by_number_and_by_name(players, kind):
    game, titles = Katzenjammer(players), set()
    tables = Tables(game, 1, autoreset=False)
    for record in random_positions(game, 8, 40):
        tables.restore(record)
        screen = kind(Position(game, record, tables.action_masks[0]))
        groups = screen.groups()
        moves = [move for group in groups.values() for move in group]
        assert [move.number for move in moves] == list(range(1, len(moves) + 1))
        assert sorted(move.action for move in moves) == np.flatnonzero(tables.action_masks[0]).tolist()
        for move in moves:
            assert screen.find(f" {move.number} ", moves) is move
            verb, _, cards = move.name.partition(" ")
            assert screen.find(f"{verb.upper()}  {cards.lower()}", moves) is move
            if cards and "=" not in cards and kind is KatzenjammerScreen:
                assert screen.find(f"{verb} {cards[::-1]}", moves) is move
        titles |= set(groups)
    expected = {"pass", "bids of different values", "bids of one value", "payments", "foursomes"}
    assert titles == (expected if kind is KatzenjammerScreen else {""})


def printed(what, width: int) -> str:
    console = Console(width=width, height=50, highlight=False, file=io.StringIO())
    console.print(what)
    return console.file.getvalue()


@pytest.mark.parametrize("kind", [KatzenjammerScreen, Screen])
@pytest.mark.parametrize("width", [8, 20, 40, 80, 200])
def test_nothing_is_cut_off_however_narrow_the_terminal_is(kind, width):
    session = new_session(seed=3, players=4, opponents=("greedy", "random", "greedy"))
    screen = kind(session)
    wide = [printed(screen.table(), 500), printed(screen.moves(screen.groups()), 500)]
    for number, what in enumerate((screen.table(), screen.moves(screen.groups()))):
        shown = printed(what, width)
        assert max(map(len, shown.splitlines())) <= width
        assert "…" not in shown
        for word in wide[number].split():
            assert word in "".join(shown.split()) or word == "player"  # a heading that paragraphs do without
        if number == 1:
            assert sorted(shown.split()) == sorted(wide[number].split()) or width == 8
    while not session.over:
        session.play(first_legal(session))
    assert sorted(printed(screen.winners(), width).split()) == sorted(printed(screen.winners(), 500).split())


NONSENSE = ["0", "-1", "99", "1.5", "³", "x", "3x", "x3", "0x3", "3x0", "3x9", "99x5", "1d", "9d", "pay", "pay 99", "four",
            "[/]", "[bold]", "3x2 3x3", "\\", "'", "%s", "{}", "é" * 500, "\x1b[A", "\x00",
            "pay \ud800", "9" * 5000]  # fmt: skip


def test_nonsense_is_answered_with_a_hint_of_one_line():
    for seed in range(3):
        session = new_session(seed, opponents=("random",))
        while not session.over:
            moves = listed(session)
            for text in NONSENSE:
                if not KatzenjammerScreen(session).find(text, moves):
                    answer = KatzenjammerScreen(session).hint(text, moves)
                    assert f"type a number from 1 to {len(moves)} or a name such as " in answer
                    assert "\n" not in answer
                    assert len(answer) < 160
            session.play(moves[-1].action)


def test_hints_say_why_a_bid_is_impossible():
    sessions = (new_session(seed, opponents=("greedy",)) for seed in range(100))
    session = next(session for session in sessions if session.table["bid"] > 1)
    highest = session.game.actions.name(int(session.table["bid"]))
    moves = listed(session)
    hint = KatzenjammerScreen(session).hint
    assert hint("1x1", moves).startswith(f"1x1 is not higher than {highest}; ")
    assert hint("9x5", moves).startswith("your hand cannot pay 9x5; ")


def test_the_dialogue_survives_markup_and_endless_nonsense(monkeypatch, capsys):
    answers = iter([*(text for text in NONSENSE if text.isprintable()), "?", "h", "", "t", "u", "q"])
    session = Session(Katzenjammer(3), [make_agent("greedy")], None, np.random.default_rng(0))
    monkeypatch.setattr("builtins.input", lambda: next(answers))
    Dialogue(session, make_agent("heuristic"), Console(highlight=False)).run()
    shown = capsys.readouterr().out
    assert "heuristic would play " in shown
    assert "'[/]' is not a move here" in shown
    assert "there is nothing to take back" in shown


class Cheat(Agent):
    name = "cheat"

    def act(self, view):
        return np.array([255])


def test_an_advisor_that_chooses_no_legal_move_gives_no_advice(monkeypatch, capsys):
    answers = iter(["?", "q"])
    session = Session(Katzenjammer(3), [make_agent("greedy")], None, np.random.default_rng(0))
    monkeypatch.setattr("builtins.input", lambda: next(answers))
    Dialogue(session, Cheat(), Console(highlight=False)).run()
    assert "there is no advice: cheat chose [255], which is not one legal action" in " ".join(capsys.readouterr().out.split())


class Refuses(Agent):
    name = "refuses"

    def act(self, view):
        raise ValueError("I play another game")


def test_an_advisor_that_cannot_play_does_not_end_the_game(monkeypatch, capsys):
    answers = iter(["?", "1", "q"])
    session = Session(Katzenjammer(3), [make_agent("greedy")], None, np.random.default_rng(0))
    monkeypatch.setattr("builtins.input", lambda: next(answers))
    Dialogue(session, Refuses(), Console(highlight=False)).run()
    assert "there is no advice: I play another game" in capsys.readouterr().out
    assert next(answers, None) is None


# --- the file


def test_records_are_added_to_a_file_and_never_to_another_kind_of_file(tmp_path):
    file, text = tmp_path / "games.jsonl", tmp_path / "notes.txt"
    append_record(file, None)
    assert not file.exists()
    record = new_session().record()
    append_record(file, record)
    file.write_text(file.read_text().strip())  # without the end of its last line
    append_record(file, record)
    assert [json.loads(line) for line in file.read_text().splitlines()] == [record, record]
    for content in ("shopping list\n", "[1]\n", '{"a": 1}\n'):
        text.write_text(content)
        with pytest.raises(ValueError, match=r"notes.txt is not a file of game records .*; name another one"):
            append_record(text, record)
        assert text.read_text() == content


def test_a_file_that_was_empty_is_kept_and_what_is_no_file_is_left_alone(tmp_path):
    empty, pipe = tmp_path / "empty.jsonl", tmp_path / "pipe"
    empty.touch(0o600)
    append_record(empty, None)
    assert empty.stat().st_mode & 0o777 == 0o600
    os.mkfifo(pipe)
    link = tmp_path / "device"
    link.symlink_to("/dev/full")  # which has no end when it is read
    for path in (pipe, link):
        for record in (None, {"game": "katzenjammer"}):
            with pytest.raises(ValueError, match="cannot write .*: it is not a regular file; name another one"):
                append_record(path, record)
        assert path.exists()
