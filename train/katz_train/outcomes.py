"""Games that are played to their outcomes, and networks that are fitted to these."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from tqdm import tqdm

from katz_agents.estimates import stages
from katz_agents.layers import Layers
from katz_env import Agent, Game, Tables
from katz_env.core.agents import random_legal

TABLES = 2048
"""Games that are played together by the scripts that fit networks."""

Look = Callable[[Tables, NDArray[np.int64], NDArray[np.int64]], None]
"""``look(tables, alive, begun)`` is called before every move: `alive` are the tables at which a game is going on, `begun` those
of them at which a stage of the game has begun, such as an auction or a round."""


def play_games(
    game: Game,
    agents: Sequence[Agent],
    players: NDArray[np.int64],
    random_shares: NDArray[np.float64],
    look: Look,
    seed: int,
    rng: np.random.Generator,
    bar: tqdm,
) -> NDArray[np.float32]:
    """Play one game at each table.

    Parameters
    ----------
    game, agents
        What is played, and by whom.
    players
        The agents in the seats, ``(N, n)``.
    random_shares
        The part of the moves that are random, by table, ``(N,)``: so that tables are met that good players avoid.
    look
        What is done before every move.
    seed
        Of the tables.
    rng
        The generator of the agents and of random moves.
    bar
        Counts the games that have ended.

    Returns
    -------
    win_shares : float32 (N, n)
        What each seat won.
    """
    tables = Tables(game, len(players), seed=seed, autoreset=False, num_threads=1)
    stage, alive = np.full(len(players), -1), np.arange(len(players))
    while len(alive):
        now = stages(game, tables.records[alive])
        begun = alive[now != stage[alive]]
        stage[alive] = now
        look(tables, alive, begun)
        actions, who = np.empty(len(alive), np.int64), players[alive, tables.turn[alive]]
        for i, agent in enumerate(agents):
            mine = who == i
            if mine.any():
                actions[mine] = agent.act(tables.view(alive[mine], rng))
        random = np.flatnonzero(rng.random(len(alive)) < random_shares[alive])
        if len(random):
            drawn = np.empty(len(random), np.int64)
            random_legal(tables.action_masks[alive[random]], rng.random(len(random)), drawn)
            actions[random] = drawn
        tables.step_at(alive, actions)
        bar.update(int(tables.terminated[alive].sum()))
        alive = alive[~tables.terminated[alive]]
    return game.results(tables.records)["win_share"].astype(np.float32)


class Fit(NamedTuple):
    """How a network is fitted."""

    hidden: tuple[int, ...]
    """Units of its hidden layers."""
    epochs: int
    """How often every row is learned from."""
    batch_size: int
    """Rows in one step of the optimiser."""
    learning_rate: float
    """The optimiser's step size, which falls to zero along a cosine."""
    seed: int
    """Seeds the order of the rows; the first weights come from PyTorch's generator."""


def fit(
    what: str,
    rows: NDArray[np.int8],
    shares: NDArray[np.float32],
    inputs_of: Callable[[NDArray[np.int8]], NDArray[np.float32]],
    validation: int,
    how: Fit,
) -> tuple[Layers, float]:
    """Return the network with the least cross entropy, and the part of the variance of the last rows that it explains.

    Parameters
    ----------
    what
        Its name, for the progress bar.
    rows, shares
        What it is shown, int8 ``(k, c)``, and the win shares, ``(k,)``.
    inputs_of
        Makes inputs of rows, float32 ``(k, I)``.
    validation
        How many rows, the last ones, are only measured on.
    how
        How it is fitted.

    Returns
    -------
    layers
        With ReLU between them, and one logit.
    explained
        The part of the variance.
    """
    inputs = inputs_of(rows[:1]).shape[1]
    sample = inputs_of(rows[:200_000])
    mean, deviation = sample.mean(0), sample.std(0) + 1e-2  # inputs are of order one while they are learned from
    sizes = (inputs, *how.hidden, 1)
    linear = [nn.Linear(before, after) for before, after in itertools.pairwise(sizes)]
    network = nn.Sequential(*(layer for one in linear for layer in (one, nn.ReLU())))[:-1]
    train = len(rows) - validation
    size = min(how.batch_size, train)
    steps = how.epochs * (train // size)
    optimizer = torch.optim.Adam(network.parameters(), lr=how.learning_rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    loss_of, rng = nn.BCEWithLogitsLoss(), np.random.default_rng([how.seed, 1])

    def outputs(part: NDArray[np.int8]) -> torch.Tensor:
        answer: torch.Tensor = network(torch.from_numpy((inputs_of(part) - mean) / deviation))[:, 0]
        return answer

    with tqdm(total=steps, unit=" steps", desc=f"fit the {what} network") as bar:
        for _ in range(how.epochs):
            order = rng.permutation(train)
            for i in range(train // size):
                batch = order[i * size : (i + 1) * size]
                loss: Any = loss_of(outputs(rows[batch]), torch.from_numpy(shares[batch]))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
                bar.update()
    with torch.no_grad():
        wrong = [
            torch.sigmoid(outputs(rows[i : i + 8192])).numpy() - shares[i : i + 8192] for i in range(train, len(rows), 8192)
        ]
    explained = 1 - float(np.square(np.concatenate(wrong)).mean()) / max(1e-9, float(shares[train:].var()))
    layers = [(one.weight.detach().numpy().T.copy(), one.bias.detach().numpy().copy()) for one in linear]
    weight, bias = layers[0]
    layers[0] = (weight / deviation[:, None]).astype(np.float32), bias - (mean / deviation) @ weight
    return layers, explained
