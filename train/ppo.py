"""Train a policy by self-play with MaskablePPO: ``python train/ppo.py``.

The learner first imitates a scripted player, then learns from what it wins. One seat of every table learns, drawn anew for
every game; the others are held by a pool of past snapshots of the learner and of scripted players. The run folder gets a
checkpoint, the pool, TensorBoard logs, the settings, ``model.zip`` and ``policy.npz`` (for the agent ``policy:FILE``), a
learning curve and, at the end, the win shares against scripted players.
"""

from __future__ import annotations

import one_blas_thread  # noqa: F401  # isort: skip

import dataclasses
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
import tyro
from stable_baselines3.common.logger import configure

import report
from apart import Apart
from checkpoint import export, load, network_agent, save
from katz_agents.match import play_match
from katz_env import Agent, Game, Katzenjammer, Tables, make_agent
from katz_env.cli import check_above_zero, check_at_least, check_none_or_at_least, run_command
from katz_env.core.game import scales
from katz_env.core.threads import MAX_THREADS
from learner import Learner, LinearDecay, Rollout
from networks import ActorCritic, Scaled
from pool import Pool
from run_folder import held
from vec_env import TrainingEnv
from watch import CHECKPOINT, Interrupted, Watch


@dataclass
class Settings:
    """Train a policy by self-play with MaskablePPO."""

    total_steps: int = 4_000_000
    """Decisions of the learner in all, rounded up to whole rollouts."""
    num_envs: int = 2048
    """Tables that are played together."""
    num_players: int = 3
    """2 to 6."""
    mice: int | None = None
    """Mice in the supply; by default 20 for up to four players, else 24."""
    reward: str = "win"
    """win: 1 split among the winners minus 1/n for everybody; score: the final score."""
    score_weight: float = 0.02
    """Paid besides for each point of the final score: games that are lost or won anyway teach something too."""
    seed: int = 0
    """Seeds everything: the same settings give the same run on the same machine."""
    run_dir: Path | None = None
    """Where everything is written; by default runs/ppo-PLAYERS-SEED."""
    resume: bool = False
    """Go on from the last checkpoint in the run folder."""

    imitated: str = "heuristic"
    """The scripted player that the learner imitates at first, by name."""
    imitation: int = 500_000
    """For how many of its decisions it imitates (a shorter run does nothing else); 0: it learns from what it wins at once."""

    opponents: tuple[str, ...] = ("random", "greedy", "heuristic")
    """Scripted players of the pool, by name."""
    pool_size: int = 25
    """Snapshots of the learner in the pool, spread evenly over the run; 0: play against `opponents` only."""
    snapshot_every: int = 100_000
    """Decisions between two snapshots, each with a checkpoint."""
    latest: float = 0.15
    """The part of opponents that are the latest snapshot."""
    scripted: float = 0.7
    """The part of opponents that are scripted; the rest are older snapshots."""
    same_opponent: float = 0.75
    """The part of the games with one opponent in all other seats; in the rest each seat draws its own."""
    hardness: float = 2.0
    """Opponents are drawn by the part of the games that the learner loses against them, to this power."""
    guests: int = 3
    """Older snapshots in play at a time, drawn anew for every rollout."""

    rollout_steps: int = 8
    """Decisions at each table between two updates."""
    batch_size: int = 512
    """Decisions in one gradient step."""
    epochs: int = 2
    """Passes over the decisions of a rollout."""
    learning_rate: float = 1e-3
    """Of Adam at the start; it falls in a straight line to a hundredth."""
    gamma: float = 1.0
    """Discount for each decision; games are short and paid at the end."""
    gae_lambda: float = 0.9
    """Of generalised advantage estimation."""
    entropy: float = 0.002
    """Weight of the entropy bonus."""
    hidden: tuple[int, ...] = (256, 256)
    """Units of the layers of the policy, and of the value network."""
    full_state: bool = True
    """Show the value network everything while training: hidden cards, and who plays; the policy sees only its observation."""
    processes: Literal[1, 2] = 2
    """2: the networks learn in a second process while this one plays; 1: both in turn. The results are the same."""
    threads: int = 1
    """Threads of PyTorch, in each process. Two gain little, and on a busy machine cost much: they wait for each other."""
    precision: Literal["medium", "high", "highest"] = "medium"
    """Of PyTorch's matrix products; medium is much faster on processors that can multiply bfloat16, the same on others."""

    evaluate_every: int = 500_000
    """Decisions between two measurements against scripted players; at least `snapshot_every`."""
    evaluation_deals: int = 2000
    """Deals of the final measurement, each played once from every seat; those in between use a tenth."""
    evaluated_against: tuple[str, ...] = ("random", "greedy", "heuristic")
    """Scripted players of the measurements, by name."""

    def check(self) -> None:
        """ValueError that names a setting that is out of range."""
        check_at_least(self, total_steps=1, num_envs=1, rollout_steps=1, epochs=1, snapshot_every=1, evaluate_every=1)
        check_at_least(self, guests=1, threads=1, seed=0, evaluation_deals=2, imitation=0)
        check_above_zero(self, "learning_rate")
        if self.rollout_steps * self.num_envs < 2 or self.batch_size < 2:
            raise ValueError("--batch-size and --rollout-steps times --num-envs must be at least 2")
        if not self.hidden or not 1 <= min(self.hidden) <= max(self.hidden) <= 16384:
            raise ValueError(f"--hidden is {self.hidden}; it must name at least one layer, each of 1 to 16384 units")
        if self.threads > MAX_THREADS:
            raise ValueError(f"--threads is {self.threads}; it must be at most {MAX_THREADS}")
        check_none_or_at_least(self, pool_size=2)
        if not (self.latest > 0 and self.scripted > 0 and self.latest + self.scripted <= 1):
            raise ValueError(f"--latest {self.latest} and --scripted {self.scripted} must be above 0 and together at most 1")
        if not 0 <= self.same_opponent <= 1:
            raise ValueError(f"--same-opponent is {self.same_opponent}; it must be from 0 to 1")
        for name in ("hardness", "score_weight", "gamma", "gae_lambda", "entropy"):
            value, highest = getattr(self, name), 1 if name in ("gamma", "gae_lambda") else math.inf
            if not (0 <= value <= highest and math.isfinite(value)):
                at_most = f" and at most {highest}" if highest == 1 else ""
                raise ValueError(f"--{name.replace('_', '-')} is {value}; it must be at least 0{at_most}")
        for name in ("opponents", "evaluated_against"):
            if not getattr(self, name):
                raise ValueError(f"--{name.replace('_', '-')} must name at least one player")

    @property
    def folder(self) -> Path:
        """The run folder."""
        return self.run_dir or Path("runs") / f"ppo-{self.num_players}-{self.seed}"

    def to_json(self) -> dict[str, object]:
        """The settings as JSON values."""
        values: dict[str, object] = json.loads(json.dumps(dataclasses.asdict(self), default=str))
        return values

    def lasting(self) -> dict[str, object]:
        """The settings that a run keeps when it is resumed."""
        free: tuple[str, ...] = ("total_steps", "run_dir", "resume", "processes", "threads")
        free += ("evaluate_every", "evaluation_deals", "evaluated_against")
        return {name: value for name, value in self.to_json().items() if name not in free}


def make_learner(settings: Settings, game: Game, env: TrainingEnv) -> Learner:
    """A new learner."""
    learner = Learner(
        ActorCritic,
        env,
        learning_rate=LinearDecay(settings.learning_rate),
        n_steps=settings.rollout_steps,
        batch_size=min(settings.batch_size, settings.rollout_steps * settings.num_envs),
        n_epochs=settings.epochs,
        gamma=settings.gamma,
        gae_lambda=settings.gae_lambda,
        ent_coef=settings.entropy,
        policy_kwargs={
            "seen": game.observation_size,
            "hidden": list(settings.hidden),
            "features_extractor_class": Scaled,
            "features_extractor_kwargs": {"scale": scales(env.parts)},
            "optimizer_kwargs": {"eps": 1e-5, "fused": True},
        },
        rollout_buffer_class=Rollout,
        seed=settings.seed,
        device="cpu",
    )
    learner.rng = np.random.default_rng([settings.seed, 0])
    return learner


def make_pool(settings: Settings, game: Game) -> Pool:
    """The pool of a run, still without snapshots."""
    return Pool(
        game,
        settings.folder / "pool",
        [make_agent(name) for name in settings.opponents],
        settings.pool_size,
        settings.latest,
        settings.scripted,
        settings.guests,
        settings.same_opponent,
        settings.hardness,
    )


def check_players(game: Game, agents: list[Agent]) -> None:
    """ValueError if an agent does not play this game; before hours of training rather than after."""
    tables = Tables(game, 1, seed=0)
    for agent in agents:
        agent.act(tables.view(np.zeros(1, np.int64), np.random.default_rng(0)))


def measure(agent: Agent, game: Game, opponents: tuple[str, ...], deals: int, seed: int) -> report.Found:
    """The win share against each opponent in all other seats, with half its 95 % interval."""
    found = {}
    for name in opponents:
        line_up = [agent] + [make_agent(name)] * (game.num_players - 1)
        found[name] = play_match(game, line_up, deals, np.random.default_rng([seed, 1])).interval()
    return found


def train(settings: Settings) -> int:
    """Train, save and measure; returns the exit code."""
    settings.check()
    game = Katzenjammer(settings.num_players, settings.mice)
    teacher = make_agent(settings.imitated)
    pool = make_pool(settings, game)
    check_players(game, [teacher, *pool.agents[: pool.scripted], *map(make_agent, settings.evaluated_against)])
    env = TrainingEnv(
        game,
        settings.num_envs,
        pool.agents,
        pool,
        reward=settings.reward,
        score_weight=settings.score_weight,
        full_state=settings.full_state,
        scripted=pool.scripted,
    )
    env.arena.agents = pool.agents  # the same list: the pool puts snapshots in
    watch = Watch(
        game,
        env,
        pool,
        settings.folder,
        settings.lasting(),
        total_steps=settings.total_steps,
        snapshot_every=settings.snapshot_every,
        evaluate_every=settings.evaluate_every,
        evaluated_against=settings.evaluated_against,
        deals=max(2, settings.evaluation_deals // 10),
        seed=settings.seed,
    )
    torch.set_num_threads(settings.threads)
    torch.set_float32_matmul_precision(settings.precision)
    with held(settings.folder, settings.resume):
        return run(settings, watch, teacher)


def run(settings: Settings, watch: Watch, teacher: Agent) -> int:
    """Train in a folder that is held, save and measure; returns the exit code."""
    game, folder = watch.game, watch.folder
    if settings.resume:
        learner = load(folder / CHECKPOINT, game)
        watch.go_on(learner)
        learner.set_env(watch.env, force_reset=False)
        print(f"going on after {learner.num_timesteps:,} of {settings.total_steps:,} steps")
    else:
        learner = make_learner(settings, game, watch.env)
    learner.teacher, learner.imitation = teacher, settings.imitation
    report.write_settings(settings.to_json(), folder)
    learner.set_logger(configure(str(folder), ["tensorboard"]))
    left = settings.total_steps - learner.num_timesteps
    learner.apart = Apart(learner) if settings.processes == 2 and left > 0 else None
    try:
        if left > 0:
            learner.learn(left, callback=watch, reset_num_timesteps=not settings.resume)
            watch.checkpoint(learner)
    except Interrupted:
        print(f"stopped after {learner.num_timesteps:,} steps; go on with the same command and --resume", file=sys.stderr)
        return 130
    finally:
        watch.close()
        if learner.apart is not None:
            learner.apart.close()
    save(learner, game, folder / "model.zip")
    export(learner, game, folder / "policy.npz")
    print(f"saved {folder / 'policy.npz'} after {learner.num_timesteps:,} steps; measuring")
    agent = network_agent(learner.policy.networks.actor, game)
    found = measure(agent, game, settings.evaluated_against, settings.evaluation_deals, settings.seed)
    for name, (share, _) in found.items():
        learner.logger.record(f"evaluation/{name}", share)
    learner.logger.dump(learner.num_timesteps)
    last = {"steps": float(learner.num_timesteps), "pool": watch.share} | {name: share for name, (share, _) in found.items()}
    report.write(found, [*watch.curve, last], (watch.seconds, watch.cpu_seconds), game, settings.evaluation_deals, folder)
    return 0


def main() -> None:
    """Read the settings from the command line and train."""
    settings = tyro.cli(Settings, prog="python train/ppo.py")
    sys.exit(run_command(lambda: train(settings), "train/ppo.py"))


if __name__ == "__main__":
    main()
