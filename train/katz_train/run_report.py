"""What a run leaves for people: its settings and versions, a table of the final measurement, and the learning curve."""

from __future__ import annotations

import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import matplotlib
from rich.console import Console
from rich.table import Table

from katz_agents.intervals import Interval
from katz_env import Game, make_agent
from katz_train.run_directory import write_file

matplotlib.use("Agg")
from matplotlib import pyplot

Measured = dict[str, Interval]
"""By opponent: the win share and its 95 % interval."""

PACKAGES = ("katz_env", "numpy", "numba", "torch", "stable-baselines3", "sb3-contrib", "gymnasium")


def write_settings(settings: dict[str, Any], folder: Path) -> None:
    """Write ``settings.json``: the settings and the versions of what they ran with."""
    versions = {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}
    text = json.dumps({"settings": settings, "versions": versions}, indent=2)
    write_file(folder / "settings.json", lambda path: path.write_text(text + "\n", encoding="utf-8"))


def write(
    found: Measured, curve: list[dict[str, float]], seconds: tuple[float, float], game: Game, deals: int, folder: Path
) -> None:
    """Print the final measurement; write ``evaluation.json`` and ``learning_curve.png``.

    Parameters
    ----------
    found
        The measurement.
    curve
        The evaluations during the run, see `TrainingCallback`, and this one.
    seconds
        How long the training took, and the processor time of it.
    game, deals, folder
        What was measured, and where to write.
    """
    table = Table(title=f"the trained policy, {deals} deals from each of {game.num_players} seats")
    for heading in ("against", "win share", "95 % interval", "fair share"):
        table.add_column(heading, justify="left" if heading == "against" else "right")
    fair, others = 1 / game.num_players, game.num_players - 1
    for name, (share, low, high) in found.items():
        table.add_row(f"{others} x {name}", f"{share:.3f}", f"{low:.3f} to {high:.3f}", f"{fair:.3f}")
    Console().print(table)
    print(f"training took {seconds[0] / 60:.1f} minutes, {seconds[1] / 60:.1f} minutes of processor time")
    against = {
        name: {"version": make_agent(name).version, "win_share": share, "low": low, "high": high}
        for name, (share, low, high) in found.items()
    }
    result = {"deals": deals, "fair_share": fair, "against": against, "curve": curve}
    result |= {"seconds": round(seconds[0], 1), "cpu_seconds": round(seconds[1], 1)}
    text = json.dumps(result, indent=2) + "\n"
    write_file(folder / "evaluation.json", lambda path: path.write_text(text, encoding="utf-8"))
    write_file(folder / "learning_curve.png", lambda path: draw_curve(curve, game, path))


def draw_curve(curve: list[dict[str, float]], game: Game, path: Path) -> None:
    """The win shares of the evaluations over the learner's decisions."""
    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    steps = [point["steps"] / 1e6 for point in curve]
    for name in curve[-1]:
        if name != "steps":
            label = "the pool" if name == "pool" else f"{game.num_players - 1} x {name}"
            shares = [point.get(name, float("nan")) for point in curve]
            axes.plot(steps, shares, "--" if name == "pool" else "-", marker=".", label=label)
    axes.axhline(1 / game.num_players, color="grey", linewidth=0.8, linestyle=":", label="fair share")
    axes.set(xlabel="decisions of the learner, millions", ylabel="win share", ylim=(0, 1), title=f"{game.num_players} players")
    axes.grid(alpha=0.3)
    axes.set_xlim(left=0)
    figure.legend(loc="outside right upper")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
