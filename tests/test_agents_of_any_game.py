"""Agents and tournaments in every game: by name, in worlds of their own, and as compiled code."""

import numpy as np
import pytest
from any_game import GAMES, KUHN, every_game

from katz_agents.match import play_match
from katz_agents.tournament import evaluate
from katz_env import Arena, CompiledAgent, Decision, Tables, make_agent
from katz_env.core.arena import FixedSeating
from katz_env.core.game_records import verify
from katz_env.core.jit import compiled

SEARCH = "search:playouts=60,worlds=12,num_threads=1"


def test_search_beats_random_in_kuhn_poker():
    results = evaluate(["search:playouts=400,worlds=40,num_threads=1", "random"], deals=300, seed=1, game=KUHN)
    mean, low, high = results.mean("score", 0)
    assert low > 0.05
    assert low < mean < high
    assert np.allclose(results.mean("score", 1)[0], -mean)  # what one wins the other loses
    assert results.mean("win_share", 0)[1] > 0.5


@pytest.mark.parametrize("game", [GAMES[0], KUHN], ids=lambda game: game.name)
def test_search_chooses_the_same_moves_for_any_number_of_threads(game):
    tables, answers = Tables(game, 40, seed=2), []
    for threads in (1, 2):
        view = tables.view(np.arange(40), np.random.default_rng(2))
        answers.append(make_agent(f"search:playouts=60,worlds=12,num_threads={threads}").act(view))
    np.testing.assert_array_equal(*answers)
    assert tables.action_masks[np.arange(40), answers[0]].all()


def test_search_never_folds_a_king_nor_calls_with_a_jack():
    """Moves that are better in every world, so search must find them whatever the playouts do."""
    tables = Tables(KUHN, 2, seed=3)
    tables.deal([{"cards": "QKJ", "first_seat": 0}, {"cards": "QJK", "first_seat": 0}])
    tables.step([1, 1])  # the first seat bets
    moves = make_agent("search:playouts=60,worlds=12").act(tables.view(np.arange(2), np.random.default_rng(3)))
    assert [KUHN.action_name(t, move) for t, move in zip(tables.records, moves, strict=True)] == ["call", "fold"]


@every_game
def test_tournaments_play_every_deal_in_every_rotation(game):
    match = play_match(game, [make_agent("random")] * game.num_players, 5, np.random.default_rng(4), keep_games=True)
    assert match.results["score"].shape == (5, game.num_players, game.num_players)
    assert len(match.games) == 5 * game.num_players
    assert all(verify(record) for record in match.games)
    deals = [str(record[game.deal_keys[0]]) for record in match.games]
    for first in range(0, len(deals), game.num_players):
        assert len(set(deals[first : first + game.num_players])) == 1


@every_game
def test_a_seed_decides_a_tournament(game):
    same, again, other = (
        evaluate(["random"] * game.num_players, deals=10, seed=seed, game=game).outcomes["score"] for seed in (5, 5, 6)
    )
    np.testing.assert_array_equal(same, again)
    assert (same != other).any()


@compiled
def last_legal(t, seat, mask, draw, settings):
    for action in range(len(mask)):
        if mask[len(mask) - 1 - action]:
            return len(mask) - 1 - action
    return -1


class Last(CompiledAgent):
    name = "last"

    def decision(self, game):
        return Decision(last_legal)


class SlowLast(Last):
    """The same agent, asked through a view for every move."""

    def act(self, view):
        return view.action_masks.shape[1] - 1 - view.action_masks[:, ::-1].argmax(1)


@every_game
def test_compiled_agents_play_as_they_act(game):
    results = []
    for agent in (Last(), SlowLast()):
        tables = Tables(game, 1, seed=7, autoreset=False)
        arena = Arena(tables, [agent], FixedSeating((0,) * game.num_players), np.random.default_rng(7))
        scores = []
        for _ in range(5):
            tables.reset()
            arena.start()
            assert tables.terminated.all()
            scores.append(tables.scores[0].tolist())
        results.append(scores)
    assert results[0] == results[1]


@every_game
def test_compiled_agents_answer_views_alike(game):
    view = Tables(game, 8, seed=7).view(np.arange(8), np.random.default_rng(7))
    np.testing.assert_array_equal(Last().act(view), SlowLast().act(view))


@pytest.mark.parametrize("name", ["greedy", "heuristic"])
def test_scripted_players_say_which_games_they_play(name):
    with pytest.raises(ValueError, match=f"^{name} plays katzenjammer, katz_und_maus and meow, not kuhn_poker$"):
        make_agent(name).act(Tables(KUHN, 1, seed=8).view(np.arange(1), np.random.default_rng(8)))
    with pytest.raises(ValueError, match=f"^{name} plays katzenjammer, katz_und_maus and meow, not kuhn_poker$"):
        evaluate([name, "random"], deals=2, seed=8, game=KUHN)
