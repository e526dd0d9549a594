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
of motion of the ball-and-socket joint").  The formulas are `poise.kernels.algebra.swing_twist`, which take arrays too.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array, ArrayLike
from poise.common.checks import masked_at
from poise.common.errors import InvalidValue
from poise.kernels.algebra import swing_twist
from poise.kernels.algebra.swing_twist import FREE, NARROWEST
from poise.kernels.machine.layout import AT_LIMIT
from poise.quaternions import aligning, quaternion_matrix

_ALONG = 1e-6
"""The sine of an angle to its axis that a direction across it must have."""


@final
class Ball(NamedTuple):
    """The fields of a record BALL of `poise.kernels.machine.layout` that say what the limits are."""

    frame: tuple[float, ...]
    rest: tuple[float, ...]
    a: tuple[float, float]
    b: tuple[float, float]
    cosine: float
    sine: float
    half: float
    limited: bool = True


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
    def record(self) -> Ball:
        """As the kernels read them."""
        angle = 0.5 * self.middle
        frame, rest = tuple(self.frame.ravel().tolist()), tuple(self.rest.tolist())
        return Ball(frame, rest, *self.semi_axes, math.cos(angle), math.sin(angle), self.half)

    def parts(self, wxyz: Array) -> tuple[Array, Array]:
        """Swing (..., 2) and twist (...) [rad], the twist counted from `middle`, of unit quaternions (..., 4)."""
        ball = self.record
        _, x, y, ratio, twist = swing_twist.parts(ball, *swing_twist.since_rest(ball, *np.moveaxis(wxyz, -1, 0)))
        return np.stack([x * ratio, y * ratio], axis=-1), np.asarray(twist)

    def rotation(self, swing: Array, twist: Array) -> Array:
        """(..., 4) unit quaternions w x y z of what `parts` tells."""
        return np.stack(swing_twist.rotation(self.record, swing[..., 0], swing[..., 1], twist), axis=-1)

    def inside(self, wxyz: Array) -> npt.NDArray[np.bool_]:
        """(...) whether unit quaternions (..., 4) keep the limits, with no slack."""
        return np.asarray(swing_twist.ball_within_limits(self.record, *np.moveaxis(wxyz, -1, 0)))

    def margins(self, wxyz: Array) -> Array:
        """(..., 2) how far unit quaternions (..., 4) are from their limits of swing and twist [rad]; negative
        outside."""
        swing, twist = self.parts(wxyz)
        return np.stack(swing_twist.margins(self.record, swing[..., 0], swing[..., 1], twist), axis=-1)

    def met(self, wxyz: Array) -> dict[str, tuple[float, float]]:
        """Of one rotation (4,), "swing" and "twist" where they stand at their limits, and these limits [rad].

        What has no width is always at its limit, and is not told of.
        """
        (x, y), twist = self.parts(wxyz)
        x, y = np.where(np.sum(self.semi_axes, axis=1) < AT_LIMIT, 0.0, (x, y)).tolist()
        angle, (far, left) = math.hypot(x, y), map(float, swing_twist.margins(self.record, x, y, twist))
        found = {"swing": (angle, angle + far)} if far <= AT_LIMIT else {}
        if self.half > AT_LIMIT and left <= AT_LIMIT:
            found["twist"] = (self.middle + float(twist), self.middle + math.copysign(self.half, float(twist)))
        return found

    def pulled_in(self, wxyz: Array) -> Array:
        """(..., 4) unit quaternions, those outside at the nearest place inside, MARGIN from the border.

        Those inside stay as they are, to the last bit.
        """
        pulled = np.stack(swing_twist.clipped(self.record, *np.moveaxis(wxyz, -1, 0)), axis=-1)
        return np.where(self.inside(wxyz)[..., None], wxyz, pulled)

    def sample(self, shape: tuple[int, ...], rng: "np.random.Generator") -> Array:
        """(*shape, 4) random unit quaternions inside: uniform over the ellipse and the interval of twist."""
        return np.stack(swing_twist.random_rotation(self.record, *rng.uniform(size=(3, *shape))), axis=-1)


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
