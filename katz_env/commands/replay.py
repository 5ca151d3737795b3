"""The command ``katz replay``."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm
from tyro.conf import Positional

from katz_env import make_agent
from katz_env.command_line import check_at_least
from katz_env.core.game import UNFINISHED
from katz_env.core.game_records import RecordError, parse_line, read_lines, verify
from katz_env.core.output_files import check_output, write_file
from katz_env.core.replay_page import Page

MOST_MESSAGES = 5  # a file that holds no records at all has something wrong in every line


@dataclass
class Replay:
    """Replay game records and verify every move, score and winner; the exit code is 1 if a line is broken or differs.

    With --html the games can be watched: it writes one page for a browser, which needs no other file and no network.
    """

    file: Positional[Path]
    """A file of game records, one JSON object a line."""
    game: str | None = None
    """Accept only records of this game; by default each record names its own."""
    html: Path | None = None
    """Write a page that steps through the games."""
    agent: str | None = None
    """Show on the page which moves this agent would have chosen; settings after a colon."""
    games: int = 20
    """The number of games on the page, counted from the beginning of the file."""
    seed: int = 0
    """Seeds the agent's generator."""
    force: bool = False
    """Overwrite the page if it exists."""

    def run(self) -> int:
        """Verify every line, and report those that are wrong on stderr."""
        page = self._page()
        games = moves = wrong = unfinished = 0
        for number, line in tqdm(read_lines(self.file), unit="game", disable=None, leave=False, delay=1):
            games += 1
            try:
                record = parse_line(line)
                if self.game not in (None, record.get("game")):
                    raise RecordError(f"it is not a record of {self.game}")
                moves += verify(record)
                unfinished += record["end"] == UNFINISHED
            except RecordError as error:
                wrong += 1
                if wrong <= MOST_MESSAGES:
                    tqdm.write(f"{self.file}: line {number}: {error}", file=sys.stderr)
                continue
            if page is not None and len(page.games) < self.games:
                page.add(record, f"{number}")
        if wrong > MOST_MESSAGES:
            print(f"{self.file}: and {wrong - MOST_MESSAGES} more", file=sys.stderr)
        if games == 0:
            raise ValueError(f"there is no game in {self.file}")
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
        check_output(self.html, force=self.force)
        agent = None if self.agent is None else make_agent(self.agent)
        title = os.fsencode(self.file.name).decode(errors="replace")  # the name of a file may be no text
        return Page(title, agent, np.random.default_rng(self.seed))

    def _write(self, page: Page, right: int) -> None:
        assert self.html is not None
        if not page.games:
            raise ValueError(f"{self.file} has no game to show; {self.html} is not written")
        write_file(self.html, page.html().encode())
        only = f", the first {len(page.games)} of {right} games; --games shows more" if len(page.games) < right else ""
        print(f"{self.html} written{only}")
