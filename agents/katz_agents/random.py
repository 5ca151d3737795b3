"""Plays any legal move, each as likely as the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import katz_env.core.agents
from katz_env import Agent, Game, Katzenjammer, View
from katz_env.core.agents import legal_number, random_legal
from katz_env.core.linked import linked
from katz_env.core.turns import PlayTurns, Turns
from katz_env.katzenjammer import engine, turns


class Random(Agent):
    """A uniformly random legal move."""

    name = "random"

    def act(self, view: View) -> NDArray[np.int64]:
        """A legal action for every table."""
        actions = np.empty(len(view), np.int64)
        random_legal(view.action_masks, view.rng.random(len(view)), actions)
        return actions

    def compiled(self, game: Game) -> PlayTurns | None:
        """The same for a single table."""
        return (_play_turns, ()) if isinstance(game, Katzenjammer) else None


@linked(turns, engine, katz_env.core.agents)
def _play_turns(at: Turns) -> None:
    while turns.to_act(at):
        turns.move(at, legal_number(at.out[1][0], turns.draw(at)))
