"""What pink's limits have in common, and limits of one's own: G dq <= h."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from poise.extending import Array, ArrayLike
from poise_compat.pink.exceptions import PinkError

if TYPE_CHECKING:
    from poise_compat.pink.configuration import Configuration

Inequalities = tuple[Array, Array]
_BOUNDLESS: Final = 1e20
"""From which on a limit of Pinocchio is none."""
_LEAST: Final = 1e-10


class Limit(ABC):
    """What a step must keep."""

    @abstractmethod
    def compute_qp_inequalities(self, configuration: "Configuration", dt: float) -> Inequalities | None:
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


def each(model: Any, given: ArrayLike | None, name: str, usual: Array | None) -> Array:
    """(nv,) what is given, or what is usual; raises PinkError for other counts."""
    found = np.array(usual if given is None else given, dtype=np.float64).ravel()
    if found.shape != (model.nv,):
        raise PinkError(f"{name} has {len(found)} numbers; the model has {model.nv} velocities")
    return found


def two_sided(rows: Array, up: Array, down: Array) -> Inequalities:
    """-down <= rows dq <= up, as G and h."""
    return np.concatenate([rows, -rows]), np.concatenate([up, down])


@final
class Reach:
    """How far it is to the limits of the positions, of the joints that have a velocity for each number of q."""

    def __init__(self, model: Any) -> None:
        self._model = model
        joints, some = (
            [joint for joint in model.joints if joint.nq == joint.nv],
            velocities(model, ranged(model), by_q=True),
        )
        each = [(joint.idx_q + i, joint.idx_v + i) for joint in joints for i in range(joint.nv)]
        self._places, self.indices = np.array([(q, v) for q, v in each if some[v]], dtype=np.int64).reshape(-1, 2).T

    def left(self, q: Array) -> Inequalities:
        """(k,) how far the velocities of `indices` may go to the upper limits, and to the lower ones."""
        low, high, x = self._model.lowerPositionLimit, self._model.upperPositionLimit, q[self._places]
        return high[self._places] - x, x - low[self._places]
