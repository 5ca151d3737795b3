"""Checks of arguments that several modules share. The messages name the wrong value and the right ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_INT64 = np.dtype(np.int64)


def is_integer(value: Any) -> bool:
    """Return whether a value is a Python or NumPy integer; booleans and NumPy's time differences are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_, np.timedelta64))


def check_integer(name: str, value: Any, low: int, high: int) -> None:
    """Raise ValueError unless a value is an integer from `low` to `high`."""
    if not is_integer(value) or not low <= value <= high:
        right = f"an integer from {low} to {high}" if low < high else str(low)
        raise ValueError(f"{name} is {value!r}; it must be {right}")


def check_boolean(name: str, value: Any) -> None:
    """Raise ValueError unless a value is True or False, of Python or of NumPy."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} is {value!r}; it must be True or False")


def there_are(count: int, noun: str) -> str:
    """Return ``"there is 1 agent"`` or ``"there are 2 agents"``."""
    return f"there is 1 {noun}" if count == 1 else f"there are {count} {noun}s"


def check_at_least(name: str, value: Any, low: int) -> None:
    """Raise ValueError unless a value is an integer of at least `low`."""
    if not is_integer(value) or value < low:
        raise ValueError(f"{name} is {value!r}; it must be an integer of at least {low}")


def check_keywords(function: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Raise TypeError, as Python does, about a keyword argument that a function does not have; it names the known ones."""
    for name in given:
        if name not in known:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}; its settings are {', '.join(known)}")


def integer_array(values: ArrayLike, name: str, size: int) -> NDArray[np.int64]:
    """Return values as a contiguous int64 array ``(size,)``; raise ValueError if they are not `size` integers."""
    array = np.asarray(values)
    if array.dtype is _INT64 and array.shape == (size,) and array.flags.c_contiguous:
        return array
    if array.size == 0 and size == 0:
        return np.zeros(0, np.int64)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} are of type {array.dtype}; they must be integers")
    if array.shape != (size,):
        raise ValueError(f"{name} have the shape {array.shape}; it must be ({size},)")
    return np.ascontiguousarray(array, np.int64)


def writable(state: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of an unpickled object, with arrays in read-only memory, as joblib and Ray pass them, copied."""
    return {
        name: np.require(value, requirements="W") if isinstance(value, np.ndarray) else value for name, value in state.items()
    }


def check_range(name: str, values: NDArray[np.int64], low: int, high: int) -> None:
    """Raise ValueError that names the first of some indices, such as seats, that is not from `low` to `high`."""
    wrong = values[(values < low) | (values > high)]
    if len(wrong):
        raise ValueError(f"{name} {wrong[0]} does not exist; {name}s are {low} to {high}")
