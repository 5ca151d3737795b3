"""The command ``katz``: play against agents, replay, draw and write game records, and measure speed.

``katz --version`` prints the version.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from gymnasium.error import DependencyNotInstalled

from katz_env import GAMES, Katzenjammer, __version__, make_agent
from katz_env.core.game import UNFINISHED
from katz_env.core.records import RecordError, append_record, parse_line, play_out, read_lines, replay, verify
from katz_env.core.replay_page import Page, seat_names
from katz_env.drawing import pixels

try:
    import tyro
    from tqdm import tqdm
except ImportError:
    sys.exit('katz: the command needs the extra train: pip install -c constraints.txt -e ".[train]"')

GAMES_AT_ONCE = 64  # written together, so that an interrupted run keeps what it has played


@dataclass
class Replay:
    """Replay game records and check every move, score and winner; exit code 1 if a line is broken or differs.

    With --html the games can be watched: one page for a browser, with everything in it.
    """

    file: tyro.conf.Positional[Path]
    """A file of game records, one JSON object a line."""
    html: Path | None = None
    """Write a page that steps through the games."""
    agent: str | None = None
    """On the page, also show how this agent would have moved; settings after a colon."""
    games: int = 20
    """How many games the page shows, from the first of the file."""
    seed: int = 0
    """For an agent that leaves something to chance: the same seed, the same moves."""
    force: bool = False
    """Overwrite the page if it exists."""

    def run(self) -> int:
        """Check every line; says on stderr what is wrong."""
        page = self._page()
        games = moves = wrong = unfinished = 0
        for number, line in tqdm(read_lines(self.file), unit="game", disable=None, leave=False, delay=1):
            games += 1
            try:
                record = parse_line(line)
                moves += verify(record, GAMES)
                unfinished += record["end"] == UNFINISHED
            except RecordError as error:
                wrong += 1
                tqdm.write(f"{self.file}: line {number}: {error}", file=sys.stderr)
                continue
            if page is not None and len(page.games) < self.games:
                page.add(record, GAMES, f"{number}")
        print(
            f"{games} games, {moves} moves replayed; {wrong} lines wrong"
            if wrong
            else f"{games} games, {moves} moves: all right" + (f" ({unfinished} unfinished)" if unfinished else "")
        )
        if page is not None:
            self._write(page, games - wrong)
        return 1 if wrong else 0

    def _page(self) -> Page | None:
        """An empty page if one is wanted; ValueError if it could not be written in the end."""
        if self.html is None:
            if self.agent is not None:
                raise ValueError("--agent shows its moves on a page: give --html FILE too")
            return None
        check_at_least(self, games=1, seed=0)
        if self.html.exists() and self.file.exists() and self.html.samefile(self.file):
            raise ValueError(f"--html is {self.html}, the file of records itself; name another one")
        if self.html.exists() and not self.force:
            raise ValueError(f"{self.html} exists; use --force to overwrite it")
        if not self.html.parent.is_dir():
            raise ValueError(f"there is no folder {self.html.parent} for {self.html.name}")
        agent = None if self.agent is None else make_agent(self.agent)
        return Page(self.file.name, agent, np.random.default_rng(self.seed))

    def _write(self, page: Page, right: int) -> None:
        assert self.html is not None
        if not page.games:
            raise ValueError(f"{self.file} has no game to show; {self.html} is not written")
        self.html.write_text(page.html(), encoding="utf-8")
        only = f", the first {len(page.games)} of {right} games; --games shows more" if len(page.games) < right else ""
        print(f"{self.html} written{only}")


@dataclass
class Draw:
    """Draw one position of a recorded game."""

    file: tyro.conf.Positional[Path]
    """A file of game records, one JSON object a line."""
    out: Path
    """The picture to write: .svg, or .png with the extra "render"."""
    line: int = 1
    """The line of the file that the game stands in."""
    moves: int = 0
    """After how many moves."""
    seat: int | None = None
    """From whose eyes; by default all hands are open."""
    zoom: float = 2.0
    """Pixels a unit in a .png; the picture is 520 units wide."""
    force: bool = False
    """Overwrite the picture if it exists."""

    def run(self) -> int:
        """Replay to the position and write the picture."""
        if self.out.suffix not in (".svg", ".png"):
            raise ValueError(f"--out is {self.out}; it must end in .svg or .png")
        if not 0 < self.zoom <= 20:
            raise ValueError(f"--zoom is {self.zoom}; it must be above 0, and 20 at most")
        check_at_least(self, moves=0)
        if self.out.exists() and not self.force:
            raise ValueError(f"{self.out} exists; use --force to overwrite it")
        line = next((line for number, line in read_lines(self.file) if number == self.line), None)
        if line is None:
            raise ValueError(f"{self.file} has no game in line {self.line}")
        record = parse_line(line)
        tables = next(islice(replay(record, GAMES), min(self.moves, sys.maxsize), None), None)
        if tables is None:
            raise ValueError(f"--moves is {self.moves}; this game has {len(record['moves'])}")
        svg = tables.svg(seat=self.seat, names=seat_names(record, tables.game.num_players))
        self.out.write_bytes(svg.encode() if self.out.suffix == ".svg" else pixels.png(svg, self.zoom))
        print(f"{self.out} written")
        return 0


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
        if not self.opponents:
            raise ValueError("--opponents must name at least one agent")
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
        check_at_least(self, games=1, seed=0)
        num_players = self.num_players
        if num_players is None:
            num_players = len(self.agents) if len(self.agents) > 1 else 3
        game = Katzenjammer(num_players, self.mice)
        agents = [make_agent(name) for name in self.agents]
        if len(agents) not in (1, num_players):
            raise ValueError(f"there are {len(agents)} agents; {num_players} players need 1 (for all seats) or {num_players}")
        if self.out.exists() and not self.force:
            raise ValueError(f"{self.out} exists; use --force to overwrite it")
        rng = np.random.default_rng(self.seed)
        played = 0

        def batch() -> Iterator[dict[str, Any]]:
            return play_out(game, agents, min(GAMES_AT_ONCE, self.games - played), rng, first_game=played)

        # An agent that cannot play this game says so here, before the file is touched.
        records = list(batch())
        try:
            with self.out.open("w", encoding="utf-8") as file, tqdm(total=self.games, unit="game", disable=None) as bar:
                while True:
                    for record in records:
                        file.write(json.dumps(record) + "\n")
                        played += 1
                    file.flush()
                    bar.update(len(records))
                    if played == self.games:
                        break
                    records = list(batch())
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

        check_at_least(self, num_tables=1, repeats=1)
        if not 0 < self.seconds <= 3600:
            raise ValueError(f"--seconds is {self.seconds}; it must be above 0, and 3600 at most")
        run(self.num_tables, self.seconds, self.repeats)
        return 0


Command = (
    Annotated[Replay, tyro.conf.subcommand("replay")]
    | Annotated[Play, tyro.conf.subcommand("play")]
    | Annotated[Draw, tyro.conf.subcommand("draw")]
    | Annotated[PlayOut, tyro.conf.subcommand("play-out")]
    | Annotated[Bench, tyro.conf.subcommand("bench")]
)


def check_at_least(settings: Any, **least: int) -> None:
    """ValueError that names the option if one of these settings is below its least value."""
    for name, low in least.items():
        if getattr(settings, name) < low:
            raise ValueError(f"--{name.replace('_', '-')} is {getattr(settings, name)}; it must be at least {low}")


def check_none_or_at_least(settings: Any, **least: int) -> None:
    """ValueError that names the option if one of these settings is below its least value and not 0, which means none."""
    for name, low in least.items():
        value = getattr(settings, name)
        if value != 0 and value < low:
            raise ValueError(f"--{name.replace('_', '-')} is {value}; it must be at least {low}, or 0 for none")


def check_above_zero(settings: Any, *names: str) -> None:
    """ValueError that names the option if one of these settings is not a finite number above zero."""
    for name in names:
        if not 0 < getattr(settings, name) < math.inf:
            raise ValueError(f"--{name.replace('_', '-')} is {getattr(settings, name)}; it must be above 0")


def run_command(run: Callable[[], int], name: str) -> int:
    """Run a command; what a user can cause becomes one line on stderr and exit code 1."""
    try:
        return run()
    except (ValueError, OSError, DependencyNotInstalled) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    except MemoryError as error:
        print(f"{name}: there is not enough memory. {error}".rstrip(), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        return 130


def main() -> None:
    """Entry point of the command ``katz``."""
    if sys.argv[1:] == ["--version"]:
        print(f"katz_env {__version__}")
        sys.exit(0)
    command = tyro.cli(Command, prog="katz", description=__doc__)
    sys.exit(run_command(command.run, "katz"))


if __name__ == "__main__":
    main()
