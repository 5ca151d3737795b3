"""The PettingZoo environment passes PettingZoo's own tests and keeps the promises of its docstrings."""

import copy
import warnings

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, seed_test
from pettingzoo.test.render_test import render_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from random_play import random_actions

from katz_env import Katzenjammer, Tables, katzenjammer_v0, make_agent

DECK = "333444" + "112255" + "433" + "4" * 11 + "3" * 10 + "1" * 13 + "2" * 13 + "5" * 13 + "J" * 15
either = pytest.mark.parametrize("make", [katzenjammer_v0.env, katzenjammer_v0.raw_env], ids=["env", "raw_env"])
ALLOWED = {  # what any observation with an action mask draws from api_test
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
}


@either
def test_api_test_passes_with_no_other_warnings_than_any_dictionary_observation_draws(make, players):
    with warnings.catch_warnings(record=True) as drawn:
        warnings.simplefilter("always")
        api_test(make(players), num_cycles=300)
    assert {str(warning.message) for warning in drawn} == ALLOWED


def test_seed_test_passes(players):
    seed_test(lambda: katzenjammer_v0.env(players), num_cycles=100)


@pytest.mark.parametrize("players", [3, 6])
def test_render_test_passes(players, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr("katz_env.core.rendering.RENDER_FPS", 1000)
    render_test(
        lambda render_mode: katzenjammer_v0.env(players, render_mode=render_mode),
        {"ansi": lambda text: text.count("player_") == players},
    )


@pytest.mark.parametrize("settings", [{}, {"num_players": 5, "reward": "score", "mice": 7}])
def test_the_registry_makes_the_environment(settings):
    env = pettingzoo.make("aec", "katz_env/katzenjammer_v0", **settings)
    env.reset(seed=1)
    assert env.unwrapped.game == Katzenjammer(settings.get("num_players", 3), settings.get("mice"))
    assert env.unwrapped._tables.reward == settings.get("reward", "win")


@either
def test_options_of_the_rules_pass_through(make):
    env = make(2, values=2, copies=3, set_size=2, hand_size=2)
    assert env.unwrapped.game == Katzenjammer(2, values=2, copies=3, set_size=2, hand_size=2)
    assert env.metadata["name"] == "katzenjammer_v0"


def play_randomly(env, seed=0):
    """Plays a game and yields the agent to act before each of its decisions."""
    rng = np.random.default_rng(seed)
    while not any(env.terminations.values()):
        agent = env.agent_selection
        yield agent
        env.step(int(random_actions(env.observe(agent)["action_mask"][None], rng)[0]))


def test_only_the_agent_to_act_has_legal_actions_and_everybody_sees(players):
    env = katzenjammer_v0.env(players)
    env.reset(seed=2)
    assert env.agents == [f"player_{seat}" for seat in range(players)]
    for acting in play_randomly(env):
        for agent in env.agents:
            seen = env.observe(agent)
            assert seen["action_mask"].dtype == np.int8
            assert (seen["action_mask"].sum() >= 2) if agent == acting else not seen["action_mask"].any()
            assert seen["observation"].any()
    assert not any(env.observe(agent)["action_mask"].any() for agent in env.agents)


@pytest.mark.parametrize("reward", ["win", "score"])
def test_the_end_pays_and_tells_the_results(players, reward):
    env = katzenjammer_v0.raw_env(players, reward=reward)
    env.reset(seed=3)
    for _ in play_randomly(env):
        assert not any(env.rewards.values())
        assert env.infos == {agent: {} for agent in env.agents}
    game, record = env.game, env._tables.records
    results = game.results(record)
    most = max(info["jokers"] for info in env.infos.values())
    for seat, agent in enumerate(env.possible_agents):
        info = env.infos[agent]
        assert info == {name: values[0, seat] for name, values in results.items()} | {"illegal_action": False}
        assert set(info) == {"score", "mice", "jokers", "win_share", "illegal_action"}
        assert info["mice"] == record["mice"][0, seat]
        assert info["score"] == info["mice"] - 5 * (info["jokers"] == most)
        assert env.rewards[agent] == pytest.approx(info["score"] if reward == "score" else info["win_share"] - 1 / players)
    assert sum(info["win_share"] for info in env.infos.values()) == pytest.approx(1)
    if reward == "win":
        assert sum(env.rewards.values()) == pytest.approx(0, abs=1e-6)


def test_every_agent_collects_its_reward_once_by_last(players):
    env = katzenjammer_v0.env(players, reward="score")
    env.reset(seed=4)
    collected, rng = dict.fromkeys(env.possible_agents, 0.0), np.random.default_rng(4)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        collected[agent] += reward
        assert not truncated
        if terminated:
            assert reward == info["score"]
        env.step(None if terminated else int(random_actions(observation["action_mask"][None], rng)[0]))
    assert env.agents == []
    assert collected == {agent: float(score) for agent, score in zip(collected, scores(env), strict=True)}


def scores(env):
    return env.unwrapped._tables.scores[0]


@either
@pytest.mark.parametrize("deck", [DECK, ["12345J".index(card) for card in DECK], np.array(["12345J".index(c) for c in DECK])])
@pytest.mark.parametrize("seed", [None, 5])
def test_reset_deals_the_given_deck_from_the_given_bandleader(make, deck, seed):
    env = make(2)
    env.reset(seed=seed, options={"deck": deck, "bandleader": 1, "an unknown key": 1})
    seen = env.unwrapped.named_observation("player_0")
    assert env.agent_selection == "player_0"
    assert seen["hand"].tolist() == [0, 0, 3, 3, 0, 0]
    assert seen["row"].tolist() == [0, 0, 2, 1, 0, 0]
    assert seen["bandleader"].tolist() == [0, 1]


@either
@pytest.mark.parametrize("bandleader", range(3))
def test_the_bandleader_can_be_given_alone(make, bandleader):
    env, decks = make(3), set()
    for _ in range(4):
        env.reset(options={"bandleader": bandleader})
        seen = env.unwrapped.named_observation("player_0")
        assert seen["bandleader"].tolist() == [int(seat == bandleader) for seat in range(3)]
        decks.add(env.unwrapped._tables.records["deal"].tobytes())
    assert len(decks) == 4


def test_moves_and_play_speak_the_words_of_the_table():
    env = katzenjammer_v0.raw_env(2)
    assert env.moves() == {}
    env.reset(options={"deck": DECK, "bandleader": 1})
    assert env.moves() == {"pass": 0, "1x3": 4, "1x4": 5, "2d": 7, "2x3": 10, "2x4": 11, "3x3": 16, "3x4": 17}
    for move in ("1x3", "pass", "four 3333", "four 4444"):
        assert move in env.moves()
        env.play(move)
    assert env.named_observation("player_0")["mice"].tolist() == [7, 0]


def test_a_move_that_is_not_legal_is_named_with_the_legal_ones_and_changes_nothing():
    env = katzenjammer_v0.raw_env(2)
    env.reset(options={"deck": DECK, "bandleader": 1})
    before = env._tables.records.copy()
    with pytest.raises(ValueError, match="'9x1' is not a legal move; legal are pass, 1x3, 1x4, 2d"):
        env.play("9x1")
    for action in (255, -1, 256):
        with pytest.raises(ValueError, match=f"action {action} is illegal at table 0; legal are"):
            env.step(action)
    with pytest.raises(ValueError, match="player_0 must play an action"):
        env.step(None)
    np.testing.assert_array_equal(env._tables.records, before)
    assert env.agent_selection == "player_0"


def test_raw_env_refuses_to_go_on_after_the_end():
    env = katzenjammer_v0.raw_env(2)
    env.reset(seed=6)
    for _ in play_randomly(env):
        pass
    assert env.moves() == {}
    for _ in env.agent_iter():
        env.step(None)
    with pytest.raises(ValueError, match=r"the game is over; call reset\(\)"):
        env.step(0)
    with pytest.raises(ValueError, match="legal are none, the game is over"):
        env.play("pass")


def test_an_illegal_move_ends_a_wrapped_game_with_minus_one(players):
    env = katzenjammer_v0.env(players)
    env.reset(seed=7)
    culprit = env.agent_selection
    env.step(255)
    assert all(env.terminations.values())
    assert env.rewards == {agent: -1.0 if agent == culprit else 0.0 for agent in env.possible_agents}
    for _ in env.agent_iter():
        env.step(None)
    env.reset(seed=7)
    assert not any(env.terminations.values())
    for _ in play_randomly(env):
        pass
    assert sum(env.rewards.values()) == pytest.approx(0, abs=1e-6)


def test_agents_that_do_not_exist_are_named_with_those_that_do():
    env = katzenjammer_v0.env(num_players=2)
    env.reset(seed=1)
    for ask in (env.observe, env.observation_space, env.action_space, env.unwrapped.named_observation):
        for agent in ("player_2", 0, None, ["player_0"]):
            with pytest.raises(ValueError, match="^there is no agent .*; there are player_0, player_1$"):
                ask(agent)


def test_raw_env_must_be_reset_first():
    with pytest.raises(ValueError, match=r"^call reset\(\) first$"):
        katzenjammer_v0.raw_env(num_players=2).step(0)


def test_wrapped_the_game_must_be_reset_first():
    with pytest.raises(Exception, match="reset"):
        katzenjammer_v0.env(3).step(0)


@either
def test_what_is_handed_out_is_a_copy(make):
    env = make(3)
    env.reset(seed=8)
    tables = env.unwrapped._tables
    buffers = [tables.observations, tables.action_masks, tables.records]
    handed = [*env.observe("player_0").values(), *env.observe(env.agent_selection).values(), env.unwrapped.state()]
    handed += env.unwrapped.named_observation("player_1").values()
    for array in handed:
        assert not any(np.shares_memory(array, buffer) for buffer in buffers)
    before = [env.observe(agent) for agent in env.agents]
    for array in handed:
        array[...] = 1
    for old, new in zip(before, [env.observe(agent) for agent in env.agents], strict=True):
        np.testing.assert_array_equal(old["observation"], new["observation"])
        np.testing.assert_array_equal(old["action_mask"], new["action_mask"])


@either
def test_render_shows_the_table_from_the_eyes_of_the_agent_to_act(make):
    env = make(2, render_mode="ansi")
    env.reset(options={"deck": DECK, "bandleader": 1})
    lines = env.render().splitlines()
    assert lines[0] == "auction: bid none, row 334, discard -, draw pile 75, mice left 20"
    assert lines[1].startswith("> player_0")
    assert "hand 333444" in lines[1]
    assert "hand ......  (bandleader)" in lines[2]
    assert "1" not in lines[2].partition("hand")[2]
    silent = make(2)
    silent.reset(seed=1)


def test_the_environment_plays_as_tables_with_its_seed_do():
    env, tables = katzenjammer_v0.raw_env(4), Tables(Katzenjammer(4), 1, seed=9, autoreset=False)
    env.reset(seed=9)
    while not tables.terminated[0]:
        assert env.agent_selection == f"player_{tables.turn[0]}"
        np.testing.assert_array_equal(env.observe(env.agent_selection)["action_mask"], tables.action_masks[0])
        action = int(np.flatnonzero(tables.action_masks[0])[1])
        env.step(action)
        tables.step([action])
    assert list(env.rewards.values()) == tables.rewards[0].tolist()


@pytest.mark.parametrize("name", ["random", "greedy", "heuristic"])
def test_agents_play_by_the_view(name):
    env, bot, rng = katzenjammer_v0.env(3), make_agent(name), np.random.default_rng(1)
    env.reset(seed=1)
    for _ in env.agent_iter():
        observation, _, termination, _, _ = env.last()
        if termination:
            env.step(None)
            continue
        view = env.unwrapped.view(rng)
        np.testing.assert_array_equal(view.action_masks[0], observation["action_mask"])
        assert (view.tables["deal"] == -1).all()
        env.step(bot.act(view)[0])
    with pytest.raises(ValueError, match="the game is over; nobody is to act"):
        env.unwrapped.view(rng)


@pytest.mark.parametrize("illegal_after", [None, 7])
def test_last_tells_what_the_wrappers_would_tell(illegal_after):
    env = katzenjammer_v0.env(3)
    env.reset(seed=2)
    through_wrappers = super(type(env), env).last
    for number, _ in enumerate(env.agent_iter()):
        observation, *rest = env.last()
        expected, *others = through_wrappers()
        assert rest == others
        assert all(np.array_equal(observation[name], expected[name]) for name in expected)
        assert env.last(observe=False) == (None, *rest)
        mask = observation["action_mask"]
        env.step(None if rest[1] or rest[2] else int(mask.argmin() if number == illegal_after else mask.argmax()))
    assert number > 7


def test_a_copy_of_the_wrapped_environment_plays_on_alone():
    env = katzenjammer_v0.env(3)
    with pytest.raises(AttributeError, match="cannot be accessed before reset"):
        env.last()
    env.reset(seed=2)
    before = env.last()
    twin = copy.deepcopy(env)
    twin.step(int(twin.last()[0]["action_mask"].argmax()))
    assert twin.agent_selection != env.agent_selection
    assert np.array_equal(before[0]["observation"], env.last()[0]["observation"])


def test_pettingzoo_can_make_it_parallel():
    env = turn_based_aec_to_parallel(katzenjammer_v0.raw_env(num_players=2))
    assert not hasattr(katzenjammer_v0, "parallel_env")
    observations, _ = env.reset(seed=5)
    rewards, steps = {}, 0
    while env.agents:
        # Only the seat to act has a mask; the actions of the others are ignored.
        actions = {agent: int(seen["action_mask"].argmax()) for agent, seen in observations.items()}
        observations, rewards, _, _, infos = env.step(actions)
        steps += 1
    assert steps > 10
    assert sum(rewards.values()) == pytest.approx(0)
    assert {info["illegal_action"] for info in infos.values()} == {False}
