"""A whole path made as short as it can be: Gauss-Newton steps over all its configurations at once.

The sum of the squares of all steps is least where no waypoint's configuration can be moved along its solutions to lower
it.  Each iteration solves for the changes d_t of all configurations: the tasks' rows J_t d_t = e_t are held by a large
weight, neighbours are tied, so the matrix is block tridiagonal.  What comes of it is taken back to the waypoints by the
solver, and counts if it is shorter.  The whole trajectory as one problem is what extended-Jacobian methods do by
boundary conditions; here the ends are free, fixed, or the same.
"""

from dataclasses import dataclass
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
_HELD: Final = 1e12
"""Weight of a change that is given."""
_SEAM: Final = 1e9
"""Weight of the tie between the ends of a closed path."""
_LONGEST: Final = 0.3
"""Largest change of a coordinate in an iteration [rad or m]."""
_ENOUGH: Final = 1e-4
"""An iteration that gains less than this share is one of the last."""
_LAST: Final = 2
"""So many of them in a row end it."""
_DAMPING, _LEAST_DAMPING, _MOST_DAMPING = 1e-3, 1e-8, 1e3
_ROUNDS: Final = 4
"""How often joints that would cross a limit are held and the rest solved again."""
_NEAR: Final = 0.05
"""Obstacles that are not farther away than this, beyond what is asked, count in an iteration [m]."""


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
            moved = self._moved(q, self._changes(q, weights, damping))
            after = np.inf if moved is None else self.cost(moved, weights)
            if moved is None or not after < cost:
                damping *= 10.0
                continue
            idle = idle + 1 if after > (1.0 - _ENOUGH) * cost else 0
            q, cost, damping = moved, after, max(0.1 * damping, _LEAST_DAMPING)
        return q

    def cost(self, q: Array, weights: Array) -> float:
        """The sum of the weighted squares of all steps."""
        return float((weights * self.route.steps(q) ** 2).sum())

    def _moved(self, q: Array, changes: Array) -> Array | None:
        """(n, nq) where the changes (n, active velocities) lead, on all waypoints and free; None if they do not."""
        route = self.route
        full = np.zeros((len(q), route.model.nv))
        full[:, route.active] = changes
        moved = np.clip(route.model.integrate(q, full), route.lower, route.upper)
        if self.fixed:
            moved[0] = q[0]
        moved, solved = route.correct(moved)
        if self.closed:
            moved[-1] = moved[0]
        if not solved.all() or (self.clearance is not None and self.clearance(moved).min() < 0.0):
            return None
        return moved

    def _changes(self, q: Array, weights: Array, damping: float) -> Array:
        """(n, active velocities) the changes that make the linear model shortest, within limits."""
        e, jacobians, _ = self.route.rows(q)
        steps = self.route.steps(q)
        n, size = len(q), len(self.route.active)
        pull = np.zeros((n, size))
        pull[:-1] += weights * steps
        pull[1:] -= weights * steps
        pull += _STIFF * np.einsum("tmi,tm->ti", jacobians, e)
        blocks = _STIFF * np.einsum("tmi,tmj->tij", jacobians, jacobians)
        own = np.full((n, size), damping)
        own[:-1] += weights
        own[1:] += weights
        every = np.arange(size)
        blocks[:, every, every] += own
        low, high = self._room(q)
        held, given = np.zeros((n, size), dtype=np.bool_), np.zeros((n, size))
        if self.fixed:
            held[0] = True
        lean, most = self._obstacles(q)
        pushed = np.zeros(n, dtype=np.bool_)
        changes = given
        for _ in range(_ROUNDS):
            matrix, right = blocks.copy(), pull.copy()
            if lean is not None:
                rows = np.where(pushed[:, None], lean, 0.0)
                matrix += _STIFF * rows[:, :, None] * rows[:, None, :]
                right += _STIFF * rows * most[:, None]
            matrix[:, every, every] += np.where(held, _HELD, 0.0)
            right += np.where(held, _HELD * given, 0.0)
            changes = self._solved(matrix, -weights, right)
            longest = np.abs(changes).max(initial=0.0)
            changes *= min(1.0, _LONGEST / max(longest, 1e-300))
            over = ~held & ((changes > high) | (changes < low))
            near = np.zeros(n, dtype=np.bool_)
            if lean is not None:
                near = ~pushed & ((lean * changes).sum(axis=1) < most - 1e-9)
            if not over.any() and not near.any():
                break
            held |= over
            given = np.where(over, np.clip(changes, low, high), given)
            pushed |= near
        return changes

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

    def _solved(self, matrix: Array, ties: Array, right: Array) -> Array:
        """(n, size) x of the block tridiagonal system; that of a closed path is folded, so that its ends meet."""
        if self.closed:
            return _folded(matrix, ties, right)
        n, size = right.shape
        x = right.ravel()
        solve_blocks(size, matrix.ravel(), np.ascontiguousarray(ties).ravel(), x, np.empty(size))
        return x.reshape(n, size)


def _folded(matrix: Array, ties: Array, right: Array) -> Array:
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
    solve_blocks(2 * size, blocks.ravel(), np.ascontiguousarray(beside).ravel(), x, np.empty(2 * size))
    both = x.reshape(half, 2 * size)
    out = np.concatenate([both[:, one], both[::-1, other]])
    return out if len(out) == len(right) else np.concatenate([out, out[:1]])
