"""Agents that play a single table's turns as compiled code play exactly as when they are asked."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest

import katz_env
from katz_env import Agent, Katzenjammer, make_agent

ENV_ID = "katz_env/Katzenjammer-v0"
SCRIPTED = ["random", "greedy", "heuristic"]


class Asked(Agent):
    """Plays as another agent, but is asked for every move."""

    def __init__(self, name):
        self.other, self.name = make_agent(name), name

    def act(self, view):
        return self.other.act(view)


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


@pytest.mark.parametrize("players", range(2, 7))
@pytest.mark.parametrize("name", SCRIPTED)
def test_a_compiled_opponent_plays_as_one_that_is_asked(players, name):
    assert make_agent(name).compiled(Katzenjammer(players)) is not None
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


def test_another_game_is_not_offered_compiled_agents():
    class Other:
        """No game at all."""

    assert all(make_agent(name).compiled(Other()) is None for name in SCRIPTED)


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
