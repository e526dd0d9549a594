"""Distances of a whole robot: against coal for every pair, in lanes, while the world changes."""

import pickle

import coal
import numpy as np
import pytest
from support.refusals import refused

import poise as pz
from poise.kernels.collision import queries
from poise.kernels.machine.jit import prepare
from poise.model.movers import Movers
from poise.model.proximity import excluded_pairs, nearest_of_many, slopes_of_many
from poise.model.scene import Scene

ROBOT = "panda_collision"


@pytest.fixture(scope="module")
def arm() -> pz.Model:
    return pz.load(ROBOT)


def room() -> pz.World:
    return pz.World(
        {
            "ball": pz.Sphere((0.5, 0.1, 0.5), 0.1),
            "post": pz.Capsule((-0.4, -0.4, 0.0), (-0.4, -0.4, 1.0), 0.05),
            "table": pz.Box(pz.SE3.from_xyz_rpy((0.6, 0.0, 0.1), (0.1, 0.2, 0.3)), (0.5, 0.8, 0.05)),
            "floor": pz.HalfSpace((0.0, 0.0, -0.3), (0.0, 0.1, 1.0)),
            "wedge": pz.ConvexHull([(0.0, 0.6, 0.2), (0.3, 0.6, 0.2), (0.0, 0.9, 0.2), (0.1, 0.7, 0.8)]),
        }
    )


def as_coal(shape: pz.geometry.shapes.Shape, pose: pz.SE3):
    """The geometry and the placement that coal takes; its half-spaces are below a plane too."""
    core = shape.core
    at = pose @ core.pose
    place = coal.Transform3s(at.rotation.matrix(), at.xyz)
    if isinstance(shape, pz.Sphere):
        return coal.Sphere(shape.radius), place
    if isinstance(shape, pz.Capsule):
        return coal.Capsule(shape.radius, shape.length), place
    if isinstance(shape, pz.Box):
        return coal.Box(*shape.size), place
    if isinstance(shape, pz.HalfSpace):
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0), place
    points = coal.StdVec_Vec3s()
    points.extend(list(core.vertices))
    return coal.Convex.convexHull(points, False, ""), place


def least_by_coal(arm: pz.Model, q, world: pz.World) -> float:
    """The least distance of all pairs that may meet."""
    excluded = excluded_pairs(arm)
    links = [(link, shape, arm.pose(link, q)) for link, shapes in arm.fitted_shapes.items() for shape in shapes]
    still = arm.tree.links
    least = np.inf
    for i, (one, a, at) in enumerate(links):
        others = [
            (other, b, to) for other, b, to in links[:i] if frozenset((one, other)) not in excluded and one != other
        ]
        if still[one][0] >= 0:
            others += [(name, world[name], pz.SE3.identity()) for name in world]
        for _, b, to in others:
            first, second = as_coal(a, at), as_coal(b, to)
            least = min(least, coal.distance(*first, *second, coal.DistanceRequest(), coal.DistanceResult()))
    return least


def test_least_distance_is_that_of_all_pairs_by_coal(arm: pz.Model) -> None:
    world = room()
    for q in arm.sample(60, seed=1):
        assert arm.distance(q, world).distance == pytest.approx(least_by_coal(arm, q, world), abs=2e-6)


def test_boxes_of_any_size_are_as_near_as_coal_says(arm: pz.Model) -> None:
    rng = np.random.default_rng(3)
    sizes = {link: rng.uniform(0.02, 0.2, 3) for link in arm.fitted_shapes}
    boxed = arm.with_shapes({link: pz.Box(pz.SE3.identity(), size) for link, size in sizes.items()})
    world = pz.World({"wall": pz.Box(pz.SE3.from_parts((0.7, 0.0, 0.5)), (0.01, 2.0, 2.0))})
    for k, place in enumerate(rng.uniform(-0.7, 0.7, (6, 3))):
        pose = pz.SE3.from_xyz_rpy(place, rng.uniform(-3.0, 3.0, 3))
        world.add(f"crate{k}", pz.Box(pose, rng.uniform(0.02, 0.4, 3)))
    for q in boxed.sample(60, seed=4):
        assert boxed.distance(q, world).distance == pytest.approx(least_by_coal(boxed, q, world), abs=2e-6)


def test_links_are_packed_once_for_all_worlds(arm: pz.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = pz.CollisionLimit(room())
    first = limit.scene(arm)
    monkeypatch.setattr(Movers, "of", None)
    other = pz.World({name: room()[name] for name in reversed(room().names)})
    other.add("crate", pz.Box(pz.SE3.from_parts((0.0, -0.6, 0.5)), (0.2, 0.2, 0.2)))
    again, apart = pz.CollisionLimit(room()).scene(arm), pz.CollisionLimit(other).scene(arm)
    assert np.array_equal(first.words[: len(again.words)], again.words)
    q = arm.sample(50, seed=5)
    near = nearest_of_many(apart, q)
    crates = nearest_of_many(Scene(arm, arm.fitted_shapes, pz.World({"crate": other["crate"]}), excluded=None), q)
    assert np.array_equal(near.distance, np.minimum(nearest_of_many(first, q).distance, crates.distance))
    assert ((near.distance == crates.distance) == (near.pair == "crate").any(axis=1)).all()


def test_lanes_give_what_one_configuration_gives(arm: pz.Model) -> None:
    world, q = room(), arm.sample(203, seed=2)
    many = arm.distance(q, world)
    assert len(many) == len(q)
    for i, one in enumerate(q):
        alone = arm.distance(one, world)
        assert many.distance[i] == pytest.approx(alone.distance, abs=1e-12)
        near = many[i]
        if near.pair == alone.pair:
            np.testing.assert_allclose(near.points, alone.points, atol=1e-9)
    assert (arm.in_collision(q, world) == (many.distance < 0.0)).all()
    assert (arm.in_collision(q, world, min_distance=0.05) == (many.distance < 0.05)).all()


def test_answers_depend_on_nothing_that_is_asked_beside_them_or_before(arm: pz.Model) -> None:
    world, q = room(), arm.sample(150, seed=3)
    for name in ("ball", "table", "wedge", "floor"):
        world.add(f"the {name} again", world[name])  # as near as the first of its kind
    world.add("corner", pz.ConvexHull([(0.4, -0.5, 0.4), (0.8, -0.5, 0.4), (0.4, -0.9, 0.4), (0.4, -0.5, 0.8)]))
    many, order = arm.distance(q, world), np.random.default_rng(0).permutation(len(q))
    shuffled = arm.distance(q[order], world)
    assert (many.distance[order] == shuffled.distance).all()
    assert (many.pair[order] == shuffled.pair).all()
    assert (many.points[order] == shuffled.points).all()
    for i in order:
        alone, again = arm.distance(q[i], world), arm.distance(q[i], room())
        assert alone.pair == tuple(many.pair[i])
        assert alone.distance == pytest.approx(many.distance[i], abs=1e-12)
        assert alone.distance <= again.distance + 1e-12
        assert "again" not in alone.pair[1]


def test_points_lie_on_the_pair_and_are_the_distance_apart(arm: pz.Model) -> None:
    world = room()
    for q in arm.sample(50, seed=3):
        near = arm.distance(q, world)
        between = near.points[1] - near.points[0]
        np.testing.assert_allclose(between, near.distance * near.normal, atol=1e-8)
        assert np.linalg.norm(near.normal) == pytest.approx(1.0)


def test_slopes_are_the_derivative_of_the_distance(arm: pz.Model) -> None:
    scene = Scene(arm, arm.fitted_shapes, (world := room()), excluded=excluded_pairs(arm))
    prepare(queries.nearest_at)
    step, checked = 1e-6, 0
    for q in arm.sample(40, seed=4):
        scene.q[:] = q
        queries.nearest_at(*scene.addresses)
        pair = scene.near[:2].copy()
        slopes = slopes_of_many(scene, q[None])[0]
        for v in range(arm.nv):
            ends = []
            for sign in (1.0, -1.0):
                scene.q[:] = arm.integrate(q, sign * step * np.eye(arm.nv)[v])
                ends.append(queries.nearest_at(*scene.addresses))
                if (scene.near[:2] != pair).any():
                    ends.append(np.nan)
            if len(ends) == 2 and abs(ends[0] - 2.0 * arm.distance(q, world).distance + ends[1]) < 1e-11:
                assert (ends[0] - ends[1]) / (2.0 * step) == pytest.approx(slopes[v], abs=1e-5)
                checked += 1
    assert checked > 200


def test_shapes_are_followed_as_they_change(arm: pz.Model) -> None:
    world, q = pz.World({"ball": pz.Sphere((3.0, 0.0, 0.5), 0.1)}), arm.home
    alone = arm.distance(q).distance
    assert arm.distance(q, world).distance == alone
    hand = arm.pose("panda_hand", q).xyz
    world.move("ball", pz.SE3.from_parts(hand + np.array((0.0, 0.0, 1e-3))))
    near = arm.distance(q, world)
    assert "ball" in near.pair
    assert near.distance < 0.0
    world.replace("ball", pz.Sphere(hand, 0.2))
    assert arm.distance(q, world).distance < near.distance
    assert arm.distance(q[None], world).distance[0] < near.distance
    world.add("wall", pz.Box(pz.SE3.from_parts(hand), (1.0, 1.0, 1.0)))
    assert arm.distance(q, world).pair[1] in ("wall", "ball")
    world.remove("wall")
    world.remove("ball")
    assert arm.distance(q, world).distance == alone
    assert arm.distance(q[None], world).distance[0] == pytest.approx(alone, abs=1e-12)


def test_what_a_link_carries_moves_with_it_and_may_touch_it(arm: pz.Model) -> None:
    world = pz.World({"plate": pz.Box(pz.SE3.from_parts((0.5, 0.0, 0.3)), (0.2, 0.2, 0.02))})
    world.attach(
        "stick",
        pz.Capsule((0.0, 0.0, 0.1), (0.0, 0.0, 0.3), 0.01),
        "panda_hand",
        allowed=("panda_leftfinger", "panda_rightfinger"),
    )
    world.attach("tip", pz.Sphere((0.0, 0.0, 0.3), 0.012), "panda_hand")
    q = pz.solve(arm, pz.PoseTask("panda_hand", target=pz.SE3.from_xyz_rpy((0.5, 0.0, 0.7), (np.pi, 0.0, 0.0)))).q
    near = arm.distance(q, world)
    assert set(near.pair) == {"tip", "plate"}
    assert near.distance == pytest.approx(0.7 - 0.3 - 0.012 - 0.31, abs=1e-5)


def test_a_robot_without_shapes_meets_nothing() -> None:
    arm = pz.load("ur10").with_shapes({})
    near = arm.distance(arm.home)
    assert near.distance == np.inf
    assert near.pair == ("", "")
    assert np.isnan(near.points).all()
    assert not arm.in_collision(arm.home)
    assert (arm.distance(arm.sample(9, seed=0)).distance == np.inf).all()
    assert len(arm.distance(np.zeros((0, arm.nq)))) == 0


def test_numbers_that_are_none_are_refused(arm: pz.Model) -> None:
    with refused("not-finite", "q[1]"):
        arm.distance([0.0, np.nan, *[0.0] * (arm.nq - 2)])
    with pytest.raises(pz.ShapeError, match="must have 8 numbers"):
        arm.distance([0.0, 1.0])
    with pytest.raises(pz.ShapeError, match=r"must have shape \(8,\) or \(n, 8\)"):
        arm.distance(np.zeros((2, 3, arm.nq)))
    world = pz.World()
    world.attach("stick", pz.Sphere((0, 0, 0), 0.1), "panda_hnd")
    with pytest.raises(pz.FrameNotFound, match="panda_hand"):
        arm.distance(arm.home, world)
    moving = pz.World()
    moving.attach("plane", pz.HalfSpace((0, 0, 0), (0, 0, 1)), "panda_hand")
    with refused("not-supported"):
        arm.distance(arm.home, moving)


def test_pairs_that_no_file_names_are_found_by_sampling() -> None:
    told = pz.load(ROBOT)
    arm = told.with_shapes(told.shapes, disabled=[])
    found = excluded_pairs(arm)
    assert frozenset(("panda_link3", "panda_link4")) in found  # joined by a joint
    assert frozenset(("panda_link0", "panda_hand")) not in found
    q = arm.sample(500, seed=9)
    assert (arm.distance(q).distance <= told.distance(q).distance + 0.05).mean() > 0.9
    assert excluded_pairs(pickle.loads(pickle.dumps(arm))) == found


def test_threads_share_a_model_and_a_world(arm: pz.Model) -> None:
    from concurrent.futures import ThreadPoolExecutor

    world, q = room(), arm.sample(400, seed=5)
    expected = [arm.distance(x, world).distance for x in q]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda x: arm.distance(x, world).distance, q)) == expected


def test_what_is_no_world_and_no_distance_is_refused(arm: pz.Model) -> None:
    with refused("wrong-type", "world"):
        arm.distance(arm.home, {"ball": pz.Sphere((0, 0, 0), 1)})  # type: ignore[arg-type]
    with refused("not-a-sequence", "shapes"):
        pz.World(None)  # type: ignore[arg-type]
    for wrong in (float("nan"), -0.1, "near"):
        with pytest.raises(ValueError, match="min_distance is"):
            arm.in_collision(arm.home, min_distance=wrong)


def test_a_builder_that_names_a_pair_names_all_that_are_left_out() -> None:
    b = pz.ModelBuilder("arm")
    for k in range(3):
        b.joint(f"joint{k}", "revolute", parent=f"link{k}", child=f"link{k + 1}", axis=(0, 1, 0), limits=(-2, 2))
        b.shape(f"link{k + 1}", pz.Sphere((0, 0, 0), 0.1))
    assert frozenset(("link1", "link2")) in excluded_pairs(b.build())
    b.disable("link1", "link3")
    assert excluded_pairs(b.build()) == {frozenset(("link1", "link3"))}
