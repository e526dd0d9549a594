"""mink's task about the pose of a frame that is seen from another."""

from typing import final

from poise.extending import Array, ArrayLike
from poise_compat.mink.configuration import Configuration
from poise_compat.mink.exceptions import TargetNotSet
from poise_compat.mink.lie.se3 import SE3
from poise_compat.mink.tasks.frame_task import Framed


@final
class RelativeFrameTask(Framed):
    """Bring a frame to a pose that is seen from another."""

    transform_target_to_root: SE3 | None = None

    def __init__(
        self, frame_name: str | int, frame_type: str, root_name: str | int, root_type: str, position_cost: ArrayLike,
        orientation_cost: ArrayLike, gain: float = 1.0, lm_damping: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__((frame_name, frame_type), position_cost, orientation_cost, gain, lm_damping)
        self.root_name, self.root_type = root_name, root_type

    def set_target(self, transform_target_to_root: SE3) -> None:
        """Where to, in the root."""
        self.transform_target_to_root = transform_target_to_root.copy()

    def set_target_from_configuration(self, configuration: Configuration) -> None:
        """Where the frame is now."""
        self.set_target(self._seen(configuration))

    def compute_error(self, configuration: Configuration) -> Array:
        """(6,) twist [m, rad]: from the target to the frame, seen from the target."""
        return self._seen(configuration).minus(self._target())

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(6, nv) its derivative."""
        return self.linear(configuration)[1]

    def linear(self, configuration: Configuration) -> tuple[Array, Array]:
        """Both."""
        seen = self._seen(configuration)
        rows = configuration.get_frame_jacobian(self.frame_name, self.frame_type)
        root = configuration.get_frame_jacobian(self.root_name, self.root_type)
        error = seen.minus(self._target())
        return error, SE3.rjacinv(error) @ (rows - seen.inverse().adjoint() @ root)

    def _seen(self, configuration: Configuration) -> SE3:
        return configuration.get_transform(self.frame_name, self.frame_type, self.root_name, self.root_type)

    def _target(self) -> SE3:
        if self.transform_target_to_root is None:
            raise TargetNotSet(self)
        return self.transform_target_to_root
