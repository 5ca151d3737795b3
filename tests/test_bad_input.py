"""Bad input is a ValueError that names the wrong value and what would be right, and nothing changes."""

import json

import gymnasium
import numpy as np
import pytest
from random_play import play_on

from katz_env import Arena, Katzenjammer, Rules, Tables, katzenjammer_v0, make_agent, named
from katz_env.core.arena import OPEN, FixedSeating

ENV_ID = "katz_env/Katzenjammer-v0"
DECK = "12345J" * 15
INTEGERS = [0, 1, 2, 3, 4, 5] * 15


def tables_in_play(num_tables=8, **settings):
    tables = Tables(Katzenjammer(3), num_tables, seed=1, **settings)
    for _ in play_on(tables, np.random.default_rng(1), 7):
        pass
    return tables


def arrays(tables):
    names = ("records", "observations", "action_masks", "turn", "rewards", "terminated", "scores", "final_records")
    return {name: getattr(tables, name).copy() for name in names}


def assert_refused(tables, call, message):
    """The call is a ValueError with this message, and no array of the tables changes."""
    before = arrays(tables)
    with pytest.raises(ValueError, match=message):
        call(tables)
    for name, array in arrays(tables).items():
        np.testing.assert_array_equal(array, before[name], err_msg=name)


def legal_actions(tables):
    return tables.action_masks.argmax(1)


def with_one(array, index, value):
    changed = np.array(array)
    changed[index] = value
    return changed


def an_illegal_id(tables, table):
    return int(np.flatnonzero(~tables.action_masks[table])[3])


# --- steps


@pytest.mark.parametrize("action", [-1, -256, 256, 10**12, 6 * 29 + 6])
def test_an_impossible_action_at_one_table_moves_no_table(action):
    tables = tables_in_play()
    message = rf"action {action} is illegal at table 5; legal are \d+ \("
    assert_refused(tables, lambda t: t.step(with_one(legal_actions(t), 5, action)), message)


def test_the_message_about_an_illegal_action_lists_legal_ones_by_id_and_name():
    tables = Tables(Katzenjammer(2), autoreset=False)
    tables.deal(["333444" + "112255" + "433" + "4" * 11 + "3" * 10 + "1" * 13 + "2" * 13 + "5" * 13 + "J" * 15], [1])
    assert_refused(tables, lambda t: t.step([255]), r"action 255 is illegal at table 0; legal are 0 \(pass\), 4 \(1x3\)")


def test_an_illegal_action_is_named_with_its_table_when_only_some_are_stepped():
    tables = tables_in_play()
    wrong = an_illegal_id(tables, 6)
    actions = np.array([legal_actions(tables)[2], wrong])
    assert_refused(tables, lambda t: t.step(actions, np.array([2, 6])), f"action {wrong} is illegal at table 6")


@pytest.mark.parametrize(
    ("actions", "message"),
    [(np.zeros(8), "actions are of type float64; they must be integers"),
     (np.zeros(8, bool), "actions are of type bool; they must be integers"),
     (["pass"] * 8, "actions are of type <U4; they must be integers"),
     (np.zeros(7, int), r"actions have the shape \(7,\); it must be \(8,\)"),
     (np.zeros((8, 1), int), r"actions have the shape \(8, 1\); it must be \(8,\)"),
     (0, r"actions have the shape \(\); it must be \(8,\)"),
     ([None] * 8, "actions are of type object; they must be integers")],
)  # fmt: skip
def test_actions_of_the_wrong_kind_or_number_are_refused(actions, message):
    assert_refused(tables_in_play(), lambda t: t.step(actions), message)


WRONG_TABLES = [
    ([8], "table 8 does not exist; tables are 0 to 7"),
    ([-1], "table -1 does not exist; tables are 0 to 7"),
    ([1.0], "where are of type float64; they must be integers"),
    ([[1]], r"where have the shape \(1, 1\); it must be \(1,\)"),
    ([True], "where are of type bool"),
]


@pytest.mark.parametrize(("where", "message"), [*WRONG_TABLES, ([3, 3], "where names a table twice")])
def test_tables_that_do_not_exist_are_refused_everywhere(where, message):
    tables = tables_in_play()
    records = tables.records[: len(where)].copy()
    actions = legal_actions(tables)[: len(where)]
    assert_refused(tables, lambda t: t.step(actions, np.array(where)), message)
    assert_refused(tables, lambda t: t.reset(where=where), message)
    assert_refused(tables, lambda t: t.reset(1, where), message)
    assert_refused(tables, lambda t: t.deal([DECK] * len(where), where=where), message)
    assert_refused(tables, lambda t: t.restore(records, where), message)


@pytest.mark.parametrize(
    ("seats", "message"),
    [(3, "seat 3 does not exist; seats are 0 to 2"),
     ([0] * 7 + [-1], "seat -1 does not exist; seats are 0 to 2"),
     ([0, 1], r"seats have the shape \(2,\); it must be \(8,\)"),
     (0.5, "seats are of type float64; they must be integers")],
)  # fmt: skip
def test_seats_that_do_not_exist_are_refused(seats, message):
    tables = tables_in_play()
    assert_refused(tables, lambda t: t.observe(seats), message)
    assert_refused(tables, lambda t: t.state(seats), message)


@pytest.mark.parametrize("seed", [-1, 1.5, True, "1"])
def test_a_wrong_seed_is_refused(seed):
    assert_refused(tables_in_play(), lambda t: t.reset(seed), f"seed is {seed!r}; it must be an integer of at least 0")
    with pytest.raises(ValueError, match="seed is"):
        Tables(Katzenjammer(3), seed=seed)


# --- deals

WRONG_DECKS = [
    (DECK[:-1], "the deck has 89 cards; it must have 90"),
    (DECK + "1", "the deck has 91 cards; it must have 90"),
    ("", "the deck has 0 cards; it must have 90"),
    ("2" + DECK[1:], "the deck has 14 cards '1'; it must have 15 of each"),
    ("0" + DECK[1:], "the deck has a card '0'; the cards are 1 2 3 4 5 J"),
    ("j" + DECK[1:], "the deck has a card 'j'; the cards are 1 2 3 4 5 J"),
    ([6, *INTEGERS], "the deck has 91 cards; it must have 90"),
    ([6, *INTEGERS[1:]], "the deck has a card 6; cards are 0 to 5"),
    ([-1, *INTEGERS[1:]], "the deck has a card -1; cards are 0 to 5"),
    ([1, *INTEGERS[1:]], "the deck has 14 cards '1'; it must have 15 of each"),
    (np.arange(90) % 6 + 0.0, "a deck must be 90 characters of 12345J or 90 integers"),
    (np.zeros((2, 45), int), "a deck must be 90 characters of 12345J or 90 integers"),
    (7, "a deck must be 90 characters of 12345J or 90 integers"),
    ([[1, 2], [3]], "a deck must be 90 characters of 12345J or 90 integers"),
]
every_wrong_deck = pytest.mark.parametrize(("deck", "message"), WRONG_DECKS)


@every_wrong_deck
def test_a_wrong_deck_is_refused_and_the_right_ones_beside_it_are_not_dealt(deck, message):
    assert_refused(tables_in_play(), lambda t: t.deal([DECK, deck], where=[0, 1]), message)


@every_wrong_deck
def test_a_wrong_deck_among_the_options_of_a_reset_changes_nothing(deck, message):
    for env in (katzenjammer_v0.raw_env(3), katzenjammer_v0.env(3), gymnasium.make(ENV_ID)):
        env.reset(seed=1)
        before = arrays(env.unwrapped._tables)
        with pytest.raises(ValueError, match=message):
            env.reset(seed=2, options={"deck": deck})
        for name, array in arrays(env.unwrapped._tables).items():
            np.testing.assert_array_equal(array, before[name])


@pytest.mark.parametrize(
    ("seats", "message"),
    [([0, 3], "bandleader 3 does not exist; bandleaders are 0 to 2"),
     ([-1, 0], "bandleader -1 does not exist; bandleaders are 0 to 2"),
     ([0], r"bandleaders have the shape \(1,\); it must be \(2,\)"),
     ([0.0, 1.0], "bandleaders are of type float64; they must be integers"),
     ([256, 0], "bandleader 256 does not exist")],
)  # fmt: skip
def test_a_wrong_bandleader_is_refused(seats, message):
    assert_refused(tables_in_play(), lambda t: t.deal(bandleaders=seats, where=[0, 1]), message)
    assert_refused(tables_in_play(), lambda t: t.deal([DECK, DECK], seats, where=[0, 1]), message)


@pytest.mark.parametrize("seat", [3, -1, 1.0, True, "0"])
def test_a_wrong_bandleader_among_the_options_of_a_reset_changes_nothing(seat):
    for env in (katzenjammer_v0.raw_env(3), gymnasium.make(ENV_ID)):
        env.reset(seed=1)
        before = arrays(env.unwrapped._tables)
        with pytest.raises(ValueError, match=f"bandleader is {seat!r}; it must be an integer from 0 to 2"):
            env.reset(seed=2, options={"bandleader": seat})
        for name, array in arrays(env.unwrapped._tables).items():
            np.testing.assert_array_equal(array, before[name])


def test_the_number_of_decks_must_be_the_number_of_tables():
    assert_refused(tables_in_play(), lambda t: t.deal([DECK] * 3), "there are 3 decks for 8 tables")


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
        with pytest.raises(ValueError, match="unknown option 'colours'; the options of the rules are num_players, mice"):
            make(colours=3)
    with pytest.raises(ValueError, match="unknown option 'colours'"):
        gymnasium.make(ENV_ID, colours=3)


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [((Katzenjammer(3), 0), {}, "num_tables is 0; it must be an integer of at least 1"),
     ((Katzenjammer(3), 2.0), {}, "num_tables is 2.0; it must be an integer"),
     ((Katzenjammer(3), True), {}, "num_tables is True"),
     ((3,), {}, r"game is 3; it must be a game such as Katzenjammer\(num_players=3\)"),
     ((Katzenjammer(3),), {"reward": "mice"}, "reward is 'mice'; it must be one of 'win', 'score'"),
     ((Katzenjammer(3),), {"num_threads": 0}, "num_threads is 0; it must be an integer from 1 to 1024"),
     ((Katzenjammer(3),), {"num_threads": 1.5}, "num_threads is 1.5"),
     ((Katzenjammer(3),), {"num_threads": 10**9}, "num_threads is 1000000000; it must be")],
)  # fmt: skip
def test_wrong_settings_of_tables_are_refused(arguments, settings, message):
    with pytest.raises(ValueError, match=message):
        Tables(*arguments, **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"opponents": "nobody"}, "there is no agent 'nobody'; installed are .*greedy.*random"),
     ({"opponents": ["greedy"]}, "there are 1 opponents; 3 players need one for all or 2"),
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


def test_an_agent_nobody_has_is_refused():
    with pytest.raises(ValueError, match=r"there is no agent 'nobody'; installed are [a-z, ]*greedy"):
        make_agent("nobody")


@pytest.mark.parametrize("answer", [[300], [-1], [0.0], [0, 0]])
def test_an_agent_that_answers_nonsense_is_named_and_moves_nothing(answer):
    class Wild(type(make_agent("random"))):
        name = "wild"

        def act(self, view):
            return np.array(answer)

    tables = tables_in_play(1)
    arena = Arena(tables, [Wild()], FixedSeating((0, 0, 0)), np.random.default_rng(1))
    assert_refused(tables, lambda t: arena.start(), "<agent wild> (chose the illegal action|answered)")


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.uint64])
def test_rules_in_integers_of_numpy_are_the_same_rules(kind):
    game = Katzenjammer(kind(3), kind(20), values=kind(5), copies=kind(15), hand_size=kind(6), set_size=kind(4))
    assert game.num_actions == 256
    assert json.loads(json.dumps(game.describe())) == Katzenjammer(3).describe()
    with pytest.raises(ValueError, match="copies is"):
        Katzenjammer(3, values=kind(8), copies=kind(15))


def test_a_time_difference_is_no_integer():
    with pytest.raises(ValueError, match="mice is np.timedelta64"):
        Katzenjammer(3, np.timedelta64(3))


def test_one_deck_is_dealt_to_one_table_and_nonsense_is_refused():
    tables = Tables(Katzenjammer(3))
    tables.deal(DECK)
    assert tables.records["deck"][0].tolist() == INTEGERS
    for deck in (7, 1.5, b"1", object()):
        assert_refused(tables, lambda t, deck=deck: t.deal(deck), "a deck must be 90 characters of 12345J or 90 integers")


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


def test_a_deck_that_ends_at_once_leaves_no_game_that_could_be_played():
    env = gymnasium.make(ENV_ID, num_players=2, values=2, copies=3, set_size=2, hand_size=3, seat=0).unwrapped
    env.reset(seed=1)
    with pytest.raises(ValueError, match="with this deck the game ended before the open seat had a decision"):
        env.reset(options={"deck": "111222JJJ", "bandleader": 0})
    with pytest.raises(ValueError, match="the game is over; call reset"):
        env.step(0)


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
        named(None, Katzenjammer(3).observation_parts)


# --- arenas


def arena_in_play():
    tables = tables_in_play()
    arena = Arena(tables, [make_agent("random")], FixedSeating((OPEN, 0, 0)), np.random.default_rng(1))
    arena.start()
    return arena


@pytest.mark.parametrize("where", [np.arange(8)[::2], np.arange(8)[::-1], [1, 5], np.array([6, 2], np.uint8)])
def test_an_arena_steps_the_tables_that_are_named_however_they_are_named(where):
    arena = arena_in_play()
    before, actions = arena.tables.records.copy(), legal_actions(arena.tables)
    arena.step(actions[where], where)
    assert np.flatnonzero(arena.tables.records != before).tolist() == sorted(where)


@pytest.mark.parametrize(("where", "message"), [*WRONG_TABLES, ([3, 3], "where names a table twice")])
def test_an_arena_refuses_tables_that_do_not_exist(where, message):
    arena = arena_in_play()
    actions = legal_actions(arena.tables)[: len(where)]
    assert_refused(arena.tables, lambda _: arena.step(actions, where), message)
    assert_refused(arena.tables, lambda _: arena.start(where), message)


@pytest.mark.parametrize("seats", [[3] * 8, [-1] * 8, [0], [[0] * 8]])
def test_worlds_are_dealt_from_the_eyes_of_seats_that_exist(seats):
    tables = tables_in_play()
    redacted = tables.game.redact(tables.records, np.zeros(8, np.int64))
    with pytest.raises(ValueError, match="seats must be 8 seats from 0 to 2, one for each table"):
        tables.game.redeal(redacted, np.array(seats), np.random.default_rng(1))
