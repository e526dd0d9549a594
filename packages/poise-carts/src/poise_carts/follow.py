"""follow: a path of base and arm together along poses, on which no wheel slips."""

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

import poise as pz
from poise.extending import Array, ArrayLike, LimitsLike, PathRows, path_rows, yes_or_no
from poise_carts.arcs import arcs
from poise_carts.cart import Cart, a_cart
from poise_carts.drive import repeated
from poise_carts.leg import OFF, Corners, Leg, free, rows_of
from poise_carts.rolling_path import RollingPath

Indices: TypeAlias = npt.NDArray[np.int64]

_HEADINGS: Final = 8
"""Directions of the base, evenly around, from which it is searched."""
_LEAST: Final = 2
"""Rows of a path on which the base goes anywhere."""
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
    let it, and rests at cusps then.  A cart that goes sideways has what `solve_path` gives.

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
        rolling = RollingPath(model, joint, held, cart.curvature, cusps=cusps, fixed=start is not None)
        failures = list[pz.results.PathFailure]()
        for path in paths:
            q = rolling.from_sliding(path.q)
            rows, stations, rests = _rows(model, q, base)
            missed = rolling.missed(q)
            if missed.max() <= _MISSED and free(held, rows):
                return held.path(rows, stations, rests, failures=held.missed(q))
            failures.append(_failure(held, missed, rows, stations))
            if held.late:
                break
        return held.path(
            paths[0].q, np.arange(len(path.q)), np.ones(len(path.q), dtype=np.bool_), failures=failures[:1]
        )


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


def _rows(model: pz.Model, q: Array, base: slice) -> tuple[Array, Indices, Corners]:
    """The rows of the arcs through q (n, nq), which of them are these (n,), and at which the cart comes to rest, for it
    turns back there."""
    lengths, turns, _ = arcs(q[:, base])
    legs = [
        Leg(a, b, length, turn, np.maximum(np.abs(length), 1e-300), base, straight=False)
        for a, b, length, turn in zip(q[:-1], q[1:], lengths[:, None], turns[:, None], strict=True)
    ]
    rows, corners = rows_of(model, legs, OFF)
    stations = np.flatnonzero(corners)
    rests = np.zeros(len(rows), dtype=np.bool_)
    rests[[0, -1]] = True
    rests[stations[1:-1]] = lengths[1:] * lengths[:-1] < 0.0
    return rows, stations, rests


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
