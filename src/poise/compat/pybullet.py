"""pybullet's `calculateInverseKinematics` and `calculateInverseKinematics2`, for a body that it has loaded.

    from poise.compat.pybullet import calculateInverseKinematics  # was: pybullet.calculateInverseKinematics(...)

The original takes 20 damped steps and stops wherever they led, and leaves the limits unless four lists are given.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from poise.checks import finite
from poise.errors import ModelError
from poise.model.builder import ModelBuilder
from poise.model.joint import JointKind
from poise.model.model import Model
from poise.solving.solver import solve
from poise.spatial import SE3, SO3, ArrayLike
from poise.tasks.base import Task
from poise.tasks.pose import PoseTask, PositionTask
from poise.tasks.posture import PostureTask

_KINDS: Final = {0: JointKind.REVOLUTE, 1: JointKind.PRISMATIC, 4: JointKind.FIXED}
_MOST: Final = 64
_MODELS: Final[dict[Any, Model]] = {}
"""What was made of bodies, by what pybullet says of their joints."""


def calculateInverseKinematics(
    bodyUniqueId: int, endEffectorLinkIndex: int, targetPosition: ArrayLike, targetOrientation: ArrayLike | None = None,
    lowerLimits: ArrayLike | None = None, upperLimits: ArrayLike | None = None, jointRanges: ArrayLike | None = None,
    restPoses: ArrayLike | None = None, jointDamping: ArrayLike | None = None, solver: int = 0,
    currentPosition: ArrayLike | None = None, maxNumIterations: int = 20, residualThreshold: float = 1e-4,
    physicsClientId: int = 0,
) -> tuple[float, ...]:  # fmt: skip
    """Positions of all joints that move [rad or m] with the link's frame at a point (3,), turned as xyzw (4,) says.

    Both are in the world, and the frame is the URDF's, not the centre of mass.  `lowerLimits` and `upperLimits`, one a
    joint that moves, take the place of the body's, `currentPosition` that of where it stands, and of all solutions the
    one near `restPoses` is sought.  Ranges, damping, solver, iterations and threshold decide nothing.  Out of reach it
    is the nearest.  Raises ModelError for joints of other kinds, ShapeError for lists of another length, and
    ValueError for numbers that are not finite.
    """
    turn = None if targetOrientation is None else SO3.from_xyzw(finite("targetOrientation", targetOrientation, 4))
    places = finite("targetPosition", targetPosition, 3)[np.newaxis]
    lists = (lowerLimits, upperLimits, restPoses, currentPosition)
    return _solved(bodyUniqueId, physicsClientId, [endEffectorLinkIndex], places, turn, lists)


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
    return _solved(bodyUniqueId, physicsClientId, endEffectorLinkIndices, places, None, lists)


def _solved(
    body: int, client: int, links: Sequence[int], places: Any, turn: SO3 | None, lists: Sequence[ArrayLike | None]
) -> tuple[float, ...]:
    import pybullet

    joints = [pybullet.getJointInfo(body, i, client) for i in range(pybullet.getNumJoints(body, client))]
    dynamics = [pybullet.getDynamicsInfo(body, i, client) for i in range(-1, len(joints))]
    moving = [joint[0] for joint in joints if joint[2] != 4]
    names = ("lowerLimits", "upperLimits", "restPoses", "the current position")
    low, high, rest, start = (
        None if each is None else finite(name, each, len(moving)) for name, each in zip(names, lists, strict=True)
    )
    stated = low is not None and high is not None
    ranges = zip(low, high, strict=True) if stated else [joints[i][8:10] for i in moving]  # type: ignore[arg-type]
    limits = dict(zip(moving, ((float(a), float(b)) for a, b in ranges), strict=True))
    key = tuple(joints), tuple(each[3:5] for each in dynamics), tuple(limits.values())
    if key not in _MODELS:
        if len(_MODELS) >= _MOST:
            del _MODELS[next(iter(_MODELS))]
        inertial = [SE3.from_xyz_xyzw(*each[3:5]) for each in dynamics]
        _MODELS[key] = _model(joints, inertial, limits)
    model = _MODELS[key]
    if start is None:
        start = np.array([pybullet.getJointState(body, i, client)[0] for i in moving])
    into = (
        SE3.from_xyz_xyzw(*dynamics[0][3:5])
        @ SE3.from_xyz_xyzw(*pybullet.getBasePositionAndOrientation(body, client)).inverse()
    )
    tasks: list[Task] = [PositionTask(str(link), into.act(at)) for link, at in zip(links, places, strict=True)]
    if turn is not None:
        tasks = [PoseTask(str(links[0]), into @ SE3.from_parts(places[0], turn))]
    if rest is not None:
        tasks.append(PostureTask(rest))
    return tuple(map(float, solve(model, tasks, q0=start).q))


def _model(joints: Sequence[Any], inertial: Sequence[SE3], ranges: dict[int, tuple[float, float]]) -> Model:
    """Link "i" behind joint i of a body that stands in the world at its base "-1"; a range the wrong way is none."""
    builder = ModelBuilder("body")
    builder.link("-1")
    for joint in joints:
        number, kind, parent = joint[0], joint[2], joint[16]
        if kind not in _KINDS:
            name = joint[1].decode()
            raise ModelError(f"joint {name!r} is neither revolute, prismatic nor fixed; other joints are not read here")
        low, high = ranges.get(number, (1.0, -1.0))
        limits = None if kind == 4 or low >= high else (low, high)
        # pybullet counts both from centres of mass: the turn is from the parent's to the link's, where the axis is too
        own = inertial[number + 1].rotation
        turn = (own @ SO3.from_xyzw(joint[15])).inverse()
        builder.joint(
            f"joint{number}", _KINDS[kind], parent=str(parent), child=str(number), limits=limits,
            origin=inertial[parent + 1] @ SE3.from_parts(joint[14], turn),
            axis=(0.0, 0.0, 1.0) if kind == 4 else own.act(joint[13]),
        )  # fmt: skip
    return builder.build()
