"""mink's task that moves little."""

from typing import Any, final

import numpy as np

from poise.extending import Array, ArrayLike
from poise_compat.mink.configuration import Configuration
from poise_compat.mink.tasks.posture_task import PostureTask


@final
class DampingTask(PostureTask):
    """Move little, whatever its target; free joints are left alone."""

    def __init__(self, model: Any, cost: ArrayLike) -> None:
        super().__init__(model, cost, gain=0.0)

    def compute_error(self, configuration: Configuration) -> Array:
        """(nv,) nothing."""
        return np.zeros(configuration.nv)
