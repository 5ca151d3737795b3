"""Checkpoints and exported networks.

A checkpoint is one ``.npz`` archive: NumPy arrays, and as one of them a text in JSON. Nothing in it is ever unpickled, so a
checkpoint from somebody else can be wrong but cannot run code.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray

from katz_agents.archive import load_arrays, save_arrays
from katz_agents.base import Base
from katz_agents.policy import Network
from katz_agents.policy_file import save_policy
from katz_env import Game
from katz_train.learner import Learner
from katz_train.networks import EncodedMlp
from katz_train.run_directory import cannot_save

State = dict[str, Any]
"""JSON values, arrays and dictionaries of these, by name."""


def network_agent(actor: EncodedMlp, game: Game, base: Base | None, name: str = "ppo", sample: bool = False) -> Network:
    """The agent that plays a policy network, which it shares: it plays on as the network learns."""
    return Network(actor.layers(), game.describe(), name, sample, base=base)


def export_policy(actor: EncodedMlp, game: Game, base: Base | None, path: Path) -> None:
    """Write the policy network for the agent ``policy``, which needs no PyTorch.

    Raises
    ------
    ValueError
        If it cannot be written; what was there before is kept.
    """
    try:
        save_policy(path, game, actor.layers(), base=base)
    except OSError as error:
        raise cannot_save(path, error) from None


def save_state(path: Path, state: Mapping[str, Any]) -> None:
    """Write JSON values and arrays, by name and nested in dictionaries whose keys are text.

    Raises
    ------
    ValueError
        If it cannot be written; what was there before is kept.
    """
    arrays: dict[str, NDArray[Any]] = {}

    def without_arrays(values: Mapping[str, Any], prefix: str) -> dict[str, Any]:
        plain: dict[str, Any] = {}
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                arrays[prefix + name] = value
            else:
                plain[name] = without_arrays(value, f"{prefix}{name}/") if isinstance(value, Mapping) else value
        return plain

    text = json.dumps(without_arrays(state, ""))
    try:
        save_arrays(path, arrays | {"json": np.frombuffer(text.encode(), np.uint8)}, compressed=False)
    except OSError as error:
        raise cannot_save(path, error) from None


def load_state(path: Path) -> State:
    """Read what `save_state` wrote.

    Raises
    ------
    ValueError
        If the file cannot be read or holds something else.
    """
    try:
        arrays = load_arrays(path)
        state = json.loads(arrays.pop("json").tobytes())
        for name, array in arrays.items():
            *parents, last = name.split("/")
            inside = state
            for parent in parents:
                inside = inside[parent]
            inside[last] = array
    except OSError as error:
        raise ValueError(f"cannot read the checkpoint {path}: {error.strerror or error}") from None
    except Exception as error:  # text and arrays that do not belong together may raise anything
        raise ValueError(f"{path} is not a checkpoint: {' '.join(str(error).split()) or type(error).__name__}") from None
    return cast(State, state)


def check_game(state: State, game: Game, path: Path) -> None:
    """ValueError if the state was saved for another game, other rules or another observation."""
    if not isinstance(state.get("game"), dict):
        raise ValueError(f"{path} does not say which game it was trained for; it was not saved by this program")
    difference = game.difference(state["game"])
    if difference:
        key, trained, asked = difference
        raise ValueError(f"{path} was trained for {key} {trained}; this run is for {asked}")


# --- parameters as arrays


def parameters_to_arrays(learner: Learner) -> State:
    """The parameters of the networks and the moments of the optimiser, and the networks before the last update."""
    moments = learner.policy.optimizer.state_dict()["state"]
    before = learner.networks_before_update
    return {
        "policy": _arrays(learner.policy.state_dict()),
        "optimizer": {str(i): _arrays(values) for i, values in moments.items()},
        "before_update": {name: _arrays(network.state_dict()) for name, network in before._asdict().items()} if before else {},
    }


def arrays_to_parameters(learner: Learner, state: State) -> None:
    """Give a learner the parameters from `parameters_to_arrays`; ValueError or RuntimeError if they do not fit."""
    for i, parameter in enumerate(learner.policy.parameters()):
        moments = state["optimizer"].get(str(i), {})
        if any(array.size > 1 and array.shape != tuple(parameter.shape) for array in moments.values()):
            raise ValueError("the moments of its optimiser have other shapes than the parameters")
    optimizer = {
        "state": {int(i): _tensors(values) for i, values in state["optimizer"].items()},
        "param_groups": learner.policy.optimizer.state_dict()["param_groups"],
    }
    parameters: dict[str, Any] = {"policy": _tensors(state["policy"]), "policy.optimizer": optimizer}
    learner.set_parameters(parameters)
    if state["before_update"]:
        learner.networks_before_update = copy.deepcopy(learner.policy.networks)
        for name, network in learner.networks_before_update._asdict().items():
            network.load_state_dict(_tensors(state["before_update"][name]))


def _arrays(tensors: Mapping[str, torch.Tensor]) -> dict[str, NDArray[Any]]:
    return {name: tensor.detach().numpy() for name, tensor in tensors.items()}


def _tensors(arrays: Mapping[str, NDArray[Any]]) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
