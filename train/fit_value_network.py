"""Fit the value networks of `search`: how likely a seat is to win, from games of the scripted players and their outcomes.

In every game one seat plays `heuristic`; each of the others plays `heuristic` or, once in four times, `greedy`, like the
opponents in the playouts of `search`. At every reveal, the network's inputs for that seat are kept with the win share that it
got in the end. In two games out of three some moves are random, so that the network also meets tables that good players
avoid. One network is fitted for each number of players, two to four minutes each on one core.

    python train/fit_value_network.py
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # python -I leaves it out

from katz_train import startup

if __name__ == "__main__":
    startup.begin("train/fit_value_network.py")

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from tqdm import tqdm

from katz_agents.archive import load_arrays, save_arrays
from katz_agents.katzenjammer import greedy, heuristic, value_network
from katz_agents.playouts import choose_randomly
from katz_env import Katzenjammer
from katz_env.command_line import check_above_zero, check_at_least
from katz_env.core.batch import WIN, write_rewards
from katz_env.core.jit import cached
from katz_env.core.rng import random_below
from katz_env.core.types import Mask, Ranks, Scores, Table
from katz_env.games.katzenjammer import engine
from katz_env.games.katzenjammer.rules import OVER
from katz_train.interrupts import Interrupted, Interrupts, run_script
from katz_train.katzenjammer import deal_random

BATCH = 100_000
"""Positions that are made in one compiled call, a second or two; then the progress bar moves and Ctrl-C is noticed."""
HIDDEN = (64, 32)
"""Units of the hidden layers."""
RANDOM_MOVES = (0, 20, 80)
"""How many of 1,024 moves are random, in one game out of three each."""


@dataclass
class Settings:
    """How to fit."""

    num_players: tuple[int, ...] = (2, 3, 4, 5, 6)
    """Numbers of players to fit a network for; the others in the file are kept."""
    positions: int = 3_000_000
    """Positions to learn from."""
    validation: int = 200_000
    """Positions that are only measured on."""
    epochs: int = 3
    """How often every position is learned from."""
    batch_size: int = 2048
    """Positions in one step of the optimiser."""
    learning_rate: float = 2e-3
    """The optimiser's step size, which falls to zero along a cosine."""
    seed: int = 1
    """Seed of the games and of the network."""
    out: Path = value_network.FILE
    """The file to write; it ends in .npz."""

    def check(self) -> None:
        """ValueError that names a setting that is out of range."""
        if not self.num_players:
            raise ValueError("--num-players must name at least one number of players")
        check_at_least(self, validation=1, epochs=1, batch_size=1, seed=0)
        if self.positions < self.batch_size:
            raise ValueError(f"--positions is {self.positions}; it must be at least --batch-size, {self.batch_size}")
        check_above_zero(self, "learning_rate")
        if self.out.suffix != ".npz":
            raise ValueError(f"--out is {self.out}; it must end in .npz")
        if not self.out.parent.is_dir():
            raise ValueError(f"there is no folder {self.out.parent} for {self.out.name}")


@cached(name="fit_value_network.play_games", allocates=True)
def _play_games(
    t: Table,
    w: heuristic.Weights,
    gains: greedy.Costs,
    costs: greedy.Costs,
    features: NDArray[np.int8],
    shares: NDArray[np.float32],
    mask: Mask,
    rewards: NDArray[np.float32],
    scores: Scores,
    ranks: Ranks,
) -> int:
    """Play games at the table `t` until `features` ``(k, F)`` is full; returns for how many of them the game was finished.

    For these `shares` ``(k,)`` is filled too; the arguments after it are scratch arrays.
    """
    n, filled = t.hand.shape[0], 0
    is_greedy = np.empty(n, np.bool_)
    while True:
        deal_random(t)
        noise = RANDOM_MOVES[np.int64(random_below(t, 3))]
        seat = np.int64(random_below(t, n))
        for other in range(n):
            is_greedy[other] = other != seat and random_below(t, 4) == 0
        first, position = filled, -1
        while t.phase != OVER:
            if t.position != position:
                if filled == len(features):
                    return first
                position = int(t.position)
                value_network.write_features(t, seat, features[filled])
                filled += 1
            engine.write_mask(t, mask)
            if noise > 0 and random_below(t, 1024) < noise:
                action = choose_randomly(t, t.turn, mask, 0, None)
            elif is_greedy[t.turn]:
                action = greedy.decide(t, t.turn, mask, 0.0, (gains, costs))
            else:
                action = heuristic.decide(t, t.turn, mask, 0.0, w)
            engine.play(t, action, None)
        engine.write_scores(t, scores, ranks)
        write_rewards(WIN, scores, ranks, rewards)
        shares[first:filled] = rewards[seat] + 1.0 / n


def positions(game: Katzenjammer, number: int, rng: np.random.Generator) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Features ``(number, F)`` and win shares ``(number,)`` of positions when an auction begins."""
    n = game.num_players
    table = game.new_tables(1)
    table["rng"] = rng.integers(0, 2**64, 1, np.uint64)
    features = np.empty((BATCH, value_network.num_features(n, len(game.cards))), np.int8)
    shares = np.empty(BATCH, np.float32)
    buffers = np.zeros(game.num_actions, np.bool_), np.zeros(n, np.float32), np.zeros(n, np.int16), np.zeros(n, np.int32)
    counts = greedy.card_counts(game.rules.values)
    pieces: list[tuple[NDArray[np.int8], NDArray[np.float32]]] = []
    made = 0
    with tqdm(total=number, unit=" positions", unit_scale=True, desc=f"{n} players, games") as bar:
        while made < number:
            finished = _play_games(table[0], heuristic.Weights(), *counts, features, shares, *buffers)
            finished = min(finished, number - made)
            pieces.append((features[:finished].copy(), shares[:finished].copy()))
            made += finished
            bar.update(finished)
    return np.concatenate([f for f, _ in pieces]), np.concatenate([s for _, s in pieces])


def fit(
    features: NDArray[np.int8], shares: NDArray[np.float32], settings: Settings, seed: int
) -> tuple[value_network.Network, str]:
    """The network with the least cross entropy on all but the last `settings.validation` positions, and how good it is."""
    torch.manual_seed(seed)
    x, y = torch.from_numpy(features), torch.from_numpy(shares)
    train = len(x) - settings.validation
    scale = x[:BATCH].float().abs().mean(0).clamp(min=0.2)  # inputs are of order one while they are learned from
    first, second = HIDDEN
    layers = torch.nn.Linear(x.shape[1], first), torch.nn.Linear(first, second), torch.nn.Linear(second, 1)
    network = torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1], torch.nn.ReLU(), layers[2], torch.nn.Flatten(0))
    optimiser = torch.optim.Adam(network.parameters(), lr=settings.learning_rate)
    steps = settings.epochs * (train // settings.batch_size)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    loss_of = torch.nn.functional.binary_cross_entropy_with_logits
    with tqdm(total=steps, unit=" steps", desc="fit") as bar:
        for _ in range(settings.epochs):
            order = torch.randperm(train)
            for k in range(0, train - settings.batch_size + 1, settings.batch_size):
                batch = order[k : k + settings.batch_size]
                loss = loss_of(network(x[batch].float() / scale), y[batch])
                optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimiser.step()
                schedule.step()
                bar.update()
    with torch.no_grad():
        error = float(((torch.sigmoid(network(x[train:].float() / scale)) - y[train:]) ** 2).mean())
    result = f"squared error {error:.4f}; {float(y[train:].var()):.4f} for a constant"
    weights = [layer.weight.detach().numpy().T for layer in layers]
    weights[0] = weights[0] / scale.numpy()[:, None]
    biases = [layer.bias.detach().numpy() for layer in layers]
    arrays = weights[0], biases[0], weights[1], biases[1], weights[2][:, 0], biases[2]
    return value_network.Network(*(np.ascontiguousarray(array, np.float32) for array in arrays)), result


def saved_networks(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file; none if there is no file, ValueError if it is not such a file."""
    if not path.exists():
        return {}
    try:
        return load_arrays(path)
    except ValueError as error:
        raise ValueError(f"{path} holds no networks ({error}); name another --out") from None


def fit_all(settings: Settings, interrupts: Interrupts | None = None) -> int:
    """Fit a network for each number of players; each is in the file as soon as it is fitted. Returns the exit code."""
    interrupts = interrupts or Interrupts()
    settings.check()
    games_of = {n: Katzenjammer(n) for n in settings.num_players}
    saved_networks(settings.out)  # before hours of work: is it such a file?
    torch.set_num_threads(1)
    for n, game in games_of.items():
        games, network = np.random.SeedSequence([settings.seed, n]).spawn(2)
        number = settings.positions + settings.validation
        try:
            with interrupts.abandonable():
                features, shares = positions(game, number, np.random.default_rng(games))
                fitted, result = fit(features, shares, settings, int(network.generate_state(1)[0]))
        except Interrupted:
            print(
                f"interrupted: the network for {n} players is not fitted; those fitted before are in {settings.out}",
                file=sys.stderr,
            )
            return 130
        print(f"{n} players: {result}")
        arrays = {f"{name}_{n}": array for name, array in fitted._asdict().items()}
        save_arrays(settings.out, saved_networks(settings.out) | arrays)
    return 0


def main() -> None:
    """Read the settings from the command line and fit."""
    settings = tyro.cli(Settings, prog="python train/fit_value_network.py", description=__doc__)
    run_script(lambda interrupts: fit_all(settings, interrupts), "train/fit_value_network.py")


if __name__ == "__main__":
    main()
