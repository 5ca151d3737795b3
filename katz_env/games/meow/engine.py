"""The rules of Meow on one table, compiled.

Every function takes a table record ``t``; see ``rules.py``. `play` plays one legal card and then every forced one, so a table
always waits for a seat with at least two legal cards, or is over. No function allocates arrays, raises, or uses Python
objects.

The id of a card is ``ranks * colour + rank - 1``. The *type* of a tile is its index among the different tiles of the game.
"""

from __future__ import annotations

import numpy as np

from katz_env.core.event_log import NOBODY, emit, emit_cards
from katz_env.core.jit import compiled
from katz_env.core.packed import count_bits, write_bits
from katz_env.core.rng import shuffle
from katz_env.core.types import Counts, EventLog, Mask, Ranks, Scores, Table
from katz_env.games.meow.rules import (
    BOWL,
    DEALT,
    ENDED,
    FISH,
    GREEN,
    LAID,
    LEADS,
    NO_LIMIT,
    OPENED,
    OVER,
    PLAYED,
    PLAYING,
    VASE,
    WON,
)

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
        for _ in range(t.tile_count[kind]):
            tiles[place] = kind
            place += 1
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
    for seat in range(t.hand.shape[0]):
        t.score[seat] = t.vase_scores[0]
        t.shown_score[seat] = shown(t.score[seat])
        note_tiles(t, seat)
    t.round_index = 0
    t.phase = PLAYING
    open_round(t, log)


@compiled
def open_round(t: Table, log: EventLog) -> None:
    """Begin the round ``t.round_index``: lay out its row, deal the hands, and let the holder of the start marker lead."""
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
    start_trick(t, marker)


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
        t.hand[seat, :] = 0
        for _ in range(tricks):
            card = int(t.deal[place])
            place += np.uint64(1)
            colour = card // ranks
            t.hand[seat, np.uint64(colour)] |= 1 << (card - ranks * colour)
        for colour in range(3):
            t.undealt[colour] &= ~t.hand[seat, colour]


@compiled(inline=True)
def start_trick(t: Table, seat: int) -> None:
    """Let a seat lead to the next tile."""
    t.leader = seat
    t.turn = seat
    t.led = -1
    t.played_count = 0
    t.trick_colour[:] = 0
    t.trick_rank[:] = 0
    note_next_tile(t)


@compiled(inline=True)
def play_card(t: Table, card: int, log: EventLog) -> None:
    """Let the seat to act play a card of its hand; the last one ends the trick."""
    n, ranks = t.hand.shape[0], num_ranks(t)
    colour = card // ranks
    place = card - ranks * colour
    if log is not None:
        emit(log, PLAYED, t.turn)
        emit_cards(log, card, 1)
    led = colour if t.played_count == 0 else int(t.led)
    # Unsigned indices save the test for negative ones, to which Numba would add the length.
    seat, mine, first = np.uint64(t.turn), np.uint64(colour), np.uint64(led)
    t.hand[seat, mine] ^= 1 << place
    t.played[seat, mine] |= 1 << place
    t.trick_colour[seat, mine] = 1
    t.trick_rank[seat] = place + 1
    t.last_card[seat] = card
    t.led = led
    t.void[seat, first] |= colour != led
    t.played_count += 1
    if t.played_count < n:
        t.turn = t.turn + 1 if t.turn + 1 < n else 0
    else:
        end_trick(t, log)


@compiled(inline=True)
def trick_winner(t: Table) -> int:
    """Return the seat whose card wins the trick as it lies, which has at least one card.

    Only green cards can win if there is one, else only those of the colour led. The 1 wins if it meets the highest card of its
    colour, else the highest rank.
    """
    n, ranks = t.hand.shape[0], num_ranks(t)
    trumps = 0
    for seat in range(n):
        trumps |= int(t.trick_colour[seat, GREEN])
    deciding = np.uint64(GREEN if trumps else t.led)
    highest = 0
    for seat in range(n):
        highest = max(highest, int(t.trick_rank[seat]) & -int(t.trick_colour[seat, deciding]))  # 0 for other colours
    winner, caught = 0, -1
    for seat in range(n):
        rank = int(t.trick_rank[seat]) & -int(t.trick_colour[seat, deciding])
        winner = seat if rank == highest else winner
        caught = seat if rank == 1 else caught
    return caught if highest == ranks and caught >= 0 else winner


@compiled
def end_trick(t: Table, log: EventLog) -> None:
    """Give the leftmost tile to the winner, who leads the next trick; after the last one begin a round, or end the game."""
    tricks = t.row_type.shape[0]
    winner = trick_winner(t)
    if log is not None:
        emit(log, WON, winner, t.trick + 1)
        emit_cards(log, 3 * num_ranks(t) + int(t.row_type[t.trick]), 1)
    take_tile(t, winner)
    t.row_gone[np.uint64(t.trick)] = 1
    t.trick += 1
    if t.trick < tricks:
        start_trick(t, winner)
    elif t.round_index + 1 < t.round_shown.shape[0]:
        t.round_index += 1
        open_round(t, log)
    else:
        start_trick(t, winner)
        t.phase = OVER
        if log is not None:
            emit(log, ENDED, NOBODY)


@compiled(inline=True)
def forced_card(t: Table) -> int:
    """Return the only legal card of the seat to act; -1 if it has a choice, or if the game is over."""
    seat, led = np.uint64(t.turn), max(0, int(t.led))
    follow = int(t.hand[seat, np.uint64(led)]) if t.led >= 0 else 0
    if follow == 0:
        if t.trick < t.row_type.shape[0] - 1 or t.phase == OVER:
            return -1  # any card may be played, and there are several
        led = 0
        while t.hand[seat, led] == 0:
            led += 1
        follow = int(t.hand[seat, led])
    return -1 if follow & (follow - 1) else num_ranks(t) * led + count_bits(follow - 1)


@compiled
def play(t: Table, action: int, log: EventLog) -> None:
    """Play a legal card, then every forced one."""
    card = int(action)
    while card >= 0:
        play_card(t, card, log)
        card = forced_card(t)


@compiled(inline=True)
def write_mask(t: Table, mask: Mask) -> None:
    """Fill `mask` ``(A,)`` with the legal cards of the seat to act: those of the colour led, or all if it has none."""
    seat, led = t.turn, int(t.led)
    blue, pink, green = int(t.hand[seat, 0]), int(t.hand[seat, 1]), int(t.hand[seat, 2])
    if led >= 0 and t.hand[seat, led] != 0:
        blue = blue if led == 0 else 0
        pink = pink if led == 1 else 0
        green = green if led == 2 else 0
    write_cards(blue, pink, green, num_ranks(t), mask, 0)


@compiled(inline=True)
def write_cards(blue: int, pink: int, green: int, ranks: int, out: Counts, k: int) -> int:
    """Write cards, given as bit sets by colour, as numbers 0 or 1 by id to ``out[k:]``; return the place after them."""
    if 3 * ranks <= 64:
        return write_bits(int(blue) | int(pink) << ranks | int(green) << 2 * ranks, 3 * ranks, out, k)
    write_bits(blue, ranks, out, k)
    write_bits(pink, ranks, out, k + ranks)
    return write_bits(green, ranks, out, k + 2 * ranks)


# --- what tiles count ----------------------------------------------------------------------------------------------------


@compiled(inline=True)
def shown(number: int) -> int:
    """Return a number as an observation shows it, at most 127 and at least -127; only unusual tiles reach that."""
    return max(-127, min(127, int(number)))


@compiled(inline=True)
def note_next_tile(t: Table) -> None:
    """Note the next tile, if there is one, and compute what it would add to the score of each seat.

    The kinds of tiles are unpredictable, so all are computed, and the one-hot kind selects one of them without a branch.
    """
    over = t.trick == t.row_type.shape[0]
    place = np.uint64(t.trick - over)
    for kind in range(4):
        t.next_kind[kind] = 0 if over else t.row_kind[place, kind]
    t.next_value = 0 if over else t.row_value[place]
    bowl, bone, fish, vase = -t.next_kind[0], -t.next_kind[1], -t.next_kind[2], -t.next_kind[3]  # -1, with all bits, or 0
    value = t.next_value
    for seat in range(t.hand.shape[0]):
        t.gain[seat] = (
            (bowl & value) | (bone & max(value, t.bone_limit[seat])) | (fish & t.fish_gain[seat]) | (vase & t.vase_gain[seat])
        )


@compiled(inline=True)
def take_tile(t: Table, seat: int) -> None:
    """Add the next tile to those that a seat has won."""
    winner = np.uint64(seat)
    t.score[winner] += vase_step(t, int(t.vases[winner])) if t.next_kind[VASE] else t.gain[winner]
    t.shown_score[winner] = shown(t.score[winner])
    t.won[winner, np.uint64(t.row_type[np.uint64(t.trick)])] += 1
    if not t.next_kind[BOWL]:
        t.fish[winner] += t.next_kind[FISH]
        t.vases[winner] += t.next_kind[VASE]
        note_tiles(t, seat)


@compiled(inline=True)
def vase_step(t: Table, vases: int) -> int:
    """Return what one vase more than so many adds to a score; 0 if there are no more."""
    more = min(vases + 1, t.vase_scores.shape[0] - 1)
    return int(t.vase_scores[more]) - int(t.vase_scores[vases])


@compiled
def note_tiles(t: Table, seat: int) -> None:
    """Compute what a fish and a vase would add to the score of a seat, and the least that a fishbone can add.

    Each fish takes the worst fishbone that is left. So one more fish saves the worst that counts; and one more fishbone counts
    itself, or in its place the smallest of those that were taken away, or nothing if there are more fish than fishbones.
    """
    fish, worst, limit, owner = int(t.fish[seat]), 0, NO_LIMIT, np.uint64(seat)
    for i in range(t.first_fish - 1, t.first_bone - 1, -1):  # the worst first
        kind = np.uint64(i)
        count, value = int(t.won[owner, kind]), int(t.tile_value[kind])
        limit = value if count > 0 and fish > 0 else limit
        worst = -value if count > fish and worst == 0 else worst
        fish = max(0, fish - count)
    t.fish_gain[seat] = worst
    t.bone_limit[seat] = 0 if fish > 0 else limit
    t.vase_gain[seat] = shown(vase_step(t, int(t.vases[seat])))


@compiled
def count_score(t: Table, seat: int) -> int:
    """Return what all won tiles of a seat count together, given the numbers of its fish and vases."""
    score, fish = int(t.vase_scores[t.vases[seat]]), int(t.fish[seat])
    for kind in range(t.first_fish - 1, -1, -1):
        count = int(t.won[seat, kind])
        taken = min(fish, count) if kind >= t.first_bone else 0
        fish -= taken
        score += (count - taken) * int(t.tile_value[kind])
    return score


@compiled
def write_scores(t: Table, scores: Scores, ranks: Ranks) -> None:
    """Write the scores; the highest wins, and equal scores share the victory."""
    for seat in range(t.hand.shape[0]):
        scores[seat] = t.score[seat]
        ranks[seat] = t.score[seat]
