"""Games that are played to their outcomes: who sits where, what is looked at, and that a seed decides them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from any_game import every_game
from tqdm import tqdm

from katz_agents.estimates import stages
from katz_env import Agent, Tables, make_agent, make_game

sys.path.insert(0, str(Path(__file__).parent.parent / "train"))

from katz_train.outcomes import Fit, fit, play_games

SIZE = 12


class Noted(Agent):
    """Plays at random, and notes the seats that it was asked for."""

    def __init__(self):
        self.player, self.seats = make_agent("random"), set()

    def act(self, view):
        self.seats.update(view.seats.tolist())
        return self.player.act(view)


class First(Agent):
    """Plays the first legal move."""

    def act(self, view):
        return view.action_masks.argmax(1)


def played(game, random_share=0.0, seed=1):
    """Who was asked, what was looked at, and what was won, where the second agent holds seat 0."""
    agents = [Noted(), Noted()]
    players = np.zeros((SIZE, game.num_players), np.int64)
    players[:, 0] = 1
    looked = []

    def look(tables, alive, begun):
        looked.append((alive.copy(), begun.copy(), stages(game, tables.records[begun])))
        assert not tables.terminated[alive].any()

    rng = np.random.default_rng(seed)
    with tqdm(disable=True) as bar:
        shares = play_games(game, agents, players, np.full(SIZE, random_share), look, seed, rng, bar)
    return agents, looked, shares


@every_game
def test_every_agent_holds_its_seats_and_every_game_ends(game):
    agents, looked, shares = played(game)
    assert agents[1].seats == {0}
    assert agents[0].seats == set(range(1, game.num_players))
    np.testing.assert_allclose(shares.sum(1), 1, rtol=1e-6)
    alive, begun, _ = looked[0]
    assert alive.tolist() == begun.tolist() == list(range(SIZE)), "every game begins with a stage"
    seen = {}
    for alive, begun, stage in looked:
        assert set(begun) <= set(alive)
        for table, number in zip(begun.tolist(), stage.tolist(), strict=True):
            assert seen.get(table) != number, "a stage begins once"
            seen[table] = number


@every_game
def test_a_seed_decides_the_games(game):
    for random_share in (0.0, 0.5):
        first, second, other = (played(game, random_share, seed)[2] for seed in (1, 1, 2))
        np.testing.assert_array_equal(first, second)
        assert (first != other).any()


def test_moves_are_random_as_often_as_is_said():
    game, first = make_game("katz_und_maus"), First()
    positions = {}
    for share in (0.0, 1.0):
        seen = positions[share] = []
        with tqdm(disable=True) as bar:
            play_games(
                game,
                [first],
                np.zeros((SIZE, 2), np.int64),
                np.full(SIZE, share),
                lambda tables, alive, begun, seen=seen: seen.append(tables.records[alive].copy()),
                3,
                np.random.default_rng(3),
                bar,
            )
    tables = Tables(game, SIZE, seed=3, autoreset=False)
    for records in positions[0.0]:
        np.testing.assert_array_equal(records, tables.records[~tables.terminated])
        tables.step(tables.action_masks.argmax(1))
    np.testing.assert_array_equal(positions[0.0][0], positions[1.0][0])
    assert (positions[0.0][5] != positions[1.0][5]).any()


def test_a_fitted_network_tells_rows_apart():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 5, (4000, 6)).astype(np.int8)
    shares = (rows[:, 2] > 2).astype(np.float32)
    layers, explained = fit("small", rows, shares, lambda some: some.astype(np.float32), 1000, Fit((8,), 20, 64, 0.01, 0))
    assert explained > 0.9
    hidden = np.maximum(0, rows.astype(np.float32) @ layers[0][0] + layers[0][1])
    chance = 1 / (1 + np.exp(-(hidden @ layers[1][0] + layers[1][1])[:, 0]))
    error = ((chance - shares)[3000:] ** 2).mean()
    assert 1 - error / shares[3000:].var() == pytest.approx(explained, abs=1e-4)
