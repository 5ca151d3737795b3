"""How a table of Meow looks: pictures, text, commentary and the screen in the terminal."""

from io import StringIO

import numpy as np
import pytest
from any_game import play
from rich.console import Console

from katz_env import Meow, Tables, make_agent
from katz_env.games.meow import picture
from katz_env.games.meow.terminal import MeowScreen
from katz_env.play.session import Session

GAME = Meow(3)


def tables_after(steps):
    tables = Tables(GAME, 1, seed=3, autoreset=False, events=True)
    for _ in play(tables, steps):
        pass
    return tables


def test_a_picture_shows_only_the_hand_of_its_seat():
    record = tables_after(20).records[0]
    drawn = GAME.picture(record)
    for seat in range(3):
        cards = {f"#card{GAME.cards[card]}" for card in picture.hand(GAME, record, seat)}
        assert all(card + '"' in drawn.shown[seat] for card in cards)
        assert not any(card + '"' in drawn.hidden[seat] for card in cards)
        assert drawn.hidden[seat].count("#card-back") == len(cards)


def test_a_picture_has_the_row_the_trick_and_the_won_tiles():
    for steps in (0, 7, 33, 200):
        record = tables_after(steps).records[0]
        public = "".join(GAME.picture(record, ["Ann", "Bob", "Cleo"]).public)
        assert public.count("#tile") == GAME.rules.tricks + int(record["won"].sum())
        assert public.count("#sign-marker") == 1
        assert "#sign-trump" in public


def test_names_must_be_as_many_as_players():
    with pytest.raises(ValueError, match="there are 2 names; 3 players need 3"):
        GAME.picture(tables_after(0).records[0], ["Ann", "Bob"])


def test_the_commentary_tells_the_row_in_its_order_and_hides_other_hands():
    tables = tables_after(0)
    lines = GAME.tell(tables.events(0, 1), ["Ann", "you", "Cleo"], 1)
    names = [GAME.tiles[kind] for kind in tables.records["row_type"][0]]
    assert lines[0] == f"round 1: the row is {' '.join(names)}"
    assert lines[1].startswith("you get ")
    assert sum(" get" in line for line in lines) == 1


def test_the_screen_shows_the_table_and_objects_to_cards_that_cannot_be_played():
    session = Session(GAME, [make_agent("random")], 1, np.random.default_rng(2))
    session.start()
    screen, console = MeowScreen(session), Console(width=100, file=StringIO())
    while session.table["led"] < 0 or len(screen.groups()) > 1:
        session.play(int(np.flatnonzero(session.mask)[0]))
    console.print(screen.table())
    assert "round " in console.file.getvalue()
    own = [GAME.cards[card] for card in picture.hand(GAME, session.table, 1)]
    legal = list(GAME.legal_names(session.table, session.mask))
    others = [name for name in GAME.cards if name not in own]
    assert screen.objection(others[0]) == f"you do not hold {others[0]}"
    for name in set(own) - set(legal):
        assert screen.objection(name.lower()).endswith(" was led, and you have to follow")
    assert screen.objection("nonsense") is None
