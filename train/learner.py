"""MaskablePPO, faster: a value network that may see everything, and rollouts without checks, copies and single values.

`Learner` does what MaskablePPO of sb3-contrib does. Where it differs, it is for speed (`train/throughput.py` measures by how
much): the legal part of the softmax alone is computed; the policy network alone runs while games are played, the value network
afterwards for the whole rollout at once; observations stay int8 and masks bool until a batch is made. At first it may imitate a
scripted player, so that PPO need not begin from nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor, MlpExtractor
from torch import nn
from torch.nn import functional

from katz_agents.policy import Layers, sample_legal
from katz_env import Agent
from masked import masked_softmax
from vec_env import TrainingEnv

VALUE_BATCH = 8192  # how many values are computed at a time


class Scaled(BaseFeaturesExtractor):
    """Counts times the factors that make them of order one."""

    def __init__(self, observation_space: Any, scale: NDArray[np.float32]) -> None:
        super().__init__(observation_space, len(scale))
        self.register_buffer("scale", torch.from_numpy(scale))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Scaled observations ``(k, S)``."""
        return observations * cast(torch.Tensor, self.scale)


class TwoNetworks(nn.Module):
    """A policy network for the first `seen` features and a value network for all of them."""

    def __init__(self, features: int, seen: int, hidden: list[int]) -> None:
        super().__init__()
        self.seen = seen
        self.policy_net = MlpExtractor(seen, {"pi": hidden, "vf": []}, nn.Tanh, "cpu").policy_net
        self.value_net = MlpExtractor(features, {"pi": [], "vf": hidden}, nn.Tanh, "cpu").value_net
        self.latent_dim_pi = self.latent_dim_vf = hidden[-1]

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The last layers of both networks."""
        return self.forward_actor(features), self.forward_critic(features)

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        """The last layer of the policy network, which is shown only what its seat sees."""
        return self.policy_net(features[:, : self.seen])

    def forward_critic(self, features: torch.Tensor) -> torch.Tensor:
        """The last layer of the value network."""
        return self.value_net(features)


class ActorCritic(MaskableActorCriticPolicy):
    """The policy sees the first `seen` numbers of an observation, the value network all."""

    def __init__(self, *args: Any, seen: int, hidden: list[int], **kwargs: Any) -> None:
        self.seen, self.hidden = seen, hidden
        super().__init__(*args, **kwargs)

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = TwoNetworks(self.features_dim, self.seen, self.hidden)  # type: ignore[assignment]

    def logits(self, observations: torch.Tensor) -> torch.Tensor:
        """The policy's logits ``(k, A)`` for counts ``(k, at least seen)``."""
        scale = cast(torch.Tensor, self.features_extractor.scale)
        return self.action_net(self.mlp_extractor.policy_net(observations[:, : self.seen] * scale[: self.seen]))

    def evaluate_actions(
        self, obs: Any, actions: torch.Tensor, action_masks: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        """Values, log-probabilities and entropies of a batch."""
        if action_masks is None:
            return super().evaluate_actions(obs, actions, action_masks)
        features = self.features_extractor(obs)
        latent_pi, latent_vf = self.mlp_extractor(features)
        log_probs, entropies = masked_softmax(self.action_net(latent_pi), action_masks, actions)
        return self.value_net(latent_vf), log_probs, entropies

    def layers(self) -> Layers:
        """Weights and biases of the policy network, as views of the parameters."""
        modules = [*self.mlp_extractor.policy_net, self.action_net]
        linear = [module for module in modules if isinstance(module, nn.Linear)]
        return [(m.weight.detach().numpy().T, m.bias.detach().numpy()) for m in linear]


class Rollout(MaskableRolloutBuffer):
    """A rollout whose batches are drawn by a generator of its own; the learner's actions are drawn by it too.

    Attributes
    ----------
    taught : int64 (steps, N)
        What the teacher would have done, while there is one.
    """

    def __init__(self, *args: Any, rng: np.random.Generator, **kwargs: Any) -> None:
        self.rng = rng
        super().__init__(*args, **kwargs)

    def reset(self) -> None:
        """Forget the rollout. The arrays stay: to make them anew for every rollout takes a noticeable time."""
        if not hasattr(self, "observations"):
            super().reset()
            self.action_masks = np.zeros(self.action_masks.shape, np.bool_)
            self.taught = np.zeros((self.buffer_size, self.n_envs), np.int64)
        self.pos, self.full = 0, False

    def get(self, batch_size: int | None = None) -> Iterator[MaskableRolloutBufferSamples]:  # type: ignore[override]
        """The decisions in random order, in batches."""
        for _, batch in self.batches(batch_size):
            yield batch

    def batches(self, batch_size: int | None = None) -> Iterator[tuple[torch.Tensor, MaskableRolloutBufferSamples]]:
        """The decisions in random order, in batches, each with the numbers of its decisions."""
        tensors = {
            name: torch.from_numpy(getattr(self, name)).flatten(0, 1)
            for name in ("observations", "actions", "values", "log_probs", "advantages", "returns", "action_masks")
        }
        order = torch.from_numpy(self.rng.permutation(self.buffer_size * self.n_envs))
        for rows in torch.split(order, batch_size or len(order)):
            batch = {name: tensor[rows] for name, tensor in tensors.items()}
            yield (
                rows,
                MaskableRolloutBufferSamples(
                    observations=batch["observations"].float(),
                    actions=batch["actions"].flatten(),
                    old_values=batch["values"],
                    old_log_prob=batch["log_probs"],
                    advantages=batch["advantages"],
                    returns=batch["returns"],
                    action_masks=batch["action_masks"],
                ),
            )


class Learner(MaskablePPO):
    """MaskablePPO on a `TrainingEnv`, after a time of imitation.

    In that time the learner plays as it can, and is told at every decision what its teacher would have done: so it meets the
    positions that its own mistakes lead to (Ross, Gordon, Bagnell 2011, "A reduction of imitation learning ... to no-regret
    online learning"). The value network learns from the rewards as always.
    """

    policy: ActorCritic
    rollout_buffer: Rollout
    teacher: Agent | None = None
    """Whom it imitates; not saved."""
    imitation: int = 0
    """For how many decisions; not saved."""
    run_state: bytes
    """What a checkpoint keeps besides the model; see `watch.Watch`."""

    def collect_rollouts(  # type: ignore[override]
        self, env: TrainingEnv, callback: Any, rollout_buffer: Rollout, n_rollout_steps: int, use_masking: bool = True
    ) -> bool:
        """Play and fill the buffer; see MaskablePPO. False if a callback stops the training."""
        if not use_masking:
            raise ValueError("the learner always uses masks")
        assert isinstance(self._last_obs, np.ndarray)
        assert self._last_episode_starts is not None
        self.policy.set_training_mode(False)
        rollout_buffer.reset()
        callback.on_rollout_start()
        log_probs = np.empty(env.num_envs, np.float32)
        for step in range(n_rollout_steps):
            with torch.inference_mode():
                logits = self.policy.logits(torch.from_numpy(self._last_obs))
            actions = rollout_buffer.actions[step, :, 0]
            draws = rollout_buffer.rng.random(env.num_envs)
            rollout_buffer.action_masks[step] = env.action_masks
            if self.imitates:
                assert self.teacher is not None
                view = env.arena.tables.view(np.arange(env.num_envs), rollout_buffer.rng)
                rollout_buffer.taught[step] = self.teacher.act(view)
            sample_legal(logits.numpy(), env.action_masks, draws, actions, log_probs)
            rollout_buffer.observations[step] = self._last_obs
            rollout_buffer.log_probs[step] = log_probs
            rollout_buffer.episode_starts[step] = self._last_episode_starts
            observations, rollout_buffer.rewards[step], self._last_episode_starts, _ = env.step(actions)
            self._last_obs = cast(NDArray[np.int8], observations)
            self.num_timesteps += env.num_envs
            if not callback.on_step():
                return False
        rollout_buffer.full = True
        flat = rollout_buffer.values.reshape(-1)
        seen = torch.from_numpy(rollout_buffer.observations).flatten(0, 1)
        for start in range(0, len(flat), VALUE_BATCH):
            flat[start : start + VALUE_BATCH] = self._values(seen[start : start + VALUE_BATCH])
        last_values = torch.from_numpy(self._values(torch.from_numpy(self._last_obs)))
        rollout_buffer.compute_returns_and_advantage(last_values, self._last_episode_starts)
        callback.on_rollout_end()
        return True

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "teacher", "imitation"]

    @property
    def imitates(self) -> bool:
        """Whether it still learns from its teacher."""
        return self.num_timesteps < self.imitation

    def train(self) -> None:
        """Learn from the rollout: from the teacher as long as there is one, then as MaskablePPO does."""
        if not self.imitates:
            super().train()
            return
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        taught = torch.from_numpy(self.rollout_buffer.taught).flatten()
        told: list[torch.Tensor] = []
        for rows, batch in self.rollout_buffer.batches(self.batch_size):
            values, log_probs, _ = self.policy.evaluate_actions(batch.observations, taught[rows], batch.action_masks)
            told.append(log_probs.mean())
            loss = self.vf_coef * functional.mse_loss(values.flatten(), batch.returns) - told[-1]
            self.policy.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
            self.policy.optimizer.step()
        self._n_updates += 1
        self.logger.record("train/log_prob_of_teacher", float(torch.stack(told).detach().mean()))

    def _values(self, observations: torch.Tensor) -> NDArray[np.float32]:
        with torch.inference_mode():
            return self.policy.predict_values(observations).flatten().numpy()


@dataclass(frozen=True)
class LinearDecay:
    """A learning rate that falls in a straight line to a hundredth."""

    start: float

    def __call__(self, remaining: float) -> float:
        """The rate when this part of the run remains: 1 at the start, below 0 in a last rollout that goes beyond the end."""
        return self.start * max(0.01, remaining)
