"""pink's tasks about the centre of mass and about wheels."""

from typing import final

import numpy as np
import pinocchio as pin

from poise.compat.pink.configuration import Configuration
from poise.compat.pink.exceptions import TargetNotSet
from poise.compat.pink.tasks.task import Task, costs
from poise.spatial import Array, ArrayLike


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
        self.cost[:] = costs("cost", cost, 3)

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


@final
class OmniwheelTask(RollingTask):
    """The same of a wheel that slips along its axle, the y axis of the floor."""

    def compute_error(self, configuration: Configuration) -> Array:
        """(2,) along x and z."""
        return super().compute_error(configuration)[[0, 2]]

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(2, nv) likewise."""
        return super().compute_jacobian(configuration)[[0, 2]]
