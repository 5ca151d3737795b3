"""Stable-Baselines3's view of an arena with one open seat at each table: the learner's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from katz_env import Agent, Arena, Game, Tables
from katz_env.core.arena import OPEN, Seating
from katz_env.core.fields import Field, bounds


class TrainingEnv(VecEnv):
    """Tables at each of which the learner holds one seat; the opponents' moves are part of a step.

    Observations are int8 counts, which the network scales. With `full_state` they are perfect-information states, followed by
    who the opponents are; the policy is shown only their first part, which is what its seat sees.

    Parameters
    ----------
    game
        The game.
    num_envs
        How many tables, N.
    agents, seating
        The opponents and who sits where; see `Arena`. Each seating must leave one seat open.
    reward
        ``"win"`` or ``"score"``.
    score_weight
        What the learner is paid in addition for each point of its final score.
    full_state
        Whether the value network is to see everything.
    scripted
        How many agents, the first ones, the value network can tell apart then; it takes all others for one.

    Attributes
    ----------
    action_masks : bool (N, A)
        The learner's legal actions.
    finished_players : int64 (k, n)
        Who sat where in the games that ended in the last step.
    finished_shares : float64 (k,)
        What the learner won of these games.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        agents: Sequence[Agent],
        seating: Seating,
        *,
        reward: str = "win",
        score_weight: float = 0.0,
        full_state: bool = False,
        scripted: int = 0,
    ) -> None:
        self.game, self.full_state, self.score_weight = game, full_state, score_weight
        self._kinds = np.eye(scripted + 1, dtype=np.int8)
        who = Field("opponents", (game.num_players - 1, scripted + 1), 1.0, 0, 1, "Who sits in the other seats, clockwise")
        self.fields: tuple[Field, ...] = (*game.state_fields, who) if full_state else game.observation_fields
        # One thread: two would wait for each other longer than they save.
        self._tables = Tables(game, num_envs, seed=0, reward=reward, num_threads=1)
        self.arena = Arena(self._tables, agents, seating, np.random.default_rng())
        super().__init__(num_envs, spaces.Box(*bounds(self.fields), dtype=np.int8), spaces.Discrete(game.num_actions))
        self._everyone = np.arange(num_envs)
        self._infos: list[dict[str, Any]] = [{} for _ in range(num_envs)]
        self._actions = np.zeros(num_envs, np.int64)
        self.finished_players = np.zeros((0, game.num_players), np.int64)
        self.finished_shares = np.zeros(0)

    @property
    def action_masks(self) -> NDArray[np.bool_]:
        """The learner's legal actions, bool ``(N, A)``; the array changes with the next step."""
        return self._tables.action_masks

    def reset(self) -> Any:
        """Deal all tables; uses the seed given to `seed` before."""
        seed = self._seeds[0]
        self.arena.seed(np.random.default_rng(seed))
        self._tables.reset(seed)
        self.arena.start()
        self._reset_seeds()
        return self._observations()

    def step_async(self, actions: Any) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> Any:
        """Play the learner's actions, then the opponents, up to its next turns; games follow one another."""
        arena, tables = self.arena, self._tables
        seats = tables.turn.copy()
        arena.step(self._actions)
        dones = arena.ended.copy()
        rewards = np.where(dones, arena.final_rewards[self._everyone, seats], arena.rewards[self._everyone, tables.turn])
        ended = np.flatnonzero(dones)
        self.finished_players = arena.final_players[ended]
        self.finished_shares = np.zeros(0)
        if len(ended):
            results = self.game.results(arena.final_records[ended])
            mine = self.finished_players == OPEN
            self.finished_shares = results["win_share"][mine]
            rewards[ended] += self.score_weight * results["score"][mine]
        return self._observations(), rewards, dones, self._infos

    def _observations(self) -> NDArray[np.int8]:
        if not self.full_state:
            return self._tables.observations.copy()
        n = self.game.num_players
        others = (self._tables.turn[:, None] + np.arange(1, n)) % n
        players = np.take_along_axis(self.arena.players, others, 1)
        kinds = self._kinds[np.minimum(players, len(self._kinds) - 1)]
        return np.concatenate((self._tables.state(), kinds.reshape(len(kinds), -1)), axis=1)

    # --- going on later

    def get_state(self) -> dict[str, Any]:
        """All that decides how play goes on but for the agents and the seating, as copies: arrays and JSON values."""
        return {"records": self._tables.records.copy(), "arena": self.arena.get_state()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on as from `get_state`, with agents and a seating that are as they were.

        Raises
        ------
        ValueError
            If the state does not fit this environment.
        """
        self._tables.restore(state["records"])
        self.arena.set_state(state["arena"])
        if not (np.count_nonzero(self.arena.players == OPEN, axis=1) == 1).all():
            raise ValueError("a table has not exactly one open seat")

    # --- the rest of SB3's interface

    def close(self) -> None:
        """Nothing is to be closed."""

    def has_attr(self, attr_name: str) -> bool:
        """Whether the tables have an attribute or a method."""
        return attr_name == "action_masks"

    def get_attr(self, attr_name: str, indices: None | int | Iterable[int] = None) -> list[Any]:
        """Tables have no attributes of their own, but SB3 asks for this one."""
        if attr_name == "render_mode":
            return [None for _ in self._get_indices(indices)]
        raise AttributeError(f"the tables of this environment have no attribute {attr_name!r}")

    def set_attr(self, attr_name: str, value: Any, indices: None | int | Iterable[int] = None) -> None:
        """Tables have no attributes of their own."""
        raise ValueError(f"cannot set {attr_name!r}: the tables of this environment have no attributes of their own")

    def env_method(
        self, method_name: str, *method_args: Any, indices: None | int | Iterable[int] = None, **method_kwargs: Any
    ) -> list[Any]:
        """Only ``action_masks``: the mask of each table."""
        if method_name != "action_masks":
            raise ValueError(f"there is no method {method_name!r}; the tables have only 'action_masks'")
        return list(self.action_masks if indices is None else self.action_masks[list(self._get_indices(indices))])

    def env_is_wrapped(self, wrapper_class: type[Any], indices: None | int | Iterable[int] = None) -> list[bool]:
        """Nothing is wrapped."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[Any]:
        """There are no pictures."""
        return []
