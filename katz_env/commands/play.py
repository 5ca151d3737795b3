"""The command ``katz play``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console

from katz_env import Agent, Game, make_agent
from katz_env.command_line import agent_for, check_plays, game_from, interrupted_code, interrupts_deferred
from katz_env.core.game_records import append_record, json_line
from katz_env.play.dialogue import Dialogue
from katz_env.play.session import Session


@dataclass
class Play:
    """Play a game yourself, against agents."""

    game: str = "katzenjammer"
    """The name of the game."""
    num_players: int | None = None
    """The number of players; by default that of the game."""
    rules: tuple[str, ...] = ()
    """Other settings of the rules, each as KEY=VALUE."""
    opponents: tuple[str, ...] = ()
    """Agents by name, with settings after a colon: one for all, or one for each, clockwise from you; by default heuristic."""
    seat: int | None = None
    """Your seat, from 0; by default it is drawn."""
    seed: int | None = None
    """The same seed deals the same cards; by default every game is new."""
    advisor: str | None = None
    """The agent that answers when you ask for advice; by default heuristic."""
    out: Path = Path("played.jsonl")
    """The file that the record of the game is added to, also when you quit before the end."""

    def run(self) -> int:
        """Play, and save the record however the game ends: closing the terminal saves it too."""
        if self.seed is not None and self.seed < 0:
            raise ValueError(f"--seed is {self.seed}; it must be at least 0")
        game = game_from(self.game, self.num_players, self.rules)
        opponents = [make_agent(name) for name in self.opponents or [_default_agent(game)]]
        for opponent in opponents:
            check_plays(opponent, game)
        session = Session(game, opponents, self.seat, np.random.default_rng(self.seed))
        dialogue = Dialogue(session, make_agent(self.advisor or _default_agent(game)), Console(highlight=False))
        append_record(self.out, None)
        code, saved = 0, False
        try:
            dialogue.run()
        except KeyboardInterrupt as interrupt:
            print()
            code = interrupted_code(interrupt)
        finally:
            with interrupts_deferred():
                saved = self._save(session)
        return code or (0 if saved else 1)

    def _save(self, session: Session) -> bool:
        """Save the record, or print it where that fails, for example because the disk is full."""
        record = session.record()
        try:
            append_record(self.out, record)
        except ValueError as error:
            print(f"katz: {error}; the record of the game is printed instead", file=sys.stderr)
            print(json_line(record).decode(), end="")
            return False
        print(f"the {'' if session.over else 'unfinished '}game is saved in {self.out}; katz replay {self.out} checks it")
        return True


def _default_agent(game: Game) -> Agent:
    """The strongest agent that plays a game without searching: heuristic, if it knows the game."""
    return agent_for(game, ("heuristic", "greedy", "random"))
