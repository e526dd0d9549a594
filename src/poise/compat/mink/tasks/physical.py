"""mink's tasks about masses."""

from typing import SupportsFloat, final

import mujoco
import numpy as np

from poise.compat.mink.configuration import Configuration
from poise.compat.mink.exceptions import IntegrationTimestepNotSet, TargetNotSet, TaskDefinitionError
from poise.compat.mink.tasks.task import BaseTask, Objective, Task, costs, point
from poise.spatial import Array, ArrayLike


@final
class ComTask(Task):
    """Bring the centre of mass to a point (3,) [m] of the world."""

    target_com: Array | None = None

    def __init__(self, cost: ArrayLike, gain: float = 1.0, lm_damping: float = 0.0) -> None:
        super().__init__(np.zeros(3), gain, lm_damping)
        self.set_cost(cost)

    def set_cost(self, cost: ArrayLike) -> None:
        """Of one number, or one an axis of the world."""
        self.cost[:] = costs("cost", cost, 3)

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


@final
class KineticEnergyRegularizationTask(BaseTask):
    """Move with little kinetic energy [J], times `cost`; the time of a step is set first."""

    def __init__(self, cost: SupportsFloat) -> None:
        self.cost = float(cost)
        if not self.cost >= 0.0:
            raise TaskDefinitionError(f"cost is {cost!r}; it must be 0 or more")
        self.inv_dt_sq: float | None = None

    def set_dt(self, dt: float) -> None:
        """[s]."""
        self.inv_dt_sq = 1.0 / dt**2

    def compute_qp_objective(self, configuration: Configuration) -> Objective:
        """The inertia matrix, over the time squared."""
        if self.inv_dt_sq is None:
            raise IntegrationTimestepNotSet(self)
        return Objective(self.cost * self.inv_dt_sq * configuration.get_inertia_matrix(), np.zeros(configuration.nv))
