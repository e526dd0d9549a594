"""A posture task, prepared: what it moves within the null space of the others, and what no other task moves."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import with_holes
from poise.common.errors import InvalidValue
from poise.kernels.machine.layout import CHOICE
from poise.model.model import Model, a_model
from poise.solving.arguments.arguments import one_a_task, one_start
from poise.solving.problem.problem import Problem
from poise.tasks.base import Task
from poise.tasks.posture import PostureTask


def with_posture(model: Model, task: PostureTask, problem: Problem) -> Problem:
    """The problem with the weights of a posture, what an answer is judged by, and room to bring it near; see
    `poise.kernels.solver.posture`."""
    weight = task.weights(model)
    active, counts = weight[list(problem.velocities)], (weight > 0.0) & model._free
    vectors = dict.fromkeys(("phi", "moved", "gradient", "other"), len(active))
    judged = np.zeros(model.nq + 1)
    at_q, at_v = model._plain
    judged[at_q], judged[-1] = counts[at_v], task.tolerance
    for iq, iv in model._turning:
        judged[iq : iq + 3] = counts[iv : iv + 3]
    parts = {"posture_weights": active / (float(active.max(initial=0.0)) or 1.0), "posture_judged": judged}
    return problem.extended(parts, {"posture_goal": model.nq, "search.choice": CHOICE, **vectors})


MAX_WEIGHT_RATIO: Final = 1e4
"""How many times the least of its weights the largest may be in a Tracker: their squares are what it reckons with."""


def weighed(model: Model, task: PostureTask, velocities: Sequence[int], *, pulls: bool) -> dict[str, Array]:
    """The sections of a Tracker's problem that tell of the weights of a posture, for so many active velocities.

    Where it does not pull, they share motion among the joints and do nothing else.
    """
    weight = task.weights(model)[list(velocities)]
    pulled = weight > 0.0
    least, most = weight[pulled].min(initial=np.inf), weight[pulled].max(initial=0.0)
    if most > MAX_WEIGHT_RATIO * least:
        raise InvalidValue(
            "out-of-range",
            f"the weights of the PostureTask are from {least:g} to {most:g}; in a Tracker the largest may be "
            f"{MAX_WEIGHT_RATIO:g} times the least: raise the least, or make it 0, which leaves the joint alone",
        )
    shares = np.where(pulled, least / np.where(pulled, weight, 1.0), 1.0)
    return {
        "posture_mask": (pulled & pulls).astype(float),
        "weight_ratios": shares if (shares < 1.0).any() else np.zeros(0),
    }


def pulled(model: Model, task: PostureTask) -> list[int]:
    """The velocities that the posture of a Tracker moves."""
    moved = task.weights(model) > 0.0
    for _, at in model._turning:  # a ball turns as a whole
        moved[at : at + 3] = moved[at : at + 3].any()
    return np.flatnonzero(moved & model._free).tolist()


def cost_posture(model: Model, tasks: Sequence[Task]) -> PostureTask | None:
    """The posture whose weights are the `joint_costs` of the model: its target is a start; None where all cost 1.

    Raises ValueError for a posture among the tasks, whose own weights say what motion costs.
    """
    if not a_model(model).joint_costs:
        return None
    if one_posture(tasks) is not None:
        raise InvalidValue(
            "conflict", "a PostureTask says by its weights what motion costs: leave out joint_costs, and give it these"
        )
    return PostureTask(weight=dict(model.joint_costs))


def with_start(
    model: Model, tasks: Sequence[Task], targets: Any, q0: ArrayLike | None, *, limits: bool, batch: bool = False
) -> list[Any]:
    """The targets of tasks, and of a `cost_posture` behind them: a start, (nq,) or of a batch (n, nq)."""
    given = one_a_task(tasks, targets, "targets" if batch else "target", rows_on=model if batch else None)
    start = model.home if q0 is None else with_holes("q0", q0) if batch else one_start(model, q0)
    return [*(target for _, target in given), model.clip(start) if limits else start]


def one_posture(tasks: Sequence[Task]) -> PostureTask | None:
    """The PostureTask among the tasks; raises ValueError for more than one."""
    found = [task for task in tasks if isinstance(task, PostureTask)]
    if len(found) > 1:
        raise InvalidValue("too-many", f"tasks holds {len(found)} PostureTasks; q can be near to one only")
    return found[0] if found else None
