"""Height maps in a world: their distances by coal's boxes, steps and solves among them."""

import pickle
from pathlib import Path

import coal
import numpy as np
import pytest
from by_coal import as_coal
from scipy.optimize import linprog
from support.refusals import refused
from test_clouds import SHAPES, arm, flying, turned

import poise as pz
from poise.clouds import HeightMap, PointCloud
from poise.common.array import Array
from poise.geometry.shapes import Shape

CELL = 0.1
DEEP = 4.0
"""How far down the boxes reach that stand for columns [m]; farther than any shape here."""


def cells(heights: Array) -> list[tuple[float, ...]]:
    """The columns of the cells that are no holes: x and y of their middles, heights."""
    rows, columns = heights.shape
    return [
        (CELL * (j + 0.5 - 0.5 * columns), CELL * (i + 0.5 - 0.5 * rows), float(top))
        for (i, j), top in np.ndenumerate(heights)
        if not np.isnan(top)
    ]


def by_coal(shapes: list[tuple[Shape, pz.SE3]], columns: list[tuple[float, ...]]) -> float:
    """The least distance of shapes, each seen from a pose, to columns [m]."""
    asked, least = coal.DistanceRequest(), np.inf
    asked.gjk_tolerance = asked.epa_tolerance = 1e-12
    asked.gjk_max_iterations = asked.epa_max_iterations = 1000
    boxes = [
        (coal.Box(CELL, CELL, DEEP), coal.Transform3s(np.eye(3), np.array([x, y, top - 0.5 * DEEP])))
        for x, y, top in columns
    ]
    for shape, pose in shapes:
        geometry, at = as_coal(shape)
        place = coal.Transform3s((pose @ at).rotation.matrix(), (pose @ at).xyz)
        for box, where in boxes:
            least = min(least, coal.distance(geometry, place, box, where, asked, coal.DistanceResult()))
    return least


def ground(seed: int, rows: int, columns: int) -> Array:
    """Hills, a cliff and holes."""
    rng = np.random.default_rng(seed)
    heights = 0.2 * rng.normal(size=(rows, columns))
    heights[rows // 2 :] += 0.3
    heights[rng.uniform(size=heights.shape) < 0.1] = np.nan
    return heights


def corners(kind: str) -> Array:
    """(n, 3) the corners of a core."""
    core = SHAPES[kind].core
    half = {"point": np.zeros(3), "segment": core.half * [0, 0, 1], "box": core.half}.get(kind)
    ends = core.vertices if half is None else half * np.stack(np.meshgrid(*[(-1, 1)] * 3), axis=-1).reshape(-1, 3)
    return core.pose.act(ends)


def reach(points: Array, v: Array, within: dict[int, tuple[float, float]]) -> float:
    """How far a convex hull reaches along v [m], of it what is within ranges of coordinates; -inf where nothing is."""
    sides = [(sign * points[:, axis], sign * ends[sign > 0]) for axis, ends in within.items() for sign in (-1, 1)]
    rows, most = (np.array(part) for part in zip(*sides, strict=True))
    kept = np.isfinite(most)
    found = linprog(-points @ v, rows[kept], most[kept], np.ones((1, len(points))), 1.0)
    return -float(found.fun) if found.status == 0 else -np.inf


def deepest(kind: str, pose: pz.SE3, heights: Array) -> float:
    """How deep a core is in the cell in which it is deepest [m]: the shortest of all ways out, by linear programs."""
    points, deep = pose.act(corners(kind)), 0.0
    beside = 15  # cells beside the map, in which nothing is
    tops = np.pad(np.nan_to_num(heights, nan=-np.inf), beside, constant_values=-np.inf)
    x, y, z = np.eye(3)
    for (i, j), top in np.ndenumerate(heights):
        left, near = CELL * (np.array([j, i]) - 0.5 * np.array(heights.shape)[::-1])
        across, along = (left, left + CELL), (near, near + CELL)
        low = -reach(points, -z, {0: across, 1: along})
        if not low < top:
            continue
        below = (-np.inf, float(top))
        sides = [
            (across[1] + reach(points, -x, {1: along, 2: below}), reach(points, x, {1: along, 2: below}) - left),
            (along[1] + reach(points, -y, {0: across, 2: below}), reach(points, y, {0: across, 2: below}) - near),
        ]
        ways = []
        for (ahead, back), at, count in zip(sides, (j, i), heights.shape[::-1], strict=True):
            on = np.arange(-beside, count + beside) - at
            ways.append(np.where(on > 0, ahead + CELL * (on - 1), np.where(on < 0, back - CELL * (on + 1), 0.0)))
        deep = max(deep, np.sqrt(ways[0] ** 2 + ways[1][:, None] ** 2 + np.maximum(tops - low, 0.0) ** 2).min())
    return deep


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 5), (9, 6)])
@pytest.mark.parametrize("kind", [*SHAPES])
def test_distance_is_that_of_boxes_by_coal(kind: str, rows: int, columns: int) -> None:
    heights, model, frame = ground(1, rows, columns), flying(kind), turned(2)
    heights[0, 0] = 0.1
    world = pz.World({"ground": HeightMap(heights, CELL, pose=frame)})
    as_boxes = pz.World(
        [
            pz.Box(frame @ pz.SE3.from_parts((x, y, top - 0.5 * DEEP)), (CELL, CELL, DEEP))
            for x, y, top in cells(heights)
        ]
    )
    rng = np.random.default_rng(3)
    q = model.sample(12, seed=1)
    q[:, :3] = frame.act(rng.uniform(-1.0, 1.0, (12, 3)) * [0.4, 0.4, 0.9])
    found = model.distance(q, world)
    radius = SHAPES[kind].core.radius
    for k, row in enumerate(q):
        one = model.distance(row, world)
        alone = model.distance(row, as_boxes).distance
        if alone > 1e-3 or kind != "cylinder":  # coal loses its way in deep cylinders
            least = by_coal([(SHAPES[kind], frame.inverse() @ model.pose("body", row))], cells(heights))
            assert alone == pytest.approx(least, abs=1e-9 if least > 1e-3 else 1e-6)
        if alone > -radius:
            assert one.distance == pytest.approx(alone, abs=1e-9)
        else:
            assert one.distance < alone + 1e-9  # no less deep than in any cell
            if kind != "cylinder" and k % 2:
                depth = deepest(kind, frame.inverse() @ model.pose("body", row), heights)
                assert one.distance == pytest.approx(-depth - radius, abs=1e-7)
        assert found[k].distance == pytest.approx(one.distance, abs=1e-12)
        assert np.allclose(one.points[1] - one.points[0], one.distance * one.normal, atol=1e-9)


@pytest.mark.parametrize("kind", [*SHAPES])
def test_level_ground_is_a_half_space(kind: str) -> None:
    model, frame = flying(kind), turned(4)
    level = pz.World({"ground": HeightMap(np.full((40, 50), 0.3), CELL, pose=frame)})
    below = pz.World({"ground": pz.HalfSpace(frame.act([0.0, 0.0, 0.3]), frame.rotation.act([0.0, 0.0, 1.0]))})
    q = model.sample(20, seed=5)
    q[:, :3] = frame.act(np.random.default_rng(6).uniform(-1.0, 1.0, (20, 3)) * [0.5, 0.5, 1.0])
    found, wanted = model.distance(q, level), model.distance(q, below)
    assert np.allclose(found.distance, wanted.distance, rtol=0, atol=1e-9)
    assert np.allclose(found.normal, wanted.normal, rtol=0, atol=1e-6)
    assert found.distance.min() < -0.5


@pytest.mark.parametrize("kind", [*SHAPES])
def test_what_is_lifted_is_never_deeper(kind: str) -> None:
    rng = np.random.default_rng(8)
    heights = 0.02 * rng.normal(size=(40, 40))
    heights[20:] += 0.15
    heights[5:8, 5:8] = np.nan
    world, model = pz.World({"ground": HeightMap(heights, CELL)}), flying(kind)
    q = model.sample(30, seed=9)
    q[:, :3] = rng.uniform(-1.0, 1.0, (30, 3)) * [1.5, 1.5, 0.2]
    before = model.distance(q, world).distance
    lifted = q.copy()
    lifted[:, 2] += 10.0 ** rng.uniform(-6.0, -1.0, 30)
    deep = before < -SHAPES[kind].core.radius
    assert deep.sum() > 10
    assert (model.distance(lifted, world).distance >= before - 1e-8)[deep].all()
    if kind == "point":  # nor does its depth change by more than it moves
        moved, way = q.copy(), 0.05 * rng.normal(size=(30, 3))
        moved[:, :3] += way
        change = model.distance(moved, world).distance - before
        assert (abs(change) <= np.linalg.norm(way, axis=1) + 1e-8).all()


def test_what_lies_along_the_sides_of_cells_is_as_deep_as_beside_them() -> None:
    builder = pz.ModelBuilder("sled")
    for name, axis, parent, child in (("y", (0, 1, 0), "base", "sled"), ("z", (0, 0, 1), "sled", "tip")):
        builder.joint(name, "prismatic", parent=parent, child=child, axis=axis, limits=(-1, 1))
    builder.shape("tip", pz.Capsule((-0.1, 0.0, 0.0), (0.1, 0.0, 0.05), 0.01))
    model, world = builder.build(), pz.World({"ground": HeightMap(np.zeros((20, 20)), CELL)})
    for y in (0.0, CELL, 0.5 * CELL, 1e-12):
        assert model.distance([y, -0.2], world).distance == pytest.approx(-0.21, abs=1e-9)


def test_many_are_measured_as_one_where_a_robot_meets_itself() -> None:
    """The frame of a map or a cloud is no point of it, so the way there bounds nothing."""
    q, places = arm().sample(24, seed=1), np.linspace(-1.0, 1.0, 21)
    low = np.stack([*np.meshgrid(places, places, [-0.2])], axis=-1).reshape(-1, 3)
    for thing in (HeightMap(np.full((40, 40), -0.2), 0.05), PointCloud(low, 0.02)):
        world = pz.World({"ground": thing})
        alone = [arm().distance(row, world).distance for row in q]
        for rows in (slice(None), slice(3, 4)):
            assert np.allclose(arm().distance(q[rows], world).distance, alone[rows], rtol=0, atol=1e-12)
        assert not np.array_equal(alone, [arm().distance(row).distance for row in q])


@pytest.mark.parametrize("hole", [False, True])
def test_what_is_deep_in_uneven_ground_comes_out_of_it(hole: bool) -> None:
    builder = pz.ModelBuilder("gantry")
    for name, axis, parent, child in (("x", (1, 0, 0), "base", "rail"), ("y", (0, 1, 0), "rail", "sled")):
        builder.joint(name, "prismatic", parent=parent, child=child, axis=axis, limits=(-1, 1), velocity=0.5)
    builder.joint("z", "prismatic", parent="sled", child="tip", axis=(0, 0, 1), limits=(-1, 1), velocity=0.5)
    builder.shape("tip", pz.Capsule((0, 0, 0), (0, 0, 0.2), 0.01))
    model = builder.build()
    rng = np.random.default_rng(0)
    heights = 0.005 * rng.normal(size=(100, 100))
    if hole:
        heights[0, 0] = np.nan
    world = pz.World({"ground": HeightMap(heights, 0.02)})
    for depth in (0.2, 0.05, 0.05):
        start = q = np.array([*rng.uniform(-0.7, 0.7, 2), -depth])
        loop = pz.Tracker(model, pz.PositionTask("tip"), dt=0.02, limits=[pz.CollisionLimit(world, min_distance=0.01)])
        for _ in range(100):
            q = loop.step(q, [start[0], start[1], 0.3])
        assert np.allclose(q, [start[0], start[1], 0.3], atol=1e-6)


def test_rows_lie_along_y_and_columns_along_x_and_a_hole_is_nothing() -> None:
    model = flying("point")
    heights = np.full((2, 3), np.nan)
    heights[0, 2] = 0.5
    q = model.neutral.copy()
    q[:3] = [CELL - 0.1, -0.5 * CELL, 1.0]  # over the middle of that cell; the ball has its own place
    ball = SHAPES["point"]
    one = model.distance(q, pz.World({"ground": HeightMap(heights, CELL)}))
    assert one.distance == pytest.approx(0.5 - ball.core.radius, abs=1e-12)
    assert np.allclose(one.points[1], [CELL, -0.5 * CELL, 0.5])
    assert model.distance(q, pz.World({"ground": HeightMap(np.full((30, 2), np.nan), CELL)})).distance == np.inf


@pytest.mark.parametrize(
    ("heights", "cell", "code", "words"),
    [
        ([0.0, 1.0], 0.1, "wrong-shape", "heights"),
        (np.zeros((0, 3)), 0.1, "wrong-shape", "1 to 65,535 of each, got (0, 3)"),
        ([[0.0, 1.0], [0.0, np.inf]], 0.1, "not-finite", "heights[1, 1]"),
        ([[0.0]], 0.0, "not-positive", "cell"),
        ([[0.0]], np.inf, "not-finite", "cell"),
        ([[0.0, 0.0]], 1e15, "out-of-range", "cell times rows or columns is 2e+15; beyond"),
        ("ground", 0.1, "wrong-shape", "heights"),
    ],
)
def test_what_is_no_height_map_is_refused(heights: object, cell: float, code: str, words: str) -> None:
    with refused(code, words):
        HeightMap(heights, cell)


def test_a_map_is_moved_replaced_copied_and_compared() -> None:
    heights, pose = ground(7, 12, 9), turned(1)
    given = heights.copy()
    world, other = (
        pz.World({"ground": HeightMap(given, CELL)}),
        pz.World({"ground": HeightMap(heights, CELL, pose=pose)}),
    )
    given[:] = 0.0  # the map has a copy
    before = world.structure
    world.move("ground", pose)
    assert world["ground"] == other["ground"] != HeightMap(heights, CELL)
    assert hash(world["ground"]) == hash(other["ground"])
    copy = pickle.loads(pickle.dumps(world))
    assert copy["ground"] == world["ground"]
    assert repr(copy["ground"]) == "HeightMap(12 x 9 cells of 0.1 m)"
    q = arm().home
    assert arm().distance(q, copy).distance == arm().distance(q, other).distance
    world.replace("ground", HeightMap(heights[:5], CELL))
    assert world.structure == before
    assert arm().distance(q, world).distance == arm().distance(q, pz.World([HeightMap(heights[:5], CELL)])).distance


def test_masked_cells_are_holes_and_all_holes_are_alike() -> None:
    heights = ground(7, 12, 9)
    hidden = np.ma.masked_array(heights, np.arange(heights.size).reshape(heights.shape) % 5 == 0)
    holes, others = (HeightMap(np.where(hidden.mask, nan, heights), CELL) for nan in (np.nan, -np.nan))
    assert HeightMap(hidden, CELL) == holes == others
    assert hash(holes) == hash(others)


def test_neither_a_moving_link_nor_a_file_carries_one(tmp_path: Path) -> None:
    world = pz.World()
    world.attach("ground", HeightMap([[0.1]], CELL), "panda_hand")
    with pytest.raises(ValueError, match="a height map must stand still: make it a Box"):
        arm().distance(arm().home, world)
    with refused("not-a-shape", "'panda_hand'"):
        arm().with_shapes({"panda_hand": HeightMap([[0.1]], CELL)})  # type: ignore[dict-item]
    limit = pz.CollisionLimit(pz.World({"ground": HeightMap([[0.0]], CELL)}))
    loop = pz.Tracker(arm(), pz.PositionTask("panda_hand"), dt=0.01, limits=[limit])
    with refused("not-exportable", "'ground'"):
        loop.export(tmp_path / "tracker.poise")


def hills() -> Array:
    """A pit among hills, in cells of 0.1 m around a Panda."""
    y, x = (np.mgrid[0:24, 0:20] - [[[11.5]], [[9.5]]]) * CELL
    heights = 0.06 + 0.05 * np.sin(9.0 * x) * np.cos(7.0 * y)
    heights[np.hypot(x - 0.55, y) < 0.22] = -0.2
    heights[np.hypot(x, y) < 0.25] = np.nan  # where it stands
    heights[4, 15] = np.nan
    return heights


def least_by_coal(q: Array, heights: Array) -> float:
    """The least distance of the arm's shapes to cells."""
    shapes = [
        (shape, arm().pose(link, q))
        for link, some in arm().fitted_shapes.items()
        for shape in some
        if arm().tree.links[link][0] >= 0
    ]
    return by_coal(shapes, cells(heights))


def test_answers_over_ground_are_free_alone_in_lanes_along_paths_and_step_by_step() -> None:
    heights = hills()
    world = pz.World({"ground": HeightMap(heights, CELL)})
    limit = pz.CollisionLimit(world, min_distance=0.01)
    poses = pz.SE3.from_xyz_rpy([[0.55, 0.0, 0.05], [0.55, 0.02, 0.12], [0.52, 0.1, 0.25]], [np.pi, 0, 0])
    solver = pz.Solver(arm(), pz.PoseTask("panda_hand"), limits=[limit])
    answers, batch = [solver(pose) for pose in poses], solver.batch(poses)
    path = pz.solve_path(arm(), pz.PoseTask("panda_hand"), poses, q0=answers[0].q, limits=[limit])
    assert all(answer.success for answer in answers)
    assert batch.success.all()
    assert path.success
    assert np.array_equal(batch.q, solver.batch(poses, threads=1).q)
    for q in [*(answer.q for answer in answers), *batch.q, *path.q[::4]]:
        assert least_by_coal(q, heights) >= 0.01 - 1e-9
    loop = pz.Tracker(arm(), pz.PositionTask("panda_hand"), dt=0.02, limits=[limit])
    q, nearest = answers[2].q, []
    for k in range(60):
        if k == 30:  # the ground as it is known now
            heights = np.where(heights > 0.1, heights - 0.02, heights)
            world.replace("ground", HeightMap(heights, CELL))
        q = loop.step(q, [0.5, 0.4, -0.1])  # in a hill
        nearest.append(loop.nearest.distance)
        if k % 15 == 14:
            assert least_by_coal(q, heights) == pytest.approx(nearest[-1], abs=1e-9)
    assert min(nearest) >= 0.01 - 1e-9
    assert nearest[-1] < 0.012
