"""What agents, arenas and games refuse: a ValueError names the wrong value and what would be right, and nothing changes."""

import numpy as np
import pytest
from in_play import assert_refused, every_wrong_table, legal_actions, tables_in_play

from katz_env import Arena, Katzenjammer, make_agent
from katz_env.core.arena import OPEN, FixedSeating


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


@every_wrong_table
def test_an_arena_refuses_tables_that_do_not_exist(where, message):
    arena = arena_in_play()
    actions = legal_actions(arena.tables)[: len(where)]
    assert_refused(arena.tables, lambda _: arena.step(actions, where), message)
    assert_refused(arena.tables, lambda _: arena.start(where), message)


# --- games


@pytest.mark.parametrize(
    ("seats", "message"),
    [([3] * 8, "seat 3 does not exist; seats are 0 to 2"),
     ([-1] * 8, "seat -1 does not exist; seats are 0 to 2"),
     ([0], "seats must be 8 seats from 0 to 2, one for each table"),
     ([[0] * 8], "seats must be 8 seats from 0 to 2, one for each table"),
     ([0.0] * 8, "seats are of type float64; they must be integers")],
)  # fmt: skip
def test_a_game_looks_from_the_eyes_of_seats_that_exist(seats, message):
    tables = tables_in_play()
    game, records = tables.game, tables.records.copy()
    redacted = game.redact(records, np.zeros(8, np.int64))
    for call in (game.observe, game.state, game.redact, lambda r, s: game.redeal(redacted, s, np.random.default_rng(1))):
        with pytest.raises(ValueError, match=message):
            call(records, np.array(seats))
    np.testing.assert_array_equal(records, tables.records)


@pytest.mark.parametrize("other", [Katzenjammer(2), Katzenjammer(4), Katzenjammer(3, values=4)], ids=repr)
def test_a_game_looks_at_tables_of_its_own_only(other):
    records, seats, rng = other.new_tables(3), np.zeros(3, np.int64), np.random.default_rng(1)
    game = Katzenjammer(3)
    for call in (game.observe, game.state, game.redact, lambda r, s: game.redeal(r, s, rng), lambda r, s: game.outcome(r)):
        with pytest.raises(ValueError, match=r"records must be an array \(k,\) of the dtype of Katzenjammer\(num_players=3\)"):
            call(records, seats)


@pytest.mark.parametrize(
    ("field", "value"),
    [("turn", 3), ("turn", -1), ("phase", 4), ("phase", -1), ("bandleader", 3), ("bandleader", -1), ("high_bidder", 3),
     ("high_bidder", -2), ("bid", -1), ("bid", 181), ("position", 17), ("position", 91), ("hand_sizes", -1), ("known", -1),
     ("hand", -1), ("row", -1), ("discard", -1), ("claims", -1), ("claims", 127), ("displayed", -1), ("passed", 2)],
)  # fmt: skip
def test_a_game_refuses_tables_whose_numbers_would_lead_out_of_an_array(field, value):
    tables = tables_in_play()
    game, seats, rng = tables.game, tables.turn.astype(np.int64), np.random.default_rng(1)
    records = tables.records.copy()
    records[field][4] = value
    for call in (game.observe, game.state, game.redact, lambda r, s: game.redeal(r, s, rng), lambda r, s: game.outcome(r)):
        with pytest.raises(ValueError, match=f"(?s)record 4 is not a possible table: {field} is "):
            call(records, seats)


@pytest.mark.parametrize(
    "spoil",
    [lambda r: r["known"].fill(100), lambda r: r["hand_sizes"].fill(120), lambda r: r["hand_sizes"].fill(0),
     lambda r: r["row"].fill(100), lambda r: r["discard"].fill(127), lambda r: r["displayed"].fill(127),
     lambda r: r["position"].fill(90), lambda r: r["position"].fill(18), lambda r: r["hand"].fill(127),
     lambda r: r["claims"].fill(30)],
)  # fmt: skip
def test_redacted_tables_that_were_changed_by_hand_have_no_world_and_harm_nothing(spoil):
    tables = tables_in_play()
    game, seats, rng = tables.game, tables.turn.astype(np.int64), np.random.default_rng(1)
    redacted = game.redact(tables.records, seats)
    spoil(redacted)
    with pytest.raises(ValueError, match="no possible world|not a possible table"):
        game.redeal(redacted, seats, rng)
