"""Drawings of a table: as text, and as a picture.

The picture is 520 units wide. The middle of the table holds the row of tiles and the trick as it lies, in the order in which
it is played. Below it, every seat has a line with its name, its hand, the tiles that it has won, and what they count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from katz_env.drawing import Picture, lettering
from katz_env.games.meow.rules import COLOURS, FISH, FISHBONE, GREEN, OVER, VASE
from katz_env.games.meow.symbols import (
    CARD_HEIGHT,
    CARD_WIDTH,
    DIM,
    GOLD,
    INK,
    LIGHT,
    TILE_WIDTH,
    card_symbol,
    symbols_of,
    tile_symbol,
)

if TYPE_CHECKING:
    from katz_env.games.meow.game import Meow

WIDTH, MARGIN = 520, 12
MIDDLE_HEIGHT, SEAT_HEIGHT, GAP = 216, 82, 6
FELT, MIDDLE, PLACE, PLACE_OF_TURN = "#16233d", "#22345a", "#22345a", "#34508a"


# --- readers of the record


def hand(game: Meow, table: Any, seat: int) -> list[int]:
    """Return the ids of the cards that a seat holds, ascending."""
    ranks = game.rules.ranks
    return [ranks * c + i for c in range(3) for i in range(ranks) if int(table["hand"][seat, c]) >> i & 1]


def hand_size(game: Meow, table: Any, seat: int) -> int:
    """Return the number of cards that a seat holds."""
    return game.rules.tricks - int(table["trick"]) - int(table["trick_rank"][seat] > 0)


def trick(game: Meow, table: Any) -> list[tuple[int, int]]:
    """Return the trick as it lies: seats and cards, in the order in which they were played."""
    n, leader = game.num_players, int(table["leader"])
    seats = [(leader + i) % n for i in range(int(table["played_count"]))]
    colours = [int(np.argmax(table["trick_colour"][seat])) for seat in seats]
    return [(s, game.rules.ranks * c + int(table["trick_rank"][s]) - 1) for s, c in zip(seats, colours, strict=True)]


def winning_seat(cards: Sequence[tuple[int, int]], ranks: int) -> int:
    """Return the seat that wins a trick as it lies; -1 if no card lies there."""
    if not cards:
        return -1
    colours = [card // ranks for _, card in cards]
    deciding = GREEN if GREEN in colours else colours[0]
    able = {card % ranks + 1: seat for seat, card in cards if card // ranks == deciding}
    return able[1] if {1, ranks} <= able.keys() else able[max(able)]


def row(table: Any) -> list[int]:
    """Return the types of the tiles that are left in the row, the next one first."""
    return [int(kind) for kind in table["row_type"][int(table["trick"]) :]]


def won(table: Any, seat: int) -> list[int]:
    """Return the types of the tiles that a seat has won."""
    return [kind for kind, count in enumerate(table["won"][seat]) for _ in range(count)]


def rescued(game: Meow, table: Any, seat: int) -> list[bool]:
    """Return for each tile of `won` whether it is a fishbone that a fish has taken away."""
    types = [game.rules.tile_types[kind] for kind in won(table, seat)]
    fish = sum(tile.kind == FISH for tile in types)
    bones = [place for place, tile in enumerate(types) if tile.kind == FISHBONE]
    taken = bones[len(bones) - min(fish, len(bones)) :]  # the worst come last
    return [place in taken for place in range(len(types))]


# --- text


def text(game: Meow, table: Any, seat: int | None = None) -> str:
    """Return a table as compact text.

    Parameters
    ----------
    game
        The game of the table.
    table
        The record of the table.
    seat
        The point of view: other hands show a dot for each card. None shows all hands.
    """
    over = table["phase"] == OVER
    lies = " ".join(game.cards[card] for _, card in trick(game, table)) or "-"
    tiles = " ".join(game.tiles[kind] for kind in row(table)) or "-"
    state = "the game is over" if over else f"round {table['round_index'] + 1}, row {tiles}, trick {lies}"
    lines = [state]
    for other in range(game.num_players):
        dots = "." * hand_size(game, table, other)
        cards = " ".join(game.cards[card] for card in hand(game, table, other)) if seat in (None, other) else dots
        lacks = "".join(COLOURS[c] for c in range(3) if table["void"][other, c])
        notes = [
            *(["start marker"] if other == table["marker"] else []),
            *(["leads"] if other == table["leader"] and not over else []),
            *([f"no {lacks}"] if lacks and not over else []),
        ]
        mark = ">" if other == table["turn"] and not over else " "
        lines.append(
            f"{mark} player_{other}  score {table['score'][other]:3}  hand {cards or '-'}  "
            f"tiles {' '.join(game.tiles[kind] for kind in won(table, other)) or '-'}"
            + (f"  ({', '.join(notes)})" if notes else "")
        )
    return "\n".join(lines)


# --- the picture


def picture(game: Meow, table: Any, names: Sequence[str] | None = None) -> Picture:
    """Return a table as a `Picture`, which contains the views of all seats; `names` are the names of the seats.

    Raises
    ------
    ValueError
        If there is not one name for each seat.
    """
    n = game.num_players
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
        cards = [card_symbol(card, game.rules.ranks) for card in hand(game, table, seat)]
        hidden.append(_spread(["card-back"] * hand_size(game, table, seat), y))
        shown.append(_spread(cards, y))
    return Picture(WIDTH, height, tuple(public), tuple(hidden), tuple(shown), symbols_of(game.rules.tile_types))


def _middle(game: Meow, table: Any, names: Sequence[str]) -> list[str]:
    left, right, top = MARGIN + 14, WIDTH - MARGIN - 14, MARGIN
    return [
        f'<rect x="{MARGIN}" y="{top}" width="{WIDTH - 2 * MARGIN}" height="{MIDDLE_HEIGHT}" rx="10" fill="{MIDDLE}"/>',
        lettering.draw(_headline(game, table, names), left, top + 26, 18, LIGHT, room=320),
        *_trump(right, top + 20),
        *_row(game, table, left, right, top + 42),
        *_trick(game, table, names, left, right, top + 116),
    ]


def _headline(game: Meow, table: Any, names: Sequence[str]) -> str:
    if table["phase"] == OVER:
        results = game.results(table.reshape(1))
        winners = np.flatnonzero(results["win_share"][0]).tolist()
        best = " and ".join(lettering.shorten(names[seat], 18, 250 / len(winners)) for seat in winners)
        return f"{best} {'wins' if len(winners) == 1 else 'win'} with {results['score'][0][winners[0]]}"
    name = lettering.shorten(names[table["turn"]], 18, 180)
    return f"{name} {'leads' if table['played_count'] == 0 else 'follows'}, round {table['round_index'] + 1}"


def _trump(right: float, y: float) -> list[str]:
    """Draw that green is trump."""
    x = right - 122
    return [
        f'<rect x="{x}" y="{y - 14}" width="122" height="26" rx="13" fill="#12805c" stroke="{GOLD}" stroke-width="1.5"/>',
        f'<use href="#sign-trump" transform="translate({x + 15} {y - 1})"/>',
        lettering.draw("green is trump", x + 27, y + 4, 12, LIGHT, room=92),
    ]


def _row(game: Meow, table: Any, left: float, right: float, y: float) -> list[str]:
    """Draw the row: won tiles leave a faint place, and the next one has a golden frame."""
    step = (right - left) / game.rules.tricks
    zoom = min(1.0, step / (TILE_WIDTH + 4))
    parts = []
    for place, kind in enumerate(table["row_type"]):
        symbol, x = tile_symbol(game.rules.tile_types[kind]), left + place * step
        gone = place < table["trick"]
        if place == table["trick"]:
            size = f'width="{TILE_WIDTH + 6}" height="60"'
            frame = f'<rect x="-3" y="-3" {size} rx="7" fill="none" stroke="{GOLD}" stroke-width="3"/>'
        else:
            frame = ""
        faint = ' opacity=".16"' if gone else ""
        parts.append(f'<g transform="translate({x:.4g} {y}) scale({zoom:.3g})"{faint}><use href="#{symbol}"/>{frame}</g>')
    return parts


def _trick(game: Meow, table: Any, names: Sequence[str], left: float, right: float, y: float) -> list[str]:
    """Draw the trick in the order of play, the card that wins it so far in a golden frame; before the lead the last trick."""
    ranks, lies, faint = game.rules.ranks, trick(game, table), ""
    if not lies and (table["last_card"] >= 0).all():
        lies, faint = [(seat, int(card)) for seat, card in enumerate(table["last_card"])], ' opacity=".4"'
    step, zoom = (right - left - 78) / game.num_players, 1.3
    words = ("last", "trick") if faint else ("trick",)
    parts = [lettering.draw(word, left, y + 30 + 16 * i, 14, DIM) for i, word in enumerate(words)]
    best = -1 if faint else winning_seat(lies, ranks)
    for place, (seat, card) in enumerate(lies):
        x = left + 78 + place * step
        size = f'width="{CARD_WIDTH + 6}" height="{CARD_HEIGHT + 6}"'
        frame = f'<rect x="-3" y="-3" {size} rx="7" fill="none" stroke="{GOLD}" stroke-width="2.5"/>' if seat == best else ""
        parts.append(
            f'<g transform="translate({x:.4g} {y}) scale({zoom})"{faint}><use href="#{card_symbol(card, ranks)}"/>{frame}</g>'
        )
        parts.append(lettering.draw(names[seat], x + zoom * CARD_WIDTH / 2, y + 84, 13, DIM, "middle", room=step - 6))
    if not lies:
        parts.append(lettering.draw("no card has been played yet", left + 78, y + 38, 16, DIM))
    return parts


def _place(game: Meow, table: Any, seat: int, name: str, y: float) -> list[str]:
    """Draw the line of a seat without its hand."""
    over = table["phase"] == OVER
    turn = seat == table["turn"] and not over
    fill, edge = (PLACE_OF_TURN, f' stroke="{GOLD}" stroke-width="3"') if turn else (PLACE, "")
    left, right = MARGIN, WIDTH - MARGIN
    score = str(int(table["score"][seat])).replace("-", "\N{MINUS SIGN}")
    marker = seat == table["marker"]
    parts = [
        f'<rect x="{left}" y="{y}" width="{right - left}" height="{SEAT_HEIGHT}" rx="10" fill="{fill}"{edge}/>',
        lettering.draw(name, left + 12, y + 25, 16, LIGHT, room=86 if marker else 112),
        lettering.draw(score, right - 12, y + 32, min(26, 1300 / lettering.width(score, 26)), LIGHT, "end"),
        *_note(game, table, seat, left + 12, y),
        *_won(game, table, seat, left + 132, right - 66 - left - 132, y + 48),
    ]
    if marker:
        x = left + 26 + min(86, lettering.width(name, 16))
        parts.append(f'<use href="#sign-marker" transform="translate({x:.4g} {y + 19})"/>')
    return parts


def _note(game: Meow, table: Any, seat: int, x: float, y: float) -> list[str]:
    """Draw which colours a seat is known to lack, and what the next tile would count for it; at the end whether it has won."""
    if table["phase"] == OVER:
        won_it = game.results(table.reshape(1))["win_share"][0][seat] > 0
        return [_pill("wins", x, y + 44, GOLD, INK)] if won_it else []
    parts = []
    for colour in range(3):
        if table["void"][seat, colour]:
            place = x + 8 + 22 * colour
            shade = ("#1f6fd6", "#d23f86", "#12805c")[colour]
            parts.append(
                f'<circle cx="{place}" cy="{y + 56}" r="8" fill="{shade}"/><path d="M{place - 8} {y + 64}l16-16" '
                f'stroke="{LIGHT}" stroke-width="2.5"/>'
            )
    gain = int(table["gain"][seat])
    right = WIDTH - MARGIN - 12
    words = f"{gain:+}".replace("-", "\N{MINUS SIGN}") if gain else "0"
    return [*parts, lettering.draw(f"next {words}", right, y + 66, 13, DIM, "end")]


def _pill(words: str, x: float, y: float, ground: str, ink: str) -> str:
    width = lettering.width(words, 16) + 16
    rect = f'<rect x="{x}" y="{y}" width="{width:.4g}" height="22" rx="11" fill="{ground}"/>'
    return rect + lettering.draw(words, x + 8, y + 17, 16, ink)


def _won(game: Meow, table: Any, seat: int, x: float, room: float, y: float) -> list[str]:
    """Draw the tiles that a seat has won; those that count nothing because of a fish, or as the only vase, are faint."""
    kinds, gone = won(table, seat), rescued(game, table, seat)
    lone = [kind for kind in kinds if game.rules.tile_types[kind].kind == VASE] if table["vases"][seat] == 1 else []
    zoom = 0.54
    step = min(TILE_WIDTH * zoom + 3, (room - TILE_WIDTH * zoom) / max(1, len(kinds) - 1))
    parts = []
    for place, kind in enumerate(kinds):
        harmless = gone[place] or (kind in lone and not game.rules.vase_scores[1])
        faint = ' opacity=".4"' if harmless else ""
        symbol = tile_symbol(game.rules.tile_types[kind])
        parts.append(f'<use href="#{symbol}" transform="translate({x + place * step:.4g} {y}) scale({zoom})"{faint}/>')
    return parts


def _spread(cards: Sequence[str], y: float) -> str:
    """Draw a hand: cards side by side, overlapping where there are many."""
    zoom, x, room = 0.76, MARGIN + 132, 300
    width = CARD_WIDTH * zoom
    step = min(width + 4, (room - width) / max(1, len(cards) - 1))
    placed = (
        f'<use href="#{card}" transform="translate({x + place * step:.4g} {y + 6}) scale({zoom})"/>'
        for place, card in enumerate(cards)
    )
    return f"<g>{''.join(placed)}</g>"
