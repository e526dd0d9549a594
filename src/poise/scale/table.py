"""One table: targets in its rows, answers in the rows of another."""

import warnings
from typing import Final

import numpy as np
import pyarrow as pa

from poise.common.errors import InvalidType, InvalidValue
from poise.model.model import Model
from poise.model.units import units
from poise.scale.columns import Columns, TargetTask
from poise.solving.requirements.status import Status
from poise.solving.solvers.batch import SolutionBatch
from poise.solving.solvers.solver import Solver
from poise.tasks.pose import PoseTask, PositionTask

_STATUSES: Final = list(Status)
_NAMES: Final = pa.array([status.name for status in _STATUSES])
"""The dictionary of the column `status`, the same in every table, so that tables can be joined."""


def solve_table(solver: Solver, table: pa.Table, *, threads: int | None = None) -> pa.Table:
    """Solve for the target in each row of an Arrow table, with a `Solver` of one `PoseTask` or `PositionTask`.

    Targets are the columns `x y z` [m] and, for a pose, `qw qx qy qz` or `roll pitch yaw` [rad]; starts `q0_<joint>`
    for each coordinate, or a list `q0`; without them the model's home.  All other columns come first in the answer, as
    they are.  Then follow `q_<joint>` for each coordinate [rad or m], `status`, `success`, `position_error_m`,
    `rotation_error_rad`, `iterations` and `restarts`; an error that the task does not have is null, and so is what a
    row without a target or start would have.  An answer depends on its own row and the solver's seed alone, so a table
    may be cut anywhere.

    Raises TypeError for another table, ValueError for a column that is missing or has no numbers, and for a solver of
    other tasks.  Ctrl-C raises KeyboardInterrupt.
    """
    if not isinstance(table, pa.Table):
        raise InvalidType(
            "wrong-type", f"a table of Arrow is needed, such as pyarrow.table(...) makes; got {type(table).__name__}"
        )
    columns = columns_of(solver, table.schema)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "stopped by Ctrl-C", RuntimeWarning)
        batch = solver.batch(
            columns.targets(table), columns.starts(solver.model, table), threads=threads, progress=False
        )
    if batch.interrupted:
        raise KeyboardInterrupt
    carried = [(table.schema.field(name), table[name]) for name in columns.carried]
    fields, arrays = zip(*carried, *_answers(batch), strict=True)
    return pa.table(list(arrays), schema=pa.schema(fields))


def columns_of(solver: Solver, schema: pa.Schema) -> Columns:
    """What the columns mean to the solver's task; raises ValueError for a column that is missing, or another task."""
    return Columns.of(solver.model, task_of(solver), schema.names, list(_units(solver.model)))


def task_of(solver: Solver) -> TargetTask:
    """The one task; raises ValueError where it is none whose targets stand in columns."""
    match solver.tasks:
        case (PoseTask() | PositionTask() as task,):
            return task
    found = ", ".join(type(task).__name__ for task in solver.tasks)
    raise InvalidValue(
        "not-supported", f"a table states the targets of one PoseTask or one PositionTask, and the solver has {found}"
    )


def _units(model: Model) -> dict[str, str]:
    """The unit of each column of the answers."""
    unit = units(model)
    angles = {f"q_{name}": unit[name] for name in model.coordinates}
    return angles | {
        "status": "",
        "success": "",
        "position_error_m": "m",
        "rotation_error_rad": "rad",
        "iterations": "",
        "restarts": "",
    }


def _answers(batch: SolutionBatch) -> list[tuple[pa.Field, pa.Array]]:
    places = np.zeros(len(batch), dtype=np.int32)
    unsolved = ~batch.success
    places[unsolved] = [_STATUSES.index(status) for status in batch.status[unsolved]]
    senseless = batch.status == Status.BAD_INPUT
    arrays = [
        *(pa.array(np.ascontiguousarray(batch.q[:, i]), mask=senseless) for i in range(batch.model.nq)),
        pa.DictionaryArray.from_arrays(places, _NAMES),
        pa.array(batch.success),
        _numbers(batch.position_errors[:, 0]),
        _numbers(batch.rotation_errors[:, 0]),
        pa.array(batch.iterations),
        pa.array(batch.restarts),
    ]
    return [
        (pa.field(name, array.type, metadata={"unit": unit} if unit else None), array)
        for (name, unit), array in zip(_units(batch.model).items(), arrays, strict=True)
    ]


def _numbers(column: np.ndarray[tuple[int], np.dtype[np.float64]]) -> pa.Array:
    """Doubles, with null for NaN."""
    return pa.array(np.ascontiguousarray(column), from_pandas=True)
