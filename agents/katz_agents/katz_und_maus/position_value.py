"""The chance to win at the beginning of a turn: a logistic regression on what the table shows.

``train/fit_position_value.py`` fits the weights to games of `heuristic`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from katz_agents.katz_und_maus.heuristic import lacking
from katz_env.core.jit import compiled
from katz_env.core.types import Table
from katz_env.games.katz_und_maus.rules import SHOWN

Features = NDArray[np.float64]

NUM_FEATURES = 26
WEIGHTS = (
    0.009,
    0.466,
    1.119,
    -0.028,
    0.564,
    0.196,
    0.067,
    -0.007,
    0.084,
    0.057,
    0.109,
    -0.041,
    0.036,
    0.049,
    0.017,
    -0.437,
    -0.198,
    -0.084,
    -0.024,
    -0.117,
    -0.063,
    -0.075,
    -0.011,
    -0.029,
    -0.017,
    -0.209,
)
"""The weights of the features, from 500,000 positions of 9,000 games."""


@compiled
def write_features(t: Table, me: int, out: Features) -> None:
    """Fill `out` ``(NUM_FEATURES,)`` with the features of a table for `me`, whose turn begins; both hands are known.

    They are 1; the lead in stock cards, also by how much of the talon is used up and beside how few stock cards are left; and
    for each seat: one-hot, the number of cards that its stock card lacks with hand and deposits; its kings in hand and on
    top of deposits; the cards on its deposits, how many of them cover a lower one, and how many the next higher; the cards that
    it can play; and whether its stock card is a king.
    """
    wild = t.hidden.shape[0] - 1
    talon = (t.deal.shape[0] - int(t.drawn)) / 64.0
    mine, theirs = float(t.stock_sizes[me]), float(t.stock_sizes[1 - me])
    out[0] = 1.0
    out[1] = (theirs - mine) / 4.0
    out[2] = (theirs - mine) / 4.0 / (0.25 + talon)
    out[3] = (theirs - mine) / (2.0 + min(theirs, mine))
    k = 4
    for i in range(2):
        seat = me if i == 0 else 1 - me
        few = min(4, lacking(t, seat))
        for number in range(4):
            out[k + number] = few == number
        cards, covers, steps, kings, playable = 0, 0, 0, 0, 0
        for deposit in range(t.deposit_sizes.shape[1]):
            cards += int(t.deposit_sizes[seat, deposit])
            top = int(t.deposit_tops[seat, deposit * SHOWN + SHOWN - 1]) - 1
            kings += top == wild
            for stack in range(t.heights.shape[0]):
                playable += top == t.heights[stack]
            for place in range(1, SHOWN):
                lower = t.deposit_tops[seat, deposit * SHOWN + place - 1]
                upper = t.deposit_tops[seat, deposit * SHOWN + place]
                covers += lower > 0 and upper > lower
                steps += lower == upper + 1 and upper > 0
        for stack in range(t.heights.shape[0]):
            playable += t.hand[seat, t.heights[stack]] > 0
        out[k + 4] = float(t.hand[seat, wild])
        out[k + 5] = float(kings)
        out[k + 6] = cards / 8.0
        out[k + 7] = covers / 4.0
        out[k + 8] = steps / 4.0
        out[k + 9] = playable / 4.0
        out[k + 10] = t.stock_tops[seat] == wild
        k += 11


@compiled
def chance_to_win(features: Features, weights: Features) -> float:
    """Return the expected win share of a table with these features."""
    total = 0.0
    for i in range(NUM_FEATURES):
        total += features[i] * weights[i]
    return 1.0 / (1.0 + np.exp(-total))
