"""Draws a table as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from katz_env.katzenjammer.rules import OVER, PHASES

if TYPE_CHECKING:
    from katz_env.katzenjammer.game import Katzenjammer


def text(game: Katzenjammer, record: Any, seat: int | None = None) -> str:
    """A compact text table.

    Parameters
    ----------
    game
        The game that the table belongs to.
    record
        One table.
    seat
        From whose eyes: of other hands only the known cards are shown, a dot for each hidden one. None shows all hands.
    """

    def cards(counts: Any) -> str:
        return "".join(card * int(count) for card, count in zip(game.cards, counts, strict=True)) or "-"

    bid = game.actions.name(int(record["bid"])) if record["bid"] else "none"
    over = record["phase"] == OVER
    lines = [
        f"{PHASES[record['phase']]}: bid {bid}, row {cards(record['row'])}, discard {cards(record['discard'])}, "
        f"draw pile {len(record['deck']) - record['position']}, mice left {record['supply']}"
    ]
    scores = game.results(record.reshape(1))["score"][0] if over else None
    for other in range(game.num_players):
        if seat is None or seat == other:
            hand = cards(record["hand"][other])
        else:
            known = record["known"][other]
            hand = cards(known).strip("-") + "." * int(record["hand_sizes"][other] - known.sum())
        notes = [
            *(["bandleader"] if other == record["bandleader"] else []),
            *(["high bidder"] if other == record["high_bidder"] else []),
            *(["passed"] if record["passed"][other] else []),
            *([f"score {scores[other]}"] if scores is not None else []),
        ]
        mark = ">" if other == record["turn"] and not over else " "
        lines.append(
            f"{mark} player_{other}  mice {record['mice'][other]:2}  jokers {record['displayed'][other]:2}  "
            f"hand {hand or '-'}" + (f"  ({', '.join(notes)})" if notes else "")
        )
    return "\n".join(lines)
