"""The stock race Katz und Maus: its rules, actions, observations and compiled engine."""

from katz_env.games.katz_und_maus.actions import ActionTable
from katz_env.games.katz_und_maus.game import KatzUndMaus
from katz_env.games.katz_und_maus.rules import Rules

__all__ = ["ActionTable", "KatzUndMaus", "Rules"]
