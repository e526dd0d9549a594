"""How far a ball goes: the swing of its axis within an ellipse, the twist about the axis within an interval.

A rotation is a swing after a twist, q = swing * twist * rest (all about the child link's origin), with the rotation
`rest` that counts as none: no turn, unless it is stated.  The twist turns about `axis`, where the bone points at rest;
the swing is the shortest turn that takes the bone from there to where it points, and its rotation
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
from typing import Any, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array, ArrayLike
from poise.common.checks import masked_at
from poise.common.errors import InvalidValue
from poise.kernels.algebra.swing_twist import FREE, MARGIN, NARROWEST
from poise.quaternions import aligning, conjugate, quaternion_matrix, quaternion_product

_ALONG = 1e-6
"""The sine of an angle to its axis that a direction across it must have."""
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
    rest: Array
    """(4,) the rotation that counts as none, w x y z."""
    semi_axes: tuple[tuple[float, float], tuple[float, float]]
    """Largest swings against and along the first direction, and the second [rad]; no less than NARROWEST, and FREE
    where swing has no limit."""
    middle: float
    """Of the twist [rad]."""
    half: float
    """Half the width of the interval of twist [rad]; no less than NARROWEST, and FREE where twist has no limit."""

    @property
    def number(self) -> tuple[float, ...]:
        """What the kernels read: frame 9 row by row, rest 4, semi-axes 4, cosine and sine of half the middle, half."""
        angle = 0.5 * self.middle
        numbers = [*self.frame.ravel(), *self.rest, *self.semi_axes[0], *self.semi_axes[1]]
        return (*map(float, numbers), math.cos(angle), math.sin(angle), self.half)

    def parts(self, wxyz: Array) -> tuple[Array, Array]:
        """Swing (..., 2) and twist (...) [rad], the twist counted from `middle`, of unit quaternions (..., 4)."""
        wxyz = quaternion_product(wxyz, conjugate(self.rest))
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
        return quaternion_product(np.concatenate([(c * cosine)[..., None], vector], axis=-1), self.rest)

    def quarter(self, swing: Array) -> Array:
        """(..., 2) the semi-axes of the quarter that the swing (..., 2) is in [rad]."""
        (a, c), (b, d) = self.semi_axes
        return np.where(swing < 0.0, [a, b], [c, d])

    def inside(self, wxyz: Array) -> npt.NDArray[np.bool_]:
        """(...) whether unit quaternions (..., 4) keep the limits, with no slack."""
        swing, twist = self.parts(wxyz)
        return np.asarray((_level(swing, self.quarter(swing)) <= 1.0) & (np.abs(twist) <= self.half))

    def margins(self, wxyz: Array) -> Array:
        """(..., 2) how far unit quaternions (..., 4) are from their limits of swing and twist [rad]; negative
        outside."""
        swing, twist = self.parts(wxyz)
        angle, root = np.linalg.norm(swing, axis=-1), np.sqrt(_level(swing, self.quarter(swing)))
        far = np.where(root > 0.0, angle * (1.0 / np.where(root > 0.0, root, 1.0) - 1.0), FREE)
        return np.stack([far, self.half - np.abs(twist)], axis=-1)

    def margin(self, wxyz: Array) -> Array:
        """(...) how far unit quaternions (..., 4) are from the nearest limit [rad]; negative outside."""
        return np.asarray(self.margins(wxyz).min(axis=-1))

    def met(self, wxyz: Array, slack: float) -> dict[str, tuple[float, float]]:
        """Of one rotation (4,), "swing" and "twist" where no more than `slack` [rad] is left of them, and their limits.

        What has no width is always at its limit, and is not told of.
        """
        swing, twist = (x.copy() for x in self.parts(wxyz))
        swing[np.sum(self.semi_axes, axis=1) < slack] = 0.0
        angle, root = float(np.linalg.norm(swing)), math.sqrt(float(_level(swing, self.quarter(swing))))
        found = {}
        if root > 0.0 and angle * (1.0 / root - 1.0) <= slack:
            found["swing"] = (angle, angle / root)
        if self.half > slack and self.half - abs(float(twist)) <= slack:
            found["twist"] = (self.middle + float(twist), self.middle + math.copysign(self.half, float(twist)))
        return found

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

    def sample(self, shape: tuple[int, ...], rng: "np.random.Generator") -> Array:
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


Interval = tuple[float, float]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SwingTwist:
    """The limits of a spherical joint, as `Model.with_limits` and `ModelBuilder.joint` take them; see
    `poise.model.swing`.

    Raises ValueError for what no joint can keep.
    """

    axis: ArrayLike | None = None
    """Where the bone points at rest, in the joint's frame, of any length; None: along the axis of the joint."""
    swing: ArrayLike | None = None
    """How far it may turn away [rad]: one angle, two about `across` and axis x across, or an interval (lower, upper)
    for each of these, around 0; None: anywhere."""
    twist: ArrayLike | None = None
    """(lower, upper) of the turn about the bone [rad]; None: any."""
    across: ArrayLike | None = None
    """The first direction of swing, as far as it is normal to `axis`; None: what the shortest turn that takes z to the
    axis makes of x."""
    rest: ArrayLike | None = None
    """The rotation that counts as none, w x y z; None: no turn."""

    def __post_init__(self) -> None:
        for name, size in (("axis", 3), ("across", 3), ("rest", 4)):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _direction(name, value, size))
        if self.across is not None and np.linalg.norm(np.cross(np.array(self.across), self._bone)) < _ALONG:
            raise InvalidValue("conflict", f"across is {self.across!r}, along the axis; it must lie across")
        if self.swing is not None:
            object.__setattr__(self, "swing", _swing(self.swing))
        if self.twist is not None:
            object.__setattr__(self, "twist", _twist(self.twist))

    @property
    def _bone(self) -> Array:
        return np.array((0.0, 0.0, 1.0) if self.axis is None else self.axis)

    def at(self, place: int) -> BallLimits:
        """What they are for a quaternion at `place` in q."""
        bone = self._bone
        x, y, z = bone.tolist()
        frame = quaternion_matrix(aligning((x, y, z))) if self.across is None else _frame(bone, np.array(self.across))
        swing = np.array([[-FREE, FREE]] * 2 if self.swing is None else self.swing)
        (a, c), (b, d) = np.maximum(np.abs(swing), NARROWEST).tolist()
        low, high = np.array([-FREE, FREE] if self.twist is None else self.twist).tolist()
        rest = np.array([1.0, 0.0, 0.0, 0.0] if self.rest is None else self.rest)
        half = max(0.5 * (high - low), NARROWEST)
        return BallLimits(place, frame, rest, ((a, c), (b, d)), 0.5 * (low + high), half)

    @property
    def words(self) -> tuple[str, str]:
        """What they are of swing and of twist, in words; empty where there is none."""
        spans = [] if self.swing is None else [_span(low, high) for low, high in np.asarray(self.swing)]
        swing = "swing " + " x ".join(dict.fromkeys(spans)) if spans else ""
        return swing, "" if self.twist is None else "twist {:.4g} to {:.4g}".format(*np.asarray(self.twist))

    def __str__(self) -> str:
        return ", ".join(filter(None, self.words))


def _span(low: float, high: float) -> str:
    return f"{high:.4g}" if low == -high else f"{low:.4g} to {high:.4g}"


def _direction(name: str, value: Any, size: int) -> tuple[float, ...]:
    numbers = reals(value)
    length = float(np.linalg.norm(numbers)) if numbers.shape == (size,) else math.nan
    if not 1e-12 < length < math.inf:
        raise InvalidValue(
            "wrong-length" if numbers.shape != (size,) else "zero-vector",
            f"{name} is {value!r}; it must be {size} finite numbers that are not all 0",
        )
    return tuple(map(float, numbers / length))


def _swing(swing: Any) -> tuple[Interval, Interval]:
    given = reals(swing)
    if given.shape in ((), (2,)):
        given = np.broadcast_to(given, 2)
        given = np.stack([-given, given], axis=1)
    if given.shape != (2, 2) or not ((np.abs(given) <= math.pi).all() and (given * [1.0, -1.0] <= 0.0).all()):
        raise InvalidValue(
            "out-of-range",
            f"swing is {swing!r}; it must be 0 to pi rad, two of these, two intervals from -pi to pi with 0 in them, "
            "or None for no limit",
        )
    (a, c), (b, d) = given.tolist()
    return (a, c), (b, d)


def _twist(twist: Any) -> Interval:
    given = reals(twist)
    if given.shape != (2,) or not -2.0 * math.pi <= given[0] <= given[1] <= 2.0 * math.pi:
        raise InvalidValue(
            "wrong-length" if given.shape != (2,) else "out-of-range",
            f"twist is {twist!r}; it must be (lower, upper) within a whole turn of 0 rad, or None for no limit",
        )
    low, high = given.tolist()
    return low, high


def reals(value: Any) -> Array:
    """A copy of the value as numbers; NaN if it is none, or has an entry that is masked."""
    try:
        return np.array(value if masked_at(value) is None else math.nan, dtype=np.float64)
    except (TypeError, ValueError):
        return np.array(math.nan)


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


def nearest_on_ellipse(points: Array, semi_axes: ArrayLike) -> Array:
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
