"""What answers have in common: configurations, and what is left of the tasks at each."""

from abc import ABC, abstractmethod

import numpy as np

from poise.common.array import Array
from poise.model.model import Model
from poise.tasks.error import TaskError


class Configurations(ABC):
    """What `numpy.asarray` turns into its q, so that it can stand wherever a configuration can."""

    __slots__ = ()

    @property
    @abstractmethod
    def q(self) -> Array:
        """One configuration, or many."""

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:
        return np.array(self.q, dtype=dtype, copy=True)  # type: ignore[call-overload]


class Answer(Configurations):
    """A result with one configuration q, and the errors of the tasks there."""

    __slots__ = ()
    model: Model
    """The model whose configuration q is."""

    @property
    @abstractmethod
    def errors(self) -> tuple[TaskError, ...]:
        """What is left of each task, in the order of the tasks, measured by forward kinematics at q."""

    @property
    def position_error(self) -> float:
        """Largest position error of all tasks [m]; 0 if none has a position."""
        return max((e.position for e in self.errors if e.position is not None), default=0.0)

    @property
    def rotation_error(self) -> float:
        """Largest rotation error of all tasks [rad]; 0 if none has a rotation."""
        return max((e.rotation for e in self.errors if e.rotation is not None), default=0.0)

    def named(self) -> dict[str, float]:
        """The numbers of q by joint name."""
        return self.model.named(self.q)
