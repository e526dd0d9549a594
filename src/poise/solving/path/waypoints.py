"""What `solve_path`, `plan` and a package's path are given, as a route and what must hold of its configurations."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import numbers, positive, whole
from poise.common.errors import InvalidValue, ShapeError
from poise.kernels.machine.layout import GOAL_NUMBERS
from poise.model.model import Model
from poise.model.units import ask_for_degrees_in
from poise.quaternions import LENGTHS
from poise.solving.arguments.arguments import Tasks, cores, each_goal, one_start, several
from poise.solving.methods.posture import one_posture
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.limits import PathLimits
from poise.solving.path.route import Route
from poise.solving.solvers.batch import problems_of
from poise.spatial import SE3
from poise.tasks.base import Task
from poise.tasks.pose import PoseTask


@contextmanager
def waypoints(
    model: Model, tasks: Tasks, poses: Any, limits: PathLimits, *, seed: int, threads: int | None, seconds: float | None
) -> Iterator[tuple[Route, PathFeasibility]]:
    """Those of what `solve_path` and `plan` are given, and within the block what must hold of each configuration.

    Raises ShapeError, and ValueError for what is no target, and for numbers that make no sense.
    """
    whole("seed", seed, 0)
    if seconds is not None:
        positive("max_time", seconds)
    if threads is not None:
        whole("threads", threads, 1)
    given = several(tasks)
    one_posture(given)
    with PathFeasibility.borrowed(model, limits) as feasibility:
        route = Route(
            model, given, goals_of(model, given, poses), limits=limits, seed=seed,
            threads=cores() if threads is None else threads, seconds=seconds,
        )  # fmt: skip
        yield route, feasibility.with_loops(model, route.loops, limits=limits.positions)


def start_of(route: Route, q0: ArrayLike | None) -> Array:
    """(nq,) where a path begins: q0, which is asked for, or the model's home; raises ValueError for a q0 outside the
    limits."""
    model = route.model
    start = model.normalize(np.array(model.home if q0 is None else one_start(model, q0)))
    if q0 is not None:
        ask_for_degrees_in(model, start, "q0")
        route.refuse_outside(start, "q0")
    return route.clip(start)


def goals_of(model: Model, given: Sequence[Task], poses: Any) -> list[Array]:
    """(n, .) the goals of each task at the waypoints; raises ShapeError, and ValueError for what is no target."""
    if poses is None:
        raise InvalidValue("no-target", "poses is None; give the targets of the task, one a waypoint")
    each = each_goal(given, np.ascontiguousarray(problems_of(model, given, poses, None, name="poses")[0]))
    if not len(each[0]):
        raise ShapeError("poses is empty; a path has at least one waypoint")
    for k, (task, goals) in enumerate(zip(given, each, strict=True)):
        name = f"poses[{k}]" if len(given) > 1 else "poses"
        for i in np.flatnonzero(~task.sound(model, goals)):
            task.refuse(model, goals[i], f"{name}[{i}]")
        if isinstance(task, PoseTask):
            _refuse_lengths(poses[k] if len(given) > 1 else poses, name)
    return each


def _refuse_lengths(poses: Any, name: str) -> None:
    """Raises ValueError for a row of seven plain numbers whose quaternion is none, as of joint angles."""
    if isinstance(poses, (list, tuple)) and any(each is None or isinstance(each, SE3) for each in poses):
        return  # one by one, they are looked at
    rows = np.empty(0) if poses is None or isinstance(poses, SE3) else numbers(name, poses)
    if rows.shape[-1] == GOAL_NUMBERS:
        rows = rows.reshape(-1, GOAL_NUMBERS)
        for i in np.flatnonzero(np.abs(np.linalg.norm(rows[:, 3:], axis=1) - 1.0) > LENGTHS):
            SE3.parse(rows[i], f"{name}[{i}]")
