"""The random player."""

from __future__ import annotations

from typing import Any

from katz_env import CompiledAgent, Decision, Game
from katz_env.core.agents import nth_legal
from katz_env.core.jit import compiled
from katz_env.core.types import Mask, Table


class Random(CompiledAgent):
    """A player that chooses a uniformly random legal action, in every game."""

    name = "random"

    def decision(self, game: Game) -> Decision:
        """Return the decision function, which uses one random number."""
        del game
        return Decision(decide, stochastic=True)


@compiled
def decide(t: Table, seat: int, mask: Mask, draw: float, settings: Any) -> int:
    """Return a uniformly random legal action; see `katz_env.core.agents.nth_legal`."""
    return nth_legal(mask, draw)
