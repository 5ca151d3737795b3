"""What is told about moves: a scripted game word by word, and in random games all that can be checked against the table."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from test_scripted_game import BANDLEADER, DECK, GAME, MICE, PLAYERS

from katz_env import Katzenjammer, Tables

# What seat 0 is told about the moves of the scripted game that bring more than a pass or a bid.
TOLD = {
    5: ["you bid 3x3", "she passes", "you pay 333 and take the row 334"],
    6: ["you present 4444: 4 mice", "you reveal J; everybody draws a card, you draw 3"],
    8: ["you bid 1x3"],
    9: ["she passes", "you pay 3 and take the row J", "you reveal 225"],
    11: ["you pass", "she pays 111 and takes the row 225"],
    12: ["she presents 2222: 2 mice", "she reveals 455"],
    16: ["she bids 3x5", "you pass", "she pays 555 and takes the row 455",
         "she reveals J; everybody draws a card, you draw 3"],
    18: ["she passes"],
    19: ["you pay 3J and take the row J", "you reveal 33"],
    23: ["you present 333J: 1 mouse", "the last mouse is taken"],
}  # fmt: skip


def test_the_scripted_game_is_told():
    game = Katzenjammer(PLAYERS, MICE)
    tables = Tables(game, autoreset=False, events=True)
    tables.deal({"deck": DECK, "bandleader": BANDLEADER})
    names = ["you", "she"]
    assert game.tell(tables.events(0, 0), names, 0) == ["she is the first bandleader", "she reveals 334"]
    told = {}
    for number, (_, move, *_) in enumerate(GAME, start=1):
        tables.step(np.array([game.legal_names(tables.records[0], tables.action_masks[0])[move]]))
        told[number] = game.tell(tables.events(0, 0), names, 0)
    assert {number: told[number] for number in TOLD} == TOLD


def random_game(players: int, seed: int, **rules: int):
    """One random game: for every move what each seat is told, the table at the start and the tables after the move."""
    game = Katzenjammer(players, **rules)
    tables, rng = Tables(game, seed=seed, autoreset=False, events=True), np.random.default_rng(seed)
    start = tables.records.copy()
    while not tables.terminated[0]:
        tables.step(np.array([rng.choice(np.flatnonzero(tables.action_masks[0]))]))
        lines = [
            game.tell(tables.events(0, seat), ["you" if seat == other else f"p{other}" for other in range(players)], seat)
            for seat in range(players)
        ]
        yield start, lines, tables


def own_cards(lines: list[str], cards: Counter) -> None:
    """Change a hand by what its owner is told, and nothing else."""
    for line in lines:
        if found := re.search(r"you draw ([1-9J]+)", line):
            cards.update(found[1])
        if found := re.match(r"you pay ([1-9J]+) and take the row ([1-9J]+)", line):
            cards.subtract(found[1])
            cards.update(found[2])
        if found := re.match(r"you (?:present|throw) ([1-9J]+)(?:=\d)?(?::| away|$)", line):
            cards.subtract(found[1])


@pytest.mark.parametrize(
    ("players", "rules"), [(3, {}), (4, {}), (2, {"values": 2, "copies": 3, "hand_size": 2, "set_size": 2, "mice": 9})]
)
def test_who_believes_every_word_knows_the_own_hand_and_the_mice(players, rules):
    moves = 0
    for seed in range(25):
        hands = None
        for start, lines, tables in random_game(players, seed, **rules):
            record, characters = tables.records[0], tables.game.cards
            if hands is None:
                hands = [Counter({c: int(k) for c, k in zip(characters, hand, strict=True)}) for hand in start[0]["hand"]]
                mice = 0
            for seat in range(players):
                own_cards(lines[seat], hands[seat])
                if not tables.terminated[0]:
                    held = {c: int(k) for c, k in zip(characters, record["hand"][seat], strict=True) if k}
                    assert +hands[seat] == held, lines[seat]
            mice += sum(int(number) for number in re.findall(r": (\d+) (?:mouse|mice)", "\n".join(lines[0])))
            assert mice == record["mice"].sum()
            moves += 1
        assert lines[0][-1] == (
            "the last mouse is taken" if record["supply"] == 0 else "the last card of the draw pile is taken"
        )
    assert moves > 50


def test_all_seats_hear_the_same_but_for_their_own_draws():
    for _, lines, _ in random_game(3, 4):
        told = []
        for seat in range(3):
            text = re.sub(r", you draw [1-5J]+", "", "\n".join(lines[seat])).replace("you ", f"p{seat} ")
            told.append(re.sub(r"\b(pass|bid|pay|take|present|throw|reveal|draw)(?:es|s)\b", r"\1", text))
        assert told[0] == told[1] == told[2]


def test_a_row_that_nobody_wants_is_told_as_discarded():
    told = [line for seed in range(10) for _, lines, _ in random_game(2, seed) for line in lines[0]]
    assert any(re.fullmatch(r"nobody wants the row [1-5J]+: it is discarded", line) for line in told)


def test_nobody_is_told_who_had_to_pass():
    told = [line for seed in range(10) for _, lines, _ in random_game(3, seed) for line in lines[0]]
    assert sum(line.endswith(("pass", "passes")) for line in told) > 100
    assert not any(word in line for line in told for word in ("must", "cannot", "forced"))
