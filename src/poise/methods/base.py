"""What every method is made of: a name, what it can do, and its settings as the kernels read them."""

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Final, Literal, Protocol, TypeAlias, cast, final

import numpy as np

from poise.errors import ShapeError
from poise.geometry.shapes import Box, Capsule, Shape, Sphere
from poise.kernels.methods import settings as at
from poise.spatial import Array, finite


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a method can do; what it cannot is refused before it runs."""

    limits: bool = True
    """Whether it keeps the joint limits; if not, it runs only with `limits=False`."""
    tasks: Literal["any", "poses", "positions"] = "any"
    """The tasks that it can follow; "poses" are positions, orientations and both."""
    weights: Literal["any", "blocks", "none"] = "any"
    """The weights of tasks that it heeds; "blocks" are those that are the same along all axes."""
    mimic: bool = True
    """Whether it can move a joint that others follow."""
    slides: bool = True
    """Whether it can move joints that slide."""
    priorities: bool = False
    """Whether it heeds the tasks' priorities; if not, all tasks must have the same."""
    characters: bool = True
    """Whether it runs eight characters at once."""


class Method(Protocol):
    """A method and its settings; a frozen dataclass."""

    name: ClassVar[str]
    """The short name."""
    title: ClassVar[str]
    """The name in words."""
    references: ClassVar[tuple[str, ...]]
    """Keys in `references.bib`; the first is the method's own paper."""
    capabilities: ClassVar[Capabilities]
    iterations: ClassVar[int]
    """Updates that `solve` grants a start, unless it is told otherwise."""

    def write(self, settings: Array) -> None:
        """Put the settings into an array of zeros, as `poise.kernels.methods.settings` lays it out."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ClampMag:
    """Shorten the error of each effector to at most D_max, so that far targets are approached in steps.

    Source: Buss 2004, sections 2 and 8; Buss and Kim 2005.  About half the length of a typical link serves well, and
    several times what a target moves in a step at least.
    """

    position: float = math.inf
    """D_max of positions [m]."""
    rotation: float = math.inf
    """D_max of rotations [rad]."""
    mode: Literal["constant", "adaptive", "buss_release"] = "constant"
    """"adaptive": each effector has its own D_max, infinite at first and after a jump of its target, then D_max plus
    what the last update brought it closer; a jump is a move by more than D_max.  "buss_release" is what the program
    released with the paper does instead: D_max plus what the last update brought it *farther*, taken from the wrong
    three numbers for all effectors but the first."""

    def __post_init__(self) -> None:
        positive("position", self.position)
        positive("rotation", self.rotation)
        one_of("mode", self.mode, ("constant", "adaptive", "buss_release"))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RestPosture:
    """phi = gain (q_rest - q): pull to a posture within the null space (Buss 2004, eq. 7).

    Joints that are balls are left alone.
    """

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

    obstacles: Sequence[Sequence[float]] | Array | Sequence[Shape]
    """(k, 3) points, (k, 4) centres and radii of spheres [m], or any `Sphere`, `Capsule` and `Box`, in the world; kept
    as shapes."""
    gain: float = 0.05
    frames: Sequence[str] | None = None
    """The names of the frames whose origins are pushed; None: the origin of each joint that moves the tasks."""

    def __post_init__(self) -> None:
        finite_positive("gain", self.gain)
        if self.frames is not None:
            if isinstance(self.frames, str) or not all(isinstance(name, str) for name in self.frames):
                raise TypeError(f"frames must be a sequence of names, such as ('hand',), or None, got {self.frames!r}")
            if len(self.frames) == 0:
                raise ValueError("frames is empty; name at least one frame, or give None for the joints' origins")
            object.__setattr__(self, "frames", tuple(self.frames))
        object.__setattr__(self, "obstacles", _shapes(self.obstacles))

    @property
    def spheres(self) -> Array:
        """(k, 4) centres and radii [m] of the spheres among the obstacles."""
        rows = [[*o.centre, o.radius] for o in self.obstacles if isinstance(o, Sphere)]
        return np.array(rows).reshape(-1, 4)

    @property
    def boxes(self) -> Array:
        """(k, 16) the other obstacles as boxes with rounded edges; see `poise.geometry.shapes`."""
        rows = [o.rounded for o in self.obstacles if isinstance(o, Capsule | Box)]
        return np.array(rows).reshape(-1, 16)


def _shapes(obstacles: Any) -> tuple[Shape, ...]:
    """The obstacles as shapes; raises TypeError, ShapeError or ValueError for what is none."""
    if isinstance(obstacles, Shape):
        raise TypeError(f"obstacles must be a sequence of shapes; put the {type(obstacles).__name__} in a list")
    if isinstance(obstacles, Sequence) and any(isinstance(obstacle, Shape) for obstacle in obstacles):
        for i, obstacle in enumerate(obstacles):
            if not isinstance(obstacle, Shape):
                raise TypeError(
                    f"obstacles holds shapes, and obstacles[{i}] is {obstacle!r}: make it a Sphere, a Capsule or a Box"
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
            raise ValueError(f"obstacles[{i}] has the radius {row[3]}; it must be 0 or more")
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
        raise TypeError(f"{name} of the Potential must be a function {name}({arguments}), got {function!r}")
    try:
        inspect.signature(getattr(function, "py_func", function)).bind(*arguments.split(", "))
    except TypeError as error:
        raise TypeError(f"{name} of the Potential must take {name}({arguments}): {error}") from error


Criterion: TypeAlias = RestPosture | JointCentring | LimitDistance | Manipulability | Clearance | Potential
NullSpace: TypeAlias = Criterion | Sequence[Criterion]


@dataclass(frozen=True, kw_only=True)
class JacobianMethod:
    """The settings that all Jacobian methods share."""

    max_step: float = math.inf
    """Largest change of a joint in one update [rad or m]; a longer step is shortened as a whole (ClampMaxAbs)."""
    max_error: float | ClampMag | None = None
    """Errors are shortened to this; one number serves as [m] and [rad]."""
    jacobian: Literal["effector", "target"] = "effector"
    """Where the columns of the joints that turn are taken: at the effector s_i, or at its target t_i, which overshoots
    less when targets are out of reach (Buss 2004, section 2).  Tasks with weights and aims keep their own."""

    def __post_init__(self) -> None:
        positive("max_step", self.max_step)
        if isinstance(self.max_error, (int, float)):
            positive("max_error", self.max_error)
        elif not isinstance(self.max_error, ClampMag | None):
            raise TypeError(f"max_error must be a number, a ClampMag or None, got {self.max_error!r}")
        one_of("jacobian", self.jacobian, ("effector", "target"))

    def write_clamps(self, settings: Array) -> None:
        """Put these settings into the array."""
        clamp = self.max_error
        settings[at.MAX_STEP] = self.max_step
        settings[at.AT_TARGET] = self.jacobian == "target"
        if clamp is None:
            return
        if not isinstance(clamp, ClampMag):
            clamp = ClampMag(position=clamp, rotation=clamp)
        modes = {"constant": at.FIXED, "adaptive": at.ADAPTIVE, "buss_release": at.RELEASED}
        settings[at.CLAMP] = modes[clamp.mode]
        settings[at.MAX_ERROR], settings[at.MAX_TURN] = clamp.position, clamp.rotation


@dataclass(frozen=True, kw_only=True)
class NullSpaceMethod(JacobianMethod):
    """A Jacobian method whose step can take in a velocity of the null space (Buss 2004, eq. 7)."""

    null_space: NullSpace | None = None
    """phi of the term (I - J^+ J) phi, which moves no effector, to first order: one criterion, or several that add up,
    at most one of a kind."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.null_space, list):
            object.__setattr__(self, "null_space", tuple(self.null_space))
        if self.null_space == ():
            raise ValueError("null_space is empty; leave it out, or give None, for no term")
        for term in self.terms:
            if not isinstance(term, Criterion):
                raise TypeError(
                    f"null_space must be a criterion such as RestPosture(), a tuple of them or None, got {term!r}"
                )
        kinds = [type(term) for term in self.terms]
        for kind in kinds:
            if kinds.count(kind) > 1:
                raise ValueError(f"null_space holds {kinds.count(kind)} of {kind.__name__}; make them one")

    @property
    def terms(self) -> tuple[Criterion, ...]:
        """The criteria."""
        if self.null_space is None:
            return ()
        return self.null_space if isinstance(self.null_space, tuple) else (cast(Criterion, self.null_space),)

    def write_null_space(self, settings: Array) -> None:
        """Put the terms into the array; the posture and the obstacles themselves come behind the settings."""
        for term in self.terms:
            settings[at.NULL] = 1.0
            settings[GAINS[type(term)]] = term.gain
            if isinstance(term, LimitDistance):
                settings[at.LIMIT_LONGEST] = term.longest


GAINS: Final[dict[type, int]] = {
    RestPosture: at.REST_GAIN,
    JointCentring: at.CENTRE_GAIN,
    LimitDistance: at.LIMIT_GAIN,
    Manipulability: at.MANIPULABILITY_GAIN,
    Clearance: at.CLEARANCE_GAIN,
    Potential: at.POTENTIAL_GAIN,
}


def positive(name: str, value: float) -> None:
    """Raises ValueError unless `value` is a positive number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating, np.integer)) or not value > 0.0:
        raise ValueError(f"{name} is {value!r}; it must be a positive number")


def finite_positive(name: str, value: float) -> None:
    """Raises ValueError unless `value` is a positive number and not infinite."""
    positive(name, value)
    if value == math.inf:
        raise ValueError(f"{name} is infinite; it must be a finite number")


def not_negative(name: str, value: float) -> None:
    """Raises ValueError unless `value` is a finite number of 0 or more."""
    number = isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)
    if not number or not 0.0 <= value < math.inf:
        raise ValueError(f"{name} is {value!r}; it must be a finite number, 0 or more")


def one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raises ValueError unless `value` is one of `choices`."""
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(map(repr, choices))}")
