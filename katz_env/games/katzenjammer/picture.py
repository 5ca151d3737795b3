"""Drawings of a table: as text, and as a picture.

The picture is 520 units wide. The middle of the table holds the row, the highest bid and the piles. Below it, every seat has
a line with its name, its last bid in this auction, its hand, its mice and its displayed jokers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from katz_env.drawing import Picture, lettering
from katz_env.games.katzenjammer import card_symbols
from katz_env.games.katzenjammer.actions import card_characters
from katz_env.games.katzenjammer.card_symbols import DIM, GOLD, INK, LIGHT, SYMBOLS, spread
from katz_env.games.katzenjammer.rules import AUCTION, FOURSOMES, OVER, PAYMENT, PHASES

if TYPE_CHECKING:
    from katz_env.games.katzenjammer.game import Katzenjammer

WIDTH, MARGIN = 520, 12
MIDDLE_HEIGHT, SEAT_HEIGHT, GAP = 152, 66, 6
FELT, MIDDLE, PLACE, PLACE_OF_TURN = "#16233d", "#22345a", "#22345a", "#34508a"


def text(game: Katzenjammer, table: Any, seat: int | None = None) -> str:
    """Return a table as compact text.

    Parameters
    ----------
    game
        The game of the table.
    table
        The record of the table.
    seat
        The point of view: other hands show their known cards, and a dot for each hidden card. None shows all hands.
    """
    characters, n = card_characters(table["row"].size - 1), len(table["hand"])

    def named(counts: Any) -> str:
        return "".join(card * int(count) for card, count in zip(characters, counts, strict=True)) or "-"

    over = table["phase"] == OVER
    lines = [
        f"{PHASES[table['phase']]}: bid {_bid_name(game, table['bid']) or 'none'}, row {named(table['row'])}, "
        f"discard {named(table['discard'])}, draw pile {_draw_pile(table)}, mice left {table['supply']}"
    ]
    scores, _ = _outcome(game, table)
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


def picture(game: Katzenjammer, table: Any, names: Sequence[str] | None = None) -> Picture:
    """Return a table as a `Picture`, which contains the views of all seats; `names` are the names of the seats.

    Raises
    ------
    ValueError
        If there is not one name for each seat.
    """
    n = len(table["hand"])
    names = [f"player_{seat}" for seat in range(n)] if names is None else list(names)
    if len(names) != n:
        raise ValueError(f"there are {len(names)} names; {n} players need {n}")
    height = MARGIN + MIDDLE_HEIGHT + n * (GAP + SEAT_HEIGHT) + MARGIN
    felt = f'<rect width="{WIDTH}" height="{height}" rx="16" fill="{FELT}"/>'
    public = [felt, *_middle(game, table, names)]
    hidden, shown = [], []
    for seat in range(n):
        y = MARGIN + MIDDLE_HEIGHT + GAP + seat * (GAP + SEAT_HEIGHT)
        public += _place(game, table, seat, names[seat], y)
        hidden.append(_hand(card_symbols.backs(table["hand_sizes"][seat], table["known"][seat]), table, seat, y))
        shown.append(_hand(card_symbols.faces(table["hand"][seat]), table, seat, y))
    return Picture(WIDTH, height, tuple(public), tuple(hidden), tuple(shown), SYMBOLS)


# --- the middle of the table


def _middle(game: Katzenjammer, table: Any, names: Sequence[str]) -> list[str]:
    left, right, top = MARGIN + 14, WIDTH - MARGIN - 14, MARGIN
    parts = [
        f'<rect x="{MARGIN}" y="{top}" width="{WIDTH - 2 * MARGIN}" height="{MIDDLE_HEIGHT}" rx="10" fill="{MIDDLE}"/>',
        lettering.draw(_headline(game, table, names), left, top + 26, 18, LIGHT, room=right - left),
    ]
    if table["row"].any():
        parts.append(spread(card_symbols.faces(table["row"]), left, top + 39, 320, height=64))
    else:
        parts.append(
            f'<rect x="{left + 1}" y="{top + 40}" width="44" height="62" rx="6" fill="none" stroke="{DIM}" '
            'stroke-width="2" stroke-dasharray="5 5"/>'
        )
    bid, bidder = _bid_name(game, table["bid"]), int(table["high_bidder"])
    if bid and table["phase"] != OVER:
        parts.append(lettering.draw(bid, right, top + 78, 46, GOLD, "end"))
        if bidder >= 0:
            parts.append(lettering.draw(names[bidder], right, top + 101, 16, LIGHT, "end", room=140))
    elif table["phase"] == AUCTION:
        parts.append(lettering.draw("no bid yet", right, top + 76, 18, DIM, "end"))
    return parts + _piles(table, left, right, top + 114)


def _headline(game: Katzenjammer, table: Any, names: Sequence[str]) -> str:
    name, phase = lettering.shorten(names[table["turn"]], 18, 200), table["phase"]
    if phase == AUCTION:
        return f"{name} bids or passes"
    if phase == PAYMENT:
        return f"{name} pays {_bid_name(game, table['bid'])}"
    if phase == FOURSOMES:
        return f"{name} may present foursomes"
    scores, winners = _outcome(game, table)
    best = " and ".join(lettering.shorten(names[seat], 18, 300 / winners.sum()) for seat in np.flatnonzero(winners).tolist())
    return f"{best} {'wins' if winners.sum() == 1 else 'win'} with {scores[winners][0]}"


def _piles(table: Any, left: float, right: float, y: float) -> list[str]:
    """Draw the draw pile, the supply of mice and the discard pile in one line."""
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
            f'<use href="#chip{card_symbols.kind_name(kind, kinds)}" y="-11"/>'
            f"{lettering.draw(str(count), 19.5, 5.5, 15, LIGHT)}</g>"
        )
    return parts


# --- the seats


def _place(game: Katzenjammer, table: Any, seat: int, name: str, y: float) -> list[str]:
    """Draw the line of a seat without its hand."""
    over = table["phase"] == OVER
    turn = seat == table["turn"] and not over
    fill, edge = (PLACE_OF_TURN, f' stroke="{GOLD}" stroke-width="3"') if turn else (PLACE, "")
    left, right = MARGIN, WIDTH - MARGIN
    leader = seat == table["bandleader"]
    room, mice = 100 if leader else 122, str(table["mice"][seat])
    parts = [
        f'<rect x="{left}" y="{y}" width="{right - left}" height="{SEAT_HEIGHT}" rx="10" fill="{fill}"{edge}/>',
        lettering.draw(name, left + 12, y + 25, 16, DIM if table["passed"][seat] and not over else LIGHT, room=room),
        _said(game, table, seat, left + 12, y + 36),
        f'<use href="#sign-mouse" transform="translate({right - 69} {y + 10})"/>',
        lettering.draw(mice, right - 10, y + 28, min(21, 630 / lettering.width(mice, 21)), LIGHT, "end"),
        f'<use href="#chipJ" transform="translate({right - 63} {y + 36})"/>',
        lettering.draw(str(table["displayed"][seat]), right - 10, y + 54, 18, LIGHT, "end"),
    ]
    if leader:
        x = left + 17 + min(room, lettering.width(name, 16))
        parts.append(f'<use href="#sign-note" transform="translate({x:.4g} {y + 9})"/>')
    return parts


def _said(game: Katzenjammer, table: Any, seat: int, x: float, y: float) -> str:
    """Draw the last bid of a seat in this auction, or its score at the end."""
    if table["phase"] == OVER:
        scores, winners = _outcome(game, table)
        return _pill(f"score {scores[seat]}", x, y, bool(winners[seat]))
    if table["passed"][seat]:
        return lettering.draw("passed", x, y + 16, 16, DIM)
    bid = _bid_name(game, _last_bid(game, table, seat))
    return _pill(bid, x, y, seat == table["high_bidder"]) if bid else ""


def _pill(words: str, x: float, y: float, strong: bool) -> str:
    width = lettering.width(words, 16) + 16
    style = f'fill="{GOLD}"' if strong else f'fill="none" stroke="{DIM}" stroke-width="1.5"'
    return f'<rect x="{x}" y="{y}" width="{width:.4g}" height="22" rx="11" {style}/>' + lettering.draw(
        words, x + 8, y + 17, 16, INK if strong else LIGHT
    )


def _hand(items: card_symbols.Items, table: Any, seat: int, y: float) -> str:
    faint = ' opacity=".65"' if table["passed"][seat] and table["phase"] != OVER else ""
    return f"<g{faint}>{spread(items, 152, y + 8, 272, height=50)}</g>"


# --- readers of the record


def _outcome(game: Katzenjammer, table: Any) -> tuple[Any, Any]:
    """Return the scores and who has won, each ``(n,)``; while the game goes on, zeros and nobody."""
    n = game.num_players
    if table["phase"] != OVER:
        return np.zeros(n, np.int64), np.zeros(n, np.bool_)
    results = game.results(table.reshape(1))
    return results["score"][0], results["win_share"][0] > 0


def _draw_pile(table: Any) -> int:
    return len(table["deal"]) - int(table["position"])


def _bid_name(game: Katzenjammer, bid: Any) -> str:
    """Return the name of a bid by its id; the empty string for none."""
    return game.actions.name(int(bid)) if bid else ""


def _last_bid(game: Katzenjammer, table: Any, seat: int) -> int:
    """Return the id of the highest bid that a seat has made in this auction, 0 if it has made none."""
    claims, actions = table["claims"][seat], game.actions
    return max((actions.bid(int(count), kind) for kind, count in enumerate(claims) if count), default=0)
