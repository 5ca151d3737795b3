"""What the tests of Meow share: sets of rules, small and printed, and the engine played beside the referee."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
from any_game import nth_legal
from meow_referee import COLOURS, Referee

from katz_env import Meow, Tables, named_fields
from katz_env.games.meow import rules

_FILE = Path(__file__).parent / "data" / "meow_games.jsonl.gz"
RECORDS = [json.loads(line) for line in gzip.decompress(_FILE.read_bytes()).splitlines()]
TINY = {"ranks": 6, "tricks": 3, "rounds": 1, "bowls": [2], "fishbones": [1], "fish": 0, "vases": 1}
SMALL = [
    {"num_players": 2, **TINY},
    {"num_players": 3, "expert": True, **TINY},
    {"num_players": 6, **TINY},
    {"num_players": 2, "ranks": 2, "tricks": 3, "rounds": 2, "bowls": [1, 1], "fishbones": [1, 1], "fish": 1, "vases": 1},
    {"num_players": 4, "ranks": 4, "tricks": 3, "rounds": 3, "bowls": [1, 3], "fishbones": [2, 2, 5], "fish": 2, "vases": 2},
    {"num_players": 3, "ranks": 10, "tricks": 4, "rounds": 2, "bowls": [100], "fishbones": [7, 9, 100], "fish": 1, "vases": 3},
    {
        "num_players": 2,
        "ranks": 40,
        "tricks": 20,
        "rounds": 3,
        "bowls": range(1, 41),
        "fishbones": [3] * 20,
        "fish": 0,
        "vases": 0,
    },
]


def referee_of(game: Meow, table: np.void) -> Referee:
    """A referee of the same game, dealt as a table was."""
    deal, options = game.describe_deal(table), game.rules
    decks = [deck.split() for deck in deal["decks"]]
    settings = {"expert": options.expert, "ranks": options.ranks, "tricks": options.tricks}
    return Referee(
        game.num_players, decks, deal["tiles"], int(table["first_seat"]), **settings, vase_scores=options.vase_scores
    )


def told(game: Meow, events: np.ndarray) -> list[tuple]:
    """Events as a referee tells them."""
    found = []
    for event in events:
        kind, seat, cards = game.event_kinds[event["kind"]], int(event["seat"]), event["cards"]
        names = [name for name, count in zip(game.cards + game.tiles, cards, strict=True) for _ in range(count)]
        found.append(
            {
                "opened": lambda: ("opened", int(event["number"])),  # noqa: B023 - called at once
                "laid": lambda: ("laid", *names),  # noqa: B023
                "dealt": lambda: ("dealt", seat, names),  # noqa: B023
                "leads": lambda: ("leads", seat),  # noqa: B023
                "ended": lambda: ("ended",),
            }.get(kind, lambda: (kind, seat, *names))()  # noqa: B023
        )
    return found


def bits(names: list[str], ranks: int) -> list[list[int]]:
    """Cards as numbers 0 or 1 by colour and rank."""
    return [[int(f"{colour}{rank}" in names) for rank in range(1, ranks + 1)] for colour in COLOURS]


def expected_fields(game: Meow, referee: Referee, seat: int) -> dict[str, list]:
    """What a seat sees, and after it what is hidden, by the names of the fields, as the referee knows it."""
    n, ranks, tricks = game.num_players, referee.ranks, referee.tricks
    seats = [(seat + i) % n for i in range(n)]
    lying = dict(referee.trick)
    led = referee.trick[0][1][0] if referee.trick else None
    row = [] if referee.over else referee.row
    gone = tricks - len(row)
    stack = referee.stacks[referee.round]
    later = [tile for coming in referee.stacks[referee.round + 1 :] for tile in coming]
    kinds = ("+", "-", "fish", "vase")

    def kind(tile):
        return [int(tile[: len(name)] == name) for name in kinds]

    def value(tile):
        return int(tile) if tile[0] in "+-" else 0

    def shown(number):
        return max(-127, min(127, number))

    seen = {
        "hand": bits(referee.hands[seat], ranks),
        "trick_colour": [[int(s in lying and lying[s][0] == c) for c in COLOURS] for s in seats],
        "trick_rank": [int(lying[s][1:]) if s in lying else 0 for s in seats],
        "void": [[int(c in referee.lacks[s]) for c in COLOURS] for s in seats],
        "led": [int(c == led) for c in COLOURS],
        "leader": [int(s == referee.leader) for s in seats],
        "marker": [int(s == referee.marker) for s in seats],
        "turn": [int(s == referee.turn) for s in seats],
        "score": [shown(referee.scores()[s]) for s in seats],
        "gain": [shown(referee.gains()[s]) for s in seats],
        "won": [[referee.won[s].count(name) for name in game.tiles] for s in seats],
        "row_kind": [kind(tile) for tile in stack],
        "row_value": [value(tile) for tile in stack],
        "row_gone": [int(i < gone) for i in range(tricks)],
        "next_kind": kind(row[0]) if row else [0] * 4,
        "next_value": [value(row[0]) if row else 0],
        "to_come": [later.count(name) for name in game.tiles],
        "round": [int(i == referee.round) for i in range(len(referee.stacks))],
        "trick": [gone],
        "expert": [int(game.rules.expert)],
        "over": [int(referee.over)],
        "played": [bits(referee.played[s], ranks) for s in seats],
    }
    hidden = {"hands": [bits(referee.hands[s], ranks) for s in seats], "undealt": bits(referee.undealt, ranks)}
    if len(referee.stacks) > 1:
        places = [game.tiles.index(tile) + 1 for tile in later]
        hidden["next_tiles"] = places + [0] * (tricks * (len(referee.stacks) - 1) - len(places))
    return seen | hidden


class BesideTheReferee:
    """Tables of one game, each with a referee that was dealt the same; compares everything after every move."""

    def __init__(self, game: Meow, num_tables: int, seed: int) -> None:
        self.game, self.rng = game, np.random.default_rng(seed)
        self.tables = Tables(game, num_tables, seed=seed, autoreset=False, events=True)
        self.referees = [referee_of(game, table) for table in self.tables.records]
        self.told = [0] * num_tables

    def play_to_the_end(self) -> None:
        """Random moves until every game is over."""
        self.compare()
        while not self.tables.terminated.all():
            going_on = np.flatnonzero(~self.tables.terminated)
            actions = nth_legal(self.tables.action_masks, self.rng.random(len(self.tables)))
            for i in going_on:
                self.referees[i].play(self.game.cards[actions[i]])
            self.tables.step(actions[going_on], going_on)
            self.compare(going_on)
        self.compare_results()

    def compare(self, where: np.ndarray | None = None) -> None:
        """The tables `where`, and their referees."""
        state = self.tables.state()
        for i in range(len(self.tables)) if where is None else where:
            referee, record = self.referees[i], self.tables.records[i]
            assert (record["phase"] == rules.OVER) == referee.over == self.tables.terminated[i]
            assert self.tables.turn[i] == referee.turn
            legal = [] if referee.over else referee.legal()
            assert [self.game.cards[action] for action in np.flatnonzero(self.tables.action_masks[i])] == legal
            expected = expected_fields(self.game, referee, referee.turn)
            named = named_fields(state[i], self.game.state_fields)
            assert list(named) == list(expected)
            for name, values in named.items():
                assert values.tolist() == expected[name], name
            np.testing.assert_array_equal(self.tables.observations[i], state[i, : self.game.observation_size])
            assert told(self.game, self.tables.events(i)) == referee.history[self.told[i] :]
            self.told[i] = len(referee.history)

    def compare_results(self) -> None:
        """The ends of all games."""
        results = self.game.results(self.tables.records)
        for i, referee in enumerate(self.referees):
            assert self.tables.scores[i].tolist() == referee.scores()
            for seat, result in enumerate(referee.results()):
                assert {name: results[name][i][seat] for name in result} == result
            share = np.isin(np.arange(self.game.num_players), referee.winners()) / len(referee.winners())
            np.testing.assert_allclose(self.tables.rewards[i], share - 1 / self.game.num_players, atol=1e-6)
