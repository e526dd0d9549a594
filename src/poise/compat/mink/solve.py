"""mink's `solve_ik`: the velocity of a step."""

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from poise.compat.mink.configuration import Configuration
from poise.compat.mink.limits import CollisionAvoidanceLimit, ConfigurationLimit, VelocityLimit
from poise.compat.mink.tasks import Task
from poise.spatial import Array


def solve_ik(
    configuration: Configuration,
    tasks: Sequence[Task],
    dt: float,
    solver: str = "",
    damping: float = 1e-12,
    safety_break: bool = False,
    limits: Sequence[Any] | None = None,
    **kwargs: Any,
) -> Array:
    """(nv,) velocity of MuJoCo that leads towards the tasks, within limits.

    Limits hold at the configuration that it leads to in `dt` [s], those of position even where `limits` names others
    alone; with `[]` none do.  `solver` and its settings decide nothing.  Raises NotWithinConfigurationLimits with
    `safety_break`, TargetNotSet, and TypeError for a limit of another kind.
    """
    configuration.check_limits(safety_break=safety_break)
    known, before = configuration.known, configuration.data.qpos
    terms = [each for task in tasks for each in task.terms(configuration, dt)]
    velocity = np.zeros(configuration.nv)
    if not terms:
        return velocity
    model, stated = _limited(configuration, limits)
    lm = max(task.lm_damping for task in tasks)
    q = configuration.steps.step(model, terms, known.q(before), dt, stated, damping, lm)
    mujoco.mj_differentiatePos(configuration.model, velocity, dt, before, known.qpos(q, before))
    return velocity


def _limited(configuration: Configuration, limits: Sequence[Any] | None) -> tuple[Any, Any]:
    model = configuration.known.model
    if limits is None or not limits:
        return model, limits is None
    key = tuple(map(id, limits))
    if key not in configuration.limited:
        stated: list[Any] = []
        for limit in limits:
            if isinstance(limit, ConfigurationLimit):
                model = limit.narrowed(model)
            elif isinstance(limit, CollisionAvoidanceLimit):
                model = limit.shaped(model)
                stated.append(limit.limit())
            elif isinstance(limit, VelocityLimit):
                stated.append(limit.limit())
            else:
                raise TypeError(f"limits holds {limit!r}, which is none of {__package__}")
        configuration.limited[key] = model, tuple(stated) or True, limits
    return configuration.limited[key][:2]
