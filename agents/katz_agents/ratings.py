"""Ratings of the players of a game, in which sharing a place never costs rating."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np


def rate_game(model: Any, skills: Sequence[tuple[float, float]], merit: Sequence[Any]) -> list[tuple[float, float]]:
    """Return the skills of players after a game, as (mean, standard deviation).

    Parameters
    ----------
    model
        A model of openskill.
    skills
        Mean and standard deviation of each player before the game.
    merit
        What the players are ordered by, the highest first; equal ones share a place.

    Notes
    -----
    A game with shared places is rated as the mean over some orders in which nobody shares: as many that each of those who share
    a place takes each of the places that they take together once.
    """
    places = sorted(set(merit), reverse=True)
    groups = [[i for i, one in enumerate(merit) if one == place] for place in places]
    rotations = [[group[k:] + group[:k] for k in range(len(group))] for group in groups]
    orders = [list(itertools.chain.from_iterable(order)) for order in itertools.product(*rotations)]
    means, variances = np.zeros(len(skills)), np.zeros(len(skills))
    for order in orders:
        teams = [[model.rating(*skills[i])] for i in order]
        for i, (rated,) in zip(order, model.rate(teams), strict=True):
            means[i] += rated.mu / len(orders)
            variances[i] += rated.sigma**2 / len(orders)
    return [(float(mean), float(variance**0.5)) for mean, variance in zip(means, variances, strict=True)]
