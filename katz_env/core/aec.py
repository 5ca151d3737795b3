"""A PettingZoo AEC environment: one table, every seat open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from katz_env.core.agents import View
from katz_env.core.game import Game, named, scales
from katz_env.core.rendering import RENDER_FPS, RENDER_MODES, Frame, Renderer
from katz_env.core.spaces import observation_box, setup_options
from katz_env.core.tables import Tables


class GameAECEnv(AECEnv[str, dict[str, NDArray[Any]], int]):
    """One table for PettingZoo.

    An observation is ``{"observation": float32 (D,), "action_mask": int8 (A,)}``. A seat that is not to act sees its own
    observation with an all-zero mask. At the end ``infos[agent]`` holds the results of the agent.

    Parameters
    ----------
    game
        The game.
    reward
        One of ``game.reward_kinds``.
    render_mode
        None; ``"ansi"``: `render` returns the table as text; ``"rgb_array"``: as pixels, uint8 ``(height, width, 3)``;
        ``"human"``: every step shows the table in a window.
    render_seat
        From whose eyes: ``"turn"`` for the seat to act, ``"open"`` for all hands, or a seat.
    name
        The name of the environment.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS, "is_parallelizable": False}

    def __init__(
        self,
        game: Game,
        reward: str = "win",
        render_mode: str | None = None,
        render_seat: int | str = "turn",
        name: str = "",
    ) -> None:
        super().__init__()
        whole = isinstance(render_seat, (str, int, np.integer)) and not isinstance(render_seat, bool)
        if not whole or render_seat not in ("turn", "open", *range(game.num_players)):
            raise ValueError(
                f"render_seat is {render_seat!r}; it must be 'turn', 'open' or a seat from 0 to {game.num_players - 1}"
            )
        self._renderer = Renderer(game, render_mode)
        self.render_seat = render_seat
        self.metadata = {**self.metadata, "name": name or game.name}
        self.game, self.render_mode = game, render_mode
        self._tables = Tables(game, 1, reward=reward, autoreset=False, num_threads=1)
        self._one_table, self._one_action = np.zeros(1, np.int64), np.zeros(1, np.int64)
        self._scale = scales(game.observation_parts)
        self._state_scale = scales(game.state_parts)
        self.possible_agents = [f"player_{seat}" for seat in range(game.num_players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.agents: list[str] = []
        self.observation_spaces = {agent: self._observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(game.num_actions) for agent in self.possible_agents}
        self.state_space = observation_box(game.state_parts)

    def _observation_space(self) -> spaces.Dict:
        mask = spaces.Box(0, 1, (self.game.num_actions,), np.int8)
        return spaces.Dict({"observation": observation_box(self.game.observation_parts), "action_mask": mask})

    def observation_space(self, agent: str) -> spaces.Dict:
        """The space of an agent's observations, the same object every time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The space of an agent's actions, the same object every time."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Deal a new game.

        Parameters
        ----------
        seed
            Starts the table's generator anew; None goes on with it.
        options
            ``"deck"``: the cards, top first, as characters or integers; ``"bandleader"``: the first seat. What is missing is
            drawn; other keys are ignored.

        Raises
        ------
        ValueError
            If the deck or the seat is impossible; nothing is changed.
        """
        decks, bandleaders = setup_options(self.game, options)
        if seed is not None or decks is None:
            self._tables.reset(seed)
        if decks is not None or bandleaders is not None:
            self._tables.deal(decks, bandleaders)
        agents = self.possible_agents
        self.agents = agents[:]
        self.rewards = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(agents, 0.0)
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = dict.fromkeys(agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in agents}
        self._skip_agent_selection = None
        self.agent_selection = agents[self._tables.turn[0]]
        if self._tables.terminated[0]:
            self._finish()
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Play a legal action for `agent_selection`; None for an agent whose game is over.

        Raises
        ------
        ValueError
            If the action is illegal; nothing is changed.
        """
        if not self.agents:
            raise ValueError("the game is over; call reset()")
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ValueError(f"{agent} must play an action; None is for agents whose game is over")
        tables = self._tables
        if type(action) in (int, np.int64) and 0 <= action < self.game.num_actions:
            self._one_action[0] = action
            tables.step_at(self._one_table, self._one_action)
        else:  # everything that is not as usual, at leisure
            tables.step(np.array([action]))
        self._cumulative_rewards[agent] = 0.0
        self.agent_selection = self.possible_agents[tables.turn.item(0)]
        if tables.terminated.item(0):
            self._finish()
        if self.render_mode == "human":
            self.render()

    def _finish(self) -> None:
        results = {name: values[0].tolist() for name, values in self.game.results(self._tables.records).items()}
        self.rewards = dict(zip(self.agents, self._tables.rewards[0].tolist(), strict=True))
        self.terminations = dict.fromkeys(self.agents, True)
        for seat, agent in enumerate(self.agents):
            self.infos[agent] = {name: values[seat] for name, values in results.items()}
        self._accumulate_rewards()

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """What an agent sees now, in arrays of its own."""
        tables, seat = self._tables, self._seats[agent]
        if seat == tables.turn.item(0):
            observation, mask = tables.observations[0], tables.action_masks[0].astype(np.int8)
        else:
            observation, mask = tables.observe(seat)[0], np.zeros(self.game.num_actions, np.int8)
        return {"observation": observation * self._scale, "action_mask": mask}

    def named_observation(self, agent: str) -> dict[str, NDArray[np.int8]]:
        """What an agent sees, as counts by the names of the parts."""
        return named(self._tables.observe(self._seats[agent])[0], self.game.observation_parts)

    def state(self) -> NDArray[np.float32]:
        """The perfect-information state, seats counted from the seat to act, float32 ``(S,)``."""
        return self._tables.state()[0] * self._state_scale

    def view(self, rng: np.random.Generator) -> View:
        """What the agent to act may know, as an `Agent` is given it: ``action = int(bot.act(env.unwrapped.view(rng))[0])``.

        Parameters
        ----------
        rng
            For the chance in the agent's play.

        Raises
        ------
        ValueError
            If the game is over.
        """
        if not self.agents or self.terminations[self.agent_selection]:
            raise ValueError("the game is over; nobody is to act")
        return self._tables.view(np.zeros(1, np.int64), rng)

    def moves(self) -> dict[str, int]:
        """The legal moves of the agent to act, ``{name: action id}``; empty when the game is over."""
        if not self.agents:
            return {}
        return self.game.legal_names(self._tables.records[0], self._tables.action_masks[0])

    def play(self, name: str) -> None:
        """Play a move by its name, such as ``3x2`` or ``pay 22J``.

        Raises
        ------
        ValueError
            If it is not a legal move now; nothing is changed.
        """
        moves = self.moves()
        if not isinstance(name, str) or name not in moves:
            raise ValueError(f"{name!r} is not a legal move; legal are {', '.join(moves) or 'none, the game is over'}")
        self.step(moves[name])

    def close(self) -> None:
        """Close the window of the mode ``"human"``."""
        self._renderer.close()

    def render(self) -> Frame | None:
        """The table as `render_mode` says, from the eyes of `render_seat`."""
        eyes = {"turn": int(self._tables.turn[0]), "open": None}
        seat = eyes[self.render_seat] if isinstance(self.render_seat, str) else self.render_seat
        return self._renderer.render(self._tables.records[0], seat)


class QuickLast(OrderEnforcingWrapper[str, dict[str, NDArray[Any]], int]):
    """PettingZoo's outermost wrapper with a `last` that asks the game itself.

    Through three wrappers each of its answers takes as long as a move. Observations still pass through all of them.
    """

    def __init__(self, env: AECEnv[str, dict[str, NDArray[Any]], int]) -> None:
        super().__init__(env)
        self._game = env.unwrapped

    def last(self, observe: bool = True) -> tuple[dict[str, NDArray[Any]] | None, float, bool, bool, dict[str, Any]]:
        """Observation, reward since its last step, terminated, truncated and info of the agent to act."""
        if not self._has_reset:
            return super().last(observe)  # which raises
        game = self._game
        agent = game.agent_selection
        seen = self.observe(agent) if observe else None
        return seen, game._cumulative_rewards[agent], game.terminations[agent], game.truncations[agent], game.infos[agent]

    def __str__(self) -> str:
        """The name of the environment."""
        return str(self.env)
