"""The Gymnasium environment: one table with one open seat, at which agents play the other seats."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from katz_env.core.arena import Arena, Opponents, one_open_seat
from katz_env.core.game import Game
from katz_env.core.observer import Observer
from katz_env.core.rendering import RENDER_FPS, RENDER_MODES, Frame, Renderer
from katz_env.core.self_play import BROKEN_OFF, NOT_DEALT
from katz_env.core.spaces import action_id, checked_seed, given_deal
from katz_env.core.tables import Tables

ILLEGAL_REWARD = -1.0
"""The reward of an illegal action, which ends the game."""

OVER = "the game is over"
"""The reason why an environment accepts nothing but `reset`, for error messages."""


class SingleEnv(gymnasium.Env[Any, Any]):
    """One open seat among agents; a step goes from one decision of this seat to its next.

    Observations are float32 ``(D,)``. ``info["action_mask"]`` (int8 ``(A,)``) and `action_masks` give the legal actions, and
    ``info["seat"]`` is the open seat. When a game ends, `info` also holds the results of this seat (score, win_share, ...; see
    `Game.results`) and ``"illegal_action"``: an illegal action ends the game with reward -1, a win share of 0, and the other
    results as they stand.

    An exception during `step` or `reset`, such as an opponent's error or a KeyboardInterrupt while opponents think, breaks the
    game off: then only `reset` is accepted. An action that is not an integer is refused before anything happens, and the game
    continues.

    Parameters
    ----------
    game
        The game to play.
    opponents
        A name or an agent for all other seats, or one for each, clockwise from the open seat's left neighbour.
    seat
        The open seat; None draws one for every game.
    reward
        The reward scheme, ``"win"`` or ``"score"``; see `Tables`.
    render_mode
        With ``"ansi"``, `render` returns the table as text; with ``"rgb_array"``, as pixels, uint8 ``(height, width, 3)``. With
        ``"human"``, every step shows the table in a window. None renders nothing. The point of view is always the open seat.
    mask
        ``"info"``: the action mask is in `info`. ``"observation"``: observations are ``{"observation": float32 (D,),
        "action_mask": int8 (A,)}``, as RLlib and TorchRL expect them, and `info` has no mask.
    history
        The number of latest events of the game that follow the fields of the game in every observation; see
        `katz_env.core.event_log.history`.

    Raises
    ------
    ValueError
        If a setting is not one of its possible values.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}

    def __init__(
        self,
        game: Game,
        opponents: Opponents = "greedy",
        seat: int | None = None,
        reward: str = "win",
        render_mode: str | None = None,
        mask: str = "info",
        history: int = 0,
    ) -> None:
        self._renderer = Renderer(game, render_mode)
        agents, seating = one_open_seat(game.num_players, opponents, seat)
        self.game, self.render_mode = game, render_mode
        self._tables = Tables(game, 1, reward=reward, autoreset=False, num_threads=1, history=history)
        self._arena = Arena(self._tables, agents, seating, np.random.default_rng())
        self._observer = Observer(self._tables, mask)
        self._where = np.zeros(1, np.int64)
        self._seat: int | None = None  # the open seat, once it is known
        self._not_in_play = NOT_DEALT  # empty while a game is in play
        self.observation_space = self._observer.space
        self.action_space = spaces.Discrete(game.num_actions)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Deal a game and play to the first decision of the open seat.

        A random deal in which the open seat has no decision is dealt again.

        Parameters
        ----------
        seed
            Seeds all generators; with None they continue their streams.
        options
            ``"deal"`` fixes what chance decides, as in the AEC environment. Other options are ignored.

        Returns
        -------
        observation, info
            The observation, float32 ``(D,)``, and the info described above.

        Raises
        ------
        ValueError
            If the deal is impossible, or the open seat has no decision with it.
        """
        deals, first_seats = given_deal(self.game, options)
        super().reset(seed=checked_seed(seed))
        if seed is not None:
            self._arena.seed(self.np_random)
        self._seat, self._not_in_play = None, BROKEN_OFF  # until the game reaches a decision
        self._tables.reset(seed)
        while True:
            if deals is not None or first_seats is not None:
                self._tables.deal_vectors(deals, first_seats)
            self._arena.start()
            if not self._tables.terminated[0]:
                break
            if deals is not None:
                self._not_in_play = OVER
                raise ValueError("with this deck the game ended before the open seat had a decision")
            self._tables.reset()
        self._seat = int(self._tables.turn[0])
        if self.render_mode == "human":
            self.render()
        self._not_in_play = ""
        return self._observation(), self._info()

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play an action; return the next observation, the reward, terminated, truncated (always False) and info.

        Raises
        ------
        ValueError
            If `reset` must be called first, or the action is not an integer.
        """
        if self._not_in_play:
            raise ValueError(f"{self._not_in_play}; call reset()")
        tables, action = self._tables, action_id(action)
        illegal = not 0 <= action < self.game.num_actions or not tables.action_masks.item(action)
        self._not_in_play = BROKEN_OFF  # unless the step succeeds
        if not illegal:
            self._arena.step(np.array([action]))
        over = illegal or tables.terminated.item(0)
        if self.render_mode == "human" and not illegal:
            self.render()
        self._not_in_play = OVER if over else ""
        reward = ILLEGAL_REWARD if illegal else self._arena.rewards.item(self._known_seat())
        return self._observation(), reward, over, False, self._info() | (self._results(illegal) if over else {})

    def action_masks(self) -> NDArray[np.int8]:
        """Return the legal actions, int8 ``(A,)``; sb3-contrib's MaskablePPO finds the method by this name."""
        if self._not_in_play:
            return np.zeros(self.game.num_actions, np.int8)
        return self._tables.action_masks[0].astype(np.int8)

    def _info(self) -> dict[str, Any]:
        masks = {} if self._observer.mask_in_observation else {"action_mask": self.action_masks()}
        return masks | {"seat": self._seat}

    def _results(self, illegal: bool) -> dict[str, Any]:
        """Return what `info` also holds at the end of a game."""
        results = self.game.results_unchecked(self._tables.records)
        return {name: values[0, self._known_seat()].item() for name, values in results.items()} | {"illegal_action": illegal}

    def _observation(self) -> Any:
        # When a game is over, the tables hold the observation of the seat that moved last.
        counts = self._tables.observe(self._known_seat()) if self._not_in_play else self._tables.observations
        observation = self._observer.observe_one(counts[0], self._known_seat())
        return self._observer.with_mask(observation, self.action_masks())

    def _known_seat(self) -> int:
        """Return the open seat; raise ValueError if it is not known yet: then nothing may be shown."""
        if self._seat is None:
            raise ValueError(f"{self._not_in_play}; call reset()")
        return self._seat

    def named_observation(self) -> dict[str, NDArray[Any]]:
        """Return what the open seat sees as unscaled integers, int8 arrays by field name, and the history as float32.

        Raises
        ------
        ValueError
            If no game has reached a decision since the last `reset`.
        """
        seat = self._known_seat()
        named = self._observer.named(self._tables.observe(seat), self._where, np.array([seat]))
        return {name: values[0] for name, values in named.items()}

    def events(self) -> NDArray[Any]:
        """Return what happened since the last decision of the open seat, as it may know it; see `Tables.events`.

        Raises
        ------
        ValueError
            If no game has reached a decision since the last `reset`, or the environment was made without `history`.
        """
        return self._tables.events(0, self._known_seat(), "decision")

    def render(self) -> Frame | None:
        """Render the table in `render_mode`, from the point of view of the open seat.

        Raises
        ------
        ValueError
            If no game has reached a decision since the last `reset`.
        """
        return self._renderer.render(self._tables.records[0], self._known_seat())

    def close(self) -> None:
        """Close the window of the render mode ``"human"``."""
        self._renderer.close()
