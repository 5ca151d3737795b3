"""The settings of `train/ppo.py`."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from katz_env import Game
from katz_env.command_line import (
    check_above_zero,
    check_at_least,
    check_between,
    check_layers,
    check_none_or_at_least,
    game_from,
)
from katz_env.core.thread_pool import MAX_THREADS


def agent_name(name: str) -> str:
    """The name of an agent for what a user types: a path that ends in .npz stands for the policy in it."""
    return f"policy:{name}" if name.endswith(".npz") and ":" not in name else name


@dataclass
class PpoSettings:
    """Train a policy by self-play with MaskablePPO."""

    total_steps: int = 4_000_000
    """Decisions of the learner in all, rounded up to whole rollouts."""
    num_envs: int = 2048
    """Tables that are played together."""
    game: str = "katzenjammer"
    """The game, by name."""
    num_players: int | None = None
    """Seats; by default as many as the game has by default."""
    rules: tuple[str, ...] = ()
    """Other settings of the game's rules, each as KEY=VALUE, such as mice=15."""
    reward: str = "win"
    """win: 1 split among the winners minus 1/n for everybody; score: the final score."""
    score_weight: float = 0.02
    """Paid in addition for each point of the final score: so games that are won or lost anyway teach something too."""
    seed: int = 0
    """Seeds everything: the same settings give the same run on the same machine."""
    run_dir: Path | None = None
    """Where everything is written; by default runs/ppo-GAME-PLAYERS-SEED."""
    resume: bool = False
    """Go on from the last checkpoint in the run directory."""

    start_from: str | None = None
    """The policy whose network the learner has at first: an agent by name, such as ppo, or a path that ends in .npz. The layers
    of both networks are then as many and as large as those of that policy."""
    critic_steps: int = 0
    """Up to this decision the value network alone learns: for a learner that starts from a policy, and does not imitate."""
    base: str | None = None
    """The scripted player whose moves the learner corrects, by name. The learner plays much like it from the start; it needs no
    imitation, but `critic_steps`."""
    base_logit: float = 4.0
    """What is added to the logit of the move that the base would make: the larger, the more seldom the learner tries others."""
    expert: str = "heuristic"
    """The scripted player that the learner imitates at first, by name."""
    imitation_steps: int = 500_000
    """For how many of its decisions it imitates (a shorter run does nothing else); 0: it learns from what it wins at once."""

    opponents: tuple[str, ...] = ("random", "greedy", "heuristic")
    """Scripted players of the pool, by name."""
    pool_size: int = 25
    """Snapshots of the learner in the pool, spread evenly over the run; 0: it plays against `opponents` only."""
    snapshot_every: int = 100_000
    """Decisions between two snapshots, each with a checkpoint."""
    latest_share: float = 0.15
    """The part of opponents that are the latest snapshot."""
    scripted_share: float = 0.7
    """The part of opponents that are scripted; the rest are older snapshots."""
    same_opponent_share: float = 0.75
    """The part of the games with one opponent in all other seats; in the rest each seat draws its own."""
    pfsp_power: float = 2.0
    """Power of prioritised fictitious self-play: an opponent's weight is (1 - the learner's win share against it) ** power."""
    active_snapshots: int = 3
    """Older snapshots that may be drawn at a time, chosen anew for every rollout."""

    rollout_steps: int = 8
    """Decisions at each table between two updates."""
    batch_size: int = 512
    """Decisions in one gradient step."""
    epochs: int = 2
    """Passes over the decisions of a rollout."""
    learning_rate: float = 1e-3
    """Step size of Adam at the start; it falls in a straight line to a hundredth."""
    gamma: float = 1.0
    """Discount for each decision; games are short and paid at the end."""
    gae_lambda: float = 0.9
    """Lambda of generalised advantage estimation."""
    clip: float = 0.2
    """How far the probability of an action may move, as a ratio, before it stops counting."""
    value_weight: float = 0.5
    """Weight of the value loss."""
    entropy: float = 0.002
    """Weight of the entropy bonus."""
    max_gradient_norm: float = 0.5
    """Longer gradients are shortened to this."""
    hidden: tuple[int, ...] = (256, 256)
    """Units of the layers of the policy network, and of the value network."""
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
    evaluation_opponents: tuple[str, ...] = ("random", "greedy", "heuristic")
    """Scripted players of the measurements, by name."""

    def check(self) -> None:
        """ValueError that names a setting that is out of range."""
        check_at_least(self, total_steps=1, num_envs=1, rollout_steps=1, epochs=1, snapshot_every=1, evaluate_every=1)
        check_at_least(self, active_snapshots=1, threads=1, seed=0, evaluation_deals=2, imitation_steps=0, critic_steps=0)
        check_above_zero(self, "learning_rate", "clip", "max_gradient_norm")
        if self.rollout_steps * self.num_envs < 2 or self.batch_size < 2:
            raise ValueError("--batch-size and --rollout-steps times --num-envs must be at least 2")
        check_layers(self, "hidden")
        check_none_or_at_least(self, pool_size=2)
        # PyTorch and NumPy take seeds of 32 bits; the others are far beyond what any machine can do.
        most = {"threads": MAX_THREADS, "seed": 2**32 - 1, "pool_size": 100_000, "num_envs": 10**8, "rollout_steps": 10**8}
        most |= {"total_steps": 10**15, "batch_size": 10**9, "epochs": 10**6, "evaluation_deals": 10**8}
        for name, highest in most.items():
            if getattr(self, name) > highest:
                raise ValueError(f"--{name.replace('_', '-')} is {getattr(self, name)}; it must be at most {highest}")
        if not (self.latest_share > 0 and self.scripted_share > 0 and self.latest_share + self.scripted_share <= 1):
            shares = f"--latest-share {self.latest_share} and --scripted-share {self.scripted_share}"
            raise ValueError(f"{shares} must be above 0 and together at most 1")
        check_between(self, 0, 1, "same_opponent_share", "gamma", "gae_lambda")
        check_between(self, 0, math.inf, "pfsp_power", "score_weight", "entropy", "value_weight")
        check_between(self, 0.01, 100, "base_logit")
        for name in ("opponents", "evaluation_opponents"):
            if not getattr(self, name):
                raise ValueError(f"--{name.replace('_', '-')} must name at least one player")

    def make_game(self) -> Game:
        """The game."""
        return game_from(self.game, self.num_players, self.rules)

    @property
    def directory(self) -> Path:
        """The run directory."""
        return self.run_dir or Path("runs") / f"ppo-{self.game}-{self.make_game().num_players}-{self.seed}"

    def to_json(self) -> dict[str, object]:
        """The settings as JSON values."""
        values: dict[str, object] = json.loads(json.dumps(dataclasses.asdict(self), default=str))
        return values

    def lasting(self) -> dict[str, object]:
        """The settings that a resumed run must share with its checkpoint, which says itself what game it is of."""
        free: tuple[str, ...] = ("game", "num_players", "rules", "total_steps", "run_dir", "resume", "processes", "threads")
        free += ("evaluate_every", "evaluation_deals", "evaluation_opponents")
        return {name: value for name, value in self.to_json().items() if name not in free}
