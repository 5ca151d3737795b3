"""What networks are shown besides an observation: who wins the trick as it lies, and what beats the cards of the observer.

All of it follows from the observation. A network would have to learn it anew for every pair of cards.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from katz_env.core.features import Features
from katz_env.core.fields import Field
from katz_env.core.jit import cached, compiled
from katz_env.games.meow.observation import observation_fields
from katz_env.games.meow.rules import GREEN, Rules


def feature_fields(rules: Rules) -> tuple[Field, ...]:
    """Return the fields, in order; the values are int8 before scaling."""
    n, ranks = rules.num_players, rules.ranks
    return (
        Field("winner", (n,), 1, 0, 1, "one-hot: the seat that wins the trick as it lies; all zero before the lead"),
        Field("following", (1,), 1 / 2, 0, n - 1, "seats that play in this trick after the observer"),
        Field("unseen", (3,), 1 / 8, 0, rules.kept, "for each colour: cards that the observer has not seen in this round"),
        Field("wins", (3, ranks), 1, 0, 1, "own legal cards that win the trick as it lies"),
        Field("beaten_by", (3, ranks), 1 / 8, 0, rules.kept - 1, "for own cards: unseen cards of the colour that beat it"),
    )


def features_of(rules: Rules) -> Features:
    """Return what computes the features."""
    read = ("hand", "trick_colour", "trick_rank", "led", "played")
    sizes = rules.num_players, rules.ranks, rules.kept
    return Features(feature_fields(rules), write_features, observation_fields(rules), read, sizes)


@cached(name="meow.write_features", allocates=True)
def write_features(
    observations: NDArray[np.int8], starts: tuple[int, ...], sizes: tuple[int, int, int], out: NDArray[np.int8]
) -> None:
    """Fill the zeroed `out` ``(k, F)`` in the order of `feature_fields`.

    Parameters
    ----------
    observations
        int8 ``(k, at least D)``.
    starts
        Where the fields ``hand``, ``trick_colour``, ``trick_rank``, ``led`` and ``played`` begin.
    sizes
        The numbers of seats, of ranks and of cards of each colour in play.
    """
    hand, trick_colour, trick_rank, led, _ = starts
    n, ranks, _ = sizes
    lying, unseen = np.zeros((3, ranks), np.bool_), np.zeros((3, ranks), np.bool_)
    for i in range(observations.shape[0]):
        seen, row = observations[i], out[i]
        find_cards(seen, starts, sizes, lying, unseen)
        of_trick = -1
        for colour in range(3):
            row[n + 1 + colour] = unseen[colour].sum()
            if seen[led + colour]:
                of_trick = colour
        trumps = bool(lying[GREEN].any())
        deciding = GREEN if trumps else max(0, of_trick)
        best = winning(lying[deciding])
        for seat in range(n):
            row[seat] = seen[trick_colour + 3 * seat + deciding] and seen[trick_rank + seat] - 1 == best
        row[n] = max(0, n - 1 - lying.sum())
        first = hand + ranks * of_trick
        follows = of_trick >= 0 and bool(seen[first : first + ranks].any())
        wins, beaten_by = n + 4, n + 4 + 3 * ranks
        for colour in range(3):
            able = colour == of_trick if follows else of_trick < 0 or colour == GREEN
            able &= colour == GREEN or not trumps
            higher = 0  # unseen cards of the colour above this one
            for rank in range(ranks - 1, -1, -1):
                card = ranks * colour + rank
                if seen[hand + card]:
                    if able:
                        lying[colour, rank] = True
                        row[wins + card] = winning(lying[colour]) == rank
                        lying[colour, rank] = False
                    row[beaten_by + card] = higher
                    if rank == ranks - 1:
                        row[beaten_by + card] = unseen[colour, 0]
                    elif rank == 0:
                        row[beaten_by + card] -= unseen[colour, ranks - 1]
                higher += unseen[colour, rank]


@compiled(inline=True)
def find_cards(
    seen: NDArray[np.int8],
    starts: tuple[int, ...],
    sizes: tuple[int, int, int],
    lying: NDArray[np.bool_],
    unseen: NDArray[np.bool_],
) -> None:
    """Note for each card, ``(3, ranks)``, whether it lies in the trick, and whether the observer has not seen it."""
    hand, trick_colour, trick_rank, _, played = starts
    n, ranks, kept = sizes
    lying[:] = False
    for seat in range(n):
        for colour in range(3):
            if seen[trick_colour + 3 * seat + colour]:
                lying[colour, seen[trick_rank + seat] - 1] = True
    for colour in range(3):
        for rank in range(ranks):
            card = ranks * colour + rank
            unseen[colour, rank] = (rank < kept - 1 or rank == ranks - 1) and not seen[hand + card]
            for seat in range(n):
                unseen[colour, rank] &= not seen[played + 3 * ranks * seat + card]


@compiled(inline=True)
def winning(lying: NDArray[np.bool_]) -> int:
    """Return the rank, from 0 on, of the card that wins among those of one colour; -1 if none lies there."""
    for rank in range(len(lying) - 1, -1, -1):
        if lying[rank]:
            return 0 if rank == len(lying) - 1 and lying[0] else rank
    return -1
