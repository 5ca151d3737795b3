"""The compiled engine and the slow referee agree on every step of random games of Meow: moves, fields, events and results."""

import pytest
from meow_games import SMALL, BesideTheReferee

from katz_env import Meow


def test_the_referee_agrees_at_every_step():
    BesideTheReferee(Meow(3), 60, seed=1).play_to_the_end()


@pytest.mark.full
@pytest.mark.parametrize("expert", [False, True])
def test_the_referee_agrees_with_any_number_of_players(players, expert):
    BesideTheReferee(Meow(players, expert), 300, seed=players).play_to_the_end()


@pytest.mark.uncompiled
def test_the_referee_agrees_in_small_games():
    for number, settings in enumerate(SMALL):
        BesideTheReferee(Meow(**settings), 4 if settings["tricks"] > 10 else 30, seed=number).play_to_the_end()


@pytest.mark.uncompiled
def test_the_referee_agrees_in_some_games_of_any_number_of_players():
    for players in range(2, 7):
        for expert in (False, True):
            BesideTheReferee(Meow(players, expert), 2, seed=players).play_to_the_end()


@pytest.mark.uncompiled
def test_the_referee_agrees_with_other_scores_of_vases():
    for scores in ((0, 5, -10, -30, -60), (7, -1000, 1000, 0, 3, 9)):
        BesideTheReferee(Meow(2, vase_scores=scores), 3, seed=1).play_to_the_end()
