"""What every method is made of: a name, what it can do, and its settings as the kernels read them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, Protocol, TypeAlias, cast, final

import numpy as np

from poise.errors import ShapeError
from poise.kernels import settings as at
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
        """Put the settings into an array of zeros, as `poise.kernels.settings` lays it out."""


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
        positive("gain", self.gain)
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
        positive("gain", self.gain)


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
        positive("gain", self.gain)
        positive("longest", self.longest)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Manipulability:
    """phi = gain grad w, w = sqrt(det J J^T): towards poses in which all directions are easy (Yoshikawa 1985).

    w is the product of the singular values, without those that are zero in every pose; its unit is that of J to the
    power of the rank, so the gain is the model's own.  For positions and rotations without weights.
    """

    gain: float = 0.1

    def __post_init__(self) -> None:
        positive("gain", self.gain)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Clearance:
    """phi = -gain grad U, U = -sum log |x|, x from each obstacle to the origin of each joint that moves the tasks.

    The force is 1 / |x| at any distance; from a sphere's surface, with |x| less its radius.  Source: Das, Slotine and
    Sheridan 1988, eq. 2.2.  What lies between the joints is not seen.
    """

    obstacles: Sequence[Sequence[float]] | Array
    """(k, 3) points, or (k, 4) centres and radii of spheres [m], in the world."""
    gain: float = 0.05

    def __post_init__(self) -> None:
        positive("gain", self.gain)
        given = finite("obstacles", self.obstacles)
        if given.ndim != 2 or given.shape[0] == 0 or given.shape[1] not in (3, 4):
            raise ShapeError(
                "obstacles must be points (k, 3) or spheres (k, 4) of centre and radius, at least one, got shape "
                f"{given.shape}"
            )
        for i, row in enumerate(given):
            if len(row) == 4 and row[3] < 0.0:
                raise ValueError(f"obstacles[{i}] has the radius {row[3]}; it must be 0 or more")
        object.__setattr__(self, "obstacles", tuple(tuple(row) for row in given.tolist()))

    @property
    def spheres(self) -> Array:
        """(k, 4) centres and radii."""
        rows = np.array(self.obstacles)
        return rows if rows.shape[1] == 4 else np.column_stack([rows, np.zeros(len(rows))])


Criterion: TypeAlias = RestPosture | JointCentring | LimitDistance | Manipulability | Clearance
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
            settings[_GAINS[type(term)]] = term.gain
            if isinstance(term, LimitDistance):
                settings[at.LIMIT_LONGEST] = term.longest


_GAINS: Final[dict[type, int]] = {
    RestPosture: at.REST_GAIN,
    JointCentring: at.CENTRE_GAIN,
    LimitDistance: at.LIMIT_GAIN,
    Manipulability: at.MANIPULABILITY_GAIN,
    Clearance: at.CLEARANCE_GAIN,
}


def positive(name: str, value: float) -> None:
    """Raises ValueError unless `value` is a positive number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating, np.integer)) or not value > 0.0:
        raise ValueError(f"{name} is {value!r}; it must be a positive number")


def not_negative(name: str, value: float) -> None:
    """Raises ValueError unless `value` is a finite number of 0 or more."""
    number = isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)
    if not number or not 0.0 <= value < math.inf:
        raise ValueError(f"{name} is {value!r}; it must be a finite number, 0 or more")


def one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raises ValueError unless `value` is one of `choices`."""
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(map(repr, choices))}")
