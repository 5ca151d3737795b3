"""Random play on `Tables`, from a generator of its own, for the tests to walk through positions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from katz_env import Katzenjammer, Tables


def random_actions(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A uniformly random legal action for every row of `masks` (0 where nothing is legal)."""
    return np.argmax(rng.random(masks.shape) * masks, axis=1)


def play_on(tables: Tables, rng: np.random.Generator, steps: int) -> Iterator[int]:
    """Play `steps` random moves at every table; yields after each."""
    for step in range(steps):
        tables.step(random_actions(tables.action_masks, rng))
        yield step


def play_to_the_end(tables: Tables, rng: np.random.Generator) -> Iterator[int]:
    """Play until every table is finished (the tables must not reset themselves); yields after each step."""
    step = 0
    while not tables.terminated.all():
        tables.step(random_actions(tables.action_masks, rng))
        yield step
        step += 1


def random_positions(game: Katzenjammer, num_tables: int, rounds: int, seed: int = 0) -> np.ndarray:
    """Records at decisions of random games: `rounds` times `num_tables` of them, from all stages of games."""
    tables, rng = Tables(game, num_tables, seed=seed), np.random.default_rng(seed)
    found = []
    for step in play_on(tables, rng, 9 * rounds):
        if step % 9 == 8:
            found.append(tables.records.copy())
    return np.concatenate(found)


def random_deck(game: Katzenjammer, rng: np.random.Generator) -> str:
    """A shuffled deck as card characters."""
    return "".join(rng.permutation(list(game.cards * game.rules.copies)))
