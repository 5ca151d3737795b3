"""`train/expert_iteration.py`: what is learned from moves that are played out, runs that are resumed, bad settings."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tyro
from any_game import GAMES, KUHN, every_game, positions, to_act
from test_base import BASE, SCRIPTED, layers
from test_policy_search import network
from training_runs import ROOT, command

from katz_agents.policy import Policy
from katz_agents.policy_file import save_policy
from katz_agents.policy_search import Candidates
from katz_env import SelfPlay, Tables, make_agent
from katz_env.core.arena import OPEN

sys.path.insert(0, str(Path(__file__).parent.parent / "train"))

import expert_iteration
from katz_train import table_value
from katz_train.expert_iteration_settings import ExpertIterationSettings
from katz_train.interrupts import Interrupts
from katz_train.outcomes import Fit
from katz_train.table_value import TableValue, fit_table_value, inputs_of, rows_of

QUICK: tuple[object, ...] = ("--iterations", 2, "--iteration-steps", 300, "--num-envs", 50, "--batch-size", 60)
QUICK += ("--value-games", 10, "--value-hidden", 8, "--evaluation-deals", 4, "--least", 0)


@pytest.fixture(autouse=True)
def few_games(monkeypatch):
    """A network that judges is fitted to so few games that it takes no time."""
    monkeypatch.setattr(table_value, "TABLES", 10)


def settings(policy, folder, *arguments) -> ExpertIterationSettings:
    given = (policy, *QUICK, "--run-dir", folder, *arguments)
    return tyro.cli(ExpertIterationSettings, args=[*map(str, given)])


def policy_of(game, folder, **given):
    """The path of a policy with random weights."""
    path = folder / "start.npz"
    save_policy(path, game, network(game).layers, **given)
    return path


def of_game(game):
    return ("--game", game.name, "--num-players", game.num_players, "--opponents", "random")


def weights(path):
    return [array for layer in Policy(str(path)).layers for array in layer]


@every_game
def test_a_run_leaves_a_policy_that_has_learned(game, tmp_path, capsys):
    start = policy_of(game, tmp_path)
    assert expert_iteration.improve(settings(start, tmp_path / "run", *of_game(game))) == 0
    for one in ("policy.npz", "iterations/2.npz"):
        assert not np.array_equal(weights(start)[0], weights(tmp_path / "run" / one)[0])
    np.testing.assert_array_equal(weights(tmp_path / "run/policy.npz")[0], weights(tmp_path / "run/iterations/2.npz")[0])
    rows = (tmp_path / "run/curve.csv").read_text().splitlines()
    assert rows[0] == f"iteration,decisions,policy:{start},random"
    assert [row.split(",")[:2] for row in rows[1:]] == [["1", "300"], ["2", "600"]]
    assert re.search(r"iteration 2: win shares against policy:\S+ 0\.\d{3}, random \d\.\d{3}", capsys.readouterr().out)


def test_an_opponent_may_be_named_twice_to_play_twice_as_often(tmp_path):
    start = policy_of(KUHN, tmp_path)
    twice = ("--opponents", "random", "random")
    assert expert_iteration.improve(settings(start, tmp_path / "run", *of_game(KUHN), *twice)) == 0
    assert (tmp_path / "run/curve.csv").read_text().startswith(f"iteration,decisions,policy:{start},random\n")


def test_the_same_seed_gives_the_same_policy_and_another_one_another(tmp_path):
    game = GAMES[0]
    start, found = policy_of(game, tmp_path), []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        assert expert_iteration.improve(settings(start, tmp_path / name, *of_game(game), "--seed", seed)) == 0
        found.append(weights(tmp_path / name / "policy.npz"))
    assert all(map(np.array_equal, found[0], found[1]))
    assert not np.array_equal(found[0][0], found[2][0])


def test_there_may_be_steps_without_a_choice_to_learn_from(tmp_path):
    start = policy_of(GAMES[0], tmp_path)
    few = ("--num-envs", 1, "--least", 0.3, "--batch-size", 1)
    assert expert_iteration.improve(settings(start, tmp_path / "run", *of_game(GAMES[0]), *few)) == 0
    assert not np.array_equal(weights(start)[0], weights(tmp_path / "run/policy.npz")[0])


class StoppedInIteration(Interrupts):
    """A signal arrives in an iteration."""

    def __init__(self, number):
        super().__init__()
        self.left = number

    def abandonable(self):
        self.left -= 1
        if not self.left:
            self.number = 2
        return super().abandonable()


@pytest.mark.parametrize("stopped", [1, 2])
def test_a_run_that_was_stopped_goes_on_as_if_nothing_had_been(stopped, tmp_path, capsys):
    game = GAMES[2]
    start = policy_of(game, tmp_path)
    whole, parts = (settings(start, tmp_path / name, *of_game(game)) for name in ("whole", "parts"))
    assert expert_iteration.improve(whole) == 0
    assert expert_iteration.improve(parts, StoppedInIteration(stopped)) == 130
    message = capsys.readouterr().err.splitlines()[-1]
    if stopped == 1:
        assert message == "interrupted: no iteration has ended, so there is nothing to keep"
    else:
        assert message.endswith("policy.npz is that of iteration 1; the same command with --resume goes on")
    assert expert_iteration.improve(settings(start, tmp_path / "parts", *of_game(game), *["--resume"] * (stopped > 1))) == 0
    for name in ("policy.npz", "iterations/1.npz"):
        assert all(map(np.array_equal, weights(tmp_path / "whole" / name), weights(tmp_path / "parts" / name)))
    assert (tmp_path / "whole/curve.csv").read_text() == (tmp_path / "parts/curve.csv").read_text()


def test_a_run_that_has_ended_does_nothing_more(tmp_path):
    start = policy_of(KUHN, tmp_path)
    assert expert_iteration.improve(settings(start, tmp_path / "run", *of_game(KUHN))) == 0
    before = (tmp_path / "run/policy.npz").read_bytes()
    assert expert_iteration.improve(settings(start, tmp_path / "run", *of_game(KUHN), "--resume")) == 0
    assert (tmp_path / "run/policy.npz").read_bytes() == before


def test_it_learns_what_is_better_at_every_table(tmp_path):
    """In Kuhn poker a king answers a bet."""
    tables = Tables(KUHN, 1, seed=0)
    tables.deal([{"cards": "QKJ", "first_seat": 0}])
    tables.step([1])  # the first seat bets
    view = tables.view(np.arange(1), np.random.default_rng(0))
    folding = next(policy for policy in (network(KUHN, seed) for seed in range(40)) if policy.probabilities(view)[0, 1] < 0.3)
    start = tmp_path / "start.npz"
    save_policy(start, KUHN, folding.layers)
    more = ("--learning-rate", 0.03, "--iteration-steps", 6000)
    assert expert_iteration.improve(settings(start, tmp_path / "run", *of_game(KUHN), *more)) == 0
    assert Policy(str(tmp_path / "run/policy.npz")).probabilities(view)[0, 1] > 0.95


def test_a_policy_with_a_base_keeps_it(tmp_path):
    game = SCRIPTED[-1]
    path = tmp_path / "start.npz"
    save_policy(path, game, layers(game, 0.3), base=BASE)
    assert expert_iteration.improve(settings(path, tmp_path / "run", *of_game(game))) == 0
    found = Policy(str(tmp_path / "run/policy.npz"))
    assert found.base is not None
    assert found.base.to_json() == BASE.to_json()


def test_targets_shift_the_probabilities_of_the_moves_that_were_tried():
    probabilities = np.array([[0.5, 0.3, 0.1, 0.1], [0.2, 0.2, 0.6, 0.0]], np.float32)
    tried = Candidates(np.array([[0, 1, 2], [2, 0, 1]]), np.array([2, 3]))
    values = np.array([0.4, 0.6, 0.5, 0.5, 0.5], np.float32)
    found = expert_iteration.targets(probabilities, tried, values, 0.1)
    mean = (0.5 * 0.4 + 0.3 * 0.6) / 0.8
    shifted = np.array([0.5 * np.exp((0.4 - mean) / 0.1), 0.3 * np.exp((0.6 - mean) / 0.1)])
    np.testing.assert_allclose(found[0], [*(0.8 * shifted / shifted.sum()), 0.1, 0.1], rtol=1e-5)
    np.testing.assert_allclose(found[1], probabilities[1], rtol=1e-5)  # all brought the same


@every_game
def test_all_moves_of_a_lesson_are_legal_and_its_targets_are_probabilities(game):
    play = SelfPlay(game, 40, agents="random", seating=expert_iteration.Pool(settings("x", "y"), game.num_players))
    play.arena.agents.append(make_agent("random"))
    play.reset(1)
    rng, policy = np.random.default_rng(0), network(game)
    value = fit_table_value(game, policy, play.arena.agents, play.arena.seating, 10, Fit((8,), 1, 64, 1e-3, 0), rng)
    learner = expert_iteration.Learner(settings("x", "y"), game, policy, value)
    for _ in range(5):
        drawn, lesson = expert_iteration.taught(learner, play, play.tables.view(np.arange(40), rng), rng)
        assert play.action_masks[np.arange(40), drawn].all()
        assert (lesson.targets[~lesson.masks] == 0).all()
        np.testing.assert_allclose(lesson.targets.sum(1), 1, rtol=1e-4)
        play.step(drawn)


def test_the_policy_holds_one_seat_or_all():
    pool = expert_iteration.Pool(settings("x", "y", "--self-share", 0.25), 3)
    players = pool(np.random.default_rng(0), 4000)
    mine = (players == OPEN).sum(1)
    assert set(mine.tolist()) == {1, 3}
    assert abs((mine == 3).mean() - 0.25) < 0.03
    assert set(players.max(1).tolist()) == {OPEN, 0, 1}
    some = players[mine == 1]
    assert (np.sort(some, 1)[:, 1] == some.max(1)).all()  # all others are the same agent


@every_game
def test_a_table_is_judged_by_who_plays_and_not_by_the_order_of_hidden_cards(game):
    records = positions(game, 20, 4)
    seats, rng = to_act(records), np.random.default_rng(0)
    for others in (OPEN, 0, 1):
        rows = rows_of(game, records, seats, np.full(len(records), others))
        assert (inputs_of(game, 2, rows)[:, -3:] == np.eye(3)[others + 1]).all()
    inputs = inputs_of(game, 2, rows).shape[1]
    value = TableValue(game, [(rng.normal(size=(inputs, 1)).astype(np.float32) / 9, np.zeros(1, np.float32))], 2)
    first, second = (value(records, seats, np.full(len(records), others)) for others in (0, 1))
    assert (first != second).any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("--iterations", 0), "--iterations is 0"),
        (("--temperature", 0), "--temperature is 0.0; it must be above 0"),
        (("--self-share", 2), "--self-share is 2.0; it must be from 0 to 1"),
        (("--moves", 1), "--moves is 1"),
        (("--value-hidden", 0), r"--value-hidden is \(0,\)"),
        (("--num-players", 4), r"start.npz was trained for settings \{'num_players': 3\}; this game has \{'num_players': 4\}"),
        (("--game", "meow"), "start.npz was trained for game 'katzenjammer'; this game has 'meow'"),
        (("--opponents", "nobody"), "there is no agent 'nobody'"),
        (("--resume",), "there is no checkpoint in .*run to resume from"),
    ],
)
def test_bad_settings_are_named_in_one_line_and_nothing_is_written(change, message, tmp_path):
    start = policy_of(GAMES[1], tmp_path)
    given = settings(start, tmp_path / "run", "--num-players", 3, *change)
    with pytest.raises(ValueError, match=message) as caught:
        expert_iteration.improve(given)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_what_is_no_policy_and_a_run_with_other_settings_are_named(tmp_path):
    script = command("expert_iteration.py", "greedy", "--run-dir", tmp_path / "run")
    done = subprocess.run(script, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "train/expert_iteration.py: 'greedy' plays no network; a policy is ppo or policy:path/to/file.npz"
    ]
    start = policy_of(KUHN, tmp_path)
    assert expert_iteration.improve(settings(start, tmp_path / "run", *of_game(KUHN))) == 0
    with pytest.raises(ValueError, match="holds a run already; use --resume"):
        expert_iteration.improve(settings(start, tmp_path / "run", *of_game(KUHN)))
    with pytest.raises(ValueError, match=r"was started with learning_rate 0.0001, not 0.1"):
        expert_iteration.improve(settings(start, tmp_path / "run", *of_game(KUHN), "--resume", "--learning-rate", 0.1))
