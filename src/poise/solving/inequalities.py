"""What a step may not do: limits, and the inequalities that they are.

A limit says A q <= b of some coordinates, or how far a velocity may go in one update.  What touches one coordinate is a
bound, the fast form; what ties several is a row, G dq <= h with G = A and h = b - A q.  A new kind of limit is a frozen
dataclass with the method of `Limit`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, final

import numpy as np

from poise.model.model import Model
from poise.spatial import Array

NONE: Final = np.inf
"""A bound that is none."""
_LEAST: Final = 1e-290
"""The least bound whose inverse can be computed with."""


@final
@dataclass(frozen=True, slots=True)
class Inequalities:
    """Bounds and rows on the active velocities of a problem, n of them."""

    changes: Array
    """(n,) the largest change of each in one update [rad or m], infinite where there is none."""
    rows: Array
    """(p, n) A."""
    most: Array
    """(p,) b."""


class Limit(Protocol):
    """One kind of limit."""

    def inequalities(self, model: Model, velocities: Sequence[int]) -> Inequalities:
        """What it says of these velocities of the model."""


@final
@dataclass(frozen=True, slots=True)
class VelocityLimit:
    """No joint goes faster than the model's velocity limits in an update of `dt` [s]."""

    dt: float

    def inequalities(self, model: Model, velocities: Sequence[int]) -> Inequalities:
        """The velocity limits times dt; see `Limit`."""
        n = len(velocities)
        return Inequalities(model.velocity[list(velocities)] * self.dt, np.zeros((0, n)), np.zeros(0))


@final
@dataclass(frozen=True, slots=True, eq=False)
class LinearLimit:
    """`sum coefficient * q <= most` over some joints of one coordinate [rad or m].

    `LinearLimit({"left": 1.0, "right": 1.0}, 1.2)` lets the two bend by 1.2 together, however they share it.  Limits
    that contradict one another are each broken, as little as can be.
    """

    coefficients: Mapping[str, float]
    """Joint to coefficient."""
    most: float
    _named: tuple[tuple[str, float], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.coefficients, Mapping) or not self.coefficients:
            raise ValueError(f"coefficients must name joints, as in {{'knee': 1.0}}, got {self.coefficients!r}")
        for x in (self.most, *self.coefficients.values()):
            if isinstance(x, bool) or not isinstance(x, (int, float, np.floating, np.integer)) or not math.isfinite(x):
                raise ValueError(f"{self!r} holds {x!r}, which is no finite number; leave the limit out instead")
        named = tuple((name, float(x)) for name, x in self.coefficients.items())
        if not any(x for _, x in named):
            raise ValueError(f"{self!r} has no coefficient but 0, and so says nothing of a joint; leave it out")
        object.__setattr__(self, "_named", named)

    def inequalities(self, model: Model, velocities: Sequence[int]) -> Inequalities:
        """One row; see `Limit`.

        Raises ValueError for a joint that is no single coordinate or that moves none of the tasks.
        """
        row = np.zeros((1, len(velocities)))
        for name, coefficient in self._named:
            at = model.velocity_index(name)
            if at.stop - at.start != 1 or at.start not in velocities:
                raise ValueError(
                    f"the LinearLimit names the joint {name!r}, which must be one coordinate that moves a task's "
                    "frame: leave it out"
                )
            row[0, list(velocities).index(at.start)] = coefficient
        # By a power of two, which changes no digit; squares of what remains neither overflow nor vanish.
        power = -math.frexp(np.abs(row).max())[1]
        return Inequalities(np.full(row.shape[1], NONE), np.ldexp(row, power), np.ldexp([float(self.most)], power))


def together(model: Model, velocities: Sequence[int], limits: Sequence[Limit]) -> Inequalities:
    """What all the limits say: the tightest bounds, and all rows.

    Raises ValueError for a bound that lets a joint change by nothing that can be computed with.
    """
    n = len(velocities)
    found = [limit.inequalities(model, velocities) for limit in limits]
    changes = np.min([np.full(n, NONE), *(x.changes for x in found)], axis=0)
    for joint in model.joints if (~(changes >= _LEAST)).any() else ():
        at = model.velocity_index(joint.name) if joint.nv else slice(0, 0)
        for v, change in zip(velocities, changes, strict=True):
            if at.start <= v < at.stop and not change >= _LEAST:
                raise ValueError(
                    f"the limits let the joint {joint.name!r} change by {change} in an update, and so by nothing: "
                    f"hold it still with model.lock({joint.name}=...) instead"
                )
    return Inequalities(
        changes,
        np.vstack([np.zeros((0, n)), *(x.rows for x in found)]),
        np.concatenate([np.zeros(0), *(x.most for x in found)]),
    )
