"""The same seed deals the same games and worlds, and the same agents play them alike, in this version as in those before.

``data/game_digests.json`` holds digests of game records. ``python tests/test_game_digests.py`` writes them anew; do that only
when the games that belong to a seed are meant to change, and say so in CHANGELOG.md.
"""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from random_play import random_actions

from katz_env import Katzenjammer, Tables, make_agent
from katz_env.core.game_records import play_out

FILE = Path(__file__).parent / "data" / "game_digests.json"
NUM_TABLES = 12

PRINTED = [{"num_players": players} for players in range(2, 7)]
OTHERS = [
    {"num_players": 2, "values": 2, "copies": 3, "set_size": 2, "hand_size": 1},  # deals without a decision, dealt again
    {"num_players": 3, "mice": 5, "joker_penalty": 0},
    {"num_players": 4, "values": 8, "copies": 10, "hand_size": 7, "set_size": 5, "mice": 100},
    {"num_players": 6, "hand_size": 2, "set_size": 3},
]
AGENTS = ["random", "greedy", "heuristic"]


def digest(things):
    return hashlib.sha256(json.dumps(things).encode()).hexdigest()[:16]


def random_games(settings):
    """The records of the first two games of each table, played with random legal moves."""
    game = Katzenjammer(**settings)
    tables, rng = Tables(game, NUM_TABLES, seed=1, autoreset=False), np.random.default_rng(1)
    records = []
    for _ in range(2):
        starts, moves = tables.records.copy(), [[] for _ in range(NUM_TABLES)]
        while not tables.terminated.all():
            actions = random_actions(tables.action_masks, rng)
            for i in np.flatnonzero(~tables.terminated):
                moves[i].append(game.action_name(tables.records[i], int(actions[i])))
            tables.step(actions)
        records += [game.write_record(*told) for told in zip(starts, moves, tables.records, strict=True)]
        tables.reset()
    return records


def games_of_agents(name):
    return list(play_out(Katzenjammer(3), [make_agent(name)], 4, np.random.default_rng(2)))


def worlds(players):
    """Worlds behind random positions, as lists of hands and draw piles."""
    game = Katzenjammer(players)
    tables, rng = Tables(game, NUM_TABLES, seed=3), np.random.default_rng(3)
    found = []
    for _ in range(20):
        tables.step(random_actions(tables.action_masks, rng))
        seats = tables.turn.astype(np.int64)
        redealt = game.redeal(game.redact(tables.records.copy(), seats), seats, rng)
        piles = [game.describe_deal(world)["deck"][world["position"] :] for world in redealt]
        found.append((redealt["hand"].tolist(), piles))
    return found


MAKERS = {
    **{f"random games, {json.dumps(settings)}": (random_games, settings) for settings in PRINTED + OTHERS},
    **{f"games of {name}": (games_of_agents, name) for name in AGENTS},
    **{f"worlds, {players} players": (worlds, players) for players in (2, 3)},
}
COMPILED = [name for name, (_, argument) in MAKERS.items() if argument not in OTHERS]


def made(name):
    maker, argument = MAKERS[name]
    return digest(maker(argument))


@pytest.fixture(scope="module")
def stored():
    return json.loads(FILE.read_text(encoding="utf-8"))


def test_every_kind_of_game_has_a_digest(stored):
    assert list(stored) == list(MAKERS)
    assert len(set(stored.values())) == len(stored)


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_the_games_are_those_of_before(name, stored):
    assert made(name) == stored[name]


def test_uncompiled_the_games_are_those_of_before_with_all_settings(stored):
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, __file__, "print"], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == stored


def test_another_move_is_another_digest():
    game = {"moves": ["pass", "1x3"], "scores": [0, 1]}
    assert digest([game]) != digest([game | {"moves": ["pass", "1x4"]}])


if __name__ == "__main__":
    np.seterr(over="ignore")  # without compilation NumPy warns that the generator multiplies modulo 2**64
    if sys.argv[1:] == ["print"]:
        print(json.dumps({name: made(name) for name in MAKERS}))
    else:
        FILE.write_text(json.dumps({name: made(name) for name in MAKERS}, indent=2) + "\n", encoding="utf-8")
