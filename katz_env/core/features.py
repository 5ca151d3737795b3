"""The features of a game, which networks are shown besides observations, computed by a compiled function of the game."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from katz_env.core.fields import Field, bounds, offsets

WriteFeatures = Callable[[NDArray[np.int8], tuple[int, ...], tuple[int, ...], NDArray[np.int8]], None]
"""``(observations, starts, sizes, out)``: fills the zeroed `out` ``(k, F)`` from observations, int8 ``(k, at least D)``."""


class Features:
    """Computes the features of observations.

    Parameters
    ----------
    fields
        The fields of the features, in order.
    write
        The compiled function, which fills them in that order.
    observation_fields
        The fields of an observation.
    read
        The names of those that `write` reads: it is given where each of them starts.
    sizes
        The numbers of the rules that `write` is given.
    """

    def __init__(
        self,
        fields: Sequence[Field],
        write: WriteFeatures,
        observation_fields: Sequence[Field],
        read: Sequence[str],
        sizes: tuple[int, ...],
    ) -> None:
        self.fields, self._write, self._sizes = tuple(fields), write, sizes
        self._low, self._high = bounds(observation_fields)
        places = offsets(observation_fields)
        self._starts = tuple(places[name].start for name in read)
        self._length = sum(field.size for field in self.fields)

    def __call__(self, observations: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the features, int8 ``(k, F)``, of observations ``(k, at least D)``, of which the first D numbers count.

        Raises
        ------
        ValueError
            If they are no observations of the game as `Tables` has them: int8 and not scaled.
        """
        observations, needed = np.asarray(observations), len(self._low)
        if observations.dtype != np.int8 or observations.ndim != 2 or observations.shape[1] < needed:
            found = f"{observations.dtype} {observations.shape}"
            raise ValueError(f"observations are {found}; they must be int8 (k, at least {needed}), as Tables has them")
        seen = observations[:, :needed]
        wrong = (seen < self._low) | (seen > self._high)
        if wrong.any():
            row, place = np.argwhere(wrong)[0]
            raise ValueError(f"{seen[row, place]} at place {place} of observation {row} is not possible in this game")
        out = np.zeros((len(observations), self._length), np.int8)
        self._write(np.ascontiguousarray(observations), self._starts, self._sizes, out)
        return out
