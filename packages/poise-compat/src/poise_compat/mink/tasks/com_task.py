"""mink's task about the centre of mass."""

from typing import final

import mujoco
import numpy as np

from poise.extending import Array, ArrayLike
from poise_compat.costs import costs
from poise_compat.mink.configuration import Configuration
from poise_compat.mink.exceptions import TargetNotSet, TaskDefinitionError
from poise_compat.mink.tasks.task import Task, point


@final
class ComTask(Task):
    """Bring the centre of mass to a point (3,) [m] of the world."""

    k = 3
    target_com: Array | None = None

    def __init__(self, cost: ArrayLike, gain: float = 1.0, lm_damping: float = 0.0) -> None:
        super().__init__(np.zeros(self.k), gain, lm_damping)
        self.set_cost(cost)

    def set_cost(self, cost: ArrayLike) -> None:
        """Of one number, or one an axis of the world."""
        self.cost[:] = costs(TaskDefinitionError, "cost", cost, self.k)

    def set_target(self, target_com: ArrayLike) -> None:
        """Where to."""
        self.target_com = point("target_com", target_com)

    def set_target_from_configuration(self, configuration: Configuration) -> None:
        """Where it is now."""
        self.set_target(configuration.data.subtree_com[1])

    def compute_error(self, configuration: Configuration) -> Array:
        """(3,) from the target to it, of what body 1 carries, as mink has it."""
        if self.target_com is None:
            raise TargetNotSet(self)
        return np.asarray(configuration.data.subtree_com[1] - self.target_com)

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(3, nv) its derivative."""
        rows = np.empty((3, configuration.nv))
        mujoco.mj_jacSubtreeCom(configuration.model, configuration.data, rows, 1)
        return rows
