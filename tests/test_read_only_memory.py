"""What is unpickled from read-only memory, as joblib and Ray hand it out, plays on as the original does."""

import pickle

import gymnasium
import numpy as np
import pytest

from katz_env import Agent, Arena, CompiledAgent, Decision, Katzenjammer, Tables, katzenjammer_v0, make_agent
from katz_env.core.arena import OPEN, FixedSeating

ENV_ID = "katz_env/Katzenjammer-v0"


class Asked(Agent):
    """Plays randomly, asked for every move."""

    def __init__(self):
        self.player = make_agent("random")

    def act(self, view):
        return self.player.act(view)


def copied(thing):
    """A copy whose arrays lie in memory that cannot be written."""
    buffers = []
    data = pickle.dumps(thing, protocol=5, buffer_callback=buffers.append)
    assert buffers
    return pickle.loads(data, buffers=[bytes(buffer.raw()) for buffer in buffers])


def assert_same(left, right):
    """Arrays, or nested tuples and dictionaries of arrays, are equal."""
    if isinstance(left, dict):
        assert left.keys() == right.keys()
        left, right = list(left.values()), list(right.values())
    if isinstance(left, (tuple, list)):
        for a, b in zip(left, right, strict=True):
            assert_same(a, b)
    else:
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("events", [False, True])
def test_tables(events):
    tables = Tables(Katzenjammer(2), 20, seed=1, events=events)
    tables.step(tables.action_masks.argmax(1))
    twin = copied(tables)
    for _ in range(60):
        for each in (tables, twin):
            each.step(each.action_masks.argmax(1))
        assert_same((tables.records, tables.rewards), (twin.records, twin.rewards))
    if events:
        assert_same(tables.events(3), twin.events(3))
    for each in (tables, twin):
        each.reset(seed=5)
        each.deal([{"bandleader": 1}], where=[2])
    assert_same(tables.records, twin.records)


@pytest.mark.parametrize("num_tables", [1, 20])
@pytest.mark.parametrize("agent", ["random", Asked()])
def test_an_arena(agent, num_tables):
    tables = Tables(Katzenjammer(2), num_tables, seed=1)
    arena = Arena(tables, [make_agent(agent)], FixedSeating((OPEN, 0)), np.random.default_rng(1))
    arena.start()
    arena.step(arena.tables.action_masks.argmax(1))
    twin = copied(arena)
    assert (twin._compiled is None) == (arena._compiled is None)
    for _ in range(80):
        for each in (arena, twin):
            each.step(each.tables.action_masks.argmax(1))
        assert_same((arena.tables.records, arena.rewards), (twin.tables.records, twin.rewards))
        assert_same((arena.ended, arena.final_rewards), (twin.ended, twin.final_rewards))


class Last(CompiledAgent):
    """Plays the last legal action, looking at numbers that it carries with it."""

    name = "last"

    def __init__(self):
        self.numbers = np.arange(3.0)

    def decision(self, game):
        from katz_agents.random import decide

        return Decision(decide, (self.numbers,), stochastic=True)


@pytest.mark.parametrize("opponents", ["random", Asked(), Last()])
def test_a_gymnasium_environment(opponents):
    env = gymnasium.make(ENV_ID, num_players=2, opponents=opponents)
    _, info = env.reset(seed=1)
    env.step(int(info["action_mask"].argmax()))
    twin, over = copied(env), False
    while not over:
        outcomes = [each.step(int(each.unwrapped.action_masks().argmax())) for each in (env, twin)]
        assert_same(*outcomes)
        over = outcomes[0][2]
    assert_same(*(each.reset() for each in (env, twin)))


def test_a_vector_environment():
    envs = gymnasium.make_vec(ENV_ID, num_envs=30, num_players=2, opponents="random")
    envs.reset(seed=1)
    twin = copied(envs)
    for _ in range(60):
        outcomes = [each.step(each.unwrapped.action_masks().argmax(1)) for each in (envs, twin)]
        assert_same(outcomes[0][:4], outcomes[1][:4])
    assert_same(*(each.reset()[0] for each in (envs, twin)))


def test_a_pettingzoo_environment():
    env = katzenjammer_v0.env(2)
    env.reset(seed=1)
    env.step(int(env.last()[0]["action_mask"].argmax()))
    twin = copied(env)
    while not any(env.terminations.values()):
        for each in (env, twin):
            each.step(int(each.last()[0]["action_mask"].argmax()))
        assert_same(env.last(), twin.last())
    for each in (env, twin):
        each.reset()
    assert_same(env.last()[0], twin.last()[0])
