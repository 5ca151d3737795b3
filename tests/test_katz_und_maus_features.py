"""The features of Katz und Maus say how far each stack is from the cards that a seat could play on it."""

from __future__ import annotations

import numpy as np
import pytest

from katz_env import KatzUndMaus, Tables, make_agent, named_fields
from katz_env.games.katz_und_maus.features import MOST_SHORT


def expected(seen, ranks):
    """The features of one observation, of named fields, by their meaning."""
    wild = ranks
    tops = seen["deposit_tops"][:, :, -1]
    held = [[card - 1 for card in row if card] for row in tops.tolist()]
    own_tops = list(held[0])
    held[0] = held[0] + [kind for kind in range(ranks + 1) for _ in range(seen["hand"][kind])]
    heights = seen["heights"].tolist()
    distance, lacking = [], []
    for seat in range(2):
        stock = np.flatnonzero(seen["stock_tops"][seat]).tolist()
        for height in heights:
            if stock == [wild]:
                way = []
            elif not stock or stock[0] < height:
                way = None
            else:
                way = list(range(height, stock[0]))
            distance.append(ranks if way is None else len(way))
            lacking.append(ranks if way is None else sum(rank not in held[seat] for rank in way))
    kings = [held[seat].count(wild) for seat in range(2)]
    stacks = len(heights)
    least = [min(lacking[seat * stacks : (seat + 1) * stacks]) for seat in range(2)]
    hand = seen["hand"].tolist()
    return {
        "tops": tops.tolist(),
        "hand_ahead": [[hand[rank] if rank < ranks else 0 for rank in range(h, h + ranks)] for h in heights],
        "tops_ahead": [[own_tops.count(rank) if rank < ranks else 0 for rank in range(h, h + ranks)] for h in heights],
        "distance": np.reshape(distance, (2, stacks)).tolist(),
        "lacking": np.reshape(lacking, (2, stacks)).tolist(),
        "kings": kings,
        "short": [min(MOST_SHORT, max(0, few - wild_cards)) for few, wild_cards in zip(least, kings, strict=True)],
    }


@pytest.mark.parametrize("rules", [{}, {"merge_equal": True}, {"ranks": 5, "copies": 9, "stacks": 2, "deposits": 3}], ids=str)
def test_features_are_those_of_their_meaning(rules):
    game = KatzUndMaus(**rules)
    tables, rng, agents = Tables(game, 12, seed=3), np.random.default_rng(1), [make_agent("heuristic"), make_agent("random")]
    short = set()
    for step in range(80):
        seen = named_fields(tables.observations, game.observation_fields)
        found = named_fields(game.features(tables.observations), game.feature_fields)
        for i in range(len(tables)):
            due = expected({name: values[i] for name, values in seen.items()}, game.rules.ranks)
            assert {name: values[i].tolist() for name, values in found.items()} == due
            short |= {*due["short"]}
        tables.step(agents[step % 4 == 3].act(tables.view(np.arange(len(tables)), rng)))
    assert {0, 1, 2} <= short
