"""What the limits of a path say: of positions, of obstacles, and of how fast it may be run through."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from poise.errors import ShapeError
from poise.model.model import Model, a_model
from poise.solving.collision import CollisionLimit, one_collision_limit
from poise.solving.inequalities import AccelerationLimit, Constraint, JerkLimit, VelocityLimit
from poise.spatial import Array, ArrayLike

PathLimit: TypeAlias = CollisionLimit | VelocityLimit | AccelerationLimit | JerkLimit
"""What a path can keep."""


@final
@dataclass(frozen=True, slots=True)
class PathLimits:
    """Limits of a path, in numbers."""

    positions: bool
    """Whether joints keep their limits."""
    apart: CollisionLimit | None
    velocity: Array
    """(nv,) [rad/s or m/s]; infinite where there is none."""
    acceleration: Array
    """(nv,) [rad/s^2 or m/s^2]; likewise."""
    jerk: Array
    """(nv,) [rad/s^3 or m/s^3]; likewise."""

    @classmethod
    def of(
        cls,
        model: Model,
        limits: bool | Sequence[Constraint],
        velocity: ArrayLike | None,
        acceleration: ArrayLike | None,
    ) -> "PathLimits":
        """All of `limits`, and `velocity` and `acceleration` beside them: the tighter of what is said twice.

        Raises TypeError for limits that a path cannot keep, ShapeError and ValueError for numbers that are none.
        """
        a_model(model)
        some = () if isinstance(limits, bool) else limits
        if not isinstance(some, (list, tuple)) or not all(isinstance(limit, PathLimit) for limit in some):
            raise TypeError(
                "limits must be True or False, whether joint limits hold, or a list of what a path can keep, a "
                f"CollisionLimit, VelocityLimit, AccelerationLimit or JerkLimit, got {limits!r}; other limits are for "
                "a Tracker"
            )
        speeds = limits_of("velocity", velocity, model)
        hardest, jerks = limits_of("acceleration", acceleration, model), np.full(model.nv, np.inf)
        for limit in some:
            if not isinstance(limit, CollisionLimit):
                # In an update of one second changes are speeds.
                stated = limit.inequalities(model, range(model.nv), 1.0)
                speeds = np.minimum(speeds, stated.changes)
                if stated.accelerations is not None:
                    hardest = np.minimum(hardest, stated.accelerations)
                if stated.jerks is not None:
                    jerks = np.minimum(jerks, stated.jerks)
        return cls(limits is not False, one_collision_limit(some), speeds, hardest, jerks)

    @property
    def timed(self) -> bool:
        """Whether any of them says how fast a path may be run through."""
        return bool(np.isfinite([self.velocity, self.acceleration, self.jerk]).any())

    @property
    def smooth(self) -> bool:
        """Whether speeds may not change at once."""
        return bool(np.isfinite([self.acceleration, self.jerk]).any())


def limits_of(name: str, value: ArrayLike | None, model: Model) -> Array:
    """(nv,) limits; the model's own velocities where none are given, and no accelerations."""
    if value is None:
        return np.array(model.velocity) if name == "velocity" else np.full(model.nv, np.inf)
    given = np.asarray(value, dtype=np.float64)
    if given.ndim > 1 or (given.ndim == 1 and len(given) != model.nv):
        raise ShapeError(
            f"{name} must be one number or ({model.nv},), one a velocity of {model.name}, got {given.shape}"
        )
    if not (given > 0.0).all():
        raise ValueError(f"{name} is {value!r}; every limit must be positive, infinite where there is none")
    return np.array(np.broadcast_to(given, model.nv))
