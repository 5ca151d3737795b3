"""Observation fields: one list defines the flat vector, the named views of it and the tables of the documentation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Field:
    """One named field of an observation vector.

    Parameters
    ----------
    name
        The name of the field.
    shape
        The shape of the named view; the flat vector holds it in C order.
    scale
        The factor by which the int8 values are multiplied, so that typical float32 values are of order one.
    low, high
        The lowest and the highest value, before scaling.
    meaning
        The line about the field in the documentation.
    categorical
        Whether networks are to be shown its values one-hot: as names of things, such as kinds of cards, rather than as amounts.
        Observations are the same either way; see `katz_env.core.encoding.Encoding`.
    """

    name: str
    shape: tuple[int, ...]
    scale: float
    low: int
    high: int
    meaning: str
    categorical: bool = False

    def __post_init__(self) -> None:
        """Check that the bounds are numbers that an observation can hold."""
        if not -128 <= self.low <= self.high <= 127:
            raise ValueError(
                f"the field {self.name!r} goes from {self.low} to {self.high}; bounds must ascend within -128 to 127"
            )

    @property
    def size(self) -> int:
        """The number of entries of the flat vector that belong to this field."""
        return math.prod(self.shape)

    @property
    def layout(self) -> list[Any]:
        """What a trained network depends on, as JSON values: name, shape and scale; the bounds too if it is categorical."""
        return [self.name, list(self.shape), self.scale, *([[self.low, self.high]] if self.categorical else [])]


def offsets(fields: Sequence[Field]) -> dict[str, slice]:
    """Return the slice of the flat vector that each field occupies."""
    result, start = {}, 0
    for field in fields:
        result[field.name] = slice(start, start + field.size)
        start += field.size
    return result


def scales(fields: Sequence[Field]) -> NDArray[np.float32]:
    """Return the scale of every entry of the flat vector, float32 ``(D,)``."""
    return np.concatenate([np.full(field.size, field.scale, np.float32) for field in fields])


def bounds(fields: Sequence[Field]) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return the lowest and the highest value of every entry of the flat vector, before scaling, each int8 ``(D,)``."""
    low = np.concatenate([np.full(field.size, field.low, np.int8) for field in fields])
    high = np.concatenate([np.full(field.size, field.high, np.int8) for field in fields])
    return low, high


def named_fields(vector: NDArray[Any], fields: Sequence[Field]) -> dict[str, NDArray[Any]]:
    """Return views of a flat vector ``(..., D)`` by field name, each ``(..., *field.shape)``.

    Raises
    ------
    ValueError
        If the last axis of `vector` is not as long as all fields together.
    """
    size = sum(field.size for field in fields)
    if np.ndim(vector) < 1:
        raise ValueError(f"the vector is {vector!r}; it must be an array whose last axis has {size} numbers")
    if vector.shape[-1] != size:
        raise ValueError(f"the vector has {vector.shape[-1]} numbers; the fields have {size}")
    return {
        field.name: vector[..., place].reshape(*vector.shape[:-1], *field.shape)
        for field, place in zip(fields, offsets(fields).values(), strict=True)
    }
