"""The auction game Katzenjammer Blues: its rules, actions, observations and compiled engine."""

from katz_env.games.katzenjammer.actions import ActionTable
from katz_env.games.katzenjammer.game import Katzenjammer
from katz_env.games.katzenjammer.rules import Rules

__all__ = ["ActionTable", "Katzenjammer", "Rules"]
