"""The judge: what is true of answers, from the poses of the model alone, whatever a solver says about them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from poise.model.model import Model
from poise.spatial import Array
from poise.tasks.base import Task
from poise.tasks.effector import Measure

Flags = npt.NDArray[np.bool_]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What is true of N answers; one that is no finite number fails."""

    position: Array
    """(N, tasks) distances to the targets [m]; 0 for tasks without a position."""
    rotation: Array
    """(N, tasks) angles to the targets [rad]; 0 for tasks without a rotation."""
    reached: Flags
    """(N,) whether every task is within its tolerances."""
    outside: Flags
    """(N,) whether a joint is beyond its limit, by however little."""


def judge(model: Model, tasks: Sequence[Task], goals: Array, q: Array) -> Verdict:
    """Judge the answers `q` (N, nq) to `goals` (N, tasks, 7), over the rows whose weight is not 0."""
    finite: Flags = np.all(np.isfinite(q), axis=1)
    answers = np.where(finite[:, None], q, model.home)
    position, rotation = np.zeros((2, len(q), len(tasks)))
    reached = finite.copy()
    for k, task in enumerate(tasks):
        errors = task.judged(model, goals[:, k], answers)
        reached &= np.all(errors <= [block.tolerance for block in task.blocks], axis=1)
        position[:, k], rotation[:, k] = _total(task, errors, "m"), _total(task, errors, "rad")
    position[~finite], rotation[~finite] = np.inf, np.inf
    outside: Flags = np.any((answers < model.lower) | (answers > model.upper), axis=1) | ~finite
    return Verdict(position, rotation, reached, outside)


def _total(task: Task, errors: Array, unit: Measure) -> Array:
    """(N,) norms of the errors (N, blocks) in this unit."""
    return np.linalg.norm(errors[:, [block.unit == unit for block in task.blocks]], axis=1)
