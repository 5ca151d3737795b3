"""Game records: one JSON object a line, written from games and replayed move by move to verify them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from katz_env.core.agents import Agent
from katz_env.core.arena import Arena
from katz_env.core.game import UNFINISHED, Game
from katz_env.core.tables import Tables

Games = Mapping[str, type[Game]]
"""The known games by the name that stands in their records."""


class RecordError(ValueError):
    """A record that is broken, or tells another game than its moves do."""


def parse_line(line: str) -> dict[str, Any]:
    """One line of a record file as an object.

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
    except ValueError:  # Python reads no integers of more than a few thousand digits
        raise RecordError("not a record: it has a number of too many digits") from None
    if not isinstance(record, dict):
        raise RecordError(f"a record must be a JSON object, not {type(record).__name__}")
    return record


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a record file that are not empty, with their numbers from 1.

    Raises
    ------
    ValueError
        If the file cannot be read.
    """
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, line
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from None


def append_record(path: Path, record: Mapping[str, Any] | None) -> None:
    """Add a record to the end of a file, which is made if there is none; with None only look whether that will work.

    Raises
    ------
    ValueError
        If the file cannot be written, or begins with something that is no game record; it is not changed.
    """
    try:
        new = not path.exists()
        if not (new or path.is_file() or path.is_dir()):  # a device may have no end, and nobody wants it deleted
            raise ValueError(f"cannot write {path}: it is not a regular file; name another one")
        with path.open("a+", encoding="utf-8", errors="replace") as file:
            file.seek(0)
            text = file.read()
            if text.strip() and "game" not in parse_line(next(line for line in text.splitlines() if line.strip())):
                raise RecordError("its first record has no 'game'")
            if record is not None:
                file.write(("" if not text or text.endswith("\n") else "\n") + json.dumps(record) + "\n")
        if new and record is None:
            path.unlink()
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror}") from None
    except RecordError as error:
        raise ValueError(f"{path} is not a file of game records ({error}); name another one") from None


def deal_record(record: Mapping[str, Any], games: Games) -> Tables:
    """One table, dealt as the record says.

    Raises
    ------
    RecordError
        If the game is unknown, or a setting or the deck is impossible.
    """
    kind = games.get(record["game"]) if isinstance(record.get("game"), str) else None
    if kind is None:
        raise RecordError(f"'game' is {record.get('game')!r}; known are {', '.join(map(repr, games))}")
    try:
        game, deck, first_seat = kind.read_record(record)
    except (ValueError, TypeError) as error:
        raise RecordError(str(error)) from None
    tables = Tables(game, 1, seed=0, autoreset=False, num_threads=1)
    tables.deal(deck[None], np.array([first_seat]))
    return tables


def replay(record: Mapping[str, Any], games: Games) -> Iterator[Tables]:
    """Play a record's moves; yields the table as it was dealt and after each move (the same object every time).

    The moves of a record whose ``end`` is "unfinished" may stop before the game is over.

    Raises
    ------
    RecordError
        If a move is not legal, missing or too many; it names the number of the move, counted from 1.
    """
    tables = deal_record(record, games)
    game, moves = tables.game, record.get("moves")
    if not isinstance(moves, list):
        raise RecordError(f"'moves' is {moves!r}; it must be a list of names of moves")
    yield tables
    for number, move in enumerate(moves, 1):
        if tables.terminated[0]:
            raise RecordError(f"move {number}: expected the end of the game, got {move!r}")
        legal = game.legal_names(tables.records[0], tables.action_masks[0])
        if not isinstance(move, str) or move not in legal:
            seat = tables.turn[0]
            raise RecordError(f"move {number}: expected a legal move of seat {seat} ({', '.join(legal)}), got {move!r}")
        tables.step(np.array([legal[move]]))
        yield tables
    if not tables.terminated[0] and record.get("end") != UNFINISHED:
        raise RecordError(f"move {len(moves) + 1}: expected a move of seat {tables.turn[0]}, got the end of the record")


def verify(record: Mapping[str, Any], games: Games) -> int:
    """Replay a record and compare how it ends; returns the number of moves.

    Raises
    ------
    RecordError
        If a move or a result differs; it names the move, what was expected and what came.
    """
    for tables in replay(record, games):  # noqa: B007 - the last table is what counts
        pass
    number = len(record["moves"])
    for key, expected in tables.game.record_results(tables.records[0]).items():
        if key not in record:
            raise RecordError(f"after move {number}: expected {key} {expected!r}, got no key {key!r}")
        if record[key] != expected:
            raise RecordError(f"after move {number}: expected {key} {expected!r}, got {record[key]!r}")
    return number


def play_out(
    game: Game, agents: Sequence[Agent], num_games: int, rng: np.random.Generator, *, first_game: int = 0
) -> Iterator[dict[str, Any]]:
    """Play whole games between agents and yield their records, with the names of the agents by seat.

    Parameters
    ----------
    game
        The game.
    agents
        One for each seat of the first game, or one for all; every further game moves them on by one seat.
    num_games
        How many games; they are played together, in one batch.
    rng
        Deals the cards and gives the agents their generators.
    first_game
        The number of the first game, which decides who sits where.

    Raises
    ------
    ValueError
        If the number of agents is neither 1 nor the number of players.
    """
    n = game.num_players
    if len(agents) not in (1, n):
        raise ValueError(f"there are {len(agents)} agents; {n} players need 1 (for all seats) or {n}")
    turns = (np.arange(n) + first_game + np.arange(num_games)[:, None]) % n
    players = turns % len(agents)
    tables = Tables(game, num_games, seed=int(rng.integers(2**63)), autoreset=False)
    starts = tables.records.copy()
    arena = Arena(tables, agents, lambda _rng, _k: players, rng, log_moves=True)
    arena.start()
    for i in range(num_games):
        record = game.write_record(starts[i], arena.moves[i], tables.records[i])
        yield record | {"agents": [agents[player].name for player in players[i]]}
