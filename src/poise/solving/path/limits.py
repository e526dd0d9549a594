"""What the limits of a path say: of each configuration, and of how fast it may be run through."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import numbers
from poise.common.errors import InvalidValue, ShapeError
from poise.model.model import Model, a_model
from poise.solving.problem.problem import velocity_names
from poise.solving.requirements.inequalities import together
from poise.solving.requirements.limits import Limits, LimitsLike
from poise.solving.requirements.torque_limit import TorqueLimit
from poise.solving.requirements.torques import Torques

_BETWEEN_LOOKS: Final = 0.02
"""How far a tool turns, at most, between two looks at its speed on a straight step [rad]."""
_FARTHEST_TURN: Final = 1000.0
"""So far it may turn on a step: 50,000 looks."""
_AT_ONCE: Final = 100_000
"""Looks that are taken in one go, so that many rows take no more memory."""
SEEN: Final = 1.0 + 3e-4
"""What may be missed between two looks at what bends."""


class Rates(NamedTuple):
    """How fast joints may go; infinite where nothing says."""

    velocity: Array
    """(nv,) [rad/s or m/s]."""
    acceleration: Array
    """(nv,) [rad/s^2 or m/s^2]."""
    jerk: Array
    """(nv,) [rad/s^3 or m/s^3]."""
    twists: tuple[tuple[int, int, float], ...] = ()
    """First velocity, how many, and how long they may be together [m/s or rad/s]."""
    tools: tuple[tuple[str, int, float], ...] = ()
    """A frame, the first of three numbers of its twist, and how long they may be together [m/s or rad/s]."""
    torques: tuple[Torques, ...] = ()
    """What joints may give."""

    @property
    def timed(self) -> bool:
        """Whether any of them says how fast a path may be run through."""
        return bool(self.tools or self.torques) or bool(
            np.isfinite([self.velocity, self.acceleration, self.jerk]).any()
        )

    @property
    def smooth(self) -> bool:
        """Whether speeds may not change at once."""
        return bool(self.torques) or bool(np.isfinite([self.acceleration, self.jerk]).any())

    @property
    def bending(self) -> bool:
        """Whether what is limited bends even where joints go straight."""
        return bool(self.tools or self.torques)

    def shares(self, model: Model, velocities: Array, q: Callable[[], Array]) -> Array:
        """(n,) how much of what they may be velocities (n, nv) are, that which is nearest to it or most beyond; `q`
        as of `lengths`."""
        most = (np.abs(velocities) / self.velocity).max(axis=1, initial=0.0)
        for length in self.lengths(model, velocities, q).T if self.twists or self.tools else ():
            most = np.maximum(most, length)
        return np.asarray(most, dtype=np.float64)

    def strains(
        self, model: Model, velocities: Array, accelerations: Array, jerks: Array, q: Callable[[], Array]
    ) -> Array:
        """(n, 3 and torques) by what factor a motion with these (n, nv each) is too fast by each; how much slower it
        has to be; `q` as of `lengths`."""
        hard, abrupt = np.sqrt(np.abs(accelerations) / self.acceleration), np.cbrt(np.abs(jerks) / self.jerk)
        fast = self.shares(model, velocities, q)
        heavy = [limit.strain(q(), velocities, accelerations) for limit in self.torques]
        return np.stack([fast, *(x.max(axis=1, initial=0.0) for x in (hard, abrupt)), *heavy], axis=1)

    def lengths(self, model: Model, velocities: Array, q: Callable[[], Array]) -> Array:
        """(n, twists and tools) how much of what they may be the twists of velocities (n, nv) are, and the speeds of
        tools, for which `q` tells the configurations (n, nq)."""
        found = [np.linalg.norm(velocities[:, at : at + many], axis=1) / most for at, many, most in self.twists]
        if self.tools:
            here = q()
            twists = {frame: _times(model.jacobian(frame, here), velocities) for frame, _, _ in self.tools}
            found += [np.linalg.norm(twists[frame][:, at : at + 3], axis=1) / most for frame, at, most in self.tools]
        return np.stack(found, axis=1) if found else np.zeros((len(velocities), 0))

    def on_steps(self, model: Model, q: Array) -> Array:
        """(n - 1,) the largest share anywhere on the straight way from each of q (n, nq) to the next, each taken in a
        second."""
        steps = model.difference(q[:-1], q[1:])
        if not self.tools:
            return self.shares(model, steps, lambda: q[:-1])
        # Its speed changes as it turns (kernels/requirements/tool_speed.py), and each joint turns it evenly.
        turns = np.zeros(len(steps))
        for frame in {frame for frame, _, _ in self.tools}:
            turn = np.abs(steps) @ np.linalg.norm(model.jacobian(frame, q[0])[3:], axis=0)
            if turn.max(initial=0.0) > _FARTHEST_TURN:
                raise InvalidValue(
                    "too-many",
                    f"a ToolSpeedLimit holds between rows too, and {frame} turns by {turn.max():.3g} rad from a row to "
                    f"the next: give rows between them, at most {_FARTHEST_TURN:g} rad apart",
                )
            turns = np.maximum(turns, turn)
        looks = 2 + (turns / _BETWEEN_LOOKS).astype(np.intp)
        found = np.empty(len(steps))
        for some in np.array_split(np.arange(len(steps)), 1 + looks.sum() // _AT_ONCE):
            begins = np.cumsum(looks[some]) - looks[some]
            k = np.repeat(some, looks[some])
            share = ((np.arange(len(k)) - np.repeat(begins, looks[some])) / (looks[k] - 1))[:, None]
            shares = self.shares(model, steps[k], partial(model.integrate, q[k], share * steps[k]))
            found[some] = np.maximum.reduceat(shares, begins)
        return SEEN * found


@final
@dataclass(frozen=True, slots=True)
class PathLimits:
    """Limits of a path, in numbers."""

    given: Limits
    """As they were given, without torques."""
    rows: Array
    """(p, nv) A of sums of joints."""
    most: Array
    """(p,) what A q may be."""
    rates: Rates

    def with_tool(self, frame: str, speed: float) -> "PathLimits":
        """They, and a frame that is no faster than `speed` [m/s]."""
        return replace(self, rates=self.rates._replace(tools=(*self.rates.tools, (frame, 0, speed))))

    @property
    def positions(self) -> bool:
        """Whether joints keep their limits."""
        return self.given.positions

    @classmethod
    def of(
        cls, model: Model, limits: LimitsLike, velocity: ArrayLike | None, acceleration: ArrayLike | None
    ) -> "PathLimits":
        """All of `limits`, and `velocity` and `acceleration` beside them: the tighter of what is said twice.

        Raises TypeError for what is no limit, ShapeError and ValueError for numbers that are none, and for torques
        beside speeds without a limit.
        """
        a_model(model)
        given = Limits.of(limits)
        # In an update of one second changes are speeds.
        found = together(model, range(model.nv), given.others, 1.0)
        speeds = np.minimum(limits_of("velocity", velocity, model), found.changes)
        hardest, jerks = limits_of("acceleration", acceleration, model), np.full(model.nv, np.inf)
        if found.accelerations is not None:
            hardest = np.minimum(hardest, found.accelerations)
        if found.jerks is not None:
            jerks = np.minimum(jerks, found.jerks)
        tools = [(x.frame, at, most) for x in found.tools for at, most in ((0, x.linear), (3, x.angular))]
        tools = [tool for tool in tools if np.isfinite(tool[2])]
        if found.torques:
            _refuse_boundless(model, np.minimum(speeds, hardest))
        rates = Rates(speeds, hardest, jerks, found.twists, tuple(tools), found.torques)
        others = tuple(limit for limit in given.others if not isinstance(limit, TorqueLimit))
        return cls(given._replace(others=others), found.rows, found.most, rates)


def _refuse_boundless(model: Model, most: Array) -> None:
    """Raises ValueError for a velocity that has no limit: torques alone let a path fall as fast as it will."""
    if np.isinf(most).any():
        name = velocity_names(model)[int(np.isinf(most).argmax())]
        raise InvalidValue(
            "needs", f"a TorqueLimit needs limits of speed, and {model.name} has none of {name!r}: give velocity="
        )


def _times(matrices: Array, vectors: Array) -> Array:
    """(n, 6) products of Jacobians (n, 6, nv) and velocities (n, nv)."""
    return np.asarray((matrices @ vectors[..., None])[..., 0], dtype=np.float64)


def limits_of(name: str, value: ArrayLike | None, model: Model) -> Array:
    """(nv,) limits; the model's own velocities where none are given, and no accelerations.

    Raises ShapeError, and ValueError for a limit that is not positive.
    """
    if value is None:
        return np.array(model.velocity) if name == "velocity" else np.full(model.nv, np.inf)
    kind = f"one number or ({model.nv},), one a velocity of {model.name}"
    if isinstance(value, Mapping):
        raise ShapeError(f"{name} must be {kind}: for joints by name give limits=[{name.title()}Limit({value!r})]")
    given = numbers(name, value, kind)
    if given.ndim > 1 or (given.ndim == 1 and len(given) != model.nv):
        raise ShapeError(f"{name} must be {kind}, got {given.shape}")
    if not (given > 0.0).all():
        raise InvalidValue(
            "not-positive", f"{name} is {value!r}; every limit must be positive, infinite where there is none"
        )
    return np.array(np.broadcast_to(given, model.nv))
