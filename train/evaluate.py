"""Compare agents in a tournament: ``python train/evaluate.py random greedy search --deals 200``."""

from __future__ import annotations

import json
import math
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import tyro
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from katz_agents.tournament import Interval, Results, evaluate
from katz_env.cli import run_command
from tournament_pictures import draw_pairs, draw_ratings


@dataclass
class Settings:
    """Compare agents: every line-up plays the same deals in every rotation of the seats."""

    agents: tyro.conf.Positional[tuple[str, ...]]
    """Agents by name, with settings after a colon: search:playouts=2000, policy:path/to/file.npz. At least one for each seat;
    a name given twice fills two places of a line-up."""
    num_players: int = 3
    """2 to 6."""
    deals: int = 500
    """Different deals; each is played by every line-up, once in every rotation."""
    seed: int = 0
    """The same seed gives the same results."""
    out: Path | None = None
    """A folder for results.json, standings.md, games.jsonl, ratings.png and pairs.png."""
    max_line_ups: int = 100
    """If the agents make more line-ups, so many are drawn at random."""
    force: bool = False
    """Write into the folder even if it holds results already."""


def shown(interval: Interval, digits: int = 3) -> str:
    """A mean with its interval."""
    mean, low, high = interval
    return "-" if math.isnan(mean) else f"{mean:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


Rows = list[list[str]]


def standings(results: Results) -> tuple[Rows, Rows]:
    """The standings, best first, and who beats whom; the first row of each holds the headings."""
    ratings = results.ratings()
    players = sorted(range(len(results.names)), key=lambda player: -results.mean("win_share", player)[0])
    table = [["agent", "win share (95 %)", "score (95 %)", "mice", "jokers", "rating", "decisions", "ms each"]]
    for player in players:
        mu, sigma = ratings[player]
        table.append(
            [
                results.names[player],
                shown(results.mean("win_share", player)),
                shown(results.mean("score", player), 2),
                f"{results.mean('mice', player)[0]:.2f}",
                f"{results.mean('jokers', player)[0]:.2f}",
                f"{mu:z.1f} ± {sigma:.1f}",
                f"{results.decisions[player]:,}",
                f"{1000 * results.seconds[player] / max(1, results.decisions[player]):.4f}",
            ]
        )
    pairs = [["against", *(results.names[other] for other in players)]]
    for player in players:
        cells = ["" if player == other else shown(results.pair(player, other), 2) for other in players]
        pairs.append([results.names[player], *cells])
    return table, pairs


def captions(results: Results) -> tuple[str, str]:
    """What stands above the two tables."""
    games = results.deals * len(results.line_ups) * results.num_players
    return (
        f"{games:,} games of {results.num_players} players; fair share {1 / results.num_players:.3f}",
        "of the wins of two agents at one table, the part of the agent on the left (95 %)",
    )


def report(results: Results, console: Console) -> None:
    """Print both tables; who beats whom only if there are two agents."""
    for caption, (headings, *rows) in zip(captions(results), standings(results), strict=True):
        if len(rows) == 1 and headings[0] == "against":
            continue
        table = Table(title=caption)
        for heading in headings:
            table.add_column(heading, justify="right" if table.columns else "left")
        for row in rows:
            table.add_row(*row)
        console.print(table)


def markdown(results: Results) -> str:
    """Both tables in Markdown."""
    parts = []
    for caption, (headings, *rows) in zip(captions(results), standings(results), strict=True):
        lines = [headings, ["---"] + ["---:"] * (len(headings) - 1), *rows]
        parts.append(f"{caption[0].upper()}{caption[1:]}:\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines))
    return "\n".join(parts)


def write(results: Results, folder: Path) -> None:
    """Write everything into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(results.to_json(), indent=2) + "\n", encoding="utf-8")
    (folder / "games.jsonl").write_text("".join(json.dumps(game) + "\n" for game in results.games), encoding="utf-8")
    (folder / "standings.md").write_text(markdown(results), encoding="utf-8")
    draw_ratings(results, folder / "ratings.png")
    draw_pairs(results, folder / "pairs.png")


def check_folder(folder: Path) -> None:
    """ValueError if nothing can be written into a folder, which may not be there yet."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise ValueError(f"cannot write into {folder}: {there} is {'read-only' if there.is_dir() else 'not a folder'}")


def run(settings: Settings) -> int:
    """Play, print and write; the exit code is 130 after Ctrl-C."""
    if settings.out and (settings.out / "results.json").exists() and not settings.force:
        raise ValueError(f"{settings.out} holds results already; use --force to overwrite them, or another --out")
    if settings.out:  # before the games: if they cannot be kept, better not to play them
        check_folder(settings.out)
    with tqdm(unit="game", disable=None) as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        results = evaluate(
            settings.agents,
            settings.num_players,
            settings.deals,
            settings.seed,
            max_line_ups=settings.max_line_ups,
            keep_games=settings.out is not None,
            progress=progress,
        )
    if results.interrupted:
        print(f"interrupted: these are the first {results.deals} of {settings.deals} deals", file=sys.stderr)
    console = Console(width=None if sys.stdout.isatty() else 200)
    report(results, console)
    if settings.out:
        write(results, settings.out)
        print(f"written to {settings.out}: results.json, standings.md, games.jsonl, ratings.png, pairs.png")
    return 130 if results.interrupted else 0


def main() -> None:
    """Read the settings from the command line and play."""
    settings = tyro.cli(Settings, prog="python train/evaluate.py", description=__doc__)
    sys.exit(run_command(lambda: run(settings), "train/evaluate.py"))


if __name__ == "__main__":
    main()
