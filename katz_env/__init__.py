"""katz_env: reinforcement-learning environments of card games with hidden information, such as Katzenjammer Blues.

`Tables` steps thousands of tables at once in NumPy arrays, ``katzenjammer_v0.env()`` is a PettingZoo environment, and
``gymnasium.make("katz_env/Katzenjammer-v0")`` opens one seat among scripted players.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import pettingzoo

from katz_env import katzenjammer_v0
from katz_env.core.agents import Agent, Decision, View, agent_names, make_agent
from katz_env.core.arena import Arena
from katz_env.core.compiled_agents import CompiledAgent
from katz_env.core.fields import Field, named_fields
from katz_env.core.game import Game
from katz_env.core.gym_env import SingleEnv
from katz_env.core.gym_vector_env import GameVectorEnv
from katz_env.core.registry import game_names, make_game
from katz_env.core.tables import Tables
from katz_env.games.katzenjammer import ActionTable, Katzenjammer, Rules

__version__ = "0.1.0"

__all__ = [
    "ActionTable",
    "Agent",
    "Arena",
    "CompiledAgent",
    "Decision",
    "Field",
    "Game",
    "Katzenjammer",
    "Rules",
    "Tables",
    "View",
    "agent_names",
    "game_names",
    "katzenjammer_v0",
    "make_agent",
    "make_game",
    "named_fields",
]


def _single(game: type[Game] = Katzenjammer, **settings: Any) -> SingleEnv:
    rules, rest = _split(settings)
    return SingleEnv(game(**rules), **rest)


def _vector(game: type[Game] = Katzenjammer, num_envs: int = 1, **settings: Any) -> GameVectorEnv:
    rules, rest = _split(settings)
    return GameVectorEnv(game(**rules), num_envs, **rest)


def _split(settings: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split keyword arguments into the options of the rules and the settings of the environment."""
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
