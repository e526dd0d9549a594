"""What mink's tasks that point an axis of a frame have in common; the spin about it stays free."""

from typing import Any

import numpy as np

from poise.extending import Array, ArrayLike
from poise_compat.costs import costs
from poise_compat.mink.configuration import Configuration
from poise_compat.mink.exceptions import TaskDefinitionError
from poise_compat.mink.lie.utils import skew
from poise_compat.mink.tasks.task import Task, unit


class Pointing(Task):
    """An axis, fixed in a frame, of one cost."""

    k = 3

    def __init__(
        self, frame_name: str | int, frame_type: str, axis: ArrayLike = (0.0, 0.0, 1.0), cost: ArrayLike = 1.0,
        gain: float = 1.0, lm_damping: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(np.zeros(self.k), gain, lm_damping)
        self.frame_name, self.frame_type = frame_name, frame_type
        self.set_axis(axis)
        self.set_cost(cost)

    def set_axis(self, axis: ArrayLike) -> None:
        """(3,) of any length but 0; raises TaskDefinitionError."""
        self.axis = unit(TaskDefinitionError, "axis", axis)

    def set_cost(self, cost: ArrayLike) -> None:
        """One number [1/rad]."""
        self.cost[:] = costs(TaskDefinitionError, "cost", cost, 1)

    def compute_error(self, configuration: Configuration) -> Array:
        """(3,) the axis less where it is to point, seen from the frame."""
        return self.axis - self._direction(configuration)[0]

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(3, nv) its derivative."""
        way, near = self._direction(configuration)
        rows = configuration.get_frame_jacobian(self.frame_name, self.frame_type)
        return near * (rows[:3] - np.outer(way, way @ rows[:3])) - skew(way) @ rows[3:]

    def _frame(self, configuration: Configuration) -> Any:
        return configuration.get_transform_frame_to_world(self.frame_name, self.frame_type)

    def _goal(self) -> Any:
        raise NotImplementedError

    def _direction(self, configuration: Configuration) -> tuple[Array, float]:
        """Where the axis is to point, seen from the frame, and the inverse of how far that is [1/m]."""
        raise NotImplementedError
