"""Fit the networks that tell `search` how likely a seat is to win: from games of the scripted players to their outcomes.

In every game one seat plays `heuristic`; each of the others plays `heuristic` or, once in four times, `greedy`, like the
opponents in the playouts of `search`. At every reveal, what the network is told about that seat is kept with the win share that
it got in the end. In two games out of three some moves are random, so that the network also meets tables that good players
avoid. One network is fitted for each number of players, two to four minutes each on one core.

    python train/fit_chance.py
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from tqdm import tqdm

from katz_agents import chance, greedy, heuristic
from katz_agents.policy import save_arrays
from katz_env.cli import check_above_zero, check_at_least, run_command
from katz_env.core.linked import linked
from katz_env.katzenjammer import Katzenjammer, engine

PIECE = 100_000  # positions that are made between two looks at the progress bar
HIDDEN = (64, 32)
RANDOM_MOVES = (0, 20, 80)  # of 1,024 moves, in one game out of three each


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
    out: Path = chance.FILE
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


@linked(engine, heuristic, greedy, chance)
def _random_move(t: Any, mask: Any) -> int:
    left = np.int64(engine.random_below(t, mask.sum()))
    for action in range(len(mask)):
        if mask[action]:
            if left == 0:
                return action
            left -= 1
    return 0


@linked(engine, heuristic, greedy, chance)
def _play_games(
    t: Any, w: Any, gains: Any, costs: Any, features: Any, shares: Any, mask: Any, rewards: Any, scores: Any
) -> int:
    """Play games at the table `t` until `features` is full; the number of positions whose games were finished."""
    n, filled = t.hand.shape[0], 0
    is_greedy = np.empty(n, np.bool_)
    while True:
        engine.deal_random(t)
        noise = RANDOM_MOVES[np.int64(engine.random_below(t, 3))]
        seat = np.int64(engine.random_below(t, n))
        for other in range(n):
            is_greedy[other] = other != seat and engine.random_below(t, 4) == 0
        first, position = filled, -1
        while t.phase != engine.OVER:
            if t.position != position:
                if filled == len(features):
                    return first
                position = int(t.position)
                chance.write_features(t, seat, features[filled])
                filled += 1
            engine.write_mask(t, mask)
            if noise > 0 and engine.random_below(t, 1024) < noise:
                action = _random_move(t, mask)
            elif is_greedy[t.turn]:
                action = greedy.decide(t, t.turn, mask, gains, costs)
            else:
                action = heuristic.decide(t, t.turn, mask, w)
            engine.play(t, action)
        engine.write_outcome(t, engine.WIN, rewards, scores)
        shares[first:filled] = rewards[seat] + 1.0 / n


def positions(game: Katzenjammer, number: int, rng: np.random.Generator) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Features ``(number, F)`` and win shares ``(number,)`` of positions when an auction begins."""
    n = game.num_players
    table = game.new_tables(1)
    table["rng"] = rng.integers(0, 2**64, 1, np.uint64)
    features = np.empty((PIECE, chance.num_features(n, len(game.cards))), np.int8)
    shares = np.empty(PIECE, np.float32)
    buffers = np.zeros(game.num_actions, np.bool_), np.zeros(n, np.float32), np.zeros(n, np.int16)
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


def fit(features: NDArray[np.int8], shares: NDArray[np.float32], settings: Settings, seed: int) -> tuple[chance.Network, str]:
    """The network with the least cross entropy on all but the last `settings.validation` positions, and how good it is."""
    torch.manual_seed(seed)
    x, y = torch.from_numpy(features), torch.from_numpy(shares)
    train = len(x) - settings.validation
    scale = x[:PIECE].float().abs().mean(0).clamp(min=0.2)  # inputs are of order one while they are learned from
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
    return chance.Network(*(np.ascontiguousarray(array, np.float32) for array in arrays)), result


def saved_networks(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file; none if there is no file, ValueError if it is not such a file."""
    if not path.exists():
        return {}
    try:
        with np.load(path) as file:
            return dict(file)
    except Exception as error:  # a broken file may raise anything
        raise ValueError(f"{path} holds no networks ({error}); name another --out") from None


def fit_all(settings: Settings) -> int:
    """Fit a network for each number of players; each is in the file as soon as it is fitted. Returns the exit code."""
    settings.check()
    games_of = {n: Katzenjammer(n) for n in settings.num_players}
    saved_networks(settings.out)  # before hours of work: is it such a file?
    torch.set_num_threads(1)
    for n, game in games_of.items():
        games, network = np.random.SeedSequence([settings.seed, n]).spawn(2)
        number = settings.positions + settings.validation
        features, shares = positions(game, number, np.random.default_rng(games))
        fitted, result = fit(features, shares, settings, int(network.generate_state(1)[0]))
        print(f"{n} players: {result}")
        arrays = {f"{name}_{n}": array for name, array in fitted._asdict().items()}
        save_arrays(settings.out, saved_networks(settings.out) | arrays)
    return 0


def main() -> None:
    """Read the settings from the command line and fit."""
    settings = tyro.cli(Settings, prog="python train/fit_chance.py", description=__doc__)
    sys.exit(run_command(lambda: fit_all(settings), "train/fit_chance.py"))


if __name__ == "__main__":
    main()
