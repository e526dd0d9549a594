"""The judge: what is true of answers, from the poses of the model alone, whatever a solver says about them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.kernels.machine.layout import CLOSED
from poise.model.model import Model
from poise.solving.arguments.arguments import each_goal
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.limits import PathLimits
from poise.solving.requirements.limits import LimitsLike
from poise.solving.requirements.loops import loop_tasks
from poise.tasks.base import Task
from poise.tasks.effector import Measure
from poise.tasks.loop import LoopTask

Flags = npt.NDArray[np.bool_]
NOTHING: Final = PathFeasibility(())
"""Nothing must hold beside the limits of joints."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What is true of N answers; one that is no finite number fails."""

    position: Array
    """(N, tasks) distances to the targets [m]; 0 for tasks without a position."""
    rotation: Array
    """(N, tasks) angles to the targets [rad]; 0 for tasks without a rotation."""
    reached: Flags
    """(N,) whether every required task is within its tolerances, and loops are closed."""
    outside: Flags
    """(N,) whether a joint is beyond its limit, by however little, or something else does not hold that must."""


@contextmanager
def feasibility_of(model: Model, tasks: Sequence[Task], limits: LimitsLike) -> Iterator[PathFeasibility]:
    """What must hold of an answer beside the limits of joints, within the block."""
    path_limits = PathLimits.of(model, limits, None, None)
    with PathFeasibility.borrowed(model, path_limits) as feasibility:
        loops = [*loop_tasks(model, tasks), *(task for task in tasks if isinstance(task, LoopTask) and task.required)]
        yield feasibility.with_loops(model, loops, limits=path_limits.positions).with_balls(model, path_limits)


def judge(
    model: Model, tasks: Sequence[Task], goals: Array, q: Array, feasibility: PathFeasibility = NOTHING
) -> Verdict:
    """Judge the answers `q` (N, nq) to `goals` (N, .), joined, over the rows whose weight is not 0; `feasibility` is
    what must hold."""
    finite: Flags = np.all(np.isfinite(q), axis=1)
    answers = np.where(finite[:, None], q, model.home)
    position, rotation = np.zeros((2, len(q), len(tasks)))
    reached = finite if feasibility.loops is None else finite & (feasibility.loops.gaps(answers) <= CLOSED)
    for k, (task, goal) in enumerate(zip(tasks, each_goal(tasks, goals), strict=True)):
        errors = task.judged(model, goal, answers)
        if task.required:
            reached = reached & np.all(errors <= task.tolerances, axis=1)
        position[:, k], rotation[:, k] = _total(task, errors, "m"), _total(task, errors, "rad")
    position[~finite], rotation[~finite] = np.inf, np.inf
    outside: Flags = (
        np.any((answers < model.lower) | (answers > model.upper), axis=1) | (feasibility(answers) < 0.0) | ~finite
    )
    return Verdict(position, rotation, reached, outside)


def _total(task: Task, errors: Array, unit: Measure) -> Array:
    """(N,) norms of the errors (N, blocks) in this unit."""
    return np.linalg.norm(errors[:, [block.unit == unit for block in task.blocks]], axis=1)
