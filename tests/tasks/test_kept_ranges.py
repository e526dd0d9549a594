"""A Tracker does not leave the ranges that are required: regions, cones, intervals of distances, supports."""

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import poise as pz

ARMS = {"panda_hand": pz.load("panda"), "tool0": pz.load("ur5e")}
HAND, ARM = "panda_hand", ARMS["panda_hand"]
PLACE = ARM.pose(HAND, ARM.home).xyz
BOX = pz.Box(pz.SE3.from_xyz_rpy(PLACE, [0.4, -0.3, 0.2]), (0.2, 0.1, 0.3))
REGIONS: list[Any] = [
    BOX,
    pz.HalfSpace(PLACE + np.array([0.0, 0.0, 0.05]), (0.2, 0.0, 1.0)),
    pz.Sphere(PLACE, 0.1),
    pz.Capsule(PLACE - np.array([0.0, 0.1, 0.0]), PLACE + np.array([0.0, 0.1, 0.1]), 0.07),
]


def beyond(task: Any, model: pz.Model, q: np.ndarray) -> float:
    """By how much a frame is out of its range, less than 0 inside, from the shapes as they are written."""
    pose = model.pose(task.frame, q)
    if isinstance(task, pz.ConeTask):
        axis = pose.rotation.act(np.array(task.axis))
        return float(np.arccos(np.clip(axis @ task.target, -1.0, 1.0)) - task.angle)
    if isinstance(task, pz.DistanceTask):
        distance = np.linalg.norm(pose.xyz - task.target)
        return float(max(distance - task.distance[1], task.distance[0] - distance))  # type: ignore[index]
    match task.region:
        case pz.Box() as box:
            return float((np.abs(box.pose.inverse().act(pose.xyz)) - np.array(box.size) / 2.0).max())
        case pz.HalfSpace() as half:
            return float((pose.xyz - half.point) @ half.normal / np.linalg.norm(half.normal))
        case pz.Sphere() as ball:
            return float(np.linalg.norm(pose.xyz - ball.centre) - ball.radius)
        case capsule:
            start, way = np.array(capsule.start), np.array(capsule.end) - capsule.start
            share = np.clip((pose.xyz - start) @ way / (way @ way), 0.0, 1.0)
            return float(np.linalg.norm(pose.xyz - start - share * way) - capsule.radius)


def drawn(rng: np.random.Generator, frame: str, pose: pz.SE3) -> Any:
    """A range, large or small, in which the frame is."""
    size = 10.0 ** rng.uniform(-2.0, -0.4)
    off = rng.normal(size=3)
    off *= rng.uniform(0.0, 0.9) * size / np.linalg.norm(off)
    kind = rng.integers(6)
    if kind == 0:
        edges, turn = 10.0 ** rng.uniform(-2.0, -0.3, 3), rng.normal(size=3)
        corner = pz.SE3.from_xyz_rpy(pose.xyz, turn).act(rng.uniform(-0.45, 0.45, 3) * edges)
        return pz.RegionTask(frame, pz.Box(pz.SE3.from_xyz_rpy(corner, turn), edges))
    if kind == 1:
        return pz.RegionTask(frame, pz.HalfSpace(pose.xyz + off, off))
    if kind == 2:
        return pz.RegionTask(frame, pz.Sphere(pose.xyz + off, size))
    if kind == 3:
        return pz.RegionTask(frame, pz.Capsule(pose.xyz + off, pose.xyz + off + 0.2 * rng.normal(size=3), size))
    if kind == 4:
        angle, axis = rng.uniform(0.02, 2.8), rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        tilt = rng.normal(size=3)
        tilt *= rng.uniform(0.0, 0.9) * angle / np.linalg.norm(tilt)
        return pz.ConeTask(frame, axis, Rotation.from_rotvec(tilt).apply(pose.rotation.act(axis)), angle=angle)
    point = pose.xyz + off + 0.2 * rng.normal(size=3)
    distance = float(np.linalg.norm(pose.xyz - point))
    least = max(distance - size * rng.uniform(), 0.0)
    return pz.DistanceTask(frame, (least, distance + size * rng.uniform()), point)


def chase(task: Any, model: pz.Model, q: np.ndarray, rng: np.random.Generator, steps: int, **settings: Any) -> float:
    """The largest gap on a way towards poses anywhere, which the same priority or a later one asks for."""
    goal = pz.PoseTask(task.frame, priority=int(rng.integers(2)))
    tracker, worst, seconds = pz.Tracker(model, [task, goal], **settings), -np.inf, settings.get("dt")
    for k in range(steps):
        if k % 25 == 0:
            aim = model.pose(task.frame, model.sample(seed=int(rng.integers(1 << 30))))
        before, q = q, tracker.step(q, [task.target, aim])
        worst = max(worst, beyond(task, model, q))
        assert model.within_limits(q)
        assert seconds is None or (np.abs(q - before) <= model.velocity * seconds * (1.0 + 1e-9) + 1e-12).all()
    return worst


ACCELERATION = pz.AccelerationLimit(10.0)
SETTINGS: list[dict[str, Any]] = [
    {},
    {"dt": 0.002},
    {"dt": 0.02},
    {"dt": 0.02, "updates": 3},
    {"dt": 0.01, "limits": [ACCELERATION]},
    {"dt": 0.01, "limits": [ACCELERATION, pz.JerkLimit(300.0)]},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: ", ".join(s) + str(s.get("dt", "")))
def test_no_step_leaves_a_range(settings: dict[str, Any]) -> None:
    for run in range(12):
        frame, model = list(ARMS.items())[run % 2]
        rng = np.random.default_rng(run)
        q = model.sample(seed=run)
        task = drawn(rng, frame, model.pose(frame, q))
        assert chase(task, model, q, rng, 75, **settings) < 1e-7, task  # an arc cosine knows no more


@pytest.mark.parametrize("limits", [True, [ACCELERATION]], ids=["speeds", "accelerations"])
@pytest.mark.parametrize("priority", [0, 1])
@pytest.mark.parametrize("region", REGIONS, ids=lambda r: type(r).__name__)
def test_it_rests_as_near_to_its_target_as_the_region_lets_it(region: Any, priority: int, limits: Any) -> None:
    task = pz.RegionTask(HAND, region)
    for target in (PLACE + np.array([0.2, 0.25, 0.1]), PLACE + np.array([-0.1, -0.2, 0.2])):
        loop = pz.Tracker(ARM, [task, pz.PositionTask(HAND, target, priority=priority)], dt=0.01, limits=limits)
        q = ARM.home
        for _ in range(400):
            before, q = q, loop.step(q)
        assert np.abs(q - before).max() < 1e-6
        best = minimize(
            lambda z, target=target: float(((ARM.pose(HAND, z).xyz - target) ** 2).sum()),
            q,
            bounds=list(zip(ARM.lower, ARM.upper, strict=True)),
            constraints={"type": "ineq", "fun": lambda z: -beyond(task, ARM, z)},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        outside = max(0.0, beyond(task, ARM, best.x))  # an oracle that is cut short may end nearer, but not within
        assert np.linalg.norm(ARM.pose(HAND, q).xyz - target) < np.sqrt(best.fun) + 1e-4 + 2.0 * outside


def test_what_begins_outside_only_comes_back() -> None:
    rng = np.random.default_rng(0)
    for run in range(12):
        aim = PLACE + 0.4 * rng.normal(size=3)
        task = pz.RegionTask(HAND, REGIONS[run % 4])
        loop = pz.Tracker(ARM, [task, pz.PositionTask(HAND, aim, priority=run // 4 % 2)], dt=0.01)
        q = np.clip(ARM.home + 0.5 * rng.normal(size=7), ARM.lower, ARM.upper)
        gap = beyond(task, ARM, q)
        for _ in range(500):
            before, q = q, loop.step(q)
            last, gap = gap, beyond(task, ARM, q)
            assert gap < max(last, 0.0) + 1e-9
            assert (np.abs(q - before) <= ARM.velocity * 0.01 * (1.0 + 1e-9)).all()
        assert gap < 1e-9


def test_a_range_goes_with_its_target() -> None:
    """A cone that tips takes the hand along, and where it is left behind the hand comes back."""
    task = pz.ConeTask(HAND, (0, 0, 1), angle=0.2)
    loop = pz.Tracker(ARM, [task, pz.PositionTask(HAND, PLACE, priority=1)], dt=0.01)
    q = ARM.home
    for k in range(400):
        tip = 0.4 * np.sin(0.02 * min(k, 300))
        down = np.array([np.sin(tip), 0.0, -np.cos(tip)])
        q = loop.step(q, [down, PLACE])
        assert np.arccos(ARM.pose(HAND, q).rotation.act([0, 0, 1]) @ down) < 0.2 + 0.4 * 0.02
    assert np.arccos(ARM.pose(HAND, q).rotation.act([0, 0, 1]) @ down) < 0.2 + 1e-7


def test_a_humanoid_that_reaches_too_far_does_not_fall() -> None:
    figure = pz.load("g1", base="floating")
    feet, hands = ["left_ankle_roll_link", "right_ankle_roll_link"], ["left_rubber_hand", "right_rubber_hand"]
    start = np.array(figure.home)
    for joint in figure.joints:
        for part, angle in {"knee": 0.6, "hip_pitch": -0.3, "ankle_pitch": -0.3}.items():
            if part in joint.name:
                start[figure.index(joint.name)] = angle
    poses = [figure.pose(foot, start) for foot in feet]
    soles = np.array([[x, y, 0.0] for x in (-0.05, 0.12) for y in (-0.03, 0.03)])
    support = pz.SupportTask(np.concatenate([pose.act(soles)[:, :2] for pose in poses]), margin=0.02)
    corners = support.corners
    along = np.roll(corners, -1, axis=0) - corners
    outward = np.column_stack([along[:, 1], -along[:, 0]]) / np.linalg.norm(along, axis=1)[:, None]
    rng, nearest = np.random.default_rng(0), -np.inf
    for settings in ({"dt": None}, {"dt": 0.01}, {"dt": 0.01, "limits": [pz.AccelerationLimit(20.0)]}):
        tasks = [*map(pz.PoseTask, feet), support, *(pz.PositionTask(hand, priority=1) for hand in hands)]
        loop, q = pz.Tracker(figure, tasks, **settings), start  # type: ignore[arg-type]
        for k in range(150):
            if k % 50 == 0:
                aims = [figure.pose(hand, start).xyz + rng.uniform(-1.0, 1.0, 3) for hand in hands]
            q = loop.step(q, [*poses, None, *aims])
            nearest = max(nearest, ((figure.centre_of_mass(q)[:2] - corners) * outward).sum(axis=1).max())
    assert -1e-3 < nearest < 1e-9  # it came to the border, and not over it


def test_other_rows_are_kept_beside_it() -> None:
    fold = pz.LinearLimit({"panda_joint2": 1.0, "panda_joint4": -1.0}, ARM.home[1] - ARM.home[3] + 0.1)
    rng = np.random.default_rng(2)
    for region in REGIONS:
        task = pz.RegionTask(HAND, region)
        loop, q = pz.Tracker(ARM, [task, pz.PositionTask(HAND)], dt=0.02, limits=[fold]), ARM.home
        for k in range(100):
            if k % 25 == 0:
                aim = PLACE + 0.3 * rng.normal(size=3)
            q = loop.step(q, [None, aim])
            assert q[1] - q[3] <= fold.most + 1e-9
            assert beyond(task, ARM, q) < 1e-9


def test_a_rollout_is_its_steps_and_characters_are_alike() -> None:
    loop = pz.Tracker(ARM, [pz.RegionTask(HAND, BOX), pz.PositionTask(HAND)], dt=0.01)
    loop.targets[1, :3] = PLACE + np.array([0.3, 0.3, 0.0])
    goals = np.broadcast_to(loop.targets, (40, 2, 7))
    path = loop.rollout(ARM.home, goals)
    q = ARM.home
    for row in path:
        q = loop.step(q)
        np.testing.assert_allclose(q, row, rtol=0, atol=1e-12)
        assert beyond(loop.tasks[0], ARM, q) < 1e-9
    many = loop.rollout(np.tile(ARM.home, (8, 1)), np.broadcast_to(goals, (8, 40, 2, 7)))
    np.testing.assert_array_equal(many, np.broadcast_to(path, many.shape))


def test_which_tasks_and_methods_keep_to_a_range() -> None:
    aim = pz.PositionTask(HAND, PLACE + np.array([0.3, 0.3, 0.0]))
    inside = pz.RegionTask(HAND, BOX)
    assert pz.Tracker(ARM, [inside, aim]).method.name == "qp"
    assert pz.Tracker(ARM, [pz.RegionTask(HAND, pz.Sphere(PLACE)), aim]).method.name == "dls"  # it has no inside
    wide = pz.RegionTask(HAND, pz.Sphere(PLACE, 9.0))
    assert pz.Tracker(ARM, [wide, pz.PoseTask(HAND, priority=1)]).method.name == "priority"
    later = [aim, pz.RegionTask(HAND, BOX, priority=1)]
    for tasks in (later, [aim, pz.RegionTask(HAND, BOX, required=False)]):
        loop, q = pz.Tracker(ARM, tasks), ARM.home
        for _ in range(30):
            q = loop.step(q)
        assert beyond(inside, ARM, q) > 0.01


def everything() -> list[Any]:
    """Ways along borders, as numbers."""
    tasks = [
        pz.RegionTask(HAND, BOX),
        pz.RegionTask(HAND, REGIONS[3]),
        pz.ConeTask(HAND, (0, 0, 1), (0, 0, -1), angle=0.2),
        pz.DistanceTask(HAND, (0.1, 0.2), PLACE + np.array([0.0, 0.0, 0.15])),
    ]
    paths = []
    for limits in (True, [ACCELERATION]):
        for task in tasks:
            loop, q = pz.Tracker(ARM, [task, pz.PoseTask(HAND)], dt=0.02, limits=limits), ARM.home
            goal = pz.SE3.from_xyz_rpy(PLACE + np.array([0.1, 0.3, -0.2]), [2.5, 0.3, 0.2])
            for _ in range(15):
                q = loop.step(q, [task.target, goal])
            paths.append(q.tolist())
    return paths


def test_they_run_in_plain_python_too() -> None:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run(
        [sys.executable, __file__], env=environment, check=True, capture_output=True, text=True, timeout=600
    )
    np.testing.assert_allclose(everything(), eval(run.stdout), rtol=0, atol=1e-9)


if __name__ == "__main__":
    print(everything())


def test_braking_that_bends_along_a_border_ends_within() -> None:
    within = pz.RegionTask(HAND, pz.Box(pz.SE3.from_parts(PLACE), [0.323, 0.326, 0.24]))
    tasks = [within, pz.PositionTask(HAND, PLACE + np.array([-0.97, -0.705, -0.4]))]
    limits = [pz.AccelerationLimit(10.0), pz.JerkLimit(500.0)]
    loop = pz.Tracker(ARM, [*tasks, pz.PostureTask(weight={"panda_joint1": 100.0})], dt=0.01, limits=limits)
    q = ARM.home
    for _ in range(100):
        q = loop.step(q)
        assert beyond(within, ARM, q) < 1e-9
