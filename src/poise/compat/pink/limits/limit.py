"""What pink's limits have in common, and limits of one's own: G dq <= h."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from poise.spatial import Array

if TYPE_CHECKING:
    from poise.compat.pink.configuration import Configuration

Sides = tuple[Array, Array]
_BOUNDLESS: Final = 1e20
"""From which on a limit of Pinocchio is none."""
_LEAST: Final = 1e-10


class Limit(ABC):
    """What a step must keep."""

    @abstractmethod
    def compute_qp_inequalities(self, configuration: "Configuration", dt: float) -> Sides | None:
        """G (k, nv) and h (k,) of a step of `dt` [s]; None: there is nothing to keep."""


def limited(most: Array) -> Any:
    """Which of the largest values are limits."""
    return (np.asarray(most) < _BOUNDLESS) & (np.asarray(most) > _LEAST)


def ranged(model: Any) -> Any:
    """(nq,) which numbers of q have limits."""
    low, high = model.lowerPositionLimit, model.upperPositionLimit
    return np.array(model.hasConfigurationLimit()) & (high < _BOUNDLESS) & (high > low + _LEAST)


def velocities(model: Any, numbers: Any, by_q: bool) -> Any:
    """(nv,) the velocities of joints of which all numbers, (nq,) with `by_q`, else (nv,), are true."""
    out = np.zeros(model.nv, dtype=bool)
    for joint in model.joints:
        if joint.idx_v >= 0:
            at = slice(joint.idx_q, joint.idx_q + joint.nq) if by_q else slice(joint.idx_v, joint.idx_v + joint.nv)
            out[joint.idx_v : joint.idx_v + joint.nv] = numbers[at].all()
    return out


def left(configuration: "Configuration") -> Sides:
    """(nv,) how far it is to the upper limits of the positions, and to the lower ones; infinite without."""
    model, q = configuration.model, configuration.q
    some = velocities(model, ranged(model), by_q=True)
    low, high = (np.where(ranged(model), x, q) for x in (model.lowerPositionLimit, model.upperPositionLimit))
    up, down = np.full(model.nv, np.inf), np.full(model.nv, np.inf)
    for joint in model.joints:
        at = slice(joint.idx_v, joint.idx_v + joint.nv)
        if joint.idx_v >= 0 and some[at].all() and joint.nq == joint.nv:
            places = slice(joint.idx_q, joint.idx_q + joint.nq)
            up[at], down[at] = (high - q)[places], (q - low)[places]
    return up, down
