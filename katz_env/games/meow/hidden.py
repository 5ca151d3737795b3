"""Hidden information: what a seat cannot know, and the worlds that it cannot tell from the real one.

A *world* (in the literature: a determinization) is a table in which all hidden cards and tiles are dealt anew, consistently
with everything that the seat knows. A seat that did not follow a colour has none of it; nothing else limits the hands. So
worlds are drawn exactly, without rejection:

1. Seats that lack the same colours form a group. A group that lacks two colours holds cards of the third only.
2. Of the groups that lack one colour, a number of cards of each colour is drawn, in proportion to the number of worlds that
   have these numbers. Since each of these groups holds two colours, three numbers say it all.
3. The cards of each group are drawn at random from those of their colours, and dealt at random to its seats. Seats that lack
   nothing, and the cards that were not dealt, share the rest.
"""

from __future__ import annotations

import numpy as np

from katz_env.core.jit import compiled
from katz_env.core.packed import count_bits
from katz_env.core.resampling import shuffle_from
from katz_env.core.rng import random_below
from katz_env.core.types import Table
from katz_env.games.meow.engine import (
    cards_of_colour,
    deck_size,
    first_tile,
    lay_out_deck,
    lay_out_row,
    num_ranks,
    strength,
    take_up_hands,
)
from katz_env.games.meow.rules import FISH, OVER, PLAYING, VASE
from katz_env.games.meow.tiles import count_score, note_next_tile, note_tiles, shown, sort_bones

_LIKELIHOOD = np.array([1.0 / float(np.prod(np.arange(1.0, count + 1))) for count in range(121)])
"""1 / count! for the numbers of cards that can be drawn together."""


# The groups, by the colours that their seats lack: bit 0 for blue, bit 1 for pink, bit 2 for green. NumPy's integers, since
# Numba compiles a function anew for each Python integer that it is called with.
ANY_COLOUR, NO_BLUE, NO_PINK, ONLY_GREEN, NO_GREEN, ONLY_PINK, ONLY_BLUE, NO_COLOUR = (np.int64(lacked) for lacked in range(8))


@compiled
def redact(t: Table, seat: int) -> None:
    """Wipe everything that `seat` cannot know: the deal (to -1), the generator, the other hands and the undealt cards."""
    t.rng = np.uint64(0)
    t.deal[:] = -1
    t.undealt[:] = 0
    for other in range(t.hand.shape[0]):
        if other != seat:
            t.hand[other, :] = 0


# --- worlds --------------------------------------------------------------------------------------------------------------


@compiled(inline=True)
def hand_size(t: Table, seat: int) -> int:
    """Return the number of cards that a seat holds, which everybody knows."""
    return t.row_type.shape[0] - int(t.trick) - (t.trick_rank[seat] > 0)


@compiled(inline=True)
def lacking(t: Table, seat: int) -> int:
    """Return the colours that a seat is known to lack, as a bit set."""
    return int(t.void[seat, 0]) | int(t.void[seat, 1]) << 1 | int(t.void[seat, 2]) << 2


@compiled
def group_size(t: Table, seat: int, group: int) -> int:
    """Return the number of cards in the hands, other than that of `seat`, that lack exactly the colours of a bit set."""
    size = 0
    for other in range(t.hand.shape[0]):
        if other != seat and lacking(t, other) == group:
            size += hand_size(t, other)
    return size


@compiled(inline=True)
def ways(first: int, second: int, rest: int) -> float:
    """Return the ways of dividing cards of a colour into parts of these sizes, but for a factor; 0 if one is negative."""
    if first < 0 or second < 0 or rest < 0:
        return 0.0
    return _LIKELIHOOD[first] * _LIKELIHOOD[second] * _LIKELIHOOD[rest]


@compiled
def draw_numbers(t: Table, blue: int, pink: int, green: int, no_blue: int, no_pink: int, no_green: int) -> int:
    """Draw how many cards of which colour the groups hold that lack one colour.

    Parameters
    ----------
    t
        The table whose generator draws.
    blue, pink, green
        The numbers of cards of each colour that these groups, seats that lack nothing and the undealt cards share.
    no_blue, no_pink, no_green
        The numbers of cards of the groups.

    Returns
    -------
    int
        The pink cards of the group without blue, plus 128 times the blue cards of that without pink, plus 128 * 128 times the
        blue cards of that without green; -1 if there is no possibility.
    """
    drawn, total = -1.0, 0.0
    for _ in range(2):  # add up all possibilities, then find the one that was drawn
        reached = 0.0
        for a in range(no_blue + 1):
            for b in range(no_pink + 1):
                for c in range(no_green + 1):
                    reached += (
                        ways(b, c, blue - b - c)
                        * ways(a, no_green - c, pink - a - no_green + c)
                        * ways(no_blue - a, no_pink - b, green - no_blue + a - no_pink + b)
                    )
                    if drawn >= 0.0 and reached > drawn:
                        return a + 128 * b + 128 * 128 * c
        total = reached
        if total == 0.0:
            return -1
        fraction = (random_below(t, 1 << 26) * 67108864.0 + random_below(t, 1 << 26)) / 4503599627370496.0
        drawn = min(fraction * total, total * (1.0 - 1e-15))
    return -1


@compiled
def draw_card(t: Table, colour: int) -> int:
    """Take a random card of a colour out of the undealt cards; return it as a bit set of one."""
    cards = int(np.int64(t.undealt[colour]))
    for _ in range(random_below(t, count_bits(cards))):
        cards &= cards - 1
    card = cards & -cards
    t.undealt[colour] ^= card
    return card


@compiled
def deal_group(t: Table, seat: int, group: int, blue: int, pink: int, green: int) -> None:
    """Deal so many undealt cards of each colour, drawn at random, to the other seats of a group, as long as they need cards."""
    for other in range(t.hand.shape[0]):
        if other == seat or lacking(t, other) != group:
            continue
        for _ in range(hand_size(t, other)):
            place = random_below(t, blue + pink + green)
            colour = int(place >= blue) + int(place >= blue + pink)
            blue -= colour == 0
            pink -= colour == 1
            green -= colour == 2
            t.hand[other, colour] |= draw_card(t, colour)


@compiled(inline=True)
def undealt_cards(t: Table) -> tuple[int, int, int]:
    """Return the numbers of undealt blue, pink and green cards."""
    return count_bits(np.int64(t.undealt[0])), count_bits(np.int64(t.undealt[1])), count_bits(np.int64(t.undealt[2]))


@compiled
def deal_hidden(t: Table, seat: int) -> bool:
    """Deal the undealt cards to the other hands, uniformly among all ways that are possible; return False if there is none."""
    seat, none = int(np.int64(seat)), int(np.int64(0))
    b, p, g = undealt_cards(t)
    only_blue, only_pink = group_size(t, seat, ONLY_BLUE), group_size(t, seat, ONLY_PINK)
    only_green = group_size(t, seat, ONLY_GREEN)
    b, p, g = b - only_blue, p - only_pink, g - only_green
    if b < 0 or p < 0 or g < 0 or group_size(t, seat, NO_COLOUR) > 0:
        return False
    no_blue, no_pink, no_green = group_size(t, seat, NO_BLUE), group_size(t, seat, NO_PINK), group_size(t, seat, NO_GREEN)
    drawn = draw_numbers(t, b, p, g, no_blue, no_pink, no_green)
    if drawn < 0 or group_size(t, seat, ANY_COLOUR) > b + p + g - no_blue - no_pink - no_green:
        return False
    pink, blue_2, blue_4 = drawn & 127, drawn >> 7 & 127, drawn >> 14
    deal_group(t, seat, ONLY_BLUE, only_blue, none, none)
    deal_group(t, seat, ONLY_PINK, none, only_pink, none)
    deal_group(t, seat, ONLY_GREEN, none, none, only_green)
    deal_group(t, seat, NO_BLUE, none, pink, no_blue - pink)
    deal_group(t, seat, NO_PINK, blue_2, none, no_pink - blue_2)
    deal_group(t, seat, NO_GREEN, blue_4, no_green - blue_4, none)
    b, p, g = undealt_cards(t)
    deal_group(t, seat, ANY_COLOUR, b, p, g)
    return True


@compiled
def find_undealt(t: Table) -> int:
    """Fill `undealt` with the cards in play that are in no hand and have not been played; return their number.

    The result is -1 if a card is in two places or not in play.
    """
    left = 0
    for colour in range(3):
        cards = cards_of_colour(t)
        for seat in range(t.hand.shape[0]):
            if t.hand[seat, colour] & ~cards:
                return -1
            cards ^= t.hand[seat, colour]
            if t.played[seat, colour] & ~cards:
                return -1
            cards ^= t.played[seat, colour]
        t.undealt[colour] = cards
        left += count_bits(cards)
    return left


@compiled
def write_deal(t: Table) -> bool:
    """Write a deal that leads to this table: the cards of this round where they are, everything else in random order.

    The decks of the rounds before are over, so their order does not matter and is not drawn. Return False if the won tiles, the
    row and the tiles to come are not those of the game.
    """
    n, tricks, ranks, size, round_now = t.hand.shape[0], t.row_type.shape[0], num_ranks(t), deck_size(t), int(t.round_index)
    for k in range(t.round_shown.shape[0]):
        if k != round_now:
            deck = t.deal[k * size : (k + 1) * size]
            lay_out_deck(t, deck)
            if k > round_now:
                shuffle_from(t, deck, 0)
    place = round_now * size
    for seat in range(n + 1):
        begin = place
        for colour in range(3):
            cards = int(t.hand[seat, colour] | t.played[seat, colour] if seat < n else t.undealt[colour])
            while cards:
                t.deal[place] = ranks * colour + count_bits((cards & -cards) - 1)
                cards &= cards - 1
                place += 1
        shuffle_from(t, t.deal[begin:place], 0)
    front, row, back = first_tile(t), first_tile(t) + round_now * tricks, first_tile(t) + (round_now + 1) * tricks
    coming = back
    for i in range(tricks):
        t.deal[row + i] = t.row_type[i]
    for kind in range(t.tile_count.shape[0]):
        later = int(t.to_come[kind])
        past = int(t.tile_count[kind]) - later
        for i in range(tricks):
            past -= t.row_type[i] == kind
        if past < 0 or front + past > row or back + later > t.deal.shape[0]:
            return False
        for _ in range(past):
            t.deal[front] = kind
            front += 1
        for _ in range(later):
            t.deal[back] = kind
            back += 1
    shuffle_from(t, t.deal[coming:], 0)
    return front == row and back == t.deal.shape[0]


@compiled
def resample(t: Table, seat: int) -> bool:
    """Fill a redacted table with a random world; return False if there is none. All worlds are equally likely."""
    n, tricks, dealt = t.hand.shape[0], t.row_type.shape[0], 0
    if t.phase == OVER:
        for other in range(n):
            t.hand[other, :] = 0
    for other in range(n):
        played = 0
        for colour in range(3):
            played += count_bits(np.int64(t.played[other, colour]))
        if hand_size(t, other) < 0 or played != tricks - hand_size(t, other):
            return False
        if other != seat:
            dealt += hand_size(t, other)
            t.hand[other, :] = 0
    mine = 0
    for colour in range(3):
        mine += count_bits(np.int64(t.hand[seat, colour]))
    left = find_undealt(t)
    if left != deck_size(t) - n * tricks + dealt or mine != hand_size(t, seat):
        return False
    return deal_hidden(t, seat) and write_deal(t)


# --- tables that are put back --------------------------------------------------------------------------------------------


@compiled
def renew(t: Table) -> bool:
    """Recompute the fields that follow from others; return whether the table can have come from a game."""
    n, tricks, kinds, rounds = t.hand.shape[0], t.row_type.shape[0], t.tile_count.shape[0], t.round_shown.shape[0]
    t.round_shown[:] = 0
    t.round_shown[t.round_index] = 1
    lay_out_row(t)
    for k in range(tricks):
        t.row_gone[k] = k < t.trick
    t.marker = (t.first_seat + t.round_index) % n
    t.led = -1
    if t.played_count > 0:
        for colour in range(3):
            t.led = colour if t.trick_colour[t.leader, colour] else t.led
    t.best = 0
    for seat in range(n):
        for colour in range(3):
            if t.trick_colour[seat, colour] and t.trick_rank[seat] > 0:
                t.best = max(int(t.best), strength(colour, np.int64(t.trick_rank[seat]), np.int64(t.led), seat))
    possible = (t.trick < tricks) == (t.phase == PLAYING) and (t.phase == PLAYING or t.round_index == rounds - 1)
    possible &= t.played_count == 0 or t.led >= 0
    possible &= t.trick > 0 or t.leader == t.marker
    possible &= t.played_count < n and t.turn == (t.leader + t.played_count) % n
    possible &= t.phase == PLAYING or t.played_count == 0
    for kind in range(kinds):
        t.to_come[kind] = 0
        seen = 0
        for place in range(first_tile(t), t.deal.shape[0]):
            if t.deal[place] == kind:
                number = place - first_tile(t)
                seen += number < tricks * int(t.round_index) + int(t.trick)
                t.to_come[kind] += number >= tricks * (int(t.round_index) + 1)
        for seat in range(n):
            seen -= t.won[seat, kind]
        possible &= seen == 0
    take_up_hands(t)
    for seat in range(n):
        possible &= renew_seat(t, seat)
    note_next_tile(t)
    return possible


@compiled
def renew_seat(t: Table, seat: int) -> bool:
    """Recompute what follows from the cards and tiles of a seat; return whether these are possible."""
    n, possible, played = t.hand.shape[0], True, 0
    turn = seat - t.leader if seat >= t.leader else seat - t.leader + n  # 0 for the seat that leads
    colours = 0
    for colour in range(3):
        possible &= t.played[seat, colour] & ~t.hand[seat, colour] == 0
        t.hand[seat, colour] &= ~t.played[seat, colour]
        played += count_bits(np.int64(t.played[seat, colour]))
        if t.trick_colour[seat, colour] and t.trick_rank[seat] > 0:
            colours += 1
            possible &= t.played[seat, colour] >> (int(t.trick_rank[seat]) - 1) & 1 == 1
        possible &= t.void[seat, colour] == 0 or t.hand[seat, colour] == 0
    has_played = turn < t.played_count
    possible &= played == t.trick + has_played
    possible &= colours == has_played and (t.trick_rank[seat] > 0) == has_played
    if has_played:
        possible &= t.led < 0 or t.trick_colour[seat, t.led] == 1 or t.void[seat, t.led] == 1
    t.fish[seat], t.vases[seat] = 0, 0
    for kind in range(t.tile_kind.shape[0]):
        t.fish[seat] += t.won[seat, kind] * (t.tile_kind[kind] == FISH)
        t.vases[seat] += t.won[seat, kind] * (t.tile_kind[kind] == VASE)
    sort_bones(t, seat)
    t.score[seat] = count_score(t, seat)
    t.shown_score[seat] = shown(np.int64(t.score[seat]))
    note_tiles(t, seat)
    return possible
