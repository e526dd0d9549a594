"""mink's limit of the velocity of a free joint."""

from typing import Any, Final, final

import mujoco
import numpy as np

from poise.extending import Array, ArrayLike
from poise_compat.mink.configuration import Configuration
from poise_compat.mink.exceptions import LimitDefinitionError
from poise_compat.mink.limits.limit import Constraint, Limit

_FREE: Final = int(mujoco.mjtJoint.mjJNT_FREE)


@final
class FreeJointVelocityLimit(Limit):
    """Largest speeds of a free joint along and about the axes of its body [m/s, rad/s], one number or three."""

    def __init__(
        self, model: Any, max_linear_velocity: ArrayLike | None = None, max_angular_velocity: ArrayLike | None = None,
        joint_name: str | None = None,
    ) -> None:  # fmt: skip
        free = {model.joint(int(j)).name: model.joint(int(j)) for j in np.flatnonzero(model.jnt_type == _FREE)}
        found = [free[name] for name in free if joint_name in (None, name)]
        if len(found) != 1:
            raise LimitDefinitionError(f"joint_name is {joint_name!r}; name one of the free joints {list(free)}")
        self._start, self._body = int(found[0].dofadr[0]), int(model.jnt_bodyid[found[0].id])
        self.linear_max, self.angular_max = _three(max_linear_velocity), _three(max_angular_velocity)
        if self.linear_max is None and self.angular_max is None:
            raise LimitDefinitionError("nothing is limited: give max_linear_velocity, max_angular_velocity or both")

    def compute_qp_inequalities(self, configuration: Configuration, dt: float) -> Constraint:
        """How far it may go in `dt`: MuJoCo has places along the axes of the world, turns about those of the body."""
        rows, most = list[Array](), list[Array]()
        for limit, first in ((self.linear_max, 0), (self.angular_max, 3)):
            if limit is not None:
                part = np.zeros((3, configuration.nv))
                turn = configuration.data.xmat[self._body].reshape(3, 3).T if first == 0 else np.eye(3)
                part[:, self._start + first : self._start + first + 3] = turn
                rows += [part, -part]
                most += [dt * limit, dt * limit]
        return Constraint(np.vstack(rows), np.concatenate(most))


def _three(most: ArrayLike | None) -> Array | None:
    if most is None:
        return None
    given = np.asarray(most, dtype=np.float64)
    if given.shape not in ((), (3,)) or not (given >= 0.0).all():
        raise LimitDefinitionError(f"the largest velocity is {most!r}; it must be one number or three, 0 or more")
    return np.array(np.broadcast_to(given, 3))
