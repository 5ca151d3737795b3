"""The fields of observations and states: their numbers stay in their bounds, and nothing is written beside them."""

import gymnasium
import numpy as np
import pytest
from any_game import every_game, positions, to_act

from katz_env import Tables
from katz_env.core.aec import GameAECEnv
from katz_env.core.fields import bounds, named_fields, scales
from katz_env.core.gym_env import SingleEnv
from katz_env.core.gym_vector_env import GameVectorEnv

GUARD = 64
"""So many bytes around every row must stay as they were."""


def fields_of(game, what):
    return {"observe": game.observation_fields, "state": game.state_fields}[what]


@every_game
@pytest.mark.parametrize("what", ["observe", "state"])
def test_numbers_stay_between_the_bounds_of_their_fields(game, what):
    records, fields = positions(game, steps=150, finished=True), fields_of(game, what)
    for seat in range(game.num_players):
        values = getattr(game, what)(records, np.full(len(records), seat))
        for field in fields:
            numbers = named_fields(values, fields)[field.name]
            assert numbers.min() >= field.low, field.name
            assert numbers.max() <= field.high, field.name


@every_game
@pytest.mark.parametrize("what", ["observe", "state"])
def test_one_hot_fields_have_at_most_one_number_set(game, what):
    records, fields = positions(game, steps=150, finished=True), fields_of(game, what)
    named = named_fields(getattr(game, what)(records, to_act(records)), fields)
    one_hot = [field for field in fields if field.meaning.startswith("one-hot")]
    assert one_hot
    for field in one_hot:
        assert (named[field.name].reshape(len(records), -1).sum(1) <= 1).all(), field.name


@every_game
def test_spaces_have_the_bounds_of_the_fields(game):
    low, high = bounds(game.observation_fields)
    scale = scales(game.observation_fields)
    aec, single = GameAECEnv(game), SingleEnv(game, "random")
    boxes = [
        aec.observation_space("player_0")["observation"],
        single.observation_space,
        GameVectorEnv(game, 2, "random").single_observation_space,
    ]
    for box in boxes:
        assert box == gymnasium.spaces.Box(low * scale, high * scale, dtype=np.float32)
    low, high = bounds(game.state_fields)
    scale = scales(game.state_fields)
    assert aec.state_space == gymnasium.spaces.Box(low * scale, high * scale, dtype=np.float32)


@every_game
def test_names_of_fields_differ_and_a_state_begins_with_the_observation(game):
    names = [field.name for field in game.state_fields]
    assert len(set(names)) == len(names)
    records = positions(game, finished=True)
    state = game.state(records, to_act(records))
    np.testing.assert_array_equal(state[:, : game.observation_size], game.observe(records, to_act(records)))


def guarded(shape, dtype, fill):
    """An array in the middle of memory filled with `fill`, the memory, and where the array lies in it."""
    memory = np.full(int(np.prod(shape)) + 2 * GUARD, fill, np.int8)
    return memory[GUARD:-GUARD].view(dtype).reshape(shape), memory


def assert_guards_hold(memory, fill):
    assert (memory[:GUARD] == fill).all()
    assert (memory[-GUARD:] == fill).all()


@every_game
@pytest.mark.parametrize("fill", [0, 1])
@pytest.mark.parametrize("what", ["observe", "state"])
def test_rows_are_written_whole_and_nothing_beside_them(game, what, fill):
    size = {"observe": game.observation_size, "state": game.state_size}[what]
    for record in positions(game, steps=60, num_tables=4, finished=True):
        for seat in range(game.num_players):
            row, memory = guarded((1, size), np.int8, fill)
            getattr(game.loops, what)(record.reshape(1), np.array([seat]), row)
            assert_guards_hold(memory, fill)
            np.testing.assert_array_equal(row, getattr(game, what)(record.reshape(1), [seat]))  # whatever was there before


@every_game
@pytest.mark.parametrize("fill", [0, 1])
def test_outputs_of_a_step_are_written_whole_and_nothing_beside_them(game, fill):
    tables = Tables(game, 1, seed=1)
    rng = np.random.default_rng(1)
    for _ in range(150):
        actions = np.array([rng.choice(np.flatnonzero(tables.action_masks[0]))])
        records, out = tables.records.copy(), game.new_outputs(1)
        observations, beside = guarded(out.observations.shape, np.int8, fill)
        masks, beside_masks = guarded(out.action_masks.shape, np.bool_, fill)
        out = out._replace(observations=observations, action_masks=masks)
        game.loops.step(records, np.zeros(1, np.int64), actions, 0, 1, True, 0, True, out, None)
        tables.step(actions)
        assert_guards_hold(beside, fill)
        assert_guards_hold(beside_masks, fill)
        np.testing.assert_array_equal(observations, tables.observations)
        np.testing.assert_array_equal(masks, tables.action_masks)
        np.testing.assert_array_equal(records, tables.records)
