"""What each task is to the kernels: its rows, what carries it, which joints move it, and its numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np

from poise.kernels.machine.layout import DIRECTION, PLACE, TURN
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

ROWS: Final[dict[type, str]] = {
    PoseTask: "",
    PositionTask: "position_rows",
    PlaneTask: "position_rows",
    LineTask: "position_rows",
    OrientationTask: "orientation_rows",
    AxisTask: "axis_rows",
    LookAtTask: "look_at_rows",
    DistanceTask: "distance_rows",
    CentreOfMassTask: "mass_rows",
    JointCouplingTask: "coupling_rows",
}
"""The routine of `poise.kernels.rows.kinds` for each kind of task; none for a pose."""
_NO_TOOL: Final = np.zeros(12)
_ONES: Final = (1.0, 1.0, 1.0)


@final
@dataclass(frozen=True, slots=True)
class Effector:
    """What a task is to the kernels, before the problem numbers its blocks; see `layout.EFFECTOR`."""

    rows: str
    goal: int
    blocks: list[tuple[tuple[float, float, float], float, bool]]
    """Of each block the weights of its rows, the tolerance, and whether it is in metres."""
    columns: Columns
    weighing: int
    position: int | None = None
    rotation: int | None = None
    linear: int | None = None
    angular: int | None = None
    """Which of its blocks hold the place and the rotation of its frame, and the Jacobians of those."""
    tip: int = -1
    base: int = 0
    tool: Array = field(default_factory=lambda: _NO_TOOL)
    base_tool: Array = field(default_factory=lambda: _NO_TOOL)
    numbers: list[float] = field(default_factory=list)
    heavy: bool = False
    """Whether it reads masses."""


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


def effector_of(
    model: Model, task: FrameTask, units: Sequence[Unit], arrays: UnitArrays, number: dict[int, int]
) -> Effector:
    """A task among the units of a problem, whose numbers by the tree's are `number`."""
    blocks, weighing = spans(task)
    rows = ROWS[type(task)]
    if isinstance(task, CentreOfMassTask):
        moved = unit_columns(units, [(number[u], 1.0) for u in sorted(moving(model, task))])
        return Effector(rows, PLACE, [(*block, True) for block in blocks], moved, weighing, heavy=True)
    if isinstance(task, JointCouplingTask):
        places, offset = task.terms(model)
        speeds = {unit.iq: unit.iv for unit in units if unit.iq in places}
        raw = np.array([[i, 0, 0, c] for c, i in enumerate(places)], dtype=np.int64)
        scales = np.array([[coefficient, 0.0] for coefficient in places.values()])
        moved = Columns(tuple(speeds[i] for i in places), raw, scales)
        return Effector(rows, PLACE, [(*block, False) for block in blocks], moved, weighing, numbers=[offset])
    found = place(model, task)
    assert found is not None
    tip, base = number[found.tip], -1 if found.base is None else number[found.base]
    hang = arrays.seen_from(tip, found.hang)
    goal, numbers = PLACE, []
    linear: int | None = 0
    angular: int | None = None
    position = rotation = None
    if isinstance(task, AxisTask | LookAtTask):
        goal = DIRECTION if isinstance(task, AxisTask) else PLACE
        numbers, linear, angular = hang.rotation.act(np.array(task.axis)).tolist(), None, 0
    elif isinstance(task, OrientationTask):
        goal, linear, angular, rotation = TURN, None, 0, 0
    elif isinstance(task, PoseTask):
        goal, angular, position, rotation = PLACE | TURN, 1, 0, 1
    elif not isinstance(task, DistanceTask):
        goal, position = (PLACE | TURN if weighing == 2 else PLACE), 0
    return Effector(
        rows,
        goal,
        [(*block, i == linear) for i, block in enumerate(blocks)],
        frame_columns(units, tip, base),
        weighing,
        position,
        rotation,
        linear,
        angular,
        tip,
        0 if found.base is None else base + 2,
        _tool(hang),
        _NO_TOOL if found.base_hang is None else _tool(arrays.seen_from(base, found.base_hang)),
        numbers,
    )


def _tool(hang: SE3) -> Array:
    """(12,) rotation 9, place 3."""
    return np.concatenate([quaternion_matrix(hang.wxyz).ravel(), hang.xyz])


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
