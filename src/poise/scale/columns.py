"""What the columns of a table mean: targets, starts, and what is carried through.

| columns | meaning |
|---|---|
| `x y z` | position of the target [m] |
| `qw qx qy qz` | its rotation as a quaternion, scalar first |
| `roll pitch yaw` | or as turns about the fixed axes x, y, z [rad] |
| `q0_<coordinate>`, one for each of the model's coordinates | where to start [rad or m] |
| `q0` | or as a list of nq numbers |
| any other | carried through |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.model.model import Model
from poise.scale.names import POSITION, QUATERNION, START, listed, refuse_lack, refuse_twins, rotation_columns
from poise.spatial import SO3
from poise.tasks.pose import PoseTask, PositionTask

_NUMBERS: Final = (pa.types.is_floating, pa.types.is_integer, pa.types.is_decimal, pa.types.is_null)

TargetTask: TypeAlias = PoseTask | PositionTask
"""The tasks whose targets stand in columns."""


@final
@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table, sorted by what they mean to a task."""

    rotation: tuple[str, ...]
    """Those of the rotations; () for positions alone."""
    start: tuple[str, ...]
    """Those of the starts, in the order of q, or `q0` alone; () where all start at the model's home."""
    carried: tuple[str, ...]
    """All others, in their order."""

    @classmethod
    def of(cls, model: Model, task: TargetTask, names: Sequence[str], made: Sequence[str]) -> "Columns":
        """Sort the columns `names` of a table of targets for `task`; `made` are those that the answers will have.

        Raises ValueError for a column that is missing, is there twice, names no coordinate of the model or has the name
        of one of the answers.
        """
        refuse_twins(names)
        refuse_lack(POSITION, names, "a position")
        rotation = rotation_columns(names) if isinstance(task, PoseTask) else ()
        if isinstance(task, PoseTask) and not rotation:
            raise InvalidValue(
                "needs",
                f"the targets have no rotation, which {task.label} needs: add columns {listed(QUATERNION)}, or solve a "
                "PositionTask",
            )
        start = _start_columns(model, names)
        carried = tuple(name for name in names if name not in (*POSITION, *rotation, *start))
        for name in carried:
            if name in made:
                raise InvalidValue(
                    "conflict", f"the targets have a column {name!r}, which is what one of the answers is called"
                )
        return cls(rotation, start, carried)

    def targets(self, table: pa.Table) -> Array:
        """(n, 3) positions or (n, 7) poses; NaN where there is none."""
        xyz = _numbers(table, POSITION)
        if not self.rotation:
            return xyz
        rotation = _numbers(table, self.rotation)
        return np.hstack([xyz, rotation if self.rotation == QUATERNION else _turned(rotation)])

    def starts(self, model: Model, table: pa.Table) -> Array | None:
        """(n, nq) starts, NaN where a row has none or not nq numbers; None where all start at the model's home."""
        if not self.start:
            return None
        if self.start != (START,):
            return _numbers(table, self.start)
        lists = table[START]
        if not (pa.types.is_list(lists.type) or pa.types.is_fixed_size_list(lists.type)):
            raise InvalidValue("wrong-type", f"column {START!r} must hold lists of numbers, and holds {lists.type}")
        if pa.types.is_fixed_size_list(lists.type) and lists.type.list_size != model.nq:
            raise InvalidValue(
                "wrong-length",
                f"column {START!r} must hold lists of the {model.nq} numbers that {model.name} has, and they are of "
                f"{lists.type.list_size}",
            )
        whole = pc.equal(pc.fill_null(pc.list_value_length(lists), -1), model.nq)
        starts = np.full((table.num_rows, model.nq), np.nan)
        flat = pc.cast(pc.list_flatten(lists.filter(whole)), pa.float64())
        starts[whole.to_numpy()] = flat.to_numpy().reshape(-1, model.nq)
        return starts


def _start_columns(model: Model, names: Sequence[str]) -> tuple[str, ...]:
    single = [name for name in names if name.startswith(f"{START}_")]
    if START in names:
        if single:
            raise InvalidValue("conflict", f"the targets state their start twice, as {START} and as {single[0]}")
        return (START,)
    if not single:
        return ()
    wanted = tuple(f"{START}_{name}" for name in model.coordinates)
    for name in single:
        if name not in wanted:
            raise InvalidValue(
                "unknown-word", f"column {name!r} starts no joint of {model.name}; its starts are {listed(wanted)}"
            )
    refuse_lack(wanted, names, "a start")
    return wanted


def _numbers(table: pa.Table, names: Sequence[str]) -> Array:
    """(n, columns) doubles, NaN for null; raises ValueError for a column that holds no numbers."""
    out = np.empty((table.num_rows, len(names)))
    for i, name in enumerate(names):
        column = table[name]
        if not any(is_one(column.type) for is_one in _NUMBERS):
            raise InvalidValue("not-a-number", f"column {name!r} must hold numbers, and holds {column.type}")
        out[:, i] = pc.cast(column, pa.float64()).to_numpy()
    return out


def _turned(turns: Array) -> Array:
    """(n, 4) quaternions of roll, pitch and yaw (n, 3); NaN where one of them is no number."""
    sound = np.isfinite(turns).all(axis=1)
    out = np.full((len(turns), 4), np.nan)
    out[sound] = SO3.from_rpy(turns[sound]).wxyz
    return out
