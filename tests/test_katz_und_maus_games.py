"""Katz und Maus played beside an independent slow referee, which agrees on everything at every step; and recorded games."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from any_game import nth_legal
from katz_und_maus_referee import Referee

from katz_env import KatzUndMaus, Tables, named_fields

LINES = gzip.decompress((Path(__file__).parent / "data" / "katz_und_maus.jsonl.gz").read_bytes()).splitlines()
RECORDED = [json.loads(line) for line in LINES]
OPTIONS = ("ranks", "copies", "stock_size", "hand_size", "stacks", "deposits", "talon_end", "merge_equal")
SMALL_GAMES = [
    {"ranks": 1, "copies": 5, "stock_size": 2, "hand_size": 1, "stacks": 1, "deposits": 1},
    {"ranks": 1, "copies": 20, "stock_size": 3, "hand_size": 2, "stacks": 1, "deposits": 2, "merge_equal": True},
    {"ranks": 2, "copies": 4, "stock_size": 2, "hand_size": 1, "stacks": 1, "deposits": 1, "talon_end": "turn"},
    {"ranks": 2, "copies": 5, "stock_size": 3, "hand_size": 1, "stacks": 2, "deposits": 1, "merge_equal": True},
    {"ranks": 3, "copies": 3, "stock_size": 1, "hand_size": 2, "stacks": 3, "deposits": 3, "talon_end": "turn"},
    {"ranks": 4, "copies": 6, "stock_size": 4, "hand_size": 3, "stacks": 2, "deposits": 3, "merge_equal": True},
    {"ranks": 7, "copies": 4, "stock_size": 3, "hand_size": 3, "stacks": 8, "deposits": 8, "merge_equal": True},
    {"ranks": 8, "copies": 3, "stock_size": 4, "hand_size": 4, "stacks": 7, "deposits": 1},
]
LARGE_GAMES = [
    {"ranks": 11, "copies": 20, "stock_size": 1, "hand_size": 1, "stacks": 3, "deposits": 1},
    {"ranks": 11, "copies": 20, "stock_size": 100, "hand_size": 10, "stacks": 8, "deposits": 8},
    {"ranks": 9, "copies": 8, "stock_size": 10, "hand_size": 6, "stacks": 6, "deposits": 6, "merge_equal": True},
    {"ranks": 12, "copies": 4, "stock_size": 5, "hand_size": 8, "stacks": 5, "deposits": 3, "talon_end": "turn"},
]
SHOWN = 8


def numbered(kinds, cards, size):
    """Cards as an observation tells them: kind + 1 in their order, and zeros for those that are missing."""
    return [kinds.index(card) + 1 for card in cards] + [0] * (size - len(cards))


def uppermost(kinds, cards):
    """The upper cards of a deposit, the top one last; zeros come first where a deposit has fewer cards than are shown."""
    return [0] * (SHOWN - len(cards)) + numbered(kinds, cards[-SHOWN:], 0)


def seen(referee, seat):
    """What a seat sees, by the names of the fields, read from the referee's piles of cards."""
    kinds, seats = [*referee.ranks, "K"], (seat, 1 - seat)
    unseen = referee.talon + referee.hands[1 - seat] + referee.stocks[0][1:] + referee.stocks[1][1:]
    deposits = [referee.deposits[other] for other in seats]
    return {
        "hand": [referee.hands[seat].count(card) for card in kinds],
        "stock_tops": [[int(referee.stocks[other][:1] == [card]) for card in kinds] for other in seats],
        "stock_sizes": [len(referee.stocks[other]) for other in seats],
        "heights": [len(stack) for stack in referee.stacks],
        "wanted": [[int(len(stack) == rank) for rank in range(len(referee.ranks))] for stack in referee.stacks],
        "deposit_sizes": [[len(cards) for cards in piles] for piles in deposits],
        "deposit_tops": [[uppermost(kinds, cards) for cards in piles] for piles in deposits],
        "buried": [[[cards[:-SHOWN].count(card) for card in kinds] for cards in piles] for piles in deposits],
        "unseen": [unseen.count(card) for card in kinds],
        "hand_sizes": [len(referee.hands[other]) for other in seats],
        "talon": [min(127, len(referee.talon))],
        "turn": [int(referee.turn == other) for other in seats],
        "second": [int(referee.first != other) for other in seats],
        "over": [int(referee.end is not None)],
    }


def whole(referee, seat, rules):
    """What only the perfect-information state tells, by the names of the fields."""
    kinds, seats = [*referee.ranks, "K"], (seat, 1 - seat)
    return {
        "hands": [[referee.hands[other].count(card) for card in kinds] for other in seats],
        "stocks": [numbered(kinds, referee.stocks[other], rules.stock_size) for other in seats],
        "talon_counts": [referee.talon.count(card) for card in kinds],
        "next_cards": numbered(kinds, referee.talon, rules.talon_size),
    }


class BesideTheReferee:
    """Many tables dealt with random decks, and a referee beside each."""

    def __init__(self, options, num_tables, seed=0):
        self.game, self.rng = KatzUndMaus(**options), np.random.default_rng(seed)
        self.tables = Tables(self.game, num_tables, seed=seed, autoreset=False)
        decks = ["".join(self.rng.permutation(list(self.game.cards * self.game.rules.copies))) for _ in range(num_tables)]
        seats = self.rng.integers(2, size=num_tables).tolist()
        self.tables.deal([{"deck": deck, "first_seat": seat} for deck, seat in zip(decks, seats, strict=True)])
        self.referees = [Referee(deck=deck, first_seat=seat, **options) for deck, seat in zip(decks, seats, strict=True)]
        self.all_cards = [referee.all_cards() for referee in self.referees]

    def compare(self):
        """The referee's snapshot, the legal moves by name, what both seats see, and the state."""
        records, game = self.tables.records, self.game
        for i, referee in enumerate(self.referees):
            for field, value in referee.snapshot().items():
                np.testing.assert_array_equal(records[i][field], value, err_msg=field)
            assert sorted(game.legal_names(records[i], self.tables.action_masks[i])) == sorted(referee.legal())
            assert bool(self.tables.terminated[i]) == (referee.end is not None)
            assert referee.all_cards() == self.all_cards[i]
        for seat in range(2):
            seats = np.full(len(records), seat)
            observations = named_fields(game.observe(records, seats), game.observation_fields)
            states = named_fields(game.state(records, seats), game.state_fields)
            for i, referee in enumerate(self.referees):
                expected = seen(referee, seat)
                assert expected.keys() == observations.keys()
                for name, value in expected.items():
                    np.testing.assert_array_equal(observations[name][i], value, err_msg=name)
                expected |= whole(referee, seat, game.rules)
                assert expected.keys() == states.keys()
                for name in expected.keys() - observations.keys():
                    np.testing.assert_array_equal(states[name][i], expected[name], err_msg=name)

    def move(self):
        """A random move at every unfinished table, told to its referee by name; False when all are over."""
        going_on = np.flatnonzero(~self.tables.terminated)
        actions = nth_legal(self.tables.action_masks, self.rng.random(len(self.tables)) ** 2)  # plays rather than discards
        for i in going_on:
            self.referees[i].play(self.game.action_name(self.tables.records[i], int(actions[i])))
        self.tables.step(actions)
        return len(going_on) > 0

    def compare_results(self):
        results = self.game.results(self.tables.records)
        for i, referee in enumerate(self.referees):
            assert self.game.outcome(self.tables.records)[1][i].tolist() == referee.scores() == results["score"][i].tolist()
            assert np.flatnonzero(results["win_share"][i]).tolist() == referee.winners()
            assert self.game.ending(self.tables.records[i]) == referee.end


def play_beside(options, num_tables, every):
    """Play random games to their end; the tables are compared after every so many moves, and at the end."""
    games, step = BesideTheReferee(options, num_tables), 0
    games.compare()
    while games.move():
        step += 1
        if step % every == 0:
            games.compare()
    games.compare()
    games.compare_results()
    return {event for referee in games.referees for event in referee.events}


def test_the_referee_agrees_at_every_step_of_random_games():
    events = play_beside({}, 40, 1)
    assert events >= {"stack taken away", "hand played away", "last hand card discarded"}


def test_the_referee_agrees_when_equal_moves_are_merged():
    play_beside({"merge_equal": True}, 20, 3)


@pytest.mark.uncompiled
@pytest.mark.parametrize("options", SMALL_GAMES, ids=str)
def test_the_referee_agrees_in_small_games(options):
    events = play_beside(options, 40, 1)
    assert "stack taken away" in events
    # With one rank every card fits on every stack, so there is always a choice.
    assert "forced" in events or options["deposits"] > 1 or options["ranks"] == 1


@pytest.mark.full
@pytest.mark.uncompiled
@pytest.mark.parametrize("options", LARGE_GAMES, ids=str)
def test_the_referee_agrees_in_large_games(options):
    play_beside(options, 10, 2)


@pytest.mark.full
def test_the_referee_agrees_in_thousands_of_random_games():
    play_beside({}, 3000, 25)


# --- recorded games


def decision_on_tables(tables):
    """What the recorded traces tell of a decision, read from the record of one table."""
    record, game = tables.records[0], tables.game
    cards = game.cards
    return {
        "seat": int(tables.turn[0]),
        "hand": "".join(card * int(count) for card, count in zip(cards, record["hand"][record["turn"]], strict=True)),
        "legal": sorted(game.legal_names(record, tables.action_masks[0])),
        "stacks": record["heights"].tolist(),
        "deposits": [["".join(cards[kind - 1] for kind in pile if kind) for pile in piles] for piles in record["deposited"]],
        "tops": "".join(cards[kind] for kind in record["stock_tops"]),
        "stocks": record["stock_sizes"].tolist(),
        "hands": record["hand"].sum(axis=1).tolist(),
        "talon": len(record["deal"]) - int(record["drawn"]),
    }


def decision_at_the_referee(table):
    return {
        "seat": table.turn,
        "hand": "".join(sorted(table.hands[table.turn], key="A23456789TJQK".index)),
        "legal": sorted(table.legal()),
        "stacks": [len(stack) for stack in table.stacks],
        "deposits": [["".join(pile) for pile in piles] for piles in table.deposits],
        "tops": "".join(stock[0] for stock in table.stocks),
        "stocks": [len(stock) for stock in table.stocks],
        "hands": [len(hand) for hand in table.hands],
        "talon": len(table.talon),
    }


def recorded_decision(trace):
    return trace | {"legal": sorted(trace["legal"])}


def replay(record):
    """Replay a recorded game on a table and at the referee, and compare both with what was recorded."""
    game, deal, first_seat = KatzUndMaus.read_record(record)
    options = {name: record[name] for name in OPTIONS if name in record}
    tables, referee = Tables(game, 1, autoreset=False), Referee(deck=record["deck"], first_seat=first_seat, **options)
    tables.deal_vectors(deal[None], np.array([first_seat], np.int8))
    start = tables.records[0].copy()
    for move, trace in zip(record["moves"], record["trace"], strict=True):
        assert decision_on_tables(tables) == decision_at_the_referee(referee) == recorded_decision(trace)
        tables.step([game.legal_names(tables.records[0], tables.action_masks[0])[move]])
        referee.play(move)
    assert tables.terminated[0]
    assert tables.scores[0].tolist() == referee.scores() == record["scores"]
    assert referee.winners() == record["winners"]
    assert referee.end == record["end"]
    results = {name: values[0].tolist() for name, values in game.results(tables.records).items()}
    assert [{name: values[seat] for name, values in results.items()} for seat in range(2)] == record["results"]
    written = game.write_record(start, record["moves"], tables.records[0])
    assert written == {key: record[key] for key in written}
    assert {name for name in OPTIONS if name in record} == written.keys() & set(OPTIONS)


def test_recorded_games_of_the_usual_rules_replay_exactly():
    usual = [record for record in RECORDED if not set(OPTIONS) & record.keys()]
    assert len(usual) > 30
    for record in usual:
        replay(record)


@pytest.mark.uncompiled
def test_recorded_games_of_all_rules_replay_exactly():
    unusual = [record for record in RECORDED if set(OPTIONS) & record.keys()]
    assert len(unusual) > 10
    for record in unusual:
        replay(record)


def test_the_recorded_games_have_every_rare_event():
    events = {event for record in RECORDED for event in record["events"]}
    assert events >= {"end-chosen", "end-forced", "redraw-short", "king-as-ace", "draw-game", "win-with-empty-hand", "forced"}
