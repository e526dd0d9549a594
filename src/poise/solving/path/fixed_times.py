"""A path whose waypoints are passed at given times: the motion, and what of it is too fast."""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from poise.common.array import Array
from poise.model.model import Model
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.limits import Rates
from poise.solving.path.loops import Loops
from poise.solving.path.overloads import SLACK, loads, overload
from poise.solving.path.path import PathFailure
from poise.solving.path.quintic_spline import quintic_spline
from poise.solving.path.timing import even, looked_at
from poise.solving.path.trajectory import Trajectory
from poise.solving.problem.problem import velocity_names
from poise.solving.requirements.status import Status

_LOOKS, _ALL_LOOKS = 17, 129
"""So often a step that is bent is looked at, and where nothing is beyond its limit and something near to it."""
_NEAR: Final = 0.99
"""Share of a limit from which on it may be broken between two looks."""
_LOOP_SLACK: Final = 1.0 + 1e-6
"""The same where loops are closed, which is to their tolerance."""
_WORDS: Final = ("go at {} a second", "accelerate by {}", "jerk by {}")


@final
@dataclass(frozen=True, slots=True)
class Pace:
    """How far a path may go in a step, and in an interval."""

    model: Model
    rates: Rates
    dt: float | None
    """The time of a step [s]; None where times are found later."""
    max_jump: float | None
    """How much a joint may change by in a step [rad or m]; None where nothing says."""
    within_limits: bool
    """Whether limits of positions hold."""

    @property
    def most(self) -> Array:
        """(nv,) what each velocity may change by in a step [rad or m]; infinite where nothing says."""
        cap = np.full(self.model.nv, np.inf if self.max_jump is None else float(self.max_jump))
        return cap if self.dt is None else np.minimum(cap, self.rates.velocity * self.dt)

    def trajectory(self, q: Array, dt: float, feasibility: PathFeasibility) -> Trajectory:
        """The motion through rows q (n, nq), `dt` [s] apart."""
        return at_fixed_times(
            self.model,
            q,
            dt * np.arange(len(q), dtype=np.float64),
            self.rates,
            feasibility,
            within_limits=self.within_limits,
        )

    def too_fast(self, q: Array, feasibility: PathFeasibility, loops: Loops | None) -> list[PathFailure]:
        """What is too fast of rows q (n, nq) in the given times, if times are given; see `too_fast`."""
        return [] if self.dt is None else too_fast(self.trajectory(q, self.dt, feasibility), self.rates, loops)


def at_fixed_times(
    model: Model, q: Array, times: Array, rates: Rates, feasibility: PathFeasibility, *, within_limits: bool
) -> Trajectory:
    """The motion through rows q (n, nq) at `times` (n,) [s].

    It goes straight from row to row, or smoothly, from rest to rest, where accelerations or jerks are limited; with
    `within_limits` limits of positions hold between rows too.
    """
    if len(q) < 2 or not rates.smooth:
        return even(model, q, times)
    s = np.stack([times[:-1], *(np.full(len(times) - 1, x) for x in (1.0, 0.0, 0.0))], axis=1)
    return Trajectory(
        quintic_spline(model, times, q, within_limits=within_limits, sums=feasibility.sums, rests=True), times, s
    )


def too_fast(trajectory: Trajectory, rates: Rates, loops: Loops | None) -> list[PathFailure]:
    """The steps of a motion with a row at each of its times on which something is beyond its limit, the first each."""
    if len(trajectory.curve.starts) < 2 or not trajectory.duration > 0.0:
        return []
    bends = rates.smooth or bool(rates.tools)
    out, nearest = _seen(trajectory, rates, loops, _LOOKS if bends else 2)
    return _seen(trajectory, rates, loops, _ALL_LOOKS)[0] if bends and not out and nearest > _NEAR else out


def _seen(trajectory: Trajectory, rates: Rates, loops: Loops | None, looks: int) -> tuple[list[PathFailure], float]:
    """The same of so many looks at each step, and the largest share of a limit."""
    model, nearest = trajectory.curve.model, 0.0
    gaps = np.diff(trajectory.t)
    t = looked_at(trajectory, looks)
    speeds, accelerations, jerks, q = trajectory.derivatives(t)
    kinds = [
        (each.reshape(len(gaps), looks, model.nv), most, words)
        for each, most, words in zip((speeds, accelerations, jerks), rates[:3], _WORDS, strict=True)
    ]
    loop_strain = np.zeros(len(t)) if loops is None else loops.strain(trajectory, rates, t)
    lengths = rates.lengths(model, speeds, q).reshape(len(gaps), looks, -1)
    heavy = loads(trajectory, rates, t).reshape(len(gaps), looks, -1)
    names, out = velocity_names(model), []
    for k in range(len(gaps)):
        for found, most, words in kinds:
            share = np.abs(found[k]) / most
            nearest = max(nearest, float(share.max(initial=0.0)))
            if share.max(initial=0.0) > SLACK:
                at, j = np.unravel_index(share.argmax(), share.shape)
                size = words.format(f"{abs(found[k, at, j]):.4g}")
                reason = f"{names[j]} would have to {size}, and its limit is {most[j]:.4g}."
                break
        else:
            more = float(loop_strain.reshape(len(gaps), looks)[k].max())
            nearest = max(nearest, more, *(float(x[k].max(initial=0.0)) for x in (lengths, heavy)))
            if lengths[k].max(initial=0.0) > SLACK:
                reason = _too_long(rates, names, lengths[k].max(axis=0))
            elif more > _LOOP_SLACK:
                reason = f"what closes the loops would take {more:.4g} times the time that there is."
            elif heavy[k].max(initial=0.0) > SLACK:
                at, j = np.unravel_index(heavy[k].argmax(), heavy[k].shape)
                reason = overload(trajectory, rates, float(t[k * looks + at]), int(j))
            else:
                continue
        out.append(PathFailure(k + 1, Status.TOO_FAST, reason))
    return out, nearest


def _too_long(rates: Rates, names: list[str], lengths: Array) -> str:
    """What of the twists and tools is farthest beyond its limit, as a sentence; `lengths` as of `Rates.lengths`."""
    j = int(lengths.argmax())
    if j < len(rates.twists):
        first, _, limit = rates.twists[j]
        size = f"{lengths[j] * limit:.4g} a second in all"
        return f"{names[first]} would have to go at {size}, and its TwistLimit is {limit:.4g}."
    frame, at, limit = rates.tools[j - len(rates.twists)]
    does, unit = ("turn", "rad/s") if at else ("go", "m/s")
    return f"{frame} would have to {does} at {lengths[j] * limit:.4g} {unit}, and its ToolSpeedLimit is {limit:.4g}."
