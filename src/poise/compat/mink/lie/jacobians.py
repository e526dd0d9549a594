"""Left Jacobians of the exponentials of rotations and of motions; Barfoot 2017, section 7.1.5."""

import math
from typing import Final

import numpy as np

from poise.spatial import Array, ArrayLike

_SMALL: Final = 1e-3
"""Below which angle the series are as good as what is divided by its powers [rad]."""


def skew(x: ArrayLike) -> Array:
    """(3, 3) the cross product with x (3,)."""
    a, b, c = np.asarray(x, dtype=np.float64).tolist()
    return np.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])


def of_turn(rotvec: Array) -> Array:
    """(3, 3) at a rotation vector (3,) [rad]; equation 7.77."""
    w, t = skew(rotvec), math.sqrt(rotvec @ rotvec)
    first, second = 0.5 - t**2 / 24.0, 1.0 / 6.0 - t**2 / 120.0
    if t > _SMALL:
        first, second = (1.0 - math.cos(t)) / t**2, (t - math.sin(t)) / t**3
    return np.asarray(np.eye(3) + first * w + second * (w @ w))


def of_twist(twist: Array) -> Array:
    """(6, 6) at a twist (6,) [m, rad]; equations 7.85 and 7.86."""
    out = np.zeros((6, 6))
    out[:3, :3] = out[3:, 3:] = of_turn(twist[3:])
    out[:3, 3:] = _of_both(twist)
    return out


def inverse_of_turn(rotvec: Array) -> Array:
    """(3, 3) the inverse of `of_turn`: what of a twist is linear is this times where its exponential comes to."""
    w, t = skew(rotvec), math.sqrt(rotvec @ rotvec)
    share = 1.0 / 12.0 + t**2 / 720.0 if t < _SMALL else (1.0 - 0.5 * t / math.tan(0.5 * t)) / t**2
    out = share * (w @ w) - 0.5 * w
    out.ravel()[::4] += 1.0
    return np.asarray(out)


def inverse_of_twist(twist: Array) -> Array:
    """(6, 6) the inverse of `of_twist`; equation 7.95."""
    out = np.zeros((6, 6))
    out[:3, :3] = out[3:, 3:] = turn = inverse_of_turn(twist[3:])
    out[:3, 3:] = -turn @ _of_both(twist) @ turn
    return out


def _of_both(twist: Array) -> Array:
    v, w, t = skew(twist[:3]), skew(twist[3:]), math.sqrt(twist[3:] @ twist[3:])
    a, b, c = 1.0 / 6.0 - t**2 / 120.0, 1.0 / 24.0 - t**2 / 720.0, 1.0 / 120.0 - t**2 / 2520.0
    if t > 10.0 * _SMALL:
        sine, cosine = math.sin(t), math.cos(t)
        a = (t - sine) / t**3
        b = (t**2 + 2.0 * cosine - 2.0) / (2.0 * t**4)
        c = (2.0 * t - 3.0 * sine + t * cosine) / (2.0 * t**5)
    wv, vw = w @ v, v @ w
    wvw = wv @ w
    return np.asarray(0.5 * v + a * (wv + vw + wvw) + b * (w @ wv + vw @ w - 3.0 * wvw) + c * (wvw @ w + w @ wvw))
