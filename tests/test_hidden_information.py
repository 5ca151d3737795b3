"""A seat, and the agent that plays it, is given nothing that it may not know."""

import gc
import types

import gymnasium
import numpy as np
import pytest
from random_play import random_positions

from katz_env import Agent, Katzenjammer, Tables

WIPED = {"deal", "rng", "hand", "best"}


def positions(players, seed=1):
    return Katzenjammer(players), random_positions(Katzenjammer(players), 16, 12, seed)


def seats_to_act(records):
    return records["turn"].astype(np.int64)


# --- redaction


def test_redact_wipes_what_a_seat_cannot_know_and_keeps_the_rest(players):
    game, records = positions(players)
    original = records.copy()
    for seat in range(players):
        seen = game.redact(records, np.full(len(records), seat))
        assert (seen["deal"] == -1).all()
        assert (seen["rng"] == 0).all()
        others = [other for other in range(players) if other != seat]
        assert not seen["hand"][:, others].any()
        assert not seen["best"][:, others].any()
        for field in ("hand", "best"):
            np.testing.assert_array_equal(seen[field][:, seat], records[field][:, seat])
        for field in set(records.dtype.names) - WIPED:
            np.testing.assert_array_equal(seen[field], records[field], err_msg=field)
    np.testing.assert_array_equal(records, original)


def test_tables_that_differ_only_in_hidden_things_look_the_same_when_redacted(players):
    game, records = positions(players)
    other = records.copy()
    other["rng"] += np.uint64(12345)
    other["deal"] = other["deal"][:, ::-1]
    np.testing.assert_array_equal(game.redact(other, seats_to_act(other)), game.redact(records, seats_to_act(records)))


def reachable(root):
    """Everything that can be reached from an object, without going through code."""
    code = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
    seen, waiting = {}, [root]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, code) or type(thing).__module__.startswith(("numba.", "llvmlite.")):
            continue
        seen[id(thing)] = thing
        waiting += gc.get_referents(thing)
        if isinstance(thing, np.ndarray) and thing.base is not None:
            waiting.append(thing.base)  # NumPy does not show this reference to the collector
    return list(seen.values())


def test_a_view_has_no_handle_to_the_tables(players):
    tables = Tables(Katzenjammer(players), 8, seed=2)
    view = tables.view(np.arange(8), np.random.default_rng(2))
    public = {id(thing) for thing in reachable(tables.game)}  # the game, with all that Numba knows, which everybody may see
    found = [thing for thing in reachable(view) if id(thing) not in public]
    arrays = [thing for thing in found if isinstance(thing, np.ndarray)]
    theirs = [thing for thing in reachable(tables) if id(thing) not in public]
    theirs = [thing for thing in theirs if isinstance(thing, np.ndarray) and thing.size]
    assert any(thing is view.tables for thing in arrays)
    assert any(np.shares_memory(array, tables.records) for array in theirs)  # the walk does find what is there
    assert not any(isinstance(thing, Tables) for thing in found)
    for array in arrays:
        assert not any(np.shares_memory(array, other) for other in theirs if other.dtype != object)


class Spy(Agent):
    """Passes, or does the first thing that is legal, and keeps all views."""

    name = "spy"

    def __init__(self):
        self.views = []

    def act(self, view):
        self.views.append(view)
        return view.action_masks.argmax(1)


def test_agents_are_shown_redacted_tables_of_the_seats_to_act(players):
    spy = Spy()
    gymnasium.make("katz_env/Katzenjammer-v0", num_players=players, opponents=spy, seat=0).reset(seed=3)
    gymnasium.make_vec("katz_env/Katzenjammer-v0", num_envs=20, num_players=players, opponents=spy).reset(seed=3)
    assert spy.views
    for view in spy.views:
        game, everyone = view.game, np.arange(len(view))
        np.testing.assert_array_equal(view.tables, game.redact(view.tables, view.seats))
        np.testing.assert_array_equal(view.seats, view.tables["turn"])
        np.testing.assert_array_equal(view.observations, game.observe(view.tables, view.seats))
        assert (view.tables["hand"][everyone, view.seats].sum(1) == view.tables["hand_sizes"][everyone, view.seats]).all()


@pytest.mark.parametrize("make", [gymnasium.make, gymnasium.make_vec])
def test_the_generator_of_an_agent_does_not_give_away_the_seed_of_the_tables(make):
    spy = Spy()
    make("katz_env/Katzenjammer-v0", num_players=3, opponents=spy, seat=0).reset(seed=4)
    for view in spy.views:
        entropy = view.rng.bit_generator.seed_seq.entropy
        assert 4 not in np.atleast_1d(np.asarray(entropy, object))
