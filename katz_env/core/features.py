"""The features of a game, which networks are shown besides observations, computed by a compiled function of the game."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from katz_env.core.fields import Field, offsets

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
        places = offsets(observation_fields)
        self._starts = tuple(places[name].start for name in read)
        self._length = sum(field.size for field in self.fields)

    def __call__(self, observations: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the features, int8 ``(k, F)``, of observations ``(k, at least D)``."""
        out = np.zeros((len(observations), self._length), np.int8)
        self._write(np.ascontiguousarray(observations), self._starts, self._sizes, out)
        return out
