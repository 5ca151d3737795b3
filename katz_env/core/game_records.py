"""Game records: each game is a JSON object on a line of its own, which can be replayed move by move and verified."""

from __future__ import annotations

import json
import os
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np

from katz_env.core.agents import Agent
from katz_env.core.arena import Arena
from katz_env.core.game import UNFINISHED, Game
from katz_env.core.output_files import write_whole
from katz_env.core.registry import game_class
from katz_env.core.tables import Tables
from katz_env.core.validation import there_are

_REPR = reprlib.Repr()  # shortens values in messages, since a record may hold texts of any length
_REPR.maxstring, _REPR.maxlist, _REPR.maxdict, _REPR.maxother = 60, 12, 4, 60
_MESSAGE_LENGTH = 500


class RecordError(ValueError):
    """A game record is broken, or its results are not those of its moves."""


def parse_line(line: str) -> dict[str, Any]:
    """Parse one line of a record file.

    Raises
    ------
    RecordError
        If it is not a JSON object.
    """
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise RecordError(f"not JSON: {error.msg} at column {error.colno}") from None
    except RecursionError:
        raise RecordError("not JSON: nested too deeply") from None
    except ValueError:  # Python refuses integers of more than a few thousand digits
        raise RecordError("not a record: it has a number of too many digits") from None
    if not isinstance(record, dict):
        raise RecordError(f"a record must be a JSON object, not {type(record).__name__}")
    return record


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a record file that are not empty, with their numbers from 1.

    Raises
    ------
    ValueError
        If the file cannot be read, or is a pipe or a device, which may have no end.
    """
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise ValueError(f"cannot read {path}: it is not a regular file")
        with path.open(encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, line
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from None


def append_record(path: Path, record: Mapping[str, Any] | None) -> None:
    """Append a record to a file, which is created if it does not exist.

    Parameters
    ----------
    path
        The file of game records.
    record
        What to append; with None the function only checks that it could.

    Raises
    ------
    ValueError
        If the file cannot be written, or begins with something that is not a game record; then it is not changed.
    """
    new = not path.exists()
    if not (new or path.is_file() or path.is_dir()):  # reading a device may never end, and it must not be deleted
        raise ValueError(f"cannot write {path}: it is not a regular file; name another one")
    try:
        with path.open("a+b", buffering=0) as file:
            _check_first_line(path)
            if record is not None:
                write_whole(file, (b"" if _ends_a_line(file) else b"\n") + json_line(record))
        if new and record is None:
            path.unlink()
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror}") from None


def _check_first_line(path: Path) -> None:
    """Raise ValueError unless a file is empty or its first line is a game record."""
    try:
        for _, line in read_lines(path):
            if "game" not in parse_line(line):
                raise RecordError("its first record has no 'game'")
            return
    except RecordError as error:
        raise ValueError(f"{path} is not a file of game records ({error}); name another one") from None


def _ends_a_line(file: FileIO) -> bool:
    """Return whether an open file is empty or ends with a line end."""
    if file.seek(0, os.SEEK_END) == 0:
        return True
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def json_line(record: Mapping[str, Any]) -> bytes:
    """Return a record as a line of a file."""
    return json.dumps(record).encode() + b"\n"


def deal_record(record: Mapping[str, Any], *, events: bool = False) -> Tables:
    """Deal one table as the record says.

    Parameters
    ----------
    record
        The game record.
    events
        Whether the table logs events; see `Tables.events`.

    Raises
    ------
    RecordError
        If the game is unknown, or a setting or the deal is impossible.
    """
    if "game" not in record:
        raise RecordError("the record has no 'game'")
    try:
        game, deal, first_seat = game_class(record["game"]).read_record(record)
    except (ValueError, TypeError) as error:
        text = str(error)
        raise RecordError(text if len(text) <= _MESSAGE_LENGTH else text[:_MESSAGE_LENGTH] + "...") from None
    tables = Tables(game, 1, seed=0, autoreset=False, num_threads=1, events=events)
    tables.deal_vectors(deal[None], np.array([first_seat], np.int8))
    return tables


def replay(record: Mapping[str, Any], *, events: bool = False) -> Iterator[Tables]:
    """Play the moves of a record.

    The moves of a record whose ``end`` is "unfinished" may stop before the game is over.

    Parameters
    ----------
    record
        The game record.
    events
        Whether the table logs events; see `Tables.events`.

    Yields
    ------
    Tables
        One table: as it was dealt, then after each move. It is the same object every time.

    Raises
    ------
    RecordError
        If a move is not legal, missing or too many; it names the number of the move, counted from 1.
    """
    tables = deal_record(record, events=events)
    game, moves = tables.game, record.get("moves")
    if not isinstance(moves, list):
        raise RecordError(f"'moves' is {_REPR.repr(moves)}; it must be a list of names of moves")
    yield tables
    for number, move in enumerate(moves, 1):
        if tables.terminated[0]:
            raise RecordError(f"move {number}: expected the end of the game, got {_REPR.repr(move)}")
        legal = game.legal_names(tables.records[0], tables.action_masks[0])
        if not isinstance(move, str) or move not in legal:
            expected = f"a legal move of seat {tables.turn[0]} ({', '.join(legal)})"
            raise RecordError(f"move {number}: expected {expected}, got {_REPR.repr(move)}")
        tables.step(np.array([legal[move]]))
        yield tables
    if not tables.terminated[0] and record.get("end") != UNFINISHED:
        raise RecordError(f"move {len(moves) + 1}: expected a move of seat {tables.turn[0]}, got the end of the record")


def verify(record: Mapping[str, Any]) -> int:
    """Replay a record and compare its results with those of the game.

    Returns
    -------
    int
        The number of moves.

    Raises
    ------
    RecordError
        If a move is not legal or a result differs; the message names the move, what was expected and what the record says.
    """
    for tables in replay(record):  # noqa: B007 - only the last table is used
        pass
    number = len(record["moves"])
    for key, expected in tables.game.record_results(tables.records[0]).items():
        if key not in record:
            raise RecordError(f"after move {number}: expected {key} {expected!r}, but there is no key {key!r}")
        if record[key] != expected:
            raise RecordError(f"after move {number}: expected {key} {expected!r}, got {_REPR.repr(record[key])}")
    return number


def play_out(
    game: Game, agents: Sequence[Agent], num_games: int, rng: np.random.Generator, *, first_game: int = 0
) -> Iterator[dict[str, Any]]:
    """Play whole games between agents and yield their records, in which ``agents`` names the agents by seat.

    Parameters
    ----------
    game
        The game.
    agents
        One for each seat of the first game, or one for all seats; in each further game they move on by one seat.
    num_games
        The number of games, which are played together in one batch.
    rng
        The generator that deals the cards and seeds the agents.
    first_game
        The number of the first game; the agents have moved on by that many seats.

    Raises
    ------
    ValueError
        If the number of agents is neither 1 nor the number of players.
    """
    n = game.num_players
    if len(agents) not in (1, n):
        raise ValueError(f"{there_are(len(agents), 'agent')}; {n} players need 1 (for all seats) or {n}")
    places = (np.arange(n) + first_game + np.arange(num_games)[:, None]) % n
    players = places % len(agents)
    tables = Tables(game, num_games, seed=int(rng.integers(2**63)), autoreset=False)
    starts = tables.records.copy()
    arena = Arena(tables, agents, lambda _rng, _k: players, rng, log_moves=True)
    arena.start()
    for i in range(num_games):
        record = game.write_record(starts[i], arena.moves[i], tables.records[i])
        yield record | {"agents": [agents[player].name for player in players[i]]}
