"""The optimum that the extended Jacobian follows: how to reach it from a start, and how near its end is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.errors import InvalidValue
from poise.kernels.machine.jit import prepare
from poise.methods.extended import ExtendedJacobian, reduced_hessian
from poise.model.model import Model
from poise.solving.arguments.arguments import Tasks, joined, one_start, several
from poise.solving.methods.bound_method import bound_method
from poise.solving.problem.problem import pack
from poise.solving.requirements.loops import refuse_loops
from poise.solving.tracking.tracker import Tracker
from poise.tasks.base import Task

_UPDATES: Final = 200
_STATIONARY: Final = 1e-12
"""A step at which `relax` ends [rad or m]."""


@final
@dataclass(frozen=True, slots=True)
class AlgorithmicSingularity:
    """How far configurations are from an algorithmic singularity: E Z, the Hessian of g within the task.

    Each is a number for one configuration, else (...) for q (..., nq).
    """

    determinant: float | Array
    """det(E Z), 1 without freedom; 0 at a singularity."""
    smallest: float | Array
    """The smallest eigenvalue of E Z; a configuration is a strict minimum of g only where it is positive."""


def relax(
    model: Model, tasks: Tasks, q: ArrayLike, method: ExtendedJacobian | None = None, *, limits: bool = True
) -> Array:
    """(nq,) the least of the criterion near `q` (nq,) among the configurations that leave the tasks' frames in place.

    From there on `ExtendedJacobian` follows the minimum, and closed paths come back to their start.  Raises ValueError
    if the updates do not come to rest.
    """
    given = _frame_tasks(tasks)
    refuse_loops(model, given, "the search for an optimum")
    method = ExtendedJacobian() if method is None else method
    tracker = Tracker(model, tasks, method, limits=limits)
    now = one_start(model, q, "q")
    tracker.targets = _goals(model, given, now).reshape(-1, 7)
    for _ in range(_UPDATES):
        before, now = now, tracker.step(now)
        if np.abs(now - before).max() <= _STATIONARY:
            return now
    raise InvalidValue(
        "undefined",
        f"no minimum of the criterion was reached from this q in {_UPDATES} updates; "
        "start elsewhere, or lower max_step",
    )


def algorithmic_singularity(
    model: Model, tasks: Tasks, q: ArrayLike, method: ExtendedJacobian | None = None
) -> AlgorithmicSingularity:
    """The measure of Klein, Chu and Ahmed 1995 at `q` (..., nq), joint limits aside: one, or along a path or `Trace.q`.

    Where it is 0 while the Jacobian has full rank, the minimum of the criterion that the method follows ends.
    """
    given = _frame_tasks(tasks)
    refuse_loops(model, given, "the search for an optimum")
    method = ExtendedJacobian() if method is None else method
    many = np.array(model.check_q(q, "q"))
    problem = pack(model, given)
    bound = bound_method(model, given, problem, method, limits=False)
    out = np.zeros(len(problem.velocities) ** 2)
    measures = np.empty((2, *many.shape[:-1]))
    with bound.scratch() as scratch:
        for place in np.ndindex(many.shape[:-1]):
            scratch.goal[:], scratch.start[:] = _goals(model, given, many[place]), many[place]
            left = prepare(reduced_hessian)(scratch.address, out)
            values = np.linalg.eigvalsh(out[: left * left].reshape(left, left))
            measures[(slice(None), *place)] = values.prod(), values.min(initial=np.inf)
    if many.ndim == 1:
        return AlgorithmicSingularity(float(measures[0]), float(measures[1]))
    return AlgorithmicSingularity(measures[0], measures[1])


def _frame_tasks(tasks: Tasks) -> tuple[Task, ...]:
    given = several(tasks)
    found = tuple(task for task in given if task.blocks)
    if len(found) < len(given):
        raise InvalidValue(
            "not-supported", "a PostureTask is no constraint: give the method criterion=RestPosture(q=...) instead"
        )
    return found


def _goals(model: Model, tasks: Sequence[Task], q: Array) -> Array:
    """(7 tasks,) the goals that q fulfils."""
    return joined(tasks, [task.at(model, q) for task in tasks])
