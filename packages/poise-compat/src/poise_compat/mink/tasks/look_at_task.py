"""mink's task that points an axis of a frame at a point."""

from typing import final

import numpy as np

from poise.extending import Array, ArrayLike
from poise_compat.mink.configuration import Configuration
from poise_compat.mink.exceptions import TargetNotSet
from poise_compat.mink.tasks.pointing import Pointing
from poise_compat.mink.tasks.task import point


@final
class LookAtTask(Pointing):
    """At a point of the world."""

    target_pos: Array | None = None

    def set_target(self, target_pos: ArrayLike) -> None:
        """(3,) [m]; raises InvalidTarget."""
        self.target_pos = point("target_pos", target_pos)

    def set_target_from_configuration(self, configuration: Configuration) -> None:
        """One metre from the frame, where the axis points now."""
        self.set_target(self._frame(configuration).apply(self.axis))

    def _goal(self) -> Array:
        if self.target_pos is None:
            raise TargetNotSet(self)
        return self.target_pos

    def _direction(self, configuration: Configuration) -> tuple[Array, float]:
        way = self._frame(configuration).inverse().apply(self._goal())
        far = max(float(np.linalg.norm(way)), 1e-10)
        return way / far, 1.0 / far
