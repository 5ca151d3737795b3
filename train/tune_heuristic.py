"""Tune the weights of the scripted player `heuristic` by win share: a cross-entropy search.

Each generation draws sets of weights around a mean, lets each play the same new deals from every seat against greedy and
against the heuristic as it is, and moves the mean and the spread towards the best. At the end, or after Ctrl-C, the mean is
printed, to be pasted into ``katzenjammer/evaluation.py``; a search that was not interrupted also measures it on fresh deals.

    python train/tune_heuristic.py --num-players 3 --generations 60
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # python -I leaves it out

from katz_train import startup

if __name__ == "__main__":
    startup.begin("train/tune_heuristic.py")

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import tyro
from numpy.typing import NDArray
from tqdm import tqdm

from katz_agents.intervals import share_interval
from katz_agents.katzenjammer import greedy
from katz_agents.katzenjammer.evaluation import Weights
from katz_agents.katzenjammer.heuristic import decide
from katz_env import Katzenjammer
from katz_env.command_line import check_above_zero, check_at_least, check_between
from katz_env.core.jit import cached, compiled
from katz_env.core.rng import random_below, table_seeds
from katz_env.core.types import Mask, Table, Tables
from katz_env.games.katzenjammer import engine
from katz_env.games.katzenjammer.rules import OVER
from katz_train.interrupts import Interrupted, Interrupts, run_script

CANDIDATE, GREEDY, CURRENT = 0, 1, 2
POSITIVE = ("blur_end", "blur_start", "cards_per_round", "mice_per_round", "patience", "ready_patience", "doubt_end")
"""Weights that something is divided by, or that keep such a number above zero."""
SMALLEST = 0.05
"""The least value of these weights."""
DEALS_AT_ONCE = 500
"""Deals that are played in one compiled call: some tenths of a second, after which Ctrl-C is noticed."""

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
        check_between(self, 0, 1, "rate", "greedy_share")


@compiled
def deal_random(t: Table) -> None:
    """Deal a random game in which somebody has a decision, as `katz_env.Tables` does."""
    while True:
        t.first_seat = random_below(t, t.hand.shape[0])
        engine.fill_deal(t)
        engine.deal(t, None)
        if t.phase != OVER:
            return


@cached(name="tune_heuristic.play", allocates=True)
def _play(
    tables: Tables,
    seeds: NDArray[np.uint64],
    seating: NDArray[np.int64],
    mask: Mask,
    counts: tuple[greedy.Costs, greedy.Costs],
    candidate: Weights,
    current: Weights,
) -> None:
    """Play a game at every table ``(k,)``; everybody reads only what the own seat may know, so the tables can stay open."""
    for i in range(len(tables)):
        t = tables[i]
        t.rng = seeds[i]
        deal_random(t)
        while t.phase != OVER:
            engine.write_mask(t, mask)
            seat = t.turn
            if seating[i, seat] == CANDIDATE:
                action = decide(t, seat, mask, 0.0, candidate)
            elif seating[i, seat] == CURRENT:
                action = decide(t, seat, mask, 0.0, current)
            else:
                action = greedy.decide(t, seat, mask, 0.0, counts)
            engine.play(t, action, None)


class Match:
    """Games of one candidate against equal opponents, every deal from every seat."""

    def __init__(self, players: int, opponent: int, deals: int) -> None:
        self.game, self.deals = Katzenjammer(players), deals
        lineup = np.array([CANDIDATE] + [opponent] * (players - 1))
        self.seating = np.tile([np.roll(lineup, turns) for turns in range(players)], (min(deals, DEALS_AT_ONCE), 1))
        self.counts = greedy.card_counts(self.game.rules.values)

    def __call__(self, candidate: Weights, current: Weights, seed: int) -> Array:
        """The candidate's win share in each deal, ``(deals,)``; the seed decides the deals."""
        players, mask = self.game.num_players, np.zeros(self.game.num_actions, np.bool_)
        seeds = table_seeds(seed, self.deals)
        found = []
        for start in range(0, self.deals, DEALS_AT_ONCE):
            some = np.repeat(seeds[start : start + DEALS_AT_ONCE], players)
            tables, seating = self.game.new_tables(len(some)), self.seating[: len(some)]
            _play(tables, some, seating, mask, self.counts, candidate, current)
            shares = np.asarray(self.game.results(tables)["win_share"], np.float64)
            found.append(shares[seating == CANDIDATE].reshape(-1, players).mean(1))
        return np.concatenate(found)


def weights_of(vector: Iterable[float]) -> Weights:
    """Weights from their numbers, the positive ones kept above zero."""
    weights = Weights(*map(float, vector))
    return weights._replace(**{name: max(SMALLEST, getattr(weights, name)) for name in POSITIVE})


def search(settings: Settings, interrupts: Interrupts) -> Weights:
    """The mean after the last generation, or after the last one that was finished before a signal came."""
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
    for generation in (bar := tqdm(range(settings.generations), unit="generation")):
        noise = rng.normal(size=(settings.population // 2, len(mean)))
        vectors = mean + spread * np.concatenate([noise, -noise])
        seed = int(rng.integers(2**31))
        # A win share counts in units of the fair share, so that games with few players do not outweigh the others.
        try:
            with interrupts.abandonable():
                fitness = [sum(c * m(weights_of(v), current, seed).mean() for c, m in matches) for v in vectors]
        except Interrupted:
            break
        best = vectors[np.argsort(fitness)[::-1][: settings.elite]]
        target = places @ best
        width = np.sqrt(places @ (best - mean) ** 2)
        mean = mean + settings.rate * (target - mean)
        spread = spread * (width / spread) ** (0.5 * settings.rate)
        bar.set_postfix_str(f"mean {np.mean(fitness):.3f} best {np.max(fitness):.3f} times the fair share")
        if generation % 10 == 9:
            tqdm.write(repr(weights_of(mean)))
    return weights_of(mean)


def tune(settings: Settings, interrupts: Interrupts | None = None) -> int:
    """Search, print and measure; returns the exit code."""
    settings.check()
    interrupts = interrupts or Interrupts()
    best = search(settings, interrupts)
    found = [f"    {name}: float = {float(f'{value:.3g}')}" for name, value in best._asdict().items()]
    print("\n".join(found), flush=True)  # at once: an interrupt in the middle would lose the rest
    try:
        with interrupts.abandonable():
            measure(settings, best)
    except Interrupted:
        print("interrupted: these are the weights found so far, not measured to the end", file=sys.stderr)
        return 130
    return 0


def measure(settings: Settings, best: Weights) -> None:
    """Print the win shares of the weights that were found, on fresh deals."""
    for players in settings.num_players:
        for opponent, name in ((GREEDY, "greedy"), (CURRENT, "the heuristic as it was")):
            shares = Match(players, opponent, settings.final_deals)(best, Weights(), settings.seed + 2**31)
            share, low, high = share_interval(players * shares, np.full(len(shares), players))
            print(
                f"{players} players against {name}: win share {share:.3f} ({low:.3f} to {high:.3f}); fair is {1 / players:.3f}"
            )


def main() -> None:
    """Read the settings from the command line and search."""
    settings = tyro.cli(Settings, prog="python train/tune_heuristic.py", description=__doc__)
    run_script(lambda interrupts: tune(settings, interrupts), "train/tune_heuristic.py")


if __name__ == "__main__":
    main()
