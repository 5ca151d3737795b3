"""PPO in one file: masks are obeyed, each decision is paid what its seat earned, the same seed gives the same policy."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
from any_game import KUHN
from training_runs import command  # first: it makes the scripts importable

import ppo_simple as simple  # isort: skip

from katz_agents.policy import Policy
from katz_env import SelfPlay, make_game
from katz_env.core.arena import OPEN
from katz_train.interrupts import Interrupts

TINY = {"num_envs": 8, "rollout_steps": 8, "batch_size": 32, "hidden": 8, "evaluation_deals": 2, "opponents": ("random",)}


def settings(**changes):
    return simple.Settings(**TINY | {"game": "kuhn_poker", "total_steps": 400, "snapshot_every": 100} | changes)


def train(directory, **changes):
    assert simple.train(settings(run_dir=directory, **changes), Interrupts()) == 0
    return Policy(str(directory / "policy.npz")).layers


def test_the_same_seed_gives_the_same_policy_and_another_seed_another(tmp_path):
    one, same, other = (train(tmp_path / name, seed=seed) for name, seed in (("one", 1), ("same", 1), ("other", 2)))
    for mine, theirs in zip(one, same, strict=True):
        np.testing.assert_array_equal(mine[0], theirs[0])
        np.testing.assert_array_equal(mine[1], theirs[1])
    assert (one[0][0] != other[0][0]).any()
    assert (tmp_path / "one" / "curve.csv").read_bytes() == (tmp_path / "same" / "curve.csv").read_bytes()


@pytest.mark.parametrize("game", [KUHN, make_game("katzenjammer", num_players=2)], ids=lambda game: game.name)
def test_masks_are_obeyed_and_only_the_learner_s_decisions_are_learned_from(game):
    chosen = settings(scripted_share=0.4, snapshot_share=0.3, score_weight=0.0)
    learner = simple.Learner(chosen, game)
    pool = simple.Pool(chosen, game, learner.policy)
    play = SelfPlay(game, 8, agents=pool.agents, seating=pool)
    play.reset(0)
    rollout, complete = simple.Rollout(8, play), 0
    for _ in range(20):
        learner.collect(play, rollout, pool)
        assert np.take_along_axis(rollout.masks, rollout.actions[..., None], 2).all()
        assert np.isfinite(rollout.log_probs).all()
        assert set(np.unique(rollout.rewards[rollout.complete & ~rollout.done]).tolist()) <= {0.0}
        assert np.isin(rollout.rewards[rollout.complete & rollout.done], (-0.5, 0.0, 0.5)).all()
        complete += int(rollout.complete.sum())
    assert complete > 20 * 64 * 0.4
    assert (play.arena.players == OPEN).any(1).all(), "the learner has a seat in every game"
    assert (play.arena.players != OPEN).any(), "and opponents"


def test_opponents_that_win_are_drawn_more_often():
    game = make_game("katzenjammer", num_players=2)
    chosen = settings(opponents=("random", "greedy"), scripted_share=1.0, snapshot_share=0.0)
    pool = simple.Pool(chosen, game, simple.Learner(chosen, game).policy)
    play = SelfPlay(game, 64, agents=pool.agents, seating=lambda rng, k: np.tile([OPEN, 1], (k, 1)))
    play.reset(0)
    while not len(play.finished.tables):
        play.step(play.action_masks.argmax(1))
    shares = game.results(play.finished.records)["win_share"]
    pool.note(play.finished, shares)
    shares = shares[:, 0]
    assert pool.won[0] == 0.5, "it did not play"
    assert pool.won[1] == pytest.approx(0.5 + len(shares) / 2000 * (shares.mean() - 0.5))
    pool.won[:] = 0.9, 0.5
    drawn = pool(np.random.default_rng(0), 4000)
    assert 0.02 < (drawn == 0).any(1).mean() < 0.06, "0.011 of 0.262"


def test_each_decision_is_paid_what_its_seat_won():
    chosen = settings(score_weight=0.0)
    learner = simple.Learner(chosen, KUHN)
    pool, play = simple.Pool(chosen, KUHN, learner.policy), SelfPlay(KUHN, 4)
    play.reset(3)
    rollout = simple.Rollout(200, play)
    seats, ended, step = [], [], play.step

    def watched(actions):
        seats.append(play.seats)
        paid = step(actions)
        ended.append({int(i): KUHN.outcome(play.finished.records)[0][k] for k, i in enumerate(play.finished.tables)})
        return paid

    play.step = watched
    learner.collect(play, rollout, pool)
    games = 0
    for table in range(4):
        decisions: dict[int, list[int]] = {0: [], 1: []}
        for t in range(200):
            decisions[int(seats[t][table])].append(t)
            if table in ended[t]:
                games += 1
                for seat, mine in decisions.items():
                    for row, following in zip(mine[:-1], mine[1:], strict=True):
                        assert (rollout.done[row, table], rollout.following[row, table]) == (False, following)
                    for row in mine[-1:]:
                        assert rollout.done[row, table]
                        assert rollout.rewards[row, table] == pytest.approx(ended[t][table][seat])
                decisions = {0: [], 1: []}
    assert games > 200


def test_advantages_are_those_of_the_definition():
    play = SelfPlay(KUHN, 3)
    rollout, rng = simple.Rollout(6, play), np.random.default_rng(0)
    values = rng.normal(size=(7, 3)).astype(np.float32)
    rollout.rewards[:] = rng.normal(size=(6, 3))
    for table in range(3):  # two seats in turn; the second one's game is over after its second decision
        for t in range(6):
            rollout.following[t, table], rollout.complete[t, table] = min(t + 2, 6), t < 5
        rollout.done[3, table] = True
    gamma, lam = 0.9, 0.8
    found = rollout.advantages(values, gamma, lam)

    def by_definition(t, table):
        if t > 5 or not rollout.complete[t, table]:
            return 0.0
        if rollout.done[t, table]:
            return rollout.rewards[t, table] - values[t, table]
        later = t + 2
        delta = rollout.rewards[t, table] + gamma * values[later, table] - values[t, table]
        return delta + gamma * lam * by_definition(later, table)

    for t in range(6):
        for table in range(3):
            assert found[t, table] == pytest.approx(by_definition(t, table), rel=1e-5, abs=1e-6)


def test_it_learns_kuhn_poker(tmp_path):
    learned = {"total_steps": 40_000, "num_envs": 64, "hidden": 32, "learning_rate": 3e-3, "evaluation_deals": 400}
    train(tmp_path / "run", scripted_share=1.0, snapshot_share=0.0, **learned)
    rows = (tmp_path / "run" / "curve.csv").read_text().splitlines()
    assert rows[0] == "steps,random"
    before, after = (float(row.split(",")[1]) for row in (rows[1], rows[-1]))
    assert after > before + 0.05
    assert after > 0.55


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--total-steps", 0], "--total-steps is 0; it must be at least 1"),
        (["--learning-rate", 0], "--learning-rate is 0.0; it must be above 0"),
        (["--scripted-share", 0.9, "--snapshot-share", 0.2], "--scripted-share and --snapshot-share must be at most 1"),
        (["--snapshot-share", -0.1], "--snapshot-share is -0.1; it must be from 0 to 1"),
        (["--priority", "nan"], "--priority is nan; it must be at least 0"),
        (["--gamma", 1.5], "--gamma is 1.5; it must be from 0 to 1"),
        (["--game", "whist"], "there is no game 'whist'"),
        (["--opponents", "nobody"], "there is no agent 'nobody'"),
    ],
)
def test_wrong_settings_are_named_in_one_line(arguments, message, tmp_path):
    ended = subprocess.run(command("ppo_simple.py", *arguments), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1
    assert message in ended.stderr
    assert list(tmp_path.iterdir()) == []
