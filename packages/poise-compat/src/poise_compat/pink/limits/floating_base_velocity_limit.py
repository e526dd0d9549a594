"""pink's limit of the velocity of a floating base."""

from typing import TYPE_CHECKING, Any, final

import numpy as np

from poise.extending import Array, ArrayLike
from poise_compat.pink.limits.limit import Inequalities, Limit, two_sided

if TYPE_CHECKING:
    from poise_compat.pink.configuration import Configuration


@final
class FloatingBaseVelocityLimit(Limit):
    """Largest speeds of a frame on "root_joint", along and about its axes [m/s, rad/s], one number or three."""

    def __init__(
        self, model: Any, base_frame: str | None, max_linear_velocity: ArrayLike, max_angular_velocity: ArrayLike
    ) -> None:
        self.model = model
        self.linear_max = _three("max_linear_velocity", max_linear_velocity)
        self.angular_max = _three("max_angular_velocity", max_angular_velocity)
        self.twist_max = np.concatenate([self.linear_max, self.angular_max])
        if not model.existJointName("root_joint"):
            raise ValueError('the model has no joint "root_joint": give it one, such as a JointModelFreeFlyer')
        root = model.getJointId("root_joint")
        names = [frame.name for frame in model.frames if frame.parentJoint == root]
        self.base_frame = names[0] if base_frame is None and names else str(base_frame)
        if self.base_frame not in names:
            raise ValueError(f'base_frame is {base_frame!r}, which is not on "root_joint"; {names} are')
        self._root = model.joints[root]

    def compute_qp_inequalities(self, configuration: "Configuration", dt: float) -> Inequalities | None:
        """How far the base may go in `dt`."""
        rows, some = np.zeros((6, self.model.nv)), np.isfinite(self.twist_max)
        at = slice(self._root.idx_v, self._root.idx_v + self._root.nv)
        rows[:, at] = configuration.get_frame_jacobian(self.base_frame)[:, at]
        most = dt * self.twist_max[some]
        return two_sided(rows[some], most, most)


def _three(name: str, most: ArrayLike) -> Array:
    given = np.asarray(most, dtype=np.float64)
    if given.shape not in ((), (3,)):
        raise ValueError(f"{name} is {most!r}; it must be one number or three")
    return np.array(np.broadcast_to(given, 3))
