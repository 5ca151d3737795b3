"""Game records of every game: written, replayed and verified; one that was tampered with is found out."""

import json

import numpy as np
import pytest
from any_game import KUHN, every_game

from katz_agents.random import Random
from katz_env.core.game_records import RecordError, deal_record, parse_line, play_out, replay, verify
from katz_env.core.replay_page import Page


def written(game, games=6, seed=1):
    """Records of random games, as they come back from a file."""
    records = play_out(game, [Random()], games, np.random.default_rng(seed))
    return [parse_line(json.dumps(record)) for record in records]


@every_game
def test_records_are_verified(game):
    for record in written(game):
        assert record["game"] == game.name
        assert verify(record) == len(record["moves"]) > 0
        assert deal_record(record).game == game


@every_game
def test_a_replay_shows_every_table(game):
    record = written(game, 1)[0]
    steps = [tables.records[0].copy() for tables in replay(record)]
    assert len(steps) == len(record["moves"]) + 1
    assert steps[-1]["phase"] == game.over_phase
    assert game.describe_deal(steps[0]) == {key: record[key] for key in game.deal_keys}


@every_game
def test_a_game_that_was_broken_off_is_replayed_as_far_as_it_goes(game):
    record = written(game, 1)[0]
    record["moves"] = record["moves"][:1]
    with pytest.raises(RecordError, match="move 2: expected a move of seat"):
        verify(record)
    assert len(list(replay(record | {"end": "unfinished"}))) == 2


def tampered(record):
    """Records that tell another game than was played."""
    return {
        "scores": record | {"scores": [score + 1 for score in record["scores"]]},
        "winners": record | {"winners": []},
        "end": record | {"end": "earthquake"},
        "a move": record | {"moves": ["resign", *record["moves"][1:]]},
        "the last move": record | {"moves": record["moves"][:-1]},
        "one more move": record | {"moves": [*record["moves"], record["moves"][-1]]},
        "game": record | {"game": "chess"},
        "players": record | {"players": 1},
        "no scores": {key: value for key, value in record.items() if key != "scores"},
        "no moves": {key: value for key, value in record.items() if key != "moves"},
    }


@every_game
def test_tampered_records_are_found_out(game):
    for what, record in tampered(written(game, 1)[0]).items():
        with pytest.raises(RecordError):
            pytest.fail(f"{what}: verified with {verify(record)} moves")


@every_game
def test_what_a_record_must_have_is_named(game):
    record = written(game, 1)[0]
    for key in ("players", game.first_seat_key, *game.deal_keys):
        with pytest.raises(RecordError, match=f"the record has no '{key}'"):
            verify({name: value for name, value in record.items() if name != key})


@every_game
def test_a_replay_page_holds_the_game(game):
    page = Page("Games")
    page.add(written(game, 1)[0], "one game")
    assert "one game" in page.html()


def test_a_record_of_kuhn_poker_reads_well():
    record = {"game": "kuhn_poker", "players": 2, "first_seat": 1, "cards": "QKJ", "moves": ["check", "bet", "call"]}
    result = {"scores": [-2, 2], "winners": [1], "end": "over"}
    assert verify(record | result) == 3
    with pytest.raises(RecordError, match=r"after move 3: expected winners \[1\], got \[0\]"):
        verify(record | result | {"winners": [0]})
    with pytest.raises(RecordError, match="the cards are 'QQK'"):
        verify(record | result | {"cards": "QQK"})
    assert KUHN.name == record["game"]
