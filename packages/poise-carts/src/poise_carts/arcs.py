"""Arcs: where a base that does not slip gets to, and the rows of its way."""

from typing import Final

import numpy as np

from poise.extending import Array, ArrayLike

_STRAIGHT: Final = 1e-4
"""A turn below which the sine over the turn is its series, to rounding [rad]."""


def moved(pose: Array, length: ArrayLike, turn: ArrayLike) -> Array:
    """(..., 3) poses x, y [m], angle [rad] after arcs from `pose` (..., 3): `length` [m], negative backwards, while it
    turns evenly by `turn` [rad].  A length of 0 is a turn on the spot.

    The chord of an arc is as long as the arc times sin(h) / h, h half of its turn, and leads where the heading is half
    way.
    """
    length, half = np.asarray(length, dtype=float), 0.5 * np.asarray(turn, dtype=float)
    near = np.abs(half) < _STRAIGHT
    safe = np.where(near, 1.0, half)
    chord = length * np.where(near, 1.0 - half**2 / 6.0, np.sin(safe) / safe)
    middle = pose[..., 2] + half
    return np.stack(
        [pose[..., 0] + chord * np.cos(middle), pose[..., 1] + chord * np.sin(middle), pose[..., 2] + 2.0 * half],
        axis=-1,
    )


def seen_from(pose: Array, other: Array) -> Array:
    """(..., 3) `other` as seen from `pose`: forwards, to the left, and the turn between them, as it is counted."""
    x, y, turn = np.moveaxis(other - pose, -1, 0)
    c, s = np.cos(pose[..., 2]), np.sin(pose[..., 2])
    return np.stack([c * x + s * y, c * y - s * x, turn], axis=-1)
