"""mink's helpers around a MuJoCo model."""

from typing import Any

import mujoco
import numpy as np

from poise.extending import Array
from poise_compat.mink.constants import qpos_width
from poise_compat.mink.frames import mocap_number


def move_mocap_to_frame(model: Any, data: Any, mocap_name: str, frame_name: str | int, frame_type: str) -> None:
    """Put a mocap body where a body, geom or site is; raises InvalidMocapBody for another body."""
    number, frame = mocap_number(model, mocap_name), getattr(data, frame_type)(frame_name)
    data.mocap_pos[number] = frame.xpos
    mujoco.mju_mat2Quat(data.mocap_quat[number], np.array(frame.xmat).ravel())


def get_body_body_ids(model: Any, body_id: int) -> list[int]:
    """The bodies that a body carries itself."""
    return [child for child in range(1, model.nbody) if model.body_parentid[child] == body_id]


def get_subtree_body_ids(model: Any, body_id: int) -> list[int]:
    """The body and all that it carries."""
    found = [body_id]
    for body in range(body_id + 1, model.nbody):
        if model.body_parentid[body] in found:
            found.append(body)
    return found


def get_body_geom_ids(model: Any, body_id: int) -> list[int]:
    """The geoms of a body."""
    return np.flatnonzero(model.geom_bodyid == body_id).tolist()


def get_subtree_geom_ids(model: Any, body_id: int) -> list[int]:
    """The geoms of a body and of all that it carries."""
    return np.flatnonzero(np.isin(model.geom_bodyid, get_subtree_body_ids(model, body_id))).tolist()


def get_body_joint_ids(model: Any, body_id: int) -> list[int]:
    """The joints of a body."""
    return np.flatnonzero(model.jnt_bodyid == body_id).tolist()


def get_subtree_joint_ids(model: Any, body_id: int) -> list[int]:
    """The joints of a body and of all that it carries."""
    return np.flatnonzero(np.isin(model.jnt_bodyid, get_subtree_body_ids(model, body_id))).tolist()


def get_freejoint_dims(model: Any) -> tuple[list[int], list[int]]:
    """The places of free joints in qpos and in qvel."""
    free = np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_FREE)
    places = [range(a, a + 7) for a in model.jnt_qposadr[free].tolist()]
    speeds = [range(a, a + 6) for a in model.jnt_dofadr[free].tolist()]
    return [i for some in places for i in some], [i for some in speeds for i in some]


def custom_configuration_vector(model: Any, key_name: str | None = None, **joints: Any) -> Array:
    """A qpos (nq,): a keyframe's, or `qpos0`, with some joints set; raises ValueError for other counts of numbers."""
    q = np.array(model.qpos0 if key_name is None else model.key(key_name).qpos)
    for name, value in joints.items():
        joint, given = model.joint(name), np.atleast_1d(value)
        start, count = int(joint.qposadr[0]), qpos_width(joint.type[0])
        if given.shape != (count,):
            raise ValueError(f"joint {name!r} is set to {value!r}; it has {count} number{'s' * (count > 1)} in a qpos")
        q[start : start + count] = given
    return q
