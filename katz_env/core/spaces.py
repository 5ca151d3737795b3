"""What the environments share: observation spaces, and checks of seeds, actions and reset options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from katz_env.core.fields import Field, bounds, scales
from katz_env.core.game import Game
from katz_env.core.validation import is_integer


def observation_box(fields: Sequence[Field]) -> spaces.Box:
    """Return the space of scaled vectors, float32 ``(D,)``."""
    low, high = bounds(fields)
    return spaces.Box(low * scales(fields), high * scales(fields), dtype=np.float32)


def masked_space(box: spaces.Box, num_actions: int) -> spaces.Dict:
    """Return the space of observations that contain the action mask: ``{"observation": box, "action_mask": int8 (A,)}``."""
    return spaces.Dict({"observation": box, "action_mask": spaces.Box(0, 1, (num_actions,), np.int8)})


def checked_options(options: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return reset options as a mapping, which is empty for None; raise ValueError if they are not a mapping."""
    if options is not None and not isinstance(options, Mapping):
        raise ValueError(f"options are {options!r}; they must be a dictionary or None")
    return options or {}


def checked_seed(seed: Any, right: str = "an integer of at least 0") -> int | None:
    """Return a seed as a Python integer, as Gymnasium requires, or None; raise ValueError if it is invalid."""
    if seed is None:
        return None
    if not is_integer(seed) or seed < 0:
        raise ValueError(f"seed is {seed!r}; it must be {right}, or None")
    return int(seed)


def action_id(action: Any) -> int:
    """Return an action as a Python integer; raise ValueError if it is not one, such as a float, a bool or a time difference."""
    if is_integer(action):
        return int(action)
    array = np.asarray(action)  # an array or tensor without axes
    if array.ndim or array.dtype.kind not in "iu":
        raise ValueError(f"action is {action!r}; it must be an integer, the id of an action")
    return int(array)


def given_deal(game: Game, options: Mapping[str, Any] | None) -> tuple[NDArray[np.int8] | None, NDArray[np.int8] | None]:
    """Return the deal and the first seat of reset options, as `Tables.deal_vectors` takes them.

    Returns
    -------
    deals : int8 (1, size) or None
        The vector ``deal``; None if it is to be drawn.
    first_seats : int8 (1,) or None
        The first seat; None if it is to be drawn.

    Raises
    ------
    ValueError
        If the deal or the seat is impossible, or stated twice.
    """
    options = checked_options(options)
    loose = {key: options[key] for key in game.deal_options if options.get(key) is not None}
    given = options.get("deal")
    if given is not None and loose:
        raise ValueError(f"the options have both 'deal' and {next(iter(loose))!r}; give everything in 'deal'")
    vector, seat = game.given_deal(loose if given is None else given)
    return None if vector is None else vector[None], None if seat is None else np.array([seat], np.int8)
