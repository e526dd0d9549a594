"""mink's task that keeps a posture."""

from typing import Any

import mujoco
import numpy as np

from poise.extending import Array, ArrayLike
from poise_compat.costs import costs
from poise_compat.mink.configuration import Configuration
from poise_compat.mink.exceptions import InvalidTarget, TargetNotSet, TaskDefinitionError
from poise_compat.mink.tasks.task import Task
from poise_compat.mink.utils import get_freejoint_dims
from poise_compat.posture_target import PostureTarget


class PostureTask(PostureTarget, Task):
    """Stay near a qpos, for one cost, or one a velocity of MuJoCo; free joints are left alone."""

    def __init__(self, model: Any, cost: ArrayLike, gain: float = 1.0, lm_damping: float = 0.0) -> None:
        super().__init__(np.zeros(int(model.nv)), gain, lm_damping)
        self._free = get_freejoint_dims(model)[1]
        self._rows = np.eye(model.nv)
        self._rows[:, self._free] = 0.0
        self.set_cost(cost)

    def set_cost(self, cost: ArrayLike) -> None:
        """Of one number, or one a velocity."""
        self.cost[:] = costs(TaskDefinitionError, "cost", cost, len(self.cost))

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(nv, nv) of a change; that of a free joint counts nothing."""
        return self._rows

    def compute_error(self, configuration: Configuration) -> Array:
        """(nv,) the way from the target."""
        if self.target_q is None:
            raise TargetNotSet(self)
        model = configuration.model
        if self.target_q.shape != (model.nq,):
            raise InvalidTarget(f"target_q has the shape {self.target_q.shape}; it must be ({model.nq},), a qpos")
        way = np.zeros(model.nv)
        mujoco.mj_differentiatePos(model, way, 1.0, self.target_q, configuration.data.qpos)
        way[self._free] = 0.0
        return way
