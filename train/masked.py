"""The masked softmax of a batch, compiled: of 256 actions few are legal, and only those are computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch.autograd.function import once_differentiable

Array = NDArray[Any]


@njit(cache=True, nogil=True)
def _forward(logits: Array, masks: Array, actions: Array, probs: Array, log_probs: Array, entropies: Array) -> None:
    """Fill `probs` ``(k, A)``, `log_probs` and `entropies` ``(k,)``."""
    for i in range(masks.shape[0]):
        highest = -np.inf
        for action in range(masks.shape[1]):
            if masks[i, action] and logits[i, action] > highest:
                highest = logits[i, action]
        total, weighted = 0.0, 0.0
        for action in range(masks.shape[1]):
            if masks[i, action]:
                above = logits[i, action] - highest
                probs[i, action] = np.exp(above)
                total += probs[i, action]
                weighted += probs[i, action] * above
            else:
                probs[i, action] = 0.0
        for action in range(masks.shape[1]):
            probs[i, action] /= total
        entropies[i] = np.log(total) - weighted / total
        log_probs[i] = logits[i, actions[i]] - highest - np.log(total)


@njit(cache=True, nogil=True)
def _backward(probs: Array, entropies: Array, actions: Array, to_log_probs: Array, to_entropies: Array, grads: Array) -> None:
    """Fill `grads` ``(k, A)``, the gradient of the logits."""
    for i in range(probs.shape[0]):
        for action in range(probs.shape[1]):
            p = probs[i, action]
            grads[i, action] = 0.0
            if p > 0:
                grads[i, action] = -p * (to_log_probs[i] + to_entropies[i] * (np.log(p) + entropies[i]))
        grads[i, actions[i]] += to_log_probs[i]


class _MaskedSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, logits: torch.Tensor, masks: torch.Tensor, actions: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities and entropies."""
        probs = torch.empty_like(logits)
        log_probs, entropies = logits.new_empty(len(logits)), logits.new_empty(len(logits))
        arrays = (x.detach().numpy() for x in (logits, masks, actions, probs, log_probs, entropies))
        _forward(*arrays)
        ctx.save_for_backward(probs, entropies, actions)
        return log_probs, entropies

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_log_probs: torch.Tensor, to_entropies: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        """The gradient of the logits."""
        probs, entropies, actions = ctx.saved_tensors
        grads = torch.empty_like(probs)
        # Gradients of means come as views of one number; the compiled function is for arrays that lie in one piece.
        arrays = (probs, entropies, actions, to_log_probs.contiguous(), to_entropies.contiguous(), grads)
        _backward(*(x.numpy() for x in arrays))
        return grads, None, None


def masked_softmax(logits: torch.Tensor, masks: torch.Tensor, actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What PPO needs of the softmax over the legal actions.

    Parameters
    ----------
    logits
        float32 ``(k, A)``.
    masks
        bool ``(k, A)``, at least one legal action in every row.
    actions
        int64 ``(k,)``, legal.

    Returns
    -------
    log_probs, entropies
        ``(k,)``: the logarithm of each action's probability, and the entropy of each distribution. Both can be differentiated.
    """
    result: tuple[torch.Tensor, torch.Tensor] = _MaskedSoftmax.apply(logits, masks, actions)  # type: ignore[no-untyped-call]
    return result
