"""The history: the events of a game up to now, as one seat may know them, for policies with a memory."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from any_game import every_game, nth_legal
from gymnasium.vector import AutoresetMode

from katz_env import Agent, Tables, katzenjammer_v0, make_agent, sb3
from katz_env.core import event_log
from katz_env.core.aec import GameAECEnv
from katz_env.core.event_log import CARD_SCALE
from katz_env.core.gym_env import SingleEnv
from katz_env.core.gym_vector_env import GameVectorEnv

LENGTH, SIZE = 6, 3
ENV_ID = "katz_env/Katzenjammer-v0"


def described(game, events, seat):
    """The last events as the documentation of the history says, one at a time."""
    rows = np.zeros((LENGTH, len(game.event_kinds) + game.num_players + 1 + game.event_cards), np.float32)
    for row, event in zip(rows[::-1], events[::-1], strict=False):
        row[event["kind"]] = 1
        if event["seat"] >= 0:
            row[len(game.event_kinds) + (event["seat"] - seat) % game.num_players] = 1
        row[len(game.event_kinds) + game.num_players] = np.clip(event["number"] / game.num_actions, -1, 1)
        if event["seen_by"] in (-1, seat):
            row[-game.event_cards :] = event["cards"] * CARD_SCALE
    return rows


@every_game
@pytest.mark.parametrize("autoreset", [True, False])
def test_it_holds_the_events_of_all_steps_of_the_game(game, autoreset):
    tables = Tables(game, SIZE, seed=3, history=LENGTH, autoreset=autoreset)
    rng, told = np.random.default_rng(1), [[*tables.events(i)] for i in range(SIZE)]
    decided = [[0] * game.num_players for _ in range(SIZE)]
    ended, everyone, step = 0, np.arange(SIZE), 0
    while ended <= SIZE if autoreset else not tables.terminated.all():
        before, over = [len(events) for events in told], tables.terminated.copy()
        for i in np.flatnonzero(~over | autoreset):  # with autoreset, another game goes on at a table whose game ended
            decided[i][tables.turn[i]] = before[i]
        tables.step(nth_legal(tables.action_masks, rng.random(SIZE)))
        for i in everyone:
            told[i] += [*tables.events(i)]
            if tables.terminated[i] and not over[i] and autoreset:
                start = max(k for k in range(before[i], len(told[i])) if begins_a_game(told[i], k))
                last = tables.history(everyone[i : i + 1], np.zeros(1, np.int64), finished=True)[0]
                np.testing.assert_array_equal(last, described(game, told[i][:start], 0))
                told[i], decided[i], ended = told[i][start:], [0] * game.num_players, ended + 1
        step += 1
        for seat in range(game.num_players):
            found = tables.history(everyone, np.full(SIZE, seat))
            for i in everyone[step % SIZE :: SIZE]:  # checks of all tables after every step would take long
                np.testing.assert_array_equal(found[i], described(game, told[i], seat))
                assert told[i][decided[i][seat] :] == [*whole(tables, i, seat, "decision")]
                assert told[i] == [*whole(tables, i, None, "game")]


def whole(tables, i, seat, since):
    """The events as the log has them; which cards a seat sees is tested by those of the event log."""
    events = tables.events(i, seat, since)
    if seat is not None:
        complete = tables.events(i, None, "game")
        events = complete[len(complete) - len(events) :]
    return events


def begins_a_game(told, k):
    """Whether event k is the first of a run of events of the kind with which games begin."""
    first = told[0]["kind"]
    return told[k]["kind"] == first and told[k - 1]["kind"] != first


class Asked(Agent):
    """Greedy without its compiled code, so that Python plays its moves one at a time."""

    name = "asked"

    def __init__(self):
        self.agent = make_agent("greedy")

    def act(self, view):
        return self.agent.act(view)


@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.name)
def test_compiled_opponents_leave_the_same_history_as_asked_ones(mode):
    makers = ["greedy", Asked()]
    envs = [
        gymnasium.make_vec(ENV_ID, num_envs=4, num_players=2, opponents=o, history=LENGTH, autoreset_mode=mode) for o in makers
    ]
    steps = [env.reset(seed=6) for env in envs]
    for _ in range(60):
        np.testing.assert_array_equal(steps[0][0], steps[1][0])
        assert envs[0].observation_space.contains(steps[0][0])
        named = envs[0].unwrapped.named_observations()
        np.testing.assert_array_equal(steps[0][0][:, -named["history"][0].size :], named["history"].reshape(4, -1))
        for i in range(4):
            np.testing.assert_array_equal(*(env.unwrapped.events(i) for env in envs))
        infos = steps[0][-1]
        steps = [env.step(infos["action_mask"].argmax(1)) for env in envs]
        ended = steps[0][2]
        for i in np.flatnonzero(ended) if mode == AutoresetMode.SAME_STEP else ():
            np.testing.assert_array_equal(*(step[4]["final_obs"][i] for step in steps))
            assert steps[0][4]["final_obs"][i][-named["history"][0].size :].any()
        if ended.any() and mode == AutoresetMode.DISABLED:
            steps = [env.reset(options={"reset_mask": ended}) for env in envs]


def test_the_last_observation_is_the_same_in_all_modes():
    found = []
    for mode in (AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP):
        envs = gymnasium.make_vec(ENV_ID, num_envs=1, num_players=2, seat=0, history=LENGTH, autoreset_mode=mode)
        _, infos = envs.reset(seed=6)
        terminated = np.zeros(1, bool)
        while not terminated[0]:
            observations, _, terminated, _, infos = envs.step(infos["action_mask"].argmax(1))
        found.append(infos["final_obs"][0] if mode == AutoresetMode.SAME_STEP else observations[0])
    np.testing.assert_array_equal(*found)


@every_game
def test_one_table_shows_what_many_show(game):
    single = SingleEnv(game, opponents="random", seat=0, history=LENGTH, mask="observation")
    aec = GameAECEnv(game, history=LENGTH)
    observation, _ = single.reset(seed=1)
    assert single.observation_space.contains(observation)
    assert single.named_observation()["history"].shape[0] == LENGTH
    assert single.events().dtype.names[0] == "kind"
    aec.reset(seed=1)
    for agent in aec.agents:
        seen = aec.observe(agent)
        assert aec.observation_space(agent).contains(seen)
        flat = np.concatenate([aec.named_observation(agent)[name].ravel() for name in ("history",)])
        np.testing.assert_array_equal(seen["observation"][-flat.size :], flat)
        assert len(aec.events(agent)) > 0


def test_the_doors_take_the_setting():
    env = sb3.make_vec_env(ENV_ID, 3, num_players=2, history=LENGTH, seed=1)
    observations = env.reset()
    assert env.observation_space.contains(observations[0])
    np.testing.assert_array_equal(observations[:, -env.named_observations()["history"][0].size :].any(1), True)
    plain = sb3.make_vec_env(ENV_ID, 3, num_players=2, seed=1)
    np.testing.assert_array_equal(plain.reset(), observations[:, : plain.observation_space.shape[0]])
    assert katzenjammer_v0.env(history=2).observation_space("player_0")["observation"].shape > plain.observation_space.shape


@pytest.mark.parametrize("history", [-1, 10_001, 2.0, True])
@every_game
def test_wrong_lengths_are_refused(game, history):
    for make in (lambda: Tables(game, 2, history=history), lambda: GameVectorEnv(game, 2, "random", history=history)):
        with pytest.raises(ValueError, match=f"history is {history}; it must be an integer from 0 to 10000"):
            make()


@every_game
def test_what_is_not_kept_is_refused(game):
    tables = Tables(game, 2, seed=0, events=True)
    with pytest.raises(ValueError, match="these tables keep no history; make them with history=16"):
        tables.history(np.zeros(1, np.int64), np.zeros(1, np.int64))
    for since, seat in (("yesterday", 0), ("decision", None)):
        with pytest.raises(
            ValueError, match=f"since is '{since}'; it must be one of 'step', 'decision', 'game', and 'decision'"
        ):
            tables.events(0, seat, since)
    env = SingleEnv(game, opponents="random")
    env.reset(seed=0)
    with pytest.raises(ValueError, match="these tables log no events"):
        env.events()


def test_events_that_later_ones_overwrote_are_refused():
    log = event_log.new_log(1, 4, 2, 2)
    log.before[:], log.counts[:], log.decided[:] = 9, 2, [[8, 5]]
    assert len(event_log.read(log, 0, 0, "decision")) == 3
    for seat, since, count in ((1, "decision", 6), (None, "game", 11)):
        with pytest.raises(ValueError, match=f"there were {count} events since then, and 4 are kept; ask for a longer history"):
            event_log.read(log, 0, seat, since)


@every_game
def test_restored_tables_begin_a_new_history(game):
    tables = Tables(game, 2, seed=0, history=LENGTH)
    tables.step(tables.action_masks.argmax(1))
    tables.restore(tables.records.copy())
    assert not tables.history(np.arange(2), np.zeros(2, np.int64)).any()
    assert len(tables.events(0, 0, "decision")) == len(tables.events(1, None, "game")) == 0
