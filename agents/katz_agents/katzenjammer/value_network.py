"""The value network of `search`, which estimates a seat's win share at the start of an auction, given all hands.

It was fitted to games of the scripted players by ``python train/fit_value_network.py``. ``value_network.npz`` holds one
network for each number of players, for the rules of the printed game.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from katz_env import Katzenjammer
from katz_env.core.jit import compiled
from katz_env.core.types import Counts, Table

FILE = Path(__file__).with_name("value_network.npz")


class Network(NamedTuple):
    """A network with two hidden ReLU layers and one logit: weights ``(inputs, outputs)`` and biases ``(outputs,)``, float32."""

    weights1: NDArray[np.float32]
    biases1: NDArray[np.float32]
    weights2: NDArray[np.float32]
    biases2: NDArray[np.float32]
    weights3: NDArray[np.float32]
    bias3: NDArray[np.float32]


NOTHING = Network(*(np.zeros(shape, np.float32) for shape in ((0, 0), 0, (0, 0), 0, 0, 0)))
"""The placeholder where there is no network."""


def load_network(game: Katzenjammer) -> Network:
    """Return the network for a game, or `NOTHING` if none was fitted to its rules."""
    return NOTHING if game.unusual_rules else _load(game.num_players)


@cache
def _load(num_players: int) -> Network:
    with np.load(FILE) as file:
        return Network(*(file[f"{name}_{num_players}"] for name in Network._fields))


@compiled
def num_features(num_players: int, num_kinds: int) -> int:
    """Return the number of features that `write_features` writes."""
    return num_players * (2 * num_kinds + 2) + 2 * num_kinds + 2


@compiled
def write_features(t: Table, seat: int, out: Counts) -> None:
    """Write the inputs of the network: all hands and everything that lies open, with seats counted from `seat`.

    `out` is int8 ``(num_features(n, kinds),)``.
    """
    n, kinds = t.hand.shape
    k = 0
    other = seat
    for _ in range(n):
        for kind in range(kinds):
            out[k + kind] = t.hand[other, kind]
        k += kinds
        for kind in range(kinds - 1):  # the cards beyond complete sets
            count = int(t.hand[other, kind])
            while count >= t.set_size:
                count -= t.set_size
            out[k + kind] = count
        k += kinds - 1
        out[k] = t.displayed[other]
        out[k + 1] = t.mice[other]
        out[k + 2] = other == t.bandleader
        k += 3
        other = other + 1 if other + 1 < n else 0
    for kind in range(kinds):
        out[k + kind] = t.row[kind]
        out[k + kinds + kind] = t.discard[kind]
    k += 2 * kinds
    out[k] = t.deal.shape[0] - t.position
    out[k + 1] = t.supply


@compiled
def expected_win_share(features: Counts, network: Network, hidden1: NDArray[np.float32], hidden2: NDArray[np.float32]) -> float:
    """Return the win share that the seat can expect; `hidden1` and `hidden2` are scratch, float32, one entry per unit."""
    for j in range(len(hidden1)):
        hidden1[j] = network.biases1[j]
    for i in range(len(features)):
        if features[i] != 0:
            x = np.float32(features[i])
            for j in range(len(hidden1)):
                hidden1[j] += x * network.weights1[i, j]
    for j in range(len(hidden2)):
        hidden2[j] = network.biases2[j]
    for i in range(len(hidden1)):
        if hidden1[i] > 0:
            x = hidden1[i]
            for j in range(len(hidden2)):
                hidden2[j] += x * network.weights2[i, j]
    logit = network.bias3[0]
    for j in range(len(hidden2)):
        if hidden2[j] > 0:
            logit += hidden2[j] * network.weights3[j]
    return 1.0 / (1.0 + np.exp(-logit))
