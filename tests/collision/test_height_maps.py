"""Height maps in a world: their distances by coal's boxes, steps and solves among them."""


import coal
import numpy as np
import pytest
from by_coal import as_coal
from test_clouds import SHAPES, flying, turned

import poise as pz
from poise.clouds import HeightMap
from poise.spatial import Array

CELL = 0.1
DEEP = 4.0
"""How far down the boxes reach that stand for columns [m]; farther than any shape here."""


def blocks(heights: Array) -> list[tuple[float, ...]]:
    """The columns that a map is: cells, and blocks of 2 x 4, 8 x 8, 16 x 32 cells and so on; x, y, their edges, top."""
    rows, columns = heights.shape
    found, tall, wide = [], 1, 1
    while True:
        for i in range(0, rows, tall):
            for j in range(0, columns, wide):
                block = heights[i : i + tall, j : j + wide]
                if not np.isnan(block).any():
                    y, x = i - 0.5 * rows + 0.5 * block.shape[0], j - 0.5 * columns + 0.5 * block.shape[1]
                    high, across = block.shape
                    found.append((CELL * x, CELL * y, CELL * across, CELL * high, float(block.min())))
        if tall >= rows and wide >= columns:
            return found
        tall, wide = (2 * tall, 4 * wide) if tall == wide else (4 * tall, 2 * wide)


def by_coal(kind: str, pose: pz.SE3, heights: Array, frame: pz.SE3) -> Array:
    """(n,) distances of a shape to all columns."""
    shape, at = as_coal(SHAPES[kind])
    place = frame.inverse() @ pose @ at
    where = coal.Transform3s(place.rotation.matrix(), place.xyz)
    asked, found = coal.DistanceRequest(), []
    asked.gjk_tolerance = asked.epa_tolerance = 1e-12
    asked.gjk_max_iterations = asked.epa_max_iterations = 1000
    for x, y, across, high, top in blocks(heights):
        column = coal.Transform3s(np.eye(3), np.array([x, y, top - 0.5 * DEEP]))
        found.append(coal.distance(shape, where, coal.Box(across, high, DEEP), column, asked, coal.DistanceResult()))
    return np.array(found)


def ground(seed: int, rows: int, columns: int) -> Array:
    """Hills, a cliff and holes."""
    rng = np.random.default_rng(seed)
    heights = 0.2 * rng.normal(size=(rows, columns))
    heights[rows // 2 :] += 0.3
    heights[rng.uniform(size=heights.shape) < 0.1] = np.nan
    return heights


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 5), (9, 6)])
@pytest.mark.parametrize("kind", [*SHAPES])
def test_distance_is_that_of_boxes_by_coal(kind: str, rows: int, columns: int) -> None:
    heights, model, frame = ground(1, rows, columns), flying(kind), turned(2)
    heights[0, 0] = 0.1
    world = pz.World({"ground": HeightMap(heights, CELL, pose=frame)})
    columns_as_boxes = pz.World(
        [
            pz.Box(frame @ pz.SE3.from_parts((x, y, top - 0.5 * DEEP)), (across, high, DEEP))
            for x, y, across, high, top in blocks(heights)
        ]
    )
    rng = np.random.default_rng(3)
    q = model.sample(12, seed=1)
    q[:, :3] = frame.act(rng.uniform(-1.0, 1.0, (12, 3)) * [0.4, 0.4, 0.9])
    found = model.distance(q, world)
    for k, row in enumerate(q):
        one = model.distance(row, world)
        assert one.distance == pytest.approx(model.distance(row, columns_as_boxes).distance, abs=1e-9)
        if one.distance > 1e-3 or kind != "cylinder":  # coal loses its way in deep cylinders
            least = by_coal(kind, model.pose("body", row), heights, frame).min()
            assert one.distance == pytest.approx(least, abs=1e-9 if least > 1e-3 else 1e-6)
        assert found[k].distance == pytest.approx(one.distance, abs=1e-12)
        assert np.allclose(one.points[1] - one.points[0], one.distance * one.normal, atol=1e-9)
