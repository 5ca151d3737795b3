"""An independent slow referee plays random games beside the engine and agrees on everything, at every step."""

import numpy as np
import pytest
from random_play import random_actions, random_deck
from referee import OVER, Referee

from katz_env import Katzenjammer, Tables

TINY = {"values": 2, "copies": 3, "set_size": 2}
PRINTED_GAMES = [(players, {"mice": mice}, 150) for players in range(2, 7) for mice in (None, 5, 60)]
SMALL_GAMES = [
    (2, TINY | {"hand_size": 1}, 500),
    (2, TINY | {"hand_size": 2, "mice": 2}, 500),
    (3, TINY | {"hand_size": 1, "joker_penalty": 0}, 500),
    (3, TINY | {"hand_size": 2}, 500),
]
LARGE_GAMES = [
    (2, {"values": 8, "copies": 10, "hand_size": 7, "set_size": 5, "mice": 100}, 60),
    (3, {"hand_size": 20, "set_size": 2, "joker_penalty": 100}, 60),
]


class BesideTheReferee:
    """Many tables dealt with random decks, and a referee beside each."""

    def __init__(self, players, options, num_tables, seed=0):
        self.game, self.rng = Katzenjammer(players, **options), np.random.default_rng(seed)
        self.tables = Tables(self.game, num_tables, autoreset=False)
        decks = [random_deck(self.game, self.rng) for _ in range(num_tables)]
        leaders = self.rng.integers(players, size=num_tables)
        self.tables.deal([{"deck": deck, "bandleader": leader} for deck, leader in zip(decks, leaders, strict=True)])
        self.referees = [
            Referee(players, deck=deck, bandleader=int(leader), **options) for deck, leader in zip(decks, leaders, strict=True)
        ]

    def compare(self):
        """Every field of the referee's snapshot, the legal moves by name, and how the game ended."""
        snapshots = [referee.snapshot() for referee in self.referees]
        for field in snapshots[0]:
            theirs = np.array([snapshot[field] for snapshot in snapshots])
            np.testing.assert_array_equal(self.tables.records[field], theirs, err_msg=field)
        np.testing.assert_array_equal(self.tables.records["hand_sizes"], self.tables.records["hand"].sum(2))
        assert (self.tables.records["best"] == [self.highest_bids(referee) for referee in self.referees]).all()
        for i, referee in enumerate(self.referees):
            names = self.game.legal_names(self.tables.records[i], self.tables.action_masks[i])
            assert sorted(names) == sorted(referee.legal())
        over = [referee.phase == OVER for referee in self.referees]
        assert self.tables.terminated.tolist() == over
        np.testing.assert_array_equal(self.tables.turn, self.tables.records["turn"])

    def highest_bids(self, referee):
        """For every seat the id of the highest bid that its hand could pay, tried from the lowest on."""
        kinds = referee.card_kinds
        best = []
        for hand in referee.hands:
            jokers, distinct = hand.count("J"), len(set(hand) - {"J"})
            bids = [(min(distinct + jokers, referee.values), 0)] if distinct + jokers > 1 else []
            bids += [
                (hand.count(card) + jokers, value) for value, card in enumerate(kinds[:-1], 1) if hand.count(card) + jokers
            ]
            number, kind = max(bids, default=(0, 0))
            best.append(self.game.actions.bid(number, kind) if number else 0)
        return best

    def move(self):
        """A random move at every unfinished table, told to its referee by name; False when all are over."""
        going_on = np.flatnonzero(~self.tables.terminated)
        actions = random_actions(self.tables.action_masks, self.rng)
        for i in going_on:
            self.referees[i].play(self.game.action_name(self.tables.records[i], int(actions[i])))
        self.tables.step(actions)
        return len(going_on) > 0

    def compare_results(self):
        results = self.game.results(self.tables.records)
        for i, referee in enumerate(self.referees):
            assert self.tables.scores[i].tolist() == referee.scores() == results["score"][i].tolist()
            assert np.flatnonzero(results["win_share"][i]).tolist() == referee.winners()
            assert results["win_share"][i].sum() == pytest.approx(1)
            share = np.isin(np.arange(self.game.num_players), referee.winners()) / len(referee.winners())
            np.testing.assert_allclose(self.tables.rewards[i], share - 1 / self.game.num_players, atol=1e-6)


@pytest.mark.parametrize(
    ("players", "options", "num_tables"),
    [
        *PRINTED_GAMES,
        *(pytest.param(*game, marks=pytest.mark.uncompiled) for game in SMALL_GAMES),
        *(pytest.param(*game, marks=pytest.mark.full) for game in LARGE_GAMES),
    ],
)
def test_the_referee_agrees_at_every_step_of_random_games(players, options, num_tables):
    games = BesideTheReferee(players, options, num_tables)
    final_rewards = np.zeros_like(games.tables.rewards)
    final_rewards[:] = games.tables.rewards  # of small games that ended with the deal
    games.compare()
    while games.move():
        games.compare()
        final_rewards += games.tables.rewards
    np.testing.assert_array_equal(games.tables.rewards, 0)  # paid once; the last move found no game going on
    games.tables.restore(games.tables.records.copy())
    np.testing.assert_array_equal(games.tables.rewards, final_rewards)
    games.compare_results()
