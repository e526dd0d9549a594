"""mink's limits of joints."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, final

import mujoco
import numpy as np

from poise.compat.mink.configuration import Configuration
from poise.compat.mink.constants import dof_width
from poise.compat.mink.exceptions import LimitDefinitionError
from poise.compat.mink.limits.limit import Constraint, Limit
from poise.spatial import ArrayLike

_FREE: Final = int(mujoco.mjtJoint.mjJNT_FREE)
_NOBODY: Final[Mapping[str, ArrayLike]] = MappingProxyType({})


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
        self._sides = np.concatenate([rows, -rows])
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
        return Constraint(np.concatenate([self._sides, turns]), np.minimum(self.gain * most, most))


def ranges(configuration: Configuration) -> ConfigurationLimit:
    """All of the ranges of the joints."""
    if configuration.ranges is None:
        configuration.ranges = ConfigurationLimit(configuration.model)
    found: ConfigurationLimit = configuration.ranges
    return found


@final
class VelocityLimit(Limit):
    """Largest speeds by joint [rad/s or m/s], one number or one a velocity of the joint."""

    def __init__(self, model: Any, velocities: Mapping[str, ArrayLike] = _NOBODY) -> None:
        self.model, self.velocities = model, velocities
        indices, limit = list[int](), list[float]()
        for name, speed in velocities.items():
            joint = model.joint(name)
            count, start = dof_width(joint.type[0]), int(joint.dofadr[0])
            given = np.atleast_1d(np.asarray(speed, dtype=np.float64))
            if joint.type[0] == _FREE:
                raise LimitDefinitionError(f"joint {name!r} is a free joint; use a FreeJointVelocityLimit")
            if given.shape not in ((1,), (count,)) or not (given >= 0.0).all():
                raise LimitDefinitionError(f"the speed of {name!r} is {speed!r}; it must be {count} numbers, 0 or more")
            indices += range(start, start + count)
            limit += np.broadcast_to(given, count).tolist()
        self.indices, self.limit = np.array(indices, dtype=np.int64), np.array(limit)
        rows = np.eye(model.nv)[self.indices]
        self._sides = np.concatenate([rows, -rows])

    def compute_qp_inequalities(self, configuration: Configuration, dt: float) -> Constraint:
        """How far each joint may go in `dt`."""
        return Constraint(self._sides, dt * np.concatenate([self.limit, self.limit]))
