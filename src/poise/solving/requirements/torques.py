"""What joints of a model give at rest and in motion, as shares of what they may."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.model.dynamics import motion_torques
from poise.model.joint import JointKind
from poise.model.model import Model
from poise.tasks.torque import TorqueTask

LEAST_LEFT: Final = 1e-3
"""The least share of a limit that is left to motion: where the weight takes more, no motion keeps the limit."""


class Torques(NamedTuple):
    """Limits of k joints of a model, and what acts on it."""

    model: Model
    most: Mapping[str, float]
    """Joint to the largest torque [N m] or force [N]."""
    wrenches: Mapping[str, ArrayLike]
    gravity: ArrayLike

    @property
    def task(self) -> TorqueTask:
        """What they ask of a configuration by itself, which has no motion."""
        return TorqueTask(self.most, wrenches=self.wrenches, gravity=self.gravity)

    def rest(self, q: Array) -> Array:
        """(n, k) what the joints give at rest at q (n, nq), as shares of their limits."""
        return self._shares(self.model.gravity_torques(q, wrenches=self.wrenches, gravity=self.gravity))

    def motion(self, q: Array, velocity: Array, acceleration: Array) -> Array:
        """(n, k) the same of what a motion with velocities and accelerations (n, nv) takes beside it."""
        return self._shares(motion_torques(self.model, q, velocity, acceleration))

    def strain(self, q: Array, velocity: Array, acceleration: Array) -> Array:
        """(n,) by what factor such a motion is too fast: a slower one takes less by its square, and the same weight."""
        moved = self.motion(q, velocity, acceleration)
        left = np.maximum(1.0 - np.sign(moved) * self.rest(q), LEAST_LEFT)
        return np.asarray(np.sqrt((np.abs(moved) / left).max(axis=1, initial=0.0)), dtype=np.float64)

    def words(self, q: Array, velocity: Array, acceleration: Array) -> str:
        """What the joint that gives most would have to give in one state, as a sentence."""
        rest = self.rest(q[None])[0]
        whole = rest + self.motion(q[None], velocity[None], acceleration[None])[0]
        j = int(np.abs(whole).argmax())
        name, most = list(self.most.items())[j]
        unit = "N" if self.model.joint(name).kind is JointKind.PRISMATIC else "N m"
        return (
            f"{name} would have to give {abs(whole[j]) * most:.4g} {unit}, and its TorqueLimit is {most:.4g}; at rest "
            f"it gives {abs(rest[j]) * most:.4g} there."
        )

    def _shares(self, torques: Array) -> Array:
        found: Array = torques[..., [self.model.velocity_index(name).start for name in self.most]]
        return found / np.array(list(self.most.values()))
