"""Stable-Baselines3's view of many tables with one open seat each. Only this module and `sb3_features` import that library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from katz_env.core.observer import Observer
from katz_env.core.rendering import Renderer
from katz_env.core.self_play import NOBODY, SelfPlay
from katz_env.core.validation import check_at_least


class GameVecEnv(VecEnv):
    """Tables with one open seat each as a ``VecEnv`` of Stable-Baselines3.

    When a game ends, its table is dealt anew in the same step, and the info of the step holds ``"terminal_observation"`` and
    the results of the open seat, with ``"illegal_action"``. MaskablePPO of sb3-contrib finds the action masks by itself.

    Parameters
    ----------
    play
        The tables, whose seatings leave one seat open each.
    observation_space
        The space of the observations that a subclass makes; by default that of what the open seats see, float32 ``(D,)``.
    render_mode
        None, ``"ansi"`` or ``"rgb_array"``.
    """

    def __init__(
        self,
        play: SelfPlay,
        observation_space: spaces.Box | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.play, self.game, self.render_mode = play, play.game, render_mode
        self.metadata = {"render_modes": ["ansi", "rgb_array"]}
        self._renderer = Renderer(play.game, render_mode, self.metadata["render_modes"])
        self._observer, self._everyone = Observer(play.tables), np.arange(len(play.tables))
        self._actions = np.zeros(len(play.tables), np.int64)
        super().__init__(len(play.tables), observation_space or self._observer.box, spaces.Discrete(play.game.num_actions))

    @property
    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions of the open seats, bool ``(N, A)``; the array changes with the next step."""
        return self.play.action_masks

    def named_observations(self) -> dict[str, NDArray[Any]]:
        """Return what all open seats see by field name: unscaled int8 arrays ``(N, *shape)``, and the history as float32."""
        return self._observer.named(self.play.observations, self._everyone, self.play.seats)

    def seed(self, seed: int | None = None) -> Sequence[None | int]:
        """Set the seed of the next `reset`; None draws one. ValueError if it is no integer of at least 0."""
        if seed is not None:
            check_at_least("seed", seed, 0)
        return super().seed(seed)

    def reset(self) -> Any:
        """Deal all tables, with the first of the seeds that `seed` made, if it was called."""
        self.play.reset(self._seeds[0])
        self.reset_infos = [{"seat": seat} for seat in self.play.seats.tolist()]
        self._reset_seeds()
        self._reset_options()
        return self._observations()

    def step_async(self, actions: Any) -> None:
        """Keep the actions, integers ``(N,)``, for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> Any:
        """Play the actions of the open seats, and the agents up to their next decisions.

        Returns
        -------
        observations, rewards, dones, infos
            ``(N, D)``, float32 ``(N,)``, bool ``(N,)``, and a list of N dictionaries.
        """
        rewards, dones = self.play.step(self._actions).by_table(self.num_envs)
        return self._observations(), rewards, dones, self._infos()

    def _observations(self) -> NDArray[Any]:
        """Return the observations of the open seats, ``(N, D)``, in memory of their own."""
        return self._observer.observe(self.play.observations, self._everyone, self.play.seats)

    def _infos(self) -> list[dict[str, Any]]:
        """Return the infos of the last step."""
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        finished = self.play.finished
        if not len(finished.tables):
            return infos
        seats = finished.open_seats()
        counts = self.game.observe_unchecked(finished.records, seats)
        final = self._observer.observe(counts, finished.tables, seats, finished=True)
        results = {name: values.tolist() for name, values in self.play.results(seats).items()}
        illegal = (finished.culprits != NOBODY).tolist()
        for k, i in enumerate(finished.tables.tolist()):
            infos[i] = {name: values[k] for name, values in results.items()}
            infos[i] |= {"illegal_action": illegal[k], "terminal_observation": final[k], "TimeLimit.truncated": False}
        return infos

    # --- the rest of SB3's interface

    def close(self) -> None:
        """There is nothing to close."""

    def has_attr(self, attr_name: str) -> bool:
        """Return whether the tables have an attribute or a method."""
        return attr_name in ("action_masks", "game", "render_mode")

    def get_attr(self, attr_name: str, indices: None | int | Iterable[int] = None) -> list[Any]:
        """Return an attribute of the tables: ``game`` or ``render_mode``, which are the same for all."""
        if attr_name not in ("game", "render_mode"):
            raise AttributeError(f"the tables have no attribute {attr_name!r}; they have 'game' and 'render_mode'")
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: None | int | Iterable[int] = None) -> None:
        """Refuse to set an attribute: settings belong into the call that makes the environment."""
        raise AttributeError(f"cannot set {attr_name!r}: settings are given when the environment is made")

    def env_method(
        self, method_name: str, *method_args: Any, indices: None | int | Iterable[int] = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of the tables: ``action_masks``, bool ``(A,)`` for each."""
        if method_name != "action_masks":
            raise AttributeError(f"the tables have no method {method_name!r}; they have 'action_masks'")
        masks = self.action_masks.copy()
        return [masks[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: None | int | Iterable[int] = None) -> list[bool]:
        """Return that no table is wrapped."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """Return a picture of every table from the point of view of its open seat, uint8 ``(height, width, 3)``."""
        if self.render_mode != "rgb_array":
            return [None for _ in range(self.num_envs)]
        tables = zip(self.play.tables.records, self.play.seats.tolist(), strict=True)
        return [self._renderer.render(table, seat) for table, seat in tables]  # type: ignore[misc]
