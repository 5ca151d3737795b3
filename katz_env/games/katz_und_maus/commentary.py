"""Commentary: what happened at a table in words, written from the event log alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from katz_env.games.katz_und_maus import rules

if TYPE_CHECKING:
    from katz_env.games.katz_und_maus.game import KatzUndMaus

_FROM = {rules.FROM_HAND: "the hand", rules.FROM_STOCK: "the stock"}


def tell(game: KatzUndMaus, events: NDArray[Any], names: Sequence[str], seat: int | None) -> list[str]:
    """Return lines about events, one for each move; see `Game.tell`."""
    lines: list[str] = []
    plays = (*_FROM, rules.FROM_DEPOSIT)
    for i, event in enumerate(events):
        height = int(events[i + 1]["number"]) if event["kind"] in plays else 0
        _add(game, lines, event, names, seat, height)
    return [line.rstrip(",") for line in lines]


def _add(game: KatzUndMaus, lines: list[str], event: Any, names: Sequence[str], listener: int | None, height: int) -> None:
    """Add one event to `lines`, as a line of its own or at the end of the line that it belongs to.

    `height` is the height of the stack after a card was played onto it.
    """
    kind, seat, number, cards = int(event["kind"]), int(event["seat"]), int(event["number"]), _cards(game, event["cards"])
    mine = seat == listener

    def says(verb: str, rest: str) -> str:
        return f"{names[seat]} {verb if mine else verb + 's'} {rest}"

    if kind == rules.OPENED:
        if number == game.rules.stock_size:
            whose = "your" if mine else f"{names[seat]}'s"
            lines.append(f"{whose} stock has {number} cards, the open one is {cards}")
        else:
            lines[-1] += f" and {'turn' if mine else 'turns'} up {cards}, {number} left in the stock"
    elif kind == rules.DEALT and mine:
        lines.append(f"your hand is {cards}")
    elif kind == rules.LED:
        lines.append(says("begin", "").rstrip())
    elif height:
        move = game.actions.decode(number)
        source = _FROM.get(kind, f"d{move.deposit + 1}")
        stands_for = f" as {game.cards[height - 1]}" if event["cards"][-1] else ""
        lines.append(says("play", f"{cards} from {source} onto s{move.stack + 1}{stands_for}"))
    elif kind == rules.COMPLETED:
        lines[-1] += ", which is complete and is taken away,"
    elif kind == rules.DISCARDED:
        lines.append(says("lay", f"{cards} on d{game.actions.decode(number).deposit + 1}"))
    elif kind == rules.PASSED_ON:
        lines.append(says("end", "the turn"))
    elif kind == rules.DREW:
        lines[-1] += " and " + (f"draw {cards}" if mine else f"draws {number} card{'s' if number > 1 else ''}")
    elif kind == rules.ENDED:
        away = f"{names[seat]} {'have' if mine else 'has'} played away the stock"
        lines.append(away if number else "the talon is used up")


def _cards(game: KatzUndMaus, counts: Any) -> str:
    """Return cards as characters, ranks ascending and kings last."""
    return "".join(card * int(count) for card, count in zip(game.cards, counts, strict=True))
