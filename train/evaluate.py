"""Compare agents in a tournament: ``python train/evaluate.py random greedy search --deals 200``.

With ``--against`` two agents play in the same seats of the same deals, and do not meet:
``python train/evaluate.py ppo heuristic --against search``.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # python -I leaves it out

from katz_train import startup

if __name__ == "__main__":
    startup.begin("train/evaluate.py")

import json
import math
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import tyro
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from katz_agents.intervals import Interval
from katz_agents.paired import Comparison, compare
from katz_agents.tournament import Results, evaluate
from katz_env.command_line import check_at_least, game_from
from katz_train.interrupts import Interrupted, Interrupts, run_script
from katz_train.run_directory import write_file
from katz_train.tournament_pictures import draw_pairs, draw_ratings


@dataclass
class Settings:
    """Compare agents: every line-up plays the same deals in every rotation of the seats.

    With --against, two agents are compared that do not meet: each plays the same deals from every seat against the same others.
    """

    agents: tyro.conf.Positional[tuple[str, ...]]
    """Agents by name, with settings after a colon: search:playouts=2000, policy:path/to/file.npz. At least one for each seat;
    a name given twice fills two places of a line-up. With --against exactly two."""
    against: tuple[str, ...] = ()
    """Compare two agents against these in the other seats: one name for all of them, or one for each."""
    game: str = "katzenjammer"
    """The game, by name."""
    num_players: int | None = None
    """Seats; by default as many as the game has by default."""
    rules: tuple[str, ...] = ()
    """Other settings of the game's rules, each as KEY=VALUE, such as mice=15."""
    deals: int = 500
    """Different deals; each is played by every line-up, once in every rotation."""
    seed: int | None = None
    """The same seed gives the same results; by default one is drawn, and told with the results."""
    out: Path | None = None
    """A folder for results.json, games.jsonl, standings.md, ratings.png and pairs.png; with --against for comparison.json."""
    max_line_ups: int = 100
    """If the agents make more line-ups, so many are drawn at random."""
    force: bool = False
    """Write into the folder even if it holds results already."""


def shown(interval: Interval, digits: int = 3, sign: str = "-") -> str:
    """A mean with its interval; differences have the sign "+", so that they always show one."""
    if math.isnan(interval[0]):
        return "-"
    mean, low, high = (f"{value:{sign}.{digits}f}" for value in interval)
    return f"{mean} ({low} to {high})"


Rows = list[list[str]]


def standings(results: Results) -> tuple[Rows, Rows]:
    """The standings, best first, and who beats whom; the first row of each holds the headings."""
    ratings = results.ratings()
    players = sorted(range(len(results.names)), key=lambda player: -results.mean("win_share", player)[0])
    others = [measure for measure in results.outcomes if measure not in ("win_share", "score")]
    table = [["agent", "win share (95 %)", "score (95 %)", *others, "rating", "decisions", "ms each"]]
    for player in players:
        mu, sigma = ratings[player]
        table.append(
            [
                results.names[player],
                shown(results.mean("win_share", player)),
                shown(results.mean("score", player), 2),
                *(f"{results.mean(measure, player)[0]:.2f}" for measure in others),
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
        f"{games:,} games of {results.num_players} players; fair share {1 / results.num_players:.3f}; seed {results.seed}",
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


def report_comparison(results: Comparison, console: Console) -> None:
    """Print the win shares and scores of both agents and their differences."""
    games, others = 2 * results.deals * results.num_players, ", ".join(dict.fromkeys(results.against))
    table = Table(title=f"{games:,} games of {results.num_players} players against {others}; seed {results.seed}")
    for heading in ("agent", "win share (95 %)", "score (95 %)"):
        table.add_column(heading, justify="right" if table.columns else "left")
    for agent, name in enumerate(results.names):
        table.add_row(name, shown(results.mean("win_share", agent)), shown(results.mean("score", agent), 2))
    table.add_section()
    difference = shown(results.difference("win_share"), sign="+"), shown(results.difference("score"), 2, "+")
    table.add_row("the first less the second", *difference)
    console.print(table)


def markdown(results: Results) -> str:
    """Both tables in Markdown."""
    parts = []
    for caption, (headings, *rows) in zip(captions(results), standings(results), strict=True):
        lines = [headings, ["---"] + ["---:"] * (len(headings) - 1), *rows]
        parts.append(f"{caption[0].upper()}{caption[1:]}:\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines))
    return "\n".join(parts)


FILES = ("results.json", "games.jsonl", "standings.md", "ratings.png", "pairs.png")
FILE_OF_COMPARISON = "comparison.json"


def write(results: Results | Comparison, folder: Path) -> None:
    """Write everything into a folder; ValueError that names the file if one cannot be written."""

    def text(name: str, content: str) -> None:
        write_file(folder / name, lambda path: path.write_text(content, encoding="utf-8"))

    if isinstance(results, Comparison):
        text(FILE_OF_COMPARISON, json.dumps(results.to_json(), indent=2) + "\n")
        return
    text("results.json", json.dumps(results.to_json(), indent=2) + "\n")
    text("games.jsonl", "".join(json.dumps(game) + "\n" for game in results.games))
    text("standings.md", markdown(results))
    write_file(folder / "ratings.png", lambda path: draw_ratings(results, path))
    write_file(folder / "pairs.png", lambda path: draw_pairs(results, path))


def check_writable(folder: Path, names: Sequence[str], force: bool) -> None:
    """Make a folder and write into it; ValueError if that fails, it holds results, or something in it would be in the way."""
    if (folder / names[0]).is_file() and not force:
        raise ValueError(f"{folder} holds results already; use --force to overwrite them, or another --out")
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise ValueError(f"cannot write into {folder}: {there} is not a folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(100_000))  # about as much as will be written: a full disk shows here
    except OSError as error:
        raise ValueError(f"cannot write into {folder}: {error.strerror}") from None
    for name in names:
        if (folder / name).is_dir():
            raise ValueError(f"cannot write {folder / name}: it is a folder")


def run(settings: Settings, interrupts: Interrupts) -> int:
    """Play, print and write; the exit code is 130 if a signal came before the end: then for the deals that were played."""
    game = game_from(settings.game, settings.num_players, settings.rules)
    check_at_least(settings, deals=2, max_line_ups=1)
    names = (FILE_OF_COMPARISON,) if settings.against else FILES
    if settings.against and len(settings.agents) != 2:
        raise ValueError(f"--against compares 2 agents; {len(settings.agents)} are named")
    if settings.out:  # before the games: what cannot be kept need not be played
        check_writable(settings.out, names, settings.force)
    results: Results | Comparison | None = None
    with tqdm(unit="game", disable=None) as bar, suppress(Interrupted), interrupts.abandonable():

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        deals, seed = settings.deals, settings.seed
        if settings.against:
            first, second = settings.agents
            results = compare(first, second, settings.against, deals=deals, seed=seed, game=game, progress=progress)
        else:
            results = evaluate(
                settings.agents,
                deals=deals,
                seed=seed,
                game=game,
                max_line_ups=settings.max_line_ups,
                keep_games=settings.out is not None,
                progress=progress,
            )
    if results is None:
        print("interrupted before the first deals were finished: there is nothing to keep", file=sys.stderr)
        return 130
    if results.interrupted:
        print(f"interrupted: these are the first {results.deals} of {settings.deals} deals", file=sys.stderr)
    console = Console(width=None if sys.stdout.isatty() else 200)
    if isinstance(results, Comparison):
        report_comparison(results, console)
    else:
        report(results, console)
    if settings.out:
        write(results, settings.out)
        print(f"written to {settings.out}: {', '.join(names)}")
    return 130 if results.interrupted else 0


def main() -> None:
    """Read the settings from the command line and play."""
    settings = tyro.cli(Settings, prog="python train/evaluate.py")
    run_script(lambda interrupts: run(settings, interrupts), "train/evaluate.py")


if __name__ == "__main__":
    main()
