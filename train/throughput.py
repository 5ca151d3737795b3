"""Measure training: learner decisions a second beside plain MaskablePPO, and where the time goes.

``python train/throughput.py`` runs everything in turn, several times, with the settings of `train/ppo.py`, and prints medians
and ratios: absolute numbers depend on what else the machine does, ratios of one run hardly.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # python -I leaves it out

from katz_train import startup

if __name__ == "__main__":
    startup.begin("train/throughput.py")

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import gymnasium
import numpy as np
import torch
import tyro
from gymnasium import spaces
from rich.console import Console
from rich.table import Table
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

import katz_env  # noqa: F401  # registers the environments
import ppo
from katz_env import Game
from katz_env.command_line import check_at_least
from katz_train.checkpoint import export_policy
from katz_train.interrupts import Interrupts, run_script
from katz_train.learner import Learner, Rollout
from katz_train.learner_process import LearnerProcess
from katz_train.opponent_pool import OpponentPool
from katz_train.ppo_settings import PpoSettings
from katz_train.torch_settings import torch_settings
from katz_train.vec_env import TrainingEnv


@dataclass
class Settings:
    """Measure the throughput of training."""

    game: str = "katzenjammer"
    """The game, by name."""
    num_players: int | None = None
    """Seats; by default as many as the game has by default."""
    rules: tuple[str, ...] = ()
    """Other settings of the game's rules, each as KEY=VALUE, such as mice=15."""
    num_envs: int = PpoSettings.num_envs
    """Tables that are played together."""
    rollout_steps: int = PpoSettings.rollout_steps
    """Decisions at each table between two updates."""
    batch_size: int = PpoSettings.batch_size
    """Decisions in one gradient step."""
    epochs: int = PpoSettings.epochs
    """Passes over the decisions of a rollout."""
    hidden: tuple[int, ...] = PpoSettings.hidden
    """Units of the layers of both networks."""
    precision: Literal["medium", "high", "highest"] = PpoSettings.precision
    """Of the learner's matrix products; plain MaskablePPO computes as PyTorch does when nothing is set."""
    snapshots: int = 10
    """Snapshots in the pool of self-play."""
    rounds: int = 3
    """How often everything is measured, in turn."""
    updates: int = 8
    """Rollouts, and updates, of each measurement."""

    def check(self) -> None:
        """ValueError that names a setting that is out of range."""
        check_at_least(self, rounds=1, updates=1, snapshots=2)
        self.of_learner().check()

    def of_learner(self, **others: Any) -> PpoSettings:
        """The settings of a learner."""
        names = ("game", "num_players", "rules", "num_envs", "rollout_steps", "batch_size", "epochs", "hidden")
        return PpoSettings(**{name: getattr(self, name) for name in names} | others)


TWO = "self-play, learning in a second process"


class FreeEnv(TrainingEnv):
    """Costs nothing: the same observations and masks at every step, one game in forty ends."""

    def __init__(self, *args: Any, floats: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.seed(0)
        self._fixed = super().reset().astype(np.float32 if floats else np.int8)
        if floats:
            self.observation_space = spaces.Box(-128, 127, self._fixed.shape[1:], np.float32)
        self._rewards = np.zeros(self.num_envs, np.float32)
        self._dones = np.arange(self.num_envs) % 40 == 0

    def reset(self) -> Any:
        """The same every time."""
        return self._fixed

    def step_wait(self) -> Any:
        """The same every time."""
        return self._fixed, self._rewards, self._dones, self._no_infos


class StopWatch:
    """Sums the seconds spent in methods that it is put around."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def around(self, owner: Any, method: str, name: str) -> None:
        """Time ``owner.method`` under this name from now on."""
        original: Callable[..., Any] = getattr(owner, method)
        self.seconds.setdefault(name, 0.0)

        def timed(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return original(*args, **kwargs)
            finally:
                self.seconds[name] += time.perf_counter() - start

        setattr(owner, method, timed)


def pool_of_snapshots(settings: Settings, game: Game, folder: Path) -> OpponentPool:
    """A pool with snapshots of new networks."""
    pool = ppo.make_pool(settings.of_learner(run_dir=folder, pool_size=settings.snapshots), game)
    pool.directory.mkdir()
    for step in range(settings.snapshots):
        env = TrainingEnv(game, 1, pool.agents, pool, full_state=True, scripted=pool.scripted)
        learner = ppo.make_learner(settings.of_learner(num_envs=1, seed=step), game, env)
        export_policy(learner.policy.networks.actor, game, None, pool.path(step))
        pool.add(step, np.zeros(0, np.int64))
    pool.choose_active(np.random.default_rng(0))
    return pool


def make_models(settings: Settings, folder: Path) -> dict[str, MaskablePPO]:
    """What is measured, by name."""
    game = settings.of_learner().make_game()
    pool = pool_of_snapshots(settings, game, folder)
    greedy = ppo.make_pool(settings.of_learner(pool_size=0, opponents=("greedy",)), game)
    models: dict[str, MaskablePPO] = {}

    def learner(name: str, opponents: OpponentPool, kind: type[TrainingEnv] = TrainingEnv) -> None:
        env = kind(game, settings.num_envs, opponents.agents, opponents, full_state=True, scripted=opponents.scripted)
        env.arena.agents = opponents.agents
        models[name] = ppo.make_learner(settings.of_learner(), game, env)

    rollout = settings.rollout_steps * settings.num_envs

    def plain(name: str, env: Any) -> None:
        steps = rollout // env.num_envs  # rollouts as long as the learner's
        models[name] = MaskablePPO(
            "MlpPolicy",
            env,
            n_steps=steps,
            batch_size=min(settings.batch_size, steps * env.num_envs),
            n_epochs=settings.epochs,
            policy_kwargs={"net_arch": list(settings.hidden)},
            seed=0,
            device="cpu",
        )

    learner("self-play", pool)
    learner(TWO, pool)
    learner("against greedy", greedy)
    learner("learner, environment that costs nothing", greedy, FreeEnv)
    free = FreeEnv(game, settings.num_envs, greedy.agents, greedy, floats=True)
    plain("MaskablePPO, environment that costs nothing", free)
    make = lambda: gymnasium.make("katz_env/Katzenjammer-v0", game=game.name, **game.settings)  # noqa: E731
    plain("MaskablePPO, 16 x gym.make against greedy", DummyVecEnv([make] * min(16, rollout)))
    return models


def watched(model: MaskablePPO) -> StopWatch:
    """A stop watch around the parts of a learner."""
    watch = StopWatch()
    assert isinstance(model, Learner)
    assert isinstance(model.env, TrainingEnv)
    watch.around(model.env, "step", "environment")
    watch.around(model.env.arena, "_ask", "opponents")
    watch.around(model, "_outputs", "networks, playing")
    watch.around(model, "train", "update")
    assert isinstance(model.rollout_buffer, Rollout)
    watch.around(model, "collect_rollouts", "all but the update")
    return watch


def parts(seconds: dict[str, float]) -> dict[str, float]:
    """Seconds of the parts that do not contain each other."""
    inside = ("environment", "networks, playing")
    return {
        "environment": seconds["environment"] - seconds["opponents"],
        "opponents": seconds["opponents"],
        "networks, playing": seconds["networks, playing"],
        "draws and buffer": seconds["all but the update"] - sum(seconds[name] for name in inside),
        "update": seconds["update"],
    }


@torch_settings(threads=1, precision="highest")
def measure(settings: Settings, folder: Path) -> int:
    """Run everything in turn and print; returns the exit code."""
    settings.check()
    models = make_models(settings, folder)
    torch.set_float32_matmul_precision(settings.precision)  # also in the second process
    two = models[TWO]
    assert isinstance(two, Learner)
    two.process = LearnerProcess(two)
    for model in models.values():
        model.learn(1)  # warms up
    watches = {name: watched(models[name]) for name in ("self-play", "against greedy")}
    rates: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(settings.rounds):
        for name, model in models.items():
            torch.set_float32_matmul_precision(settings.precision if isinstance(model, Learner) else "highest")
            start, before = time.perf_counter(), model.num_timesteps
            model.learn(settings.updates * settings.rollout_steps * settings.num_envs, reset_num_timesteps=False)
            rates[name].append((model.num_timesteps - before) / (time.perf_counter() - start))
    two.process.close()
    medians = {name: float(np.median(values)) for name, values in rates.items()}
    free = medians["MaskablePPO, environment that costs nothing"]
    console = Console(width=None if sys.stdout.isatty() else 120)
    table = Table(
        title=f"{settings.game}, {settings.of_learner().make_game().num_players} players, medians of {settings.rounds}"
    )
    for heading in ("", "decisions a second", "of MaskablePPO on nothing", "lowest and highest"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, median in medians.items():
        low, high = min(rates[name]), max(rates[name])
        table.add_row(name, f"{median:,.0f}", f"{median / free:.2f}", f"{low:,.0f} to {high:,.0f}")
    console.print(table)
    shares = Table(title="where the time goes")
    for heading in ("", *watches):
        shares.add_column(heading, justify="right" if heading else "left")
    split = {name: parts(watch.seconds) for name, watch in watches.items()}
    for part in split["self-play"]:
        shares.add_row(part, *(f"{100 * values[part] / sum(values.values()):.0f} %" for values in split.values()))
    console.print(shares)
    return 0


def main() -> None:
    """Read the settings from the command line and measure."""
    settings = tyro.cli(Settings, prog="python train/throughput.py", description=__doc__)

    def run(interrupts: Interrupts) -> int:
        with tempfile.TemporaryDirectory() as folder, interrupts.abandonable():
            return measure(settings, Path(folder))

    run_script(run, "train/throughput.py")


if __name__ == "__main__":
    main()
