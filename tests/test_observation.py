"""Every number of the observation means what the list of fields says, and nothing of it depends on hidden cards."""

import gymnasium
import numpy as np
import pytest
from random_play import play_on, random_actions, random_positions

from katz_env import Katzenjammer, Tables, katzenjammer_v0, named_fields
from katz_env.core.fields import offsets, scales

GAMES = [Katzenjammer(players) for players in range(2, 7)] + [Katzenjammer(2, values=2, copies=3, set_size=2, hand_size=2)]
every_game = pytest.mark.parametrize("game", GAMES, ids=repr)


def one_hot(index, size):
    return [int(i == index) for i in range(size)]


def slow_observation(record, seat):
    """What a seat sees of a table, field by field, written from the words of the documentation and not from the engine."""
    players, kinds = record["hand"].shape
    around = [(seat + i) % players for i in range(players)]
    bid, bidder = int(record["bid"]), int(record["high_bidder"])
    number, kind = ((bid - 1) // kinds + 1, (bid - 1) % kinds) if bid else (0, -1)

    def seats(field):
        return [record[field][other].tolist() for other in around]

    return {
        "hand": record["hand"][seat].tolist(),
        "row": record["row"].tolist(),
        "discard": record["discard"].tolist(),
        "draw_pile": [len(record["deal"]) - int(record["position"])],
        "supply": [int(record["supply"])],
        "phase": one_hot(record["phase"], 4),
        "bid_number": [number],
        "bid_kind": one_hot(kind, kinds),
        "bid_rank": [min(bid, 127)],
        "hand_sizes": [int(record["hand"][other].sum()) for other in around],
        "mice": seats("mice"),
        "displayed": seats("displayed"),
        "passed": seats("passed"),
        "bandleader": [int(other == record["bandleader"]) for other in around],
        "high_bidder": [int(other == bidder) for other in around],
        "turn": [int(other == record["turn"]) for other in around],
        "claims": seats("claims"),
        "known": seats("known"),
    }


def slow_state(record, seat):
    players, kinds = record["hand"].shape
    pile = record["deal"][record["position"] :].tolist()
    length = len(record["deal"]) - players * int(record["hand_size"])
    return slow_observation(record, seat) | {
        "hands": [record["hand"][(seat + i) % players].tolist() for i in range(players)],
        "pile": [pile.count(kind) for kind in range(kinds)],
        "next_cards": [kind + 1 for kind in pile] + [0] * (length - len(pile)),
    }


def flat(fields):
    return np.concatenate([np.ravel(numbers) for numbers in fields.values()])


def positions(game, rounds=12):
    """Positions of random games, the finished ones among them."""
    tables, rng = Tables(game, 8, seed=3), np.random.default_rng(3)
    ended = []
    for _ in play_on(tables, rng, 90):
        ended.append(tables.final_records[tables.terminated].copy())
    return np.concatenate([random_positions(game, 8, rounds, seed=3), *ended])


@every_game
def test_the_fields_have_the_names_and_sizes_of_the_slow_encoding(game):
    record = Tables(game, seed=0).records[0]
    for fields, slow in ((game.observation_fields, slow_observation(record, 0)), (game.state_fields, slow_state(record, 0))):
        assert [field.name for field in fields] == list(slow)
        assert [field.shape for field in fields] == [np.shape(numbers) for numbers in slow.values()]
        assert all(field.meaning and field.scale > 0 for field in fields)
    assert (
        game.observation_size == len(flat(slow_observation(record, 0))) == sum(field.size for field in game.observation_fields)
    )
    assert game.state_size == len(flat(slow_state(record, 0)))


@every_game
def test_every_seat_sees_every_field_as_the_slow_encoding_says(game):
    records = positions(game)
    assert set(records["phase"]) >= {0, 2, 3}
    for seat in range(game.num_players):
        seen = named_fields(game.observe(records, np.full(len(records), seat)), game.observation_fields)
        for i, record in enumerate(records):
            for name, numbers in slow_observation(record, seat).items():
                np.testing.assert_array_equal(seen[name][i], numbers, err_msg=f"{name}, seat {seat}")


@every_game
def test_the_state_shows_everything_as_the_slow_encoding_says(game):
    records = positions(game, rounds=6)
    for seat in range(game.num_players):
        state = game.state(records, np.full(len(records), seat))
        for i, record in enumerate(records):
            np.testing.assert_array_equal(state[i], flat(slow_state(record, seat)))


@every_game
def test_tables_show_the_seat_to_act_and_any_other_seat(game):
    tables, rng = Tables(game, 16, seed=4), np.random.default_rng(4)
    for step in play_on(tables, rng, 40):
        np.testing.assert_array_equal(tables.observe(tables.turn), tables.observations)
        seats = rng.integers(game.num_players, size=16)
        i = step % 16
        np.testing.assert_array_equal(tables.observe(seats)[i], flat(slow_observation(tables.records[i], int(seats[i]))))
        np.testing.assert_array_equal(tables.observe(1)[i], flat(slow_observation(tables.records[i], 1)))
        np.testing.assert_array_equal(tables.state()[i], flat(slow_state(tables.records[i], int(tables.turn[i]))))
        np.testing.assert_array_equal(tables.state(seats)[i], flat(slow_state(tables.records[i], int(seats[i]))))


@every_game
def test_named_views_are_views_of_the_flat_vector(game):
    tables = Tables(game, 4, seed=5)
    views, places = tables.named_observations(), offsets(game.observation_fields)
    assert list(views) == list(places)
    for name, view in views.items():
        assert np.shares_memory(view, tables.observations)
        np.testing.assert_array_equal(view.reshape(4, -1), tables.observations[:, places[name]])
    with pytest.raises(ValueError, match=f"the vector has 3 numbers; the fields have {game.observation_size}"):
        named_fields(np.zeros(3), game.observation_fields)


def test_the_aec_environment_scales_the_counts_into_its_space(players):
    env, rng = katzenjammer_v0.raw_env(players), np.random.default_rng(6)
    env.reset(seed=6)
    assert len(scales(env.game.observation_fields)) == env.game.observation_size
    while not any(env.terminations.values()):
        for agent in env.possible_agents:
            seen, counts = env.observe(agent), env.named_observation(agent)
            assert seen["observation"].dtype == np.float32
            assert env.observation_space(agent).contains(seen)
            np.testing.assert_array_equal(seen["observation"], scaled(counts, env.game.observation_fields))
        assert env.state().dtype == np.float32
        assert env.state_space.contains(env.state())
        env.step(int(random_actions(env.observe(env.agent_selection)["action_mask"][None], rng)[0]))


def scaled(counts, fields):
    return np.concatenate([np.ravel(counts[field.name]) * np.float32(field.scale) for field in fields])


def test_the_gymnasium_environment_scales_the_counts_into_its_space(players):
    env = gymnasium.make("katz_env/Katzenjammer-v0", num_players=players, opponents="random").unwrapped
    observation, info = env.reset(seed=7)
    terminated, rng = False, np.random.default_rng(7)
    while not terminated:
        assert observation.dtype == np.float32
        assert env.observation_space.contains(observation)
        np.testing.assert_array_equal(observation, scaled(env.named_observation(), env.game.observation_fields))
        observation, _, terminated, _, info = env.step(int(random_actions(info["action_mask"][None], rng)[0]))


@every_game
def test_typical_numbers_are_of_order_one(game):
    records = random_positions(game, 16, 12, seed=8)
    values = game.observe(records, records["turn"].astype(np.int64)) * scales(game.observation_fields)
    assert values.max() <= 10
    assert 0.05 < values[values > 0].mean() < 3


# --- no peeking


@every_game
def test_observation_and_mask_of_every_world_a_seat_cannot_tell_apart_are_the_same(game):
    records, rng = positions(game), np.random.default_rng(9)
    different = 0
    for seat in range(game.num_players):
        seats = np.full(len(records), seat)
        for _ in range(4):
            worlds = game.redeal(game.redact(records, seats), seats, rng)
            different += (worlds["hand"] != records["hand"]).any()
            np.testing.assert_array_equal(game.observe(worlds, seats), game.observe(records, seats))
            acting = records["turn"] == seat
            np.testing.assert_array_equal(masks(game, worlds[acting]), masks(game, records[acting]))
            np.testing.assert_array_equal(game.redact(worlds, seats), game.redact(records, seats))
    assert different


def masks(game, records):
    """The legal actions of the seats to act."""
    tables = Tables(game, len(records))
    tables.restore(records)
    return tables.action_masks.copy()


@every_game
def test_a_seat_that_the_turn_has_not_reached_does_not_show_as_passed(game):
    """A seat that cannot outbid is passed when the turn reaches it, not before: passed seats lie before the turn."""
    tables, rng = Tables(game, 64, seed=10), np.random.default_rng(10)
    lap_positions = 0
    for _ in play_on(tables, rng, 60):
        auctions = tables.records[(tables.records["phase"] == 0) & (tables.records["bid"] == 0)]
        for record in auctions:  # no bid yet, so everybody is asked in the first lap
            distance = (record["turn"] - record["bandleader"] - 1) % game.num_players
            not_reached = [(record["bandleader"] + 1 + i) % game.num_players for i in range(distance, game.num_players)]
            assert not record["passed"][not_reached].any()
            lap_positions += 1
    assert lap_positions
