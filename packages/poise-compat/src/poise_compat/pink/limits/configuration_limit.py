"""pink's limit of the positions of joints."""

from typing import TYPE_CHECKING, Any, final

import numpy as np

from poise_compat.pink.exceptions import PinkError
from poise_compat.pink.limits.limit import Inequalities, Limit, Reach, ranged, two_sided, velocities

if TYPE_CHECKING:
    from poise_compat.pink.configuration import Configuration


@final
class ConfigurationLimit(Limit):
    """The limits of the positions; a step goes `config_limit_gain` of the way to them at most."""

    def __init__(self, model: Any, config_limit_gain: float = 0.5) -> None:
        if not 0.0 < config_limit_gain <= 1.0:
            raise PinkError(f"config_limit_gain is {config_limit_gain!r}; it must be above 0 and at most 1")
        self.model, self.config_limit_gain = model, config_limit_gain
        self.indices = np.flatnonzero(velocities(model, ranged(model), by_q=True))
        self._reach = Reach(model)
        self._rows = np.eye(model.nv)[self._reach.indices]

    def compute_qp_inequalities(self, configuration: "Configuration", dt: float) -> Inequalities | None:
        """How far each joint may go, and must where it is outside."""
        return two_sided(
            self._rows, *(np.minimum(self.config_limit_gain * x, x) for x in self._reach.left(configuration.q))
        )
