"""katz_env: reinforcement-learning environments of card games with hidden information, such as Katzenjammer Blues.

`Tables` steps thousands of tables at once in NumPy arrays, ``katzenjammer_v0.env()`` is a PettingZoo environment, and
``gymnasium.make("katz_env/Katzenjammer-v0")`` opens one seat among scripted players.
"""

from __future__ import annotations

import inspect
from typing import Any

from katz_env.core.versions import check_versions

check_versions()  # before anything is imported that a wrong version would break

import gymnasium
import pettingzoo

from katz_env import katz_und_maus_v0, katzenjammer_v0, meow_v0, sb3
from katz_env.core.agents import Agent, Decision, View, agent_names, make_agent
from katz_env.core.arena import Arena
from katz_env.core.compiled_agents import CompiledAgent
from katz_env.core.fields import Field, named_fields
from katz_env.core.game import Game
from katz_env.core.gym_env import SingleEnv
from katz_env.core.gym_vector_env import GameVectorEnv
from katz_env.core.registry import game_class, game_names, make_game
from katz_env.core.self_play import Credits, Finished, SelfPlay
from katz_env.core.tables import Tables
from katz_env.core.validation import check_keywords
from katz_env.games.katz_und_maus import KatzUndMaus
from katz_env.games.katzenjammer import ActionTable, Katzenjammer, Rules
from katz_env.games.meow import Meow

__version__ = "0.1.0"

__all__ = [
    "ActionTable",
    "Agent",
    "Arena",
    "CompiledAgent",
    "Credits",
    "Decision",
    "Field",
    "Finished",
    "Game",
    "KatzUndMaus",
    "Katzenjammer",
    "Meow",
    "Rules",
    "SelfPlay",
    "Tables",
    "View",
    "agent_names",
    "game_names",
    "katz_und_maus_v0",
    "katzenjammer_v0",
    "make_agent",
    "make_game",
    "meow_v0",
    "named_fields",
    "sb3",
]


def _single(game: str, **settings: Any) -> SingleEnv:
    """Make an environment with one table; Gymnasium calls this."""
    return _made(SingleEnv, game, settings)


def _vector(game: str, **settings: Any) -> GameVectorEnv:
    """Make an environment with many tables; Gymnasium calls this."""
    return _made(GameVectorEnv, game, settings)


def _made(kind: Any, game: str, settings: dict[str, Any]) -> Any:
    """Make an environment from its own settings and those of the rules; TypeError about an unknown one names all known ones."""
    own = [name for name in inspect.signature(kind).parameters if name != "game"]
    rules = list(game_class(game).setting_names())
    check_keywords(kind.__name__, settings, [*rules, *own])
    rest = {name: settings.pop(name) for name in list(settings) if name in own}
    return kind(make_game(game, **settings), **rest)


def _register(game: str, title: str) -> None:
    """Register the environments of a game: ``katz_env/{title}-v0`` with Gymnasium, ``katz_env/{game}_v0`` with PettingZoo."""
    gymnasium.register(
        f"katz_env/{title}-v0",
        entry_point="katz_env:_single",
        vector_entry_point="katz_env:_vector",
        kwargs={"game": game},
    )
    registry = getattr(pettingzoo, "aec_registry", None)  # only versions from 1.27 on have one
    if registry is not None and f"katz_env/{game}-v0" not in registry:  # PettingZoo warns when a module is imported again
        pettingzoo.register("aec", f"katz_env/{game}_v0", entry_point=f"katz_env.{game}_v0:env")


_register("katzenjammer", "Katzenjammer")
_register("meow", "Meow")
_register("katz_und_maus", "KatzUndMaus")
