"""The two shapes and the curves of their targets, to the last digit of the program released with the paper; the runs.

Targets are chased by one update a time step, 400 steps to warm up, 2000 measured; the damping constant is swept; and
targets jump, once with each way of clamping the errors.

Source: the program of Buss and Kim 2005, by which Buss 2004, section 8, was measured; the paper gives no number.
"""

import math
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, TypeAlias, final

import numpy as np

from poise import SE3, Model, ModelBuilder, PositionTask, Tracker
from poise.extending import TEXTBOOK, WORLD, Array
from poise.methods import (
    METHODS,
    ClampMag,
    DampedLeastSquares,
    FilteredInverse,
    JacobianTranspose,
    Pseudoinverse,
    SelectivelyDamped,
)
from poise.own import Method
from poise_experiments.buss import released

SHAPES: Final = {"y": 2, "double_y": 4}
"""How many effectors each shape has."""
TITLES: Final = {"y": "Y", "double_y": "double Y"}
TIME_STEP: Final = 0.005
"""Time between two updates; angular frequencies below are per unit of the same time."""
CURVES: Final[dict[str, tuple[tuple[tuple[float, float, float], ...], ...]]] = {
    "y": (
        ((2.0, 1.5, 6.0), (1.2, 0.2, 7.0), (0.3, 0.2, 8.0)),
        ((-0.7, 0.4, 4.0), (0.8, 0.3, 4.0), (-0.2, 0.2, 3.0)),
    ),
    "double_y": (
        ((2.0, 3.0, 3.0), (0.5, 0.4, 7.0), (0.3, 1.4, 5.0)),
        ((0.5, 0.8, 4.0), (0.4, 0.6, 4.0), (-0.2, 2.0, 3.0)),
        ((-0.5, 1.6, 6.0), (0.6, 0.4, 7.0), (0.3, 1.0, 8.0)),
        ((-1.6, 1.6, 4.0), (0.3, 0.6, 4.0), (-0.2, 0.6, 3.0)),
    ),
}
"""For each effector, e0 first, and each of x, y, z: offset, amplitude and frequency of offset + amplitude sin(f t)."""


def targets(shape: str, times: Array) -> Array:
    """(steps, effectors, 3) places of the targets at `times` (steps,)."""
    table = np.array(CURVES[shape])
    offsets, amplitudes, frequencies = table[..., 0], table[..., 1], table[..., 2]
    # The program has the offsets as single-precision literals, the heights as -0.5 plus one: this is the ninth digit
    # of the totals.
    base = np.array([0.0, -0.5, 0.0])
    offsets = base + _single(offsets - base)
    return offsets + amplitudes * np.sin(frequencies * times[:, None, None])


def times(steps: int) -> Array:
    """(steps,) the times of the updates; the first comes one step after 0."""
    return TIME_STEP * np.arange(1.0, steps + 1.0)


@cache
def mechanism(shape: str) -> Model:
    """The shape; the nodes of the Y lie where the program's single-precision literals put them."""
    model = TEXTBOOK[shape]()
    if shape != "y":
        return model  # the program computes the nodes of the double Y, in double precision
    builder = ModelBuilder(shape)
    places = {WORLD: np.zeros(3)}
    for joint in model.joints:
        place = _single(model.pose(joint.child, model.home).xyz)
        places[joint.child] = place
        builder.joint(
            joint.name,
            joint.kind,
            parent=joint.parent,
            child=joint.child,
            origin=SE3.from_parts(place - places[joint.parent]),
            axis=joint.axis,
        )
    return builder.build()


def links(shape: str) -> int:
    """The number of links as the paper counts them: pieces of some length between two nodes."""
    model = mechanism(shape)
    ends = {joint.child: tuple(model.pose(joint.child, model.home).xyz.round(6)) for joint in model.joints}
    pieces = {(ends[joint.parent], ends[joint.child]) for joint in model.joints if joint.parent != WORLD}
    return sum(start != end for start, end in pieces)


def _single(numbers: Array) -> Array:
    return numbers.astype(np.float32).astype(np.float64)


WARM_UP, MEASURED = 400, 2000
DAMPING: Final = {"y": 0.6, "double_y": 1.1}
"""lambda of DLS, from comments in the released program."""
DAMPING_CLAMPED: Final = {"y": 0.6, "double_y": 0.7}
"""lambda of DLS', from the same comments."""
D_MAX: Final = 0.4
RELEASED_CLAMP: Final = ClampMag(position=D_MAX, mode="buss_release")
TEXT_CLAMP: Final = ClampMag(position=D_MAX, mode="adaptive")
JT, PINV, DLS, CLAMPED, CLAMPED_TEXT = "JT", "pinv", "DLS", "DLS'", "DLS' by the text"
SDLS, SDLS_TEXT = "SDLS", "SDLS by the text"


@final
@dataclass(frozen=True, slots=True)
class Run:
    """How one method did."""

    errors: Array
    """(steps,) sum of the effectors' distances from their targets, after each measured update."""
    jitter: float
    """Mean over the steps of the sum over the joints of |dq_k - dq_(k-1)| [rad]."""
    mean: float
    """Mean distance of an effector from its target."""
    totals: tuple[float, ...]
    """Totals of the same run from starts that are 0, 1e-9, 2e-9 ... rad away: they agree unless the run is chaotic."""
    microseconds: float
    """Time of an update, forward kinematics and Jacobian included; the median of several runs."""

    @property
    def total(self) -> float:
        """Sum of the errors."""
        return self.totals[0]


_Compared: TypeAlias = JacobianTranspose | Pseudoinverse | DampedLeastSquares | SelectivelyDamped


def tuned(shape: str) -> dict[str, _Compared]:
    """The methods that the papers compare, with the numbers of the released program."""
    degrees = math.radians
    damped = DampedLeastSquares(damping=DAMPING[shape], max_error=None, max_step=degrees(45.0))
    clamped = replace(damped, damping=DAMPING_CLAMPED[shape], max_error=RELEASED_CLAMP)
    selective = SelectivelyDamped(damping=0.0, max_angle=degrees(45.0), clamps="soft", max_error=RELEASED_CLAMP)
    return {
        JT: JacobianTranspose(max_step=degrees(30.0)),
        PINV: Pseudoinverse(cutoff=0.01, max_step=degrees(5.0)),
        DLS: damped,
        CLAMPED: clamped,
        CLAMPED_TEXT: replace(clamped, max_error=TEXT_CLAMP),
        SDLS: selective,
        SDLS_TEXT: replace(selective, clamps="hard", max_error=TEXT_CLAMP),
    }


def others(shape: str) -> dict[str, Method]:
    """The methods that the papers do not have and that can follow these targets, with their defaults."""
    known = {method.name for method in tuned(shape).values()}
    found: dict[str, Method] = {}
    for name, kind in METHODS.items():
        if name not in known:
            method = kind()
            try:
                tracker(shape, method)
            except ValueError:  # not for a Tracker, or not for a tree
                continue
            found[name] = method
    return found | {
        "J-PARSE": FilteredInverse(filter="jparse", cutoff=0.1, max_step=math.radians(45.0)),
        "DLS, poise's damping": DampedLeastSquares(),
        "SDLS, poise's damping": SelectivelyDamped(),
    }


def tracker(shape: str, method: Method, effectors: Iterable[int] | None = None) -> Tracker:
    """A tracker of these effectors, or of all."""
    chosen = range(SHAPES[shape]) if effectors is None else effectors
    return Tracker(mechanism(shape), [PositionTask(f"e{i}") for i in chosen], method, limits=False, settle=False)


def follow(follower: Tracker, goals: Array, nudge: float = 0.0) -> tuple[Array, Array]:
    """The way (steps, nq) from q = `nudge`, and the errors (steps, tasks) after each update."""
    path = follower.rollout(np.full(follower.model.nq, nudge), goals)
    frames = [task.placed[0] for task in follower.tasks if task.placed is not None]
    places = np.stack([follower.model.pose(frame, path).xyz for frame in frames], axis=1)
    return path, np.linalg.norm(places - goals, axis=2)


def jitter_of(path: Array, warm_up: int) -> float:
    """Mean over the steps after the first `warm_up` of |dq_k - dq_(k-1)|, summed over the joints."""
    return float(np.abs(np.diff(path, n=2, axis=0))[max(warm_up - 2, 0) :].sum(axis=1).mean())


def track(
    shape: str,
    method: Method,
    *,
    warm_up: int = WARM_UP,
    measured: int = MEASURED,
    starts: int = 1,
    repeats: int = 1,
    effectors: Iterable[int] | None = None,
) -> Run:
    """Run the protocol from `starts` starts; the time is the median over `repeats` further runs."""
    chosen = list(range(SHAPES[shape]) if effectors is None else effectors)
    follower = tracker(shape, method, chosen)
    goals = targets(shape, times(warm_up + measured))[:, chosen]
    path, errors = follow(follower, goals)
    totals = [float(errors[warm_up:].sum())]
    totals += [float(follow(follower, goals, 1e-9 * k)[1][warm_up:].sum()) for k in range(1, starts)]
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        follower.rollout(np.zeros(follower.model.nq), goals)
        seconds.append(time.perf_counter() - begin)
    return Run(
        errors=errors[warm_up:].sum(axis=1),
        jitter=jitter_of(path, warm_up),
        mean=float(errors[warm_up:].mean()),
        totals=tuple(totals),
        microseconds=1e6 * statistics.median(seconds) / (warm_up + measured),
    )


SWEEPS: Final = tuple(released.THRESHOLDS)
SHORT: Final = tuple(round(0.30 + 0.01 * k, 2) for k in range(30))
"""The values of lambda in test A of the released program, which runs 20 + 200 steps of DLS on the Y."""
LONG: Final = tuple(round(0.20 + 0.05 * k, 2) for k in range(27))
CALM = 2.0
"""A run is calm if its jitter is within this factor of the jitter at the lambda of the released program."""


@final
@dataclass(frozen=True, slots=True)
class Sweep:
    """Mean error of an effector and jitter [rad] for each lambda, rising."""

    dampings: tuple[float, ...]
    means: tuple[float, ...]
    jitters: tuple[float, ...]
    chosen: float
    """lambda of the released program; it is one of `dampings`."""

    @property
    def threshold(self) -> tuple[float, float]:
        """The largest lambda that is not calm, and the next one; equal where all are calm, or the last is not."""
        limit = CALM * self.jitters[self.dampings.index(self.chosen)]
        last = max((i for i, jitter in enumerate(self.jitters) if jitter > limit), default=0)
        return self.dampings[last], self.dampings[min(last + 1, len(self.dampings) - 1)]

    @property
    def fall(self) -> float:
        """Jitter 0.15 below the threshold's upper end, over that of the released program's lambda."""
        below = int(np.abs(np.array(self.dampings) - (self.threshold[1] - 0.15)).argmin())
        return self.jitters[below] / self.jitters[self.dampings.index(self.chosen)]

    @property
    def best(self) -> float:
        """lambda of the smallest error."""
        return self.dampings[self.means.index(min(self.means))]

    def at(self, damping: float) -> tuple[float, float]:
        """Mean error and jitter at this lambda."""
        i = self.dampings.index(damping)
        return self.means[i], self.jitters[i]


def sweep(
    shape: str,
    dampings: Sequence[float],
    chosen: float,
    *,
    clamped: bool = False,
    warm_up: int = WARM_UP,
    measured: int = MEASURED,
) -> Sweep:
    """Run DLS, or with `clamped` DLS', with each lambda."""
    base = DampedLeastSquares(max_error=RELEASED_CLAMP if clamped else None)
    runs = [track(shape, replace(base, damping=value), warm_up=warm_up, measured=measured) for value in dampings]
    return Sweep(tuple(dampings), tuple(run.mean for run in runs), tuple(run.jitter for run in runs), chosen)


LEAP: Final = 3.0 * (1.0 + math.sqrt(5.0))
"""How far the targets' time jumps in test C of the released program, which leaves the updates to the onlooker."""
UPDATES: Final = 200
"""Updates from one jump to the next."""
EARLY: Final = 10
"""The first updates, over which the speed of approach is measured."""
CLAMPS: Final = {"none": None, "constant": ClampMag(position=D_MAX), "adaptive": TEXT_CLAMP}


@final
@dataclass(frozen=True, slots=True)
class Jumps:
    """DLS with one way of clamping, over several jumps."""

    errors: Array
    """(jumps, updates) sum of the effectors' distances after each update."""
    settled: float
    """Updates until the error stays within 2 % of the first error from its last value; the median."""
    early: float
    """Mean error over the first updates."""
    overshoot: float
    """Largest rise of the error above its least value so far; the mean over the jumps."""
    travel: float
    """What the joints moved after a jump, all together [rad]; the mean over the jumps."""


def jump(shape: str, clamp: ClampMag | None, jumps: int) -> Jumps:
    """Let the targets jump so many times and take `UPDATES` updates after each."""
    follower = tracker(shape, DampedLeastSquares(damping=DAMPING_CLAMPED[shape], max_error=clamp))
    goals = np.repeat(targets(shape, LEAP * np.arange(1.0, jumps + 1.0)), UPDATES, axis=0)
    path, errors = follow(follower, goals)
    rows = errors.sum(axis=1).reshape(jumps, UPDATES)
    away = np.abs(rows - rows[:, -1:]) > 0.02 * rows[:, :1]
    moves = np.abs(np.diff(path.reshape(jumps, UPDATES, -1), axis=1))
    return Jumps(
        errors=rows,
        settled=statistics.median(2 + int(np.flatnonzero(row).max(initial=-1)) for row in away),
        early=float(rows[:, :EARLY].mean()),
        overshoot=float((rows - np.minimum.accumulate(rows, axis=1)).max(axis=1).mean()),
        travel=float(moves.sum(axis=(1, 2)).mean()),
    )


@final
@dataclass(frozen=True, slots=True)
class Results:
    """Everything that was measured, by shape and then by method."""

    runs: Mapping[str, Mapping[str, Run]]
    at_target: Mapping[str, Mapping[str, Run]]
    """The same with the target Jacobian."""
    unlimited: Mapping[str, Mapping[str, Run]]
    """Without the clamp of the joint angles."""
    hard: Mapping[str, Run]
    """SDLS with hard clamps, and the D_max of the released program."""
    alone: Mapping[str, Run]
    """One effector of the Y whose target stays within reach."""
    short: Sweep
    sweeps: Mapping[str, Sweep]
    """By the names in `SWEEPS`."""
    wins: Mapping[str, float]
    """Share of the steps in which SDLS has the smaller error than DLS."""
    jumps: Mapping[str, Mapping[str, Jumps]]
    sizes: Mapping[str, tuple[int, int, int]]
    """Links, and rows and columns of the Jacobian."""
