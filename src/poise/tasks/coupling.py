"""Tie joints to each other."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np

from poise.spatial import Array
from poise.tasks.base import Value, fix, level, number, one_weight, tolerance

if TYPE_CHECKING:
    from poise.model.model import Model


@final
@dataclass(frozen=True, slots=True, eq=False)
class JointCouplingTask(Value):
    """Bring `sum coefficient * q` over some joints of one coordinate to the number `target`, such as 0 [rad or m].

    `{"left": 1.0, "right": -1.0}` keeps two joints alike, `{"knee": 1.0, "hip": -2.0}` makes one turn twice as far.
    """

    coefficients: Mapping[str, float]
    """Joint to coefficient."""
    target: float | None = None
    weight: float = field(default=1.0, kw_only=True)
    tolerance: float = field(default=1e-6, kw_only=True)
    """In the unit of the sum."""
    priority: int = field(default=0, kw_only=True)
    """Its level, 0 first; a level disturbs none before it."""
    structure: tuple[Any, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.coefficients, Mapping) or not self.coefficients:
            raise ValueError(f"coefficients must name joints, as in {{'knee': 1.0}}, got {self.coefficients!r}")
        pairs = tuple((name, number(f"coefficients[{name!r}]", x)) for name, x in self.coefficients.items())
        target = None if self.target is None else number("target", self.target)
        limit, weight, priority = tolerance("tolerance", self.tolerance), one_weight(self.weight), level(self.priority)
        fix(self, coefficients=dict(pairs), target=target, weight=weight, tolerance=limit, priority=priority)
        fix(self, structure=(JointCouplingTask, pairs, 3 * (weight,), limit, priority))

    def goal(self, target: Any, name: str = "target") -> Array:
        """(7,) numbers, of which the first is the target."""
        out = np.zeros(7)
        out[0] = number(name, target)
        return out

    @property
    def label(self) -> str:
        """What it is and of what, in messages."""
        return f"JointCouplingTask({dict(self.coefficients)!r})"

    def at(self, model: "Model", q: Array) -> Array:
        """(7,) the goal that the configuration `q` (nq,) fulfils."""
        places, offset = self.terms(model)
        return self.goal(offset + sum(x * q[i] for i, x in places.items()))

    def terms(self, model: "Model") -> tuple[dict[int, float], float]:
        """Place in q to coefficient, and what joints that follow others add.

        Raises JointNotFound, and ValueError for a joint that has not one coordinate.
        """
        places, offset = dict[int, float](), 0.0
        for name, coefficient in self.coefficients.items():
            joint = model.joint(name)
            source, multiplier, more = model.follows(joint)
            if model.joint(source).nq != 1:
                raise ValueError(
                    f"{self.label} couples joints of one coordinate, and {name!r} has {joint.nq}: leave it out"
                )
            i = model.index(source).start
            places[i] = places.get(i, 0.0) + coefficient * multiplier
            offset += coefficient * more
        return places, offset
