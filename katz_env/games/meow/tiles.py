"""What the tiles of Meow count: compiled functions on one table record ``t``; see ``rules.py``.

The score of a seat and what the next tile would add to it are kept up to date, so that no score is ever counted from all tiles
again. Masks and one-hot kinds stand in the place of branches, for which tile lies there is unpredictable.
"""

from __future__ import annotations

import numpy as np

from katz_env.core.jit import compiled
from katz_env.core.packed import count_bits, highest_bit
from katz_env.core.types import Table
from katz_env.games.meow.rules import FISH, FISHBONE, NO_LIMIT, VASE


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
    """Add the next tile to those that a seat has won.

    As in `note_next_tile`, a mask for each kind of tile stands in the place of branches.
    """
    winner, kind = np.uint64(seat), np.uint64(t.row_type[np.uint64(t.trick)])
    bone, fish, vase = -int(t.next_kind[FISHBONE]), -int(t.next_kind[FISH]), -int(t.next_kind[VASE])
    left, taken = int(np.int64(t.bones_left[winner])), int(np.int64(t.bones_taken[winner]))
    taken |= bone & 1 << int(t.bone_place[kind]) + int(t.won[winner, kind])
    freed = taken & -taken & -int(count_bits(taken) > t.fish[winner])  # a fishbone takes the place of the smallest one
    left |= freed
    taken ^= freed
    caught = fish & left & 1 << (highest_bit(left) & 63)  # a fish takes the worst
    t.bones_left[winner] = left ^ caught
    t.bones_taken[winner] = taken | caught
    t.score[winner] += (int(t.gain[winner]) & ~vase) | (vase_step(t, np.int64(t.vases[winner])) & vase)
    t.shown_score[winner] = shown(np.int64(t.score[winner]))
    t.won[winner, kind] += 1
    t.fish[winner] -= fish
    t.vases[winner] -= vase
    note_tiles(t, seat)


@compiled(inline=True)
def vase_step(t: Table, vases: int) -> int:
    """Return what one vase more than so many adds to a score; 0 if there are no more."""
    more = min(vases + 1, t.vase_scores.shape[0] - 1)
    return int(t.vase_scores[more]) - int(t.vase_scores[vases])


@compiled(inline=True)
def note_tiles(t: Table, seat: int) -> None:
    """Compute what a fish and a vase would add to the score of a seat, and the least that a fishbone can add.

    Each fish takes the worst fishbone that is left. So one more fish saves the worst that counts; and one more fishbone counts
    itself, or in its place the smallest of those that were taken away, or nothing if there are more fish than fishbones.
    """
    owner = np.uint64(seat)
    fish, taken = int(t.fish[owner]), int(np.int64(t.bones_taken[owner]))
    worst, smallest = highest_bit(int(np.int64(t.bones_left[owner]))), highest_bit(taken & -taken)  # -1 if there is none
    t.fish_gain[owner] = -int(t.bone_value[np.uint64(max(0, worst))]) & -int(worst >= 0)
    limit = int(t.bone_value[np.uint64(max(0, smallest))]) & -int(count_bits(taken) == fish)
    t.bone_limit[owner] = limit if fish > 0 else NO_LIMIT
    t.vase_gain[owner] = shown(vase_step(t, np.int64(t.vases[owner])))


@compiled
def sort_bones(t: Table, seat: int) -> None:
    """Divide the fishbones of a seat, given by `won` and `fish`, into those that its fish take away and those that count."""
    fish, left, taken = int(t.fish[seat]), 0, 0
    for kind in range(t.first_fish - 1, t.first_bone - 1, -1):  # the worst first
        for copy in range(t.won[seat, kind] - 1, -1, -1):
            bone = 1 << int(t.bone_place[kind]) + copy
            taken |= bone if fish > 0 else 0
            left |= bone if fish <= 0 else 0
            fish -= 1
    t.bones_left[seat], t.bones_taken[seat] = left, taken


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
