"""The screen of Katz und Maus in the terminal: coloured cards, and the moves by where the card comes from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from katz_env.games.katz_und_maus import picture
from katz_env.games.katz_und_maus.actions import WILD
from katz_env.games.katz_und_maus.rules import PLAYERS
from katz_env.play.layout import Columns
from katz_env.play.screen import Move, MoveGroups, Screen

if TYPE_CHECKING:
    from katz_env.games.katz_und_maus import KatzUndMaus

# Black letters on these pale grounds can be read in light and in dark terminals, whatever their themes.
_LETTERS = "bold color(16)"
_GROUNDS = tuple(f"color({number})" for number in (217, 216, 222, 186, 150, 115, 116, 117, 111, 147, 183, 218))
_WILD_GROUND = "color(220)"
_TITLES = {
    "from_stock": "from the stock",
    "from_hand": "from the hand",
    "from_deposit": "from deposits",
    "discard": "end the turn",
    "end": "end the turn",
}
_MOST_OF_DEPOSIT = 8  # the cards of a deposit that are shown; how many lie below is said


class KatzUndMausScreen(Screen):
    """The screen of Katz und Maus; see `Screen`."""

    game: KatzUndMaus
    moves_help = (
        "Type the number of a move, or its name: stock>s1 (the open card of your stock on stack 1), 7>s1 (a 7 from your hand), "
        "d2>s1 (the top card of your deposit 2), 7>d2 (lay a 7 on deposit 2, which ends your turn), end. A king is any card. "
        "Of a deposit the last card is the top one."
    )

    # --- what is shown

    def table(self) -> RenderableType:
        """The table from the person's seat."""
        table, playing = self.session.table, not self.session.over
        rows = [
            [
                Text(">" if playing and seat == table["turn"] else ""),
                self.player(seat),
                Text(str(table["stock_sizes"][seat])),
                self.cards(self._top(table, seat)),
                self._hand(table, seat),
                *(self._deposit(table, seat, i) for i in range(self.game.rules.deposits)),
            ]
            for seat in range(PLAYERS)
        ]
        deposits = [f"d{i + 1}" for i in range(self.game.rules.deposits)]
        players = Columns(["", "player", "stock", "open", "hand", *deposits], rows, right=("stock",))
        return Group(Text(), self._middle(table), Text(), players)

    def groups(self) -> MoveGroups:
        """The legal moves by where the card comes from, and those that end the turn."""
        table = self.session.table
        groups: dict[str, list[tuple[int, str, str]]] = {}
        for name, action in self.game.legal_names(table, self.session.mask).items():
            move = self.game.actions.decode(action)
            groups.setdefault(_TITLES[move.kind], []).append((action, name, self._note(table, action)))
        found, number = {}, 1
        for title in dict.fromkeys(_TITLES.values()):
            listed = groups.get(title, [])
            if listed:
                found[title] = [Move(number + i, *entry) for i, entry in enumerate(listed)]
                number += len(listed)
        return found

    def rows(self, title: str, moves: Sequence[Move]) -> Sequence[Sequence[Move | None]] | None:
        """All moves: a row for each card or deposit that they come from, a column for each stack or deposit where they go."""
        del title
        rows: dict[tuple[int, int], dict[int, Move]] = {}
        for move in moves:
            meaning = self.game.actions.decode(move.action)
            if meaning.kind == "end":
                return None
            discards = meaning.kind == "discard"
            source = meaning.card, -1 if discards else meaning.deposit
            rows.setdefault(source, {})[meaning.deposit if discards else meaning.stack] = move
        places = sorted({place for row in rows.values() for place in row})
        return [[row.get(place) for place in places] for row in rows.values()]

    def result(self) -> RenderableType:
        """The cards left in the stocks, and who has won."""
        results = self.session.results
        rows = [[self.player(seat), Text(str(results["stock"][seat]))] for seat in self.best_first()]
        ending = self.winners() if min(results["win_share"]) == 0 else Text("a draw", style="bold")
        return Group(Text(), Columns(["player", "cards left"], rows, right=("cards left",)), Text(), ending)

    def cards(self, characters: str) -> Text:
        """Cards as coloured characters; ``-`` for none."""
        if not characters:
            return Text("-", style="dim")
        ranks = self.game.cards
        grounds = [_WILD_GROUND if card == WILD else _GROUNDS[ranks.index(card)] for card in characters]
        return Text.assemble(*((card, f"{_LETTERS} on {ground}") for card, ground in zip(characters, grounds, strict=True)))

    def _middle(self, table: Any) -> RenderableType:
        """The stacks, the ranks that they want, and the talon."""
        stacks = []
        for i, height in enumerate(table["heights"]):
            top = self.cards(self.game.cards[height - 1]) if height else Text("-", style="dim")
            stacks.append(Text.assemble((f"s{i + 1} ", "dim"), top, (" wants ", "dim"), self.cards(self.game.cards[height])))
        return Group(Text("    ").join(stacks), Text.assemble(("talon ", "dim"), str(picture.talon(table))))

    def _top(self, table: Any, seat: int) -> str:
        return self.game.cards[table["stock_tops"][seat]] if table["stock_sizes"][seat] else ""

    def _hand(self, table: Any, seat: int) -> Text:
        """The person's hand; of the other one a dot for each card."""
        if seat == self.session.seat:
            return self.cards(picture.hand(self.game, table, seat))
        return Text("·" * int(table["hand_sizes"][seat]) or "-", style="dim")

    def _deposit(self, table: Any, seat: int, index: int) -> Text:
        """The upper cards of a deposit, the top one last, and how many lie below."""
        cards = picture.deposit(self.game, table, seat, index)
        below = len(cards) - _MOST_OF_DEPOSIT
        return Text.assemble((f"{below}+" if below > 0 else "", "dim"), self.cards(cards[-_MOST_OF_DEPOSIT:]))

    def _note(self, table: Any, action: int) -> str:
        """Return which card a move plays, and what a king stands for."""
        move, seat = self.game.actions.decode(action), self.session.seat
        if move.kind in ("discard", "end"):
            return ""
        card = {
            "from_hand": lambda: self.game.cards[move.card],
            "from_stock": lambda: self._top(table, seat),
            "from_deposit": lambda: picture.deposit(self.game, table, seat, move.deposit)[-1],
        }[move.kind]()
        stands_for = f"as {self.game.cards[table['heights'][move.stack]]}" if card == WILD else ""
        return stands_for if move.kind == "from_hand" else f"{card} {stands_for}".rstrip()

    # --- what the person types

    def normal(self, text: str) -> str:
        """The one form of all texts that mean the same move: case and spaces do not matter, and 10 is T."""
        return "".join(text.lower().split()).replace("10>", "t>")

    def objection(self, text: str) -> str | None:
        """Why a move is not possible."""
        match = re.fullmatch(r"(stock|d(\d+)|[a2-9tjqk])>([sd])(\d+)", self.normal(text))
        if not match:
            return None
        source, deposit, target, index = match[1], match[2], match[3], int(match[4])
        rules, table = self.game.rules, self.session.table
        for what, number, most in (("deposit", int(deposit or 1), rules.deposits), ("stack", index, rules.stacks)):
            if not 1 <= number <= most and (what == "deposit" or target == "s"):
                return f"there is no {what} {number}"
        if target == "d":
            if not 1 <= index <= rules.deposits:
                return f"there is no deposit {index}"
            if source == "stock" or deposit:
                return "only hand cards go on a deposit"
        if source != "stock" and not deposit and source.upper() not in picture.hand(self.game, table, self.session.seat):
            return f"you have no {source.upper()} in hand"
        return f"s{index} wants {self.game.cards[table['heights'][index - 1]]}" if target == "s" else None
