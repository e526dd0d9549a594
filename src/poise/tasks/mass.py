"""Bring the centre of mass somewhere."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt

from poise.spatial import Array
from poise.tasks.base import Value, Weight, fix, level, point, tolerance, weights

if TYPE_CHECKING:
    from poise.model.model import Model


@final
@dataclass(frozen=True, slots=True, eq=False)
class CentreOfMassTask(Value):
    """Bring the centre of all masses of the model to the point `target` [m], shape (3,), of the world."""

    target: npt.ArrayLike | None = None
    weight: Weight = field(default=1.0, kw_only=True)
    """Weight of the rows [1/m]; one number, or one a row along the world's axes: (1, 1, 0) leaves the height free."""
    tolerance: float = field(default=1e-6, kw_only=True)
    """[m], over the rows whose weight is not 0."""
    priority: int = field(default=0, kw_only=True)
    """Its level, 0 first; a level disturbs none before it."""
    structure: tuple[Any, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        target = None if self.target is None else point("target", self.target)
        limit, priority = tolerance("tolerance", self.tolerance), level(self.priority)
        structure = (CentreOfMassTask, weights("weight", self.weight), limit, priority)
        fix(self, target=target, weight=self.weight, tolerance=limit, priority=priority, structure=structure)

    def goal(self, target: Any, name: str = "target") -> Array:
        """(7,) numbers of a point."""
        out = np.zeros(7)
        out[:3] = point(name, target)
        return out

    @property
    def label(self) -> str:
        """What it is and of what, in messages."""
        return "CentreOfMassTask()"

    def at(self, model: "Model", q: Array) -> Array:
        """(7,) the goal that the configuration `q` (nq,) fulfils."""
        return self.goal(model.centre_of_mass(q))
