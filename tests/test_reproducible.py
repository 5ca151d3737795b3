"""Table i depends on (seed, i) and its moves alone, in any batch, thread, process and copy."""

import copy
import json
import os
import pickle
import random
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from random_play import play_on, random_actions

from katz_env import Katzenjammer, Tables, katzenjammer_v0

PLAYER = Path(__file__).parent / "played_games.py"


def first_but_one(masks):
    """A rule for choosing that needs no generator: the second legal action (the first where there is none)."""
    return np.argmax(np.cumsum(masks, axis=1) == 2, axis=1)


def played(tables, steps=40, disturb=False):
    """The records after every step."""
    seen = [tables.records.copy()]
    for step in range(steps):
        if disturb:
            np.random.seed(step)  # noqa: NPY002 - the global generator must not matter
            random.seed(step)
        tables.step(first_but_one(tables.action_masks))
        seen.append(tables.records.copy())
    return seen


def assert_same(first, second):
    assert len(first) == len(second)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


# --- batches and threads


@pytest.mark.parametrize("num_threads", [1, 2, 3])
def test_a_table_is_the_same_for_any_number_of_tables_and_threads(players, num_threads):
    game = Katzenjammer(players)
    few = played(Tables(game, 5, seed=1, num_threads=1))
    many = played(Tables(game, 1500, seed=1, num_threads=num_threads), disturb=True)
    assert_same([records[:5] for records in many], few)


@pytest.mark.parametrize("num_threads", [2, 3])
def test_all_arrays_are_the_same_for_any_number_of_threads(num_threads):
    one, several = (Tables(Katzenjammer(4), 2000, seed=2, num_threads=threads) for threads in (1, num_threads))
    rng = np.random.default_rng(2)
    for _ in play_on(one, rng, 80):
        pass
    rng = np.random.default_rng(2)
    for _ in play_on(several, rng, 80):
        pass
    for name in ("records", "observations", "action_masks", "turn", "rewards", "terminated", "scores"):
        np.testing.assert_array_equal(getattr(one, name), getattr(several, name), err_msg=name)
    np.testing.assert_array_equal(one.state(), several.state())


def test_the_tables_of_a_batch_and_of_other_seeds_are_all_different(players):
    first, second = (Tables(Katzenjammer(players), 400, seed=seed).records for seed in (3, 4))
    decks = {deck.tobytes() for records in (first, second) for deck in records["deal"]}
    assert len(decks) == 800
    assert len(np.unique([first["rng"], second["rng"]])) == 800


def test_the_global_generators_are_neither_read_nor_written():
    np.random.seed(5)  # noqa: NPY002 - the global generator must not matter
    random.seed(5)
    before = np.random.get_state()[1].copy(), random.getstate()  # noqa: NPY002
    for _ in played(Tables(Katzenjammer(3), 10, seed=5)):
        pass
    gymnasium.make("katz_env/Katzenjammer-v0", opponents="random").reset(seed=5)
    np.testing.assert_array_equal(np.random.get_state()[1], before[0])  # noqa: NPY002
    assert random.getstate() == before[1]


def test_tables_without_a_seed_differ():
    assert (Tables(Katzenjammer(2), 3).records["deal"] != Tables(Katzenjammer(2), 3).records["deal"]).any()


# --- reset


def test_reset_with_the_seed_starts_the_streams_again_and_without_goes_on():
    tables = Tables(Katzenjammer(3), 20, seed=6)
    first = played(tables)
    tables.reset(6)
    assert_same(played(tables), first)
    tables.reset()
    second = played(tables)
    assert (second[0]["deal"] != first[0]["deal"]).any(axis=1).all()
    tables.reset(6)
    played(tables)
    tables.reset()
    assert_same(played(tables), second)


def test_reset_of_some_tables_leaves_the_others_alone_and_gives_each_its_own_stream():
    tables, fresh = Tables(Katzenjammer(3), 10, seed=7), Tables(Katzenjammer(3), 10, seed=8)
    before = tables.records.copy()
    where = np.array([7, 2])
    tables.reset(8, where)
    np.testing.assert_array_equal(tables.records[where], fresh.records[where])
    others = np.delete(np.arange(10), where)
    np.testing.assert_array_equal(tables.records[others], before[others])


def test_the_order_and_the_size_of_partial_steps_do_not_matter():
    whole, parts = (Tables(Katzenjammer(3), 12, seed=9) for _ in range(2))
    for _ in range(60):
        whole.step(first_but_one(whole.action_masks))
        for where in (np.array([11, 3, 0]), np.array([1, 2, 4, 5, 6]), np.array([10, 9, 8, 7])):
            parts.step(first_but_one(parts.action_masks[where]), where)
        for name in ("records", "observations", "action_masks", "rewards", "terminated", "scores", "turn"):
            np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))


# --- copies


def test_restored_records_go_on_exactly_as_they_did(players):
    tables = Tables(Katzenjammer(players), 30, seed=10)
    played(tables, 25)
    saved = tables.records.copy()
    first = played(tables, 80)
    tables.restore(saved)
    np.testing.assert_array_equal(tables.observations, tables.observe(tables.turn))
    assert_same(played(tables, 80), first)


def test_records_restored_at_other_tables_go_on_there():
    tables, other = Tables(Katzenjammer(4), 6, seed=11), Tables(Katzenjammer(4), 9, seed=12)
    played(tables, 30)
    other.restore(tables.records[[4, 1]].copy(), [8, 0])
    assert_same([records[[8, 0]] for records in played(other, 80)], [records[[4, 1]] for records in played(tables, 80)])


COPIES = [copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))]
every_copy = pytest.mark.parametrize("duplicate", COPIES, ids=["deepcopy", "pickle"])


@every_copy
@pytest.mark.parametrize("autoreset", [True, False])
def test_a_copy_of_tables_goes_on_as_the_original_and_apart_from_it(duplicate, autoreset):
    tables = Tables(Katzenjammer(3), 20, seed=13, autoreset=autoreset, reward="score")
    played(tables, 30)
    twin = duplicate(tables)
    before = twin.records.copy()
    first = played(tables, 80)
    np.testing.assert_array_equal(twin.records, before)
    assert_same(played(twin, 80), first)
    for name in ("observations", "action_masks", "rewards", "terminated", "scores", "final_records"):
        np.testing.assert_array_equal(getattr(twin, name), getattr(tables, name), err_msg=name)
        assert not np.shares_memory(getattr(twin, name), getattr(tables, name))
    with pytest.raises(ValueError, match="read-only"):
        twin.records["turn"] = 0


def aec_game(env, choose, steps=10**6):
    """What is seen in one game of a PettingZoo environment from here on; `choose` is a generator."""
    seen = []
    for agent in env.agent_iter(steps):
        observation, reward, terminated, _, info = env.last()
        seen.append((agent, observation["observation"].tolist(), reward, terminated, info))
        env.step(None if terminated else int(random_actions(observation["action_mask"][None], choose)[0]))
    return seen


@every_copy
@pytest.mark.parametrize("make", [katzenjammer_v0.env, katzenjammer_v0.raw_env])
@pytest.mark.parametrize("players", [2, 5])
def test_a_copy_of_an_aec_environment_goes_on_as_the_original(make, duplicate, players):
    env = make(players)
    env.reset(seed=14)
    aec_game(env, np.random.default_rng(0), steps=25)
    twin = duplicate(env)
    first = aec_game(env, np.random.default_rng(1))
    assert len(first) > 10
    assert aec_game(twin, np.random.default_rng(1)) == first
    env.reset()
    twin.reset()
    assert aec_game(twin, np.random.default_rng(2)) == aec_game(env, np.random.default_rng(2))


def gymnasium_game(env, masks, steps):
    seen = []
    for _ in range(steps):
        observation, reward, terminated, _, info = env.step(first_but_one(np.atleast_2d(masks)).squeeze())
        seen.append((np.asarray(observation).tolist(), np.asarray(reward).tolist(), np.asarray(terminated).tolist()))
        if np.ndim(terminated) == 0 and terminated:
            observation, info = env.reset()
        masks = info["action_mask"]
    return seen


@pytest.mark.parametrize("settings", [{}, {"num_envs": 5}], ids=["one", "five"])
def test_a_deep_copy_of_a_gymnasium_environment_goes_on_as_the_original(settings):
    make = gymnasium.make_vec if settings else gymnasium.make
    env = make("katz_env/Katzenjammer-v0", num_players=3, opponents="random", **settings).unwrapped
    _, info = env.reset(seed=15)
    gymnasium_game(env, info["action_mask"], 5)
    twin = copy.deepcopy(env)
    first = gymnasium_game(env, env.action_masks(), 60)
    assert gymnasium_game(twin, twin.action_masks(), 60) == first


# --- processes


def digests(*arguments, **environment):
    """What played_games.py prints, run in a fresh process in which every warning is an error."""
    command = [sys.executable, "-W", "error", str(PLAYER), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def in_this_process():
    """The digests of games that one fresh process plays by itself."""
    return digests("tables", "2", "3", "4") | {"environments": digests("here")}


@pytest.mark.parametrize("how", ["forked", "spawned", "threads"])
def test_tables_play_the_same_games_in_workers_and_threads(how, in_this_process):
    assert digests(how) == {players: in_this_process[players] for players in "234"}


@pytest.mark.parametrize(
    "how",
    ["async-fork", *(pytest.param(how, marks=pytest.mark.full) for how in ("async-spawn", "subproc-fork", "subproc-spawn"))],
)
def test_environments_play_the_same_games_in_workers_of_a_process_that_has_used_its_threads(how, in_this_process):
    assert digests(how) == in_this_process["environments"]


@pytest.mark.full
def test_processes_that_share_the_compilation_cache_in_any_order_play_the_same_games(tmp_path):
    """Functions that were compiled for tables of four players must not be called for tables of two, and so on."""
    cache = str(tmp_path / "cache")
    expected = digests("stepped", "2", "4")
    quick = {"NUMBA_CACHE_DIR": cache, "NUMBA_OPT": "1"}  # compiles in half the time; names are given before
    assert digests("stepped", "4", **quick) == {"4": expected["4"]}
    assert any(Path(cache).rglob("*.code"))
    assert digests("stepped", "2", "4", **quick) == expected
