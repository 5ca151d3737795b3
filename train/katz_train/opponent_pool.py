"""The opponents of self-play: scripted players, past snapshots of the learner, and the latest of these.

A game is played against one opponent in all other seats, or against opponents drawn for each seat; they stay to its end. How
often each kind of opponent is drawn is a setting. Within a kind, opponents are drawn by prioritised fictitious self-play (PFSP;
Vinyals et al. 2019, "Grandmaster level in StarCraft II using multi-agent reinforcement learning"): with a weight of
``(1 - w) ** p``, where w is the learner's win share against the opponent and p a setting.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from katz_agents.policy import Policy
from katz_agents.policy_file import save_policy
from katz_env import Agent, Game, View
from katz_env.core.arena import OPEN
from katz_train.run_directory import cannot_save

MEMORY = 0.99
"""With every game against an opponent, the older ones count so much less: about the last hundred decide. Chosen, not tuned."""
FLOOR = 0.02
"""Added to the weight of PFSP, so that an opponent that always loses is still drawn now and then. Chosen, not tuned."""
PRIOR_GAMES = 5.0
"""Games at the fair share that every opponent is taken to have played before its first. Chosen, not tuned."""
SPARE_PLACES = 3
"""Places beyond the size of the pool, for snapshots that were removed but still play their last games."""


class EmptyPlace(Agent):
    """Stands where a snapshot may come later; it is never drawn, and offers no compiled code, for snapshots have none."""

    name = "empty place"

    def act(self, view: View) -> NDArray[np.int64]:
        """Never called."""
        del view
        raise AssertionError("an empty place of the pool was asked for a move")


class OpponentPool:
    """Who sits in the other seats; the seating of an `Arena` whose agents are `agents`.

    The agents of snapshots live in a fixed number of places. A snapshot that was removed from the pool keeps its place, and its
    file, until the last of its games is over.

    Parameters
    ----------
    game
        The game.
    directory
        Where the snapshots are kept.
    scripted
        Players that are always in the pool.
    size
        How many snapshots are kept, spread evenly over the run; 0 for none: then all opponents are scripted.
    latest_share, scripted_share
        The part of the draws that go to the latest snapshot and to scripted players; the rest goes to older snapshots.
    active_snapshots
        How many older snapshots may be drawn at a time, chosen anew for every rollout: fewer give larger batches.
    same_opponent_share
        The part of the games with one opponent in all other seats; in the rest each seat draws its own.
    pfsp_power
        The power p of prioritised fictitious self-play.

    Attributes
    ----------
    steps : list of int or None
        For each place after those of the scripted players: after how many decisions of the learner its snapshot was taken.
    kept : list of int
        The steps of the snapshots that are in the pool, the oldest first.
    wins, games : float64 (agents,)
        The learner's wins in its games against each agent; older games count less.
    """

    def __init__(
        self,
        game: Game,
        directory: Path,
        scripted: Sequence[Agent],
        size: int,
        *,
        latest_share: float,
        scripted_share: float,
        active_snapshots: int,
        same_opponent_share: float,
        pfsp_power: float,
    ) -> None:
        self.game, self.directory, self.size, self.active_snapshots = game, directory, size, active_snapshots
        self.latest_share, self.scripted_share = latest_share, scripted_share
        self.same_opponent_share, self.pfsp_power = same_opponent_share, pfsp_power
        self.scripted = len(scripted)
        places = size + SPARE_PLACES if size else 0
        self.agents: list[Agent] = [*scripted, *(EmptyPlace() for _ in range(places))]
        self.steps: list[int | None] = [None] * places
        self.kept: list[int] = []
        self.wins = np.zeros(len(self.agents))
        self.games = np.zeros(len(self.agents))
        self.weights = np.zeros(len(self.agents))
        self.choose_active(np.random.default_rng(0))

    def __call__(self, rng: np.random.Generator, k: int) -> NDArray[np.int64]:
        """The seating ``(k, n)`` of k new games, each with one open seat, drawn too."""
        n = self.game.num_players
        drawn = rng.choice(len(self.agents), (k, n - 1), p=self.weights)
        same = rng.random(k) < self.same_opponent_share
        drawn[same] = drawn[same, :1]
        seats = rng.integers(n, size=k)
        players = np.full((k, n), OPEN)
        np.put_along_axis(players, (seats[:, None] + np.arange(1, n)) % n, drawn, 1)
        return players

    def shares(self) -> NDArray[np.float64]:
        """The learner's win share against each agent so far; the fair share where there was no game."""
        return (self.wins + PRIOR_GAMES / self.game.num_players) / (self.games + PRIOR_GAMES)

    def count(self, players: NDArray[np.int64], shares: NDArray[np.float64]) -> None:
        """Count games that ended: who sat where ``(k, n)``, and the learner's win shares ``(k,)``."""
        for line_up, share in zip(players, shares, strict=True):
            met = np.unique(line_up[line_up != OPEN])
            self.wins[met] = MEMORY * self.wins[met] + share
            self.games[met] = MEMORY * self.games[met] + 1

    def choose_active(self, rng: np.random.Generator) -> None:
        """Choose the older snapshots that may be drawn in the next games, and weigh all opponents."""
        priority = np.maximum(0, 1 - self.shares()) ** self.pfsp_power + FLOOR
        self.weights[:] = 0
        self._share_out(np.arange(self.scripted), priority, self.scripted_share if self.kept else 1.0)
        if not self.kept:
            return
        *older, newest = (self.scripted + self.steps.index(step) for step in self.kept)
        if len(older) > self.active_snapshots:
            chance = priority[older] / priority[older].sum()
            older = rng.choice(older, self.active_snapshots, replace=False, p=chance).tolist()
        self._share_out(np.array([newest]), priority, self.latest_share if older else 1 - self.scripted_share)
        if older:
            rest = max(0.0, 1 - self.scripted_share - self.latest_share)  # rounding may bring it below 0
            self._share_out(np.array(older), np.ones_like(priority), rest)

    def _share_out(self, places: NDArray[np.int64], weights: NDArray[np.float64], share: float) -> None:
        self.weights[places] = share * weights[places] / weights[places].sum()

    # --- snapshots

    def path(self, step: int) -> Path:
        """The file of the snapshot after so many decisions."""
        return self.directory / f"{step:012d}.npz"

    def add(self, step: int, seated: NDArray[np.int64]) -> bool:
        """Take the snapshot that was saved at ``path(step)`` into the pool.

        Parameters
        ----------
        step
            After how many decisions it was taken.
        seated
            All agents that sit at tables now, whose places are not free.

        Returns
        -------
        bool
            False if there is no free place, so that it was not taken in.
        """
        busy = {*np.unique(seated).tolist(), *(self.scripted + self.steps.index(step) for step in self.kept)}
        free = [i for i in range(len(self.steps)) if self.scripted + i not in busy]
        if not free:
            return False
        place, self.steps[free[0]] = self.scripted + free[0], step
        self.agents[place] = Policy(str(self.path(step)), sample=True)
        if self.kept:  # a new snapshot is about as strong as the one before
            before = self.scripted + self.steps.index(self.kept[-1])
            self.wins[place], self.games[place] = self.wins[before], self.games[before]
        self.kept.append(step)
        if len(self.kept) > self.size:
            self.kept.pop(self._closest())
        return True

    def _closest(self) -> int:
        """The index of the snapshot, neither the first nor the last, that leaves the smallest gap."""
        gaps = [after - before for before, after in zip(self.kept[:-2], self.kept[2:], strict=True)]
        return 1 + int(np.argmin(gaps))

    # --- going on later

    def get_state(self, seated: NDArray[np.int64]) -> dict[str, Any]:
        """What a checkpoint keeps of the pool: everything but the networks, which are in the files of the snapshots.

        Parameters
        ----------
        seated
            All agents that sit at tables now.
        """
        in_play = {self.steps[place - self.scripted] for place in np.unique(seated).tolist() if place >= self.scripted}
        steps = [step if step in in_play or step in self.kept else None for step in self.steps]
        return {"steps": steps, "kept": list(self.kept), "wins": self.wins.copy(), "games": self.games.copy()}

    def write_missing(self, state: dict[str, Any]) -> None:
        """Write the files of a state's snapshots that somebody has deleted: a checkpoint needs them all.

        Raises
        ------
        ValueError
            If one cannot be written.
        """
        for place, step in enumerate(state["steps"], self.scripted):
            agent = self.agents[place]
            if step is not None and isinstance(agent, Policy) and not self.path(step).exists():
                try:
                    self.directory.mkdir(exist_ok=True)
                    save_policy(self.path(step), self.game, agent.layers, base=agent.base)
                except OSError as error:
                    raise cannot_save(self.path(step), error) from None

    def delete_unneeded(self, state: dict[str, Any]) -> None:
        """Delete the files that this state does not need; only after a checkpoint with this state was saved."""
        needed = {self.path(step) for step in state["steps"] if step is not None}
        for path in self.directory.glob("*.npz"):
            if path not in needed:
                path.unlink(missing_ok=True)

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on as from `get_state`.

        Raises
        ------
        ValueError
            If the directory or a snapshot is missing, or the state is of another pool.
        """
        if state["kept"] and not self.directory.is_dir():
            raise ValueError(f"the folder of the pool {self.directory} is missing; without it the run cannot go on")
        if len(state["steps"]) != len(self.steps) or not {*state["kept"]} <= {*state["steps"]}:
            raise ValueError("its pool is another one")
        self.steps, self.kept = list(state["steps"]), list(state["kept"])
        self.wins[:], self.games[:] = state["wins"], state["games"]
        for i, step in enumerate(self.steps):
            if step is not None:
                self.agents[self.scripted + i] = Policy(str(self.path(step)), sample=True)
