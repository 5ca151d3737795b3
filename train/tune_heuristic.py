"""Tune the weights of the scripted player `heuristic` by win share: a cross-entropy search.

Each generation draws sets of weights around a mean, lets each play the same new deals from every seat against greedy and
against the heuristic as it is, and moves the mean and the spread towards the best. Ctrl-C ends the search early. At the end
the mean is measured on fresh deals and printed, to be pasted into ``heuristic.py``.

    python train/tune_heuristic.py --num-players 3 --generations 60
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import tyro
from numba import njit
from numpy.typing import NDArray
from tqdm import tqdm

from katz_agents import greedy
from katz_agents.heuristic import Weights, decide
from katz_env.cli import check_above_zero, check_at_least, run_command
from katz_env.core.seeds import table_seeds
from katz_env.katzenjammer import Katzenjammer, engine

CANDIDATE, GREEDY, CURRENT = 0, 1, 2
POSITIVE = ("blur_end", "blur_start", "cards_per_round", "mice_per_round", "patience", "ready_patience", "doubt_end")
"""Weights that something is divided by, or that keep such a number above zero."""
SMALLEST = 0.05

Array = NDArray[np.float64]


@dataclass
class Settings:
    """How to search."""

    num_players: tuple[int, ...] = (3,)
    """Numbers of players; every candidate plays with each."""
    generations: int = 60
    """Generations to search for."""
    population: int = 32
    """Candidates in a generation."""
    elite: int = 8
    """How many of the best the next generation is drawn around."""
    deals: int = 200
    """Deals a candidate plays against each line-up; every deal is played once from each seat."""
    spread: float = 0.3
    """The first standard deviation, as a share of each weight (of 0.3, if the weight is smaller)."""
    rate: float = 0.5
    """How far the mean and the spread move towards the best in one generation."""
    greedy_share: float = 0.5
    """How much the win share against greedy counts; the rest is against the current heuristic."""
    final_deals: int = 5000
    """Deals that measure the result."""
    seed: int = 0
    """Seed of the candidates and of the deals."""

    def check(self) -> None:
        """ValueError that names a setting that is out of range."""
        if not self.num_players:
            raise ValueError("--num-players must name at least one number of players")
        check_at_least(self, generations=0, population=2, elite=1, deals=1, final_deals=2, seed=0)
        if self.population % 2 or self.elite > self.population:
            raise ValueError(f"--population is {self.population}; it must be even, and at least --elite, {self.elite}")
        check_above_zero(self, "spread")
        for name in ("rate", "greedy_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"--{name.replace('_', '-')} is {getattr(self, name)}; it must be from 0 to 1")


@njit(nogil=True, error_model="numpy")
def _play(tables: Any, seeds: Any, seating: Any, mask: Any, counts: Any, candidate: Any, current: Any) -> None:
    """Play a game at every table; everybody reads only what the own seat may know, so the tables can stay open."""
    for i in range(len(tables)):
        t = tables[i]
        t.rng = seeds[i]
        engine.deal_random(t)
        while t.phase != engine.OVER:
            engine.write_mask(t, mask)
            seat = t.turn
            if seating[i, seat] == CANDIDATE:
                action = decide(t, seat, mask, candidate)
            elif seating[i, seat] == CURRENT:
                action = decide(t, seat, mask, current)
            else:
                action = greedy.decide(t, seat, mask, counts[0], counts[1])
            engine.play(t, action)


class Match:
    """Games of one candidate against equal opponents, every deal from every seat."""

    def __init__(self, players: int, opponent: int, deals: int) -> None:
        self.game, self.deals = Katzenjammer(players), deals
        lineup = np.array([CANDIDATE] + [opponent] * (players - 1))
        self.seating = np.tile([np.roll(lineup, turns) for turns in range(players)], (deals, 1))
        self.counts = greedy.card_counts(self.game.rules.values)

    def __call__(self, candidate: Weights, current: Weights, seed: int) -> Array:
        """The candidate's win share in each deal, ``(deals,)``; the seed decides the deals."""
        players = self.game.num_players
        tables = self.game.new_tables(self.deals * players)
        seeds, mask = np.repeat(table_seeds(seed, self.deals), players), np.zeros(self.game.num_actions, np.bool_)
        _play(tables, seeds, self.seating, mask, self.counts, candidate, current)
        shares = np.asarray(self.game.results(tables)["win_share"], np.float64)
        return shares[self.seating == CANDIDATE].reshape(self.deals, players).mean(1)


def weights_of(vector: Iterable[float]) -> Weights:
    """Weights from their numbers, the positive ones kept above zero."""
    weights = Weights(*map(float, vector))
    return weights._replace(**{name: max(SMALLEST, getattr(weights, name)) for name in POSITIVE})


def search(settings: Settings) -> Weights:
    """The mean after the last generation, or when interrupted."""
    rng, current = np.random.default_rng(settings.seed), Weights()
    matches = [
        (share * players / len(settings.num_players), Match(players, opponent, settings.deals))
        for players in settings.num_players
        for opponent, share in ((GREEDY, settings.greedy_share), (CURRENT, 1 - settings.greedy_share))
        if share > 0
    ]
    mean = np.array(current)
    spread = settings.spread * np.maximum(np.abs(mean), 0.3)
    places = np.log(settings.elite + 0.5) - np.log(np.arange(1, settings.elite + 1))
    places /= places.sum()
    try:
        for generation in (bar := tqdm(range(settings.generations), unit="generation")):
            noise = rng.normal(size=(settings.population // 2, len(mean)))
            vectors = mean + spread * np.concatenate([noise, -noise])
            seed = int(rng.integers(2**31))
            # A win share counts in units of the fair share, so that games with few players do not outweigh the others.
            fitness = [sum(c * m(weights_of(v), current, seed).mean() for c, m in matches) for v in vectors]
            best = vectors[np.argsort(fitness)[::-1][: settings.elite]]
            target = places @ best
            width = np.sqrt(places @ (best - mean) ** 2)
            mean = mean + settings.rate * (target - mean)
            spread = spread * (width / spread) ** (0.5 * settings.rate)
            bar.set_postfix_str(f"mean {np.mean(fitness):.3f} best {np.max(fitness):.3f} times the fair share")
            if generation % 10 == 9:
                tqdm.write(repr(weights_of(mean)))
    except KeyboardInterrupt:
        tqdm.write("interrupted; this is the best so far")
    return weights_of(mean)


def tune(settings: Settings) -> int:
    """Search, measure and print; returns the exit code."""
    settings.check()
    best = search(settings)
    for players in settings.num_players:
        for opponent, name in ((GREEDY, "greedy"), (CURRENT, "the heuristic as it was")):
            shares = Match(players, opponent, settings.final_deals)(best, Weights(), settings.seed + 2**31)
            half = 1.96 * shares.std() / np.sqrt(len(shares))
            print(f"{players} players against {name}: win share {shares.mean():.3f} ± {half:.3f} (fair {1 / players:.3f})")
    for name, value in best._asdict().items():
        print(f"    {name}: float = {float(f'{value:.3g}')}")
    return 0


def main() -> None:
    """Read the settings from the command line and search."""
    settings = tyro.cli(Settings, prog="python train/tune_heuristic.py", description=__doc__)
    sys.exit(run_command(lambda: tune(settings), "train/tune_heuristic.py"))


if __name__ == "__main__":
    main()
