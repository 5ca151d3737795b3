"""A Gymnasium vector environment: many tables stepped together, one open seat each."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from katz_env.core.arena import OPEN, Arena, Opponents, one_open_seat
from katz_env.core.game import Game, scales
from katz_env.core.rendering import RENDER_FPS, Renderer
from katz_env.core.single import ILLEGAL_REWARD
from katz_env.core.spaces import checked_options, checked_seed, observation_box
from katz_env.core.tables import Tables

Array = NDArray[Any]


class GameVectorEnv(VectorEnv[NDArray[np.float32], NDArray[np.int64], Array]):
    """`SingleEnv` on many tables at once, in Gymnasium's mode SAME_STEP.

    In the step in which a game ends, ``infos["final_obs"]`` and ``infos["final_info"]`` hold its last observation and its
    results, and the observation is of the new game. ``infos["action_mask"]`` is int8 ``(N, A)``.

    Parameters
    ----------
    game, opponents, seat, reward
        As in `SingleEnv`.
    render_mode
        None, ``"ansi"`` or ``"rgb_array"``: `render` returns one text, or one array of pixels, for each table.
    num_envs
        How many tables, N.
    num_threads
        Threads that share the tables; None for all available cores.
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
        if isinstance(num_envs, bool) or not isinstance(num_envs, (int, np.integer)) or num_envs < 1:
            raise ValueError(f"num_envs is {num_envs!r}; it must be an integer of at least 1")
        self._renderer = Renderer(game, render_mode, self.metadata["render_modes"])
        agents, seating = one_open_seat(game.num_players, opponents, seat)
        self.game, self.num_envs, self.render_mode = game, int(num_envs), render_mode
        self._tables = Tables(game, num_envs, reward=reward, num_threads=num_threads)
        self._arena = Arena(self._tables, agents, seating, np.random.default_rng())
        self._scale = scales(game.observation_parts)
        self._started = False
        self.single_observation_space = observation_box(game.observation_parts)
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
            Starts all generators anew (with a `reset_mask`, those of its tables and of the agents); None goes on with them.
        options
            ``"reset_mask"``: bool ``(N,)``, the tables to deal anew; all if missing. Other keys are ignored.

        Raises
        ------
        ValueError
            If the seed or the mask is not of the right kind.
        """
        seed = checked_seed(seed, "one integer of at least 0, for all tables together")
        mask = checked_options(options).get("reset_mask")
        if mask is not None:
            if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,) or not mask.any():
                raise ValueError(f"reset_mask must be a bool array of shape ({self.num_envs},) with at least one True")
            if not self._started and not mask.all():
                raise ValueError("the first reset must be of all tables: call reset() without a reset_mask")
        super().reset(seed=seed)
        if seed is not None:
            self._arena.seed(self.np_random)
        where = None if mask is None else np.flatnonzero(mask)
        self._tables.reset(seed, where)
        self._arena.start(where)
        self._started = True
        return self._observations(), self._infos()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Play one action id for each open seat ``(N,)``."""
        if not self._started:
            raise ValueError("call reset() before step()")
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or not np.issubdtype(actions.dtype, np.integer):
            raise ValueError(f"actions are {actions.dtype} {actions.shape}; they must be integers ({self.num_envs},)")
        tables, arena, everyone = self._tables, self._arena, np.arange(self.num_envs)
        seats = tables.turn.astype(np.int64)
        possible = (actions >= 0) & (actions < self.game.num_actions)
        illegal = ~(possible & tables.action_masks[everyone, np.where(possible, actions, 0)])
        final_observations = self._observations()[illegal] if illegal.any() else None

        legal = np.flatnonzero(~illegal) if illegal.any() else None
        arena.step(actions if legal is None else actions[legal], legal)
        rewards = arena.rewards[everyone, tables.turn]
        terminated = arena.ended.copy()
        rewards[terminated] = arena.final_rewards[terminated, seats[terminated]]
        infos: dict[str, Any] = {}
        if terminated.any():
            self._add_final(infos, np.flatnonzero(terminated & ~illegal))
        if final_observations is not None:
            where = np.flatnonzero(illegal)
            self._add_illegal(infos, where, seats[where], final_observations)
            rewards[where], terminated[where] = ILLEGAL_REWARD, True
            tables.reset(where=where)
            arena.start(where)
        return self._observations(), rewards, terminated, np.zeros(self.num_envs, np.bool_), infos | self._infos()

    def action_masks(self) -> NDArray[np.int8]:
        """The legal actions of all open seats, int8 ``(N, A)``."""
        return self._tables.action_masks.astype(np.int8)

    def named_observations(self) -> dict[str, NDArray[np.int8]]:
        """What all open seats see, as counts by the names of the parts, each ``(N, *shape)``."""
        return {name: part.copy() for name, part in self._tables.named_observations().items()}

    def render(self) -> tuple[Any, ...] | None:
        """The tables as `render_mode` says, each from the eyes of its open seat."""
        if self.render_mode is None:
            return None
        return tuple(self._renderer.render(table, int(table["turn"])) for table in self._tables.records)

    # --- infos in Gymnasium's layout: a value for every table, and a mask under the same name with an underscore

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

    def _add_final(self, infos: dict[str, Any], where: NDArray[np.int64]) -> None:
        """The last observations and the results of the games that ended at the tables `where`."""
        records = self._arena.final_records[where]
        seats = np.argmax(self._arena.final_players[where] == OPEN, 1)
        final = self.game.observe(records, seats) * self._scale
        results = self.game.results(records)
        values = {name: array[np.arange(len(where)), seats] for name, array in results.items()}
        values["seat"] = seats
        values["action_mask"] = np.zeros((len(where), self.game.num_actions), np.int8)
        self._put_final(infos, where, final, values)

    def _add_illegal(self, infos: dict[str, Any], where: Array, seats: Array, final: NDArray[np.float32]) -> None:
        mask = np.zeros((len(where), self.game.num_actions), np.int8)
        values = {"illegal_action": np.ones(len(where), np.bool_), "seat": seats, "action_mask": mask}
        self._put_final(infos, where, final, values)

    def _put_final(
        self, infos: dict[str, Any], where: NDArray[np.int64], final: NDArray[np.float32], values: dict[str, Array]
    ) -> None:
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
