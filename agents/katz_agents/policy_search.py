"""A policy improved by a search of one move over worlds that are dealt anew.

Each of the most probable moves is played out in the same worlds: the policy plays on for the seat that searches, other agents
for the others, until the stage of the game ends (an auction, a round, a turn); there the leaf network of the policy judges.
The move of the policy itself is replaced only where another one is better by more than chance explains.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from katz_agents.estimates import stages
from katz_agents.policy import Network
from katz_agents.pretrained import network_of
from katz_env import Agent, Game, Tables, View, make_agent
from katz_env.core.game import Records
from katz_env.core.validation import check_integer

ROWS = 16_384
"""The most worlds that are played on together, for each move that is tried: more would take memory and gain nothing."""
WORLDS_AT_A_TIME = 16
"""The worlds that are dealt before the time is looked at, where a budget of time is given."""


class PolicySearch(Agent):
    """A player that compares the likely moves of a policy over worlds, each played out to the end of the stage.

    Parameters
    ----------
    policy
        The policy: an agent that plays a network, such as ``"ppo"`` or ``"policy:FILE"``, with a leaf network.
    worlds
        The number of worlds that are dealt for one decision, at least 2.
    milliseconds
        If given, worlds are dealt until so much time is used for each decision, `WORLDS_AT_A_TIME` at least; the moves then
        depend on how fast the machine is, and `worlds` is not used.
    moves
        The number of moves that are compared at most, the most probable ones.
    least
        Moves that are less probable than this are not compared.
    caution
        How many standard errors of the difference over the worlds another move must be better than that of the policy.
    others
        Who holds the other seats in the worlds: agents joined by ``+``, of which each seat of each world draws one, such as
        ``"ppo+heuristic"``. None for the policy in all seats.

    Raises
    ------
    ValueError
        If a setting is out of its range, or `policy` is no policy.
    """

    name = "policy_search"
    version = 2

    def __init__(
        self,
        policy: str | Agent = "ppo",
        worlds: int = 64,
        milliseconds: float | None = None,
        moves: int = 4,
        least: float = 0.005,
        caution: float = 1.0,
        others: str | None = None,
    ) -> None:
        check_integer("worlds", worlds, 2, 10**6)
        check_integer("moves", moves, 2, 10**6)
        if milliseconds is not None:
            _check_number("milliseconds", milliseconds, 0.0, above=True)
        _check_number("least", least, 0.0)
        _check_number("caution", caution, 0.0)
        self.policy = make_agent(policy)
        self.worlds, self.milliseconds, self.moves, self.least, self.caution = worlds, milliseconds, moves, least, caution
        if others is not None and not isinstance(others, str):
            raise ValueError(f"others is {others!r}; it must be names of agents, joined by +")
        self.others: list[Agent] = [make_agent(name) for name in others.split("+")] if others else [self.policy]

    def act(self, view: View) -> NDArray[np.int64]:
        """Return a legal action for every table, int64 ``(k,)``.

        Raises
        ------
        ValueError
            If the policy has no leaf network or was trained for another game, or a table has no possible world.
        """
        network = self.network(view.game)
        tried = candidates(network.probabilities(view), self.moves, self.least)
        actions = tried.actions[:, 0].copy()
        open_questions = np.flatnonzero(tried.counts > 1)
        worlds = WORLDS_AT_A_TIME if self.milliseconds is not None else self.worlds
        sizes = np.cumsum(tried.counts[open_questions]) * worlds
        for part in np.split(open_questions, np.flatnonzero(np.diff(sizes // ROWS)) + 1):
            if len(part):
                actions[part] = self._best(network, view, part, tried, worlds)
        return actions

    def network(self, game: Game) -> Network:
        """Return the network that plays a game.

        Raises
        ------
        ValueError
            If there is none, it was trained for another game, or it has no leaf network.
        """
        network = network_of(self.policy, game)
        if network.estimates.leaf is None:
            raise ValueError(f"{network.name} has no leaf network, which a search needs; train/fit_estimates.py fits one")
        return network

    def _best(self, network: Network, view: View, part: NDArray[np.int64], tried: Candidates, worlds: int) -> NDArray[np.int64]:
        """Return the best moves at some tables of a view, int64 ``(len(part),)``."""
        start = time.perf_counter()
        counts, values = tried.counts[part], []
        table = np.repeat(np.arange(len(part)), counts)  # of each move that is tried
        rank = np.concatenate([np.arange(count) for count in counts])
        while True:
            values.append(self._values(network, view, part, table, tried.actions[part[table], rank], worlds))
            used = 1000 * (time.perf_counter() - start)
            if self.milliseconds is None or used >= self.milliseconds * len(part):
                break
        gains = np.concatenate(values, 1)
        first = np.cumsum(counts) - counts
        gains = gains - gains[first[table]]  # over the move of the policy, in the same worlds
        error = gains.std(1, ddof=1) / np.sqrt(gains.shape[1])
        lower = np.where(rank == 0, 0.0, gains.mean(1) - self.caution * error - 1e-9)
        best = np.array([lower[i : i + count].argmax() for i, count in zip(first, counts, strict=True)])
        return tried.actions[part, best]

    def _values(
        self,
        network: Network,
        view: View,
        part: NDArray[np.int64],
        table: NDArray[np.int64],
        actions: NDArray[np.int64],
        worlds: int,
    ) -> NDArray[np.float32]:
        """Return what each move brings in each world, float32 ``(moves, worlds)``; moves at one table share its worlds."""
        game, n = view.game, view.game.num_players
        dealt = game.redeal(np.repeat(view.tables[part], worlds), np.repeat(view.seats[part], worlds), view.rng)
        players = view.rng.integers(len(self.others), size=(len(part), worlds, n))
        playout = Playout(
            records=dealt.reshape(len(part), worlds)[table].reshape(-1),
            seats=np.repeat(view.seats[part][table], worlds),
            actions=np.repeat(actions, worlds),
            players=players[table].reshape(-1, n),
        )

        def judge(ended: NDArray[np.int64], records: Records) -> NDArray[np.float32]:
            return network.leaf_values(game, records, playout.seats[ended])

        return play_out(game, network, self.others, playout, judge, view.rng).reshape(len(table), worlds)


class Candidates(NamedTuple):
    """The moves that are tried."""

    actions: NDArray[np.int64]
    """``(k, m)``, the most probable first."""
    counts: NDArray[np.int64]
    """``(k,)``: how many of them are tried."""

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Which of them are tried, bool ``(k, m)``."""
        return np.arange(self.actions.shape[1]) < self.counts[:, None]


def candidates(probabilities: NDArray[np.float32], moves: int, least: float) -> Candidates:
    """Return the most probable moves, at least one for every table."""
    order = np.argsort(-probabilities, axis=1, kind="stable")[:, :moves]
    ranked = np.take_along_axis(probabilities, order, 1)
    return Candidates(order, np.maximum(1, ((ranked > 0) & (ranked >= least)).sum(1)))


class Playout(NamedTuple):
    """Worlds that are to be played on."""

    records: Records
    """Whole tables ``(k,)``."""
    seats: NDArray[np.int64]
    """``(k,)``: the seats that search, which are to act."""
    actions: NDArray[np.int64]
    """``(k,)``: their first moves."""
    players: NDArray[np.int64]
    """``(k, n)``: by seat, the index of the agent that plays, -1 for the policy; it is not used for the seat that searches."""


Judge = Callable[[NDArray[np.int64], Records], NDArray[np.float32]]
"""``judge(ended, records)`` returns the win shares that the searching seats of the worlds `ended` can expect, float32
``(k,)``, where the stage has ended with `records`."""


def play_out(
    game: Game, network: Network, others: Sequence[Agent], playout: Playout, judge: Judge, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Play worlds on to the end of their stage; return the win shares that the searching seats can expect, float32 ``(k,)``."""
    tables = Tables(game, len(playout.records), seed=0, autoreset=False, num_threads=1)
    tables.restore(playout.records)
    values, alive, actions = np.empty(len(tables), np.float32), np.arange(len(tables)), playout.actions
    stage = stages(game, playout.records)
    while True:
        tables.step_at(alive, actions)
        over = tables.terminated[alive]
        ended = alive[over]
        values[ended] = tables.rewards[ended, playout.seats[ended]] + 1 / game.num_players
        alive = alive[~over]
        records = tables.records[alive]
        left = stages(game, records) != stage[alive]
        if left.any():
            values[alive[left]] = judge(alive[left], records[left])
            alive = alive[~left]
        if not len(alive):
            return values
        actions = _moves(tables, alive, network, others, playout, rng)


def _moves(
    tables: Tables,
    alive: NDArray[np.int64],
    network: Network,
    others: Sequence[Agent],
    playout: Playout,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Return what is played at the tables that are alive, int64 ``(len(alive),)``."""
    turn = tables.turn[alive].astype(np.int64)
    who = np.where(turn == playout.seats[alive], -1, playout.players[alive, turn])
    actions = np.empty(len(alive), np.int64)
    for i, agent in enumerate((network, *others), start=-1):
        mine = np.flatnonzero(who == i)
        if len(mine):
            actions[mine] = agent.act(tables.view(alive[mine], rng))
    return actions


def _check_number(name: str, value: float, low: float, above: bool = False) -> None:
    """Raise ValueError if a setting is no finite number, or too small."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value < np.inf or (above and value == low):
        raise ValueError(f"{name} is {value!r}; it must be a number {'above' if above else 'of at least'} {low:g}")
