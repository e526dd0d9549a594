"""Height maps: a terrain, a floor or a heap as a grid of heights."""

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.cached import cached_property
from poise.common.checks import broken_rule, finite_positive, with_holes
from poise.common.errors import InvalidValue, ShapeError
from poise.geometry.shapes import Core, checked_size, single
from poise.kernels.collision.columns import LEVELS, MOST_ROWS
from poise.kernels.machine.jit import prepare
from poise.kernels.machine.layout import HEIGHTS, WIDTH
from poise.spatial import BOUND, SE3, frozen

_NONE = frozen(np.zeros((0, 3)))
_POINT = frozen(np.zeros(3))
_UPRIGHT = SE3.identity()


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class HeightMap:
    """Square cells side by side, each solid from below up to its height, as one that walks or digs knows the ground.

    Rows of `heights` lie along y of `pose` and columns along x, the first of both at the least; all is solid below, and
    the map ends at its sides.  A cell without a height, a NaN, is a hole with nothing in it: where a robot must not go
    there, give it the height that it may have at most.  It stands in a world, and no link carries it;
    `world.replace(name, HeightMap(heights, cell))` takes over each update.

    >>> HeightMap([[0.0, 0.1, 0.2], [0.0, 0.1, float("nan")]], 0.05)
    HeightMap(2 x 3 cells of 0.05 m)
    """

    cell: float
    """[m] The edge of a cell."""
    pose: SE3
    """Its frame: in the middle of the map, at height 0, z up."""
    heights: Array
    """(rows, columns) [m] along z of `pose`; read-only."""
    tree: Array
    """See `poise.kernels.collision.columns`; read-only."""

    def __init__(self, heights: ArrayLike, cell: float, *, pose: SE3 = _UPRIGHT) -> None:
        """`heights` (rows, columns) [m], NaN or masked where nothing is known.

        Raises ShapeError or ValueError for what are no heights, or too large to compute with.
        """
        given = with_holes("heights", heights, "numbers of shape (rows, columns)")
        if given.ndim != 2 or not 0 < min(given.shape) <= max(given.shape) < MOST_ROWS:
            raise ShapeError(f"heights must have shape (rows, columns), 1 to 65,535 of each, got {given.shape}")
        finite_positive("cell", cell)
        checked_size("cell times rows or columns", cell * max(given.shape))
        stored = np.array(given, order="C")
        vars(self).update(cell=cell, pose=single(pose), heights=stored, tree=_pyramid(stored, cell))
        stored.flags.writeable = False

    @classmethod
    def of_tree(cls, heights: Array, tree: Array, cell: float, pose: SE3) -> "HeightMap":
        """The map of a tree that is there."""
        made = object.__new__(cls)
        heights.flags.writeable = tree.flags.writeable = False
        vars(made).update(cell=cell, pose=single(pose), heights=heights, tree=tree)
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HeightMap) and self._numbers == other._numbers

    def __hash__(self) -> int:
        return hash(self._numbers)

    def __reduce__(self) -> tuple[Any, ...]:
        return HeightMap.of_tree, (self.heights, self.tree, self.cell, self.pose)

    def __repr__(self) -> str:
        rows, columns = self.heights.shape
        return f"HeightMap({rows:,} x {columns:,} cells of {self.cell:g} m)"

    @property
    def _numbers(self) -> tuple[Any, ...]:
        alike = np.where(np.isnan(self.heights), np.nan, self.heights + 0.0)  # 0 has two signs, and a NaN has many
        return alike.shape, alike.tobytes(), (self.pose.array + 0.0).tobytes(), self.cell

    def at(self, pose: SE3) -> "HeightMap":
        """The same shape with its frame at `pose`."""
        return HeightMap.of_tree(self.heights, self.tree, self.cell, pose)

    def placed(self, pose: SE3) -> "HeightMap":
        """The shape seen from elsewhere: as it lies in a frame, which is at `pose`."""
        return self.at(single(pose) @ self.pose)

    @cached_property
    def core(self) -> Core:
        """It as the kernels take it."""
        return Core(HEIGHTS, self.pose, _POINT, 0.0, _NONE, math.inf, math.inf, self.tree)


def _pyramid(heights: Array, cell: float) -> Array:
    """The tree over heights (rows, columns), see `poise.kernels.collision.columns`."""
    levels: list[list[int]] = []
    (rows, columns), block, used = heights.shape, (1, 1), 0
    while True:
        tall, wide = (2, 4) if len(levels) % 2 == 0 else (4, 2)
        packs = -(-rows // tall), -(-columns // wide)
        count = packs[0] * packs[1]
        levels.append([used, packs[1], *block])
        used += count
        if rows * columns == 1:
            break
        (rows, columns), block = packs, (block[0] * tall, block[1] * wide)
    head = LEVELS + len(levels)
    tree = np.full(WIDTH * (head + used), np.nan)
    lanes = np.arange(WIDTH)
    first = tree[: WIDTH * head].reshape(head, WIDTH)
    first[:] = 0.0
    first[0, :4] = len(levels), *heights.shape, cell
    first[1:5] = lanes // 4, lanes % 4, lanes // 2, lanes % 2
    first[LEVELS:, :4] = levels
    first[LEVELS:, 0] += head
    wrong = prepare("collision.pyramid.raise_pyramid")(heights.reshape(-1), tree, heights.shape[1])
    if wrong >= 0:
        at = divmod(wrong, heights.shape[1])
        raise InvalidValue(
            broken_rule(heights[at], "out-of-range"), f"heights[{at[0]}, {at[1]}] is {heights[at]:g}; {BOUND}"
        )
    tree.flags.writeable = False
    return tree
