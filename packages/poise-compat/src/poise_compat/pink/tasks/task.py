"""What pink's tasks have in common, and tasks of one's own: an error e(q), its Jacobian, a cost, a gain."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from poise.extending import Array, ArrayLike
from poise_compat.pink.configuration import Configuration
from poise_compat.pink.exceptions import TaskDefinitionError
from poise_compat.steps import Part


class Task(ABC):
    """J dq = -gain e, weighted by a cost, one number, (k,), or None; `lm_damping` goes less far where much lacks."""

    cost: Any

    def __init__(self, cost: ArrayLike | None = None, gain: float = 1.0, lm_damping: float = 0.0) -> None:
        if cost is not None and not (np.asarray(cost) >= 0.0).all():
            raise TaskDefinitionError(f"cost is {cost!r}; it must be 0 or more")
        self.cost, self.gain, self.lm_damping = cost, gain, lm_damping

    @abstractmethod
    def compute_error(self, configuration: Configuration) -> Array:
        """(k,) what is missing."""

    @abstractmethod
    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(k, nv) its derivative by the velocities of Pinocchio."""

    def residual(self, configuration: Configuration) -> Part:
        """Its part of the objective, doubled."""
        if type(self).compute_qp_objective is not Task.compute_qp_objective:
            return Part.of(*self.compute_qp_objective(configuration))
        return self._part(configuration)

    def _part(self, configuration: Configuration) -> Part:
        rows, error = self.compute_jacobian(configuration), self.compute_error(configuration)
        cost = 1.0 if self.cost is None else np.asarray(self.cost, dtype=np.float64)
        wants = cost * (-self.gain * error)
        return Part((cost * rows.T).T, wants, self.lm_damping * float(wants @ wants))

    def compute_qp_objective(self, configuration: Configuration) -> tuple[Array, Array]:
        """H and c of its part dq^T H dq / 2 + c^T dq of the objective."""
        return self._part(configuration).objective

    def __repr__(self) -> str:
        return f"{type(self).__name__}(cost={self.cost}, gain={self.gain}, lm_damping={self.lm_damping})"
