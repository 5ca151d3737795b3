"""The interface of agents: what an agent may see, how it decides, and how an agent is found by its name."""

from __future__ import annotations

import ast
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katz_env.core.batch import first_illegal
from katz_env.core.game import Game, Records
from katz_env.core.jit import cached, compiled
from katz_env.core.registry import AGENTS, load, names_in
from katz_env.core.validation import check_at_least


class Decision(NamedTuple):
    """An agent's decision function as compiled code; `katz_env.core.compiled_agents` supplies the loop around it.

    Attributes
    ----------
    decide
        A building block (see `katz_env.core.jit.compiled`) ``decide(t, seat, mask, draw, settings) -> action``. The table `t`
        is redacted for `seat`, which is to act; `mask` ``(A,)`` marks its legal actions; `draw` is uniform in [0, 1).
    settings
        The value passed as `settings`, of a type that Numba supports.
    stochastic
        Whether `decide` uses `draw`. If not, no random number is drawn and `draw` is 0.
    """

    decide: Callable[..., int]
    settings: Any = ()
    stochastic: bool = False


@dataclass(frozen=True)
class View:
    """Everything that the seats to act at k tables may know: the only thing that an agent receives.

    Attributes
    ----------
    game
        The game that is played.
    tables
        ``(k,)`` records in which everything that the seat cannot know is wiped (the deal, the generator, other hands).
        ``game.redeal(tables, seats, rng)`` fills them with worlds that the seats cannot tell from the real ones.
    seats
        ``(k,)`` int64, the seat to act at each table.
    observations
        ``(k, D)`` int8, as in `Tables.observations`.
    action_masks
        ``(k, A)`` bool, the legal actions.
    rng
        The agent's own generator. An agent must draw all its random numbers from it.

    Raises
    ------
    ValueError
        If an array has another dtype or shape, a seat does not exist, or a record cannot be a table of the game: agents may
        pass all of them to compiled code.
    """

    game: Game
    tables: Records
    seats: NDArray[np.int64]
    observations: NDArray[np.int8]
    action_masks: NDArray[np.bool_]
    rng: np.random.Generator

    def __post_init__(self) -> None:
        """Check arrays that somebody put together by hand."""
        tables, _ = self.game.checked(self.tables, self.seats)
        for name, dtype, width in (
            ("seats", np.int64, ()),
            ("observations", np.int8, (self.game.observation_size,)),
            ("action_masks", np.bool_, (self.game.num_actions,)),
        ):
            array, shape = getattr(self, name), (len(tables), *width)
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.shape != shape:
                raise ValueError(f"{name} must be an array of type {np.dtype(dtype)} and shape {shape}")

    @classmethod
    def of_whole_arrays(cls, **arrays: Any) -> View:
        """Return a view of arrays that are known to be right, without the checks, which would take longer than most agents."""
        view = object.__new__(cls)
        view.__dict__.update(arrays)
        return view

    def __len__(self) -> int:
        """Return the number of tables that wait for a decision."""
        return len(self.seats)


class Agent(ABC):
    """A player. One agent may hold several seats at many tables, so it must keep no memory of a game between calls."""

    name: str = "agent"
    version: int = 1
    """Raised whenever the agent plays other moves than before, so that results tell which player they belong to."""

    @abstractmethod
    def act(self, view: View) -> NDArray[np.int64]:
        """Return a legal action id for every table of the view, int64 ``(k,)``."""

    def decision(self, game: Game) -> Decision | None:
        """Return the agent's decision function for a game, which must choose exactly as `act` does; None if it has none."""
        del game
        return None

    def __repr__(self) -> str:
        """Return the agent's name in angle brackets."""
        return f"<agent {self.name}>"


@compiled
def nth_legal(mask: NDArray[np.bool_], draw: float) -> int:
    """Return a uniformly random legal action of `mask` ``(A,)`` for a number `draw` that is uniform in [0, 1)."""
    left = int(draw * mask.sum())
    for action in range(mask.shape[0]):
        if mask[action]:
            if left == 0:
                return action
            left -= 1
    return -1


@cached
def random_legal(masks: NDArray[np.bool_], draws: NDArray[np.float64], actions: NDArray[np.int64]) -> None:
    """Fill `actions` ``(k,)`` with random legal actions of `masks` ``(k, A)``; `draws` ``(k,)`` are uniform in [0, 1)."""
    for i in range(len(actions)):
        actions[i] = nth_legal(masks[i], draws[i])


def ask(agent: Agent, view: View) -> NDArray[np.int64]:
    """Return the actions that an agent chooses, int64 ``(k,)``, checked against a copy of the masks that it cannot change.

    Raises
    ------
    ValueError
        If the answer is not a legal action for every table; it names the agent.
    """
    masks, size = view.action_masks.copy(), len(view)
    answer = agent.act(view)
    try:
        chosen = np.asarray(answer)
    except ValueError:  # a nested list that is not an array
        chosen = np.array(None)
    if chosen.shape != (size,) or chosen.dtype.kind not in "iu":
        raise ValueError(f"{agent!r} answered {chosen.dtype} {chosen.shape}; {size} action ids were asked for")
    chosen = np.ascontiguousarray(chosen, np.int64)
    wrong = first_illegal(np.arange(size), chosen, masks, np.zeros(size, np.bool_))
    if wrong >= 0:
        raise ValueError(f"{agent!r} chose the illegal action {chosen[wrong]}")
    return chosen


def agent_names() -> list[str]:
    """Return the names of all installed agents, sorted."""
    return names_in(AGENTS)


def make_agent(spec: str | Agent) -> Agent:
    """Make an agent from its name.

    Parameters
    ----------
    spec
        A name, with settings after a colon: ``"greedy"``, ``"search:playouts=2000,worlds=20"``. A setting without ``=`` is a
        positional argument: ``"policy:file.npz"``. Every agent takes ``version=1``; most have only their current version. An
        `Agent` is returned as it is.

    Raises
    ------
    ValueError
        If no installed agent has this name, it has no such version, it does not know a setting or refuses it, a setting is
        given twice, or the agent cannot be made at all.
    """
    if isinstance(spec, Agent):
        return spec
    if not isinstance(spec, str):
        raise ValueError(f"an agent must be a name or an Agent, not {spec!r}")
    name, _, text = spec.partition(":")
    factory = load(AGENTS, "agent", name)
    if not callable(factory):
        raise ValueError(f"what is installed as the agent {name!r} is of type {type(factory).__name__}; it cannot be called")
    positional, keywords = _settings(spec, text)
    try:
        signature = inspect.signature(factory)
    except ValueError:  # the function is not written in Python
        signature = None
    asked = None
    if "version" in keywords and (signature is None or "version" not in signature.parameters):
        asked = keywords.pop("version")  # of an agent that has only the current one
        check_at_least("version", asked, 1)
    if signature is not None:
        try:
            signature.bind(*positional, **keywords)
        except TypeError as error:
            known = ", ".join(signature.parameters)
            settings = f"its settings are {known}" if known else "it has no settings"
            raise ValueError(f"agent {spec!r}: {error}; {settings}") from None
    try:
        agent = factory(*positional, **keywords)
    except ValueError:
        raise
    except Exception as error:  # a bug of the agent may raise anything
        said = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise ValueError(f"the agent {spec!r} cannot be made: {said}") from error
    if not isinstance(agent, Agent):
        kind = type(agent).__name__
        raise ValueError(f"what is installed as the agent {name!r} makes a {kind}; it must make a katz_env.Agent")
    check_at_least(f"the version of the agent {name!r}", agent.version, 1)
    if asked is not None and asked != agent.version:
        older = f"old code is not kept: install the {factory.__module__.partition('.')[0]} that had it"
        raise ValueError(f"{name} is at version {agent.version}; {older if asked < agent.version else 'there is no newer one'}")
    agent.name = spec
    return agent


def _settings(spec: str, text: str) -> tuple[list[str], dict[str, Any]]:
    """Parse the settings ``value,key=value`` of an agent's name; Python literals become values, everything else strings."""
    positional: list[str] = []
    keywords: dict[str, Any] = {}
    for item in filter(None, text.split(",")):
        key, equals, value = item.partition("=")
        if not equals or not key.isidentifier():  # such as a path: runs/rate=0.1/policy.npz
            positional.append(item)
            continue
        if key in keywords:
            raise ValueError(f"agent {spec!r}: {key} is given twice")
        try:
            keywords[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):  # the last two come from deeply nested brackets
            keywords[key] = value
    return positional, keywords
