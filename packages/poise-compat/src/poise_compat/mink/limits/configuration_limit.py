"""mink's limit of the ranges of joints."""

from typing import Any, final

import mujoco
import numpy as np

from poise_compat.mink.configuration import Configuration
from poise_compat.mink.exceptions import LimitDefinitionError
from poise_compat.mink.limits.limit import Constraint, Limit


@final
class ConfigurationLimit(Limit):
    """The ranges of the joints, less `min_distance_from_limits`; a step goes `gain` of the way at most."""

    def __init__(self, model: Any, gain: float = 0.95, min_distance_from_limits: float = 0.0) -> None:
        if not 0.0 < gain <= 1.0:
            raise LimitDefinitionError(f"gain is {gain!r}; it must be above 0 and at most 1")
        self.model, self.gain, self.min_distance_from_limits = model, gain, min_distance_from_limits
        limited = np.asarray(model.jnt_limited, dtype=bool)
        self._joints = np.flatnonzero(limited & (model.jnt_type >= int(mujoco.mjtJoint.mjJNT_SLIDE)))
        rows = np.eye(model.nv)[model.jnt_dofadr[self._joints]]
        self._matrix = np.concatenate([rows, -rows])
        self._balls = np.flatnonzero(limited & (model.jnt_type == int(mujoco.mjtJoint.mjJNT_BALL)))
        if (model.jnt_range[self._balls, 1] <= min_distance_from_limits).any():
            raise LimitDefinitionError(
                f"min_distance_from_limits is {min_distance_from_limits:g}, which leaves a ball joint no turn: lower it"
            )

    def compute_qp_inequalities(self, configuration: Configuration, dt: float) -> Constraint:
        """How far each joint may go, and must where it is outside."""
        m, q, off = self.model, configuration.data.qpos, self.min_distance_from_limits
        x, (low, high) = q[m.jnt_qposadr[self._joints]], m.jnt_range[self._joints].T
        turns, left = np.zeros((len(self._balls), m.nv)), np.zeros(len(self._balls))
        for i, j in enumerate(self._balls):
            turn, at = np.zeros(3), m.jnt_qposadr[j]
            mujoco.mju_quat2Vel(turn, q[at : at + 4], 1.0)
            angle = float(np.linalg.norm(turn))
            turns[i, m.jnt_dofadr[j] : m.jnt_dofadr[j] + 3] = turn / max(angle, 1e-9)
            left[i] = m.jnt_range[j, 1] - off - angle
        most = np.concatenate([high - off - x, x - low - off, left])
        return Constraint(np.concatenate([self._matrix, turns]), np.minimum(self.gain * most, most))


def ranges(configuration: Configuration) -> ConfigurationLimit:
    """All of the ranges of the joints."""
    if configuration.ranges is None:
        configuration.ranges = ConfigurationLimit(configuration.model)
    found: ConfigurationLimit = configuration.ranges
    return found
