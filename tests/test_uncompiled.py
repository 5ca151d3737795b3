"""The engine agrees with the referee without compilation too, and never leaves the bounds of an array."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PLAY_UNCOMPILED = """
import numpy as np
from test_referee_agrees import BesideTheReferee
np.seterr(over="ignore")  # the generator multiplies modulo 2**64
for players in range(2, 7):
    games = BesideTheReferee(players, {"mice": 8}, 2)
    while games.move():
        games.compare()
    games.tables.restore(games.tables.records.copy())
    games.compare_results()
    print(players)
"""
PLAY_IN_BOUNDS = """
import numpy as np
from random_play import play_on
from katz_env import Katzenjammer, Tables
for players in {players}:
    tables, rng = Tables(Katzenjammer(players), 300, seed=players), np.random.default_rng(players)
    for step in play_on(tables, rng, 250):
        if step % 25 == 0 and players == 2:  # compiling these for every number of players would take long
            records, seats = tables.records.copy(), (tables.turn.astype(np.int64) + step) % players
            tables.observe(seats)
            tables.state(seats)
            tables.restore(records)
            tables.game.redeal(tables.game.redact(records, seats), seats, rng)
    print(players)
"""


def run(code, **environment):
    """What the code prints in a fresh process with these environment variables."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, env=os.environ | environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_without_compilation_the_engine_agrees_with_the_referee():
    assert run(PLAY_UNCOMPILED, NUMBA_DISABLE_JIT="1") == list("23456")


@pytest.mark.parametrize("players", [2, pytest.param(6, marks=pytest.mark.full)])
def test_games_never_leave_the_bounds_of_an_array(players, tmp_path):
    program = PLAY_IN_BOUNDS.format(players=[players])
    assert run(program, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path), NUMBA_OPT="1") == [str(players)]


def test_the_check_of_bounds_would_find_an_index_that_is_too_large(tmp_path):
    code = "import numpy, numba\nnumba.njit(lambda array: array[array.size])(numpy.zeros(3))"
    with pytest.raises(AssertionError, match="IndexError"):
        run(code, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path))
