"""pink's task that moves as in the step before."""

from typing import final

import numpy as np

from poise.extending import Array
from poise_compat.pink.configuration import Configuration
from poise_compat.pink.tasks.posture_task import PostureTask


@final
class LowAccelerationTask(PostureTask):
    """Move as in the step before, whatever its target."""

    Delta_q_prev: Array | None = None
    """(nv,) that step; None: there was none, or it did not move."""

    def __init__(self, cost: float) -> None:
        super().__init__(cost)

    def set_last_integration(self, v_prev: Array, dt: float) -> None:
        """The velocity (nv,) of the step before, and its time [s]."""
        self.Delta_q_prev = np.asarray(v_prev, dtype=np.float64) * dt

    def compute_error(self, configuration: Configuration) -> Array:
        """(k,) less that step."""
        before = configuration.tangent.zeros if self.Delta_q_prev is None else self.Delta_q_prev
        return self.lacking(configuration, before)
