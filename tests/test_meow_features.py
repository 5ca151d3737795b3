"""The features of Meow say who wins the trick as it lies, and what beats the cards of the observer."""

from __future__ import annotations

import numpy as np
import pytest

from katz_env import Meow, Tables, make_agent, named_fields

GREEN = 2


def winner_of(trick, led, ranks):
    """Which of the cards ``{who: (colour, rank)}`` wins; None if there is none."""
    deciding = GREEN if any(colour == GREEN for colour, _ in trick.values()) else led
    lying = {rank: who for who, (colour, rank) in trick.items() if colour == deciding}
    if {1, ranks} <= set(lying):
        return lying[1]
    return lying[max(lying)] if lying else None


def expected(seen, game):
    """The features of one observation, of named fields, by their meaning."""
    n, ranks = game.num_players, game.rules.ranks
    in_play = {(colour, rank) for colour in range(3) for rank in (*range(1, game.rules.kept), ranks)}
    own = {(colour, rank + 1) for colour, rank in zip(*np.nonzero(seen["hand"]), strict=True)}
    gone = {(colour, rank + 1) for _, colour, rank in zip(*np.nonzero(seen["played"]), strict=True)}
    trick = {seat: (int(seen["trick_colour"][seat].argmax()), int(seen["trick_rank"][seat])) for seat in range(n)}
    trick = {seat: card for seat, card in trick.items() if card[1]}
    led = int(seen["led"].argmax()) if seen["led"].any() else None
    legal = {card for card in own if card[0] == led} or own
    unseen = in_play - own - gone
    wins, beaten_by = np.zeros((2, 3, ranks), int)
    for colour, rank in own:
        first = colour if led is None else led
        wins[colour, rank - 1] = (colour, rank) in legal and winner_of({**trick, "own": (colour, rank)}, first, ranks) == "own"
        pairs = [{"own": (colour, rank), "other": other} for other in unseen if other[0] == colour]
        beaten_by[colour, rank - 1] = sum(winner_of(pair, colour, ranks) == "other" for pair in pairs)
    return {
        "winner": [int(seat == winner_of(trick, led, ranks)) for seat in range(n)],
        "following": [max(0, n - 1 - len(trick))],
        "unseen": [sum(colour == which for colour, _ in unseen) for which in range(3)],
        "wins": wins.tolist(),
        "beaten_by": beaten_by.tolist(),
    }


@pytest.mark.parametrize(
    "rules", [{"num_players": 2}, {"num_players": 3, "expert": True}, {"num_players": 4}, {"num_players": 6}], ids=str
)
def test_features_are_those_of_their_meaning(rules):
    game = Meow(**rules)
    tables, rng, agent = Tables(game, 12, seed=3), np.random.default_rng(1), make_agent("random")
    caught = 0
    for _ in range(90):
        seen = named_fields(tables.observations, game.observation_fields)
        found = named_fields(game.features(tables.observations), game.feature_fields)
        for i in range(len(tables)):
            due = expected({name: values[i] for name, values in seen.items()}, game)
            assert {name: values[i].tolist() for name, values in found.items()} == due
            highest = seen["trick_colour"][i][seen["trick_rank"][i] == game.rules.ranks]
            caught += any(due["wins"][colour][0] for colour in np.nonzero(highest)[1])
        tables.step(agent.act(tables.view(np.arange(len(tables)), rng)))
    assert caught  # a 1 beats the highest card of its colour
