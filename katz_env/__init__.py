"""katz_env: a reinforcement-learning environment for the auction card game Katzenjammer Blues.

`Tables` steps thousands of tables at once in NumPy arrays; ``katzenjammer_v0.env()`` is the PettingZoo environment;
``gymnasium.make("katz_env/Katzenjammer-v0")`` opens one seat among scripted players.
"""

from __future__ import annotations

import katz_env.core.code_folder  # noqa: F401  # isort: skip  # before anything is compiled

from typing import Any

import gymnasium
import pettingzoo

from katz_env import katzenjammer_v0
from katz_env.core.agents import Agent, View, agent_names, make_agent
from katz_env.core.arena import Arena
from katz_env.core.game import Game, Part, named
from katz_env.core.single import SingleEnv
from katz_env.core.tables import Tables
from katz_env.core.vector import GameVectorEnv
from katz_env.katzenjammer import ActionTable, Katzenjammer, Rules

__version__ = "0.1.0"

__all__ = [
    "GAMES",
    "ActionTable",
    "Agent",
    "Arena",
    "Game",
    "Katzenjammer",
    "Part",
    "Rules",
    "Tables",
    "View",
    "agent_names",
    "katzenjammer_v0",
    "make_agent",
    "named",
]


GAMES: dict[str, type[Game]] = {Katzenjammer.name: Katzenjammer}
"""The games by the name that stands in their records."""


def _single(num_players: int = 3, mice: int | None = None, **settings: Any) -> SingleEnv:
    rules, rest = _split(settings)
    return SingleEnv(Katzenjammer(num_players, mice, **rules), **rest)


def _vector(num_envs: int = 1, num_players: int = 3, mice: int | None = None, **settings: Any) -> GameVectorEnv:
    rules, rest = _split(settings)
    return GameVectorEnv(Katzenjammer(num_players, mice, **rules), num_envs, **rest)


def _split(settings: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of the rules, and the settings of the environment."""
    environment = {"opponents", "seat", "reward", "render_mode", "num_threads"}
    rest = {name: settings.pop(name) for name in list(settings) if name in environment}
    return settings, rest


gymnasium.register(
    "katz_env/Katzenjammer-v0",
    entry_point="katz_env:_single",
    vector_entry_point="katz_env:_vector",
)
if "katz_env/katzenjammer-v0" not in pettingzoo.aec_registry:  # PettingZoo warns when a module is imported again
    pettingzoo.register("aec", "katz_env/katzenjammer_v0", entry_point="katz_env.katzenjammer_v0:env")
