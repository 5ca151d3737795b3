"""Every door that takes an integer refuses what only looks like one: booleans, time differences, floats."""

import gymnasium
import numpy as np
import pytest

from katz_agents import evaluate
from katz_agents.match import play_match
from katz_env import GameVectorEnv, Katzenjammer, SingleEnv, Tables, katzenjammer_v0, make_agent
from katz_env.core.spaces import action_id

GAME = Katzenjammer(2)
NO_INTEGERS = [
    False,
    True,
    np.False_,
    np.timedelta64(0),
    np.timedelta64(1, "s"),
    0.0,
    np.float32(0),
    "0",
    None,
    np.array(False),
]
no_integer = pytest.mark.parametrize("value", NO_INTEGERS, ids=repr)
no_integer_nor_none = pytest.mark.parametrize("value", [value for value in NO_INTEGERS if value is not None], ids=repr)


def refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@no_integer
def test_actions(value):
    tables = Tables(GAME, 1, seed=1)
    refused(lambda: tables.step([value]), "actions are of type .*; they must be integers")
    env = SingleEnv(GAME, opponents="random")
    env.reset(seed=1)
    refused(lambda: env.step(value), "action is .*; it must be an integer, the id of an action")
    envs = GameVectorEnv(GAME, 1, opponents="random")
    envs.reset(seed=1)
    refused(lambda: envs.step(np.array([value])), r"actions are .*; they must be integers \(1,\)")
    raw = katzenjammer_v0.raw_env(2)
    raw.reset(seed=1)
    refused(lambda: raw.step(value), "must play an action; None is for" if value is None else "actions are of type")
    refused(lambda: GAME.actions.decode(value), "does not exist; action ids are 0 to")


@no_integer_nor_none
def test_actions_of_a_wrapped_environment(value):
    env = katzenjammer_v0.env(2)
    env.reset(seed=1)
    refused(lambda: env.step(value), "action is .*; it must be an integer, the id of an action")
    assert not any(env.terminations.values())


@no_integer_nor_none
def test_seeds_and_seats(value):
    tables = Tables(GAME, 2, seed=1)
    refused(lambda: tables.reset(value), "seed is .*; it must be an integer of at least 0")
    refused(lambda: Tables(GAME, 1, seed=value), "seed is .*; it must be an integer of at least 0")
    for env in (SingleEnv(GAME), GameVectorEnv(GAME), katzenjammer_v0.raw_env(2)):
        refused(lambda env=env: env.reset(seed=value), "seed is .*; it must be")
    refused(lambda: tables.observe([value, value]), "seats are of type .*; they must be integers")
    refused(lambda: tables.events(0, value), "seat is .*; it must be an integer from 0 to 1")
    refused(lambda: tables.deal({"bandleader": value}), "bandleader is .*; it must be an integer from 0 to 1")
    refused(lambda: SingleEnv(GAME, seat=value), "seat is .*; it must be an integer from 0 to 1")
    refused(lambda: katzenjammer_v0.raw_env(2, render_seat=value), "render_seat is .*; it must be 'turn', 'open' or a seat")
    refused(lambda: evaluate(["random"] * 2, 2, deals=2, seed=value), "seed is .*; it must be an integer of at least 0")


@no_integer
def test_numbers_of_things(value):
    refused(lambda: Tables(GAME, value), "num_tables is .*; it must be an integer of at least 1")
    refused(lambda: GameVectorEnv(GAME, value), "num_envs is .*; it must be an integer of at least 1")
    refused(lambda: gymnasium.make_vec("katz_env/Katzenjammer-v0", num_envs=value), "num_envs is .*; it must be an integer")
    refused(lambda: Katzenjammer(value), "num_players is .*; it must be an integer from 2 to 6")
    refused(lambda: evaluate(["random"] * 2, 2, deals=value), "deals is .*; it must be an integer of at least 2")
    refused(
        lambda: evaluate(["random"] * 2, 2, 2, max_line_ups=value), "max_line_ups is .*; it must be an integer of at least 1"
    )
    refused(lambda: play_match(GAME, [make_agent("random")] * 2, value, np.random.default_rng(1)), "deals is .*; it must be")


@no_integer_nor_none
def test_threads_and_cards(value):
    refused(lambda: Tables(GAME, 1, num_threads=value), "num_threads is .*; it must be an integer from 1 to 1024")
    refused(
        lambda: Tables(GAME, 1).deal({"deck": [value] * 90}), "a deck must be 90 characters of .* or 90 integers|the deck has"
    )
    refused(lambda: Tables(GAME, 2).reset(where=[value]), "where are of type .*; they must be integers")


def test_integers_of_every_kind_are_taken():
    for value in (3, np.int8(3), np.uint64(3), np.array(3), np.array(3, np.uint8)):
        assert action_id(value) == 3
        assert type(action_id(value)) is int
    assert action_id(10**30) == 10**30
    torch = pytest.importorskip("torch")
    assert action_id(torch.tensor(3)) == 3
    for value in (np.array([3]), [3], torch.tensor(True), torch.tensor(3.0), {}):
        refused(lambda value=value: action_id(value), "it must be an integer, the id of an action")
