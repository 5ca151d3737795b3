"""The settings of `train/expert_iteration.py`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import tyro

from katz_env.command_line import check_above_zero, check_at_least, check_between, check_layers


@dataclass
class ExpertIterationSettings:
    """Improve a policy by expert iteration."""

    policy: tyro.conf.Positional[str]
    """The policy to begin with, by name (ppo, policy:path/to/file.npz) or a path that ends in .npz."""
    game: str = "katzenjammer"
    """The game, by name."""
    num_players: int | None = None
    """Seats; by default as many as the game has by default."""
    rules: tuple[str, ...] = ()
    """Other settings of the game's rules, each as KEY=VALUE, such as mice=15."""
    iterations: int = 2
    """How often the network that judges is fitted anew. A run can be resumed after each iteration."""
    iteration_steps: int = 4_000_000
    """Decisions of the policy in an iteration."""
    seed: int = 0
    """Seeds everything: the same settings give the same run on the same machine."""
    run_dir: Path | None = None
    """Where everything is written; by default runs/expert-iteration-GAME-PLAYERS-SEED."""
    resume: bool = False
    """Go on after the last iteration that ended."""
    num_envs: int = 2048
    """Tables that are played together."""
    opponents: tuple[str, ...] = ("heuristic",)
    """Players that hold all other seats in some games, besides the policy to begin with."""
    self_share: float = 0.4
    """The part of the games in which the policy as it is now holds all seats."""
    moves: int = 4
    """Moves that are played out at a decision at most, the most probable ones."""
    least: float = 0.005
    """Moves that are less probable than this are not played out."""
    temperature: float = 0.1
    """The advantage, as a win share, at which a move becomes e times as probable in what is learned."""
    learning_rate: float = 1e-4
    """Step size of Adam at the start; it falls in a straight line to a fiftieth."""
    batch_size: int = 1024
    """Decisions with several likely moves in one gradient step."""
    max_gradient_norm: float = 0.5
    """Longer gradients are shortened to this."""
    value_games: int = 300_000
    """Games to which the network that judges is fitted at the start of every iteration; with few, the policy gets worse."""
    value_hidden: tuple[int, ...] = (256, 128)
    """Units of its layers."""
    evaluation_deals: int = 200
    """Deals of the measurement after an iteration, each played once from every seat."""

    def check(self) -> None:
        """Raise ValueError that names a setting that is out of range."""
        check_at_least(self, iterations=1, iteration_steps=1, num_envs=1, batch_size=1, seed=0, evaluation_deals=2, moves=2)
        check_at_least(self, value_games=1)
        check_above_zero(self, "temperature", "learning_rate", "max_gradient_norm")
        check_between(self, 0, 1, "self_share", "least")
        check_layers(self, "value_hidden")

    def lasting(self) -> dict[str, object]:
        """The settings that a resumed run must share with the run that was stopped, as JSON values."""
        values = {name: value for name, value in asdict(self).items() if name not in ("run_dir", "resume", "evaluation_deals")}
        return dict(json.loads(json.dumps(values, default=str)))
