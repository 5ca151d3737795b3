"""One whole game, told as a table: who moves, what, and what the table shows then. Worked out by hand from the rules."""

import pytest
from referee import Referee

from katz_env import katzenjammer_v0

SEEN = "333444" + "112255" + "433" + "J13" + "252" + "545" + "J35" + "33"  # hands, then row after row with its draws
DECK = SEEN + "1" * 12 + "2" * 11 + "3" * 6 + "4" * 10 + "5" * 9 + "J" * 13
PLAYERS, MICE, BANDLEADER = 2, 7, 1

# seat, move, phase, hands, row, bid, discard, displayed jokers, mice, mice left, next seat
GAME = [
    # The left neighbour of the bandleader begins; of the row 4-3-3 the second 3 was the last card.
    (0, "1x3", "auction", ("333444", "112255"), "334", "1x3", "", (0, 0), (0, 0), 7, 1),
    (1, "1x5", "auction", ("333444", "112255"), "334", "1x5", "", (0, 0), (0, 0), 7, 0),
    (0, "2d", "auction", ("333444", "112255"), "334", "2d", "", (0, 0), (0, 0), 7, 1),
    (1, "2x5", "auction", ("333444", "112255"), "334", "2x5", "", (0, 0), (0, 0), 7, 0),
    # Nobody can outbid three 3's: seat 1 passes by itself, 333 is the only payment, the row comes into the hand.
    (0, "3x3", "foursomes", ("334444", "112255"), "", "3x3", "333", (0, 0), (0, 0), 7, 0),
    # Four mice; no foursome is left, so seat 0 reveals: a joker, for which seat 1 draws a 1 and then seat 0 a 3.
    (0, "four 4444", "auction", ("333", "1112255"), "J", "none", "3334444", (0, 0), (4, 0), 3, 1),
    (1, "1x1", "auction", ("333", "1112255"), "J", "1x1", "3334444", (0, 0), (4, 0), 3, 0),
    (0, "1x3", "auction", ("333", "1112255"), "J", "1x3", "3334444", (0, 0), (4, 0), 3, 1),
    (1, "pass", "auction", ("33J", "1112255"), "225", "none", "33334444", (0, 0), (4, 0), 3, 1),
    (1, "3x1", "auction", ("33J", "1112255"), "225", "3x1", "33334444", (0, 0), (4, 0), 3, 0),
    (0, "pass", "foursomes", ("33J", "2222555"), "", "3x1", "11133334444", (0, 0), (4, 0), 3, 1),
    (1, "four 2222", "auction", ("33J", "555"), "455", "none", "111222233334444", (0, 0), (4, 2), 1, 0),
    (0, "2x3", "auction", ("33J", "555"), "455", "2x3", "111222233334444", (0, 0), (4, 2), 1, 1),
    (1, "2x5", "auction", ("33J", "555"), "455", "2x5", "111222233334444", (0, 0), (4, 2), 1, 0),
    (0, "3x3", "auction", ("33J", "555"), "455", "3x3", "111222233334444", (0, 0), (4, 2), 1, 1),
    # Paid with 555; a joker is revealed, seat 0 draws a 3 and seat 1 a 5.
    (1, "3x5", "auction", ("333J", "4555"), "J", "none", "111222233334444555", (0, 0), (4, 2), 1, 0),
    (0, "2x3", "auction", ("333J", "4555"), "J", "2x3", "111222233334444555", (0, 0), (4, 2), 1, 1),
    # Now there is a choice: 33 or 3J. The joker that pays is displayed, the joker of the row comes into the hand.
    (1, "pass", "payment", ("333J", "4555"), "J", "2x3", "111222233334444555", (0, 0), (4, 2), 1, 0),
    (0, "pay 3J", "auction", ("33J", "4555"), "33", "none", "1112222333334444555", (1, 0), (4, 2), 1, 1),
    # The last to speak is still asked although nobody has bid.
    (1, "pass", "auction", ("33J", "4555"), "33", "none", "1112222333334444555", (1, 0), (4, 2), 1, 0),
    (0, "1x3", "payment", ("33J", "4555"), "33", "1x3", "1112222333334444555", (1, 0), (4, 2), 1, 0),
    (0, "pay 3", "foursomes", ("333J", "4555"), "", "1x3", "11122223333334444555", (1, 0), (4, 2), 1, 0),
    # Three mice are due, but only one is left: the game is over. Most jokers cost five mice, and so the game.
    (0, "four 333J", "over", ("", "4555"), "", "1x3", "11122223333333334444555", (2, 0), (5, 2), 0, 0),
]


def shown(env):
    """What the table shows, in the words of the script."""
    record = env._tables.records[0]

    def cards(counts):
        return "".join(card * int(number) for card, number in zip("12345J", counts, strict=True))

    return (
        ("auction", "payment", "foursomes", "over")[record["phase"]],
        tuple(cards(hand) for hand in record["hand"]),
        cards(record["row"]),
        env.game.action_name(record, int(record["bid"])) if record["bid"] else "none",
        cards(record["discard"]),
        tuple(record["displayed"].tolist()),
        tuple(record["mice"].tolist()),
        int(record["supply"]),
        int(record["turn"]),
    )


def shown_by_the_referee(table):
    def cards(some):
        return "".join(sorted(some))

    return (
        ("auction", "payment", "foursomes", "over")[table.phase],
        tuple(cards(hand) for hand in table.hands),
        cards(table.row),
        table.bid or "none",
        cards(table.discard),
        tuple(table.displayed),
        tuple(table.mice),
        table.supply,
        table.turn,
    )


@pytest.fixture
def env():
    env = katzenjammer_v0.raw_env(PLAYERS, mice=MICE)
    env.reset(options={"deck": DECK, "bandleader": BANDLEADER})
    return env


def test_the_game_goes_as_the_script_says(env):
    for seat, move, *expected in GAME:
        assert env.agent_selection == f"player_{seat}"
        env.play(move)
        assert shown(env) == tuple(expected), move


def test_the_end_of_the_game_is_as_the_script_says(env):
    for _, move, *_ in GAME:
        env.play(move)
    assert env.infos["player_0"] == {"score": 0, "mice": 5, "jokers": 2, "win_share": 0.0, "illegal_action": False}
    assert env.infos["player_1"] == {"score": 2, "mice": 2, "jokers": 0, "win_share": 1.0, "illegal_action": False}
    assert env.rewards == {"player_0": -0.5, "player_1": 0.5}


def test_what_everybody_knows_of_the_hands_follows_the_script(env):
    known = {}
    for number, (_, move, *_) in enumerate(GAME, start=1):
        env.play(move)
        known[number] = env.named_observation("player_0")["known"].tolist()
    assert known[5][0] == [0, 0, 2, 1, 0, 0]  # the row 4-3-3 was taken
    assert known[6][0] == [0, 0, 2, 0, 0, 0]  # and its 4 may have been among the four 4's
    assert known[9][0] == [0, 0, 1, 0, 0, 1]  # a 3 was paid, a joker taken
    assert known[16][1] == [0, 0, 0, 1, 2, 0]  # seat 1 paid its fives before it took 4-5-5
    assert known[19][0] == [0, 0, 0, 0, 0, 1]  # 3J was paid, and another joker taken


def test_the_referee_reads_the_script_alike():
    table = Referee(PLAYERS, deck=DECK, bandleader=BANDLEADER, mice=MICE)
    for seat, move, *expected in GAME:
        assert table.turn == seat
        table.play(move)
        assert shown_by_the_referee(table) == tuple(expected), move
    assert (table.scores(), table.winners(), table.end) == ([0, 2], [1], "mice")
