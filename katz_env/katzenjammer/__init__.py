"""The auction game Katzenjammer Blues: rules, actions, observation and the compiled engine."""

from katz_env.katzenjammer.actions import ActionTable
from katz_env.katzenjammer.game import Katzenjammer
from katz_env.katzenjammer.rules import Rules

__all__ = ["ActionTable", "Katzenjammer", "Rules"]
