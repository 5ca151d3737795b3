"""Duplicate matches: the same deals are played in every rotation of the seats, so that the luck of the deal cancels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from katz_agents.intervals import Interval, measure_interval
from katz_env import Agent, Arena, Game, Tables
from katz_env.core.validation import check_at_least, there_are


@dataclass(frozen=True)
class Match:
    """The results of one line-up.

    Attributes
    ----------
    line_up
        The agents, one for each seat of the first rotation.
    results
        Arrays ``(deals, rotations, agents)`` by name (``win_share``, ``score``, ...), with agents in the order of the line-up.
    games
        The game records; empty unless they were requested.
    """

    line_up: tuple[Agent, ...]
    results: dict[str, NDArray[Any]]
    games: list[dict[str, Any]]

    def interval(self, name: str = "win_share", agent: int = 0) -> Interval:
        """Return the mean of a result and the ends of its 95 % interval; see `katz_agents.intervals`.

        Parameters
        ----------
        name
            The name of the result.
        agent
            The index of the agent in the line-up.
        """
        return measure_interval(name, self.results[name][:, :, agent])


def random_deals(game: Game, deals: int, rng: np.random.Generator) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Draw deals, int8 ``(deals, size)``, and first seats, int8 ``(deals,)``, as a table would; see `Tables.deal_vectors`."""
    tables = Tables(game, deals, seed=int(rng.integers(2**63)), autoreset=False)
    return tables.records["deal"].copy(), tables.records["first_seat"].copy()


def play_match(
    game: Game, line_up: Sequence[Agent], deals: int, rng: np.random.Generator, *, keep_games: bool = False
) -> Match:
    """Play every deal once in each rotation of the seats.

    Parameters
    ----------
    game
        The game to play.
    line_up
        One agent for each seat; the same agent may take several seats.
    deals
        The number of different deals; ``deals * num_players`` games are played together.
    rng
        The generator that draws the deals and the seeds of the agents' generators.
    keep_games
        Whether to keep the game records, with the names of the agents by seat.

    Raises
    ------
    ValueError
        If the line-up does not fill the seats, or there is no deal.
    """
    n = game.num_players
    if len(line_up) != n:
        raise ValueError(f"{there_are(len(line_up), 'agent')}; {n} players need {n}")
    check_at_least("deals", deals, 1)
    vectors, first_seats = random_deals(game, deals, rng)
    agents = list(dict.fromkeys(line_up))  # each agent once, so that it decides for all its seats in one call
    who = np.array([agents.index(agent) for agent in line_up])
    sits = (np.arange(n) + np.arange(n)[:, None]) % n  # (rotation, agent of the line-up) -> seat
    players = np.empty((n, n), np.int64)
    np.put_along_axis(players, sits, np.broadcast_to(who, (n, n)), 1)

    tables = Tables(game, deals * n, seed=0, autoreset=False)
    tables.deal_vectors(np.repeat(vectors, n, 0), np.repeat(first_seats, n))
    starts = tables.records.copy()
    arena = Arena(tables, agents, lambda _rng, _k: np.tile(players, (deals, 1)), rng, log_moves=keep_games)
    arena.start()
    by_agent = np.tile(sits, (deals, 1))
    results = {
        name: np.take_along_axis(values, by_agent, 1).reshape(deals, n, n)
        for name, values in game.results(tables.records).items()
    }
    games = []
    if keep_games:
        for start, moves, end, seated in zip(starts, arena.moves, tables.records, arena.players, strict=True):
            record = game.write_record(start, moves, end)
            games.append(record | {"agents": [agents[player].name for player in seated]})
    return Match(tuple(line_up), results, games)
