"""Criteria of the null space: what a method pursues with the freedom that its tasks leave.

`entry` names the number of `poise.kernels.machine.layout.COMMON` that is the criterion's gain.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, TypeAlias, final

import numpy as np

from poise.common.array import Array
from poise.common.checks import finite, finite_positive
from poise.common.errors import InvalidType, InvalidValue, ShapeError
from poise.geometry.shapes import Box, Capsule, Rounded, Shape, Sphere


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RestPosture:
    """phi = gain (q_rest - q): pull to a posture within the null space (Buss 2004, eq. 7).

    Joints that are balls are left alone.
    """

    entry: ClassVar[str] = "rest_gain"
    q: Sequence[float] | Array | None = None
    """(nq,) the posture; None: the model's home."""
    gain: float = 0.1

    def __post_init__(self) -> None:
        finite_positive("gain", self.gain)
        if self.q is not None:
            object.__setattr__(self, "q", tuple(finite("q", self.q).ravel().tolist()))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class JointCentring:
    """phi = -gain grad g, g = (1/n) sum ((q - q_mid) / (q_mid - q_max))^2: to the middle of the limits (Liegeois 1977).

    Joints without limits are left alone.
    """

    entry: ClassVar[str] = "centre_gain"
    gain: float = 0.1

    def __post_init__(self) -> None:
        finite_positive("gain", self.gain)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LimitDistance:
    """phi = -gain grad h, h = sum (u - l)^2 / (4 (u - q) (q - l)): away from the limits l and u (Zghal et al. 1990).

    It grows without bound towards a limit, so each joint's part is cut to `longest`; in the middle it hardly acts.
    Joints without limits are left alone.
    """

    entry: ClassVar[str] = "limit_gain"
    gain: float = 0.01
    longest: float = 0.1
    """Largest |phi| of a joint [rad or m]."""

    def __post_init__(self) -> None:
        finite_positive("gain", self.gain)
        finite_positive("longest", self.longest)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Manipulability:
    """phi = gain grad w, w = sqrt(det J J^T): towards poses in which all directions are easy (Yoshikawa 1985).

    w is the product of the singular values, without those that are zero in every pose; its unit is that of J to the
    power of the rank, so the gain is the model's own.  For positions and rotations without weights.
    """

    entry: ClassVar[str] = "manipulability_gain"
    gain: float = 0.1

    def __post_init__(self) -> None:
        finite_positive("gain", self.gain)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Clearance:
    """phi = -gain grad U, U = -sum log d, d the distance of each point that is pushed from each obstacle's surface.

    Each force is 1 / d, at any distance, away from the obstacle's nearest point; below 0.1 mm it grows no more, and
    inside it pushes to the nearest face.  Source: Das, Slotine and Sheridan 1988, eq. 2.2.  What lies between the
    points is not seen.
    """

    entry: ClassVar[str] = "clearance_gain"
    obstacles: Sequence[Sequence[float]] | Array | Sequence[Rounded]
    """(k, 3) points, (k, 4) centres and radii of spheres [m], or any `Sphere`, `Capsule` and `Box`, in the world; kept
    as shapes."""
    gain: float = 0.05
    frames: Sequence[str] | None = None
    """The names of the frames whose origins are pushed; None: the origin of each joint that moves the tasks."""

    def __post_init__(self) -> None:
        finite_positive("gain", self.gain)
        if self.frames is not None:
            if isinstance(self.frames, str) or not all(isinstance(name, str) for name in self.frames):
                raise InvalidType(
                    "not-a-sequence",
                    f"frames must be a sequence of names, such as ('hand',), or None, got {self.frames!r}",
                )
            if len(self.frames) == 0:
                raise InvalidValue(
                    "empty", "frames is empty; name at least one frame, or give None for the joints' origins"
                )
            object.__setattr__(self, "frames", tuple(self.frames))
        object.__setattr__(self, "obstacles", _shapes(self.obstacles))

    @property
    def spheres(self) -> Array:
        """(k, 4) centres and radii [m] of the spheres among the obstacles."""
        rows = [[*o.centre, o.radius] for o in self.obstacles if isinstance(o, Sphere)]
        return np.array(rows).reshape(-1, 4)

    @property
    def boxes(self) -> Array:
        """(k, 16) the other obstacles as boxes with rounded edges; see `Core.rounded`."""
        rows = [o.core.rounded for o in self.obstacles if isinstance(o, Capsule | Box)]
        return np.array(rows).reshape(-1, 16)


def _shapes(obstacles: Any) -> tuple[Rounded, ...]:
    """The obstacles as shapes; raises TypeError, ShapeError or ValueError for what is none."""
    if isinstance(obstacles, Shape):
        raise InvalidType(
            "not-a-sequence", f"obstacles must be a sequence of shapes; put the {type(obstacles).__name__} in a list"
        )
    if isinstance(obstacles, Sequence) and any(isinstance(obstacle, Shape) for obstacle in obstacles):
        for i, obstacle in enumerate(obstacles):
            if not isinstance(obstacle, Rounded):
                raise InvalidType(
                    "not-a-shape",
                    f"obstacles holds shapes, and obstacles[{i}] is {obstacle!r}: make it a Sphere, a Capsule or a Box",
                )
        return tuple(obstacles)
    given = finite("obstacles", obstacles)
    if given.ndim != 2 or given.shape[0] == 0 or given.shape[1] not in (3, 4):
        raise ShapeError(
            "obstacles must be points (k, 3) or spheres (k, 4) of centre and radius, or shapes, at least one, got "
            f"shape {given.shape}"
        )
    for i, row in enumerate(given):
        if len(row) == 4 and row[3] < 0.0:
            raise InvalidValue("negative", f"obstacles[{i}] has the radius {row[3]}; it must be 0 or more")
    return tuple(Sphere(row[:3], *row[3:].tolist()) for row in given)


@final
@dataclass(frozen=True, slots=True)
class Potential:
    """phi = -gain grad g, g a function of your own.

    The functions are of plain Python, or already of Numba; the gradient and the Hessian are compiled when a method is
    prepared, with the numbers and arrays around them as they are when that is first done.  They get the whole
    configuration q (nq,), which they must not change.  Where they give NaN or raise, the update is marked as failed and
    q stays.  Eight characters are led one after the other.
    """

    entry: ClassVar[str] = "potential_gain"
    value: Callable[..., float]
    """g(q): a number, with which the gradient is checked when a method is prepared."""
    gradient: Callable[..., None]
    """gradient(q, out): writes into out (nv,), zeros before, the derivative of g by each of the model's velocities; for
    joints of one coordinate that is by q itself."""
    hessian: Callable[..., None] | None = None
    """hessian(q, out): writes into out (nv, nv), zeros before, the second derivatives; `ExtendedJacobian` needs it."""
    _: KW_ONLY
    gain: float = 0.1

    def __post_init__(self) -> None:
        finite_positive("gain", self.gain)
        _takes("value", self.value, "q")
        _takes("gradient", self.gradient, "q, out")
        if self.hessian is not None:
            _takes("hessian", self.hessian, "q, out")


def _takes(name: str, function: Any, arguments: str) -> None:
    """Raises TypeError unless `function` can be called with these arguments."""
    if not callable(function):
        raise InvalidType(
            "own-function", f"{name} of the Potential must be a function {name}({arguments}), got {function!r}"
        )
    try:
        inspect.signature(getattr(function, "py_func", function)).bind(*arguments.split(", "))
    except TypeError as error:
        raise InvalidType("own-function", f"{name} of the Potential must take {name}({arguments}): {error}") from error


Criterion: TypeAlias = RestPosture | JointCentring | LimitDistance | Manipulability | Clearance | Potential
NullSpace: TypeAlias = Criterion | Sequence[Criterion]
