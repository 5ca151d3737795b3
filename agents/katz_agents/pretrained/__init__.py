"""The agent ``ppo``: trained networks that are shipped with the package, each with a model card beside its file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from katz_agents.policy import Network, Policy
from katz_env import Agent, Game, View

FOLDER = Path(__file__).parent


def pretrained_players(game: str = "katzenjammer") -> list[int]:
    """Return the numbers of players for which a network is shipped, sorted."""
    return sorted(int(path.stem) for path in (FOLDER / game).glob("[0-9].npz"))


def pretrained_path(num_players: int, game: str = "katzenjammer") -> Path:
    """Return the path of the network for a number of players."""
    return FOLDER / game / f"{num_players}.npz"


class Ppo(Agent):
    """The shipped network for the number of players, trained by self-play; it plays with NumPy alone.

    Parameters
    ----------
    sample
        Whether to sample actions from the network's distribution instead of taking the most probable one.

    Raises
    ------
    ValueError
        If `sample` is not a boolean.
    """

    name = "ppo"

    def __init__(self, sample: bool = False) -> None:
        if not isinstance(sample, bool):
            raise ValueError(f"sample is {sample!r}; it must be True or False")
        self.sample = sample
        self._policies: dict[tuple[str, int], Policy] = {}

    def act(self, view: View) -> NDArray[np.int64]:
        """Return a legal action for every table, int64 ``(k,)``.

        Raises
        ------
        ValueError
            If no network was trained for this game, number of players or rules.
        """
        return self.network(view.game).act(view)

    def network(self, game: Game) -> Policy:
        """Return the network for a game.

        Raises
        ------
        ValueError
            If no network was trained for this game, number of players or rules.
        """
        name, n = game.name, game.num_players
        if (name, n) not in self._policies:
            players = pretrained_players(name)
            if not players:
                shipped = ", ".join(sorted(folder.name for folder in FOLDER.iterdir() if any(folder.glob("*.npz"))))
                raise ValueError(f"ppo is shipped for {shipped}; there is none for {name}")
            if n not in players:
                raise ValueError(f"ppo is shipped for {', '.join(map(str, players))} players; this game has {n}")
            self._policies[name, n] = Policy(str(pretrained_path(n, name)), self.sample)
            self._policies[name, n].name = f"ppo for {n} players"
        policy = self._policies[name, n]
        policy.check(game)
        return policy


def network_of(agent: Agent, game: Game) -> Network:
    """Return the network that an agent plays in a game.

    Raises
    ------
    ValueError
        If the agent plays no network, or its network was trained for another game.
    """
    if isinstance(agent, Ppo):
        return agent.network(game)
    if not isinstance(agent, Network):
        raise ValueError(f"{agent.name!r} plays no network; a policy is ppo or policy:path/to/file.npz")
    agent.check(game)
    return agent
