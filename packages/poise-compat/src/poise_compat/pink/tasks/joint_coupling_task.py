"""pink's task of joints that move together."""

from collections.abc import Sequence
from typing import final

import numpy as np
import pinocchio as pin

from poise_compat.pink.configuration import Configuration
from poise_compat.pink.exceptions import TaskDefinitionError
from poise_compat.pink.tasks.linear_holonomic_task import LinearHolonomicTask
from poise_compat.pink.utils import get_joint_idx


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
