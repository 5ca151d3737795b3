"""The games that the tests of every game's properties run over, and random play on them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from katz_env import Game, Tables, make_game

GAMES = [
    make_game("katzenjammer", num_players=2),
    make_game("katzenjammer", num_players=3),
    make_game("meow", num_players=3),
    make_game("katz_und_maus"),
    make_game("kuhn_poker"),
]
KUHN = GAMES[-1]
every_game = pytest.mark.parametrize("game", GAMES, ids=lambda game: f"{game.name}-{game.num_players}")


def nth_legal(masks: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """For every row of `masks` the legal action at the fraction `draws` (0..1) of all legal ones; 0 where there is none."""
    wanted = np.floor(draws * masks.sum(1)).astype(int)
    return np.argmax(np.cumsum(masks, 1) > wanted[:, None], 1)


def play(tables: Tables, steps: int, seed: int = 0) -> Iterator[int]:
    """Play random moves and yield after each; those of table i depend on (seed, step, i) alone, not on the number of tables."""
    for step in range(steps):
        draws = np.random.default_rng((seed, step)).random(4096)[: len(tables)]
        tables.step(nth_legal(tables.action_masks, draws))
        yield step


def positions(game: Game, steps: int = 40, num_tables: int = 16, seed: int = 0, *, finished: bool = False) -> np.ndarray:
    """Records at all decisions of random games, and of finished games if they are wanted."""
    tables = Tables(game, num_tables, seed=seed)
    found = [tables.records.copy()]
    for _ in play(tables, steps, seed):
        found.append(tables.records.copy())
        if finished:
            found.append(tables.final_records[tables.terminated].copy())
    return np.concatenate(found)


def to_act(records: np.ndarray) -> np.ndarray:
    """The seats to act."""
    return records["turn"].astype(np.int64)


def arrays(tables: Tables) -> dict[str, np.ndarray]:
    """Copies of all that tables show."""
    names = ("records", "observations", "action_masks", "turn", "rewards", "terminated", "scores")
    return {name: getattr(tables, name).copy() for name in names}


def assert_alike(tables: Tables, other: Tables | dict[str, np.ndarray], first: int | None = None) -> None:
    """Two sets of tables show the same; with `first`, their first ones do."""
    theirs = other if isinstance(other, dict) else arrays(other)
    for name, mine in arrays(tables).items():
        np.testing.assert_array_equal(mine[:first], theirs[name][:first], err_msg=name)
