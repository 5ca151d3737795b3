"""Train a policy by self-play with MaskablePPO: ``python train/ppo.py``.

The learner first imitates a scripted player, then learns from what it wins. One seat of every table learns, drawn anew for
every game; the others are held by a pool of past snapshots of the learner and of scripted players. The run directory gets a
checkpoint, the pool, TensorBoard logs, the settings, ``model.zip`` (for Stable-Baselines3) and ``policy.npz`` (for the agent
``policy:FILE``), a learning curve and, at the end, the win shares against scripted players.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # python -I leaves it out

from katz_train import startup

if __name__ == "__main__":
    startup.begin("train/ppo.py")

from contextlib import closing, nullcontext
from dataclasses import replace

import numpy as np
import tyro
from stable_baselines3.common.logger import Logger

from katz_agents.base import Base
from katz_agents.layers import Layers
from katz_agents.match import play_match
from katz_agents.pretrained import network_of
from katz_env import Agent, Game, make_agent
from katz_env.command_line import check_plays
from katz_train import run_report
from katz_train.checkpoint import check_game, export_policy, load_state, network_agent
from katz_train.event_file import EventFile
from katz_train.interrupts import Interrupted, Interrupts, run_script
from katz_train.learner import Learner, LinearDecay, Rollout
from katz_train.learner_process import LearnerProcess
from katz_train.networks import ActorCritic, Encoded
from katz_train.opponent_pool import OpponentPool
from katz_train.ppo_settings import PpoSettings, agent_name
from katz_train.run_directory import CHECKPOINT, RunDirectory, run_directory_lock
from katz_train.sb3_model import save_plain_model
from katz_train.torch_settings import torch_settings
from katz_train.training_callback import TrainingCallback
from katz_train.vec_env import TrainingEnv


def make_learner(settings: PpoSettings, game: Game, env: TrainingEnv) -> Learner:
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
        clip_range=settings.clip,
        vf_coef=settings.value_weight,
        ent_coef=settings.entropy,
        max_grad_norm=settings.max_gradient_norm,
        policy_kwargs={
            "game": game,
            "hidden": list(settings.hidden),
            "base_logit": env.base.logit if env.base else 0.0,
            "features_extractor_class": Encoded,
            "features_extractor_kwargs": {"game": game, "fields": env.fields},
            "optimizer_kwargs": {"eps": 1e-5, "fused": True},
        },
        rollout_buffer_class=Rollout,
        seed=settings.seed,
        device="cpu",
    )
    learner.rng = np.random.default_rng([settings.seed, 0])
    return learner


def start_of(settings: PpoSettings, game: Game) -> tuple[PpoSettings, Base | None, Layers | None]:
    """The settings with those of the policy that the learner starts from, its base and its layers; None where there is none.

    Raises
    ------
    ValueError
        If that is no policy, or it was trained for another game or with another base.
    """
    base = None if settings.base is None else Base.named(settings.base, settings.base_logit)
    if base is not None:
        base.check(game)
    if settings.start_from is None:
        return settings, base, None
    start = network_of(make_agent(agent_name(settings.start_from)), game)
    if base is not None and (start.base is None or base.to_json() != start.base.to_json()):
        had = "none" if start.base is None else "{agent} with the logit {logit:g}".format(**start.base.to_json())
        raise ValueError(f"--base is {settings.base} with the logit {settings.base_logit:g}; that of {start.name} is {had}")
    return replace(settings, hidden=tuple(bias.size for _, bias in start.layers[:-1])), start.base, start.layers


def make_pool(settings: PpoSettings, game: Game) -> OpponentPool:
    """The pool of a run, still without snapshots."""
    return OpponentPool(
        game,
        settings.directory / "pool",
        [make_agent(name) for name in settings.opponents],
        settings.pool_size,
        latest_share=settings.latest_share,
        scripted_share=settings.scripted_share,
        active_snapshots=settings.active_snapshots,
        same_opponent_share=settings.same_opponent_share,
        pfsp_power=settings.pfsp_power,
    )


def make_env(settings: PpoSettings, game: Game, pool: OpponentPool, base: Base | None = None) -> TrainingEnv:
    """The tables, at which the agents of a pool play and the learner corrects the base, if there is one."""
    env = TrainingEnv(
        game,
        settings.num_envs,
        pool.agents,
        pool,
        reward=settings.reward,
        score_weight=settings.score_weight,
        full_state=settings.full_state,
        scripted=pool.scripted,
        base=base,
    )
    env.arena.agents = pool.agents  # the same list, into which the pool puts snapshots
    return env


def measure(agent: Agent, game: Game, opponents: tuple[str, ...], deals: int, seed: int) -> run_report.Measured:
    """The win share against each opponent in all other seats, with its 95 % interval."""
    found = {}
    for name in opponents:
        line_up = [agent] + [make_agent(name)] * (game.num_players - 1)
        found[name] = play_match(game, line_up, deals, np.random.default_rng([seed, 1])).interval()
    return found


def train(settings: PpoSettings, interrupts: Interrupts | None = None) -> int:
    """Train, save and measure.

    Parameters
    ----------
    settings
        What to train.
    interrupts
        Those of a script, already entered; None for a caller that has no use for them.

    Returns
    -------
    int
        The exit code: 0, or 130 if a signal stopped it (of a script 143 after SIGTERM).

    Raises
    ------
    ValueError
        If a setting is wrong, the run directory is in use, or something cannot be saved.
    """
    settings.check()
    with nullcontext(interrupts) if interrupts else Interrupts() as interrupts:
        try:
            with interrupts.abandonable():
                game = settings.make_game()
                expert, pool = make_agent(settings.expert), make_pool(settings, game)
                measured = map(make_agent, settings.evaluation_opponents)
                # Before hours of training rather than after:
                for agent in (*([expert] if settings.imitation_steps else []), *pool.agents[: pool.scripted], *measured):
                    check_plays(agent, game)
                settings, base, start = start_of(settings, game)
                env = make_env(settings, game, pool, base)
            lock = run_directory_lock(settings.directory, settings.resume)
            with torch_settings(settings.threads, settings.precision), lock as directory:
                return run(settings, game, expert, pool, env, start, directory, interrupts)
        except Interrupted:
            print(
                "interrupted before the first rollout: there is nothing to keep; the same command starts again", file=sys.stderr
            )
            return 130


def run(
    settings: PpoSettings,
    game: Game,
    expert: Agent,
    pool: OpponentPool,
    env: TrainingEnv,
    start: Layers | None,
    directory: RunDirectory,
    interrupts: Interrupts,
) -> int:
    """Train in a directory that is locked, from the layers of `start` if they are given, and measure; returns the exit code."""
    path = directory.path
    callback = TrainingCallback(
        game,
        env,
        pool,
        directory,
        settings.lasting(),
        interrupts,
        total_steps=settings.total_steps,
        snapshot_every=settings.snapshot_every,
        evaluate_every=settings.evaluate_every,
        evaluation_opponents=settings.evaluation_opponents,
        deals=max(2, settings.evaluation_deals // 10),
        seed=settings.seed,
    )
    state = load_state(path / CHECKPOINT) if settings.resume else None
    if state is not None:  # before the learner is made, for its parameters depend on the game
        check_game(state, game, path / CHECKPOINT)
    learner = make_learner(settings, game, env)
    learner.interrupts, learner.expert, learner.imitation_steps = interrupts, expert, settings.imitation_steps
    learner.critic_steps = settings.critic_steps
    if state is not None:
        callback.go_on(learner, state)
        print(f"going on after {learner.num_timesteps:,} of {settings.total_steps:,} steps")
    elif start is not None:
        learner.policy.networks.actor.take_over(start)
    run_report.write_settings(settings.to_json(), path)
    with closing(EventFile(path)) as events:
        learner.set_logger(Logger(str(path), [events]))
        return learn(settings, learner, callback) or save_and_measure(settings, learner, callback)


def learn(settings: PpoSettings, learner: Learner, callback: TrainingCallback) -> int:
    """Learn to the end; returns 0, or 130 if a signal came before."""
    left = settings.total_steps - learner.num_timesteps
    if left <= 0:
        return 0
    try:
        learner.process = start_process(learner) if settings.processes == 2 else None
        learner.learn(left, callback=callback, reset_num_timesteps=not settings.resume)
        callback.final_checkpoint(learner)
    except Interrupted:
        callback.close()
        if callback.restart_point is None:
            raise
        callback.checkpoint(learner)
        kept = f"{callback.directory.path} keeps the first {callback.restart_point['learner']['num_timesteps']:,} steps"
        print(f"interrupted: {kept}; the same command with --resume goes on", file=sys.stderr)
        return 130
    finally:
        callback.close()
        if learner.process is not None:
            learner.process.close()
    return 0


def save_and_measure(settings: PpoSettings, learner: Learner, callback: TrainingCallback) -> int:
    """Write what others use of the run, and measure the policy; returns 0, or 130 if a signal came before the end."""
    game, directory, path = callback.game, callback.directory, callback.directory.path
    directory.check()
    base = callback.env.base
    if base is None:  # a model of SB3 is given an observation, of which a base cannot be asked
        save_plain_model(learner, game, path / "model.zip")
    export_policy(learner.policy.networks.actor, game, base, path / "policy.npz")
    print(f"saved {path / 'policy.npz'} after {learner.num_timesteps:,} steps; measuring")
    agent = network_agent(learner.policy.networks.actor, game, base)
    try:
        with callback.interrupts.abandonable():
            found = measure(agent, game, settings.evaluation_opponents, settings.evaluation_deals, settings.seed)
    except Interrupted:
        print("interrupted: the trained policy is kept; the same command with --resume measures it", file=sys.stderr)
        return 130
    for name, (share, _, _) in found.items():
        learner.logger.record(f"evaluation/{name}", share)
    learner.logger.dump(learner.num_timesteps)
    shares = {name: share for name, (share, _, _) in found.items()}
    last = {"steps": float(learner.num_timesteps), "pool": callback.win_share, **shares}
    directory.check()
    seconds = callback.seconds, callback.cpu_seconds
    run_report.write(found, [*callback.curve, last], seconds, game, settings.evaluation_deals, path)
    return 0


def start_process(learner: Learner) -> LearnerProcess | None:
    """A second process for the networks to learn in, or None if there cannot be one; the results are the same."""
    try:
        return LearnerProcess(learner)
    except OSError as error:
        print(f"the networks learn in this process, for a second one could not be started: {error}", file=sys.stderr)
        return None


def main() -> None:
    """Read the settings from the command line and train."""
    settings = tyro.cli(PpoSettings, prog="python train/ppo.py")
    run_script(lambda interrupts: train(settings, interrupts), "train/ppo.py")


if __name__ == "__main__":
    main()
