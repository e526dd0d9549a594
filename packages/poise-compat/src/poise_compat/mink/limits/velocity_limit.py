"""mink's limit of the speeds of joints."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, final

import mujoco
import numpy as np

from poise.extending import ArrayLike
from poise_compat.mink.configuration import Configuration
from poise_compat.mink.constants import dof_width
from poise_compat.mink.exceptions import LimitDefinitionError
from poise_compat.mink.limits.limit import Constraint, Limit

_FREE: Final = int(mujoco.mjtJoint.mjJNT_FREE)


_NOBODY: Final[Mapping[str, ArrayLike]] = MappingProxyType({})


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
        self._matrix = np.concatenate([rows, -rows])

    def compute_qp_inequalities(self, configuration: Configuration, dt: float) -> Constraint:
        """How far each joint may go in `dt`."""
        return Constraint(self._matrix, dt * np.concatenate([self.limit, self.limit]))
