"""mink's tasks about all joints and about the centre of mass."""

from collections.abc import Iterator
from typing import Any, final

import mujoco
import numpy as np

from poise.compat.mink.configuration import Configuration
from poise.compat.mink.errors import TargetNotSet
from poise.compat.mink.tasks import Task, costs
from poise.compat.steps import Term, damping_terms, posture_terms, term
from poise.io.from_mujoco import FromMuJoCo
from poise.spatial import Array, ArrayLike
from poise.tasks.mass import CentreOfMassTask


class _OfJoints(Task):
    """One cost, or one a velocity of MuJoCo."""

    def __init__(self, model: Any, cost: ArrayLike, gain: float = 1.0, lm_damping: float = 0.0) -> None:
        super().__init__(gain, lm_damping)
        self._model = model
        self.set_cost(cost)

    def set_cost(self, cost: ArrayLike) -> None:
        """Of one number, or one a velocity."""
        self._cost = costs("cost", cost, int(self._model.nv))

    def weights(self, known: FromMuJoCo, *, bases: bool) -> Array:
        """(nv,) of the velocities of poise; those of free joints are 0 unless `bases` count."""
        out = np.zeros(known.model.nv)
        for j in range(self._model.njnt):
            name = self._model.joint(j).name or f"joint{j}"
            joint, start = known.model.joint(name), int(self._model.jnt_dofadr[j])
            if joint.nv and (bases or self._model.jnt_type[j] != mujoco.mjtJoint.mjJNT_FREE):
                out[known.model.velocity_index(name)] = self._cost[start : start + joint.nv]
        return out


@final
class PostureTask(_OfJoints):
    """Stay near a qpos; free joints are left alone."""

    target: Array | None = None

    def set_target(self, target_q: ArrayLike) -> None:
        """A qpos (nq,)."""
        self.target = np.array(target_q, dtype=np.float64)

    def set_target_from_configuration(self, configuration: Configuration) -> None:
        """Where it stands now."""
        self.set_target(configuration.q)

    def terms(self, configuration: Configuration, dt: float) -> Iterator[Term]:
        """Its rows."""
        if self.target is None:
            raise TargetNotSet(self)
        known = configuration.known
        change = known.model.difference(known.q(configuration.data.qpos), known.q(self.target))
        yield from posture_terms(known.model, self.weights(known, bases=False), self.gain * change, dt)


@final
class DampingTask(_OfJoints):
    """Move little."""

    def __init__(self, model: Any, cost: ArrayLike) -> None:
        super().__init__(model, cost)

    def terms(self, configuration: Configuration, dt: float) -> Iterator[Term]:
        """Its rows."""
        yield from damping_terms(configuration.known.model, self.weights(configuration.known, bases=True))


@final
class ComTask(Task):
    """Bring the centre of mass to a point (3,) [m] of the world."""

    target: Array | None = None

    def __init__(self, cost: ArrayLike, gain: float = 1.0, lm_damping: float = 0.0) -> None:
        super().__init__(gain, lm_damping)
        self.set_cost(cost)

    def set_cost(self, cost: ArrayLike) -> None:
        """Of one number, or one an axis of the world."""
        self._cost = costs("cost", cost, 3)

    def set_target(self, target_com: ArrayLike) -> None:
        """Where to."""
        self.target = np.array(target_com, dtype=np.float64)

    def set_target_from_configuration(self, configuration: Configuration) -> None:
        """Where it is now."""
        self.set_target(configuration.known.model.centre_of_mass(configuration.known.q(configuration.q)))

    def terms(self, configuration: Configuration, dt: float) -> Iterator[Term]:
        """Its rows."""
        if self.target is None:
            raise TargetNotSet(self)
        yield term(CentreOfMassTask, self.target, weight=tuple(map(float, self._cost)), gain=self.gain)
