"""Agents and the arena: who is asked, with what, how often, and who is paid."""

from __future__ import annotations

import numpy as np
import pytest

import katz_env
from katz_agents.match import play_match
from katz_env import Agent, Arena, Katzenjammer, Tables, make_agent
from katz_env.core import registry
from katz_env.core.arena import OPEN, FixedSeating, one_open_seat

DUEL = Katzenjammer(num_players=2)
GAME = Katzenjammer(num_players=3)


class Noting(Agent):
    """Plays the first legal move and notes the seats and batch sizes it was asked for."""

    def __init__(self):
        self.seats: list[np.ndarray] = []

    def act(self, view):
        self.seats.append(view.seats)
        return view.action_masks.argmax(1)


class Fixed(Agent):
    name = "fixed"

    def __init__(self, answer):
        self.answer = answer

    def act(self, view):
        return self.answer(view)


def arena_of(agents, seating, *, num_tables=40, autoreset=True, seed=1, game=GAME, **settings):
    tables = Tables(game, num_tables, seed=seed, autoreset=autoreset)
    return Arena(tables, agents, seating, np.random.default_rng(seed), **settings)


def test_with_no_open_seat_all_games_are_played_to_the_end():
    arena = arena_of([make_agent("random")], FixedSeating((0, 0, 0)), autoreset=False)
    arena.start()
    assert arena.tables.terminated.all()
    assert arena.ended.all()
    assert np.array_equal(arena.final_rewards, arena.tables.game.outcome(arena.tables.records, 0)[0])


def test_each_agent_is_asked_for_its_own_seats_only():
    left, right = Noting(), Noting()
    arena_of([left, right], FixedSeating((0, 1, 1)), autoreset=False).start()
    assert set(np.concatenate(left.seats)) == {0}
    assert set(np.concatenate(right.seats)) == {1, 2}


def test_an_agent_is_asked_once_for_all_its_waiting_tables():
    everyone = Noting()
    arena_of([everyone], FixedSeating((0, 0, 0)), autoreset=False).start()
    assert len(everyone.seats[0]) == 40


def test_tables_wait_for_the_open_seat():
    agents, seating = one_open_seat(3, "random", 1)
    arena = arena_of(agents, seating)
    arena.start()
    for _ in range(50):
        assert (arena.tables.turn == 1).all()
        arena.step(arena.tables.action_masks.argmax(1))


def test_the_open_seat_is_drawn_for_every_game():
    agents, seating = one_open_seat(3, "random", None)
    arena = arena_of(agents, seating, num_tables=300)
    arena.start()
    first = arena.players.copy()
    assert set(np.argmax(first == OPEN, 1)) == {0, 1, 2}
    assert ((first == OPEN).sum(1) == 1).all()
    for _ in range(60):
        before = arena.players.copy()
        arena.step(arena.tables.action_masks.argmax(1))
        assert np.array_equal(arena.players[~arena.ended], before[~arena.ended]), "a seat changed hands in a game"
        assert np.array_equal(arena.final_players[arena.ended], before[arena.ended])
    assert not np.array_equal(arena.players, first)


def test_opponents_sit_clockwise_from_the_left_of_the_open_seat():
    _, seating = one_open_seat(4, ["random", "greedy", "random"], 2)
    assert seating(np.random.default_rng(0), 1).tolist() == [[1, 2, OPEN, 0]]


@pytest.mark.parametrize("game", [DUEL, GAME])
def test_the_open_seat_is_paid_what_the_game_pays(game):
    agents, seating = one_open_seat(game.num_players, "random", None)
    arena = arena_of(agents, seating, game=game, num_tables=100)
    arena.start()
    games = 0
    for _ in range(60):
        arena.step(arena.tables.action_masks.argmax(1))
        rewards, _ = (
            game.outcome(arena.final_records[arena.ended], 0) if arena.ended.any() else (np.zeros((0, game.num_players)), None)
        )
        mine = arena.final_players[arena.ended] == OPEN
        assert np.array_equal(arena.final_rewards[arena.ended][mine], rewards[mine])
        assert (arena.rewards == 0).all(), "this game pays only at the end"
        games += arena.ended.sum()
    assert games > 50


def test_the_same_seed_gives_the_same_tournament():
    def play(disturb):
        arena = arena_of([make_agent("random"), make_agent("greedy")], FixedSeating((0, 1, 0)), autoreset=False)
        if disturb:
            np.random.seed(7)  # noqa: NPY002
        arena.start()
        return arena.tables.records.tobytes()

    assert play(False) == play(True)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda view: np.full(len(view), 255), "<agent fixed> chose the illegal action 255"),
        (lambda view: np.full(len(view), -1), "<agent fixed> chose the illegal action -1"),
        (lambda view: np.full(len(view), 9999), "<agent fixed> chose the illegal action 9999"),
        (lambda view: np.zeros(3, int), r"<agent fixed> answered int64 \(3,\); 40 action ids were asked for"),
        (lambda view: np.zeros(len(view)), "<agent fixed> answered float64"),
    ],
)
def test_a_wrong_answer_names_the_agent(answer, message):
    arena = arena_of([Fixed(answer)], FixedSeating((0, 0, 0)))
    before = arena.tables.records.copy()
    with pytest.raises(ValueError, match=message):
        arena.start()
    assert np.array_equal(arena.tables.records, before)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gready", "there is no agent 'gready'; installed are .*greedy.*random"),
        ("", "there is no agent ''"),
        (7, "an agent must be a name or an Agent, not 7"),
        ("greedy:depth=3", "agent 'greedy:depth=3': .*"),
        ("random:5", "agent 'random:5': .*"),
    ],
)
def test_unknown_agents_and_settings_are_named(spec, message):
    with pytest.raises(ValueError, match=message):
        make_agent(spec)


def test_settings_in_names(monkeypatch):
    class Point:
        name, value, dist = "mine", "somewhere:Mine", None

        def load(self):
            return lambda *args, **kwargs: Recorded(args, kwargs)

    class Recorded(Noting):
        def __init__(self, args, kwargs):
            super().__init__()
            self.got = args, kwargs

    monkeypatch.setattr(registry, "entry_points", lambda group: [Point()])
    agent = make_agent("mine:some/file.npz,playouts=2000,scale=0.5,mode=fast")
    assert agent.got == (("some/file.npz",), {"playouts": 2000, "scale": 0.5, "mode": "fast"})
    assert agent.name == "mine:some/file.npz,playouts=2000,scale=0.5,mode=fast"
    assert katz_env.agent_names() == ["mine"]


@pytest.mark.parametrize("name", ["random", "greedy", "heuristic"])  # test_search.py and test_policy.py have the others
def test_installed_agents_finish_games(name, players):
    arena = arena_of(
        [make_agent(name)], FixedSeating((0,) * players), game=Katzenjammer(players), num_tables=4, autoreset=False
    )
    arena.start()
    assert arena.tables.terminated.all()


def test_greedy_beats_random_players():
    _, low, _ = play_match(GAME, [make_agent("greedy")] + [make_agent("random")] * 2, 500, np.random.default_rng(0)).interval()
    assert low > 0.85


def test_a_match_plays_each_deal_in_every_rotation():
    greedy, first, second = make_agent("greedy"), make_agent("random"), make_agent("random")
    match = play_match(GAME, [greedy, first, second], 20, np.random.default_rng(0))
    assert match.results["win_share"].shape == (20, 3, 3)
    assert np.allclose(match.results["win_share"].sum(2), 1)
    alike = play_match(GAME, [greedy] * 3, 20, np.random.default_rng(0)).results["score"]
    for rotation in range(3):  # agents that are alike: only the seat matters
        assert np.array_equal(np.roll(alike[:, rotation], rotation, 1), alike[:, 0])


@pytest.mark.parametrize(
    ("size", "deals", "message"),
    [(2, 5, "there are 2 agents; 3 players"), (3, 0, "deals is 0; it must be an integer of")],
)
def test_a_match_needs_agents_and_deals(size, deals, message):
    with pytest.raises(ValueError, match=message):
        play_match(GAME, [make_agent("random")] * size, deals, np.random.default_rng(0))
