"""Katz und Maus in words and pictures: commentary, text, the screen of ``katz play`` and the drawing."""

import re

import numpy as np
import pytest
from any_game import positions
from rich.console import Console
from test_katz_und_maus_rules import Scripted

from katz_env import KatzUndMaus, Tables, make_agent
from katz_env.play.dialogue import Dialogue
from katz_env.play.session import Session

GAME = KatzUndMaus()
NAMES = ["you", "Bob"]


def told(moves, seat, **piles):
    """What a seat is told of the deal and of each move."""
    table = Scripted(**piles)
    tables = Tables(table.game, 1, seed=1, autoreset=False, events=True)
    tables.deal(table.game.describe_deal(table.table) | {"first_seat": int(table.table["first_seat"])})
    lines = [table.game.tell(tables.events(0, seat), NAMES, seat)]
    for move in moves.split():
        tables.step([table.game.legal_names(tables.records[0], tables.action_masks[0])[move]])
        lines.append(table.game.tell(tables.events(0, seat), NAMES, seat))
    return lines


def test_commentary_tells_every_move_in_a_line():
    cards = {"stocks": ("2KQ", "9"), "hands": ("AK888", "A5555"), "talon": "7654"}
    assert told("A>s1 stock>s1 stock>s1 K>s2 8>d3 A>s3 5>d1", 0, **cards) == [
        [
            "your stock has 15 cards, the open one is 2",
            "Bob's stock has 15 cards, the open one is 9",
            "your hand is A888K",
            "you begin",
        ],
        ["you play A from the hand onto s1"],
        ["you play 2 from the stock onto s1 and turn up K, 14 left in the stock"],
        ["you play K from the stock onto s1 as 3 and turn up Q, 13 left in the stock"],
        ["you play K from the hand onto s2 as A"],
        ["you lay 8 on d3 and draw 567"],
        ["Bob plays A from the hand onto s3"],
        ["Bob lays 5 on d1 and draws 2 cards"],
    ]


def test_the_text_hides_the_other_hand():
    table = Scripted(stocks=("5", "6"), hands=("A2K34", "TTTTT"), talon="J").play("K>d2")
    text = GAME.text(table.table, 0)
    assert "hand A234J" in text
    assert "hand ....." in text
    assert "TTTTT" not in text
    assert "TTTTT" in GAME.text(table.table, None)
    assert "> player_1  stock 15 top 6" in text
    assert "d1 -  d2 K  d3 -  d4 -" in text


# --- the picture


def uses(svg):
    return re.findall(r'href="#([^"]+)"', svg.partition("</defs>")[2])


def test_the_picture_shows_every_card_and_hides_the_other_hand():
    for record in positions(GAME, steps=130, num_tables=1)[::10]:
        everything = uses(GAME.svg(record))
        deposits = np.minimum(record["deposit_sizes"], 8).sum()
        shown = [name for name in everything if re.fullmatch("card[A2-9TJQK]", name)]
        assert len(shown) == record["hand"].sum() + deposits + 2 + (record["heights"] > 0).sum()
        for seat in range(2):
            seen = [name for name in uses(GAME.svg(record, seat)) if re.fullmatch("card[A2-9TJQK]", name)]
            assert len(seen) == len(shown) - record["hand"][1 - seat].sum()


def test_the_picture_has_room_for_the_most_stacks_deposits_and_cards():
    game = KatzUndMaus(stacks=8, deposits=8, hand_size=10)
    record = game.new_tables(1)[0]
    record["hand"], record["hand_sizes"], record["stock_tops"] = 10, 10, 3
    record["deposit_sizes"], record["deposited"][:, :, :20], record["heights"] = 20, 10, 7
    for name in ("x" * 200, ""):
        svg = game.svg(record, 0, [name, "b"])
        places = [float(x) for x in re.findall(r'<use href="#card[^"]*" transform="translate\(([-\d.]+)', svg)]
        assert max(places) < 640 - 36
    with pytest.raises(ValueError, match="there are 1 names; 2 players need 2"):
        game.svg(record, 0, ["a"])


def test_the_picture_of_a_finished_game_says_who_has_won_and_how():
    tables = Tables(GAME, 40, seed=3, autoreset=False)
    agent, rng, endings = make_agent("greedy"), np.random.default_rng(3), set()
    while not tables.terminated.all():
        where = np.flatnonzero(~tables.terminated)
        tables.step(agent.act(tables.view(where, rng)), where)
    for record in tables.records:
        assert GAME.svg(record, 0, ["Ann", "Bob"])
        endings.add(GAME.ending(record))
    assert endings == {"stock", "talon"}


# --- the terminal


def session(seed=5, seat=0):
    made = Session(GAME, [make_agent("greedy")], seat, np.random.default_rng(seed))
    made.start()
    return made


def test_a_person_plays_a_whole_game_with_advice_and_news(monkeypatch, capsys):
    game = Session(GAME, [make_agent("greedy")], 0, np.random.default_rng(1))
    dialogue = Dialogue(game, make_agent("heuristic"), Console(highlight=False, width=100))
    answers = iter(["?", "h", "nonsense", "A>s9", "d9>s1", "stock>d1", *["1"] * 400])
    monkeypatch.setattr("builtins.input", lambda: next(answers))
    dialogue.run()
    assert game.over
    shown = " ".join(capsys.readouterr().out.split())
    assert "heuristic would play " in shown
    assert "there is no stack 9" in shown
    assert "there is no deposit 9" in shown
    assert "only hand cards go on a deposit" in shown
    assert "wants" in shown
    assert "player_1 plays " in shown
    assert "your hand is " in shown
    assert re.search("(win|wins|a draw)", shown)


def test_moves_are_found_by_number_and_name_in_any_case():
    screen = Dialogue(session(), make_agent("greedy"), Console()).screen
    groups = screen.groups()
    moves = [move for group in groups.values() for move in group]
    assert [move.number for move in moves] == list(range(1, len(moves) + 1))
    assert {move.action for move in moves} == set(np.flatnonzero(screen.session.mask).tolist())
    for move in moves:
        for text in (str(move.number), move.name, move.name.lower(), move.name.replace(">", " > ")):
            assert screen.find(text, moves) == move
    for title, listed in groups.items():
        rows = screen.rows(title, listed)
        assert rows is None or sorted(move.number for row in rows for move in row if move) == [move.number for move in listed]


@pytest.mark.parametrize("width", [30, 60, 120])
def test_the_screen_fits_terminals_of_any_width(width, capsys):
    made = session(seat=1)
    for _ in range(15):
        made.play(int(np.flatnonzero(made.mask)[-1]))
    dialogue = Dialogue(made, make_agent("greedy"), Console(width=width, highlight=False))
    dialogue.console.print(dialogue.screen.table(), dialogue.screen.moves(dialogue.screen.groups()))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width


# --- the commands


def test_games_are_played_out_replayed_drawn_and_measured(tmp_path, katz_here):
    file, page, picture = (tmp_path / name for name in ("games.jsonl", "page.html", "position.svg"))
    assert katz_here("play-out", "--game", GAME.name, "--agents", "heuristic", "greedy", "--games", 2, "--out", file)[0] == 0
    code, lines, _ = katz_here("replay", file, "--game", GAME.name, "--html", page, "--agent", "greedy")
    assert code == 0
    assert re.fullmatch(r"2 games, \d+ moves: all right", lines[0])
    assert katz_here("draw", file, "--moves", 30, "--seat", 0, "--out", picture)[0] == 0
    assert picture.read_text().startswith("<svg")
    code, lines, errors = katz_here("bench", "--game", GAME.name, "--num-tables", 8, "--seconds", 0.01, "--repeats", 1)
    assert (code, errors) == (0, [])
    assert "against greedy" in " ".join(" ".join(lines).split())  # lines are wrapped


def test_rules_are_set_on_the_command_line(tmp_path, katz_here):
    file, wrong = tmp_path / "games.jsonl", ("--rules", "stacks=9")
    code, _, errors = katz_here("play-out", "--game", GAME.name, *wrong, "--out", file)
    assert (code, errors) == (1, ["katz: stacks is 9; it must be an integer from 1 to 8"])
    rules = ("--rules", "merge_equal=True", "--agents", "random", "--games", 1)
    assert katz_here("play-out", "--game", GAME.name, *rules, "--out", file)[0] == 0
    assert '"merge_equal": true' in file.read_text().replace(":true", ": true")
    code, _, errors = katz_here("play-out", "--game", GAME.name, "--num-players", 3, "--out", tmp_path / "other.jsonl")
    assert (code, errors) == (1, ["katz: num_players is 3; it must be 2"])
