"""What must hold of each configuration of a path, whatever its waypoint: the one place where a path asks for it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Final, final

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.layout import WIDTH
from poise.model.model import Model
from poise.solving.path.limits import PathLimits
from poise.solving.path.loops import Loops
from poise.solving.requirements.balls import SphericalLimits
from poise.solving.requirements.clearance import Clearance
from poise.solving.requirements.path_constraint import RESERVE, PathConstraint
from poise.solving.requirements.status import Status
from poise.solving.requirements.sums import LinearLimits
from poise.tasks.loop import LoopTask

_CORNERS: Final = 0.05
"""Length of the parts of a straight way along which loops are closed, before they are [rad or m]."""
_LOOKS: Final = np.linspace(0.0, 1.0, WIDTH)
"""Where a straight way is looked at first: as many as kernels measure at once."""
_STRETCH: Final = 3.0
"""How much longer closing them may make a part."""


@final
class PathFeasibility:
    """All constraints of a path, and the loops that stay closed along it."""

    def __init__(self, constraints: Sequence[PathConstraint], loops: Loops | None = None) -> None:
        self.constraints, self.loops = tuple(constraints), loops
        self.sums = next((constraint for constraint in constraints if isinstance(constraint, LinearLimits)), None)

    @staticmethod
    @contextmanager
    def borrowed(model: Model, limits: PathLimits) -> "Iterator[PathFeasibility]":
        """What limits ask for, within the block, after which what was packed is kept for the next."""
        sums = [LinearLimits(model, limits.rows, limits.most)] if len(limits.rows) else []
        with Clearance.borrowed(model, limits.given.collision) as clearance:
            yield PathFeasibility([*([] if clearance is None else [clearance]), *sums])

    def __bool__(self) -> bool:
        """Whether there is any constraint."""
        return bool(self.constraints)

    def parted(self) -> "tuple[Clearance | None, LinearLimits | None, PathFeasibility]":
        """The distances and the sums of joints that kernels can look at on a straight way, and the rest: all of it
        where loops are closed, which bends the way."""
        if self.loops is not None:
            return None, None, self
        clearance = next((one for one in self.constraints if type(one) is Clearance), None)
        rest = [one for one in self.constraints if one is not clearance and one is not self.sums]
        return clearance, self.sums, PathFeasibility(rest)

    def with_constraints(self, *constraints: PathConstraint) -> "PathFeasibility":
        """It with more constraints."""
        return PathFeasibility([*self.constraints, *constraints], self.loops)

    def with_balls(self, model: Model, limits: PathLimits) -> "PathFeasibility":
        """It with the limits of swing and twist, where those of joints hold and there are any."""
        found = SphericalLimits(model)
        return self.with_constraints(*([found] if limits.positions and found.balls else []))

    def with_loops(self, model: Model, loops: Sequence[LoopTask], *, limits: bool) -> "PathFeasibility":
        """It with loops, if there are any; the limits of joints hold, or not."""
        return PathFeasibility(self.constraints, Loops(model, loops, limits=limits, sums=self.sums) if loops else None)

    def __call__(self, q: Array) -> Array:
        """(n,) how far configurations q (n, nq) are within all; negative outside, infinite without constraints."""
        return np.min([np.full(len(q), np.inf), *(constraint(q) for constraint in self.constraints)], axis=0)

    def outside(self, q: Array) -> float:
        """The sum of the squares of all that q (n, nq) are outside by."""
        return sum((float((np.minimum(constraint(q), 0.0) ** 2).sum()) for constraint in self.constraints), 0.0)

    def on_steps(self, q: Array) -> Array:
        """(n - 1,) the least of what `self` says on the straight way from each of q (n, nq) to the next."""
        slacks = (constraint.on_steps(q) for constraint in self.constraints)
        return np.min([np.full(len(q) - 1, np.inf), *slacks], axis=0)

    def on_way(self, q0: Array, q1: Array) -> float:
        """The least of what `self` says on the straight way from q0 to q1 (nq,)."""
        return float(self.on_steps(np.stack([q0, q1]))[0])

    def straight(self, model: Model, q0: Array, q1: Array) -> Array | None:
        """(k, nq) corners of the straight way from q0 to q1 (nq,), along which loops are closed; None if not free."""
        ends = np.stack([q0, q1])
        if self.loops is None:
            return ends if self._free(model, q0, q1) else None
        way = model.difference(q0, q1)
        parts = max(1, int(np.ceil(np.abs(way).max(initial=0.0) / _CORNERS)))
        way = model.interpolate(q0, q1, np.arange(parts + 1) / parts)
        corners, found = self.loops.all_closed(way, whole=True)
        corners[[0, -1]] = ends
        steps = np.abs(model.difference(corners[:-1], corners[1:])).max(axis=1, initial=0.0)
        if not found.all() or steps.max() > _STRETCH * _CORNERS:
            return None
        return corners if all(self._free(model, a, b) for a, b in pairwise(corners)) else None

    def _free(self, model: Model, q0: Array, q1: Array) -> bool:
        """Whether a straight way is within all, with the reserve for what is between looks if its ends have it.

        Eight looks along all of it come first, for they tell of most ways that are not.
        """
        ends, slacks = np.stack([q0, q1]), list[float]()
        looks = model.interpolate(q0, q1, _LOOKS) if self.constraints else ends
        for constraint in self.constraints:
            found = constraint(looks)
            if found.min() < 0.0:
                return False
            slacks.append(float(found[[0, -1]].min()))
        return all(
            bool(constraint.on_steps(ends)[0] >= min(RESERVE, slack))
            for constraint, slack in zip(self.constraints, slacks, strict=True)
        )

    def clearances(self, q: Array) -> Callable[[], Array] | None:
        """(n,) how far shapes are from each other now at q (n, nq) [m], measured when it is called; None where nothing
        is said of them."""
        found = (constraint.later(q) for constraint in self.constraints if isinstance(constraint, Clearance))
        return next(found, None)

    def words(self, q: Array) -> tuple[Status, str]:
        """What is not kept at q (nq,): its status, and a sentence."""
        constraint = min(self.constraints, key=lambda constraint: float(constraint(q[None])[0]))
        return constraint.status, constraint.words(q)

    def on_step(self, q0: Array, q1: Array) -> tuple[Status, str]:
        """What is not kept on the straight way from q0 to q1 (nq,): its status, and that it is left by so much."""
        ends = np.stack([q0, q1])
        far, constraint = min(
            ((float(constraint.on_steps(ends)[0]), constraint) for constraint in self.constraints),
            key=lambda found: found[0],
        )
        return constraint.status, constraint.beyond(-far)

    def no_way(self, q0: Array, q1: Array) -> tuple[Status, str]:
        """The status where no free way was found from q0 to q1 (nq,), and what is to be said of it."""
        status, words = self.on_step(q0, q1) if self else (Status.LIMIT, "")
        straight_on = f": on the straight one {words}" if self.on_way(q0, q1) < 0.0 else ""
        return status, f"no way to it was found along which all holds that must{straight_on}."
