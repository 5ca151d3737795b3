"""What a seat sees: the list of observation fields, and the functions that write them.

The list defines the flat vector, the named views (`katz_env.named_fields`) and the table in the documentation.
`write_observation` writes the fields in the same order, and a test compares every field with the table. Seats are counted
from the observer: index 0 is the observer, index 1 its left neighbour.
"""

from __future__ import annotations

import numpy as np

from katz_env.core.fields import Field
from katz_env.core.jit import compiled
from katz_env.core.packed import copy_fields, copy_rotated, write_one_hot, write_one_hot_seat, write_seats
from katz_env.core.types import Counts, Table
from katz_env.games.meow.engine import first_tile, num_ranks, write_cards, write_seat_cards
from katz_env.games.meow.rules import Rules

SHOWN_TOGETHER = (
    "row_kind", "row_value", "row_gone", "next_kind", "next_value", "to_come", "round_shown", "trick", "expert", "phase",
)  # fmt: skip
"""Fields of a table that an observation shows in this order, as they are: so they are copied together."""


def observation_fields(rules: Rules) -> tuple[Field, ...]:
    """Return the fields of an observation, in order; the values are int8 before scaling."""
    n, ranks, tricks, kinds = rules.num_players, rules.ranks, rules.tricks, len(rules.tile_types)
    worst, best = min(0, *(tile.value for tile in rules.tiles)), max(0, *(tile.value for tile in rules.tiles))
    most = max(rules.tile_counts)
    return (
        Field("hand", (3, ranks), 1, 0, 1, "own cards by colour (blue, pink, green) and rank"),
        Field("trick_colour", (n, 3), 1, 0, 1, "for each seat: the colour of its card in the trick; all zero before it plays"),
        Field("trick_rank", (n,), 1 / 8, 0, ranks, "for each seat: the rank of its card in the trick, 0 before it plays"),
        Field("void", (n, 3), 1, 0, 1, "for each seat: 1 if it did not follow this colour in this round, and so has none"),
        Field("led", (3,), 1, 0, 1, "one-hot: the colour led; all zero before the lead"),
        Field("leader", (n,), 1, 0, 1, "one-hot: the seat that leads this trick"),
        Field("marker", (n,), 1, 0, 1, "one-hot: the seat with the start marker, which led the first trick of the round"),
        Field("turn", (n,), 1, 0, 1, "one-hot: the seat to act (the winner of the last trick when the game is over)"),
        Field("score", (n,), 1 / 16, *_score_range(rules), "for each seat: what its tiles count now; within -127 to 127"),
        Field("gain", (n,), 1 / 8, *_gain_range(rules), "for each seat: what the next tile would add; within -127 to 127"),
        Field("won", (n, kinds), 1, 0, most, f"for each seat: won tiles by type ({_types(rules)})"),
        Field("row_kind", (tricks, 4), 1, 0, 1, "for each tile of the row, from the left: one of bowl, fishbone, fish, vase"),
        Field("row_value", (tricks,), 1 / 8, worst, best, "for each tile of the row: its value, 0 for a fish or a vase"),
        Field("row_gone", (tricks,), 1, 0, 1, "for each tile of the row: 1 if it has been won"),
        Field("next_kind", (4,), 1, 0, 1, "one-hot: the kind of the next tile; all zero when the game is over"),
        Field("next_value", (1,), 1 / 8, worst, best, "the value of the next tile"),
        Field("to_come", (kinds,), 1, 0, most, "tiles in the stacks that are not opened yet, by type"),
        Field("round", (rules.rounds,), 1, 0, 1, "one-hot: the round"),
        Field("trick", (1,), 1 / 8, 0, tricks, "tricks played in this round"),
        Field("expert", (1,), 1, 0, 1, "1 if middle ranks are taken out, so that all cards are dealt"),
        Field("over", (1,), 1, 0, 1, "1 if the game is over"),
        Field("played", (n, 3, ranks), 1, 0, 1, "for each seat: the cards it has played in this round, by colour and rank"),
    )


def _types(rules: Rules) -> str:
    """Return the types of tiles in words, such as ``+1 to +10, -1 to -10, fish, vase``."""
    groups: dict[int, list[str]] = {}
    for tile in rules.tile_types:
        groups.setdefault(tile.kind, []).append(tile.name)
    return ", ".join(names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}" for names in groups.values())


def _score_range(rules: Rules) -> tuple[int, int]:
    """Return the lowest and the highest score of a seat as an observation shows it."""
    vases = rules.vase_scores[: rules.vases + 1]
    return max(-127, min(vases) - sum(rules.fishbones)), min(127, max(vases) + sum(rules.bowls))


def _gain_range(rules: Rules) -> tuple[int, int]:
    """Return the lowest and the highest that a tile can add to a score, as an observation shows it."""
    scores = rules.vase_scores[: rules.vases + 1]
    steps = [after - before for before, after in zip(scores, scores[1:], strict=False)]
    bones = rules.fishbones or (0,)
    return max(-127, min(0, -max(bones), *steps)), min(127, max(0, *rules.bowls, *bones, *steps))


def state_fields(rules: Rules) -> tuple[Field, ...]:
    """Return the fields of the perfect-information state: those of an observation, then what it hides."""
    n, ranks, kinds = rules.num_players, rules.ranks, len(rules.tile_types)
    hidden = [
        Field("hands", (n, 3, ranks), 1, 0, 1, "for each seat: cards by colour and rank"),
        Field("undealt", (3, ranks), 1, 0, 1, "the cards that nobody was dealt in this round, by colour and rank"),
    ]
    if rules.rounds > 1:
        later = len(rules.tiles) - rules.tricks
        meaning = "the tiles of the coming rounds in their order: type + 1, 0 past the last"
        hidden.append(Field("next_tiles", (later,), 1 / 8, 0, kinds, meaning))
    return (*observation_fields(rules), *hidden)


@compiled(inline=True)
def write_observation(t: Table, seat: int, out: Counts) -> int:
    """Fill `out` ``(D,)`` with what `seat` sees, in the order of `observation_fields`; return D."""
    n, tricks, kinds, ranks = t.hand.shape[0], t.row_type.shape[0], t.won.shape[1], num_ranks(t)
    seat, rounds = int(np.int64(seat)), t.round_shown.shape[0]
    k = write_seat_cards(t.hand, seat, ranks, out, int(np.int64(0)))  # a Python integer would compile it once more
    copy_rotated(t.trick_colour, seat, out, k)
    k = write_seats(t.trick_rank, seat, out, k + 3 * n)
    copy_rotated(t.void, seat, out, k)
    k = write_one_hot(int(t.led), 3, out, k + 3 * n)
    k = write_one_hot_seat(int(t.leader), seat, out, k, n)
    k = write_one_hot_seat(int(t.marker), seat, out, k, n)
    k = write_one_hot_seat(int(t.turn), seat, out, k, n)
    k = write_seats(t.shown_score, seat, out, k)
    k = write_seats(t.gain, seat, out, k)
    copy_rotated(t.won, seat, out, k)
    k += n * kinds
    size = 6 * tricks + 5 + kinds + rounds + 3
    copy_fields(t.row_kind, size, out, k)  # what `SHOWN_TOGETHER` names
    k += size
    other = seat
    for _ in range(n):
        k = write_seat_cards(t.played, other, ranks, out, k)
        other = other + 1 if other + 1 < n else 0
    return k


@compiled
def write_state(t: Table, seat: int, out: Counts) -> int:
    """Fill `out` ``(S,)`` with the perfect-information state, seats counted from `seat`; return S."""
    n, tricks, ranks = t.hand.shape[0], t.row_type.shape[0], num_ranks(t)
    k = write_observation(t, seat, out)
    other = int(seat)
    for _ in range(n):
        k = write_seat_cards(t.hand, other, ranks, out, k)
        other = other + 1 if other + 1 < n else 0
    k = write_cards(np.int64(t.undealt[0]), np.int64(t.undealt[1]), np.int64(t.undealt[2]), ranks, out, k)
    size = t.deal.shape[0] - first_tile(t) - tricks
    place = first_tile(t) + (int(t.round_index) + 1) * tricks
    for i in range(size):
        out[k + i] = t.deal[place + i] + 1 if place + i < t.deal.shape[0] else 0
    return k + size
