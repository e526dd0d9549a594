"""pink's limit of the accelerations of joints."""

from typing import TYPE_CHECKING, Any, final

import numpy as np

from poise.extending import Array, ArrayLike
from poise_compat.pink.limits.limit import Inequalities, Limit, Reach, each, limited, two_sided, velocities

if TYPE_CHECKING:
    from poise_compat.pink.configuration import Configuration


@final
class AccelerationLimit(Limit):
    """Largest accelerations (nv,) [rad/s^2, m/s^2], which also stop a joint before the limits of its position."""

    def __init__(self, model: Any, acceleration_limit: ArrayLike) -> None:
        given = each(model, acceleration_limit, "acceleration_limit", None)
        self.model, self.indices = model, np.flatnonzero(velocities(model, limited(given), by_q=False))
        self.a_max, self.Delta_q_prev = given[self.indices], np.zeros(len(self.indices))
        self._reach, self._rows = Reach(model), np.eye(model.nv)[self.indices]

    def set_last_integration(self, v_prev: Array, dt: float) -> None:
        """The velocity (nv,) of the step before, and its time [s]."""
        self.Delta_q_prev = np.asarray(v_prev, dtype=np.float64)[self.indices] * dt

    def compute_qp_inequalities(self, configuration: "Configuration", dt: float) -> Inequalities | None:
        """How far each joint may go: v' - v <= a dt, and room for the way to brake, v^2 / (2 a) + v dt / 2."""
        once, ways = self.a_max * dt**2, np.full((2, self.model.nv), np.inf)
        ways[:, self._reach.indices] = self._reach.left(configuration.q)
        stop = once * (np.sqrt(0.25 + 2.0 * np.maximum(ways[:, self.indices], 0.0) / once) - 0.5)
        return two_sided(self._rows, *np.minimum(stop, [once + self.Delta_q_prev, once - self.Delta_q_prev]))
