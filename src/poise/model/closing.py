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
from poise.kernels.machine.layout import EXACT
from poise.model.closure import loop_closure
from poise.model.mechanism import motors

if TYPE_CHECKING:
    from poise.model.model import Model

_STARTS: Final = 64
"""Random configurations from which another assembly is sought."""
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
    """Whether it is the assembly of the start: motors led there, by 2000 rad or m at most, pass no dead point."""
    message: str
    """What it is, in a sentence."""
    beyond: tuple[str, ...] = ()
    """The coordinates, and spherical joints, that would have to leave their limits."""

    @property
    def success(self) -> bool:
        """Whether all loops are closed, to 1e-10 m and rad, within the limits of all joints."""
        return self.gap <= EXACT and not self.beyond


@final
class Closer:
    """The search of a model and its motors."""

    def __init__(self, model: "Model", actuated: Sequence[str] | None) -> None:
        if not model.loops:
            raise InvalidValue("needs", f"{model.name} has no loops to close: state them, as model.with_loops does")
        self.model, self.motors = model, motors(model, actuated)
        self.places = _places(model.index(name) for name in self.motors)
        self.driven = _places(model.velocity_index(name) for name in self.motors)
        if len(self.places) != len(self.driven):
            raise InvalidValue("not-supported", "a joint with a quaternion is no motor: name joints of one axis")
        self._free, self._limited = (loop_closure(model, limits=limits) for limits in (False, True))

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
        model, goal = self.model, self._with(start, positions)
        begun = start if self._free.gap(start) <= EXACT else self._free.closed(start, EXACT)
        led = None if begun is None else self._free.led(begun, goal, EXACT, driven=self.driven)
        if led is not None:
            led = self._with(led, positions)
            if not _beyond(model, led):
                return self._assembly(led, True, "The assembly of the start.")
        outside = _beyond(model, self._with(model.clip(start), positions))
        for q in () if outside else (start, *model.sample(_STARTS, seed=0)):
            found = self._closed(q, positions)
            if found is not None:
                why = "the motors do not lead there from q0, as past a dead point"
                return self._assembly(found, False, f"Another assembly: {why}.")
        if led is not None:
            beyond = tuple(_beyond(model, led))
            return self._assembly(led, True, f"Closed beyond the limits of {', '.join(beyond)} alone.", beyond)
        nearest = goal if begun is None else self._with(begun, positions)
        where = f"beyond the limits of {', '.join(outside)}" if outside else "there"
        return self._assembly(nearest, False, f"Nothing closes the loops with the motors {where}.", tuple(outside))

    def every(self, positions: Array, start: Array, starts: int, seed: int) -> Array:
        """(k, nq) the assemblies that so many starts lead to, the nearest to `start` first."""
        found, places = list[Array](), list[Array]()
        for q in (start, *self.model.sample(starts, seed=seed)):
            closed = self._closed(q, positions)
            if closed is None:
                continue
            where = self.model.poses(closed, self.model.frames).xyz
            if not any(np.abs(where - other).max() < _ALIKE for other in places):
                found.append(closed)
                places.append(where)
        away = [float(np.linalg.norm(self.model.difference(start, q))) for q in found]
        order = np.argsort(away, kind="stable")
        return np.array(found).reshape(-1, self.model.nq)[order]

    def _closed(self, q: Array, positions: Array) -> Array | None:
        """(nq,) a closed configuration near to q (nq,) with the motors at `positions`, within all limits."""
        found = self._limited.closed(self._with(q, positions), EXACT, driven=self.driven)
        if found is None or _beyond(self.model, placed := self._with(found, positions)):
            return None
        return placed

    def _assembly(self, q: Array, kept: bool, message: str, beyond: tuple[str, ...] = ()) -> Assembly:
        return Assembly(q, self._free.gap(q), kept, message, beyond)

    def _with(self, q: Array, positions: Array) -> Array:
        out = np.array(q)
        out[self.places] = positions
        return out


def _beyond(model: "Model", q: Array) -> list[str]:
    """The coordinates, and the balls, that are beyond their limits."""
    outside = np.flatnonzero(np.abs(model.clip(q) - q) > _BEYOND)
    limited = [joint.name for joint in model.joints if joint.ball is not None]
    balls = {ball.place + k: name for ball, name in zip(model.ball_limits, limited, strict=True) for k in range(4)}
    return list(dict.fromkeys(balls.get(int(i), model.coordinates[i]) for i in outside))


def _places(slices: Iterable[slice]) -> npt.NDArray[np.intp]:
    return np.array([i for at in slices for i in range(at.start, at.stop)], dtype=np.intp)


def start_of(model: "Model", q0: ArrayLike | None) -> Array:
    """(nq,) where a search begins: `home` unless it is given."""
    return np.array(model.home if q0 is None else model.check_one_q(q0, "q0"))


def assemblies(
    model: "Model", positions: Mapping[str, float] | ArrayLike, actuated: Sequence[str] | None, q0: ArrayLike | None,
    starts: int, seed: int,
) -> Array:  # fmt: skip
    """What `Model.assemblies` gives."""
    whole("starts", starts, 0)
    closer = Closer(model, actuated)
    return closer.every(closer.positions(positions), start_of(model, q0), starts, seed)
