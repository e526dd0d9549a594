"""Forward kinematics and errors written anew on SciPy's rotations, so that poise is not its own judge."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from poise.model.joint import Joint, JointKind
from poise.model.model import Model
from poise.spatial import SE3

Array = npt.NDArray[np.float64]


def _rigid(xyz: npt.ArrayLike, rotation: Rotation) -> Array:
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = rotation.as_matrix(), xyz
    return out


def matrix(pose: SE3) -> Array:
    """(4, 4) of seven numbers x y z, w x y z."""
    return _rigid(pose.array[:3], Rotation.from_quat(pose.array[3:], scalar_first=True))


def _upright(axis: Array) -> Rotation:
    """The shortest turn from z to `axis`."""
    across = np.cross([0.0, 0.0, 1.0], axis)
    if np.linalg.norm(across) == 0.0:
        return Rotation.identity() if axis[2] > 0.0 else Rotation.from_rotvec([np.pi, 0.0, 0.0])
    return Rotation.from_rotvec(across / np.linalg.norm(across) * np.arctan2(np.linalg.norm(across), axis[2]))


def motion(joint: Joint, x: Array) -> Array:
    """(4, 4) pose of the child in the joint's frame."""
    axis = np.array(joint.axis)
    match joint.kind:
        case JointKind.FIXED:
            return np.eye(4)
        case JointKind.REVOLUTE | JointKind.CONTINUOUS:
            return _rigid(np.zeros(3), Rotation.from_rotvec(x[0] * axis))
        case JointKind.PRISMATIC:
            return _rigid(x[0] * axis, Rotation.identity())
        case JointKind.HELICAL:
            return _rigid(joint.pitch * x[0] * axis, Rotation.from_rotvec(x[0] * axis))
        case JointKind.PLANAR:
            return _rigid(_upright(axis).apply([x[0], x[1], 0.0]), Rotation.from_rotvec(x[2] * axis))
        case JointKind.SPHERICAL:
            return _rigid(np.zeros(3), Rotation.from_quat(x, scalar_first=True))
        case JointKind.FLOATING:
            return _rigid(x[:3], Rotation.from_quat(x[3:], scalar_first=True))


def position(model: Model, joint: Joint, q: Array) -> Array:
    """The joint's own numbers at q, those of a joint that mimics too."""
    if joint.mimic:
        followed = position(model, model.joint(joint.mimic.joint), q)
        return joint.mimic.multiplier * followed + joint.mimic.offset
    return q[model.index(joint.name)] if joint.nq else np.zeros(0)


def fk(model: Model, frame: str, q: npt.ArrayLike) -> Array:
    """(4, 4) pose of `frame` in the world."""
    at, where = model.frame(frame), np.eye(4)
    for joint in model.root_path(at.link):
        where = where @ matrix(joint.origin) @ motion(joint, position(model, joint, np.asarray(q)))
    return where @ matrix(at.origin)


def pose_error(reached: Array, target: Array) -> tuple[float, float]:
    """Distance [m] and angle [rad] between two (4, 4) poses."""
    turn = Rotation.from_matrix(target[:3, :3] @ reached[:3, :3].T)
    return float(np.linalg.norm(target[:3, 3] - reached[:3, 3])), float(turn.magnitude())


def mimics(model: Model, q: Array) -> Iterator[tuple[Joint, float]]:
    """Every joint that follows another, and where it stands."""
    for joint in model.joints:
        if joint.mimic:
            yield joint, float(position(model, joint, q)[0])
