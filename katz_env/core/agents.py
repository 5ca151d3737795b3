"""What an agent may see, what it answers, and how agents are found by name."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from katz_env.core.game import Game, Records
from katz_env.core.turns import PlayTurns

ENTRY_POINT_GROUP = "katz_env.agents"
"""Packages add agents by naming a class or function under this entry-point group."""


@dataclass(frozen=True)
class View:
    """What the seats to act at k tables may know, and nothing else: the only thing an agent is given.

    Attributes
    ----------
    game
        The game that is played.
    tables
        ``(k,)`` records from which all that the seat cannot know is wiped (deck, generator, other hands).
        ``game.redeal(tables, seats, rng)`` fills them with worlds that the seats cannot tell apart.
    seats
        ``(k,)`` int64, the seat to act at each table.
    observations
        ``(k, D)`` int8 counts, as in `Tables.observations`.
    action_masks
        ``(k, A)`` bool, the legal actions.
    rng
        The agent's own generator; all its chance must come from it.
    """

    game: Game
    tables: Records
    seats: NDArray[np.int64]
    observations: NDArray[np.int8]
    action_masks: NDArray[np.bool_]
    rng: np.random.Generator

    def __len__(self) -> int:
        """How many tables wait for a decision."""
        return len(self.seats)


class Agent(ABC):
    """A player. One agent may hold several seats at many tables; it must keep no memory of a game between calls."""

    name: str = "agent"

    @abstractmethod
    def act(self, view: View) -> NDArray[np.int64]:
        """A legal action id for every table of the view, ``(k,)``."""

    def compiled(self, game: Game) -> PlayTurns | None:
        """A compiled function that plays this agent's turns at a single table, exactly as `act` does; None for none."""
        del game
        return None

    def __repr__(self) -> str:
        """The agent's name."""
        return f"<agent {self.name}>"


@njit(cache=True, nogil=True)
def legal_number(mask: NDArray[np.bool_], draw: float) -> int:
    """The legal action of `mask` ``(A,)`` that is this part of the way through all of them; `draw` is in 0..1."""
    left = int(draw * mask.sum())
    for action in range(mask.shape[0]):
        if mask[action]:
            if left == 0:
                return action
            left -= 1
    return -1


@njit(cache=True, nogil=True)
def random_legal(masks: NDArray[np.bool_], draws: NDArray[np.float64], actions: NDArray[np.int64]) -> None:
    """Fill `actions` ``(k,)`` with legal actions of `masks` ``(k, A)``; `draws` ``(k,)`` are uniform in 0..1."""
    for i in range(len(actions)):
        actions[i] = legal_number(masks[i], draws[i])


def agent_names() -> list[str]:
    """The names of all installed agents."""
    return sorted({point.name for point in entry_points(group=ENTRY_POINT_GROUP)})


def make_agent(spec: str | Agent) -> Agent:
    """Find an agent.

    Parameters
    ----------
    spec
        An agent, which is returned as it is; or a name, with settings after a colon: ``"greedy"``,
        ``"search:playouts=2000,worlds=20"``. A setting without ``=`` is the first argument: ``"policy:file.npz"``.

    Raises
    ------
    ValueError
        If nobody has this name, or the agent does not know a setting.
    """
    if isinstance(spec, Agent):
        return spec
    if not isinstance(spec, str):
        raise ValueError(f"an agent must be a name or an Agent, not {spec!r}")
    name, _, text = spec.partition(":")
    found = [point for point in entry_points(group=ENTRY_POINT_GROUP) if point.name == name]
    if not found:
        raise ValueError(f"there is no agent {name!r}; installed are {', '.join(agent_names()) or 'none'}")
    positional, keywords = _settings(text)
    try:
        agent = found[0].load()(*positional, **keywords)
    except TypeError as error:
        raise ValueError(f"agent {spec!r}: {_readable(error)}") from None
    agent.name = spec
    return agent


def _settings(text: str) -> tuple[list[str], dict[str, Any]]:
    """The settings ``value,key=value`` of an agent's name; numbers become numbers."""
    positional: list[str] = []
    keywords: dict[str, Any] = {}
    for item in filter(None, text.split(",")):
        key, equals, value = item.partition("=")
        if not equals:
            positional.append(item)
            continue
        try:
            keywords[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            keywords[key] = value
    return positional, keywords


def _readable(error: TypeError) -> str:
    """Python's complaint about arguments, without the name of the function."""
    return str(error).split("() ", 1)[-1].split(".__init__", 1)[-1]
