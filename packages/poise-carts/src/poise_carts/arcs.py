"""Arcs: where a base that does not slip gets to, and the rows of its way."""

from typing import Final

import numpy as np

from poise.extending import Array, ArrayLike

_STRAIGHT: Final = 1e-4
"""A turn below which the sine over the turn is its series, to rounding [rad]."""


def moved(pose: Array, lengths: ArrayLike, turns: ArrayLike) -> Array:
    """(..., 3) poses x, y [m], angle [rad] after k arcs, one after the other, from `pose` (..., 3): `lengths` (..., k)
    [m], negative backwards, while it turns evenly by `turns` (..., k) [rad].  A length of 0 is a turn on the spot.

    The chord of an arc is as long as the arc times sin(h) / h, h half of its turn, and leads where the heading is half
    way.
    """
    lengths, turns = np.asarray(lengths, dtype=float), np.asarray(turns, dtype=float)
    chord = lengths * _chord_share(0.5 * turns)
    middle = pose[..., 2:] + np.cumsum(turns, axis=-1) - 0.5 * turns
    return np.stack(
        [
            pose[..., 0] + (chord * np.cos(middle)).sum(axis=-1), pose[..., 1] + (chord * np.sin(middle)).sum(axis=-1),
            pose[..., 2] + turns.sum(axis=-1),
        ],
        axis=-1,
    )  # fmt: skip


def seen_from(pose: Array, other: Array) -> Array:
    """(..., 3) `other` as seen from `pose`: forwards, to the left, and the turn between them, as it is counted."""
    x, y, turn = np.moveaxis(other - pose, -1, 0)
    c, s = np.cos(pose[..., 2]), np.sin(pose[..., 2])
    return np.stack([c * x + s * y, c * y - s * x, turn], axis=-1)


def arcs(poses: Array) -> tuple[Array, Array, Array]:
    """Of poses (n + 1, 3), one after the other: (n,) the lengths [m] and turns [rad] of the arcs from each to the next,
    negative lengths backwards, and (n,) how far the next is to the left of its arc [m]."""
    ahead, left, turn = np.moveaxis(seen_from(poses[:-1], poses[1:]), -1, 0)
    c, s = np.cos(0.5 * turn), np.sin(0.5 * turn)
    return (c * ahead + s * left) / _chord_share(0.5 * turn), turn, c * left - s * ahead


def _chord_share(half: Array) -> Array:
    """The chord of an arc over its length, by half of its turn."""
    near = np.abs(half) < _STRAIGHT
    safe = np.where(near, 1.0, half)
    return np.asarray(np.where(near, 1.0 - half**2 / 6.0, np.sin(safe) / safe))
