"""When each configuration of a path is passed: the least times that keep speeds, accelerations and jerks everywhere."""

from itertools import pairwise
from typing import Final, NamedTuple, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.kernels.machine.jit import prepare
from poise.kernels.path.timing import least_times
from poise.model.model import Model
from poise.solving.path.clock import Clock
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.limits import SEEN, Rates
from poise.solving.path.quintic_spline import quintic_spline
from poise.solving.path.trajectory import Curve, Trajectory, joined
from poise.solving.requirements.torques import LEAST_LEFT

_POINTS: Final = 16
"""Points on each piece at which limits are kept; what is between two of them costs half a hundredth of the time."""
_ONSETS: Final = 10
"""Times that the interval next to a rest is halved: a motion that begins there may be at full speed long before the end
of one, and its acceleration is the same all along it."""
_LOOKS, _ALL_LOOKS = 3, 17
"""So often they are looked at between two of these, and at last."""
_SAME: Final = 1e-7
"""Configurations that differ by no more are one [rad or m]: so much is left of the rounding of a solve."""
_SHARP: Final = 1.0
"""A change of direction between two steps at which the path stands still, as a share of full speed.  Where the rows
before and after turn as much together, it is no corner but a bend, which a smooth curve follows."""
_LEAST: Final = 1e-12
"""The least square of ds/dt between two rests, and of all the time the share below which a step takes none."""
_LOOKED_AT: Final = 4
"""Parts of a step that is bent, each of which is looked at as if it were straight."""
_ROUNDS: Final = 10
"""Times that a path whose jerks are too large is slowed down where they are."""
_NEARLY, _GENTLY = 1e-4, 0.3
"""A strain that is small enough: what is left of it slows the whole motion, the even speed of a tool too, which is
promised to a thousandth; the power of it by which a motion that is even already is slowed down in a round."""
_AT_ONCE: Final = 1_000_000
"""Numbers that are made for this in one go, so that a long while takes no more memory."""
_BRISK: Final = 0.9
"""The parameter of a path runs by less than 1 a second at most; where tools are bounded it is so much shorter, so that
it never is what holds them back."""
_SHARES: Final = (1.0, 0.7, 0.45, 0.3)
"""Shares of the accelerations that are tried beside jerks."""


def timed(
    model: Model,
    q: Array,
    most: Rates,
    rests: npt.NDArray[np.bool_],
    clock: Clock,
    feasibility: PathFeasibility,
    *,
    within_limits: bool,
) -> tuple[Array, Trajectory]:
    """(n,) times [s], from 0 on, at which q (n, nq) is passed as early as `most` allows, and the motion itself.

    Without accelerations and jerks it goes straight from row to row, each step as fast as can be.  With them the motion
    is smooth, through all rows, and rests at both ends, at `rests` (n,), where the rows turn sharply, and around steps
    that keep what must hold when they are straight, and not when they are bent.  Rows that do not move by more than
    rounding are passed as one.  With `within_limits` limits of positions hold between rows too.
    What is tried for jerks ends with the clock: the motion is then slower than it need be.
    """
    rows = _distinct_rows(model, q)
    place = np.searchsorted(rows, np.arange(len(q)), side="right") - 1
    distinct, still = q[rows], np.zeros(len(rows), dtype=np.bool_)
    np.logical_or.at(still, place, rests)
    steps = model.difference(distinct[:-1], distinct[1:])
    ways = np.abs(steps).sum(axis=0)
    rates, smooth = most, most.smooth
    if smooth:  # from rest to rest a joint gets no faster, and no harder, than its way and its limits allow
        with np.errstate(invalid="ignore"):
            hardest = np.fmin(most.acceleration, np.where(ways > 0.0, np.cbrt(0.5 * ways * most.jerk**2), np.inf))
            fastest = np.fmin(most.velocity, np.where(ways > 0.0, np.sqrt(2.0 * hardest * ways), np.inf))
        rates = most._replace(velocity=fastest, acceleration=hardest)
    durations = rates.on_steps(model, distinct)
    moving = np.flatnonzero(durations > _LEAST * durations.sum())
    if not len(moving):
        return np.zeros(len(q)), even(model, q[-1:], np.zeros(1))
    knots, through = np.append(0.0, np.cumsum(durations[moving])), np.append(moving, len(distinct) - 1)
    if not smooth:
        q, at = distinct[through], knots
        if feasibility.loops is not None:
            s, q = feasibility.loops.refined(Curve.straight(model, knots, q))
            took = rates.on_steps(model, q)
            knots = np.append(0.0, np.cumsum(np.maximum(took, _LEAST * took.sum())))
            at = knots[np.searchsorted(s, at)]
        trajectory = even(model, q, knots)
    else:
        knots = _BRISK * knots if rates.tools else knots
        trajectories = _smooth(
            model, knots, distinct[through], still[through], rates, within_limits, clock, feasibility
        )
        trajectory = joined(trajectories)
        # Each for itself: where it rests, its end is the one time that is known exactly.
        ends = np.cumsum([0.0, *(part.duration for part in trajectories)])
        passing = [knots[(knots > part.curve.s[0]) & (knots <= part.curve.s[-1])] for part in trajectories]
        at = np.concatenate(
            [[0.0], *(part.when(s) + t for part, s, t in zip(trajectories, passing, ends[:-1], strict=True))]
        )
    if feasibility.loops is not None:
        # What closes the loops makes some of it faster.
        t = looked_at(trajectory, _LOOKS)
        slower = max(1.0, float(feasibility.loops.strain(trajectory, most, t).max())) * SEEN
        trajectory, at = trajectory.slower(slower), at * slower
    passed = np.zeros(len(distinct))
    passed[moving + 1] = at[1:]
    return np.maximum.accumulate(passed)[place], trajectory


def even(model: Model, q: Array, times: Array) -> Trajectory:
    """The motion straight from row to row of q (n, nq), which are passed at increasing times (n,)."""
    if len(q) < 2:
        alone = Curve.straight(model, np.arange(2.0), np.concatenate([q, q]))
        return Trajectory(alone, np.zeros(2), np.zeros((1, 4)))
    s = np.zeros((len(times) - 1, 4))
    s[:, 0], s[:, 1] = times[:-1], 1.0
    return Trajectory(Curve.straight(model, times, q), times, s)


def _distinct_rows(model: Model, q: Array) -> npt.NDArray[np.intp]:
    """(k,) the rows of q (n, nq) that differ from the one before among them; what follows each is the same as it."""
    far = np.abs(model.difference(q[:-1], q[1:])).max(axis=1, initial=0.0) > _SAME
    if far.all():
        return np.arange(len(q))
    rows = [0]
    for i in range(1, len(q)):
        before = rows[-1]
        if far[i - 1] if before == i - 1 else np.abs(model.difference(q[before], q[i])).max(initial=0.0) > _SAME:
            rows.append(i)
    return np.array(rows, dtype=np.intp)


def _smooth(
    model: Model,
    s: Array,
    q: Array,
    still: npt.NDArray[np.bool_],
    rates: Rates,
    within_limits: bool,
    clock: Clock,
    feasibility: PathFeasibility,
) -> list[Trajectory]:
    """The motions through rows q (n, nq) at s (n,), each from rest to rest; see `timed`."""
    slopes = model.difference(q[:-1], q[1:]) / np.diff(s)[:, None]
    turns = np.pad((np.abs(np.diff(slopes, axis=0)) / rates.velocity).max(axis=1, initial=0.0), 1)
    sharp = (turns[1:-1] > _SHARP) & (turns[1:-1] > turns[:-2] + turns[2:])
    still = still | np.concatenate([[True], sharp, [True]])
    while True:
        ends = np.flatnonzero(still)
        curves = [
            quintic_spline(model, s[a : b + 1], q[a : b + 1], within_limits=within_limits, sums=feasibility.sums)
            for a, b in pairwise(ends)
        ]
        if not feasibility:
            break
        blocked = np.concatenate([_blocked(curve, feasibility) for curve in curves]) & ~(still[:-1] & still[1:])
        if not blocked.any():
            break
        still[:-1] |= blocked
        still[1:] |= blocked
    if feasibility.loops is not None:
        curves = [
            quintic_spline(model, *feasibility.loops.refined(curve), within_limits=within_limits, sums=feasibility.sums)
            for curve in curves
        ]
    if np.isinf(rates.jerk).all():
        return [_slowed_to_limits(_Grid.of(curve, rates).fastest(rates.acceleration), rates) for curve in curves]
    return [_with_jerks(curve, rates, clock) for curve in curves]


def _blocked(curve: Curve, feasibility: PathFeasibility) -> npt.NDArray[np.bool_]:
    """(k,) on which pieces something does not hold that must."""
    k = np.repeat(np.arange(len(curve.numbers)), _LOOKED_AT)
    share = np.tile(np.arange(_LOOKED_AT) / _LOOKED_AT, len(curve.numbers))
    moved = curve.on(k, curve.s[k] + share * (curve.s[k + 1] - curve.s[k]))[1]
    q = np.concatenate([curve.model.integrate(curve.starts[k], moved), curve.starts[-1:]])
    return np.asarray((feasibility.on_steps(q).reshape(-1, _LOOKED_AT) < 0.0).any(axis=1), dtype=np.bool_)


@final
class _Grid(NamedTuple):
    """n points of a curve, and what limits say at each of the acceleration of s and of the square of ds/dt."""

    curve: Curve
    points: Array
    """(n,) s."""
    top: Array
    """(n,) what the square of ds/dt may be by the speeds."""
    slope: Array
    """(n, rows) how what is bounded changes with the second derivative of s, that of accelerations first, then torques,
    ..."""
    bend: Array
    """... and with the square of its first."""
    low: Array
    """(n, rows) the bounds of torques."""
    high: Array

    @classmethod
    def of(cls, curve: Curve, rates: Rates) -> "_Grid":
        """Points that are closer where the motion begins and ends."""
        k = len(curve.numbers)
        share = np.arange(_POINTS) / _POINTS
        points = np.append((curve.s[:-1, None] + share * np.diff(curve.s)[:, None]).ravel(), curve.s[-1])
        halves = 0.5 ** np.arange(1, _ONSETS + 1)
        onset, end = (points[1] - points[0]) * halves, (points[-1] - points[-2]) * halves
        grid = np.unique(np.concatenate([points[0] + onset, points, points[-1] - end]))
        piece = np.minimum(np.searchsorted(curve.s, grid, side="right") - 1, k - 1)
        _, moved, first, second, _ = curve.on(piece, grid)
        q = curve.model.integrate(curve.starts[piece], moved) if rates.bending else moved
        top = 1.0 / np.maximum(rates.shares(curve.model, first, lambda: q), 1.0) ** 2
        slope, bend, low, high = [first], [second], [first[:, :0]], [first[:, :0]]
        for limit in rates.torques:
            rest = limit.rest(q)
            slope.append(limit.motion(q, np.zeros_like(first), first))
            bend.append(limit.motion(q, first, second))
            low.append(-np.maximum(1.0 + rest, LEAST_LEFT))
            high.append(np.maximum(1.0 - rest, LEAST_LEFT))
        return cls(curve, grid, top, *(np.hstack(rows) for rows in (slope, bend, low, high)))

    def fastest(self, acceleration: Array, cap: Array | None = None) -> Trajectory:
        """The fastest motion along the curve from rest to rest, by speeds, accelerations (nv,) and torques.

        Between two points the acceleration of s is constant.  Limits are kept at both ends of each (Pham and Pham 2018,
        section III-D: what is at the second is linear in the acceleration too).  `cap` is what the square of ds/dt may
        be at the points.
        """
        n, ds, x = len(self.points), np.diff(self.points), np.zeros(len(self.points))
        after, most = np.minimum(np.arange(n) + 1, n - 1), np.broadcast_to(acceleration, (n, len(acceleration)))
        low, high = np.hstack([-most, self.low]), np.hstack([most, self.high])
        there = self.slope[after] + 2.0 * np.append(ds, 0.0)[:, None] * self.bend[after]
        prepare(least_times)(
            ds, self.top if cap is None else np.minimum(self.top, cap), np.hstack([self.slope, there]),
            np.hstack([self.bend, self.bend[after]]), np.hstack([low, low[after]]), np.hstack([high, high[after]]), x,
        )  # fmt: skip
        x[1:-1] = np.maximum(x[1:-1], _LEAST)
        root = np.sqrt(x)
        took = 2.0 * ds / (root[:-1] + root[1:])
        pieces = np.stack([self.points[:-1], root[:-1], 0.5 * np.diff(x) / ds, np.zeros(n - 1)], axis=1)
        return Trajectory(self.curve, np.append(0.0, np.cumsum(took)), pieces)


def _strain(trajectory: Trajectory, rates: Rates, looks: int) -> tuple[Array, Array]:
    """(n,) times, and by what factor the motion is too fast there, 1 where it is just slow enough."""
    t = looked_at(trajectory, looks)
    if np.isfinite(rates.jerk).any():
        turns = trajectory.when(trajectory.curve.s[1:-1])
        t = np.sort(np.concatenate([t, turns - 1e-9 * trajectory.duration, turns + 1e-9 * trajectory.duration]))
    return t, rates.strains(trajectory.curve.model, *trajectory.derivatives(t)).max(axis=1)


def looked_at(trajectory: Trajectory, looks: int) -> Array:
    """(m looks,) times in each of m intervals, from just after its beginning to just before its end."""
    share = 1e-9 + (1.0 - 2e-9) * np.linspace(0.0, 1.0, looks)
    return np.asarray((trajectory.t[:-1, None] + np.diff(trajectory.t)[:, None] * share).ravel())


def _slowed_to_limits(trajectory: Trajectory, rates: Rates) -> Trajectory:
    """The motion, as much slower as it takes to keep the limits everywhere."""
    bends = rates.bending or bool(np.abs(trajectory.curve.numbers[:, 2:]).max(initial=0.0) > 1e-12)
    strain = float(_strain(trajectory, rates, _ALL_LOOKS if bends else _LOOKS)[1].max())
    return trajectory.slower(max(1.0, strain * (SEEN if bends else 1.0)))


def _with_jerks(curve: Curve, rates: Rates, clock: Clock) -> Trajectory:
    """The fastest that was found of motions along a curve that keep jerks too.

    The fastest without is averaged over a while, so that its acceleration changes evenly, and slowed down where that
    breaks a limit; how hard it accelerates, and so how long the while must be, is tried.
    """
    best: Trajectory | None = None
    grid = _Grid.of(curve, rates)
    for share in _SHARES:
        hardest = share * rates.acceleration
        with np.errstate(invalid="ignore"):
            while_ = float(np.nanmax(np.where(np.isfinite(hardest), hardest / rates.jerk, 0.0)))
        cap = None
        for _ in range(_ROUNDS):
            sharp = grid.fastest(hardest, cap)
            trajectory = _averaged(sharp, while_)
            t, strain = _strain(trajectory, rates, _LOOKS)
            slower = trajectory.slower(max(1.0, float(strain.max())))
            if best is None or slower.duration < best.duration:
                best = slower
            if strain.max() <= 1.0 + _NEARLY or clock.late:
                break
            cap = _lowered(cap, sharp, while_, t, strain)
        if clock.late:
            break
    assert best is not None
    return _slowed_to_limits(best, rates)


def _lowered(cap: Array | None, trajectory: Trajectory, seconds: float, t: Array, strain: Array) -> Array:
    """(n,) what the square of ds/dt may be at the points of a trajectory, less than it is where its mean over the last
    seconds is too fast: first it is made even there, for what changes least needs the least jerk."""
    x = np.append(trajectory.s[:, 1], 0.0) ** 2
    out = np.ones(len(x)) if cap is None else cap.copy()
    over = strain > 1.0 + _NEARLY
    t, strain = t[over], strain[over]
    first = np.minimum(np.searchsorted(trajectory.t, t - seconds), len(x) - 1)
    last = np.minimum(np.searchsorted(trajectory.t, t) + 1, len(x))
    level = np.minimum.reduceat(np.append(x, np.inf), np.stack([first, last], axis=1).ravel())[::2] / strain**_GENTLY
    sizes = last - first
    for some in np.array_split(np.arange(len(t)), 1 + sizes.sum() // _AT_ONCE):
        k = np.repeat(some, sizes[some])
        at = np.arange(len(k)) + np.repeat(first[some] - np.cumsum(sizes[some]) + sizes[some], sizes[some])
        np.minimum.at(out, at, np.maximum(x[at] / strain[k] ** 2, level[k]))
    return np.maximum(out, _LEAST)


def _averaged(trajectory: Trajectory, seconds: float) -> Trajectory:
    """The motion whose s is the mean of that of `trajectory` over the last seconds."""
    t = np.unique(np.concatenate([trajectory.t, trajectory.t + seconds]))
    gaps = np.diff(t)
    speeds = np.append(trajectory.s[:, 1], 0.0)
    before = np.interp(t - seconds, trajectory.t, speeds, left=0.0, right=0.0)
    dds = (np.interp(t, trajectory.t, speeds, left=0.0, right=0.0) - before) / seconds
    ddds = np.diff(dds) / gaps
    ds = np.append(0.0, np.cumsum(gaps * (dds[:-1] + gaps * ddds / 2.0)))
    s = np.append(0.0, np.cumsum(gaps * (ds[:-1] + gaps * (dds[:-1] / 2.0 + gaps * ddds / 6.0))))
    return Trajectory(trajectory.curve, t, np.stack([trajectory.s[0, 0] + s[:-1], ds[:-1], dds[:-1], ddds], axis=1))
