"""What happens between two updates of a run: snapshots for the pool, evaluations, checkpoints, and what a person watches."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from tqdm import tqdm

from katz_agents.match import play_match
from katz_env import Game, make_agent
from katz_train.checkpoint import (
    State,
    arrays_to_parameters,
    check_game,
    export_policy,
    network_agent,
    parameters_to_arrays,
    save_state,
)
from katz_train.interrupts import Interrupted, Interrupts
from katz_train.learner import Learner
from katz_train.opponent_pool import OpponentPool
from katz_train.run_directory import CHECKPOINT, RunDirectory, check_same_settings
from katz_train.vec_env import TrainingEnv

KEPT = ("next_snapshot", "next_evaluation", "curve", "win_share", "seconds", "cpu_seconds")
"""The attributes of a `TrainingCallback` that go into a checkpoint."""


class TrainingCallback(BaseCallback):
    """Everything that a run does besides learning.

    Parameters
    ----------
    game, env, pool, directory, interrupts
        Of the run.
    settings
        What a run must agree on to be resumed, as JSON values; kept in the checkpoints.
    total_steps, snapshot_every, evaluate_every
        Decisions of the learner in all, between two snapshots (each with a checkpoint), and between two evaluations.
    evaluation_opponents
        Scripted players, by name.
    deals
        Deals of an evaluation, the same every time.
    seed
        Seeds the deals.

    Attributes
    ----------
    curve : list of dict
        The evaluations: ``{"steps": ..., "greedy": ..., ...}``, win shares by opponent.
    win_share : float
        The learner's win share against the pool, a moving average over about a thousand games.
    seconds, cpu_seconds : float
        How long the run has taken up to the last checkpoint, and the processor time of it.
    """

    def __init__(
        self,
        game: Game,
        env: TrainingEnv,
        pool: OpponentPool,
        directory: RunDirectory,
        settings: dict[str, Any],
        interrupts: Interrupts,
        *,
        total_steps: int,
        snapshot_every: int,
        evaluate_every: int,
        evaluation_opponents: tuple[str, ...],
        deals: int,
        seed: int,
    ) -> None:
        super().__init__()
        self.game, self.env, self.pool, self.directory = game, env, pool, directory
        self.settings, self.interrupts = settings, interrupts
        self.total_steps, self.snapshot_every, self.evaluate_every = total_steps, snapshot_every, evaluate_every
        self.opponents = {name: make_agent(name) for name in evaluation_opponents}
        self.deals, self.seed = deals, seed
        self.next_snapshot, self.next_evaluation = snapshot_every, 0
        self.curve: list[dict[str, float]] = []
        self.seconds, self.cpu_seconds = 0.0, 0.0
        self.win_share = 1 / game.num_players
        self.restart_point: State | None = None

    # --- called by the learner

    def _on_training_start(self) -> None:
        pause = 1 if sys.stderr.isatty() else 30  # seconds; a log file need not grow every second
        self.bar = tqdm(
            total=self.total_steps,
            initial=self.num_timesteps,
            unit=" decisions",
            unit_scale=True,
            mininterval=pause,
            maxinterval=pause,
        )
        self._clock = _clock(self._learner())

    def _on_rollout_start(self) -> None:
        learner = self._learner()
        self.restart_point = self._state(learner)
        self.interrupts.check()
        if self.num_timesteps >= self.next_snapshot:
            if self.num_timesteps >= self.next_evaluation:
                self._evaluate(learner)
            self._snapshot(learner)
        self.pool.choose_active(learner.rng)

    def _on_step(self) -> bool:
        shares = self.env.finished_shares
        if len(shares):
            self.pool.count(self.env.finished_players, shares)
            weight = 0.999 ** len(shares)
            self.win_share = weight * self.win_share + (1 - weight) * float(shares.mean())
        return True

    def _on_rollout_end(self) -> None:
        self.bar.set_postfix_str(f"win share against the pool {self.win_share:.3f}", refresh=False)
        self.bar.update(self.num_timesteps - self.bar.n)
        self.logger.record("pool/win_share", self.win_share)
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
        """End the progress bar; also after an error."""
        if hasattr(self, "bar"):
            self.bar.close()

    # --- what it does

    def _snapshot(self, learner: Learner) -> None:
        """Take a snapshot for the pool, and a checkpoint."""
        learner.finish()
        if self.pool.size:
            self.directory.check()
            self.pool.directory.mkdir(exist_ok=True)
            export_policy(learner.policy.networks.actor, self.game, self.env.base, self.pool.path(self.num_timesteps))
            if not self.pool.add(self.num_timesteps, self.env.arena.players):
                return  # every place has games going on; try again after the next update
        self.next_snapshot = self.num_timesteps + self.snapshot_every
        self.restart_point = self._state(learner)
        self.checkpoint(learner)

    def _evaluate(self, learner: Learner) -> None:
        """Measure the win share of the policy that plays, on the same deals every time; the networks may learn meanwhile."""
        agent, found = network_agent(learner.playing.actor, self.game, self.env.base), {}
        with self.interrupts.abandonable():
            for name, opponent in self.opponents.items():
                line_up = [agent] + [opponent] * (self.game.num_players - 1)
                match = play_match(self.game, line_up, self.deals, np.random.default_rng([self.seed, 2]))
                found[name] = match.interval()[0]
        for name, share in found.items():
            self.logger.record(f"evaluation/{name}", share)
        self.next_evaluation = self.num_timesteps + self.evaluate_every
        self.curve.append({"steps": float(self.num_timesteps), "pool": self.win_share, **found})

    # --- checkpoints

    def _state(self, learner: Learner) -> State:
        """All that is needed to go on from here but for the parameters, as copies."""
        assert isinstance(learner._last_obs, np.ndarray)
        assert learner._last_episode_starts is not None
        return {
            "game": self.game.describe(),
            "settings": self.settings,
            "env": self.env.get_state(),
            "pool": self.pool.get_state(self.env.arena.players),
            "callback": {name: getattr(self, name) for name in KEPT} | {"curve": list(self.curve)},
            "learner": {
                "num_timesteps": learner.num_timesteps,
                "rng": learner.rng.bit_generator.state,
                "last_obs": learner._last_obs.copy(),
                "last_episode_starts": learner._last_episode_starts.copy(),
            },
        }

    def checkpoint(self, learner: Learner) -> None:
        """Save all that is needed to go on from `restart_point`, then delete snapshots that nobody needs any more.

        Raises
        ------
        ValueError
            If it cannot be saved, or the run directory has been removed.
        """
        learner.finish()
        assert self.restart_point is not None
        clock = _clock(learner)
        self.seconds += clock[0] - self._clock[0]
        self.cpu_seconds += clock[1] - self._clock[1]
        self._clock = clock
        state = dict(self.restart_point)
        state["callback"] |= {"seconds": self.seconds, "cpu_seconds": self.cpu_seconds}
        state["learner"] |= {"updates": learner._n_updates}
        self.directory.check()
        if self.pool.size:
            self.pool.write_missing(state["pool"])
        save_state(self.directory.path / CHECKPOINT, state | {"parameters": parameters_to_arrays(learner)})
        if self.pool.size:
            self.pool.delete_unneeded(state["pool"])

    def final_checkpoint(self, learner: Learner) -> None:
        """Save the end of the training."""
        self.restart_point = self._state(learner)
        self.checkpoint(learner)

    def go_on(self, learner: Learner, state: State) -> None:
        """Put everything back as a checkpoint says.

        Raises
        ------
        ValueError
            If the run was started with other settings, its pool is missing, or the checkpoint is broken.
        """
        path = self.directory.path
        check_game(state, self.game, path / CHECKPOINT)
        before = state["settings"] if isinstance(state.get("settings"), dict) else {}
        check_same_settings(before, self.settings, path)
        try:
            arrays_to_parameters(learner, state["parameters"])
            self.pool.set_state(state["pool"])
            self.env.set_state(state["env"])
            vars(self).update({name: state["callback"][name] for name in KEPT})
            saved = state["learner"]
            learner.num_timesteps, learner._n_updates = saved["num_timesteps"], saved["updates"]
            learner.rng.bit_generator.state = saved["rng"]
            learner._last_obs, learner._last_episode_starts = saved["last_obs"], saved["last_episode_starts"]
            if saved["last_obs"].shape != (self.env.num_envs, *(self.env.observation_space.shape or ())):
                raise ValueError("its observations have another shape")
        except Interrupted:
            raise
        except Exception as error:  # numbers that do not belong together may raise anything
            first = str(error).strip().split("\n")[0] or type(error).__name__
            raise ValueError(f"{path / CHECKPOINT} cannot be resumed: {first}") from None

    def _learner(self) -> Learner:
        assert isinstance(self.model, Learner)
        return self.model


def _clock(learner: Learner) -> tuple[float, float]:
    """The time, and the processor time of this process and the one where the networks learn, in seconds."""
    return time.time(), time.process_time() + (learner.process.cpu_seconds if learner.process else 0.0)
