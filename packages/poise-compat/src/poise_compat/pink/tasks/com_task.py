"""pink's task about the centre of mass."""

from typing import final

import numpy as np
import pinocchio as pin

from poise.extending import Array, ArrayLike
from poise_compat.costs import costs
from poise_compat.pink.configuration import Configuration
from poise_compat.pink.exceptions import TargetNotSet, TaskDefinitionError
from poise_compat.pink.tasks.task import Task


@final
class ComTask(Task):
    """Bring the centre of mass to a point (3,) [m] of the world."""

    cost: Array
    target_com: Array | None = None

    def __init__(self, cost: ArrayLike, lm_damping: float = 0.0, gain: float = 1.0) -> None:
        super().__init__(np.zeros(3), gain, lm_damping)
        self.set_cost(cost)

    def set_cost(self, cost: ArrayLike) -> None:
        """Of one number, or one an axis of the world."""
        self.cost[:] = costs(TaskDefinitionError, "cost", cost, 3)

    def set_target(self, target_com: ArrayLike) -> None:
        """Where to."""
        self.target_com = np.array(target_com, dtype=np.float64)

    def set_target_from_configuration(self, configuration: Configuration) -> None:
        """Where it is now."""
        self.set_target(pin.centerOfMass(configuration.model, configuration.data, configuration.q))

    def compute_error(self, configuration: Configuration) -> Array:
        """(3,) from the target to it."""
        if self.target_com is None:
            raise TargetNotSet(self)
        return np.asarray(pin.centerOfMass(configuration.model, configuration.data, configuration.q) - self.target_com)

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(3, nv) its derivative."""
        rows = pin.jacobianCenterOfMass(configuration.model, configuration.data, configuration.q)
        return np.asarray(rows).reshape(3, -1)
