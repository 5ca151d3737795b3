"""Collect the learning curves of training runs as data, and draw them: ``python train/learning_curves.py RUN RUN ...``.

Every game and number of players has a file ``docs/curves/GAME-PLAYERS.csv``. A row is one measurement of one run: the
program, its seed, the decisions learned from so far, the opponent in all other seats, and the win share. Runs that are given
take the place of those with the same program and seed; without any, the pictures are drawn again from the files.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # python -I leaves it out

from katz_train import startup

if __name__ == "__main__":
    startup.begin("train/learning_curves.py")

import csv
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import matplotlib
import tyro

from katz_env.command_line import game_from, run_command

matplotlib.use("Agg")
from matplotlib import pyplot

DRAWN = ("greedy", "heuristic")
"""The opponents that have a panel."""


@dataclass
class Settings:
    """Collect the learning curves of runs, and draw them."""

    runs: tyro.conf.Positional[tuple[Path, ...]] = ()
    """Run directories of train/ppo.py and train/ppo_simple.py that came to their end."""
    out: Path = Path(__file__).parent.parent / "docs" / "curves"
    """The folder of the files and pictures."""


class Point(NamedTuple):
    """One measurement of one run."""

    program: str
    """The script, and that it did not imitate if it could have."""
    seed: int
    decisions: int
    opponent: str
    win_share: float


def points_of(run: Path) -> tuple[str, list[Point]]:
    """The name of the file that a run belongs to, such as ``meow-3``, and the measurements of the run.

    Raises
    ------
    ValueError
        If it is no run directory, or the run has not come to its end.
    """
    try:
        settings = json.loads((run / "settings.json").read_text(encoding="utf-8"))["settings"]
        game = game_from(settings["game"], settings["num_players"], tuple(settings["rules"]))
        if (run / "curve.csv").exists():
            program, lines = "ppo_simple.py", (run / "curve.csv").read_text(encoding="utf-8").splitlines()
            curve = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(lines)]
        else:
            program = "ppo.py" if settings["imitation_steps"] else "ppo.py --imitation-steps 0"
            curve = json.loads((run / "evaluation.json").read_text(encoding="utf-8"))["curve"]
        points = [
            Point(program, int(settings["seed"]), int(point["steps"]), name, round(share, 4))
            for point in curve
            for name, share in point.items()
            if name not in ("steps", "pool")
        ]
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{run} is no directory of a run that came to its end: {error}") from None
    return f"{game.name}-{game.num_players}", points


def read(path: Path) -> list[Point]:
    """The measurements in a file."""
    with path.open(encoding="utf-8", newline="") as lines:
        return [
            Point(row["program"], int(row["seed"]), int(row["decisions"]), row["opponent"], float(row["win_share"]))
            for row in csv.DictReader(lines)
        ]


def write(path: Path, points: Iterable[Point]) -> None:
    """Write measurements to a file, sorted."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Point._fields)
        writer.writerows(sorted(points))


def draw(path: Path, points: list[Point]) -> None:
    """Draw the win shares over the decisions, a panel for each opponent and a line for each run."""
    game, players = path.stem.rsplit("-", 1)
    figure, panels = pyplot.subplots(1, len(DRAWN), figsize=(10, 4), sharey=True, layout="constrained")
    colours = {program: f"C{i}" for i, program in enumerate(sorted({point.program for point in points}))}
    for axes, opponent in zip(panels, DRAWN, strict=True):
        for program, seed in sorted({(point.program, point.seed) for point in points}):
            run = [p for p in points if (p.program, p.seed, p.opponent) == (program, seed, opponent)]
            label = program if seed == min(p.seed for p in points if p.program == program) else None
            line = [point.decisions / 1e6 for point in run], [point.win_share for point in run]
            axes.plot(*line, marker=".", color=colours[program], label=label, alpha=0.8)
        axes.axhline(1 / int(players), color="grey", linewidth=0.8, linestyle=":", label="fair share")
        axes.set(xlabel="decisions, millions", title=f"all others {opponent}", ylim=(0, 1))
        axes.set_xlim(left=0)
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("win share")
    panels[-1].legend()
    figure.suptitle(f"{game}, {players} players: every line is one seed")
    figure.savefig(path, dpi=100)
    pyplot.close(figure)


def collect(settings: Settings) -> int:
    """Add the runs to the files, and draw all of them; returns the exit code."""
    found: dict[str, list[Point]] = {}
    for run in settings.runs:
        name, points = points_of(run)
        found.setdefault(name, []).extend(points)
    settings.out.mkdir(parents=True, exist_ok=True)
    for name, points in found.items():
        path = settings.out / f"{name}.csv"
        new = {(point.program, point.seed) for point in points}
        kept = [point for point in (read(path) if path.exists() else []) if (point.program, point.seed) not in new]
        write(path, kept + points)
    for path in sorted(settings.out.glob("*.csv")):
        draw(path.with_suffix(".png"), read(path))
        print(f"written: {path} and its picture")
    return 0


if __name__ == "__main__":
    settings = tyro.cli(Settings, prog="python train/learning_curves.py", description=__doc__)
    sys.exit(run_command(lambda: collect(settings), "train/learning_curves.py"))
