"""Tournaments: every line-up of some agents plays the same deals, and intervals separate skill from luck."""

from __future__ import annotations

import itertools
import math
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katz_agents.intervals import Interval, measure_interval, share_interval
from katz_agents.match import play_match
from katz_agents.ratings import rate_game
from katz_env import Agent, Game, Katzenjammer, Tables, View, make_agent
from katz_env.core.rng import one_way_generator
from katz_env.core.validation import check_at_least, is_integer, there_are

DEALS_IN_BATCH = 25  # the deals that are played together; results depend on this number, but not on the number of threads


class Timed(Agent):
    """An agent with a stopwatch, which counts its decisions and the seconds that they take."""

    def __init__(self, agent: Agent) -> None:
        self.agent, self.name, self.version = agent, agent.name, agent.version
        self.decisions, self.seconds = 0, 0.0

    def act(self, view: View) -> NDArray[np.int64]:
        """Return the actions of the agent, int64 ``(k,)``."""
        start = time.perf_counter()
        actions = self.agent.act(view)
        self.seconds += time.perf_counter() - start
        self.decisions += len(view)
        return actions


@dataclass(repr=False)
class Results:
    """The results of a tournament.

    Attributes
    ----------
    names : list of str
        The names of the agents, which are called players here.
    versions : list of int
        The versions of the agents.
    num_players, seed : int
        The number of seats at a table, and the seed.
    deals : int
        The number of deals that every line-up has played in every rotation.
    line_ups : list of tuple of int
        The line-ups as indices of players.
    outcomes : dict
        Arrays float64 ``(line-ups, deals, rotations, n)`` by measure (``win_share``, ``score``, and other results of the game),
        with players in the order of their line-up.
    decisions, seconds : list
        The number of decisions of each player, and the seconds that they took.
    games : list of dict
        The game records; empty unless they were requested.
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
    versions: list[int]
    games: list[dict[str, Any]] = field(default_factory=list)
    interrupted: bool = False

    def __repr__(self) -> str:
        """Return the win shares, best first."""
        shares = sorted(((self.mean("win_share", i)[0], name) for i, name in enumerate(self.names)), reverse=True)
        shown = ", ".join(f"{name} {share:.3f}" for share, name in shares)
        return f"<Results of {self.deals} deals, {self.num_players} players: win share {shown}>"

    def per_deal(self, measure: str, player: int) -> NDArray[np.float64]:
        """Return the mean of a measure over a player's games in each deal, ``(deals,)``: one observation per deal."""
        return self._of_games(measure, player).mean(1)

    def mean(self, measure: str, player: int) -> Interval:
        """Return a player's mean of a measure with its 95 % interval; all games of a deal together are one observation."""
        return measure_interval(measure, self._of_games(measure, player))

    def pair(self, player: int, other: int) -> Interval:
        """Return the share of `player` in the wins of two players at the tables where both sat; 0.5 means equal strength.

        All three numbers are NaN if the players never met or neither ever won.
        """
        mine, theirs = np.zeros(self.deals), np.zeros(self.deals)
        for i, line_up in enumerate(self.line_ups):
            if player in line_up and other in line_up:
                wins = self.outcomes["win_share"][i].sum(1)
                mine += wins[:, np.array(line_up) == player].sum(1) / line_up.count(player)
                theirs += wins[:, np.array(line_up) == other].sum(1) / line_up.count(other)
        return share_interval(mine, mine + theirs)

    def ratings(self) -> list[tuple[float, float]]:
        """Return the mean and standard deviation of every player's skill.

        The ratings are those of openskill's Plackett-Luce model, which reads the games in random order. Winners come first,
        then the others by score. Those who share a place, such as a shared victory, get the mean of what they would get in each
        order. So sharing a place is never worse than coming behind those who share it. (With the model's own ties it often is:
        two winners of six equal players fall below the third.)
        """
        from openskill.models import PlackettLuce

        model = PlackettLuce()
        skills = [(float(skill.mu), float(skill.sigma)) for skill in (model.rating() for _ in self.names)]
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
            merit = [(won > 0, score) for won, score in zip(wins, scores, strict=True)]
            for player, skill in zip(line_up, rate_game(model, [skills[player] for player in line_up], merit), strict=True):
                skills[player] = skill
        return skills

    def _of_games(self, measure: str, player: int) -> NDArray[np.float64]:
        """Return a measure of a player in all its games, ``(deals, games of a deal)``."""
        places = [(i, k) for i, line_up in enumerate(self.line_ups) for k, other in enumerate(line_up) if other == player]
        return np.concatenate([self.outcomes[measure][i, :, :, k] for i, k in places], 1)

    def to_json(self) -> dict[str, Any]:
        """Return everything that is reported, as JSON values."""
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
                    "version": self.versions[player],
                    **{measure: self.mean(measure, player) for measure in self.outcomes},
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
    """Return all line-ups of distinct players, or `most` of them drawn at random if there are more."""
    everything = math.comb(players, num_players)
    if everything <= most:
        return list(itertools.combinations(range(players), num_players))
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < most:
        drawn[tuple(sorted(map(int, rng.permutation(players)[:num_players])))] = None
    return sorted(drawn)


def checked_deals(deals: int) -> int:
    """Return the number of deals as a Python integer, which NumPy's are not; ValueError if it is none of at least 2."""
    if not is_integer(deals) or deals < 2:
        raise ValueError(f"deals is {deals!r}; it must be an integer of at least 2, for an interval")
    return int(deals)


def drawn_seed(seed: int | None) -> int:
    """Return the seed as a Python integer, one from the full range if it is None; ValueError if it is below 0."""
    seed = secrets.randbits(63) if seed is None else seed
    check_at_least("seed", seed, 0)
    return int(seed)


class Played(NamedTuple):
    """What several line-ups have played.

    Attributes
    ----------
    outcomes : dict
        Arrays float64 ``(line-ups, deals, rotations, n)`` by measure, win shares first.
    deals : int
        The number of deals that every line-up has finished.
    games : list of dict
        The game records, if they were requested.
    interrupted : bool
        Whether Ctrl-C came before the last deal.
    """

    outcomes: dict[str, NDArray[np.float64]]
    deals: int
    games: list[dict[str, Any]]
    interrupted: bool


def play_line_ups(
    game: Game,
    line_ups: Sequence[Sequence[Agent]],
    deals: int,
    seed: int,
    *,
    keep_games: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Played:
    """Let every line-up play the same deals, each once in every rotation of the seats; for the parameters see `evaluate`.

    Raises
    ------
    KeyboardInterrupt
        If it is interrupted before the first deals are finished.
    """
    sizes = [min(DEALS_IN_BATCH, deals - first) for first in range(0, deals, DEALS_IN_BATCH)]
    batches: list[list[dict[str, NDArray[Any]]]] = []
    games: list[dict[str, Any]] = []
    total, done, interrupted = deals * len(line_ups) * game.num_players, 0, False
    try:
        for number, size in enumerate(sizes):
            batch = []
            for line_up in line_ups:
                rng = np.random.default_rng([seed, 3, number])  # the same deals for every line-up
                match = play_match(game, line_up, size, rng, keep_games=keep_games)
                batch.append(match.results)
                games += match.games
                done += size * game.num_players
                if progress:
                    progress(done, total)
            batches.append(batch)
    except KeyboardInterrupt:
        if not batches:
            raise
        interrupted = True
    outcomes = {}
    for measure in ("win_share", *(name for name in batches[0][0] if name != "win_share")):
        by_line_up = [np.concatenate([batch[i][measure] for batch in batches]) for i in range(len(line_ups))]
        outcomes[measure] = np.stack(by_line_up).astype(np.float64)
    return Played(outcomes, sum(sizes[: len(batches)]), games, interrupted)


def evaluate(
    agents: Sequence[str | Agent],
    num_players: int = 3,
    deals: int = 500,
    seed: int | None = None,
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
        Agents or names of agents, at least as many as there are seats.
    num_players
        The number of seats at a table; it is ignored if `game` is given.
    deals
        The number of different deals, at least 2.
    seed
        The seed of the deals and of the agents; the same seed gives the same results. None draws one from the full range and
        keeps it in the results: an agent that knows how a tournament deals could guess a small seed, and with it every deck.
    game
        The game to play; None for Katzenjammer Blues with `num_players`.
    max_line_ups
        The largest number of line-ups; if there are more, this many are drawn at random.
    keep_games
        Whether to keep the game records.
    progress
        A function that is called with the number of games played so far and in total.

    Returns
    -------
    Results
        The results; after Ctrl-C, those of the deals that every line-up has finished.

    Raises
    ------
    ValueError
        If an agent is unknown or a number is out of range.
    KeyboardInterrupt
        If the tournament is interrupted before its first deals are finished.
    """
    deals, seed = checked_deals(deals), drawn_seed(seed)
    check_at_least("max_line_ups", max_line_ups, 1)
    game = game or Katzenjammer(num_players)
    places = [make_agent(agent) for agent in agents]
    if len(places) < game.num_players:
        n = game.num_players
        raise ValueError(f"{there_are(len(places), 'agent')}; {n} players need at least {n}")
    names = list(dict.fromkeys(agent.name for agent in places))
    players = [Timed(next(agent for agent in places if agent.name == name)) for name in names]
    who = [names.index(agent.name) for agent in places]
    drawn = line_ups(len(places), game.num_players, max_line_ups, np.random.default_rng([seed, 0]))
    chosen = list(dict.fromkeys(tuple(sorted(who[place] for place in line_up)) for line_up in drawn))
    first_table = Tables(game, 1, seed=seed)
    for player in players:  # not timed: the first decision compiles
        player.agent.act(first_table.view(np.array([0]), one_way_generator("first decision", seed)))

    seated = [[players[player] for player in line_up] for line_up in chosen]
    played = play_line_ups(game, seated, deals, seed, keep_games=keep_games, progress=progress)
    return Results(
        names=names,
        num_players=game.num_players,
        seed=seed,
        deals=played.deals,
        line_ups=chosen,
        outcomes=played.outcomes,
        decisions=[player.decisions for player in players],
        seconds=[player.seconds for player in players],
        versions=[player.version for player in players],
        games=played.games,
        interrupted=played.interrupted,
    )
