"""Drawings of a table: as text, and as a picture.

The picture is 640 units wide. The stacks and the talon lie in the middle; seat 1 sits above, seat 0 below. Each seat has its
name, its stock with the open card, its hand and its deposits, of which the top card lies lowest and covers none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from katz_env.drawing import Picture, lettering
from katz_env.games.katz_und_maus import card_symbols
from katz_env.games.katz_und_maus.card_symbols import CARD_WIDTH, DIM, GOLD, LIGHT, SYMBOLS
from katz_env.games.katz_und_maus.rules import OVER, PHASES, PLAYERS, SHOWN

if TYPE_CHECKING:
    from katz_env.games.katz_und_maus.game import KatzUndMaus

WIDTH, MARGIN = 640, 12
SEAT_HEIGHT, MIDDLE_HEIGHT, GAP = 192, 128, 6
HEIGHT = 2 * (MARGIN + SEAT_HEIGHT + GAP) + MIDDLE_HEIGHT
FELT, MIDDLE, PLACE, PLACE_OF_TURN = "#16233d", "#22345a", "#22345a", "#34508a"
STOCK_X, HAND_X, DEPOSITS_X = 28, 104, 318
"""Where the stock, the hand and the deposits of a seat begin."""


def deposit(game: KatzUndMaus, table: Any, seat: int, index: int) -> str:
    """Return the cards of a deposit as characters, the lowest first."""
    size = int(table["deposit_sizes"][seat, index])
    return "".join(game.cards[kind - 1] for kind in table["deposited"][seat, index, :size])


def hand(game: KatzUndMaus, table: Any, seat: int) -> str:
    """Return the cards of a hand as characters, ranks ascending."""
    return "".join(card * int(count) for card, count in zip(game.cards, table["hand"][seat], strict=True))


def talon(table: Any) -> int:
    """Return the number of cards in the talon."""
    return len(table["deal"]) - int(table["drawn"])


def text(game: KatzUndMaus, table: Any, seat: int | None = None) -> str:
    """Return a table as compact text.

    Parameters
    ----------
    game
        The game of the table.
    table
        The record of the table.
    seat
        The point of view: the other hand shows a dot for each card. None shows both hands.
    """
    over = table["phase"] == OVER
    stacks = "  ".join(f"s{i + 1} {height}" for i, height in enumerate(table["heights"]))
    lines = [f"{PHASES[table['phase']]}: heights of the stacks  {stacks}  talon {talon(table)}"]
    for other in range(PLAYERS):
        mark = ">" if other == table["turn"] and not over else " "
        cards = hand(game, table, other) if seat in (None, other) else "." * int(table["hand_sizes"][other])
        size = int(table["stock_sizes"][other])
        top = f" top {game.cards[table['stock_tops'][other]]}" if size else ""
        lines.append(f"{mark} player_{other}  stock {size}{top}  hand {cards or '-'}")
        lines.append(
            "    " + "  ".join(f"d{i + 1} {deposit(game, table, other, i) or '-'}" for i in range(game.rules.deposits))
        )
    return "\n".join(lines)


def picture(game: KatzUndMaus, table: Any, names: Sequence[str] | None = None) -> Picture:
    """Return a table as a `Picture`, which contains the views of both seats; `names` are the names of the seats.

    Raises
    ------
    ValueError
        If there is not one name for each seat.
    """
    names = [f"player_{seat}" for seat in range(PLAYERS)] if names is None else list(names)
    if len(names) != PLAYERS:
        raise ValueError(f"there are {len(names)} names; {PLAYERS} players need {PLAYERS}")
    felt = f'<rect width="{WIDTH}" height="{HEIGHT}" rx="16" fill="{FELT}"/>'
    public = [felt, *_middle(game, table, names)]
    hidden, shown = [], []
    for seat in range(PLAYERS):
        public += _place(game, table, seat, names[seat])
        hidden.append(_hand(["card-back"] * int(table["hand_sizes"][seat]), seat))
        shown.append(_hand([card_symbols.card(card) for card in hand(game, table, seat)], seat))
    return Picture(WIDTH, HEIGHT, tuple(public), tuple(hidden), tuple(shown), SYMBOLS)


# --- the middle of the table


def _middle(game: KatzUndMaus, table: Any, names: Sequence[str]) -> list[str]:
    top, left, zoom = MARGIN + SEAT_HEIGHT + GAP, MARGIN + 16, 1.2
    parts = [
        f'<rect x="{MARGIN}" y="{top}" width="{WIDTH - 2 * MARGIN}" height="{MIDDLE_HEIGHT}" rx="10" fill="{MIDDLE}"/>',
        lettering.draw(_headline(game, table, names), left, top + 25, 18, LIGHT, room=WIDTH - 2 * left),
        card_symbols.pile("card-back", talon(table), STOCK_X, top + 40, zoom),
        lettering.draw(f"talon {talon(table)}", STOCK_X - 4, top + 119, 14, DIM),
    ]
    step = (WIDTH - MARGIN - HAND_X - 20) / len(table["heights"])
    for i, height in enumerate(table["heights"]):
        x = HAND_X + 16 + i * step
        symbol = card_symbols.card(game.cards[height - 1]) if height else ""
        parts.append(card_symbols.pile(symbol, int(height), x, top + 40, zoom))
        parts.append(lettering.draw(f"s{i + 1}", x + 18 * zoom, top + 119, 14, DIM, "middle"))
        if step > 90:
            parts.append(lettering.draw("wants", x + CARD_WIDTH * zoom + 8, top + 62, 13, DIM))
            wanted = game.cards[height].replace("T", "10")
            parts.append(lettering.draw(wanted, x + CARD_WIDTH * zoom + 8, top + 86, 22, LIGHT))
    return parts


def _headline(game: KatzUndMaus, table: Any, names: Sequence[str]) -> str:
    turn = int(table["turn"])
    if table["phase"] != OVER:
        return f"{lettering.shorten(names[turn], 18, 240)} is to play"
    share = game.results(table.reshape(1))["win_share"][0]
    left = " to ".join(str(size) for size in table["stock_sizes"])
    if share.min() > 0:
        return f"a draw: {left} cards left in the stocks"
    winner = lettering.shorten(names[int(np.argmax(share))], 18, 240)
    how = "the stock is played away" if not table["stock_sizes"].all() else f"{left} cards left in the stocks"
    return f"{winner} wins: {how}"


# --- the seats


def _top_of(seat: int) -> int:
    """Return the upper edge of the area of a seat."""
    return MARGIN if seat == 1 else MARGIN + SEAT_HEIGHT + MIDDLE_HEIGHT + 2 * GAP


def _place(game: KatzUndMaus, table: Any, seat: int, name: str) -> list[str]:
    """Draw the area of a seat without its hand."""
    y, turn = _top_of(seat), seat == table["turn"] and table["phase"] != OVER
    fill, edge = (PLACE_OF_TURN, f' stroke="{GOLD}" stroke-width="3"') if turn else (PLACE, "")
    size = int(table["stock_sizes"][seat])
    top = card_symbols.card(game.cards[table["stock_tops"][seat]]) if size else ""
    first = " (first)" if seat == table["first_seat"] else ""
    parts = [
        f'<rect x="{MARGIN}" y="{y}" width="{WIDTH - 2 * MARGIN}" height="{SEAT_HEIGHT}" rx="10" fill="{fill}"{edge}/>',
        lettering.draw(name + first, MARGIN + 14, y + 27, 18, LIGHT, room=DEPOSITS_X - MARGIN - 34),
        card_symbols.pile(top, size, STOCK_X, y + 62, 1.5),
        lettering.draw(f"stock {size}", STOCK_X - 4, y + 162, 16, LIGHT),
    ]
    step = (WIDTH - MARGIN - 12 - DEPOSITS_X) / game.rules.deposits
    for i in range(game.rules.deposits):
        x, cards = DEPOSITS_X + i * step, deposit(game, table, seat, i)
        parts.append(card_symbols.fan([card_symbols.card(card) for card in cards[-SHOWN:]], x, y + 12, SEAT_HEIGHT - 40))
        size = len(cards)
        label = f"d{i + 1}" + (f": {size}" if size and step > 50 else "")
        parts.append(lettering.draw(label, x + CARD_WIDTH / 2, y + SEAT_HEIGHT - 9, 14, DIM, "middle"))
    return parts


def _hand(symbols: Sequence[str], seat: int) -> str:
    y = _top_of(seat) + 62
    return f"<g>{card_symbols.row(symbols, HAND_X, y, DEPOSITS_X - HAND_X - 24)}</g>"
