"""How a joint follows another: a function of the other's position, piece by piece a polynomial up to degree four."""

import math
from collections.abc import Sequence
from typing import Any, Final, NoReturn, TypeAlias, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array, ArrayLike
from poise.common.cached import cached_property
from poise.common.checks import finite
from poise.common.errors import InvalidValue
from poise.model.splines import natural_cubic, simm_cubic
from poise.spatial import LARGEST, frozen

_DEGREE: Final = 4
Range: TypeAlias = tuple[float, float]


@final
class Pieces:
    """One function: rows (n, 7) `start, origin, c0 .. c4`; a piece is c0 + c1 t + ... + c4 t^4, t = x - origin.

    It serves all x from its start to that of the next; the first serves all x before that too.
    """

    def __init__(self, rows: Array) -> None:
        self.rows = frozen(rows)

    def at(self, x: Array, order: int) -> Array:
        """(...) the value (order 0) or a derivative at x (...)."""
        rows = self.rows[np.searchsorted(self.rows[1:, 0], x, side="right")]
        t, c = x - rows[..., 1], [rows[..., 2 + k] for k in range(_DEGREE + 1)]
        out = np.zeros_like(t)
        # Innermost first, as the kernel does, so that both give the same number.
        for k in range(_DEGREE, order - 1, -1):
            out = math.perm(k, order) * c[k] + t * out
        return out

    @cached_property
    def turns(self) -> Array:
        """The starts of pieces and where slopes are 0, sorted: between two neighbours it only rises or only falls."""
        return self._zeros(1)

    @cached_property
    def bends(self) -> Array:
        """The starts of pieces and where the curvature is 0, likewise of the slope."""
        return self._zeros(2)

    def _zeros(self, order: int) -> Array:
        ends = [-math.inf, *self.rows[1:, 0].tolist(), math.inf]
        found = ends[1:-1]
        for (_, origin, *c), low, high in zip(self.rows.tolist(), ends, ends[1:], strict=False):
            derivative = [math.perm(k, order) * c[k] for k in range(order, _DEGREE + 1)]
            roots = np.roots(derivative[::-1]) if np.any(derivative) else np.zeros(0)
            real = origin + roots.real[np.abs(roots.imag) <= 1e-6 * (1.0 + np.abs(roots))]
            found += real[(low < real) & (real < high)].tolist()
        return np.unique(found)

    def steepest(self, lower: float, upper: float) -> float:
        """The largest |slope| between two places."""
        return float(np.abs(self.at(_within(self.bends, lower, upper), 1)).max())


@final
class JointFunction:
    """The position of a joint as a function of that of the joint that it follows [rad or m].

    >>> bend = JointFunction.piecewise_linear([0, 1, 2], [0, 1, 3])
    >>> float(bend(1.5)), float(bend.derivative(1.5))
    (2.0, 2.0)

    Make one with `polynomial`, `natural_spline`, `simm_spline` or `piecewise_linear`, and give it to a `Mimic`.  It
    does not change, can be pickled, and is equal to one of the same numbers.
    """

    __slots__ = ("_stages",)
    _stages: tuple[Pieces, ...]

    def __init__(self, stages: Sequence[ArrayLike]) -> None:
        """For `repr` and pickles: rows of `Pieces` for each of the functions that are applied in turn."""
        object.__setattr__(self, "_stages", tuple(Pieces(np.array(rows, dtype=np.float64)) for rows in stages))

    @classmethod
    def polynomial(cls, coefficients: ArrayLike, *, origin: float = 0.0) -> "JointFunction":
        """c0 + c1 t + ... of t = x - `origin`, up to degree four, lowest first; raises ValueError for more than five.

        Of degree one it is a `Mimic`'s offset and multiplier.
        """
        given = _reals("coefficients", coefficients)
        if len(given) > _DEGREE + 1:
            raise InvalidValue(
                "out-of-range",
                f"a polynomial has up to {_DEGREE + 1} coefficients here, degree {_DEGREE}, got {len(given)}: take a "
                "spline through its points",
            )
        (start,) = _reals("origin", [origin])
        c = np.zeros(_DEGREE + 1)
        c[: len(given)] = given
        if not c[2:].any():
            c[0], start = c[0] - c[1] * start if start else c[0], 0.0
        return cls([[[-math.inf, start, *c]]])

    @classmethod
    def natural_spline(cls, x: ArrayLike, y: ArrayLike) -> "JointFunction":
        """The natural cubic spline through points, x (n,) increasing and y (n,); linear beyond them.

        Raises ValueError for fewer than two points, and for x that does not increase.
        """
        xs, ys = _points(x, y)
        return _joined(xs, ys, natural_cubic(xs, ys))

    @classmethod
    def simm_spline(cls, x: ArrayLike, y: ArrayLike) -> "JointFunction":
        """The cubic spline of SIMM and of OpenSim's SimmSpline through such points, linear beyond them."""
        xs, ys = _points(x, y)
        return _joined(xs, ys, simm_cubic(xs, ys))

    @classmethod
    def piecewise_linear(cls, x: ArrayLike, y: ArrayLike) -> "JointFunction":
        """Straight from each of such points to the next, and on beyond the last."""
        xs, ys = _points(x, y)
        slopes = np.diff(ys) / np.diff(xs)
        return _joined(xs, ys, np.column_stack([ys[:-1], slopes, np.zeros((len(slopes), 2))]))

    def __call__(self, x: ArrayLike) -> Array:
        """(...) the position where the joint that is followed is at `x` (...)."""
        return self._with_derivatives(x, 0)[0]

    def derivative(self, x: ArrayLike, order: int = 1) -> Array:
        """(...) its first or second derivative at `x` (...); where two pieces meet, that of the second."""
        if order not in (1, 2):
            raise InvalidValue("out-of-range", f"order must be 1 or 2, got {order!r}")
        return self._with_derivatives(x, order)[order]

    def after(self, inner: "JointFunction") -> "JointFunction":
        """This function of another one's value: of a joint that follows a follower."""
        one, other = self.linear, inner.linear
        if (1.0, 0.0) in (one, other) and None in (one, other):
            return self if one is None else inner
        if one is not None and other is not None:
            return JointFunction.polynomial([one[1] + one[0] * other[1], one[0] * other[0]])
        if one is not None and one[0] == 0.0:
            return self
        if other is not None and other[0] == 0.0:
            return JointFunction.polynomial([float(self(other[1]))])
        return _of((*inner._stages, *self._stages))

    @property
    def stages(self) -> tuple[Pieces, ...]:
        """The functions that are applied in turn."""
        return self._stages

    @property
    def linear(self) -> tuple[float, float] | None:
        """Its multiplier and offset, if it is a polynomial of degree one or less."""
        rows = self._stages[0].rows
        if len(self._stages) > 1 or len(rows) > 1 or rows[0, 4:].any():
            return None
        return float(rows[0, 3]), float(rows[0, 2])

    # Where it leads ----------------------------------------------------------------------------------------------

    def image(self, lower: float, upper: float) -> Range:
        """The least and the largest value between two places; infinite ones are taken as far as a number may be."""
        values = self(self._turns(*_bounded(lower, upper)))
        return float(values.min()), float(values.max())

    def steepest(self, lower: float, upper: float) -> float:
        """A bound of |slope| between two places: of one function the largest, of several a product of such."""
        found, low, high = 1.0, max(lower, -self.farthest), min(upper, self.farthest)
        for stage in self._stages:
            found *= stage.steepest(low, high)
            values = stage.at(_within(stage.turns, low, high), 0)
            low, high = float(values.min()), float(values.max())
        return found

    @property
    def straight(self) -> bool:
        """Whether it is linear beyond its ends, so that its slope is bounded."""
        return all(not stage.rows[[0, -1], 4:].any() for stage in self._stages)

    @property
    def farthest(self) -> float:
        """How far from 0 its argument may be, a power of two, for all values to be numbers with digits."""
        x = LARGEST
        while x > 1.0 and not max(map(abs, self._extremes(x))) <= LARGEST:
            x *= 0.5
        return x

    def preimage(self, least: float, most: float, lower: float, upper: float) -> Range | None:
        """Where from `lower` to `upper` its value is from `least` to `most`: an interval, of several that which is
        nearest to 0; None if there is none.

        Its ends are such places themselves; they are `lower` and `upper` where these are.
        """
        if (least, most) == (-math.inf, math.inf):
            return lower, upper
        low, high = _bounded(lower, upper)
        found = self._components(least, most, low, high)
        if not found:
            return None
        a, b = min(found, key=lambda ends: max(ends[0], -ends[1]))  # how far 0 is outside
        return (lower if a == low else a), (upper if b == high else b)

    def _components(self, least: float, most: float, low: float, high: float) -> list[Range]:
        """All intervals, in turn: on each stretch on which it only rises, or only falls, there is one or none."""
        found: list[Range] = []
        turns = self._turns(low, high)
        values = self(turns).tolist()
        if len(turns) == 1:
            turns, values = np.repeat(turns, 2), values * 2
        for a, b, at_a, at_b in zip(turns[:-1].tolist(), turns[1:].tolist(), values, values[1:], strict=False):
            if max(at_a, at_b) < least or min(at_a, at_b) > most:
                continue
            inside = [x for x, y in ((a, at_a), (b, at_b)) if least <= y <= most]
            if not inside:
                wanted = least if min(at_a, at_b) < least else most
                inside = [x for x in self._crossing(a, b, wanted, at_a < at_b) if least <= float(self(x)) <= most]
            if not inside:
                continue
            start = a if least <= at_a <= most else self._edge(inside[0], a, least, most)
            stop = b if least <= at_b <= most else self._edge(inside[-1], b, least, most)
            if found and found[-1][1] == start:
                found[-1] = found[-1][0], stop
            else:
                found.append((start, stop))
        return found

    def _crossing(self, a: float, b: float, value: float, rises: bool) -> Range:
        """Two neighbouring numbers between which it passes a value."""
        while a < (middle := a + 0.5 * (b - a)) < b and b - a > 1e-18:
            if (float(self(middle)) < value) == rises:
                a = middle
            else:
                b = middle
        return a, b

    def _edge(self, inside: float, outside: float, least: float, most: float) -> float:
        """The last number on the way from `inside` to `outside` where its value is in between."""
        while inside != (middle := inside + 0.5 * (outside - inside)) != outside and abs(outside - inside) > 1e-18:
            if least <= float(self(middle)) <= most:
                inside = middle
            else:
                outside = middle
        return inside

    def _turns(self, low: float, high: float) -> Array:
        """Places from `low` to `high` between which it only rises or only falls."""
        places, before = np.unique([low, high]), JointFunction.polynomial([0.0, 1.0])
        for k, stage in enumerate(self._stages):
            values, more = before(places).tolist(), list[float]()
            for a, b, at_a, at_b in zip(places[:-1].tolist(), places[1:].tolist(), values, values[1:], strict=False):
                bounds = sorted((at_a, at_b))
                between = stage.turns[(bounds[0] < stage.turns) & (stage.turns < bounds[1])]
                if k == 0:
                    more += between.tolist()
                else:
                    more += [x for value in between.tolist() for x in before._crossing(a, b, value, at_a < at_b)]
            places, before = np.unique([*places, *more]), _of(self._stages[: k + 1])
        return places

    def _extremes(self, far: float) -> list[float]:
        """The least and the largest values of each of the functions that are applied in turn, from -far to far."""
        found, (low, high) = list[float](), (-far, far)
        for stage in self._stages:
            values = stage.at(_within(stage.turns, low, high), 0)
            low, high = float(values.min()), float(values.max())
            found += [low, high]
        return found

    def _with_derivatives(self, x: ArrayLike, order: int) -> tuple[Array, Array, Array]:
        """Value, slope and curvature, as far as `order` asks for them."""
        value = np.array(x, dtype=np.float64)
        slope, curvature = np.ones_like(value), np.zeros_like(value)
        for stage in self._stages:
            if order:
                first = stage.at(value, 1)
                curvature = stage.at(value, 2) * slope * slope + first * curvature
                slope = first * slope
            value = stage.at(value, 0)
        return value, slope, curvature

    # One among others --------------------------------------------------------------------------------------------

    def _rows(self) -> list[list[list[float]]]:
        return [stage.rows.tolist() for stage in self._stages]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JointFunction) and self._rows() == other._rows()

    def __hash__(self) -> int:
        return hash(repr(self._rows()))

    def __repr__(self) -> str:
        return f"JointFunction({self._rows()!r})".replace("-inf", "-math.inf")

    def __reduce__(self) -> tuple[Any, ...]:
        return JointFunction, (self._rows(),)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"cannot set {name!r} of a JointFunction, which does not change: make another")


def _of(stages: Sequence[Pieces]) -> JointFunction:
    """The function of these, which keep what they know of themselves."""
    made = object.__new__(JointFunction)
    object.__setattr__(made, "_stages", tuple(stages))
    return made


def _joined(x: Array, y: Array, cubics: Array) -> JointFunction:
    """The pieces (n - 1, 4) between n points, and a line on either side."""
    count, length = len(cubics), x[-1] - x[-2]
    last = cubics[-1, 1] + length * (2.0 * cubics[-1, 2] + length * 3.0 * cubics[-1, 3])
    rows = np.zeros((count + 2, 7))
    rows[:, 0] = -math.inf, *x
    rows[:, 1] = x[0], *x
    rows[0, 2:4] = y[0], cubics[0, 1]
    rows[1:-1, 2:6] = cubics
    rows[-1, 2:4] = y[-1], last
    return JointFunction([rows])


def _points(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    xs, ys = _reals("x", x), _reals("y", y)
    if len(xs) != len(ys) or len(xs) < 2:
        raise InvalidValue("wrong-shape", f"x and y must be as many numbers, two or more, got {len(xs)} and {len(ys)}")
    if not (np.diff(xs) > 0.0).all():
        at = int(np.argmin(np.diff(xs) > 0.0))
        raise InvalidValue("out-of-range", f"x must increase, and x[{at + 1}] = {xs[at + 1]:g} follows {xs[at]:g}")
    return xs, ys


def _reals(name: str, values: ArrayLike) -> npt.NDArray[np.float64]:
    array = np.atleast_1d(np.asarray(values))
    if array.ndim != 1 or not array.size:
        raise InvalidValue("wrong-shape", f"{name} must be a list of numbers, got {values!r}")
    found = finite(name, array, array.size)
    if (np.abs(found) > LARGEST).any():
        raise InvalidValue("out-of-range", f"{name} must be numbers up to {LARGEST:.3g}, got {values!r}")
    return found


def _bounded(lower: float, upper: float) -> Range:
    return max(lower, -LARGEST), min(upper, LARGEST)


def _within(places: Array, lower: float, upper: float) -> Array:
    """`lower`, those of the sorted places that are in between, `upper`."""
    return np.array([lower, *places[(lower < places) & (places < upper)], upper])
