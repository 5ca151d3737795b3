"""Multi-layer perceptrons in NumPy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Layers = list[tuple[NDArray[np.float32], NDArray[np.float32]]]
"""Weights ``(inputs, outputs)`` and biases ``(outputs,)``, float32, first layer first."""


def forward(
    inputs: NDArray[np.float32], layers: Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]], activation: str = "tanh"
) -> NDArray[np.float32]:
    """Return the outputs ``(k, outputs)`` of a network for inputs ``(k, D)``.

    Parameters
    ----------
    inputs
        Float32 ``(k, D)``.
    layers
        The layers.
    activation
        What stands between the layers: ``"tanh"`` or ``"relu"``.
    """
    for i, (weight, bias) in enumerate(layers):
        if i and activation == "tanh":
            np.tanh(inputs, out=inputs)
        elif i:
            np.maximum(inputs, 0, out=inputs)
        inputs = inputs @ weight
        inputs += bias
    return inputs
