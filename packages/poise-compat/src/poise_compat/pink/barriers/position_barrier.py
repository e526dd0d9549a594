"""pink's barrier of the place of a frame."""

from typing import final

import numpy as np

from poise.extending import Array, ArrayLike
from poise_compat.pink.barriers.barrier import Barrier
from poise_compat.pink.configuration import Configuration
from poise_compat.pink.exceptions import NoPositionLimitProvided


@final
class PositionBarrier(Barrier):
    """A frame stays between `p_min` and `p_max` [m], along the axes of the world that `indices` names."""

    def __init__(
        self, frame: str, indices: list[int] | None = None, p_min: Array | None = None, p_max: Array | None = None,
        gain: ArrayLike = 1.0, safe_displacement_gain: float = 0.0,
    ) -> None:  # fmt: skip
        if p_min is None and p_max is None:
            raise NoPositionLimitProvided(f"the barrier of {frame!r} has no p_min and no p_max: give one or both")
        self.frame, self.indices = frame, [0, 1, 2] if indices is None else indices
        self.p_min, self.p_max = p_min, p_max
        dim = len(self.indices) * ((p_min is not None) + (p_max is not None))
        twice = np.size(gain) not in (1, dim)
        super().__init__(dim, np.tile(gain, 2) if twice else gain, safe_displacement_gain=safe_displacement_gain)

    def compute_barrier(self, configuration: Configuration) -> Array:
        """(dim,) how far it is to `p_min`, then to `p_max` [m]."""
        place = configuration.get_transform_frame_to_world(self.frame).translation[self.indices]
        low = [] if self.p_min is None else [place - self.p_min]
        return np.concatenate(low if self.p_max is None else [*low, self.p_max - place])

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(dim, nv) its derivative."""
        rows = configuration.get_place_jacobian(self.frame)[self.indices]
        low = [] if self.p_min is None else [rows]
        return np.concatenate(low if self.p_max is None else [*low, -rows])
