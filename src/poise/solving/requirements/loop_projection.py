"""Loops that stay closed: the tasks that they are, and the way back to where they are closed.

The configurations in which all loops are closed are a surface c(q) = 0.  Newton's steps of least length, dq = J^+ c,
lead there from beside it, each joint held at what limits leave it.  What keeps the steps of a Tracker on it is
`kernels.requirements.loops`.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.kernels.machine.layout import CLOSED, EXACT
from poise.model.loop import named
from poise.model.model import Model
from poise.solving.problem.problem import pack
from poise.solving.problem.rows import active_rows
from poise.solving.problem.workspace import Bound
from poise.tasks.base import Task
from poise.tasks.loop import LoopTask

LOOP_WEIGHT: Final = 10.0
"""Weight of a model's loops beside tasks [1/m, 1/rad], so that what cannot be reached hardly pulls them open."""
_STEPS: Final = 60
"""Newton's steps, at most, from a configuration that may be far from closed ones."""
_LONGEST: Final = 0.5
"""The longest of Newton's steps [rad or m], so that they lead to a near solution."""
_ROUNDING: Final = 1e-12
"""What a turn may be longer than it should [rad]."""
RANK: Final = 1e-7
"""Against the largest singular value of the loops' Jacobian, one that counts as 0."""


def loop_tasks(model: Model, tasks: Sequence[Task]) -> tuple[LoopTask, ...]:
    """The loops of a model that share joints with the tasks, or with other loops that do, as tasks; less those that are
    among the tasks.

    The others stay as they are, whatever the tasks ask for: an open gripper's, where an arm is led by its wrist.
    """
    return _shared(model, tasks)[0]


def _shared(model: Model, tasks: Sequence[Task]) -> tuple[tuple[LoopTask, ...], tuple[LoopTask, ...]]:
    """The loops that the tasks move, and those that they do not."""
    if not model.loops:
        return (), ()
    loops = [LoopTask(loop.first, loop.second, loop.kind, weight=LOOP_WEIGHT) for loop in model.loops]
    known = {task.structure for task in tasks}
    moved = {loop: _places(model, loop) for loop in loops}
    touched = set[int]().union(*(_places(model, task) for task in tasks))
    found: set[LoopTask] = set()
    while more := {loop for loop in loops if loop not in found and moved[loop] & touched}:
        found |= more
        touched = touched.union(*(moved[loop] for loop in more))
    moving = tuple(loop for loop in loops if loop in found and loop.structure not in known)
    return moving, tuple(loop for loop in loops if loop not in found)


def _places(model: Model, task: Task) -> set[int]:
    """Where the joints that move a task begin in q."""
    return {model.tree.units[unit].iq for unit in task.moving(model)}


def refuse_loops(model: Model, tasks: Sequence[Task], what: str) -> None:
    """Raises ValueError for loops that the tasks move, or a LoopTask among them, where they would not stay closed."""
    found = [*(task for task in tasks if isinstance(task, LoopTask)), *loop_tasks(model, tasks)]
    if found:
        raise InvalidValue(
            "not-supported",
            f"{what} does not keep loops closed, and the tasks move {named(found)} of {model.name}: use solve, "
            "solve_batch or a Tracker, which do, or lock the joints of the loop",
        )


@final
class PassiveLoops:
    """Loops of a model that no task moves, so that they stay as they are at the start."""

    __slots__ = ("_last", "_places", "_projection")

    def __init__(self, projection: "LoopProjection") -> None:
        self._projection, self._places = projection, projection.places
        self._last: tuple[Array, Array] | None = None
        """The numbers of q of their joints that were seen last, and those at which the loops are closed."""

    @staticmethod
    def of(model: Model, tasks: Sequence[Task], *, limits: bool) -> "PassiveLoops | None":
        """Those of a model beside the tasks; None if there are none."""
        loops = _shared(model, tasks)[1]
        return PassiveLoops(LoopProjection(model, loops, limits=limits)) if loops else None

    def close(self, model: Model, q: Array) -> None:
        """Let q (nq,) change to where they are closed; warns (RuntimeWarning) if they cannot be."""
        seen, last = q[self._places], self._last
        if last is None or not np.array_equal(seen, last[0]):
            found = q if self._projection.residual(q) <= CLOSED else self._projection.project(model, q)
            if found is None:
                self._warn(model, stacklevel=4)
                found = q
            last = self._last = (seen, found[self._places])
        q[self._places] = last[1]

    def warn_if_open(self, model: Model, q: Array) -> None:
        """Warns (RuntimeWarning) where they are open at q (nq,), each time that their joints stand elsewhere."""
        seen = q[self._places]
        if self._last is None or not np.array_equal(seen, self._last[0]):
            self._last = (seen, seen)
            if self._projection.residual(q) > CLOSED:
                self._warn(model, stacklevel=5)

    def _warn(self, model: Model, stacklevel: int) -> None:
        warnings.warn(
            f"{named(self._projection.loops)} of {model.name}, which no task moves, is open and stays so: begin at a q "
            "that closes it",
            RuntimeWarning,
            stacklevel=stacklevel,
        )


@final
class LoopProjection:
    """Loops of a model, which it does not hold: whether they are closed, and which q near by closes them."""

    __slots__ = ("_balls", "_bound", "_columns", "_high", "_low", "_lower", "_upper", "limits", "loops")

    def __init__(self, model: Model, loops: Sequence[LoopTask], *, limits: bool, changes: Array | None = None) -> None:
        """`changes` (nv,) are the largest changes of a step [rad or m]; None: any."""
        self.loops = tuple(replace(loop, weight=1.0) for loop in loops)
        self._bound = Bound(pack(model, self.loops, limits=False))
        self._columns = np.array(self._bound.problem.velocities)
        self.limits = limits
        """Whether joint limits hold."""
        self._lower = model.lower if limits else np.full(model.nq, -np.inf)
        self._upper = model.upper if limits else np.full(model.nq, np.inf)
        balls = [joint.name for joint in model.joints if limits and joint.ball is not None]
        self._balls = tuple(
            zip(model.ball_limits if limits else (), (model.velocity_index(name).start for name in balls), strict=True)
        )
        self._high = np.full(model.nv, np.inf) if changes is None else changes
        self._low = -self._high

    @property
    def places(self) -> npt.NDArray[np.intp]:
        """The places in q of the joints that move the loops."""
        single = [int(i) for i in self._bound.problem.section("coordinates")["q"]]
        balls = [int(ball["q"]) + k for ball in self._bound.problem.section("balls") for k in range(4)]
        return np.array([*single, *balls], dtype=np.intp)

    def residual(self, q: Array) -> float:
        """How far the worst loop is open at q (nq,) [m or rad]."""
        return float(largest_gap(self._rows(q)[0]))

    def project(self, model: Model, q: Array) -> Array | None:
        """(nq,) a configuration near to q (nq,) in which all loops are closed, within the limits of joints.

        None if Newton's steps lead to none.
        """
        low, high = self._between(model, q, np.full(model.nv, np.inf))
        return self._back(model, q, low, high)

    def towards(self, model: Model, start: Array, q: Array) -> Array:
        """(nq,) a step on the straight way from `start` to `q` (nq,), as far as a step may go."""
        low, high = self._between(model, start, self._high)
        way = model.difference(start, q)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(way > 0.0, high / way, np.where(way < 0.0, low / way, np.inf))
        way = way * min(1.0, max(0.0, float(share.min(initial=1.0))))
        return self._at(model, start, np.clip(way, low, high))

    def _rows(self, q: Array) -> tuple[Array, Array]:
        """What the loops lack (m,) [m, rad], and the Jacobian (m, n) of the joints that move them."""
        with self._bound.scratch() as scratch:
            scratch.goal[:] = np.concatenate([loop.goal(None) for loop in self.loops])
            scratch.start[:] = q
            _, e, jacobian = active_rows(self._bound.problem, scratch)
        return e, jacobian

    def _between(self, model: Model, start: Array, most: Array) -> tuple[Array, Array]:
        """(nv,) and (nv,) the least and the largest change from `start`; what is beyond a limit comes back."""
        high, low = most.copy(), -most
        at_q, at_v = model._plain
        below, above = self._lower[at_q] - start[at_q], self._upper[at_q] - start[at_q]
        low[at_v] = np.maximum(low[at_v], np.minimum(below, most[at_v]))
        high[at_v] = np.minimum(high[at_v], np.maximum(above, -most[at_v]))
        return low, high

    def _at(self, model: Model, start: Array, way: Array) -> Array:
        """(nq,) where a way (nv,) from `start` leads; a limit that it ends at is met to the last bit."""
        q = model.integrate(start, way)
        for ball, _ in self._balls:
            at = slice(ball.place, ball.place + 4)
            if ball.inside(start[at]):
                q[at] = ball.pulled_in(q[at])
        return np.clip(q, np.minimum(self._lower, start), np.maximum(self._upper, start))

    def _reached(self, model: Model, start: Array, q: Array, low: Array, high: Array) -> bool:
        """Whether q is as near to `start` as a step goes, which a ball that was pulled in may not be."""
        gone = model.difference(start, q) if self._balls else low
        return bool((gone >= low - _ROUNDING).all() and (gone <= high + _ROUNDING).all())

    def _hold(self, model: Model, start: Array, way: Array, q: Array, jacobian: Array) -> None:
        """Take the turns by which a way from `start` has left the limits of balls, to be pulled in to q, out of J."""
        beyond = model.difference(q, model.integrate(start, way)) if self._balls else np.zeros(0)
        for _, v in self._balls:
            columns = np.flatnonzero((self._columns >= v) & (self._columns < v + 3))
            length = float(np.linalg.norm(beyond[v : v + 3]))
            if len(columns) == 3 and length > _ROUNDING:
                out = beyond[v : v + 3] / length
                jacobian[:, columns] -= np.outer(jacobian[:, columns] @ out, out)

    def _back(self, model: Model, start: Array, low: Array, high: Array) -> Array | None:
        """(nq,) the closed configuration that Newton's steps from `start` (nq,) lead to; None if to none."""
        way, before = np.clip(np.zeros(model.nv), low, high), np.inf
        for _ in range(_STEPS):
            q = self._at(model, start, way)
            e, jacobian = self._rows(q)
            left = float(largest_gap(e))
            if left <= EXACT or (left <= CLOSED and left > 0.5 * before):
                return q if self._reached(model, start, q, low, high) else None
            before = left
            self._hold(model, start, way, q, jacobian)
            change = np.zeros(len(way))
            some = self._columns
            change[some] = _clipped_lstsq(jacobian, e, low[some] - way[some], high[some] - way[some])
            change *= min(1.0, _LONGEST / max(float(np.abs(change).max(initial=0.0)), _LONGEST))
            way = np.clip(model.difference(start, model.integrate(q, change)), low, high)
        return None


def largest_gap(e: Array) -> Array:
    """(...) the largest norm of three rows of e (..., m)."""
    return np.sqrt((e.reshape(*e.shape[:-1], -1, 3) ** 2).sum(axis=-1).max(axis=-1, initial=0.0))


def _clipped_lstsq(jacobian: Array, e: Array, low: Array, high: Array) -> Array:
    """(n,) the shortest change with J dq = e, as nearly as those can that are left when others meet low or high."""
    free = np.ones(len(low), dtype=bool)
    change = np.zeros(len(low))
    while free.any():
        rest = e - jacobian[:, ~free] @ change[~free]
        change[free] = np.linalg.lstsq(jacobian[:, free], rest, rcond=RANK)[0]
        clipped = np.clip(change, low, high)
        met = free & (clipped != change)
        change = clipped
        if not met.any():
            break
        free &= ~met
    return change
