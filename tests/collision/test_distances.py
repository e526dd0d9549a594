"""Signed distances of shapes of every kind, against coal, and what must hold of any distance."""

import json
import os
import subprocess
import sys

import coal
import numpy as np
import pytest
from measuring import Shape, measured, placed, random_shape, random_turn
from scipy.optimize import nnls
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.kernels.machine.jit import UNJITTED
from poise.kernels.machine.layout import BOX, FRAME, HALF_SPACE, HULL, POINT, SEGMENT, WIDTH

SOLIDS = ["point", "segment", "box", "hull"]
PAIRS = [*((a, b) for a in SOLIDS for b in SOLIDS), *((a, "plane") for a in SOLIDS), *(("plane", a) for a in SOLIDS)]


def random_pairs(a: str, b: str, count: int = 150, seed: int = 0) -> list[tuple[Shape, Shape]]:
    """Pairs that are apart, touch and overlap."""
    rng = np.random.default_rng([seed, *map(ord, a + b)])
    return [(random_shape(rng, a, s), random_shape(rng, b, s)) for s in rng.choice([0.05, 0.3, 0.6], count)]


def rounded(shape: Shape) -> tuple[object, object]:
    """What coal takes a shape for, and its pose."""
    match shape.core:
        case c if c == POINT:
            made = coal.Sphere(shape.radius)
        case c if c == SEGMENT:
            made = coal.Capsule(shape.radius, 2.0 * shape.half[2])
        case c if c == BOX:
            made = coal.Box(2.0 * shape.half)
            made.setSweptSphereRadius(shape.radius)
        case c if c == HULL:
            made = hull_of(shape.vertices)
            made.setSweptSphereRadius(shape.radius)
        case _:
            made = coal.Halfspace(np.array([0.0, 0.0, 1.0]), shape.radius)
    return made, coal.Transform3s(shape.turn, shape.place)


def hull_of(points: Array) -> object:
    """The convex hull of points, for coal."""
    faces = ConvexHull(points)
    used = np.unique(faces.simplices)
    triangles = coal.StdVec_Triangle()
    middle = points[used].mean(axis=0)
    for face in np.searchsorted(used, faces.simplices):
        p, q, r = points[used][face]
        i, j, k = (int(x) for x in face)
        outward = np.cross(q - p, r - p) @ (p - middle) > 0.0
        triangles.append(coal.Triangle(i, j, k) if outward else coal.Triangle(i, k, j))
    corners = coal.StdVec_Vec3s()
    corners.extend(list(points[used]))
    return coal.Convex(corners, triangles)


def by_coal(pair: tuple[Shape, Shape]) -> float:
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.epa_tolerance = request.gjk_tolerance = 1e-13
    return coal.distance(*rounded(pair[0]), *rounded(pair[1]), request, result)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_distances_are_those_of_coal(a: str, b: str) -> None:
    pairs = random_pairs(a, b)
    found = measured(pairs)[:, 0, 0]
    expected = np.array([by_coal(pair) for pair in pairs])
    # Where the middle lines of two shapes cross deep inside, coal may say that they touch.
    refuted = np.abs(found - expected) > 1e-9
    for i in np.flatnonzero(refuted):
        assert found[i] < expected[i]
        expected[i] = -least_depth(*pairs[i])
    assert refuted.mean() < 0.02
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    assert (found < 0).mean() > 0.2


def least_depth(first: Shape, second: Shape) -> float:
    """How deep a box is in a segment or another box, by the axes that can separate them (Gottschalk et al. 1996)."""
    assert {first.core, second.core} <= {BOX, SEGMENT}
    one = first.turn.T if first.core == BOX else first.turn.T[2:]
    other = second.turn.T if second.core == BOX else second.turn.T[2:]
    faces = [*(one if first.core == BOX else ()), *(other if second.core == BOX else ())]
    axes = np.array([*faces, *(np.cross(u, v) for u in one for v in other)])
    axes = axes[np.linalg.norm(axes, axis=1) > 1e-9]
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    reach = sum(np.abs(axes @ shape.turn) @ np.asarray(shape.half) + shape.radius for shape in (first, second))
    return float((reach - np.abs(axes @ (second.place - first.place))).min())


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_points_and_normal_tell_the_distance(a: str, b: str) -> None:
    pairs = random_pairs(a, b)
    found = measured(pairs)[:, 0]
    distance, p, q, n = found[:, 0], found[:, 1:4], found[:, 4:7], found[:, 7:]
    np.testing.assert_allclose(np.linalg.norm(n, axis=1), 1.0, rtol=0, atol=1e-14)
    np.testing.assert_allclose(q - p, distance[:, None] * n, rtol=0, atol=1e-12)
    for (first, second), (u, v) in zip(pairs, zip(p, q, strict=True), strict=True):
        assert depth_of(first, u) < 1e-12
        assert depth_of(second, v) < 1e-12


def depth_of(shape: Shape, point: Array) -> float:
    """How far a point is out of a shape."""
    local = (point - shape.place) @ shape.turn
    if shape.core == HALF_SPACE:
        return float(local[2]) - shape.radius
    if shape.core == HULL:
        # What no weights of the vertices, which add up to 1, make good.
        system = np.vstack([shape.vertices.T, np.ones(len(shape.vertices))])
        return float(nnls(system, [*local, 1.0])[1]) - shape.radius
    return float(np.linalg.norm(local - np.clip(local, -shape.half, shape.half))) - shape.radius


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_moved_out_along_the_normal_shapes_touch(a: str, b: str) -> None:
    """A depth is no more than what parts them; that it is no less, coal says."""
    pairs = random_pairs(a, b)
    found = measured(pairs)[:, 0]
    moved = [(first, second.moved(np.eye(3), -k[0] * k[7:])) for (first, second), k in zip(pairs, found, strict=True)]
    np.testing.assert_allclose(measured(moved)[:, 0, 0], 0.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_in_lanes_they_are_the_same(a: str, b: str) -> None:
    rng = np.random.default_rng(1)
    pairs = []
    for first, second in random_pairs(a, b, 40):
        for _ in range(WIDTH):
            way = rng.uniform(-0.3, 0.3, 3)
            pairs.append((first.moved(random_turn(rng), np.zeros(3)), second.moved(random_turn(rng), way)))
    wide = measured(pairs, WIDTH).reshape(len(pairs), -1)
    np.testing.assert_allclose(wide, measured(pairs)[:, 0], rtol=0, atol=1e-9)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_what_is_not_below_a_bound_is_not_said_to_be(a: str, b: str) -> None:
    pairs = random_pairs(a, b)
    found = measured(pairs)[:, 0]
    for aside in (1e-7, 0.03, 1.0):
        np.testing.assert_array_equal(measured(pairs, below=found[:, 0] + aside)[:, 0], found)
        farther = measured(pairs, below=found[:, 0] - aside)[:, 0]
        known = farther[:, 0] < 1e299
        np.testing.assert_array_equal(farther[known], found[known])
    assert not known.all() or "hull" not in (a, b) or "plane" in (a, b)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_the_order_of_a_pair_changes_only_the_sign_of_the_normal(a: str, b: str) -> None:
    pairs = random_pairs(a, b)
    there, back = measured(pairs)[:, 0], measured([(second, first) for first, second in pairs])[:, 0]
    np.testing.assert_allclose(there[:, 0], back[:, 0], rtol=0, atol=1e-12)
    if a != b:
        np.testing.assert_array_equal(there[:, 1:4], back[:, 4:7])
        np.testing.assert_array_equal(there[:, 7:], -back[:, 7:])


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_a_motion_of_both_changes_nothing(a: str, b: str) -> None:
    pairs, rng = random_pairs(a, b), np.random.default_rng(2)
    turn, way = Rotation.random(random_state=rng).as_matrix(), rng.uniform(-1, 1, 3)
    moved = [(first.moved(turn, way), second.moved(turn, way)) for first, second in pairs]
    np.testing.assert_allclose(measured(moved)[:, 0, 0], measured(pairs)[:, 0, 0], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_the_derivative_is_the_normals_product_with_the_points_velocities(a: str, b: str) -> None:
    """But for the few that are at an edge of the distance, where it has none."""
    rng, step, least = np.random.default_rng(3), 1e-6, 1e-3
    pairs = [pair for pair in random_pairs(a, b) if not np.all(pair[0].turn == np.round(pair[0].turn))]
    found = measured(pairs)[:, 0]
    twists = rng.normal(size=(len(pairs), 4, 3))
    ahead, behind = [], []
    for (first, second), (v1, w1, v2, w2) in zip(pairs, twists, strict=True):
        for sign, to in ((step, ahead), (-step, behind)):
            to.append((stepped(first, v1, w1, sign), stepped(second, v2, w2, sign)))
    numeric = (measured(ahead)[:, 0, 0] - measured(behind)[:, 0, 0]) / (2.0 * step)
    promised = []
    for (first, second), known, (v1, w1, v2, w2) in zip(pairs, found, twists, strict=True):
        p, q, n = known[1:4], known[4:7], known[7:]
        speed = v2 + np.cross(w2, q - second.place) - v1 - np.cross(w1, p - first.place)
        promised.append(n @ speed)
    wrong = np.abs(numeric - promised) > least
    assert wrong.mean() < 0.05
    np.testing.assert_allclose(numeric[~wrong], np.array(promised)[~wrong], rtol=0, atol=1e-3)


def stepped(shape: Shape, v: Array, w: Array, time: float) -> Shape:
    """A shape that has moved with these velocities of its place and about it."""
    turn = Rotation.from_rotvec(w * time).as_matrix() @ shape.turn
    return Shape(shape.core, shape.half, shape.radius, shape.vertices, turn, shape.place + v * time)


@pytest.mark.parametrize(("a", "b"), [pair for pair in PAIRS if "plane" not in pair])
def test_a_distance_changes_by_no_more_than_a_shape_moves(a: str, b: str) -> None:
    pairs, rng = random_pairs(a, b, 60), np.random.default_rng(4)
    for length in (1e-9, 1e-3, 1.0):
        way = rng.normal(size=(len(pairs), 3))
        way *= length / np.linalg.norm(way, axis=1)[:, None]
        moved = [(first, second.moved(np.eye(3), w)) for (first, second), w in zip(pairs, way, strict=True)]
        change = measured(moved)[:, 0, 0] - measured(pairs)[:, 0, 0]
        assert np.abs(change).max() <= length + 1e-12


def segment(half: float, axis: Array, place: Array, radius: float = 0.1) -> Shape:
    turn = Rotation.align_vectors([axis], [[0.0, 0.0, 1.0]])[0].as_matrix()
    return Shape(SEGMENT, np.array([0, 0, half]), radius, np.zeros((0, 3)), turn, np.array(place, dtype=float))


def box(half: Array, place: Array, radius: float = 0.0) -> Shape:
    return Shape(BOX, np.array(half, dtype=float), radius, np.zeros((0, 3)), np.eye(3), np.array(place, dtype=float))


def ball(place: Array, radius: float = 0.1) -> Shape:
    return Shape(POINT, np.zeros(3), radius, np.zeros((0, 3)), np.eye(3), np.array(place, dtype=float))


def hull(points: Array, place: Array, radius: float = 0.0) -> Shape:
    return Shape(HULL, np.zeros(3), radius, np.array(points, dtype=float), np.eye(3), np.array(place, dtype=float))


CUBE = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
SQUARE = CUBE * [1, 1, 0]
X, Y, Z, HERE = np.eye(3)[0], np.eye(3)[1], np.eye(3)[2], np.zeros(3)


@pytest.mark.parametrize(
    ("pair", "distance"),
    [
        ((ball(HERE), ball(HERE)), -0.2),
        ((ball(HERE), segment(0.5, X, HERE)), -0.2),
        ((ball(X), segment(0.0, Z, HERE)), 0.8),
        ((ball(HERE), segment(0.0, Z, HERE)), -0.2),
        ((segment(0.5, X, HERE), segment(0.5, Y, HERE)), -0.2),
        ((segment(0.5, X, HERE), segment(0.5, X, HERE)), -0.2),
        ((segment(0.5, X, HERE), segment(0.5, X, 0.7 * X)), -0.2),
        ((segment(0.5, X, HERE), segment(0.5, X, X)), -0.2),
        ((segment(0.5, X, HERE), segment(0.5, -X, 2 * X)), 0.8),
        ((segment(0.5, X, HERE), segment(0.5, X, 3 * Y)), 2.8),
        ((segment(0.0, X, HERE), segment(0.0, X, HERE)), -0.2),
        ((segment(0.5, X, HERE), segment(0.0, Z, 0.1 * X)), -0.2),
        ((segment(0.5, X, HERE), segment(0.5, X + 1e-9 * Y, HERE)), -0.2),
        ((segment(0.5, X, HERE), segment(0.5, X + 1e-5 * Y, HERE)), -0.2),
        ((ball(HERE), box([1, 2, 3], HERE)), -1.1),
        ((ball(0.4 * Z), box([1, 1, 1], HERE)), -0.7),
        ((ball(Z), box([1, 1, 1], HERE)), -0.1),
        ((ball(HERE), box([1, 1, 0], HERE)), -0.1),
        ((ball(HERE), box([0, 0, 0], HERE)), -0.1),
        ((segment(0.5, Z, HERE), box([1, 1, 1], HERE)), -1.1),
        ((segment(0.5, Z, HERE), box([1, 1, 0], HERE)), -0.6),
        ((segment(0.5, X, HERE), box([1, 1, 0], HERE)), -0.1),
        ((segment(5.0, Z, HERE), box([1, 2, 1], HERE)), -1.1),
        ((segment(0.5, X, X + Z), box([1, 1, 1], HERE)), -0.1),
        ((segment(0.5, X + Y, X + Y), box([1, 1, 1], HERE)), -0.1 - np.sqrt(0.5) * 0.5),
        ((segment(0.5, X - Y, X + Y), box([1, 1, 1], HERE)), -0.1),
        ((segment(0.5, Z, 3 * X), box([1, 1, 1], HERE)), 1.9),
        ((segment(0.0, Z, 0.5 * X), box([1, 1, 1], HERE)), -0.6),
        ((box([1, 1, 1], HERE), box([1, 1, 1], HERE)), -2.0),
        ((box([1, 1, 1], HERE), box([0.1, 0.2, 0.3], HERE)), -1.1),
        ((box([1, 1, 1], HERE), box([1, 1, 1], 2 * X)), 0.0),
        ((box([1, 1, 1], HERE), box([1, 1, 1], 2 * X + 2 * Y)), 0.0),
        ((box([1, 1, 1], HERE), box([1, 1, 1], [2, 2, 2])), 0.0),
        ((box([1, 1, 1], HERE), box([1, 1, 1], [3, 2.5, 0])), np.hypot(1, 0.5)),
        ((box([1, 1, 0], HERE), box([1, 1, 0], HERE)), 0.0),
        ((box([0, 0, 0], HERE), box([0, 0, 0], HERE)), 0.0),
        ((box([0, 0, 1], HERE), box([0, 1, 0], HERE)), 0.0),
        ((segment(0.5, X, -0.75 * X + 0.25 * Y), box([0.25, 0.5, 0], HERE)), -0.1),
        ((ball(HERE), hull(CUBE, HERE)), -1.1),
        ((ball(3 * X), hull(CUBE, HERE)), 1.9),
        ((ball(X + Y + Z), hull(CUBE, HERE)), -0.1),
        ((ball(HERE), hull(SQUARE, HERE)), -0.1),
        ((ball(HERE), hull([[0, 0, 0]], HERE)), -0.1),
        ((ball(Z), hull([[0, 0, 0], [0, 0, 2]], HERE)), -0.1),
        ((segment(0.5, X, HERE), hull(CUBE, HERE)), -1.1),
        ((segment(0.5, X, HERE), hull(SQUARE, HERE, 0.1)), -0.2),
        ((segment(0.5, Z, HERE), hull([[0, 0, -1], [0, 0, 1]], HERE)), -0.1),
        ((box([1, 1, 1], HERE), hull(CUBE, HERE)), -2.0),
        ((box([1, 1, 1], HERE), hull(CUBE, 2 * X)), 0.0),
        ((box([1, 1, 1], HERE), hull(CUBE, [3, 3, 3])), np.sqrt(3)),
        ((hull(CUBE, HERE), hull(CUBE, HERE)), -2.0),
        ((hull(CUBE, HERE), hull(0.1 * CUBE, 0.5 * X)), -0.6),
        ((hull(np.repeat(CUBE, 3, axis=0), HERE), hull(CUBE, 2 * X + 2 * Y)), 0.0),
        ((hull(SQUARE, HERE), hull(SQUARE, 0.5 * X)), 0.0),
        ((hull(SQUARE, HERE), hull(SQUARE, Z)), 1.0),
    ],
)
def test_what_is_known_of_touching_parallel_and_nested_shapes(pair: tuple[Shape, Shape], distance: float) -> None:
    for first, second in (pair, pair[::-1]):
        known = measured([(first, second)])[0, 0]
        assert known[0] == pytest.approx(distance, abs=1e-12)
        assert np.linalg.norm(known[7:]) == pytest.approx(1.0, abs=1e-12)
        np.testing.assert_allclose(known[4:7] - known[1:4], known[0] * known[7:], rtol=0, atol=1e-12)
        assert depth_of(first, known[1:4]) < 1e-12
        assert depth_of(second, known[4:7]) < 1e-12
        parted = measured([(first, second.moved(np.eye(3), (1.0 - known[0]) * known[7:]))])[0, 0]
        assert parted[0] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("tilt", [0.0, 1e-16, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4])
def test_edges_that_are_almost_parallel_keep_their_distance(tilt: float) -> None:
    """A segment is a box and a hull without width: three ways to the same distance."""
    rng, ways = np.random.default_rng(6), []
    for _ in range(100):
        turn = Rotation.from_euler("xyz", rng.integers(0, 4, 3) * 90.0, degrees=True).as_matrix()
        tilted = Rotation.from_rotvec(rng.normal(size=3) * tilt).as_matrix() @ turn
        place = np.round(rng.uniform(-1, 1, 3) * 4) / 4
        common, half = Rotation.random(random_state=rng).as_matrix(), rng.choice([0.0, 0.25, 0.5], 3)
        thin = np.array([0.0, 0.0, rng.choice([0.25, 0.5])])
        forms = [
            Shape(SEGMENT, thin, 0.0, np.zeros((0, 3)), tilted, place),
            Shape(BOX, thin, 0.0, np.zeros((0, 3)), tilted, place),
            Shape(HULL, HERE, 0.0, np.array([-thin, thin]), tilted, place),
        ]
        ways.append([(form.moved(common, HERE), box(half, HERE).moved(common, HERE)) for form in forms])
    segments, boxes, hulls = (measured([pairs[i] for pairs in ways])[:, 0, 0] for i in range(3))
    np.testing.assert_allclose(boxes, segments, rtol=0, atol=5e-9)
    np.testing.assert_allclose(hulls, segments, rtol=0, atol=5e-9)


def some_of_every_kind() -> list[list[float]]:
    """What is known of pairs of every kind, in both widths."""
    found = []
    for a, b in PAIRS:
        pairs = random_pairs(a, b, WIDTH, seed=9)
        found += measured(pairs)[:, 0].tolist() + measured(pairs[:1] * WIDTH, WIDTH)[0, :1].tolist()
    return found


@pytest.mark.skipif(UNJITTED, reason="there is nothing to compare with")
def test_un_jitted_they_are_the_same() -> None:
    run = subprocess.run(
        [sys.executable, __file__],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
    )
    np.testing.assert_allclose(json.loads(run.stdout), some_of_every_kind(), rtol=0, atol=1e-9)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_a_frame_that_is_no_number_gives_no_number(a: str, b: str) -> None:
    first, second = random_pairs(a, b, 1)[0]
    for lost in ("place", "turn"):
        if lost == "turn" and "point" in (a, b):
            continue
        for which in range(2):
            pair = [Shape(**vars(first)), Shape(**vars(second))]
            setattr(pair[which], lost, np.full_like(getattr(pair[which], lost), np.nan))
            assert np.isnan(measured([(pair[0], pair[1])])[0, 0, 0])
            sound = [(first, second)] * (WIDTH - 1)
            wide = measured([*sound[:4], (pair[0], pair[1]), *sound[4:]], WIDTH)[0, :, 0]
            np.testing.assert_array_equal(np.isnan(wide), np.arange(WIDTH) == 4)


def test_shapes_are_placed_on_their_units() -> None:
    rng = np.random.default_rng(5)
    names = ["point", "segment", "box", "plane", "hull"] * 2
    shapes, units = [random_shape(rng, name, 1.0) for name in names], [-1] * 5 + [0, 1, 2, 0, 1]
    bodies = np.array([[Rotation.random(random_state=rng).as_matrix() for _ in range(3)] for _ in range(WIDTH)])
    origins = rng.normal(size=(WIDTH, 3, 3))
    frames = np.concatenate([origins, bodies[..., 2], bodies[..., 0], bodies[..., 1]], axis=-1)
    wide = placed(shapes, units, np.moveaxis(frames, 0, -1))
    for lane in range(WIDTH):
        found = placed(shapes, units, frames[lane])
        for shape, unit, known, same in zip(shapes, units, found, wide[..., lane], strict=True):
            there = shape if unit < 0 else shape.moved(bodies[lane, unit], origins[lane, unit])
            count = {POINT: 3, SEGMENT: 6, HALF_SPACE: 6}.get(shape.core, FRAME)
            np.testing.assert_allclose(known[:count], there.frame[:count], rtol=0, atol=1e-14)
            np.testing.assert_allclose(same[:count], there.frame[:count], rtol=0, atol=1e-14)


if __name__ == "__main__":
    print(json.dumps(some_of_every_kind()))


def test_without_self_collision_only_the_world_is_near() -> None:
    arm = pz.load("panda_collision")
    folded = next(q for q in arm.sample(400, seed=0) if arm.in_collision(q))
    world = pz.World({"ball": pz.Sphere((3.0, 0.0, 0.5), 0.1)})
    alone, both = (arm.distance(folded, world, self_collision=own) for own in (False, True))
    assert both.distance < 0.0 < alone.distance
    assert "ball" in alone.pair
    assert not arm.in_collision(folded, world, self_collision=False)
    many = arm.distance(arm.sample(20, seed=1), world, self_collision=False)
    limit = pz.CollisionLimit(world, self_collision=False)
    singles = [limit.nearest(arm, q).distance for q in arm.sample(20, seed=1)]
    np.testing.assert_allclose(many.distance, singles, atol=1e-12)
    assert arm.distance(folded, self_collision=False).distance == np.inf
    with refused("not-a-bool", "self_collision"):
        arm.distance(folded, world, self_collision=0)  # type: ignore[arg-type]
