"""Baseline agents for katz_env, which see nothing but a `katz_env.View`, and tournaments between them."""

from katz_agents.paired import Comparison, compare
from katz_agents.tournament import Results, evaluate

__all__ = ["Comparison", "Results", "compare", "evaluate"]
