"""pink's task that keeps a frame able to move: the volume of its ellipsoid of velocities grows."""

from typing import Any, Final, final

import numpy as np
import pinocchio as pin

from poise.extending import Array
from poise_compat.pink.configuration import Configuration
from poise_compat.pink.tasks.task import Task

_MASKS: Final = {"position": (1, 1, 1, 0, 0, 0), "orientation": (0, 0, 0, 1, 1, 1), "planar_xy": (1, 1, 0, 0, 0, 0)}


@final
class ManipulabilityTask(Task):
    """Let sqrt(det(J J^T)) of a frame grow by `manipulability_rate` a step; Yoshikawa 1985.

    `mask` chooses rows of J: "position", "orientation", "planar_xy", or six numbers that are 0 or 1.  Raises ValueError
    for others, and for a joint on the way to the frame that does not turn about one axis.
    """

    def __init__(
        self, frame: str, model: Any, cost: float = 1.0, lm_damping: float = 0.0, gain: float = 1.0,
        reference_frame: Any = pin.ReferenceFrame.LOCAL, manipulability_rate: float = 0.1, mask: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(cost, gain, lm_damping)
        if reference_frame not in (pin.ReferenceFrame.WORLD, pin.ReferenceFrame.LOCAL):
            raise ValueError(f"reference_frame is {reference_frame}; it must be LOCAL or WORLD")
        if isinstance(mask, str) and mask not in _MASKS:
            raise ValueError(f"mask is {mask!r}; it must be one of {list(_MASKS)}")
        rows = np.ones(6) if mask is None else np.asarray(_MASKS[mask] if isinstance(mask, str) else mask)
        if rows.shape != (6,) or not np.isin(rows, (0, 1)).all():
            raise ValueError(f"mask is {mask!r}; it must be six numbers that are 0 or 1")
        self.frame, self.reference_frame, self.manipulability_rate = frame, reference_frame, manipulability_rate
        self.mask = None if mask is None else rows
        self._rows = np.flatnonzero(rows)
        joint = model.frames[model.getFrameId(frame)].parentJoint
        while joint:
            if not model.joints[joint].shortname().startswith("JointModelR"):
                raise ValueError(
                    f"joint {model.names[joint]!r} on the way to {frame!r} is a {model.joints[joint].shortname()}: "
                    "a ManipulabilityTask takes those that turn about one axis"
                )
            joint = model.parents[joint]

    def compute_manipulability(self, configuration: Configuration) -> float:
        """The volume."""
        rows = self._jacobian(configuration.model, configuration.data, configuration)
        return float(np.sqrt(max(np.linalg.det(rows @ rows.T), 0.0)))

    def compute_error(self, configuration: Configuration) -> Array:
        """(1,) less what it is to grow."""
        return np.array([-self.manipulability_rate])

    def compute_kinematic_hessian(self, configuration: Configuration) -> Array:
        """(nv, k, nv) the derivatives of the rows, by each velocity of Pinocchio."""
        model, data, out = configuration.model, configuration.model.createData(), list[Array]()
        for axis in configuration.tangent.eye:
            pin.computeJointJacobiansTimeVariation(model, data, configuration.q, axis)
            pin.updateFramePlacements(model, data)
            number = configuration.frame(self.frame)
            out.append(pin.getFrameJacobianTimeVariation(model, data, number, self.reference_frame)[self._rows])
        return np.array(out)

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(1, nv) the derivative of the volume w: w tr(dJ J^T (J J^T)^-1)."""
        rows = self._jacobian(configuration.model, configuration.data, configuration)
        weights = self.compute_manipulability(configuration) * np.linalg.pinv(rows @ rows.T) @ rows
        return np.asarray((weights * self.compute_kinematic_hessian(configuration)).sum(axis=(1, 2)))[np.newaxis]

    def _jacobian(self, model: Any, data: Any, configuration: Configuration) -> Array:
        number = configuration.frame(self.frame)
        return np.array(pin.getFrameJacobian(model, data, number, self.reference_frame))[self._rows]
