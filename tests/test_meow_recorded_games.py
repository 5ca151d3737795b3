"""Recorded games of Meow replay exactly, in the compiled tables and in the referee."""

import pytest
from meow_games import RECORDS, bits
from meow_referee import Referee

from katz_env import Meow
from katz_env.core.game_records import replay, verify

PRINTED = {"ranks", "tricks", "rounds", "vase_scores"}
USUAL = [place for place, record in enumerate(RECORDS) if not PRINTED & record.keys()]
THREE = [place for place in USUAL if RECORDS[place]["players"] == 3 and not RECORDS[place]["expert"]]
OTHERS = [place for place in USUAL if place not in THREE]
SMALL = [place for place in range(len(RECORDS)) if place not in USUAL]


def check(record):
    """Every decision, as its trace tells it, and the results."""
    verify(record)
    decisions = list(record["trace"])
    for tables in replay(record):
        table, game = tables.records[0], tables.game
        if tables.terminated[0]:
            break
        told = decisions.pop(0)
        assert tables.turn[0] == told["seat"]
        assert list(game.legal_names(table, tables.action_masks[0])) == told["legal"]
        hand = bits(told["hand"], game.rules.ranks)
        assert [[int(cards) >> i & 1 for i in range(game.rules.ranks)] for cards in table["hand"][told["seat"]]] == hand
        assert (table["round_index"], table["leader"], table["played_count"]) == (
            told["round"],
            told["led"],
            len(told["trick"]),
        )
        row = [game.tiles[kind] for kind in table["row_type"][table["trick"] :]]
        assert row == told["row"]
        for seat, tiles in enumerate(told["won"]):
            assert table["won"][seat].tolist() == [tiles.count(name) for name in game.tiles]
        for seat, card in told["trick"]:
            assert game.cards.index(card) % game.rules.ranks + 1 == table["trick_rank"][seat]
    assert not decisions
    results = game.results(tables.records)
    for seat, told in enumerate(record["results"]):
        assert {name: results[name][0][seat] for name in told} == pytest.approx(told)


@pytest.mark.parametrize("place", [*THREE, *(pytest.param(place, marks=pytest.mark.full) for place in OTHERS)])
def test_recorded_games_of_the_printed_rules_replay(place):
    check(RECORDS[place])


@pytest.mark.uncompiled
def test_recorded_games_of_other_rules_and_some_of_each_number_of_players_replay():
    for place in [*SMALL, *OTHERS[::6]]:
        check(RECORDS[place])


def test_recorded_games_replay_in_the_referee():
    for record in RECORDS:
        game = Meow.from_record(record)
        options = {name: getattr(game.rules, name) for name in ("expert", "ranks", "tricks", "vase_scores")}
        decks = [deck.split() for deck in record["decks"]]
        referee = Referee(game.num_players, decks, record["tiles"], record["first_seat"], **options)
        for told, move in zip(record["trace"], record["moves"], strict=True):
            assert (referee.turn, referee.legal(), referee.row) == (told["seat"], told["legal"], told["row"])
            assert sorted(referee.hands[referee.turn]) == sorted(told["hand"])
            referee.play(move)
        assert referee.over
        assert (referee.scores(), referee.winners(), referee.results()) == (
            record["scores"],
            record["winners"],
            [pytest.approx(result) for result in record["results"]],
        )


def test_records_are_written_as_they_are_read():
    keys = ("game", "players", "expert", "first_seat", "decks", "tiles", "moves", "scores", "winners", "end")
    for place in THREE:
        record = RECORDS[place]
        steps = list(replay(record))
        start = next(iter(replay(record))).records[0]
        written = steps[-1].game.write_record(start, record["moves"], steps[-1].records[0])
        assert written == {key: record[key] for key in keys}
