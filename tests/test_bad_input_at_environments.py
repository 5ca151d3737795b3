"""What the environments refuse: a ValueError names the wrong value and what would be right, and nothing changes."""

import gymnasium
import numpy as np
import pytest
from in_play import arrays, assert_unchanged, every_wrong_deck

from katz_env import Katzenjammer, Rules, Tables, katzenjammer_v0, make_game, named_fields, sb3

ENV_ID = "katz_env/Katzenjammer-v0"


# --- deals


@every_wrong_deck
def test_a_wrong_deck_among_the_options_of_a_reset_changes_nothing(deck, message):
    for env in (katzenjammer_v0.raw_env(3), katzenjammer_v0.env(3), gymnasium.make(ENV_ID)):
        env.reset(seed=1)
        before = arrays(env.unwrapped._tables)
        with pytest.raises(ValueError, match=message):
            env.reset(seed=2, options={"deck": deck})
        assert_unchanged(env.unwrapped._tables, before)


@pytest.mark.parametrize("seat", [3, -1, 1.0, True, "0"])
def test_a_wrong_bandleader_among_the_options_of_a_reset_changes_nothing(seat):
    for env in (katzenjammer_v0.raw_env(3), gymnasium.make(ENV_ID)):
        env.reset(seed=1)
        before = arrays(env.unwrapped._tables)
        with pytest.raises(ValueError, match=f"bandleader is {seat!r}; it must be an integer from 0 to 2"):
            env.reset(seed=2, options={"bandleader": seat})
        assert_unchanged(env.unwrapped._tables, before)


def test_a_deck_that_ends_at_once_leaves_no_game_that_could_be_played():
    env = gymnasium.make(ENV_ID, num_players=2, values=2, copies=3, set_size=2, hand_size=3, seat=0).unwrapped
    env.reset(seed=1)
    with pytest.raises(ValueError, match="with this deck the game ended before the open seat had a decision"):
        env.reset(options={"deck": "111222JJJ", "bandleader": 0})
    with pytest.raises(ValueError, match="the game is over; call reset"):
        env.step(0)


# --- settings


@pytest.mark.parametrize(
    ("options", "message"),
    [({"num_players": 1}, "num_players is 1; it must be an integer from 2 to 6"),
     ({"num_players": 7}, "num_players is 7; it must be an integer from 2 to 6"),
     ({"num_players": 3.0}, "num_players is 3.0; it must be an integer"),
     ({"num_players": True}, "num_players is True"),
     ({"num_players": "3"}, "num_players is '3'"),
     ({"mice": 0}, "mice is 0; it must be an integer from 1 to 127"),
     ({"mice": 128}, "mice is 128; it must be an integer from 1 to 127"),
     ({"values": 1}, "values is 1; it must be an integer from 2 to 8"),
     ({"values": 9}, "values is 9; it must be an integer from 2 to 8"),
     ({"copies": 1}, "copies is 1; it must be an integer from 2 to 21"),
     ({"copies": 22}, "copies is 22; it must be an integer from 2 to 21"),
     ({"set_size": 1}, "set_size is 1; it must be an integer from 2 to 8"),
     ({"copies": 3, "set_size": 4, "hand_size": 2}, "set_size is 4; it must be an integer from 2 to 3"),
     ({"hand_size": 0}, "hand_size is 0; it must be an integer from 1 to 29"),
     ({"hand_size": 30}, "hand_size is 30; it must be an integer from 1 to 29"),
     ({"joker_penalty": -1}, "joker_penalty is -1; it must be an integer from 0 to 100"),
     ({"joker_penalty": 101}, "joker_penalty is 101; it must be an integer from 0 to 100")],
)  # fmt: skip
def test_rules_out_of_range_are_refused_by_every_front_door(options, message):
    for make in (Rules, Katzenjammer, katzenjammer_v0.env, katzenjammer_v0.raw_env):
        with pytest.raises(ValueError, match=message):
            make(**options)
    with pytest.raises(ValueError, match=message):
        gymnasium.make(ENV_ID, **options)
    with pytest.raises(ValueError, match=message):
        gymnasium.make_vec(ENV_ID, num_envs=2, **options)


def test_an_unknown_option_is_refused_with_the_known_ones():
    for make in (Katzenjammer, katzenjammer_v0.env):
        with pytest.raises(TypeError, match="unexpected keyword argument 'colours'; its settings are num_players, mice"):
            make(colours=3)
    for make in (gymnasium.make, gymnasium.make_vec, sb3.make_vec_env):
        with pytest.raises(TypeError, match="unexpected keyword argument 'colours'; its settings are num_players, mice"):
            make(ENV_ID, colours=3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'colours'; its settings are num_players, mice"):
        make_game("katzenjammer", colours=3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"opponents": "nobody"}, "there is no agent 'nobody'; installed are .*greedy.*random"),
     ({"opponents": ["greedy"]}, "there is 1 opponent; 3 players need one for all or 2"),
     ({"opponents": ["greedy", "nobody"]}, "there is no agent 'nobody'"),
     ({"opponents": 3}, "3"),
     ({"opponents": [3, 4]}, "an agent must be a name or an Agent, not 3"),
     ({"opponents": "greedy:depth=3"}, "agent 'greedy:depth=3': "),
     ({"seat": 3}, "seat is 3; it must be an integer from 0 to 2"),
     ({"seat": -1}, "seat is -1; it must be an integer from 0 to 2"),
     ({"seat": True}, "seat is True"),
     ({"reward": "mice"}, "reward is 'mice'; it must be one of 'win', 'score'"),
     ({"render_mode": "hologram"}, "render_mode is 'hologram'; it must be None or one of 'ansi'")],
)  # fmt: skip
def test_wrong_settings_of_the_gymnasium_environments_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        gymnasium.make(ENV_ID, **settings).unwrapped  # noqa: B018 - making it is the test
    with pytest.raises(ValueError, match=message):
        gymnasium.make_vec(ENV_ID, num_envs=2, **settings)


# --- calls


@pytest.mark.parametrize("action", [None, 1.5, float("nan"), "pass", [0], np.float32(1), b"1", {}])
def test_what_is_no_integer_is_not_even_an_illegal_action(action):
    env = gymnasium.make(ENV_ID)
    env.reset(seed=1)
    with pytest.raises(ValueError, match="action is .*; it must be an integer, the id of an action"):
        env.step(action)
    legal = env.unwrapped.action_masks().argmax()
    assert env.step(legal)[1:3] != (-1.0, True)  # the game goes on


@pytest.mark.parametrize("seed", [-1, 1.5, True, "1", np.array([1])])
def test_a_wrong_seed_of_an_environment_is_refused(seed):
    for env in (gymnasium.make(ENV_ID), gymnasium.make_vec(ENV_ID, num_envs=2), katzenjammer_v0.env()):
        with pytest.raises(ValueError, match="seed is .*; it must be"):
            env.reset(seed=seed)


def test_seeds_may_be_integers_of_numpy_and_of_any_size():
    for make in (gymnasium.make, gymnasium.make_vec):
        first, second = (make(ENV_ID).reset(seed=seed)[0] for seed in (7, np.int64(7)))
        np.testing.assert_array_equal(first, second)
        make(ENV_ID).reset(seed=2**70)


@pytest.mark.parametrize("options", [1, "deck", [0], np.array([1])])
def test_options_of_a_reset_must_be_a_dictionary(options):
    for env in (gymnasium.make(ENV_ID), gymnasium.make_vec(ENV_ID, num_envs=2), katzenjammer_v0.env()):
        env.reset(seed=1)
        with pytest.raises(ValueError, match="options are .*; they must be a dictionary or None"):
            env.reset(options=options)


@pytest.mark.parametrize("seat", [1.0, np.float64(1), True, np.True_, np.array([1]), "1", 3, -1, None, []])
def test_a_picture_from_the_eyes_of_no_seat_is_refused(seat):
    with pytest.raises(ValueError, match="render_seat is .*; it must be 'turn', 'open' or a seat from 0 to 2"):
        katzenjammer_v0.raw_env(render_seat=seat)
    if seat is not None:
        with pytest.raises(ValueError, match="seat is .*; it must be a seat from 0 to 2, or None for open hands"):
            Tables(Katzenjammer(3)).svg(0, seat)


def test_names_and_ids_of_moves_of_another_kind_are_refused():
    for name in (None, [], 3):
        env = katzenjammer_v0.raw_env()
        env.reset(seed=1)
        with pytest.raises(ValueError, match="is not a legal move; legal are"):
            env.play(name)
    for action in (None, 1.5, "1", np.array([1])):
        with pytest.raises(ValueError, match="action .* does not exist; action ids are 0 to 255"):
            Katzenjammer(3).actions.decode(action)
    with pytest.raises(ValueError, match="the vector is None; it must be an array"):
        named_fields(None, Katzenjammer(3).observation_fields)
