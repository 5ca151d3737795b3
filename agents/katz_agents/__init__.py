"""Baseline players for katz_env, one file each, all of which see only a `katz_env.View`; and tournaments between them."""

from katz_agents.tournament import Results, evaluate

__all__ = ["Results", "evaluate"]
