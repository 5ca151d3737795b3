"""Kuhn poker (H. W. Kuhn, 1950): the smallest game with hidden cards and bluffs, as an example of a whole game.

Two players put a chip each into the pot and get a card each of jack, queen and king. In turn they pass or bet one more chip.
Who passes after a bet gives the pot away; after two passes or two bets the higher card wins it. The score is the chips won.
"""

import numpy as np

from katz_env.core.batch import TableFunctions
from katz_env.core.event_log import emit, emit_cards
from katz_env.core.fields import Field
from katz_env.core.game import Game
from katz_env.core.jit import compiled
from katz_env.core.rng import shuffle
from katz_env.core.validation import check_integer

BETTING, OVER = range(2)
PASS, BET = range(2)
GOT, PASSED, PUT_CHIP, SHOWED, WON = range(5)
TABLE = [
    ("rng", np.uint64),  # this table's generator
    ("deal", np.int8, (3,)),  # the cards of seat 0 and seat 1, and the one left out: 0 jack, 1 queen, 2 king
    ("card", np.int8, (2,)),  # for each seat: its card, -1 if the observer does not know it
    ("pot", np.int8, (2,)),  # for each seat: the chips it has put into the pot, 1 or 2
    *((field, np.int8) for field in ("first_seat", "turn", "phase")),  # every game has these
]
OBSERVATION = [
    Field("card", (3,), 1, 0, 1, "one-hot: the own card, jack, queen or king"),
    Field("pot", (1,), 1 / 4, 2, 4, "chips in the pot"),
    Field("lead", (1,), 1, -1, 1, "own chips in the pot, less the other's"),
    Field("first", (1,), 1, 0, 1, "1 if this seat is the first to act"),
    Field("turn", (1,), 1, 0, 1, "1 if this seat is to act"),
]
ONLY_IN_STATE = [Field("other_card", (3,), 1, 0, 1, "one-hot: the other card")]


@compiled
def fill_deal(t):
    t.deal[0], t.deal[1], t.deal[2] = 0, 1, 2
    shuffle(t, t.deal)


@compiled
def deal(t, log):
    t.turn, t.phase = t.first_seat, BETTING
    for seat in range(2):
        t.card[seat], t.pot[seat] = t.deal[seat], 1
        if log is not None:
            emit(log, GOT, seat, 0, seat)  # the last argument says who sees the cards
            emit_cards(log, t.card[seat], 1)


@compiled
def play(t, action, log):
    seat, other = t.turn, 1 - t.turn
    if log is not None:
        emit(log, PUT_CHIP if action == BET else PASSED, seat)
    t.pot[seat] += action == BET
    if t.pot[seat] > t.pot[other] or (seat == t.first_seat and t.pot[other] == 1):
        t.turn = other
        return
    t.phase = OVER
    if log is not None:
        for player in range(2 if t.pot[0] == t.pot[1] else 0):
            emit(log, SHOWED, player)
            emit_cards(log, t.card[player], 1)
        emit(log, WON, winner(t), t.pot[1 - winner(t)])


@compiled
def winner(t):
    return int(t.card[1] > t.card[0] if t.pot[0] == t.pot[1] else t.pot[1] > t.pot[0])


@compiled
def write_mask(t, mask):
    mask[:] = t.phase == BETTING


@compiled
def write_observation(t, seat, out):
    for card in range(3):
        out[card] = t.card[seat] == card
    out[3], out[4] = t.pot[0] + t.pot[1], t.pot[seat] - t.pot[1 - seat]
    out[5], out[6] = t.first_seat == seat, t.turn == seat


@compiled
def write_state(t, seat, out):
    write_observation(t, seat, out)
    for card in range(3):
        out[7 + card] = t.card[1 - seat] == card


@compiled
def write_scores(t, scores, ranks):
    for seat in range(2):
        scores[seat] = ranks[seat] = t.pot[1 - seat] if seat == winner(t) else -t.pot[seat]


@compiled
def redact(t, seat):
    t.rng, t.card[1 - seat] = 0, -1
    t.deal[:] = -1


@compiled
def resample(t, seat):
    mine, t.deal[seat] = t.card[seat], -1
    while mine >= 0 and t.deal[seat] != mine:  # all deals that fit are equally likely
        fill_deal(t)
    t.card[0], t.card[1] = t.deal[0], t.deal[1]
    return mine >= 0


@compiled
def renew(t):
    t.card[0], t.card[1] = t.deal[0], t.deal[1]
    mine, theirs = t.pot[t.turn], t.pot[1 - t.turn]
    dealt = mine > 0 and theirs > 0 and (t.deal[0] + 1) * (t.deal[1] + 1) * (t.deal[2] + 1) == 6  # only 1 * 2 * 3 is 6
    return dealt and (mine == 1 if t.phase == BETTING else mine <= theirs and (theirs == 2 or t.turn != t.first_seat))


class KuhnPoker(Game):
    name, phases, deal_keys, card_names = "kuhn_poker", ("betting", "over"), ("cards",), "JQK"
    event_kinds, max_events = ("got", "passed", "put_chip", "showed", "won"), 4
    functions = TableFunctions(
        fill_deal, deal, play, write_mask, write_observation, write_state, write_scores, redact, resample, renew
    )
    field_ranges = {"deal": (-1, 2), "card": (-1, 2), "pot": (0, 2)}

    def __init__(self, num_players=2):
        check_integer("num_players", num_players, 2, 2)
        super().__init__(2, 2, np.dtype(TABLE, align=True), OBSERVATION, OBSERVATION + ONLY_IN_STATE)

    def parse_deal(self, given):
        cards = given["cards"]
        if not isinstance(cards, str) or sorted(cards) != sorted(self.card_names):
            raise ValueError(f"the cards are {cards!r}; they must be those of seat 0, seat 1 and nobody, such as 'QJK'")
        return np.array([self.card_names.index(card) for card in cards], np.int8)

    def describe_deal(self, record):
        return {"cards": "".join(self.card_names[card] for card in record["deal"])}

    def action_name(self, record, action):
        return (("check", "bet"), ("fold", "call"))[record["pot"].max() - 1][action]

    def private_text(self, record, seat):
        return f"player_{seat} holds {self.card_names[record['card'][seat]]}"
