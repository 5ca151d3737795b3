"""What is told about moves: a scripted game word by word, and in random games all that can be checked against the table."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from test_scripted_game import BANDLEADER, DECK, GAME, MICE, PLAYERS

from katz_env import Katzenjammer, Tables
from katz_env.katzenjammer.story import Story

# What seat 0 is told about the moves of the scripted game that bring more than a pass or a bid.
TOLD = {
    5: ["you bid 3x3", "she cannot bid higher and must pass", "you win the row 334 with 3x3 and pay 333"],
    6: ["you present 4444: 4 mice", "you reveal J; everybody draws a card, you draw 3"],
    8: ["you bid 1x3"],
    9: ["she passes", "you win the row J with 1x3 and pay 3", "you reveal 225"],
    11: ["you pass", "she wins the row 225 with 3x1 and pays 111"],
    12: ["she presents 2222: 2 mice", "she reveals 455"],
    16: ["she bids 3x5", "you cannot bid higher and must pass", "she wins the row 455 with 3x5 and pays 555",
         "she reveals J; everybody draws a card, you draw 3"],
    18: ["she passes", "you win the row J with 2x3"],
    19: ["you pay 3J and take the row", "you reveal 33"],
    23: ["you present 333J: 1 mouse", "the last mouse is taken"],
}  # fmt: skip


def seen(tables: Tables, seat: int):
    return tables.game.redact(tables.records, np.array([seat]))[0]


def story_of(tables: Tables, action: int, story: Story) -> list[str]:
    before = seen(tables, story.seat)
    tables.step(np.array([action]))
    return story.move(before, action, seen(tables, story.seat))


def test_the_scripted_game_is_told():
    game = Katzenjammer(PLAYERS, MICE)
    tables = Tables(game, autoreset=False)
    tables.deal([DECK], [BANDLEADER])
    story = Story(game, 0, ["you", "she"])
    assert story.deal(seen(tables, 0)) == ["she is the first bandleader", "she reveals 334"]
    told = {}
    for number, (_, move, *_) in enumerate(GAME, start=1):
        action = game.legal_names(tables.records[0], tables.action_masks[0])[move]
        told[number] = story_of(tables, action, story)
    assert {number: told[number] for number in TOLD} == TOLD


def random_game(players: int, seed: int, **rules: int):
    """One random game: for every move each seat's story, and the tables after it."""
    game = Katzenjammer(players, **rules)
    tables, rng = Tables(game, seed=seed, autoreset=False), np.random.default_rng(seed)
    stories = [
        Story(game, seat, ["you" if seat == other else f"p{other}" for other in range(players)]) for seat in range(players)
    ]
    start = tables.records.copy()
    while not tables.terminated[0]:
        before = [seen(tables, seat) for seat in range(players)]
        action = int(rng.choice(np.flatnonzero(tables.action_masks[0])))
        tables.step(np.array([action]))
        after = [seen(tables, seat) for seat in range(players)]
        lines = [story.move(b, action, a) for story, b, a in zip(stories, before, after, strict=True)]
        yield start, lines, tables


def own_cards(lines: list[str], cards: Counter, row: list[str]) -> None:
    """Change a hand by what its owner is told, and nothing else; `row` keeps the row that was won and is to be paid."""
    for line in lines:
        if found := re.search(r"you draw ([1-9J]+)", line):
            cards.update(found[1])
        if found := re.match(r"you win the row ([1-9J]+) with \w+(?: and pay ([1-9J]+))?", line):
            row[:] = [found[1]]
            if found[2]:
                cards.subtract(found[2])
                cards.update(found[1])
        if found := re.match(r"you pay ([1-9J]+) and take the row", line):
            cards.subtract(found[1])
            cards.update(row[0])
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
                rows, mice = [[""] for _ in range(players)], 0
            for seat in range(players):
                own_cards(lines[seat], hands[seat], rows[seat])
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
            told.append(re.sub(r"\b(pass|bid|win|pay|take|present|throw|reveal|draw)(?:es|s)\b", r"\1", text))
        assert told[0] == told[1] == told[2]


def test_a_row_that_nobody_wants_is_told_as_discarded():
    told = [line for seed in range(10) for _, lines, _ in random_game(2, seed) for line in lines[0]]
    assert any(re.fullmatch(r"nobody wants the row [1-5J]+: it is discarded", line) for line in told)
