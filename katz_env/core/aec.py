"""The PettingZoo AEC environment: one table at which every seat is open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from katz_env.core.agents import View
from katz_env.core.fields import scales
from katz_env.core.game import Game
from katz_env.core.observer import Observer
from katz_env.core.rendering import RENDER_FPS, RENDER_MODES, Frame, Renderer
from katz_env.core.spaces import action_id, given_deal, masked_space, observation_box
from katz_env.core.tables import Tables
from katz_env.core.validation import is_integer, writable


class GameAECEnv(AECEnv[str, dict[str, NDArray[Any]], int]):
    """One table as a PettingZoo environment.

    An observation is ``{"observation": float32 (D,), "action_mask": int8 (A,)}``. A seat that is not to act sees its own
    observation with an all-zero mask. When the game is over, ``infos[agent]`` holds the agent's results (see `Game.results`)
    and under ``"illegal_action"`` whether it ended the game by an illegal action, which only a wrapped environment allows.

    Parameters
    ----------
    game
        The game to play.
    reward
        The reward scheme, ``"win"`` or ``"score"``; see `Tables`.
    render_mode
        With ``"ansi"``, `render` returns the table as text; with ``"rgb_array"``, as pixels, uint8 ``(height, width, 3)``. With
        ``"human"``, every step shows the table in a window. None renders nothing.
    render_seat
        The point of view: ``"turn"`` is the seat to act, ``"open"`` shows all hands, an integer is that seat.
    name
        The name of the environment in its metadata.
    history
        The number of latest events of the game that follow the fields of the game in every observation; see
        `katz_env.core.event_log.history`.

    Raises
    ------
    ValueError
        If a setting is not one of its possible values.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS, "is_parallelizable": False}

    def __init__(
        self,
        game: Game,
        reward: str = "win",
        render_mode: str | None = None,
        render_seat: int | str = "turn",
        name: str = "",
        history: int = 0,
    ) -> None:
        super().__init__()
        kind_is_right = isinstance(render_seat, str) or is_integer(render_seat)
        if not kind_is_right or render_seat not in ("turn", "open", *range(game.num_players)):
            raise ValueError(
                f"render_seat is {render_seat!r}; it must be 'turn', 'open' or a seat from 0 to {game.num_players - 1}"
            )
        self._renderer = Renderer(game, render_mode)
        self.render_seat = render_seat
        self.metadata = {**self.metadata, "name": name or game.name}
        self.game, self.render_mode = game, render_mode
        self._tables = Tables(game, 1, reward=reward, autoreset=False, num_threads=1, history=history)
        self._observer = Observer(self._tables, "observation")
        self._one_table, self._one_action = np.zeros(1, np.int64), np.zeros(1, np.int64)
        self._state_scale = scales(game.state_fields)
        self.possible_agents = [f"player_{seat}" for seat in range(game.num_players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.agents: list[str] = []
        self.observation_spaces = {agent: self._observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(game.num_actions) for agent in self.possible_agents}
        self.state_space = observation_box(game.state_fields)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the state, copying arrays that lie in read-only memory."""
        self.__dict__.update(writable(state))

    def _observation_space(self) -> spaces.Dict:
        return masked_space(self._observer.box, self.game.num_actions)

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of an agent's observations, the same object on every call."""
        return self.observation_spaces[self.possible_agents[self._seat_of(agent)]]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of an agent's actions, the same object on every call."""
        return self.action_spaces[self.possible_agents[self._seat_of(agent)]]

    def _seat_of(self, agent: str) -> int:
        """Return the seat of an agent; ValueError if there is none of that name."""
        seat = self._seats.get(agent) if isinstance(agent, str) else None
        if seat is None:
            raise ValueError(f"there is no agent {agent!r}; there are {', '.join(self.possible_agents)}")
        return seat

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Deal a new game.

        Parameters
        ----------
        seed
            Seeds the table's generator; with None the generator continues its stream.
        options
            ``"deal"`` fixes what chance decides. It is a mapping with the keys of the game's records, such as
            ``{"deck": "31J...", "bandleader": 0}``; what it leaves out is drawn. Its keys may also be options themselves. Other
            options are ignored.

        Raises
        ------
        ValueError
            If the deal is impossible; the environment is then unchanged.
        """
        deals, first_seats = given_deal(self.game, options)
        if seed is not None or deals is None:
            self._tables.reset(seed)
        if deals is not None or first_seats is not None:
            self._tables.deal_vectors(deals, first_seats)
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
        """Play a legal action for `agent_selection`; pass None for an agent whose game is over.

        Raises
        ------
        ValueError
            If the action is illegal or `reset` must be called first; the environment is then unchanged.
        """
        if not self.agents:
            raise ValueError("the game is over; call reset()" if hasattr(self, "agent_selection") else "call reset() first")
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
        else:  # the slow path converts the action, or explains what is wrong with it
            tables.step(np.array([action]))
        self._cumulative_rewards[agent] = 0.0
        self.agent_selection = self.possible_agents[tables.turn.item(0)]
        if tables.terminated.item(0):
            self._finish()
        if self.render_mode == "human":
            self.render()

    def _finish(self) -> None:
        self.rewards = dict(zip(self.agents, self._tables.rewards[0].tolist(), strict=True))
        self.terminations = dict.fromkeys(self.agents, True)
        self.tell_results()
        self._accumulate_rewards()

    def tell_results(self, culprit: str | None = None) -> None:
        """Write the results of every agent into `infos`; `culprit` is the agent whose illegal action broke the game off."""
        results = {name: values[0].tolist() for name, values in self.game.results_unchecked(self._tables.records).items()}
        for agent, seat in self._seats.items():
            self.infos[agent] = {name: values[seat] for name, values in results.items()} | {"illegal_action": agent == culprit}

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """Return what an agent sees now, in newly allocated arrays."""
        tables, seat = self._tables, self._seat_of(agent)
        if seat == tables.turn.item(0):
            counts, mask = tables.observations[0], tables.action_masks[0].astype(np.int8)
        else:
            counts, mask = tables.observe(seat)[0], np.zeros(self.game.num_actions, np.int8)
        return {"observation": self._observer.observe_one(counts, seat), "action_mask": mask}

    def named_observation(self, agent: str) -> dict[str, NDArray[Any]]:
        """Return what an agent sees as unscaled integers, int8 arrays by field name, and the history as float32."""
        seat = self._seat_of(agent)
        named = self._observer.named(self._tables.observe(seat), self._one_table, np.array([seat]))
        return {name: values[0] for name, values in named.items()}

    def events(self, agent: str) -> NDArray[Any]:
        """Return what happened since the last decision of an agent, as it may know it; see `Tables.events`.

        Raises
        ------
        ValueError
            If the environment was made without `history`.
        """
        return self._tables.events(0, self._seat_of(agent), "decision")

    def state(self) -> NDArray[np.float32]:
        """Return the perfect-information state, float32 ``(S,)``, with seats counted from the seat to act."""
        return self._tables.state()[0] * self._state_scale

    def view(self, rng: np.random.Generator) -> View:
        """Return what the agent to act may know, in the form in which an `Agent` receives it.

        An agent plays here with ``action = int(bot.act(env.unwrapped.view(rng))[0])``.

        Parameters
        ----------
        rng
            The generator from which the agent draws its random numbers.

        Raises
        ------
        ValueError
            If the game is over.
        """
        if not self.agents or self.terminations[self.agent_selection]:
            raise ValueError("the game is over; nobody is to act")
        return self._tables.view(np.zeros(1, np.int64), rng)

    def moves(self) -> dict[str, int]:
        """Return the legal moves of the agent to act as ``{name: action id}``; the result is empty when the game is over."""
        if not self.agents:
            return {}
        return self.game.legal_names(self._tables.records[0], self._tables.action_masks[0])

    def play(self, name: str) -> None:
        """Play a move by its name, such as ``3x2`` or ``pay 22J``.

        Raises
        ------
        ValueError
            If no legal move has this name; the environment is then unchanged.
        """
        moves = self.moves()
        if not isinstance(name, str) or name not in moves:
            raise ValueError(f"{name!r} is not a legal move; legal are {', '.join(moves) or 'none, the game is over'}")
        self.step(moves[name])

    def close(self) -> None:
        """Close the window of the render mode ``"human"``."""
        self._renderer.close()

    def render(self) -> Frame | None:
        """Render the table in `render_mode`, from the point of view of `render_seat`."""
        eyes = {"turn": int(self._tables.turn[0]), "open": None}
        seat = eyes[self.render_seat] if isinstance(self.render_seat, str) else self.render_seat
        return self._renderer.render(self._tables.records[0], seat)


class TerminateIllegal(TerminateIllegalWrapper[str, dict[str, NDArray[Any]], int]):
    """PettingZoo's wrapper that ends a game with reward -1 for whoever chose an illegal action, with results in `infos`."""

    def __init__(self, env: AECEnv[str, dict[str, NDArray[Any]], int]) -> None:
        super().__init__(env, illegal_reward=-1)

    def step(self, action: int | None) -> None:
        """Play an action, or end the game if it is illegal."""
        agent, ended_before = self.agent_selection, self._terminated
        super().step(action)
        if self._terminated and not ended_before:
            self.env.unwrapped.tell_results(agent)


class QuickLast(OrderEnforcingWrapper[str, dict[str, NDArray[Any]], int]):
    """PettingZoo's outermost wrapper, with a `step` that takes integers only, and a quick `last`.

    `last` reads rewards and flags from the unwrapped environment: through three wrappers every attribute access takes as long
    as a move. Observations still pass through all wrappers.
    """

    def __init__(self, env: AECEnv[str, dict[str, NDArray[Any]], int]) -> None:
        super().__init__(env)
        self._game = env.unwrapped

    def step(self, action: int | None) -> None:
        """Play an action; raise ValueError if it is neither None nor an integer."""
        super().step(None if action is None else action_id(action))

    def last(self, observe: bool = True) -> tuple[dict[str, NDArray[Any]] | None, float, bool, bool, dict[str, Any]]:
        """Return the observation, reward since its last step, terminated, truncated and info of the agent to act."""
        if not self._has_reset:
            return super().last(observe)  # which raises
        game = self._game
        agent = game.agent_selection
        seen = self.observe(agent) if observe else None
        return seen, game._cumulative_rewards[agent], game.terminations[agent], game.truncations[agent], game.infos[agent]

    def __str__(self) -> str:
        """Return the name of the environment."""
        return str(self.env)


def wrapped(
    game: AECEnv[str, Any, int], outermost: type[OrderEnforcingWrapper[str, Any, int]] = QuickLast
) -> AECEnv[str, Any, int]:
    """Put an environment into PettingZoo's usual wrappers; `outermost` is the class of the outermost one."""
    return outermost(AssertOutOfBoundsWrapper(TerminateIllegal(game)))
