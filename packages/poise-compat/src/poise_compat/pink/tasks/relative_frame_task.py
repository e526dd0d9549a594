"""pink's task about the pose of a frame that is seen from another."""

from typing import Any, final

import numpy as np
import pinocchio as pin

from poise.extending import Array, ArrayLike
from poise_compat.pink.configuration import Configuration
from poise_compat.pink.exceptions import TargetNotSet
from poise_compat.pink.tasks.frame_task import Framed


@final
class RelativeFrameTask(Framed):
    """Bring a frame to a pose that is seen from another."""

    transform_target_to_root: Any = None

    def __init__(
        self, frame: str, root: str, position_cost: ArrayLike, orientation_cost: ArrayLike, lm_damping: float = 0.0,
        gain: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(frame, position_cost, orientation_cost, lm_damping, gain)
        self.root = root

    def set_target(self, transform_target_to_root: Any) -> None:
        """Where to, a `pin.SE3`."""
        self.transform_target_to_root = transform_target_to_root.copy()

    def set_target_from_configuration(self, configuration: Configuration) -> None:
        """Where the frame is now."""
        self.set_target(configuration.get_transform(self.frame, self.root))

    def compute_error(self, configuration: Configuration) -> Array:
        """(6,) twist [m, rad] from the target to the frame, seen from the frame."""
        return np.asarray(pin.log(self._frame_in_target(configuration)).vector)

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(6, nv) its derivative."""
        back = configuration.get_transform(self.frame, self.root).actionInverse
        rows = configuration.get_frame_jacobian(self.frame) - back @ configuration.get_frame_jacobian(self.root)
        return np.asarray(pin.Jlog6(self._frame_in_target(configuration)) @ rows)

    def _frame_in_target(self, configuration: Configuration) -> Any:
        if self.transform_target_to_root is None:
            raise TargetNotSet(self)
        return self.transform_target_to_root.actInv(configuration.get_transform(self.frame, self.root))
