"""The motion that a path is: a curve through its rows, and when each of its points is passed.

Between two rows the curve is a polynomial of the fifth degree in s, whose first and second derivatives go on at the
rows; s is a polynomial of the third degree in time, piece by piece.  So configuration, speed and acceleration are known
at every time, and not at the rows alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.model.model import Model

_HALVINGS: Final = 60
"""Of an interval, to find when a point is passed."""
_SMALL: Final = 1e-4
"""A turn below which series are used [rad]."""
_NUDGE: Final = 1e-4
"""Of a turn, to see how it turns on [rad]."""


class JointState(NamedTuple):
    """Where joints are, and how they move."""

    q: Array
    """(..., nq) [rad or m]."""
    velocity: Array
    """(..., nv) [rad/s or m/s]."""
    acceleration: Array
    """(..., nv) [rad/s^2 or m/s^2]."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """k pieces, one after the other."""

    model: Model
    s: Array
    """(k + 1,) where each begins, and the end."""
    starts: Array
    """(k + 1, nq) the configurations there."""
    numbers: Array
    """(k, 6, nv) coefficients of the changes from the start of a piece, by powers of the share of it that is gone."""

    @classmethod
    def straight(cls, model: Model, s: Array, q: Array) -> "Curve":
        """Straight lines through rows q (k + 1, nq)."""
        numbers = np.zeros((len(q) - 1, 6, model.nv))
        numbers[:, 1] = model.difference(q[:-1], q[1:])
        return cls(model, s, q, numbers)

    @classmethod
    def smooth(cls, model: Model, s: Array, q: Array, first: Array, second: Array) -> "Curve":
        """Pieces between rows q (k + 1, nq) with derivatives `first`, `second` (k + 1, nv) at the rows."""
        h = np.diff(s)[:, None]
        step = model.difference(q[:-1], q[1:])
        a, b, c, d = first[:-1] * h, first[1:] * h, second[:-1] * h**2, second[1:] * h**2
        for _, v in model._turning:
            # Of a turn as a vector the derivatives differ from its velocity, but for the beginning, where it is 0.
            some = slice(v, v + 3)
            turn: Array = step[:, some]
            back = np.asarray(np.linalg.inv(_left_jacobian(turn)), dtype=np.float64)
            b[:, some] = _times(back, b[:, some])
            d[:, some] = _times(back, d[:, some] - _left_jacobian_rate(turn, b[:, some]))
        numbers = np.stack(
            [
                np.zeros_like(step), a, 0.5 * c, 10.0 * step - 6.0 * a - 4.0 * b - 1.5 * c + 0.5 * d,
                -15.0 * step + 8.0 * a + 7.0 * b + 1.5 * c - d, 6.0 * step - 3.0 * (a + b) + 0.5 * (d - c),
            ],
            axis=1,
        )  # fmt: skip
        return cls(model, s, q, numbers)

    def at(self, s: Array) -> tuple[npt.NDArray[np.intp], Array, Array, Array, Array]:
        """(n,) the pieces that s (n,) is on, and (n, nv) the changes from their starts, with three derivatives by s."""
        k = np.clip(np.searchsorted(self.s, s, side="right") - 1, 0, len(self.numbers) - 1)
        return self.on(k, s)

    def on(self, k: npt.NDArray[np.intp], s: Array) -> tuple[npt.NDArray[np.intp], Array, Array, Array, Array]:
        """`at`, on pieces k (n,)."""
        h = (self.s[k + 1] - self.s[k])[:, None]
        x = np.clip((s - self.s[k])[:, None] / h, 0.0, 1.0)
        c = self.numbers[k].swapaxes(0, 1)
        found = [c[5], 5.0 * c[5], 20.0 * c[5], 60.0 * c[5]]
        for power in (4, 3, 2, 1, 0):
            found[0] = found[0] * x + c[power]
            for order, factor in ((1, power), (2, power * (power - 1)), (3, power * (power - 1) * (power - 2))):
                if power >= order:
                    found[order] = found[order] * x + factor * c[power]
        for _, v in self.model._turning:
            some = slice(v, v + 3)
            turn, rate = found[0][:, some], found[1][:, some]
            left_jacobian = _left_jacobian(turn)
            found[2][:, some] = _times(left_jacobian, found[2][:, some]) + _left_jacobian_rate(turn, rate)
            found[1][:, some] = _times(left_jacobian, rate)
        return k, found[0], found[1] / h, found[2] / h**2, found[3] / h**3


def _times(matrices: Array, vectors: Array) -> Array:
    return np.asarray((matrices @ vectors[..., None])[..., 0], dtype=np.float64)


def _left_jacobian(turn: Array) -> Array:
    """(n, 3, 3) what leads from changes of vectors of turns (n, 3) to angular velocities along the world's axes."""
    angle = np.linalg.norm(turn, axis=-1)[:, None, None]
    x, y, z = turn.T
    none = np.zeros_like(x)
    cross = np.stack([none, -z, y, z, none, -x, -y, x, none], axis=-1).reshape(-1, 3, 3)
    safe = np.maximum(angle, _SMALL)
    one = np.where(angle < _SMALL, 0.5 - angle**2 / 24.0, (1.0 - np.cos(safe)) / safe**2)
    two = np.where(angle < _SMALL, 1.0 / 6.0 - angle**2 / 120.0, (safe - np.sin(safe)) / safe**3)
    return np.asarray(np.eye(3) + one * cross + two * cross @ cross, dtype=np.float64)


def _left_jacobian_rate(turn: Array, rate: Array) -> Array:
    """(n, 3) how angular velocities change where turns (n, 3) change by an even `rate` (n, 3)."""
    size = np.linalg.norm(rate, axis=-1, keepdims=True)
    nudge = _NUDGE * rate / np.maximum(size, 1e-300)
    change = _left_jacobian(turn + nudge) - _left_jacobian(turn - nudge)
    return _times(change, rate) * size / (2.0 * _NUDGE)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """A curve, and m intervals of time in each of which s is a polynomial."""

    curve: Curve
    t: Array
    """(m + 1,) where each interval begins, and the end [s]."""
    s: Array
    """(m, 4) s at the beginning of each, and its first three derivatives."""

    @property
    def duration(self) -> float:
        """[s]"""
        return float(self.t[-1])

    def slower(self, factor: float) -> "Trajectory":
        """It at a fraction 1 / factor of the speed."""
        return Trajectory(self.curve, self.t * factor, self.s / factor ** np.arange(4))

    def along(self, t: Array) -> tuple[Array, Array, Array, Array]:
        """(n,) s at times t (n,), and its first three derivatives."""
        i = np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, len(self.s) - 1)
        gone = np.clip(t, 0.0, self.duration) - self.t[i]
        s, ds, dds, ddds = self.s[i].T
        return (
            s + gone * (ds + gone * (dds / 2.0 + gone * ddds / 6.0)), ds + gone * (dds + gone * ddds / 2.0),
            dds + gone * ddds, ddds,
        )  # fmt: skip

    def at(self, t: Array) -> JointState:
        """The state at times t (n,); before the beginning and after the end that of these, at rest."""
        s, ds, dds, _ = (x[:, None] for x in self.along(t))
        k, moved, first, second, _ = self.curve.at(s[:, 0])
        moving = ((t >= 0.0) & (t <= self.duration))[:, None]
        return JointState(
            self.curve.model.integrate(self.curve.starts[k], moved), np.where(moving, first * ds, 0.0),
            np.where(moving, second * ds**2 + first * dds, 0.0),
        )  # fmt: skip

    def derivatives(self, t: Array) -> tuple[Array, Array, Array, Callable[[], Array]]:
        """(n, nv) speeds, accelerations and jerks at times t (n,), and what tells the configurations (n, nq) there."""
        s, ds, dds, ddds = (x[:, None] for x in self.along(t))
        k, moved, first, second, third = self.curve.at(s[:, 0])
        jerk = third * ds**3 + 3.0 * second * ds * dds + first * ddds
        model, starts = self.curve.model, self.curve.starts[k]
        return first * ds, second * ds**2 + first * dds, jerk, lambda: model.integrate(starts, moved)

    def when(self, s: Array) -> Array:
        """(n,) the times at which s (n,) is passed."""
        low, high = np.zeros(len(s)), np.full(len(s), self.duration)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            before = self.along(middle)[0] < s
            low, high = np.where(before, middle, low), np.where(before, high, middle)
        return np.where(s <= self.s[0, 0], 0.0, np.where(s >= self.curve.s[-1], self.duration, high))


def joined(trajectories: "list[Trajectory]") -> Trajectory:
    """One after the other."""
    s, t, first, begun, spent = [], [np.zeros(1)], [np.zeros(1)], 0.0, 0.0
    for trajectory in trajectories:
        moved = trajectory.s.copy()
        moved[:, 0] += begun - trajectory.curve.s[0]
        s.append(moved)
        t.append(trajectory.t[1:] + spent)
        first.append(trajectory.curve.s[1:] - trajectory.curve.s[0] + begun)
        begun, spent = float(first[-1][-1]), spent + trajectory.duration
    starts = np.concatenate(
        [trajectories[0].curve.starts[:1], *(trajectory.curve.starts[1:] for trajectory in trajectories)]
    )
    numbers = np.concatenate([trajectory.curve.numbers for trajectory in trajectories])
    return Trajectory(
        Curve(trajectories[0].curve.model, np.concatenate(first), starts, numbers), np.concatenate(t), np.concatenate(s)
    )
