"""Commentary: what happened at a table in words, written from the event log alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from katz_env.games.katzenjammer import rules

if TYPE_CHECKING:
    from katz_env.games.katzenjammer.game import Katzenjammer

_IRREGULAR = {"be": ("are", "is"), "pass": ("pass", "passes")}
"""The forms of verbs, for "you" and for others, that do not just take an s."""


def tell(game: Katzenjammer, events: NDArray[Any], names: Sequence[str], seat: int | None) -> list[str]:
    """Return lines about events; see `Game.tell`."""
    lines: list[str] = []
    for event in events:
        _add(game, lines, event, names, seat)
    return lines


def _add(game: Katzenjammer, lines: list[str], event: Any, names: Sequence[str], listener: int | None) -> None:
    """Add one event to `lines`, as a line of its own or at the end of the line that it belongs to."""
    kind, seat, cards = int(event["kind"]), int(event["seat"]), _cards(game, event["cards"])

    def says(verb: str, rest: str = "") -> str:
        you, others = _IRREGULAR.get(verb, (verb, verb + "s"))
        return f"{names[seat]} {you if seat == listener else others} {rest}".rstrip()

    if kind == rules.LED:
        lines.append(says("be", "the first bandleader"))
    elif kind == rules.REVEALED:
        lines.append(says("reveal", cards))
        if event["cards"][-1]:
            lines[-1] += "; everybody draws a card"
    elif kind == rules.DREW and seat == listener:
        lines[-1] += f", you draw {cards}"
    elif kind == rules.BID:
        lines.append(says("bid", game.actions.name(int(event["number"]))))
    elif kind == rules.PASSED:
        lines.append(says("pass"))
    elif kind == rules.DISCARDED:
        lines.append(f"nobody wants the row {cards}: it is discarded")
    elif kind == rules.PAID:
        lines.append(says("pay", cards))
    elif kind == rules.TOOK:
        lines[-1] += f" and {'take' if seat == listener else 'takes'} the row {cards}"
    elif kind == rules.PRESENTED:
        declared = f"={event['number']}" if not event["cards"][:-1].any() else ""
        lines.append(says("present", cards + declared))
    elif kind == rules.WON_MICE:
        lines[-1] += f": {event['number']} {'mouse' if event['number'] == 1 else 'mice'}"
    elif kind == rules.THREW:
        lines.append(says("throw", f"{cards} away"))
    elif kind == rules.ENDED:
        lines.append("the last mouse is taken" if event["number"] else "the last card of the draw pile is taken")


def _cards(game: Katzenjammer, counts: Any) -> str:
    """Return cards as characters, values ascending and jokers last; ``-`` for none."""
    return "".join(card * int(count) for card, count in zip(game.cards, counts, strict=True)) or "-"
