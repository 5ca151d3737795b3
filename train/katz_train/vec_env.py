"""Stable-Baselines3's view of tables with one open seat each, the learner's, for self-play against a pool of opponents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from katz_agents.base import Base
from katz_env import Agent, Arena, Game, SelfPlay
from katz_env.core.arena import OPEN, Seating
from katz_env.core.fields import Field, bounds
from katz_env.core.sb3_vec_env import GameVecEnv


class TrainingEnv(GameVecEnv):
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
    base
        The scripted player whose moves the learner corrects, if there is one. What it would do is then the last A numbers of an
        observation, one-hot.

    Attributes
    ----------
    fields : tuple of Field
        What the value network is shown.
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
        base: Base | None = None,
    ) -> None:
        self.full_state, self.score_weight, self.base = full_state, score_weight, base
        self._kinds = np.eye(scripted + 1, dtype=np.int8)
        who = Field("opponents", (game.num_players - 1, scripted + 1), 1.0, 0, 1, "Who sits in the other seats, clockwise")
        self.fields: tuple[Field, ...] = (*game.state_fields, who) if full_state else game.observation_fields
        # One thread: two would wait for each other longer than they save.
        play = SelfPlay(game, num_envs, agents=agents, seating=seating, reward=reward, num_threads=1)
        moves = () if base is None else (Field("base", (game.num_actions,), 1.0, 0, 1, "The move of the base"),)
        super().__init__(play, spaces.Box(*bounds((*self.fields, *moves)), dtype=np.int8))
        self._no_infos: list[dict[str, Any]] = [{} for _ in range(num_envs)]
        self.finished_players = np.zeros((0, game.num_players), np.int64)
        self.finished_shares = np.zeros(0)

    @property
    def arena(self) -> Arena:
        """The tables with the learner's opponents."""
        return self.play.arena

    def step_wait(self) -> Any:
        """Play the learner's actions, then the opponents, up to its next turns; games follow one another."""
        observations, rewards, dones, infos = super().step_wait()
        finished = self.play.finished
        self.finished_players, self.finished_shares = finished.players, np.zeros(0)
        if len(finished.tables):
            results = self.play.results(finished.open_seats())
            self.finished_shares = results["win_share"]
            rewards[finished.tables] += self.score_weight * results["score"]
        return observations, rewards, dones, infos

    def _infos(self) -> list[dict[str, Any]]:
        return self._no_infos  # nothing of the training reads them

    def _observations(self) -> NDArray[np.int8]:
        shown = self._shown()
        if self.base is None:
            return shown
        # The base leaves nothing to chance, so it draws nothing from this generator.
        view = self.play.tables.view(self._everyone, np.random.default_rng(0))
        moves = np.zeros((self.num_envs, self.game.num_actions), np.int8)
        moves[self._everyone, self.base.agent.act(view)] = 1
        return np.concatenate((shown, moves), axis=1)

    def _shown(self) -> NDArray[np.int8]:
        if not self.full_state:
            return self.play.observations.copy()
        n, tables = self.game.num_players, self.play.tables
        others = (tables.turn[:, None] + np.arange(1, n)) % n
        players = np.take_along_axis(self.arena.players, others, 1)
        kinds = self._kinds[np.minimum(players, len(self._kinds) - 1)]
        return np.concatenate((tables.state(), kinds.reshape(len(kinds), -1)), axis=1)

    # --- going on later

    def get_state(self) -> dict[str, Any]:
        """All that decides how play goes on but for the agents and the seating, as copies: arrays and JSON values."""
        return self.play.get_state()

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on as from `get_state`, with agents and a seating that are as they were.

        Raises
        ------
        ValueError
            If the state does not fit this environment.
        """
        self.play.set_state(state)
        if not (np.count_nonzero(self.arena.players == OPEN, axis=1) == 1).all():
            raise ValueError("a table has not exactly one open seat")
