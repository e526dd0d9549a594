"""The laws that the tasks, methods and requirements of this library are tested with, for your own.

Each check raises AssertionError with the law that is broken, where, and by how much, and returns nothing where all
hold.  No framework for tests is needed.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from poise.common.array import Array
from poise.common.checks import positive, whole
from poise.common.errors import InvalidValue
from poise.methods.base import Method
from poise.model.model import Model, a_model
from poise.solving.solvers.solver import Solver
from poise.solving.tracking.tracker import Tracker
from poise.tasks.base import Task
from poise.tasks.pose import PositionTask

_STEP: Final = 1e-6
"""Of central differences [rad or m]."""
_SLOPE: Final = 1e-5
"""What they may miss a derivative by, of what they are made of."""
_TOLERANCE: Final = 1e-6
"""By how much what must hold may be exceeded, in its own unit: what the tolerance of a task rounds."""
_STILL: Final = 1e-7
"""How far steps lead away from a target that is reached [m]."""
_FAR: Final = 1e3
"""How far away a target is out of reach [m]."""
_FOLLOWED: Final = 100
"""Steps of a Tracker towards each place."""


def check_task(task: Task, model: Model, target: Any = None, *, count: int = 10, seed: int = 0) -> None:
    """Check a task at `count` random configurations within the limits; `target` is None for its own.

    Its rows and their Jacobian are finite, and the Jacobian is the residual's derivative: by central differences half
    of e @ e has the gradient -J.T @ e.
    Raises AssertionError for a law that is broken, FrameNotFound, ValueError.
    """
    a_model(model)
    whole("count", count, 1)
    solver = Solver(model, task)
    for q in model.sample(count, seed=seed):
        e, jacobian = solver.linearise(q, target)
        _law(bool(np.isfinite(e).all() and np.isfinite(jacobian).all()), task, "its rows are no finite numbers", q)
        analytic = -jacobian.T @ e
        found = np.array([_slope(solver, model, q, way, target) for way in np.eye(model.nv)])
        worst = int(np.abs(analytic - found).argmax())
        far = float(np.abs(analytic - found)[worst])
        _law(
            far <= _SLOPE * (1.0 + float(e @ e) + float(np.abs(jacobian).max(initial=0.0))), task,
            f"the derivative by velocity {worst} is {analytic[worst]:.9g} by its Jacobian and {found[worst]:.9g} by "
            "differences of its residual", q,
        )  # fmt: skip


def check_method(
    method: str | Method, model: Model, frame: str, *, dt: float = 0.01, steps: int = 300, count: int = 3, seed: int = 0
) -> None:
    """Check a method by a Tracker that leads a frame to places, from `count` random configurations.

    Every step is within the limits of joints and of speeds, and finite, also towards a target far out of reach.  The
    same steps are taken twice, to the bit.  Where the target is reached it stays.  Of the way to a place that is up to
    0.2 rad or m away in each joint, at least half is gone within `steps`.
    Raises AssertionError for a law that is broken, FrameNotFound, and ValueError for what the method cannot do.
    """
    a_model(model)
    positive("dt", dt)
    whole("steps", steps, 1)
    rng = np.random.default_rng(seed)

    def followed(start: Array, place: Array) -> Array:
        """(steps, nq) where a Tracker leads, each step within the limits."""
        tracker = Tracker(model, PositionTask(frame), method, dt=dt)
        path, last = np.empty((steps, model.nq)), start
        for k in range(steps):
            path[k] = tracker.step(last, place)
            _law(bool(np.isfinite(path[k]).all()), method, f"step {k} is no finite number", last)
            _law(model.within_limits(path[k]), method, f"step {k} leaves the joint limits", last)
            over = float((np.abs(model.difference(last, path[k])) - dt * model.velocity).max(initial=-np.inf))
            _law(over <= _TOLERANCE * dt, method, f"step {k} is {over:.3g} too fast", last)
            last = path[k]
        return path

    for start in model.sample(count, seed=seed):
        here = model.pose(frame, start).xyz
        place = model.pose(frame, model.clip(model.integrate(start, rng.uniform(-0.2, 0.2, model.nv)))).xyz
        path = followed(start, place)
        _law(np.array_equal(path, followed(start, place)), method, "the same steps taken twice differ", start)
        begin, left = (float(np.linalg.norm(place - at)) for at in (here, model.pose(frame, path[-1]).xyz))
        _law(left <= 0.5 * begin, method, f"{left:.3g} m of {begin:.3g} are left after {steps} steps", start)
        away = float(np.linalg.norm(model.pose(frame, followed(start, here)[-1]).xyz - here))
        _law(away <= _STILL, method, f"from where its target is it goes {away:.3g} m away", start)
        followed(start, here + _FAR)


def check_requirement(
    requirement: Any,
    model: Model,
    frame: str,
    beyond: Callable[[Array], float],
    *,
    dt: float = 0.01,
    count: int = 20,
    seed: int = 0,
) -> None:
    """Check what must hold, a Task with a range or an inequality, or a limit, while a frame is led to `count` places.

    `beyond` says of q (nq,) by how much it is exceeded there, at most 0 where it holds: an oracle of your own, which
    knows nothing of how it is kept.  An answer that is a success holds, of `solve` and of a batch.  Where the answer
    without it holds by itself it is the answer, to the bit.  No step of a Tracker leaves it that began where it holds.
    Raises AssertionError for a law that is broken, FrameNotFound, and ValueError where nothing is found that holds.
    """
    a_model(model)
    lead = PositionTask(frame)
    tasks: Sequence[Task] = [lead, requirement] if isinstance(requirement, Task) else [lead]
    limits: Any = True if isinstance(requirement, Task) else [requirement]
    inside = [q for q in model.sample(50 * count, seed=seed) if beyond(q) < 0.0][:count]
    if not inside:
        raise InvalidValue(
            "empty", f"it holds at none of {50 * count} random configurations, so there is nothing to begin at"
        )
    places = np.array([model.pose(frame, q).xyz for q in model.sample(count, seed=seed + 1)])
    others: list[None] = [None] * (len(tasks) - 1)
    free, constrained = Solver(model, lead), Solver(model, tasks, limits=limits)
    for place, start in zip(places, inside, strict=False):
        alone, sol = free(place, start), constrained([place, *others], start)
        over = beyond(sol.q)
        _law(not sol.success or over <= _TOLERANCE, requirement, f"an answer is {over:.3g} beyond", sol.q)
        if alone.success and beyond(alone.q) < -_TOLERANCE:
            _law(np.array_equal(alone.q, sol.q), requirement, "an answer changes that holds without it", alone.q)
        tracker, q = Tracker(model, tasks, dt=dt, limits=limits), start
        for step in range(_FOLLOWED):
            q = tracker.step(q, [place, *others])
            over = beyond(q)
            _law(over <= _TOLERANCE, requirement, f"step {step} of a Tracker is {over:.3g} beyond", q)
    many = constrained.batch([places, *others] if others else places)
    for q, success in zip(many.q, many.success, strict=True):
        over = beyond(q)
        _law(not success or over <= _TOLERANCE, requirement, f"an answer of a batch is {over:.3g} beyond", q)


def _slope(solver: Solver, model: Model, q: Array, way: Array, target: Any) -> float:
    """The derivative of half of e @ e along a velocity, by central differences."""
    ends = [solver.linearise(model.integrate(q, sign * _STEP * way), target)[0] for sign in (1.0, -1.0)]
    return float(ends[0] @ ends[0] - ends[1] @ ends[1]) / (4.0 * _STEP)


def _law(holds: bool, of: Any, what: str, q: Array) -> None:
    if not holds:
        name = of if isinstance(of, str) else getattr(of, "label", repr(of))
        raise AssertionError(f"{name}: {what}, at q = {np.asarray(q).tolist()}")
