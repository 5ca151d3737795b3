"""Tells in words what a move changed at a table, forced moves included, as far as one seat may know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from katz_env.katzenjammer.rules import AUCTION, OVER, PAYMENT

if TYPE_CHECKING:
    from katz_env.katzenjammer.game import Katzenjammer

Counts = NDArray[np.int64]
"""Cards by kind."""


class Story:
    """What happens at one table, told to one seat.

    Tables are given as that seat sees them (`Game.redact`), so nothing hidden can be told.

    Parameters
    ----------
    game
        The game.
    seat
        The listener, who is called "you".
    names
        What the players are called, by seat.
    """

    def __init__(self, game: Katzenjammer, seat: int, names: Sequence[str]) -> None:
        self.game, self.seat, self.names = game, seat, names

    def deal(self, dealt: Any) -> list[str]:
        """Lines about the first round of a table that nobody has moved at yet."""
        first = int(dealt["bandleader"])
        return [
            self._says(first, "be", "the first bandleader"),
            *self._reveal(dealt),
            *self._passed(dealt, range(len(self.names))),
        ]

    def move(self, before: Any, action: int, after: Any) -> list[str]:
        """Lines about the move `action` of the seat to act at `before`, and about all that followed until `after`."""
        mover, bid = int(before["turn"]), int(before["bid"])
        spent = np.array(self.game.actions.cards(action, bid))  # by `mover`, or by the winner of the auction
        spender, row = mover, np.zeros_like(spent)  # what is taken from the row by `spender`
        lines = [self._move(before, mover, action)]
        discarded = np.append(spent[:-1], spent[-1] * (action == self.game.actions.four_free))
        revealed = after["position"] != before["position"]
        if before["phase"] == PAYMENT:
            row = before["row"].astype(np.int64)
        elif before["phase"] == AUCTION and not revealed and after["phase"] == AUCTION:
            lines += self._passed(after, np.flatnonzero(before["passed"] == 0), mover)
        elif before["phase"] == AUCTION:
            spender = mover if action else int(before["high_bidder"])
            lines += self._cannot(s for s in range(len(self.names)) if not before["passed"][s] and s not in (mover, spender))
            if spender < 0:
                lines.append(f"nobody wants the row {self.cards(before['row'])}: it is discarded")
                discarded = before["row"].astype(np.int64)
            else:
                won_with = action or bid
                end = f"the row {self.cards(before['row'])} with {self.game.actions.name(won_with)}"
                if after["phase"] != PAYMENT:  # there was only one way to pay
                    row = before["row"].astype(np.int64)
                    discarded = after["discard"].astype(np.int64) - before["discard"]
                    jokers = self.game.actions.decode(won_with).count - discarded[:-1].sum()
                    spent = np.append(discarded[:-1], jokers)
                    end += f" and {'pay' if spender == self.seat else 'pays'} {self.cards(spent)}"
                lines.append(self._says(spender, "win", end))
        won = int(after["mice"].sum()) - int(before["mice"].sum())
        if won:
            lines[-1] += f": {won} {'mouse' if won == 1 else 'mice'}"
        if revealed:
            unwanted = after["discard"] - before["discard"] - discarded
            if unwanted.any():
                lines.append(f"nobody can bid for the row {self.cards(unwanted)}: it is discarded")
            # Jokers put down lie on display, where `_total` still counts them; unless they were thrown away.
            mine = np.append(spent[:-1], discarded[-1]) - row if spender == self.seat else np.zeros_like(row)
            lines += self._reveal(after, self._total(after) - self._total(before) + mine)
            if after["phase"] == AUCTION:
                lines += self._passed(after, range(len(self.names)))
        if after["phase"] == OVER:
            lines.append("the last mouse is taken" if after["supply"] == 0 else "the last card of the draw pile is taken")
        return lines

    def cards(self, counts: Any) -> str:
        """Cards as their characters, values ascending and jokers last; ``-`` for none."""
        return "".join(card * int(count) for card, count in zip(self.game.cards, counts, strict=True)) or "-"

    def _move(self, before: Any, mover: int, action: int) -> str:
        kind, name = self.game.actions.decode(action).kind, self.game.action_name(before, action)
        cards = name.partition(" ")[2]
        if kind == "pass":
            return self._says(mover, "pass")
        if kind == "bid":
            return self._says(mover, "bid", name)
        if kind == "done":
            return self._says(mover, "present", "no more foursomes")
        if kind == "four_free":
            return self._says(mover, "throw", f"{cards} away")
        if kind == "four":
            return self._says(mover, "present", cards)
        return self._says(mover, "pay", f"{cards} and {'take' if mover == self.seat else 'takes'} the row")

    def _reveal(self, table: Any, drawn: Counts | None = None) -> list[str]:
        """The row that was revealed last; `drawn` is what came into the listener's hand."""
        line = self._says(int(table["bandleader"]), "reveal", self.cards(table["row"]))
        if table["row"][-1]:
            line += "; everybody draws a card"
            if drawn is not None and drawn.any():
                line += f", you draw {self.cards(drawn)}"
        return [line]

    def _passed(self, table: Any, seats: Any, mover: int = -1) -> list[str]:
        """Those of the seats that were passed by the rules, because their hands cannot bid."""
        return self._cannot(int(seat) for seat in seats if seat != mover and table["passed"][seat])

    def _cannot(self, seats: Any) -> list[str]:
        return [f"{self.names[seat]} cannot bid higher and must pass" for seat in seats]

    def _says(self, seat: int, verb: str, rest: str = "") -> str:
        verbs = {"be": ("are", "is"), "pass": ("pass", "passes")}.get(verb, (verb, verb + "s"))
        return f"{self.names[seat]} {verbs[seat != self.seat]} {rest}".rstrip()

    def _total(self, table: Any) -> Counts:
        """The listener's cards, those jokers included that lie on display."""
        total = table["hand"][self.seat].astype(np.int64)
        total[-1] += table["displayed"][self.seat]
        return np.asarray(total)
