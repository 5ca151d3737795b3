"""A game between one person and agents: decisions, undo, advice and the record, without any screen."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from katz_env import Agent, Arena, Game, Tables
from katz_env.core.arena import one_open_seat
from katz_env.core.rng import one_way_generator

PERSON = "person"
"""What a record calls the seat that was not played by an agent."""


class Session:
    """One game of a person against agents.

    Parameters
    ----------
    game
        The game.
    opponents
        An agent for all other seats, or one for each, clockwise from the person's left neighbour.
    seat
        The person's seat; None draws it.
    rng
        Draws the seat and the cards, and gives the agents their generators.

    Attributes
    ----------
    seat : int
        The person's seat.
    names : list of str
        What the players are called, by seat; the person is "you".
    agents : list of str
        The names of the agents, by seat; the person is "person".
    news : list of str
        What happened since the person's previous decision.

    Raises
    ------
    ValueError
        If the seat does not exist, or the number of opponents is wrong.
    """

    def __init__(self, game: Game, opponents: Sequence[Agent], seat: int | None, rng: np.random.Generator) -> None:
        n = game.num_players
        drawn = int(rng.integers(n))
        agents, seating = one_open_seat(n, opponents if len(opponents) > 1 else opponents[0], drawn if seat is None else seat)
        self.game, self.seat = game, drawn if seat is None else seat
        players = seating(rng, 1)[0]
        self.agents = [PERSON if player < 0 else agents[player].name for player in players]
        self.names = ["you" if s == self.seat else f"player_{s}" for s in range(n)]
        tables = Tables(game, 1, seed=int(rng.integers(2**63)), autoreset=False, num_threads=1, events=True)
        self._advice_key = rng.integers(0, 2**63, 4)
        self._dealt = Arena(tables, agents, seating, rng, log_moves=True)
        # A copy of everything for each decision, the last one now. What the copies share does not change.
        self._shared = {id(thing): thing for thing in (game, seating, *agents)}
        self._decisions: list[tuple[Arena, list[str]]] = []

    def start(self) -> None:
        """Let the agents play until the person is asked, or the game is over."""
        arena = self._copy(self._dealt)
        arena.start()
        before = self._dealt.tables
        self._decisions = [(arena, self._events(before) + self._tell(before, arena.moves[0]))]

    def play(self, action: int) -> None:
        """Play a legal action of the person, then let the agents play.

        An interrupt (KeyboardInterrupt) leaves the game at the decision that was not finished.
        """
        arena = self._copy(self._now)
        arena.step(np.array([action]))
        news = self._tell(self._now.tables, arena.moves[0][len(self._now.moves[0]) :])
        self._decisions.append((arena, news))

    def undo(self) -> bool:
        """Go back to the person's previous decision; False if there is none."""
        if len(self._decisions) < 2:
            return False
        self._decisions.pop()
        return True

    @property
    def _now(self) -> Arena:
        return self._decisions[-1][0] if self._decisions else self._dealt

    @property
    def news(self) -> list[str]:
        """What happened since the person's previous decision, a line for each event."""
        return self._decisions[-1][1] if self._decisions else []

    @property
    def over(self) -> bool:
        """Whether the game is finished."""
        return bool(self._now.tables.terminated[0])

    @property
    def table(self) -> Any:
        """The table as the person may see it: one redacted record."""
        return self._seen(self._now.tables)

    @property
    def mask(self) -> NDArray[np.bool_]:
        """The person's legal actions."""
        return self._now.tables.action_masks[0]

    @property
    def results(self) -> dict[str, list[Any]]:
        """How a finished game ended: ``score``, ``mice``, ``jokers`` and ``win_share`` by seat."""
        return {name: values[0].tolist() for name, values in self.game.results(self._now.tables.records).items()}

    def advice(self, advisor: Agent) -> int:
        """The action that an agent would choose; it sees what the person may see, and answers the same when asked again.

        Raises
        ------
        ValueError
            If the agent does not choose a legal action.
        """
        rng = one_way_generator("advice", *self._advice_key, len(self._now.moves[0]))
        chosen = np.asarray(advisor.act(self._now.tables.view(np.array([0]), rng))).tolist()
        legal = np.flatnonzero(self.mask)
        if chosen not in legal[:, None].tolist():
            raise ValueError(f"{advisor.name} chose {chosen}, which is not one legal action")
        return int(chosen[0])

    def record(self) -> dict[str, Any]:
        """The game record so far."""
        now = self._now
        record = self.game.write_record(self._dealt.tables.records[0], now.moves[0], now.tables.records[0])
        return record | {"agents": self.agents}

    def _copy(self, arena: Arena) -> Arena:
        return copy.deepcopy(arena, dict(self._shared))

    def _seen(self, tables: Tables) -> Any:
        return self.game.redact(tables.records, np.array([self.seat]))[0]

    def _tell(self, before: Tables, moves: Sequence[str]) -> list[str]:
        """What the person sees when these moves are played, in words; the moves are played again, one by one."""
        tables, lines = copy.deepcopy(before, dict(self._shared)), []
        for move in moves:
            action = self.game.legal_names(tables.records[0], tables.action_masks[0])[move]
            tables.step(np.array([action]))
            lines += self._events(tables)
        return lines

    def _events(self, tables: Tables) -> list[str]:
        """What the person sees of the last step or deal, in words."""
        return self.game.tell(tables.events(0, self.seat), self.names, self.seat)
