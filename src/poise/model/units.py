"""The units of the numbers in a configuration, and whether they are rather degrees."""

import warnings
from typing import TYPE_CHECKING, Final

import numpy as np

from poise.common.array import Array
from poise.model.joint import JointKind

if TYPE_CHECKING:
    from poise.model.configurations import ConfigurationSpace

MANY: Final = 20.0
"""No turn that is meant in radians is so far beyond limits."""
ROUNDED: Final = 0.01
"""Degrees that were rounded may be this far over a limit [rad]."""


def units(model: "ConfigurationSpace") -> dict[str, str]:
    """The unit of every coordinate, also of joints that mimic: m, rad, or nothing for a part of a quaternion."""
    return {
        coordinate: _unit(joint.kind, coordinate.removeprefix(joint.name))
        for joint in model.joints
        for coordinate in joint.coordinates
    }


def _unit(kind: JointKind, part: str) -> str:
    if kind is JointKind.PRISMATIC or part in (".x", ".y", ".z"):
        return "m"
    return "" if part.startswith(".q") else "rad"


def in_degrees(model: "ConfigurationSpace", q: Array, among: slice = slice(None)) -> bool:
    """Whether `q` (nq,), or what is `among` these places, is beyond the limits by more than turns can be meant, and
    within them as degrees."""
    q = q[among]
    if max(map(abs, q.tolist()), default=0.0) <= MANY:
        return False
    lower, upper = model.lower[among], model.upper[among]
    beyond = (q < lower) | (q > upper)
    if not (np.abs(q[beyond]) > MANY).any():
        return False
    unit = units(model)
    turning = np.array([unit[name] == "rad" for name in model.coordinates[among]])
    as_degrees = np.where(turning, np.radians(q), q)
    within = (as_degrees >= lower - ROUNDED) & (as_degrees <= upper + ROUNDED)
    return bool(turning[beyond].any() and within[turning].all())


def ask_for_degrees_in(model: "ConfigurationSpace", q: Array, name: str) -> None:
    """Warn of a configuration (nq,) that seems to be in degrees; of many (..., nq), by the largest number of all.

    The text has no number of q, so that Python's filter says it once in a loop.
    """
    if q.ndim > 1:
        rows = q.reshape(-1, q.shape[-1])
        if not rows.size:
            return
        q = rows[np.fmax.reduce(np.abs(rows), axis=1).argmax() if len(rows) > 1 else 0]
    if in_degrees(model, q):
        warnings.warn(
            f"{name} is far beyond the limits of {model.name} in radians: degrees? numpy.radians makes them radians",
            UserWarning,
            stacklevel=1,  # one place, so that it is asked once
        )
