"""The conversation of ``katz play``: it asks the person for moves until the game is over or the person quits."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pkgutil import resolve_name

from rich.console import Console, RenderableType
from rich.status import Status
from rich.text import Text

from katz_env import Agent
from katz_env.play.screen import Move, Screen
from katz_env.play.session import Session

_COMMANDS_HELP = "? asks for advice, u takes your last move back, t shows the table again, q quits and saves."
_NARROWEST = 8  # columns; what is narrower is taken for this


class Dialogue:
    """The conversation with the person.

    Parameters
    ----------
    session
        A game that has not been started.
    advisor
        The agent that answers ``?``.
    console
        The terminal.
    """

    def __init__(self, session: Session, advisor: Agent, console: Console) -> None:
        self.session, self.advisor, self.console = session, advisor, console
        self.screen = screen_of(session)

    def run(self) -> None:
        """Play until the game is over or the person quits, also by closing standard input.

        Raises
        ------
        KeyboardInterrupt
            At Ctrl-C; the session is at the person's last decision.
        """
        self._greet()
        with self._thinking():
            self.session.start()
        while True:
            self._print_news()
            self._print(self.screen.table())
            if self.session.over:
                self._print(self.screen.result())
                return
            if not self._decide():
                return

    def _decide(self) -> bool:
        """Ask until the person has moved or taken a move back; False to quit."""
        groups = self.screen.groups()
        moves = [move for group in groups.values() for move in group]
        self._print(self.screen.moves(groups))
        while True:
            text = self._ask(f"\nyour move (1-{len(moves)}, ? advice, u undo, h help, q quit): ")
            command = "q" if text is None else text.strip().lower()
            if command in ("q", "quit", "exit"):
                return False
            if command in ("u", "undo"):
                if self.session.undo():
                    self._print(Text("your last move is taken back", style="bold"))
                    return True
                self._print(Text("there is nothing to take back: this is your first decision"))
            elif command in ("?", "advice"):
                self._advise(moves)
            elif command in ("h", "help"):
                self._print(Text(f"{self.screen.moves_help} {_COMMANDS_HELP}"))
            elif command in ("", "t", "table"):
                return True
            elif move := self.screen.find(command, moves):
                with self._thinking():
                    self.session.play(move.action)
                return True
            else:
                self._print(Text(self.screen.hint(text or "", moves)))

    def _ask(self, prompt: str) -> str | None:
        """A line that the person types; None if standard input, or the terminal, was closed."""
        self._fit()
        try:
            return self.console.input(Text(prompt, style="bold"))
        except (EOFError, OSError):
            self._print(Text())
            return None

    def _advise(self, moves: Sequence[Move]) -> None:
        try:
            with self._thinking():
                action = self.session.advice(self.advisor)
        except ValueError as error:  # such as a policy that was trained for another number of players
            self._print(Text(f"there is no advice: {error}"))
            return
        move = next(move for move in moves if move.action == action)
        self._print(Text(f"{self.advisor.name} would play {move.number}: {move.name}"))

    def _greet(self) -> None:
        names, agents = self.session.names, self.session.agents
        others = ", ".join(f"{name} is {agent}" for name, agent in zip(names, agents, strict=True) if name != "you")
        self._print(Text(f"You sit in seat {self.session.seat}; {others}. {self.advisor.name} gives advice."))

    def _print_news(self) -> None:
        self._print(Text())
        for line in self.session.news:
            self._print(Text.assemble(("· ", "dim"), line))

    def _print(self, what: RenderableType) -> None:
        self._fit()
        self.console.print(what)

    def _fit(self) -> None:
        """Take the width of the terminal as it is now, also where it is not known or said to be 0."""
        columns, lines = shutil.get_terminal_size()
        self.console.size = max(_NARROWEST, columns), lines

    def _thinking(self) -> Status:
        self._fit()
        return self.console.status("thinking (after an installation the game is compiled first, which takes a while)")


def screen_of(session: Session) -> Screen:
    """The screen that the game names.

    Raises
    ------
    ValueError
        If it cannot be loaded.
    """
    game = session.game
    try:
        screen = resolve_name(game.screen_path)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"the screen {game.screen_path!r} of the game {game.name!r} cannot be loaded: {error}") from None
    return screen(session)
