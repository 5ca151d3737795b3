"""What happens between two updates of a run: snapshots for the pool, evaluations, checkpoints, and what a person watches."""

from __future__ import annotations

import pickle
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from tqdm import tqdm

from apart import in_main_thread
from checkpoint import export, network_agent, save
from katz_agents.match import play_match
from katz_env import Game, make_agent
from learner import Learner
from pool import Pool
from vec_env import TrainingEnv

CHECKPOINT = "checkpoint.zip"
KEPT = ("next_snapshot", "next_evaluation", "curve", "share", "seconds", "cpu_seconds")
"""What of a `Watch` goes into a checkpoint."""


class Interrupted(Exception):
    """The run was stopped by Ctrl-C and saved."""


class Watch(BaseCallback):
    """Everything that a run does besides learning.

    Parameters
    ----------
    game, env, pool, folder
        Of the run.
    settings
        What a run must agree on to be resumed, as JSON values; kept in the checkpoints.
    total_steps, snapshot_every, evaluate_every
        Decisions of the learner in all, and between two snapshots (with a checkpoint) and evaluations.
    evaluated_against
        Scripted players, by name.
    deals
        Deals of an evaluation, the same every time.

    Attributes
    ----------
    curve : list of dict
        The evaluations: ``{"steps": ..., "greedy": ..., ...}``, win shares by opponent.
    seconds, cpu_seconds : float
        How long the run has taken up to the last checkpoint, and the processor time of it.
    """

    def __init__(
        self,
        game: Game,
        env: TrainingEnv,
        pool: Pool,
        folder: Path,
        settings: dict[str, Any],
        *,
        total_steps: int,
        snapshot_every: int,
        evaluate_every: int,
        evaluated_against: tuple[str, ...],
        deals: int,
        seed: int,
    ) -> None:
        super().__init__()
        self.game, self.env, self.pool, self.folder, self.settings = game, env, pool, folder, settings
        self.total_steps, self.snapshot_every, self.evaluate_every = total_steps, snapshot_every, evaluate_every
        self.bots = {name: make_agent(name) for name in evaluated_against}
        self.deals, self.seed = deals, seed
        self.next_snapshot, self.next_evaluation = snapshot_every, 0
        self.curve: list[dict[str, float]] = []
        self.seconds, self.cpu_seconds = 0.0, 0.0
        self.stop = False
        self.share = 1 / game.num_players

    # --- called by the learner

    def _on_training_start(self) -> None:
        pause = 1 if sys.stderr.isatty() else 30  # a log file need not grow every second
        self.bar = tqdm(
            total=self.total_steps,
            initial=self.num_timesteps,
            unit="step",
            unit_scale=True,
            mininterval=pause,
            maxinterval=pause,
        )
        self._clock = _clock(self._learner())
        self._before = signal.signal(signal.SIGINT, self._interrupt) if in_main_thread() else None

    def _on_rollout_start(self) -> None:
        learner = self._learner()
        if self.num_timesteps >= self.next_snapshot:
            if self.num_timesteps >= self.next_evaluation:
                self.next_evaluation = self.num_timesteps + self.evaluate_every
                self.evaluate(learner)
            self._snapshot(learner)
        if self.stop:
            self.checkpoint(learner)
            raise Interrupted
        self.pool.draw_guests(learner.rng)

    def _on_step(self) -> bool:
        shares = self.env.finished_shares
        if len(shares):
            self.pool.count(self.env.finished_players, shares)
            weight = 0.999 ** len(shares)
            self.share = weight * self.share + (1 - weight) * float(shares.mean())
        return True

    def _on_rollout_end(self) -> None:
        self.bar.set_postfix_str(f"win share against the pool {self.share:.3f}", refresh=False)
        self.bar.update(self.num_timesteps - self.bar.n)
        self.logger.record("pool/win_share", self.share)
        self.logger.record("pool/snapshots", len(self.pool.kept))
        shares = self.pool.shares()
        for i, agent in enumerate(self.pool.agents[: self.pool.scripted]):
            self.logger.record(f"pool/win_share_{agent.name}", shares[i])
            self.logger.record(f"pool/drawn_{agent.name}", self.pool.weights[i])
        drawn = self.pool.weights[self.pool.scripted :]
        self.logger.record("pool/drawn_snapshots", float(drawn.sum()))
        if self.pool.kept:
            newest = self.pool.steps.index(self.pool.kept[-1])
            self.logger.record("pool/drawn_latest", float(drawn[newest]))

    def close(self) -> None:
        """End the progress bar and give Ctrl-C back; also after an error."""
        if hasattr(self, "bar"):
            self.bar.close()
            if self._before is not None:
                signal.signal(signal.SIGINT, self._before)

    # --- what it does

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        """Stop after this update; the second time at once."""
        del number, frame
        if self.stop:
            raise KeyboardInterrupt
        self.stop = True
        print("\nstopping after this update; Ctrl-C once more stops at once, back at the last checkpoint", file=sys.stderr)

    def _snapshot(self, learner: Learner) -> None:
        """A snapshot for the pool, and a checkpoint."""
        learner.finish()
        if self.pool.size:
            export(learner, self.game, self.pool.path(self.num_timesteps))
            if not self.pool.add(self.num_timesteps, self.env.arena.players):
                return  # every place has games going on; try again after the next update
        self.next_snapshot = self.num_timesteps + self.snapshot_every
        self.checkpoint(learner)

    def evaluate(self, learner: Learner) -> None:
        """Measure the win share of the policy that plays, on the same deals every time; the networks may learn meanwhile."""
        agent, found = network_agent(learner.playing.actor, self.game), {}
        for name, bot in self.bots.items():
            line_up = [agent] + [bot] * (self.game.num_players - 1)
            found[name] = play_match(self.game, line_up, self.deals, np.random.default_rng([self.seed, 2])).interval()[0]
            self.logger.record(f"evaluation/{name}", found[name])
        self.curve.append({"steps": float(self.num_timesteps), "pool": self.share, **found})

    def checkpoint(self, learner: Learner) -> None:
        """Save all that is needed to go on, then delete snapshots that nobody needs any more."""
        learner.finish()
        clock = _clock(learner)
        self.seconds += clock[0] - self._clock[0]
        self.cpu_seconds += clock[1] - self._clock[1]
        self._clock = clock
        seated = self.env.arena.players
        state = {
            "settings": self.settings,
            "env": self.env.get_state(),
            "pool": self.pool.get_state(seated),
            "watch": {name: getattr(self, name) for name in KEPT},
            "before": learner.before,
        }
        # An attribute of the model, so that one file holds everything; as bytes, because SB3 writes out anything else as text.
        learner.run_state = pickle.dumps(state)
        save(learner, self.game, self.folder / CHECKPOINT)
        if self.pool.size:
            self.pool.tidy(seated)

    def go_on(self, learner: Learner) -> None:
        """Put everything back as the learner's checkpoint says.

        Raises
        ------
        ValueError
            If the run was started with other settings, or its pool is missing.
        """
        try:
            state = pickle.loads(learner.run_state)
        except Exception as error:  # a broken file may raise anything
            raise ValueError(f"{self.folder / CHECKPOINT} cannot be resumed: it holds no state of a run ({error})") from None
        for name, value in self.settings.items():
            if state["settings"].get(name) != value:
                raise ValueError(
                    f"the run in {self.folder} was started with {name} {state['settings'].get(name)!r}, not {value!r}"
                )
        self.pool.set_state(state["pool"])
        self.env.set_state(state["env"])
        self.env.arena.agents = self.pool.agents
        vars(self).update(state["watch"])
        learner.before = state["before"]

    def _learner(self) -> Learner:
        assert isinstance(self.model, Learner)
        return self.model


def _clock(learner: Learner) -> tuple[float, float]:
    """The time, and the processor time of this process and the one where the networks learn."""
    return time.time(), time.process_time() + (learner.apart.cpu_seconds if learner.apart else 0.0)
