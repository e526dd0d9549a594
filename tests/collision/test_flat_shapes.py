"""Flat and long shapes along walls: a target at rest is an arm at rest, and a slide is as smooth as in free space."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise.clouds import HeightMap, PointCloud

Array = Any
ARMS = {"panda_collision": "panda_hand", "ur5": "tool0", "xarm7": "link_eef"}
STARTS = {
    "panda_collision": [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785],
    "ur5": [0.3, -1.4, 1.6, -1.7, -1.5, 0.2],
    "xarm7": [0.2, -0.4, 0.1, 0.9, 0.1, 1.2, 0.1],
}
CORNERS = np.array(list(itertools.product((-0.05, 0.05), (-0.08, 0.08), (0.02, 0.08))))
HANDS: dict[str, Any] = {
    "sphere": pz.Sphere((0, 0, 0.05), 0.03),
    "capsule": pz.Capsule((0, -0.05, 0.05), (0, 0.05, 0.05), 0.03),
    "tilted capsule": pz.Capsule((0, -0.05, 0.03), (0, 0.05, 0.05), 0.03),
    "box": pz.Box(pz.SE3.from_parts([0, 0, 0.05]), (0.1, 0.16, 0.06)),
    "long box": pz.Box(pz.SE3.from_parts([0, 0, 0.05]), (0.03, 0.4, 0.06)),
    "hull": pz.ConvexHull(CORNERS),
    "disc": pz.Cylinder(pz.SE3.from_parts([0, 0, 0.05]), 0.06, 0.06),
    "rod": pz.Cylinder(pz.SE3.from_xyz_rpy([0, 0, 0.05], [np.pi / 2, 0, 0]), 0.03, 0.16),
}
"""What is on the hand: all reach 8 cm along its z axis."""
FLAT = ("capsule", "tilted capsule", "box", "hull", "disc", "rod")
DISTANCE = 0.02


def walls(x: float, y: float, z: float) -> dict[str, Any]:
    """What has its highest point at z, near x and y [m]."""
    grid = np.stack(np.meshgrid(np.arange(x - 0.3, x + 0.3, 0.015), np.arange(y - 0.3, y + 0.3, 0.015)), -1)
    return {
        "plane": pz.HalfSpace((0, 0, z), (0, 0, 1)),
        "table": pz.Box(pz.SE3.from_parts([x, y, z - 0.5]), (1, 1, 1)),
        "edge": pz.Box(pz.SE3.from_parts([x, y + 0.52, z - 0.5]), (1, 1, 1)),
        "beam": pz.Box(pz.SE3.from_parts([x, y, z - 0.1]), (1, 0.06, 0.2)),
        "hull": pz.ConvexHull(CORNERS * [6, 6, 1] + [x, y, z - 0.08]),
        "pole": pz.Capsule((x - 0.3, y, z - 0.05), (x + 0.3, y, z - 0.05), 0.05),
        "drum": pz.Cylinder(pz.SE3.from_parts([x, y, z - 0.2]), 0.3, 0.4),
        "heights": HeightMap(np.full((31, 31), z), 0.02, pose=pz.SE3.from_parts([x, y, 0])),
        "cloud": PointCloud(np.column_stack([grid.reshape(-1, 2), np.full(grid[..., 0].size, z - 0.01)]), 0.01),
    }


@pytest.mark.parametrize("shape", ["box", "hull", "disc as a hull"])
def test_rounding_does_not_choose_the_corner_of_a_face_along_a_wall(shape: str) -> None:
    turns = 2.0 * np.pi * np.arange(16) / 16
    rim = 0.05 * np.column_stack([np.cos(turns), np.sin(turns)])
    disc = pz.ConvexHull(np.vstack([np.column_stack([rim, np.full(16, z)]) for z in (0.02, 0.08)]))
    builder = pz.ModelBuilder("gantry")
    for axis, (parent, link) in zip(np.eye(3), itertools.pairwise(("world", "beam", "slide", "column")), strict=True):
        builder.joint(link, "prismatic", parent=parent, child=link, axis=axis, limits=(-1, 1), velocity=1.0)
    builder.joint("turn", "revolute", parent="column", child="hand", axis=(0, 0, 1), limits=(-3, 3), velocity=1.0)
    model = builder.build().with_shapes({"hand": [HANDS.get(shape, disc)]})
    table = pz.World({"table": pz.Box(pz.SE3.from_parts([0, 0, -0.5]), (2, 2, 1))})
    rng, touched = np.random.default_rng(0), []
    for k in range(200):
        q = np.array([0.2 + 1e-4 * k, 0.1, 0.05, 0.4]) + 1e-16 * rng.normal(size=4)
        near = model.distance(q, table)
        assert near.distance == pytest.approx(0.07, abs=1e-13)
        touched.append(model.pose("hand", q).inverse().act(near.points[0]))
    assert np.ptp(touched, axis=0).max() < 1e-2


def down(place: Sequence[float]) -> pz.SE3:
    """A hand there that points down."""
    return pz.SE3.from_xyz_rpy(place, [np.pi, 0, 0.2])


def follow(loop: pz.Tracker, q: Array, target: Any, steps: int) -> Array:
    """(steps + 1, nq) the way to a target at rest."""
    way = [q]
    for _ in range(steps):
        way.append(loop.step(way[-1], target))
    return np.array(way)


def roughness(way: Array, dt: float) -> float:
    """The root mean square of its accelerations [rad/s^2]."""
    return float(np.sqrt(np.square(np.diff(way, 2, axis=0)).mean()) / dt**2)


def armed(name: str, hand: str) -> tuple[pz.Model, Array]:
    """An arm with that hand and no other shape, and where it starts."""
    model = pz.load(name).with_shapes({ARMS[name]: [HANDS[hand]]})
    start = model.home.copy()
    start[: len(STARTS[name])] = STARTS[name]
    return model, start


def pressed(arm: str, hand: str, wall: str, dt: float, **how: Any) -> tuple[float, float]:
    """A hand that is led 7 cm into what lies under it, with `DISTANCE` to keep, for five seconds: how rough the last
    one is [rad/s^2], and how far from the wall it ends [m]."""
    model, start = armed(arm, hand)
    x, y, z = model.pose(ARMS[arm], start).xyz
    limit = pz.CollisionLimit(pz.World({"wall": walls(x, y, z - 0.15)[wall]}), min_distance=DISTANCE)
    loop = pz.Tracker(model, pz.PoseTask(ARMS[arm]), dt=dt, limits=[limit], **how)
    way = follow(loop, start, down([x, y, z - 0.12]), round(5 / dt))
    return roughness(way[-round(1 / dt) :], dt), limit.nearest(model, way[-1]).distance


@pytest.mark.parametrize("dt", [0.002, 0.01, 0.02])
@pytest.mark.parametrize("hand", FLAT)
@pytest.mark.parametrize("arm", ARMS)
def test_an_arm_rests_where_a_flat_hand_is_pressed_on_a_flat_wall(arm: str, hand: str, dt: float) -> None:
    for wall in ("plane", "table"):
        rough, distance = pressed(arm, hand, wall, dt)
        assert rough < 1e-6, wall
        assert DISTANCE <= distance < DISTANCE + 1e-3, wall


@pytest.mark.parametrize("wall", walls(0, 0, 0))
@pytest.mark.parametrize("method", ["qp", "priority"])
def test_it_rests_at_walls_of_every_shape(wall: str, method: str) -> None:
    for hand in HANDS:
        assert pressed("panda_collision", hand, wall, 0.01, method=method)[0] < 1e-5, hand


def test_it_rests_where_a_step_has_several_updates() -> None:
    assert pressed("panda_collision", "capsule", "table", 0.01, updates=4)[0] < 1e-6


@pytest.mark.parametrize("method", ["dls", "pinv"])
def test_a_flat_hand_is_no_rougher_than_a_round_one_whatever_proposes_its_steps(method: str) -> None:
    rough = [pressed("panda_collision", hand, "table", 0.01, method=method)[0] for hand in ("capsule", "sphere")]
    assert rough[0] < 1.5 * rough[1]


@pytest.mark.parametrize("dt", [0.002, 0.01])
@pytest.mark.parametrize("hand", FLAT)
def test_a_flat_hand_slides_along_a_wall_as_smoothly_as_without_it(hand: str, dt: float) -> None:
    model, start = armed("panda_collision", hand)
    here = model.pose("panda_hand", start).xyz
    top = here[2] - 0.13
    for name in ("plane", "table"):
        wall = pz.CollisionLimit(pz.World({"wall": walls(here[0], here[1], top)[name]}), min_distance=DISTANCE)
        rough = []
        for limit, height in ((True, top + 0.08 + DISTANCE), ([wall], top + 0.08)):  # 2 cm too low, with the wall
            loop, q, way = pz.Tracker(model, pz.PoseTask("panda_hand"), dt=dt, limits=limit), start, []
            for t in np.arange(0, 2, dt):
                down_to = max(height, here[2] - 0.2 * t)
                q = loop.step(q, down([here[0], here[1] + 0.1 * np.sin(2 * t), down_to]))
                way.append(q)
            rough.append(roughness(np.array(way[len(way) // 2 :]), dt))
        assert rough[1] < 1.2 * rough[0], name


def test_one_with_the_shapes_of_its_file_rests_over_a_table() -> None:
    model = pz.load("ur5")
    x, y, _ = model.pose(model.tip, model.home).xyz
    table = pz.World({"table": pz.Box(pz.SE3.from_parts([x, y, -0.35]), (1, 1, 1))})
    limit = pz.CollisionLimit(table, self_collision=False)
    loop = pz.Tracker(model, pz.PositionTask(model.tip), dt=0.01, limits=[limit])
    assert np.abs(np.diff(follow(loop, model.home, [x, y, 0.05], 600)[-100:], axis=0)).max() < 1e-9


@pytest.mark.parametrize("name", ["ur5e", "xarm7"])
def test_one_that_is_led_into_itself_rests(name: str) -> None:
    model = pz.load(name)
    loop = pz.Tracker(model, pz.PositionTask(model.tip), dt=0.01, limits=[pz.CollisionLimit()])
    way = follow(loop, model.home, [0, 0, 0.05], 800)
    assert roughness(way[-100:], 0.01) < 1e-6


def test_one_that_begins_in_a_table_gets_out_of_it_and_rests() -> None:
    model, start = armed("ur5", "box")
    x, y, z = model.pose("tool0", start).xyz
    limit = pz.CollisionLimit(pz.World({"table": walls(x, y, z)["table"]}), min_distance=DISTANCE)
    loop = pz.Tracker(model, pz.PoseTask("tool0"), dt=0.01, limits=[limit])
    assert limit.nearest(model, start).distance < -0.05
    way = follow(loop, start, down([x, y, z]), 500)
    assert limit.nearest(model, way[-1]).distance >= DISTANCE
    assert roughness(way[-100:], 0.01) < 1e-6


@pytest.mark.parametrize("how", ["moved", "taken away", "another"])
def test_an_arm_that_rested_at_a_wall_goes_on_as_soon_as_that_is_gone(how: str) -> None:
    model, start = armed("panda_collision", "capsule")
    x, y, z = model.pose("panda_hand", start).xyz
    target, world = down([x, y, z - 0.12]), pz.World({"wall": walls(x, y, z - 0.15)["table"]})
    loop = pz.Tracker(
        model, pz.PoseTask("panda_hand"), dt=0.01, limits=[pz.CollisionLimit(world, min_distance=DISTANCE)]
    )
    at_wall = follow(loop, start, target, 1000)[-1]
    assert model.pose("panda_hand", at_wall).xyz[2] > z - 0.09
    if how == "moved":
        world.move("wall", pz.SE3.from_parts([x, y, z - 1.0]))
    elif how == "another":
        world.replace("wall", pz.Box(pz.SE3.from_parts([x, y, z - 0.8]), (1, 1, 0.5)))
    else:
        world.remove("wall")
    there = follow(loop, at_wall, target, 60)[-1]
    assert model.pose("panda_hand", there).xyz == pytest.approx([x, y, z - 0.12], abs=1e-6)


MORE: dict[str, list[Any]] = {
    "accelerations": [pz.AccelerationLimit(15.0)],
    "jerks": [pz.AccelerationLimit(15.0), pz.JerkLimit(500.0)],
}


@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize("border", ["table", "region", "ball", "cone"])
def test_limits_that_a_slide_along_a_border_does_not_need_change_nothing(border: str, more: str) -> None:
    model, start = armed("panda_collision", "box")
    here, dt = model.pose("panda_hand", start), 0.002
    x, y, z = here.xyz
    beyond = here @ pz.SE3.from_parts([0, 0, 0.08])  # the hand points down
    kept: Any = []
    if border == "region":
        kept = [pz.RegionTask("panda_hand", pz.HalfSpace((0, 0, z - 0.05), (0, 0, -1)))]
    if border == "ball":
        kept = [pz.RegionTask("panda_hand", pz.Sphere((x, y, z + 0.1), 0.15))]
    if border == "cone":
        beyond = here @ pz.SE3.from_xyz_rpy([0, 0, 0], [0.15, 0.05, 0])
        kept = [pz.ConeTask("panda_hand", axis=(0, 0, 1), target=here.matrix()[:3, 2], angle=0.1)]
    wall = pz.CollisionLimit(pz.World({"wall": walls(x, y, z - 0.14)["table"]}), min_distance=DISTANCE)
    limits = [wall] if border == "table" else []

    def go(q: Array, stated: list[Any], seconds: float) -> Array:
        loop = pz.Tracker(model, [*kept, pz.PoseTask("panda_hand")], dt=dt, limits=[*limits, *stated] or True)
        way = [q]
        for t in np.arange(0, seconds, dt):
            u = min(t, 1.0)
            begun = u**3 * (10 - 15 * u + 6 * u**2)  # so smoothly does it set out
            target = pz.SE3.from_parts([0.03 * begun * np.sin(0.7 * t), 0.1 * begun * np.sin(0.9 * t), 0]) @ beyond
            way.append(loop.step(way[-1], [None, target] if kept else target))
        return np.array(way)

    loop = pz.Tracker(model, [*kept, pz.PoseTask("panda_hand")], dt=dt, limits=limits or True)
    at_rest = follow(loop, start, [None, beyond] if kept else beyond, 1500)[-1]
    free, limited = go(at_rest, [], 4.0), go(at_rest, MORE[more], 4.0)
    assert np.abs(np.diff(free, 2, axis=0)).max() / dt**2 < 15.0
    assert np.abs(limited - free).max() < 1e-9


LANDINGS: dict[str, tuple[str, float, list[float]]] = {
    "ur5e": ("tool0", 1.0, [0.3, -1.4, 1.6, -1.7, -1.5, 0.2]),
    "so101": ("gripper_frame_link", 0.4, [0.1, -0.5, 0.6, 0.5, 0.1, 0.2]),
}
"""Frame, size and start."""


@pytest.mark.parametrize(
    ("name", "hand", "aside"), [("so101", "box", 0.0), ("ur5e", "rod", 0.0), ("ur5e", "sphere", 0.1)]
)
def test_a_hand_that_lands_on_a_table_with_a_jerk_goes_on_as_without(name: str, hand: str, aside: float) -> None:
    """Where the table turns it aside it asks for more than a jerk leaves; that is no motion of its target."""
    frame, size, angles = LANDINGS[name]
    model, dt = pz.load(name).with_shapes({frame: [HANDS[hand]]}), 0.002
    start = model.home.copy()
    start[: len(angles)] = angles
    here, ways = model.pose(frame, start), {}
    wall = pz.CollisionLimit(pz.World({"table": walls(*(here.xyz - [0, 0, 0.1]))["table"]}), min_distance=0.0)
    for more, limits in MORE.items():
        loop, q, way = pz.Tracker(model, pz.PoseTask(frame), dt=dt, limits=[wall, *limits]), start, [start] * 3
        for t in np.arange(0, 2, dt):
            u = min(t, 1.0)
            soft = u**3 * (10 - 15 * u + 6 * u**2)
            led = np.array([0.0, aside * size * soft * np.sin(2 * t), -0.04 * soft])  # of which it can go 1 cm
            q = loop.step(q, pz.SE3.from_parts(here.xyz + led, here.rotation))
            way.append(q)
        ways[more] = np.array(way)
        assert np.abs(np.diff(ways[more], 2, axis=0)).max() < 15.0 * dt**2 * (1 + 1e-9)
        assert min(wall.nearest(model, q).distance for q in way[::10]) >= 0.0
    assert np.abs(np.diff(ways["jerks"], 3, axis=0)).max() < 500.0 * dt**3 * (1 + 1e-6)
    last = [way[-round(0.5 / dt) :] for way in ways.values()]
    assert np.abs(last[1] - last[0]).max() < 1e-4
    assert roughness(last[1], dt) < 1.02 * roughness(last[0], dt) + 1e-6
