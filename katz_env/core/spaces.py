"""What the environments share: observation spaces, reset options."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from katz_env.core.game import Game, Part, check_integer, scales


def observation_box(parts: Sequence[Part]) -> spaces.Box:
    """The space of scaled vectors: counts are at most 127."""
    high = 127 * scales(parts)
    return spaces.Box(np.zeros_like(high), high, dtype=np.float32)


def checked_options(options: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Reset options as a mapping, or ValueError."""
    if options is not None and not isinstance(options, Mapping):
        raise ValueError(f"options are {options!r}; they must be a dictionary or None")
    return options or {}


def checked_seed(seed: Any, right: str = "an integer of at least 0") -> int | None:
    """A seed as Gymnasium wants it, which takes no integers of NumPy; ValueError if it is none."""
    if seed is None:
        return None
    unlike = (bool, np.bool_, np.timedelta64)
    if isinstance(seed, unlike) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed is {seed!r}; it must be {right}, or None")
    return int(seed)


def action_id(action: Any) -> int:
    """An action as an integer; ValueError if it is none, also when it is a float."""
    try:
        return operator.index(action)
    except TypeError:
        raise ValueError(f"action is {action!r}; it must be an integer, the id of an action") from None


def setup_options(game: Game, options: Mapping[str, Any] | None) -> tuple[NDArray[np.int8] | None, NDArray[np.int64] | None]:
    """The deck ``(1, cards)`` and the first seat ``(1,)`` of reset options; unknown keys are ignored.

    Raises
    ------
    ValueError
        If the deck or the seat is impossible.
    """
    options = checked_options(options)
    deck, seat = options.get("deck"), options.get("bandleader")
    if seat is not None:
        check_integer("bandleader", seat, 0, game.num_players - 1)
    decks = None if deck is None else game.parse_deck(deck)[None]
    return decks, None if seat is None else np.array([seat])
