"""Policies with a base: the network corrects a scripted player, in play, in files and in training, and bad bases are named."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from any_game import GAMES, KUHN
from test_policy_search import view_of
from training_runs import assert_same_run, settings

from katz_agents.base import Base
from katz_agents.policy import Network, Policy
from katz_agents.policy_file import save_policy
from katz_env import make_agent
from katz_env.core.encoding import Encoding

sys.path.insert(0, str(Path(__file__).parent.parent / "train"))

import fit_estimates
import ppo as ppo_module
from katz_train.ppo_settings import PpoSettings

SCRIPTED = [game for game in GAMES if game is not KUHN]  # the games that have a scripted player
GAME = SCRIPTED[-1]
BASE = Base.named("heuristic", 4.0)
SIZE = 60
by_name = pytest.mark.parametrize("game", SCRIPTED, ids=lambda game: f"{game.name}-{game.num_players}")


def layers(game, scale=0.0):
    rng = np.random.default_rng(3)
    shapes = ((Encoding(game).size, 8), (8, game.num_actions))
    return [(scale * rng.normal(size=s).astype(np.float32), np.zeros(s[1], np.float32)) for s in shapes]


@by_name
def test_a_network_of_zeros_plays_like_its_base(game):
    view, policy = view_of(game, SIZE), Network(layers(game), game.describe(), "zeros", base=BASE)
    moves = make_agent("heuristic").act(view)
    np.testing.assert_array_equal(policy.act(view), moves)
    expected = view.action_masks.astype(float)
    expected[np.arange(SIZE), moves] = np.exp(4.0)
    np.testing.assert_allclose(policy.probabilities(view), expected / expected.sum(1, keepdims=True), rtol=1e-5)


@by_name
def test_the_base_adds_to_the_logits_of_the_network(game):
    view = view_of(game, SIZE)
    alone, corrected = (Network(layers(game, 0.3), game.describe(), "some", base=base).logits(view) for base in (None, BASE))
    added = np.zeros_like(alone)
    added[np.arange(SIZE), make_agent("heuristic").act(view)] = 4.0
    np.testing.assert_allclose(corrected, alone + added, rtol=1e-5, atol=1e-5)


def test_a_file_keeps_the_base_and_its_version(tmp_path):
    path = tmp_path / "policy.npz"
    save_policy(path, GAME, layers(GAME), base=BASE)
    assert json.loads(str(np.load(path)["base"])) == {"agent": "heuristic:version=1", "logit": 4.0}
    view, policy = view_of(GAME, SIZE), Policy(str(path))
    np.testing.assert_array_equal(policy.act(view), make_agent("heuristic").act(view))
    assert policy.base.to_json() == Base.named("heuristic:version=1", 4.0).to_json() == BASE.to_json()
    fit_estimates.write_estimates(fit_estimates.Settings(path, games=1, hidden=(4,), epochs=1))
    fitted = Policy(str(path))
    assert fitted.base.to_json() == BASE.to_json()
    assert fitted.estimates.leaf is not None


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ({"agent": "heuristic:version=9", "logit": 4.0}, "heuristic is at version 1; there is no newer one"),
        ({"agent": "nobody", "logit": 4.0}, "there is no agent 'nobody'"),
        ({"agent": "heuristic", "logit": float("nan")}, "its base is not an agent and a number above 0"),
        ({"agent": 3, "logit": 4.0}, "its base is not an agent and a number above 0"),
        ([], "its base is not an agent and a number above 0"),
        ({"agent": "policy:{path}", "logit": 4.0}, "'policy:.*' cannot be the base of a policy"),
    ],
)
def test_a_file_with_a_bad_base_is_named_in_one_line(base, message, tmp_path):
    path = tmp_path / "policy.npz"
    save_policy(path, GAME, layers(GAME), base=BASE)
    np.savez(path, **{**np.load(path), "base": np.array(json.dumps(base).replace("{path}", str(path)))})
    with pytest.raises(ValueError, match=f"policy.npz is not a policy: .*{message}") as raised:
        Policy(str(path))
    assert "\n" not in str(raised.value)


# --- training

OF_RUN = ("--game", "katz_und_maus", "--base", "heuristic", "--imitation-steps", 0, "--critic-steps", 256)
OF_RUN += ("--evaluation-opponents", "greedy")


def test_what_is_learned_from_is_what_is_played():
    chosen = PpoSettings(num_envs=32, rollout_steps=4, batch_size=64, hidden=(16,))
    env = ppo_module.make_env(chosen, GAME, ppo_module.make_pool(chosen, GAME), BASE)
    learner = ppo_module.make_learner(chosen, GAME, env)
    learner.policy.action_net.weight.data *= 3000  # an untrained network hardly tells actions apart
    observations = env.reset()
    agent = ppo_module.network_agent(learner.playing.actor, GAME, BASE)
    view = env.arena.tables.view(np.arange(32), np.random.default_rng(0))
    probabilities, actions = agent.probabilities(view), agent.act(view)
    assert (actions != make_agent("heuristic").act(view)).any(), "the network decides too"
    _, log_probs, _ = learner.policy.evaluate_actions(
        torch.from_numpy(observations), torch.from_numpy(actions), torch.from_numpy(env.action_masks.copy())
    )
    np.testing.assert_allclose(log_probs.detach().numpy(), np.log(probabilities.max(1)), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(learner._outputs(learner.playing.actor, observations), agent.logits(view), rtol=1e-4, atol=1e-4)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    directory = tmp_path_factory.mktemp("base") / "run"
    before = torch.get_num_threads(), torch.get_float32_matmul_precision()
    assert ppo_module.train(settings(directory, *OF_RUN)) == 0
    assert (torch.get_num_threads(), torch.get_float32_matmul_precision()) == before, "a notebook keeps its own"
    return directory


def test_a_run_starts_at_its_base_and_every_network_of_it_names_the_base(run):
    for path in (run / "policy.npz", *(run / "pool").glob("*.npz")):
        assert Policy(str(path)).base.to_json() == BASE.to_json()
    assert not (run / "model.zip").exists(), "a model of SB3 cannot ask a base"
    view = view_of(GAME, SIZE)
    (first, *_) = sorted((run / "pool").glob("*.npz"))
    np.testing.assert_array_equal(Policy(str(first)).act(view), make_agent("heuristic").act(view))


def test_a_run_that_is_interrupted_goes_on_as_if_nothing_had_been_in_two_processes_too(run, stopped_at, tmp_path):
    folder, stopped_at[0] = tmp_path / "run", 300
    assert ppo_module.train(settings(folder, *OF_RUN, "--processes", 2)) == 130
    assert ppo_module.train(settings(folder, *OF_RUN, "--processes", 2, "--resume")) == 0
    assert_same_run(run, folder)


def test_a_learner_takes_over_the_base_of_the_policy_that_it_starts_from(run, tmp_path):
    start = ("--game", "katz_und_maus", "--start-from", run / "policy.npz", "--imitation-steps", 0, "--critic-steps", 999)
    start += ("--evaluation-opponents", "greedy", "--total-steps", 128)
    for i, base in enumerate([(), ("--base", "heuristic")]):
        assert ppo_module.train(settings(tmp_path / str(i), *start, *base)) == 0
        policy = Policy(str(tmp_path / str(i) / "policy.npz"))
        assert policy.base.to_json() == BASE.to_json()
        for before, after in zip(Policy(str(run / "policy.npz")).layers, policy.layers, strict=True):
            np.testing.assert_array_equal(before[0], after[0])
    with pytest.raises(ValueError, match="--base is heuristic with the logit 3; that of policy:.* is heuristic.* the logit 4$"):
        ppo_module.train(settings(tmp_path / "other", *start, "--base", "heuristic", "--base-logit", 3))
    with pytest.raises(ValueError, match="--base is heuristic with the logit 4; that of ppo for 3 players is none"):
        ppo_module.train(settings(tmp_path / "other", "--base", "heuristic", "--start-from", "ppo"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--base", "nobody"), "there is no agent 'nobody'"),
        (("--base", "search"), "'search' cannot be the base of a policy; that is a scripted player, such as heuristic"),
        (("--base", "ppo"), "'ppo' cannot be the base of a policy"),
        (("--base", "random"), "'random' cannot be the base of a policy: its moves are left to chance"),
        (("--base", "heuristic", "--base-logit", "nan"), "--base-logit is nan; it must be from 0.01 to 100"),
    ],
)
def test_bad_bases_are_named_and_leave_nothing_behind(arguments, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        ppo_module.train(settings(tmp_path / "run", *arguments))
    assert not (tmp_path / "run").exists()
