"""Plays any legal move, each as likely as the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from katz_env import Agent, View
from katz_env.core.agents import random_legal


class Random(Agent):
    """A uniformly random legal move."""

    name = "random"

    def act(self, view: View) -> NDArray[np.int64]:
        """A legal action for every table."""
        actions = np.empty(len(view), np.int64)
        random_legal(view.action_masks, view.rng.random(len(view)), actions)
        return actions
