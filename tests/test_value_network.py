"""The network that tells `search` how likely a seat is to win."""

from __future__ import annotations

import numpy as np
import pytest

from katz_agents.katzenjammer.value_network import NOTHING, expected_win_share, load_network, num_features, write_features
from katz_env import Katzenjammer, Tables, make_agent

GAME = Katzenjammer(3)


def features(game, record, seat):
    out = np.full(num_features(game.num_players, len(game.cards)), -1, np.int8)
    write_features(record, seat, out)
    return out


def chances(game, record):
    network = load_network(game)
    scratch = np.empty(len(network.biases1), np.float32), np.empty(len(network.biases2), np.float32)
    return [expected_win_share(features(game, record, seat), network, *scratch) for seat in range(game.num_players)]


@pytest.mark.parametrize("players", range(2, 7))
def test_there_is_a_network_for_the_printed_game(players):
    game = Katzenjammer(players)
    network = load_network(game)
    assert network.weights1.shape == (num_features(players, 6), len(network.biases1))
    assert network.weights2.shape == (len(network.biases1), len(network.biases2))
    assert network.weights3.shape == (len(network.biases2),)
    assert all(array.dtype == np.float32 and np.isfinite(array).all() for array in network)
    assert load_network(Katzenjammer(players, joker_penalty=4)) is NOTHING


def test_the_features_count_what_lies_on_the_table():
    tables = Tables(GAME, 50, seed=5)
    rng = np.random.default_rng(1)
    for _ in range(15):
        tables.step(make_agent("greedy").act(tables.view(np.arange(50), rng)))
    for record in tables.records:
        for seat in range(3):
            out = features(GAME, record, seat)
            for k in range(3):
                other = (seat + k) % 3
                part = out[14 * k : 14 * k + 14]
                assert np.array_equal(part[:6], record["hand"][other])
                assert np.array_equal(part[6:11], record["hand"][other][:5] % 4)
                assert part[11:].tolist() == [record["displayed"][other], record["mice"][other], other == record["bandleader"]]
            assert np.array_equal(out[42:54], np.append(record["row"], record["discard"]))
            assert out[54:].tolist() == [90 - record["position"], record["supply"]]


def test_the_order_of_the_pile_does_not_matter():
    record = Tables(GAME, 1, seed=1).records[0].copy()
    before = [features(GAME, record, seat) for seat in range(3)]
    record["deal"][record["position"] :] = record["deal"][record["position"] :][::-1].copy()
    record["rng"] += 1
    assert all(np.array_equal(old, features(GAME, record, seat)) for seat, old in enumerate(before))


def test_it_foretells_games_better_than_the_fair_share():
    """At the start of every auction of games between scripted players; on the average it promises little more than is there."""
    size = 60
    tables = Tables(GAME, size, seed=8, autoreset=False)
    player, rng = make_agent("heuristic"), np.random.default_rng(0)
    told = [[] for _ in range(size)]
    position = np.zeros(size)
    while not tables.terminated.all():
        live = np.flatnonzero(~tables.terminated)
        for i in live[tables.records["position"][live] != position[live]]:
            told[i].append(chances(GAME, tables.records[i]))
        position = tables.records["position"].copy()
        actions = np.zeros(size, np.int64)
        actions[live] = player.act(tables.view(live, rng))
        tables.step(actions)
    shares = GAME.results(tables.records)["win_share"]
    expected = np.concatenate([np.array(game) for game in told])
    came = np.concatenate([np.tile(share, (len(game), 1)) for share, game in zip(shares, told, strict=True)])
    assert len(expected) > 500
    assert ((expected - came) ** 2).mean() < 0.8 * ((1 / 3 - came) ** 2).mean()
    assert 1 < expected.sum(1).mean() < 1.3  # it was fitted with greedy players among the opponents
