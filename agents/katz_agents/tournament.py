"""Tournaments: every line-up of some players on the same deals, with intervals that tell luck from skill."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from katz_agents.match import play_match
from katz_env import Agent, Game, Katzenjammer, Tables, View, make_agent

DEALS_IN_PIECE = 25  # results depend on this number, never on the number of threads
BOOTSTRAP_SAMPLES = 2000
MEASURES = ("win_share", "score", "mice", "jokers")

Interval = tuple[float, float, float]
"""A mean, and the ends of its 95 % interval."""


class Timed(Agent):
    """Another agent, with a stop watch: decisions and the seconds they took."""

    def __init__(self, agent: Agent) -> None:
        self.agent, self.name = agent, agent.name
        self.decisions, self.seconds = 0, 0.0

    def act(self, view: View) -> NDArray[np.int64]:
        """What the agent answers."""
        start = time.perf_counter()
        actions = self.agent.act(view)
        self.seconds += time.perf_counter() - start
        self.decisions += len(view)
        return actions


@dataclass(repr=False)
class Results:
    """What a tournament found.

    Attributes
    ----------
    names : list of str
        The players.
    num_players, seed : int
        Of the games.
    deals : int
        How many deals were played in full, by every line-up in every rotation.
    line_ups : list of tuple of int
        Indices of players.
    outcomes : dict
        By measure (``win_share``, ``score``, ``mice``, ``jokers``) float64 ``(line-ups, deals, rotations, n)``, agents in the
        order of their line-up.
    decisions, seconds : list
        Of each player.
    games : list of dict
        The game records, if they were asked for.
    interrupted : bool
        Whether the tournament was stopped before the last deal.
    """

    names: list[str]
    num_players: int
    seed: int
    deals: int
    line_ups: list[tuple[int, ...]]
    outcomes: dict[str, NDArray[np.float64]]
    decisions: list[int]
    seconds: list[float]
    games: list[dict[str, Any]] = field(default_factory=list)
    interrupted: bool = False

    def __repr__(self) -> str:
        """The win shares, best first."""
        shares = sorted(((self.mean("win_share", i)[0], name) for i, name in enumerate(self.names)), reverse=True)
        shown = ", ".join(f"{name} {share:.3f}" for share, name in shares)
        return f"<Results of {self.deals} deals, {self.num_players} players: win share {shown}>"

    def per_deal(self, measure: str, player: int) -> NDArray[np.float64]:
        """The mean of a measure over a player's games in each deal, ``(deals,)``: one observation a deal."""
        seats = [self.outcomes[measure][i, :, :, k] for i, k in self._places(player)]
        return np.concatenate(seats, 1).mean(1)

    def mean(self, measure: str, player: int) -> Interval:
        """A player's mean of a measure, with its interval by bootstrap over deals."""
        values = self.per_deal(measure, player)
        return self._interval(values, np.ones_like(values))

    def pair(self, player: int, other: int) -> Interval:
        """Of the wins that two players had at tables where both sat: the part of the first. Even is 0.5.

        NaN if they never met or neither ever won.
        """
        mine, theirs = np.zeros(self.deals), np.zeros(self.deals)
        for i, line_up in enumerate(self.line_ups):
            if player in line_up and other in line_up:
                wins = self.outcomes["win_share"][i].sum(1)
                mine += wins[:, np.array(line_up) == player].sum(1) / line_up.count(player)
                theirs += wins[:, np.array(line_up) == other].sum(1) / line_up.count(other)
        return self._interval(mine, mine + theirs)

    def ratings(self) -> list[tuple[float, float]]:
        """Mean and standard deviation of every player's skill, by openskill's Plackett-Luce model, games in random order."""
        from openskill.models import PlackettLuce

        model = PlackettLuce()
        skills = [model.rating(name=name) for name in self.names]
        games = [
            (line_up, self.outcomes["win_share"][i, d, r], self.outcomes["score"][i, d, r])
            for i, line_up in enumerate(self.line_ups)
            for d in range(self.deals)
            for r in range(self.num_players)
        ]
        for g in np.random.default_rng([self.seed, 2]).permutation(len(games)):
            line_up, wins, scores = games[g]
            if len(set(line_up)) < 2:
                continue
            merit = [1000.0 * won + score for won, score in zip(wins, scores, strict=True)]  # winners first, then by score
            teams = [[skills[player]] for player in line_up]
            for player, team in zip(line_up, model.rate(teams, scores=merit), strict=True):
                skills[player] = team[0]
        return [(float(skill.mu), float(skill.sigma)) for skill in skills]

    def _places(self, player: int) -> list[tuple[int, int]]:
        return [(i, k) for i, line_up in enumerate(self.line_ups) for k, other in enumerate(line_up) if other == player]

    def _interval(self, numerator: NDArray[np.float64], denominator: NDArray[np.float64]) -> Interval:
        """The ratio of two sums over deals, and the 2.5 % and 97.5 % quantiles of it when deals are drawn with replacement."""
        if not denominator.sum():
            return math.nan, math.nan, math.nan
        drawn = np.random.default_rng([self.seed, 1]).integers(len(numerator), size=(BOOTSTRAP_SAMPLES, len(numerator)))
        below = denominator[drawn].sum(1)
        ratios = numerator[drawn].sum(1)[below > 0] / below[below > 0]
        low, high = np.quantile(ratios, (0.025, 0.975))
        return float(numerator.sum() / denominator.sum()), float(low), float(high)

    def to_json(self) -> dict[str, Any]:
        """Everything that is reported, as JSON values."""
        ratings = self.ratings()
        players = range(len(self.names))
        return {
            "num_players": self.num_players,
            "seed": self.seed,
            "deals": self.deals,
            "games": self.deals * len(self.line_ups) * self.num_players,
            "interrupted": self.interrupted,
            "line_ups": [[self.names[player] for player in line_up] for line_up in self.line_ups],
            "players": [
                {
                    "name": self.names[player],
                    **{measure: self.mean(measure, player) for measure in MEASURES},
                    "rating": ratings[player],
                    "decisions": self.decisions[player],
                    "milliseconds_per_decision": 1000 * self.seconds[player] / max(1, self.decisions[player]),
                }
                for player in players
            ],
            "pairs": [[self._pair_or_none(player, other) for other in players] for player in players],
        }

    def _pair_or_none(self, player: int, other: int) -> Interval | None:
        pair = self.pair(player, other)
        return None if player == other or math.isnan(pair[0]) else pair


def line_ups(players: int, num_players: int, most: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """All line-ups of different players, or `most` of them drawn at random."""
    everything = math.comb(players, num_players)
    if everything <= most:
        return list(itertools.combinations(range(players), num_players))
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < most:
        drawn[tuple(sorted(map(int, rng.permutation(players)[:num_players])))] = None
    return sorted(drawn)


def evaluate(
    agents: Sequence[str | Agent],
    num_players: int = 3,
    deals: int = 500,
    seed: int = 0,
    *,
    game: Game | None = None,
    max_line_ups: int = 100,
    keep_games: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Results:
    """Play a tournament.

    Every line-up of the agents plays the same deals, each once in every rotation of the seats. An agent that is named several
    times fills several places of a line-up.

    Parameters
    ----------
    agents
        Agents or names, at least as many as there are seats.
    num_players
        Seats at a table.
    deals
        How many different deals, at least 2.
    seed
        The same seed gives the same results.
    game
        The game; Katzenjammer Blues with `num_players` if None.
    max_line_ups
        If there are more, so many are drawn at random.
    keep_games
        Whether to keep the game records.
    progress
        Called with the games played so far and in all.

    Returns
    -------
    Results
        After Ctrl-C: of the deals that every line-up has finished.

    Raises
    ------
    ValueError
        If an agent is unknown or the numbers are out of range.
    KeyboardInterrupt
        If interrupted before the first deals were finished.
    """
    if isinstance(deals, bool) or not isinstance(deals, int) or deals < 2:
        raise ValueError(f"deals is {deals!r}; it must be an integer of at least 2, for an interval")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ValueError(f"seed is {seed!r}; it must be an integer of at least 0")
    if max_line_ups < 1:
        raise ValueError(f"max_line_ups is {max_line_ups}; it must be at least 1")
    game = game or Katzenjammer(num_players)
    places = [make_agent(agent) for agent in agents]
    if len(places) < game.num_players:
        raise ValueError(f"there are {len(places)} agents; {game.num_players} players need at least {game.num_players}")
    names = list(dict.fromkeys(agent.name for agent in places))
    players = [Timed(next(agent for agent in places if agent.name == name)) for name in names]
    who = [names.index(agent.name) for agent in places]
    drawn = line_ups(len(places), game.num_players, max_line_ups, np.random.default_rng([seed, 0]))
    chosen = list(dict.fromkeys(tuple(sorted(who[place] for place in line_up)) for line_up in drawn))
    first_table = Tables(game, 1, seed=seed)
    for player in players:  # not timed: the first decision compiles
        player.agent.act(first_table.view(np.array([0]), np.random.default_rng(seed)))

    pieces: list[list[dict[str, NDArray[Any]]]] = []
    games: list[dict[str, Any]] = []
    total, done, interrupted = deals * len(chosen) * game.num_players, 0, False
    sizes = [min(DEALS_IN_PIECE, deals - first) for first in range(0, deals, DEALS_IN_PIECE)]
    try:
        for number, size in enumerate(sizes):
            piece = []
            for line_up in chosen:
                rng = np.random.default_rng([seed, 3, number])  # the same deals for every line-up
                match = play_match(game, [players[player] for player in line_up], size, rng, keep_games=keep_games)
                piece.append(match.results)
                games += match.games
                done += size * game.num_players
                if progress:
                    progress(done, total)
            pieces.append(piece)
    except KeyboardInterrupt:
        if not pieces:
            raise
        interrupted = True
    outcomes = {}
    for measure in MEASURES:
        by_line_up = [np.concatenate([piece[i][measure] for piece in pieces]) for i in range(len(chosen))]
        outcomes[measure] = np.stack(by_line_up).astype(np.float64)
    return Results(
        names=names,
        num_players=game.num_players,
        seed=seed,
        deals=sum(sizes[: len(pieces)]),
        line_ups=chosen,
        outcomes=outcomes,
        decisions=[player.decisions for player in players],
        seconds=[player.seconds for player in players],
        games=games,
        interrupted=interrupted,
    )
