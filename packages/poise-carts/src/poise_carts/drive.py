"""drive: a way of base and arm together to where tasks are met, on which no wheel slips."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

import poise as pz
from poise.extending import Array, ArrayLike, LimitsLike, PathRows, path_rows, yes_or_no
from poise_carts.cart import Cart, a_cart
from poise_carts.leg import FAR, OFF, rows_of
from poise_carts.roadmap import Roadmap
from poise_carts.steering import Steering
from poise_carts.words import wrapped

_STARTS: Final = 24
"""Places around that of the first answer from which others are searched for."""
_AROUND: Final = 0.5
"""How far around it they are, in their scale [m]."""
_ARM: Final = 0.3
"""What a radian or a metre of the arm counts beside a metre of the base, where a goal is chosen [m]."""
_SAME: Final = 1e-6
"""Goals that differ by no more are one [rad or m]."""
_GOALS: Final = 8
"""Goals to which ways are looked for, at most."""
STEPS: Final = 4
"""Steps on an arc, at least: fewer rows between two rests do not say how it bends."""


def drive(
    cart: Cart,
    model: pz.Model,
    tasks: pz.Task | Sequence[pz.Task],
    *,
    q0: ArrayLike | None = None,
    limits: LimitsLike = True,
    cusps: bool = True,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    seed: int = 0,
    max_time: float | None = None,
) -> pz.JointPath:
    """A path of base and arm from q0 (nq,), by default the model's home, to a configuration that meets the tasks.

    Tasks hold their targets, as those of `solve` do, and may be of the base, of a hand, or both.  A cart drives on arcs
    and straight lines, and turns on the spot if it can: the shortest that lead from where it is to where it shall be
    (Reeds and Shepp 1990, doi:10.2140/pjm.1990.145.367), or, where something is in the way that
    `limits=[CollisionLimit(world, ...)]` keeps apart, a way through random poses, each on such a way from the one
    before.  Without `cusps` it goes forwards alone (Dubins 1957, doi:10.2307/2372560).  One that goes sideways goes
    straight.  The arm moves evenly on the last of these ways.

    The rows of the path lie on the arcs, and so close that the straight steps between them leave these by 1e-6 m at
    most; `JointPath.at` goes through all rows.  It is as fast as the speeds of wheels and joints let it.  With an
    `acceleration` it rests where an arc begins or ends, for there the wheels of a car are steered.  The angle of the
    base is counted on, beyond a whole turn.

    Never an exception for what is not reached: see `JointPath.status`.  The same seed gives the same path, unless
    `max_time` [s] cuts it short.  Raises what `plan` raises.
    """
    yes_or_no("cusps", cusps)
    model, kept = a_cart(cart).mounted(model), cart.limits_with(limits)
    base = model.index(cart.base(model).name)
    first = pz.solve(model, tasks, q0=q0, limits=limits, seed=seed)
    rows = _rows_of(tasks, 1)
    with path_rows(
        model, tasks, rows, limits=kept, velocity=velocity, acceleration=acceleration, seed=seed, max_time=max_time
    ) as held:
        start = held.start(q0)
        goals, failure = _goals(model, tasks, first, start, base, limits, seed)
        if failure is None and float(held.slack(start[None])[0]) < 0.0:
            status, words = held.words(start)
            failure = pz.results.PathFailure(0, status, f"the path cannot begin at q0, where {words}")
        if failure is not None:
            return _failed(held, start, goals, failure)
        roadmap = Roadmap(model, base, Steering(cart, cusps=cusps), held, seed)
        legs = roadmap.legs(start, goals)
        far = np.array([leg.size for leg in legs])
        if far.min() > FAR:
            reason = (
                f"the shortest way of the cart there is {far.min():.3g} m long, and {FAR:.3g} m are driven at most: "
                "are targets in metres, and is the cart steered by more than that?"
            )
            return _failed(held, start, goals, pz.results.PathFailure(0, pz.Status.LIMIT, reason))
        sizes = far + _ARM * np.abs(np.delete(goals - start, np.r_[base], axis=1)).sum(axis=1)
        nearest = np.argsort(sizes, kind="stable")[:_GOALS]
        way = roadmap.way([legs[k] for k in nearest])
        if way is None:
            late = " before max_time was spent" if held.late else ""
            reason = f"no way of the cart to it was found along which all holds that must{late}."
            status = pz.Status.BUDGET if held.late else pz.Status.COLLISION
            return _failed(held, start, goals[nearest], pz.results.PathFailure(0, status, reason))
        q, corners = rows_of(model, way, OFF, STEPS)
        return held.path(q, np.array([len(q) - 1]), corners, failures=held.missed(q[-1:]))


def _goals(
    model: pz.Model,
    tasks: pz.Task | Sequence[pz.Task],
    first: pz.Solution,
    start: Array,
    base: slice,
    limits: LimitsLike,
    seed: int,
) -> tuple[Array, pz.results.PathFailure | None]:
    """(n, nq) configurations that meet the tasks, and why there is none: the first answer, and others around."""
    rng = np.random.default_rng(seed)
    starts = np.tile(start, (_STARTS, 1))
    places = first.q[base][:2] + rng.normal(scale=_AROUND, size=(_STARTS, 2))
    starts[:, base] = np.column_stack([places, rng.uniform(-np.pi, np.pi, _STARTS)])
    others = pz.solve_batch(model, tasks, _rows_of(tasks, _STARTS), q0=starts, limits=limits, seed=seed)
    found = np.concatenate([first.q[None], others.q])[np.append(first.success, others.success)]
    if not len(found):
        return first.q[None], pz.results.PathFailure(0, first.status, first.explain())
    seen = found.copy()
    seen[:, base.stop - 1] = wrapped(seen[:, base.stop - 1])
    _, kept = np.unique(np.round(seen / _SAME), axis=0, return_index=True)
    return found[np.sort(kept)], None


def _failed(held: PathRows, start: Array, goals: Array, failure: pz.results.PathFailure) -> pz.JointPath:
    """The path from the start straight to a goal, along which nothing can be driven."""
    q = np.stack([start, goals[0]])
    return held.path(q, np.array([1]), np.ones(2, dtype=np.bool_), failures=[failure])


def _rows_of(tasks: pz.Task | Sequence[pz.Task], count: int) -> Any:
    """The targets of tasks as rows, so many times, as batches and plans take them; of one that has none, None."""
    if isinstance(tasks, Sequence):
        return [_rows_of(task, count) for task in tasks] if len(tasks) > 1 else _rows_of(tasks[0], count)
    return repeated(getattr(tasks, "target", None), count)


def repeated(target: Any, count: int) -> Any:
    """A target as so many rows; None as None."""
    if target is None:
        return None
    if isinstance(target, pz.SE3):
        return pz.SE3(np.tile(target.array, (count, 1)))
    if isinstance(target, pz.SO3):
        return pz.SO3(wxyz=np.tile(target.wxyz, (count, 1)))
    numbers = np.asarray(target, dtype=float)
    return np.tile(numbers, (count, *([1] * numbers.ndim)))
