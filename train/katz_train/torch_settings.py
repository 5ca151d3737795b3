"""How PyTorch computes while something is trained."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def torch_settings(threads: int, precision: str) -> Iterator[None]:
    """Set PyTorch's number of threads and the precision of its matrix products, and restore both at the end.

    Whoever trains from a notebook goes on with settings of their own: on processors that can multiply bfloat16 the precision
    ``"medium"`` changes the outputs of a network by more than a percent.
    """
    before = torch.get_num_threads(), torch.get_float32_matmul_precision()
    torch.set_num_threads(threads)
    torch.set_float32_matmul_precision(precision)
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        torch.set_float32_matmul_precision(before[1])
