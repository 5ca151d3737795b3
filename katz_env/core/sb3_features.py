"""A features extractor of Stable-Baselines3 for games that have features or categorical fields. It needs PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

from katz_env.core.encoding import Encoding
from katz_env.core.fields import scales
from katz_env.core.game import Game


class GameFeatures(BaseFeaturesExtractor):
    """Shows a network of Stable-Baselines3 what `Encoding` makes of the observations of an environment.

    Parameters
    ----------
    observation_space
        The space of the scaled observations, float32 ``(D,)``.
    game
        The game.

    Examples
    --------
    ``MaskablePPO("MlpPolicy", env, policy_kwargs={"features_extractor_class": GameFeatures,
    "features_extractor_kwargs": {"game": game}})``
    """

    def __init__(self, observation_space: Any, game: Game) -> None:
        self.encoding, self._scales = Encoding(game), scales(game.observation_fields)
        super().__init__(observation_space, self.encoding.size)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the inputs ``(k, I)`` for scaled observations ``(k, D)``."""
        counts = np.round(observations.cpu().numpy() / self._scales).astype(np.int8)
        return torch.from_numpy(self.encoding(counts)).to(observations.device)
