"""Forward kinematics of a mechanism: its motors stand where they are told to, and all other joints where loops close.

The motors are led from where they are at the start to where they shall be, the others after them by Newton's steps, so
that what is found is put together as the start is.  A way that ends at a dead point is given up, and other starts are
tried: what closes there may be another assembly of the same links.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array, ArrayLike
from poise.common.checks import finite, whole
from poise.common.errors import InvalidValue, ShapeError
from poise.model.mechanism import RANK, loop_rows, motors

if TYPE_CHECKING:
    from poise.model.model import Model

EXACT: Final = 1e-10
"""Loops that are open by no more are closed [m or rad]."""
_AIM: Final = 1e-14
"""Newton's steps go on down to this, as long as they gain."""
_STEPS: Final = 40
"""Newton's steps, at most."""
_LONGEST: Final = 0.5
"""The longest of them [rad or m]."""
_SHARE: Final = 0.1
_LEAST: Final = 1e-3
"""How far motors are led at once, and what of that is tried before a way is given up [rad or m]."""
_ALIKE: Final = 1e-6
"""Assemblies whose links all stand so near to each other are one [m]."""
_BEYOND: Final = 1e-9
"""What rounding may take a joint beyond its limit."""


@final
@dataclass(frozen=True)
class Assembly:
    """Where a mechanism stands with its motors at given positions."""

    q: Array
    """(nq,) the configuration: closed where it is a `success`, else the nearest to closed that was found."""
    gap: float
    """How far the worst loop is open [m or rad]."""
    kept: bool
    """Whether it is the assembly of the start: motors led there pass no dead point."""
    message: str
    """What it is, in a sentence."""
    beyond: tuple[str, ...] = ()
    """The coordinates that would have to leave their limits."""

    @property
    def success(self) -> bool:
        """Whether all loops are closed, to 1e-10 m and rad, within the limits of all joints."""
        return self.gap <= EXACT and not self.beyond


@final
class Closer:
    """The search of a model and its motors."""

    def __init__(self, model: "Model", actuated: Sequence[str] | None) -> None:
        self.model, self.motors = model, motors(model, actuated)
        if not model.loops:
            raise InvalidValue("needs", f"{model.name} has no loops to close: state them, as model.with_loops does")
        self.places = _places(model.index(name) for name in self.motors)
        driven = _places(model.velocity_index(name) for name in self.motors)
        if len(self.places) != len(driven):
            raise InvalidValue("not-supported", "a joint with a quaternion is no motor: name joints of one axis")
        self.driven = driven
        self.passive: npt.NDArray[np.intp] = np.setdiff1d(np.arange(model.nv, dtype=np.intp), driven)

    def positions(self, given: Mapping[str, float] | ArrayLike) -> Array:
        """(motors,) positions, from those by name or in the order of the motors."""
        if isinstance(given, Mapping):
            missing = [name for name in self.motors if name not in given]
            unknown = [name for name in given if name not in self.motors]
            if missing or unknown:
                what = f"{missing[0]!r} is missing" if missing else f"{unknown[0]!r} has no motor"
                raise InvalidValue("inconsistent", f"positions must be those of {', '.join(self.motors)}: {what}")
            given = [given[name] for name in self.motors]
        if np.shape(given) != (len(self.places),):
            raise ShapeError(f"positions must have shape ({len(self.places)},), one for each motor, got {given!r}")
        return finite("positions", given, len(self.places))

    def near(self, positions: Array, start: Array) -> Assembly:
        """The assembly to which the motors lead from `start`, or where there is none another one."""
        model = self.model
        begun = newton(model, start, np.arange(model.nv, dtype=np.intp)) if self._gap(start) > EXACT else start
        led = None if begun is None else self._led(begun, positions)
        if led is not None and self._within(led):
            return Assembly(led, self._gap(led), True, "The assembly of the start.")
        for q in (start, *model.sample(64, seed=0)):
            found = newton(self.model, self._with(q, positions), self.passive)
            if found is not None and self._within(found):
                return Assembly(found, self._gap(found), False, "Another assembly: the way there passes a dead point.")
        if led is not None:
            beyond = tuple(_beyond(model, led))
            message = f"Closed beyond the limits of {', '.join(beyond)} alone."
            return Assembly(led, self._gap(led), True, message, beyond)
        nearest = self._with(start if begun is None else begun, positions)
        return Assembly(nearest, self._gap(nearest), False, "Nothing closes the loops with the motors there.")

    def every(self, positions: Array, start: Array, starts: int, seed: int) -> Array:
        """(k, nq) the assemblies that so many starts lead to, the nearest to `start` first."""
        found, places = list[Array](), list[Array]()
        for q in (start, *self.model.sample(starts, seed=seed)):
            closed = newton(self.model, self._with(q, positions), self.passive)
            if closed is None or not self._within(closed):
                continue
            where = self.model.poses(closed, self.model.frames).xyz
            if not any(np.abs(where - other).max() < _ALIKE for other in places):
                found.append(closed)
                places.append(where)
        away = [float(np.linalg.norm(self.model.difference(start, q))) for q in found]
        order = np.argsort(away, kind="stable")
        return np.array(found).reshape(-1, self.model.nq)[order]

    def _led(self, q: Array, positions: Array) -> Array | None:
        """(nq,) where motors that go straight from q to `positions` lead the rest; None past a dead point."""
        away = positions - q[self.places]
        longest, share, begun = float(np.abs(away).max(initial=0.0)), 0.0, q
        step = min(1.0, _SHARE / longest) if longest > 0.0 else 1.0
        while True:
            tried = min(1.0, share + step)
            found = self._along(q, begun[self.places] + tried * away if tried < 1.0 else positions)
            if found is None:
                step *= 0.5
                if step * longest < _LEAST:
                    return None
                continue
            q, share = found, tried
            if share >= 1.0:
                return q
            step = min(2.0 * step, _SHARE / longest)

    def _along(self, q: Array, positions: Array) -> Array | None:
        """(nq,) one step on the way: by what the motors ask of the others, and Newton's steps back; None for a jump."""
        _, rows = loop_rows(self.model, q)
        change = np.zeros(self.model.nv)
        change[self.driven] = positions - q[self.places]
        change[self.passive] = np.linalg.lstsq(
            rows[:, self.passive], -rows[:, self.driven] @ change[self.driven], rcond=RANK
        )[0]
        if np.abs(change).max(initial=0.0) > _LONGEST:
            return None
        guess = self._with(self.model.integrate(q, change), positions)
        found = newton(self.model, guess, self.passive)
        if found is None:
            return None
        aside = float(np.linalg.norm(self.model.difference(guess, found)))
        return found if aside <= 0.5 * float(np.linalg.norm(change)) + EXACT else None

    def _with(self, q: Array, positions: Array) -> Array:
        out = np.array(q)
        out[self.places] = positions
        return out

    def _gap(self, q: Array) -> float:
        return float(np.abs(loop_rows(self.model, q)[0]).max(initial=0.0))

    def _within(self, q: Array) -> bool:
        return not _beyond(self.model, q)


def newton(model: "Model", q: Array, columns: npt.NDArray[np.intp]) -> Array | None:
    """(nq,) the closed configuration that Newton's steps of these velocities lead to; None if to none."""
    best, least = q, np.inf
    for _ in range(_STEPS):
        e, rows = loop_rows(model, q)
        left = float(np.abs(e).max(initial=0.0))
        if left < least:
            best, gained, least = q, left < 0.5 * least, left
        else:
            gained = False
        if least <= _AIM or (least <= EXACT and not gained):
            return best
        change = np.zeros(model.nv)
        change[columns] = np.linalg.lstsq(rows[:, columns], e, rcond=RANK)[0]
        size = float(np.abs(change).max(initial=0.0))
        if not np.isfinite(size):
            return None
        q = model.integrate(q, change * min(1.0, _LONGEST / max(size, _LONGEST)))
    return best if least <= EXACT else None


def nearest_closed(model: "Model", q: Array) -> Array | None:
    """(nq,) the closed configuration within the limits that Newton's steps of all joints lead to from q; None: none."""
    found = newton(model, q, np.arange(model.nv, dtype=np.intp))
    return None if found is None or _beyond(model, found) else found


def _beyond(model: "Model", q: Array) -> list[str]:
    """The coordinates that are beyond their limits."""
    outside = (q < model.lower - _BEYOND) | (q > model.upper + _BEYOND)
    return [name for name, out in zip(model.coordinates, outside, strict=True) if out]


def _places(slices: Iterable[slice]) -> npt.NDArray[np.intp]:
    return np.array([i for at in slices for i in range(at.start, at.stop)], dtype=np.intp)


def start_of(model: "Model", q0: ArrayLike | None) -> Array:
    """(nq,) where a search begins: `home` unless it is given."""
    return np.array(model.home if q0 is None else model.check_q(q0, "q0"))


def assemblies(
    model: "Model", positions: Mapping[str, float] | ArrayLike, actuated: Sequence[str] | None, q0: ArrayLike | None,
    starts: int, seed: int,
) -> Array:  # fmt: skip
    """What `Model.assemblies` gives."""
    whole("starts", starts, 0)
    closer = Closer(model, actuated)
    return closer.every(closer.positions(positions), start_of(model, q0), starts, seed)
