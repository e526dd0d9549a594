"""All solutions of up to four joints whose turns are about parallel axes, slides among them: SCARA arms, gantries.

With z along the axes and the plane across them as complex numbers, the place of the frame is

    x = a_0 + e^{i f_1} a_1 + ... + e^{i f_r} a_r,

where f_k is what the first k joints turn by together, and a_k is linear in the slides behind joint k.  The last f_r is
what the rotation of the target says.  Without another angle the slides are linear; one more is a zero of a
trigonometric polynomial; two more are a triangle.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Final, final

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.layout import REVOLUTE
from poise.model.axes import SPECIAL, Axes, leaning

_MOST: Final = 4
"""Joints: a turn about the axis and three directions."""
_SAMPLES: Final = 16
_DEGREE: Final = 4
"""Of a polynomial of degree three at most, and one more that tells of rounding."""
_ON_CIRCLE: Final = 1e-3
"""How far a zero may be from the unit circle, where two meet, to be looked at."""
LEAST: Final = 1e-7
"""What zeros, and angles near 0, are known to [m, rad]."""
_GONE: Final = 1e-12
"""A share of the largest below which a number is 0."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelAxes:
    """Such a chain, seen along its axes."""

    axes: Axes
    frame: Array
    """(3, 3) rows: two directions across the axes, and along them."""
    home: Array
    """(4, 4) pose of the frame where q is 0."""
    words: ClassVar[str] = "parallel axes"

    def candidates(self, pose: Array, tolerances: tuple[float, float]) -> tuple[Array, bool]:
        """(k, n) all that solve a pose (4, 4) to within tolerances [m, rad], angles in no turn in particular.

        And whether there is a line of solutions, of which none is among these.
        """
        turning = [i for i, kind in enumerate(self.axes.kinds) if kind == REVOLUTE]
        off = self.frame @ pose[:3, :3] @ self.home[:3, :3].T @ self.frame.T
        last = float(np.arctan2(off[1, 0] - off[0, 1], off[0, 0] + off[1, 1])) if turning else 0.0
        c, s = np.cos(last), np.sin(last)
        trace = float(np.sum(off * np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])))
        if np.arccos(np.clip(0.5 * (trace - 1.0), -1.0, 1.0)) > max(tolerances[1], LEAST):
            return np.empty((0, len(self.axes.kinds))), False
        constant, slides = self._segments(turning)
        goal = _seen(self.frame, pose[:3, 3])
        r = len(turning)
        two_or_three = self._one_angle if r == 2 else self._triangle
        sums = two_or_three(last, constant, slides, goal) if r > 1 else [[last][:r]]
        if sums is None:
            return np.empty((0, len(self.axes.kinds))), True
        return self._with_slides(turning, sums, constant, slides, goal, max(tolerances[0], LEAST)), False

    def _segments(self, turning: list[int]) -> tuple[Array, Array]:
        """(r + 1, 2) the a_k without slides, in the plane and along the axes, and (r + 1, m, 2) what slides add."""
        r, p = len(turning), self.axes.p
        points = [np.zeros(3), *(p[i] for i in turning), self.home[:3, 3]]
        constant = np.array([_seen(self.frame, after - before) for before, after in pairwise(points)])
        sliding = [i for i in range(len(self.axes.kinds)) if i not in turning]
        slides = np.zeros((r + 1, len(sliding), 2), dtype=complex)
        for column, i in enumerate(sliding):
            behind = sum(j < i for j in turning)
            slides[behind, column] = _seen(self.frame, self.axes.rates[i] * self.axes.h[i])
        return constant, slides

    def _with_slides(
        self, turning: list[int], sums: list[list[float]], constant: Array, slides: Array, goal: Array, most: float
    ) -> Array:
        """(k, n) configurations for the sums of angles, with the slides that come nearest: to `most` [m]."""
        out = []
        for some in sums:
            columns, left = self._linear(some, constant, slides, goal)
            q = np.zeros(len(self.axes.kinds))
            if columns.shape[1]:
                sliding = [i for i in range(len(q)) if i not in turning]
                q[sliding] = np.linalg.lstsq(columns, left, rcond=None)[0]
                left = left - columns @ q[sliding]
            if np.linalg.norm(left) > most:
                continue
            signs = [float(np.sign(self.axes.h[i] @ self.frame[2])) for i in turning]
            for i, sign, angle in zip(turning, signs, np.diff([0.0, *some]), strict=True):
                q[i] = sign * angle / self.axes.rates[i]
            out.append(q)
        return np.array(out).reshape(-1, len(self.axes.kinds))

    def _linear(self, sums: list[float], constant: Array, slides: Array, goal: Array) -> tuple[Array, Array]:
        """(3, m) what slides do at the sums of angles, and (3,) what is left for them."""
        turn = np.exp(1j * np.array([0.0, *sums]))
        plane = np.array([1.0, 0.0])
        phases = turn[:, None] * plane + (1.0 - plane)
        left = goal - np.sum(phases * constant, axis=0)
        columns = np.sum(phases[:, None, :] * slides, axis=0)
        return _three(columns).T, _three(left[None])[0]

    def _one_angle(self, last: float, constant: Array, slides: Array, goal: Array) -> list[list[float]] | None:
        """The sums of two angles: the first is where the slides' columns and what is left are dependent.

        None if they always are.
        """
        angles = 2.0 * np.pi * np.arange(_SAMPLES) / _SAMPLES
        values = []
        for angle in angles:
            columns, left = self._linear([float(angle), last], constant, slides, goal)
            if columns.shape[1] == 2:
                values.append([float(np.linalg.det(np.column_stack([columns, left])))])
            else:
                values.append([*(np.cross(columns[:, 0], left) if columns.shape[1] else left)])
        series = np.fft.fft(np.array(values), axis=0)
        best = np.array(values)[:, np.argmax(np.abs(series).max(axis=0))]
        zeros = zeros_on_circle(best, _DEGREE, LEAST * self._size)
        return None if zeros is None else [[zero, last] for zero in zeros]

    @property
    def _size(self) -> float:
        """The largest extent of the chain [m]."""
        return float(np.ptp(np.vstack([self.axes.p, self.home[:3, 3]]), axis=0).max())

    def _triangle(self, last: float, constant: Array, slides: Array, goal: Array) -> list[list[float]] | None:
        """The sums of three angles; a slide is what the height says.  None where two sides lie on one another."""
        columns, left = self._linear([0.0, 0.0, last], constant, slides, goal)
        d = np.zeros(columns.shape[1])
        if len(d):
            d[0] = left[2] / columns[2, 0]
        a = constant[:, 0] + slides[:, :, 0] @ d
        to = goal[0] - a[0] - np.exp(1j * last) * a[3]
        if min(abs(a[1]), abs(a[2])) < LEAST * self._size or abs(to) + abs(abs(a[1]) - abs(a[2])) < LEAST * self._size:
            return None
        if abs(to) < LEAST * self._size:
            return []
        cosine = (abs(to) ** 2 + abs(a[1]) ** 2 - abs(a[2]) ** 2) / (2.0 * abs(to) * abs(a[1]))
        corner = float(np.arccos(np.clip(cosine, -1.0, 1.0)))
        sums = []
        for side in (corner, -corner):
            first = float(np.angle(to) - np.angle(a[1]) + side)
            second = float(np.angle((to - np.exp(1j * first) * a[1]) / a[2]))
            sums.append([first, second, last])
        return sums


def parallel_axes(axes: Axes, home: Array) -> ParallelAxes | None:
    """What such a chain is; None if it is none, or has more freedom than a pose of it asks for."""
    turning = [i for i, kind in enumerate(axes.kinds) if kind == REVOLUTE]
    if len(axes.kinds) > _MOST or len(turning) > _MOST - 1:
        return None
    along = axes.h[turning[0]] if turning else np.array([0.0, 0.0, 1.0])
    if any(leaning(along, axes.h[i]) > SPECIAL for i in turning):
        return None
    across = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    across /= np.linalg.norm(across)
    frame = np.array([across, np.cross(along, across), along])
    slides = [frame @ axes.h[i] for i in range(len(axes.kinds)) if i not in turning]
    if len(turning) == _MOST - 1 and slides and abs(slides[0][2]) < SPECIAL:
        return None
    if len(turning) <= 1 and slides and np.linalg.matrix_rank(np.array(slides), tol=SPECIAL) < len(slides):
        return None
    return ParallelAxes(axes=axes, frame=frame, home=home)


def zeros_on_circle(values: Array, degree: int, least: float) -> list[float] | None:
    """Angles [rad] at which a trigonometric polynomial is 0, by values at evenly spread angles from 0 on.

    None if it is 0 at all angles, to `least`.
    """
    series = np.fft.fft(values) / len(values)
    powers = np.concatenate([series[-degree:], series[: degree + 1]])  # of z^0 to z^(2 degree)
    if not np.abs(powers).max() > least:
        return None
    powers[np.abs(powers) < _GONE * np.abs(powers).max()] = 0.0
    return [float(np.angle(z)) for z in np.roots(powers[::-1]) if abs(abs(z) - 1.0) < _ON_CIRCLE]


def _seen(frame: Array, v: Array) -> Array:
    """A vector as a complex number across the axes, and a height."""
    x, y, z = frame @ v
    return np.array([x + 1j * y, z])


def _three(v: Array) -> Array:
    """(k, 3) such pairs as three numbers each."""
    return np.column_stack([v[:, 0].real, v[:, 0].imag, v[:, 1].real])
