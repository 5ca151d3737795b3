"""Plays any legal move, each as likely as the others."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from katz_env import Agent, View


class Random(Agent):
    """A uniformly random legal move."""

    name = "random"

    def act(self, view: View) -> NDArray[np.int64]:
        """A legal action for every table."""
        return _choose(view.action_masks, view.rng.random(len(view)))


@njit(cache=True, nogil=True)
def _choose(masks: NDArray[np.bool_], draws: NDArray[np.float64]) -> NDArray[np.int64]:
    actions = np.empty(len(draws), np.int64)
    for i in range(len(draws)):
        left = int(draws[i] * masks[i].sum())
        for action in range(masks.shape[1]):
            if masks[i, action]:
                if left == 0:
                    actions[i] = action
                    break
                left -= 1
    return actions
