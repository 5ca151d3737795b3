"""The worlds that Meow deals for a seat are all that it cannot exclude, and equally likely: compared with an enumeration."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from any_game import nth_legal
from meow_games import referee_of
from meow_referee import cards_in_play, colour_of

from katz_env import Meow, Tables

TILES = {"rounds": 1, "bowls": [1], "fishbones": [1], "fish": 0}
GAMES = {
    "all cards dealt": Meow(3, ranks=3, tricks=3, vases=1, **TILES),
    "some cards left": Meow(2, ranks=4, tricks=4, vases=2, **TILES),
    "four players": Meow(4, ranks=3, tricks=2, vases=0, **TILES),
    "expert": Meow(4, True, ranks=6, tricks=3, vases=1, **TILES),
    "six players": Meow(6, True, ranks=5, tricks=2, vases=0, **TILES),
}
LONG = ("expert", "six players")
MOST_WORLDS = 400


def deals(cards, sizes):
    """All ways of dealing cards to hands of these sizes; the rest is left over."""
    if not sizes:
        yield []
        return
    for hand in combinations(sorted(cards), sizes[0]):
        for others in deals(cards - set(hand), sizes[1:]):
            yield [frozenset(hand), *others]


def possible(hands, played):
    """Whether cards can have been played in this order by players who now hold these hands: everyone followed who could."""
    trick = []
    for place, (seat, card) in enumerate(played):
        later = {other for owner, other in played[place:] if owner == seat}
        trick = [] if len(trick) == len(hands) else trick
        trick.append(card)
        led = colour_of(trick[0])
        if colour_of(card) != led and any(colour_of(other) == led for other in hands[seat] | later):
            return False
    return True


def worlds_of(referee, expert):
    """All hands that the player to move cannot exclude, by their holders."""
    me, n = referee.turn, referee.num_players
    cards = set(cards_in_play(n, expert, referee.ranks, referee.tricks)) - set(referee.hands[me])
    cards -= {card for hand in referee.played for card in hand}
    others = [seat for seat in range(n) if seat != me]
    played = [event[1:] for event in referee.history if event[0] == "played"]
    for dealt in deals(cards, [len(referee.hands[seat]) for seat in others]):
        hands = dict(zip(others, dealt, strict=True)) | {me: frozenset(referee.hands[me])}
        if possible(hands, played):
            yield tuple(hands[seat] for seat in range(n))


def hands_of(game, world):
    """The hands of a world, by their holders."""
    ranks = game.rules.ranks
    return tuple(
        frozenset(game.cards[ranks * c + i] for c in range(3) for i in range(ranks) if int(hand[c]) >> i & 1)
        for hand in world["hand"]
    )


def assert_uniform(counts, number):
    """Counts of equally likely outcomes, by chi-square with six standard deviations of room."""
    expected = sum(counts) / number
    square = sum((count - expected) ** 2 / expected for count in [*counts, *[0] * (number - len(counts))])
    assert square < number - 1 + 6 * np.sqrt(2 * (number - 1)) + 6


@pytest.mark.uncompiled
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.full] * (name in LONG)) for name in GAMES])
def test_worlds_are_uniform_over_those_that_a_seat_cannot_exclude(name):
    """At the decisions of random games at which few worlds are left, in every place of a trick."""
    game, rng = GAMES[name], np.random.default_rng(1)
    places, lacking, compared = set(), 0, 0
    tables = Tables(game, 1, seed=1, autoreset=False)
    for _ in range(25):
        tables.deal()
        referee = referee_of(game, tables.records[0])
        while not referee.over:
            record = tables.records[0]
            new = (len(referee.trick), sum(map(len, referee.lacks))) not in places
            worlds = list(worlds_of(referee, game.rules.expert)) if new and few(referee) else []
            if 1 < len(worlds) <= MOST_WORLDS:
                places.add((len(referee.trick), sum(map(len, referee.lacks))))
                seats = np.repeat(record["turn"].astype(int), 12 * len(worlds) + 200)
                seen = np.repeat(game.redact(tables.records, seats[:1]), len(seats))
                found = Counter(hands_of(game, world) for world in game.redeal(seen, seats, rng))
                assert found.keys() <= set(worlds)
                assert_uniform(list(found.values()), len(worlds))
                lacking += any(referee.lacks)
                compared += 1
            action = nth_legal(tables.action_masks, rng.random(1))
            referee.play(game.cards[action[0]])
            tables.step(action)
    assert compared >= 4
    assert lacking >= 2
    assert len({place for place, _ in places}) >= min(3, game.num_players)
    if game.num_players < 4:  # with more players few worlds are left only late in a trick
        assert {place for place, _ in places} == set(range(game.num_players))


def few(referee):
    """Whether an enumeration is short."""
    hidden = sum(len(hand) for seat, hand in enumerate(referee.hands) if seat != referee.turn)
    return hidden <= 7


@pytest.mark.uncompiled
def test_the_order_of_the_coming_tiles_is_uniform_over_all_rounds_together():
    game = Meow(2, ranks=3, tricks=2, rounds=3, bowls=[1, 2], fishbones=[3], fish=1, vases=2)
    tables = Tables(game, 1, seed=3, autoreset=False)
    tables.deal({"tiles": ["+1", "vase", "+2", "-3", "fish", "vase"]})
    seen = np.repeat(game.redact(tables.records, tables.turn), 3000)
    worlds = game.redeal(seen, np.repeat(tables.turn, 3000), np.random.default_rng(3))
    orders = Counter(map(tuple, worlds["deal"][:, -4:].tolist()))
    assert_uniform(list(orders.values()), 24)
    rows = worlds["deal"][:, -6:-4]
    np.testing.assert_array_equal(rows, np.repeat(tables.records["row_type"], 3000, 0))


@pytest.mark.uncompiled
def test_the_decks_of_coming_rounds_are_shuffled_anew():
    game = Meow(2, ranks=2, tricks=3, rounds=2, bowls=[1, 1], fishbones=[1, 1], fish=1, vases=1)
    tables = Tables(game, 1, seed=4, autoreset=False)
    seen = np.repeat(game.redact(tables.records, tables.turn), 4000)
    worlds = game.redeal(seen, np.repeat(tables.turn, 4000), np.random.default_rng(4))
    for place in range(6, 12):
        assert_uniform(np.bincount(worlds["deal"][:, place], minlength=6).tolist(), 6)


def test_impossible_tables_have_no_world():
    game = Meow(3)
    tables = Tables(game, 1, seed=5)
    seen = game.redact(tables.records, tables.turn)
    spoiled = {
        "played": lambda t: t["played"].__setitem__((0, 0, 0), int(t["hand"][0, tables.turn[0], 0])),
        "lacking all": lambda t: t["void"].__setitem__((0, (int(tables.turn[0]) + 1) % 3), 1),
        "too many to come": lambda t: t["to_come"].__setitem__((0, 0), 1 - t["to_come"][0, 0]),
        "hand": lambda t: t["hand"].__setitem__((0, int(tables.turn[0]), 0), 0),
    }
    for spoil in spoiled.values():
        wrong = seen.copy()
        spoil(wrong)
        with pytest.raises(ValueError, match="table 0 has no possible world: its cards and tiles do not come out even"):
            game.redeal(wrong, tables.turn, np.random.default_rng(5))
