"""What answers: each function asked to go where a requirement stands in the way, and the rows of q that came of it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from requirements import DT, Case

import poise as pz
from poise.common.array import Array
from poise.methods import registry

_STEPS = 100
_WAYPOINTS = 5
_AROUND = 0.02
"""How far starts of a batch lie apart [rad or m]."""


def solve(c: Case, **more: Any) -> Array:
    return pz.solve(c.mechanism.model, c.tasks, q0=c.mechanism.q0, limits=_stated(c), **more).q[None]


def solve_batch(c: Case) -> Array:
    starts = c.mechanism.model.integrate(
        c.mechanism.q0, _AROUND * np.random.default_rng(0).normal(size=(9, c.mechanism.model.nv))
    )
    return pz.solve_batch(
        c.mechanism.model, c.tasks, [_repeated(task, 9) for task in c.tasks], q0=starts, limits=_stated(c)
    ).q


def solve_all(c: Case) -> Array:
    m = c.mechanism
    end = m.model.pose(m.frame, m.end)
    lower = (replace(task, target=end.rotation) if getattr(task, "priority", 0) else task for task in c.tasks[1:])
    tasks = [replace(c.tasks[0], target=end.xyz), *lower]
    return np.asarray(pz.solve_all(m.model, tasks, None, m.q0, limits=_stated(c), samples=4).q)


def solve_path(c: Case) -> Array:
    found = pz.solve_path(c.mechanism.model, c.tasks, _way(c), q0=c.mechanism.q0, limits=_stated(c))
    assert found.success, found.explain()
    return _timed(c, found)


def plan(c: Case) -> Array:
    ends = [None if way is None else [way[0], way[-1]] for way in _way(c)]
    found = pz.plan(c.mechanism.model, c.tasks, ends, q0=c.mechanism.q0, limits=_stated(c))
    assert found.success, found.explain()
    return _timed(c, found)


def step(c: Case, **more: Any) -> Array:
    tracker = pz.Tracker(c.mechanism.model, c.tasks, dt=DT, limits=_stated(c), **more)
    rows = [c.mechanism.q0]
    for _ in range(_STEPS):
        rows.append(tracker.step(rows[-1]))
    return np.array(rows)


def _by(method: str) -> Callable[[Case], Array]:
    return lambda c: step(c, method=method)


def rollout(c: Case) -> Array:
    tracker = pz.Tracker(c.mechanism.model, c.tasks, dt=DT, limits=_stated(c))
    return np.vstack([c.mechanism.q0, tracker.rollout(c.mechanism.q0, np.tile(tracker.targets, (_STEPS, 1, 1)))])


def explore(c: Case) -> Array:
    return step(c, explore=True)


FUNCTIONS: dict[str, Callable[[Case], Array]] = {
    "solve": solve,
    "solve_batch": solve_batch,
    "solve_all": solve_all,
    "solve_path": solve_path,
    "plan": plan,
    "Tracker.step": step,
    "Tracker.rollout": rollout,
    "Tracker(explore=True)": explore,
}


def _stated(c: Case) -> Any:
    return c.limits or True


def _repeated(task: Any, count: int) -> Any:
    """Its target for so many problems, or waypoints."""
    if task.target is None:
        return None
    if isinstance(task, pz.OrientationTask):
        return [task.target] * count
    return np.tile(task.target, (count, 1))


def _way(c: Case) -> list[Any]:
    """A target a waypoint of each task: on the straight way of the frame from where it is to `end`."""
    m = c.mechanism
    first, last = (m.model.pose(m.frame, q).xyz for q in (m.q0, m.end))
    way = first + np.linspace(0.0, 1.0, _WAYPOINTS)[:, None] * (last - first)
    return [way, *(_repeated(task, _WAYPOINTS) for task in c.tasks[1:])]


def _timed(c: Case, path: Any) -> Array:
    """The rows of a path, or of the motion along it."""
    return np.asarray(path.resample(DT).q if c.timed else path.q)


METHODS: dict[str, Callable[[Case], Array]] = {name: _by(name) for name in registry.METHODS}
"""A step of each method."""
