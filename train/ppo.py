"""Train a policy with MaskablePPO: ``python train/ppo.py``.

One seat learns, drawn anew every game; the other seats are played by `opponents`. The run folder gets checkpoints, TensorBoard
logs, the settings, ``model.zip`` and ``policy.npz`` (for the agent ``policy:FILE``); at the end the policy is measured against
scripted players.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from rich.console import Console
from rich.table import Table
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure

from checkpoint import ModelAgent, export, load, save
from katz_agents.match import play_match
from katz_env import Game, Katzenjammer, make_agent
from katz_env.cli import run_command
from katz_env.core.vector import GameVectorEnv
from vec_env import SB3VecEnv


@dataclass
class Settings:
    """Train a policy with MaskablePPO."""

    total_steps: int = 2_000_000
    """Decisions of the learner in all."""
    num_envs: int = 64
    """Tables that are played together."""
    num_players: int = 3
    """2 to 6."""
    opponents: tuple[str, ...] = ("greedy",)
    """Agents of the other seats by name: one for all, or one for each, clockwise from the learner's left."""
    seed: int = 0
    """Seeds everything: the same settings give the same run on the same machine."""
    run_dir: Path | None = None
    """Where everything is written; by default runs/ppo-PLAYERS-SEED."""
    resume: bool = False
    """Go on from the last checkpoint in the run folder."""
    mice: int | None = None
    """Mice in the supply; by default 20 for up to four players, else 24."""
    reward: str = "win"
    """win: 1 split among the winners minus 1/n for everybody; score: the final score."""
    rollout_steps: int = 128
    """Decisions at each table between two updates."""
    batch_size: int = 1024
    """Decisions in one gradient step."""
    epochs: int = 4
    """Passes over the decisions of a rollout."""
    learning_rate: float = 1e-3
    """Of Adam at the start; it falls in a straight line to a tenth."""
    gamma: float = 1.0
    """Discount for each decision; games are short and paid at the end."""
    gae_lambda: float = 0.95
    """Of generalised advantage estimation."""
    entropy: float = 0.005
    """Weight of the entropy bonus."""
    hidden: tuple[int, ...] = (128, 128)
    """Units of the layers of the policy, and of the value network."""
    threads: int = 1
    """Threads of PyTorch; the networks are too small for more to help much."""
    checkpoint_every: int = 500_000
    """Decisions between two checkpoints."""
    evaluation_deals: int = 2000
    """Deals of the final measurement; each is played once from every seat."""

    def check(self) -> None:
        """ValueError that names a setting that is out of range."""
        for name in ("total_steps", "num_envs", "rollout_steps", "epochs", "checkpoint_every"):
            if getattr(self, name) < 1:
                raise ValueError(f"--{name.replace('_', '-')} is {getattr(self, name)}; it must be at least 1")
        if self.seed < 0:
            raise ValueError(f"--seed is {self.seed}; it must be at least 0")
        if self.rollout_steps * self.num_envs < 2 or self.batch_size < 2:
            raise ValueError("--batch-size and --rollout-steps times --num-envs must be at least 2")
        if self.evaluation_deals < 2:
            raise ValueError(f"--evaluation-deals is {self.evaluation_deals}; it must be at least 2")
        if not self.hidden or min(self.hidden) < 1:
            raise ValueError(f"--hidden is {self.hidden}; it must name at least one layer, each of at least 1 unit")
        if self.threads < 1:
            raise ValueError(f"--threads is {self.threads}; it must be at least 1")


class Checkpoints(BaseCallback):
    """Saves the model after the rollouts that pass a multiple of `every` steps."""

    def __init__(self, game: Game, folder: Path, every: int) -> None:
        super().__init__()
        self.game, self.folder, self.every = game, folder, every
        self.saved = 0

    def _on_training_start(self) -> None:
        self.saved = self.num_timesteps // self.every

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        if self.num_timesteps // self.every > self.saved:
            self.saved = self.num_timesteps // self.every
            save(self.model, self.game, checkpoint_path(self.folder, self.num_timesteps))  # type: ignore[arg-type]


def checkpoint_path(folder: Path, steps: int) -> Path:
    """Where the checkpoint after so many steps lies."""
    return folder / "checkpoints" / f"{steps:010d}.zip"


def last_checkpoint(folder: Path) -> Path | None:
    """The newest checkpoint of a run, or None."""
    return max((folder / "checkpoints").glob("[0-9]*.zip"), default=None)


def make_model(settings: Settings, env: SB3VecEnv) -> MaskablePPO:
    """A new learner."""
    layers = list(settings.hidden)
    return MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=LinearDecay(settings.learning_rate),
        n_steps=settings.rollout_steps,
        batch_size=min(settings.batch_size, settings.rollout_steps * settings.num_envs),
        n_epochs=settings.epochs,
        gamma=settings.gamma,
        gae_lambda=settings.gae_lambda,
        ent_coef=settings.entropy,
        policy_kwargs={"net_arch": {"pi": layers, "vf": layers}},
        seed=settings.seed,
        device="cpu",
    )


@dataclass(frozen=True)
class LinearDecay:
    """A learning rate that falls in a straight line to a tenth."""

    start: float

    def __call__(self, remaining: float) -> float:
        """The rate when this part of the run remains (1 at the start, 0 at the end)."""
        return self.start * (0.1 + 0.9 * remaining)


def prepare_folder(settings: Settings) -> tuple[Path, Path | None]:
    """The run folder, and the checkpoint to go on from, if any."""
    folder = settings.run_dir or Path("runs") / f"ppo-{settings.num_players}-{settings.seed}"
    last = last_checkpoint(folder) if folder.exists() else None
    if settings.resume and last is None:
        raise ValueError(f"there is no checkpoint in {folder} to resume from")
    if not settings.resume and folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} holds a run already; use --resume to go on with it, or another --run-dir")
    folder.mkdir(parents=True, exist_ok=True)
    return folder, last


def measure(model: MaskablePPO, game: Katzenjammer, deals: int, seed: int) -> dict[str, tuple[float, float]]:
    """The win share of the policy against random and greedy players, with half its 95 % interval."""
    policy, found = ModelAgent(model, game), {}
    for name in ("random", "greedy"):
        opponent = make_agent(name)
        line_up = [policy] + [opponent] * (game.num_players - 1)
        found[name] = play_match(game, line_up, deals, np.random.default_rng([seed, 1])).interval()
    return found


def report(found: dict[str, tuple[float, float]], game: Katzenjammer, deals: int, folder: Path) -> None:
    """Print the measurement and keep it in ``evaluation.json``."""
    table = Table(title=f"the trained policy, {deals} deals from each of {game.num_players} seats")
    for heading in ("against", "win share", "95 % interval", "fair share"):
        table.add_column(heading, justify="left" if heading == "against" else "right")
    fair = 1 / game.num_players
    for name, (share, half) in found.items():
        table.add_row(
            f"{game.num_players - 1} x {name}",
            f"{share:.3f}",
            f"{max(0, share - half):.3f} to {min(1, share + half):.3f}",
            f"{fair:.3f}",
        )
    Console().print(table)
    result = {name: {"win_share": share, "half_interval": half} for name, (share, half) in found.items()}
    (folder / "evaluation.json").write_text(json.dumps({"deals": deals, "fair_share": fair, "against": result}, indent=2))


def train(settings: Settings) -> int:
    """Train, save and measure; returns the exit code."""
    settings.check()
    game = Katzenjammer(settings.num_players, settings.mice)
    opponents = settings.opponents[0] if len(settings.opponents) == 1 else settings.opponents
    env = SB3VecEnv(GameVectorEnv(game, settings.num_envs, opponents, reward=settings.reward))
    torch.set_num_threads(settings.threads)
    # SB3 checks every distribution's arguments by default; the masks are tested, and the checks cost a tenth of the time.
    torch.distributions.Distribution.set_default_validate_args(False)
    folder, last = prepare_folder(settings)
    if last is None:
        model = make_model(settings, env)
    else:
        model = load(last, game, env)
        print(f"going on from {last} with {model.num_timesteps:,} of {settings.total_steps:,} steps")
    text = json.dumps(dataclasses.asdict(settings), indent=2, default=str)
    (folder / "settings.json").write_text(text)
    model.set_logger(configure(str(folder), ["tensorboard"]))

    final = folder / "model.zip"
    left = settings.total_steps - model.num_timesteps
    try:
        if left > 0:
            callback = Checkpoints(game, folder, settings.checkpoint_every)
            model.learn(left, callback=callback, reset_num_timesteps=last is None, progress_bar=True)
    except KeyboardInterrupt:
        save(model, game, checkpoint_path(folder, model.num_timesteps))
        print(f"interrupted after {model.num_timesteps:,} steps; go on with the same command and --resume", file=sys.stderr)
        return 130
    save(model, game, checkpoint_path(folder, model.num_timesteps))
    save(model, game, final)
    export(model, game, folder / "policy.npz")
    print(f"saved {final} after {model.num_timesteps:,} steps; measuring")
    report(measure(model, game, settings.evaluation_deals, settings.seed), game, settings.evaluation_deals, folder)
    return 0


def main() -> None:
    """Read the settings from the command line and train."""
    settings = tyro.cli(Settings, prog="python train/ppo.py")
    sys.exit(run_command(lambda: train(settings), "train/ppo.py"))


if __name__ == "__main__":
    main()
