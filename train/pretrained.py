"""Train a player that is shipped with the project anew: ``python train/pretrained.py 3``.

Imitates, then trains by self-play (Ctrl-C stops, the same command goes on), measures against scripted players, fits the
networks for `policy_search`, and writes the network and its model card into ``agents/katz_agents/pretrained/GAME``, and the
table of README.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # python -I leaves it out

from katz_train import startup

if __name__ == "__main__":
    startup.begin("train/pretrained.py")

import json
import re
import shutil
from dataclasses import dataclass
from typing import Any

import numpy as np
import tyro

import fit_estimates
import ppo
from katz_agents.policy import Policy
from katz_agents.pretrained import FOLDER, Ppo, pretrained_path
from katz_env.command_line import check_none_or_at_least
from katz_train.interrupts import Interrupted, Interrupts, run_script
from katz_train.ppo_settings import PpoSettings
from katz_train.run_directory import CHECKPOINT, write_file

STEPS = {"katzenjammer": {2: 30_000_000, 3: 130_000_000, 4: 115_000_000}, "meow": {2: 20_000_000, 3: 20_000_000, 4: 20_000_000}}
"""Decisions of the learner, by game and number of players."""
ESTIMATE_HIDDEN = {
    "katzenjammer": dict.fromkeys((2, 3, 4), (256, 128)),
    "meow": {2: (128, 64), 3: (128, 64), 4: (64, 64)},
}
"""Units of the networks for searches, by game and number of players: where inputs are many, fewer keep the file small."""
LEARNING_RATE = 7e-4
"""Lower than the default of short runs: see `docs/training.md`."""
PRETRAINED_CODE = "agents/katz_agents/pretrained/__init__.py"
README = Path(__file__).parent.parent / "README.md"

CARD = """# ppo for {n} players

A policy for the game `{game}` with {n} players and its default rules: a multi-layer perceptron with hidden layers of
{layers} units and tanh, from the observation to a logit for each action. It plays the legal action of the largest logit (`ppo`)
or draws from the softmax (`ppo:sample=True`).

- It first imitated `{expert}` for {imitation:,} decisions.
- Then it was trained by self-play with MaskablePPO against past snapshots of itself and {opponents}.
- Command: `{command}`
- Seed {seed}, {steps:,} decisions of the learner.
- Time: {time}.
- Versions: ppo {version}, {versions}.

Win shares, every deal played once from each of the {n} seats; 95 % intervals over deals; the fair share is {fair:.3f}:

| against | win share | 95 % interval | deals |
| --- | --- | --- | --- |
{rows}

{estimates}It was trained against the scripted players named above; it may be weaker against players that are unlike all it has
met.
"""


@dataclass
class Settings:
    """Train a shipped player anew, measure it and write its model card."""

    num_players: tyro.conf.Positional[int]
    """As many as a player is shipped for."""
    game: str = "katzenjammer"
    """The game, by name."""
    seed: int = 1
    """The same seed gives the same network on the same machine."""
    total_steps: int | None = None
    """Decisions of the learner; by default as many as the shipped player had."""
    run_dir: Path | None = None
    """Where the run is kept; by default runs/pretrained-GAME-PLAYERS. A run that is there already goes on."""
    out: Path = FOLDER
    """Where the network and its card are written, in a folder of the game."""
    search_deals: int = 1600
    """Deals of the measurement against search, which is slow; 0: leave it out."""
    estimate_games: int = 60_000
    """Games of the policy to which the networks for `policy_search` are fitted; 0: leave them out."""

    def of_learner(self) -> PpoSettings:
        """The settings of the learner's run."""
        folder = self.run_dir or Path("runs") / f"pretrained-{self.game}-{self.num_players}"
        return PpoSettings(
            game=self.game,
            num_players=self.num_players,
            seed=self.seed,
            total_steps=STEPS[self.game][self.num_players] if self.total_steps is None else self.total_steps,
            learning_rate=LEARNING_RATE,
            snapshot_every=500_000,
            run_dir=folder,
            resume=(folder / CHECKPOINT).exists(),
        )


def same_moves(one: Path, other: Path) -> bool:
    """Whether two policies have the same layers; their networks for searches may differ."""
    mine, theirs = ([array for layer in Policy(str(path)).layers for array in layer] for path in (one, other))
    return len(mine) == len(theirs) and all(map(np.array_equal, mine, theirs))


def version_of_new(path: Path, new: Path) -> int:
    """The version of ``ppo`` that a new network belongs to; the network that it takes the place of is kept beside it."""
    kept = path.with_name(f"{path.stem}-v{Ppo.version}.npz")
    if path.exists() and not kept.exists() and not same_moves(path, new):
        for suffix in (".npz", ".md"):
            if path.with_suffix(suffix).exists():
                path.with_suffix(suffix).rename(kept.with_suffix(suffix))
        print(f"the network that was there is now {kept.name}; raise Ppo.version, in {PRETRAINED_CODE}, to {Ppo.version + 1}")
    return Ppo.version + kept.exists()


def card(
    settings: Settings,
    learner: PpoSettings,
    evaluation: dict[str, Any],
    fitted: fit_estimates.Fitted | None,
    versions: dict[str, str],
    version: int,
) -> str:
    """The model card, in Markdown."""
    n = settings.num_players
    command = f"python train/pretrained.py {n}"
    command += f" --game {settings.game}" if settings.game != "katzenjammer" else ""
    command += f" --seed {settings.seed}" if settings.seed != 1 else ""
    command += f" --total-steps {settings.total_steps}" if settings.total_steps is not None else ""
    command += f" --search-deals {settings.search_deals}" if settings.search_deals != Settings.search_deals else ""
    layers = " and ".join(map(str, learner.hidden))
    rows = [
        f"| {n - 1} x `{name}` | {result['win_share']:.3f} | {result['low']:.3f} to {result['high']:.3f} | {result['deals']} |"
        for name, result in evaluation["against"].items()
    ]
    ran_with = ", ".join(f"{name} {version}" for name, version in versions.items())
    time = f"{evaluation['seconds'] / 60:.0f} minutes, {evaluation['cpu_seconds'] / 60:.0f} minutes of processor time"
    estimates = ""
    if fitted is not None:
        estimates = (
            f"Its leaf network and its value network were fitted to {fitted.games:,} games of this policy. In others\n"
            f"they explain {fitted.leaf:.3f} and {fitted.value:.3f} of the variance of the win shares.\n\n"
        )
    return CARD.format(
        n=n,
        game=settings.game,
        estimates=estimates,
        layers=layers,
        opponents=", ".join(f"`{name}`" for name in learner.opponents),
        command=command,
        expert=learner.expert,
        imitation=learner.imitation_steps,
        seed=settings.seed,
        steps=learner.total_steps,
        time=time,
        versions=ran_with,
        version=version,
        fair=1 / n,
        rows="\n".join(rows),
    )


def readme_table(folder: Path = FOLDER) -> str:
    """The win shares of the cards in a folder, those of all games, as a Markdown table."""
    rows: list[str] = []
    for game in STEPS:
        for path in sorted((folder / game).glob("[0-9].md")):
            text = path.read_text(encoding="utf-8")
            found = re.findall(r"^\| \d x `(\S+)` \| (\S+) \| (\S+ to \S+) \|", text, re.MULTILINE)
            if not rows:
                rows = ["| game | players | fair share | " + " | ".join(f"all others `{name}`" for name, _, _ in found) + " |"]
                rows.append("| --- " * (3 + len(found)) + "|")
            cells = " | ".join(f"{share} ({interval})" for _, share, interval in found)
            rows.append(f"| {game} | {path.stem} | {1 / int(path.stem):.3f} | {cells} |")
    return "\n".join(rows)


def fill(text: str, table: str) -> str:
    """The text of README.md with this table in its place."""
    before, start, rest = text.partition("<!-- shipped players: generated -->\n")
    if not start:
        raise ValueError("README.md has no place for the table of shipped players")
    return f"{before}{start}{table}\n{rest[rest.index('<!-- end -->') :]}"


def build(settings: Settings, interrupts: Interrupts | None = None) -> int:
    """Train or go on, measure and write; returns the exit code."""
    interrupts = interrupts or Interrupts()
    n = settings.num_players
    if settings.game not in STEPS:
        raise ValueError(f"players are shipped for {', '.join(STEPS)}, not for {settings.game!r}")
    if n not in STEPS[settings.game]:
        raise ValueError(f"players are shipped for {', '.join(map(str, STEPS[settings.game]))} players, not for {n}")
    check_none_or_at_least(settings, search_deals=2, estimate_games=1)
    learner = settings.of_learner()
    learner.check()
    (settings.out / settings.game).mkdir(parents=True, exist_ok=True)
    code = ppo.train(learner, interrupts)
    if code:
        return code
    folder, game = learner.directory, learner.make_game()
    evaluation = json.loads((folder / "evaluation.json").read_text(encoding="utf-8"))
    for result in evaluation["against"].values():
        result["deals"] = evaluation["deals"]
    fitted = None
    try:
        with interrupts.abandonable():
            if settings.search_deals:
                name = "search:playouts=1000"
                print(f"measuring against {name}")
                policy = Policy(str(folder / "policy.npz"))
                ((share, low, high),) = ppo.measure(policy, game, (name,), settings.search_deals, settings.seed).values()
                evaluation["against"][name] = {"win_share": share, "low": low, "high": high, "deals": settings.search_deals}
            if settings.estimate_games:
                estimates = fit_estimates.Settings(
                    folder / "policy.npz",
                    games=settings.estimate_games,
                    hidden=ESTIMATE_HIDDEN[settings.game][n],
                    seed=settings.seed,
                )
                fitted = fit_estimates.write_estimates(estimates)
    except Interrupted:
        print("interrupted: the trained policy is kept; the same command measures it", file=sys.stderr)
        return 130
    versions = json.loads((folder / "settings.json").read_text(encoding="utf-8"))["versions"]
    path = settings.out / settings.game / pretrained_path(n, settings.game).name
    text = card(settings, learner, evaluation, fitted, versions, version_of_new(path, folder / "policy.npz"))
    write_file(path, lambda beside: shutil.copyfile(folder / "policy.npz", beside))
    write_file(path.with_suffix(".md"), lambda beside: beside.write_text(text, encoding="utf-8"))
    if settings.out == FOLDER:
        README.write_text(fill(README.read_text(encoding="utf-8"), readme_table()), encoding="utf-8")
    print(f"written: {path} ({path.stat().st_size / 1e6:.2f} MB) and its card {path.with_suffix('.md').name}")
    return 0


def main() -> None:
    """Read the settings from the command line and run."""
    settings = tyro.cli(Settings, prog="python train/pretrained.py", description=__doc__)
    run_script(lambda interrupts: build(settings, interrupts), "train/pretrained.py")


if __name__ == "__main__":
    main()
