"""mink's task about the kinetic energy."""

from typing import SupportsFloat, final

import numpy as np

from poise_compat.mink.configuration import Configuration
from poise_compat.mink.exceptions import IntegrationTimestepNotSet, TaskDefinitionError
from poise_compat.mink.tasks.task import BaseTask, Objective


@final
class KineticEnergyRegularizationTask(BaseTask):
    """Move with little kinetic energy [J], times `cost`; the time of a step is set first."""

    def __init__(self, cost: SupportsFloat) -> None:
        self.cost = float(cost)
        if not self.cost >= 0.0:
            raise TaskDefinitionError(f"cost is {cost!r}; it must be 0 or more")
        self.inv_dt_sq: float | None = None

    def set_dt(self, dt: float) -> None:
        """[s]."""
        self.inv_dt_sq = 1.0 / dt**2

    def compute_qp_objective(self, configuration: Configuration) -> Objective:
        """The inertia matrix, over the time squared."""
        if self.inv_dt_sq is None:
            raise IntegrationTimestepNotSet(self)
        return Objective(self.cost * self.inv_dt_sq * configuration.get_inertia_matrix(), np.zeros(configuration.nv))
