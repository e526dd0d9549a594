"""What a task is to the kernels: what carries it, which joints move it, and its numbers."""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from poise.common.array import Array
from poise.model.kinematics import tool
from poise.model.model import Model
from poise.model.tree import Columns, Unit, UnitArrays, frame_columns
from poise.spatial import SE3

Measure: TypeAlias = Literal["m", "rad", ""]
"""The unit of a residual; empty for another one."""
NO_TOOL: Final = np.zeros(12)
_ONES: Final = (1.0, 1.0, 1.0)


class Block(NamedTuple):
    """Three rows of a residual."""

    weight: tuple[float, float, float]
    """Of each row."""
    tolerance: float
    """Of the norm of the three, over those whose weight is not 0."""
    unit: Measure
    rows: int = 3
    """How many of them are ever anything but 0."""
    whole: bool = False
    """Whether they are all that the place of the task's frame lacks, or all that its rotation lacks."""

    @property
    def plain(self) -> bool:
        """Whether it has no weights."""
        return self.weight == _ONES

    @property
    def weighted_rows(self) -> int:
        """How many numbers it asks the joints for."""
        return min(self.rows, sum(w != 0.0 for w in self.weight))

    def norms(self, rows: Array) -> Array:
        """(N,) norms of rows (N, 3), over those whose weight is not 0."""
        return np.linalg.norm(rows * (np.array(self.weight) != 0.0), axis=-1)


class Place(NamedTuple):
    """Where a frame hangs, and the base from which it is seen; units are the tree's, -1 is the world."""

    tip: int
    hang: SE3
    base: int | None = None
    base_hang: SE3 | None = None

    @property
    def read(self) -> set[int]:
        """The units whose frames tell where it is."""
        return {unit for unit in (self.tip, self.base) if unit is not None and unit >= 0}

    def moved(self, model: Model) -> set[int]:
        """The units that move the frame against its base."""
        path = set(model.tree.path(self.tip))
        return movable(model, path if self.base is None else path ^ set(model.tree.path(self.base)))


def place(model: Model, frame: str, base: str | None = None) -> Place:
    """Where a frame hangs; raises FrameNotFound for one that the model does not have."""
    found = model.frame(frame)
    unit, hang = model.tree.links[found.link]
    if base is None:
        return Place(unit, hang @ found.origin)
    other = model.frame(base)
    base_unit, base_hang = model.tree.links[other.link]
    return Place(unit, hang @ found.origin, base_unit, base_hang @ other.origin)


def movable(model: Model, units: set[int]) -> set[int]:
    """Those of the tree's units that may move."""
    return {u for u in units if model.tree.units[u].iv >= 0} if model.still else units


def no_joint(model: Model) -> str:
    """That a model has no joint which does something, in words that a verb follows."""
    return f"no joint of {model.name}" + " that may move" * bool(model.still)


class Units(NamedTuple):
    """The units of a problem, which are some of the model's tree, in an order of their own."""

    model: Model
    units: Sequence[Unit]
    arrays: UnitArrays
    number: dict[int, int]
    """The tree's number of a unit to the problem's; -1, the world, stays."""

    def hang(self, unit: int, hang: SE3) -> SE3:
        """Pose of what hangs on a unit of the tree, in the frame that the problem gives that unit."""
        return self.arrays.seen_from(self.number[unit], hang)

    def tool(self, unit: int, hang: SE3) -> Array:
        """(12,) the same: rotation 9, row by row, and place 3 [m]."""
        return tool(self.arrays, self.number[unit], hang)

    def columns(self, tip: int, base: int | None = None) -> Columns:
        """The columns of what hangs on the tree's unit `tip`, as it moves against `base`, or in the world."""
        return frame_columns(self.units, self.number[tip], -1 if base is None else self.number[base])


class TaskFrame(NamedTuple):
    """A frame that a residual of a user's reads."""

    unit: int
    """Of the problem; -1 is the world."""
    tool: Array
    """(12,) how it hangs there."""
    columns: Columns
    """Of the task's Jacobian, to which its motion adds."""


class Effector(NamedTuple):
    """Where a task hangs among the units of a problem; see `layout.EFFECTOR`."""

    columns: Columns
    tip: int = -1
    base: int = 0
    tool: Array = NO_TOOL
    base_tool: Array = NO_TOOL
    numbers: Sequence[float] = ()
    frames: Sequence[TaskFrame] = ()
    heavy: bool = False
    """Whether it reads masses."""
    scratch: int = 0
    """Rows of scratch that its routines work in, behind the moments of the masses."""


def task_frames(units: Units, places: Sequence[Place]) -> tuple[Columns, list[TaskFrame]]:
    """The columns that several frames share, and each frame with its part of them."""
    found = [units.columns(at.tip) for at in places]
    column = {v: i for i, v in enumerate(dict.fromkeys(v for columns in found for v in columns.velocities))}
    out = []
    for at, own in zip(places, found, strict=True):
        raw = own.raw.copy()
        for row in raw:
            fresh = row[3] >= 0
            shared = column[own.velocities[row[3] if fresh else -1 - row[3]]]
            row[3] = shared if fresh else -1 - shared
        moved = Columns(tuple(column), raw, own.scales)
        out.append(TaskFrame(units.number[at.tip], units.tool(at.tip, at.hang), moved))
    raws, scales = [frame.columns.raw for frame in out], [frame.columns.scales for frame in out]
    return Columns(tuple(column), np.concatenate(raws), np.concatenate(scales)), out
