"""Chasing the targets: one update a time step, 400 steps to warm up, 2000 measured."""

import math
import statistics
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, final

import numpy as np

from poise.experiments.buss.shapes import SHAPES, mechanism, targets, times
from poise.methods.base import ClampMag, Method
from poise.methods.damped import DampedLeastSquares
from poise.methods.filtered import FilteredInverse
from poise.methods.pseudoinverse import Pseudoinverse
from poise.methods.registry import METHODS
from poise.methods.selective import SelectivelyDamped
from poise.methods.transpose import JacobianTranspose
from poise.solving.tracker import Tracker
from poise.spatial import Array
from poise.tasks.pose import PositionTask

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
