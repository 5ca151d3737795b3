"""No peeking, in any game: what a seat is shown, and the worlds dealt for it, depend on nothing that it cannot know."""

import itertools
from contextlib import suppress

import numpy as np
import pytest
from any_game import KUHN, arrays, every_game, nth_legal, positions, to_act

from katz_env import Tables


def hidden_twins(game, seat, number, seed):
    """Pairs of deals that differ, but not to the eyes of `seat`: in two tables each, dealt with the events logged."""
    rng, size = np.random.default_rng(seed), game.dtype["deal"].shape[0]
    tables = Tables(game, number, seed=seed, events=True, autoreset=False)
    twins = Tables(game, number, seed=seed, events=True, autoreset=False)
    deals = tables.records["deal"].copy()
    for deal in deals:
        for _ in range(5):
            (a, b), swapped = rng.integers(size, size=2), deal.copy()
            swapped[[a, b]] = deal[[b, a]]
            with suppress(ValueError):  # a deal may have parts, such as decks, that share no cards
                game.check_deals(swapped[None])
                deal[:] = swapped
    twins.deal_vectors(deals, tables.records["first_seat"].copy())
    return tables, twins


def look_alike(game, tables, twins, seat):
    """Which tables of two sets are the same to the eyes of a seat, though they differ."""
    seats = np.full(len(tables), seat)
    same = game.redact(tables.records, seats) == game.redact(twins.records, seats)
    return same & (tables.records["deal"] != twins.records["deal"]).any(1)


@every_game
def test_a_seat_sees_the_same_where_only_hidden_things_differ(game):
    """Also in the events, in the mask and in text, for whole games with the same moves."""
    compared = 0
    for seat in range(game.num_players):
        tables, twins = hidden_twins(game, seat, 300, seed=seat)
        going = look_alike(game, tables, twins, seat)
        assert going.any()
        for step in range(12):
            for i in np.flatnonzero(going):
                mine, theirs = tables.events(i, seat), twins.events(i, seat)
                if step == 0:  # which of its cards a seat was dealt and which it drew may differ
                    mine["cards"][mine["seen_by"] == seat] = theirs["cards"][theirs["seen_by"] == seat] = 0
                np.testing.assert_array_equal(mine, theirs)
                assert game.text(tables.records[i], seat) == game.text(twins.records[i], seat)
                compared += 1
            np.testing.assert_array_equal(tables.observe(seat)[going], twins.observe(seat)[going])
            my_turn = going & (tables.turn == seat)
            np.testing.assert_array_equal(tables.action_masks[my_turn], twins.action_masks[my_turn])
            both = tables.action_masks & twins.action_masks
            going &= ~tables.terminated & both.any(1)
            actions = nth_legal(both, np.random.default_rng((seat, step)).random(len(tables)))
            where = np.flatnonzero(going)
            tables.step(actions[where], where)
            twins.step(actions[where], where)
            going &= look_alike(game, tables, twins, seat) & ~tables.terminated
    assert compared > 100


@every_game
def test_in_every_world_the_seat_sees_what_it_sees(game):
    records = positions(game, steps=60)
    seats, rng = to_act(records), np.random.default_rng(1)
    seen = game.redact(records, seats)
    tables = Tables(game, len(records), seed=1, autoreset=False)
    tables.restore(records)
    real, hidden_differ = arrays(tables), 0
    for _ in range(5):
        worlds = game.redeal(seen, seats, rng)
        tables.restore(worlds)  # every world is a possible table
        assert tables.observations.tobytes() == real["observations"].tobytes()
        assert tables.action_masks.tobytes() == real["action_masks"].tobytes()
        np.testing.assert_array_equal(game.redact(worlds, seats), seen)
        hidden_differ += (worlds["deal"] != records["deal"]).any(1).sum()
    assert hidden_differ > len(records)


@every_game
def test_worlds_depend_on_the_generator_alone(game):
    records = positions(game, steps=20)
    seats = to_act(records)
    seen = game.redact(records, seats)
    same, again, other = (game.redeal(seen, seats, np.random.default_rng(seed)) for seed in (2, 2, 3))
    np.testing.assert_array_equal(same, again)
    assert (same["deal"] != other["deal"]).any()


@every_game
def test_redacted_tables_keep_no_generator_and_no_deal(game):
    records = positions(game, steps=20)
    for seat in range(game.num_players):
        seen = game.redact(records, np.full(len(records), seat))
        assert not seen["rng"].any()
        assert (seen["deal"] == -1).all()
        np.testing.assert_array_equal(game.redact(seen, np.full(len(records), seat)), seen)


@every_game
def test_a_view_is_the_redacted_table_of_the_seat_to_act(game):
    tables = Tables(game, 8, seed=4)
    where = np.array([5, 2])
    view = tables.view(where, np.random.default_rng(4))
    seats = to_act(tables.records[where])
    np.testing.assert_array_equal(view.seats, seats)
    np.testing.assert_array_equal(view.tables, game.redact(tables.records[where], seats))
    np.testing.assert_array_equal(view.observations, tables.observations[where])
    np.testing.assert_array_equal(view.action_masks, tables.action_masks[where])


def counts_of(deals):
    """How often each deal of Kuhn poker came, by its cards."""
    return {cards: int((deals == cards).all(1).sum()) for cards in itertools.permutations(range(3))}


def assert_even(numbers):
    """Counts that differ by no more than chance would have it, four standard deviations."""
    total, share = sum(numbers), 1 / len(numbers)
    for number in numbers:
        assert abs(number - total * share) < 4 * np.sqrt(total * share * (1 - share)), numbers


def test_deals_of_kuhn_poker_are_uniform():
    records = Tables(KUHN, 6000, seed=5).records
    assert_even(list(counts_of(records["deal"]).values()))
    assert_even(np.bincount(records["first_seat"]).tolist())


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("card", range(3))
def test_worlds_of_kuhn_poker_are_uniform_over_the_deals_that_fit(seat, card):
    tables = Tables(KUHN, 1, seed=6)
    tables.deal({"cards": ["JQK", "QKJ", "KJQ"][card if seat == 0 else card - 1], "first_seat": seat})
    assert tables.records["card"][0, seat] == card
    seen = KUHN.redact(tables.records, [seat])
    worlds = KUHN.redeal(np.repeat(seen, 3000), np.full(3000, seat), np.random.default_rng(6))
    counts = counts_of(worlds["deal"])
    assert_even([number for cards, number in counts.items() if cards[seat] == card])
    assert not any(number for cards, number in counts.items() if cards[seat] != card)
    np.testing.assert_array_equal(worlds["card"], worlds["deal"][:, :2])
