"""Self-play: whose credit is whose, imitation, masks, and what the policy and the value network may see."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableCategorical

from katz_agents.layers import forward
from katz_env import Katzenjammer, make_agent
from katz_env.core.arena import OPEN
from katz_env.core.encoding import Encoding

sys.path.insert(0, str(Path(__file__).parent.parent / "train"))

import ppo
from katz_train.learner import Learner
from katz_train.masked_softmax import masked_softmax
from katz_train.ppo_settings import PpoSettings
from katz_train.vec_env import TrainingEnv

GAME = Katzenjammer(3)
torch.set_num_threads(1)  # on a busy machine two wait for each other


class Anyone:
    """A seating of one open seat, drawn for each game, and agent 0 elsewhere."""

    def __call__(self, rng, k):
        players = np.zeros((k, 3), np.int64)
        players[np.arange(k), rng.integers(3, size=k)] = OPEN
        return players


def training_env(num_envs=32, kind=TrainingEnv, seed=3, **settings):
    env = kind(GAME, num_envs, [make_agent("random")], Anyone(), **settings)
    env.seed(seed)
    return env


def learner(env, **settings) -> Learner:
    quick = {"num_envs": env.num_envs, "rollout_steps": 48, "batch_size": 256, "epochs": 1, "hidden": (16,)}
    return ppo.make_learner(PpoSettings(**quick | settings), GAME, env)


# --- the learner's own stream


@pytest.mark.parametrize("score_weight", [0.0, 0.05])
def test_the_learner_is_paid_what_its_seat_earns(score_weight):
    env = training_env(64, score_weight=score_weight)
    env.reset()
    games = 0
    for _ in range(60):
        seats = env.arena.tables.turn.copy()
        _, rewards, dones, _ = env.step(env.action_masks.argmax(1))
        ended = env.arena.final_records[dones] if dones.any() else env.arena.tables.records[:0]
        paid, scores = (values[np.arange(dones.sum()), seats[dones]] for values in GAME.outcome(ended))
        assert np.allclose(rewards[dones], paid + score_weight * scores)
        assert (rewards[~dones] == 0).all()
        assert np.allclose(env.finished_shares, paid + 1 / 3)
        assert np.array_equal(np.argmax(env.finished_players == OPEN, 1), seats[dones])
        games += dones.sum()
    assert games > 64


class Watched(TrainingEnv):
    """Remembers the learner's seat at every decision."""

    seats: list

    def step_async(self, actions):
        self.__dict__.setdefault("seats", []).append(self.arena.tables.turn.copy())
        super().step_async(actions)


def test_no_advantage_is_computed_across_two_seats():
    env = training_env(kind=Watched, full_state=True)
    model = learner(env)
    model.train = lambda: None  # the network stays as it is
    model.learn(48 * env.num_envs)
    rollout, seats = model.rollout_buffer, np.array(env.seats)
    last_values = model.policy.networks.critic(model._last_obs)[:, 0].detach()
    several = 0
    for i in range(env.num_envs):
        starts = [0, *(1 + np.flatnonzero(rollout.episode_starts[1:, i])), 48]
        several += len(starts) > 3
        for start, stop in zip(starts[:-1], starts[1:], strict=True):
            assert len(set(seats[start:stop, i])) == 1, "two seats in one game's stream"
            values, rewards = rollout.values[start:stop, i], rollout.rewards[start:stop, i]
            goes_on = stop == 48 and not model._last_episode_starts[i]
            following = np.append(values[1:], last_values[i] if goes_on else 0)
            advantage = 0.0
            for t in reversed(range(stop - start)):  # within this game alone
                advantage = rewards[t] + following[t] - values[t] + model.gae_lambda * advantage
                assert rollout.advantages[start + t, i] == pytest.approx(advantage, abs=1e-5)
    assert several > 5


class Constant(TrainingEnv):
    """Pays a quarter for every game."""

    def step_wait(self):
        observations, _, dones, infos = super().step_wait()
        return observations, 0.25 * dones, dones, infos


def test_with_a_constant_reward_the_value_target_is_that_constant():
    env = training_env(24, kind=Constant)
    model = learner(env, gae_lambda=1.0, learning_rate=1e-2)
    model.learn(48 * env.num_envs)
    rollout = model.rollout_buffer
    finished = 0
    for i in range(env.num_envs):
        ends = np.flatnonzero(rollout.rewards[:, i])
        if len(ends):
            assert np.allclose(rollout.returns[: ends[-1] + 1, i], 0.25, atol=1e-6)
            finished += len(ends)
    assert finished > 10
    error = abs(rollout.values - 0.25).mean()
    model.learn(48 * env.num_envs * 3, reset_num_timesteps=False)
    assert abs(model.rollout_buffer.values - 0.25).mean() < 0.8 * error


# --- imitation


def test_at_first_the_learner_does_what_its_expert_does():
    env = training_env(64, full_state=True, reward="score")  # a policy that learned from this reward would do anything but that
    model = learner(env, hidden=(64,), rollout_steps=32, learning_rate=1e-2)
    model.expert, model.imitation_steps = make_agent("greedy"), 24 * 32 * 64
    agreement = []

    def watched(self=model, train=model.train):
        rollout = self.rollout_buffer
        agreement.append((rollout.expert_actions == rollout.actions[:, :, 0]).mean())
        train()

    model.train = watched
    model.learn(model.imitation_steps)
    assert agreement[-1] > 0.7 > 0.5 > agreement[0]
    assert model.phase == "ppo"


def test_an_expert_sees_what_the_learner_sees_and_nothing_is_learned_from_it_afterwards():
    class Last(type(make_agent("random"))):
        """Plays the last legal move, and keeps what it saw."""

        views = ()

        def act(self, view):
            self.views = (*self.views, view)
            return view.action_masks.shape[1] - 1 - view.action_masks[:, ::-1].argmax(1)

    env = training_env(16, full_state=True)
    model = learner(env)
    model.expert, model.imitation_steps = Last(), 48 * 16
    model.learn(48 * 16)
    rollout = model.rollout_buffer
    assert len(model.expert.views) == 48
    for step, view in enumerate(model.expert.views):
        assert np.array_equal(view.observations, rollout.observations[step, :, : GAME.observation_size])
        assert np.array_equal(view.action_masks, rollout.action_masks[step])
        assert (view.tables["deal"] != env.arena.tables.records["deal"]).any()
    assert rollout.action_masks.reshape(-1, GAME.num_actions)[np.arange(48 * 16), rollout.expert_actions.flatten()].all()
    model.learn(48 * 16, reset_num_timesteps=False)
    assert len(model.expert.views) == 48


# --- masks


class OneLegalMove(TrainingEnv):
    """Hides all legal moves but the last: whoever obeys the mask always plays it."""

    @property
    def action_masks(self):
        masks = super().action_masks
        return np.arange(masks.shape[1]) == (masks.shape[1] - 1 - masks[:, ::-1].argmax(1))[:, None]

    def step_async(self, actions):
        assert (np.asarray(actions) == self.action_masks.argmax(1)).all(), "the learner disobeyed the mask"
        super().step_async(actions)


def test_a_mask_of_one_legal_move_is_always_obeyed():
    env = training_env(8, kind=OneLegalMove)
    model = learner(env)
    model.learn(1024)
    assert model.num_timesteps >= 1024
    # The same check fails without masks, so it does check something.
    model = MaskablePPO("MlpPolicy", training_env(8, kind=OneLegalMove), n_steps=64, batch_size=128, seed=0, device="cpu")
    with pytest.raises(AssertionError, match="disobeyed"):
        model.learn(1024, use_masking=False)


def test_the_plain_maskable_ppo_can_use_the_same_environment():
    env = training_env(8, kind=OneLegalMove)
    model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=128, n_epochs=1, seed=0, device="cpu")
    model.learn(256)
    assert model.num_timesteps == 256


def test_the_compiled_softmax_is_that_of_sb3():
    rng = np.random.default_rng(0)
    masks = torch.from_numpy(rng.random((40, 30)) < 0.3)
    masks[:, 7] = True
    masks[0] = False
    masks[0, 5] = True  # one legal action: no entropy
    actions = torch.tensor([int(rng.choice(np.flatnonzero(mask))) for mask in masks.numpy()])
    start = torch.from_numpy(rng.normal(size=(40, 30), scale=3).astype(np.float32))
    weights = torch.from_numpy(rng.normal(size=(2, 40)).astype(np.float32))
    results = []
    for compiled in (True, False):
        logits = start.clone().requires_grad_()
        if compiled:
            log_probs, entropies = masked_softmax(logits, masks, actions)
        else:
            distribution = MaskableCategorical(logits=logits, masks=masks)
            log_probs, entropies = distribution.log_prob(actions), distribution.entropy()
        ((weights[0] * log_probs).mean() + (weights[1] * entropies).sum()).backward()
        results.append((log_probs.detach(), entropies.detach(), logits.grad))
    for mine, theirs in zip(*results, strict=True):
        assert torch.allclose(mine, theirs, atol=1e-5)
    assert results[0][0].min() < -1


# --- what the policy may see


def test_the_policy_sees_only_its_observation_and_the_value_network_everything():
    env = training_env(16, full_state=True)
    model = learner(env, hidden=(16, 16))
    model.policy.action_net.weight.data *= 100
    actor, critic = model.policy.networks
    state = env.reset()
    size = GAME.observation_size
    assert np.array_equal(state[:, :size], env.arena.tables.observations)
    hidden = state.copy()
    hidden[:, size:] = state[:, size:][:, ::-1]
    assert (hidden != state).any()
    first, second = (actor(x).detach() for x in (state, hidden))
    assert torch.equal(first, second)
    assert not torch.allclose(*(critic(x) for x in (state, hidden)))
    # What is trained is what plays: SB3's own way through the network gives the same log-probabilities and values.
    masks = torch.from_numpy(env.action_masks.copy())
    actions = masks.float().argmax(1)
    values, log_probs, _ = model.policy.evaluate_actions(torch.from_numpy(hidden).float(), actions, masks)
    expected = first.masked_fill(~masks, -torch.inf).log_softmax(1).gather(1, actions[:, None])[:, 0]
    assert torch.allclose(log_probs, expected, atol=1e-5)
    assert torch.allclose(values, critic(hidden), atol=1e-6)


def test_the_learner_acts_as_its_log_probabilities_say():
    env = training_env(64, full_state=False)
    model = learner(env)
    model.policy.action_net.weight.data *= 100
    model.train = lambda: None  # the network stays as it is
    model.learn(48 * 64)
    rollout = model.rollout_buffer
    observations = Encoding(GAME)(rollout.observations.reshape(-1, GAME.observation_size))
    logits = torch.from_numpy(forward(observations, model.policy.networks.actor.layers()))
    masks = torch.from_numpy(rollout.action_masks).flatten(0, 1)
    actions = torch.from_numpy(rollout.actions).flatten(0, 1)
    log_probs = logits.masked_fill(~masks, -torch.inf).log_softmax(1)
    assert torch.allclose(log_probs.gather(1, actions)[:, 0], torch.from_numpy(rollout.log_probs).flatten(), atol=1e-4)
    # The mean of log p over draws from p is minus the entropy.
    entropy = -(log_probs.exp() * log_probs.masked_fill(~masks, 0)).sum(1).mean()
    assert abs(rollout.log_probs.mean() + float(entropy)) < 0.05
    assert entropy > 0.3


def test_the_value_network_is_told_who_plays():
    env = TrainingEnv(GAME, 32, [make_agent("random")] * 4, AnyLineUp(), full_state=True, scripted=2)
    env.seed(3)
    env.reset()
    kinds = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]])  # two scripted agents, and two others, which are one to it
    for _ in range(30):
        state = env.step(env.action_masks.argmax(1))[0]
        for i, turn in enumerate(env.arena.tables.turn):
            left, right = env.arena.players[i, [(turn + 1) % 3, (turn + 2) % 3]]
            assert state[i, -6:].tolist() == [*kinds[left], *kinds[right]]


class AnyLineUp:
    """A seating of one open seat and any agents elsewhere."""

    def __call__(self, rng, k):
        return np.stack([rng.permutation([OPEN, *rng.integers(4, size=2)]) for _ in range(k)])
