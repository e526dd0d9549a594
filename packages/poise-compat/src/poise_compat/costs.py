"""What errors of tasks cost, as mink and pink have it."""

import numpy as np

from poise.extending import Array, ArrayLike


def costs(error: type[Exception], name: str, cost: ArrayLike, count: int) -> Array:
    """(count,) of one number or as many, each 0 or more; raises `error` for others."""
    given = np.atleast_1d(np.asarray(cost, dtype=np.float64))
    if given.shape not in ((1,), (count,)) or not (given >= 0.0).all():
        many = f" or {count}" * (count > 1)
        raise error(f"{name} is {cost!r}; it must be one number{many}, each 0 or more")
    return np.array(np.broadcast_to(given, count))


class PoseCosts:
    """What the pose of a frame costs, along and about its axes."""

    cost: Array
    refusal: type[Exception]
    """What is raised for costs that are none."""

    def set_position_cost(self, position_cost: ArrayLike) -> None:
        """Of one number, or one an axis of the target [1/m]."""
        self.cost[:3] = costs(self.refusal, "position_cost", position_cost, 3)

    def set_orientation_cost(self, orientation_cost: ArrayLike) -> None:
        """Likewise [1/rad]."""
        self.cost[3:] = costs(self.refusal, "orientation_cost", orientation_cost, 3)
