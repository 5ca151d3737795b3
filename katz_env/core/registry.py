"""The registry of games and agents, which packages add by name through entry points."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from katz_env.core.game import Game
from katz_env.core.validation import check_keywords

GAMES = "katz_env.games"
"""The entry-point group of games; an entry names a subclass of `Game`."""

AGENTS = "katz_env.agents"
"""The entry-point group of agents; an entry names a class or a function that returns an `Agent`."""


def names_in(group: str) -> list[str]:
    """Return the names in an entry-point group, sorted."""
    return sorted({point.name for point in entry_points(group=group)})


def load(group: str, what: str, name: str) -> Any:
    """Load an entry point by its name.

    Parameters
    ----------
    group
        The entry-point group.
    what
        What the group contains, such as ``"agent"``, for error messages.
    name
        The name of the entry.

    Raises
    ------
    ValueError
        If no package has an entry of this name, or several have, or the object that it names cannot be imported.
    """
    found = _distinct(point for point in entry_points(group=group) if point.name == name)
    if not found:
        raise ValueError(f"there is no {what} {name!r}; installed are {', '.join(names_in(group)) or 'none'}")
    if len(found) > 1:
        packages = " and ".join(sorted(_package_of(point) for point in found))
        raise ValueError(f"the {what} {name!r} is in several packages: {packages}; uninstall one, or have it use another name")
    try:
        return found[0].load()
    except (Exception, SystemExit) as error:  # an import may raise anything
        said = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"the {what} {name!r} of the package {_package_of(found[0])} cannot be loaded: {said}") from error


def _distinct(points: Iterable[EntryPoint]) -> list[EntryPoint]:
    """Return the entry points without duplicates, which occur when a package is found twice on the path."""
    return list({(_package_of(point), point.value): point for point in points}.values())


def _package_of(point: EntryPoint) -> str:
    name = point.dist.name if point.dist is not None else None
    return name or point.value.partition(":")[0]  # the metadata of a package that is just being installed has no name


def game_names() -> list[str]:
    """Return the names of all installed games, sorted."""
    return names_in(GAMES)


def game_class(name: Any) -> type[Game]:
    """Return the class of a game.

    Raises
    ------
    ValueError
        If there is no game of this name (the message lists the installed ones), or the entry is not a game.
    """
    if not isinstance(name, str):
        raise ValueError(f"the name of a game must be a string, not {name!r}; installed are {', '.join(game_names())}")
    found = _loaded_game(name)
    if not (isinstance(found, type) and issubclass(found, Game)):
        raise ValueError(f"what is installed as the game {name!r} is {found!r}, not a subclass of katz_env.Game")
    if getattr(found, "name", None) != name:
        raise ValueError(f"what is installed as the game {name!r} calls itself {getattr(found, 'name', None)!r}")
    return found


@functools.cache
def _loaded_game(name: str) -> Any:
    return load(GAMES, "game", name)


def make_game(name: str, **settings: Any) -> Game:
    """Make a game by its name.

    Parameters
    ----------
    name
        The name of the game, such as ``"katzenjammer"``.
    **settings
        The settings of the game, such as ``num_players=3``.

    Raises
    ------
    ValueError
        If there is no such game, or a setting is out of its range.
    TypeError
        If a setting is unknown.
    """
    game = game_class(name)
    check_keywords(game.__name__, settings, game.setting_names())
    return game(**settings)
