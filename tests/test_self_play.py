"""Self-play: whose credit is whose, what the policy may see, who is drawn from the pool and stays seated."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableCategorical

from katz_agents.layers import forward
from katz_agents.policy import Policy
from katz_agents.policy_file import save_policy
from katz_env import Katzenjammer, make_agent
from katz_env.core.arena import OPEN
from katz_env.core.encoding import Encoding

sys.path.insert(0, str(Path(__file__).parent.parent / "train"))

import ppo
from katz_train.learner import Learner
from katz_train.masked_softmax import masked_softmax
from katz_train.opponent_pool import OpponentPool
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


# --- the pool


@pytest.fixture
def pool(tmp_path):
    return new_pool(tmp_path)


def new_pool(folder):
    scripted = [make_agent("random"), make_agent("greedy")]
    shares = {"latest_share": 0.4, "scripted_share": 0.3, "same_opponent_share": 0.5}
    return OpponentPool(GAME, folder, scripted, 4, active_snapshots=2, pfsp_power=2, **shares)


def snapshot(pool, step, seated=()):
    rng = np.random.default_rng(step)
    save_policy(pool.path(step), GAME, [(rng.normal(size=(89, 256)), np.zeros(256))])
    return pool.add(step, np.array(seated, np.int64))


def test_one_seat_is_open_anywhere_and_the_others_are_drawn_by_their_weights(pool):
    for step in (10, 20, 30):
        snapshot(pool, step)
    rng = np.random.default_rng(1)
    pool.choose_active(rng)
    players = pool(rng, 30_000)
    assert ((players == OPEN).sum(1) == 1).all()
    assert np.allclose((players == OPEN).mean(0), 1 / 3, atol=0.01)
    drawn = np.bincount(players[players != OPEN], minlength=len(pool.agents)) / 60_000
    assert np.allclose(drawn, pool.weights, atol=0.012)
    newest = pool.scripted + pool.steps.index(30)
    assert pool.weights[newest] == pytest.approx(0.4)
    assert pool.weights[:2].sum() == pytest.approx(0.3)
    others = np.sort(players, 1)[:, 1:]
    assert 0.6 < (others[:, 0] == others[:, 1]).mean() < 0.8  # half the games, and those where the draws agree


def test_without_snapshots_only_scripted_players_are_drawn(pool):
    pool.choose_active(np.random.default_rng(1))
    assert pool.weights[:2].sum() == pytest.approx(1)


@pytest.mark.parametrize(("scripted", "latest"), [(0.9, 0.1), (0.8, 0.2), (0.55, 0.45)])
def test_nothing_may_be_left_for_older_snapshots(pool, scripted, latest):
    for step in (100, 200, 300):
        snapshot(pool, step)
    pool.scripted_share, pool.latest_share = scripted, latest  # their rounded sum is above 1
    pool.choose_active(np.random.default_rng(1))
    assert pool.weights.min() == 0
    assert pool(np.random.default_rng(1), 50).max() == pool.scripted + pool.steps.index(300)


def test_harder_opponents_are_drawn_more_often(pool):
    for _ in range(200):
        pool.count(np.array([[0, OPEN, 0], [1, 1, OPEN]]), np.array([0.9, 0.2]))
    assert pool.shares()[0] == pytest.approx(0.9, abs=0.05)
    assert pool.shares()[1] == pytest.approx(0.2, abs=0.05)
    pool.choose_active(np.random.default_rng(1))
    assert pool.weights[1] > 10 * pool.weights[0] > 0
    for step in range(10, 60, 10):
        snapshot(pool, step)
    old = [pool.scripted + pool.steps.index(step) for step in pool.kept[:-1]]
    pool.wins[old], pool.games[old] = [90, 90, 20], 100
    chosen = np.zeros(len(pool.agents))
    for seed in range(300):
        pool.choose_active(np.random.default_rng(seed))
        chosen += pool.weights > 0
    assert chosen[old[2]] > 290
    assert chosen[old[0]] < 200


def test_snapshots_are_thinned_evenly_over_the_run(pool):
    for step in range(10, 410, 10):
        assert snapshot(pool, step)
        assert len(pool.kept) <= 4
    assert (pool.kept[0], pool.kept[-1]) == (10, 400)
    assert np.diff(pool.kept).min() * 3 >= np.diff(pool.kept).max()


def test_a_snapshot_that_still_plays_keeps_its_place_and_its_file(pool):
    for step in (10, 20, 30, 40):
        snapshot(pool, step)
    place = pool.scripted + pool.steps.index(20)
    agent = pool.agents[place]
    for step in range(50, 150, 10):
        assert snapshot(pool, step, seated=[OPEN, place, 0])
        pool.delete_unneeded(pool.get_state(np.array([OPEN, place, 0])))
    assert 20 not in pool.kept
    assert pool.agents[place] is agent
    assert pool.path(20).exists()
    assert len(list(pool.directory.iterdir())) == 5
    pool.delete_unneeded(pool.get_state(np.array([OPEN, 0, 0])))
    assert not pool.path(20).exists()
    everywhere = np.arange(len(pool.agents))
    assert not snapshot(pool, 1000, seated=everywhere)
    assert 1000 not in pool.kept


def test_opponents_keep_their_seats_to_the_end_of_the_game_also_across_resume(pool):
    snapshot(pool, 10)
    snapshot(pool, 20)
    env = TrainingEnv(GAME, 48, pool.agents, pool)
    env.arena.agents = pool.agents
    env.seed(1)
    rng = np.random.default_rng(2)
    pool.choose_active(rng)
    env.reset()
    changed = games = 0
    for step in range(60):
        if step % 20 == 10:  # another pool and another environment take over
            saved, state = pool.get_state(env.arena.players), env.get_state()
            pool = new_pool(pool.directory)
            pool.set_state(saved)
            env = TrainingEnv(GAME, 48, pool.agents, pool)
            env.arena.agents = pool.agents
            env.set_state(state)
            pool.choose_active(rng)
        before = env.arena.players.copy()
        _, _, dones, _ = env.step(env.action_masks.argmax(1))
        assert np.array_equal(env.arena.players[~dones], before[~dones])
        changed += (env.arena.players[dones] != before[dones]).any(1).sum()
        games += dones.sum()
    assert changed > games / 3 > 10


def test_a_pool_without_its_folder_is_named(pool):
    snapshot(pool, 10)
    state = pool.get_state(np.array([OPEN]))
    other = new_pool(pool.directory / "missing")
    with pytest.raises(ValueError, match=r"the folder of the pool .*missing is missing"):
        other.set_state(state)


def test_snapshots_draw_their_moves(pool):
    snapshot(pool, 10)
    (agent,) = [agent for agent in pool.agents if isinstance(agent, Policy)]
    assert agent.sample


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
