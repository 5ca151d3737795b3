"""The ``.npz`` files of policies: what they were trained for, their layers, their estimates and their base."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katz_agents.archive import load_arrays, save_arrays
from katz_agents.base import Base
from katz_agents.estimates import NO_ESTIMATES, Estimates
from katz_agents.layers import Layers
from katz_env import Game
from katz_env.core.encoding import encoded_size


def save_policy(
    path: Path,
    game: Game,
    layers: Sequence[tuple[NDArray[np.floating], NDArray[np.floating]]],
    estimates: Estimates = NO_ESTIMATES,
    base: Base | None = None,
) -> None:
    """Write a network to a file.

    Parameters
    ----------
    path
        The path of the file, which is replaced atomically.
    game
        The game that the network was trained for.
    layers
        Weights ``(inputs, outputs)`` and biases ``(outputs,)``, first layer first, with tanh between layers.
    estimates
        The networks that estimate what the policy wins.
    base
        The scripted player whose moves the network corrects, if there is one.
    """
    arrays: dict[str, NDArray[Any]] = {"trained_for": np.array(json.dumps(game.describe()))}
    for prefix, network in (("", layers), ("leaf_", estimates.leaf or []), ("value_", estimates.value or [])):
        for i, (weight, bias) in enumerate(network):
            arrays[f"{prefix}weight_{i}"] = np.asarray(weight, np.float32)
            arrays[f"{prefix}bias_{i}"] = np.asarray(bias, np.float32)
    if base is not None:
        arrays["base"] = np.array(json.dumps(base.to_json()))
    save_arrays(path, arrays)


class Saved(NamedTuple):
    """What a file holds."""

    trained_for: dict[str, Any]
    """The description of the game that the network was trained for; see `Game.describe`."""
    layers: Layers
    """Its layers."""
    estimates: Estimates
    """The networks that estimate what the policy wins."""
    base: Base | None
    """The scripted player whose moves the network corrects, if there is one."""


def load_policy(path: Path) -> Saved:
    """Return what a file holds, checked.

    Raises
    ------
    ValueError
        If the file cannot be read, is not a policy, or its base is not to be had any more.
    """
    try:
        return _parse(load_arrays(path))
    except OSError as error:
        raise ValueError(f"cannot read the policy {path}: {error.strerror or error}") from None
    except Exception as error:  # a damaged file may raise anything in zipfile, zlib, json or NumPy
        raise ValueError(f"{path} is not a policy: {' '.join(str(error).split()) or type(error).__name__}") from None


def _parse(data: Mapping[str, NDArray[Any]]) -> Saved:
    """Parse and check the arrays of a file."""
    if "trained_for" not in data:
        raise ValueError("it does not say what it was trained for; a policy is the policy.npz of a run")
    trained_for = json.loads(str(data["trained_for"]))
    if not isinstance(trained_for, dict):
        raise ValueError("what it was trained for is no description of a game")
    inputs = encoded_size(trained_for.get("observation", []))
    layers = _layers(data, "", inputs)
    if layers is None:
        raise ValueError("it has no layers")
    leaf, value = _layers(data, "leaf_", None), _layers(data, "value_", inputs)
    for name, network in (("leaf", leaf), ("value", value)):
        if network is not None and network[-1][1].size != 1:
            raise ValueError(f"its {name} network has {network[-1][1].size} outputs, not 1")
    base = Base.from_json(json.loads(str(data["base"]))) if "base" in data else None
    return Saved(trained_for, layers, Estimates(leaf, value), base)


def _layers(data: Mapping[str, NDArray[Any]], prefix: str, inputs: int | None) -> Layers | None:
    """Return the layers under a prefix, checked, or None if there are none; `inputs` None: whatever the first layer takes."""
    layers: Layers = []
    while f"{prefix}weight_{len(layers)}" in data:
        weight, bias = data[f"{prefix}weight_{len(layers)}"], data[f"{prefix}bias_{len(layers)}"]
        inputs = weight.shape[0] if inputs is None and weight.ndim else inputs
        if weight.ndim != 2 or bias.shape != weight.shape[1:] or weight.shape[0] != inputs:
            raise ValueError(f"layer {prefix}{len(layers) + 1} has the shape {weight.shape}; inputs are {inputs}")
        if any(array.dtype != np.float32 or not np.isfinite(array).all() for array in (weight, bias)):
            raise ValueError(f"layer {prefix}{len(layers) + 1} has numbers that are not finite float32")
        layers.append((weight, bias))
        inputs = weight.shape[1]
    return layers or None
