"""The features of Katz und Maus say how far each stack is from the cards that a seat could play on it, and where plays lead."""

from __future__ import annotations

import numpy as np
import pytest

from katz_env import KatzUndMaus, Tables, make_agent, named_fields
from katz_env.games.katz_und_maus.features import MOST_SHORT

LINES = ("to_stock", "to_stock_naturally", "to_new_hand")


def discard(kind, top):
    """What a discard of a kind would do to a deposit with a top card, -1 for none."""
    return 1 if top < 0 else {0: 2, 1: 3}.get(top - kind, 4 if top > kind else 5)


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
        "discards": [[discard(kind, top - 1) if hand[kind] else 0 for top in tops[0]] for kind in range(ranks + 1)],
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
            assert found.keys() == due.keys() | set(LINES)
            assert {name: found[name][i].tolist() for name in due} == due
            short |= {*due["short"]}
        tables.step(agents[step % 4 == 3].act(tables.view(np.arange(len(tables)), rng)))
    assert {0, 1, 2} <= short


def lines_of(seen, ranks):
    """What the lines lead to that begin with each play, by source and stack; a line ends when nothing can be played."""
    stacks, (stock,) = len(seen["heights"]), np.flatnonzero(seen["stock_tops"][0]).tolist()
    hand = tuple(kind for kind in range(ranks + 1) for _ in range(seen["hand"][kind]))
    deposits = tuple(tuple(card - 1 for card in row if card) for row in seen["deposit_tops"][0].tolist())

    def after(position, source, stack):
        """The position after a play and whether it left the hand empty; None if the play is not possible."""
        heights, hand, deposits = position
        pile = deposits[source - ranks - 1] if source > ranks else tuple(kind for kind in hand if kind == source)
        if not pile or pile[-1] not in (heights[stack], ranks):
            return None
        raised = tuple((height + 1) % ranks if k == stack else height for k, height in enumerate(heights))
        if source > ranks:
            return (raised, hand, tuple(row[: len(row) - (k == source - ranks - 1)] for k, row in enumerate(deposits))), False
        place = hand.index(source)
        return (raised, hand[:place] + hand[place + 1 :], deposits), not hand[1:]

    def explore(position, natural, found, visited):
        if (position, natural) in visited:
            return
        visited.add((position, natural))
        if stock == ranks or stock in position[0]:
            found |= {"to_stock", "to_stock_naturally"} if natural else {"to_stock"}
        for source in range(ranks + 1 + len(deposits)):
            for stack in range(stacks):
                begin(position, source, stack, natural, found, visited)

    def begin(position, source, stack, natural, found, visited):
        result = after(position, source, stack)
        if result:
            following, empty = result
            card = source if source <= ranks else position[2][source - ranks - 1][-1]
            if empty:
                found.add("to_new_hand")
            explore(following, natural and card != ranks, found, visited)

    root = (tuple(seen["heights"].tolist()), hand, deposits)
    for source in range(ranks + 1 + len(deposits)):
        for stack in range(stacks):
            found = set()
            begin(root, source, stack, True, found, set())
            yield source, stack, found


@pytest.mark.parametrize("rules", [{}, {"ranks": 5, "copies": 9, "stacks": 2, "deposits": 3}], ids=str)
def test_plays_are_shown_with_what_they_lead_to(rules):
    game, seen_before = KatzUndMaus(**rules), set()
    tables, rng, agent = Tables(game, 10, seed=4), np.random.default_rng(1), make_agent("heuristic")
    for step in range(120):
        if step % 12 == 0:
            seen = named_fields(tables.observations, game.observation_fields)
            shown = named_fields(game.features(tables.observations), game.feature_fields)
            for i in range(len(tables)):
                for source, stack, due in lines_of({name: values[i] for name, values in seen.items()}, game.rules.ranks):
                    assert {name for name in LINES if shown[name][i, source, stack]} == due
                    seen_before.add(frozenset(due))
        tables.step(agent.act(tables.view(np.arange(len(tables)), rng)))
    assert {frozenset(), frozenset(LINES), frozenset(LINES[:1])} <= seen_before
