"""What each task is to the kernels: its kind, what carries it, which joints move it, and its numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from poise.model.model import Model
from poise.model.tree import Columns, Unit, UnitArrays, frame_columns, massless, unit_columns
from poise.spatial import SE3, Array, quaternion_matrix
from poise.tasks.aim import AxisTask, LookAtTask
from poise.tasks.base import FrameTask, OfFrame
from poise.tasks.coupling import JointCouplingTask
from poise.tasks.distance import DistanceTask
from poise.tasks.mass import CentreOfMassTask
from poise.tasks.pose import OrientationTask, PoseTask, PositionTask
from poise.tasks.surface import LineTask, PlaneTask

KINDS: Final[dict[type, int]] = {
    PoseTask: 0,
    PositionTask: 1,
    PlaneTask: 1,
    LineTask: 1,
    OrientationTask: 2,
    AxisTask: 3,
    LookAtTask: 4,
    DistanceTask: 5,
    CentreOfMassTask: 6,
    JointCouplingTask: 7,
}
TOOL: Final = 28
_Z: Final = np.array([0.0, 0.0, 1.0])
_ONES: Final = (1.0, 1.0, 1.0)


@final
@dataclass(frozen=True, slots=True)
class Place:
    """Where a task's frame hangs, and its base; units are the tree's, -1 is the world."""

    tip: int
    hang: SE3
    base: int | None = None
    base_hang: SE3 | None = None

    def moved(self, model: Model) -> set[int]:
        """The units that move the frame against its base."""
        path = set(model.tree.path(self.tip))
        return path if self.base is None else path ^ set(model.tree.path(self.base))


def place(model: Model, task: FrameTask) -> Place | None:
    """Where the frame of a task hangs; None for a task without one.

    Raises FrameNotFound for a frame that the model does not have, ValueError for one that does not move.
    """
    if not isinstance(task, OfFrame):
        return None
    frame = model.frame(task.frame)
    unit, hang = model.tree.links[frame.link]
    if unit < 0:
        raise ValueError(f"the frame {task.frame!r} does not move: no joint of {model.name} carries it")
    if task.base is None:
        return Place(unit, hang @ frame.origin)
    base = model.frame(task.base)
    base_unit, base_hang = model.tree.links[base.link]
    found = Place(unit, hang @ frame.origin, base_unit, base_hang @ base.origin)
    if not found.moved(model):
        raise ValueError(f"{task.label} never moves: no joint of {model.name} is between the two frames")
    return found


def needed(model: Model, task: FrameTask) -> set[int]:
    """The units of the tree whose frames, or whose places in q, the task reads.

    Raises as `place` does, and ValueError for a centre of mass without masses.
    """
    found = place(model, task)
    if found is not None:
        return {unit for unit in (found.tip, found.base) if unit is not None and unit >= 0}
    if isinstance(task, CentreOfMassTask):
        if model.mass == 0.0:
            raise massless(model)
        masses = model.tree.masses
        if not masses[:-1].any():
            raise ValueError(f"{task.label} never moves: all masses of {model.name} stand still")
        return {int(unit) for unit in np.flatnonzero(masses[:-1])}
    places, _ = _terms(model, task)
    return {u for u, unit in enumerate(model.tree.units) if unit.iq in places}


def moving(model: Model, task: FrameTask) -> set[int]:
    """The units of the tree that move the task."""
    found = place(model, task)
    if found is not None:
        return found.moved(model)
    if isinstance(task, CentreOfMassTask):
        return {u for unit in needed(model, task) for u in model.tree.path(unit)}
    return needed(model, task)


def columns(model: Model, task: FrameTask, units: Sequence[Unit], number: dict[int, int]) -> Columns:
    """The Jacobian columns of a task; `units` are those of a problem, and `number` their numbers by the tree's."""
    found = place(model, task)
    if found is not None:
        return frame_columns(units, number[found.tip], -1 if found.base is None else number[found.base])
    if isinstance(task, CentreOfMassTask):
        return unit_columns(units, [(number[u], 1.0) for u in sorted(moving(model, task))])
    places, _ = _terms(model, task)
    speeds = {unit.iq: unit.iv for unit in units if unit.iq in places}
    raw = np.array([[i, 0, 0, c] for c, i in enumerate(places)], dtype=np.int64)
    scales = np.array([[coefficient, 0.0] for coefficient in places.values()])
    return Columns(tuple(speeds[i] for i in places), raw, scales)


def tool(model: Model, task: FrameTask, arrays: UnitArrays, number: dict[int, int]) -> Array:
    """(28,) the frame in its unit: rotation 9, place 3, the axis of an aim 3, one that is free; then its base in the
    base's unit: rotation 9, place 3.  Of a coupling the first of the place is what does not move."""
    out = np.zeros(TOOL)
    found = place(model, task)
    if found is None:
        if isinstance(task, JointCouplingTask):
            out[9] = task.terms(model)[1]
        return out
    hang = arrays.seen_from(number[found.tip], found.hang)
    out[:12] = *quaternion_matrix(hang.wxyz).ravel(), *hang.xyz
    out[12:15] = hang.rotation.act(np.array(task.axis) if isinstance(task, AxisTask | LookAtTask) else _Z)
    if found.base is not None and found.base_hang is not None:
        base = arrays.seen_from(number[found.base], found.base_hang)
        out[16:] = *quaternion_matrix(base.wxyz).ravel(), *base.xyz
    return out


def spans(task: Any) -> tuple[list[tuple[tuple[float, float, float], float]], int]:
    """Each block's row weights and tolerance, and a code for the weights.

    The code is 0 without weights, 1 with, 2 with weights along the target's own axes.
    """
    axes = "target" if isinstance(task, PlaneTask | LineTask) else getattr(task, "axes", "world")
    if isinstance(task, PoseTask):
        _, _, position, rotation, position_tolerance, rotation_tolerance, *_ = task.structure
        found = [(position, position_tolerance), (rotation, rotation_tolerance)]
    elif isinstance(task, PositionTask | OrientationTask):
        found = [task.structure[2:4]]
    elif isinstance(task, CentreOfMassTask):
        found = [task.structure[1:3]]
    elif isinstance(task, JointCouplingTask):
        found = [task.structure[2:4]]
    else:
        found = [task.structure[3:5]]
    if all(weight == _ONES for weight, _ in found):
        return found, 0
    return found, 2 if axes == "target" else 1


def _terms(model: Model, task: FrameTask) -> tuple[dict[int, float], float]:
    assert isinstance(task, JointCouplingTask)
    return task.terms(model)
