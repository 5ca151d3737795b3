"""The base of a policy: a scripted player whose moves a network corrects.

A policy with a base adds a constant to the logit of the move that its base would make. So a network of zeros plays like the
base, and training goes on from there. This is residual policy learning (Silver, Allen, Tenenbaum and Kaelbling 2018, "Residual
policy learning").
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katz_env import Agent, CompiledAgent, Game, View, make_agent
from katz_env.core.registry import AGENTS, load


class Base(NamedTuple):
    """A scripted player, and what is added to the logit of its moves."""

    agent: Agent
    """A `CompiledAgent` that leaves nothing to chance."""
    logit: float
    """What is added."""

    @classmethod
    def named(cls, name: str, logit: float) -> Base:
        """Return the base that an agent makes.

        Parameters
        ----------
        name
            The agent, by name.
        logit
            What is added to the logit of its moves, above 0.

        Raises
        ------
        ValueError
            If there is no such agent, or it is no scripted player.
        """
        factory = load(AGENTS, "agent", name.partition(":")[0])
        # Asked before the agent is made: a policy that is its own base would be loaded without end.
        if not (isinstance(factory, type) and issubclass(factory, CompiledAgent)):
            raise ValueError(f"{name!r} cannot be the base of a policy; that is a scripted player, such as heuristic")
        return cls(make_agent(name), float(logit))

    @classmethod
    def from_json(cls, told: Any) -> Base:
        """Return the base that `to_json` has told; ValueError if it is no such thing, or the agent has another version now."""
        name, logit = (told.get("agent"), told.get("logit")) if isinstance(told, dict) else (None, None)
        if not isinstance(name, str) or isinstance(logit, bool) or not isinstance(logit, int | float) or not 0 < logit < np.inf:
            raise ValueError("its base is not an agent and a number above 0")
        return cls.named(name, logit)

    def to_json(self) -> dict[str, Any]:
        """Return the name of the agent, with its version, and the logit."""
        name = self.agent.name
        if "version=" not in name:
            name += f"{',' if ':' in name else ':'}version={self.agent.version}"
        return {"agent": name, "logit": self.logit}

    def check(self, game: Game) -> None:
        """Raise ValueError if the agent does not play a game, or leaves something to chance there."""
        decision = self.agent.decision(game)
        if decision is None or decision.stochastic:
            raise ValueError(f"{self.agent.name!r} cannot be the base of a policy: its moves are left to chance")

    def add_to(self, logits: NDArray[np.float32], view: View) -> None:
        """Add to the logits ``(k, A)`` of the moves that the agent would make."""
        logits[np.arange(len(view)), self.agent.act(view)] += np.float32(self.logit)
