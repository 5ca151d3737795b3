"""The rules of Meow on one table, compiled.

Every function takes a table record ``t``; see ``rules.py``. `play` plays one legal card and then every forced one, so a table
always waits for a seat with at least two legal cards, or is over. No function allocates arrays, raises, or uses Python
objects.

The id of a card is ``ranks * colour + rank - 1``. The *type* of a tile is its index among the different tiles of the game.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from katz_env.core.event_log import NOBODY, emit, emit_cards
from katz_env.core.jit import compiled
from katz_env.core.packed import count_bits, write_bits
from katz_env.core.rng import shuffle
from katz_env.core.types import Counts, EventLog, Mask, Ranks, Scores, Table
from katz_env.games.meow.rules import (
    BLUE,
    DEALT,
    ENDED,
    GREEN,
    LAID,
    LEADS,
    NO_LIMIT,
    OPENED,
    OVER,
    PINK,
    PLAYED,
    PLAYING,
    WON,
)
from katz_env.games.meow.tiles import note_next_tile, shown, take_tile, vase_step

# --- sizes and the deal --------------------------------------------------------------------------------------------------


@compiled(inline=True)
def num_ranks(t: Table) -> int:
    """Return the number of card ids of a colour."""
    return t.in_play.shape[0]


@compiled(inline=True)
def deck_size(t: Table) -> int:
    """Return the number of cards in play."""
    return t.deal.shape[0] // t.round_shown.shape[0] - t.row_type.shape[0]


@compiled(inline=True)
def first_tile(t: Table) -> int:
    """Return the place in ``t.deal`` at which the tiles begin, after the decks."""
    return t.round_shown.shape[0] * deck_size(t)


@compiled(inline=True)
def cards_of_colour(t: Table) -> int:
    """Return the cards in play of each colour as a bit set: the lowest ranks but one, and the highest."""
    return ((1 << (deck_size(t) // 3 - 1)) - 1) | 1 << (num_ranks(t) - 1)


@compiled(inline=True)
def lay_out_deck(t: Table, deck: Counts) -> None:
    """Write the ids of the cards in play to `deck`, in ascending order."""
    ranks, kept = num_ranks(t), deck_size(t) // 3
    for colour in range(3):
        for i in range(kept):
            deck[kept * colour + i] = ranks * colour + i
        deck[kept * colour + kept - 1] = ranks * colour + ranks - 1


@compiled
def fill_deal(t: Table) -> None:
    """Put the cards of every round, and all tiles, into a random order, drawn from the table's generator."""
    size, place = deck_size(t), first_tile(t)
    for k in range(t.round_shown.shape[0]):
        deck = t.deal[k * size : (k + 1) * size]
        lay_out_deck(t, deck)
        shuffle(t, deck)
    tiles = t.deal[place:]
    place = 0
    for kind in range(t.tile_count.shape[0]):
        tiles[place] = kind
        for i in range(1, t.tile_count[kind]):  # most types have one tile, and the compiler calls a function for this loop
            tiles[place + i] = kind
        place += t.tile_count[kind]
    shuffle(t, tiles)


# --- rounds and tricks ---------------------------------------------------------------------------------------------------


@compiled
def deal(t: Table, log: EventLog) -> None:
    """Start a game from ``t.deal`` and ``t.first_seat``."""
    t.won[:] = 0
    t.fish[:] = 0
    t.vases[:] = 0
    t.last_card[:] = -1
    for kind in range(t.to_come.shape[0]):
        t.to_come[kind] = t.tile_count[kind]
    t.bones_left[:] = 0
    t.bones_taken[:] = 0
    t.score[:] = t.vase_scores[0]
    t.shown_score[:] = shown(np.int64(t.vase_scores[0]))
    t.fish_gain[:] = 0
    t.bone_limit[:] = NO_LIMIT
    t.vase_gain[:] = shown(vase_step(t, 0))
    t.round_index = 0
    t.phase = PLAYING
    open_round(t, log)
    start_trick(t, np.int64(t.marker))


@compiled
def open_round(t: Table, log: EventLog) -> None:
    """Begin the round ``t.round_index``: lay out its row, deal the hands, and give the start marker to the seat that leads."""
    n, tricks, cards = t.hand.shape[0], t.row_type.shape[0], 3 * num_ranks(t)
    t.round_shown[:] = 0
    t.round_shown[t.round_index] = 1
    t.played[:] = 0
    t.void[:] = 0
    lay_out_row(t)
    take_up_hands(t)
    for k in range(tricks):
        t.to_come[t.row_type[k]] -= 1
    t.trick = 0
    marker = t.first_seat + t.round_index
    while marker >= n:
        marker -= n
    t.marker = marker
    if log is not None:
        emit(log, OPENED, NOBODY, t.round_index + 1)
        for k in range(tricks):
            emit(log, LAID, NOBODY, k + 1)
            emit_cards(log, cards + int(t.row_type[k]), 1)
        first = int(t.round_index) * deck_size(t)
        for seat in range(n):
            emit(log, DEALT, seat, tricks, seat)
            for k in range(tricks):
                emit_cards(log, t.deal[first + tricks * seat + k], 1)
        emit(log, LEADS, marker)


@compiled(inline=True)
def lay_out_row(t: Table) -> None:
    """Fill the fields of the row with the tiles of the round ``t.round_index``; none of them has been won."""
    tricks = t.row_type.shape[0]
    first = first_tile(t) + int(t.round_index) * tricks
    t.row_kind[:] = 0
    t.row_gone[:] = 0
    for k in range(tricks):
        kind = t.deal[first + k]
        t.row_type[k] = kind
        t.row_kind[k, t.tile_kind[kind]] = 1
        t.row_value[k] = t.tile_value[kind]


@compiled(inline=True)
def take_up_hands(t: Table) -> None:
    """Fill the hands with the cards that the deal gives them in the round ``t.round_index``, and `undealt` with the others."""
    tricks, ranks = t.row_type.shape[0], num_ranks(t)
    place = np.uint64(int(t.round_index) * deck_size(t))
    for colour in range(3):
        t.undealt[colour] = cards_of_colour(t)
    for seat in range(t.hand.shape[0]):
        if 3 * ranks <= 64:  # one bit set holds all colours
            cards = 0
            for _ in range(tricks):
                cards |= 1 << int(t.deal[place])
                place += np.uint64(1)
            for colour in range(3):
                t.hand[seat, colour] = cards >> ranks * colour & (1 << ranks) - 1
        else:
            t.hand[seat, :] = 0
            for _ in range(tricks):
                card = int(t.deal[place])
                place += np.uint64(1)
                t.hand[seat, np.uint64(card // ranks)] |= 1 << card % ranks
        for colour in range(3):
            t.undealt[colour] &= ~t.hand[seat, colour]


@compiled(inline=True)
def start_trick(t: Table, seat: int) -> None:
    """Let a seat lead to the next tile."""
    t.leader = seat
    t.turn = seat
    t.led = -1
    t.played_count = 0
    t.best = 0
    t.trick_colour[:] = 0
    t.trick_rank[:] = 0
    note_next_tile(t)


@compiled(inline=True)
def play_card(t: Table, card: int, seat: int, led: int, log: EventLog) -> int:
    """Lay a card of the hand of `seat` into the trick, in which `led` was led, -1 for nothing; return the colour led."""
    ranks = num_ranks(t)
    colour = card // ranks
    place = card - ranks * colour
    if log is not None:
        emit(log, PLAYED, seat)
        emit_cards(log, card, 1)
    led = colour if led < 0 else led
    # Unsigned indices save the test for negative ones, to which Numba would add the length.
    player, mine = np.uint64(seat), np.uint64(colour)
    t.hand[player, mine] ^= 1 << place
    t.played[player, mine] |= 1 << place
    t.trick_colour[player, mine] = 1
    t.trick_rank[player] = place + 1
    t.last_card[player] = card
    t.led = led
    t.void[player, np.uint64(led)] |= colour != led
    t.played_count += 1
    t.best = max(int(t.best), strength(colour, place + 1, led, seat))
    return led


@compiled(inline=True)
def strength(colour: int, rank: int, led: int, seat: int) -> int:
    """Return a number for the card of a seat: the highest one of a trick wins, but for the rule about the 1.

    Its lowest three bits are the seat, the next six the rank; green cards have bit 10, and those of the colour led bit 9.
    """
    return int(colour == GREEN) << 10 | int(colour == led) << 9 | rank << 3 | seat


@compiled(inline=True)
def trick_winner(t: Table) -> int:
    """Return the seat whose card wins the trick, in which every seat has played.

    Only green cards can win if there is one, else only those of the colour led. The 1 wins if it meets the highest card of its
    colour, else the highest rank.
    """
    winner = int(t.best) & 7
    if int(t.best) >> 3 & 63 == num_ranks(t):
        deciding = np.uint64(GREEN if int(t.best) >> 10 else int(t.led))
        for seat in range(t.hand.shape[0]):
            winner = seat if t.trick_rank[seat] == 1 and t.trick_colour[seat, deciding] else winner
    return winner


@compiled
def end_trick(t: Table, log: EventLog) -> None:
    """Give the leftmost tile to the winner, who leads the next trick; after the last one begin a round, or end the game."""
    winner = trick_winner(t)
    if log is not None:
        emit(log, WON, winner, t.trick + 1)
        emit_cards(log, 3 * num_ranks(t) + int(t.row_type[t.trick]), 1)
    take_tile(t, winner)
    t.row_gone[np.uint64(t.trick)] = 1
    t.trick += 1
    if t.trick == t.row_type.shape[0]:
        winner = end_round(t, winner, log)
    start_trick(t, winner)


@compiled
def end_round(t: Table, winner: int, log: EventLog) -> int:
    """Begin the next round, or end the game; return the seat to act, which is the winner of the last trick when it is over."""
    if t.round_index + 1 < t.round_shown.shape[0]:
        t.round_index += 1
        open_round(t, log)
        return int(np.int64(t.marker))
    t.phase = OVER
    if log is not None:
        emit(log, ENDED, NOBODY)
    return winner


@compiled(inline=True)
def legal_cards(t: Table, turn: int, led: int) -> tuple[int, int, int]:
    """Return the legal cards of the seat to act as bit sets by colour: those of the colour led, or all if it has none.

    Which colour was led is unpredictable, so all are computed, and no branch selects one.
    """
    seat = np.uint64(turn)
    free = -int((led < 0) | (t.hand[seat, np.uint64(max(0, led))] == 0))  # -1, with all bits, or 0
    return (
        int(np.int64(t.hand[seat, 0])) & (free | -int(led == BLUE)),
        int(np.int64(t.hand[seat, 1])) & (free | -int(led == PINK)),
        int(np.int64(t.hand[seat, 2])) & (free | -int(led == GREEN)),
    )


@compiled(inline=True)
def legal_set(t: Table, turn: int, led: int) -> int:
    """Return what `legal_cards` does as one bit set by id, for at most 64 cards."""
    seat, ranks = np.uint64(turn), num_ranks(t)
    blue, pink, green = int(np.int64(t.hand[seat, 0])), int(np.int64(t.hand[seat, 1])), int(np.int64(t.hand[seat, 2]))
    cards = blue | pink << ranks | green << 2 * ranks
    following = cards & ((1 << ranks) - 1) << ranks * max(0, led) & -int(led >= 0)
    return following if following != 0 else cards


@compiled(inline=True)
def forced_card(t: Table, turn: int, led: int) -> int:
    """Return the only legal card of the seat to act; -1 if it has a choice, or no card because the game is over."""
    if 3 * num_ranks(t) <= 64:
        legal = legal_set(t, turn, led)
        return count_bits(legal - 1) if count_bits(legal) == 1 else -1
    blue, pink, green = legal_cards(t, turn, led)
    if count_bits(blue) + count_bits(pink) + count_bits(green) != 1:
        return -1
    return num_ranks(t) * (int(pink != 0) + 2 * int(green != 0)) + count_bits((blue | pink | green) - 1)


@compiled(inline=True)
def play(t: Table, action: int, log: EventLog) -> None:
    """Play a legal card, then every forced one."""
    # Local variables spare the next card the way through memory. Numba leaves `int` of an int8 an int8, for which it would
    # compile all that is called here once more.
    card, seat, led = int(action), int(np.int64(t.turn)), int(np.int64(t.led))
    while card >= 0:
        led = play_card(t, card, seat, led, log)
        seat = seat + 1 if seat + 1 < t.hand.shape[0] else 0
        if seat != t.leader:
            t.turn = seat
        else:
            end_trick(t, log)
            seat, led = int(np.int64(t.turn)), -1
        card = forced_card(t, seat, led)


@compiled(inline=True)
def write_mask(t: Table, mask: Mask) -> None:
    """Fill `mask` ``(A,)`` with the legal cards of the seat to act: those of the colour led, or all if it has none."""
    turn, led, ranks, start = np.int64(t.turn), np.int64(t.led), num_ranks(t), int(np.int64(0))  # 0 would compile all once more
    if 3 * ranks <= 64:
        write_bits(legal_set(t, turn, led), 3 * ranks, mask, start)
    else:
        blue, pink, green = legal_cards(t, turn, led)
        write_cards(blue, pink, green, ranks, mask, start)


@compiled(inline=True)
def write_cards(blue: int, pink: int, green: int, ranks: int, out: Counts, k: int) -> int:
    """Write cards, given as bit sets by colour, as numbers 0 or 1 by id to ``out[k:]``; return the place after them."""
    if 3 * ranks <= 64:
        return write_bits(blue | pink << ranks | green << 2 * ranks, 3 * ranks, out, k)
    write_bits(blue, ranks, out, k)
    write_bits(pink, ranks, out, k + ranks)
    return write_bits(green, ranks, out, k + 2 * ranks)


@compiled(inline=True)
def write_seat_cards(cards: NDArray[Any], seat: int, ranks: int, out: Counts, k: int) -> int:
    """Write the cards of a seat, given in a field like `hand`, as `write_cards` does."""
    return write_cards(np.int64(cards[seat, 0]), np.int64(cards[seat, 1]), np.int64(cards[seat, 2]), ranks, out, k)


# --- results -------------------------------------------------------------------------------------------------------------


@compiled
def write_scores(t: Table, scores: Scores, ranks: Ranks) -> None:
    """Write the scores; the highest wins, and equal scores share the victory."""
    for seat in range(t.hand.shape[0]):
        scores[seat] = t.score[seat]
        ranks[seat] = t.score[seat]
