"""Tensors as arrays."""

from typing import Any

import numpy as np

from poise.extending import Array


def numbers(name: str, tensor: Any, count: int, size: int) -> Array:
    """(count, size); raises ValueError for another shape."""
    found = np.asarray(tensor.detach().cpu().numpy(), dtype=np.float64)
    if found.shape not in ((count, size), (size,)):
        raise ValueError(f"{name} has the shape {found.shape}; it must be {(count, size)}")
    return np.broadcast_to(found, (count, size))


def wxyz(name: str, tensor: Any, count: int) -> Array:
    """(count, 4) quaternions, scalar first and of length 1, of a tensor with the scalar last; NaN for 0."""
    found = numbers(name, tensor, count, 4)[:, [3, 0, 1, 2]]
    size = np.linalg.norm(found, axis=1, keepdims=True)
    return np.asarray(found / np.where(size > 0.0, size, np.nan))
