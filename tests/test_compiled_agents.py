"""Agents that play a single table's turns as compiled code play exactly as when they are asked."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest

import katz_env
from katz_agents.scripted import Greedy
from katz_env import Agent, Decision, Katzenjammer, make_agent
from katz_env.core.arena import OPEN, FixedSeating
from katz_env.core.jit import compiled

ENV_ID = "katz_env/Katzenjammer-v0"
SCRIPTED = ["random", "greedy", "heuristic"]


class Asked(Agent):
    """Plays as another agent, but is asked for every move."""

    def __init__(self, name):
        self.other, self.name = make_agent(name), name

    def act(self, view):
        return self.other.act(view)


@compiled
def spy(t, me, mask, draw, answer):
    """Passes, or plays the answer, if it is shown a redacted table of the seat to act; else does something illegal."""
    hidden = t.rng == 0 and me == t.turn
    for card in t.deal:
        hidden &= card == -1
    for seat in range(t.hand.shape[0]):
        shown = t.best[seat] > 0
        for kind in range(t.hand.shape[1]):
            shown |= t.hand[seat, kind] > 0
        hidden &= seat == t.turn or not shown
    return answer if answer < 0 else mask.argmax() if hidden else 999


class SpyingAgent(Agent):
    name = "spy"

    def __init__(self, answer=0):
        self.answer = answer

    def act(self, view):
        raise AssertionError("asked")

    def decision(self, game):
        return Decision(spy, self.answer)


def played(env, games=6, seed=3, then=lambda env: env):
    """All that a step gives, in some games; `then` may replace the environment in mid-game."""
    rng, seen = np.random.default_rng(seed), []
    for game in range(games):
        observation, info = env.reset(seed=seed if game == 0 else None)
        terminated, steps = False, 0
        while not terminated:
            action = int(rng.choice(np.flatnonzero(info["action_mask"])))
            observation, reward, terminated, _, info = env.step(action)
            seen.append((observation.tolist(), reward, terminated, info["action_mask"].tolist(), info))
            steps += 1
            if steps == 5:
                env = then(env)
    return [(*step[:-1], {key: value for key, value in step[-1].items() if key != "action_mask"}) for step in seen]


@pytest.mark.parametrize("name", SCRIPTED)
def test_a_compiled_opponent_plays_as_one_that_is_asked(players, name):
    assert make_agent(name).decision(Katzenjammer(players)) is not None
    compiled = played(gymnasium.make(ENV_ID, num_players=players, opponents=name))
    asked = played(gymnasium.make(ENV_ID, num_players=players, opponents=Asked(name)))
    assert len(compiled) > 20
    assert compiled == asked


def test_compiled_and_asked_opponents_sit_at_one_table():
    names = ["heuristic", "random", "greedy", "random"]
    expected = played(gymnasium.make(ENV_ID, num_players=5, opponents=[Asked(name) for name in names]))
    assert played(gymnasium.make(ENV_ID, num_players=5, opponents=names)) == expected
    mixed = [Asked(name) if i % 2 else name for i, name in enumerate(names)]
    assert played(gymnasium.make(ENV_ID, num_players=5, opponents=mixed)) == expected


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_in_mid_game_goes_on_as_the_original(copied):
    expected = played(gymnasium.make(ENV_ID, num_players=4, opponents=["random", "greedy", "random"]).unwrapped)
    env = gymnasium.make(ENV_ID, num_players=4, opponents=["random", "greedy", "random"]).unwrapped
    assert played(env, then=copied) == expected


def test_both_environments_draw_the_same_from_a_new_seed():
    env = gymnasium.make(ENV_ID, opponents="random")
    first = played(env, games=2)
    assert played(env, games=2) == first


@pytest.mark.parametrize("name", SCRIPTED)
def test_a_compiled_opponent_plays_many_tables_as_one_that_is_asked(name):
    def steps(opponents):
        envs = gymnasium.make_vec(ENV_ID, num_envs=60, num_players=3, opponents=opponents)
        rng, seen = np.random.default_rng(5), []
        _, infos = envs.reset(seed=5)
        for _ in range(60):
            actions = (infos["action_mask"] * rng.random(infos["action_mask"].shape)).argmax(1)
            actions[rng.integers(60)] = -1  # illegal
            observations, rewards, terminated, _, infos = envs.step(actions)
            scores = infos["final_info"].get("score", np.zeros(0))  # none, if all games ended with an illegal action
            seen.append([a.tolist() for a in (observations, rewards, terminated, scores, infos["seat"])])
        return seen

    assert steps(name) == steps(Asked(name))


def test_a_compiled_agent_sees_what_a_view_shows():
    game, spy = Katzenjammer(3), SpyingAgent()
    tables = katz_env.Tables(game, 30, seed=2)
    arena = katz_env.Arena(tables, [spy], FixedSeating((OPEN, 0, 0)), np.random.default_rng(2))
    arena.start()
    for _ in range(30):
        arena.step(tables.action_masks.argmax(1))


def test_a_compiled_agent_that_chooses_an_illegal_action_is_named():
    tables = katz_env.Tables(Katzenjammer(3), 4, seed=2)
    arena = katz_env.Arena(tables, [SpyingAgent(-5)], FixedSeating((0, 0, 0)), np.random.default_rng(2))
    before = tables.records.copy()
    with pytest.raises(ValueError, match="<agent spy> chose the illegal action -5"):
        arena.start()
    assert np.array_equal(tables.records, before)


def test_an_illegal_action_of_the_open_seat_is_named():
    tables = katz_env.Tables(Katzenjammer(3), 4, seed=2)
    arena = katz_env.Arena(tables, [make_agent("greedy")], FixedSeating((OPEN, 0, 0)), np.random.default_rng(2))
    arena.start()
    before = tables.records.copy()
    with pytest.raises(ValueError, match="action 255 is illegal at table 2"):
        arena.step(np.array([0, 0, 255, 0]))
    assert np.array_equal(tables.records, before)
    arena.step(np.zeros(4, int))


def test_what_replaces_act_is_asked():
    class Passing(Greedy):
        def act(self, view):
            return view.action_masks.argmax(1)

    class Plain(Agent):
        def act(self, view):
            return view.action_masks.argmax(1)

    replaced = make_agent("greedy")
    replaced.act = lambda view: view.action_masks.argmax(1)
    expected = played(gymnasium.make(ENV_ID, opponents=Plain()), games=2)
    assert played(gymnasium.make(ENV_ID, opponents=Passing()), games=2) == expected
    assert played(gymnasium.make(ENV_ID, opponents=replaced), games=2) == expected


@pytest.mark.parametrize("name", ["greedy", "heuristic"])
def test_an_agent_that_does_not_know_a_game_says_which_it_plays(name):
    class Other(Katzenjammer):
        name = "other"

    with pytest.raises(ValueError, match=f"{name} plays katzenjammer, katz_und_maus and meow, not other"):
        make_agent(name).decision(Other(3))


def test_an_agent_of_ones_own_is_asked():
    asked = []

    class Counting(Agent):
        name = "counting"

        def act(self, view: katz_env.View):
            asked.append(len(view))
            return view.action_masks.argmax(axis=1)

    played(gymnasium.make(ENV_ID, opponents=Counting()), games=1)
    assert len(asked) > 5
    assert set(asked) == {1}
