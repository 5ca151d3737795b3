"""The replay page in a real browser: it loads by itself, steps through games, hides hands, and tells what the records say."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import katz_env
from katz_env import Agent, Katzenjammer, make_agent
from katz_env.core.game_records import play_out, replay
from katz_env.core.replay_page import LONGEST_NAME, Page

HOSTILE = "<img src=x onerror=alert(1)>{{DATA}}</script><!--<script>"
PHONE, DESKTOP = {"width": 375, "height": 700}, {"width": 1280, "height": 860}


@pytest.fixture(scope="module")
def records():
    """Two games of greedy against two others, and one with a name that tries to break out of the page."""
    game, rng = Katzenjammer(num_players=3), np.random.default_rng(7)
    played = list(play_out(game, [make_agent(name) for name in ("greedy", "random", "random")], 2, rng))
    played += [record | {"agents": [HOSTILE, "b", "c"]} for record in play_out(game, [make_agent("greedy")], 1, rng)]
    return played


@pytest.fixture(scope="module")
def page_file(records, tmp_path_factory):
    """The page of these games, with what greedy would do, written by the command."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "games.jsonl").write_text("\n".join(map(json.dumps, records)))
    result = katz("replay", folder / "games.jsonl", "--html", folder / "out.html", "--agent", "greedy")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines()[-1] == f"{folder / 'out.html'} written"
    return folder / "out.html"


def katz(*arguments):
    """The command in a process of its own."""
    command = [sys.executable, "-m", "katz_env.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def browser():
    chromium = shutil.which("chromium")
    if chromium is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("there is no chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, page_file):
    """The page on a desktop; afterwards nothing may have been complained about, or asked from a network."""
    yield from opened_at(browser, page_file, DESKTOP)


@pytest.fixture
def on_a_phone(browser, page_file):
    yield from opened_at(browser, page_file, PHONE)


def opened_at(browser, file, size, **settings):
    page, complaints, asked = browser.new_page(viewport=size, **settings), [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    yield page
    assert complaints == []
    assert [url for url in asked if not url.startswith("data:")] == [file.as_uri()]
    page.close()


def position(page):
    return int(page.input_value("#slider"))


def test_it_begins_at_the_deal_of_the_first_game(opened, records):
    assert opened.title() == opened.inner_text("h1") == "games.jsonl"
    assert position(opened) == 0
    assert opened.get_attribute("#slider", "max") == str(len(records[0]["moves"]))
    assert opened.locator("#game option").all_inner_texts() == ["1", "2", "3"]
    assert opened.locator("#moves .move").all_inner_texts() == records[0]["moves"]


def test_arrow_keys_buttons_slider_and_list_step(opened, records):
    last = len(records[0]["moves"])
    picture = opened.inner_html("#picture")
    opened.keyboard.press("ArrowRight")
    assert position(opened) == 1
    assert opened.inner_html("#picture") != picture
    opened.keyboard.press("ArrowLeft")
    assert opened.inner_html("#picture") == picture
    opened.keyboard.press("ArrowLeft")
    assert position(opened) == 0
    for press, expected in (("#next", 1), ("#last", last), ("#back", last - 1), ("#first", 0)):
        opened.click(press)
        assert position(opened) == expected
    opened.focus("#slider")
    opened.keyboard.press("ArrowRight")
    assert position(opened) == 1
    opened.keyboard.press("End")
    assert position(opened) == last
    opened.locator("#moves button").nth(3).click()
    assert position(opened) == 3
    assert opened.locator("#moves [aria-current=step]").inner_text().startswith("4")
    opened.click("#chart", position={"x": 5, "y": 50})
    assert position(opened) == 0


def test_it_steps_by_turns(opened, records):
    """A turn is all that a seat does until another one is to move."""
    seats = [int(tables.turn[0]) for tables in replay(records[0])]
    last = len(records[0]["moves"])
    begins = [i for i in range(last) if i == 0 or seats[i] != seats[i - 1]]
    assert len(begins) < last  # some seat had several decisions in a row
    assert opened.locator("#moves .begins").count() == len(begins)
    long = next(i for i in range(1, last) if seats[i] == seats[i - 1])
    opened.fill("#slider", str(long))
    assert " in this turn" in opened.inner_text("#where")
    opened.click("#turn-back")
    assert position(opened) == max(i for i in begins if i < long)
    opened.click("#first")
    for begin in [*begins[1:], last]:
        opened.keyboard.press("Shift+ArrowRight")
        assert position(opened) == begin
    assert opened.locator("#turn-next").is_disabled()
    for begin in begins[::-1]:
        opened.keyboard.press("Shift+ArrowLeft")
        assert position(opened) == begin


def test_it_plays_by_itself_until_the_end(opened, records):
    opened.click("#last")
    opened.click("#back")
    opened.clock.install()
    opened.click("#play")
    assert opened.get_attribute("#play", "aria-label") == "Pause"
    opened.clock.run_for(2000)
    assert position(opened) == len(records[0]["moves"])
    assert opened.get_attribute("#play", "aria-label") == "Play"
    opened.click("#play")  # from the end it begins again
    opened.clock.run_for(1000)
    assert position(opened) == 1
    opened.evaluate("document.activeElement.blur()")
    opened.keyboard.press(" ")
    opened.clock.run_for(5000)
    assert position(opened) == 1


def test_every_position_tells_the_moves_the_points_and_what_the_agent_would_do(opened, records):
    for number, record in enumerate(records):
        opened.select_option("#game", index=number)
        agent, rng = make_agent("greedy"), np.random.default_rng(0)
        for at, tables in enumerate(replay(record)):
            if at % 9 == 0 or tables.terminated[0]:
                opened.fill("#slider", str(at))
                points = [int(text) for text in opened.locator("#scores li[data-seat] .now").all_inner_texts()]
                assert points == tables.game.points(tables.records)[0].tolist()
            if tables.terminated[0]:
                assert opened.inner_text("#where").startswith("The game is over")
            elif at % 9 == 0:
                legal = tables.game.legal_names(tables.records[0], tables.action_masks[0])
                choice = agent.act(tables.view(np.array([0]), rng))[0]
                names = {action: name for name, action in legal.items()}
                assert opened.locator("#legal li").all_inner_texts() == list(legal)
                assert opened.locator("#legal .chosen").all_inner_texts() == [record["moves"][at]]
                assert opened.locator("#legal .agent").all_inner_texts() == [names[choice]]
                assert ("do the same" in opened.inner_text("#note")) == (names[choice] == record["moves"][at])


def test_the_final_scores_are_those_of_the_record(opened, records):
    for number, record in enumerate(records):
        opened.select_option("#game", index=number)
        finals = opened.locator("#scores li[data-seat] .final").all_inner_texts()
        assert [int(text.removeprefix("★ ")) for text in finals] == record["scores"]
        assert [seat for seat, text in enumerate(finals) if text.startswith("★")] == record["winners"]
        opened.keyboard.press("End")
        assert [int(text) for text in opened.locator("#scores li[data-seat] .now").all_inner_texts()] == record["scores"]


def test_hands_can_be_hidden_and_then_nothing_of_them_is_in_the_picture(opened, records):
    for at, tables in enumerate(replay(records[0])):
        if at % 12:
            continue
        table, turn = tables.records[0], int(tables.turn[0])
        drawn = tables.game.picture(table, ["greedy_0", "random_1", "random_2"])
        opened.fill("#slider", str(at))
        for eyes in ("open", "turn", "0", "1", "2"):
            opened.select_option("#eyes", eyes)
            seat = None if eyes == "open" else turn if eyes == "turn" else int(eyes)
            assert uses(opened.inner_html("#table")) == uses(drawn.svg(seat).partition("</defs>")[2])
            assert opened.is_visible("#legal") == (seat in (None, turn) and not tables.terminated[0])
    choices = {}
    for eyes in ("open", "turn", "0", "1", "2"):
        opened.select_option("#eyes", eyes)
        choices[eyes] = opened.locator(".would:not([hidden])").count()
    assert choices["open"] == choices["turn"] == sum(choices[seat] for seat in "012")
    assert choices["1"] > 0  # who plays at random does not always do what greedy would
    opened.select_option("#eyes", "open")
    opened.click("#first")
    opened.keyboard.press("h")
    assert opened.input_value("#eyes") == "turn"
    opened.keyboard.press("h")
    assert opened.input_value("#eyes") == "open"


def uses(svg):
    return re.findall(r'href="#([^"]+)"', svg)


def test_names_are_text_whatever_they_are(opened):
    opened.select_option("#game", index=2)
    assert opened.locator("#scores .name").first.inner_text() == f"{HOSTILE}_0"
    assert opened.locator("img").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_is_wider_than_the_screen_and_everything_can_be_touched(browser, page_file, scheme):
    for page in opened_at(browser, page_file, PHONE, color_scheme=scheme, has_touch=True):
        for number in range(3):
            page.select_option("#game", index=number)
            for key in ("Home", "ArrowRight", "End"):
                page.keyboard.press(key)
                assert page.evaluate("document.documentElement.scrollWidth") <= 375
        table = page.locator("#table").bounding_box()
        assert table["width"] > 340
        for button in page.locator("button:visible:not(#moves button), select:visible").all():
            box = button.bounding_box()
            assert min(box["width"], box["height"]) >= 40
        page.tap("#first")
        page.tap("#next")
        assert position(page) == 1


def test_everything_can_be_reached_with_the_tab_key(opened):
    reached = []
    for _ in range(10):
        opened.keyboard.press("Tab")
        reached.append(opened.evaluate("document.activeElement.id"))
    assert reached[:6] == ["game", "eyes", "play", "next", "turn-next", "last"]  # at the deal there is nothing to go back to
    assert reached[6] == "slider"


def test_a_page_keeps_every_piece_once(page_file, records):
    text = page_file.read_text()
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert len(set(data["pieces"])) == len(data["pieces"])
    assert len(text) < 130_000 * len(records)


def test_settings_of_agents_are_left_out_of_the_names_of_seats(records):
    page = Page("one")
    page.add(records[0] | {"agents": ["search:playouts=9", "greedy", "greedy"]}, "1")
    assert page.games[0]["names"] == ["search_0", "greedy_1", "greedy_2"]
    for strange in (None, "greedy", ["a", "b"], [1, 2, 3]):
        page.add(records[0] | {"agents": strange}, "2")
        assert page.games[-1]["names"] == ["player_0", "player_1", "player_2"]


def test_a_name_of_any_length_is_shortened(records):
    page = Page("one")
    page.add(records[0] | {"agents": ["x" * 100_000, "b", "c"]}, "1")
    assert page.games[0]["names"][0] == "x" * LONGEST_NAME + "…_0"
    assert len(page.html()) < 200_000


class Cheat(Agent):
    """Chooses what it is told to choose, and says that everything is legal."""

    name = "cheat"

    def __init__(self, choice):
        self.choice = choice

    def act(self, view):
        view.action_masks.flags.writeable and view.action_masks.fill(True)
        return self.choice(len(view))


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (lambda k: np.full(k, 255), r"agent cheat chose the illegal action 255 at move 1; legal are \d+, "),
        (lambda k: np.full(k, -1), "agent cheat chose the illegal action -1 at move 1; legal are"),
        (lambda k: np.full(k, 10**9), "agent cheat chose the illegal action 1000000000 at move 1; legal are"),
        (lambda k: np.zeros(k - 1, int), r"agent cheat answered with an array int64 \(\d+,\); it must be \d+ action ids"),
        (lambda k: np.zeros(k), r"agent cheat answered with an array float64 \(\d+,\)"),
        (lambda k: None, r"agent cheat answered with an array object \(\)"),
    ],
)
def test_an_illegal_choice_of_an_agent_is_never_shown(records, choice, message):
    page = Page("one", Cheat(choice), np.random.default_rng(0))
    with pytest.raises(ValueError, match=message):
        page.add(records[0], "1")
    assert page.games == []


# --- the commands


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--agent", "greedy"), "--agent shows its moves on a page: give --html FILE too"),
        (("--html", "here.html", "--agent", "gready"), "there is no agent 'gready'; installed are "),
        (("--html", "here.html", "--games", "0"), "--games is 0; it must be at least 1"),
        (("--html", "here.html", "--seed", "-1"), "--seed is -1; it must be at least 0"),
        (("--html", "no/such/page.html"), "cannot write no/such/page.html: there is no folder no/such"),
        (("--html", "games.jsonl"), "--html is games.jsonl, the file of records itself"),
    ],
)
def test_replay_answers_bad_input_in_one_line(arguments, message, records, tmp_path, monkeypatch, katz_here):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "games.jsonl").write_text(json.dumps(records[0]))
    code, _, errors = katz_here("replay", "games.jsonl", *arguments)
    assert (code, len(errors)) == (1, 1)
    assert errors[0].startswith(f"katz: {message}")
    assert [path.name for path in tmp_path.iterdir()] == ["games.jsonl"]


def test_broken_lines_are_left_out_of_the_page_and_the_first_games_are_shown(records, tmp_path, katz_here):
    file, out = tmp_path / "games.jsonl", tmp_path / "out.html"
    file.write_text("\n".join(["{", *map(json.dumps, records)]))
    code, lines, errors = katz_here("replay", file, "--html", out, "--games", 2)
    assert code == 1
    assert len(errors) == 1
    assert "line 1: not JSON" in errors[0]
    assert lines[-1] == f"{out} written, the first 2 of 3 games; --games shows more"
    assert json.loads(re.search(r'id="data">(.*?)</script>', out.read_text(), re.DOTALL)[1])["agent"] is None
    file.write_text("{")
    code, _, errors = katz_here("replay", file, "--html", tmp_path / "none.html")
    assert code == 1
    assert "has no game to show" in errors[-1]
    assert not (tmp_path / "none.html").exists()


def test_draw_writes_svg_and_png(records, tmp_path, katz_here):
    file = tmp_path / "games.jsonl"
    file.write_text("\n".join(map(json.dumps, records)))
    tables = [tables.records[0].copy() for tables in replay(records[1])]
    names = [f"{name}_{seat}" for seat, name in enumerate(records[1]["agents"])]
    for seat in (None, 1):
        eyes = () if seat is None else ("--seat", seat)
        out = tmp_path / f"{seat}.svg"
        assert katz_here("draw", file, "--line", 2, "--moves", 9, *eyes, "--out", out) == (0, [f"{out} written"], [])
        assert out.read_text() == Katzenjammer(3).svg(tables[9], seat, names)
    assert katz_here("draw", file, "--out", tmp_path / "a.png", "--zoom", 1)[0] == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_draw_names_a_missing_extra(records, tmp_path, katz_here, monkeypatch):
    (tmp_path / "games.jsonl").write_text(json.dumps(records[0]))
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    code, _, errors = katz_here("draw", tmp_path / "games.jsonl", "--out", tmp_path / "a.png")
    assert (code, len(errors)) == (1, 1)
    assert errors[0].endswith('pip install -c constraints.txt -e ".[render]"')
    assert not (tmp_path / "a.png").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--out", "a.gif"), "--out is a.gif; it must end in .svg or .png"),
        (("--out", "games.jsonl"), "--out is games.jsonl; it must end in .svg or .png"),
        (("--out", "a.svg", "--line", "9"), "games.jsonl has no game in line 9"),
        (("--out", "a.svg", "--moves", "-1"), "--moves is -1; it must be at least 0"),
        (("--out", "a.svg", "--moves", "9999"), "--moves is 9999; this game has "),
        (("--out", "a.svg", "--seat", "3"), "--seat is 3; it must be from 0 to 2"),
        (("--out", "a.png", "--zoom", "0"), "--zoom is 0.0; it must be above 0, and 20 at most"),
        (("--out", "no/a.svg"), "cannot write no/a.svg: there is no folder no"),
    ],
)
def test_draw_answers_bad_input_in_one_line(arguments, message, records, tmp_path, monkeypatch, katz_here):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "games.jsonl").write_text(json.dumps(records[0]))
    code, _, errors = katz_here("draw", "games.jsonl", *arguments)
    assert (code, len(errors)) == (1, 1)
    assert message in errors[0]
    assert [path.name for path in tmp_path.iterdir()] == ["games.jsonl"]


def test_the_version_is_printed(katz_here):
    assert katz_here("--version") == (0, [f"katz_env {katz_env.__version__}"], [])


def test_a_measurement_takes_an_hour_at_most(katz_here):
    assert katz_here("bench", "--seconds", "4000") == (
        1,
        [],
        ["katz: --seconds is 4000.0; it must be above 0, and 3600 at most"],
    )
