"""What policies tell besides moves: probabilities, values, and leaf values of worlds; and how these are fitted."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from any_game import GAMES, every_game, positions, to_act
from test_policy_search import network, view_of

from katz_agents.estimates import HIDDEN_ORDER, Estimates, leaf_columns, leaf_inputs
from katz_agents.policy import Policy
from katz_agents.policy_file import save_policy
from katz_env import Katzenjammer
from katz_env.core.encoding import Encoding
from katz_env.core.fields import bounds, named_fields, offsets

sys.path.insert(0, str(Path(__file__).parent.parent / "train"))

import fit_estimates
from katz_train.interrupts import Interrupts

GAME = Katzenjammer(3)


def estimating(game, outputs=1, seed=2):
    """A policy whose estimates are networks with random weights."""
    rng = np.random.default_rng(seed)
    inputs = leaf_inputs(game, np.zeros((1, len(leaf_columns(game))), np.int8)).shape[1]
    leaf, value = (
        [(rng.normal(size=(size, outputs)).astype(np.float32) / 9, np.zeros(outputs, np.float32))]
        for size in (inputs, Encoding(game).size)
    )
    return network(game, leaf=leaf, value=value)


@every_game
def test_probabilities_are_those_of_the_softmax_of_legal_actions(game):
    policy, view = network(game), view_of(game)
    found = policy.probabilities(view)
    assert found.dtype == np.float32
    assert (found[~view.action_masks] == 0).all()
    logits = policy.logits(view).astype(np.float64)
    for row, logit, mask in zip(found, logits, view.action_masks, strict=True):
        weights = np.exp(logit[mask] - logit[mask].max())
        np.testing.assert_allclose(row[mask], weights / weights.sum(), rtol=1e-4)
    np.testing.assert_array_equal(found.argmax(1), policy.act(view))


@every_game
def test_a_value_sees_the_observation_alone(game):
    policy, view = estimating(game), view_of(game)
    values = policy.values(view)
    assert values.dtype == np.float32
    assert ((values > 0) & (values < 1)).all()
    assert np.unique(values).size > 1
    weight = policy.estimates.value[0][0][:, 0]
    np.testing.assert_allclose(values, 1 / (1 + np.exp(-Encoding(game)(view.observations) @ weight)), rtol=1e-4)


@every_game
def test_a_leaf_value_sees_hands_but_not_the_order_of_hidden_cards(game):
    policy, records = estimating(game), positions(game, 8)
    seats = to_act(records)
    values = policy.leaf_values(game, records, seats)
    worlds = game.redeal(game.redact(records, seats), seats, np.random.default_rng(5))
    assert (policy.leaf_values(game, worlds, seats) != values).any()
    states, (_, highest) = game.state(records, seats), bounds(game.state_fields)
    for name, place in offsets(game.state_fields).items():
        changed = states.copy()
        changed[:, place] += np.where(states < highest, 1, -1).astype(np.int8)[:, place]  # still possible
        differs = (leaf_inputs(game, changed[:, leaf_columns(game)]) != leaf_inputs(game, states[:, leaf_columns(game)])).any()
        assert differs == (name not in HIDDEN_ORDER), name


def test_in_katzenjammer_a_leaf_network_sees_complete_sets():
    states = GAME.state(positions(GAME, 60), np.zeros(61 * 16, np.int64))
    inputs = leaf_inputs(GAME, states[:, leaf_columns(GAME)])
    hands = named_fields(states, GAME.state_fields)["hands"]
    for row, hand in zip(inputs, hands, strict=True):
        expected = [count // 4 / 4 for seat in hand for count in seat[:-1]] + [
            count % 4 / 4 for seat in hand for count in seat[:-1]
        ]
        assert row[-30:].tolist() == expected


def test_a_policy_keeps_its_estimates_in_its_file(tmp_path):
    policy, view, path = estimating(GAME), view_of(GAME), tmp_path / "policy.npz"
    save_policy(path, GAME, policy.layers, policy.estimates)
    read = Policy(str(path))
    np.testing.assert_array_equal(read.values(view), policy.values(view))
    records = positions(GAME, 3)
    np.testing.assert_array_equal(
        read.leaf_values(GAME, records, to_act(records)), policy.leaf_values(GAME, records, to_act(records))
    )


def test_estimates_that_are_missing_or_wrong_are_named(tmp_path):
    policy, path = network(GAME, leaf=None), tmp_path / "policy.npz"
    with pytest.raises(ValueError, match="random weights has no value network; train/fit_estimates.py fits one"):
        policy.values(view_of(GAME))
    records = positions(GAME, 3)
    with pytest.raises(ValueError, match="random weights has no leaf network; train/fit_estimates.py fits one"):
        policy.leaf_values(GAME, records, to_act(records))
    save_policy(path, GAME, policy.layers, estimating(GAME, outputs=2).estimates)
    with pytest.raises(ValueError, match="policy.npz is not a policy: its leaf network has 2 outputs, not 1"):
        Policy(str(path))
    wrong = [(np.zeros((3, 1), np.float32), np.zeros(1, np.float32))]
    save_policy(path, GAME, policy.layers, Estimates(leaf=None, value=wrong))
    with pytest.raises(ValueError, match=r"policy.npz is not a policy: layer value_1 has the shape \(3, 1\); inputs are 89"):
        Policy(str(path))
    save_policy(path, GAME, policy.layers, Estimates(leaf=wrong, value=None))
    with pytest.raises(ValueError, match="the leaf network of .*policy.npz takes 3 numbers; this game has "):
        Policy(str(path)).leaf_values(GAME, records, to_act(records))


# --- fitting

QUICK = {"games": 1, "hidden": (8,), "epochs": 1, "batch_size": 256}


@pytest.mark.parametrize("game", [GAMES[0], GAMES[-1]], ids=lambda game: game.name)
def test_fitted_estimates_explain_who_wins_and_leave_the_moves_as_they_are(game, tmp_path, capsys):
    policy, paths = network(game), [tmp_path / "a.npz", tmp_path / "b.npz"]
    other = "random"
    for path in paths:
        save_policy(path, game, policy.layers)
        settings = fit_estimates.Settings(path, other=other, learning_rate=0.02, **QUICK)
        assert fit_estimates.fit_estimates(settings) == 0
    assert "leaf network: explains 0." in capsys.readouterr().out
    one, same = (Policy(str(path)) for path in paths)
    view, records = view_of(game), positions(game, 3)
    np.testing.assert_array_equal(one.act(view), policy.act(view))
    np.testing.assert_array_equal(one.values(view), same.values(view))
    np.testing.assert_array_equal(
        one.leaf_values(game, records, to_act(records)), same.leaf_values(game, records, to_act(records))
    )


class Stopped(Interrupts):
    """A signal arrives while games are played."""

    def abandonable(self):
        raise fit_estimates.Interrupted


def test_an_interrupt_leaves_the_file_as_it_was(tmp_path, capsys):
    path = tmp_path / "policy.npz"
    save_policy(path, GAME, network(GAME).layers)
    before = path.read_bytes()
    assert fit_estimates.fit_estimates(fit_estimates.Settings(path, **QUICK), Stopped()) == 130
    assert "is as it was" in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("--games", "0"), "--games is 0"),
        (("--other-share", "2"), "--other-share is 2.0; it must be from 0 to 1"),
        (("--random-share", "-1"), "--random-share is -1.0; it must be from 0 to 1"),
        (("--hidden", "0"), r"--hidden is \(0,\)"),
        (("--learning-rate", "nan"), "--learning-rate is nan"),
        (("--other", "nobody"), "there is no agent 'nobody'"),
        ((), "cannot read the policy nowhere.npz: No such file or directory"),
    ],
)
def test_the_script_names_bad_settings_in_one_line(change, message, tmp_path):
    path = tmp_path / "policy.npz"
    save_policy(path, GAME, network(GAME).layers)
    script = Path(fit_estimates.__file__)
    command = [sys.executable, str(script), str(path) if change else "nowhere.npz", *change]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert re.search(message, line)
