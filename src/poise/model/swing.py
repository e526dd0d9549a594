"""How far a ball goes: the swing of its axis within an ellipse, the twist about the axis within an interval.

A rotation is a swing after a twist, q = swing * twist (both about the child link's origin).  The twist turns about
`axis`, the bone; the swing is the shortest turn that takes the bone from there to where it points, and its rotation
vector is normal to the bone: two numbers, along `across`, what of it is normal to the axis, and along axis x across.
Without one the directions are what `aligning(axis)` makes of x and y (x and y themselves for an axis z).  The rotation
vector is in [0, pi], the twist within half a turn of its interval's middle.

The ellipse is made of four quarters, for a limb bends farther forth than back: their semi-axes are the largest swings
against and along either direction alone.  A cone has four that are equal, and a hinge about the first direction has
((low, high), (0, 0)) and no twist.  What is outside is brought to the nearest place inside: the nearest point of the
ellipse, and the nearer end of the twist, each by itself (after Baerlocher and Boulic 2001, "Parametrization and range
of motion of the ball-and-socket joint").
"""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from poise.kernels.algebra.swing_twist import FREE, MARGIN, NARROWEST
from poise.spatial import Array, aligning, quaternion_matrix

_STEPS = 24
"""Newton steps to the nearest point of an ellipse; what they leave, a radial scaling takes onto it."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class BallLimits:
    """The limits of one ball, in the numbers that its rotations are compared with."""

    place: int
    """The first place of its quaternion in q."""
    frame: Array
    """(3, 3) in whose columns the two directions of swing, and the axis."""
    semi_axes: tuple[tuple[float, float], tuple[float, float]]
    """Largest swings against and along the first direction, and the second [rad]; no less than NARROWEST, and FREE
    where swing has no limit."""
    middle: float
    """Of the twist [rad]."""
    half: float
    """Half the width of the interval of twist [rad]; no less than NARROWEST, and FREE where twist has no limit."""

    @property
    def number(self) -> tuple[float, ...]:
        """What the kernels read: frame 9 row by row, semi-axes 4, cosine and sine of half the middle, half width."""
        half = 0.5 * self.middle
        axes = (*self.semi_axes[0], *self.semi_axes[1])
        return (*map(float, self.frame.ravel()), *axes, math.cos(half), math.sin(half), self.half)

    def parts(self, wxyz: Array) -> tuple[Array, Array]:
        """Swing (..., 2) and twist (...) [rad], the twist counted from `middle`, of unit quaternions (..., 4)."""
        x, y, z = np.moveaxis(wxyz[..., 1:] @ self.frame, -1, 0)
        w = wxyz[..., 0]
        c = np.hypot(w, z)
        safe = np.where(c > 0.0, c, 1.0)
        cosine, sine = np.where(c > 0.0, w / safe, 1.0), z / safe
        s = np.stack([x * cosine - y * sine, y * cosine + x * sine], axis=-1)
        length = np.hypot(s[..., 0], s[..., 1])
        scale = np.where(length > 1e-150, 2.0 * np.arctan2(length, c) / np.where(length > 1e-150, length, 1.0), 2.0)
        # A twist and a turn less or more are the same rotation, of the other sign.
        a, b = math.cos(0.5 * self.middle), math.sin(0.5 * self.middle)
        cosine, sine = cosine * a + sine * b, sine * a - cosine * b
        twist = 2.0 * np.arctan2(np.where(cosine < 0.0, -sine, sine), np.abs(cosine))
        return s * scale[..., None], twist

    def rotation(self, swing: Array, twist: Array) -> Array:
        """(..., 4) unit quaternions w x y z of what `parts` tells."""
        angle = np.hypot(swing[..., 0], swing[..., 1])
        ratio = 0.5 * np.sinc(angle / (2.0 * math.pi))
        c, x, y = np.cos(0.5 * angle), swing[..., 0] * ratio, swing[..., 1] * ratio
        half = 0.5 * (twist + self.middle)
        cosine, sine = np.cos(half), np.sin(half)
        vector = np.stack([x * cosine + y * sine, y * cosine - x * sine, c * sine], axis=-1) @ self.frame.T
        return np.concatenate([(c * cosine)[..., None], vector], axis=-1)

    def quarter(self, swing: Array) -> Array:
        """(..., 2) the semi-axes of the quarter that the swing (..., 2) is in [rad]."""
        (a, c), (b, d) = self.semi_axes
        return np.where(swing < 0.0, [a, b], [c, d])

    def inside(self, wxyz: Array) -> npt.NDArray[np.bool_]:
        """(...) whether unit quaternions (..., 4) keep the limits, with no slack."""
        swing, twist = self.parts(wxyz)
        return np.asarray((_level(swing, self.quarter(swing)) <= 1.0) & (np.abs(twist) <= self.half))

    def pulled_in(self, wxyz: Array) -> Array:
        """(..., 4) unit quaternions, those outside at the nearest place inside, MARGIN from the border.

        Those inside stay as they are, to the last bit.
        """
        swing, twist = self.parts(wxyz)
        axes = self.quarter(swing)
        out = _level(swing, axes) > 1.0
        swing = np.where(out[..., None], nearest_on_ellipse(swing, axes - MARGIN), swing)
        end = self.half - MARGIN
        beyond = np.abs(twist) > self.half
        twist = np.where(beyond, np.clip(twist, -end, end), twist)
        return np.where((out | beyond)[..., None], self.rotation(swing, twist), wxyz)

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """(*shape, 4) random unit quaternions inside: uniform over the ellipse and the interval of twist."""
        return self.spread(*rng.uniform(size=(3, *shape)))

    def spread(self, u0: Array, u1: Array, u2: Array) -> Array:
        """(..., 4) unit quaternions inside, of numbers in [0, 1): evenly over the ellipse and the interval of twist."""
        # A quarter has its share of the area: the halves of either axis have those of its length.
        turn, b = _side(u1, self.semi_axes[1])
        turn, a = _side(turn, self.semi_axes[0])
        radius, angle = np.sqrt(u0), 0.5 * math.pi * turn
        swing = np.stack([a * radius * np.cos(angle), b * radius * np.sin(angle)], axis=-1)
        return self.pulled_in(self.rotation(swing, min(self.half, math.pi) * (2.0 * u2 - 1.0)))


def ball_limits(
    place: int,
    axis: tuple[float, float, float],
    swing: tuple[tuple[float, float], tuple[float, float]] | None,
    twist: tuple[float, float] | None,
    across: tuple[float, float, float] | None = None,
) -> BallLimits:
    """The limits of a ball at `place` in q: intervals of swing about two directions, of twist about `axis` [rad]."""
    ends = ((-FREE, FREE), (-FREE, FREE)) if swing is None else swing
    (a, c), (b, d) = ((max(-low, NARROWEST), max(high, NARROWEST)) for low, high in ends)
    middle, half = (0.0, FREE) if twist is None else (0.5 * (twist[0] + twist[1]), 0.5 * (twist[1] - twist[0]))
    frame = quaternion_matrix(aligning(axis)) if across is None else _frame(np.array(axis), np.array(across))
    return BallLimits(place, frame, ((a, c), (b, d)), middle, max(half, NARROWEST))


def _frame(axis: Array, across: Array) -> Array:
    """(3, 3) with the columns across, as far as it is normal to the unit `axis`, axis x across, and axis."""
    first = across - (across @ axis) * axis
    first = first / np.linalg.norm(first)
    return np.stack([first, np.cross(axis, first), axis], axis=1)


def _side(u: Array, ends: tuple[float, float]) -> tuple[Array, Array]:
    """Numbers in [0, 1) and the ends of an interval, of one number in [0, 1) for both."""
    low, high = (min(x, math.pi) for x in ends)
    share = high / (low + high)
    up = u < share
    return np.where(up, u / share, (u - share) / (1.0 - share)), np.where(up, high, -low)


def nearest_on_ellipse(points: Array, semi_axes: npt.ArrayLike) -> Array:
    """(..., 2) of the ellipse around 0 with the `semi_axes` (..., 2), the nearest to points (..., 2) outside of it.

    It is (a^2 x / (t + a^2), b^2 y / (t + b^2)), with t >= 0 where that is on the ellipse (Eberly 2013, "Distance from
    a point to an ellipse").  The equation in t falls and is convex, so Newton's steps from below come without
    overshooting; from where one of its terms is 1 they have not far to go.
    """
    axes = np.asarray(semi_axes)
    reach = np.abs(points) * axes
    t = np.maximum((reach - axes**2).max(-1), 0.0)
    for _ in range(_STEPS):
        below = t[..., None] + axes**2
        share = (reach / below) ** 2
        t = t + np.maximum(share.sum(-1) - 1.0, 0.0) / np.maximum(2.0 * (share / below).sum(-1), 1e-300)
    found = axes**2 * points / (t[..., None] + axes**2)
    level = np.sqrt(_level(found, axes))
    return found / np.where(level > 0.0, level, 1.0)[..., None]


def _level(swing: Array, semi_axes: Array) -> Array:
    """(...) 1 on the ellipse, less inside."""
    return np.asarray(((swing / semi_axes) ** 2).sum(-1))
