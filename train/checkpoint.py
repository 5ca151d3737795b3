"""Checkpoints that say which game they play, written so that an interrupted save loses nothing."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.save_util import load_from_zip_file

from katz_agents.policy import save_policy
from katz_env import Agent, Game, View
from katz_env.core.game import scales


class ModelAgent(Agent):
    """Plays a MaskablePPO model's most probable legal move."""

    def __init__(self, model: MaskablePPO, game: Game) -> None:
        self.name = "ppo"
        self.model = model
        self.scale = scales(game.observation_parts)

    def act(self, view: View) -> NDArray[np.int64]:
        """A legal action for every table."""
        observations = view.observations * self.scale
        actions, _ = self.model.predict(observations, action_masks=view.action_masks, deterministic=True)
        return np.asarray(actions, np.int64)


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
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise ValueError(f"cannot save {path}: {error.strerror or error}") from None


def export(model: MaskablePPO, game: Game, path: Path) -> None:
    """Write the policy network for the agent ``policy``, which needs no PyTorch.

    Raises
    ------
    ValueError
        If it cannot be written.
    """
    modules = (*model.policy.mlp_extractor.policy_net, model.policy.action_net)
    linear = [module for module in modules if isinstance(module, torch.nn.Linear)]
    try:
        save_policy(path, game, [(m.weight.detach().numpy().T, m.bias.detach().numpy()) for m in linear])
    except OSError as error:
        raise ValueError(f"cannot save {path}: {error.strerror or error}") from None


def load(path: Path, game: Game, env: Any = None, **settings: Any) -> MaskablePPO:
    """Load a model that was saved for this very game.

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
    except (zipfile.BadZipFile, ValueError, OSError, KeyError) as error:
        raise ValueError(f"{path} is not a checkpoint: {error}") from None
    if saved is None:
        raise ValueError(f"{path} does not say which game it was trained for; it was not saved by this program")
    difference = game.difference(saved)
    if difference:
        key, told, asked = difference
        raise ValueError(f"{path} was trained for {key} {told}; this run is for {asked}")
    return MaskablePPO.load(path, env=env, **settings)
