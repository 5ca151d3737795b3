"""The trick-taking game Meow: its rules, actions, observations and compiled engine."""

from katz_env.games.meow.game import Meow
from katz_env.games.meow.rules import Rules

__all__ = ["Meow", "Rules"]
