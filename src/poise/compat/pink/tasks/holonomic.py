"""pink's tasks of linear equations of joints: A (q - q_0) = b."""

from collections.abc import Sequence
from typing import final

import numpy as np
import pinocchio as pin

from poise.compat.pink.configuration import Configuration
from poise.compat.pink.exceptions import TaskDefinitionError, TaskJacobianNotSet
from poise.compat.pink.tasks.task import Task
from poise.compat.pink.utils import get_joint_idx
from poise.spatial import Array, ArrayLike


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


@final
class JointCouplingTask(LinearHolonomicTask):
    """The sum of some joints, times their ratios, is 0."""

    def __init__(
        self, joint_names: Sequence[str], ratios: Sequence[float], cost: float, configuration: Configuration,
        lm_damping: float = 0.0, gain: float = 1.0,
    ) -> None:  # fmt: skip
        if len(joint_names) != len(ratios):
            raise TaskDefinitionError(f"there are {len(joint_names)} joints and {len(ratios)} ratios; give one each")
        model = configuration.model
        rows = np.zeros((1, model.nv))
        for name, ratio in zip(joint_names, ratios, strict=True):
            start = get_joint_idx(model, name)[1]
            rows[:, start : start + model.joints[model.getJointId(name)].nv] = ratio
        super().__init__(rows, np.zeros(1), pin.neutral(model), cost, lm_damping, gain)
        self.joint_names, self.ratios = joint_names, ratios
