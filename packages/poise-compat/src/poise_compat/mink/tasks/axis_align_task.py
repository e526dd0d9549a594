"""mink's task that points an axis of a frame along a direction."""

from typing import final

from poise.extending import Array, ArrayLike
from poise_compat.mink.configuration import Configuration
from poise_compat.mink.exceptions import InvalidTarget, TargetNotSet
from poise_compat.mink.tasks.pointing import Pointing
from poise_compat.mink.tasks.task import unit


@final
class AxisAlignTask(Pointing):
    """Along a direction of the world."""

    target_dir: Array | None = None

    def set_target(self, target_dir: ArrayLike) -> None:
        """(3,) of any length but 0; raises InvalidTarget."""
        self.target_dir = unit(InvalidTarget, "target_dir", target_dir)

    def set_target_from_configuration(self, configuration: Configuration) -> None:
        """Where the axis points now."""
        self.set_target(self._frame(configuration).rotation().apply(self.axis))

    def _goal(self) -> Array:
        if self.target_dir is None:
            raise TargetNotSet(self)
        return self.target_dir

    def _direction(self, configuration: Configuration) -> tuple[Array, float]:
        return self._frame(configuration).rotation().inverse().apply(self._goal()), 0.0
