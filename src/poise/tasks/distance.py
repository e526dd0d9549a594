"""Keep a frame at a distance from a point."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt

from poise.spatial import Array
from poise.tasks.base import OfFrame, fix, level, number, one_weight, point, tolerance

if TYPE_CHECKING:
    from poise.model.model import Model


@final
@dataclass(frozen=True, slots=True, eq=False)
class DistanceTask(OfFrame):
    """Bring the origin of `frame` to the `distance` [m] from the point `target` [m], shape (3,).

    With a `base`, the point is fixed in that frame: (0, 0, 0) keeps the distance between the two.
    """

    frame: str
    distance: float
    target: npt.ArrayLike | None = None
    weight: float = field(default=1.0, kw_only=True)
    """[1/m]"""
    tolerance: float = field(default=1e-6, kw_only=True)
    """[m]"""
    base: str | None = field(default=None, kw_only=True)
    """The frame from which it is seen, and along whose axes the target and the rows are; None: the world."""
    priority: int = field(default=0, kw_only=True)
    """Its level, 0 first; a level disturbs none before it."""
    structure: tuple[Any, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        target = None if self.target is None else point("target", self.target)
        limit, weight, priority = tolerance("tolerance", self.tolerance), one_weight(self.weight), level(self.priority)
        distance = number("distance", self.distance)
        if distance < 0.0:
            raise ValueError(f"distance is {distance}; it must be 0 or more")
        fix(self, distance=distance, target=target, weight=weight, tolerance=limit, priority=priority)
        fix(self, structure=(DistanceTask, self.frame, distance, 3 * (weight,), limit, priority, self.base))

    def goal(self, target: Any, name: str = "target") -> Array:
        """(7,) numbers of the point; the fourth is the distance."""
        out = np.zeros(7)
        out[:3], out[3] = point(name, target), self.distance
        return out

    def at(self, model: "Model", q: Array) -> Array:
        """(7,) the goal that the configuration `q` (nq,) fulfils: the point where it is, the distance as it is."""
        out = self.goal(np.zeros(3) if self.target is None else self.target)
        out[3] = np.linalg.norm(self.seen(model, q).xyz - out[:3])
        return out
