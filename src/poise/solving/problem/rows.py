"""The rows of a problem at a configuration: what its tasks lack, and how the joints change it."""

from collections.abc import Sequence

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.jit import prepare
from poise.model.model import Model
from poise.solving.arguments.arguments import refuse_numbers
from poise.solving.problem.problem import Problem
from poise.solving.problem.workspace import Bound, Scratch
from poise.tasks.base import Task


def rows_at(model: Model, tasks: Sequence[Task], bound: Bound, q: Array, goal: Array) -> tuple[Array, Array]:
    """Residual rows `e` (m,) and their Jacobian `J` (m, nv) at `q` (nq,) for the goal numbers of the tasks, `joined`.

    Raises ValueError for a number that is no goal or no configuration.
    """
    with bound.bare.scratch() as scratch:
        scratch.goal[:], scratch.start[:] = goal, q
        code, e, active = active_rows(bound.problem, scratch)
    if code < 0:
        refuse_numbers(code, model, tasks, goal, q)
    jacobian = np.zeros((len(e), model.nv))
    jacobian[:, list(bound.problem.velocities)] = active
    return e, jacobian


def active_rows(problem: Problem, scratch: Scratch) -> tuple[int, Array, Array]:
    """The code, the residual rows (m,) and their Jacobian (m, active velocities) at the scratch's goal and start."""
    e = np.zeros(3 * problem.blocks)
    active = np.zeros((len(e), len(problem.velocities)))
    code: int = prepare("solver.lm_solver.linearise")(scratch.address, e, active)
    return code, e, active
