"""Asks the person for moves until the game is over or the person has enough."""

from __future__ import annotations

import re

from rich.console import Console
from rich.status import Status
from rich.text import Text

from katz_env import Agent
from katz_env.katzenjammer.rules import AUCTION
from katz_env.play.screen import Move, Screen, grouped_moves
from katz_env.play.session import Session

HELP = (
    "Type the number of a move, or its name: pass, 3x2 (three 2's), 4d (four different values), pay 22J, four 333J "
    "(a foursome), done. ? asks for advice, u takes your last move back, t shows the table again, q quits and saves. "
    "A dot in a hand is a card that you do not know; the others were seen when they were taken with a row."
)


def find_move(text: str, moves: list[Move]) -> Move | None:
    """The move that a person means by a number or a name; case, spaces and the order of cards do not matter."""
    wanted = _normal(text)
    return next((move for move in moves if wanted in (str(move.number), _normal(move.name))), None)


def _normal(text: str) -> str:
    words = text.strip().lower().split()
    if len(words) == 2 and words[0] in ("pay", "four"):
        cards, equals, value = words[1].partition("=")
        words[1] = "".join(sorted(cards)) + equals + value
    return " ".join(words)


def hint(text: str, session: Session, moves: list[Move]) -> str:
    """Why a text is not a move, and what would be."""
    how = f"type a number from 1 to {len(moves)} or a name such as {moves[-1].name}"
    text = " ".join(text.split())
    shown = text if len(text) <= 40 else text[:37] + "..."
    if re.fullmatch(r"[+-]?\d+", text):
        return f"there is no move {shown}; {how}"
    bid = re.fullmatch(r"(\d{1,2})(?:x(\d)|d)", text.lower())
    table, actions = session.table, session.game.actions
    if not bid or int(bid[1]) < 1 or bid[2] == "0":
        return f"{shown!r} is not a move here; {how}"
    if table["phase"] != AUCTION:
        return f"{shown} is a bid, but this is not an auction now; {how}"
    if actions.bid(int(bid[1]), int(bid[2] or 0)) <= table["bid"]:
        return f"{shown} is not higher than {actions.name(int(table['bid']))}; {how}"
    return f"your hand cannot pay {shown}; {how}"


class Dialogue:
    """The conversation with the person.

    Parameters
    ----------
    session
        A game that has not been started.
    advisor
        Answers ``?``.
    console
        Where everything is printed and read.
    """

    def __init__(self, session: Session, advisor: Agent, console: Console) -> None:
        self.session, self.advisor, self.console = session, advisor, console
        self.screen = Screen(session)

    def run(self) -> None:
        """Play until the game is over or the person quits.

        Raises
        ------
        KeyboardInterrupt
            At Ctrl-C; the session stands at the person's last decision.
        """
        self._greet()
        with self._thinking():
            self.session.start()
        while True:
            self._print_news()
            self.console.print(self.screen.table())
            if self.session.over:
                self.console.print(self.screen.result())
                return
            if not self._decide():
                return

    def _decide(self) -> bool:
        """Ask until the person has moved or taken a move back; False to quit."""
        groups = grouped_moves(self.session.game, self.session.table, self.session.mask)
        moves = [move for group in groups.values() for move in group]
        self.console.print(self.screen.moves(groups))
        while True:
            try:
                text = self.console.input(
                    Text(f"\nyour move (1-{len(moves)}, ? advice, u undo, h help, q quit): ", style="bold")
                )
            except EOFError:
                self.console.print()
                return False
            command = text.strip().lower()
            if command in ("q", "quit", "exit"):
                return False
            if command in ("u", "undo"):
                if self.session.undo():
                    self.console.print("your last move is taken back", style="bold")
                    return True
                self._say("there is nothing to take back: this is your first decision")
            elif command in ("?", "advice"):
                self._advise(moves)
            elif command in ("h", "help"):
                self._say(HELP)
            elif command in ("", "t", "table"):
                return True
            elif move := find_move(command, moves):
                with self._thinking():
                    self.session.play(move.action)
                return True
            else:
                self._say(hint(text, self.session, moves))

    def _advise(self, moves: list[Move]) -> None:
        try:
            with self._thinking():
                action = self.session.advice(self.advisor)
        except ValueError as error:  # such as a policy that was trained for another number of players
            self._say(f"there is no advice: {error}")
            return
        move = next(move for move in moves if move.action == action)
        self._say(f"{self.advisor.name} would play {move.number}: {move.name}")

    def _greet(self) -> None:
        names, agents = self.session.names, self.session.agents
        others = ", ".join(f"{name} is {agent}" for name, agent in zip(names, agents, strict=True) if name != "you")
        self.console.print(f"You sit in seat {self.session.seat}; {others}. {self.advisor.name} gives advice.")

    def _print_news(self) -> None:
        self.console.print()
        for line in self.session.news:
            self.console.print(Text.assemble(("· ", "dim"), line))

    def _say(self, text: str) -> None:
        self.console.print(Text(text))

    def _thinking(self) -> Status:
        return self.console.status("thinking (after an installation the game is compiled first, which takes a while)")
