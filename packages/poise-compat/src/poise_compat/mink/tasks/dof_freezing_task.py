"""mink's task, or constraint, that moves some velocities not at all."""

from typing import Any, final

import numpy as np

from poise.extending import Array
from poise_compat.mink.configuration import Configuration
from poise_compat.mink.exceptions import TaskDefinitionError
from poise_compat.mink.tasks.task import Task


@final
class DofFreezingTask(Task):
    """Move some velocities not at all, as a constraint; as a task, little."""

    def __init__(self, model: Any, dof_indices: list[int], gain: float = 1.0) -> None:
        some = list(dof_indices)
        if not some or len(set(some)) < len(some) or not 0 <= min(some) <= max(some) < model.nv:
            raise TaskDefinitionError(
                f"dof_indices is {some}; it must be one or more of 0 to {model.nv - 1}, each once"
            )
        super().__init__(np.ones(len(some)), gain)
        self.dof_indices = sorted(some)

    def compute_error(self, configuration: Configuration) -> Array:
        """(k,) nothing."""
        return np.zeros(len(self.dof_indices))

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(k, nv) of a change."""
        return np.eye(configuration.nv)[self.dof_indices]
