"""The pool of opponents: who is drawn from it and stays seated, and which snapshots it keeps."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from katz_agents.policy import Policy
from katz_agents.policy_file import save_policy
from katz_env import Katzenjammer, make_agent
from katz_env.core.arena import OPEN

sys.path.insert(0, str(Path(__file__).parent.parent / "train"))

from katz_train.opponent_pool import OpponentPool
from katz_train.vec_env import TrainingEnv

GAME = Katzenjammer(3)


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
