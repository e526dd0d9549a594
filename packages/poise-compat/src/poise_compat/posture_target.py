"""The target of a task that keeps a posture, as mink and pink have it."""

from typing import Any

import numpy as np

from poise.extending import Array, ArrayLike


class PostureTarget:
    """A configuration, which a task shall stay near."""

    target_q: Array | None = None

    def set_target(self, target_q: ArrayLike) -> None:
        """A configuration (nq,)."""
        self.target_q = np.array(target_q, dtype=np.float64)

    def set_target_from_configuration(self, configuration: Any) -> None:
        """Where it stands now."""
        self.set_target(configuration.q)
