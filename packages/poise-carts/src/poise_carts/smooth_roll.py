"""A smooth way through configurations from each of which a base rolls to the next: its curvature has no corners.

On arcs it has one wherever two of them meet, and there wheels would be steered at once, or slip.  Here the length that
the base has gone and all joints are cubic splines of one parameter, and so is its heading, or, where its curvature is
bounded, a spline of that length; the base is where length and heading lead.  To meet all configurations, each piece has
a length of its own, and its heading and its length bulge in between, by what is 0 at both ends with its first two
derivatives.
"""

from typing import Final

import numpy as np
import numpy.typing as npt
from numpy.polynomial.legendre import leggauss

import poise as pz
from poise.extending import Array
from poise_carts.rolling_path import solved

_LEAST: Final = 12
"""Steps from one configuration to the next, at least."""
_SLIP: Final = 3e-7
"""How far the base may go sideways between rows while joints go by 1, as they do in about a second [m]."""
_BETWEEN: Final = 1.0 / 24.0
"""How far the slope of a cubic spline is off at most, as a share of the fourth difference of its rows (Hall and Meyer
1976, "Optimal error bounds for cubic spline interpolation", doi:10.1016/0021-9045(76)90040-X)."""
_POINTS: Final = 5
"""Of Gauss' quadrature on each of these steps."""
_BULGE: Final = 1.0 / 140.0
"""The mean of a bulge u^3 (1 - u)^3."""
_LEVER: Final = 0.3
"""What a turn by a radian counts beside a length, where it is chosen which of both bulges [m]."""
_ROUNDS: Final = 40
"""Times that lengths and bulges are mended, at most."""
_MISSED: Final = 1e-12
"""What a configuration may be missed by [m]."""


def smooth_rows(model: pz.Model, joint: str, q: Array, lengths: Array, off: float, *, bounded: bool) -> Array | None:
    """(k (n - 1) + 1, nq) rows of the way through q (n, nq), each k-th of which is one of these, so close that straight
    steps leave the way by about `off` [m] at most; None where it was not found.

    `joint` is the planar one; `lengths` (n - 1,) are those of the arcs [m], of one sign where curvature is `bounded`.
    """
    (x, y, angle), v = range(model.index(joint).start, model.index(joint).stop), model.velocity_index(joint)
    along = model.difference(q[:-1], q[1:])
    turns, h = along[:, v.stop - 1].copy(), np.linalg.norm(along, axis=1)
    # A place is a complex number; what each piece is to lead to is seen along its first heading.
    chords = (along[:, v.start] + 1j * along[:, v.start + 1]) * np.exp(-1j * q[:-1, angle])
    along[:, v.start], along[:, v.start + 1] = lengths, 0.0
    # A bulge of the heading moves the end of a piece to the left by the length, one of the length by the turn.
    lever, bulges = 0.0 if bounded else _LEVER, np.zeros((len(h), 2))
    mends = np.stack([lengths, -(lever**2) * turns], axis=1)
    mends /= _BULGE * np.maximum(lengths**2 + (lever * turns) ** 2, 1e-300)[:, None]
    bent = int(np.ceil(np.sqrt(np.abs(lengths * turns).max() / (4.0 * off))))
    for _ in range(_ROUNDS):
        places, headings = _led(h, along[:, v.start], turns, bulges, _LEAST, bounded=bounded)
        missed = (chords - places[:, -1]) * np.exp(-0.5j * turns)
        if np.abs(missed).max() < _MISSED:
            break
        along[:, v.start] += missed.real
        bulges += missed.imag[:, None] * mends
    else:
        return None
    across = np.abs((np.diff(places, n=4) * np.exp(-1j * headings[:, 2:-2])).imag).max(axis=1) * _LEAST / h
    count = max(_LEAST, bent, int(np.ceil(_LEAST * np.cbrt(_BETWEEN * across.max() / _SLIP))))
    places, headings = _led(h, along[:, v.start], turns, bulges, count, bounded=bounded)
    ends = np.arange(1, count + 1) / count
    rows = model.integrate(q[:-1, None], _value(_splines(h, along)[:, :, None], ends).swapaxes(1, 2))
    places = places * np.exp(1j * q[:-1, angle, None])
    rows[..., x], rows[..., y] = q[:-1, x, None] + places.real, q[:-1, y, None] + places.imag
    rows[..., angle] = q[:-1, angle, None] + headings
    rows[:, -1] = q[1:]
    return np.concatenate([q[:1], rows.reshape(-1, model.nq)])


def _led(
    h: Array, lengths: Array, turns: Array, bulges: Array, count: int, *, bounded: bool
) -> tuple[npt.NDArray[np.complex128], Array]:
    """(n, count) where the base is at the ends of so many steps of each of n pieces, and how far it is turned, both as
    seen from the beginning of the piece; see `_base`."""
    nodes, weights = leggauss(_POINTS)
    begins = np.arange(count) / count
    at = (begins[:, None] + (0.5 + 0.5 * nodes) / count).ravel()
    speeds, headings = _base(h, lengths, turns, bulges, at, bounded=bounded)
    steps = (speeds * np.exp(1j * headings)).reshape(len(h), count, _POINTS) @ weights
    ends = begins + 1.0 / count
    places = np.asarray(np.cumsum(steps, axis=1) / (2.0 * count), dtype=np.complex128)
    return places, _base(h, lengths, turns, bulges, ends, bounded=bounded)[1]


def _base(h: Array, lengths: Array, turns: Array, bulges: Array, at: Array, *, bounded: bool) -> tuple[Array, Array]:
    """(n, m) how fast the base goes, by the share of a piece, and how far it is turned, at shares (m,) of n pieces of
    these lengths and turns (n,), with bulges (n, 2) of heading and length."""
    splines = _splines(h, lengths[:, None])
    if bounded:
        splines = _one_way(h, splines)
        shares, along = _value(splines, at) / lengths[:, None], np.abs(lengths)
        headings = _value(_splines(along, turns[:, None]), shares) + bulges[:, :1] * (shares * (1.0 - shares)) ** 3
        return _value(splines, at, slope=True), headings
    slopes = 3.0 * (at * (1.0 - at)) ** 2 * (1.0 - 2.0 * at)
    speeds = _value(splines, at, slope=True) + bulges[:, 1:] * slopes
    return speeds, _value(_splines(h, turns[:, None]), at) + bulges[:, :1] * (at * (1.0 - at)) ** 3


def _one_way(h: Array, splines: Array) -> Array:
    """One spline (n, 1, 3), with slopes between its pieces so small that it never goes back (Fritsch and Carlson 1980,
    "Monotone piecewise cubic interpolation", doi:10.1137/0717021)."""
    a, b, c = splines[:, 0].T
    rise, slopes = (a + b + c) / h, np.append(a / h, (a + 2.0 * b + 3.0 * c)[-1] / h[-1])
    least = 3.0 * np.minimum(np.append(np.abs(rise), np.inf), np.append(np.inf, np.abs(rise)))
    slopes = np.sign(rise[0]) * np.clip(np.sign(rise[0]) * slopes, 0.0, least)
    a, e = h * slopes[:-1], h * slopes[1:]
    return np.stack([a, 3.0 * h * rise - 2.0 * a - e, a + e - 2.0 * h * rise], axis=-1)[:, None]


def _splines(h: Array, along: Array) -> Array:
    """(n, m, 3) the numbers of m cubic splines, by powers of the share of a piece that is gone: the pieces are `h` (n,)
    long and lead on by `along` (n, m), and the first and the last are parabolas."""
    bends, every = np.zeros((len(h) + 1, along.shape[1])), np.eye(along.shape[1])
    if len(h) > 1:
        diagonal = 2.0 * (h[:-1] + h[1:])
        diagonal[0] += h[0]
        diagonal[-1] += h[-1]
        changes = 6.0 * np.diff(along / h[:, None], axis=0)
        within = solved(diagonal[:, None, None] * every, h[1:-1, None, None] * every, changes)
        bends = np.pad(within, ((1, 1), (0, 0)), mode="edge")
    first, last = (h * h)[:, None] * bends[:-1], (h * h)[:, None] * bends[1:]
    return np.stack([along - first / 3.0 - last / 6.0, 0.5 * first, (last - first) / 6.0], axis=-1)


def _value(splines: Array, at: Array, *, slope: bool = False) -> Array:
    """Splines at shares of their pieces, from 0 at the beginning of each; or how they change with the share."""
    a, b, c = splines[..., 0], splines[..., 1], splines[..., 2]
    return np.asarray(a + at * (2.0 * b + 3.0 * at * c) if slope else at * (a + at * (b + at * c)))
