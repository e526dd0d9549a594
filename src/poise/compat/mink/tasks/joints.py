"""mink's tasks about all joints."""

from typing import Any, final

import mujoco
import numpy as np

from poise.compat.mink.configuration import Configuration
from poise.compat.mink.exceptions import InvalidTarget, TargetNotSet, TaskDefinitionError
from poise.compat.mink.tasks.task import Task, costs
from poise.compat.mink.utils import get_freejoint_dims
from poise.spatial import Array, ArrayLike


class _OfJoints(Task):
    """One cost, or one a velocity of MuJoCo."""

    def __init__(self, model: Any, cost: ArrayLike, gain: float = 1.0, lm_damping: float = 0.0) -> None:
        super().__init__(np.zeros(int(model.nv)), gain, lm_damping)
        self._free = get_freejoint_dims(model)[1]
        self._rows = np.eye(model.nv)
        self._rows[:, self._free] = 0.0
        self.set_cost(cost)

    def set_cost(self, cost: ArrayLike) -> None:
        """Of one number, or one a velocity."""
        self.cost[:] = costs("cost", cost, len(self.cost))

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(nv, nv) of a change; that of a free joint counts nothing."""
        return self._rows


class PostureTask(_OfJoints):
    """Stay near a qpos; free joints are left alone."""

    target_q: Array | None = None

    def set_target(self, target_q: ArrayLike) -> None:
        """A qpos (nq,)."""
        self.target_q = np.array(target_q, dtype=np.float64)

    def set_target_from_configuration(self, configuration: Configuration) -> None:
        """Where it stands now."""
        self.set_target(configuration.q)

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


@final
class DampingTask(PostureTask):
    """Move little, whatever its target; free joints are left alone."""

    def __init__(self, model: Any, cost: ArrayLike) -> None:
        super().__init__(model, cost, gain=0.0)

    def compute_error(self, configuration: Configuration) -> Array:
        """(nv,) nothing."""
        return np.zeros(configuration.nv)


@final
class DofFreezingTask(Task):
    """Move some velocities not at all, as a constraint; as a task, little."""

    def __init__(self, model: Any, dof_indices: list[int], gain: float = 1.0) -> None:
        some = list(dof_indices)
        if not some or len(set(some)) < len(some) or not 0 <= min(some) <= max(some) < model.nv:
            raise TaskDefinitionError(
                f"dof_indices is {some}; it must be one or more of 0 to {model.nv - 1}, each once"
            )
        super().__init__(np.ones(len(some)), gain)
        self.dof_indices = sorted(some)

    def compute_error(self, configuration: Configuration) -> Array:
        """(k,) nothing."""
        return np.zeros(len(self.dof_indices))

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(k, nv) of a change."""
        return np.eye(configuration.nv)[self.dof_indices]
