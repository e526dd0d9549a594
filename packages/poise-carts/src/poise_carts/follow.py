"""follow: a path of base and arm together along poses, on which no wheel slips."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

import poise as pz
from poise.extending import Array, ArrayLike, LimitsLike, PathRows, path_rows, yes_or_no
from poise_carts.arcs import arcs
from poise_carts.cart import Cart, a_cart
from poise_carts.drive import STEPS, repeated
from poise_carts.leg import OFF, Corners, Leg, free, rows_of
from poise_carts.rolling_path import RollingPath
from poise_carts.smooth_roll import smooth_rows

Indices: TypeAlias = npt.NDArray[np.int64]

_HEADINGS: Final = 8
"""Directions of the base, evenly around, from which it is searched."""
_LEAST: Final = 2
"""Rows of a path on which the base goes anywhere."""
_BENDS: Final = (0.95, 0.75, 0.55)
"""Shares of its curvature that a cart turns with at most where arcs meet, one after the other, until a way without
corners fits there, which bends more in between."""
_STANDS: Final = 1e-9
"""A base that goes no farther stands [m]."""
_MISSED: Final = 1e-8
"""What may be missed at a row, or slip on the way to it: rounding [m or rad]."""


def follow(
    cart: Cart,
    model: pz.Model,
    tasks: pz.Task | Sequence[pz.Task],
    poses: Any,
    *,
    q0: ArrayLike | None = None,
    start: ArrayLike | None = None,
    limits: LimitsLike = True,
    cusps: bool = True,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    seed: int = 0,
    max_time: float | None = None,
) -> pz.JointPath:
    """A path of base and arm along n `poses`, such as of a hand along a wall, while the base drives: `solve_path` of a
    cart.

    Tasks and poses are those of `solve_path`.  First the base may go sideways, from q0 (nq,), by default the model's
    home, with its heading there and seven others; then each of these paths, beginning with the one that goes least
    sideways, is changed as a whole until the base rolls from each pose to the next on an arc, no tighter than the cart
    can be steered, and without `cusps` forwards alone.  The first that keeps all that must hold is taken.  It is a
    local optimum of the sum of the squares of all steps.  Poses should be so near to each other, some hundredths of a
    metre, that one arc and even motion of the arm do for what is between them.

    A robot that stands at q is given as `start` (nq,), which must meet the first pose: `drive` leads there.

    The rows of the path lie on the arcs, and so close that the straight steps between them leave these by 1e-6 m at
    most; `stations` are the rows at the poses.  It is as fast as the speeds of wheels and joints, and `acceleration`,
    let it.  With an acceleration no wheel could be steered at once where two arcs meet: then curvature changes evenly
    from pose to pose, and so do the speeds of the arm.  A car rests at its cusps, and, as a note tells, at each pose
    where no such way was found.  A cart that goes sideways has what `solve_path` gives.

    Never an exception for what cannot be followed: see `JointPath.status`.  The same seed gives the same path, unless
    `max_time` [s] cuts it short.  Raises what `solve_path` raises.
    """
    yes_or_no("cusps", cusps)
    model, kept = a_cart(cart).mounted(model), cart.limits_with(limits)
    timing: dict[str, Any] = {"velocity": velocity, "acceleration": acceleration}
    search: dict[str, Any] = {"limits": kept, "seed": seed, "max_time": max_time}
    if cart.sideways:
        return pz.solve_path(model, tasks, poses, q0=q0, start=start, **search, **timing)
    joint = cart.base(model).name
    base = model.index(joint)
    with path_rows(model, tasks, poses, **search, **timing) as held:
        sliding = list[pz.JointPath]()
        begins = [start] if start is not None else _begins(model, tasks, poses, held.start(q0), base, kept, seed)
        for one in begins:
            given: dict[str, Any] = {"q0": one} if start is None else {"q0": q0, "start": one}
            sliding.append(pz.solve_path(model, tasks, poses, **given, **search))
            if held.late:
                break
        paths = sorted(filter(lambda path: path.success, sliding), key=lambda path: _across(path.q[:, base]))
        if not paths or len(paths[0].q) < _LEAST:
            return (paths or sliding)[0]
        bends = _BENDS if held.smooth and np.isfinite(cart.curvature) else _BENDS[:1]
        failures, found = list[pz.results.PathFailure](), list[_Rolled]()
        for path in paths:
            q = path.q
            for bend in bends:
                rolling = RollingPath(model, joint, held, bend * cart.curvature, cusps=cusps, fixed=start is not None)
                q = rolling.from_sliding(q)
                missed = rolling.missed(q)
                rolled = _rows(held, model, joint, q, cart.curvature, cusps=cusps)
                if missed.max() <= _MISSED and free(held, rolled.rows):
                    found.append(rolled)
                elif not found:
                    failures.append(_failure(held, missed, rolled.rows, rolled.stations))
                if held.late or not found or not found[-1].notes:
                    break
            if found:
                best = min(found, key=lambda one: int(one.rests.sum()))
                return held.path(*best[:3], failures=held.missed(best.rows[best.stations]), notes=best.notes)
            if held.late:
                break
        q = paths[0].q
        return held.path(q, np.arange(len(q)), np.ones(len(q), dtype=np.bool_), failures=failures[:1])


def _begins(
    model: pz.Model, tasks: pz.Task | Sequence[pz.Task], poses: Any, start: Array, base: slice, limits: LimitsLike,
    seed: int,
) -> Array:  # fmt: skip
    """(n, nq) configurations at the first pose, with the base's heading as at the start and evenly around; where none
    was found, the start."""
    starts = np.tile(start, (_HEADINGS, 1))
    starts[:, base.stop - 1] += 2.0 * np.pi * np.arange(_HEADINGS) / _HEADINGS
    several = isinstance(tasks, Sequence) and len(tasks) > 1
    first = [repeated(_first(each), _HEADINGS) for each in poses] if several else repeated(_first(poses), _HEADINGS)
    found = pz.solve_batch(model, tasks, first, q0=starts, limits=limits, seed=seed)
    return found.q[found.success] if found.success.any() else start[None]


def _first(poses: Any) -> Any:
    """The first of the targets of a task; None of one that has none."""
    if poses is None:
        return None
    if isinstance(poses, pz.SE3):
        return pz.SE3(poses.array[0])
    return pz.SO3(wxyz=poses.wxyz[0]) if isinstance(poses, pz.SO3) else poses[0]


def _across(poses: Array) -> float:
    """How far the base goes sideways along poses (n, 3) [m]."""
    return float(np.abs(arcs(poses)[2]).sum())


class _Rolled(NamedTuple):
    """The way of a base that rolls through configurations."""

    rows: Array
    """(m, nq)"""
    stations: Indices
    """(n,) which of them these are."""
    rests: Corners
    """(m,) at which the cart rests."""
    notes: list[str]


def _rows(held: PathRows, model: pz.Model, joint: str, q: Array, curvature: float, *, cusps: bool) -> _Rolled:
    """The way through q (n, nq): on arcs, or, where accelerations are bounded, without corners of its curvature from
    where the base turns back or stands to where it does so next."""
    bounded, base = bool(np.isfinite(curvature)), model.index(joint)
    lengths, turns, _ = arcs(q[:, base])
    lengths[np.abs(lengths) < _STANDS] = 0.0
    moves = lengths != 0.0 if bounded else np.abs(model.difference(q[:-1], q[1:])).max(axis=1) > _STANDS
    goes_on = moves[1:] & moves[:-1] & ((lengths[1:] * lengths[:-1] > 0.0) | (not bounded))
    rows, met, rests, notes = [q[:1]], [np.ones(1, dtype=np.bool_)], [np.ones(1, dtype=np.bool_)], list[str]()
    for a, b in pairwise([0, *(1 + np.flatnonzero(~goes_on)), len(q) - 1]):
        some = q[a : b + 1]
        smooth = None
        if held.smooth and moves[a]:
            smooth = smooth_rows(model, joint, some, lengths[a:b], OFF, bounded=bounded)
        if smooth is not None and _rolls(smooth[:, base], curvature, cusps=cusps) and free(held, smooth):
            rows.append(smooth[1:])
            met.append(np.arange(1, len(smooth)) % ((len(smooth) - 1) // (b - a)) == 0)
            rests.append(np.arange(1, len(smooth)) == len(smooth) - 1)
            continue
        if held.smooth and b > a + 1:
            notes.append(
                f"From waypoint {a} to {b} the cart rests at each, for no way without corners was found there."
            )
        legs = [
            Leg(*ends, length, turn, np.maximum(np.abs(length), 1e-300), base, straight=False)
            for ends, length, turn in zip(pairwise(some), lengths[a:b, None], turns[a:b, None], strict=True)
        ]
        on_arcs, corners = rows_of(model, legs, OFF, STEPS if held.smooth else 1)
        rows.append(on_arcs[1:])
        met.append(corners[1:])
        rests.append(corners[1:])
    return _Rolled(np.concatenate(rows), np.flatnonzero(np.concatenate(met)), np.concatenate(rests), notes)


def _rolls(poses: Array, curvature: float, *, cusps: bool) -> bool:
    """Whether a base that goes along poses (n, 3) turns back nowhere, if it may not or its curvature is bounded, and no
    tighter than that."""
    lengths, turns, _ = arcs(poses)
    if np.isinf(curvature):
        return cusps or bool((lengths >= 0.0).all())
    return bool((lengths[0] * lengths > 0.0).all() and (np.abs(turns) <= curvature * np.abs(lengths)).all())


def _failure(held: PathRows, missed: Array, rows: Array, stations: Indices) -> pz.results.PathFailure:
    """Why a path that was made to roll is none."""
    worst = int(missed.argmax())
    if missed[worst] > _MISSED:
        late = " before max_time was spent" if held.late else ""
        reason = (
            f"no path was found{late} on which the wheels roll: the best that was found is off by "
            f"{missed[worst]:.3g} m or rad here."
        )
        return pz.results.PathFailure(worst, pz.Status.BUDGET if held.late else pz.Status.LOCAL_MINIMUM, reason)
    step = int(held.on_steps(rows).argmin())
    status, words = held.words(rows[step : step + 2][held.slack(rows[step : step + 2]).argmin()])
    return pz.results.PathFailure(int(np.searchsorted(stations, step + 1)), status, f"on the way to it {words}")
