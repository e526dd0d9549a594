"""Regions, supports and intervals of distances: nothing inside, the way back outside."""

import math
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, nnls
from support.refusals import refused

import poise as pz
from poise.bench.judge import judge

ARM = pz.load("panda")
Q = np.array([0.3, -0.5, 0.2, -2.0, 0.4, 1.8, 0.6])
HAND = "panda_hand"
TURNED = pz.SE3.from_xyz_rpy([0.2, -0.1, 0.3], [0.4, -0.5, 0.6])
REGIONS: list[Any] = [
    pz.Box(TURNED, (0.2, 0.3, 0.4)),
    pz.Box(TURNED, (0.2, 0.0, 0.4)),
    pz.Sphere((0.2, 0.1, 0.3), 0.15),
    pz.Sphere((0.2, 0.1, 0.3)),
    pz.Capsule((0.1, 0.2, 0.3), (-0.2, 0.3, 0.5), 0.1),
    pz.HalfSpace((0.1, 0.2, 0.3), (0.3, -0.4, 0.5)),
]
SQUARE = np.array([[0.1, 0.0], [0.0, 0.1], [-0.1, 0.0], [0.0, -0.1], [0.02, 0.01]])


def weighed() -> pz.Model:
    """An arm of which every link has a mass."""
    return pz.load("talos")


def nearest(region: Any, point: np.ndarray) -> np.ndarray:
    """The nearest point of a region, as a general minimiser finds it."""
    match region:
        case pz.Sphere():
            way = point - region.centre
            return np.array(region.centre) + way * min(1.0, region.radius / max(np.linalg.norm(way), 1e-12))
        case pz.Capsule():
            start, end = np.array(region.start), np.array(region.end)
            ts = np.linspace(0.0, 1.0, 200001)
            along = start + ts[:, None] * (end - start)
            core = along[np.linalg.norm(point - along, axis=1).argmin()]
            return nearest(pz.Sphere(core, region.radius), point)
        case pz.HalfSpace():
            return point - max(0.0, float((point - region.point) @ region.normal)) * np.array(region.normal)
        case pz.Box():
            rotation, half = region.pose.rotation.matrix(), np.array(region.size) / 2.0 + 1e-12
            within = lsq_linear(rotation, point - region.pose.xyz, bounds=(-half, half), method="bvls", tol=1e-14)
            return region.pose.xyz + rotation @ within.x
    raise AssertionError(region)


def place(q: np.ndarray, base: str | None) -> np.ndarray:
    return (ARM.pose(HAND, q) if base is None else ARM.pose(base, q).inverse() @ ARM.pose(HAND, q)).xyz


@pytest.mark.parametrize("base", [None, "panda_link2"])
@pytest.mark.parametrize("region", REGIONS, ids=lambda r: type(r).__name__)
def test_what_is_left_is_the_way_to_the_region(region: Any, base: str | None) -> None:
    task = pz.RegionTask(HAND, region, base=base, weight=2.0)
    solver = pz.Solver(ARM, task)
    for seed in range(20):
        q = ARM.sample(seed=seed)
        way = nearest(region, place(q, base)) - place(q, base)
        e, _ = solver.linearise(q)
        np.testing.assert_allclose(e, 2.0 * way, atol=1e-5)
        verdict = judge(ARM, [task], task.goal(None)[None], q[None])
        assert verdict.position[0, 0] == pytest.approx(np.linalg.norm(e) / 2.0, abs=1e-9)


@pytest.mark.parametrize("base", [None, "panda_link2"])
@pytest.mark.parametrize("region", REGIONS, ids=lambda r: type(r).__name__)
def test_a_regions_jacobian_is_that_of_the_way(region: Any, base: str | None) -> None:
    solver = pz.Solver(ARM, pz.RegionTask(HAND, region, base=base))
    for seed in range(5):
        q = ARM.sample(seed=seed)
        matches_differences(ARM, solver, q)


def matches_differences(model: pz.Model, solver: pz.Solver, q: np.ndarray) -> None:
    _, jacobian = solver.linearise(q)
    ways = 1e-6 * np.eye(model.nv)
    numeric = (
        np.array(
            [solver.linearise(model.integrate(q, w))[0] - solver.linearise(model.integrate(q, -w))[0] for w in ways]
        ).T
        / 2e-6
    )
    np.testing.assert_allclose(jacobian, -numeric, atol=1e-7)


@pytest.mark.parametrize("region", REGIONS, ids=lambda r: type(r).__name__)
def test_a_region_bounds_what_others_leave_free(region: Any) -> None:
    task = pz.RegionTask(HAND, region)
    for seed in range(5):
        answer = pz.solve(ARM, task, q0=ARM.sample(seed=seed))
        assert answer.success, answer.explain()
        left = nearest(region, answer.model.pose(HAND, answer.q).xyz) - ARM.pose(HAND, answer.q).xyz
        assert np.linalg.norm(left) < 1e-5


def test_a_region_beside_a_pose_that_is_in_it_changes_nothing() -> None:
    for seed in range(10):
        pose = ARM.pose(HAND, ARM.sample(seed=seed))
        border = pz.HalfSpace(pose.xyz, (0.0, 0.0, 1.0))  # the pose is on its border
        answer = pz.solve(ARM, [pz.PoseTask(HAND, pose), pz.RegionTask(HAND, border)], q0=Q)
        assert answer.success, answer.explain()


@pytest.mark.parametrize("dt", [None, 0.005])
def test_a_tracker_comes_to_rest_on_the_border_of_a_region(dt: float | None) -> None:
    low, high = np.array([0.35, -0.05, 0.35]), np.array([0.45, 0.05, 0.45])
    box = pz.Box(pz.SE3.from_xyz_rpy(0.5 * (low + high), [0.0, 0.0, 0.0]), high - low)
    outside = pz.PositionTask(HAND, [0.6, 0.3, 0.4], required=False)
    tracker = pz.Tracker(ARM, [pz.RegionTask(HAND, box), outside], dt=dt)
    q = np.array(Q)
    for step in range(300):
        q = np.array(tracker.step(q))
        place = ARM.pose(HAND, q).xyz
        assert step < 200 or np.abs(place - np.clip(place, low, high)).max() < 1e-9
    np.testing.assert_allclose(place[:2], high[:2], atol=2e-5)


def test_as_near_as_a_region_allows() -> None:
    """A solve finds it, along the border where it lies there, and so does a Tracker from a solution."""
    ball = pz.Sphere((0.4, 0.0, 0.4), 0.05)
    region = pz.RegionTask(HAND, ball)
    for target in ([0.6, 0.3, 0.4], [0.6, 0.0, 0.6], [0.4, 0.0, 0.4], [0.5, 0.01, 0.41]):
        soft = pz.PositionTask(HAND, target, required=False)
        q = pz.solve(ARM, region, q0=Q).q
        loop = pz.Tracker(ARM, [region, soft], dt=0.01)
        for _ in range(500):
            q = loop.step(q)
        least = max(0.0, math.dist(target, ball.centre) - ball.radius)
        assert loop.errors[1].position == pytest.approx(least, abs=1e-4)
        answer = pz.solve(ARM, [region, soft], q0=Q)
        assert answer.success
        assert answer.errors[1].position == pytest.approx(least, abs=1e-4)


def test_a_region_says_what_is_wrong() -> None:
    with refused("not-a-shape", "region"):
        pz.RegionTask(HAND, pz.ConvexHull(np.eye(3)))
    with pytest.raises(pz.FrameNotFound):
        pz.solve(ARM, pz.RegionTask("hnad", REGIONS[0]))


# A support ------------------------------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(*[st.integers(-10, 10)] * 2), min_size=3, max_size=10), st.floats(0.0, 3.0),
)  # fmt: skip
@settings(max_examples=80)
def test_the_margin_is_kept_from_every_side(points: Any, margin: float) -> None:
    try:
        task = pz.SupportTask(points, margin=margin)
    except ValueError:
        return
    corners, given = task.corners, np.array(points)
    assert len(corners) >= 3
    along = np.roll(corners, -1, axis=0) - corners
    for a, way in zip(corners, along, strict=True):  # every corner is to the left of every side, so it is convex
        assert (way[0] * (corners[:, 1] - a[1]) - way[1] * (corners[:, 0] - a[0]) > -1e-7).all()
    whole = pz.SupportTask(points).corners
    sides = np.roll(whole, -1, axis=0) - whole
    inward = np.stack([-sides[:, 1], sides[:, 0]], axis=1) / np.linalg.norm(sides, axis=1)[:, None]
    depths = ((corners[:, None] - whole) * inward).sum(-1)
    assert depths.min() > margin - 1e-6
    assert (((given[:, None] - whole) * inward).sum(-1) > -1e-6).all()


def test_a_support_is_the_way_to_the_polygon_and_its_jacobian() -> None:
    talos = weighed()
    task = pz.SupportTask(SQUARE + talos.centre_of_mass(talos.home)[:2] + [0.15, 0.03], margin=0.02)
    solver = pz.Solver(talos, task, limits=False)
    rng = np.random.default_rng(0)
    for _ in range(5):
        q = talos.integrate(talos.home, 0.2 * rng.normal(size=talos.nv))
        centre, corners = talos.centre_of_mass(q)[:2], task.corners
        # The nearest mean of the corners, whose weights are not negative and sum to one.
        shares, _ = nnls(np.vstack([corners.T, np.full(len(corners), 1e4)]), np.array([*centre, 1e4]))
        found = shares @ corners
        e, _ = solver.linearise(q)
        np.testing.assert_allclose(e, [*(found - centre), 0.0], atol=1e-6)
        judged = task.judged(talos, task.goal(None)[None], q[None])
        assert judged[0, 0] == pytest.approx(np.linalg.norm(e), abs=1e-9)
        matches_differences(talos, solver, q)


def test_a_humanoid_is_brought_to_stand_on_its_feet() -> None:
    talos = weighed()
    feet = ["left_sole_link", "right_sole_link"]
    poses = [talos.pose(foot, talos.home) for foot in feet]
    corners = np.array([[x, y, 0.0] for x in (-0.1, 0.1) for y in (-0.06, 0.06)])
    ground = np.concatenate([pose.act(corners)[:, :2] for pose in poses])
    still = [pz.PoseTask(foot, pose) for foot, pose in zip(feet, poses, strict=True)]
    support = pz.SupportTask(ground, margin=0.03)
    rng = np.random.default_rng(1)
    for _ in range(3):
        q0 = talos.integrate(talos.home, 0.3 * rng.normal(size=talos.nv))
        answer = pz.solve(talos, [*still, support], q0=q0)
        assert answer.success, answer.explain()
        assert support.judged(talos, support.goal(None)[None], answer.q[None])[0, 0] < 1e-6


def test_a_support_says_what_is_wrong() -> None:
    with refused("empty"):
        pz.SupportTask([[0, 0], [1, 1], [2, 2]])
    with refused("empty", "margin"):
        pz.SupportTask(SQUARE, margin=0.2)
    with pytest.raises(pz.ShapeError, match=r"polygon must have shape \(n, 2\)"):
        pz.SupportTask([[0, 0, 0], [1, 1, 1], [2, 2, 2]])
    with refused("negative", "margin"):
        pz.SupportTask(SQUARE, margin=-1.0)


# An interval of distances --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("least", "most"), [(0.2, 0.3), (0.9, math.inf), (0.0, 0.1), (0.0, math.inf), (0.25, 0.25)])
def test_a_distance_within_an_interval(least: float, most: float) -> None:
    point = np.array([0.3, 0.2, 0.4])
    task = pz.DistanceTask(HAND, (least, most), point)
    solver = pz.Solver(ARM, task)
    for seed in range(10):
        q = ARM.sample(seed=seed)
        distance = float(np.linalg.norm(ARM.pose(HAND, q).xyz - point))
        e, _ = solver.linearise(q)
        np.testing.assert_allclose(e, [np.clip(distance, least, most) - distance, 0.0, 0.0], atol=1e-9)
        matches_differences(ARM, solver, q)
        answer = solver(None, q)
        assert answer.success
        there = float(np.linalg.norm(ARM.pose(HAND, answer.q).xyz - point))
        assert least - 1e-6 <= there <= most + 1e-6
        if least <= distance <= most:
            np.testing.assert_array_equal(answer.q, q)


def test_an_interval_says_what_is_wrong() -> None:
    for ends in ((0.3, 0.2), (-0.1, 0.2), (math.inf, math.inf), (math.nan, 1.0)):
        with refused("out-of-range"):
            pz.DistanceTask(HAND, ends)
    with refused("wrong-shape", "distance"):
        pz.DistanceTask(HAND, (1.0, 2.0, 3.0))  # type: ignore[arg-type]


def everything() -> list[Any]:
    """Rows outside, and steps of two characters, as numbers."""
    values: list[Any] = []
    tasks = [
        *(pz.RegionTask(HAND, region) for region in REGIONS[::2]),
        pz.DistanceTask(HAND, (0.9, 1.0), (0.1, 0.2, 0.3)),
    ]
    for task in tasks:
        values += [part.tolist() for part in pz.Solver(ARM, task).linearise(Q)]
        tracker = pz.Tracker(ARM, task, "dls", limits=False)
        targets = np.broadcast_to(tracker.targets, (2, 3, 1, 7))
        values.append(tracker.rollout([Q, ARM.home], targets).tolist())
    return values


def test_they_run_in_plain_python_too() -> None:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run(
        [sys.executable, __file__], env=environment, check=True, capture_output=True, text=True, timeout=600
    )
    for ours, theirs in zip(everything(), eval(run.stdout), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


def test_a_support_keeps_its_corners_where_rounding_moves_points_on_its_sides() -> None:
    """Toes that stand in a row, of which each is a little off it."""
    square, rng = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), np.random.default_rng(0)
    for _ in range(50):
        share = rng.random((12, 1))
        sides = np.repeat(square, 3, axis=0) + share * np.repeat(np.roll(square, -1, axis=0) - square, 3, axis=0)
        moved = np.concatenate([square, sides]) + 1e-15 * rng.normal(size=(16, 2))
        corners = pz.SupportTask(rng.permutation(moved)).corners
        assert len(corners) == 4
        for corner in square:
            assert np.linalg.norm(corners - corner, axis=1).min() < 1e-14


if __name__ == "__main__":
    print(everything())
