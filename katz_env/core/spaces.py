"""What the environments share: observation spaces, reset options."""

from __future__ import annotations

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


def setup_options(game: Game, options: Mapping[str, Any] | None) -> tuple[NDArray[np.int8] | None, NDArray[np.int64] | None]:
    """The deck ``(1, cards)`` and the first seat ``(1,)`` of reset options; unknown keys are ignored.

    Raises
    ------
    ValueError
        If the deck or the seat is impossible.
    """
    options = options or {}
    deck, seat = options.get("deck"), options.get("bandleader")
    if seat is not None:
        check_integer("bandleader", seat, 0, game.num_players - 1)
    decks = None if deck is None else game.parse_deck(deck)[None]
    return decks, None if seat is None else np.array([seat])
