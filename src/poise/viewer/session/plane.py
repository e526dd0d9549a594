"""The plane of a robot whose joints leave it no other way than one plane."""

from typing import Final

import numpy as np

from poise.common.array import Array
from poise.model.joint import JointKind
from poise.model.model import Model
from poise.spatial import SE3

_TURNING: Final = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PLANAR)
"""These stay in the plane that is normal to their axis."""
_SAME: Final = 1e-6
"""Directions that are apart by less are the same [rad]."""
_NORMAL: Final = 0.999
"""Least cosine between the normal of a plane and an axis that is taken for it, about 3 degrees."""
_LEVEL: Final = 0.7
"""A plane whose normal has more of y than this goes across y."""


def normal_of(model: Model) -> Array | None:
    """(3,) the normal of the plane that all links move in; None where they move in space, or not at all.

    Of the two normals, the one that looks up, or, where the plane stands upright, at who stands in front: against y, or
    along x.
    """
    joints = [joint for joint in model.joints if joint.kind is not JointKind.FIXED]
    if not any(joint.kind in _TURNING for joint in joints):
        return None
    if any(joint.kind not in (*_TURNING, JointKind.PRISMATIC) for joint in joints):
        return None
    # The axis of a joint stands still in the frame of its child too.
    turns = model.poses(model.home, [joint.child for joint in joints]).rotation.matrix()
    axes = np.einsum("nij,nj->ni", turns, np.array([joint.axis for joint in joints]))
    turning = np.array([joint.kind in _TURNING for joint in joints])
    normal = axes[turning][0]
    along = axes @ normal
    if (np.linalg.norm(axes - along[:, None] * normal, axis=1) > _SAME)[turning].any():
        return None
    if (np.abs(along) > _SAME)[~turning].any():
        return None
    x, y, z = np.round(normal, 6).tolist()
    return np.array(normal if (z, -y, x) > (0.0, 0.0, 0.0) else -normal)


def in_plane(model: Model, pose: Array) -> tuple[bool, bool, bool]:
    """Which axes of a handle at a pose (7,) lie in the plane that the links move in; all where there is none, and where
    none of the axes is normal to it."""
    normal = normal_of(model)
    if normal is None:
        return True, True, True
    x, y, z = np.abs(SE3(pose).rotation.inverse().act(normal)).tolist()
    return x < _NORMAL, y < _NORMAL, z < _NORMAL


def sideways(model: Model) -> Array:
    """(3,) along which things stand in a row beside a robot: along y, or along x where its plane has no y."""
    normal = normal_of(model)
    return np.array([1.0, 0.0, 0.0] if normal is not None and abs(normal[1]) > _LEVEL else [0.0, 1.0, 0.0])
