"""pink's task about a wheel that rolls."""

import numpy as np
import pinocchio as pin

from poise.extending import Array, ArrayLike
from poise_compat.pink.configuration import Configuration
from poise_compat.pink.tasks.task import Task


class RollingTask(Task):
    """Keep the rim of a wheel on a floor, its plane of x and y: it rolls and does not slip."""

    def __init__(
        self, hub_frame: str, floor_frame: str, wheel_radius: float, cost: ArrayLike | None, gain: float = 1.0,
        lm_damping: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(cost, gain, lm_damping)
        self.hub_frame, self.floor_frame, self.wheel_radius = hub_frame, floor_frame, wheel_radius

    def compute_error(self, configuration: Configuration) -> Array:
        """(3,) how high the rim is above the floor, and two zeros [m]."""
        place = configuration.get_transform(self.hub_frame, self.floor_frame).translation
        return np.array([0.0, 0.0, place[2] - self.wheel_radius])

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(3, nv) from velocities to that of the rim where it meets the floor, along the axes of the floor."""
        turn = configuration.get_transform(self.hub_frame, self.floor_frame).rotation
        rows = configuration.get_frame_jacobian(self.hub_frame)
        down = np.array([0.0, 0.0, -self.wheel_radius])
        return np.asarray(turn @ rows[:3] - pin.skew(down) @ turn @ rows[3:])
