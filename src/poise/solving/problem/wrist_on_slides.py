"""All solutions of six joints of which three that turn meet in a point, and of the others one at least slides.

Stanford's arm, cylindrical arms and gantries with a wrist, and the same from the tip to the base.  With E_i the
displacement of joint i and G that to the target, G c = E_1 E_2 E_3 c for the point c in which the last three axes meet,
and these three make what is then left of the rotation.

With one slide, s along h, what a turn leaves alone is a height and a distance; so

    alpha s = t_1,    s^2 + 2 s t_2 + t_3 = 0

with t_i linear in cosine and sine of the other turn: together a polynomial of degree two in it (Pieper 1968).  With two
slides their directions and what is left for them are dependent; three are linear.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.layout import PRISMATIC, REVOLUTE
from poise.model.axes import SPECIAL, Axes, leaning, meeting
from poise.solving.problem.parallel_axes import LEAST, zeros_on_circle
from poise.spatial import SO3

_SAMPLES: Final = 8
"""Of a polynomial of degree two."""
_DEGREE: Final = 2
_ALIKE: Final = 1e-6
"""Two that differ by no more are one [rad or m]."""
_ACROSS: Final = 1e-3
"""The cosine of the angle between a slide and an axis below which the polynomial's zeros fall together in pairs, and
have half of their digits at most."""
_NEWTON: Final = 4
"""Newton's steps at most, by which what has few digits gets them all."""
_TRIALS: Final = 3
"""Random configurations that must be among the solutions of their own poses."""


class _Line(Exception):
    """There is a line of solutions."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WristOnSlides:
    """Such an arm."""

    axes: Axes
    home: Array
    """(4, 4) pose of the frame where q is 0."""
    reverse: bool
    """Whether the first three axes meet, and the arm is taken from the tip."""
    centre: Array
    """(3,) where three axes meet."""

    @property
    def words(self) -> str:
        """What it is."""
        return "spherical shoulder with slides" if self.reverse else "spherical wrist with slides"

    @property
    def _taken(self) -> Axes:
        """Its axes, the three that meet the last."""
        return self.axes.from_tip if self.reverse else self.axes

    def candidates(self, pose: Array, tolerances: tuple[float, float]) -> tuple[Array, bool]:
        """(k, 6) all that solve a pose (4, 4) to within tolerances [m, rad], angles in no turn in particular.

        And whether some are of a line of solutions.
        """
        move = pose @ np.linalg.inv(self.home)
        move = np.linalg.inv(move) if self.reverse else move
        x, line, found = move[:3, :3] @ self.centre + move[:3, 3], False, list[Array]()
        try:
            for first in self._places(x, max(tolerances[0], LEAST)):
                for last, loose in self._wrist(first, move[:3, :3]):
                    line = line or loose
                    q = np.array([*first, *last])[:: -1 if self.reverse else 1] / self.axes.rates
                    if not any(self.alike(q, other) for other in found):
                        found.append(q)
        except _Line:
            return np.empty((0, 6)), True
        return np.array(found).reshape(-1, 6), line

    def alike(self, q: Array, other: Array) -> bool:
        """Whether two configurations are one, but for whole turns."""
        way = (q - other) * self.axes.rates
        turning = np.array(self.axes.kinds) == REVOLUTE
        way[turning] = np.arctan2(np.sin(way[turning]), np.cos(way[turning]))
        return bool(np.abs(way).max() < _ALIKE)

    def _places(self, x: Array, most: float) -> Iterator[Array]:
        """(3,) displacements of the first three joints that bring the centre to x, to `most` [m]."""
        kinds = self._taken.kinds[:3]
        turning = [i for i in range(3) if kinds[i] == REVOLUTE]
        for d in self._by_two_turns(x, kinds.index(PRISMATIC)) if len(turning) == 2 else self._by_slides(x, turning):
            y, columns = self._seen(d)
            for _ in range(_NEWTON):
                nearer = d + np.linalg.lstsq(columns, x - y, rcond=None)[0]
                there, turned = self._seen(nearer)
                if not np.linalg.norm(x - there) < np.linalg.norm(x - y):
                    break
                d, y, columns = nearer, there, turned
            if np.linalg.norm(x - y) < most:
                yield d

    def _seen(self, d: Array) -> tuple[Array, Array]:
        """(3,) where the first three joints at d (3,) bring the centre, and (3, 3) how each then moves it."""
        y, columns = self.centre, list[Array]()
        for i in (2, 1, 0):
            h, p = self._taken.h[i], self._taken.p[i]
            y = self._moved(i, d[i], y)
            columns = [self._carried(i, d[i], column) for column in columns]
            columns.append(h if self._taken.kinds[i] == PRISMATIC else np.cross(h, y - p))
        return y, np.column_stack(columns[::-1])

    def _moved(self, i: int, d: float, y: Array) -> Array:
        """A point that joint i has moved."""
        h, p = self._taken.h[i], self._taken.p[i]
        return y + d * h if self._taken.kinds[i] == PRISMATIC else p + _turned(h, d, y - p)

    def _by_slides(self, x: Array, turning: list[int]) -> Iterator[Array]:
        """Two or three slides: the angle of the turn, if there is one, at which they can make up for the rest."""
        sliding = [i for i in range(3) if i not in turning]

        def seen(angle: float) -> tuple[Array, Array]:
            """(3, m) the directions of the slides, and (3,) what is left for them."""
            d = np.zeros(3)
            d[turning] = angle
            y, columns = self._seen(d)
            return columns[:, sliding], x - y

        def lacking(angle: float) -> float:
            columns, left = seen(angle)
            return float(np.linalg.det(np.column_stack([columns, left])))

        for angle in _zeros(lacking) if turning else [0.0]:
            columns, left = seen(angle)
            d = np.zeros(3)
            d[turning], d[sliding] = angle, np.linalg.lstsq(columns, left, rcond=None)[0]
            yield d

    def _carried(self, i: int, d: float, h: Array) -> Array:
        """A direction that joint i has turned."""
        return h if self._taken.kinds[i] == PRISMATIC else _turned(self._taken.h[i], d, h)

    def _by_two_turns(self, x: Array, slide: int) -> Iterator[Array]:
        """Two turns and the slide of which this is the number."""
        h, p, start, end = self._taken.h[:3], self._taken.p[:3], self.centre, x
        if slide == 0:  # from the other end: E_3^-1 E_2^-1 E_1^-1 x = c
            h, p, start, end = -h[::-1], p[::-1], x, self.centre
        middle = slide == 1
        # What is asked of the known turn, and the axis of the other one.
        k, o = (h[0], p[0]) if middle else (h[1], p[1])
        along = h[1] if middle else h[2]

        def seen(angle: float) -> tuple[Array, Array]:
            """What the slide adds to, and what the other turn brings it to, from a point of its axis."""
            if middle:
                return p[2] + _turned(h[2], angle, start - p[2]) - o, end - o
            return start - o, p[0] + _turned(h[0], -angle, end - p[0]) - o

        def terms(angle: float) -> tuple[float, float, float]:
            z, y = seen(angle)
            return float(k @ (y - z)), float(along @ z), float(z @ z - y @ y)

        alpha = float(k @ along)
        found = list[tuple[float, float]]()
        if abs(alpha) > SPECIAL:

            def together(angle: float) -> float:
                t1, t2, t3 = terms(angle)
                return t1 * t1 + 2.0 * alpha * t1 * t2 + alpha * alpha * t3

            found += [(angle, terms(angle)[0] / alpha) for angle in _zeros(together)]
        if abs(alpha) < _ACROSS:
            for angle in _zeros(lambda angle: terms(angle)[0]):
                _, t2, t3 = terms(angle)
                root = max(t2 * t2 - t3, 0.0) ** 0.5
                found += [(angle, -t2 - root), (angle, -t2 + root)]
        for angle, s in found:
            z, y = seen(angle)
            other = _facing(k, z + s * along, y)
            if middle:
                yield np.array([other, s, angle])
            else:
                yield np.array([s, other, angle] if slide == 0 else [angle, other, s])

    def _wrist(self, first: Array, rotation: Array) -> Iterator[tuple[Array, bool]]:
        """(3,) angles of the three axes that meet, for a rotation (3, 3) of all; and whether they are of a line."""
        left, h = rotation, self._taken.h
        for i in range(3):
            left = np.column_stack([self._carried(i, -first[i], column) for column in left.T])
        m = left @ h[5]
        # h_4 . E_5 h_6 = h_4 . m; where it is a border of what can be, both angles are one.
        x = np.cross(h[4], h[5])
        rise, now = h[3] @ x, h[3] @ np.cross(x, h[4])
        size = np.hypot(rise, now)
        wanted = (h[3] @ m - (h[3] @ h[4]) * (h[4] @ h[5])) / size
        if abs(wanted) > 1.0 + LEAST:
            return
        middle, off = np.arctan2(rise, now), np.arccos(np.clip(wanted, -1.0, 1.0))
        for fifth in (middle + off, middle - off):
            to = _turned(h[4], fifth, h[5])
            loose = leaning(h[3], m) < LEAST
            fourth = 0.0 if loose else _facing(h[3], to, m)
            across = np.cross(h[5], h[4]) / np.linalg.norm(x)
            seen = _turned(h[4], -fifth, _turned(h[3], -fourth, left @ across))
            yield np.array([fourth, fifth, _facing(h[5], across, seen)]), loose


def wrist_on_slides(axes: Axes, home: Array) -> WristOnSlides | None:
    """What such an arm is; None if it is none, or has poses only with lines of solutions."""
    if len(axes.kinds) != 6:
        return None
    for reverse in (False, True):
        six = axes.from_tip if reverse else axes
        h, p = six.h[3:], six.p[3:]
        if PRISMATIC not in six.kinds[:3] or PRISMATIC in six.kinds[3:]:
            continue
        if min(leaning(h[0], h[1]), leaning(h[1], h[2])) <= SPECIAL:
            continue
        centre, far = meeting(h, p)
        form = WristOnSlides(axes=axes, home=home, reverse=reverse, centre=centre)
        if far <= SPECIAL * float(np.ptp(six.p, axis=0).max()) and _gives_back(form):
            return form
    return None


def _gives_back(form: WristOnSlides) -> bool:
    """Whether random configurations are among the solutions of their own poses."""
    for q in np.random.default_rng(0).uniform(-1.0, 1.0, (_TRIALS, 6)):
        found, line = form.candidates(_pose(form, q), (0.0, 0.0))
        if line or not any(form.alike(q, other) for other in found):
            return False
    return True


def _pose(form: WristOnSlides, q: Array) -> Array:
    """(4, 4) the pose of the frame at q (6,)."""
    out = np.eye(4)
    for h, p, d, kind in zip(form.axes.h, form.axes.p, form.axes.rates * q, form.axes.kinds, strict=True):
        move = np.eye(4)
        if kind == PRISMATIC:
            move[:3, 3] = d * h
        else:
            move[:3, :3] = SO3.from_rotvec(d * h).matrix()
            move[:3, 3] = p - move[:3, :3] @ p
        out = out @ move
    return np.asarray(out @ form.home)


def _zeros(function: Callable[[float], float]) -> list[float]:
    """Where a trigonometric polynomial of the second degree is 0."""
    values = np.array([function(2.0 * np.pi * i / _SAMPLES) for i in range(_SAMPLES)])
    found = zeros_on_circle(values, _DEGREE, LEAST)
    if found is None:
        raise _Line
    return found


def _turned(h: Array, angle: float, y: Array) -> Array:
    """A vector, turned about a unit vector."""
    c, s = np.cos(angle), np.sin(angle)
    return np.asarray(c * y + s * np.cross(h, y) + (1.0 - c) * (h @ y) * h)


def _facing(k: Array, p: Array, q: Array) -> float:
    """The turn about a unit vector that brings p to face q."""
    x, y = np.cross(k, p), np.cross(k, q)
    if min(float(x @ x), float(y @ y)) < LEAST * LEAST:
        raise _Line
    return float(np.arctan2(k @ np.cross(x, y), x @ y))
