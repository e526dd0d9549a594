"""pink's limit of the speeds of joints."""

from typing import TYPE_CHECKING, Any, final

import numpy as np

from poise.extending import ArrayLike
from poise_compat.pink.limits.limit import Inequalities, Limit, each, limited, two_sided, velocities

if TYPE_CHECKING:
    from poise_compat.pink.configuration import Configuration


@final
class VelocityLimit(Limit):
    """Largest speeds (nv,) [rad/s, m/s]; None: those of the model."""

    def __init__(self, model: Any, velocity_limit: ArrayLike | None = None) -> None:
        self.model, self.velocity_limit = model, each(model, velocity_limit, "velocity_limit", model.velocityLimit)
        self.indices = np.flatnonzero(velocities(model, limited(self.velocity_limit), by_q=False))
        self._rows = np.eye(model.nv)[self.indices]

    def compute_qp_inequalities(self, configuration: "Configuration", dt: float) -> Inequalities | None:
        """How far each joint may go in `dt`."""
        most = dt * self.velocity_limit[self.indices]
        return two_sided(self._rows, most, most)
