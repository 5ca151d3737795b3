"""MaskablePPO, faster: a value network that may see everything, rollouts without checks and copies, and play while it learns.

`Learner` does what MaskablePPO of sb3-contrib does. Where it differs, it is for speed (`train/throughput.py` measures by how
much): only the legal part of the softmax is computed; only the policy network runs while games are played, and the value
network afterwards for the whole rollout at once; observations stay int8 and masks bool until a batch is made; while the
networks learn from a rollout, in a process of their own, the next rollout is played by the policy as it was before. At first
the learner may imitate a scripted player, so that PPO need not begin from nothing.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples
from torch import nn
from torch.nn import functional

from katz_agents.policy import sample_legal
from katz_env import Agent
from katz_train.interrupts import Interrupts
from katz_train.learner_process import LearnerProcess
from katz_train.networks import ActorCritic, EncodedMlp, Networks
from katz_train.vec_env import TrainingEnv

VALUE_BATCH = 8192
"""How many values are computed at a time: the activations of 256 units are then 8 MB, about what a processor's cache holds."""
BATCHED = ("observations", "actions", "values", "log_probs", "advantages", "returns", "action_masks")
"""The arrays of a rollout that batches are made of."""


class Rollout(MaskableRolloutBuffer):
    """A rollout whose batches are drawn by a generator of its own.

    Attributes
    ----------
    rng
        That generator; `Learner.update` sets it.
    expert_actions : int64 (steps, N)
        What the expert would have done, while the learner imitates it.
    """

    rng: np.random.Generator

    def reset(self) -> None:
        """Forget the rollout but keep the arrays: making them anew for every rollout would take a noticeable time."""
        if not hasattr(self, "observations"):
            super().reset()
            self.action_masks = np.zeros(self.action_masks.shape, np.bool_)
            self.expert_actions = np.zeros((self.buffer_size, self.n_envs), np.int64)
        self.pos, self.full = 0, False

    def get(self, batch_size: int | None = None) -> Iterator[MaskableRolloutBufferSamples]:  # type: ignore[override]
        """The decisions in random order, in batches."""
        for _, batch in self.batches(batch_size):
            yield batch

    def batches(self, batch_size: int | None = None) -> Iterator[tuple[torch.Tensor, MaskableRolloutBufferSamples]]:
        """The decisions in random order, in batches, each with the numbers of its decisions."""
        tensors = {name: torch.from_numpy(getattr(self, name)).flatten(0, 1) for name in BATCHED}
        order = torch.from_numpy(self.rng.permutation(self.buffer_size * self.n_envs))
        for rows in torch.split(order, batch_size or len(order)):
            batch = {name: tensor[rows] for name, tensor in tensors.items()}
            yield (
                rows,
                MaskableRolloutBufferSamples(
                    observations=batch["observations"],
                    actions=batch["actions"].flatten(),
                    old_values=batch["values"],
                    old_log_prob=batch["log_probs"],
                    advantages=batch["advantages"],
                    returns=batch["returns"],
                    action_masks=batch["action_masks"],
                ),
            )


Phase = Literal["expert", "critic", "ppo"]
"""Of a run: the policy learns from the expert; the value network alone learns; PPO."""


@dataclass
class UpdateRequest:
    """What an update of the networks needs besides the networks.

    Attributes
    ----------
    rollout
        The arrays of a `Rollout` by name, with advantages and returns.
    seed
        For the order of its decisions.
    remaining
        The part of the run that remains, from 1 to 0.
    phase
        What is learned from.
    """

    rollout: dict[str, NDArray[Any]]
    seed: int
    remaining: float
    phase: Phase


class Learner(MaskablePPO):
    """MaskablePPO on a `TrainingEnv`, after a time of imitation.

    In that time the learner plays its own moves and learns, at every decision, what an expert would have done: so it meets the
    positions that its own mistakes lead to (Ross, Gordon and Bagnell 2011, "A reduction of imitation learning and structured
    prediction to no-regret online learning"). The value network learns from the rewards as always.

    A rollout is played, and its positions valued, by the networks as they were before they learned from the rollout before it:
    so both can be done at the same time.
    """

    policy: ActorCritic
    rollout_buffer: Rollout
    networks_before_update: Networks | None = None
    """The networks as they were before the last update; not saved by SB3, but see `training_callback`."""
    process: LearnerProcess | None = None
    """Where the networks learn, if not in this process; not saved."""
    interrupts: Interrupts = Interrupts()
    """Says when to give up a rollout; not saved."""
    expert: Agent | None = None
    """The agent that it imitates; not saved."""
    imitation_steps: int = 0
    """For how many decisions it imitates; not saved."""
    critic_steps: int = 0
    """Until which decision the value network alone learns, where it does not imitate; not saved."""
    rng: np.random.Generator
    """Draws its actions, and the seeds of its updates; `ppo.make_learner` sets it."""

    def _excluded_save_params(self) -> list[str]:
        not_saved = [
            "networks_before_update",
            "process",
            "interrupts",
            "expert",
            "imitation_steps",
            "critic_steps",
            "_last_obs",
        ]
        return [*super()._excluded_save_params(), *not_saved]

    @property
    def playing(self) -> Networks:
        """The policy network that plays and the value network that values what it plays."""
        return self.networks_before_update or self.policy.networks

    @property
    def phase(self) -> Phase:
        """What it learns from now."""
        if self.num_timesteps < self.imitation_steps:
            return "expert"
        return "critic" if self.num_timesteps < self.critic_steps else "ppo"

    def learn(self, *args: Any, **kwargs: Any) -> Learner:
        """Play and learn; see MaskablePPO."""
        super().learn(*args, **kwargs)
        self.finish()
        return self

    def _setup_learn(self, *args: Any, **kwargs: Any) -> Any:
        with self.interrupts.abandonable():  # the first deal compiles
            return super()._setup_learn(*args, **kwargs)

    # --- play

    def collect_rollouts(  # type: ignore[override]
        self, env: TrainingEnv, callback: Any, rollout_buffer: Rollout, n_rollout_steps: int, use_masking: bool = True
    ) -> bool:
        """Play and fill the buffer; see MaskablePPO. False if a callback stops the training.

        Raises
        ------
        Interrupted
            As soon as a signal arrives while the tables are played; they are then in no state to go on from.
        """
        if not use_masking:
            raise ValueError("the learner always uses masks")
        assert isinstance(self._last_obs, np.ndarray)
        assert self._last_episode_starts is not None
        callback.on_rollout_start()
        rollout_buffer.reset()
        actor = self.playing.actor
        log_probs = np.empty(env.num_envs, np.float32)
        for step in range(n_rollout_steps):
            logits = self._outputs(actor, self._last_obs)
            actions = rollout_buffer.actions[step, :, 0]
            draws = self.rng.random(env.num_envs)
            rollout_buffer.action_masks[step] = env.action_masks
            if self.phase == "expert":
                assert self.expert is not None
                view = env.arena.tables.view(np.arange(env.num_envs), self.rng)
                with self.interrupts.abandonable():
                    rollout_buffer.expert_actions[step] = self.expert.act(view)
            sample_legal(logits, env.action_masks, draws, actions, log_probs)
            rollout_buffer.observations[step] = self._last_obs
            rollout_buffer.log_probs[step] = log_probs
            rollout_buffer.episode_starts[step] = self._last_episode_starts
            with self.interrupts.abandonable():
                observations, rollout_buffer.rewards[step], self._last_episode_starts, _ = env.step(actions)
            self._last_obs = cast(NDArray[np.int8], observations)
            self.num_timesteps += env.num_envs
            if not callback.on_step():
                return False
        rollout_buffer.full = True
        self._value(rollout_buffer)
        self.finish()
        callback.on_rollout_end()
        return True

    def _value(self, rollout: Rollout) -> None:
        """Compute the values, advantages and returns of a rollout."""
        critic = self.playing.critic
        flat, seen = rollout.values.reshape(-1), rollout.observations.reshape(rollout.values.size, -1)
        for start in range(0, len(flat), VALUE_BATCH):
            flat[start : start + VALUE_BATCH] = self._outputs(critic, seen[start : start + VALUE_BATCH])[:, 0]
        last_values = torch.from_numpy(self._outputs(critic, cast(NDArray[np.int8], self._last_obs)))
        assert self._last_episode_starts is not None
        rollout.compute_returns_and_advantage(last_values, self._last_episode_starts)

    def _outputs(self, network: EncodedMlp, observations: NDArray[np.int8]) -> NDArray[np.float32]:
        with torch.inference_mode():
            outputs: NDArray[np.float32] = network(observations).numpy()
        return outputs

    # --- learning

    def train(self) -> None:
        """Begin to learn from the rollout; `finish` ends it. Until the next call the networks play as they are now."""
        self.networks_before_update = copy.deepcopy(self.policy.networks)
        names = (*BATCHED, "expert_actions") if self.phase == "expert" else BATCHED
        rollout = {name: getattr(self.rollout_buffer, name) for name in names}
        seed = int(self.rng.integers(2**63))
        request = UpdateRequest(rollout, seed, self._current_progress_remaining, self.phase)
        if self.process is None:
            self.update(request)
        else:
            self.process.begin(request)

    def finish(self) -> None:
        """Wait until the networks have learned from the last rollout, and take them over."""
        if self.process is not None and self.process.busy:
            result = self.process.end()
            self.set_parameters(result.parameters)
            self._n_updates = result.updates
            for name, value in result.metrics.items():
                self.logger.record(name, value)

    def update(self, request: UpdateRequest) -> None:
        """Learn from a rollout what the phase of the run is for."""
        vars(self.rollout_buffer).update(request.rollout, rng=np.random.default_rng(request.seed), full=True)
        self._current_progress_remaining = request.remaining
        if request.phase == "ppo":
            super().train()
        else:
            self._fit(imitate=request.phase == "expert")

    def _fit(self, imitate: bool) -> None:
        """Fit the value network to the returns and, if `imitate`, the policy to the expert's actions."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        expert_actions = torch.from_numpy(self.rollout_buffer.expert_actions).flatten()
        means: list[torch.Tensor] = []
        for rows, batch in self.rollout_buffer.batches(self.batch_size):
            if imitate:
                values, log_probs, _ = self.policy.evaluate_actions(
                    batch.observations, expert_actions[rows], batch.action_masks
                )
                means.append(log_probs.mean())
            else:
                values = self.policy.predict_values(batch.observations)
            loss = self.vf_coef * functional.mse_loss(values.flatten(), batch.returns) - (means[-1] if imitate else 0)
            self.policy.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
            self.policy.optimizer.step()
        self._n_updates += 1
        if imitate:
            self.logger.record("train/log_prob_of_expert_actions", float(torch.stack(means).detach().mean()))


@dataclass(frozen=True)
class LinearDecay:
    """A learning rate that falls in a straight line to a hundredth of its start."""

    start: float

    def __call__(self, remaining: float) -> float:
        """The rate when this part of the run remains: 1 at the start, below 0 in a last rollout that passes the end."""
        return self.start * max(0.01, remaining)
