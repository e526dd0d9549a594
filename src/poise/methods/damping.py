"""Damping rules, as values that every damped method takes.

Each gives lambda squared, the number on the diagonal of J J^T + lambda^2 I; where a paper's own symbol is another,
the rule says so.  A rule that looks at the smallest singular value leaves out those that are zero in every pose, such
as the third row of a planar arm.
"""

from dataclasses import dataclass
from typing import ClassVar, TypeAlias, final

from poise.kernels.methods import settings as at
from poise.methods.base import not_negative, positive
from poise.spatial import Array


@final
@dataclass(frozen=True, slots=True)
class Constant:
    """lambda^2 = damping^2, always (Wampler 1986)."""

    damping: float
    """lambda."""

    def __post_init__(self) -> None:
        not_negative("damping", self.damping)

    def write(self, settings: Array) -> None:
        """Put the rule into the array."""
        settings[at.RULE], settings[at.RULE_A] = at.CONSTANT, self.damping**2


@final
@dataclass(frozen=True, slots=True)
class NakamuraHanafusa:
    """lambda^2 = k0 (1 - w / w0)^2 where the manipulability w = sqrt(det J J^T) is below w0, else 0.

    Source: Nakamura and Hanafusa 1986; k0 is theirs, and is lambda^2, not lambda.  w depends on the units, and does
    not tell which singular value is small.
    """

    k0: float = 0.01
    w0: float = 0.1

    def __post_init__(self) -> None:
        not_negative("k0", self.k0)
        positive("w0", self.w0)

    def write(self, settings: Array) -> None:
        """Put the rule into the array."""
        settings[at.RULE], settings[at.RULE_A], settings[at.RULE_B] = at.NAKAMURA, self.k0, self.w0


@dataclass(frozen=True, slots=True)
class _NumericalFiltering:
    """Damping of directions whose singular values are estimated."""

    epsilon: float = 0.1
    """sigma below which the damping begins."""
    max_damping: float = 0.1
    """lambda at sigma = 0."""
    floor: float = 1e-3
    """lambda of all directions; the estimate needs a little."""

    _code: ClassVar[int]

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        not_negative("max_damping", self.max_damping)
        positive("floor", self.floor)

    def write(self, settings: Array) -> None:
        """Put the rule into the array."""
        settings[at.RULE], settings[at.RULE_A] = self._code, self.epsilon
        settings[at.RULE_B], settings[at.RULE_C] = self.max_damping**2, self.floor**2


@final
@dataclass(frozen=True, slots=True)
class MaciejewskiKlein(_NumericalFiltering):
    """Numerical filtering: damp the direction of the smallest singular value alone, and that one is estimated.

    lambda^2 = floor^2 for all directions; the estimated one has (1 - (sigma / epsilon)^2) max_damping^2 more where
    sigma < epsilon.  One inverse iteration an update keeps the estimate, without a decomposition.
    Source: Maciejewski and Klein 1988, in the form of Chiaverini, Siciliano and Egeland 1994.
    """

    _code: ClassVar[int] = at.ESTIMATED


@final
@dataclass(frozen=True, slots=True)
class Chiaverini(_NumericalFiltering):
    """As MaciejewskiKlein, with the two smallest singular values estimated and damped (Chiaverini 1993)."""

    _code: ClassVar[int] = at.ESTIMATED_TWO


@final
@dataclass(frozen=True, slots=True)
class ChiaveriniSicilianoEgeland:
    """lambda^2 = (1 - (sigma_min / epsilon)^2) max_damping^2 where sigma_min < epsilon, else 0, for all directions.

    Source: Chiaverini, Siciliano and Egeland 1994.
    """

    epsilon: float = 0.1
    """sigma_min below which the damping begins."""
    max_damping: float = 0.1
    """lambda at sigma_min = 0."""

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        not_negative("max_damping", self.max_damping)

    def write(self, settings: Array) -> None:
        """Put the rule into the array."""
        settings[at.RULE], settings[at.RULE_A], settings[at.RULE_B] = at.SMALLEST, self.epsilon, self.max_damping**2


@final
@dataclass(frozen=True, slots=True)
class ChanLawrence:
    """lambda^2 = gain |e|^2 / 2 + floor^2: it vanishes with the error (Chan and Lawrence 1988)."""

    gain: float = 1.0
    floor: float = 1e-6
    """lambda at the target, so that a singular pose there is no division by zero."""

    def __post_init__(self) -> None:
        positive("gain", self.gain)
        not_negative("floor", self.floor)

    def write(self, settings: Array) -> None:
        """Put the rule into the array."""
        settings[at.RULE], settings[at.RULE_A], settings[at.RULE_B] = at.CHAN, self.gain, self.floor**2


@final
@dataclass(frozen=True, slots=True)
class Sugihara:
    """lambda^2 = |e|^2 / 2 + bias (Sugihara 2011; his w_n is this lambda^2)."""

    bias: float = 1e-4
    """lambda^2 at the target; 1e-2 to 1e-3 of the square of a link's length."""

    def __post_init__(self) -> None:
        positive("bias", self.bias)

    def write(self, settings: Array) -> None:
        """Put the rule into the array."""
        settings[at.RULE], settings[at.RULE_A] = at.SUGIHARA, self.bias


@final
@dataclass(frozen=True, slots=True)
class Curvature:
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

    def write(self, settings: Array) -> None:
        """Put the rule into the array."""
        settings[at.RULE], settings[at.RULE_A], settings[at.RULE_B] = at.CURVATURE, self.gain, self.floor**2


@final
@dataclass(frozen=True, slots=True)
class DeoWalker:
    """The least lambda^2 by which the step is no longer than `longest`, exactly (Deo and Walker 1992)."""

    longest: float = 0.2
    """Euclidean length of the step [rad]."""

    def __post_init__(self) -> None:
        positive("longest", self.longest)

    def write(self, settings: Array) -> None:
        """Put the rule into the array."""
        settings[at.RULE], settings[at.RULE_A] = at.TRUST, self.longest


@final
@dataclass(frozen=True, slots=True)
class MaxNorm:
    """The least lambda^2 that keeps the step within `longest` whatever the error's direction, from sigma_min and |e|.

    With d = |e| / longest it is 0 for sigma_min >= d, sigma_min (d - sigma_min) down to d / 2, and d^2 / 4 below.
    Source: Maciejewski and Klein 1988; Baerlocher 2001.
    """

    longest: float = 0.2
    """Euclidean length of the step [rad]."""

    def __post_init__(self) -> None:
        positive("longest", self.longest)

    def write(self, settings: Array) -> None:
        """Put the rule into the array."""
        settings[at.RULE], settings[at.RULE_A] = at.MAX_NORM, self.longest


@final
@dataclass(frozen=True, slots=True)
class RateBound:
    """lambda^2 by which neither the step nor the change of the damped inverse between updates exceeds a bound.

    lambda >= |e| / (2 longest), because |J*| <= 1 / (2 lambda); and lambda^2 >= 1.25 |dJ| / change, because
    |dJ*| <= 1.25 |dJ| / lambda^2.  In the spirit of Mayorga, Milano and Wong 1990, whose own bound it is not.
    """

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

    def write(self, settings: Array) -> None:
        """Put the rule into the array."""
        settings[at.RULE], settings[at.RULE_A] = at.RATE, self.longest
        settings[at.RULE_B], settings[at.RULE_C] = self.change, self.floor**2


@final
@dataclass(frozen=True, slots=True)
class GainRatio:
    """lambda^2 that shrinks where a step lowered the error as predicted and grows where it did not.

    It starts from the largest diagonal entry of J^T J; a step that raised the error is taken back.
    Source: Marquardt 1963; Nielsen 1999.
    """

    def write(self, settings: Array) -> None:
        """Put the rule into the array."""
        settings[at.RULE] = at.GAIN


DampingRule: TypeAlias = (
    Constant
    | NakamuraHanafusa
    | MaciejewskiKlein
    | Chiaverini
    | ChiaveriniSicilianoEgeland
    | ChanLawrence
    | Sugihara
    | Curvature
    | DeoWalker
    | MaxNorm
    | RateBound
    | GainRatio
)
Damping: TypeAlias = float | DampingRule
"""A rule, or lambda itself."""
_DECOMPOSED = (NakamuraHanafusa, ChiaveriniSicilianoEgeland, DeoWalker, MaxNorm)


def rule_of(damping: Damping, name: str = "damping") -> DampingRule:
    """The rule that `damping` is or means; raises ValueError or TypeError naming the argument."""
    if isinstance(damping, DampingRule):
        return damping
    if isinstance(damping, bool) or not isinstance(damping, (int, float)):
        raise TypeError(f"{name} must be lambda or a damping rule, got {damping!r}")
    not_negative(name, damping)
    return Constant(float(damping))


def needs_values(rule: DampingRule) -> bool:
    """Whether the rule reads the singular values."""
    return isinstance(rule, _DECOMPOSED)


def by_rows(rule: DampingRule) -> int:
    """METHOD of damped rows with a rule that needs no values."""
    return at.JUDGED if isinstance(rule, GainRatio) else at.DAMPED


def estimates(rule: DampingRule) -> bool:
    """Whether the rule estimates singular values and damps their directions alone."""
    return isinstance(rule, _NumericalFiltering)
