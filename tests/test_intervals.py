"""95 % intervals contain the true value in at least 93 % of simulated matches, and are not much wider than they must be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from katz_agents.intervals import beta_probability, beta_quantile, mean_interval, share_interval, t_quantile

DEALS, ROTATIONS = (10, 25, 100), (2, 3, 4, 6)
SHARES = (0.02, 0.04, 0.1, 0.5, 0.8, 0.98)


def independent(rng, size, share):
    """A uniform number for each game, ``(matches, deals, rotations)``: the lower the number, the better the result."""
    return rng.random(size)


def alike(rng, size, share):
    """In three deals of ten all rotations end alike, so that two of them are correlated by 0.3."""
    return np.where(rng.random((*size[:2], 1)) < 0.3, rng.random((*size[:2], 1)), rng.random(size))


def good_deals(rng, size, share):
    """Every deal has a chance of its own, from a beta distribution that correlates its rotations by 0.3."""
    spread = 1 / 0.3 - 1
    chance = rng.beta(share * spread, (1 - share) * spread, (*size[:2], 1))
    won = rng.random(size) < chance
    return np.where(won, 0.0, 1.0)


def opposite(rng, size, share):
    """The luck of a deal is divided among the rotations as evenly as can be: their correlation is negative."""
    return (rng.random((*size[:2], 1)) + np.arange(size[2]) / size[2]) % 1


def unshared(luck, share):
    return (luck < share).astype(float)


def shared(luck, share):
    """Win shares with the mean `share`; of the rarer side, many games end with a victory shared by two or three."""
    rarer = min(share, 1 - share)
    two, three = 0.6 * rarer, 0.3 * rarer
    one = share - two / 2 - three / 3
    return np.select([luck < one, luck < one + two, luck < one + two + three], [1, 1 / 2, 1 / 3])


def intervals(results):
    """The intervals of matches ``(matches, deals, rotations)``, ``(matches, 3)``; those with the same moments have the same."""
    games, wins = np.full(results.shape[1], float(results.shape[2])), results.sum(2)
    moments = np.round(np.stack([wins.sum(1), (wins**2).sum(1)], 1), 9)
    _, examples, which = np.unique(moments, axis=0, return_index=True, return_inverse=True)
    return np.array([share_interval(wins[example], games) for example in examples])[which]


def coverage(found, value):
    return np.mean((found[:, 1] <= value + 1e-12) & (value <= found[:, 2] + 1e-12))


CASES = [
    (independent, unshared),
    (alike, unshared),
    (good_deals, unshared),
    (opposite, unshared),
    (independent, shared),
    (alike, shared),
    (opposite, shared),
]


@pytest.mark.parametrize("rotations", [2, 6])
@pytest.mark.parametrize(("luck", "result"), CASES)
def test_intervals_hold(luck, result, rotations):
    check_coverage(luck, result, rotations, SHARES, 500)


@pytest.mark.full
@pytest.mark.parametrize("rotations", ROTATIONS)
@pytest.mark.parametrize(("luck", "result"), CASES)
def test_intervals_hold_everywhere(luck, result, rotations):
    check_coverage(luck, result, rotations, (*SHARES, 0.03, 0.06, 0.15, 0.2, 0.35, 0.65, 0.9, 0.94, 0.96, 0.97), 4000)


def check_coverage(luck, result, rotations, shares, matches):
    rng, deviation = np.random.default_rng(1), math.sqrt(0.93 * 0.07 / matches)
    for deals in DEALS:
        for share in shares:
            found = intervals(result(luck(rng, (matches, deals, rotations), share), share))
            # two deviations below 0.93, for so few matches
            assert coverage(found, share) >= 0.93 - 2 * deviation, (deals, share)


@pytest.mark.parametrize("rotations", ROTATIONS)
def test_intervals_of_independent_games_are_hardly_wider_than_exact_ones(rotations):
    check_width(rotations, SHARES, 300)


@pytest.mark.full
@pytest.mark.parametrize("rotations", ROTATIONS)
def test_intervals_of_independent_games_are_hardly_wider_than_exact_ones_everywhere(rotations):
    check_width(rotations, (*SHARES, 0.03, 0.06, 0.15, 0.2, 0.35, 0.65, 0.9, 0.94, 0.96, 0.97), 4000)


def check_width(rotations, shares, matches):
    rng = np.random.default_rng(2)
    for deals in DEALS:
        for share in shares:
            found = intervals(unshared(rng.random((matches, deals, rotations)), share))
            won, games = np.unique(np.round(found[:, 0] * deals * rotations), return_inverse=True), deals * rotations
            exact = np.array([clopper_pearson(wins, games) for wins in won[0]])[won[1]]
            ratio = np.diff(found[:, 1:]).mean() / np.diff(exact).mean()
            assert ratio <= 1.3, (deals, share, ratio)
            assert ratio >= 0.95, (deals, share, ratio)


def clopper_pearson(won, games):
    won, lost = float(won), float(games - won)
    return beta_quantile(0.025, won, lost + 1) if won else 0.0, beta_quantile(0.975, won + 1, lost) if lost else 1.0


@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
def test_intervals_of_the_wins_of_two_at_a_table_of_three_hold(share):
    """A third player wins 0.4 of the games; the luck of a deal is the same for all three in three of ten."""
    rng, covered = np.random.default_rng(3), []
    for deals in (10, 25, 100):
        luck = alike(rng, (400, deals, 3), share)
        mine, theirs = (luck < 0.6 * share).sum(2), ((luck >= 0.6 * share) & (luck < 0.6)).sum(2)
        found = np.array([share_interval(mine[i], (mine + theirs)[i]) for i in range(len(luck))])
        assert coverage(found, share) >= 0.93
        covered.append(np.diff(found[:, 1:]).mean())
    assert covered[0] > 1.5 * covered[1] > 2.2 * covered[2], "more deals give narrower intervals"


def test_no_win_and_nothing_but_wins_are_no_certainty():
    games = np.full(25, 2.0)
    share, low, high = share_interval(np.zeros(25), games)
    assert (share, low) == (0, 0)
    assert 0.07 < high < 0.09  # the exact interval of 50 games ends at 0.071
    assert share_interval(games, games) == pytest.approx((1, 1 - high, 1))


def test_deals_that_always_end_alike_give_narrow_intervals():
    games = np.full(400, 2.0)
    low, high = share_interval(np.ones(400), games)[1:]  # each deal won once
    exact = clopper_pearson(400, 800)
    assert high - low == pytest.approx((exact[1] - exact[0]) * math.sqrt(0.2), rel=0.01)


def test_deals_without_games_count_for_nothing():
    wins, games = np.array([1.0, 0, 2, 1]), np.array([2.0, 1, 2, 2])
    padded = share_interval(np.append(wins, [0, 0]), np.append(games, [0, 0]))
    assert padded == share_interval(wins, games)
    assert np.isnan(share_interval(np.zeros(3), np.zeros(3))).all()


def test_rounding_errors_of_shared_wins_do_no_harm():
    thirds = np.full(10, np.float32(1) / 3) * 3  # a little more or less than 1
    share, low, high = share_interval(thirds, np.ones(10))
    assert 0.5 < low < share <= high == 1
    assert share_interval(np.full(10, 1e-17), np.ones(10))[1] == 0


def test_mean_intervals_hold_for_ten_deals():
    values = np.random.default_rng(4).normal(3, 2, (3000, 10))
    found = np.array([mean_interval(row) for row in values])
    assert 0.94 < coverage(found, 3) < 0.96
    assert mean_interval(np.array([2.0, 4.0])) == pytest.approx((3, 3 - 12.7062, 3 + 12.7062))
    assert mean_interval(np.array([2.0])) == (2, -math.inf, math.inf)


def test_quantiles_are_those_of_tables():
    degrees = {1: 12.7062, 2: 4.3027, 9: 2.2622, 24: 2.0639, 99: 1.9842, 0.5: 164.5577}
    for freedom, quantile in degrees.items():
        assert t_quantile(freedom) == pytest.approx(quantile, abs=6e-5)
    assert t_quantile(1e7) == pytest.approx(t_quantile(math.inf), abs=1e-6)
    assert beta_quantile(0.3, 1.0, 1.0) == pytest.approx(0.3)
    assert beta_quantile(0.025, 1.0, 20.0) == pytest.approx(1 - 0.975 ** (1 / 20), rel=1e-12)
    assert beta_quantile(0.975, 3.0, 18.0) == pytest.approx(0.316983, abs=1e-6)  # 2 of 20: the exact interval ends there


def test_the_beta_distribution_agrees_with_sums_of_binomial_probabilities():
    for a, b, x in ((3, 18, 0.1), (50, 51, 0.45), (1, 400, 0.003), (300, 2, 0.99), (400, 601, 0.42)):
        n = a + b - 1
        likely = math.fsum(math.comb(n, k) * x**k * (1 - x) ** (n - k) for k in range(a, n + 1))
        assert beta_probability(x, float(a), float(b)) == pytest.approx(likely, rel=1e-10)
