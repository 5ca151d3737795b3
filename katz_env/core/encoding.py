"""What networks are shown: observations and the features of a game, amounts scaled and categories one-hot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from katz_env.core.fields import Field, bounds, scales
from katz_env.core.game import Game
from katz_env.core.jit import cached


class Encoding:
    """Makes the inputs of a network from observations, or from longer vectors that begin with an observation.

    A number of an ordinary field becomes one input, its value times the scale of the field. A number of a categorical field
    becomes one input for each value from the lowest to the highest: 1 for the value that it has, 0 for the others. The inputs
    of an observation come first, then those of the game's features, then those of the rest of the vector.

    Parameters
    ----------
    game
        The game.
    fields
        The fields of the vectors, of which those of an observation are the first; by default these alone.

    Attributes
    ----------
    length : int
        How many numbers the fields have together, D.
    size : int
        How many inputs there are, I.
    """

    def __init__(self, game: Game, fields: Sequence[Field] | None = None) -> None:
        given = game.observation_fields if fields is None else fields
        seen = len(game.observation_fields)
        shown = (*given[:seen], *game.feature_fields, *given[seen:])
        self.game, self.length = game, sum(field.size for field in given)
        self._low, high = bounds(shown)
        self._scales = scales(shown)
        self._categorical = np.concatenate([np.full(field.size, field.categorical) for field in shown])
        self._widths = np.where(self._categorical, high.astype(np.int64) - self._low + 1, 1)
        self.size = int(self._widths.sum())

    def __deepcopy__(self, memo: dict[int, Any]) -> Encoding:
        """Return itself, for it never changes: networks are copied often, and games are not small."""
        return self

    def __call__(self, vectors: NDArray[np.int8]) -> NDArray[np.float32]:
        """Return the inputs, float32 ``(k, I)``, for int8 vectors ``(k, at least D)``, of which the first D numbers count."""
        vectors = vectors[:, : self.length]
        if self.game.feature_fields:
            seen = self.game.observation_size
            vectors = np.concatenate((vectors[:, :seen], self.game.features(vectors), vectors[:, seen:]), axis=1)
        if not self._categorical.any():
            return vectors * self._scales
        inputs = np.zeros((len(vectors), self.size), np.float32)
        encode(np.ascontiguousarray(vectors), self._low, self._scales, self._categorical, self._widths, inputs)
        return inputs


@cached
def encode(
    vectors: NDArray[np.int8],
    low: NDArray[np.int8],
    scales: NDArray[np.float32],
    categorical: NDArray[np.bool_],
    widths: NDArray[np.int64],
    inputs: NDArray[np.float32],
) -> None:
    """Fill the zeroed `inputs` ``(k, I)``.

    Parameters
    ----------
    vectors
        int8 ``(k, D)``.
    low, scales, categorical, widths
        For each number its lowest value, its scale, whether it is categorical, and how many inputs it becomes, ``(D,)`` each.
    inputs
        The output array.
    """
    for i in range(vectors.shape[0]):
        first = 0
        for d in range(len(widths)):
            if not categorical[d]:
                inputs[i, first] = vectors[i, d] * scales[d]
            else:
                category = np.int64(vectors[i, d]) - low[d]
                if 0 <= category < widths[d]:
                    inputs[i, first + category] = 1
            first += widths[d]


def encoded_size(layout: Sequence[Sequence[Any]]) -> int:
    """Return how many inputs the fields become whose `Field.layout` is given."""
    return sum(int(np.prod(shape)) * (values[0][1] - values[0][0] + 1 if values else 1) for _, shape, _, *values in layout)
