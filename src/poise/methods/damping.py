"""Damping rules, as values that every damped method takes.

Each gives lambda squared, the number on the diagonal of J J^T + lambda^2 I; where a paper's own symbol is another,
the rule says so.  A rule that looks at the smallest singular value leaves out those that are zero in every pose, such
as the third row of a planar arm.

A rule is a frozen dataclass with its kernel `lambda_squared(p, s, w)`, where `s` is its settings; `damping_rule`
registers it.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, TypeAlias, TypeVar, final

from poise.common.checks import not_negative, positive
from poise.common.errors import InvalidType, InvalidValue
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, select, splat, sqrt, store
from poise.kernels.machine.memory import FLOOR, FRESH, MU
from poise.kernels.methods import routines
from poise.kernels.methods.damping import curvature, damp_estimated, ranked, shaped, squared, trust
from poise.kernels.methods.routines import Routine
from poise.methods.records import record_of


class DampingRule:
    """What a damping rule derives from.

    Its `lambda_squared(p, s, w)` is a static function that Numba compiles, in both widths.
    """

    __slots__ = ()

    reads: ClassVar[Literal["errors", "values", "directions", "gain"]] = "errors"
    """What it needs.

    - "errors": `w.clamped`, the errors, and `w.jacobian`.
    - "values": the singular values `w.sigma` of the Jacobian, and `w.along`, the errors along its left singular
      vectors.
    - "directions": it damps each singular direction apart.  Where the singular values are known, it writes the lambda^2
      of each into `w.y`, and what all have into row FLOOR of `w.memory`; else its `lambda_squared_of_rows` adds to
      `w.matrix`, J J^T.
    - "gain": how well the last step was predicted; a step that raised the error is taken back.
    """
    references: ClassVar[tuple[str, ...]] = ()
    """Keys in `references.bib`; none for a rule that no paper has."""
    routine: ClassVar[Routine]
    """The kernel, compiled; `damping_rule` makes it."""
    routine_of_rows: ClassVar[Routine]
    """The same of `lambda_squared_of_rows`."""


_Rule = TypeVar("_Rule", bound=type[DampingRule])
RULES: Final[dict[str, type[DampingRule]]] = {}
"""The rules by the names of their classes."""


def damping_rule(kind: _Rule) -> _Rule:
    """Register a damping rule and make its routine, which is compiled when it is first used.

    Raises TypeError for a class that is no rule, ValueError for a name that another has.
    """
    made = isinstance(kind, type) and issubclass(kind, DampingRule) and vars(kind).get("__dataclass_params__")
    if not made or not made.frozen:
        raise InvalidType(
            "wrong-type", f"{kind!r} is no damping rule: derive it from DampingRule and make it a frozen dataclass"
        )
    function: Callable[..., Any] | None = getattr(kind, "lambda_squared", None)
    if function is None:
        raise InvalidType(
            "own-function", f"{kind.__name__} has no kernel: give it a @staticmethod lambda_squared(p, s, w)"
        )
    other = RULES.get(kind.__name__)
    if other is not None and (other.__module__, other.__qualname__) != (kind.__module__, kind.__qualname__):
        raise InvalidValue(
            "duplicate", f"{kind.__name__} is a damping rule of {other.__module__} already: choose another name"
        )
    kind.routine = routines.damping(function, record_of(kind)).owned(kind, "routine")
    if hasattr(kind, "lambda_squared_of_rows"):
        made_of_rows = routines.damping(kind.lambda_squared_of_rows, record_of(kind))
        kind.routine_of_rows = made_of_rows.owned(kind, "routine_of_rows")
    RULES[kind.__name__] = kind
    return kind


@damping_rule
@final
@dataclass(frozen=True, slots=True)
class Constant(DampingRule):
    """lambda^2 = damping^2, always (Wampler 1986)."""

    references = ("wampler1986",)

    damping: float
    """lambda."""

    def __post_init__(self) -> None:
        not_negative("damping", self.damping)

    @staticmethod
    def lambda_squared(p: Any, s: Any, w: Any) -> Any:
        """See the class."""
        return splat(w.e, s.damping * s.damping)


@damping_rule
@final
@dataclass(frozen=True, slots=True)
class NakamuraHanafusa(DampingRule):
    """lambda^2 = k0 (1 - w / w0)^2 where the manipulability w = sqrt(det J J^T) is below w0, else 0.

    Source: Nakamura and Hanafusa 1986; k0 is theirs, and is lambda^2, not lambda.  w depends on the units, and does
    not tell which singular value is small.
    """

    reads = "values"
    references = ("nakamura1986",)

    k0: float = 0.01
    w0: float = 0.1

    def __post_init__(self) -> None:
        not_negative("k0", self.k0)
        positive("w0", self.w0)

    @staticmethod
    def lambda_squared(p: Any, s: Any, w: Any) -> Any:
        """See the class."""
        low, product = ranked(w.sigma, p.common[0].dependent), splat(w.e, 1.0)
        for i in range(len(w.sigma)):
            x = load(w.sigma, i)
            product = product * select(x < low, 1.0, x)
        rest = 1.0 - product * (1.0 / s.w0)
        return select(rest > 0.0, rest * rest * s.k0, 0.0)


@dataclass(frozen=True, slots=True)
class _NumericalFiltering(DampingRule):
    """Damping of directions whose singular values are estimated."""

    reads = "directions"

    epsilon: float = 0.1
    """sigma below which the damping begins."""
    max_damping: float = 0.1
    """lambda at sigma = 0."""
    floor: float = 1e-3
    """lambda of all directions; the estimate needs a little."""

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        not_negative("max_damping", self.max_damping)
        positive("floor", self.floor)


@functools.partial(kernel, inline=True)
def _damp_lowest(p: Any, s: Any, w: Any, more: float) -> Any:
    """lambda^2 of the smallest singular value; those of it and of so many `more` go to w.y, and the floor of all."""
    dependent, most = p.common[0].dependent, s.max_damping * s.max_damping
    last = ranked(w.sigma, dependent + more)
    for i in range(len(w.sigma)):
        sigma = load(w.sigma, i)
        store(w.y, i, select(sigma <= last, shaped(sigma, s.epsilon, most), 0.0))
    store(w.memory, FLOOR, s.floor * s.floor)
    return shaped(ranked(w.sigma, dependent), s.epsilon, most) + s.floor * s.floor


@functools.partial(kernel, inline=True)
def _damp_rows(s: Any, w: Any, two: bool) -> Any:
    """The same, the singular values being estimated and the damping of their directions added to w.matrix."""
    floor = s.floor * s.floor
    store(w.memory, FLOOR, floor)
    return damp_estimated(w, two, s.epsilon, s.max_damping * s.max_damping, floor) + floor


@damping_rule
@final
@dataclass(frozen=True, slots=True)
class MaciejewskiKlein(_NumericalFiltering):
    """Numerical filtering: damp the direction of the smallest singular value alone, and that one is estimated.

    lambda^2 = floor^2 for all directions; the estimated one has (1 - (sigma / epsilon)^2) max_damping^2 more where
    sigma < epsilon.  One inverse iteration an update keeps the estimate, without a decomposition.
    Source: Maciejewski and Klein 1988, in the form of Chiaverini, Siciliano and Egeland 1994.
    """

    references = ("maciejewski1988", "chiaverini1994")

    @staticmethod
    def lambda_squared(p: Any, s: Any, w: Any) -> Any:
        """See the class."""
        return _damp_lowest(p, s, w, 0.0)

    @staticmethod
    def lambda_squared_of_rows(p: Any, s: Any, w: Any) -> Any:
        """lambda^2 of the smallest, which is added to J J^T."""
        return _damp_rows(s, w, False)


@damping_rule
@final
@dataclass(frozen=True, slots=True)
class Chiaverini(_NumericalFiltering):
    """As MaciejewskiKlein, with the two smallest singular values estimated and damped (Chiaverini 1993)."""

    references = ("chiaverini1993",)

    @staticmethod
    def lambda_squared(p: Any, s: Any, w: Any) -> Any:
        """See the class."""
        return _damp_lowest(p, s, w, 1.0)

    @staticmethod
    def lambda_squared_of_rows(p: Any, s: Any, w: Any) -> Any:
        """lambda^2 of the smallest, which is added to J J^T."""
        return _damp_rows(s, w, True)


@damping_rule
@final
@dataclass(frozen=True, slots=True)
class ChiaveriniSicilianoEgeland(DampingRule):
    """lambda^2 = (1 - (sigma_min / epsilon)^2) max_damping^2 where sigma_min < epsilon, else 0, for all directions.

    Source: Chiaverini, Siciliano and Egeland 1994.
    """

    reads = "values"
    references = ("chiaverini1994",)

    epsilon: float = 0.1
    """sigma_min below which the damping begins."""
    max_damping: float = 0.1
    """lambda at sigma_min = 0."""

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        not_negative("max_damping", self.max_damping)

    @staticmethod
    def lambda_squared(p: Any, s: Any, w: Any) -> Any:
        """See the class."""
        return shaped(ranked(w.sigma, p.common[0].dependent), s.epsilon, s.max_damping * s.max_damping)


@damping_rule
@final
@dataclass(frozen=True, slots=True)
class ChanLawrence(DampingRule):
    """lambda^2 = gain |e|^2 / 2 + floor^2: it vanishes with the error (Chan and Lawrence 1988)."""

    references = ("chan1988",)

    gain: float = 1.0
    floor: float = 1e-6
    """lambda at the target, so that a singular pose there is no division by zero."""

    def __post_init__(self) -> None:
        positive("gain", self.gain)
        not_negative("floor", self.floor)

    @staticmethod
    def lambda_squared(p: Any, s: Any, w: Any) -> Any:
        """See the class."""
        return (0.5 * s.gain) * squared(w.clamped) + s.floor * s.floor


@damping_rule
@final
@dataclass(frozen=True, slots=True)
class Sugihara(DampingRule):
    """lambda^2 = |e|^2 / 2 + bias (Sugihara 2011; his w_n is this lambda^2)."""

    references = ("sugihara2011",)

    bias: float = 1e-4
    """lambda^2 at the target; 1e-2 to 1e-3 of the square of a link's length."""

    def __post_init__(self) -> None:
        positive("bias", self.bias)

    @staticmethod
    def lambda_squared(p: Any, s: Any, w: Any) -> Any:
        """See the class."""
        return 0.5 * squared(w.clamped) + s.bias


@damping_rule
@final
@dataclass(frozen=True, slots=True)
class Curvature(DampingRule):
    """lambda^2 = gain H + floor^2, H a bound of what the linear model lacks: out of reach nothing shakes.

    The Hessian of |e|^2 / 2 is J^T J - sum e_k Hess f_k, and damped Gauss-Newton settles at a stationary point if
    lambda^2 is more than half of what J^T J lacks there.  The second derivative by joints i <= j along a chain is no
    longer than column j, so H^2 = sum_j (2 depth_j - 1) (sum over effectors of |e| |J_j|)^2 bounds it.  In metres and
    radians no number has to be found, and lambda^2, proportional to |e|, lets convergence be quadratic (Fan and Yuan
    2005).
    """

    gain: float = 0.5
    """0.5 is enough for any error; with the errors clamped to 0.2, 0.2 and less were."""
    floor: float = 1e-6
    """lambda at the target, so that a singular pose there is no division by zero."""

    def __post_init__(self) -> None:
        positive("gain", self.gain)
        not_negative("floor", self.floor)

    @staticmethod
    def lambda_squared(p: Any, s: Any, w: Any) -> Any:
        """See the class."""
        return s.gain * curvature(p, w) + s.floor * s.floor


@damping_rule
@final
@dataclass(frozen=True, slots=True)
class DeoWalker(DampingRule):
    """The least lambda^2 by which the step is no longer than `longest`, exactly (Deo and Walker 1992)."""

    reads = "values"
    references = ("deowalker1992",)

    longest: float = 0.2
    """Euclidean length of the step [rad]."""

    def __post_init__(self) -> None:
        positive("longest", self.longest)

    @staticmethod
    def lambda_squared(p: Any, s: Any, w: Any) -> Any:
        """See the class."""
        return trust(w.sigma, w.along, s.longest)


@damping_rule
@final
@dataclass(frozen=True, slots=True)
class MaxNorm(DampingRule):
    """The least lambda^2 that keeps the step within `longest` whatever the error's direction, from sigma_min and |e|.

    With d = |e| / longest it is 0 for sigma_min >= d, sigma_min (d - sigma_min) down to d / 2, and d^2 / 4 below.
    Source: Maciejewski and Klein 1988; Baerlocher 2001.
    """

    reads = "values"
    references = ("maciejewski1988", "baerlocher2001")

    longest: float = 0.2
    """Euclidean length of the step [rad]."""

    def __post_init__(self) -> None:
        positive("longest", self.longest)

    @staticmethod
    def lambda_squared(p: Any, s: Any, w: Any) -> Any:
        """See the class."""
        low, d = ranked(w.sigma, p.common[0].dependent), sqrt(squared(w.along)) * (1.0 / s.longest)
        return select(low >= d, 0.0, select(low >= 0.5 * d, low * (d - low), 0.25 * d * d))


@damping_rule
@final
@dataclass(frozen=True, slots=True)
class RateBound(DampingRule):
    """lambda^2 by which neither the step nor the change of the damped inverse between updates exceeds a bound.

    lambda >= |e| / (2 longest), because |J*| <= 1 / (2 lambda); and lambda^2 >= 1.25 |dJ| / change, because
    |dJ*| <= 1.25 |dJ| / lambda^2.  In the spirit of Mayorga, Milano and Wong 1990, whose own bound it is not.
    """

    references = ("mayorga1990",)

    longest: float = 0.2
    """Euclidean length of the step [rad]."""
    change: float = 100.0
    """Largest change of the damped inverse, as a matrix norm [1/m]."""
    floor: float = 1e-4
    """The least lambda."""

    def __post_init__(self) -> None:
        positive("longest", self.longest)
        positive("change", self.change)
        not_negative("floor", self.floor)

    @staticmethod
    def lambda_squared(p: Any, s: Any, w: Any) -> Any:
        """See the class."""
        change = splat(w.e, 0.0)
        for i in range(len(w.jacobian)):
            x = load(w.jacobian, i) - load(w.last_jacobian, i)
            change = change + x * x
            store(w.last_jacobian, i, load(w.jacobian, i))
        bound = (1.25 / s.change) * sqrt(select(load(w.memory, FRESH) < 0.5, 0.0, change))
        least = (0.25 / (s.longest * s.longest)) * squared(w.clamped)
        return select(bound > least, bound, least) + s.floor * s.floor


@damping_rule
@final
@dataclass(frozen=True, slots=True)
class GainRatio(DampingRule):
    """lambda^2 that shrinks where a step lowered the error as predicted and grows where it did not.

    It starts from the largest diagonal entry of J^T J; a step that raised the error is taken back.
    Source: Marquardt 1963; Nielsen 1999.
    """

    reads = "gain"
    references = ("marquardt1963", "nielsen1999")

    @staticmethod
    def lambda_squared(p: Any, s: Any, w: Any) -> Any:
        """See the class."""
        return load(w.memory, MU)


Damping: TypeAlias = float | DampingRule
"""A rule, or lambda itself."""


def rule_of(damping: Damping, name: str = "damping") -> DampingRule:
    """The rule that `damping` is or means; raises ValueError or TypeError naming the argument."""
    if isinstance(damping, DampingRule):
        return damping
    if isinstance(damping, bool) or not isinstance(damping, (int, float)):
        raise InvalidType("wrong-type", f"{name} must be lambda or a damping rule, got {damping!r}")
    not_negative(name, damping)
    return Constant(float(damping))


def refuse_all_but_errors(rule: DampingRule) -> None:
    """Raises ValueError for a rule that reads more than errors and Jacobian."""
    if rule.reads != "errors":
        raise InvalidValue(
            "not-supported", f"damping is {rule!r}; here it must be lambda, or a rule that looks at the error alone"
        )
