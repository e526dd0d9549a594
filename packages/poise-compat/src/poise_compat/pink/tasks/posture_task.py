"""pink's task that keeps a posture."""

import numpy as np
import pinocchio as pin

from poise.extending import Array
from poise_compat.pink.configuration import Configuration
from poise_compat.pink.exceptions import TargetNotSet, TaskDefinitionError
from poise_compat.pink.tasks.task import Task
from poise_compat.pink.utils import get_root_joint_dim
from poise_compat.posture_target import PostureTarget


class OfJoints(Task):
    """Velocities of all joints but "root_joint"."""

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(k, nv) of a change."""
        return np.asarray(configuration.tangent.eye[get_root_joint_dim(configuration.model)[1] :])

    def lacking(self, configuration: Configuration, change: Array) -> Array:
        """(k,) less a change, (k,) or (nv,), that a step is to make; raises TaskDefinitionError for another."""
        count = configuration.model.nv - get_root_joint_dim(configuration.model)[1]
        if len(change) not in (count, configuration.model.nv):
            raise TaskDefinitionError(f"the velocity has {len(change)} numbers; the joints but the root have {count}")
        return -change[len(change) - count :]


class PostureTask(PostureTarget, OfJoints):
    """Stay near a q."""

    def __init__(self, cost: float, lm_damping: float = 0.0, gain: float = 1.0) -> None:
        super().__init__(cost, gain, lm_damping)

    def compute_error(self, configuration: Configuration) -> Array:
        """(k,) the way from the target."""
        if self.target_q is None:
            raise TargetNotSet(self)
        way = pin.difference(configuration.model, self.target_q, configuration.q)
        return np.asarray(way[get_root_joint_dim(configuration.model)[1] :])
