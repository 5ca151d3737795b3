"""The softmax over the legal actions of a batch, compiled: few of hundreds of actions are legal, and only they are computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.autograd.function import once_differentiable

from katz_agents.policy import find_set
from katz_env.core.jit import cached

Floats = NDArray[np.float32]
Actions = NDArray[np.int64]
Masks = NDArray[np.bool_]


@cached(allocates=True)
def _forward(logits: Floats, masks: Masks, actions: Actions, probs: Floats, log_probs: Floats, entropies: Floats) -> None:
    """Fill `probs` ``(k, A)``, `log_probs` and `entropies` ``(k,)``."""
    legal = np.empty(masks.shape[1], np.int64)
    probs[:] = 0.0
    for i in range(masks.shape[0]):
        some = legal[: find_set(masks[i], legal)]
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


@cached(allocates=True)
def _backward(
    probs: Floats, entropies: Floats, actions: Actions, to_log_probs: Floats, to_entropies: Floats, grads: Floats
) -> None:
    """Fill `grads` ``(k, A)`` with the gradient of the logits, from those of the log-probabilities and entropies ``(k,)``."""
    possible = np.empty(probs.shape[1], np.int64)
    grads[:] = 0.0
    for i in range(probs.shape[0]):
        for action in possible[: find_set(probs[i], possible)]:
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
        # The gradient of a mean is a view that repeats one number; the compiled function takes contiguous arrays.
        arrays = (probs, entropies, actions, to_log_probs.contiguous(), to_entropies.contiguous(), grads)
        _backward(*(x.numpy() for x in arrays))
        return grads, None, None


def masked_softmax(logits: torch.Tensor, masks: torch.Tensor, actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute what PPO needs of the softmax over the legal actions.

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
        Both ``(k,)``: the logarithm of each action's probability, and the entropy of each distribution. Gradients flow through
        both.
    """
    result: tuple[torch.Tensor, torch.Tensor] = _MaskedSoftmax.apply(logits, masks, actions)  # type: ignore[no-untyped-call]
    return result
