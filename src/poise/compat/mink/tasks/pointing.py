"""mink's tasks that point an axis of a frame: along a direction, or at a point; the spin about it stays free."""

from typing import Any, final

import numpy as np

from poise.compat.mink.configuration import Configuration
from poise.compat.mink.exceptions import InvalidTarget, TargetNotSet, TaskDefinitionError
from poise.compat.mink.lie.jacobians import skew
from poise.compat.mink.tasks.task import Task, costs, point, unit
from poise.spatial import Array, ArrayLike


class _Pointing(Task):
    """An axis, fixed in a frame, of one cost."""

    def __init__(
        self, frame_name: str | int, frame_type: str, axis: ArrayLike = (0.0, 0.0, 1.0), cost: ArrayLike = 1.0,
        gain: float = 1.0, lm_damping: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(np.zeros(3), gain, lm_damping)
        self.frame_name, self.frame_type = frame_name, frame_type
        self.set_axis(axis)
        self.set_cost(cost)

    def set_axis(self, axis: ArrayLike) -> None:
        """(3,) of any length but 0; raises TaskDefinitionError."""
        self.axis = unit(TaskDefinitionError, "axis", axis)

    def set_cost(self, cost: ArrayLike) -> None:
        """One number [1/rad]."""
        self.cost[:] = costs("cost", cost, 1)

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


@final
class AxisAlignTask(_Pointing):
    """Along a direction of the world."""

    target_dir: Array | None = None

    def set_target(self, target_dir: ArrayLike) -> None:
        """(3,) of any length but 0; raises InvalidTarget."""
        self.target_dir = unit(InvalidTarget, "target_dir", target_dir)

    def set_target_from_configuration(self, configuration: Configuration) -> None:
        """Where the axis points now."""
        self.set_target(self._frame(configuration).rotation().apply(self.axis))

    def _goal(self) -> Array:
        if self.target_dir is None:
            raise TargetNotSet(self)
        return self.target_dir

    def _direction(self, configuration: Configuration) -> tuple[Array, float]:
        return self._frame(configuration).rotation().inverse().apply(self._goal()), 0.0


@final
class LookAtTask(_Pointing):
    """At a point of the world."""

    target_pos: Array | None = None

    def set_target(self, target_pos: ArrayLike) -> None:
        """(3,) [m]; raises InvalidTarget."""
        self.target_pos = point("target_pos", target_pos)

    def set_target_from_configuration(self, configuration: Configuration) -> None:
        """One metre from the frame, where the axis points now."""
        self.set_target(self._frame(configuration).apply(self.axis))

    def _goal(self) -> Array:
        if self.target_pos is None:
            raise TargetNotSet(self)
        return self.target_pos

    def _direction(self, configuration: Configuration) -> tuple[Array, float]:
        way = self._frame(configuration).inverse().apply(self._goal())
        far = max(float(np.linalg.norm(way)), 1e-10)
        return way / far, 1.0 / far
