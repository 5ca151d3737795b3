"""The screen of Meow in the terminal: coloured cards and tiles, the trick, and moves by colour."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from katz_env.games.meow import picture
from katz_env.games.meow.rules import BOWL, COLOURS, FISHBONE
from katz_env.play.layout import Columns
from katz_env.play.screen import Move, MoveGroups, Screen

if TYPE_CHECKING:
    from katz_env.games.meow import Meow

# Black letters on these pale grounds can be read in light and in dark terminals, whatever their themes.
_LETTERS = "bold color(16)"
_CARD_GROUNDS = ("color(117)", "color(218)", "color(114)")
_TILE_GROUNDS = ("color(193)", "color(217)", "color(153)", "color(183)")
_TITLES = ("blue", "pink", "green (trump)")


class MeowScreen(Screen):
    """The screen of Meow; see `Screen`."""

    game: Meow
    moves_help = (
        "Type the number of a move, or the name of a card: B8 (blue), P18 (pink), G1 (green, trump). Follow the colour led if "
        "you can. The highest card wins, but the 1 beats the highest rank of its colour."
    )

    # --- what is shown

    def table(self) -> RenderableType:
        """The table from the person's seat."""
        table, playing = self.session.table, not self.session.over
        rows = [
            [
                Text(">" if playing and seat == table["turn"] else ""),
                self.player(seat),
                Text(str(table["score"][seat])),
                self.tiles(picture.won(table, seat)),
                self._hand(table, seat),
                Text(", ".join(self._notes(table, seat)) if playing else ""),
            ]
            for seat in range(self.game.num_players)
        ]
        players = Columns(["", "player", "score", "tiles", "hand", ""], rows, right=("score",))
        return Group(Text(), *self._middle(table), Text(), players)

    def groups(self) -> MoveGroups:
        """The legal moves by colour."""
        found: dict[str, list[Move]] = {}
        for number, (name, action) in enumerate(self.game.legal_names(self.session.table, self.session.mask).items(), 1):
            title = _TITLES[action // self.game.rules.ranks]
            found.setdefault(title, []).append(Move(number, action, name))
        return found

    def cards(self, cards: Iterable[int]) -> Text:
        """Cards in their colours."""
        ranks = self.game.rules.ranks
        words = [Text(self.game.cards[card], style=f"{_LETTERS} on {_CARD_GROUNDS[card // ranks]}") for card in cards]
        return Text(" ").join(words) if words else Text("-", style="dim")

    def tiles(self, kinds: Iterable[int]) -> Text:
        """Tiles on the grounds of their kinds."""
        types, names = self.game.rules.tile_types, self.game.tiles
        words = [Text(names[kind], style=f"{_LETTERS} on {_TILE_GROUNDS[types[kind].kind]}") for kind in kinds]
        return Text(" ").join(words) if words else Text("-", style="dim")

    def _middle(self, table: Any) -> list[Text]:
        """The round, the row and the trick."""
        if self.session.over:
            return [Text("the game is over", style="bold")]
        rules, names = self.game.rules, self.session.names
        tiles = self.tiles(picture.row(table))
        lines = [Text.assemble((f"round {table['round_index'] + 1} of {rules.rounds}", "bold"), "    row  ", tiles)]
        lies = picture.trick(self.game, table)
        if lies:
            best = picture.winning_seat(lies, rules.ranks)
            words = [
                Text.assemble(self.cards([card]), f" {names[seat]}" + ("*" if seat == best else "")) for seat, card in lies
            ]
            lines.append(Text("trick  ") + Text("   ").join(words) + Text("   (* wins so far)", style="dim"))
        else:
            next_tile = self.tiles(picture.row(table)[:1])
            lines.append(Text(f"trick  {names[table['leader']]} to lead for ") + next_tile)
        return lines

    def _hand(self, table: Any, seat: int) -> Text:
        """The person's hand; of another one a dot for each card."""
        if seat == self.session.seat:
            return self.cards(picture.hand(self.game, table, seat))
        dots = "·" * picture.hand_size(self.game, table, seat)
        return Text(dots or "-", style="dim")

    def _notes(self, table: Any, seat: int) -> list[str]:
        """What is known of a player, and what the next tile would do."""
        lacks = " and ".join(COLOURS[colour] for colour in range(3) if table["void"][seat, colour])
        notes = ["start marker"] if seat == table["marker"] else []
        if lacks:
            notes.append(f"has no {lacks}")
        kind = self.game.rules.tile_types[picture.row(table)[0]].kind
        gain = int(table["gain"][seat])
        if kind != BOWL and not (kind == FISHBONE and gain == table["next_value"]):
            notes.append(f"next tile {gain:+}" if gain else "next tile 0")
        return notes

    # --- what the person types

    def objection(self, text: str) -> str | None:
        """Why a card cannot be played."""
        name, table = text.upper(), self.session.table
        if name not in self.game.cards:
            return None
        if self.game.cards.index(name) not in picture.hand(self.game, table, self.session.seat):
            return f"you do not hold {name}"
        return f"{_TITLES[table['led']].partition(' ')[0]} was led, and you have to follow"
