"""The players of Katz und Maus: each beats the one below it, and each plays what it says it plays."""

import numpy as np
import pytest
from any_game import positions
from test_katz_und_maus_games import SMALL_GAMES
from test_katz_und_maus_rules import Scripted

from katz_agents.katz_und_maus import search_model
from katz_agents.tournament import evaluate
from katz_env import KatzUndMaus, Tables, make_agent

GAME = KatzUndMaus()
SCRIPTED = pytest.mark.parametrize("name", ["greedy", "heuristic"])


def choice(name, table):
    """The name of the move that an agent chooses at a scripted table."""
    action = make_agent(name).act(table.tables.view(np.arange(1), np.random.default_rng(0)))[0]
    return table.game.action_name(table.table, int(action))


@pytest.mark.parametrize(("better", "worse", "least"), [("greedy", "random", 0.95), ("heuristic", "greedy", 0.65)])
def test_each_player_beats_the_one_below_it(better, worse, least):
    low = evaluate([better, worse], deals=400, seed=1, game=GAME).mean("win_share", 0)[1]
    assert low > least


@pytest.mark.full
def test_search_beats_greedy():
    """The whole interval of 80 games lies above one half."""
    assert evaluate(["search:playouts=1000", "greedy"], deals=40, seed=1, game=GAME).mean("win_share", 0)[1] > 0.5


@SCRIPTED
def test_the_open_card_of_the_stock_is_played_first(name):
    assert choice(name, Scripted(stocks=("A", "9"), hands=("35678", ""))) == "stock>s1"


@SCRIPTED
def test_cards_lead_a_stack_to_the_stock_card_and_natural_ones_come_first(name):
    table = Scripted(stocks=("4", "9"), hands=("A2K9Q", ""))
    assert choice(name, table) == "A>s1"
    table.play("A>s1")
    assert choice(name, table) == "2>s1"
    table.play("2>s1")
    assert choice(name, table) == "K>s1"  # as a three
    table.play("K>s1")
    assert choice(name, table) == "stock>s1"


@SCRIPTED
def test_kings_are_not_discarded_and_deposits_are_kept_tidy(name):
    table = Scripted(stocks=("6", "9"), hands=("9KKKK", "TTTTT"), talon="8").play("9>d2 T>d1")
    assert choice(name, table) == "8>d2"


def test_heuristic_does_not_prepare_the_opponents_stock_card():
    """Whatever greedy would do: with the two the stack would want the opponent's three."""
    for name in ("greedy", "heuristic"):
        assert choice(name, Scripted(stocks=("9", "3"), hands=("2QQQQ", "A9999"), first_seat=1).play("A>s1 9>d1")) != "2>s1"


def test_heuristic_plays_the_hand_away_for_five_new_cards():
    table = Scripted(stocks=("Q", "Q"), hands=("AA234", ""))
    moves = []
    while table.table["hand_sizes"][0] > 1:
        moves.append(choice("heuristic", table))
        table.play(moves[-1])
    assert not any(">d" in move for move in moves)


@pytest.mark.uncompiled
@pytest.mark.parametrize("options", SMALL_GAMES[:7:2], ids=str)
def test_scripted_players_play_legally_by_any_rules(options):
    game = KatzUndMaus(**options)
    for name in ("greedy", "heuristic"):
        tables, agent = Tables(game, 6, seed=1, autoreset=False), make_agent(name)
        while not tables.terminated.all():
            where = np.flatnonzero(~tables.terminated)
            tables.step(agent.act(tables.view(where, np.random.default_rng(1))), where)


def test_search_chooses_the_same_legal_moves_for_any_number_of_threads():
    tables, answers = Tables(GAME, 12, seed=2), []
    for threads in (1, 2):
        view = tables.view(np.arange(12), np.random.default_rng(2))
        answers.append(make_agent(f"search:playouts=40,worlds=10,num_threads={threads}").act(view))
    np.testing.assert_array_equal(*answers)
    assert tables.action_masks[np.arange(12), answers[0]].all()


def test_search_leaves_out_moves_that_are_mirrored_or_untidy():
    """What is left is legal when equal moves are merged, too, and has one discard of each card but kings."""
    model, merged = search_model.model_of(GAME), KatzUndMaus(merge_equal=True)
    records = positions(GAME, steps=100)[::3]
    equal = records.copy()
    equal["merge_equal"] = 1
    plain, one = Tables(GAME, len(records), autoreset=False), Tables(merged, len(records), autoreset=False)
    plain.restore(records)
    one.restore(equal)
    for i, record in enumerate(records):
        tried = [a for a in np.flatnonzero(plain.action_masks[i]) if not model.leave_out(record, a, model.settings)]
        assert one.action_masks[i][tried].all()
        plays = np.flatnonzero(one.action_masks[i][: GAME.actions.first_discard]).tolist()
        assert [a for a in tried if a < GAME.actions.first_discard] == plays
        cards = [GAME.actions.decode(a).card for a in tried if GAME.actions.first_discard <= a < GAME.actions.end]
        assert cards == [kind for kind in np.flatnonzero(record["hand"][record["turn"]]) if kind < 12]
