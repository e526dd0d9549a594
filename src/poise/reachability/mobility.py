"""How well a frame moves, where loops of the model leave its joints less than all."""

from collections.abc import Callable
from typing import Final

import numpy as np

from poise.common.array import Array
from poise.model.kinematics import frame_jacobians, frame_manipulability, twists
from poise.model.model import Model
from poise.solving.path.residual_rows import Rows
from poise.solving.requirements.loops import loop_tasks
from poise.tasks.frame import OfFrame

_RANK: Final = 1e-7
"""Against the largest singular value of the loops' Jacobian, one that counts as 0."""


def manipulability_of(model: Model, task: OfFrame, rows: str) -> Callable[[Array], Array]:
    """What gives the products of the singular values of the Jacobian of a task's frame, of its `rows` alone.

    Of configurations q (n, nq), (n,): by the motions of the joints that keep the loops closed.
    """
    frame, loops = model.frame(task.frame), loop_tasks(model, [task])
    basis = twists(model, frame, rows)
    if not loops:
        return lambda q: frame_manipulability(model, frame, q, basis)
    residual_rows, first = Rows(model, [task, *loops]), 3 * len(task.blocks)
    goal = np.concatenate([task.at(model, model.home), *(loop.goal(None) for loop in loops)])

    def measured(q: Array) -> Array:
        if not len(q):
            return np.zeros(0)
        _, sizes, ways = np.linalg.svd(residual_rows(np.tile(goal, (len(q), 1)), q)[1][:, first:])
        free = ways[:, int((sizes > _RANK * sizes.max()).sum(axis=1).max()) :]
        moves = basis @ frame_jacobians(model, frame, q)[0][..., residual_rows.active] @ free.swapaxes(1, 2)
        products = np.linalg.svd(moves, compute_uv=False).prod(axis=1)
        return products if free.shape[1] else np.zeros(len(q))

    return measured
