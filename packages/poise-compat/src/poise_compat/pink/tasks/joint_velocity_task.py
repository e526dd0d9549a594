"""pink's task about the velocities of all joints but a root."""

import numpy as np

from poise.extending import Array
from poise_compat.pink.configuration import Configuration
from poise_compat.pink.exceptions import TargetNotSet, TaskDefinitionError
from poise_compat.pink.tasks.posture_task import OfJoints


class JointVelocityTask(OfJoints):
    """Move with a velocity."""

    change: Array | None = None
    """What a step is to make, (k,) or (nv,)."""

    def __init__(self, cost: float) -> None:
        super().__init__(cost)

    def set_target(self, target_v: Array, dt: float) -> None:
        """(k,) [rad/s, m/s] over `dt` [s]; raises TaskDefinitionError."""
        if np.ndim(target_v) != 1:
            raise TaskDefinitionError(f"target_v has the shape {np.shape(target_v)}; it must be one row of numbers")
        self.change = np.asarray(target_v, dtype=np.float64) * dt

    def compute_error(self, configuration: Configuration) -> Array:
        """(k,) less what it is to move."""
        if self.change is None:
            raise TargetNotSet(self)
        return self.lacking(configuration, self.change)
