"""pink's barrier of two frames that stay apart."""

from typing import final

import numpy as np

from poise.extending import Array, ArrayLike
from poise_compat.pink.barriers.barrier import Barrier
from poise_compat.pink.configuration import Configuration
from poise_compat.pink.exceptions import NegativeMinimumDistance


@final
class BodySphericalBarrier(Barrier):
    """The origins of two frames stay `d_min` apart [m]."""

    def __init__(
        self, frames: tuple[str, str], d_min: float, gain: ArrayLike = 1.0, safe_displacement_gain: float = 3.0
    ) -> None:
        if not d_min >= 0.0:
            raise NegativeMinimumDistance(f"d_min is {d_min!r}; it must be 0 or more")
        super().__init__(1, gain, lambda h: h / (1.0 + abs(h)), safe_displacement_gain)
        self.frames, self.d_min = frames, d_min

    def compute_barrier(self, configuration: Configuration) -> Array:
        """(1,) the square of their distance, less that of `d_min` [m^2]."""
        way = self._way(configuration)
        return np.array([way @ way - self.d_min**2])

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(1, nv) its derivative."""
        first, second = (configuration.get_place_jacobian(frame) for frame in self.frames)
        return 2.0 * self._way(configuration)[np.newaxis] @ (first - second)

    def _way(self, configuration: Configuration) -> Array:
        first, second = (configuration.get_transform_frame_to_world(frame).translation for frame in self.frames)
        return np.asarray(first - second)
