"""The trained policy as a model of sb3-contrib that anybody can load, without the trainer's code."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from gymnasium import spaces
from sb3_contrib import MaskablePPO
from stable_baselines3.common.type_aliases import Schedule
from torch import nn

from katz_env import Game
from katz_env.core.sb3_features import GameFeatures
from katz_env.core.spaces import observation_box
from katz_train.learner import Learner
from katz_train.run_directory import write_file


def plain_model(learner: Learner, game: Game) -> MaskablePPO:
    """A plain ``MaskablePPO("MlpPolicy", ...)`` that plays as the learner does, from Gymnasium's observations.

    These are scaled already, so the policy network has the learner's weights. If networks are shown more than the observations
    of a game, a features extractor of katz_env adds it; other games need none. The value network has the learner's weights too
    if that was shown no more than the policy; otherwise it is a new one, whose last layer is zero: it values everything at 0,
    the mean of the rewards of a zero-sum game, until it is trained.
    """
    hidden, fields = learner.policy.hidden, game.observation_fields
    features: dict[str, Any] = {}
    if game.feature_fields or any(field.categorical for field in fields):
        features = {"features_extractor_class": GameFeatures, "features_extractor_kwargs": {"game": game}}
    model = MaskablePPO(
        "MlpPolicy",
        None,  # type: ignore[arg-type]
        learning_rate=float(learner.lr_schedule(0.0)),
        gamma=learner.gamma,
        gae_lambda=learner.gae_lambda,
        clip_range=cast(Schedule, learner.clip_range)(0.0),
        vf_coef=learner.vf_coef,
        ent_coef=learner.ent_coef,
        max_grad_norm=learner.max_grad_norm,
        policy_kwargs={"net_arch": {"pi": list(hidden), "vf": list(hidden)}, "activation_fn": nn.Tanh} | features,
        device="cpu",
        _init_setup_model=False,
    )
    model.observation_space = observation_box(fields)
    model.action_space = spaces.Discrete(game.num_actions)
    model.n_envs = 1
    model._setup_model()
    mine, theirs = learner.policy, model.policy
    theirs.mlp_extractor.policy_net.load_state_dict(mine.mlp_extractor.policy_net.state_dict())
    theirs.action_net.load_state_dict(mine.action_net.state_dict())
    if mine.features_dim == theirs.features_dim:
        theirs.mlp_extractor.value_net.load_state_dict(mine.mlp_extractor.value_net.state_dict())
        theirs.value_net.load_state_dict(mine.value_net.state_dict())
    else:
        nn.init.zeros_(theirs.value_net.weight)
        nn.init.zeros_(theirs.value_net.bias)
    model.num_timesteps = learner.num_timesteps
    model.katz_env = game.describe()  # type: ignore[attr-defined]
    return model


def save_plain_model(learner: Learner, game: Game, path: Path) -> None:
    """Write `plain_model` for ``MaskablePPO.load``.

    Raises
    ------
    ValueError
        If it cannot be written; what was there before is kept.
    """
    write_file(path, plain_model(learner, game).save)
