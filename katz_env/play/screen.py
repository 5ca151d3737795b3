"""What a person sees in the terminal, for every game that has no screen of its own: the table, the legal moves, the result."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from katz_env.play.layout import Columns, MoveList

if TYPE_CHECKING:
    from katz_env.play.session import Session


@dataclass(frozen=True)
class Move:
    """A legal move in the list that a person chooses from.

    Attributes
    ----------
    number
        Its number in the list, from 1.
    action
        The action id.
    name
        The name of the move.
    note
        What else is worth saying about it.
    """

    number: int
    action: int
    name: str
    note: str = ""

    def text(self) -> Text:
        """The move as it stands in the list."""
        note = f" ({self.note})" if self.note else ""
        return Text.assemble((f"{self.number:2} ", "dim"), (self.name, "bold"), (note, "dim"))


MoveGroups = Mapping[str, Sequence[Move]]
"""The legal moves by the titles of their groups, numbered through from 1."""


class Screen:
    """The screen of a game that has none of its own: it shows `Game.text` and a list of the legal moves.

    A game names its own screen, a subclass, in `Game.screen_path`. All that a screen knows of the table is `Session.table`,
    the record as the person may see it.

    Parameters
    ----------
    session
        The game that is played.

    Attributes
    ----------
    moves_help
        How to enter a move, for the help text.
    """

    moves_help = "Type the number of a move, or its name."

    def __init__(self, session: Session) -> None:
        self.session, self.game = session, session.game

    # --- what is shown

    def table(self) -> RenderableType:
        """The table from the person's seat."""
        return Group(Text(), Text(self.game.text(self.session.table, self.session.seat)))

    def groups(self) -> MoveGroups:
        """The legal moves, all in one group without a title."""
        names = self.game.legal_names(self.session.table, self.session.mask)
        return {"": [Move(number, action, name) for number, (name, action) in enumerate(names.items(), 1)]}

    def rows(self, title: str, moves: Sequence[Move]) -> Sequence[Sequence[Move | None]] | None:
        """The moves of a group in rows of equal length, None for an empty place; or None if the group has no such order."""
        del title, moves
        return None

    def moves(self, groups: MoveGroups) -> RenderableType:
        """The list of the legal moves."""
        lists = []
        for title, moves in groups.items():
            rows = self.rows(title, moves)
            grid = None if rows is None else [[move.text() if move else Text() for move in row] for row in rows]
            lists.append((title, [move.text() for move in moves], grid))
        return Group(Text(), MoveList(lists))

    def result(self) -> RenderableType:
        """The final results, the winners first, and who has won."""
        results = {name: values for name, values in self.session.results.items() if name != "win_share"}
        rows = [[self.player(seat), *(Text(str(values[seat])) for values in results.values())] for seat in self.best_first()]
        return Group(Text(), Columns(["player", *results], rows, right=results), Text(), self.winners())

    def best_first(self) -> list[int]:
        """The seats of a finished game, the winners first, then by their scores."""
        results = self.session.results
        return sorted(range(self.game.num_players), key=lambda seat: (-results["win_share"][seat], -results["score"][seat]))

    def winners(self) -> Text:
        """Who has won."""
        share, names = self.session.results["win_share"], self.session.names
        winners = [names[seat] for seat in self.best_first() if share[seat] > 0]
        wins = "win" if winners == ["you"] or len(winners) > 1 else "wins"
        return Text(f"{' and '.join(winners)} {wins}", style="bold")

    def player(self, seat: int) -> Text:
        """The name of a player, and that of the agent who plays."""
        if seat == self.session.seat:
            return Text("you", style="bold")
        return Text(f"{self.session.names[seat]} ({self.session.agents[seat]})")

    # --- what the person types

    def find(self, text: str, moves: Sequence[Move]) -> Move | None:
        """The move that a person means by a number or a name, or None."""
        wanted = self.normal(text)
        return next((move for move in moves if wanted in (str(move.number), self.normal(move.name))), None)

    def normal(self, text: str) -> str:
        """The one form of all texts that mean the same move: here case and spaces do not matter."""
        return " ".join(text.lower().split())

    def hint(self, text: str, moves: Sequence[Move]) -> str:
        """Why a text is not a move, and what would be."""
        how = f"type a number from 1 to {len(moves)} or a name such as {moves[-1].name}"
        text = " ".join(text.split())
        shown = text if len(text) <= 40 else text[:37] + "..."
        if re.fullmatch(r"[+-]?\d+", text):
            return f"there is no move {shown}; {how}"
        return f"{self.objection(text) or f'{shown!r} is not a move here'}; {how}"

    def objection(self, text: str) -> str | None:
        """What a person who knows the rules would object to a move that is not legal; None if there is nothing to say."""
        del text
        return None
