"""pink's task about the pose of a frame: costs in the inverse of m and rad, a target that is set."""

from typing import Any, final

import numpy as np
import pinocchio as pin

from poise.extending import Array, ArrayLike
from poise_compat.costs import PoseCosts
from poise_compat.pink.configuration import Configuration
from poise_compat.pink.exceptions import TargetNotSet, TaskDefinitionError
from poise_compat.pink.tasks.task import Task


class Framed(PoseCosts, Task):
    """What a pose of a frame costs."""

    cost: Array
    refusal = TaskDefinitionError

    def __init__(self, frame: str, place: ArrayLike, turn: ArrayLike, lm_damping: float, gain: float) -> None:
        super().__init__(np.zeros(6), gain, lm_damping)
        self.frame = frame
        self.set_position_cost(place)
        self.set_orientation_cost(turn)

    @property
    def position_cost(self) -> Array:
        """(3,) [1/m]."""
        return self.cost[:3]

    @property
    def orientation_cost(self) -> Array:
        """(3,) [1/rad]."""
        return self.cost[3:]


@final
class FrameTask(Framed):
    """Bring a frame to a pose of the world."""

    transform_target_to_world: Any = None

    def __init__(
        self, frame: str, position_cost: ArrayLike, orientation_cost: ArrayLike, lm_damping: float = 0.0,
        gain: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(frame, position_cost, orientation_cost, lm_damping, gain)

    def set_target(self, transform_target_to_world: Any) -> None:
        """Where to, a `pin.SE3`."""
        self.transform_target_to_world = transform_target_to_world.copy()

    def set_target_from_configuration(self, configuration: Configuration) -> None:
        """Where the frame is now."""
        self.set_target(configuration.get_transform_frame_to_world(self.frame))

    def compute_error(self, configuration: Configuration) -> Array:
        """(6,) twist [m, rad] from the frame to the target, seen from the frame."""
        return np.asarray(pin.log(self._target_in_frame(configuration)).vector)

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(6, nv) its derivative."""
        there = self._target_in_frame(configuration).inverse()
        return np.asarray(-pin.Jlog6(there) @ configuration.get_frame_jacobian(self.frame))

    def _target_in_frame(self, configuration: Configuration) -> Any:
        if self.transform_target_to_world is None:
            raise TargetNotSet(self)
        return configuration.get_transform_frame_to_world(self.frame).actInv(self.transform_target_to_world)
