"""What environments hand out as observations: scaled fields, optionally the history, optionally with the action mask."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from katz_env.core.event_log import LARGEST_COUNT, history_width
from katz_env.core.fields import named_fields, scales
from katz_env.core.spaces import masked_space, observation_box
from katz_env.core.tables import Tables


class Observer:
    """Turns what seats see at tables into the observations of an environment.

    Parameters
    ----------
    tables
        The tables. If they keep a history, it follows the fields of the game in every observation.
    mask
        ``"info"`` or ``"observation"``: whether observations are dictionaries that contain the action mask.

    Attributes
    ----------
    space : spaces.Box or spaces.Dict
        The space of the observations of one seat.
    mask_in_observation : bool
        Whether observations contain the action mask.

    Raises
    ------
    ValueError
        If `mask` is unknown.
    """

    def __init__(self, tables: Tables, mask: str = "info") -> None:
        if not isinstance(mask, str) or mask not in ("info", "observation"):
            raise ValueError(f"mask is {mask!r}; it must be 'info' or 'observation'")
        self.tables, self.mask_in_observation = tables, mask == "observation"
        game = tables.game
        self._scale = scales(game.observation_fields)
        self.box = observation_box(game.observation_fields)
        if tables.history_length:
            width = history_width(len(game.event_kinds), game.num_players, game.event_cards)
            low, high = np.zeros(width, np.float32), np.ones(width, np.float32)
            low[len(game.event_kinds) + game.num_players] = -1
            high[len(high) - game.event_cards :] = LARGEST_COUNT
            low = np.concatenate((self.box.low, np.tile(low, tables.history_length)))
            high = np.concatenate((self.box.high, np.tile(high, tables.history_length)))
            self.box = spaces.Box(low, high, dtype=np.float32)
        self.space = masked_space(self.box, game.num_actions) if self.mask_in_observation else self.box

    def observe(
        self, counts: NDArray[np.int8], where: NDArray[np.int64], seats: NDArray[np.int64], *, finished: bool = False
    ) -> NDArray[np.float32]:
        """Return the observations of one seat each at some tables without the masks, float32 ``(k, D)``.

        Parameters
        ----------
        counts
            What the seats see before scaling, int8 ``(k, fields)``.
        where, seats
            The tables and the seats, ``(k,)``.
        finished
            Whether the observations are of the last finished games instead of the current ones.
        """
        scaled = counts * self._scale
        if not self.tables.history_length:
            return scaled
        history = self.tables.history(where, seats, finished=finished)
        return np.concatenate((scaled, history.reshape(len(history), -1)), axis=1)

    def observe_one(self, counts: NDArray[np.int8], seat: int) -> NDArray[np.float32]:
        """Return the observation of a seat at the only table without the mask, float32 ``(D,)``; `counts` is ``(fields,)``."""
        if not self.tables.history_length:
            return counts * self._scale
        return self.observe(counts[None], np.zeros(1, np.int64), np.array([seat]))[0]

    def with_mask(self, observation: NDArray[np.float32], mask: NDArray[np.int8]) -> Any:
        """Return an observation, or many, with the action mask if observations contain it."""
        return {"observation": observation, "action_mask": mask} if self.mask_in_observation else observation

    def named(self, counts: NDArray[np.int8], where: NDArray[np.int64], seats: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Return copies of what seats see by the names of the fields: int8 before scaling, and the history as float32."""
        named: dict[str, NDArray[Any]] = {**named_fields(counts.copy(), self.tables.game.observation_fields)}
        if self.tables.history_length:
            named["history"] = self.tables.history(where, seats)
        return named
