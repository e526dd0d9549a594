"""Rows of a path that were found elsewhere: what must hold of them, and the path that they make."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array, ArrayLike
from poise.model.model import Model
from poise.solving.arguments.arguments import Tasks
from poise.solving.arguments.unit_hints import still_beyond
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.limits import PathLimits
from poise.solving.path.overloads import too_weak
from poise.solving.path.path import JointPath, PathFailure
from poise.solving.path.route import Route
from poise.solving.path.solve import path_of
from poise.solving.path.timing import timed
from poise.solving.path.waypoints import start_of, waypoints
from poise.solving.requirements.limits import LimitsLike
from poise.solving.requirements.status import Status


@contextmanager
def path_rows(
    model: Model, tasks: Tasks, poses: Any, *, limits: LimitsLike = True, velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None, seed: int = 0, max_time: float | None = None,
) -> "Iterator[PathRows]":  # fmt: skip
    """The `PathRows` of a path that meets `poses`, within the block; the arguments are those of `plan`, and so is what
    is raised."""
    began, path_limits = perf_counter(), PathLimits.of(model, limits, velocity, acceleration)
    with waypoints(model, tasks, poses, path_limits, seed=seed, threads=None, seconds=max_time) as (route, feasibility):
        yield PathRows(route, feasibility.with_balls(model, path_limits), path_limits, began)


@final
class PathRows:
    """What must hold of configurations and of straight steps between them, and the path that rows make."""

    def __init__(self, route: Route, feasibility: PathFeasibility, limits: PathLimits, began: float) -> None:
        self._route, self._feasibility, self._limits, self._began = route, feasibility, limits, began

    @property
    def late(self) -> bool:
        """Whether `max_time` is spent."""
        return self._route.clock.late

    @property
    def smooth(self) -> bool:
        """Whether the motion is smooth, for accelerations, jerks or torques are bounded."""
        return self._limits.rates.smooth

    def start(self, q0: ArrayLike | None) -> Array:
        """(nq,) where the path begins: q0, which is asked for, or the model's home; raises ValueError for a q0 outside
        the limits."""
        return start_of(self._route, q0)

    def clip(self, q: Array) -> Array:
        """(n, nq) configurations, pulled within the limits of joints."""
        return self._route.clip(q)

    def rows(self, q: Array) -> tuple[Array, Array]:
        """(n, m) what configurations q (n, nq), one a pose, lack of what they must meet, weighted [m or rad], and
        (n, m, nv) the rows whose products with a change are as much less of it."""
        e, rows, _ = self._route.rows(q)
        return e, self._of_all(rows)

    def soft_rows(self, q: Array) -> tuple[Array, Array, Array]:
        """The same of what gives way, and first (n,) what it costs beside the squares of steps."""
        soft = self._route.soft
        if soft is None:
            return np.zeros(len(q)), np.empty((len(q), 0)), np.empty((len(q), 0, self._route.model.nv))
        return soft.cost(q), *soft.rows(q)

    def slopes(self, q: Array) -> tuple[Array, Array]:
        """(n,) the least slack of what is near its border at q (n, nq), else infinite, and (n, nv) how it changes."""
        least, slopes = np.full(len(q), np.inf), np.zeros((len(q), len(self._route.active)))
        for constraint in self._feasibility.constraints:
            for rows, slack, _ in constraint.linearise(q, self._route.active):
                nearer = slack < least
                least[nearer], slopes[nearer] = slack[nearer], rows[nearer]
        return least, self._of_all(slopes)

    def _of_all(self, rows: Array) -> Array:
        """(..., nv) rows (..., active velocities) with those that do not move what is asked."""
        every = np.zeros((*rows.shape[:-1], self._route.model.nv))
        every[..., self._route.active] = rows
        return every

    def missed(self, q: Array) -> list[PathFailure]:
        """The poses that configurations q (poses, nq) do not meet."""
        return self._route.missed(q)

    def slack(self, q: Array) -> Array:
        """(n,) how far configurations q (n, nq) are within what must hold [m or rad]; negative outside."""
        return self._feasibility(q)

    def on_steps(self, q: Array) -> Array:
        """(n - 1,) the least of that on the straight way from each of q (n, nq) to the next."""
        return self._feasibility.on_steps(q)

    def words(self, q: Array) -> tuple[Status, str]:
        """What is not kept at q (nq,): its status, and a sentence."""
        return self._feasibility.words(q)

    def path(
        self,
        q: Array,
        stations: npt.NDArray[np.int64],
        rests: npt.NDArray[np.bool_],
        *,
        failures: Sequence[PathFailure] = (),
        notes: Sequence[str] = (),
        chosen: Sequence[int] | None = None,
    ) -> JointPath:
        """The path straight through the rows q (n, nq), those of `stations` at the poses; with limits of accelerations
        it rests at `rests` (n,).  What fails is left as it is between its rows.  `chosen`: which pose is at each
        station, where that is any of several."""
        enforced = PathFeasibility(()) if failures else self._feasibility
        q = self._route.clip(q) if enforced.loops is None else enforced.loops.all_closed(q)[0]
        times, trajectory, rates = None, None, self._limits.rates
        if rates.timed:
            times, trajectory = timed(
                self._route.model, q, rates, rests, self._route.clock, enforced, within_limits=self._limits.positions
            )
            failures = failures or too_weak(trajectory, rates, times, stations)
        still = still_beyond(self._route.model, q[0]) if self._route.limits else []
        more = [] if failures or self._route.soft is None else self._route.soft.notes(q[stations])
        return path_of(
            self._route, self._feasibility, q, stations=stations, chosen=chosen, times=times, trajectory=trajectory,
            failures=tuple(sorted(failures, key=lambda failure: failure.waypoint)), notes=(*notes, *still, *more),
            velocity=rates.velocity, seconds=perf_counter() - self._began,
        )  # fmt: skip
