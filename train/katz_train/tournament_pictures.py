"""Pictures of a tournament: ratings with error bars, and who beats whom."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from katz_agents.tournament import Results

LONGEST = 30  # letters of a name; the path of a policy may be longer than a picture is wide


def _order(results: Results) -> list[int]:
    return sorted(range(len(results.names)), key=lambda player: -results.mean("win_share", player)[0])


def _label(name: str) -> str:
    return name if len(name) <= LONGEST else "…" + name[1 - LONGEST :]


def draw_ratings(results: Results, path: Path) -> None:
    """Skill of every player with two standard deviations, and win share with its interval, best on top."""
    players = _order(results)[::-1]
    ratings = results.ratings()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 1.4 + 0.5 * len(players)), sharey=True, layout="constrained")
    places = np.arange(len(players))
    means = [ratings[player][0] for player in players]
    left.errorbar(means, places, xerr=[2 * ratings[player][1] for player in players], fmt="o", capsize=4, color="#1f5fa8")
    left.set_yticks(places, [_label(results.names[player]) for player in players])
    left.set_xlabel("rating (openskill Plackett-Luce), ± 2 standard deviations")
    shares = [results.mean("win_share", player) for player in players]
    errors = np.array([[mean - low, high - mean] for mean, low, high in shares]).T
    right.errorbar([share[0] for share in shares], places, xerr=errors, fmt="o", capsize=4, color="#1f5fa8")
    right.axvline(1 / results.num_players, color="#b3541e", linestyle="--", label="fair share")
    right.set_xlabel("win share, 95 % interval")
    right.legend(loc="lower right")
    for axes in (left, right):
        axes.grid(axis="x", alpha=0.3)
        axes.set_ylim(-0.6, len(players) - 0.4)
    figure.suptitle(f"{results.num_players} players, {results.deals} deals, {len(results.line_ups)} line-ups")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def draw_pairs(results: Results, path: Path) -> None:
    """Of the wins of two players at one table, the part of the player on the left."""
    players = _order(results)
    matrix = np.array([[np.nan if a == b else results.pair(a, b)[0] for b in players] for a in players])
    names = [_label(results.names[player]) for player in players]
    size = 2.6 + 0.9 * len(players)
    figure, axes = plt.subplots(figsize=(size + 1, size), layout="constrained")
    image = axes.imshow(matrix, cmap="RdBu", vmin=0, vmax=1)
    axes.set_xticks(range(len(players)), names, rotation=30, ha="right")
    axes.set_yticks(range(len(players)), names)
    for i, j in np.ndindex(matrix.shape):
        if not np.isnan(matrix[i, j]):
            color = "white" if abs(matrix[i, j] - 0.5) > 0.3 else "black"
            axes.text(j, i, f"{matrix[i, j]:.2f}", ha="center", va="center", color=color)
    axes.set_xlabel("against")
    axes.set_title(f"{results.num_players} players, {results.deals} deals")
    figure.colorbar(image, ax=axes, shrink=0.8, label="the part of the agent on the left in the wins of both")
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)
