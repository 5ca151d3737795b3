"""PPO by self-play in one file, to read from top to bottom and to change: ``python train/ppo_simple.py``.

Proximal policy optimisation (Schulman et al. 2017) on `katz_env.SelfPlay`: settings, networks, opponents, rollout, generalised
advantage estimation (Schulman et al. 2016), loss, and the loop that holds them together. It needs PyTorch and no other library
for training. `train/ppo.py` is the fast road with checkpoints, imitation and measurements; this file is the one to copy.

The run directory gets ``policy.npz``, which plays as the agent ``policy:FILE``, ``curve.csv``, the win shares over time, and
``settings.json``.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # python -I leaves it out

from katz_train import startup

if __name__ == "__main__":
    startup.begin("train/ppo_simple.py")

import json
import math
from dataclasses import asdict, dataclass

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from torch import nn
from tqdm import tqdm

from katz_agents.layers import Layers
from katz_agents.match import play_match
from katz_agents.policy import Network
from katz_agents.policy_file import save_policy
from katz_env import Agent, Game, SelfPlay, make_agent
from katz_env.command_line import check_above_zero, check_at_least, check_between, check_plays, game_from
from katz_env.core.arena import OPEN
from katz_env.core.encoding import Encoding
from katz_env.core.self_play import Finished
from katz_train.interrupts import Interrupted, Interrupts, run_script
from katz_train.run_directory import write_file
from katz_train.torch_settings import torch_settings

# --- settings ------------------------------------------------------------------------------------------------------------


@dataclass
class Settings:
    """Train a policy by self-play with PPO, in one process."""

    total_steps: int = 4_000_000
    """Decisions that are learned from, rounded up to whole rollouts."""
    num_envs: int = 1024
    """Tables that are played together."""
    game: str = "katzenjammer"
    """The game, by name."""
    num_players: int | None = None
    """Seats; by default as many as the game has by default."""
    rules: tuple[str, ...] = ()
    """Other settings of the game's rules, each as KEY=VALUE."""
    seed: int = 0
    """Seeds everything: the same settings give the same run on the same machine."""
    run_dir: Path | None = None
    """Where the policy is written; by default runs/ppo-simple-GAME-PLAYERS-SEED."""
    score_weight: float = 0.02
    """Paid at the end of a game for each point of the score, beside the reward for winning."""

    opponents: tuple[str, ...] = ("random", "greedy", "heuristic")
    """Scripted players in the pool of opponents."""
    scripted_share: float = 0.7
    """The part of the games that are played against one scripted player in all other seats."""
    priority: float = 2.0
    """Prioritised fictitious self-play (Vinyals et al. 2019): a scripted player is drawn in proportion to (1 - the policy's win
    share against it) ** priority."""
    snapshot_share: float = 0.15
    """The part of the games against a snapshot of the policy; in the others the policy holds all seats."""
    snapshots: int = 3
    """Snapshots in the pool; a new one replaces the oldest."""
    snapshot_every: int = 200_000
    """Decisions between two snapshots."""

    rollout_steps: int = 16
    """Steps at each table between two updates."""
    batch_size: int = 512
    """Decisions in one gradient step."""
    epochs: int = 2
    """Passes over the decisions of a rollout."""
    learning_rate: float = 1e-3
    """Step size of Adam at the start; it falls in a straight line to a hundredth."""
    gamma: float = 1.0
    """Discount for each decision of a seat."""
    gae_lambda: float = 0.9
    """Lambda of generalised advantage estimation."""
    clip: float = 0.2
    """How far the probability of an action may move, as a ratio, before it stops counting."""
    value_weight: float = 0.5
    """Weight of the value loss."""
    entropy_weight: float = 0.002
    """Weight of the entropy bonus."""
    max_gradient_norm: float = 0.5
    """Longer gradients are shortened to this."""
    hidden: int = 256
    """Units of each of the two hidden layers, of the policy and of the value network."""
    evaluate_every: int = 500_000
    """Decisions between two measurements against the scripted players."""
    evaluation_deals: int = 500
    """Deals of a measurement, each played once from every seat."""

    def check(self) -> None:
        """Raise ValueError that names a setting that is out of range."""
        check_at_least(self, total_steps=1, num_envs=1, rollout_steps=1, batch_size=2, epochs=1, hidden=1, seed=0)
        check_at_least(self, snapshots=1, snapshot_every=1, evaluate_every=1, evaluation_deals=2)
        check_above_zero(self, "learning_rate", "clip", "max_gradient_norm")
        if not self.opponents:
            raise ValueError("--opponents must name at least one player")
        check_between(self, 0, 1, "scripted_share", "snapshot_share", "gamma", "gae_lambda")
        check_between(self, 0, math.inf, "priority", "score_weight", "value_weight", "entropy_weight")
        if self.scripted_share + self.snapshot_share > 1:
            raise ValueError("--scripted-share and --snapshot-share must be at most 1 together")


# --- networks ------------------------------------------------------------------------------------------------------------


def perceptron(inputs: int, hidden: int, outputs: int, gain: float) -> nn.Sequential:
    """Return a multi-layer perceptron with two hidden layers; `gain` scales the first outputs."""
    layers = [nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, outputs)]
    for layer, scale in zip(layers[::2], (2**0.5, 2**0.5, gain), strict=True):
        assert isinstance(layer, nn.Linear)
        nn.init.orthogonal_(layer.weight, scale)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(*layers)


def layers_of(network: nn.Sequential) -> Layers:
    """Return copies of the weights and biases, as agents that play without PyTorch take them."""
    linear = [layer for layer in network if isinstance(layer, nn.Linear)]
    return [(one.weight.detach().numpy().T.copy(), one.bias.detach().numpy().copy()) for one in linear]


def log_softmax_of_legal(logits: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """Return the log-probabilities of the actions ``(k, A)``; those of illegal ones are so low that they are never drawn."""
    return torch.log_softmax(logits.masked_fill(~masks, -1e9), dim=1)


# --- opponents -----------------------------------------------------------------------------------------------------------


class Pool:
    """The opponents, and the seating of every new game: against one opponent in all other seats, or the policy in all seats."""

    def __init__(self, settings: Settings, game: Game, policy: nn.Sequential) -> None:
        self.settings, self.game = settings, game
        self.scripted = [make_agent(name) for name in settings.opponents]
        self.agents: list[Agent] = [*self.scripted, *[self._snapshot(policy)] * settings.snapshots]
        self.replaced = 0
        self.won = np.full(len(self.scripted), 0.5)  # the policy's win share against each, over some 2,000 games

    def _snapshot(self, policy: nn.Sequential) -> Agent:
        return Network(layers_of(policy), self.game.describe(), "snapshot", sample=True)

    def add(self, policy: nn.Sequential) -> None:
        """Take a snapshot of the policy into the pool; it replaces the oldest one."""
        self.agents[len(self.scripted) + self.replaced % self.settings.snapshots] = self._snapshot(policy)
        self.replaced += 1

    def note(self, finished: Finished, shares: NDArray[np.float64]) -> None:
        """Note what the policy has won in the games that ended, given the win shares ``(k, n)`` of their seats."""
        for i in range(len(self.scripted)):
            games = np.flatnonzero((finished.players == i).any(1))
            if len(games):
                share = shares[games, finished.open_seats()[games]].mean()
                self.won[i] += min(1.0, len(games) / 2000) * (share - self.won[i])

    def __call__(self, rng: np.random.Generator, k: int) -> NDArray[np.int64]:
        """Return who sits where in k new games, int64 ``(k, n)``: the index of an agent, or `OPEN`."""
        n, kind = self.game.num_players, rng.random((k, 1))
        weights = (1 - self.won) ** self.settings.priority + 1e-3
        against_scripted = kind < self.settings.scripted_share
        snapshot = rng.integers(len(self.scripted), len(self.agents), size=(k, 1))
        scripted = rng.choice(len(weights), size=(k, 1), p=weights / weights.sum())
        opponent = np.where(against_scripted, scripted, snapshot)
        all_open = kind >= self.settings.scripted_share + self.settings.snapshot_share
        return np.where(all_open | (np.arange(n) == rng.integers(n, size=(k, 1))), OPEN, opponent)


# --- rollout -------------------------------------------------------------------------------------------------------------


class Rollout:
    """The decisions of T steps at N tables, and of the one that is due after them, with what their seats earned by them.

    Row t, i is the decision of step t at table i. It is complete when its seat had another decision in these T + 1 rows, or its
    game ended; only complete decisions are learned from.
    """

    def __init__(self, steps: int, play: SelfPlay) -> None:
        shape = (steps, len(play.tables))
        self.observations = np.zeros((steps + 1, shape[1], play.game.observation_size), np.int8)
        self.states = np.zeros((steps + 1, shape[1], play.game.state_size), np.int8)
        self.masks = np.zeros((*shape, play.game.num_actions), np.bool_)
        self.actions = np.zeros(shape, np.int64)
        self.log_probs = np.zeros(shape, np.float32)
        self.rewards = np.zeros(shape, np.float32)
        self.following = np.zeros(shape, np.int64)  # the row of the seat's next decision
        self.done = np.zeros(shape, np.bool_)
        self.complete = np.zeros(shape, np.bool_)

    def advantages(self, values: NDArray[np.float32], gamma: float, lam: float) -> NDArray[np.float32]:
        """Return the advantages ``(T, N)`` by generalised advantage estimation along the decisions of each seat.

        Parameters
        ----------
        values
            The values of all decisions, ``(T + 1, N)``.
        gamma, lam
            The discount for each decision, and lambda.
        """
        found, everyone = np.zeros_like(values), np.arange(values.shape[1])
        for t in reversed(range(len(self.actions))):
            row = self.following[t]
            later = np.where(self.done[t], 0, gamma * values[row, everyone])
            carried = np.where(self.done[t], 0, gamma * lam * found[row, everyone])
            found[t] = np.where(self.complete[t], self.rewards[t] + later - values[t] + carried, 0)
        return found[:-1]


# --- the learner ---------------------------------------------------------------------------------------------------------


class Learner:
    """The networks, and how they play and learn. The value network sees the whole table, the policy only its observation."""

    def __init__(self, settings: Settings, game: Game) -> None:
        torch.manual_seed(settings.seed)
        self.settings, self.game = settings, game
        self.seen, self.state = Encoding(game), Encoding(game, game.state_fields)
        self.policy = perceptron(self.seen.size, settings.hidden, game.num_actions, 0.01)
        self.value = perceptron(self.state.size, settings.hidden, 1, 1.0)
        self.optimizer = torch.optim.Adam(
            [*self.policy.parameters(), *self.value.parameters()], lr=settings.learning_rate, eps=1e-5
        )
        self.rng = np.random.default_rng([settings.seed, 0])

    def logits(self, observations: NDArray[np.int8]) -> torch.Tensor:
        """Return the logits of the policy ``(k, A)`` for observations ``(k, D)``."""
        logits: torch.Tensor = self.policy(torch.from_numpy(self.seen(observations)))
        return logits

    def values(self, states: NDArray[np.int8]) -> torch.Tensor:
        """Return the values ``(k,)`` of states ``(k, S)``."""
        values: torch.Tensor = self.value(torch.from_numpy(self.state(states)))
        return values[:, 0]

    def collect(self, play: SelfPlay, rollout: Rollout, pool: Pool) -> None:
        """Play the steps of a rollout, against a pool of opponents."""
        rollout.complete[:] = False
        first, steps = play.num_steps, len(rollout.actions)
        for t in range(steps):
            rollout.observations[t], rollout.states[t], rollout.masks[t] = (
                play.observations,
                play.tables.state(),
                play.action_masks,
            )
            masks = torch.from_numpy(rollout.masks[t])
            with torch.no_grad():
                log_probs = log_softmax_of_legal(self.logits(rollout.observations[t]), masks).numpy()
            noise = self.rng.gumbel(size=log_probs.shape)  # the largest sum is a draw from the softmax
            rollout.actions[t] = np.where(rollout.masks[t], log_probs + noise, -np.inf).argmax(1)
            rollout.log_probs[t] = np.take_along_axis(log_probs, rollout.actions[t][:, None], 1)[:, 0]
            paid = play.step(rollout.actions[t])
            results = self.game.results(play.finished.records)
            pool.note(play.finished, results["win_share"])
            scores = np.zeros((len(play.tables), self.game.num_players), np.float32)
            scores[play.finished.tables] = results["score"]
            rewards = paid.rewards + self.settings.score_weight * scores[paid.tables, paid.seats] * paid.done
            mine = paid.steps >= first  # decisions of the rollout before are no longer there
            where = paid.steps[mine] - first, paid.tables[mine]
            rollout.complete[where], rollout.following[where] = True, t + 1
            rollout.rewards[where], rollout.done[where] = rewards[mine], paid.done[mine]
        rollout.observations[steps], rollout.states[steps] = play.observations, play.tables.state()

    def update(self, rollout: Rollout, left: float) -> None:
        """Learn from a rollout; `left` is the part of the training that is still to come."""
        settings = self.settings
        for group in self.optimizer.param_groups:
            group["lr"] = settings.learning_rate * max(0.01, left)
        with torch.no_grad():
            values = np.stack([self.values(states).numpy() for states in rollout.states])
        advantages = rollout.advantages(values, settings.gamma, settings.gae_lambda)
        rows = np.flatnonzero(rollout.complete)
        returns = torch.from_numpy((advantages + values[:-1]).reshape(-1))
        gains = torch.from_numpy(advantages.reshape(-1))
        observations, states, masks = (
            array.reshape(-1, array.shape[-1]) for array in (rollout.observations[:-1], rollout.states[:-1], rollout.masks)
        )
        actions, before = (torch.from_numpy(array.reshape(-1)) for array in (rollout.actions, rollout.log_probs))
        for _ in range(settings.epochs):
            order = self.rng.permutation(rows)
            for start in range(0, len(order), settings.batch_size):
                some = order[start : start + settings.batch_size]
                batch = torch.from_numpy(some)
                log_probs = log_softmax_of_legal(self.logits(observations[some]), torch.from_numpy(masks[some]))
                chosen = log_probs.gather(1, actions[batch, None])[:, 0]
                gain = gains[batch]
                gain = (gain - gain.mean()) / (gain.std(correction=0) + 1e-8)
                ratio = torch.exp(chosen - before[batch])
                policy_loss = -torch.min(gain * ratio, gain * ratio.clamp(1 - settings.clip, 1 + settings.clip)).mean()
                value_loss = (self.values(states[some]) - returns[batch]).square().mean()
                entropy = -(log_probs.exp() * log_probs).sum(1).mean()
                loss = policy_loss + settings.value_weight * value_loss - settings.entropy_weight * entropy
                self.optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_([*self.policy.parameters(), *self.value.parameters()], settings.max_gradient_norm)
                self.optimizer.step()


# --- the loop ------------------------------------------------------------------------------------------------------------


def measure(learner: Learner, settings: Settings) -> list[float]:
    """Return the win share of the policy against each scripted player in all other seats."""
    game, agent = learner.game, Network(layers_of(learner.policy), learner.game.describe(), "policy")
    line_ups = [[agent, *[make_agent(name)] * (game.num_players - 1)] for name in settings.opponents]
    rng = np.random.default_rng([settings.seed, 1])
    return [play_match(game, line_up, settings.evaluation_deals, rng).interval()[0] for line_up in line_ups]


@torch_settings(threads=1, precision="highest")
def train(settings: Settings, interrupts: Interrupts) -> int:
    """Train and save; returns the exit code, 130 if a signal stopped it."""
    settings.check()
    game = game_from(settings.game, settings.num_players, settings.rules)
    learner = Learner(settings, game)
    pool = Pool(settings, game, learner.policy)
    for agent in pool.scripted:
        check_plays(agent, game)
    directory = settings.run_dir or Path("runs", f"ppo-simple-{settings.game}-{game.num_players}-{settings.seed}")
    if (directory / "policy.npz").exists():
        raise ValueError(f"{directory} holds a policy already; use another --run-dir")
    directory.mkdir(parents=True, exist_ok=True)
    written = json.dumps({"settings": asdict(settings)}, default=str, indent=2)
    write_file(directory / "settings.json", lambda path: path.write_text(written + "\n", encoding="utf-8"))
    play = SelfPlay(game, settings.num_envs, agents=pool.agents, seating=pool, num_threads=1)
    play.arena.agents = pool.agents  # the same list, into which the pool puts snapshots
    rollout = Rollout(settings.rollout_steps, play)
    curve, steps, next_snapshot, next_measurement = [["steps", *settings.opponents]], 0, settings.snapshot_every, 0
    try:
        with interrupts.abandonable(), tqdm(total=settings.total_steps, unit=" decisions", unit_scale=True) as bar:
            play.reset(settings.seed)
            while steps < settings.total_steps:
                if steps >= next_measurement:
                    curve.append([str(steps), *(f"{share:.3f}" for share in measure(learner, settings))])
                    bar.set_postfix_str(
                        ", ".join(f"{name} {share}" for name, share in zip(curve[0][1:], curve[-1][1:], strict=True))
                    )
                    next_measurement += settings.evaluate_every
                if steps >= next_snapshot:
                    pool.add(learner.policy)
                    next_snapshot += settings.snapshot_every
                learner.collect(play, rollout, pool)
                learner.update(rollout, 1 - steps / settings.total_steps)
                steps += int(rollout.complete.sum())
                bar.update(int(rollout.complete.sum()))
            curve.append([str(steps), *(f"{share:.3f}" for share in measure(learner, settings))])
    except Interrupted:
        if steps == 0:
            print("interrupted before the first update; there is nothing to keep", file=sys.stderr)
            return 130
        print(f"interrupted after {steps:,} decisions; {directory / 'policy.npz'} has the policy up to there", file=sys.stderr)
    save_policy(directory / "policy.npz", game, layers_of(learner.policy))
    text = "".join(",".join(row) + "\n" for row in curve)
    write_file(directory / "curve.csv", lambda path: path.write_text(text, encoding="utf-8"))
    if interrupts.number:
        return 130
    print(f"saved {directory / 'policy.npz'}; win shares against {', '.join(curve[0][1:])}: {', '.join(curve[-1][1:])}")
    return 0


def main() -> None:
    """Read the settings from the command line and train."""
    settings = tyro.cli(Settings, prog="python train/ppo_simple.py")
    run_script(lambda interrupts: train(settings, interrupts), "train/ppo_simple.py")


if __name__ == "__main__":
    main()
