"""What networks are shown besides an observation: who wins the trick as it lies, and what beats the cards of the observer.

All of it follows from the observation. A network would have to learn it anew for every pair of cards.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from katz_env.core.fields import Field, offsets
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


class Features:
    """Computes the features of observations.

    Parameters
    ----------
    rules
        The rules.
    """

    def __init__(self, rules: Rules) -> None:
        self.fields = feature_fields(rules)
        places = offsets(observation_fields(rules))
        names = ("hand", "trick_colour", "trick_rank", "led", "played")
        self._starts = tuple(places[name].start for name in names)
        self._sizes = rules.num_players, rules.ranks, rules.kept
        self._length = sum(field.size for field in self.fields)

    def __call__(self, observations: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the features, int8 ``(k, F)``, of observations ``(k, at least D)``."""
        out = np.zeros((len(observations), self._length), np.int8)
        write_features(np.ascontiguousarray(observations), self._starts, self._sizes, out)
        return out


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
    hand, trick_colour, trick_rank, led, played = starts
    n, ranks, kept = sizes
    lying, unseen = np.zeros((3, ranks), np.bool_), np.zeros((3, ranks), np.bool_)
    for i in range(observations.shape[0]):
        seen, row = observations[i], out[i]
        lying[:] = False
        laid, trumps, follows, of_trick = 0, False, False, -1
        for seat in range(n):
            for colour in range(3):
                if seen[trick_colour + 3 * seat + colour]:
                    lying[colour, seen[trick_rank + seat] - 1] = True
                    laid += 1
                    trumps |= colour == GREEN
        for colour in range(3):
            if seen[led + colour]:
                of_trick = colour
            for rank in range(ranks):
                card = ranks * colour + rank
                out_of_sight = (rank < kept - 1 or rank == ranks - 1) and not seen[hand + card]
                for seat in range(n):
                    out_of_sight &= not seen[played + 3 * ranks * seat + card]
                unseen[colour, rank] = out_of_sight
                row[n + 1 + colour] += out_of_sight
        if of_trick >= 0:
            deciding = GREEN if trumps else of_trick
            best = winning(lying[deciding])
            for seat in range(n):
                if seen[trick_colour + 3 * seat + deciding] and seen[trick_rank + seat] - 1 == best:
                    row[seat] = 1
            for rank in range(ranks):
                follows |= seen[hand + ranks * of_trick + rank] != 0
        row[n] = max(0, n - 1 - laid)
        k = n + 4
        for colour in range(3):
            able = of_trick < 0 or colour == of_trick or (colour == GREEN and not follows)
            able &= not follows or colour == of_trick
            able &= not trumps or colour == GREEN
            higher = 0  # unseen cards above this one
            for rank in range(ranks - 1, -1, -1):
                card = ranks * colour + rank
                if seen[hand + card]:
                    if able:
                        before = lying[colour, rank]
                        lying[colour, rank] = True
                        row[k + card] = winning(lying[colour]) == rank
                        lying[colour, rank] = before
                    if rank == ranks - 1:
                        row[k + 3 * ranks + card] = unseen[colour, 0]
                    else:
                        row[k + 3 * ranks + card] = higher - (rank == 0 and unseen[colour, ranks - 1])
                higher += unseen[colour, rank]


@compiled(inline=True)
def winning(lying: NDArray[np.bool_]) -> int:
    """Return the rank, from 0 on, of the card that wins among those of one colour; -1 if none lies there."""
    for rank in range(len(lying) - 1, -1, -1):
        if lying[rank]:
            return 0 if rank == len(lying) - 1 and lying[0] else rank
    return -1
