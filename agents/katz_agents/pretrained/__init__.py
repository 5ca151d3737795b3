"""Trained networks in the box: the agent ``ppo``. Beside each file lies its model card."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from katz_agents.policy import Policy
from katz_env import Agent, View

FOLDER = Path(__file__).parent


def pretrained_players() -> list[int]:
    """The numbers of players for which a network is shipped."""
    return sorted(int(path.stem) for path in FOLDER.glob("[0-9].npz"))


def pretrained_path(num_players: int) -> Path:
    """Where the network for so many players lies."""
    return FOLDER / f"{num_players}.npz"


class Ppo(Agent):
    """The shipped network for the number of players; trained by self-play, plays with NumPy alone.

    Parameters
    ----------
    sample
        Whether to draw actions from the network's distribution instead of taking the most probable.
    """

    name = "ppo"

    def __init__(self, sample: bool = False) -> None:
        if not isinstance(sample, bool):
            raise ValueError(f"sample is {sample!r}; it must be True or False")
        self.sample = sample
        self._policies: dict[int, Policy] = {}

    def act(self, view: View) -> NDArray[np.int64]:
        """A legal action for every table.

        Raises
        ------
        ValueError
            If no network was trained for this number of players or these rules.
        """
        n = view.game.num_players
        if n not in self._policies:
            players = pretrained_players()
            if n not in players:
                shipped = ", ".join(map(str, players))
                raise ValueError(f"ppo is shipped for {shipped} players; this game has {n}")
            self._policies[n] = Policy(str(pretrained_path(n)), self.sample)
            self._policies[n].name = f"ppo for {n} players"
        return self._policies[n].act(view)
