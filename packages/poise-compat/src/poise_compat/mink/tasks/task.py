"""What mink's tasks have in common, and tasks of one's own: an error e(q), its Jacobian, a cost, a gain."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from poise.extending import Array, ArrayLike
from poise_compat.mink.configuration import Configuration
from poise_compat.mink.exceptions import InvalidDamping, InvalidGain, InvalidTarget
from poise_compat.steps import Part


class Objective(NamedTuple):
    """x^T H x / 2 + c^T x."""

    H: Array
    c: Array

    def value(self, x: Array) -> float:
        """x^T H x + c^T x, as mink has it."""
        return float(x.T @ self.H @ x + self.c @ x)


class BaseTask(ABC):
    """What adds to the objective of a step."""

    @abstractmethod
    def compute_qp_objective(self, configuration: Configuration) -> Objective:
        """Its part of the objective of dq (nv,)."""

    def compute_qp_residual(self, configuration: Configuration) -> tuple[Array, Array, float] | None:
        """Rows (k, nv), what they are to come to (k,), and mu, see `Part`; None: its objective says all."""
        return None

    def residual(self, configuration: Configuration) -> Part:
        """Its part, doubled."""
        found = self.compute_qp_residual(configuration)
        return Part.of(*self.compute_qp_objective(configuration)) if found is None else Part(*found)


class Task(BaseTask):
    """J dq = -gain e, weighted by a cost (k,); a larger `lm_damping` goes less far where much is missing."""

    def __init__(self, cost: ArrayLike, gain: float = 1.0, lm_damping: float = 0.0) -> None:
        if not 0.0 <= gain <= 1.0:
            raise InvalidGain(f"gain is {gain!r}; it must be from 0 to 1")
        if not lm_damping >= 0.0:
            raise InvalidDamping(f"lm_damping is {lm_damping!r}; it must be 0 or more")
        self.cost = np.atleast_1d(np.asarray(cost, dtype=np.float64))
        self.gain, self.lm_damping = gain, lm_damping

    @abstractmethod
    def compute_error(self, configuration: Configuration) -> Array:
        """(k,) what is missing."""

    @abstractmethod
    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(k, nv) its derivative by the velocities of MuJoCo."""

    def linear(self, configuration: Configuration) -> tuple[Array, Array]:
        """Its error and its Jacobian."""
        return self.compute_error(configuration), self.compute_jacobian(configuration)

    def compute_qp_residual(self, configuration: Configuration) -> tuple[Array, Array, float]:
        """Its rows times their costs, what they are to come to, and mu."""
        error, rows = self.linear(configuration)
        wants = self.cost * (-self.gain * error)
        return self.cost[:, None] * rows, wants, self.lm_damping * float(wants @ wants)

    def residual(self, configuration: Configuration) -> Part:
        """That, or what an objective of its own comes to."""
        kind = type(self)
        if kind.compute_qp_residual is Task.compute_qp_residual and (
            kind.compute_qp_objective is not Task.compute_qp_objective
        ):
            return Part.of(*self.compute_qp_objective(configuration))
        return super().residual(configuration)

    def compute_qp_objective(self, configuration: Configuration) -> Objective:
        """Its part of the objective."""
        return Objective(*Part(*self.compute_qp_residual(configuration)).objective)


def point(name: str, numbers: ArrayLike) -> Array:
    """(3,) finite numbers; raises InvalidTarget."""
    found = np.array(numbers, dtype=np.float64)
    if found.shape != (3,) or not np.isfinite(found).all():
        raise InvalidTarget(f"{name} is {numbers!r}; it must be three numbers")
    return found


def unit(error: type[Exception], name: str, numbers: ArrayLike) -> Array:
    """(3,) of length 1; raises `error`."""
    found = np.asarray(numbers, dtype=np.float64)
    if found.shape != (3,) or not 1e-10 < np.linalg.norm(found) < np.inf:
        raise error(f"{name} is {numbers!r}; it must be three numbers, not all 0")
    return np.asarray(found / np.linalg.norm(found))
