"""``katz play`` in a pseudo-terminal."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from full_disk import fill, small_file_system

from katz_env.core.game_records import parse_line, verify

pty = pytest.importorskip("pty", reason="pseudo-terminals are a thing of Unix")
PATIENCE = 300  # seconds after which a silent program is given up; a first start compiles


_IN_A_TERMINAL = """
import fcntl, signal, sys, termios
signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs the tests in the background may ignore signals
signal.signal(signal.SIGHUP, signal.SIG_DFL)
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C reaches this process
from katz_env.cli import main
main()
"""


class Terminal:
    """``katz play`` in a terminal of its own."""

    def __init__(self, *arguments: object, columns: int = 120) -> None:
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", _IN_A_TERMINAL, "play", *map(str, arguments)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env={**os.environ, "TERM": "dumb", "COLUMNS": str(columns), "LINES": "50"},
        )
        os.close(slave)
        self.shown = ""

    def until(self, *expected: str) -> str:
        """What is shown until one of the texts appears."""
        start = len(self.shown)
        while not any(text in self.shown[start:] for text in expected):
            assert self._read(), f"expected one of {expected}; the program ended after:\n{self.shown}"
        return self.shown[start:]

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def answer(self, text: str, *expected: str) -> str:
        """Wait for the prompt, type a line, and give what is shown until one of the texts appears."""
        self.type(text + "\n")
        return self.until(*(expected or ("q quit): ",)))

    def end(self) -> tuple[int, str]:
        """Wait until the program ends; its exit code and all that it showed."""
        while self._read():
            pass
        os.close(self.master)
        return self.process.wait(PATIENCE), self.shown

    def _read(self) -> bool:
        ready, _, _ = select.select([self.master], [], [], PATIENCE)
        if not ready:
            self.process.kill()
            self.process.wait()
        assert ready, f"nothing more came after:\n{self.shown}"
        try:
            data = os.read(self.master, 65536)
        except OSError:  # the other side is closed
            return False
        self.shown += data.decode(errors="replace").replace("\r\n", "\n")
        return bool(data)


def katz_replay(file: Path) -> str:
    command = [sys.executable, "-m", "katz_env.cli", "replay", file]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_whole_game_in_a_terminal(tmp_path):
    file = tmp_path / "games.jsonl"
    terminal = Terminal("--opponents", "heuristic", "greedy", "--seat", 2, "--seed", 3, "--advisor", "greedy", "--out", file)
    first = terminal.until("q quit): ")
    assert "You sit in seat 2; player_0 is heuristic, player_1 is greedy. greedy gives advice." in first
    assert "bids of different values" in first
    assert "there is nothing to take back" in terminal.answer("u")
    assert "'3 x 2' is not a move here" in terminal.answer("3 x 2")
    assert re.search(r"greedy would play \d+: \w+", terminal.answer("?"))
    assert "you bid 2d" in terminal.answer("2D")
    undone = terminal.answer("u")
    assert "your last move is taken back" in undone
    assert first.partition("\n\n")[2].strip() in undone  # the same news, table and moves as at first
    shown = ""
    while "is saved in" not in shown:
        shown = terminal.answer("1", "q quit): ", "is saved in")
    code, shown = terminal.end()
    assert code == 0
    assert "Traceback" not in shown
    record = parse_line(file.read_text())
    assert verify(record) == len(record["moves"])
    table = shown[shown.rindex("score  mice") :]
    for seat, name in enumerate(("player_0 (heuristic)", "player_1 (greedy)", "you")):
        numbers = re.search(rf"^{re.escape(name)} +(-?\d+) +(\d+) +(\d+)", table, re.MULTILINE)
        assert numbers
        assert [int(numbers[1]), int(numbers[3])] == [record["scores"][seat], record["jokers"][seat]]
    assert katz_replay(file) == f"1 games, {len(record['moves'])} moves: all right\n"


def test_quitting_by_q_by_end_of_file_and_by_interrupt_saves_what_was_played(tmp_path):
    file = tmp_path / "games.jsonl"
    # Return after Ctrl-C: a signal in the moment before Python begins to wait for a line is noticed only when the line comes.
    for number, (keys, code) in enumerate([("q\n", 0), ("\x04", 0), ("\x03\n", 130)], start=1):
        terminal = Terminal("--opponents", "greedy", "--seed", number, "--out", file)
        terminal.until("q quit): ")
        terminal.answer("1")
        terminal.type(keys)
        ended, shown = terminal.end()
        assert ended == code
        assert f"the unfinished game is saved in {file}" in shown
        assert "Traceback" not in shown
        assert len(file.read_text().splitlines()) == number
        assert json.loads(file.read_text().splitlines()[-1])["end"] == "unfinished"
    assert re.fullmatch(r"3 games, \d+ moves: all right \(3 unfinished\)\n", katz_replay(file))


@pytest.mark.parametrize("stop", [signal.SIGHUP, signal.SIGTERM, None], ids=["SIGHUP", "SIGTERM", "the terminal is closed"])
def test_a_game_is_saved_when_the_terminal_is_closed_or_the_process_is_told_to_end(stop, tmp_path):
    file = tmp_path / "games.jsonl"
    terminal = Terminal("--opponents", "greedy", "--seed", 21, "--out", file)
    terminal.until("q quit): ")
    terminal.answer("1")
    if stop is None:
        os.close(terminal.master)  # the kernel sends SIGHUP, and there is nothing to read and nowhere to write any more
    else:
        terminal.process.send_signal(stop)
    code = terminal.process.wait(PATIENCE)
    assert code == 128 + (stop or signal.SIGHUP)
    record = parse_line(file.read_text())
    assert (record["end"], len(record["moves"]) > 0) == ("unfinished", True)
    verify(record)
    if stop is not None:
        assert "Traceback" not in terminal.end()[1]


def test_a_game_that_cannot_be_saved_is_printed(tmp_path):
    with small_file_system(tmp_path):
        file, filler = tmp_path / "games.jsonl", tmp_path / "filler"
        terminal = Terminal("--opponents", "greedy", "--seed", 3, "--out", file)
        terminal.until("q quit): ")
        terminal.answer("1")
        fill(filler)
        terminal.type("q\n")
        code, shown = terminal.end()
        assert code == 1
        assert f"katz: cannot write {file}: No space left on device; the record of the game is printed instead" in shown
        record = parse_line(re.search(r"^\{.*\}$", shown, re.MULTILINE)[0])
        assert verify(record) == len(record["moves"]) > 0
        filler.unlink()
        assert not file.exists() or file.read_text() == ""


@pytest.mark.parametrize("columns", [0, 20])
def test_every_move_can_be_read_in_a_narrow_terminal_and_where_the_width_is_not_known(columns, tmp_path):
    terminal = Terminal("--opponents", "greedy", "--seed", 3, "--out", tmp_path / "games.jsonl", columns=columns)
    shown = terminal.until("quit): ", "quit):\n")
    for move in (" 1 pass", "10 2x1", "14 3x2", "15 3x5"):
        assert move in shown
    assert "…" not in shown
    terminal.type("q\n")
    assert terminal.end()[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--opponents", "gready"), "there is no agent 'gready'"),
        (("--advisor", "gready"), "there is no agent 'gready'"),
        (("--opponents", "greedy", "greedy", "greedy"), "there are 3 opponents; 3 players need one for all or 2"),
        (("--seat", "3"), "seat is 3; it must be an integer from 0 to 2"),
        (("--num-players", "7"), "num_players is 7; it must be an integer from 2 to 6"),
        (("--seed", "-1"), "--seed is -1; it must be at least 0"),
        (("--out", "no/such/folder.jsonl"), "cannot write no/such/folder.jsonl: No such file or directory"),
    ],
)
def test_bad_settings_are_refused_in_one_line(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, "-m", "katz_env.cli", "play", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert result.returncode == 1
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
