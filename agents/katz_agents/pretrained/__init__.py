"""The agent ``ppo``: trained networks that are shipped with the package, each with a model card beside its file.

``GAME/N.npz`` is the network for N players. When another one takes its place, it is kept as ``GAME/N-vK.npz``, where K is the
last version of ``ppo`` that played it, and `Ppo.version` is raised. So a network that does not change needs no copy for each
version.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from katz_agents.policy import Network, Policy
from katz_env import Agent, Game, View
from katz_env.core.validation import is_integer

FOLDER = Path(__file__).parent


def pretrained_players(game: str = "katzenjammer") -> list[int]:
    """Return the numbers of players for which a network is shipped, sorted."""
    return sorted(int(path.stem) for path in (FOLDER / game).glob("[0-9].npz"))


def pretrained_path(num_players: int, game: str = "katzenjammer", version: int | None = None) -> Path:
    """Return the path of the network for a number of players that a version of ``ppo`` plays; None for the newest."""
    folder = FOLDER / game
    for later in range(version or Ppo.version, Ppo.version):
        if (kept := folder / f"{num_players}-v{later}.npz").exists():
            return kept
    return folder / f"{num_players}.npz"


class Ppo(Agent):
    """The shipped network for the number of players, trained by self-play; it plays with NumPy alone.

    Parameters
    ----------
    sample
        Whether to sample actions from the network's distribution instead of taking the most probable one.
    version
        The version of the networks; None for the newest.

    Raises
    ------
    ValueError
        If `sample` is not a boolean, or there is no such version.
    """

    name = "ppo"
    version = 1

    def __init__(self, sample: bool = False, version: int | None = None) -> None:
        if not isinstance(sample, bool):
            raise ValueError(f"sample is {sample!r}; it must be True or False")
        if version is not None and (not is_integer(version) or not 1 <= version <= Ppo.version):
            there = "is version 1" if Ppo.version == 1 else f"are versions 1 to {Ppo.version}"
            raise ValueError(f"ppo has no version {version!r}; there {there}")
        self.sample = sample
        self.version = version or Ppo.version
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
            self._policies[name, n] = Policy(str(pretrained_path(n, name, self.version)), self.sample)
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
