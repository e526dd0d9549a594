"""What pink's tasks have in common, and tasks of one's own: an error e(q), its Jacobian, a cost, a gain."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from poise.compat.pink.configuration import Configuration
from poise.compat.pink.exceptions import TaskDefinitionError
from poise.spatial import Array, ArrayLike


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

    def residual(self, configuration: Configuration) -> tuple[Array, Array, float]:
        """Rows (k, nv), what they are to come to (k,), and mu: |rows dq - wants|^2 + mu |dq|^2 is its part, doubled."""
        rows, error = self.compute_jacobian(configuration), self.compute_error(configuration)
        cost = 1.0 if self.cost is None else np.asarray(self.cost, dtype=np.float64)
        wants = cost * (-self.gain * error)
        return (cost * rows.T).T, wants, self.lm_damping * float(wants @ wants)

    def compute_qp_objective(self, configuration: Configuration) -> tuple[Array, Array]:
        """H and c of its part dq^T H dq / 2 + c^T dq of the objective."""
        rows, wants, mu = self.residual(configuration)
        return rows.T @ rows + mu * np.eye(rows.shape[1]), -wants @ rows

    def __repr__(self) -> str:
        return f"{type(self).__name__}(cost={self.cost}, gain={self.gain}, lm_damping={self.lm_damping})"


def costs(name: str, cost: ArrayLike, count: int) -> Array:
    """(count,) of one number or as many; raises TaskDefinitionError for others and negative ones."""
    given = np.asarray(cost, dtype=np.float64)
    if given.shape not in ((), (1,), (count,)) or not (given >= 0.0).all():
        raise TaskDefinitionError(f"{name} is {cost!r}; it must be one number or {count}, each 0 or more")
    return np.array(np.broadcast_to(given, count))
