"""pink's `solve_ik`."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pinocchio as pin

from poise.compat.pink.configuration import Configuration
from poise.compat.pink.tasks import Task
from poise.spatial import Array


def solve_ik(
    configuration: Configuration, tasks: Iterable[Task], dt: float, solver: str = "", damping: float = 1e-12,
    limits: Iterable[Any] | None = None, safety_break: bool = True, **kwargs: Any,
) -> Array:  # fmt: skip
    """(nv,) velocity of Pinocchio's that leads towards the tasks, within limits.

    The model's limits of positions and speeds hold at the configuration that it leads to in `dt` [s]; with `[]` none
    do.  `solver` and its settings decide nothing.  Raises NotWithinConfigurationLimits with `safety_break`,
    TargetNotSet, and TypeError for other limits, barriers and constraints, which are not read here.
    """
    given = None if limits is None else list(limits)
    if given or kwargs.get("barriers") or kwargs.get("constraints"):
        raise TypeError(
            "limits, barriers and constraints are not read here; leave them out, or give limits=[] for none"
        )
    configuration.check_limits(safety_break=safety_break)
    known, model = configuration.known, configuration.model
    some = list(tasks)
    terms = [each for task in some for each in task.terms(configuration, dt)]
    if not terms:
        return np.zeros(model.nv)
    lm = max(task.lm_damping for task in some)
    q = configuration.steps.step(known.model, terms, known.q(configuration.q), dt, given is None, damping, lm)
    return np.asarray(pin.difference(model, configuration.q, known.theirs(q, model.nq))) / dt
