"""A Gymnasium environment: one table, one open seat, the others played by agents."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from katz_env.core.arena import Arena, Opponents, one_open_seat
from katz_env.core.game import Game, named, scales
from katz_env.core.rendering import RENDER_FPS, RENDER_MODES, Frame, Renderer
from katz_env.core.spaces import observation_box, setup_options
from katz_env.core.tables import Tables

ILLEGAL_REWARD = -1.0


class SingleEnv(gymnasium.Env[Any, Any]):
    """One open seat among agents; a step goes from one decision of this seat to its next.

    Observations are float32 ``(D,)``. ``info["action_mask"]`` (int8 ``(A,)``) and `action_masks` give the legal actions,
    ``info["seat"]`` the open seat; at the end `info` holds the results of this seat (score, win_share, ...). An illegal action
    ends the game with reward -1 and ``info["illegal_action"]``.

    Parameters
    ----------
    game
        The game.
    opponents
        A name or an agent for all other seats, or one for each, clockwise from the open seat's left neighbour.
    seat
        The open seat; None draws one for every game.
    reward
        One of ``game.reward_kinds``.
    render_mode
        None; ``"ansi"``: `render` returns the table as text; ``"rgb_array"``: as pixels, uint8 ``(height, width, 3)``;
        ``"human"``: every step shows the table in a window. It is always seen from the open seat: nobody peeks.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}

    def __init__(
        self,
        game: Game,
        opponents: Opponents = "greedy",
        seat: int | None = None,
        reward: str = "win",
        render_mode: str | None = None,
    ) -> None:
        self._renderer = Renderer(game, render_mode)
        agents, seating = one_open_seat(game.num_players, opponents, seat)
        self.game, self.render_mode = game, render_mode
        self._tables = Tables(game, 1, reward=reward, autoreset=False, num_threads=1)
        self._arena = Arena(self._tables, agents, seating, np.random.default_rng())
        self._scale = scales(game.observation_parts)
        self._seat = 0
        self._over = True
        self.observation_space = observation_box(game.observation_parts)
        self.action_space = spaces.Discrete(game.num_actions)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Deal a game and play to the first decision of the open seat.

        A random deal in which this seat never decides is dealt again.

        Parameters
        ----------
        seed
            Starts all generators anew; None goes on with them.
        options
            ``"deck"`` and ``"bandleader"`` as in the AEC environment; other keys are ignored.

        Raises
        ------
        ValueError
            If the deck or the seat is impossible.
        """
        decks, bandleaders = setup_options(self.game, options)
        super().reset(seed=seed)
        if seed is not None:
            self._arena.seed(self.np_random)
        self._tables.reset(seed)
        while True:
            if decks is not None or bandleaders is not None:
                self._tables.deal(decks, bandleaders)
            self._arena.start()
            if not self._tables.terminated[0]:
                break
            if decks is not None:
                raise ValueError("with this deck the game ended before the open seat had a decision")
            self._tables.reset()
        self._seat = int(self._tables.turn[0])
        self._over = False
        if self.render_mode == "human":
            self.render()
        return self._observation(), self._info()

    def step(self, action: int) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Play an action id; returns observation, reward, terminated, truncated (always False) and info."""
        if self._over:
            raise ValueError("the game is over; call reset()")
        masks = self._tables.action_masks[0]
        if not 0 <= action < len(masks) or not masks[action]:
            self._over = True
            return self._observation(), ILLEGAL_REWARD, True, False, {**self._info(), "illegal_action": True}
        self._arena.step(np.array([action]))
        self._over = bool(self._tables.terminated[0])
        info = self._info()
        if self._over:
            results = self.game.results(self._tables.records)
            info |= {name: values[0, self._seat].item() for name, values in results.items()}
        if self.render_mode == "human":
            self.render()
        return self._observation(), float(self._arena.rewards[0, self._seat]), self._over, False, info

    def action_masks(self) -> NDArray[np.int8]:
        """The legal actions as int8 ``(A,)``, under the name that sb3-contrib's MaskablePPO looks for."""
        if self._over:
            return np.zeros(self.game.num_actions, np.int8)
        return self._tables.action_masks[0].astype(np.int8)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks(), "seat": self._seat}

    def _observation(self) -> NDArray[np.float32]:
        if self._over:  # then the tables look at the seat that moved last
            return self._tables.observe(self._seat)[0] * self._scale
        return self._tables.observations[0] * self._scale

    def named_observation(self) -> dict[str, NDArray[np.int8]]:
        """What the open seat sees, as counts by the names of the parts."""
        return named(self._tables.observe(self._seat)[0], self.game.observation_parts)

    def render(self) -> Frame | None:
        """The table as `render_mode` says, from the eyes of the open seat."""
        return self._renderer.render(self._tables.records[0], self._seat)

    def close(self) -> None:
        """Close the window of the mode ``"human"``."""
        self._renderer.close()
