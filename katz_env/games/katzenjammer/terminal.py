"""The screen of Katzenjammer Blues in the terminal: coloured cards, moves in groups, bids and payments as people write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from katz_env.games.katzenjammer.rules import AUCTION, PHASES
from katz_env.play.layout import Columns
from katz_env.play.screen import Move, MoveGroups, Screen

if TYPE_CHECKING:
    from katz_env.games.katzenjammer import Katzenjammer

# Black letters on these pale grounds can be read in light and in dark terminals, whatever their themes.
_LETTERS = "bold color(16)"
_GROUNDS = tuple(f"color({number})" for number in (117, 150, 222, 216, 211, 183, 180, 152))
_JOKER_GROUND = "color(252)"

_BIDS_OF_ONE_VALUE = "bids of one value"
_TITLES = {
    "pass": "pass",
    "pay_equal": "payments",
    "pay_different": "payments",
    "four": "foursomes",
    "four_free": "foursomes",
    "done": "foursomes",
}
_NOTES = {"four_free": "thrown away, no mice", "done": "no more foursomes"}


class KatzenjammerScreen(Screen):
    """The screen of Katzenjammer Blues; see `Screen`."""

    game: Katzenjammer
    moves_help = (
        "Type the number of a move, or its name: pass, 3x2 (three 2's), 4d (four different values), pay 22J, four 333J "
        "(a foursome), done. A dot in a hand is a card that you do not know; the others were seen when they were taken."
    )

    # --- what is shown

    def table(self) -> RenderableType:
        """The table from the person's seat."""
        table, playing = self.session.table, not self.session.over
        rows = [
            [
                Text(">" if playing and seat == table["turn"] else ""),
                self.player(seat),
                Text(str(table["mice"][seat])),
                Text(str(table["displayed"][seat])),
                self._hand(table, seat),
                Text(", ".join(self._notes(table, seat)) if playing else ""),
            ]
            for seat in range(self.game.num_players)
        ]
        players = Columns(["", "player", "mice", "jokers shown", "hand", ""], rows, right=("mice", "jokers shown"))
        return Group(Text(), self._middle(table), Text(), players)

    def groups(self) -> MoveGroups:
        """The legal moves: passing, bids, payments and foursomes."""
        table = self.session.table
        groups: dict[str, list[tuple[int, str, str]]] = {}
        for name, action in self.game.legal_names(table, self.session.mask).items():
            move = self.game.actions.decode(action)
            title = _TITLES.get(move.kind, _BIDS_OF_ONE_VALUE if move.value else "bids of different values")
            note = _NOTES.get(move.kind, "")
            if move.kind == "four":
                mice = min(move.value, int(table["supply"]))
                note = f"{mice} {'mouse' if mice == 1 else 'mice'}"
            groups.setdefault(title, []).append((action, name, note))
        found, number = {}, 1
        for title in ("pass", "bids of different values", _BIDS_OF_ONE_VALUE, "payments", "foursomes"):
            listed = groups.get(title, [])
            if title == "payments":
                listed.sort(key=lambda entry: (entry[1].count("J"), entry[1]))
            if listed:
                found[title] = [Move(number + i, *entry) for i, entry in enumerate(listed)]
                number += len(listed)
        return found

    def rows(self, title: str, moves: Sequence[Move]) -> Sequence[Sequence[Move | None]] | None:
        """Bids of one value: a row for each number of cards, a column for each value."""
        if title != _BIDS_OF_ONE_VALUE:
            return None
        rows: dict[int, dict[int, Move]] = {}
        for move in moves:
            bid = self.game.actions.decode(move.action)
            rows.setdefault(bid.count, {})[bid.value] = move
        values = sorted({value for row in rows.values() for value in row})
        return [[row.get(value) for value in values] for row in rows.values()]

    def result(self) -> RenderableType:
        """The final scores, the best first, and who has won."""
        results = self.session.results
        rows = [
            [self.player(seat), *(Text(str(results[name][seat])) for name in ("score", "mice", "jokers"))]
            for seat in self.best_first()
        ]
        numbers = "score", "mice", "jokers shown"
        return Group(Text(), Columns(["player", *numbers], rows, right=numbers), Text(), self.winners())

    def best_first(self) -> list[int]:
        """The seats by score; with equal scores fewer jokers are better."""
        results = self.session.results
        return sorted(range(self.game.num_players), key=lambda seat: (-results["score"][seat], results["jokers"][seat]))

    def cards(self, counts: Any) -> Text:
        """Cards as coloured characters, those of a kind together."""
        grounds = [*_GROUNDS[: len(self.game.cards) - 1], _JOKER_GROUND]
        groups = [
            Text(card * int(count), style=f"{_LETTERS} on {ground}")
            for card, count, ground in zip(self.game.cards, counts, grounds, strict=True)
            if count
        ]
        return Text(" ").join(groups) if groups else Text("-", style="dim")

    def _middle(self, table: Any) -> RenderableType:
        """What lies in the middle of the table, and the auction."""
        if self.session.over:
            return Text("the game is over", style="bold")
        bid, bidder = int(table["bid"]), int(table["high_bidder"])
        highest = f"{self.game.actions.name(bid)} by {self.session.names[bidder]}" if bid else "none"
        auction = Text.assemble(
            (PHASES[table["phase"]], "bold"), "    row  ", self.cards(table["row"]), f"    highest bid  {highest}"
        )
        facts = Text(f"draw pile {len(table['deal']) - table['position']}   mice left {table['supply']}   discard pile  ")
        return Group(auction, facts + self.cards(table["discard"]))

    def _hand(self, table: Any, seat: int) -> Text:
        """The person's hand; of another one the cards that everybody knows, and a dot for each other card."""
        if seat == self.session.seat:
            return self.cards(table["hand"][seat])
        known = table["known"][seat]
        hidden = int(table["hand_sizes"][seat]) - int(known.sum())
        dots = Text("·" * hidden, style="dim")
        if not known.any():
            return dots if hidden else Text("-", style="dim")
        return Text.assemble(self.cards(known), " " if hidden else "", dots)

    def _notes(self, table: Any, seat: int) -> list[str]:
        """A player's part in the round."""
        notes = ["bandleader"] if seat == table["bandleader"] else []
        if seat == table["high_bidder"]:
            notes.append(f"highest bid {self.game.actions.name(int(table['bid']))}")
        if table["passed"][seat]:
            notes.append("passed")
        return notes

    # --- what the person types

    def normal(self, text: str) -> str:
        """The one form of all texts that mean the same move: case, spaces and the order of cards do not matter."""
        words = text.lower().split()
        if len(words) == 2 and words[0] in ("pay", "four"):
            cards, equals, value = words[1].partition("=")
            words[1] = "".join(sorted(cards)) + equals + value
        return " ".join(words)

    def objection(self, text: str) -> str | None:
        """Why a bid is not possible."""
        bid = re.fullmatch(r"(\d{1,2})(?:x(\d)|d)", text.lower())
        if not bid or int(bid[1]) < 1 or bid[2] == "0":
            return None
        table, actions = self.session.table, self.game.actions
        if table["phase"] != AUCTION:
            return f"{text} is a bid, but this is not an auction now"
        if actions.bid(int(bid[1]), int(bid[2] or 0)) <= table["bid"]:
            return f"{text} is not higher than {actions.name(int(table['bid']))}"
        return f"your hand cannot pay {text}"
