"""A whole path made to roll: all its configurations move at once until the base slips no more.

From row to row the base goes on an arc if its chord leads where the mean of both headings does.  What leads across
counts more and more beside the squares of all steps, as a quadratic penalty does (Nocedal and Wright 2006, "Numerical
Optimization", section 17.1), and so does a turn that is too tight.  Each change is a step of Levenberg and Marquardt,
of a block tridiagonal system, for what is minimised ties each row to its neighbours alone; from there every row returns
to its pose.  Newton's steps at the end leave no slip but rounding.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple, final

import numpy as np
import numpy.typing as npt

import poise as pz
from poise.extending import Array, PathRows
from poise_carts.arcs import arcs

_WEIGHTS: Final = (1.0, 1e1, 1e2, 1e3, 1e4)
"""Of the square of a slip, one after the other, beside that of a step."""
_STIFF: Final = 1e6
"""Weight of the squares of what else must hold."""
_FIXED: Final = 1e12
"""Weight of a change that is to be none."""
_ITERATIONS: Final = 25
"""With each weight, at most."""
_ENOUGH: Final = 1e-3
"""An iteration that gains less than this share is the last with its weight."""
_DAMPING, _LEAST, _MOST = 1e-3, 1e-9, 1e6
"""At first, and between which."""
_LONGEST: Final = 0.3
"""The largest change of a coordinate in an iteration [rad or m]."""
_RETURNS: Final = 3
"""Newton's steps back to the poses after each."""
_FLOOR: Final = 1e-9
"""Damping of these."""
_LAST: Final = 20
"""Newton's steps at the end, at most."""
_EXACT: Final = 1e-10
"""Errors that need no further step [m or rad]."""
_WITHIN: Final = 2e-3
"""How far rows are to be within what must hold, for what is between them [m or rad]."""
_NUDGE: Final = 1e-7
"""A change that tells which joints stand at a limit [m or rad]."""


class _Penalty(NamedTuple):
    """One kind of slip of each of n steps, and how it changes with their ends."""

    value: Array
    """(n,) [m or rad]"""
    first: Array
    """(n, nv)"""
    last: Array
    """(n, nv)"""


@final
class RollingPath:
    """What is kept while a path is made to roll."""

    def __init__(self, model: pz.Model, joint: str, rows: PathRows, curvature: float, *, cusps: bool, fixed: bool):
        """`joint`: the planar one; `curvature`: the most that it turns with; `fixed`: whether the first row stays."""
        self._model, self._rows, self._curvature = model, rows, curvature
        self._q, self._v = model.index(joint), model.velocity_index(joint)
        self._cusps, self._fixed = cusps, fixed

    def from_sliding(self, q: Array) -> Array:
        """(n, nq) the path that is found from q (n, nq), one configuration a pose, whose base goes sideways too; what
        it lacks, `missed` says."""
        q = np.array(q)
        for weight in _WEIGHTS:
            cost, damping = self._cost(q, weight), _DAMPING
            for _ in range(_ITERATIONS):
                if damping > _MOST or self._rows.late:
                    break
                changes, still = self._changes(q, weight, damping)
                moved = self._returned(self._rows.clip(self._model.integrate(q, changes)), still)
                after = self._cost(moved, weight)
                if not after < cost:
                    damping *= 10.0
                    continue
                enough = after > (1.0 - _ENOUGH) * cost
                q, cost, damping = moved, after, max(0.1 * damping, _LEAST)
                if enough:
                    break
        for _ in range(_LAST):
            if self.missed(q).max() < _EXACT or self._rows.late:
                break
            changes, _ = self._changes(q, _STIFF, _LEAST, shorter=False)
            q = self._rows.clip(self._model.integrate(q, changes))
        return q

    def missed(self, q: Array) -> Array:
        """(n,) the most that is missed at each of q (n, nq), or slips on the way to it [m or rad]."""
        out = np.maximum(np.abs(self._rows.rows(q)[0]).max(axis=1, initial=0.0), self._too_near(q)[0])
        for slip in self._slips(q):
            out[1:] = np.maximum(out[1:], np.abs(slip.value))
        return out

    def _cost(self, q: Array, weight: float) -> float:
        """The squares of all steps, what is left of what gives way, slip, and what is missed."""
        steps, (e, _), (soft, *_) = self._model.difference(q[:-1], q[1:]), self._rows.rows(q), self._rows.soft_rows(q)
        slips = sum(float((slip.value**2).sum()) for slip in self._slips(q))
        missed = float((e**2).sum() + (self._too_near(q)[0] ** 2).sum())
        return float((steps**2).sum() + soft.sum()) + weight * slips + _STIFF * missed

    def _slips(self, q: Array) -> Iterator[_Penalty]:
        """What of each step leads across, turns too tight, and goes back where it must not."""
        lengths, turns, across = arcs(q[:, self._q])
        middle = 0.5 * (q[:-1, self._q][:, 2] + q[1:, self._q][:, 2])
        along, left = (
            np.stack(pair, axis=1) for pair in ((np.cos(middle), np.sin(middle)), (-np.sin(middle), np.cos(middle)))
        )
        none = np.zeros(len(turns))
        yield self._penalty(across, left, -lengths, none)
        if np.isfinite(self._curvature):
            tight = np.maximum(np.abs(turns) - self._curvature * np.abs(lengths), 0.0)
            share = np.where(tight > 0.0, -self._curvature * np.where(lengths < 0.0, -1.0, 1.0), 0.0)
            side = np.where(tight > 0.0, np.where(turns < 0.0, -1.0, 1.0), 0.0)
            yield self._penalty(tight, share[:, None] * along, share * across, side)
        if not self._cusps:
            back = np.where(lengths < 0.0, -1.0, 0.0)
            yield self._penalty(np.maximum(-lengths, 0.0), back[:, None] * along, back * across, none)

    def _penalty(self, value: Array, by_step: Array, by_middle: Array, by_turn: Array) -> _Penalty:
        """That with such derivatives by the steps of the base (n, 2), by their mean heading and by their turn (n,)."""
        first, last = np.zeros((2, len(value), self._model.nv))
        first[:, self._v] = np.column_stack([-by_step, 0.5 * by_middle - by_turn])
        last[:, self._v] = np.column_stack([by_step, 0.5 * by_middle + by_turn])
        return _Penalty(value, first, last)

    def _too_near(self, q: Array) -> tuple[Array, Array]:
        """(n,) how much farther within what must hold rows q are to be, and (n, nv) how that changes."""
        slack, slopes = self._rows.slopes(q)
        near = np.maximum(_WITHIN - slack, 0.0)
        return near, np.where(near[:, None] > 0.0, -slopes, 0.0)

    def _changes(
        self, q: Array, weight: float, damping: float, *, shorter: bool = True
    ) -> tuple[Array, npt.NDArray[np.bool_]]:
        """(n, nv) the step of Levenberg and Marquardt, and what it holds still; without `shorter` that of Newton to
        where nothing is missed, which is as even as can be."""
        n, k = len(q), self._model.nv
        every, steps = np.arange(k), self._model.difference(q[:-1], q[1:])
        blocks, ties, pull = np.zeros((n, k, k)), np.zeros((n - 1, k, k)), np.zeros((n, k))
        blocks[:, every, every] = 2.0 + damping
        blocks[[0, -1], every[:, None], every[:, None]] -= 1.0
        ties[:, every, every] = -1.0
        if shorter:
            pull[:-1] += steps
            pull[1:] -= steps
            _, left, slopes = self._rows.soft_rows(q)
            blocks += slopes.swapaxes(1, 2) @ slopes
            pull += (left[:, None] @ slopes)[:, 0]
        e, jacobians = self._rows.rows(q)
        blocks += _STIFF * (jacobians.swapaxes(1, 2) @ jacobians)
        pull += _STIFF * (e[:, None] @ jacobians)[:, 0]
        near, slopes = self._too_near(q)
        blocks += _STIFF * slopes[:, :, None] * slopes[:, None, :]
        pull -= _STIFF * near[:, None] * slopes
        for value, first, last in self._slips(q):
            blocks[:-1] += weight * first[:, :, None] * first[:, None, :]
            blocks[1:] += weight * last[:, :, None] * last[:, None, :]
            ties += weight * first[:, :, None] * last[:, None, :]
            pull[:-1] -= weight * value[:, None] * first
            pull[1:] -= weight * value[:, None] * last
        still = self._at_limits(q, pull)
        blocks[:, every, every] += _FIXED * still
        changes = np.where(still, 0.0, solved(blocks, ties, np.where(still, 0.0, pull)))
        return changes * min(1.0, _LONGEST / max(float(np.abs(changes).max()), 1e-300)), still

    def _at_limits(self, q: Array, pull: Array) -> npt.NDArray[np.bool_]:
        """(n, nv) what stays: joints that are pulled against their limits, and the first row if it is fixed."""
        there = self._rows.clip(self._model.integrate(q, _NUDGE * np.sign(pull)))
        still = (np.abs(self._model.difference(q, there)) < 0.5 * _NUDGE) & (pull != 0.0)
        still[0] |= self._fixed
        return still

    def _returned(self, q: Array, still: npt.NDArray[np.bool_]) -> Array:
        """(n, nq) q, each row of it moved to its pose, as little as can be."""
        for _ in range(_RETURNS):
            e, jacobians = self._rows.rows(q)
            if not np.abs(e).max(initial=0.0) > _EXACT:
                break
            across = jacobians * ~still[:, None]
            gram = across @ across.swapaxes(1, 2) + _FLOOR * np.eye(e.shape[1])
            back = (np.linalg.solve(gram, e[..., None]).swapaxes(1, 2) @ across)[:, 0]
            q = self._rows.clip(self._model.integrate(q, back))
        return q


def solved(blocks: Array, ties: Array, right: Array) -> Array:
    """(n, k) the solution of a symmetric block tridiagonal system, with blocks (n, k, k), and ties (n - 1, k, k) from
    each row to the next."""
    n, k = right.shape
    through, x = np.zeros((n, k, k)), np.empty((n, k))
    for t in range(n):
        block, rest = (blocks[t], right[t]) if not t else (
            blocks[t] - ties[t - 1].T @ through[t - 1], right[t] - ties[t - 1].T @ x[t - 1]
        )  # fmt: skip
        if t < n - 1:
            found = np.linalg.solve(block, np.column_stack([ties[t], rest]))
            through[t], x[t] = found[:, :k], found[:, k]
        else:
            x[t] = np.linalg.solve(block, rest)
    for t in range(n - 2, -1, -1):
        x[t] -= through[t] @ x[t + 1]
    return x
