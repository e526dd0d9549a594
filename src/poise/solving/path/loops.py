"""Loops along a path: what closes many configurations at once, and the motion that is closed between the rows too."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, final

import numpy as np

from poise.common.array import Array
from poise.model.closure import LoopClosure
from poise.model.mechanism import RANK
from poise.model.model import Model
from poise.solving.path.limits import Rates
from poise.solving.path.residual_rows import Rows
from poise.solving.path.trajectory import Curve, JointState, Trajectory
from poise.solving.requirements.loops import largest_gap
from poise.solving.requirements.sums import LinearLimits
from poise.tasks.loop import LoopTask

_NEAR: Final = 0.02
"""Rows of a motion are no farther apart [rad or m]: between them it is as good as closed."""
_TWICE: Final = 1e-4
"""Of time, to see how speeds change [s]."""


@final
class Loops:
    """Loops that stay closed."""

    def __init__(self, model: Model, tasks: Sequence[LoopTask], *, limits: bool, sums: LinearLimits | None) -> None:
        """Joints and `sums` of them stay within their limits, where they hold."""
        self._model = model
        tasks = [replace(task, weight=1.0) for task in tasks]
        self._tasks = Rows(model, tasks)
        self._active = self._tasks.active
        self._goal = np.concatenate([task.goal(None) for task in tasks])
        closure = LoopClosure(
            model, [task.loop for task in tasks], limits=limits, sums=sums and (sums.factors, sums.most)
        )
        self.all_closed = closure.all_closed

    def _rows(self, q: Array) -> tuple[Array, Array]:
        """(n, m) what the loops lack at q (n, nq) [m, rad], and (n, m, k) how that changes."""
        return self._tasks(np.tile(self._goal, (len(q), 1)), q)

    def gaps(self, q: Array) -> Array:
        """(n,) how far the worst of them is open at q (n, nq) [m or rad]."""
        return largest_gap(self._rows(q)[0])

    def at(self, trajectory: Trajectory, t: Array) -> JointState:
        """The state at times t (n,) of a motion that is closed at every time."""
        moving = ((t >= 0.0) & (t <= trajectory.duration))[:, None]
        return JointState(*self._closed_at(trajectory, t), np.where(moving, self._accelerations(trajectory, t), 0.0))

    def strain(self, trajectory: Trajectory, rates: Rates, t: Array) -> Array:
        """(n,) by what factor the closed motion is too fast at times t (n,)."""
        (q, velocities), (accelerations, jerks) = self._closed_at(trajectory, t), np.zeros((2, len(t), self._model.nv))
        if rates.smooth:
            accelerations = self._accelerations(trajectory, t)
        if np.isfinite(rates.jerk).any():
            ends = (
                self._accelerations(trajectory, np.clip(t + way, 0.0, trajectory.duration)) for way in (-_TWICE, _TWICE)
            )
            jerks = -np.subtract(*ends) / (2.0 * _TWICE)
        return rates.strains(self._model, velocities, accelerations, jerks, lambda: q).max(axis=1)

    def refined(self, curve: Curve) -> tuple[Array, Array]:
        """(k,) s and (k, nq) closed rows on a curve, its own among them, no farther apart than `_NEAR`."""
        ways = np.abs(curve.model.difference(curve.starts[:-1], curve.starts[1:])).max(axis=1, initial=0.0)
        parts = 1 + np.floor(ways / _NEAR).astype(np.int64)
        piece = np.repeat(np.arange(len(parts)), parts)
        share = (np.arange(len(piece)) - np.repeat(np.cumsum(parts) - parts, parts)) / parts[piece]
        s = curve.s[piece] + share * (curve.s[piece + 1] - curve.s[piece])
        q = curve.model.integrate(curve.starts[piece], curve.on(piece, s)[1])
        between = share > 0.0
        q[between] = self.all_closed(q[between])[0]
        return np.append(s, curve.s[-1]), np.concatenate([q, curve.starts[-1:]])

    def _accelerations(self, trajectory: Trajectory, t: Array) -> Array:
        """(n, nv) how speeds change at times t (n,): with the Jacobian too, so by differences."""
        first, last = (np.clip(t + way, 0.0, trajectory.duration) for way in (-_TWICE, _TWICE))
        change = self._closed_at(trajectory, last)[1] - self._closed_at(trajectory, first)[1]
        return np.asarray(change / np.maximum(last - first, 1e-12)[:, None], dtype=np.float64)

    def _closed_at(self, trajectory: Trajectory, t: Array) -> tuple[Array, Array]:
        """(n, nq) where the motion is at times t (n,), closed, and (n, nv) its speeds along what stays closed."""
        q, velocity, _ = trajectory.at(t)
        q, _ = self.all_closed(q)
        _, jacobians = self._rows(q)
        velocity = velocity.copy()
        across = jacobians @ velocity[:, self._active, None]
        velocity[:, self._active] -= (_inverse(jacobians) @ across)[..., 0]
        return q, velocity


def _inverse(jacobians: Array) -> Array:
    """(n, k, m) pseudoinverses of J (n, m, k)."""
    return np.asarray(np.linalg.pinv(jacobians, rcond=RANK), dtype=np.float64)
