"""Gives every public method of a game tables that were changed by hand; run as a program, so that a crash is seen as one.

``python spoiled_tables.py katzenjammer 2 400`` tries 400 tables for every field and value. Every call must answer or raise
ValueError.
"""

import sys

import numpy as np
from any_game import positions, to_act

from katz_env import Tables, make_game
from katz_env.core.jit import COMPILED
from katz_env.games.katzenjammer import hidden


def values_for(kind):
    """Numbers that a hand may write into an integer field."""
    limits = np.iinfo(kind)
    return sorted({limits.min, -2, -1, 0, 1, 2, 3, 6, 7, 30, limits.max // 2, limits.max - 1, limits.max})


def calls_of(game, tables, rng):
    """By name what is called with the spoiled tables."""

    def restore(records, seats):
        tables.restore(records, np.arange(len(records)))

    return {
        "observe": game.observe,
        "state": game.state,
        "redact": game.redact,
        "redeal": lambda records, seats: game.redeal(records, seats, rng),
        "outcome": lambda records, seats: game.outcome(records),
        "points": lambda records, seats: game.points(records),
        "results": lambda records, seats: game.results(records),
        "check": lambda records, seats: game.check(records),
        "restore": restore,
    }


def main(name, num_players, number):
    game, rng = make_game(name, num_players=num_players), np.random.default_rng(1)
    good = positions(game, steps=60, num_tables=8, finished=True)
    tables = Tables(game, 2, seed=1)
    tables.deal()
    calls = calls_of(game, tables, rng)
    if not COMPILED:
        np.seterr(over="ignore")
        hidden._TRIES, hidden._REPAIR_STEPS, hidden._MIXING_STEPS = 2, 20, 5
    refused = answered = 0
    for field in game.dtype.names:
        kind = game.dtype[field].base
        if kind == np.uint64:
            continue
        for value in values_for(kind):
            for _ in range(number):
                records = good[rng.integers(len(good), size=2)]
                seats = rng.integers(game.num_players, size=2) if rng.random() < 0.3 else to_act(records)
                if rng.random() < 0.5:
                    records = game.redact(records, seats)
                everywhere = rng.random() < 0.3
                place = (...,) if everywhere else tuple(int(rng.integers(size)) for size in game.dtype[field].shape)
                records[field][(1, *place)] = value
                if rng.random() < 0.3:  # and a second field
                    other = rng.choice([other for other in game.dtype.names if game.dtype[other].base != np.uint64])
                    records[other][1] = rng.integers(-128, 128)
                for call, method in calls.items():
                    try:
                        method(records.copy(), seats)
                        answered += 1
                    except ValueError:
                        refused += 1
                    except Exception as error:
                        raise AssertionError(f"{call} with {field} = {value} at {place}: {records[1]}") from error
                tables.step(tables.action_masks.argmax(1))  # whatever was restored can be played on
    print(answered, refused)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
