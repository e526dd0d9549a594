"""What a method cannot do, because its formula has no place for it: said once, and looked up before anything runs.

It is asked of the tasks that the method leads alone, as those of the first level; what else is to hold, or is wanted
beside them, no method need know of.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from poise.common.errors import InvalidValue
from poise.kernels.machine.layout import BALL_TURN, HELICAL, PRISMATIC, WAY
from poise.methods.base import Method, NullSpaceMethod
from poise.methods.criteria import JointCentring, LimitDistance, Manipulability, RestPosture
from poise.model.joint import Joint
from poise.model.model import Model
from poise.tasks.base import POSITION, Task
from poise.tasks.posture import PostureTask

CANNOT: Final[Mapping[str, tuple[str, str]]] = {
    "positions": ("follows positions only", "it moves points, which have no rotation"),
    "poses": ("follows poses only", "it turns frames to where they should be, and not rows of any other kind"),
    "world": ("follows frames in the world only", "it holds what it reaches for still while joints move"),
    "none": ("needs weights that are all the same", "it goes to its targets whole"),
    "blocks": ("needs weights that are the same along all axes", "its best turn of a joint is that of whole vectors"),
    "slides": ("moves no joint that slides", "the points of its chains keep their distances"),
    "mimic": ("moves one joint after the other", "joints that follow one another move at once"),
    "gain": ("goes all the way to a target", "it looks for the least error, not for a share of it"),
    "whole": ("goes a part of the way", "its step is a share of the error, and so of a velocity that is asked for"),
}
"""What a method says that has the limit of this name in its `Capabilities`, and what in its formula makes it so."""
_WAY: Final = "choose another method, such as 'lm'"


def refuse(model: Model, tasks: Sequence[Task], method: Method, *, limits: bool, stepping: bool) -> None:
    """Raises ValueError, with the way out, for what the method cannot do; `stepping`: in steps of a Tracker."""
    can = method.capabilities
    for term in method.terms:
        if not limits and isinstance(term, JointCentring | LimitDistance):
            raise InvalidValue(
                "conflict", f"{type(term).__name__} reads the joint limits, which limits=False takes away"
            )
        if isinstance(term, JointCentring | LimitDistance) and not np.isfinite([model.lower, model.upper]).all(0).any():
            raise InvalidValue(
                "no-limits", f"{type(term).__name__} reads the joint limits, and {model.name} has none: leave it out"
            )
    for task in tasks:
        if can.tasks == "positions" and task.frame_parts != (POSITION,):
            raise _refusal(method, "positions", f", not {task.label}: {_WAY}")
        if can.tasks == "poses" and not task.frame_parts:
            raise _refusal(method, "poses", f", not {task.label}: {_WAY}")
        if can.tasks != "any" and not task.in_world:
            raise _refusal(method, "world", f", not {task.label}: {_WAY}")
        _refuse_weights(task, method)
        _refuse_criteria(task, method)
        if stepping and task.gain != 1.0 and not can.gain:
            more = f", and {task.label} has gain={task.gain:g}: leave it out, or choose another method, such as 'dls'"
            raise _refusal(method, "gain", more)
        if stepping and task.takes_target and task.goal_kind & WAY and not can.whole:
            more = f", and {task.label} asks for all of it: choose another method, such as 'dls'"
            raise _refusal(method, "whole", more, "a step of the")
    _refuse_joints(model, tasks, method)


def refuse_two_postures(method: Method, posture: PostureTask | None) -> None:
    """Raises ValueError for a null-space term that pulls to a posture beside a PostureTask."""
    own = isinstance(method, NullSpaceMethod) and any(isinstance(term, RestPosture) for term in method.terms)
    if posture is not None and own:
        raise InvalidValue("conflict", "a PostureTask takes the place of RestPosture(): leave one of them out")


def _refusal(method: Method, limit: str, more: str, who: str = "the") -> InvalidValue:
    return InvalidValue("not-supported", f"{who} method {method.name!r} {CANNOT[limit][0]}{more}")


def _refuse_criteria(task: Task, method: Method) -> None:
    if not any(isinstance(term, Manipulability) for term in method.terms):
        return
    place = task.label
    if not task.frame_parts or not task.in_world:
        raise InvalidValue(
            "not-supported",
            f"Manipulability is of positions and rotations in the world, not of {place}: leave it out of the criteria",
        )
    if not all(block.plain for block in task.blocks):
        raise InvalidValue(
            "not-supported", f"Manipulability needs tasks without weights, and {place} has some: leave one of them out"
        )


def _refuse_weights(task: Task, method: Method) -> None:
    heeds = method.capabilities.weights
    if heeds == "any" or not task.frame_parts:
        return
    for field in task.weight_names:
        weight = np.broadcast_to(getattr(task, field), 3)
        if (heeds == "none" and (weight != 1.0).any()) or np.ptp(weight) > 0.0:
            value: Any = getattr(task, field)
            more = f"; the {field} of {task.label} is {value!r} of the largest: change it, or {_WAY}"
            raise _refusal(method, heeds, more)


def _refuse_joints(model: Model, tasks: Sequence[Task], method: Method) -> None:
    can, tree = method.capabilities, model.tree
    names = {v: joint.name for joint in model.joints for v in _velocities(model, joint)}
    seen: set[int] = set()
    for u in sorted({u for task in tasks for u in task.moving(model)}):
        unit = tree.units[u]
        if unit.kind == BALL_TURN or unit.multiplier == 0.0:
            continue
        if not can.slides and unit.kind in (PRISMATIC, HELICAL):
            more = f", and {names[unit.iv]!r} does: choose another method, such as 'ccd'"
            raise _refusal(method, "slides", more)
        if not can.mimic and unit.function is not None:
            more = f", and another follows {names[unit.iv]!r} by a function: {_WAY}"
            raise _refusal(method, "mimic", more)
        if not can.mimic and unit.iv in seen:
            more = f", and {names[unit.iv]!r} moves several at once, for others follow it: {_WAY}"
            raise _refusal(method, "mimic", more)
        seen.add(unit.iv)


def _velocities(model: Model, joint: Joint) -> range:
    """The places in v of a joint, unless it follows another."""
    at = model.velocity_index(joint.name) if joint.nv else slice(0, 0)
    return range(at.start, at.stop)
