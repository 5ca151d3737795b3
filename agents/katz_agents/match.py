"""Duplicate matches: the same deals played in every rotation of the seats, so that the luck of the deal cancels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from katz_env import Agent, Arena, Game, Tables


@dataclass(frozen=True)
class Match:
    """The results of one line-up.

    Attributes
    ----------
    line_up
        The agents, one for each seat of the first rotation.
    results
        By name (``win_share``, ``score``, ...) an array ``(deals, rotations, agents)``, agents in the order of the line-up.
    games
        The game records, if they were asked for.
    """

    line_up: tuple[Agent, ...]
    results: dict[str, NDArray[Any]]
    games: list[dict[str, Any]]

    def interval(self, name: str = "win_share", agent: int = 0) -> tuple[float, float]:
        """The mean of a result and half the width of its 95 % interval.

        The rotations of a deal are one observation: their mean; the interval is 1.96 standard errors over the deals, of which
        there must be at least two.
        """
        per_deal = self.results[name][:, :, agent].mean(1)
        return float(per_deal.mean()), float(1.96 * per_deal.std(ddof=1) / np.sqrt(len(per_deal)))


def random_deals(game: Game, deals: int, rng: np.random.Generator) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Decks ``(deals, cards)`` and first seats ``(deals,)``, as a table would draw them."""
    tables = Tables(game, deals, seed=int(rng.integers(2**63)), autoreset=False)
    return tables.records["deck"].copy(), tables.records["bandleader"].astype(np.int64)


def play_match(
    game: Game, line_up: Sequence[Agent], deals: int, rng: np.random.Generator, *, keep_games: bool = False
) -> Match:
    """Play every deal once in each rotation of the seats.

    Parameters
    ----------
    game
        The game.
    line_up
        An agent for each seat; the same agent may sit several times.
    deals
        How many different deals; ``deals * num_players`` games are played together.
    rng
        Draws the deals and gives the agents their generators.
    keep_games
        Whether to keep the game records, with the names of the agents by seat.

    Raises
    ------
    ValueError
        If the line-up does not fill the seats, or there is no deal.
    """
    n = game.num_players
    if len(line_up) != n:
        raise ValueError(f"there are {len(line_up)} agents; {n} players need {n}")
    if deals < 1:
        raise ValueError(f"deals is {deals}; it must be at least 1")
    decks, first_seats = random_deals(game, deals, rng)
    agents = list(dict.fromkeys(line_up))  # each once, so that it is asked for all its seats together
    who = np.array([agents.index(agent) for agent in line_up])
    sits = (np.arange(n) + np.arange(n)[:, None]) % n  # (rotation, agent of the line-up) -> seat
    players = np.empty((n, n), np.int64)
    np.put_along_axis(players, sits, np.broadcast_to(who, (n, n)), 1)

    tables = Tables(game, deals * n, seed=0, autoreset=False)
    tables.deal(np.repeat(decks, n, 0), np.repeat(first_seats, n))
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
