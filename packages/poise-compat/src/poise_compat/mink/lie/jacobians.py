"""Left Jacobians of the exponentials of rotations and of motions; Barfoot 2017, section 7.1.5.

A twist acts on twists as the rotation vector w + eps v, eps^2 = 0, of dual numbers acts on vectors.  So the Jacobian of
a motion is that of a rotation, 1 + a W + b W^2 at the angle t, of a dual vector: on its diagonal as it is, and above,
the part of eps, its derivative from w along v.
"""

import math
from collections.abc import Callable
from typing import Final

import mujoco
import numpy as np

from poise.extending import Array
from poise_compat.mink.lie.utils import skew

_Three = tuple[float, float, float]
_Four = tuple[float, float, float, float]
_SMALL: Final = 3e-3
"""Below which angle the series are as good as what is divided by its powers [rad]."""


def of_turn(rotvec: Array) -> Array:
    """(3, 3) at a rotation vector (3,) [rad]; equation 7.77."""
    x, y, z = rotvec.tolist()
    a, b, *_ = _coefficients(x * x + y * y + z * z)
    return np.array(_turn((x, y, z), a, b))


def of_twist(twist: Array) -> Array:
    """(6, 6) at a twist (6,) [m, rad]; equations 7.85 and 7.86."""
    return _twist(twist, _coefficients)


def inverse_of_twist(twist: Array) -> Array:
    """(6, 6) the inverse of `of_twist`; equation 7.95."""
    return _twist(twist, _inverse_coefficients)


def twist_to(place: Array, rotvec: Array) -> Array:
    """(6,) the twist to a place (3,) [m] and a turn (3,) [rad]: the inverse of `of_turn` times one, and the other."""
    (p, q, r), (x, y, z) = place.tolist(), rotvec.tolist()
    square = x * x + y * y + z * z
    a, b, *_ = _inverse_coefficients(square)
    rest, along = 1.0 - b * square, b * (p * x + q * y + r * z)
    i, j, k = y * r - z * q, z * p - x * r, x * q - y * p
    return np.array([rest * p + along * x + a * i, rest * q + along * y + a * j, rest * r + along * z + a * k, x, y, z])


def _coefficients(square: float) -> _Four:
    """a, b, and their derivatives by t, over t; of t^2."""
    t = math.sqrt(square)
    if t < _SMALL:
        return (
            0.5 - square / 24.0,
            1.0 / 6.0 - square / 120.0,
            square / 180.0 - 1.0 / 12.0,
            square / 1260.0 - 1.0 / 60.0,
        )
    a, b = 2.0 * (math.sin(0.5 * t) / t) ** 2, (t - math.sin(t)) / (t * square)
    return a, b, (math.sin(t) / t - 2.0 * a) / square, (a - 3.0 * b) / square


def _inverse_coefficients(square: float) -> _Four:
    """The same of the inverse."""
    if square < _SMALL**2:
        return -0.5, 1.0 / 12.0 + square / 720.0, 0.0, 1.0 / 360.0 + square / 7560.0
    half = 0.5 * math.sqrt(square)
    wide, long = half / math.tan(half), (half / math.sin(half)) ** 2
    return -0.5, (1.0 - wide) / square, 0.0, (long + wide - 2.0) / square**2


def _twist(twist: Array, coefficients: Callable[[float], _Four]) -> Array:
    p, q, r, x, y, z = twist.tolist()
    a, b, da, db = coefficients(x * x + y * y + z * z)
    here, share = _turn((x, y, z), a, b), p * x + q * y + r * z
    da, half = share * da, 0.5 * share * db
    g, k = (b * p + half * x, b * q + half * y, b * r + half * z), (a * p + da * x, a * q + da * y, a * r + da * z)
    above = _block(0.0, (x, y, z), g, k)
    return np.array(
        [*(row + more for row, more in zip(here, above, strict=True)), *([0.0, 0.0, 0.0, *row] for row in here)]
    )


def _turn(w: _Three, a: float, b: float) -> list[list[float]]:
    (x, y, z), half = w, 0.5 * b
    return _block(1.0, w, (half * x, half * y, half * z), (a * x, a * y, a * z))


def _block(one: float, w: _Three, g: _Three, k: _Three) -> list[list[float]]:
    """(one - 2 w . g) I + w g^T + g w^T + K, K being the cross product with k."""
    (x, y, z), (d, e, f), (p, q, r) = w, g, k
    xd, ye, zf, xe, xf, yf = x * d, y * e, z * f, x * e + y * d, x * f + z * d, y * f + z * e
    return [
        [one - 2.0 * (ye + zf), xe - r, xf + q],
        [xe + r, one - 2.0 * (xd + zf), yf - p],
        [xf - q, yf + p, one - 2.0 * (xd + ye)],
    ]


def adjoint(wxyz_xyz: Array) -> Array:
    """(6, 6), by which a frame that is turned and placed so (7,) has its twists seen from outside [m]."""
    turn, out = np.empty((3, 3)), np.zeros((6, 6))
    mujoco.mju_quat2Mat(turn.reshape(9), wxyz_xyz[:4])
    out[:3, :3] = out[3:, 3:] = turn
    out[:3, 3:] = skew(wxyz_xyz[4:]) @ turn
    return out
