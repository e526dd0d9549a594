"""A whole path made as short as it can be: Newton's steps over all its configurations at once.

The sum of the squares of all steps is least where no waypoint's configuration can be moved along its solutions to lower
it.  Each iteration solves for the changes d_t of all configurations: the tasks' rows J_t d_t = e_t are held by a large
weight, neighbours are tied, so the matrix is block tridiagonal; the curvature of the tasks' rows, weighted by the
forces that they withstand, is found by differences of the Jacobians.  What comes of it is taken back to the waypoints by
the solver, and counts if it is shorter.  The whole trajectory as one problem is what extended-Jacobian methods do by
boundary conditions; here the ends are free, fixed, or the same.
"""

from dataclasses import dataclass, field
from time import perf_counter
from typing import Final, final

import numpy as np
import numpy.typing as npt

from poise.kernels.machine.jit import prepare
from poise.kernels.path.blocks import solve_blocks
from poise.solving.path.clearance import Clearance
from poise.solving.path.route import Route
from poise.spatial import Array

_STIFF: Final = 1e7
"""Weight of the tasks' rows beside the steps'."""
_HELD: Final = 1e10
"""Weight of a change that is given."""
_SEAM: Final = 1e9
"""Weight of the tie between the ends of a closed path."""
_LONGEST: Final = 0.3
"""Largest change of a coordinate in an iteration [rad or m]."""
_ENOUGH: Final = 1e-4
"""An iteration that gains less than this share is one of the last."""
_LAST: Final = 2
"""So many of them in a row end it."""
_DAMPING, _LEAST_DAMPING, _MOST_DAMPING = 1e-4, 1e-9, 1e2
_RETURNS: Final = 4
"""Newton's steps back to the waypoints."""
_EXACT: Final = 1e-10
"""Errors that need no further step [m or rad]."""
_FLOOR: Final = 1e-12
"""Damping of these steps, as a share of the trace of J J^T."""
_HALVINGS: Final = 2
"""How often a change that does not make the path shorter is halved before it is damped."""
_NUDGE: Final = 1e-6
"""Change of a coordinate that tells the curvature [rad or m]."""
_ROUNDS: Final = 20
"""How often it is chosen anew, at most, what is held at a limit."""
_NEAR: Final = 0.05
"""Obstacles that are not farther away than this, beyond what is asked, count in an iteration [m]."""


@final
@dataclass(slots=True)
class _Inequalities:
    """What the changes of n configurations must keep, and what of it they stand against."""

    low: Array
    """(n, active velocities) the least change of each."""
    high: Array
    """(n, active velocities) the largest."""
    lean: Array | None
    """(n, active velocities) how the clearance changes; None without obstacles."""
    most: Array
    """(n,) what its change must be at least."""
    held: npt.NDArray[np.bool_]
    """(n, active velocities) which stand at their least or largest change."""
    at: Array = field(init=False)
    """(n, active velocities) where they stand."""
    pushed: npt.NDArray[np.bool_] = field(init=False)
    """(n,) which stand against an obstacle."""

    def __post_init__(self) -> None:
        self.at = np.zeros_like(self.low)
        self.pushed = np.zeros(len(self.low), dtype=np.bool_)

    def update(self, changes: Array) -> bool:
        """Choose anew from the changes that came of it; whether anything is different."""
        # Where one is held, what it is beyond its place is the force, a multiple of the weight, that pushes there.
        upper = np.where(self.held, (self.at == self.high) & (changes >= self.at), changes > self.high)
        lower = np.where(self.held, (self.at == self.low) & (changes <= self.at), changes < self.low)
        held = upper | lower
        at = np.where(upper, self.high, np.where(lower, self.low, 0.0))
        pushed = self.pushed
        if self.lean is not None:
            pushed = (self.lean * changes).sum(axis=1) < self.most
        same = bool((held == self.held).all() and (at == self.at).all() and (pushed == self.pushed).all())
        self.held, self.at, self.pushed = held, at, pushed
        return not same


@final
@dataclass(frozen=True, slots=True)
class Smoother:
    """What is kept while a path is made shorter."""

    route: Route
    clearance: Clearance | None
    fixed: bool
    """Whether the first configuration stays."""
    closed: bool
    """Whether the last configuration is the first."""

    def shorten(self, q: Array, weights: Array, iterations: int, end: float) -> Array:
        """(n, nq) a path with a smaller sum of weighted squares of its steps, from q (n, nq), all of it reached.

        `weights` (n - 1, active velocities) are of the steps.  At most so many iterations, until the time `end` [s] of
        `perf_counter`.
        """
        prepare(solve_blocks)
        cost, damping, idle = self.cost(q, weights), _DAMPING, 0
        for _ in range(iterations):
            if idle >= _LAST or damping > _MOST_DAMPING or perf_counter() > end or not cost > 0.0:
                break
            moved, after = q, np.inf
            found = self._changes(q, weights, damping)
            for share in 0.5 ** np.arange(1 + _HALVINGS) if found is not None else ():
                moved, after = self._tried(q, share * found[0], found[1], weights)
                if after < cost:
                    break
            if not after < cost:
                damping *= 10.0
                continue
            idle = idle + 1 if after > (1.0 - _ENOUGH) * cost else 0
            q, cost, damping = moved, after, max(0.2 * damping, _LEAST_DAMPING)
        return q

    def _tried(
        self, q: Array, changes: Array, held: npt.NDArray[np.bool_], weights: Array
    ) -> tuple[Array, float]:
        """Where changes lead, and the cost there, infinite if they lead nowhere."""
        moved = self._moved(q, changes, held)
        return (q, np.inf) if moved is None else (moved, self.cost(moved, weights))

    def cost(self, q: Array, weights: Array) -> float:
        """The sum of the weighted squares of all steps."""
        return float((weights * self.route.steps(q) ** 2).sum())

    def _moved(self, q: Array, changes: Array, held: npt.NDArray[np.bool_]) -> Array | None:
        """(n, nq) where the changes (n, active velocities) lead, on all waypoints and free; None if they do not.

        What is `held` does not move on the way back to the waypoints, where it can be helped.
        """
        route = self.route
        full = np.zeros((len(q), route.model.nv))
        full[:, route.active] = changes
        moved = np.clip(route.model.integrate(q, full), route.lower, route.upper)
        for _ in range(_RETURNS):
            e, jacobians, scores = route.rows(moved)
            if not np.abs(e).max(initial=0.0) > _EXACT:
                break
            across = jacobians * ~held[:, None]
            full[:, route.active] = (_forces(across, e)[:, None] @ across)[:, 0]
            if not np.abs(full).max(initial=0.0) < _LONGEST:
                break
            moved = np.clip(route.model.integrate(moved, full), route.lower, route.upper)
        scores = route.rows(moved)[2]
        if scores.max() > 1.0:
            moved, solved = route.correct(moved)
            if not solved.all():
                return None
        if self.fixed:
            moved[0] = q[0]
        if self.closed:
            moved[-1] = moved[0]
        if self.clearance is not None and self.clearance(moved).min() < 0.0:
            return None
        return moved

    def _changes(self, q: Array, weights: Array, damping: float) -> tuple[Array, npt.NDArray[np.bool_]] | None:
        """(n, active velocities) the changes that make the path shortest, within limits, and what they leave standing
        at a limit; None where there are none."""
        e, jacobians, _ = self.route.rows(q)
        steps = self.route.steps(q)
        n, size = len(q), len(self.route.active)
        pull = np.zeros((n, size))
        pull[:-1] += weights * steps
        pull[1:] -= weights * steps
        rows = _Inequalities(*self._room(q), *self._obstacles(q), held=np.zeros((n, size), dtype=np.bool_))
        if self.fixed:
            rows.low[0] = rows.high[0] = 0.0
        every = np.arange(size)
        blocks = _STIFF * (jacobians.swapaxes(1, 2) @ jacobians)
        blocks[:-1, every, every] += weights
        blocks[1:, every, every] += weights
        blocks[:, every, every] += damping
        right = pull + _STIFF * (e[:, None] @ jacobians)[:, 0]
        # First which coordinates stand at their limits, for these withstand a pull instead of the tasks' rows.
        if self._bounded(blocks, right, -weights, rows) is None:
            return None
        blocks += self._curvature(q, jacobians, np.where(rows.held, 0.0, pull), ~rows.held)
        changes = self._bounded(blocks, right, -weights, rows)
        if changes is None:
            return None
        return changes * min(1.0, _LONGEST / max(float(np.abs(changes).max(initial=0.0)), 1e-300)), rows.held

    def _bounded(self, blocks: Array, right: Array, ties: Array, rows: "_Inequalities") -> Array | None:
        """(n, active velocities) the solution of the system that keeps the inequalities; None where there is none.

        By the primal-dual active set method (Hintermueller, Ito and Kunisch 2003, doi:10.1137/S1052623401383558): what
        would be broken is held, what is held but not pushed against is let go.
        """
        every = np.arange(right.shape[1])
        changes: Array | None = None
        for _ in range(_ROUNDS):
            matrix, force = blocks.copy(), right.copy()
            if rows.lean is not None:
                lean = np.where(rows.pushed[:, None], rows.lean, 0.0)
                matrix += _STIFF * lean[:, :, None] * lean[:, None, :]
                force += _STIFF * lean * np.where(rows.pushed, rows.most, 0.0)[:, None]
            matrix[:, every, every] += np.where(rows.held, _HELD, 0.0)
            force += np.where(rows.held, _HELD * rows.at, 0.0)
            changes = self._solved(matrix, ties, force)
            if changes is None or not rows.update(changes):
                break
        return changes

    def _curvature(self, q: Array, jacobians: Array, pull: Array, free: npt.NDArray[np.bool_]) -> Array:
        """(n, active velocities squared) how the forces of the tasks' rows that withstand a pull change with q."""
        across = jacobians * free[:, None]
        forces = _forces(across, (across @ pull[..., None])[..., 0])
        size = len(self.route.active)
        out, move = np.empty((len(q), size, size)), np.zeros(self.route.model.nv)
        for j, v in enumerate(self.route.active):
            move[v] = _NUDGE
            there = self.route.rows(self.route.model.integrate(q, move))[1]
            out[:, j] = (forces[:, None] @ (there - jacobians))[:, 0] / _NUDGE
            move[v] = 0.0
        return 0.5 * (out + out.swapaxes(1, 2))

    def _room(self, q: Array) -> tuple[Array, Array]:
        """(n, active velocities) the least and the largest change that the limits of the coordinates leave."""
        route = self.route
        low, high = np.full((len(q), route.model.nv), -np.inf), np.full((len(q), route.model.nv), np.inf)
        for c in route.problem.section("coordinates"):
            i, v = int(c["q"]), route.active[int(c["v"])]
            low[:, v], high[:, v] = c["lower"] - q[:, i], c["upper"] - q[:, i]
        return low[:, route.active], high[:, route.active]

    def _obstacles(self, q: Array) -> tuple[Array | None, Array]:
        """(n, active velocities) rows and (n,) what they must be at least, so that nothing comes too near."""
        if self.clearance is None:
            return None, np.zeros(0)
        room = self.clearance(q)
        near: npt.NDArray[np.intp] = np.flatnonzero(room < _NEAR)
        rows = np.zeros((len(q), len(self.route.active)))
        if len(near):
            rows[near] = self.clearance.gradients(q[near], self.route.active)
        # A little more than asked, as the way there is no straight one.
        return rows, np.where(room < _NEAR, np.minimum(0.1 * _NEAR - room, 0.0), -np.inf)

    def _solved(self, matrix: Array, ties: Array, right: Array) -> Array | None:
        """(n, size) x of the block tridiagonal system, None where it is not positive definite; that of a closed path is
        folded, so that its ends meet."""
        if self.closed:
            return _folded(matrix, ties, right)
        n, size = right.shape
        x = right.ravel()
        least = solve_blocks(size, matrix.ravel(), np.ascontiguousarray(ties).ravel(), x, np.empty(size))
        return x.reshape(n, size) if least > 0.0 else None


def _forces(jacobians: Array, e: Array) -> Array:
    """(n, m) y with J J^T y = e, for J (n, m, k) and e (n, m); next to none where the rows depend on one another."""
    gram = jacobians @ jacobians.swapaxes(1, 2)
    every = np.arange(gram.shape[1])
    gram[:, every, every] += _FLOOR * np.trace(gram, axis1=1, axis2=2)[:, None] + 1e-300
    y: Array = np.linalg.solve(gram, e[..., None])[..., 0]
    return y


def _folded(matrix: Array, ties: Array, right: Array) -> Array | None:
    """The solution of a path whose last waypoint is its first: waypoints t and n - 1 - t become one block.

    An even number of rows is a ring, in which the first and the last are tied by a large weight; of an odd number they
    are one row, so that the ring is even too.
    """
    size = right.shape[1]
    seam = np.full(size, -_SEAM)
    ring, pull = matrix.copy(), right.copy()
    if len(right) % 2:
        ring, pull, seam = ring[:-1], pull[:-1], ties[-1]
        ring[0] += matrix[-1]
        pull[0] += right[-1]
    else:
        every = np.arange(size)
        ring[:1, every, every] += _SEAM
        ring[-1:, every, every] += _SEAM
    half = len(ring) // 2
    one, other = slice(0, size), slice(size, None)
    blocks = np.zeros((half, 2 * size, 2 * size))
    blocks[:, one, one], blocks[:, other, other] = ring[:half], ring[: half - 1 : -1]
    for t, tie in ((0, seam), (half - 1, ties[half - 1])):  # where the two rows of a block are neighbours
        blocks[t, one, other] += np.diag(tie)
        blocks[t, other, one] += np.diag(tie)
    beside = np.concatenate([ties[: half - 1], ties[half : 2 * half - 1][::-1]], axis=1)
    x = np.concatenate([pull[:half], pull[: half - 1 : -1]], axis=1).ravel()
    least = solve_blocks(2 * size, blocks.ravel(), np.ascontiguousarray(beside).ravel(), x, np.empty(2 * size))
    if not least > 0.0:
        return None
    both = x.reshape(half, 2 * size)
    out = np.concatenate([both[:, one], both[::-1, other]])
    return out if len(out) == len(right) else np.concatenate([out, out[:1]])
