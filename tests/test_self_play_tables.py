"""`SelfPlay`: every decision of an open seat is paid once, for what its seat earned until its next turn or its game's end."""

from __future__ import annotations

import numpy as np
import pytest
from any_game import KUHN, every_game, nth_legal

from katz_env import Agent, SelfPlay, Tables, make_agent, make_game
from katz_env.core.arena import OPEN, FixedSeating
from katz_env.core.self_play import NOBODY

STEPS, SIZE = 60, 16


def played(game, steps=STEPS, size=SIZE, seed=3, **settings):
    """Random play: the tables, and for each decision (step, table) its seat, reward, and whether it was its game's last."""
    play = SelfPlay(game, size, **settings)
    play.reset(seed)
    rng = np.random.default_rng(seed)
    decisions, paid, ended = {}, {}, []
    for step in range(steps):
        assert play.num_steps == step
        for table, seat in enumerate(play.seats.tolist()):
            decisions[step, table] = seat
        credits = play.step(nth_legal(play.action_masks, rng.random(size)))
        for table, seat, made, reward, done in zip(*(array.tolist() for array in credits), strict=True):
            assert (made, table) not in paid, "no decision is paid twice"
            assert decisions[made, table] == seat
            paid[made, table] = reward, done
            assert done or decisions[made, table] == play.seats[table], "the seat that is paid is to act again"
        ended += zip([step] * len(play.finished.tables), play.finished.tables.tolist(), play.finished.records, strict=True)
    return play, decisions, paid, ended


@every_game
def test_all_decisions_of_finished_games_are_paid_what_their_seat_won(game):
    _, decisions, paid, ended = played(game, 400)
    assert len(ended) > SIZE
    first = dict.fromkeys(range(SIZE), 0)
    for step, table, record in ended:
        rewards = game.outcome(record.reshape(1))[0][0]
        for seat in range(game.num_players):
            mine = [(s, table) for s in range(first[table], step + 1) if decisions[s, table] == seat]
            assert [paid[one][1] for one in mine] == [False] * (len(mine) - 1) + [True] * bool(mine)
            assert sum(paid[one][0] for one in mine) == pytest.approx(rewards[seat] if mine else 0)
        first[table] = step + 1


@every_game
def test_it_plays_the_games_that_tables_play(game):
    play, tables, rng = SelfPlay(game, SIZE), Tables(game, SIZE, seed=5), np.random.default_rng(0)
    play.reset(5)
    for _ in range(STEPS):
        np.testing.assert_array_equal(play.observations, tables.observations)
        np.testing.assert_array_equal(play.action_masks, tables.action_masks)
        actions = nth_legal(play.action_masks, rng.random(SIZE))
        tables.step(actions)
        play.step(actions)
    np.testing.assert_array_equal(play.tables.records, tables.records)


def test_open_seats_play_beside_agents():
    game, agents = make_game("katzenjammer", num_players=3), [make_agent("greedy")]
    play, decisions, paid, ended = played(game, 200, agents=agents, seating=FixedSeating((OPEN, 0, OPEN)))
    assert set(decisions.values()) == {0, 2}
    assert ended
    assert {paid[made][1] for made in paid} == {False, True}
    assert (play.arena.players == [OPEN, 0, OPEN]).all()


def test_an_illegal_action_is_an_error_that_changes_nothing():
    play = SelfPlay(KUHN, 4)
    play.reset(0)
    before = play.tables.records.copy()
    with pytest.raises(ValueError, match="action 9 is illegal at table 2; legal are"):
        play.step([0, 0, 9, 0])
    with pytest.raises(ValueError, match=r"actions are of type float64; they must be integers"):
        play.step(np.zeros(4))
    np.testing.assert_array_equal(play.tables.records, before)
    assert len(play.step([0, 0, 0, 0]).tables) == 0, "nobody has acted twice yet"


def test_an_illegal_action_can_be_paid_and_break_the_game_off():
    play = SelfPlay(KUHN, 4, illegal_reward=-5.0)
    play.reset(0)
    seat = play.seats[2]
    credits = play.step([0, 0, 9, 0])
    assert [array.tolist() for array in credits] == [[2], [seat], [0], [-5.0], [True]]
    assert (play.finished.tables.tolist(), play.finished.culprits.tolist()) == ([2], [seat])
    assert play.finished.records["phase"][0] != KUHN.over_phase
    assert play.action_masks[2].any(), "another game was dealt"


@pytest.mark.parametrize("illegal_reward", [None, -1.0])
def test_without_autoreset_a_finished_table_waits_until_it_is_dealt_anew(illegal_reward):
    play = SelfPlay(KUHN, 3, autoreset=False, illegal_reward=illegal_reward)
    play.reset(1)
    played_steps = 0
    while not play.over.all():
        play.step(play.action_masks.argmax(1))
        played_steps += 1
        assert (play.finished.culprits == NOBODY).all()
    ended = play.tables.records.copy()
    assert len(play.step([9, 9, 9]).tables) == 0, "a finished table ignores its action"
    np.testing.assert_array_equal(play.tables.records, ended)
    play.reset(where=[1])
    assert play.over.tolist() == [True, False, True]
    assert play.num_steps == played_steps + 1, "the steps are counted on"
    play.reset(1)
    assert (play.num_steps, play.over.any()) == (0, False)


class Failing(Agent):
    """Raises at its second decision."""

    name = "failing"
    decisions = 0

    def act(self, view):
        self.decisions += 1
        if self.decisions == 2:
            raise OSError("the network is down")
        return view.action_masks.argmax(1)


def _play_on(play):
    play.reset(0)
    while True:
        play.step(play.action_masks.argmax(1))


def test_after_an_exception_all_tables_must_be_dealt_anew():
    play = SelfPlay(KUHN, 2, agents=[Failing()], seating=FixedSeating((OPEN, 0)))
    with pytest.raises(ValueError, match=r"no game was dealt; call reset\(\)"):
        play.step([0, 0])
    with pytest.raises(OSError, match="the network is down"):
        _play_on(play)
    with pytest.raises(ValueError, match=r"the game was broken off by an exception; call reset\(\)"):
        play.step([0, 0])
    with pytest.raises(ValueError, match="all tables must be dealt anew"):
        play.reset(where=[0])
    play.reset()
    play.step(play.action_masks.argmax(1))


@every_game
def test_a_saved_state_goes_on_as_the_unbroken_run(game):
    play, _, _, _ = played(game, 25)
    state, rng = play.get_state(), np.random.default_rng(9)
    other = SelfPlay(game, SIZE)
    other.set_state(state)
    for _ in range(25):
        np.testing.assert_array_equal(play.observations, other.observations)
        actions = nth_legal(play.action_masks, rng.random(SIZE))
        for mine, theirs in zip(play.step(actions), other.step(actions), strict=True):
            np.testing.assert_array_equal(mine, theirs)
    with pytest.raises(ValueError, match=r"last is int64 \(16, \d\); it must be int64 \(3, \d\)"):
        SelfPlay(game, 3).set_state(state)


def test_agents_have_names_or_are_objects():
    game = make_game("katzenjammer", num_players=2)
    for agents in ("greedy", ["greedy"], make_agent("greedy")):
        play = SelfPlay(game, 2, agents=agents, seating=FixedSeating((OPEN, 0)))
        play.reset(0)
        assert [agent.name for agent in play.arena.agents] == ["greedy"]


@pytest.mark.parametrize(
    ("seating", "message"),
    [
        (lambda rng, k: np.full((k, 2), 7), "the seating has other numbers than -1, for an open seat, to 0"),
        (lambda rng, k: np.full((k, 2), -3), "the seating has other numbers than -1, for an open seat, to 0"),
        (lambda rng, k: np.zeros((k, 3), int), r"the seating returned int64 \(4, 3\); it must return integers \(4, 2\)"),
        (lambda rng, k: np.zeros((k, 2)), r"the seating returned float64 \(4, 2\); it must return integers \(4, 2\)"),
        (lambda rng, k: None, r"the seating returned object \(\); it must return integers \(4, 2\)"),
        (np.zeros((4, 2), int), "seating is of type ndarray; it must be a function of a generator and a number"),
    ],
)
def test_a_wrong_seating_is_refused(seating, message):
    with pytest.raises(ValueError, match=message):
        SelfPlay(KUHN, 4, agents=["random"], seating=seating).reset(0)


@pytest.mark.parametrize("state", [{}, None, [], "x", {"records": None, "arena": None}])
def test_a_state_that_is_none_is_refused(state):
    with pytest.raises(ValueError, match="the state lacks .*last, num_steps.*; it must be one from get_state"):
        SelfPlay(KUHN, 4).set_state(state)
