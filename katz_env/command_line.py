"""What commands share: checks of their settings, the game that is asked for, and how they end.

The command ``katz`` and the scripts in ``train/`` use it. It needs nothing that an extra installs.
"""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled

from katz_env import Agent, Game, Tables, make_agent, make_game
from katz_env.core.interrupts import Terminated, ignore_leftovers, interrupted_code, interrupts_deferred, signals_raised
from katz_env.core.jit import call_when_compiling
from katz_env.standard_streams import prepare_streams

__all__ = [
    "Terminated",
    "agent_for",
    "check_above_zero",
    "check_at_least",
    "check_between",
    "check_none_or_at_least",
    "check_plays",
    "game_from",
    "interrupted_code",
    "interrupts_deferred",
    "run_command",
]


def run_command(run: Callable[[], int], name: str) -> int:
    """Run a command; what a user can cause becomes one line on stderr.

    SIGTERM and SIGHUP are raised as `Terminated`, a KeyboardInterrupt, so that what is kept at Ctrl-C is kept then too. The
    standard streams are made forgiving, see `prepare_streams`.

    Parameters
    ----------
    run
        The command; it returns the exit code.
    name
        The name of the command, for messages.

    Returns
    -------
    int
        The exit code: that of `run`; 1 after an error; 130 after Ctrl-C, and 128 plus the signal after another one.
    """
    prepare_streams()
    if sys.stderr.isatty():
        call_when_compiling(partial(_say_that_it_compiles, name))
    with signals_raised():
        try:
            return run()
        except (ValueError, OSError, DependencyNotInstalled) as error:
            print(f"{name}: {_in_one_line(error)}", file=sys.stderr)
            return 1
        except MemoryError as error:
            print(f"{name}: there is not enough memory. {error}".rstrip(), file=sys.stderr)
            return 1
        except KeyboardInterrupt as interrupt:
            ignore_leftovers()
            reason = f"stopped by {interrupt.signum.name}" if isinstance(interrupt, Terminated) else "interrupted"
            print(f"{name}: {reason}", file=sys.stderr)
            return interrupted_code(interrupt)


def _say_that_it_compiles(name: str) -> None:
    """Tell a person at a terminal why nothing happens."""
    print(f"{name}: compiling for this game and number of players, about half a minute; the code is kept", file=sys.stderr)


def _in_one_line(error: Exception) -> str:
    """What an error says, in one line; of an error of the operating system without its number."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split("\n"))


# --- settings


def game_from(name: str, num_players: int | None, rules: Sequence[str] = ()) -> Game:
    """The game that the options ``--game``, ``--num-players`` and ``--rules`` ask for.

    Parameters
    ----------
    name
        The name of the game.
    num_players
        The number of players; None for the game's default.
    rules
        All other settings of the rules, each as ``key=value``.

    Raises
    ------
    ValueError
        If there is no such game, a rule is not ``key=value``, or the game refuses a setting.
    """
    settings: dict[str, Any] = {} if num_players is None else {"num_players": num_players}
    for rule in rules:
        key, equals, value = rule.partition("=")
        if not equals or not key.isidentifier():
            raise ValueError(f"--rules has {rule!r}; a rule is written KEY=VALUE, such as mice=15")
        if key == "num_players":
            raise ValueError(f"--rules has {rule!r}; the number of players is set by --num-players")
        if key in settings:
            raise ValueError(f"--rules sets {key} twice")
        settings[key] = _value(value)
    try:
        return make_game(name, **settings)
    except TypeError as error:  # such as a setting that the game does not have
        raise ValueError(f"the game {name!r}: {error}") from error


def check_plays(agent: Agent, game: Game) -> None:
    """Check that an agent plays a game, by asking it for a move.

    Raises
    ------
    ValueError
        If it does not; the message is the agent's.
    """
    agent.act(Tables(game, 1, seed=0, num_threads=1).view(np.array([0]), np.random.default_rng(0)))


def agent_for(game: Game, names: Sequence[str]) -> Agent:
    """The first of these agents that plays a game.

    Raises
    ------
    ValueError
        If none of them does; the message is that of the last one.
    """
    for name in names[:-1]:
        agent = make_agent(name)
        with suppress(ValueError):
            check_plays(agent, game)
            return agent
    agent = make_agent(names[-1])
    check_plays(agent, game)
    return agent


def _value(text: str) -> Any:
    """A number, True, False or None as Python writes it; anything else is text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def check_at_least(settings: Any, **least: int) -> None:
    """Check that settings, by their names, are not below their least values.

    Raises
    ------
    ValueError
        If one is; the message names the option.
    """
    for name, low in least.items():
        if getattr(settings, name) < low:
            raise ValueError(f"{_option(name)} is {getattr(settings, name)}; it must be at least {low}")


def check_none_or_at_least(settings: Any, **least: int) -> None:
    """Check that settings, by their names, are 0, which means none, or not below their least values.

    Raises
    ------
    ValueError
        If one is neither; the message names the option.
    """
    for name, low in least.items():
        value = getattr(settings, name)
        if value != 0 and value < low:
            raise ValueError(f"{_option(name)} is {value}; it must be at least {low}, or 0 for none")


def check_above_zero(settings: Any, *names: str) -> None:
    """Check that settings, by their names, are finite numbers above zero.

    Raises
    ------
    ValueError
        If one is not; the message names the option.
    """
    for name in names:
        if not 0 < getattr(settings, name) < math.inf:
            raise ValueError(f"{_option(name)} is {getattr(settings, name)}; it must be above 0")


def check_between(settings: Any, low: float, high: float, *names: str) -> None:
    """Check that settings, by their names, are finite numbers from `low` to `high`, which may be infinite.

    Raises
    ------
    ValueError
        If one is not; the message names the option.
    """
    for name in names:
        value = getattr(settings, name)
        if not (low <= value <= high and math.isfinite(value)):
            right = f"from {low} to {high}" if math.isfinite(high) else f"at least {low}"
            raise ValueError(f"{_option(name)} is {value}; it must be {right}")


def check_layers(settings: Any, name: str) -> None:
    """Check that a setting, by its name, tells the units of at least one layer.

    Raises
    ------
    ValueError
        If it does not; the message names the option.
    """
    units = getattr(settings, name)
    if not units or not 1 <= min(units) <= max(units) <= 16384:
        raise ValueError(f"{_option(name)} is {units}; it must name at least one layer, each of 1 to 16384 units")


def _option(name: str) -> str:
    """How a setting is called on the command line."""
    return f"--{name.replace('_', '-')}"
