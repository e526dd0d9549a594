"""pink's tasks about all joints and about the centre of mass."""

from collections.abc import Iterator
from typing import final

import numpy as np
import pinocchio as pin

from poise.compat.pink.configuration import Configuration, TargetNotSet
from poise.compat.pink.tasks import Task
from poise.compat.steps import Term, damping_terms, posture_terms, term
from poise.spatial import ArrayLike
from poise.tasks.mass import CentreOfMassTask


@final
class PostureTask(Task):
    """Stay near a q; floating joints are left alone."""

    def __init__(self, cost: float, lm_damping: float = 0.0, gain: float = 1.0) -> None:
        super().__init__(cost, 1, lm_damping, gain)

    def set_target(self, target_q: ArrayLike) -> None:
        """A q (nq,)."""
        self.target = np.array(target_q, dtype=np.float64)

    def set_target_from_configuration(self, configuration: Configuration) -> None:
        """Where it stands now."""
        self.set_target(configuration.q)

    def terms(self, configuration: Configuration, dt: float) -> Iterator[Term]:
        """Its rows."""
        if self.target is None:
            raise TargetNotSet(self)
        known = configuration.known
        way = known.v(pin.difference(configuration.model, configuration.q, self.target), bases=False)
        weights = known.v(np.repeat(self.cost, configuration.model.nv), bases=False)
        yield from posture_terms(known.model, weights, self.gain * way, dt)


@final
class DampingTask(Task):
    """Move the joints little; floating ones are left alone."""

    def __init__(self, cost: float) -> None:
        super().__init__(cost, 1)

    def terms(self, configuration: Configuration, dt: float) -> Iterator[Term]:
        """Its rows."""
        known = configuration.known
        yield from damping_terms(known.model, known.v(np.repeat(self.cost, configuration.model.nv), bases=False))


@final
class ComTask(Task):
    """Bring the centre of mass to a point (3,) [m] of the world."""

    def __init__(self, cost: ArrayLike, lm_damping: float = 0.0, gain: float = 1.0) -> None:
        super().__init__(cost, 3, lm_damping, gain)

    def set_target(self, target_com: ArrayLike) -> None:
        """Where to."""
        self.target = np.array(target_com, dtype=np.float64)

    def set_target_from_configuration(self, configuration: Configuration) -> None:
        """Where it is now."""
        self.set_target(pin.centerOfMass(configuration.model, configuration.data, configuration.q))

    def terms(self, configuration: Configuration, dt: float) -> Iterator[Term]:
        """Its rows."""
        if self.target is None:
            raise TargetNotSet(self)
        yield term(CentreOfMassTask, self.target, weight=tuple(map(float, self.cost)), gain=self.gain)
