"""The player ``heuristic``: it weighs the chance to win the trick, what the tile counts for whom, and what its cards are worth.

For each legal card it estimates the probability of winning the trick, given the cards that it has not seen, the hands that
follow and the colours that they are known to lack. The tile counts what it adds to the player's score, less what it adds to
the scores of the likely other winners: who holds one vase is a welcome winner of the next. Against that stands what the card
could still do for the tiles that follow: high cards and trumps win good ones, low cards leave bad ones to others. Since the
winner leads to the next tile, winning also counts what the lead is worth there.
"""

from __future__ import annotations

from typing import NamedTuple

from katz_agents.meow.trick import unseen, winner_now, wins_now
from katz_env import Decision, Game
from katz_env.core.jit import compiled
from katz_env.core.packed import count_bits
from katz_env.core.types import Mask, Table
from katz_env.games.meow.rules import GREEN


class Weights(NamedTuple):
    """The weights of the evaluation, in points unless stated otherwise; tuned in matches of the player with itself."""

    eager: float = 0.52
    """The probability that a seat which can take a good tile does so."""
    forced: float = 0.62
    """The probability that a seat which can beat a card, but does not want the tile, has to."""
    rivals: float = 1.58
    """The weight of what a tile counts for others, as a multiple of what it counts for the player."""
    holder: float = 0.16
    """The probability that the seat which wins as the trick lies will get the tile, if the player does not."""
    high: float = 0.4
    """The worth of the highest card of a colour, per point of the good tiles that follow."""
    trump: float = 0.24
    """The worth of any trump, besides its rank, per point of the good tiles that follow."""
    trump_high: float = 0.97
    """The further worth of the highest trump."""
    low: float = 0.31
    """The worth of the lowest card of a colour, per point of the bad tiles that follow."""
    curve: float = 1.0
    """How much more the highest ranks are worth than the middle ones: the share of the square of a rank."""
    one: float = 0.88
    """The height of a 1 while the highest card of its colour is still out, as a share of the colour."""
    lead: float = 0.01
    """The worth of the lead, per point of the tile after the next."""
    short: float = 0.4
    """The worth of having no more cards of a colour that is not trump, while there are trumps in the hand."""


def decision(game: Game, weights: Weights | None = None) -> Decision:
    """Return the decision function of the player, by default with the tuned weights."""
    del game
    return Decision(decide, weights or Weights())


@compiled
def decide(t: Table, seat: int, mask: Mask, draw: float, w: Weights) -> int:
    """Return the action of `seat`, which is to act; the function reads only what the seat may know."""
    ranks, n = t.in_play.shape[0], t.hand.shape[0]
    good, bad = _future(t)
    others = _mean_of_others(t, seat)
    holder = winner_now(t)
    after = int(t.row_value[t.trick + 1]) if t.trick + 1 < t.row_type.shape[0] else 0
    gain = float(t.gain[seat])
    best, best_value = -1, -1e9
    for action in range(mask.shape[0]):
        if not mask[action]:
            continue
        colour = action // ranks
        rank = action - ranks * colour + 1
        chance = _chance(t, seat, colour, rank, w)
        elsewhere = others
        if holder >= 0 and not (chance > 0.0 and wins_now(t, colour, rank)):
            stays = w.holder if t.played_count < n - 1 else 1.0
            elsewhere = stays * t.gain[holder] + (1.0 - stays) * others
        value = chance * (gain + w.lead * after) - (1.0 - chance) * w.rivals * elsewhere / (n - 1)
        value -= _worth(t, seat, colour, rank, good, bad, w)
        if colour != GREEN and count_bits(t.hand[seat, colour]) == 1 and t.hand[seat, GREEN] != 0:
            value += w.short
        if value > best_value:
            best, best_value = action, value
    return best


@compiled(inline=True)
def _future(t: Table) -> tuple[float, float]:
    """Return the mean points of the good tiles that follow the next one in this round, and those of the bad ones."""
    good, bad, count = 0.0, 0.0, 0
    for place in range(t.trick + 1, t.row_type.shape[0]):
        value = float(t.row_value[place])
        good += max(value, 0.0) + 3.0 * t.row_kind[place, 2]
        bad += max(-value, 0.0) + 5.0 * t.row_kind[place, 3]
        count += 1
    return good / max(1, count), bad / max(1, count)


@compiled(inline=True)
def _mean_of_others(t: Table, seat: int) -> float:
    """Return what the next tile would count for another seat, on average."""
    n, total = t.hand.shape[0], 0.0
    for other in range(n):
        if other != seat:
            total += t.gain[other]
    return total / (n - 1)


@compiled(inline=True)
def _chance(t: Table, seat: int, colour: int, rank: int, w: Weights) -> float:
    """Return the estimated probability that a card wins the trick."""
    n, ranks = t.hand.shape[0], t.in_play.shape[0]
    led = colour if t.played_count == 0 else int(t.led)
    if not wins_now(t, colour, rank):
        return 0.0
    following = n - 1 - int(t.played_count)
    if following == 0:
        return 1.0
    out = unseen(t, seat, colour)
    top_out = out >> (ranks - 1) & 1
    if rank == ranks:
        beaters = out & 1
    elif rank == 1:
        beaters = out & ~1 if not _top_lies(t, colour) else 0
    else:
        beaters = out & ~((1 << rank) - 1)
    number = count_bits(beaters)
    trumps = 0 if colour == GREEN else count_bits(unseen(t, seat, GREEN))
    of_led = count_bits(unseen(t, seat, led))
    total = 0
    for c in range(3):
        total += count_bits(unseen(t, seat, c))
    chance = 1.0
    other = seat
    for _ in range(following):
        other = other + 1 if other + 1 < n else 0
        share = float(t.row_type.shape[0] - t.trick) / max(1, total)
        share = min(share, 1.0)
        lacks = t.void[other, led] != 0
        empty = 1.0 if lacks else _none(share, of_led)
        if colour == led:
            able = (0.0 if lacks else 1.0 - _none(share, number)) + empty * (1.0 - _none(share, trumps)) * (
                t.void[other, GREEN] == 0
            )
        else:  # a trump on another colour: only higher trumps of seats that cannot follow
            able = empty * (1.0 - _none(share, number)) * (t.void[other, GREEN] == 0)
        willing = w.eager if t.gain[other] > 0 else w.forced
        chance *= 1.0 - min(1.0, able) * willing
    if rank == 1 and top_out:
        chance = max(chance, 0.02)
    return chance


@compiled(inline=True)
def _top_lies(t: Table, colour: int) -> bool:
    """Return whether the highest card of a colour lies in the trick."""
    lies = False
    for seat in range(t.hand.shape[0]):
        lies |= t.trick_colour[seat, colour] == 1 and t.trick_rank[seat] == t.in_play.shape[0]
    return lies


@compiled(inline=True)
def _none(share: float, number: int) -> float:
    """Return the probability that a hand has none of some cards, if it has each with the probability `share`."""
    result = 1.0
    for _ in range(number):
        result *= 1.0 - share
    return result


@compiled(inline=True)
def _worth(t: Table, seat: int, colour: int, rank: int, good: float, bad: float, w: Weights) -> float:
    """Return what a card could still do for the tiles that follow, in points."""
    out = unseen(t, seat, colour)
    lower, higher = count_bits(out & ((1 << (rank - 1)) - 1)), count_bits(out & ~((1 << rank) - 1))
    height = lower / max(1.0, float(lower + higher))  # among the cards of its colour that are still out
    if rank == 1 and out >> (t.in_play.shape[0] - 1) & 1:
        height = w.one
    if rank == t.in_play.shape[0]:
        height = 1.0 if not out & 1 else 0.8
    strength = (1.0 - w.curve) * height + w.curve * height * height
    value = good * (w.trump + w.trump_high * strength if colour == GREEN else w.high * strength)
    return value + bad * (0.0 if colour == GREEN else w.low * (1.0 - height))
