"""pink's tasks about all joints but a root."""

from typing import final

import numpy as np
import pinocchio as pin

from poise.compat.pink.configuration import Configuration
from poise.compat.pink.exceptions import TargetNotSet, TaskDefinitionError
from poise.compat.pink.tasks.task import Task
from poise.compat.pink.utils import get_root_joint_dim
from poise.spatial import Array, ArrayLike


class _OfJoints(Task):
    """Velocities of all joints but "root_joint"."""

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(k, nv) of a change."""
        return np.asarray(configuration.tangent.eye[get_root_joint_dim(configuration.model)[1] :])


@final
class PostureTask(_OfJoints):
    """Stay near a q."""

    target_q: Array | None = None

    def __init__(self, cost: float, lm_damping: float = 0.0, gain: float = 1.0) -> None:
        super().__init__(cost, gain, lm_damping)

    def set_target(self, target_q: ArrayLike) -> None:
        """A q (nq,)."""
        self.target_q = np.array(target_q, dtype=np.float64)

    def set_target_from_configuration(self, configuration: Configuration) -> None:
        """Where it stands now."""
        self.set_target(configuration.q)

    def compute_error(self, configuration: Configuration) -> Array:
        """(k,) the way from the target."""
        if self.target_q is None:
            raise TargetNotSet(self)
        way = pin.difference(configuration.model, self.target_q, configuration.q)
        return np.asarray(way[get_root_joint_dim(configuration.model)[1] :])


class _Moving(_OfJoints):
    """A change (k,) that a step is to make."""

    change: Array | None = None

    def __init__(self, cost: float) -> None:
        super().__init__(cost)

    def compute_error(self, configuration: Configuration) -> Array:
        """(k,) less the change."""
        count = configuration.model.nv - get_root_joint_dim(configuration.model)[1]
        change = np.zeros(count) if self.change is None else self.change
        if len(change) not in (count, configuration.model.nv):
            raise TaskDefinitionError(f"the velocity has {len(change)} numbers; the joints but the root have {count}")
        return -change[len(change) - count :]


@final
class JointVelocityTask(_Moving):
    """Move with a velocity."""

    def set_target(self, target_v: Array, dt: float) -> None:
        """(k,) [rad/s, m/s] over `dt` [s]; raises TaskDefinitionError."""
        if np.ndim(target_v) != 1:
            raise TaskDefinitionError(f"target_v has the shape {np.shape(target_v)}; it must be one row of numbers")
        self.change = np.asarray(target_v, dtype=np.float64) * dt

    def compute_error(self, configuration: Configuration) -> Array:
        """(k,) less what it is to move."""
        if self.change is None:
            raise TargetNotSet(self)
        return super().compute_error(configuration)


@final
class DampingTask(_Moving):
    """Move little."""


@final
class LowAccelerationTask(_Moving):
    """Move as in the step before."""

    def set_last_integration(self, v_prev: Array, dt: float) -> None:
        """The velocity (nv,) of the step before."""
        self.change = np.asarray(v_prev, dtype=np.float64) * dt
