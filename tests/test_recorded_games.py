"""The recorded games of the project replay exactly, in the compiled tables and in the referee."""

import json
from pathlib import Path

import numpy as np
import pytest
from referee import OVER, Referee

from katz_env import Katzenjammer, Tables

LINES = (Path(__file__).parent / "data" / "games.jsonl").read_text().splitlines()
GAMES = [json.loads(line) for line in LINES]
every_game = pytest.mark.parametrize("game", GAMES, ids=[f"line{i}-{g['players']}p" for i, g in enumerate(GAMES, 1)])


def cards_of(counts):
    return "".join(card * int(number) for card, number in zip("12345J", counts, strict=True))


def decision_on_tables(tables):
    """What the recorded traces tell of a decision, read from the record of one table."""
    record = tables.records[0]
    return {
        "seat": int(tables.turn[0]),
        "hand": cards_of(record["hand"][record["turn"]]),
        "row": cards_of(record["row"]),
        "legal": sorted(tables.game.legal_names(record, tables.action_masks[0])),
        "mice": record["mice"].tolist(),
        "jokers": record["displayed"].tolist(),
        "passed": record["passed"].tolist(),
        "hands": record["hand"].sum(axis=1).tolist(),
        "pile": len(record["deal"]) - int(record["position"]),
        "discard": cards_of(record["discard"]),
    }


def decision_at_the_referee(table):
    return {
        "seat": table.turn,
        "hand": "".join(sorted(table.hands[table.turn])),
        "row": "".join(sorted(table.row)),
        "legal": sorted(table.legal()),
        "mice": table.mice,
        "jokers": table.displayed,
        "passed": table.passed,
        "hands": [len(hand) for hand in table.hands],
        "pile": len(table.draw_pile),
        "discard": "".join(sorted(table.discard)),
    }


def recorded_decision(trace):
    return {**trace, "legal": sorted(trace["legal"]), "discard": "".join(sorted(trace["discard"]))}


def test_the_file_has_games_of_every_number_of_players(players):
    assert sum(game["players"] == players for game in GAMES) >= 10


def test_the_file_has_every_rare_event():
    seen = {event for game in GAMES for event in game["events"]}
    assert seen >= {"end-deck", "end-mice", "partial", "declared", "free", "bigbid", "joker-tie", "tie-broken", "shared"}


@every_game
def test_tables_replay_a_recorded_game(game):
    tables = Tables(Katzenjammer(game["players"], game["mice"]), autoreset=False)
    tables.deal({"deck": game["deck"], "bandleader": game["bandleader"]})
    for move, trace in zip(game["moves"], game["trace"], strict=True):
        assert decision_on_tables(tables) == recorded_decision(trace)
        tables.step([tables.game.legal_names(tables.records[0], tables.action_masks[0])[move]])
    end = tables.records[0]
    assert tables.terminated[0]
    assert tables.scores[0].tolist() == game["scores"]
    assert end["displayed"].tolist() == game["jokers"]
    assert np.flatnonzero(tables.game.results(tables.records)["win_share"][0]).tolist() == game["winners"]
    assert ("mice" if end["supply"] == 0 else "deck") == game["end"]


@every_game
def test_the_referee_replays_a_recorded_game(game):
    table = Referee(game["players"], deck=game["deck"], bandleader=game["bandleader"], mice=game["mice"])
    for move, trace in zip(game["moves"], game["trace"], strict=True):
        assert decision_at_the_referee(table) == recorded_decision(trace)
        table.play(move)
    assert table.phase == OVER
    assert (table.scores(), table.displayed) == (game["scores"], game["jokers"])
    assert (table.winners(), table.end) == (game["winners"], game["end"])


@every_game
def test_the_results_of_a_game_record_are_those_of_the_file(game):
    played, deal, first_seat = Katzenjammer.read_record(game)
    tables = Tables(played, autoreset=False)
    tables.deal_vectors(deal[None], np.array([first_seat], np.int8))
    start = tables.records[0].copy()
    for move in game["moves"]:
        tables.step([played.legal_names(tables.records[0], tables.action_masks[0])[move]])
    written = played.write_record(start, game["moves"], tables.records[0])
    assert written == {key: game[key] for key in written}
