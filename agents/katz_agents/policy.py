"""Plays a trained network from a small ``.npz`` file with NumPy alone: trained opponents need no PyTorch."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from katz_env import Agent, Game, View
from katz_env.core.game import scales

Layers = list[tuple[NDArray[np.float32], NDArray[np.float32]]]


class Policy(Agent):
    """A multi-layer perceptron: scaled observation, layers with tanh, and the most probable legal action.

    Parameters
    ----------
    file
        What `save_policy` wrote.
    sample
        Whether to draw actions from the network's distribution instead of taking the most probable.

    Raises
    ------
    ValueError
        If the file cannot be read or is no policy.
    """

    def __init__(self, file: str = "", sample: bool = False) -> None:
        self.name = f"policy:{file}"
        self.sample = bool(sample)
        if not file:
            raise ValueError("a policy needs its file: policy:path/to/file.npz")
        self.file = file
        self.trained_for, self.layers = _read(Path(file))
        self._checked: Game | None = None

    def act(self, view: View) -> NDArray[np.int64]:
        """A legal action for every table."""
        self._check(view.game)
        logits = view.observations * self.scale
        for i, (weight, bias) in enumerate(self.layers):
            logits = (np.tanh(logits) if i else logits) @ weight + bias
        logits = np.where(view.action_masks, logits, -np.inf)
        if self.sample:  # the largest logit plus Gumbel noise is a draw from the softmax
            logits = logits + view.rng.gumbel(size=logits.shape)
        return logits.argmax(1)

    def _check(self, game: Game) -> None:
        if game is self._checked:
            return
        difference = game.difference(self.trained_for)
        if difference:
            key, told, asked = difference
            raise ValueError(f"{self.file} was trained for {key} {told}; this game has {asked}")
        if self.layers[-1][1].size != game.num_actions:
            raise ValueError(f"{self.file} is not a policy: it has {self.layers[-1][1].size} actions, not {game.num_actions}")
        self.scale = scales(game.observation_parts)
        self._checked = game


def save_policy(path: Path, game: Game, layers: Sequence[tuple[NDArray[np.floating], NDArray[np.floating]]]) -> None:
    """Write a network.

    Parameters
    ----------
    path
        Where to; it is written beside and renamed, so the file is always whole.
    game
        The game that the network was trained for.
    layers
        Weights ``(inputs, outputs)`` and biases ``(outputs,)``, first layer first; tanh stands between layers.
    """
    arrays: dict[str, NDArray[np.float32]] = {}
    for i, (weight, bias) in enumerate(layers):
        arrays[f"weight_{i}"], arrays[f"bias_{i}"] = np.asarray(weight, np.float32), np.asarray(bias, np.float32)
    beside = path.with_name(f".{path.stem}.tmp.npz")
    np.savez_compressed(beside, trained_for=np.array(json.dumps(game.describe())), **arrays)  # type: ignore[arg-type]
    beside.replace(path)


def _read(path: Path) -> tuple[dict[str, object], Layers]:
    """What the network was trained for, and its layers."""
    try:
        with np.load(path, allow_pickle=False) as data:
            trained_for = json.loads(str(data["trained_for"]))
            count = sum(name.startswith("weight_") for name in data.files)
            layers = [(data[f"weight_{i}"], data[f"bias_{i}"]) for i in range(count)]
    except OSError as error:
        raise ValueError(f"cannot read the policy {path}: {error.strerror or error}") from None
    except (ValueError, KeyError, zipfile.BadZipFile, EOFError) as error:
        raise ValueError(f"{path} is not a policy: {error}") from None
    if not isinstance(trained_for, dict):
        raise ValueError(f"{path} is not a policy: it does not say what it was trained for")
    sizes = [sum(int(np.prod(shape)) for _, shape, _ in trained_for.get("observation", []))]
    for weight, bias in layers:
        if weight.ndim != 2 or bias.shape != weight.shape[1:] or weight.shape[0] != sizes[-1]:
            raise ValueError(f"{path} is not a policy: layer {len(sizes)} has the shape {weight.shape}; inputs are {sizes[-1]}")
        sizes.append(weight.shape[1])
    if len(sizes) < 2:
        raise ValueError(f"{path} is not a policy: it has no layers")
    return trained_for, layers
