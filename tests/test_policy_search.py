"""The agent policy_search: legal and reproducible moves in every game, better moves where there are any, clear refusals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from any_game import GAMES, KUHN, every_game, positions, to_act

from katz_agents import policy_search
from katz_agents.estimates import Estimates, leaf_columns, leaf_inputs, stages
from katz_agents.policy import Network
from katz_agents.policy_file import save_policy
from katz_agents.policy_search import PolicySearch
from katz_env import Tables, View, make_agent
from katz_env.core.encoding import Encoding


def network(game, seed=0, **estimates):
    """A policy with random weights, whose leaf network says a half of everything unless another one is given."""
    rng = np.random.default_rng(seed)
    layers = [
        (rng.normal(size=shape).astype(np.float32), rng.normal(size=shape[1]).astype(np.float32))
        for shape in ((Encoding(game).size, 8), (8, game.num_actions))
    ]
    inputs = leaf_inputs(game, np.zeros((1, len(leaf_columns(game))), np.int8)).shape[1]
    leaf = [(np.zeros((inputs, 1), np.float32), np.zeros(1, np.float32))]
    return Network(layers, game.describe(), "random weights", estimates=Estimates(**{"leaf": leaf, "value": None} | estimates))


def view_of(game, size=30, seed=1, steps=7):
    tables = Tables(game, size, seed=seed)
    for _ in range(steps if game is not KUHN else 0):
        tables.step(make_agent("random").act(tables.view(np.arange(size), np.random.default_rng(seed))))
    return tables.view(np.arange(size), np.random.default_rng(seed))


@every_game
def test_moves_are_legal_and_a_seed_decides_them(game):
    agent = PolicySearch(network(game), worlds=8, caution=0, others=None)
    first, second = (agent.act(view_of(game)) for _ in "ab")
    np.testing.assert_array_equal(first, second)
    assert view_of(game).action_masks[np.arange(30), first].all()


@every_game
def test_a_stage_ends_and_a_game_has_several_unless_it_has_none(game):
    records = positions(game, 200, 4)
    found = {int(stage) for stage in stages(game, records)}
    assert len(found) == 1 if game is KUHN else len(found) > 1


def test_it_finds_moves_that_are_better_in_every_world():
    """A king never folds, whatever the policy thinks of it."""
    tables = Tables(KUHN, 20, seed=3)
    tables.deal([{"cards": "QKJ", "first_seat": 0}] * 20)
    tables.step([1] * 20)  # the first seat bets
    view = tables.view(np.arange(20), np.random.default_rng(3))
    folding = [policy for policy in (network(KUHN, seed) for seed in range(40)) if (policy.act(view) == 0).all()]
    assert folding
    for policy in folding:
        assert PolicySearch(policy, worlds=20, least=0).act(view).all()


def test_a_move_that_is_not_better_by_more_than_chance_is_left():
    game = GAMES[0]
    view = view_of(game, steps=1)
    policy = network(game)  # its leaf network says the same of everything
    kept = view.tables["position"] < 60  # far from the end of the game
    np.testing.assert_array_equal(PolicySearch(policy, worlds=8).act(view)[kept], policy.act(view)[kept])
    assert kept.any()


def test_others_play_the_other_seats():
    game = GAMES[1]
    asked = []

    class Spy(type(make_agent("greedy"))):
        name = "spy"

        def act(self, view: View):
            asked.append((len(view), view.seats.copy()))
            return super().act(view)

    agent = PolicySearch(network(game), worlds=4)
    agent.others = [Spy()]
    view = view_of(game, 1)
    agent.act(view)
    assert asked
    assert all((seats != view.seats[0]).all() for _, seats in asked)


def test_a_budget_of_time_deals_more_worlds(monkeypatch):
    game, dealt = GAMES[0], []
    redeal = game.redeal

    class Counting(type(game)):
        def redeal(self, redacted, seats, rng):
            dealt.append(len(redacted))
            return redeal(redacted, seats, rng)

    counting = Counting(**game.settings)
    view = view_of(game, 1)
    view = View(counting, view.tables, view.seats, view.observations, view.action_masks, view.rng)
    clock = itertools.count()
    monkeypatch.setattr(policy_search.time, "perf_counter", lambda: next(clock) / 100)  # each look at it takes 10 ms
    PolicySearch(network(game), milliseconds=10).act(view)
    assert dealt == [16]
    PolicySearch(network(game), milliseconds=35).act(view)
    assert dealt == [16] * 5


@every_game
def test_moves_depend_only_on_what_the_seat_knows(game):
    """The moves in the real tables, and in others that the seats cannot tell from them, are the same."""
    agent = PolicySearch(network(game), worlds=6, caution=0)
    records = positions(game, 10, 4)
    seats = to_act(records)
    worlds = game.redeal(game.redact(records, seats), seats, np.random.default_rng(5))
    answers = []
    for whole in (records, worlds):
        tables = Tables(game, len(whole), seed=0)
        tables.restore(whole)
        answers.append(agent.act(tables.view(np.arange(len(whole)), np.random.default_rng(6))))
    np.testing.assert_array_equal(*answers)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("worlds=1", "worlds is 1; it must be an integer from 2"),
        ("moves=1", "moves is 1; it must be an integer from 2"),
        ("milliseconds=0", "milliseconds is 0; it must be a number above 0"),
        ("milliseconds=soon", "milliseconds is 'soon'; it must be a number above 0"),
        ("caution=-1", "caution is -1; it must be a number of at least 0"),
        ("least=nan", "least is 'nan'; it must be a number of at least 0"),
        ("others=nobody", "there is no agent 'nobody'"),
        ("others=3", "others is 3; it must be names of agents, joined by"),
    ],
)
def test_settings_out_of_range_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        make_agent(f"policy_search:{settings}")


def test_what_is_no_policy_or_has_no_leaf_network_is_named(tmp_path):
    view = view_of(GAMES[1], 2)
    with pytest.raises(ValueError, match="'greedy' plays no network; a policy is ppo or policy:path/to/file.npz"):
        make_agent("policy_search:policy=greedy").act(view)
    path = tmp_path / "bare.npz"
    save_policy(path, GAMES[1], network(GAMES[1]).layers)
    with pytest.raises(ValueError, match="bare.npz has no leaf network, which a search needs; train/fit_estimates.py fits one"):
        make_agent(f"policy_search:policy=policy:{path}").act(view)
    with pytest.raises(ValueError, match="random weights was trained for game 'kuhn_poker'; this game has 'katzenjammer'"):
        PolicySearch(network(KUHN)).act(view)
