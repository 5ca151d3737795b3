"""Improve a policy by expert iteration: ``python train/expert_iteration.py POLICY``.

At every decision the likely moves are played out to the end of the stage (an auction, a round, a turn), where a network judges
that was fitted to games of the policy. The policy learns to prefer the moves that brought more. When it has changed, the
network is fitted to its games anew, and so on: so a search of one move is built into a policy that plays without one.

This is expert iteration (Anthony, Tian and Barber 2017, "Thinking fast and slow with deep learning and tree search"). What the
policy learns is not the best move of a search, which chance would often choose, but its own probabilities times
exp(advantage / temperature), as in Grill et al. 2020, "Monte-Carlo tree search as regularized policy optimization". Moves are
played out from the table as it is, with its hidden cards and the players of the other seats (as the vine method of Schulman et
al. 2015, "Trust region policy optimization"). The policy is shown neither, so it learns what is best on average over the tables
that it cannot tell apart.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # python -I leaves it out

from katz_train import startup

if __name__ == "__main__":
    startup.begin("train/expert_iteration.py")

import json
import shutil
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from torch import nn
from tqdm import tqdm

import ppo
from katz_agents.policy import Network, Policy, sample_legal, softmax_of_legal
from katz_agents.policy_file import save_policy
from katz_agents.policy_search import Candidates, Playout, candidates, play_out
from katz_agents.pretrained import network_of
from katz_env import Game, SelfPlay, View, make_agent
from katz_env.command_line import check_plays, game_from
from katz_env.core.arena import OPEN
from katz_env.core.encoding import Encoding
from katz_env.core.game import Records
from katz_train import run_report
from katz_train.expert_iteration_settings import ExpertIterationSettings
from katz_train.interrupts import Interrupted, Interrupts, run_script
from katz_train.networks import EncodedMlp
from katz_train.outcomes import Fit
from katz_train.ppo_settings import agent_name
from katz_train.run_directory import check_same_settings, run_directory_lock, write_file
from katz_train.table_value import TableValue, fit_table_value, others_of
from katz_train.torch_settings import torch_settings

POLICY, POLICIES = "policy.npz", "iterations"
"""The policy, and the folder with that of every iteration, in a run directory."""


class Lesson(NamedTuple):
    """What is learned from decisions with several likely moves, ``(k, ...)`` each."""

    observations: NDArray[np.int8]
    masks: NDArray[np.bool_]
    offsets: NDArray[np.float32]
    """What the base of the policy adds to the logits."""
    targets: NDArray[np.float32]
    """The probabilities that the policy is to have."""


class Learner:
    """The policy network as it learns, and `value`, the network that judges; `player` plays the policy as it is now."""

    def __init__(self, settings: ExpertIterationSettings, game: Game, network: Network, value: TableValue) -> None:
        self.settings, self.value = settings, value
        sizes = [len(network.layers[0][0]), *(len(bias) for _, bias in network.layers)]
        linear = [nn.Linear(before, after) for before, after in pairwise(sizes)]
        hidden = [module for layer in linear[:-1] for module in (layer, nn.Tanh())]
        self.actor = EncodedMlp(Encoding(game), nn.Sequential(*hidden, linear[-1]))
        self.actor.take_over(network.layers)
        self.optimizer = torch.optim.Adam(self.actor.parameters(), lr=settings.learning_rate, eps=1e-5)
        # The layers are views of the parameters.
        self.player = Network(self.actor.layers(), game.describe(), network.name, base=network.base)

    def offsets(self, view: View) -> NDArray[np.float32]:
        """Return what the base of the policy adds to the logits, float32 ``(k, A)``."""
        offsets = np.zeros(view.action_masks.shape, np.float32)
        if self.player.base is not None:
            self.player.base.add_to(offsets, view)
        return offsets

    def learn(self, lesson: Lesson, left: float) -> None:
        """Make a gradient step towards the targets; `left` is the part of the training that is still to come."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings.learning_rate * max(0.02, left)
        logits = self.actor(lesson.observations) + torch.from_numpy(lesson.offsets)
        log_probs = torch.log_softmax(logits.masked_fill(~torch.from_numpy(lesson.masks), -1e9), dim=1)
        loss = -(torch.from_numpy(lesson.targets) * log_probs).sum(1).mean()
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.actor.parameters(), self.settings.max_gradient_norm)
        self.optimizer.step()


def targets(
    probabilities: NDArray[np.float32], tried: Candidates, values: NDArray[np.float32], temperature: float
) -> NDArray[np.float32]:
    """Return the probabilities that the policy is to have, float32 ``(k, A)``.

    Those of the moves that were tried are multiplied by exp(advantage / temperature), and scaled so that their sum stays as it
    is; the others keep theirs.

    Parameters
    ----------
    probabilities
        Those that the policy has, ``(k, A)``.
    tried
        The moves that were tried, ``(k, m)``.
    values
        What they brought, one after the other, decision by decision.
    temperature
        See `ExpertIterationSettings`.
    """
    valid = tried.mask
    before = np.where(valid, np.take_along_axis(probabilities, tried.actions, 1), 0)
    brought = np.zeros(valid.shape, np.float32)
    brought[valid] = values
    whole = before.sum(1, keepdims=True)
    advantages = brought - (before * brought).sum(1, keepdims=True) / whole
    after = np.where(valid, before * np.exp(advantages / temperature), 0)
    after *= whole / after.sum(1, keepdims=True)
    wanted = probabilities.copy()
    np.put_along_axis(wanted, tried.actions, np.where(valid, after, np.take_along_axis(wanted, tried.actions, 1)), 1)
    return wanted


def taught(learner: Learner, play: SelfPlay, view: View, rng: np.random.Generator) -> tuple[NDArray[np.int64], Lesson]:
    """Return the moves that the policy draws, int64 ``(k,)``, and what it learns where several moves are likely."""
    settings, offsets = learner.settings, learner.offsets(view)
    with torch.no_grad():
        logits = learner.actor(view.observations).numpy() + offsets
    drawn = np.empty(len(view), np.int64)
    sample_legal(logits, view.action_masks, rng.random(len(view)), drawn, np.empty(len(view), np.float32))
    probabilities = softmax_of_legal(logits, view.action_masks)
    tried = candidates(probabilities, settings.moves, settings.least)
    several = np.flatnonzero(tried.counts > 1)
    tried = Candidates(tried.actions[several], tried.counts[several])
    table = np.repeat(several, tried.counts)
    playout = Playout(
        records=play.tables.records[table],
        seats=view.seats[table].astype(np.int64),
        actions=tried.actions[tried.mask],
        players=play.arena.players[table],  # the policy holds the open seats
    )
    others = others_of(playout.players)

    def judge(ended: NDArray[np.int64], records: Records) -> NDArray[np.float32]:
        return learner.value(records, playout.seats[ended], others[ended])

    values = np.zeros(0, np.float32)
    if len(several):
        values = play_out(play.game, learner.player, play.arena.agents, playout, judge, rng)
    wanted = targets(probabilities[several], tried, values, settings.temperature)
    return drawn, Lesson(view.observations[several], view.action_masks[several], offsets[several], wanted)


def play_and_learn(learner: Learner, play: SelfPlay, left: Callable[[int], float], rng: np.random.Generator, bar: tqdm) -> None:
    """Play and learn for one iteration; `left` tells the part of the training that is to come after so many decisions of it."""
    settings, everyone = learner.settings, np.arange(len(play.tables))
    lessons: list[Lesson] = []
    play.reset(int(rng.integers(2**63)))
    for step in range(-(-settings.iteration_steps // len(everyone))):
        drawn, lesson = taught(learner, play, play.tables.view(everyone, rng), rng)
        lessons.append(lesson)
        play.step(drawn)
        if sum(len(one.targets) for one in lessons) >= settings.batch_size:
            whole = Lesson._make(np.concatenate(arrays) for arrays in zip(*lessons, strict=True))
            lessons = []
            for some in np.array_split(rng.permutation(len(whole.targets)), len(whole.targets) // settings.batch_size):
                learner.learn(Lesson._make(array[some] for array in whole), left(step * len(everyone)))
        bar.update(len(everyone))


class Pool:
    """Who sits where in every new game: the policy as it is now in all seats, or in one, and one of the others in the rest."""

    def __init__(self, settings: ExpertIterationSettings, num_players: int) -> None:
        self.num_players, self.others, self.self_share = num_players, 1 + len(settings.opponents), settings.self_share

    def __call__(self, rng: np.random.Generator, k: int) -> NDArray[np.int64]:
        """Return who sits where in k new games, int64 ``(k, n)``: the index of an agent, or `OPEN`."""
        one = np.arange(self.num_players) == rng.integers(self.num_players, size=(k, 1))
        return np.where(one | (rng.random((k, 1)) < self.self_share), OPEN, rng.integers(self.others, size=(k, 1)))


def run(settings: ExpertIterationSettings, game: Game, network: Network, path: Path, interrupts: Interrupts) -> int:
    """Iterate from a network on in a directory that is locked; returns the exit code, 130 if a signal came before the end."""
    agents, done = (agent_name(settings.policy), *settings.opponents), 0
    curve = [",".join(("iteration", "decisions", *dict.fromkeys(agents)))]
    if settings.resume:
        done, curve = resumed(settings, path)
        network = Policy(str(path / POLICIES / f"{done}.npz"))
        print(f"going on after {done} of {settings.iterations} iterations")
    run_report.write_settings(settings.lasting(), path)
    try:
        for number in range(done + 1, settings.iterations + 1):
            with interrupts.abandonable():
                network, shares = iteration(settings, game, network, agents, number, path / POLICIES)
            row = (number, number * settings.iteration_steps, *(f"{share:.3f}" for share, _, _ in shares.values()))
            curve.append(",".join(map(str, row)))
            text = "".join(f"{row}\n" for row in curve)
            write_file(path / "curve.csv", partial(Path.write_text, data=text, encoding="utf-8"))
            written = path / POLICIES / f"{number}.npz"
            write_file(path / POLICY, partial(shutil.copyfile, written))
            against = ", ".join(f"{name} {share:.3f}" for name, (share, _, _) in shares.items())
            print(f"iteration {number}: win shares against {against}")
    except Interrupted:
        kept = f"{path / POLICY} is that of iteration {number - 1}; the same command with --resume goes on"
        print(f"interrupted: {kept if number > 1 else 'no iteration has ended, so there is nothing to keep'}", file=sys.stderr)
        return 130
    print(f"written: {path / POLICY}")
    return 0


def iteration(
    settings: ExpertIterationSettings, game: Game, network: Network, agents: tuple[str, ...], number: int, folder: Path
) -> tuple[Network, run_report.Measured]:
    """Play and learn from a network on, save the new policy and measure it.

    Returns
    -------
    network
        The new policy, read from its file.
    shares
        Its win shares against each of `agents`.
    """
    rng, begun = np.random.default_rng([settings.seed, number]), (number - 1) * settings.iteration_steps
    whole = settings.iterations * settings.iteration_steps
    seating = Pool(settings, game.num_players)
    play = SelfPlay(game, settings.num_envs, agents=agents, seating=seating, num_threads=1)
    how = Fit(settings.value_hidden, epochs=2, batch_size=4096, learning_rate=2e-3, seed=settings.seed)
    learner = Learner(
        settings, game, network, fit_table_value(game, network, play.arena.agents, seating, settings.value_games, how, rng)
    )
    with tqdm(total=settings.iteration_steps, unit=" decisions", unit_scale=True, desc=f"iteration {number}") as bar:
        play_and_learn(learner, play, lambda steps: 1 - (begun + steps) / whole, rng, bar)
    folder.mkdir(exist_ok=True)
    file = folder / f"{number}.npz"
    save_policy(file, game, learner.player.layers, base=network.base)
    found = Policy(str(file))
    return found, ppo.measure(found, game, agents, settings.evaluation_deals, settings.seed)


def resumed(settings: ExpertIterationSettings, path: Path) -> tuple[int, list[str]]:
    """Return how many iterations have ended in a directory, and the rows of its curve.

    Raises
    ------
    ValueError
        If the run was started with other settings.
    """
    before = json.loads((path / "settings.json").read_text(encoding="utf-8"))["settings"]
    check_same_settings(before, settings.lasting(), path)
    done = max(int(file.stem) for file in (path / POLICIES).glob("[0-9]*.npz"))
    return done, (path / "curve.csv").read_text(encoding="utf-8").splitlines()[: done + 1]


@torch_settings(threads=1, precision="highest")
def improve(settings: ExpertIterationSettings, interrupts: Interrupts | None = None) -> int:
    """Iterate, or go on; returns the exit code, 130 if a signal came before the end.

    Raises
    ------
    ValueError
        If a setting is out of its range, the policy is of another game, or the directory is in use.
    """
    interrupts = interrupts or Interrupts()
    settings.check()
    game = game_from(settings.game, settings.num_players, settings.rules)
    network = network_of(make_agent(agent_name(settings.policy)), game)
    for name in settings.opponents:
        check_plays(make_agent(name), game)
    path = settings.run_dir or Path("runs") / f"expert-iteration-{settings.game}-{game.num_players}-{settings.seed}"
    with run_directory_lock(path, settings.resume, POLICY):
        return run(settings, game, network, path, interrupts)


def main() -> None:
    """Read the settings from the command line and run."""
    settings = tyro.cli(ExpertIterationSettings, prog="python train/expert_iteration.py", description=__doc__)
    run_script(lambda interrupts: improve(settings, interrupts), "train/expert_iteration.py")


if __name__ == "__main__":
    main()
