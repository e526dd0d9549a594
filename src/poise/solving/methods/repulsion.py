"""What obstacles push, as `poise.kernels.methods.criteria` reads it."""

from dataclasses import replace

import numpy as np

from poise.common.errors import InvalidValue
from poise.methods.criteria import Clearance
from poise.methods.joints import Joints
from poise.model.joint import JointKind
from poise.model.model import Model
from poise.solving.methods.context import MethodContext
from poise.solving.problem.problem import Problem


def repelled(case: MethodContext, term: Clearance) -> Problem:
    """The problem with the points that obstacles push, and the obstacles.

    All axes of these points' units are kept in it.  Raises FrameNotFound for a frame that the model does not have,
    ValueError for one that the tasks' joints do not carry.
    """
    joints, model, number, problem = Joints(case), case.model, case.numbers, case.problem
    tree = model.tree
    if term.frames is None:
        frames = [j.child for j in model.joints if j.kind is not JointKind.FIXED and tree.links[j.child][0] in number]
    else:
        frames = list(term.frames)
    units = [_carried(model, frame, number) for frame in frames]
    if term.frames is not None:
        problem = problem.keeping(units)
    at_home, _ = replace(case, problem=problem).at_home()
    points = []
    for frame, unit in zip(frames, units, strict=True):
        place, z, x, y = at_home[unit].reshape(4, 3)
        points.append(np.array([x, y, z]) @ (model.pose(frame, model.home).xyz - place))
    numbers = np.array([len(units), *joints.velocities(), *units, len(term.spheres)], dtype=np.int64)
    reals = np.concatenate([np.ravel(x) for x in (points, term.spheres, term.boxes)])
    return problem.extended({"criteria": numbers, "criteria_reals": reals}, {})


def _carried(model: Model, frame: str, number: dict[int, int]) -> int:
    """The unit that carries a frame that obstacles push, by its number in a problem."""
    unit, tree = model.tree.links[model.frame(frame).link][0], model.tree
    if unit >= 0 and unit in number:
        return number[unit]
    others = [j.name for j in model.root_path(model.frame(frame).link) if tree.links[j.child][0] not in number]
    if not others:
        raise InvalidValue(
            "nothing-moves", f"Clearance pushes the frame {frame!r}, which does not move: leave it out of frames"
        )
    raise InvalidValue(
        "nothing-moves",
        f"Clearance pushes the frame {frame!r}, which hangs on the joint {others[0]!r}, and that moves none of the "
        "tasks' frames: leave it out of frames, or name one that only the tasks' joints carry",
    )
