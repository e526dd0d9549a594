"""pink's helpers around a model of Pinocchio's."""

from typing import Any

import numpy as np
import pinocchio as pin

from poise.extending import Array
from poise_compat.pink.exceptions import ConfigurationError, PinkError


def custom_configuration_vector(robot: Any, **joints: Any) -> Array:
    """The neutral q (nq,) of a robot, with some joints set; raises ConfigurationError for other counts of numbers."""
    q = np.asarray(pin.neutral(robot.model))
    for name, value in joints.items():
        joint, given = robot.model.joints[robot.model.getJointId(name)], np.ravel(value)
        if len(given) != joint.nq:
            raise ConfigurationError(f"joint {name!r} is set to {value!r}; it has {joint.nq} numbers")
        q[joint.idx_q : joint.idx_q + joint.nq] = given
    return q


def get_root_joint_dim(model: Any) -> tuple[int, int]:
    """Numbers and velocities of the joint "root_joint"; 0 and 0 without one."""
    if not model.existJointName("root_joint"):
        return 0, 0
    joint = model.joints[model.getJointId("root_joint")]
    return int(joint.nq), int(joint.nv)


def get_joint_idx(model: Any, joint_name: str) -> tuple[int, int]:
    """Where the numbers and the velocities of a joint begin; raises PinkError."""
    if not model.existJointName(joint_name):
        raise PinkError(f"the model has no joint {joint_name!r}; it has {list(model.names)}")
    joint = model.joints[model.getJointId(joint_name)]
    return int(joint.idx_q), int(joint.idx_v)


class VectorSpace:
    """Of so many dimensions: arrays that are read alone."""

    def __init__(self, dim: int) -> None:
        self._eye, self._ones, self._zeros = np.eye(dim), np.ones(dim), np.zeros(dim)
        for numbers in (self._eye, self._ones, self._zeros):
            numbers.setflags(write=False)

    @property
    def eye(self) -> Array:
        """(dim, dim)."""
        return self._eye

    @property
    def ones(self) -> Array:
        """(dim,)."""
        return self._ones

    @property
    def zeros(self) -> Array:
        """(dim,)."""
        return self._zeros


def process_collision_pairs(model: Any, collision_model: Any, srdf_path: str = "") -> Any:
    """The `GeometryData` of all pairs, but for those that an SRDF file lets collide."""
    collision_model.addAllCollisionPairs()
    if srdf_path:
        pin.removeCollisionPairs(model, collision_model, srdf_path)
    data = pin.GeometryData(collision_model)
    data.enable_contact = True
    return data
