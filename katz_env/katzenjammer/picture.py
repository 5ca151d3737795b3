"""Draws a table: as text, and as a picture whose shapes are all its own.

The picture is 520 units wide. In the middle of the table lie the row, the highest bid and the piles; below, every seat has a
line with its name, what it has said in this auction, its hand, its mice and its displayed jokers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from katz_env.drawing import Picture, lettering
from katz_env.katzenjammer import cards, engine
from katz_env.katzenjammer.actions import ActionTable, card_characters
from katz_env.katzenjammer.cards import DIM, GOLD, INK, LIGHT, SYMBOLS, spread
from katz_env.katzenjammer.rules import AUCTION, FOURSOMES, OVER, PAYMENT, PHASES, rules_of

WIDTH, MARGIN = 520, 12
MIDDLE_HEIGHT, SEAT_HEIGHT, GAP = 152, 66, 6
FELT, MIDDLE, PLACE, PLACE_OF_TURN = "#16233d", "#22345a", "#22345a", "#34508a"


def text(table: Any, seat: int | None = None) -> str:
    """A compact text table.

    Parameters
    ----------
    table
        One record.
    seat
        From whose eyes: of other hands only the known cards are shown, a dot for each hidden one. None shows all hands.
    """
    characters, n = card_characters(table["row"].size - 1), len(table["hand"])

    def named(counts: Any) -> str:
        return "".join(card * int(count) for card, count in zip(characters, counts, strict=True)) or "-"

    over = table["phase"] == OVER
    lines = [
        f"{PHASES[table['phase']]}: bid {_bid_name(table, table['bid']) or 'none'}, row {named(table['row'])}, "
        f"discard {named(table['discard'])}, draw pile {_draw_pile(table)}, mice left {table['supply']}"
    ]
    scores, _ = _outcome(table)
    for other in range(n):
        if seat is None or seat == other:
            hand = named(table["hand"][other])
        else:
            known = table["known"][other]
            hand = named(known).strip("-") + "." * int(table["hand_sizes"][other] - known.sum())
        notes = [
            *(["bandleader"] if other == table["bandleader"] else []),
            *(["high bidder"] if other == table["high_bidder"] else []),
            *(["passed"] if table["passed"][other] else []),
            *([f"score {scores[other]}"] if over else []),
        ]
        mark = ">" if other == table["turn"] and not over else " "
        lines.append(
            f"{mark} player_{other}  mice {table['mice'][other]:2}  jokers {table['displayed'][other]:2}  "
            f"hand {hand or '-'}" + (f"  ({', '.join(notes)})" if notes else "")
        )
    return "\n".join(lines)


def svg(table: Any, seat: int | None = None, names: Sequence[str] | None = None) -> str:
    """A table as SVG.

    Parameters
    ----------
    table
        One record; a redacted one can be drawn from the eyes of its seat.
    seat
        From whose eyes: other hands lie face down, with the cards on their backs that everybody knows to be there. None shows
        all hands.
    names
        What the seats are called; by default ``player_0`` and so on.

    Raises
    ------
    ValueError
        If there is no such seat, or not one name for each.
    """
    return picture(table, names).svg(seat, text(table, seat))


def picture(table: Any, names: Sequence[str] | None = None) -> Picture:
    """A table as a `Picture`, from which the views of all seats can be put together."""
    n = len(table["hand"])
    names = [f"player_{seat}" for seat in range(n)] if names is None else list(names)
    if len(names) != n:
        raise ValueError(f"there are {len(names)} names; {n} players need {n}")
    height = MARGIN + MIDDLE_HEIGHT + n * (GAP + SEAT_HEIGHT) + MARGIN
    felt = f'<rect width="{WIDTH}" height="{height}" rx="16" fill="{FELT}"/>'
    public = [felt, *_middle(table, names)]
    hidden, shown = [], []
    for seat in range(n):
        y = MARGIN + MIDDLE_HEIGHT + GAP + seat * (GAP + SEAT_HEIGHT)
        public += _place(table, seat, names[seat], y)
        hidden.append(_hand(cards.backs(table["hand_sizes"][seat], table["known"][seat]), table, seat, y))
        shown.append(_hand(cards.faces(table["hand"][seat]), table, seat, y))
    return Picture(WIDTH, height, tuple(public), tuple(hidden), tuple(shown), SYMBOLS)


# --- the middle of the table


def _middle(table: Any, names: Sequence[str]) -> list[str]:
    left, right, top = MARGIN + 14, WIDTH - MARGIN - 14, MARGIN
    parts = [
        f'<rect x="{MARGIN}" y="{top}" width="{WIDTH - 2 * MARGIN}" height="{MIDDLE_HEIGHT}" rx="10" fill="{MIDDLE}"/>',
        lettering.draw(_headline(table, names), left, top + 26, 18, LIGHT, room=right - left),
    ]
    if table["row"].any():
        parts.append(spread(cards.faces(table["row"]), left, top + 39, 320, height=64))
    else:
        parts.append(
            f'<rect x="{left + 1}" y="{top + 40}" width="44" height="62" rx="6" fill="none" stroke="{DIM}" '
            'stroke-width="2" stroke-dasharray="5 5"/>'
        )
    bid, bidder = _bid_name(table, table["bid"]), int(table["high_bidder"])
    if bid and table["phase"] != OVER:
        parts.append(lettering.draw(bid, right, top + 78, 46, GOLD, "end"))
        if bidder >= 0:
            parts.append(lettering.draw(names[bidder], right, top + 101, 16, LIGHT, "end", room=140))
    elif table["phase"] == AUCTION:
        parts.append(lettering.draw("no bid yet", right, top + 76, 18, DIM, "end"))
    return parts + _piles(table, left, right, top + 114)


def _headline(table: Any, names: Sequence[str]) -> str:
    name, phase = lettering.shorten(names[table["turn"]], 18, 200), table["phase"]
    if phase == AUCTION:
        return f"{name} bids or passes"
    if phase == PAYMENT:
        return f"{name} pays {_bid_name(table, table['bid'])}"
    if phase == FOURSOMES:
        return f"{name} may present foursomes"
    scores, winners = _outcome(table)
    best = " and ".join(lettering.shorten(names[seat], 18, 300 / winners.sum()) for seat in np.flatnonzero(winners).tolist())
    return f"{best} {'wins' if winners.sum() == 1 else 'win'} with {scores[winners][0]}"


def _piles(table: Any, left: float, right: float, y: float) -> list[str]:
    """The draw pile, the supply of mice and the discard pile, in one line."""
    parts = [
        f'<use href="#card-back" transform="translate({left} {y}) scale(.52)"/>',
        lettering.draw(str(_draw_pile(table)), left + 24, y + 20, 18, LIGHT),
        f'<use href="#sign-mouse" transform="translate({left + 68} {y + 2})"/>',
        lettering.draw(str(table["supply"]), left + 98, y + 20, 18, LIGHT),
        lettering.draw("discard", left + 142, y + 19, 15, DIM),
    ]
    kinds, start = len(table["discard"]), left + 152 + lettering.width("discard", 15)
    step = min(44.0, (right - start) / kinds)
    for kind, count in enumerate(table["discard"]):
        zoom, faint = min(1.0, step / 40), "" if count else ' opacity=".35"'
        parts.append(
            f'<g transform="translate({start + kind * step:.4g} {y + 13}) scale({zoom:.3g})"{faint}>'
            f'<use href="#chip{cards.kind_name(kind, kinds)}" y="-11"/>{lettering.draw(str(count), 19.5, 5.5, 15, LIGHT)}</g>'
        )
    return parts


# --- the seats


def _place(table: Any, seat: int, name: str, y: float) -> list[str]:
    """All but the hand of a seat's line."""
    over = table["phase"] == OVER
    turn = seat == table["turn"] and not over
    fill, edge = (PLACE_OF_TURN, f' stroke="{GOLD}" stroke-width="3"') if turn else (PLACE, "")
    left, right = MARGIN, WIDTH - MARGIN
    leader = seat == table["bandleader"]
    room, mice = 100 if leader else 122, str(table["mice"][seat])
    parts = [
        f'<rect x="{left}" y="{y}" width="{right - left}" height="{SEAT_HEIGHT}" rx="10" fill="{fill}"{edge}/>',
        lettering.draw(name, left + 12, y + 25, 16, DIM if table["passed"][seat] and not over else LIGHT, room=room),
        _said(table, seat, left + 12, y + 36),
        f'<use href="#sign-mouse" transform="translate({right - 69} {y + 10})"/>',
        lettering.draw(mice, right - 10, y + 28, min(21, 630 / lettering.width(mice, 21)), LIGHT, "end"),
        f'<use href="#chipJ" transform="translate({right - 63} {y + 36})"/>',
        lettering.draw(str(table["displayed"][seat]), right - 10, y + 54, 18, LIGHT, "end"),
    ]
    if leader:
        x = left + 17 + min(room, lettering.width(name, 16))
        parts.append(f'<use href="#sign-note" transform="translate({x:.4g} {y + 9})"/>')
    return parts


def _said(table: Any, seat: int, x: float, y: float) -> str:
    """What a seat has said in this auction, or its score at the end."""
    if table["phase"] == OVER:
        scores, winners = _outcome(table)
        return _pill(f"score {scores[seat]}", x, y, bool(winners[seat]))
    if table["passed"][seat]:
        return lettering.draw("passed", x, y + 16, 16, DIM)
    bid = _bid_name(table, _last_bid(table, seat))
    return _pill(bid, x, y, seat == table["high_bidder"]) if bid else ""


def _pill(words: str, x: float, y: float, strong: bool) -> str:
    width = lettering.width(words, 16) + 16
    style = f'fill="{GOLD}"' if strong else f'fill="none" stroke="{DIM}" stroke-width="1.5"'
    return f'<rect x="{x}" y="{y}" width="{width:.4g}" height="22" rx="11" {style}/>' + lettering.draw(
        words, x + 8, y + 17, 16, INK if strong else LIGHT
    )


def _hand(items: cards.Items, table: Any, seat: int, y: float) -> str:
    faint = ' opacity=".65"' if table["passed"][seat] and table["phase"] != OVER else ""
    return f"<g{faint}>{spread(items, 152, y + 8, 272, height=50)}</g>"


# --- what the record says


def _outcome(table: Any) -> tuple[Any, Any]:
    """The scores and who has won, each ``(n,)``; zeros and nobody while the game goes on."""
    n = len(table["hand"])
    rewards, scores = np.zeros((1, n), np.float32), np.zeros((1, n), np.int16)
    engine.outcome_many(table.reshape(1), engine.WIN, rewards, scores)
    winners = rewards[0] > -0.5 / n  # who did not win is paid -1/n
    return scores[0], winners & (table["phase"] == OVER)


def _draw_pile(table: Any) -> int:
    return len(table["deck"]) - int(table["position"])


def _bid_name(table: Any, bid: Any) -> str:
    """The name of a bid by its id; empty for none."""
    return ActionTable(rules_of(table)).name(int(bid)) if bid else ""


def _last_bid(table: Any, seat: int) -> int:
    """The id of the highest bid that a seat has made in this auction; 0 if it has made none."""
    claims, actions = table["claims"][seat], ActionTable(rules_of(table))
    return max((actions.bid(int(count), kind) for kind, count in enumerate(claims) if count), default=0)
