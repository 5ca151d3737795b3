"""Agents that play a trained network from a small ``.npz`` file with NumPy alone, without PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from katz_agents.base import Base
from katz_agents.estimates import NO_ESTIMATES, Estimates, leaf_columns, leaf_inputs, win_share
from katz_agents.layers import Layers, forward
from katz_agents.policy_file import load_policy
from katz_env import Agent, Game, View
from katz_env.core.encoding import Encoding
from katz_env.core.game import Records
from katz_env.core.jit import cached, compiled


@compiled
def find_set(flags: NDArray[Any], indices: NDArray[np.int64]) -> int:
    """Write the indices of the set flags into `indices` and return their number; the loop has no branch to mispredict."""
    count = 0
    for index in range(flags.shape[0]):
        indices[count] = index
        count += flags[index] != 0
    return count


@cached
def best_legal(logits: NDArray[np.float32], masks: NDArray[np.bool_], actions: NDArray[np.int64]) -> None:
    """Fill `actions` ``(k,)`` with the legal actions that have the largest logits ``(k, A)``; -1 where all are NaN."""
    for i in range(len(actions)):
        best, actions[i] = -np.inf, -1
        for action in range(masks.shape[1]):
            if masks[i, action] and logits[i, action] > best:
                best = logits[i, action]
                actions[i] = action


@cached(allocates=True)
def sample_legal(
    logits: NDArray[np.float32],
    masks: NDArray[np.bool_],
    draws: NDArray[np.float64],
    actions: NDArray[np.int64],
    log_probs: NDArray[np.float32],
) -> None:
    """Draw legal actions from the softmax of the logits.

    Parameters
    ----------
    logits, masks
        The logits, float32 ``(k, A)``, and the legal actions, bool ``(k, A)``.
    draws
        Random numbers, uniform in [0, 1), ``(k,)``.
    actions, log_probs
        Output arrays ``(k,)``: the actions, and the logarithms of their probabilities.
    """
    legal, weights = np.empty(masks.shape[1], np.int64), np.empty(masks.shape[1])
    for i in range(len(actions)):
        count = find_set(masks[i], legal)
        highest, total = -np.inf, 0.0
        for k in range(count):
            highest = max(highest, logits[i, legal[k]])
        for k in range(count):
            weights[k] = np.exp(logits[i, legal[k]] - highest)
            total += weights[k]
        left = draws[i] * total
        for k in range(count):
            actions[i] = legal[k]  # if rounding errors leave a remainder, the last legal action is taken
            left -= weights[k]
            if left < 0:
                break
        log_probs[i] = logits[i, actions[i]] - highest - np.log(total)


def softmax_of_legal(logits: NDArray[np.float32], masks: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return the probabilities of all actions, float32 ``(k, A)``: 0 where an action is illegal, and each row sums to 1."""
    legal = np.where(masks, logits, -np.inf)
    weights = np.exp(legal - legal.max(1, keepdims=True))
    return np.asarray(weights / weights.sum(1, keepdims=True), np.float32)


class Network(Agent):
    """A multi-layer perceptron with tanh between its layers, from encoded observations to logits of the actions.

    Parameters
    ----------
    layers
        Weights ``(inputs, outputs)`` and biases ``(outputs,)``, float32, first layer first.
    trained_for
        The description of the game that the network was trained for; see `Game.describe`.
    name
        The name of the agent.
    sample
        Whether to sample actions from the network's distribution instead of taking the most probable one.
    estimates
        The networks that estimate what this policy wins, for `leaf_values` and `values`.
    base
        The scripted player whose moves the network corrects, if there is one.
    """

    def __init__(
        self,
        layers: Layers,
        trained_for: Mapping[str, Any],
        name: str,
        sample: bool = False,
        estimates: Estimates = NO_ESTIMATES,
        base: Base | None = None,
    ) -> None:
        self.layers, self.trained_for, self.name, self.sample = layers, trained_for, name, bool(sample)
        self.estimates, self.base = estimates, base
        self._checked: Game | None = None

    def act(self, view: View) -> NDArray[np.int64]:
        """Return a legal action for every table, int64 ``(k,)``.

        Raises
        ------
        ValueError
            If the network was trained for another game.
        """
        logits = self.logits(view)
        actions = np.empty(len(view), np.int64)
        if self.sample:
            sample_legal(logits, view.action_masks, view.rng.random(len(view)), actions, np.empty(len(view), np.float32))
        else:
            best_legal(logits, view.action_masks, actions)
        return actions

    def logits(self, view: View) -> NDArray[np.float32]:
        """Return the logits of all actions, float32 ``(k, A)``, also of illegal ones.

        Raises
        ------
        ValueError
            If the network was trained for another game.
        """
        self.check(view.game)
        logits = forward(self.encoding(view.observations), self.layers)
        if self.base is not None:
            self.base.add_to(logits, view)
        return logits

    def probabilities(self, view: View) -> NDArray[np.float32]:
        """Return the probabilities of all actions, float32 ``(k, A)``: 0 where an action is illegal, and each row sums to 1.

        Raises
        ------
        ValueError
            If the network was trained for another game.
        """
        return softmax_of_legal(self.logits(view), view.action_masks)

    def values(self, view: View) -> NDArray[np.float32]:
        """Return the win share that the seat to act can expect, float32 ``(k,)``, from its observation alone.

        It holds for games in which everybody plays like this policy.

        Raises
        ------
        ValueError
            If the policy has no such network, or was trained for another game.
        """
        self.check(view.game)
        if self.estimates.value is None:
            raise ValueError(f"{self.name} has no value network; train/fit_estimates.py fits one")
        return win_share(self.encoding(view.observations), self.estimates.value)

    def leaf_values(self, game: Game, worlds: Records, seats: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the win share that seats can expect in worlds, float32 ``(k,)``.

        A leaf value sees everything in a world but the order of hidden cards: so it is for worlds that a searcher has dealt, at
        the start of a stage (see `katz_agents.estimates.STAGES`). At a real table it would be cheating.

        Parameters
        ----------
        game
            The game of the worlds.
        worlds
            Whole tables ``(k,)``, such as `Game.redeal` returns and moves lead to.
        seats
            The seats whose win shares are asked for, ``(k,)``.

        Raises
        ------
        ValueError
            If the policy has no leaf network, or was trained for another game.
        """
        self.check(game)
        if self.estimates.leaf is None:
            raise ValueError(f"{self.name} has no leaf network; train/fit_estimates.py fits one")
        inputs = leaf_inputs(game, game.state(worlds, seats)[:, leaf_columns(game)])
        takes = len(self.estimates.leaf[0][0])
        if inputs.shape[1] != takes:
            raise ValueError(f"the leaf network of {self.name} takes {takes} numbers; this game has {inputs.shape[1]}")
        return win_share(inputs, self.estimates.leaf)

    def check(self, game: Game) -> None:
        """Raise ValueError if the network was trained for another game."""
        if game is self._checked:
            return
        difference = game.difference(self.trained_for)
        if difference:
            key, told, asked = difference
            raise ValueError(f"{self.name} was trained for {key} {told}; this game has {asked}")
        if self.layers[-1][1].size != game.num_actions:
            raise ValueError(f"{self.name} is not a policy: it has {self.layers[-1][1].size} actions, not {game.num_actions}")
        if self.base is not None:
            self.base.check(game)
        self.encoding = Encoding(game)
        self._checked = game


class Policy(Network):
    """A network from a file.

    Parameters
    ----------
    file
        The path of a file that `save_policy` wrote.
    sample
        Whether to sample actions from the network's distribution instead of taking the most probable one.

    Raises
    ------
    ValueError
        If the file cannot be read or is not a policy.
    """

    def __init__(self, file: str = "", sample: bool = False) -> None:
        if not isinstance(file, str) or not file:
            raise ValueError("a policy needs its file: policy:path/to/file.npz")
        if not isinstance(sample, bool):
            raise ValueError(f"sample is {sample!r}; it must be True or False")
        saved = load_policy(Path(file))
        super().__init__(saved.layers, saved.trained_for, f"policy:{file}", sample, saved.estimates, saved.base)
