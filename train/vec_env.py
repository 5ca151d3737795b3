"""Stable-Baselines3's view of the native vector environment."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from stable_baselines3.common.vec_env import VecEnv

from katz_env.core.vector import GameVectorEnv


class SB3VecEnv(VecEnv):
    """All tables as one SB3 `VecEnv`; masks go to MaskablePPO through ``env_method("action_masks")``."""

    def __init__(self, env: GameVectorEnv) -> None:
        self.env = env
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)
        self._actions = np.zeros(env.num_envs, np.int64)
        self._returns = np.zeros(env.num_envs)
        self._lengths = np.zeros(env.num_envs, np.int64)
        self._start = time.time()

    def reset(self) -> Any:
        """Deal all tables; uses the seed given to `seed` before."""
        seed = self._seeds[0]
        observations, infos = self.env.reset(seed=seed)
        self._masks = infos["action_mask"]
        self._reset_seeds()
        self._returns[:] = self._lengths[:] = 0
        return observations

    def step_async(self, actions: Any) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> Any:
        """Play; a finished game's last observation and length are in its info, as SB3 wants them."""
        observations, rewards, dones, _, infos = self.env.step(self._actions)
        self._masks = infos["action_mask"]
        self._returns += rewards
        self._lengths += 1
        listed: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(dones):
            episode = {"r": self._returns[i], "l": self._lengths[i], "t": time.time() - self._start}
            listed[i] = {"terminal_observation": infos["final_obs"][i], "episode": episode}
        self._returns[dones] = 0
        self._lengths[dones] = 0
        return observations, rewards, dones, listed

    def close(self) -> None:
        """Close the environment."""
        self.env.close()

    def has_attr(self, attr_name: str) -> bool:
        """Whether the tables have an attribute."""
        return hasattr(self.env, attr_name)

    def get_attr(self, attr_name: str, indices: None | int | Iterable[int] = None) -> list[Any]:
        """An attribute, the same for every table."""
        value = getattr(self.env, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: None | int | Iterable[int] = None) -> None:
        """Tables have no attributes of their own."""
        raise ValueError(f"cannot set {attr_name!r}: the tables of this environment have no attributes of their own")

    def env_method(
        self, method_name: str, *method_args: Any, indices: None | int | Iterable[int] = None, **method_kwargs: Any
    ) -> list[Any]:
        """Only ``action_masks``: the mask of each table."""
        if method_name != "action_masks":
            raise ValueError(f"there is no method {method_name!r}; the tables have only 'action_masks'")
        return list(self._masks if indices is None else self._masks[list(self._get_indices(indices))])

    def env_is_wrapped(self, wrapper_class: type[Any], indices: None | int | Iterable[int] = None) -> list[bool]:
        """Nothing is wrapped."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[Any]:
        """There are no pictures."""
        return []
