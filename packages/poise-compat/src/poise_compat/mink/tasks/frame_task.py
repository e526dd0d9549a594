"""mink's task about the pose of a frame: costs in the inverse of m and rad, a target that is set."""

from typing import Any, final

import numpy as np

from poise.extending import Array, ArrayLike
from poise_compat.costs import PoseCosts
from poise_compat.mink.configuration import Configuration
from poise_compat.mink.exceptions import TargetNotSet, TaskDefinitionError
from poise_compat.mink.lie.se3 import SE3
from poise_compat.mink.tasks.task import Task


class Framed(PoseCosts, Task):
    """A frame, and what a pose of it costs."""

    k, refusal = 6, TaskDefinitionError

    def __init__(self, frame: tuple[Any, str], place: ArrayLike, turn: ArrayLike, gain: float, lm: float) -> None:
        super().__init__(np.zeros(self.k), gain, lm)
        self.frame_name, self.frame_type = frame
        self.set_position_cost(place)
        self.set_orientation_cost(turn)


@final
class FrameTask(Framed):
    """Bring a frame to a pose of the world."""

    transform_target_to_world: SE3 | None = None

    def __init__(
        self, frame_name: str | int, frame_type: str, position_cost: ArrayLike, orientation_cost: ArrayLike,
        gain: float = 1.0, lm_damping: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__((frame_name, frame_type), position_cost, orientation_cost, gain, lm_damping)

    def set_target(self, transform_target_to_world: SE3) -> None:
        """Where to, in the world."""
        self.transform_target_to_world = transform_target_to_world.copy()

    def set_target_from_configuration(self, configuration: Configuration) -> None:
        """Where the frame is now."""
        self.set_target(configuration.get_transform_frame_to_world(self.frame_name, self.frame_type))

    def compute_error(self, configuration: Configuration) -> Array:
        """(6,) twist [m, rad]: from the frame to the target, seen from the frame."""
        return self._target().minus(configuration.get_transform_frame_to_world(self.frame_name, self.frame_type))

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(6, nv) its derivative."""
        return self.linear(configuration)[1]

    def linear(self, configuration: Configuration) -> tuple[Array, Array]:
        """Both."""
        error = self.compute_error(configuration)
        return error, -SE3.ljacinv(error) @ configuration.get_frame_jacobian(self.frame_name, self.frame_type)

    def _target(self) -> SE3:
        if self.transform_target_to_world is None:
            raise TargetNotSet(self)
        return self.transform_target_to_world
