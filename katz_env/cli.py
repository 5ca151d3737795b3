"""The command ``katz``: play against agents, replay and write game records, and measure speed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np

from katz_env import GAMES, Katzenjammer, make_agent
from katz_env.core.game import UNFINISHED
from katz_env.core.records import RecordError, append_record, parse_line, play_out, read_lines, verify

try:
    import tyro
    from tqdm import tqdm
except ImportError:
    sys.exit('katz: the command needs an extra: pip install "katz_env[train]" (or [bench])')

GAMES_AT_ONCE = 64  # written together, so that an interrupted run keeps what it has played


@dataclass
class Replay:
    """Replay game records and check every move, score and winner; exit code 1 if a line is broken or differs."""

    file: tyro.conf.Positional[Path]
    """A file of game records, one JSON object a line."""

    def run(self) -> int:
        """Check every line; says on stderr what is wrong."""
        games = moves = wrong = unfinished = 0
        for number, line in read_lines(self.file):
            games += 1
            try:
                record = parse_line(line)
                moves += verify(record, GAMES)
                unfinished += record["end"] == UNFINISHED
            except RecordError as error:
                wrong += 1
                print(f"{self.file}: line {number}: {error}", file=sys.stderr)
        print(
            f"{games} games, {moves} moves replayed; {wrong} lines wrong"
            if wrong
            else f"{games} games, {moves} moves: all right" + (f" ({unfinished} unfinished)" if unfinished else "")
        )
        return 1 if wrong else 0


@dataclass
class Play:
    """Play a game yourself, against agents."""

    num_players: int = 3
    """2 to 6."""
    opponents: tuple[str, ...] = ("heuristic",)
    """Agents by name, with settings after a colon: one for all others, or one for each, clockwise from your left neighbour."""
    seat: int | None = None
    """Your seat, from 0; by default it is drawn."""
    seed: int | None = None
    """The same seed deals the same cards; by default every game is new."""
    advisor: str = "heuristic"
    """The agent that answers when you ask for advice."""
    out: Path = Path("played.jsonl")
    """The file that the record of the game is added to, also when you quit before the end."""
    mice: int | None = None
    """Mice in the supply; by default 20 for up to four players, else 24."""

    def run(self) -> int:
        """Play, and save the record whatever happens."""
        from rich.console import Console

        from katz_env.play.dialogue import Dialogue
        from katz_env.play.session import Session

        if self.seed is not None and self.seed < 0:
            raise ValueError(f"--seed is {self.seed}; it must be at least 0")
        game = Katzenjammer(self.num_players, self.mice)
        opponents = [make_agent(name) for name in self.opponents]
        session = Session(game, opponents, self.seat, np.random.default_rng(self.seed))
        dialogue = Dialogue(session, make_agent(self.advisor), Console(highlight=False))
        append_record(self.out, None)
        try:
            dialogue.run()
        except KeyboardInterrupt:
            print()
            return 130
        finally:
            append_record(self.out, session.record())
            print(f"the {'' if session.over else 'unfinished '}game is saved in {self.out}; katz replay {self.out} checks it")
        return 0


@dataclass
class PlayOut:
    """Play games between agents and write their records."""

    out: Path
    """The file to write, one game a line."""
    agents: tuple[str, ...] = ("greedy",)
    """Agents by name, with settings after a colon: one for each seat, or one for all. They change seats every game."""
    games: int = 100
    """How many games to play."""
    num_players: int | None = None
    """2 to 6; by default as many as there are agents, or 3 for one agent."""
    seed: int = 0
    """The same seed gives the same games."""
    mice: int | None = None
    """Mice in the supply; by default 20 for up to four players, else 24."""
    force: bool = False
    """Overwrite the file if it exists."""

    def run(self) -> int:
        """Play in batches; an interrupted run keeps the games that are finished."""
        if self.games < 1:
            raise ValueError(f"--games is {self.games}; it must be at least 1")
        if self.seed < 0:
            raise ValueError(f"--seed is {self.seed}; it must be at least 0")
        num_players = self.num_players or (len(self.agents) if len(self.agents) > 1 else 3)
        game = Katzenjammer(num_players, self.mice)
        agents = [make_agent(name) for name in self.agents]
        if len(agents) not in (1, num_players):
            raise ValueError(f"there are {len(agents)} agents; {num_players} players need 1 (for all seats) or {num_players}")
        if self.out.exists() and not self.force:
            raise ValueError(f"{self.out} exists; use --force to overwrite it")
        rng = np.random.default_rng(self.seed)
        played = 0
        try:
            with self.out.open("w", encoding="utf-8") as file, tqdm(total=self.games, unit="game", disable=None) as bar:
                while played < self.games:
                    batch = min(GAMES_AT_ONCE, self.games - played)
                    for record in play_out(game, agents, batch, rng, first_game=played):
                        file.write(json.dumps(record) + "\n")
                        played += 1
                    bar.update(batch)
                    file.flush()
        except KeyboardInterrupt:
            print(f"katz: interrupted; {self.out} has {played} of {self.games} games", file=sys.stderr)
            return 130
        print(f"{played} games written to {self.out}")
        return 0


@dataclass
class Bench:
    """Measure decisions a second of this installation on this machine."""

    num_tables: int = 4096
    """Tables that are stepped together, beside one table alone."""
    seconds: float = 1.0
    """Seconds for each measurement."""
    repeats: int = 5
    """Measurements of each figure, taken in turn; the median is shown."""

    def run(self) -> int:
        """Measure and print a table."""
        from katz_env.bench import run

        for name in ("num_tables", "repeats"):
            if getattr(self, name) < 1:
                raise ValueError(f"--{name.replace('_', '-')} is {getattr(self, name)}; it must be at least 1")
        if not 0 < self.seconds <= 3600:
            raise ValueError(f"--seconds is {self.seconds}; it must be above 0")
        run(self.num_tables, self.seconds, self.repeats)
        return 0


Command = (
    Annotated[Replay, tyro.conf.subcommand("replay")]
    | Annotated[Play, tyro.conf.subcommand("play")]
    | Annotated[PlayOut, tyro.conf.subcommand("play-out")]
    | Annotated[Bench, tyro.conf.subcommand("bench")]
)


def run_command(run: Callable[[], int], name: str) -> int:
    """Run a command; what a user can cause becomes one line on stderr and exit code 1."""
    try:
        return run()
    except (ValueError, OSError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        return 130


def main() -> None:
    """Entry point of the command ``katz``."""
    command = tyro.cli(Command, prog="katz", description=__doc__)
    sys.exit(run_command(command.run, "katz"))


if __name__ == "__main__":
    main()
