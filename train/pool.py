"""The opponents of self-play: past snapshots of the learner on disk, the latest of them, and scripted players.

A game is played against one opponent in all other seats, or against opponents drawn for each seat; these stay to its end. Which
kind of opponent is drawn is a setting; within a kind, those who lose less against the learner are drawn more often.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from katz_agents.policy import Policy
from katz_env import Agent, Game
from katz_env.core.arena import OPEN

MEMORY = 0.99  # with every game of an opponent its older ones count so much less
FLOOR = 0.02  # added to the weight, so that nobody is forgotten


class Pool:
    """Who sits in the other seats; the seating of an `Arena` whose agents are `agents`.

    Agents of snapshots live in a fixed number of places. A snapshot that was thinned out keeps its place, and its file, until
    the last of its games is over.

    Parameters
    ----------
    game
        The game.
    folder
        Where the snapshots are kept.
    scripted
        Players that are always in the pool.
    size
        How many snapshots are kept, spread evenly over the run; 0 for none: only scripted opponents.
    latest, scripted_share
        The part of the draws that go to the latest snapshot and to scripted players; the rest goes to older snapshots.
    guests
        How many older snapshots are in play at a time, drawn anew for every rollout: fewer give larger batches.
    same_opponent
        The part of the games with one opponent in all other seats; in the rest each seat draws its own.
    hardness
        An opponent's weight is the part of the games that the learner loses against it, to this power.

    Attributes
    ----------
    steps : list of int or None
        By place after those of the scripted players: after how many decisions of the learner the snapshot was taken.
    wins, games : float64 (agents,)
        The learner's wins in its games against each agent; older games count less.
    """

    def __init__(
        self,
        game: Game,
        folder: Path,
        scripted: Sequence[Agent],
        size: int,
        latest: float,
        scripted_share: float,
        guests: int,
        same_opponent: float,
        hardness: float,
    ) -> None:
        self.game, self.folder, self.size, self.guests = game, folder, size, guests
        self.latest, self.scripted_share = latest, scripted_share
        self.same_opponent, self.hardness = same_opponent, hardness
        self.scripted = len(scripted)
        places = size + 3 if size else 0
        self.agents: list[Agent] = [*scripted, *[scripted[0]] * places]  # an empty place is never drawn
        self.steps: list[int | None] = [None] * places
        self.kept: list[int] = []  # steps of the snapshots that may be drawn, the oldest first
        self.wins = np.zeros(len(self.agents))
        self.games = np.zeros(len(self.agents))
        self.weights = np.zeros(len(self.agents))
        self.draw_guests(np.random.default_rng(0))

    def __call__(self, rng: np.random.Generator, k: int) -> NDArray[np.int64]:
        """The seating of k new games: one open seat each, anywhere."""
        n = self.game.num_players
        drawn = rng.choice(len(self.agents), (k, n - 1), p=self.weights)
        same = rng.random(k) < self.same_opponent
        drawn[same] = drawn[same, :1]
        seats = rng.integers(n, size=k)
        players = np.full((k, n), OPEN)
        np.put_along_axis(players, (seats[:, None] + np.arange(1, n)) % n, drawn, 1)
        return players

    def shares(self) -> NDArray[np.float64]:
        """The learner's win share against each agent so far; the fair share where there was no game."""
        prior = 5.0
        return (self.wins + prior / self.game.num_players) / (self.games + prior)

    def count(self, players: NDArray[np.int64], shares: NDArray[np.float64]) -> None:
        """Count games that ended: who sat where ``(k, n)``, and what the learner won ``(k,)``."""
        for line_up, share in zip(players, shares, strict=True):
            met = np.unique(line_up[line_up != OPEN])
            self.wins[met] = MEMORY * self.wins[met] + share
            self.games[met] = MEMORY * self.games[met] + 1

    def draw_guests(self, rng: np.random.Generator) -> None:
        """Decide who may be drawn in the next games, and how often."""
        hardness = np.maximum(0, 1 - self.shares()) ** self.hardness + FLOOR
        self.weights[:] = 0
        self._share_out(np.arange(self.scripted), hardness, self.scripted_share if self.kept else 1.0)
        if not self.kept:
            return
        *older, newest = (self.scripted + self.steps.index(step) for step in self.kept)
        if len(older) > self.guests:
            chance = hardness[older] / hardness[older].sum()
            older = rng.choice(older, self.guests, replace=False, p=chance).tolist()
        self._share_out(np.array([newest]), hardness, self.latest if older else 1 - self.scripted_share)
        if older:
            rest = max(0.0, 1 - self.scripted_share - self.latest)  # by rounding it may be below
            self._share_out(np.array(older), np.ones_like(hardness), rest)

    def _share_out(self, places: NDArray[np.int64], weights: NDArray[np.float64], share: float) -> None:
        self.weights[places] = share * weights[places] / weights[places].sum()

    # --- snapshots

    def path(self, step: int) -> Path:
        """Where the snapshot after so many decisions lies."""
        return self.folder / f"{step:012d}.npz"

    def add(self, step: int, seated: NDArray[np.int64]) -> bool:
        """Take the snapshot that was saved at ``path(step)`` into the pool.

        Parameters
        ----------
        step
            After how many decisions it was taken.
        seated
            All agents that sit at tables now; their places are not given away.

        Returns
        -------
        bool
            False if there is no free place: then it is not taken in.
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
        """Which snapshot, neither the first nor the last, leaves the smallest gap."""
        gaps = [after - before for before, after in zip(self.kept[:-2], self.kept[2:], strict=True)]
        return 1 + int(np.argmin(gaps))

    def tidy(self, seated: NDArray[np.int64]) -> None:
        """Delete the files that neither the pool nor a game needs; only after a checkpoint that does not need them either."""
        needed = {self.path(step) for step in self._needed(seated)}
        for path in self.folder.glob("*.npz"):
            if path not in needed:
                path.unlink()

    def _needed(self, seated: NDArray[np.int64]) -> set[int]:
        in_play = {self.steps[place - self.scripted] for place in np.unique(seated).tolist() if place >= self.scripted}
        return {*self.kept, *(step for step in in_play if step is not None)}

    # --- going on later

    def get_state(self, seated: NDArray[np.int64]) -> dict[str, Any]:
        """What a checkpoint keeps of the pool: everything but the networks, which are in their files."""
        needed = self._needed(seated)
        steps = [step if step in needed else None for step in self.steps]
        return {"steps": steps, "kept": list(self.kept), "wins": self.wins.copy(), "games": self.games.copy()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on as from `get_state`.

        Raises
        ------
        ValueError
            If the folder or a snapshot is missing.
        """
        if state["kept"] and not self.folder.is_dir():
            raise ValueError(f"the folder of the pool {self.folder} is missing; without it the run cannot go on")
        self.steps, self.kept = list(state["steps"]), list(state["kept"])
        self.wins[:], self.games[:] = state["wins"], state["games"]
        for i, step in enumerate(self.steps):
            if step is not None:
                self.agents[self.scripted + i] = Policy(str(self.path(step)), sample=True)
