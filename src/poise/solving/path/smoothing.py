"""A whole path made as short as it can be: Newton's steps over all its configurations at once.

The sum of the squares of all steps is least where no waypoint's configuration can be moved along its solutions to lower
it.  Each iteration solves for the changes d_t of all configurations: the tasks' rows J_t d_t = e_t have a large weight,
neighbours are tied, so the matrix is block tridiagonal; the curvature of the tasks' rows, weighted by the forces that
they withstand, is found by differences of the Jacobians.  Sides of ranges are inequalities beside those of limits: they
count from the first solution that crosses them, and their forces curve as those of the rows do.  What comes of it is
taken back to the waypoints, and counts if it is shorter.  To take the whole trajectory as one problem is what global
methods do by boundary conditions; here the ends are free, fixed, or the same.
"""

from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.program import Inequalities, Program
from poise.solving.path.route import Route
from poise.solving.requirements.sums import INSIDE

_STIFF: Final = 1e7
"""Weight of the tasks' rows beside the steps'."""
_FIXED: Final = 1e10
"""Weight of a change that is given."""
_DEAR: Final = 1e4
"""Weight of what of a step is beyond its cap, and of how far outside what must hold something is."""
_LONGEST, _SHORTEST, _SHRINK = 0.3, 1e-6, 0.3
"""Largest change of a coordinate in an iteration, at first and at last [rad or m]; by how much it shrinks where the
changes made the path no shorter."""
_LEEWAY: Final = 1e-9
"""How far beyond a limit an iteration may think, so that there is something between two that are the same."""
_NEARER: Final = 0.8
"""What is left of a step beyond its cap, at least, after an iteration."""
_PACED: Final = 0.99
"""Share of its cap that a step aims at where none may be beyond it: the way back to the waypoints is bent."""
_OUTSIDE: Final = 1e-3
"""What is no farther outside of a range is brought back by an iteration [m or rad]."""
_WIDE: Final = 1e3
"""What stands for no bound [rad or m]."""
_ENOUGH: Final = 1e-4
"""An iteration that gains less than this share is one of the last."""
_LAST: Final = 2
"""So many of them in a row end it."""
_DAMPING, _LEAST_DAMPING, _MOST_DAMPING = 1e-4, 1e-9, 1e2
_NUDGE: Final = 1e-6
"""Change of a coordinate that tells the curvature [rad or m]."""
_RETURNS: Final = 4
"""Newton's steps back to the waypoints."""
_EXACT: Final = 1e-10
"""Errors that need no further step [m or rad]."""
_FLOOR: Final = 1e-12
"""Damping of these steps, as a share of the trace of J J^T."""


@final
@dataclass(frozen=True, slots=True)
class Smoother:
    """What is kept while a path is made shorter."""

    route: Route
    feasibility: PathFeasibility
    fixed: bool
    """Whether the first configuration stays."""
    closed: bool
    """Whether the last configuration is the first."""
    cap: Array
    """(active velocities,) what each may change by in a step [rad or m]; infinite where there is none."""

    def shorten(self, q: Array, iterations: int, *, until_free: bool = False) -> Array:
        """(n, nq) a path with a smaller sum of squares of its steps, from q (n, nq), all of it reached.

        At most so many iterations, until the time is spent.  A path that is free stays so; one that
        is not is pushed to where all holds, and returned `until_free` as soon as it is, if that is all that is asked.
        """
        cost, damping, longest, idle = self.cost(q), _DAMPING, _LONGEST, 0
        free = self._feasible(q)
        for _ in range(iterations):
            if (
                idle >= _LAST
                or damping > _MOST_DAMPING
                or longest < _SHORTEST
                or self.route.clock.late
                or not cost > 0.0
                or (until_free and free)
            ):
                break
            found = self._changes(q, damping, longest)
            if found is None:
                damping *= 100.0
                continue
            moved, after = self._with_cost(q, *found)
            freed = after < cost and self._feasible(moved)
            if not after < cost or (free and not freed):
                longest = _SHRINK * min(longest, float(np.abs(found[0]).max()))
                continue
            idle = idle + 1 if after > (1.0 - _ENOUGH) * cost else 0
            q, cost, damping, longest = moved, after, max(0.1 * damping, _LEAST_DAMPING), min(2.0 * longest, _LONGEST)
            free = freed
        return q

    def _with_cost(self, q: Array, *found: Any) -> tuple[Array, float]:
        """Where changes lead, and the cost there, infinite if they lead nowhere."""
        moved = self._moved(q, *found)
        return (q, np.inf) if moved is None else (moved, self.cost(moved))

    def cost(self, q: Array) -> float:
        """The sum of the squares of all steps, times what joints cost; what is beyond their caps, or outside what must
        hold, is dear."""
        steps = self.route.steps(q)
        paid = float(((self.route.costs * steps) ** 2).sum())
        over = np.maximum(np.abs(steps) - self.cap, 0.0)
        soft_cost = 0.0 if self.route.soft is None else float(self.route.soft.cost(q).sum())
        return paid + _DEAR * (float((over**2).sum()) + self.feasibility.outside(q)) + soft_cost

    def free(self, q: Array) -> bool:
        """Whether all configurations keep what must hold of them."""
        return not self.feasibility or bool(self.feasibility(q).min() >= 0.0)

    def _feasible(self, q: Array) -> bool:
        """Whether they do, and where something gives way no step is beyond its cap: it is worth none."""
        paced = self.route.soft is None or not (np.abs(self.route.steps(q)) > self.cap).any()
        return paced and self.free(q)

    def _moved(
        self, q: Array, changes: Array, held: npt.NDArray[np.bool_], on_sides: npt.NDArray[np.bool_]
    ) -> Array | None:
        """(n, nq) where the changes (n, active velocities) lead, on all waypoints; None if they do not.

        What is `held` does not move on the way back to the waypoints, where it can be helped.  What is held at a side
        (n, sides) comes back to it: along a bent border it would else end inside, and cost more than it must.
        """
        route = self.route
        full = np.zeros((len(q), route.model.nv))
        full[:, route.active] = changes
        moved = route.clip(route.model.integrate(q, full))
        for _ in range(_RETURNS):
            e, jacobians = self._lacking(moved, on_sides)
            if not np.abs(e).max(initial=0.0) > _EXACT:
                break
            across = jacobians * ~held[:, None] / route.costs
            full[:, route.active] = (_forces(across, e)[:, None] @ across)[:, 0] / route.costs
            if not np.abs(full).max(initial=0.0) < _LONGEST:
                break
            moved = route.clip(route.model.integrate(moved, full))
        scores = route.rows(moved)[2]
        if scores.max() > 1.0:
            moved, solved = route.correct(moved)
            if not solved.all():
                return None
        if self.fixed:
            moved[0] = q[0]
        if self.closed:
            moved[-1] = moved[0]
        return moved

    def _equations(self, q: Array) -> tuple[Array, Array]:
        """(n, m) what tasks lack at q (n, nq), and (n, m, active velocities) how that changes; 0 of ranges, which are
        inequalities."""
        e, jacobians, _ = self.route.rows(q)
        if not self.route.sides.number:
            return e, jacobians
        return e * self.route.sides.equations, jacobians * self.route.sides.equations[:, None]

    def _lacking(self, q: Array, on_sides: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
        """`_equations`, with sums of joints that are beyond their limits, and sides that are crossed or held."""
        e, jacobians = self._equations(q)
        if self.feasibility.sums is not None:
            beyond, rows = self.feasibility.sums.back(q, self.route.active)
            e, jacobians = np.concatenate([e, beyond], axis=1), np.concatenate([jacobians, rows], axis=1)
        if not self.route.sides.number:
            return e, jacobians
        beyond, slopes = self.route.sides(self.route.goals, q)
        back = on_sides | (beyond > -INSIDE)
        some = back.any(axis=0)
        if some.any():
            e = np.concatenate([e, np.where(back, -INSIDE - beyond, 0.0)[:, some]], axis=1)
            jacobians = np.concatenate([jacobians, np.where(back[..., None], slopes, 0.0)[:, some]], axis=1)
        return e, jacobians

    def _changes(
        self, q: Array, damping: float, longest: float
    ) -> tuple[Array, npt.NDArray[np.bool_], npt.NDArray[np.bool_]] | None:
        """(n, active velocities) the changes, none longer than `longest`, that make the path shortest within limits,
        what they leave at a limit, and (n, sides) at a side; None where there are none."""
        e, jacobians = self._equations(q)
        steps = self.route.steps(q)
        n, size = steps.shape[0] + 1, steps.shape[1]
        pull, squares = np.zeros((n, size)), self.route.costs**2
        pull[:-1] += squares * steps
        pull[1:] -= squares * steps
        every = np.arange(size)
        blocks = _STIFF * (jacobians.swapaxes(1, 2) @ jacobians)
        blocks[:, every, every] += 2.0 * squares + damping * squares
        blocks[[0, -1], every[:, None], every[:, None]] -= squares[:, None]
        low, high = self._step_bounds(q)
        right = pull + _STIFF * (e[:, None] @ jacobians)[:, 0]
        if self.route.soft is not None:
            left, falls = self.route.soft.rows(q)
            falls = falls[..., self.route.active]
            blocks += falls.swapaxes(1, 2) @ falls
            right += (left[:, None] @ falls)[:, 0]
        inequalities: Inequalities = []
        for gradients, far, margin in (
            found for constraint in self.feasibility.constraints for found in constraint.linearise(q, self.route.active)
        ):
            # What is free stays so; what is not is pushed out, as far as the tasks let it.
            out, slack = np.where(far < 0.0, _DEAR, 0.0), np.minimum(far, _WIDE)
            blocks += out[:, None, None] * gradients[:, :, None] * gradients[:, None, :]
            right += (out * (margin - slack))[:, None] * gradients
            inequalities.append((gradients, np.where(slack < 0.0, -_WIDE, np.minimum(margin - slack, 0.0))))
        beyond, slopes = self.route.sides(self.route.goals, q)
        program = Program(
            blocks=blocks, ties=np.tile(-squares, (len(steps), 1)), right=right,
            low=np.maximum(low, -longest) - _LEEWAY, high=np.minimum(high, longest) + _LEEWAY,
            inequalities=inequalities, sides=self._sides(beyond, slopes), widest=self._widest(steps),
            closed=self.closed, clock=self.route.clock,
        )  # fmt: skip
        if self.fixed:
            blocks[0, every, every] += _FIXED
            program.right[0] = 0.0
        # First which coordinates stand at their limits, for these withstand a pull instead of the tasks' rows.
        found = program.solve(roughly=True)
        if found is None:
            return None
        held = (found.bound_forces != 0.0) & ((np.abs(low) < longest) | (np.abs(high) < longest))
        pull = np.where(held, 0.0, pull + found.pushes)
        blocks += self._curvature(q, jacobians, pull, ~held, slopes, found.forces)
        found = program.solve()
        if found is None:
            return None
        held = (found.bound_forces != 0.0) & ((np.abs(low) < longest) | (np.abs(high) < longest))
        return np.clip(found.changes, low, high), held, found.forces != 0.0

    def _sides(self, beyond: Array, slopes: Array) -> Inequalities:
        """That no change crosses a side, and that what is a little outside comes back; see `Sides`."""
        least = np.where((beyond <= _OUTSIDE) & slopes.any(axis=2), np.maximum(beyond + INSIDE, -_WIDE), -_WIDE)
        least[: int(self.fixed)] = -_WIDE
        return list(zip(-slopes.swapaxes(0, 1), least.T, strict=True))

    def _widest(self, steps: Array) -> tuple[Array, Array] | None:
        """(n - 1, active velocities) how each step may change, to come within its cap or at least nearer to it."""
        if np.isinf(self.cap).all():
            return None
        aim = self.cap if self.route.soft is None else _PACED * self.cap
        cap = np.minimum(np.maximum(aim, _NEARER * np.abs(steps)), _WIDE)
        return -cap - steps, cap - steps

    def _curvature(
        self, q: Array, jacobians: Array, pull: Array, free: npt.NDArray[np.bool_], slopes: Array, side_forces: Array
    ) -> Array:
        """(n, active velocities squared) how the forces of the tasks' rows that withstand a pull change with q, and
        those of sides (n, sides), which have these `slopes` at q."""
        across = jacobians * free[:, None] / self.route.costs
        forces = _forces(across, (across @ (pull / self.route.costs)[..., None])[..., 0])
        size = len(self.route.active)
        out, move = np.empty((len(q), size, size)), np.zeros(self.route.model.nv)
        for j, v in enumerate(self.route.active):
            move[v] = _NUDGE
            there = self.route.model.integrate(q, move)
            out[:, j] = (forces[:, None] @ (self._equations(there)[1] - jacobians))[:, 0] / _NUDGE
            if side_forces.any():
                out[:, j] += (side_forces[:, None] @ (self.route.sides(self.route.goals, there)[1] - slopes))[
                    :, 0
                ] / _NUDGE
            move[v] = 0.0
        return 0.5 * (out + out.swapaxes(1, 2))

    def _step_bounds(self, q: Array) -> tuple[Array, Array]:
        """(n, active velocities) the least and the largest change that the limits of the coordinates leave."""
        route = self.route
        low, high = np.full((len(q), route.model.nv), -np.inf), np.full((len(q), route.model.nv), np.inf)
        at_q, at_v = route.model._plain
        low[:, at_v], high[:, at_v] = (route.lower - q)[:, at_q], (route.upper - q)[:, at_q]
        return low[:, route.active], high[:, route.active]


def _forces(jacobians: Array, e: Array) -> Array:
    """(n, m) y with J J^T y = e, for J (n, m, k) and e (n, m); next to none where the rows depend on one another."""
    gram = jacobians @ jacobians.swapaxes(1, 2)
    every = np.arange(gram.shape[1])
    gram[:, every, every] += _FLOOR * np.trace(gram, axis1=1, axis2=2)[:, None] + 1e-300
    return np.asarray(np.linalg.solve(gram, e[..., None])[..., 0], dtype=np.float64)
