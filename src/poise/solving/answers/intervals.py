"""All solutions of an arm with one joint too many, as intervals of the joint that is swept.

The configurations of seven joints that reach one pose are curves, its self-motion manifolds (Burdick 1989, "On the
inverse kinematics of redundant manipulators").  Each is followed by steps along the null space of the Jacobian, from
which Newton's steps lead back to it, past the places where the swept joint turns back.  Then it is cut there, for two
branches meet, and where a joint reaches a limit; between two cuts the swept joint goes one way.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias, final

import numpy as np

from poise.common.array import Array

Rows: TypeAlias = Callable[[Array], tuple[Array, Array]]
"""Residual (n - 1,) and Jacobian (n - 1, n) of n joints (n,)."""

_LONGEST: Final = 0.15
"""Step along a curve [rad or m]."""
_SHORTEST: Final = 1e-5
"""A step that is shorter leads nowhere."""
_BEND: Final = 0.97
"""Cosine of the angle by which a curve may turn within a step."""
_MOST: Final = 20_000
"""Steps of a curve."""
_SINGULAR: Final = 1e-7
"""The least singular value over the largest, where curves meet."""
_NEWTON: Final = 8
_RESTED: Final = 1e-11
"""Newton's steps at most, and a step after which what is left is rounding [rad or m]."""
_PARTS: Final = 16
"""Of a step, between which signs are compared."""
_ON_CURVE: Final = 0.02
"""Solutions that are no farther from a curve lie on it [rad or m]."""
_ROUNDING: Final = 1e-9
"""A joint that is beyond its limit by no more than this stands at it [rad or m]."""
_CUT: Final = 1e-13
"""Share of a step to which a cut is known."""

_STUCK: Final = "a singular configuration"
_MEET: Final = "two branches meet"
_ROUND: Final = "a whole turn"
"""What ends an interval, but for limits."""


@final
@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Interval:
    """Values of a swept joint, for each of which there is a solution, and these solutions go over into one another."""

    swept: str
    """The coordinate that is swept."""
    q: Array
    """(k, nq) solutions, from the one at the least value to the one at the largest; the ends among them."""
    low: float
    high: float
    """The least and the largest value [rad or m]: to 1e-9 where the arm's size is a metre."""
    ends: tuple[str, str]
    """What is at the least and at the largest: "two branches meet", "NAME at its upper limit" or lower, "a singular
    configuration", or "a whole turn" where the joint goes round."""

    def __repr__(self) -> str:
        return f"Interval({self.swept} from {self.low:.6g}, {self.ends[0]}, to {self.high:.6g}, {self.ends[1]})"


class Joints(NamedTuple):
    """The joints of a curve."""

    names: tuple[str, ...]
    turns: Array
    """(n,) what makes a whole turn of each, inf of a slide."""
    lower: Array
    upper: Array
    swept: int

    def wrapped(self, x: Array) -> Array:
        """(..., n) differences as whole turns bring them nearest to 0."""
        return x - np.where(np.isfinite(self.turns), self.turns, 0.0) * np.rint(x / self.turns)

    def margins(self, x: Array) -> Array:
        """(..., n) how far each is within its limits, or whole turns of it are; inf where all of a turn is."""
        bounded = self.upper - self.lower < self.turns
        lower, upper = np.where(bounded, self.lower, 0.0), np.where(bounded, self.upper, 0.0)
        half = np.where(bounded, 0.5 * (upper - lower), np.inf)
        return half - np.abs(self.wrapped(x - 0.5 * (lower + upper)))

    def brought(self, x: Array, rest: Array) -> Array:
        """(k, n) a way, as whole turns bring its middle nearest to `rest` (n,) and all of it within the limits."""
        finite, edge = np.isfinite(self.turns), _ROUNDING
        turns = np.where(finite, self.turns, 1.0)
        first, last = (self.lower - edge - x.min(axis=0)) / turns, (self.upper + edge - x.max(axis=0)) / turns
        many = np.minimum(np.maximum(np.rint((rest - x[len(x) // 2]) / turns), np.ceil(first)), np.floor(last))
        x = x + np.where(finite, many * turns, 0.0)
        # What is longer than the range comes back into it a whole turn off.
        below, above = np.ceil((self.lower - edge - x) / turns), np.ceil((x - self.upper - edge) / turns)
        x = x + np.where(finite, (np.maximum(below, 0.0) - np.maximum(above, 0.0)) * turns, 0.0)
        return np.asarray(np.clip(x, self.lower, self.upper))


class _Curve(NamedTuple):
    """A self-motion, followed."""

    points: Array
    """(k, n), the last the first again, but for whole turns, if it is closed."""
    ways: Array
    """(k, n) unit tangents."""
    ends: tuple[str, str] | None
    """What ends it; None if it is closed."""

    def parts(self, at: Array) -> tuple[Array, Array]:
        """(m, n) points and tangents at positions (m,), steps from the first: cubics between the points."""
        k = np.minimum(at.astype(int), len(self.points) - 2)
        u, one, two = (at - k)[:, None], self.points[k], self.points[k + 1]
        length = np.linalg.norm(two - one, axis=1)[:, None]
        a, b = length * self.ways[k], length * self.ways[k + 1]
        x = one + u * (a + u * ((3.0 - 2.0 * u) * (two - one) - (2.0 - u) * a - (1.0 - u) * b))
        way = a + u * (6.0 * (1.0 - u) * (two - one) - (4.0 - 3.0 * u) * a - (2.0 - 3.0 * u) * b)
        return x, way


def intervals(rows: Rows, joints: Joints, solutions: Array, rest: Array) -> list[tuple[Array, tuple[str, str]]]:
    """Of each interval the joints (k, n), the swept one rising, and what is at its ends.

    `solutions` (m, n), within the limits or not, have one of each curve at least; those of a line of solutions lead
    nowhere.  Joints come as whole turns bring them near to `rest` (n,).
    """
    left, found = solutions, list[tuple[Array, tuple[str, str]]]()
    while len(left):
        curve = _followed(rows, joints, left[0])
        left = left[1:]
        if curve is not None:
            grid = curve.parts(np.arange(_PARTS * (len(curve.points) - 1) + 1) / _PARTS)[0]
            far = [np.abs(joints.wrapped(grid - x)).max(axis=1).min() > _ON_CURVE for x in left]
            left = left[np.array(far, dtype=bool)] if len(left) else left
            found += _pieces(rows, joints, curve, rest)
    return found


def _settled(rows: Rows, x: Array) -> tuple[Array, Array] | None:
    """The point of a curve that Newton's steps lead to from x, and a unit tangent; None where there is none."""
    for _ in range(_NEWTON):
        e, jacobian = rows(x)
        u, s, v = np.linalg.svd(jacobian)
        if not s[-1] > _SINGULAR * s[0]:
            return None
        step = ((u.T @ e) / s) @ v[:-1]
        x = x + step
        if np.abs(step).max() < _RESTED:
            return x, v[-1]
    return None


def _followed(rows: Rows, joints: Joints, x: Array) -> _Curve | None:
    """The curve through a solution."""
    begin = _settled(rows, x)
    if begin is None:
        return None
    points, ways, end = _one_way(rows, joints, *begin)
    if end is None:
        return _Curve(points, ways, None)
    back, turned, other = _one_way(rows, joints, begin[0], -begin[1])
    return _Curve(np.concatenate([back[:0:-1], points]), np.concatenate([-turned[:0:-1], ways]), (other or _STUCK, end))


def _one_way(rows: Rows, joints: Joints, x: Array, way: Array) -> tuple[Array, Array, str | None]:
    """Points and tangents from x on, and what ends them; None where they come back to x."""
    points, ways, step, swept = [x], [way], 0.3 * _LONGEST, joints.swept
    while len(points) < _MOST:
        x, way = points[-1], ways[-1]
        found = _settled(rows, x + step * way)
        ahead = None if found is None else found[1] * np.sign(found[1] @ way)
        if found is None or ahead is None or ahead @ way < _BEND or np.linalg.norm(found[0] - x) > 1.5 * step:
            step *= 0.5
            if step < _SHORTEST:
                return np.array(points), np.array(ways), _STUCK
            continue
        home, passed = joints.wrapped(points[0] - x), joints.wrapped(points[0] - found[0])
        around = home @ way > 0.0 >= passed @ ahead and ways[0] @ way > _BEND
        if around and len(points) > 2 and np.linalg.norm(home) < 1.5 * step:
            return np.array([*points, x + home]), np.array([*ways, ways[0]]), None
        points.append(found[0])
        ways.append(ahead)
        if np.isinf(joints.turns[swept]) and not joints.lower[swept] <= found[0][swept] <= joints.upper[swept]:
            break
        step = min(1.3 * step, _LONGEST)
    return np.array(points), np.array(ways), _STUCK


def _pieces(rows: Rows, joints: Joints, curve: _Curve, rest: Array) -> list[tuple[Array, tuple[str, str]]]:
    """What is left of a curve between its cuts, within the limits; see `intervals`."""
    cuts, last = _cuts(rows, joints, curve), float(len(curve.points) - 1)
    if curve.ends is not None:
        cuts = [(0.0, curve.ends[0]), *cuts, (last, curve.ends[1])]
    elif cuts:
        cuts = [*cuts, (cuts[0][0] + last, cuts[0][1])]
    else:
        cuts = [(0.0, _ROUND), (last, _ROUND)]
    turn, found = curve.points[-1] - curve.points[0], []
    for (start, one), (end, other) in pairwise(cuts):
        nodes = np.arange(np.floor(start) + 1.0, np.ceil(end))
        at = np.array([start, *np.sort([*nodes, 0.5 * (start + end)]), end])
        beyond = (at > last)[:, None] if curve.ends is None else np.zeros((len(at), 1))
        guesses = curve.parts(np.where(at > last, at - last, at))[0] + beyond * turn
        settled = [_settled(rows, guess) for guess in guesses]
        x = np.array([guess if point is None else point[0] for guess, point in zip(guesses, settled, strict=True)])
        if not joints.margins(x[len(x) // 2]).min() > 0.0:
            continue
        ends = (one, other)
        if x[-1, joints.swept] < x[0, joints.swept]:
            x, ends = x[::-1], (other, one)
        found.append((joints.brought(x, rest), ends))
    return found


def _cuts(rows: Rows, joints: Joints, curve: _Curve) -> list[tuple[float, str]]:
    """Where a joint reaches a limit or the swept one turns back: positions in order, and what is there."""
    at = np.arange(_PARTS * (len(curve.points) - 1) + 1) / _PARTS
    x, way = curve.parts(at)
    signs = np.column_stack([joints.margins(x), way[:, joints.swept]]) > 0.0
    cuts = []
    for cell, which in np.argwhere(signs[1:] != signs[:-1]):

        def value(position: float, which: int = int(which)) -> float:
            """The margin of a joint at a position, or where the swept one goes."""
            guess, along = curve.parts(np.array([position]))
            settled = _settled(rows, guess[0])
            point, tangent = (guess[0], along[0]) if settled is None else settled
            if which < len(point):
                return float(joints.margins(point)[which])
            return float(tangent[joints.swept] * np.sign(tangent @ along[0]))

        # A sign that only the cubics see differs on the curve a cell further, at most.
        bracket = max(at[cell] - 1.0 / _PARTS, at[0]), min(at[cell + 1] + 1.0 / _PARTS, at[-1])
        position = next(
            (p for ends in ((at[cell], at[cell + 1]), bracket) if (p := _zero(value, *ends)) is not None), None
        )
        if position is None:
            continue
        if which == x.shape[1]:
            cuts.append((position, _MEET))
        else:
            centre = 0.5 * (joints.lower[which] + joints.upper[which])
            above = joints.wrapped(x[cell] - centre)[which] > 0.0
            cuts.append((position, f"{joints.names[which]} at its {'upper' if above else 'lower'} limit"))
    return sorted(cuts)


def _zero(value: Callable[[float], float], a: float, b: float) -> float | None:
    """Where a function changes its sign between a and b: by the rule of Illinois; None if it does not."""
    f, g = value(a), value(b)
    if (f > 0.0) == (g > 0.0):
        return None
    for _ in range(60):
        c = (a * g - b * f) / (g - f) if g != f else 0.5 * (a + b)
        h = value(c)
        if h == 0.0 or abs(b - a) < _CUT:
            return c
        if (h > 0.0) == (g > 0.0):
            b, g, f = c, h, 0.5 * f
        else:
            a, f, b, g = b, g, c, h
        if abs(h) < _CUT:
            return c
    return b
