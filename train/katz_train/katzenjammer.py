"""Katzenjammer Blues in compiled loops over whole games, for what is fitted to its scripted players."""

from __future__ import annotations

from katz_env.core.jit import compiled
from katz_env.core.rng import random_below
from katz_env.core.types import Table
from katz_env.games.katzenjammer import engine
from katz_env.games.katzenjammer.rules import OVER


@compiled
def deal_random(t: Table) -> None:
    """Deal a random game in which somebody has a decision, as `katz_env.Tables` does."""
    while True:
        t.first_seat = random_below(t, t.hand.shape[0])
        engine.fill_deal(t)
        engine.deal(t, None)
        if t.phase != OVER:
            return
