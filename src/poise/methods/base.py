"""What every method is made of: a name, what it can do, its settings, and the kernel that takes a step."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, TypeVar, cast, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.common.checks import one_of, positive
from poise.common.errors import InvalidType, InvalidValue, nearest_names
from poise.kernels.machine.reads import Reads
from poise.kernels.methods.clamp import ADAPTIVE, FIXED, RELEASED
from poise.kernels.methods.routines import Routine, stepping, updating
from poise.methods.criteria import Criterion, LimitDistance, NullSpace, Potential
from poise.methods.damping import DampingRule, refuse_all_but_errors
from poise.methods.records import numbers_of, record_of
from poise.methods.registry import METHODS
from poise.model.model import Model
from poise.model.tree import Unit
from poise.tasks.base import Task


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a method can do by itself; what nothing makes up for is refused before it runs."""

    limits: bool = True
    """Whether it keeps the joint limits; if not, its steps are taken to where they hold."""
    tasks: Literal["any", "poses", "positions"] = "any"
    """The tasks that it can follow, beside loops and ranges, which hold whatever it proposes; "poses" are positions,
    orientations and both."""
    weights: Literal["any", "blocks", "none"] = "any"
    """The weights of tasks that it heeds; "blocks" are those that are the same along all axes."""
    mimic: bool = True
    """Whether it can move a joint that others follow."""
    slides: bool = True
    """Whether it can move joints that slide."""
    priorities: bool = False
    """Whether it heeds the tasks' priorities; if not, it leads the first level, and later ones get what that leaves."""
    posture: bool = False
    """Whether it follows a PostureTask of a Tracker itself; if not, that gets what its step leaves."""
    gain: bool = True
    """Whether it heeds the gains of tasks: it steps by the clamped errors, `w.clamped`."""
    whole: bool = True
    """Whether a step goes all of a short way, so that a velocity that is asked for is what comes of it."""
    characters: bool = True
    """Whether it runs eight characters at once."""


class Case(Protocol):
    """A model and its tasks, as a method sees them that prepares itself for them."""

    @property
    def model(self) -> Model: ...

    @property
    def tasks(self) -> tuple[Task, ...]: ...

    @property
    def limits(self) -> bool:
        """Whether joint limits hold."""

    @property
    def inequalities(self) -> int:
        """Inequalities between joints."""

    @property
    def posture(self) -> bool:
        """Whether a posture is followed, as the last level; `w.phi` then leads to it, `p.weight_ratios` are its
        weights."""

    @property
    def delegated(self) -> tuple[int, ...]:
        """The tasks that another method proposes steps for, by their places; `w.delegated_step` is such a step."""

    @property
    def rows(self) -> int:
        """Residual rows, m."""

    @property
    def columns(self) -> int:
        """Velocities that move the tasks, n."""

    def section(self, name: str) -> Any:
        """A section of the packed problem, see `poise.kernels.machine.layout.PROBLEM`."""

    @property
    def units(self) -> list[Unit]:
        """The axes of the tree that the problem holds, in its order."""

    def at_home(self) -> tuple[Array, Array]:
        """(units, FRAME) the frames of the units and (m,) the errors of goals at 0, at the model's home."""

    def rank(self, rows: npt.NDArray[np.int64] | slice = slice(None)) -> int:
        """The rank that the Jacobian of the tasks, or these rows of it, has in general."""


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """Numbers for a method's kernel, `p.plan` and `p.plan_reals`, and the rows of `w.room` that they call for."""

    numbers: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    reals: Array = field(default_factory=lambda: np.zeros(0))
    rows: int = 0


@final
@dataclass(frozen=True, slots=True)
class Prepared:
    """How a method goes with its settings: a routine, and what it is told."""

    routine: Routine
    numbers: Mapping[str, float] = field(default_factory=dict)
    """The fields of the routine's record; those that are left out are 0."""
    damping: Routine | None = None
    """The routine of the damping rule."""
    ranked: bool = False
    """Whether singular values are read, so that those which are zero in every pose must be known."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """A method and its settings: what a frozen dataclass derives from that `method` registers.

    It has a `step(p, s, w)` or an `update(p, s, w)`, a static function that Numba compiles; `s` holds the settings.
    """

    name: ClassVar[str]
    """The short name."""
    title: ClassVar[str]
    """The name in words."""
    references: ClassVar[tuple[str, ...]] = ()
    """Keys in `references.bib`; the first is the method's own paper."""
    capabilities: ClassVar[Capabilities] = Capabilities()
    iterations: ClassVar[int] = 300
    """Updates that `solve` grants a start, unless it is told otherwise."""
    curved: ClassVar[bool] = False
    """Whether it needs the Hessian of a `Potential`."""
    routine: ClassVar[Routine]
    """The step or update, compiled; `method` makes it."""

    def common(self) -> dict[str, float]:
        """The settings that all methods have, as `poise.kernels.machine.layout.COMMON` names them."""
        return {}

    @property
    def terms(self) -> tuple[Criterion, ...]:
        """The criteria that it follows in the null space."""
        return ()

    @property
    def rule(self) -> DampingRule | None:
        """Its damping rule."""
        return None

    @property
    def keeps_inequalities(self) -> bool:
        """Whether it keeps inequalities between joints, as it is set."""
        return False

    @property
    def in_levels(self) -> "Method":
        """What goes by levels and by a posture as this method goes by one level; the method itself, where none does."""
        return self

    @property
    def follows_posture(self) -> bool:
        """Whether it follows a PostureTask itself, as it is set."""
        return self.capabilities.posture

    @property
    def reads(self) -> Reads:
        """What functions of a user's in it read around them."""
        potentials = [term for term in self.terms if isinstance(term, Potential)]
        functions = [f for term in potentials for f in (term.gradient, term.hessian) if f is not None]
        routines = [getattr(used, "routine", None) for used in (self, self.rule)]
        return Reads(*functions, *(r.inner for r in routines if isinstance(r, Routine) and not r.cached))

    def refuse(self, case: Case) -> None:
        """Raises ValueError, with the way out, for a case that the capabilities do not tell of."""

    def prepare(self, case: Case) -> Prepared:
        """The routine and the settings that it reads; raises ValueError for a rule that needs more than errors."""
        rule = self.rule
        if rule is not None:
            refuse_all_but_errors(rule)
        return Prepared(self.routine, numbers_of(self), None if rule is None else rule.routine)

    def room(self, m: int, n: int) -> int:
        """The rows of `w.room` that it needs, with m residual rows and n velocities."""
        return 0

    def plan(self, case: Case) -> Plan:
        """What its kernel reads beside the problem."""
        return Plan()


_Method = TypeVar("_Method", bound=type[Method])


def method(kind: _Method) -> _Method:
    """Register a method under its short name and make its routine, which is compiled when it is first used.

    Raises TypeError for a class that is no method, ValueError for a name that another has.
    """
    if not isinstance(kind, type) or not issubclass(kind, Method) or "__dataclass_fields__" not in vars(kind):
        raise InvalidType(
            "not-a-method",
            f"{kind!r} is no method: derive it from Method or JacobianMethod and make it a frozen dataclass",
        )
    if not isinstance(getattr(kind, "name", None), str) or not isinstance(getattr(kind, "title", None), str):
        raise InvalidType(
            "not-a-method",
            f"{kind.__name__} has no name and title: add name: ClassVar[str] = ... and the same of title",
        )
    for name, make in (("step", stepping), ("update", updating)):
        home = next((base for base in kind.__mro__ if name in vars(base)), None)
        # A class that inherits its kernel reads it with settings of its own.
        if home is not None and (home is kind or record_of(home).fields != record_of(kind).fields):
            kernel = vars(home)[name]
            if not isinstance(kernel, staticmethod):
                raise InvalidType("own-function", f"{name} of {kind.__name__} must be a @staticmethod {name}(p, s, w)")
            made = make(kernel.__func__, record_of(kind), wide=kind.capabilities.characters)
            kind.routine = made.owned(kind, "routine")
    if not hasattr(kind, "routine") and kind.prepare is Method.prepare:
        raise InvalidType(
            "own-function",
            f"{kind.__name__} has no kernel: give it a step or an update as a @staticmethod of (p, s, w)",
        )
    METHODS.register(kind)
    return kind


def method_of(method: str | Method) -> Method:
    """A method, or the one of this short name with its defaults.

    Raises ValueError for a name that is none, with the nearest one; TypeError for what is no method.
    """
    if isinstance(method, str):
        if method not in METHODS:
            near = nearest_names(method, METHODS)
            hint = f"did you mean {' or '.join(map(repr, near))}? There are" if near else "there are"
            raise InvalidValue("unknown-word", f"no method {method!r}; {hint} {', '.join(METHODS)}")
        return METHODS[method]()
    if not isinstance(method, Method) or method.name not in METHODS:
        raise InvalidType(
            "not-a-method",
            f"method must be a short name such as 'dls', or a method such as DampedLeastSquares(), got {method!r}",
        )
    return method


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


@dataclass(frozen=True, kw_only=True)
class JacobianMethod(Method):
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
            raise InvalidType("wrong-type", f"max_error must be a number, a ClampMag or None, got {self.max_error!r}")
        one_of("jacobian", self.jacobian, ("effector", "target"))

    def common(self) -> dict[str, float]:
        """See `Method.common`."""
        clamp = self.max_error
        found: dict[str, float] = {"max_step": self.max_step, "at_target": self.jacobian == "target"}
        if clamp is None:
            return found
        if not isinstance(clamp, ClampMag):
            clamp = ClampMag(position=clamp, rotation=clamp)
        modes = {"constant": FIXED, "adaptive": ADAPTIVE, "buss_release": RELEASED}
        return found | {"clamp": modes[clamp.mode], "max_error": clamp.position, "max_turn": clamp.rotation}


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
            raise InvalidValue("empty", "null_space is empty; leave it out, or give None, for no term")
        for term in self.terms:
            if not isinstance(term, Criterion):
                raise InvalidType(
                    "wrong-type",
                    f"null_space must be a criterion such as RestPosture(), a tuple of them or None, got {term!r}",
                )
        kinds = [type(term) for term in self.terms]
        for kind in kinds:
            if kinds.count(kind) > 1:
                raise InvalidValue(
                    "too-many", f"null_space holds {kinds.count(kind)} of {kind.__name__}; make them one"
                )

    @property
    def terms(self) -> tuple[Criterion, ...]:
        """The criteria."""
        if self.null_space is None:
            return ()
        return self.null_space if isinstance(self.null_space, tuple) else (cast(Criterion, self.null_space),)

    def common(self) -> dict[str, float]:
        """See `Method.common`."""
        found = super().common() | {"null": len(self.terms) > 0}
        for term in self.terms:
            found[term.entry] = term.gain
            if isinstance(term, LimitDistance):
                found["limit_longest"] = term.longest
        return found
