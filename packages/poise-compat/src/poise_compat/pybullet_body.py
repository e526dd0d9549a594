"""A body that pybullet has loaded, as a model, and what was prepared to solve for its links."""

from collections.abc import Sequence
from typing import Any, Final

from poise import (
    SE3,
    SO3,
    JointKind,
    Model,
    ModelBuilder,
    ModelError,
    PoseTask,
    PositionTask,
    PostureTask,
    Solver,
    Task,
)

FIXED: Final = 4
_KINDS: Final = {0: JointKind.REVOLUTE, 1: JointKind.PRISMATIC, FIXED: JointKind.FIXED}
_MOST: Final = 64
_BODIES: Final[dict[Any, "Body"]] = {}

Numbers = tuple[float, ...]


class Body:
    """What `getJointInfo` says of the joints, inertial frames in those of links, the base's first, and limits."""

    def __init__(self, joints: Sequence[Any], inertial: Sequence[Any], limits: tuple[Numbers, Numbers] | None) -> None:
        self.said = joints, inertial
        moving = [joint for joint in joints if joint[2] != FIXED]
        low, high = limits or ([joint[8] for joint in moving], [joint[9] for joint in moving])
        ranges = {joint[0]: pair for joint, pair in zip(moving, zip(low, high, strict=True), strict=True)}
        self.model = _model(joints, [SE3.from_xyz_xyzw(*each) for each in inertial], ranges)
        self._solvers: dict[Any, Solver] = {}

    def solver(self, links: tuple[int, ...], turned: bool, rested: bool) -> Solver:
        """For poses of a link, or places of several, with a posture behind them or without."""
        if (links, turned, rested) not in self._solvers:
            tasks: list[Task] = [PoseTask(str(each)) if turned else PositionTask(str(each)) for each in links]
            self._solvers[links, turned, rested] = Solver(self.model, [*tasks, PostureTask()] if rested else tasks)
        return self._solvers[links, turned, rested]


def body_of(
    number: int, client: int, joints: Sequence[Any], inertial: Sequence[Any], limits: tuple[Numbers, Numbers] | None
) -> Body:
    """The body of this number in a client, made anew if pybullet says something else of it; None: its own limits."""
    found = _BODIES.get((number, client, limits))
    if found is None or found.said != (joints, inertial):
        if len(_BODIES) >= _MOST:
            del _BODIES[next(iter(_BODIES))]
        found = _BODIES[number, client, limits] = Body(joints, inertial, limits)
    return found


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
        limits = None if kind == FIXED or low >= high else (low, high)
        # pybullet counts both from centres of mass: the turn is from the parent's to the link's, where the axis is too
        own = inertial[number + 1].rotation
        turn = (own @ SO3.from_xyzw(joint[15])).inverse()
        builder.joint(
            f"joint{number}", _KINDS[kind], parent=str(parent), child=str(number), limits=limits,
            origin=inertial[parent + 1] @ SE3.from_parts(joint[14], turn),
            axis=(0.0, 0.0, 1.0) if kind == FIXED else own.act(joint[13]),
        )  # fmt: skip
    return builder.build()
