"""Checkpoints that say which game they play, written so that an interrupted save loses nothing."""

from __future__ import annotations

from pathlib import Path

from sb3_contrib import MaskablePPO
from stable_baselines3.common.save_util import load_from_zip_file

from katz_agents.policy import Network, save_policy
from katz_env import Game
from learner import Learner
from networks import FromCounts


def network_agent(actor: FromCounts, game: Game, name: str = "ppo", sample: bool = False) -> Network:
    """The agent that plays a policy network, which it shares: it plays on as the network learns."""
    return Network(actor.layers(), game.describe(), name, sample)


def save(model: MaskablePPO, game: Game, path: Path) -> None:
    """Save a model beside `path` first, then rename it: the file is always whole.

    Raises
    ------
    ValueError
        If it cannot be written; what was there before is kept.
    """
    model.katz_env = game.describe()  # type: ignore[attr-defined]
    beside = path.with_name(f".{path.stem}.tmp.zip")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        model.save(beside)
        beside.replace(path)
    except (OSError, RuntimeError) as error:  # PyTorch turns a full disk into a RuntimeError
        beside.unlink(missing_ok=True)
        raise ValueError(f"cannot save {path}: {getattr(error, 'strerror', None) or error}") from None


def export(model: Learner, game: Game, path: Path) -> None:
    """Write the policy network for the agent ``policy``, which needs no PyTorch.

    Raises
    ------
    ValueError
        If it cannot be written; what was there before is kept.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        save_policy(path, game, model.policy.networks.actor.layers())
    except OSError as error:
        raise ValueError(f"cannot save {path}: {error.strerror or error}") from None


def load(path: Path, game: Game) -> Learner:
    """Load a model that was saved for this very game; ``set_env(env, force_reset=False)`` makes it ready to go on.

    Raises
    ------
    ValueError
        If the file is missing or no checkpoint, or was trained for another game, other rules or another observation.
    """
    if not path.is_file():
        raise ValueError(f"there is no checkpoint {path}")
    try:
        data, _, _ = load_from_zip_file(path)
        saved = (data or {}).get("katz_env")
    except Exception as error:
        raise _broken(path, error) from None
    if saved is None:
        raise ValueError(f"{path} does not say which game it was trained for; it was not saved by this program")
    difference = game.difference(saved)
    if difference:
        key, told, asked = difference
        raise ValueError(f"{path} was trained for {key} {told}; this run is for {asked}")
    try:
        return Learner.load(path)
    except Exception as error:
        raise _broken(path, error) from None


def _broken(path: Path, error: Exception) -> ValueError:
    """What to raise for a broken file, from which zipfile, pickle, PyTorch and SB3 may raise anything, in many lines."""
    first = str(error).strip().split("\n")[0]
    return ValueError(f"{path} is not a checkpoint: {first or type(error).__name__}")
