"""A way between two poses as what a hand does of it: so many metres, so many radians."""

import math

import numpy as np

from poise.common.array import Array
from poise.quaternions import conjugate, quaternion_exp, quaternion_log, quaternion_product, rescaled
from poise.spatial import SE3, pose_of


def pose_difference(here: SE3, there: SE3) -> tuple[Array, Array]:
    """(3,) [m] and (3,) [rad] from one pose to another, along the axes in which both are seen."""
    turn = quaternion_product(there.wxyz, conjugate(here.wxyz))
    return there.xyz - here.xyz, quaternion_log(turn)


def moved_pose(here: SE3, place: Array, turn: Array) -> SE3:
    """A pose after a way: (3,) [m] and (3,) [rad], as `pose_difference` has them."""
    wxyz = rescaled(quaternion_product(quaternion_exp(turn), here.wxyz))
    return pose_of(np.concatenate([here.xyz + place, wxyz]))


def length(vector: Array) -> float:
    """How long a (3,) vector is."""
    return math.hypot(*vector.tolist())
