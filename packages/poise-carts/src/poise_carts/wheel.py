"""A wheel: how fast it turns, and where it is steered, when the base that it carries moves.

A base with the twist (vx, vy, w), forwards, to the left [m/s] and turning left [rad/s], moves a hub at (x, y) by
u = (vx - w y, vy + w x).  A wheel whose rollers let it go freely along n turns at u . n' / (radius d . n'), with d its
own direction and n' normal to n; one without rollers goes along d alone, and one that is steered along u
(Siegwart and Nourbakhsh, "Introduction to Autonomous Mobile Robots", 2nd edition 2011, section 3.2.3).
"""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from poise import InvalidValue
from poise.extending import Array, finite, finite_positive

_GRIP: Final = 1e-6
"""The least share of a motion across the free direction that turns a wheel."""


@final
@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel with its hub at (x, y) of the base [m], whose x axis leads forwards and whose y axis to the left."""

    name: str
    x: float
    y: float
    radius: float
    """[m]"""
    speed: float
    """The most that it turns by [rad/s]."""
    heading: float = 0.0
    """The direction in which it rolls, from the x axis [rad]."""
    steered: bool = False
    """Whether it turns about the vertical, to where its hub goes."""
    rollers: float | None = None
    """The angle from the direction in which it rolls to that in which its rollers let it go [rad]; None without
    rollers."""

    def __post_init__(self) -> None:
        for name in ("x", "y", "heading") if self.rollers is None else ("x", "y", "heading", "rollers"):
            finite(name, getattr(self, name))
        finite_positive("radius", self.radius)
        finite_positive("speed", self.speed)
        if abs(self._grip) < _GRIP:
            raise InvalidValue(
                "out-of-range", f"rollers is {self.rollers}; rollers that go where it rolls never turn it"
            )

    def _hub(self, twist: Array) -> tuple[Array, Array]:
        """The velocity of the hub [m/s]."""
        return twist[..., 0] - twist[..., 2] * self.y, twist[..., 1] + twist[..., 2] * self.x

    def rate(self, twist: Array) -> Array:
        """(...) how fast it turns [rad/s] with twists (..., 3) of the base; forwards is positive."""
        ux, uy = self._hub(twist)
        if self.steered:
            return np.asarray(np.where(ux < 0.0, -1.0, 1.0) * np.hypot(ux, uy) / self.radius)
        free = self.heading + (0.5 * np.pi if self.rollers is None else self.rollers)
        nx, ny = np.sin(free), -np.cos(free)
        return np.asarray((ux * nx + uy * ny) / (self.radius * self._grip))

    def steer(self, twist: Array) -> Array:
        """(...) the angle to which it is steered [rad], from -pi/2 to pi/2; its heading where it is not steered."""
        ux, uy = self._hub(twist)
        if not self.steered:
            return np.full(ux.shape, self.heading)
        back = ux < 0.0
        return np.asarray(np.arctan2(np.where(back, -uy, uy), np.abs(ux)))

    @property
    def _grip(self) -> float:
        """The share of a motion across the free direction that turns it."""
        return 1.0 if self.rollers is None else float(np.sin(self.rollers))

    @property
    def hub_speed(self) -> float:
        """The speed of the hub up to which it turns no faster than it may, whichever way the hub goes [m/s]."""
        return self.speed * self.radius * abs(self._grip)
