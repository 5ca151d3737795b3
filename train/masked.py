"""The masked softmax of a batch, compiled: of 256 actions few are legal, and only those are computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch.autograd.function import once_differentiable

from katz_agents.policy import find

Array = NDArray[Any]


@njit(cache=True, nogil=True)
def _forward(logits: Array, masks: Array, actions: Array, probs: Array, log_probs: Array, entropies: Array) -> None:
    """Fill `probs` ``(k, A)``, `log_probs` and `entropies` ``(k,)``."""
    legal = np.empty(masks.shape[1], np.int64)
    probs[:] = 0.0
    for i in range(masks.shape[0]):
        some = legal[: find(masks[i], legal)]
        highest = -np.inf
        for action in some:
            highest = max(highest, logits[i, action])
        total, weighted = 0.0, 0.0
        for action in some:
            above = logits[i, action] - highest
            p = np.exp(above)
            probs[i, action] = p
            total += p
            weighted += p * above
        for action in some:
            probs[i, action] /= total
        entropies[i] = np.log(total) - weighted / total
        log_probs[i] = logits[i, actions[i]] - highest - np.log(total)


@njit(cache=True, nogil=True)
def _backward(probs: Array, entropies: Array, actions: Array, to_log_probs: Array, to_entropies: Array, grads: Array) -> None:
    """Fill `grads` ``(k, A)``, the gradient of the logits."""
    possible = np.empty(probs.shape[1], np.int64)
    grads[:] = 0.0
    for i in range(probs.shape[0]):
        for action in possible[: find(probs[i], possible)]:
            p = probs[i, action]
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
