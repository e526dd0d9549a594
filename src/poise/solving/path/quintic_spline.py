"""The curve through rows of a path: derivatives at the rows that keep its pieces within the limits of positions.

They are those of a cubic spline, and the pieces are its, but where they would leave a limit: the second derivative of
a spline is straight between rows, so that accelerations that hold at points of it all but hold between them.
A polynomial of the fifth degree lies between the least and the largest of its Bernstein coefficients, so it is enough
that those are inside.
"""

from typing import Final

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.jit import prepare
from poise.kernels.path.blocks import solve_blocks
from poise.model.model import Model
from poise.solving.path.trajectory import Curve
from poise.solving.requirements.sums import LinearLimits

_PASSES: Final = 3
"""Times that sums are gone through, where several hold a derivative back."""


def quintic_spline(
    model: Model, s: Array, q: Array, *, within_limits: bool, sums: LinearLimits | None, rests: bool = False
) -> Curve:
    """The curve through rows q (n, nq) at s (n,), with the derivatives of a cubic spline, parabolas at both ends.

    They are less where the curve would leave the limits of the joints between two rows, if `within_limits`, or
    those of sums of joints.  With `rests` it begins and ends with none.
    """
    h = np.diff(s)[:, None]
    slopes = model.difference(q[:-1], q[1:]) / h
    second = _spline_bends(h[:, 0], slopes)
    end = slopes[-1:] + h[-1:] * (second[-2:-1] / 6.0 + second[-1:] / 3.0)
    first = np.concatenate([slopes - h * (second[:-1] / 3.0 + second[1:] / 6.0), end])
    if rests:
        first[[0, -1]], second[[0, -1]] = 0.0, 0.0
    up, down = np.full((2, *first.shape), np.inf)
    if within_limits:
        at_q, at_v = model._plain
        up[:, at_v] = np.maximum(model.upper - q, 0.0)[:, at_q]
        down[:, at_v] = np.maximum(q - model.lower, 0.0)[:, at_q]
        first = _clipped_first(first, h, up, down)
    if sums is not None:
        far = np.maximum(sums.each(q), 0.0)
        first = _along(first, sums.rows, *_bounds_first(h, far))
        first = _shrunk(_clipped_first(first, h, up, down), sums.rows, *_bounds_first(h, far))
    if within_limits:
        second = _clipped_second(first, second, h, up, down)
    if sums is not None:
        bounds = _bounds_second(h, far, first @ sums.rows.T)
        second = _along(second, sums.rows, *bounds)
        second = _shrunk(_clipped_second(first, second, h, up, down), sums.rows, *bounds)
    return Curve.smooth(model, s, q, first, second)


def _spline_bends(h: Array, slopes: Array) -> Array:
    """(n, nv) second derivatives of a cubic spline at its rows, with `slopes` (n - 1, nv) over steps h (n - 1,) of s.

    h_i m_i + 2 (h_i + h_i+1) m_i+1 + h_i+1 m_i+2 = 6 (slope_i+1 - slope_i), so that its first derivative goes on at
    the rows; the first and the last piece are parabolas.
    """
    bends = np.ascontiguousarray(6.0 * np.diff(slopes, axis=0).T)
    if not bends.size:
        return np.zeros((len(h) + 1, slopes.shape[1]))
    diagonal = 2.0 * (h[:-1] + h[1:])
    diagonal[0] += h[0]
    diagonal[-1] += h[-1]
    for bend in bends:
        prepare(solve_blocks)(1, diagonal.copy(), h[1:-1], bend, np.empty(1))
    return np.asarray(np.pad(bends.T, ((1, 1), (0, 0)), mode="edge"), dtype=np.float64)


def _clipped_first(first: Array, h: Array, up: Array, down: Array) -> Array:
    """First derivatives, each joint's so small that the coefficients next to a row go half way to its limit at most."""
    # After each row, and before it, where all is seen backwards.
    for some, interval in _neighbours(h):
        one, other = -2.5 * down[some] / interval, 2.5 * up[some] / interval
        first[some] = np.clip(first[some], np.minimum(one, other), np.maximum(one, other))
    return first


def _clipped_second(first: Array, second: Array, h: Array, up: Array, down: Array) -> Array:
    """Second derivatives that leave the coefficients next but one to a row what is left of that way."""
    for some, interval in _neighbours(h):
        way = 0.4 * interval * first[some]
        bend = 20.0 / interval**2
        second[some] = np.clip(second[some], bend * (-down[some] - way), bend * (up[some] - way))
    return second


def _neighbours(h: Array) -> list[tuple[slice, Array]]:
    """After each row, and before it: which rows, and how far it is to the next."""
    return [(slice(None, -1), h), (slice(1, None), -h)]


def _bounds_first(h: Array, far: Array) -> tuple[Array, Array]:
    """(n, p) the least and the largest first derivatives of sums that are `far` (n, p) from their limits."""
    low, high = np.full_like(far, -np.inf), np.full_like(far, np.inf)
    high[:-1], low[1:] = 2.5 * far[:-1] / h, -2.5 * far[1:] / h
    return low, high


def _bounds_second(h: Array, far: Array, first: Array) -> tuple[Array, Array]:
    """(n, p) the same of second derivatives, beside `first` (n, p)."""
    high = np.full_like(far, np.inf)
    for some, interval in _neighbours(h):
        high[some] = np.minimum(
            high[some], 20.0 / interval**2 * np.maximum(far[some] - 0.4 * interval * first[some], 0.0)
        )
    return np.full_like(far, -np.inf), high


def _along(wanted: Array, rows: Array, low: Array, high: Array) -> Array:
    """Derivatives (n, nv) that go along the limits of sums where they went beyond, as nearly as a few passes find."""
    for _ in range(_PASSES):
        for k, row in enumerate(rows):
            sums = wanted @ row
            wanted = wanted + ((np.clip(sums, low[:, k], high[:, k]) - sums) / (row @ row))[:, None] * row
    return wanted


def _shrunk(wanted: Array, rows: Array, low: Array, high: Array) -> Array:
    """Derivatives (n, nv), as much less as keeps all sums of them between `low`, at most 0, and `high`, at least 0."""
    sums = wanted @ rows.T
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(sums > high, high / sums, np.where(sums < low, low / sums, 1.0))
    return np.asarray(wanted * share.min(axis=1, initial=1.0)[:, None], dtype=np.float64)
