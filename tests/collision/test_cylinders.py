"""Distances of cylinders, against coal, against what support functions promise, and where they are degenerate."""

from typing import Any

import coal
import numpy as np
import pytest
from by_coal import as_coal
from hypothesis import example, given, settings
from hypothesis import strategies as st
from measuring import Shape, measured, random_shape, random_turn
from scipy.optimize import minimize, nnls
from scipy.spatial.transform import Rotation

import poise as pz
from poise.common.array import Array
from poise.kernels.collision.directions import TOUCH
from poise.kernels.machine.layout import CYLINDER, HALF_SPACE, HULL, WIDTH

SOLIDS = ["point", "segment", "box", "hull", "cylinder"]
EXACT = ["point", "segment", "box", "hull"]
"""Whose distance from a cylinder ends as that of polytopes does, once they are apart."""


def random_pairs(a: str, count: int = 120, seed: int = 0) -> list[tuple[Shape, Shape]]:
    """Pairs that are apart, touch and overlap; the second is a cylinder."""
    rng = np.random.default_rng([seed, *map(ord, a)])
    return [(random_shape(rng, a, s), random_shape(rng, "cylinder", s)) for s in rng.choice([0.05, 0.3, 0.6], count)]


def reach(shape: Shape, ways: Array) -> Array:
    """(n,) how far a shape goes along unit vectors (n, 3)."""
    seen = ways @ shape.turn
    if shape.core == CYLINDER:
        own = shape.half[0] * np.hypot(seen[..., 0], seen[..., 1]) + shape.half[2] * np.abs(seen[..., 2])
    elif shape.core == HULL:
        own = (seen @ shape.vertices.T).max(axis=-1)
    else:
        own = np.abs(seen) @ shape.half
    return np.asarray(ways @ shape.place + own + shape.radius)


def gap(pair: tuple[Shape, Shape], way: Array) -> float:
    """How far a pair is apart along a unit vector; no distance is less, and no depth more."""
    return float(-reach(pair[0], way) - reach(pair[1], -way))


def out_of(shape: Shape, point: Array) -> float:
    """How far a point is out of a shape."""
    local = (point - shape.place) @ shape.turn
    if shape.core == CYLINDER:
        local = np.array([np.hypot(local[0], local[1]), 0.0, local[2]])
    if shape.core == HULL:  # what no weights of the vertices, which add up to 1, make good
        system = np.vstack([shape.vertices.T, np.ones(len(shape.vertices))])
        return float(nnls(system, [*local, 1.0])[1]) - shape.radius
    return float(np.linalg.norm(local - np.clip(local, -shape.half, shape.half))) - shape.radius


def widest(pair: tuple[Shape, Shape], ways: Array) -> float:
    """The widest gap of a pair, from the best of many directions on."""

    def narrow(way: Array) -> float:
        return -gap(pair, way / np.linalg.norm(way))

    gaps = -reach(pair[0], ways) - reach(pair[1], -ways)
    settings = {"xatol": 1e-10, "fatol": 1e-13, "maxiter": 800}
    best = [minimize(narrow, ways[i], method="Nelder-Mead", options=settings).fun for i in np.argsort(-gaps)[:3]]
    return -min([*best, *(narrow(way) for way in (pair[1].turn[:, 2], -pair[1].turn[:, 2]))])


def cylinder(radius: float, length: float, place: Any = (0, 0, 0), axis: Any = (0, 0, 1)) -> Shape:
    turn = Rotation.align_vectors([axis], [[0.0, 0.0, 1.0]])[0].as_matrix()
    half = np.array([radius, radius, 0.5 * length])
    return Shape(CYLINDER, half, 0.0, np.zeros((0, 3)), turn, np.array(place, dtype=float))


def known(first: Shape, second: Shape) -> Array:
    return np.asarray(measured([(first, second)])[0, 0])


@pytest.mark.parametrize("a", SOLIDS)
def test_what_is_apart_is_so_far_apart(a: str) -> None:
    """Two points are no nearer than the shapes, and a direction shows no more of a gap than there is: both are told."""
    pairs, most = random_pairs(a, 200), 1e-13 if a in EXACT else 1e-10
    apart = 0
    for pair, (distance, *rest) in zip(pairs, measured(pairs)[:, 0], strict=True):
        p, q, n = np.array(rest).reshape(3, 3)
        assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-14)
        assert max(out_of(pair[0], p), out_of(pair[1], q)) < (
            most + 1e-12 if distance > 0.0 else 1e-7 if a in EXACT else 1e-5
        )
        assert q - p == pytest.approx(distance * n, abs=1e-12)
        # Where the cores touch it is a depth, whatever the radii are.
        if distance > pair[0].radius + pair[1].radius + 1e-6:
            apart += 1
            assert gap(pair, n) == pytest.approx(distance, abs=most)
    assert apart > 20


@pytest.mark.parametrize("a", SOLIDS)
def test_a_depth_parts_them_and_no_direction_parts_them_sooner(a: str) -> None:
    rng = np.random.default_rng(1)
    ways = rng.normal(size=(1000, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    pairs = random_pairs(a, 12, seed=1)
    for pair, (distance, *rest) in zip(pairs, measured(pairs)[:, 0], strict=True):
        n = np.array(rest[6:])
        assert gap(pair, n) == pytest.approx(distance, abs=1e-10)
        if distance < 0.0:
            assert widest(pair, ways) < distance + 1e-7


@pytest.mark.parametrize("a", SOLIDS)
def test_distances_are_those_of_coal(a: str) -> None:
    pairs = random_pairs(a, seed=2)
    asked = coal.DistanceRequest()
    asked.gjk_tolerance = asked.epa_tolerance = 1e-9
    asked.gjk_max_iterations = asked.epa_max_iterations = 1000
    wrong = 0
    for pair, row in zip(pairs, measured(pairs)[:, 0], strict=True):
        sides = [side for shape in pair for side in solid(shape)]
        by_coal = coal.distance(*sides, asked, coal.DistanceResult())
        # Deep inside coal may find no way out, or a longer one; apart it is the nearest points that count.
        wrong += abs(row[0] - by_coal) > 1e-6
        assert row[0] > by_coal - 1e-6 or row[0] < 0.0 or gap(pair, row[7:]) == pytest.approx(row[0], abs=1e-10)
    assert wrong < 0.1 * len(pairs)


def solid(shape: Shape) -> tuple[Any, Any]:
    """What coal takes a shape for, and where it is."""
    place, size = pz.SE3.identity(), 2.0 * np.asarray(shape.half)
    made: Any
    if shape.core == CYLINDER:
        made = pz.Cylinder(place, shape.half[0], size[2])
    elif shape.core == HULL:
        made = pz.ConvexHull(shape.vertices, pose=place)
    else:
        made = pz.Box(place, size)
    body, _ = as_coal(made) if shape.core != HULL else (as_coal(made.at(place))[0], None)
    body.setSweptSphereRadius(shape.radius)
    turn, at = shape.turn, shape.place
    if shape.core == HULL:  # whose corners coal has as seen from its spine
        spine = made.core.pose
        turn, at = turn @ spine.rotation.matrix(), at + turn @ spine.xyz
    return body, coal.Transform3s(turn, at)


@pytest.mark.parametrize("a", ["point", "segment", "box", "hull", "cylinder", "plane"])
def test_lanes_order_and_motions_change_nothing(a: str) -> None:
    rng, pairs = np.random.default_rng(3), []
    least = 1e-12 if a in ("point", "plane") else 1e-7
    for first, second in random_pairs(a, 12, seed=3):
        pairs += [
            (first.moved(random_turn(rng), np.zeros(3)), second.moved(random_turn(rng), np.zeros(3)))
            for _ in range(WIDTH)
        ]
    found = measured(pairs)[:, 0]
    wide = measured(pairs, WIDTH).reshape(len(pairs), -1)
    assert wide[:, 0] == pytest.approx(found[:, 0], abs=1e-9)
    back = measured([pair[::-1] for pair in pairs])[:, 0]
    assert back[:, 0] == pytest.approx(found[:, 0], abs=least)
    if a != "cylinder":
        np.testing.assert_array_equal(back[:, 7:], -found[:, 7:])
    turn, way = random_turn(rng), rng.uniform(-1, 1, 3)
    moved = measured([(first.moved(turn, way), second.moved(turn, way)) for first, second in pairs])[:, 0]
    assert moved[:, 0] == pytest.approx(found[:, 0], abs=least)


@pytest.mark.parametrize("a", ["point", "segment", "box", "hull", "cylinder", "plane"])
def test_the_derivative_is_the_normals_product_with_the_points_velocities(a: str) -> None:
    """But for the few that are at an edge of the distance, where it has none, and where rounding chooses the points."""
    rng, step = np.random.default_rng(4), 1e-5
    pairs = [pair for pair in random_pairs(a) if not np.all(pair[0].turn == np.round(pair[0].turn))]
    found = measured(pairs)[:, 0]
    twists = rng.normal(size=(len(pairs), 4, 3))
    ahead, behind = [], []
    for (first, second), (v1, w1, v2, w2) in zip(pairs, twists, strict=True):
        for sign, to in ((step, ahead), (-step, behind)):
            to.append((stepped(first, v1, w1, sign), stepped(second, v2, w2, sign)))
    numeric = (measured(ahead)[:, 0, 0] - measured(behind)[:, 0, 0]) / (2.0 * step)
    promised = []
    for (first, second), row, (v1, w1, v2, w2) in zip(pairs, found, twists, strict=True):
        p, q, n = row[1:4], row[4:7], row[7:]
        promised.append(n @ (v2 + np.cross(w2, q - second.place) - v1 - np.cross(w1, p - first.place)))
    assert (np.abs(numeric - promised) > 1e-3).mean() < 0.07


def stepped(shape: Shape, v: Array, w: Array, time: float) -> Shape:
    """A shape that has moved with these velocities of its place and about it."""
    turn = Rotation.from_rotvec(w * time).as_matrix() @ shape.turn
    return Shape(shape.core, shape.half, shape.radius, shape.vertices, turn, shape.place + v * time)


FLOOR = Shape(HALF_SPACE, np.zeros(3), 0.0, np.zeros((0, 3)), np.eye(3), np.zeros(3))
X, Z, UP = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0]), (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("pair", "distance"),
    [
        ((cylinder(0.1, 1.0), cylinder(0.1, 1.0)), -0.2),  # one in the other
        ((cylinder(0.1, 1.0), cylinder(0.2, 1.0, (0.05, 0, 0))), -0.25),
        ((cylinder(0.1, 1.0), cylinder(0.1, 1.0, (0.5, 0, 0.3))), 0.3),  # side by side
        ((cylinder(0.1, 1.0), cylinder(0.1, 1.0, (0.2, 0, 0.3))), 0.0),
        ((cylinder(0.1, 1.0), cylinder(0.1, 1.0, (0, 0, 1.5))), 0.5),  # end to end
        ((cylinder(0.1, 1.0), cylinder(0.1, 1.0, (0, 0, 1.0))), 0.0),
        ((cylinder(0.1, 1.0), cylinder(0.1, 1.0, (0.3, 0, 1.2))), np.hypot(0.1, 0.2)),  # rim to rim
        ((cylinder(0.1, 1.0), cylinder(0.1, 1.0, (0, 0.5, 0), X)), 0.3),  # crossed
        ((cylinder(0.1, 1.0), cylinder(0.1, 1.0, (0, 0, 0), X)), -0.2),
        ((cylinder(0.5, 0.0), cylinder(0.5, 0.0, (0, 0, 0.4))), 0.4),  # discs
        ((cylinder(0.5, 0.0), cylinder(0.5, 0.0, (1.2, 0, 0))), 0.2),
        ((cylinder(0.5, 0.0), cylinder(0.5, 0.0)), 0.0),
        ((cylinder(0.5, 0.0), cylinder(0.5, 0.0, (0, 0, 0.6), X)), 0.1),
        ((cylinder(0.0, 1.0), cylinder(0.0, 1.0, (0, 0.2, 0), X)), 0.2),  # needles
        ((cylinder(0.0, 0.0), cylinder(0.1, 1.0)), -0.1),  # a point
        ((cylinder(0.1, 1.0, (0, 0, 0.7)), FLOOR), 0.2),
        ((cylinder(0.1, 1.0, (0, 0, 0.7), X), FLOOR), 0.6),
        ((cylinder(0.1, 1.0, (0, 0, 0.7), X + Z), FLOOR), 0.7 - 0.6 * np.sqrt(0.5)),
        ((cylinder(1e-3, 2.0, (0, 0, 1.2), (0.6, 0, 0.8)), FLOOR), 1.2 - 0.8 - 0.6e-3),
        ((cylinder(0.1, 1.0, (1e3, 0, 0)), cylinder(0.1, 1.0, (-1e3, 0, 0), X)), 2e3 - 0.6),  # far away
    ],
)
def test_what_is_known_of_degenerate_pairs(pair: tuple[Shape, Shape], distance: float) -> None:
    most = 1e-12 * max(1.0, abs(distance))
    for first, second in (pair, pair[::-1]):
        row = known(first, second)
        assert row[0] == pytest.approx(distance, abs=most)
        assert row[4:7] - row[1:4] == pytest.approx(row[0] * row[7:], abs=most)
        for shape, point in ((first, row[1:4]), (second, row[4:7])):
            assert shape is FLOOR or out_of(shape, point) < most
        parted = known(first, second.moved(np.eye(3), (1.0 - row[0]) * row[7:]))
        assert parted[0] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("tilt", [0.0, 1e-16, 1e-13, 1e-10, 1e-8, 1e-6, 1e-4])
@pytest.mark.parametrize("a", ["segment", "box", "cylinder"])
def test_what_is_almost_parallel_is_as_far_as_what_is(a: str, tilt: float) -> None:
    rng = np.random.default_rng(5)
    pole = cylinder(0.1, 1.0)
    for _ in range(40):
        place = np.round(rng.uniform(-1, 1, 3) * 4) / 4
        other = cylinder(0.05, 0.4, place, [X, Z, -Z][rng.integers(3)])
        if a == "segment":
            other.core, other.half = 1, np.array([0.0, 0.0, 0.2])
        elif a == "box":
            other.core, other.half = 2, np.array([0.05, 0.05, 0.2])
        turned = stepped(other, np.zeros(3), rng.normal(size=3), tilt)
        assert known(turned, pole)[0] == pytest.approx(known(other, pole)[0], abs=2.0 * tilt + 1e-9)


sizes = st.floats(0.0, 2.0) | st.sampled_from([0.0, 1e-9, 1e-3, 1.0, 1e3])
places = st.tuples(*[st.floats(-2.0, 2.0) | st.sampled_from([0.0, 1e-9, 1e3])] * 3)
turns = st.tuples(*[st.floats(-3.0, 3.0) | st.sampled_from([0.0, np.pi / 2, 1e-9])] * 3)


@settings(max_examples=150)
@given(sizes, sizes, st.sampled_from(SOLIDS), sizes, sizes, places, turns)
@example(0.0, 0.0, "point", 0.0, 0.0, (7.6e-158, 0.0, 0.0), (0.0, 0.0, 0.0))  # whose square is nothing
@example(0.1, 1.0, "point", 0.0, 0.0, (3e-160, 0.0, 0.0), (0.0, 0.0, 0.0))
def test_no_gap_and_no_distance_is_told_that_is_not_there(
    radius: float, length: float, kind: str, x: float, z: float, place: Any, turn: Any
) -> None:
    """Whatever a pair is: along the normal it is as far apart as told, and the points are that far from each other."""
    first, pole = random_shape(np.random.default_rng(0), kind, 1.0), cylinder(radius, length)
    first.turn, first.place = Rotation.from_rotvec(turn).as_matrix(), np.array(place)
    if kind in ("box", "cylinder"):
        first.half = np.array([x, x, z])
    elif kind == "segment":
        first.half = np.array([0.0, 0.0, z])
    row = known(first, pole)
    size = 1.0 + radius + length + x + z + float(np.abs(place).max())
    assert np.linalg.norm(row[7:]) == pytest.approx(1.0, abs=1e-12)
    assert row[4:7] - row[1:4] == pytest.approx(row[0] * row[7:], abs=1e-9 * size)
    # Of cores that nearly touch rounding says the direction.  Where a face or a side is turned to the other, a search
    # ends when the distance no longer falls, which rounding decides: the direction is then right to the root of it.
    between = row[0] + first.radius
    rounding = np.finfo(float).eps * size / max(abs(between), TOUCH)
    most = (1e-9 if abs(between) > 1e-6 else 1e-6) + rounding
    along = np.abs([*(row[7:] @ first.turn), row[7:] @ pole.turn[:, 2]])
    if between > 1e-6 and ((along > 1.0 - 1e-10) | (along < 1e-5)).any():
        most += np.sqrt(rounding)
    assert gap((first, pole), row[7:]) == pytest.approx(row[0], abs=most * size)


# A robot among them ----------------------------------------------------------------------------------------------


def bins() -> pz.World:
    return pz.World(
        {
            "pole": pz.Cylinder(pz.SE3.from_parts((0.4, 0.3, 0.5)), 0.05, 1.0),
            "drum": pz.Cylinder(pz.SE3.from_xyz_rpy((0.5, -0.4, 0.3), (np.pi / 2, 0.0, 0.0)), 0.2, 0.3),
            "lid": pz.Cylinder(pz.SE3.from_xyz_rpy((0.0, 0.0, 1.2), (0.3, 0.1, 0.0)), 0.4, 0.02),
        }
    )


def test_a_robot_is_as_far_from_cylinders_as_from_what_they_are_made_of() -> None:
    """From prisms within and around: of so many sides that hardly anything is between them."""
    arm, world = pz.load("panda_collision"), bins()
    q = arm.sample(200, seed=0)
    found = arm.distance(q, world, self_collision=False)
    singles = [arm.distance(row, world, self_collision=False).distance for row in q]
    np.testing.assert_allclose(found.distance, singles, rtol=0, atol=1e-9)
    within, around = (
        arm.distance(q, pz.World({n: prism(world[n], by) for n in world}), self_collision=False).distance
        for by in (1.0, 1.0 / np.cos(np.pi / 64))
    )
    assert (found.distance <= within + 1e-9).all()
    assert (found.distance >= around - 1e-9).all()
    assert (found.distance < 0).sum() > 10


def prism(shape: Any, share: float) -> pz.ConvexHull:
    """A prism of 64 sides, whose corners are so many radii from the axis."""
    angles = np.linspace(0.0, 2.0 * np.pi, 64, endpoint=False)
    ring = share * shape.radius * np.column_stack([np.cos(angles), np.sin(angles)])
    ends = [np.column_stack([ring, np.full(64, z)]) for z in (-0.5 * shape.length, 0.5 * shape.length)]
    return pz.ConvexHull(np.concatenate(ends), pose=shape.pose)


def test_a_tracker_slides_along_cylinders_and_never_into_them() -> None:
    arm, world = pz.load("panda_collision"), bins()
    limit = pz.CollisionLimit(world, min_distance=0.01)
    loop = pz.Tracker(arm, pz.PositionTask("panda_hand"), dt=0.01, limits=[limit])
    q = pz.solve(arm, pz.PositionTask("panda_hand", (0.3, 0.1, 0.6)), limits=[limit]).q
    near = np.inf
    for k in range(300):
        q = loop.step(q, world[("pole", "drum", "lid")[k // 100]].pose.xyz)
        distance = arm.distance(q, world).distance
        assert distance >= 0.01 - 1e-9
        near = min(near, distance)
    assert near < 0.012


def test_a_cylinder_is_moved_resized_carried_and_let_go() -> None:
    arm, world = pz.load("panda_collision"), pz.World()
    world.add("can", pz.Cylinder(pz.SE3.from_parts((0.6, 0, 0.2)), 0.03, 0.12))
    limit = pz.CollisionLimit(world, self_collision=False)
    far = limit.nearest(arm, arm.home).distance
    world.replace("can", pz.Cylinder(pz.SE3.from_parts((0.6, 0, 0.2)), 0.06, 0.12))
    assert limit.nearest(arm, arm.home).distance < far
    hand = arm.pose("panda_hand", arm.home)
    world.move("can", hand @ pz.SE3.from_parts((0, 0, 0.1)))
    world.grasp("can", "panda_hand", hand, allowed=arm.fitted_shapes)
    world.add("pole", pz.Cylinder(hand @ pz.SE3.from_parts((0, 0, 0.3)), 0.05, 0.1))
    near = limit.nearest(arm, arm.home)
    assert near.pair == ("can", "pole")
    assert near.distance == pytest.approx(0.2 - 0.11, abs=1e-9)
    world.detach("can", hand)
    assert world["can"].pose.isclose(hand @ pz.SE3.from_parts((0, 0, 0.1)), atol=1e-12)
