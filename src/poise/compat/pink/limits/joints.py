"""pink's limits of positions, speeds and accelerations of joints."""

from typing import TYPE_CHECKING, Any, final

import numpy as np

from poise.compat.pink.exceptions import PinkError
from poise.compat.pink.limits.limit import Limit, Reach, Sides, apart, limited, ranged, velocities
from poise.spatial import Array, ArrayLike

if TYPE_CHECKING:
    from poise.compat.pink.configuration import Configuration


@final
class ConfigurationLimit(Limit):
    """The limits of the positions; a step goes `config_limit_gain` of the way to them at most."""

    def __init__(self, model: Any, config_limit_gain: float = 0.5) -> None:
        if not 0.0 < config_limit_gain <= 1.0:
            raise PinkError(f"config_limit_gain is {config_limit_gain!r}; it must be above 0 and at most 1")
        self.model, self.config_limit_gain = model, config_limit_gain
        self.indices = np.flatnonzero(velocities(model, ranged(model), by_q=True))
        self._reach = Reach(model)
        self._rows = np.eye(model.nv)[self._reach.indices]

    def compute_qp_inequalities(self, configuration: "Configuration", dt: float) -> Sides | None:
        """How far each joint may go, and must where it is outside."""
        return apart(
            self._rows, *(np.minimum(self.config_limit_gain * x, x) for x in self._reach.left(configuration.q))
        )


@final
class VelocityLimit(Limit):
    """Largest speeds (nv,) [rad/s, m/s]; None: those of the model."""

    def __init__(self, model: Any, velocity_limit: ArrayLike | None = None) -> None:
        self.model, self.velocity_limit = model, _each(model, velocity_limit, "velocity_limit", model.velocityLimit)
        self.indices = np.flatnonzero(velocities(model, limited(self.velocity_limit), by_q=False))
        self._rows = np.eye(model.nv)[self.indices]

    def compute_qp_inequalities(self, configuration: "Configuration", dt: float) -> Sides | None:
        """How far each joint may go in `dt`."""
        most = dt * self.velocity_limit[self.indices]
        return apart(self._rows, most, most)


@final
class AccelerationLimit(Limit):
    """Largest accelerations (nv,) [rad/s^2, m/s^2], which also stop a joint before the limits of its position."""

    def __init__(self, model: Any, acceleration_limit: ArrayLike) -> None:
        given = _each(model, acceleration_limit, "acceleration_limit", None)
        self.model, self.indices = model, np.flatnonzero(velocities(model, limited(given), by_q=False))
        self.a_max, self.Delta_q_prev = given[self.indices], np.zeros(len(self.indices))
        self._reach, self._rows = Reach(model), np.eye(model.nv)[self.indices]

    def set_last_integration(self, v_prev: Array, dt: float) -> None:
        """The velocity (nv,) of the step before, and its time [s]."""
        self.Delta_q_prev = np.asarray(v_prev, dtype=np.float64)[self.indices] * dt

    def compute_qp_inequalities(self, configuration: "Configuration", dt: float) -> Sides | None:
        """How far each joint may go: v' - v <= a dt, and room for the way to brake, v^2 / (2 a) + v dt / 2."""
        once, ways = self.a_max * dt**2, np.full((2, self.model.nv), np.inf)
        ways[:, self._reach.indices] = self._reach.left(configuration.q)
        stop = once * (np.sqrt(0.25 + 2.0 * np.maximum(ways[:, self.indices], 0.0) / once) - 0.5)
        return apart(self._rows, *np.minimum(stop, [once + self.Delta_q_prev, once - self.Delta_q_prev]))


def _each(model: Any, given: ArrayLike | None, name: str, usual: Array | None) -> Array:
    found = np.array(usual if given is None else given, dtype=np.float64).ravel()
    if found.shape != (model.nv,):
        raise PinkError(f"{name} has {len(found)} numbers; the model has {model.nv} velocities")
    return found
