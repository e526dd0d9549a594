"""What mink's limits have in common, and limits of one's own: G dq <= h."""

from abc import ABC, abstractmethod
from typing import NamedTuple

from poise.extending import Array
from poise_compat.mink.configuration import Configuration


class Constraint(NamedTuple):
    """G (k, nv) and h (k,) of G dq <= h; None: there is nothing to keep."""

    G: Array | None = None
    h: Array | None = None

    @property
    def inactive(self) -> bool:
        """Whether there is nothing to keep."""
        return self.G is None and self.h is None


class Limit(ABC):
    """What a step must keep."""

    @abstractmethod
    def compute_qp_inequalities(self, configuration: Configuration, dt: float) -> Constraint:
        """What it says of dq (nv,) in a step of `dt` [s]."""

    def satisfied(self, configuration: Configuration, q: Array) -> bool:
        """Whether a step to a qpos (nq,) keeps it, beyond what is said to first order."""
        return True
