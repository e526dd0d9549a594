"""Bring the centre of mass somewhere."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.errors import InvalidValue
from poise.kernels.kinematics.mass import mass_columns, mass_moments
from poise.kernels.machine.jit import routine
from poise.kernels.machine.lanes import load, store
from poise.kernels.machine.layout import GOAL
from poise.kernels.machine.views import section
from poise.model.tree import massless, unit_columns
from poise.tasks.base import Task
from poise.tasks.effector import Effector, Measure, Units, movable

if TYPE_CHECKING:
    from poise.model.model import Model


@routine
def mass_rows(p: Any, w: Any, k: Any) -> None:
    """The displacement of the centre of mass to the target [m]."""
    effector = p.effectors[k]
    mass_moments(p.units, p.bodies, w.frames, w.scratch)
    row, goal, world = 3 * effector.first_block, GOAL * k + 9, 3 * len(p.units)
    for i in range(3):
        store(w.e, row + i, load(w.target, goal + i) - load(w.scratch, world + i))
    out = section(w.jacobian, p.blocks[effector.first_block].start, 3 * effector.columns)
    mass_columns(p.columns, effector.first_column, effector.last_column, p.bodies, w.frames, w.scratch, out)


@dataclass(frozen=True, eq=False, repr=False)
class OfMass(Task):
    """A task about the centre of all masses of the model."""

    def needed(self, model: "Model") -> set[int]:
        """The units of the tree with a mass; raises ValueError without masses that move."""
        if model.mass == 0.0:
            raise massless(model)
        masses = model.tree.masses
        if not masses[:-1].any():
            raise InvalidValue("nothing-moves", f"{self.label} never moves: all masses of {model.name} stand still")
        return {int(unit) for unit in np.flatnonzero(masses[:-1])}

    def moving(self, model: "Model") -> set[int]:
        """The units of the tree that move a mass."""
        return movable(model, {u for unit in self.needed(model) for u in model.tree.path(unit)})

    def effector(self, units: Units) -> Effector:
        """It among the units of a problem."""
        moved = [(units.number[u], 1.0) for u in sorted(self.moving(units.model))]
        return Effector(columns=unit_columns(units.units, moved), heavy=True)


@final
@dataclass(frozen=True, eq=False, repr=False)
class CentreOfMassTask(OfMass):
    """Bring the centre of all masses of the model to the point `target` [m], shape (3,), of the world.

    Weights [1/m] are along the world's axes: (1, 1, 0) leaves the height free.
    """

    target: ArrayLike | None = None

    rows: ClassVar[int] = 3
    routine: ClassVar[Any] = staticmethod(mass_rows)
    unit: ClassVar[Measure] = "m"
    to_point: ClassVar[bool] = True

    def target_at(self, model: "Model", q: Array) -> Array:
        """The target that the configuration `q` (nq,) fulfils."""
        return model.centre_of_mass(q)

    def fulfilled(self, model: "Model", q: Array) -> Array | None:
        """(n, 7) goals that the configurations `q` (n, nq) fulfil."""
        return self.goals(model.centre_of_mass(q))

    def judged(self, model: "Model", goal: Array, q: Array) -> Array:
        """(N, 1) distances at `q` (N, nq) to the goals (N, 7) [m]."""
        return self.blocks[0].norms(goal[:, :3] - model.centre_of_mass(q))[:, None]
