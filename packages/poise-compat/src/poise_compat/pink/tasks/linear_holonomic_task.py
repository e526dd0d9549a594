"""pink's task of linear equations of joints: A (q - q_0) = b."""

import numpy as np
import pinocchio as pin

from poise.extending import Array, ArrayLike
from poise_compat.pink.configuration import Configuration
from poise_compat.pink.exceptions import TaskDefinitionError, TaskJacobianNotSet
from poise_compat.pink.tasks.task import Task


class LinearHolonomicTask(Task):
    """A (k, nv) times the way from `q_0` (nq,) is b (k,)."""

    def __init__(
        self, A: Array, b: Array, q_0: Array | None, cost: ArrayLike | None = None, lm_damping: float = 0.0,
        gain: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(cost, gain, lm_damping)
        if len(b) != len(A):
            raise TaskDefinitionError(f"A has {len(A)} rows, b {len(b)}; both must have as many")
        self.A, self.b, self.q_0 = A, b, q_0

    def compute_error(self, configuration: Configuration) -> Array:
        """(k,) what is beyond b."""
        way = pin.difference(configuration.model, self._from(configuration), configuration.q)
        return np.asarray(self.A @ way - self.b)

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(k, nv) its derivative."""
        start = self._from(configuration)
        return np.asarray(self.A @ pin.dDifference(configuration.model, start, configuration.q, pin.ARG1))

    def _from(self, configuration: Configuration) -> Array:
        if self.A.shape[1] != configuration.model.nv:
            raise TaskJacobianNotSet(
                f"A has {self.A.shape[1]} columns; the model has {configuration.model.nv} velocities"
            )
        return np.asarray(pin.neutral(configuration.model) if self.q_0 is None else self.q_0)
