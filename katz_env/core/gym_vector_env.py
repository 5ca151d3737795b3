"""The Gymnasium vector environment: many tables, with one open seat each, that are stepped together."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from katz_env.core.arena import OPEN, Arena, Opponents, one_open_seat
from katz_env.core.fields import scales
from katz_env.core.game import Game, Records
from katz_env.core.gym_env import BROKEN_OFF, ILLEGAL_REWARD, NOT_DEALT
from katz_env.core.rendering import RENDER_FPS, Renderer
from katz_env.core.spaces import checked_options, checked_seed, observation_box
from katz_env.core.tables import Tables
from katz_env.core.validation import check_at_least

Array = NDArray[Any]


class GameVectorEnv(VectorEnv[NDArray[np.float32], NDArray[np.int64], Array]):
    """`SingleEnv` on many tables at once, with Gymnasium's autoreset mode SAME_STEP.

    In the step in which a game ends, ``infos["final_obs"]`` and ``infos["final_info"]`` hold its last observation and its
    results, with ``"illegal_action"``, and the returned observation belongs to the next game. ``infos["action_mask"]`` is int8
    ``(N, A)``.

    An exception during `step` or `reset`, such as an opponent's error or a KeyboardInterrupt while opponents think, breaks all
    games off: then only a `reset` of all tables is accepted. Actions that are not integers are refused before anything happens,
    and the games continue.

    Parameters
    ----------
    game, opponents, seat, reward
        The settings of `SingleEnv`.
    render_mode
        None, ``"ansi"`` or ``"rgb_array"``: `render` returns one text, or one array of pixels, for each table.
    num_envs
        The number of tables, N.
    num_threads
        The number of threads that share the tables of a step; None for as many as `available_cores` grants. With opponents that
        play as compiled code, such as ``"greedy"``, the whole step runs on one thread.
    """

    metadata: dict[str, Any] = {
        "autoreset_mode": AutoresetMode.SAME_STEP,
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": RENDER_FPS,
    }

    def __init__(
        self,
        game: Game,
        num_envs: int = 1,
        opponents: Opponents = "greedy",
        seat: int | None = None,
        reward: str = "win",
        render_mode: str | None = None,
        num_threads: int | None = None,
    ) -> None:
        check_at_least("num_envs", num_envs, 1)
        self._renderer = Renderer(game, render_mode, self.metadata["render_modes"])
        agents, seating = one_open_seat(game.num_players, opponents, seat)
        self.game, self.num_envs, self.render_mode = game, int(num_envs), render_mode
        self._tables = Tables(game, num_envs, reward=reward, num_threads=num_threads)
        self._arena = Arena(self._tables, agents, seating, np.random.default_rng())
        self._scale = scales(game.observation_fields)
        self._not_in_play = NOT_DEALT  # empty while the games are in play
        self.single_observation_space = observation_box(game.observation_fields)
        self.single_action_space = spaces.Discrete(game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Deal new games and play to the first decisions of the open seats.

        Parameters
        ----------
        seed
            Seeds all generators (with a `reset_mask`, those of its tables and of the agents); with None they continue their
            streams.
        options
            ``"reset_mask"``, bool ``(N,)``, marks the tables to deal anew; without it all are. Other options are ignored.

        Returns
        -------
        observations, infos
            The observations, float32 ``(N, D)``, and the infos described above.

        Raises
        ------
        ValueError
            If the seed or the mask is invalid, or there is a mask that leaves out tables and no games are in play.
        """
        seed = checked_seed(seed, "one integer of at least 0, for all tables together")
        mask = checked_options(options).get("reset_mask")
        if mask is not None:
            if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,) or not mask.any():
                raise ValueError(f"reset_mask must be a bool array of shape ({self.num_envs},) with at least one True")
            if self._not_in_play and not mask.all():
                raise ValueError(f"{self._not_in_play}: call reset() without a reset_mask")
        super().reset(seed=seed)
        self._not_in_play = BROKEN_OFF  # until all games reach a decision
        if seed is not None:
            self._arena.seed(self.np_random)
        where = None if mask is None else np.flatnonzero(mask)
        self._tables.reset(seed, where)
        self._arena.start(where)
        self._not_in_play = ""
        return self._observations(), self._infos()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Play one action for each open seat.

        Parameters
        ----------
        actions
            Action ids, integers ``(N,)``.

        Returns
        -------
        observations, rewards, terminations, truncations, infos
            float32 ``(N, D)``, float32 ``(N,)``, bool ``(N,)``, bool ``(N,)`` (always False), and the infos described above.

        Raises
        ------
        ValueError
            If `reset` must be called first, or the actions have the wrong type or shape.
        """
        self._check_in_play()
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise ValueError(f"actions are {actions.dtype} {actions.shape}; they must be integers ({self.num_envs},)")
        tables, arena, everyone = self._tables, self._arena, np.arange(self.num_envs)
        seats = tables.turn.astype(np.int64)
        possible = (actions >= 0) & (actions < self.game.num_actions)
        illegal = ~(possible & tables.action_masks[everyone, np.where(possible, actions, 0)])
        where = np.flatnonzero(illegal)
        broken_off = tables.records[where]
        legal = np.flatnonzero(~illegal) if len(where) else None
        self._not_in_play = BROKEN_OFF  # until the step has succeeded
        arena.step(actions if legal is None else actions[legal], legal)
        rewards = arena.rewards[everyone, tables.turn]
        terminated = arena.ended & ~illegal
        rewards[terminated] = arena.final_rewards[terminated, seats[terminated]]
        infos: dict[str, Any] = {}
        if terminated.any():
            ended = np.flatnonzero(terminated)
            self._add_final(infos, ended, arena.final_records[ended], np.argmax(arena.final_players[ended] == OPEN, 1), False)
        if len(where):
            self._add_final(infos, where, broken_off, seats[where], True)
            rewards[where], terminated[where] = ILLEGAL_REWARD, True
            tables.reset(where=where)
            arena.start(where)
        self._not_in_play = ""
        return self._observations(), rewards, terminated, np.zeros(self.num_envs, np.bool_), infos | self._infos()

    def action_masks(self) -> NDArray[np.int8]:
        """Return the legal actions of all open seats, int8 ``(N, A)``; none if no games are in play."""
        if self._not_in_play:
            return np.zeros((self.num_envs, self.game.num_actions), np.int8)
        return self._tables.action_masks.astype(np.int8)

    def named_observations(self) -> dict[str, NDArray[np.int8]]:
        """Return what all open seats see as unscaled integers, int8 arrays ``(N, *shape)`` by field name.

        Raises
        ------
        ValueError
            If no games are in play.
        """
        self._check_in_play()
        return {name: part.copy() for name, part in self._tables.named_observations().items()}

    def render(self) -> tuple[Any, ...] | None:
        """Render every table in `render_mode`, from the point of view of its open seat.

        Raises
        ------
        ValueError
            If no games are in play.
        """
        self._check_in_play()
        if self.render_mode is None:
            return None
        return tuple(self._renderer.render(table, int(table["turn"])) for table in self._tables.records)

    def _check_in_play(self) -> None:
        """Raise ValueError if only `reset` is accepted: the seats to act at the tables may then be those of opponents."""
        if self._not_in_play:
            raise ValueError(f"{self._not_in_play}; call reset() before step()")

    # --- infos in Gymnasium's layout: an array over all tables, and a mask under the same name with a leading underscore

    def _observations(self) -> NDArray[np.float32]:
        return self._tables.observations * self._scale

    def _infos(self) -> dict[str, Any]:
        everyone = np.ones(self.num_envs, np.bool_)
        return {
            "action_mask": self.action_masks(),
            "_action_mask": everyone,
            "seat": self._tables.turn.astype(np.int64),
            "_seat": everyone.copy(),
        }

    def _add_final(self, infos: dict[str, Any], where: Array, records: Records, seats: Array, illegal: bool) -> None:
        """Add to `infos` the last observations and results of `seats`, whose games ended as `records` at the tables `where`."""
        final = self.game.observe_unchecked(records, seats) * self._scale
        results = self.game.results_unchecked(records)
        values = {name: array[np.arange(len(where)), seats] for name, array in results.items()}
        values["illegal_action"] = np.full(len(where), illegal)
        values["seat"] = seats
        values["action_mask"] = np.zeros((len(where), self.game.num_actions), np.int8)
        if "final_obs" not in infos:
            infos["final_obs"] = np.full(self.num_envs, None, object)
            infos["_final_obs"] = np.zeros(self.num_envs, np.bool_)
            infos["final_info"], infos["_final_info"] = {}, np.zeros(self.num_envs, np.bool_)
        for i, observation in zip(where, final, strict=True):
            infos["final_obs"][i] = observation
        infos["_final_obs"][where] = infos["_final_info"][where] = True
        for name, array in values.items():
            if name not in infos["final_info"]:
                infos["final_info"][name] = np.zeros((self.num_envs, *array.shape[1:]), array.dtype)
                infos["final_info"]["_" + name] = np.zeros(self.num_envs, np.bool_)
            infos["final_info"][name][where] = array
            infos["final_info"]["_" + name][where] = True
