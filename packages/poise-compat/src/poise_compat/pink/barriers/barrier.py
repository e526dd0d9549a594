"""What pink's barriers have in common, and barriers of one's own: h(q) >= 0, which falls no faster than by a gain."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final

import numpy as np

from poise.extending import Array, ArrayLike
from poise_compat.pink.configuration import Configuration
from poise_compat.steps import Part

_ROUNDING: Final = 1e-9


class Barrier(ABC):
    """dh/dt + gain f(h) >= 0, with f the `gain_function`; Ames and others 2019.

    With a `safe_displacement_gain` a step is drawn to a safe one, the more the less the barrier changes with it.
    """

    def __init__(
        self, dim: int, gain: ArrayLike = 1.0, gain_function: Callable[[float], float] | None = None,
        safe_displacement_gain: float = 0.0,
    ) -> None:  # fmt: skip
        self.dim, self.gain_function = dim, gain_function or (lambda h: h)
        self.gain = np.array(np.broadcast_to(np.asarray(gain, dtype=np.float64), dim))
        self.safe_displacement_gain = safe_displacement_gain

    @abstractmethod
    def compute_barrier(self, configuration: Configuration) -> Array:
        """(dim,) what is to be 0 or more."""

    @abstractmethod
    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(dim, nv) its derivative by the velocities of Pinocchio."""

    def compute_safe_displacement(self, configuration: Configuration) -> Array:
        """(nv,) a step that is safe."""
        return np.zeros(configuration.model.nv)

    def residual(self, configuration: Configuration) -> Part:
        """What the safe step adds to the squares of a step, as that of a task."""
        if type(self).compute_qp_objective is not Barrier.compute_qp_objective:
            return Part.of(*self.compute_qp_objective(configuration))
        return self._part(configuration)

    def _part(self, configuration: Configuration) -> Part:
        n = configuration.model.nv
        size = float((self.compute_jacobian(configuration) ** 2).sum())
        if not self.safe_displacement_gain > 1e-6 or size == 0.0:
            return Part(np.zeros((0, n)), np.zeros(0))
        root = np.sqrt(self.safe_displacement_gain / size)
        return Part(root * np.eye(n), root * self.compute_safe_displacement(configuration))

    def compute_qp_objective(self, configuration: Configuration) -> tuple[Array, Array]:
        """H and c of that."""
        return self._part(configuration).objective

    def compute_qp_inequalities(self, configuration: Configuration, dt: float = 1e-3) -> tuple[Array, Array]:
        """G (dim, nv) and h (dim,) of a step of `dt` [s]."""
        most = [g * self.gain_function(h) for g, h in zip(self.gain, self.compute_barrier(configuration), strict=True)]
        return -np.atleast_2d(self.compute_jacobian(configuration)) / dt, np.array(most)

    def satisfied(self, now: Configuration, then: Configuration) -> bool:
        """Whether it is 0 or more after a step, or no less than before."""
        before, after = self.compute_barrier(now), self.compute_barrier(then)
        return bool((np.sort(after) >= np.minimum(np.sort(before), -_ROUNDING)).all())
