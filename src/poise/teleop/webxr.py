"""A hand as WebXR gives it: 25 poses in its order, as headsets of all makers send them.

Source: WebXR Hand Input Module, Level 1 (W3C): "XRHandJoint" for the order, `XRFrame.fillPoses` for the layout.
"""

from typing import Final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import with_holes
from poise.common.errors import ShapeError
from poise.io.gltf_joints import WEBXR
from poise.quaternions import quaternion_product, rotate
from poise.spatial import SE3, pose_of

_UP: Final = np.array([0.5, 0.5, -0.5, -0.5])
"""Turns what is seen along WebXR's axes, x to the right, y up and z backwards, into x forwards, y to the left, z up."""


def webxr_hand(poses: ArrayLike) -> tuple[SE3, Array] | None:
    """The wrist, and the places (25, 3) [m] of all joints, which `poise.hands.HandRetargeter.step` takes.

    `poses` are (25, 4, 4) matrices, or the 400 numbers that `XRFrame.fillPoses` writes, column by column; along the
    axes of WebXR, x to the right, y up, z backwards.  The answer is along those of a robot: x forwards, y to the left,
    z up.  The wrist's own axes are those of WebXR, with the back of the hand to y and the fingers to -z.  None, where a
    number is NaN or masked: the hand was not seen.

    Raises ShapeError for another shape, ValueError for matrices that are no poses.
    """
    given = with_holes("poses", poses)
    count = len(WEBXR)
    if given.size == 16 * count and given.ndim == 1:
        given = given.reshape(count, 4, 4).transpose(0, 2, 1)
    if given.shape != (count, 4, 4):
        raise ShapeError(
            f"poses must be ({count}, 4, 4) or ({16 * count},), the joints of a hand in the order of WebXR, got shape "
            f"{given.shape}"
        )
    if np.isnan(given).any():
        return None
    seen = SE3.from_matrix(given[0], orthonormalise=True)
    wrist = np.concatenate([rotate(_UP, seen.xyz), quaternion_product(_UP, seen.wxyz)])
    return pose_of(wrist), rotate(_UP, np.ascontiguousarray(given[:, :3, 3]))
