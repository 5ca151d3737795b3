"""Commentary: what happened at a table in words, written from the event log alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from katz_env.games.meow import rules

if TYPE_CHECKING:
    from katz_env.games.meow.game import Meow


def tell(game: Meow, events: NDArray[Any], names: Sequence[str], seat: int | None) -> list[str]:
    """Return lines about events; see `Game.tell`."""
    lines: list[str] = []
    for event in events:
        if event["kind"] == rules.LAID and lines:
            lines[-1] += f" {_listed(event['cards'][len(game.cards) :], game.tiles)}"
        elif line := _line(game, event, names, seat):
            lines.append(line)
    return lines


def _line(game: Meow, event: Any, names: Sequence[str], listener: int | None) -> str:
    """Return one event as a line; the empty string if there is nothing to say."""
    kind, seat = int(event["kind"]), int(event["seat"])
    cards = _listed(event["cards"][: len(game.cards)], game.cards)
    tiles = _listed(event["cards"][len(game.cards) :], game.tiles)

    def says(verb: str, rest: str) -> str:
        return f"{names[seat]} {verb if seat == listener else verb + 's'} {rest}"

    if kind == rules.OPENED:
        return f"round {event['number']}: the row is"
    if kind == rules.DEALT and seat == listener:
        return says("get", cards)
    if kind == rules.LEADS:
        return says("have" if seat == listener else "ha", "the start marker")
    if kind == rules.PLAYED:
        return says("play", cards)
    if kind == rules.WON:
        return says("win", f"the trick and {'take' if seat == listener else 'takes'} {tiles}")
    return "the last trick is played" if kind == rules.ENDED else ""


def _listed(counts: Any, names: Sequence[str]) -> str:
    return " ".join(name for place in np.flatnonzero(counts).tolist() for name in [names[place]] * int(counts[place]))
