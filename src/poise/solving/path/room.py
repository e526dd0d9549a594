"""What must hold of each configuration of a path, whatever its waypoint: the one place where a path asks for it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import final

import numpy as np

from poise.model.model import Model
from poise.solving.path.clearance import Clearance
from poise.solving.path.limits import PathLimits
from poise.solving.path.path import PathStatus
from poise.solving.path.walls import RESERVE, Sums, Wall
from poise.spatial import Array


@final
class Room:
    """All walls of a path."""

    def __init__(self, walls: Sequence[Wall]) -> None:
        self.walls = tuple(walls)
        self.sums = next((wall for wall in walls if isinstance(wall, Sums)), None)

    @staticmethod
    @contextmanager
    def lent(model: Model, limits: PathLimits) -> "Iterator[Room]":
        """What limits ask for, within the block, after which what was packed is kept for the next."""
        sums = [Sums(model, limits.rows, limits.most)] if len(limits.rows) else []
        with Clearance.lent(model, limits.stated.apart) as clearance:
            yield Room([*([] if clearance is None else [clearance]), *sums])

    def __bool__(self) -> bool:
        """Whether there is any wall."""
        return bool(self.walls)

    def and_(self, *walls: Wall) -> "Room":
        """It with more walls."""
        return Room([*self.walls, *walls])

    def __call__(self, q: Array) -> Array:
        """(n,) how far configurations q (n, nq) are within all; negative outside, infinite without walls."""
        return self._least([wall(q) for wall in self.walls], len(q))

    def outside(self, q: Array) -> float:
        """The sum of the squares of all that q (n, nq) are outside by."""
        return sum((float((np.minimum(wall(q), 0.0) ** 2).sum()) for wall in self.walls), 0.0)

    def on_steps(self, q: Array) -> Array:
        """(n - 1,) the least of what `self` says on the straight way from each of q (n, nq) to the next."""
        return self._least([wall.on_steps(q) for wall in self.walls], len(q) - 1)

    def on_way(self, q0: Array, q1: Array) -> float:
        """The least of what `self` says on the straight way from q0 to q1 (nq,)."""
        return float(self.on_steps(np.stack([q0, q1]))[0])

    def free(self, q0: Array, q1: Array) -> bool:
        """Whether a straight way is within all, with the reserve for what is between looks if its ends have it."""
        ends = np.stack([q0, q1])
        if self(ends).min() < 0.0:
            return False
        return all(bool(wall.on_steps(ends)[0] >= min(RESERVE, float(wall(ends).min()))) for wall in self.walls)

    def clearances(self, q: Array) -> Array | None:
        """(n,) how far shapes are from each other at q (n, nq) [m]; None where nothing is said of them."""
        return next((wall(q) + wall.least for wall in self.walls if isinstance(wall, Clearance)), None)

    def words(self, q: Array) -> tuple[PathStatus, str]:
        """What is not kept at q (nq,): its status, and a sentence."""
        wall = min(self.walls, key=lambda wall: float(wall(q[None])[0]))
        return wall.status, wall.words(q)

    def on_step(self, q0: Array, q1: Array) -> tuple[PathStatus, str]:
        """What is not kept on the straight way from q0 to q1 (nq,): its status, and that it is left by so much."""
        ends = np.stack([q0, q1])
        far, wall = min(((float(wall.on_steps(ends)[0]), wall) for wall in self.walls), key=lambda found: found[0])
        return wall.status, wall.beyond(-far)

    @staticmethod
    def _least(found: Sequence[Array], n: int) -> Array:
        if not found:
            return np.full(n, np.inf)
        least = found[0]
        for other in found[1:]:
            least = np.minimum(least, other)
        return least
