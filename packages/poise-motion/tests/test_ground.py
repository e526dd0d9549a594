"""Boxes, stairs and terrain: where a body stands on them, and a robot that does as it does."""

from functools import cache

import numpy as np
import pytest
from bodies import robot
from support.captures import climber, climbs, needs_holosoma
from support.refusals import refused
from walker import NAMES, parents, positions, walk

import poise as pz
from poise.clouds import HeightMap
from poise.common.array import Array
from poise_motion.contact.surface import Surface

TREAD, RISE = 0.3, 0.17
"""Of stairs [m]."""


def stairs() -> pz.World:
    """Steps along x, each a box from the floor up; the first ankle on each is 0.1 m behind its middle."""
    return pz.World({
        f"step{k}": pz.Box(pz.SE3.from_parts((TREAD * k + 0.05, 0.0, 0.5 * RISE * k)), (TREAD, 2.0, RISE * k))
        for k in range(1, 8)
    })  # fmt: skip


@cache
def upstairs() -> pz.results.Retargeted:
    motion = walk(30.0, 1.2, stride=2.0 * TREAD, rise=2.0 * RISE, clearance=0.06, apart=0.5)
    return pz.retarget(motion, robot("g1"), ground=stairs())


def slope(angle: float) -> HeightMap:
    """A ramp up along x, of which the origin is 1 m high."""
    x = np.linspace(-4.0, 4.0, 400)
    return HeightMap(np.tile(1.0 + np.tan(angle) * x, (100, 1)), 0.02)


def lowest_of(done: pz.results.Retargeted, part: str) -> Array:
    """(frames,) how high the lowest point of a foot's sole is over the world's ground beneath it [m]."""
    assert done.ground is not None
    model, frame = done.motion.model, done.body.robot[part]
    surface = Surface(done.ground)
    places = np.array([model.pose(frame, q).act(done._robot.balls(part)) for q in done.motion.q])
    return (places[..., 2] - surface(places.reshape(-1, 3)).reshape(places.shape[:2])).min(axis=1) - 0.005


def test_the_height_of_the_ground() -> None:
    """On stairs, before a wall, on a table and under it."""
    world = stairs()
    world.add("table", pz.Box(pz.SE3.from_parts((-2.0, 0.0, 0.7)), (1.0, 1.0, 0.04)))
    surface = Surface(world)
    rng = np.random.default_rng(0)
    steps = rng.integers(0, 7, 200)
    x = TREAD * steps + 0.05 + rng.uniform(-0.13, 0.13, 200)
    places = np.column_stack([x, rng.uniform(-0.9, 0.9, 200), RISE * steps + rng.uniform(-0.05, 1.0, 200)])
    assert np.allclose(surface(places), RISE * steps, atol=1e-6)
    assert np.allclose(surface(np.array([[-2.0, 0.0, 0.9], [-2.0, 0.0, 0.3]])), [0.72, 0.0], atol=1e-6)
    assert np.allclose(surface.scaled(0.5)(0.5 * places), 0.5 * RISE * steps, atol=1e-6)


def test_how_the_ground_slopes() -> None:
    ramp = Surface.of(slope(0.2))
    assert ramp is not None
    assert np.allclose(ramp.normal(np.array([0.3, 0.1, 1.1])), [-np.sin(0.2), 0.0, np.cos(0.2)], atol=0.02)
    edge = Surface(stairs())
    assert np.array_equal(edge.normal(np.array([0.5 * TREAD + 0.05, 0.0, 0.3])), [0.0, 0.0, 1.0])


def test_shapes_of_every_kind_are_scaled() -> None:
    there = pz.SE3.from_xyz_rpy((0.4, -0.2, 0.3), (0.1, 0.2, 0.3))
    cloud = pz.clouds.PointCloud(np.random.default_rng(0).normal(size=(20, 3)), 0.05, pose=there)
    shapes = {
        "ball": pz.Sphere((0.5, 0.0, 0.5), 0.2),
        "rod": pz.Capsule((0.0, 0.0, 0.2), (0.5, 0.1, 0.4), 0.1),
        "tin": pz.Cylinder(there, 0.2, 0.5),
        "box": pz.Box(there, (0.2, 0.3, 0.4)),
        "hull": pz.ConvexHull(np.random.default_rng(1).normal(size=(9, 3)), 0.02, pose=there),
        "map": HeightMap([[0.1, 0.2], [0.3, 0.1]], 0.5, pose=there),
        "plane": pz.HalfSpace((0.0, 0.0, 0.1), (0.1, 0.0, 1.0)),
        "cloud": cloud,
    }
    places = np.random.default_rng(2).uniform(-1.0, 1.0, (50, 3))
    from poise_motion.contact.surface import distances

    for name, shape in shapes.items():
        whole = pz.World({name: shape})
        half = pz.World({name: Surface(whole).scaled(0.5).world[name]})
        assert np.allclose(distances(half, 0.5 * places), 0.5 * distances(whole, places), atol=1e-9), name


def test_feet_stand_on_the_steps_of_stairs() -> None:
    """Which are scaled with the body; nothing of the robot is in them, and no toe in the next riser."""
    done = upstairs()
    assert done.ground is not None
    stood = {(one.shapes, round(one.ground, 3)) for one in done.contacts.intervals}
    assert stood <= {(("floor",), 0.0), *(((f"step{k}",), round(RISE * k, 3)) for k in range(1, 8))}
    assert len(stood) >= 3
    scale = done._robot.scale
    assert np.allclose(done.ground["step2"].size, scale * np.array([TREAD, 2.0, 2.0 * RISE]))
    deep = done.motion.model.distance(done.motion.q, done.ground, self_collision=False).distance
    assert deep.min() > -0.002
    for part in ("left_ankle", "right_ankle"):
        heights = lowest_of(done, part)[done.contacts[part]]
        assert (np.abs(heights) < 0.02).mean() > 0.97
    report = done.report
    assert report.ground.kept > 0.97
    assert report.ground.depth < 0.002
    assert report.limits.broken == report.limits.too_fast == 0.0
    assert report.skate.share == 0.0


def test_soles_lie_on_a_slope() -> None:
    angle = 0.15
    motion = walk(30.0, 1.5, stride=0.6, rise=0.6 * np.tan(angle), clearance=0.06)
    q = motion.q.copy()
    q[:, 2] += 1.0
    done = pz.retarget(pz.Motion(motion.model, motion.times, q), robot("g1"), ground=slope(angle))
    normals = np.array([one.normal for one in done.contacts.intervals])
    assert len(normals)
    assert np.allclose(normals, [-np.sin(angle), 0.0, np.cos(angle)], atol=0.03)
    assert done.report.ground.kept > 0.9
    assert done.report.ground.depth < 0.02


@needs_holosoma
def test_hands_and_knees_stand_on_a_box_that_is_climbed() -> None:
    """A person puts hands, then knees, then feet on a box of 0.95 m; the robot is nowhere in it."""
    names, parents = climber()
    file = climbs()[1]
    hulls = {
        mesh.stem: np.array([line.split()[1:4] for line in mesh.read_text().splitlines() if line.startswith("v ")])
        for mesh in sorted((file.parent / "box_models").glob("*.obj"))
    }
    boxes = pz.World({name: pz.ConvexHull(corners.astype(float)) for name, corners in hulls.items()})
    motion = pz.motion_from_positions(np.load(file)[::8][40:125], names, parents, fps=15.0)
    done = pz.retarget(motion, robot("g1"), ground=boxes, smooth=0.2)
    for part in ("left_wrist", "right_wrist", "left_knee", "right_knee", "left_ankle", "right_ankle"):
        on_top = [one for one in done.contacts.intervals if one.part == part and one.shapes == ("box1",)]
        assert on_top, part
        assert all(one.ground == pytest.approx(0.95, abs=0.01) for one in on_top)
    assert done.ground is not None
    deep = done.motion.model.distance(done.motion.q, done.ground, self_collision=False).distance
    assert deep.min() > -0.005
    assert done.report.limits.broken == 0.0
    assert done.report.ground.kept > 0.85


def test_what_is_no_ground_is_refused() -> None:
    motion = walk(30.0, 0.1)
    with refused("wrong-type", "ground"):
        pz.retarget(motion, robot("g1"), ground=0.3)  # type: ignore[call-overload]
    with refused("out-of-range", "ground['ground']"):
        pz.retarget(motion, robot("g1"), ground=HeightMap([[-0.1]], 1.0))
    with refused("not-supported", "velocities move"):
        pz.retarget(motion, robot("g1"), ground=robot("g1"))
    with refused("not-supported", "base='floating'"):
        pz.retarget(motion, robot("g1", "fixed"), ground=stairs())
    twice = [pz.CollisionLimit(pz.World({"step1": pz.Sphere((9.0, 0.0, 0.0), 0.1)}))]
    with refused("duplicate", "'step1'"):
        pz.retarget(motion, robot("g1"), ground=stairs(), limits=twice)
    with refused("not-a-bool", "self_collision"):
        pz.retarget(motion, robot("g1"), self_collision=1)  # type: ignore[call-overload]


def test_the_urdf_of_a_scene_is_ground() -> None:
    builder = pz.ModelBuilder("scene")
    place = pz.SE3.from_parts((1.0, 0.0, 0.2))
    builder.joint("fixed", "fixed", parent="world", child="block", origin=place)
    builder.shape("block", pz.Box(pz.SE3.identity(), (1.0, 1.0, 0.4)))
    surface = Surface.of(builder.build())
    assert surface is not None
    assert np.allclose(surface(np.array([[1.0, 0.0, 1.0], [3.0, 0.0, 1.0]])), [0.4, 0.0], atol=1e-6)


def into_the_trunk() -> pz.Motion:
    """A body that stands and takes an arm slowly to where a G1 is wider."""
    times = np.linspace(0.0, 2.0, 61)
    places = positions(times, stride=0.0, clearance=0.0, duty=1.0)[0].copy()
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        shoulder, elbow, hand = (NAMES.index(side + name) for name in ("Arm", "ForeArm", "Hand"))
        aside = 0.5 - 0.5 * (side == "Left") * np.sin(0.5 * np.pi * times) ** 2
        way = np.stack([0.0 * aside, sign * np.sin(aside), -np.cos(aside)], axis=1)
        places[:, elbow] = places[:, shoulder] + 0.28 * way
        places[:, hand] = places[:, elbow] + 0.26 * way
    return pz.motion_from_positions(places, NAMES, parents(), fps=30.0)


def test_links_that_would_meet_are_kept_apart() -> None:
    motion = into_the_trunk()
    free = pz.retarget(motion, robot("g1"), self_collision=False)
    done = pz.retarget(motion, robot("g1"))
    assert free.report.meets is not None
    assert done.report.meets is not None
    assert free.report.meets.mean() > 0.1
    assert not done.report.meets.any()
    assert np.nanmean(done.report.tracking.direction - free.report.tracking.direction) < np.radians(2.0)
    before = int(np.argmax(free.report.meets)) - 4  # a run-in of an eighth of a second
    assert before > 10
    assert np.array_equal(done.motion.q[:before], free.motion.q[:before])
    assert not np.array_equal(done.motion.q[before], free.motion.q[before])
    same = pz.retarget(motion, robot("g1"))
    assert np.array_equal(same.motion.q, done.motion.q)


def test_limits_of_accelerations_hold_where_links_are_kept_apart() -> None:
    model, most = robot("g1"), 30.0
    limit = pz.AccelerationLimit({joint.name: most for joint in model.joints if joint.nq == 1})
    done = pz.retarget(into_the_trunk(), model, limits=[limit])
    assert done.report.meets is not None
    assert not done.report.meets.any()
    assert np.abs(np.diff(done.motion.q[:, 7:], n=2, axis=0)).max() * 900.0 < most * (1.0 + 1e-6)


def test_where_that_costs_too_much_a_note_says_so() -> None:
    """Hands that swing within wide hips: kept apart, the joints of the arms jerk."""
    motion = walk(24.0, 1.0)
    free = pz.retarget(motion, robot("g1"), self_collision=False)
    done = pz.retarget(motion, robot("g1"))
    assert np.array_equal(done.motion.q, free.motion.q)
    assert any("links stay in one another" in note for note in done.notes)
    assert not any("links stay in one another" in note for note in free.notes)
