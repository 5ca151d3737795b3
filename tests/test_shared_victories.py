"""In ratings a shared place is never worse than coming behind those who share it."""

import itertools

import numpy as np
import pytest
from openskill.models import PlackettLuce

from katz_agents.ratings import rate_game
from katz_agents.tournament import Results

MODEL = PlackettLuce()


def random_players(rng, number):
    return [(float(rng.uniform(5, 45)), float(rng.uniform(0.5, 8.3))) for _ in range(number)]


def mean_of(skills, merit, player):
    return rate_game(MODEL, skills, merit)[player][0]


@pytest.mark.parametrize("number", range(2, 7))
def test_sharing_the_first_place_is_never_worse_than_the_second(number):
    rng = np.random.default_rng(number)
    for _ in range(60):
        skills, others = random_players(rng, number), list(range(number - 2))
        second = mean_of(skills, [number, number + 1, *others], 0)
        shared = mean_of(skills, [number, number, *others], 0)
        first = mean_of(skills, [number + 1, number, *others], 0)
        assert second <= shared <= first


@pytest.mark.parametrize("number", range(3, 7))
def test_joining_those_who_share_a_place_is_never_worse_than_coming_behind_them(number):
    rng = np.random.default_rng(number)
    for _ in range(30):
        skills, sharing = random_players(rng, number), int(rng.integers(1, number))
        rest = rng.integers(0, 3, number - sharing - 1).tolist()
        behind = mean_of(skills, [5, *[6] * sharing, *rest], 0)
        joined = mean_of(skills, [6, *[6] * sharing, *rest], 0)
        assert behind <= joined


@pytest.mark.parametrize("number", range(2, 7))
def test_equal_players_who_share_a_place_are_rated_alike_and_above_those_behind(number):
    skills = [(25.0, 8.0)] * number
    for places in itertools.islice(itertools.product(range(3), repeat=number), 100):
        after = rate_game(MODEL, skills, places)
        for i, j in itertools.combinations(range(number), 2):
            if places[i] == places[j]:
                assert after[i] == pytest.approx(after[j])
            else:
                assert (after[i][0] > after[j][0]) == (places[i] > places[j])


def test_without_shared_places_the_model_rates_as_it_is():
    skills = random_players(np.random.default_rng(1), 5)
    merit = [3, 1, 5, 2, 4]
    expected = MODEL.rate([[MODEL.rating(*skill)] for skill in skills], scores=merit)
    np.testing.assert_allclose(rate_game(MODEL, skills, merit), [(team[0].mu, team[0].sigma) for team in expected])


def results(win_shares, scores):
    """A tournament of one line-up, in every deal of which the players get the same."""
    deals, players = 40, len(scores)
    repeated = {
        name: np.tile(np.array(values, float), (1, deals, players, 1))
        for name, values in (("win_share", win_shares), ("score", scores))
    }
    names = [f"player {i}" for i in range(players)]
    line_ups, ones = [tuple(range(players))], [1] * players
    return Results(names, players, 1, deals, line_ups, repeated, ones, [1.0] * players, ones)


def test_players_who_share_all_victories_are_rated_above_the_others():
    ratings = results([0.5, 0.5, 0, 0, 0, 0], [7, 7, 7, 5, 5, 1]).ratings()
    means = [mean for mean, _ in ratings]
    assert min(means[:2]) > max(means[2:])
    assert means[0] == pytest.approx(means[1])
