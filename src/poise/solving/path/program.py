"""Quadratic programs over whole paths, by a primal-dual interior point method.

minimise 1/2 d^T A d - b^T d, for changes d_t of n configurations; A is block tridiagonal, with diagonal matrices beside
the blocks of its diagonal.  Each change has bounds, its products with some rows may have least values, and the
difference of neighbours may have bounds too.  What these add to A keeps its form, so each iteration is two solves of
such systems (Nocedal and Wright 2006, Numerical Optimization, section 16.6).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple, final

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.jit import prepare
from poise.kernels.path.blocks import solve_again, solve_blocks
from poise.solving.path.clock import Clock

_ITERATIONS: Final = 16
_FIRST: Final = 0.1
"""Forces to begin with, as a share of those that pull."""
_WAY: Final = 0.99
"""How much of the way to the nearest bound a step goes."""
_DONE, _ROUGHLY = 1e-6, 1e-3
"""Products of slacks and forces that have shrunk by so much are small enough, and for a rough solution."""
_SLACK: Final = 1e-4
"""The least slack to begin with [rad or m]."""
_BEYOND: Final = 1e-6
"""What is no farther beyond an inequality has not crossed it, and what is nearer than this has met it [rad or m]."""
_SEAM: Final = 1e9
"""Weight of the tie between the ends of a closed path."""

Inequalities = list[tuple[Array, Array]]
"""(n, k) rows whose products with the changes have least values, and (n,) these."""


class Solved(NamedTuple):
    """The minimum of a program."""

    changes: Array
    """(n, k)"""
    bound_forces: Array
    """(n, k) forces of the bounds, positive at an upper one; 0 where none is met."""
    pushes: Array
    """(n, k) forces of what has rows and is met.  Not those of caps: where these counted as well, paths that hurry came
    to rest in longer ones."""
    forces: Array
    """(n, sides) of each of the `sides`; 0 where it is not met."""


@final
@dataclass(slots=True, kw_only=True)
class Program:
    """What is minimised, and what is kept; see the head of this file."""

    blocks: Array
    """(n, k, k) of A."""
    ties: Array
    """(n - 1, k) diagonals of the blocks beside them."""
    right: Array
    """(n, k) b."""
    low: Array
    """(n, k) the least changes, finite and less than `high`."""
    high: Array
    """(n, k)"""
    inequalities: Inequalities
    sides: Inequalities
    """More of them, each of which counts once a minimum without it is beyond it."""
    widest: tuple[Array, Array] | None
    """(n - 1, k) the least and the largest differences of neighbours; None where they are free."""
    closed: bool
    """Whether the last change is the first."""
    clock: Clock
    """Until when."""
    met: list[int] = field(init=False)
    """The sides that count."""

    def __post_init__(self) -> None:
        self.met = [i for i, (_, least) in enumerate(self.sides) if least.max() > -_BEYOND]

    def solve(self, *, roughly: bool = False) -> Solved | None:
        """The minimum; None if A is not definite, or the time is spent."""
        while True:
            found = self._minimum(roughly=roughly)
            if found is None:
                return None
            excess = [float(_excess(*one, found.changes).min()) for one in self.sides]
            crossed = [i for i, least in enumerate(excess) if least < -_BEYOND and i not in self.met]
            if not crossed:
                return found
            self.met += crossed

    @property
    def _counting(self) -> Inequalities:
        return [*self.inequalities, *(self.sides[i] for i in self.met)]

    def _minimum(self, *, roughly: bool) -> Solved | None:
        """That within what counts."""
        done = _ROUGHLY if roughly else _DONE
        d = np.zeros_like(self.right)
        residuals = [residual(d) for residual in self._residuals()]
        slacks = [np.maximum(residual, _SLACK) for residual in residuals]
        scale = _FIRST * float(np.abs(self.right).mean()) * float(np.mean([s.mean() for s in slacks])) + 1e-12
        forces = [scale / s for s in slacks]
        first = scale
        for _ in range(_ITERATIONS):
            if self.clock.late:
                return None
            mean = _mean(slacks, forces)
            infeasibility = max(float(np.abs(g - s).max(initial=0.0)) for g, s in zip(residuals, slacks, strict=True))
            if mean < done * first and infeasibility < done * _SLACK:
                break
            stiff = [z / s for z, s in zip(forces, slacks, strict=True)]
            system = self._system(stiff)
            # A look ahead, with forces that vanish, tells how far they can shrink (Mehrotra 1992).
            ahead = self._ahead(system, d, slacks, forces, residuals, [0.0] * len(residuals))
            if ahead is None:
                return None
            _, ds, dz, way = ahead
            reached = _mean(
                [s + way * x for s, x in zip(slacks, ds, strict=True)],
                [z + way * x for z, x in zip(forces, dz, strict=True)],
            )
            aim = mean * (reached / mean) ** 3
            ahead = self._ahead(
                system, d, slacks, forces, residuals, [aim - x * y for x, y in zip(ds, dz, strict=True)]
            )
            if ahead is None:
                return None
            step, ds, dz, way = ahead
            way *= _WAY
            d = d + way * step
            slacks = [s + way * x for s, x in zip(slacks, ds, strict=True)]
            forces = [z + way * x for z, x in zip(forces, dz, strict=True)]
            residuals = [residual(d) for residual in self._residuals()]
        met = [np.where(z > s, z, 0.0) for z, s in zip(forces, slacks, strict=True)]
        pushes, found = np.zeros_like(d), np.zeros((len(d), len(self.sides)))
        self._push(pushes, met)
        for i, force in zip(self.met, met[2 + len(self.inequalities) :], strict=False):
            found[:, i] = force
        return Solved(np.clip(d, self.low, self.high), met[1] - met[0], pushes, found)

    def _ahead(
        self,
        system: "System",
        d: Array,
        slacks: list[Array],
        forces: list[Array],
        residuals: list[Array],
        aims: list[Any],
    ) -> tuple[Array, list[Array], list[Array], float] | None:
        """A step to where the products of slacks and forces are `aims`: the changes of d, slacks and forces, and how
        far it can be gone; None if A is not definite."""
        # Of each constraint: what its force should be, had d not to change.
        wanted = [(aim + z * s - z * g) / s for aim, z, s, g in zip(aims, forces, slacks, residuals, strict=True)]
        step = system.solve(self._force(d, wanted))
        if step is None:
            return None
        moved = [residual(d + step) for residual in self._residuals()]
        ds = [m - s for m, s in zip(moved, slacks, strict=True)]
        dz = [(aim - z * s - z * x) / s for aim, z, s, x in zip(aims, forces, slacks, ds, strict=True)]
        return step, ds, dz, min(1.0, _farthest(slacks, ds), _farthest(forces, dz))

    def _residuals(self) -> Iterator[Callable[[Array], Array]]:
        """How far changes are within each kind of constraint."""
        yield lambda d: d - self.low
        yield lambda d: self.high - d
        for gradients, least in self._counting:
            yield partial(_excess, gradients, least)
        if self.widest is not None:
            low, high = self.widest
            yield lambda d: np.diff(d, axis=0) - low
            yield lambda d: high - np.diff(d, axis=0)

    def _system(self, stiff: list[Array]) -> "System":
        """What a change of d is found by, with the stiffness of each constraint."""
        every = np.arange(self.right.shape[1])
        matrix, ties = self.blocks.copy(), self.ties.copy()
        matrix[:, every, every] += stiff[0] + stiff[1]
        for (gradients, _), force in zip(self._counting, stiff[2:], strict=False):
            matrix += force[:, None, None] * gradients[:, :, None] * gradients[:, None, :]
        first = 2 + len(self._counting)
        if self.widest is not None:
            both = stiff[first] + stiff[first + 1]
            matrix[:-1, every, every] += both
            matrix[1:, every, every] += both
            ties = ties - both
        return System(matrix, ties, closed=self.closed)

    def _force(self, d: Array, wanted: list[Array]) -> Array:
        """(n, k) what is out of balance at d, with the forces that constraints should have."""
        force = self.right - (self.blocks @ d[..., None])[..., 0]
        force[:-1] -= self.ties * d[1:]
        force[1:] -= self.ties * d[:-1]
        force += wanted[0] - wanted[1]
        self._push(force, wanted)
        first = 2 + len(self._counting)
        if self.widest is not None:
            push = wanted[first] - wanted[first + 1]
            force[1:] += push
            force[:-1] -= push
        return force

    def _push(self, out: Array, forces: list[Array]) -> None:
        """Add the forces of what has rows to `out` (n, k)."""
        for (gradients, _), push in zip(self._counting, forces[2:], strict=False):
            out += push[:, None] * gradients


def _excess(gradients: Array, least: Array, d: Array) -> Array:
    """(n,) by how much products of rows and changes (n, k) are more than the least."""
    return np.asarray((gradients * d).sum(axis=1) - least, dtype=np.float64)


def _mean(slacks: list[Array], forces: list[Array]) -> float:
    """The mean of the products of slacks and forces."""
    total = sum(float((s * z).sum()) for s, z in zip(slacks, forces, strict=True))
    return total / sum(s.size for s in slacks)


def _farthest(numbers: list[Array], changes: list[Array]) -> float:
    """How far positive numbers can change before one of them is 0."""
    ratios = [float((-x / s).max(initial=0.0)) for s, x in zip(numbers, changes, strict=True)]
    return 1.0 / max(max(ratios), 1e-12)


@final
class System:
    """A block tridiagonal system, of which the last change is the first if it is `closed`.

    Of a closed one waypoints t and n - 1 - t become one block.  An even number of rows is a ring, in which the first
    and the last are tied by a large weight; of an odd number they are one row, so that the ring is even too.
    """

    def __init__(self, matrix: Array, ties: Array, *, closed: bool) -> None:
        """`matrix` (n, k, k) are the blocks on the diagonal, which are overwritten, `ties` (n - 1, k) those beside."""
        self._closed, self._odd = closed, len(matrix) % 2
        if closed:
            matrix, ties = self._folded(matrix, ties)
        self._size = matrix.shape[1]
        self._blocks, self._ties = matrix.ravel(), np.ascontiguousarray(ties).ravel()
        self._workspace = np.empty(self._size**2)
        self._definite: bool | None = None
        """Whether the matrix is positive definite; None: nothing was solved."""

    def solve(self, right: Array) -> Array | None:
        """(n, k) the solution; None where the matrix is not positive definite."""
        rows = self._side_by_side(right) if self._closed else right
        x = np.array(rows).ravel()
        if self._definite is None:
            self._definite = prepare(solve_blocks)(self._size, self._blocks, self._ties, x, self._workspace) > 0.0
        elif self._definite:
            prepare(solve_again)(self._size, self._blocks, self._ties, x, self._workspace)
        if not self._definite:
            return None
        found = x.reshape(rows.shape)
        return self._unfolded(found) if self._closed else found

    def _folded(self, matrix: Array, ties: Array) -> tuple[Array, Array]:
        """The blocks of two waypoints each, and what ties them."""
        size = matrix.shape[1]
        seam, ring = np.full(size, -_SEAM), matrix.copy()
        if self._odd:
            ring, seam = ring[:-1], ties[-1]
            ring[0] += matrix[-1]
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
        return blocks, np.concatenate([ties[: half - 1], ties[half : 2 * half - 1][::-1]], axis=1)

    def _side_by_side(self, right: Array) -> Array:
        """(half, 2 k) the right sides of two waypoints each."""
        pull = right
        if self._odd:
            pull = right[:-1].copy()
            pull[0] += right[-1]
        half = len(pull) // 2
        return np.concatenate([pull[:half], pull[: half - 1 : -1]], axis=1)

    def _unfolded(self, both: Array) -> Array:
        """(n, k) the solution, waypoint by waypoint."""
        size = self._size // 2
        out = np.concatenate([both[:, :size], both[::-1, size:]])
        return np.concatenate([out, out[:1]]) if self._odd else out
