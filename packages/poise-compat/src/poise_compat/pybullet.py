"""pybullet's `calculateInverseKinematics` and `calculateInverseKinematics2`, for a body that it has loaded.

    from poise_compat.pybullet import calculateInverseKinematics  # was: pybullet.calculateInverseKinematics(...)

The original takes 20 damped steps and stops wherever they led, and leaves the limits unless four lists are given.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from poise import SO3
from poise.extending import Array, ArrayLike, finite
from poise_compat.pybullet_body import FIXED, body_of


def calculateInverseKinematics(
    bodyUniqueId: int, endEffectorLinkIndex: int, targetPosition: ArrayLike, targetOrientation: ArrayLike | None = None,
    lowerLimits: ArrayLike | None = None, upperLimits: ArrayLike | None = None, jointRanges: ArrayLike | None = None,
    restPoses: ArrayLike | None = None, jointDamping: ArrayLike | None = None, solver: int = 0,
    currentPositions: ArrayLike | None = None, maxNumIterations: int = 20, residualThreshold: float = 1e-4,
    physicsClientId: int = 0,
) -> tuple[float, ...]:  # fmt: skip
    """Positions of all joints that move [rad or m] with the link's frame at a point (3,), turned as xyzw (4,) says.

    Both are in the world, and the frame is the URDF's, not the centre of mass.  `lowerLimits` and `upperLimits`, one a
    joint that moves, take the place of the body's, `currentPositions` that of where it stands, and of all solutions the
    one near `restPoses` is sought.  Ranges, damping, solver, iterations and threshold decide nothing.  Out of reach it
    is the nearest.  Lists of another length count for nothing, as in the original: programs give seven numbers for a
    Panda and its two fingers.  Raises ModelError for joints of other kinds, ValueError for numbers that are not finite.
    """
    turn = None if targetOrientation is None else finite("targetOrientation", targetOrientation, 4)
    if turn is not None and not turn.any():
        SO3.from_xyzw(turn)  # says what is wrong
    places = [finite("targetPosition", targetPosition, 3)]
    lists = (lowerLimits, upperLimits, restPoses, currentPositions)
    return _solved(bodyUniqueId, physicsClientId, (endEffectorLinkIndex,), places, turn, lists)


def calculateInverseKinematics2(
    bodyUniqueId: int, endEffectorLinkIndices: Sequence[int], targetPositions: ArrayLike,
    lowerLimits: ArrayLike | None = None, upperLimits: ArrayLike | None = None, jointRanges: ArrayLike | None = None,
    restPoses: ArrayLike | None = None, jointDamping: ArrayLike | None = None, solver: int = 0,
    currentPositions: ArrayLike | None = None, maxNumIterations: int = 20, residualThreshold: float = 1e-4,
    physicsClientId: int = 0,
) -> tuple[float, ...]:  # fmt: skip
    """The same for several links and as many points (n, 3)."""
    places = finite("targetPositions", targetPositions, len(endEffectorLinkIndices), 3)
    lists = (lowerLimits, upperLimits, restPoses, currentPositions)
    return _solved(bodyUniqueId, physicsClientId, tuple(endEffectorLinkIndices), places, None, lists)


def _solved(
    number: int, client: int, links: tuple[int, ...], places: Sequence[Array] | Array, turn: Array | None,
    lists: Sequence[ArrayLike | None],
) -> tuple[float, ...]:  # fmt: skip
    import pybullet

    joints = [pybullet.getJointInfo(number, i, client) for i in range(pybullet.getNumJoints(number, client))]
    inertial = [pybullet.getDynamicsInfo(number, i, client)[3:5] for i in range(-1, len(joints))]
    moving = [joint[0] for joint in joints if joint[2] != FIXED]
    names = ("lowerLimits", "upperLimits", "restPoses", "the current position")
    low, high, rest, start = (
        finite(name, each, len(moving)) if each is not None and np.size(each) == len(moving) else None
        for name, each in zip(names, lists, strict=True)
    )
    limits = None if low is None or high is None else (tuple(low.tolist()), tuple(high.tolist()))
    body = body_of(number, client, joints, inertial, limits)
    if start is None:
        start = np.array([state[0] for state in pybullet.getJointStates(number, moving, client)])
    base = pybullet.invertTransform(*pybullet.getBasePositionAndOrientation(number, client))
    into = pybullet.multiplyTransforms(*inertial[0], *base)
    goals: list[Any] = []
    for place in places:
        xyz, (x, y, z, w) = pybullet.multiplyTransforms(*into, place, (0.0, 0.0, 0.0, 1.0) if turn is None else turn)
        goals.append(np.array(xyz) if turn is None else np.array([*xyz, w, x, y, z]))
    if rest is not None:
        goals.append(rest)
    solver = body.solver(links, turn is not None, rest is not None)
    return tuple(solver(goals if len(goals) > 1 else goals[0], start).q.tolist())
