"""Confidence intervals of win shares and of scores, for games that are played in groups: the rotations of one deal."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from katz_env.core.jit import cached, compiled

Interval = tuple[float, float, float]
"""A mean, and the ends of its 95 % interval."""

TAIL = 0.025  # the probability outside a 95 % interval, on each side
PRIOR_WEIGHT = 3.0  # the degrees of freedom of the design effect that is assumed
PRIOR_CORRELATION = 0.06  # the correlation between the games of a deal that is assumed
DEGREES_PER_WIN = 0.4  # the most degrees of freedom that each win, or each loss if those are fewer, gives to the estimate
LEAST_DESIGN_EFFECT = 0.2
ROUNDING = 1e-9


def measure_interval(measure: str, values: NDArray[np.floating]) -> Interval:
    """Return the mean of a measure over games ``(deals, games of a deal)`` with its 95 % interval.

    That of ``win_share`` is a `share_interval`, that of any other measure the `mean_interval` of the means of the deals.
    """
    if measure != "win_share":
        return mean_interval(values.mean(1))
    return share_interval(values.sum(1), np.full(len(values), values.shape[1]))


def share_interval(wins: NDArray[np.floating], games: NDArray[np.floating]) -> Interval:
    """Return the share of games that were won, with its 95 % interval.

    The games of one deal are not independent, so the interval is that of Korn and Graubard (1998): the exact interval of
    Clopper and Pearson for an effective number of games, which is the number of games divided by the design effect. That is the
    variance of the share, estimated from the differences between deals, divided by the variance that independent games would
    have.

    An estimate from few deals or few wins is unreliable, and there is none if all deals are alike. So it is averaged with the
    design effect of games that are correlated by `PRIOR_CORRELATION`. The weights are degrees of freedom: `PRIOR_WEIGHT` and,
    for the estimate, the number of deals less one, or `DEGREES_PER_WIN` for each win or loss if those are fewer. The estimate
    is also multiplied by the square of the ratio between the quantiles of Student's t, for the sum of the weights, and of the
    normal distribution.

    This was measured in simulations of 3,000 matches each, with 10, 25 and 100 deals, 2, 3, 4 and 6 games of each deal and
    twelve shares from 0.02 to 0.98. The intervals contained the true share in at least 0.955 of the matches if the games of a
    deal were independent, 0.935 if they were correlated by 0.3 (in three ways, of which the worst is that all games of some
    deals end alike), 0.957 if they were as opposite as can be, and 0.948 for shared wins. With independent games, intervals
    were at most 1.28 times as wide on average as the exact ones. With 12 and 30 games of each deal, correlated by 0.3, they can
    be too narrow: down to 0.71 for a share of 0.02.

    Parameters
    ----------
    wins, games
        By deal, ``(deals,)``: the sum of the win shares, and the number of games. A deal without games counts for nothing. For
        the share of one player in the wins of two, `games` are the wins of both.

    Returns
    -------
    tuple of float
        The share and the ends of the interval; three times NaN if there are no games.
    """
    wins, games = np.asarray(wins, np.float64), np.asarray(games, np.float64)
    total = float(games.sum())
    if total <= 0:
        return math.nan, math.nan, math.nan
    share, deals = min(1.0, float(wins.sum()) / total), int(np.count_nonzero(games))
    rarer = total * min(share, 1 - share)  # the number of wins or of losses, whichever is less
    certainty = min(deals - 1.0, DEGREES_PER_WIN * rarer)
    design_effect = 1 + PRIOR_CORRELATION * max(0.0, total / deals - 1)
    if certainty > ROUNDING:
        variance = float(((wins - share * games) ** 2).sum()) * deals / (deals - 1) / total**2
        estimate = variance * total / (share * (1 - share))
        degrees = certainty + PRIOR_WEIGHT
        estimate *= (t_quantile(degrees) / t_quantile(math.inf)) ** 2
        design_effect = (certainty * estimate + PRIOR_WEIGHT * design_effect) / degrees
    effective = total / max(LEAST_DESIGN_EFFECT, design_effect)
    won, lost = share * effective, (1 - share) * effective
    low = beta_quantile(TAIL, won, lost + 1) if won > ROUNDING else 0.0
    high = beta_quantile(1 - TAIL, won + 1, lost) if lost > ROUNDING else 1.0
    return share, low, high


def mean_interval(values: NDArray[np.floating]) -> Interval:
    """Return the mean of independent values ``(deals,)`` with its 95 % interval by Student's t, without end for one value."""
    mean, count = float(values.mean()), len(values)
    if count < 2:
        return mean, -math.inf, math.inf
    half = t_quantile(count - 1) * float(values.std(ddof=1)) / math.sqrt(count)
    return mean, mean - half, mean + half


def t_quantile(degrees: float) -> float:
    """Return the 97.5 % quantile of Student's t distribution; for infinitely many degrees of freedom, of the normal one."""
    if math.isinf(degrees):
        return 1.959963984540054
    below = beta_quantile(2 * TAIL, degrees / 2, 0.5)  # of degrees / (degrees + t²)
    return math.sqrt(degrees * (1 - below) / below)


@cached
def beta_quantile(probability: float, a: float, b: float) -> float:
    """Return the quantile of the beta distribution with the parameters `a` and `b`, both positive, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(64):
        middle = (low + high) / 2
        if beta_probability(middle, a, b) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@compiled
def beta_probability(x: float, a: float, b: float) -> float:
    """Return the probability that a beta variable is below `x`, the regularised incomplete beta function.

    The continued fraction is that of the NIST Digital Library of Mathematical Functions, 8.17.22, by the modified Lentz method.
    It converges fast below the mean; above it, the probability of the other side is taken.
    """
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    other_side = x > (a + 1) / (a + b + 2)
    if other_side:
        x, a, b = 1 - x, b, a
    tiny = 1e-300
    c, d, fraction = 1.0, 0.0, 1.0
    for i in range(100_000):
        m = i // 2
        if i == 0:
            step = 1.0
        elif i % 2:
            step = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            step = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 + step * d
        d = 1 / (d if abs(d) > tiny else tiny)
        c = 1 + step / c
        c = c if abs(c) > tiny else tiny
        fraction *= c * d
        if i > 1 and abs(c * d - 1) < 1e-15:
            break
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    found = math.exp(logarithm) / a * (fraction - 1)
    return 1 - found if other_side else found
