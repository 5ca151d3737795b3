"""Pictures of tables: they show what the record says, nothing to eyes that may not see it, and letters on every machine."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from random_play import play_to_the_end, random_positions

from katz_env import Katzenjammer, Tables
from katz_env.drawing import lettering, pixels
from katz_env.drawing.picture import definitions
from katz_env.games.katzenjammer import card_symbols

GAME = Katzenjammer(3)
POSITIONS = random_positions(GAME, 6, 6, seed=1)


def game_of(table):
    """The game that is played at a table with the printed rules."""
    return Katzenjammer(len(table["hand"]))


def words(svg):
    """The texts that are drawn, without their blanks."""
    drawn = svg.partition("</defs>")[2] or svg
    groups = re.findall(r'<g transform="translate\([^)]*\) scale\([^)]*\)" fill="[^"]*">((?:<use href="#t[^>]*/>)+)</g>', drawn)
    return ["".join(chr(int(code, 16)) for code in re.findall(r'href="#t([0-9a-f]+)"', group)) for group in groups]


def shown_cards(piece):
    """How many cards of each symbol a drawn hand shows, from single cards or from the numbers below piles."""
    numbers = [int(word[1:]) for word in words(piece) if word.startswith("\N{MULTIPLICATION SIGN}")]
    symbols = re.findall(r'href="#((?:card|known)[^"]+)"', piece)
    if not numbers:
        return {symbol: symbols.count(symbol) for symbol in symbols}
    return dict(zip(dict.fromkeys(symbols), numbers, strict=True))


def extreme_table():
    """A table on which everything is as large as it can be, though no game leads there."""
    table = Tables(Katzenjammer(4), 1, seed=3).records[0].copy()
    table["row"][:] = [1, 1, 1, 1, 2, 0]
    table["hand"][:] = [[3, 2, 0, 4, 5, 1], [15, 15, 15, 15, 15, 15], [0] * 6, [1, 1, 2, 2, 0, 1]]
    table["known"][1] = [3, 0, 2, 0, 0, 1]
    table["hand_sizes"][:] = table["hand"].sum(1)
    table["mice"][:], table["supply"] = [127, 0, 12, 8], 127
    table["displayed"][:], table["discard"][:] = [15, 0, 3, 10], 15
    table["bid"], table["high_bidder"], table["turn"] = 180, 0, 1
    table["passed"][:] = [0, 0, 1, 1]
    table["claims"][0][5], table["claims"][1][0] = 30, 5
    return table


# --- what is shown


def test_a_picture_stands_alone_and_is_well_formed():
    for table in POSITIONS[:12]:
        for seat in (None, 0, 1, 2):
            svg = GAME.svg(table, seat)
            root = ElementTree.fromstring(svg)
            ids = [element.get("id") for element in root.iter() if element.get("id")]
            assert len(ids) == len(set(ids))
            assert set(re.findall(r'href="#([^"]+)"', svg)) == set(ids)
            assert not re.search(r"<text|<image|url\(|https?://(?!www\.w3\.org/2000/svg)", svg)
            assert root.get("aria-label") == GAME.text(table, seat)


def test_every_card_of_every_hand_is_drawn():
    for table in [*POSITIONS, extreme_table()]:
        drawn = game_of(table).picture(table)
        for seat, hand in enumerate(table["hand"]):
            expected = {f"card{kind}": number for kind, number in zip("12345J", hand, strict=True) if number}
            assert shown_cards(drawn.shown[seat]) == expected
            known = {f"known{kind}": number for kind, number in zip("12345J", table["known"][seat], strict=True) if number}
            rest = table["hand_sizes"][seat] - table["known"][seat].sum()
            assert shown_cards(drawn.hidden[seat]) == known | ({"card-back": rest} if rest else {})


def test_the_words_are_those_of_the_record():
    for table in POSITIONS:
        said = words(GAME.svg(table))
        assert str(90 - table["position"]) in said
        assert said.count("passed") == table["passed"].sum()
        bid = GAME.actions.name(int(table["bid"])) if table["bid"] else "nobidyet"
        assert bid in said or table["phase"] == 2
        name = f"player_{table['turn']}"
        headline = [f"{name}bidsorpasses", f"{name}pays{bid}", f"{name}maypresentfoursomes"][table["phase"]]
        assert headline in said


def test_the_end_is_told_with_scores_and_winners():
    tables, rng, ends = Tables(GAME, 60, seed=2, autoreset=False), np.random.default_rng(2), set()
    for _ in play_to_the_end(tables, rng):
        pass
    for table in tables.records:
        said, results = words(GAME.svg(table)), GAME.results(table.reshape(1))
        winners = np.flatnonzero(results["win_share"][0])
        names, win = "and".join(f"player_{seat}" for seat in winners), "wins" if len(winners) == 1 else "win"
        assert f"{names}{win}with{results['score'][0][winners[0]]}" in said
        for score in results["score"][0]:
            assert f"score{score}" in said
        ends.add(len(winners))
    assert ends >= {1, 2}


def test_a_victory_that_all_share():
    table = Tables(GAME, 1, seed=1).records[0].copy()
    table["phase"], table["mice"][:], table["supply"] = 3, 2, 14
    assert "player_0andplayer_1andplayer_2winwith-3" in words(GAME.svg(table))


def test_names_of_the_seats():
    tables = Tables(GAME, 2, seed=1)
    said = words(tables.svg(1, None, ["Ann", "<b>&", "W" * 40]))
    assert "Ann" in said
    assert "<b>&" in said
    assert any(re.fullmatch(r"W+…", word) for word in said)
    assert "Zoë?" in words(tables.svg(names=["Zoë\N{CAT}", "b", "c"]))
    tables.svg(names=["i" * 1_000_000] * 3)
    with pytest.raises(ValueError, match="there are 2 names; 3 players need 3"):
        tables.svg(names=["a", "b"])


def test_tables_show_their_first_table_open():
    tables = Tables(GAME, 2, seed=1)
    assert tables._repr_svg_() == tables.svg(0) == GAME.svg(tables.records[0])
    assert tables.svg(1, 2) == GAME.svg(tables.records[1], 2)
    with pytest.raises(ValueError, match="table is 2; it must be an integer from 0 to 1"):
        tables.svg(2)
    for seat in (3, -1, True):
        with pytest.raises(ValueError, match="it must be a seat from 0 to 2, or None for open hands"):
            tables.svg(0, seat)


# --- nobody peeks


def test_eyes_of_a_seat_see_the_same_in_every_world_that_the_seat_cannot_tell_apart():
    rng = np.random.default_rng(1)
    for seat in range(3):
        seats = np.full(len(POSITIONS), seat)
        redacted = GAME.redact(POSITIONS, seats)
        worlds = GAME.redeal(redacted, seats, rng)
        for real, seen, world in zip(POSITIONS, redacted, worlds, strict=True):
            assert GAME.svg(real, seat) == GAME.svg(seen, seat) == GAME.svg(world, seat)
        assert any(GAME.svg(real) != GAME.svg(world) for real, world in zip(POSITIONS, worlds, strict=True))


# --- pixels


def drawn_alone(piece, size):
    """The pixels of a piece of a picture on black."""
    width, height = size
    body = f"<defs>{definitions(piece, card_symbols.SYMBOLS)}</defs>{piece}"
    return pixels.rgb(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{body}</svg>')


def covered_by(piece, size):
    """Which pixels a piece of a picture covers, bool ``(height, width)``."""
    return drawn_alone(piece, size).any(axis=2)


def test_letters_show_where_there_are_no_fonts():
    # The rasteriser is given no fonts at all: whatever is drawn as text would be missing.
    seen = []
    for character in "0123456789JdxABCpassed":
        mask = covered_by(lettering.draw(character, 4, 24, 24, "#fff"), (30, 34))
        assert mask.sum() > 20, character
        seen.append(mask.tobytes())
    assert len(set(seen)) == len(set("0123456789JdxABCpassed"))


@pytest.mark.parametrize(("field", "seat", "area"), [("mice", 0, (448, 180, 510, 210)), ("displayed", 1, (448, 280, 510, 312))])
def test_numbers_of_a_seat_are_in_the_pixels(field, seat, area):
    left, top, right, bottom = area
    shown, elsewhere = set(), set()
    for number in range(10):
        table = Tables(GAME, 1, seed=1).records[0].copy()
        table[field][seat] = number
        frame = pixels.rgb(GAME.svg(table))
        shown.add(frame[top:bottom, left:right].tobytes())
        frame[top:bottom, left:right] = 0
        elsewhere.add(frame.tobytes())
    assert len(shown) == 10
    assert len(elsewhere) == 1


def test_each_card_has_its_own_colour_and_a_digit_that_stands_out():
    colors = set()
    for kind in "12345J":
        middle = drawn_alone(f'<use href="#card{kind}"/>', (36, 50))[12:38, 6:24].reshape(-1, 3)
        found, numbers = np.unique(middle, axis=0, return_counts=True)
        ground, ink = found[np.argsort(numbers)[::-1][:2]]
        colors.add(tuple(ground))
        assert contrast(ground, ink) > 4.5
        assert numbers.max() < 0.9 * len(middle)
    assert len(colors) == 6


def contrast(first, second):
    """The contrast ratio of two colours, as WCAG defines it."""
    light = []
    for color in (first, second):
        part = np.asarray(color) / 255
        linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
        light.append(linear @ [0.2126, 0.7152, 0.0722])
    return (max(light) + 0.05) / (min(light) + 0.05)


@pytest.mark.parametrize("table", [extreme_table(), *POSITIONS[::6]], ids=lambda table: f"hands of {table['hand_sizes']}")
def test_hands_stay_between_the_names_and_the_numbers(table):
    drawn = game_of(table).picture(table)
    for seat, pieces in enumerate(zip(drawn.shown, drawn.hidden, strict=True)):
        for piece in pieces:
            rows, columns = np.nonzero(covered_by(piece, (drawn.width, drawn.height)))
            if len(rows):
                top = 170 + 72 * seat
                assert columns.min() >= 150
                assert columns.max() <= 436
                assert top <= rows.min()
                assert rows.max() <= top + 66


@pytest.mark.parametrize("table", [extreme_table(), *POSITIONS[::6]], ids=lambda table: f"hands of {table['hand_sizes']}")
def test_pieces_of_the_public_picture_do_not_cover_each_other(table):
    drawn = game_of(table).picture(table, ["W" * 30] * len(table["hand"]))
    size = (drawn.width, drawn.height)
    ground = re.compile(r'<rect (x="12" y="\d+" )?width="(496|520)"')  # the table and the places on it
    things = [piece for piece in drawn.public if piece and not ground.match(piece)]
    covered = np.zeros((drawn.height, drawn.width), int)
    for piece in things:
        covered += covered_by(piece, size)
    assert len(things) > 20
    assert covered.max() == 1
    assert not covered[:, :12].any()
    assert not covered[:, 508:].any()


def test_the_height_grows_with_the_seats_only():
    sizes = {
        n: {(p.width, p.height) for p in map(Katzenjammer(n).picture, Tables(Katzenjammer(n), 3, seed=1).records)}
        for n in (3, 4)
    }
    assert all(len(found) == 1 for found in sizes.values())
    assert sizes[3] != sizes[4]


def test_other_rules_are_drawn_too():
    game = Katzenjammer(3, values=8, copies=14, hand_size=10)
    table = Tables(game, 1, seed=1).records[0].copy()
    table["row"][:], table["discard"][:] = 1, 14
    drawn = game.picture(table)
    assert [sum(shown_cards(piece).values()) for piece in drawn.shown] == [10, 10, 10]
    assert words(game.svg(table)).count("14") == 9
