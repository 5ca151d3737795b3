"""What the person sees in the terminal: the table, the legal moves in groups, the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from katz_env import Katzenjammer
from katz_env.katzenjammer.rules import PHASES
from katz_env.play.session import Session

# Black letters on these pale grounds can be read in light and in dark terminals, whatever their themes.
_LETTERS = "bold color(16)"
_GROUNDS = tuple(f"color({number})" for number in (117, 150, 222, 216, 211, 183, 180, 152))
_JOKER_GROUND = "color(252)"


@dataclass(frozen=True)
class Move:
    """A legal move as it stands in the list: its number, action id, name, and what is worth saying about it."""

    number: int
    action: int
    name: str
    note: str = ""


def grouped_moves(game: Katzenjammer, table: Any, mask: NDArray[Any]) -> dict[str, list[Move]]:
    """The legal moves by the titles of their groups, numbered through from 1."""
    titles = {
        "pass": "pass",
        "pay_equal": "payments",
        "pay_different": "payments",
        "four": "foursomes",
        "four_free": "foursomes",
        "done": "foursomes",
    }
    groups: dict[str, list[tuple[int, str, str]]] = {}
    for name, action in game.legal_names(table, mask).items():
        move = game.actions.decode(action)
        title = titles.get(move.kind, "bids of one value" if move.value else "bids of different values")
        note = ""
        if move.kind == "four":
            mice = min(move.value, int(table["supply"]))
            note = f"{mice} {'mouse' if mice == 1 else 'mice'}"
        groups.setdefault(title, []).append((action, name, note or _NOTES.get(move.kind, "")))
    order = ("pass", "bids of different values", "bids of one value", "payments", "foursomes")
    found, number = {}, 1
    for title in order:
        listed = groups.get(title, [])
        if title == "payments":
            listed.sort(key=lambda entry: (entry[1].count("J"), entry[1]))
        if listed:
            found[title] = [Move(number + i, *entry) for i, entry in enumerate(listed)]
            number += len(listed)
    return found


_NOTES = {"four_free": "thrown away, no mice", "done": "no more foursomes"}


class Screen:
    """Draws what a `Session` shows.

    Parameters
    ----------
    session
        The game that is played.
    """

    def __init__(self, session: Session) -> None:
        self.session, self.game = session, session.game

    def cards(self, counts: Any) -> Text:
        """Cards as coloured characters, those of a kind together."""
        grounds = [*_GROUNDS[: len(self.game.cards) - 1], _JOKER_GROUND]
        groups = [
            Text(card * int(count), style=f"{_LETTERS} on {ground}")
            for card, count, ground in zip(self.game.cards, counts, grounds, strict=True)
            if count
        ]
        return Text(" ").join(groups) if groups else Text("-", style="dim")

    def table(self) -> RenderableType:
        """The table from the person's seat."""
        table = self.session.table
        players = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
        for heading in ("", "player", "mice", "jokers shown", "hand", ""):
            players.add_column(heading, justify="right" if heading in ("mice", "jokers shown") else "left")
        for seat in range(self.game.num_players):
            players.add_row(
                ">" if seat == table["turn"] and not self.session.over else "",
                self._player(seat),
                str(table["mice"][seat]),
                str(table["displayed"][seat]),
                self._hand(table, seat),
                ", ".join(self._notes(table, seat)),
            )
        return Group(Text(), self._middle(table), Text(), players)

    def moves(self, groups: dict[str, list[Move]]) -> RenderableType:
        """The legal moves, grouped and numbered."""
        lines = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
        for title, moves in groups.items():
            lines.add_row(
                Text(title, style="dim"), self._by_number(moves) if title == "bids of one value" else _in_a_line(moves)
            )
        return Group(Text(), lines)

    def result(self) -> RenderableType:
        """The final scores, best first, and who won."""
        results, names = self.session.results, self.session.names
        shown = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
        for heading in ("player", "score", "mice", "jokers shown"):
            shown.add_column(heading, justify="left" if heading == "player" else "right")
        best_first = sorted(range(len(names)), key=lambda seat: (-results["score"][seat], results["jokers"][seat]))
        for seat in best_first:
            numbers = (str(results[name][seat]) for name in ("score", "mice", "jokers"))
            shown.add_row(self._player(seat), *numbers)
        winners = [names[seat] for seat in best_first if results["win_share"][seat] > 0]
        wins = "win" if winners == ["you"] or len(winners) > 1 else "wins"
        return Group(Text(), shown, Text(), Text(f"{' and '.join(winners)} {wins}", style="bold"))

    def _middle(self, table: Any) -> RenderableType:
        if self.session.over:
            return Text("the game is over", style="bold")
        bid, bidder = int(table["bid"]), int(table["high_bidder"])
        highest = f"{self.game.actions.name(bid)} by {self.session.names[bidder]}" if bid else "none"
        grid = Table.grid(padding=(0, 2))
        grid.add_row(
            Text(PHASES[table["phase"]], style="bold"),
            Text.assemble("row  ", self.cards(table["row"])),
            f"highest bid  {highest}",
        )
        facts = Text(f"draw pile {len(table['deck']) - table['position']}   mice left {table['supply']}   discard pile  ")
        return Group(grid, facts + self.cards(table["discard"]))

    def _player(self, seat: int) -> Text:
        if seat == self.session.seat:
            return Text("you", style="bold")
        return Text(f"{self.session.names[seat]} ({self.session.agents[seat]})")

    def _hand(self, table: Any, seat: int) -> Text:
        """The own hand; of another one the cards that everybody knows, and a dot for each other card."""
        if seat == self.session.seat:
            return self.cards(table["hand"][seat])
        known = table["known"][seat]
        hidden = int(table["hand_sizes"][seat]) - int(known.sum())
        dots = Text("·" * hidden, style="dim")
        if not known.any():
            return dots if hidden else Text("-", style="dim")
        return Text.assemble(self.cards(known), " " if hidden else "", dots)

    def _notes(self, table: Any, seat: int) -> list[str]:
        if self.session.over:
            return []
        notes = ["bandleader"] if seat == table["bandleader"] else []
        if seat == table["high_bidder"]:
            notes.append(f"highest bid {self.game.actions.name(int(table['bid']))}")
        if table["passed"][seat]:
            notes.append("passed")
        return notes

    def _by_number(self, moves: Sequence[Move]) -> RenderableType:
        """Bids of one value: a line for each number of cards, a column for each value."""
        grid = Table.grid(padding=(0, 2, 0, 0))
        rows: dict[int, dict[int, Move]] = {}
        for move in moves:
            bid = self.game.actions.decode(move.action)
            rows.setdefault(bid.count, {})[bid.value] = move
        values = sorted({value for row in rows.values() for value in row})
        for row in rows.values():
            grid.add_row(*(_shown(row[value]) if value in row else "" for value in values))
        return grid


def _in_a_line(moves: Sequence[Move]) -> RenderableType:
    return Columns([_shown(move) for move in moves], padding=(0, 2, 0, 0))


def _shown(move: Move) -> Text:
    note = f" ({move.note})" if move.note else ""
    return Text.assemble((f"{move.number:2} ", "dim"), (move.name, "bold"), (note, "dim"))
