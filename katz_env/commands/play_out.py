"""The command ``katz play-out``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from katz_env import Agent, Game, make_agent
from katz_env.command_line import agent_for, check_at_least, game_from, interrupted_code
from katz_env.core.game_records import json_line, play_out
from katz_env.core.output_files import check_output, replaced_file, write_whole
from katz_env.core.validation import there_are

GAMES_AT_ONCE = 64  # played and written together: an interrupted command keeps what it has written


@dataclass
class PlayOut:
    """Play games between agents and write their records."""

    out: Path
    """The file to write, one game a line."""
    game: str = "katzenjammer"
    """The name of the game."""
    num_players: int | None = None
    """By default as many as there are agents; with one agent, the default of the game."""
    rules: tuple[str, ...] = ()
    """Other settings of the rules, each as KEY=VALUE."""
    agents: tuple[str, ...] = ()
    """Agents by name, with settings after a colon: one for all seats (default: greedy), or one for each; they change seats."""
    games: int = 100
    """The number of games."""
    seed: int = 0
    """Seeds the deals and the agents: the same seed gives the same games."""
    force: bool = False
    """Overwrite the file if it exists."""

    def run(self) -> int:
        """Play in batches; an interrupted command keeps the games that it has written."""
        check_at_least(self, games=1, seed=0)
        num_players = len(self.agents) if self.num_players is None and len(self.agents) > 1 else self.num_players
        game = game_from(self.game, num_players, self.rules)
        agents = [make_agent(name) for name in self.agents or [agent_for(game, ("greedy", "random"))]]
        n = game.num_players
        if len(agents) not in (1, n):
            raise ValueError(f"{there_are(len(agents), 'agent')}; {n} players need 1 (for all seats) or {n}")
        check_output(self.out, force=self.force)
        played = 0
        with replaced_file(self.out) as file:
            try:
                for played in self._write_batches(game, agents, file):  # noqa: B007 - needed after an exception
                    pass
            except (KeyboardInterrupt, OSError) as stop:
                if not played:
                    raise
                kept = f"{self.out} has {played} of {self.games} games"
                if isinstance(stop, OSError):
                    print(f"katz: cannot write all of {self.out}: {stop.strerror or stop}; {kept}", file=sys.stderr)
                    return 1
                print(f"katz: interrupted; {kept}", file=sys.stderr)
                return interrupted_code(stop)
        print(f"{played} games written to {self.out}")
        return 0

    def _write_batches(self, game: Game, agents: list[Agent], file: FileIO) -> Iterator[int]:
        """Play and write all games; yields after each batch how many are written."""
        rng, played = np.random.default_rng(self.seed), 0
        with tqdm(total=self.games, unit="game", disable=None) as bar:
            while played < self.games:
                batch = min(GAMES_AT_ONCE, self.games - played)
                records: Iterator[dict[str, Any]] = play_out(game, agents, batch, rng, first_game=played)
                write_whole(file, b"".join(map(json_line, records)))
                played += batch
                bar.update(batch)
                yield played
