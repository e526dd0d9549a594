"""Where solvers stumble: the rim of the reach, half turns, stretched arms, too many joints, too few, many tasks."""

import math
import re
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from independent import fk, matrix, pose_error
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import poise as pz
from poise.io.installed import installed_robots

Array = npt.NDArray[np.float64]
RIGHT = 0.5 * math.pi
DIRECTIONS = np.vstack([np.eye(3), -np.eye(3), np.random.default_rng(3).normal(size=(6, 3))])
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)


def certified(model: pz.Model, solution: pz.Solution, frame: str, target: Array) -> None:
    """Within the default tolerances by the other forward kinematics, and within the limits."""
    assert solution.success, solution
    position, rotation = pose_error(fk(model, frame, solution.q), target)
    assert position <= 1.001e-6
    assert rotation <= 1.001e-6
    assert model.within_limits(solution.q)


def moved(pose: Array, xyz: npt.ArrayLike = (0.0, 0.0, 0.0), turn: npt.ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """`pose` (4, 4) displaced [m] and turned by a rotation vector [rad] along its own axes."""
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = Rotation.from_rotvec(turn).as_matrix(), xyz
    return pose @ out


# The rim of the reach --------------------------------------------------------------------------------------------

RIMS = [
    ("planar2", [1.0, 0.5, 0.0], 2.0),
    ("planar3", [0.3, 1.0, 0.0], 3.0),
    ("planar10", [1.0, 1.0, 0.0], 10.0),
    ("panda", [1.0, 0.3, 0.4], 1.1),
    ("iiwa14", [1.0, 0.0, 0.5], 1.2),
    ("puma560", [1.0, 0.2, 0.3], 1.0),
    ("ur5e", [0.7, -1.0, 0.5], 1.0),
]


@pytest.mark.parametrize("kind", [pz.PositionTask, pz.PoseTask])
@pytest.mark.parametrize(("name", "way", "reach"), RIMS)
def test_following_a_target_out_of_reach_does_not_shake(name: str, way: list[float], reach: float, kind: Any) -> None:
    """The target goes outward by a thousandth of the reach at a time; each solve starts at the last answer."""
    if (name, kind) == ("ur5e", pz.PoseTask):
        pytest.skip("this way leads through a wrist singularity, where a jump is due")
    model = pz.load(name)
    solver = pz.Solver(model, kind(model.tip))
    root, hand = fk(model, model.joints[0].child, model.home)[:3, 3], model.pose(model.tip, model.home)
    outward = np.array(way) / np.linalg.norm(way)
    q, answers, solved, left = model.home, [], [], []
    for radius in np.linspace(0.5, 1.5, 1001) * reach:
        point = root + radius * outward
        solution = solver(point if kind is pz.PositionTask else pz.SE3.from_parts(point, hand.rotation), q)
        q = solution.q
        answers.append(q)
        solved.append(solution.success)
        left.append(solution.cost)
    assert not solved[-1]
    last = max((i for i, success in enumerate(solved) if success), default=-1)
    steps = np.abs(np.diff(answers, axis=0)).max(axis=1)
    # An arm straightens with the square root of the distance that is left, so the rim itself takes a longer step.
    assert steps[5:].max() < 0.3
    assert steps[last + 5 :].max() < 0.15
    if kind is pz.PositionTask:  # further out is never nearer
        assert (np.diff(left[last + 1 :]) > -1e-4 * np.array(left[last + 1 : -1])).all()


@pytest.mark.parametrize("kind", [pz.PositionTask, pz.PoseTask])
@pytest.mark.parametrize(("name", "way", "reach"), RIMS)
def test_asking_again_for_what_is_out_of_reach_changes_nothing(
    name: str, way: list[float], reach: float, kind: Any
) -> None:
    model = pz.load(name)
    solver = pz.Solver(model, kind(model.tip))
    root, hand = fk(model, model.joints[0].child, model.home)[:3, 3], model.pose(model.tip, model.home)
    point = root + 1.4 * reach * np.array(way) / np.linalg.norm(way)
    target = point if kind is pz.PositionTask else pz.SE3.from_parts(point, hand.rotation)
    q = model.home
    for _ in range(3):
        q = solver(target, q).q
    for _ in range(30):
        again = solver(target, q)
        assert np.abs(again.q - q).max() < 0.01
        q = again.q


@pytest.mark.parametrize("beyond", [-1e-3, -1e-5, -1e-7, 0.0])
@pytest.mark.parametrize("n", [2, 3, 10])
def test_the_rim_itself_is_reached(n: int, beyond: float) -> None:
    model = pz.load(f"planar{n}")
    for angle in np.linspace(-3.0, 3.0, 7):
        target = (n + beyond) * np.array([math.cos(angle), math.sin(angle), 0.0])
        solution = pz.solve(model, pz.PositionTask("tool", target), q0=np.full(n, 0.1))
        assert np.linalg.norm(fk(model, "tool", solution.q)[:3, 3] - target) < 2e-6
        assert solution.success or beyond == 0.0


@pytest.mark.parametrize("beyond", [1e-4, 1e-2, 1.0, 100.0])
def test_beyond_the_rim_the_arm_points_at_the_target(beyond: float) -> None:
    model = pz.load("planar3")
    for angle in np.linspace(-3.0, 3.0, 7):
        way = np.array([math.cos(angle), math.sin(angle), 0.0])
        solution = pz.solve(model, pz.PositionTask("tool", (3.0 + beyond) * way))
        assert not solution.success
        assert solution.status is pz.Status.UNREACHABLE
        assert solution.position_error == pytest.approx(beyond, rel=1e-3)
        np.testing.assert_allclose(fk(model, "tool", solution.q)[:3, 3], 3.0 * way, atol=1e-2)


# Half turns ------------------------------------------------------------------------------------------------------


def gimbal() -> pz.Model:
    """Three slides and three turns: every pose within a metre, each turn by one of its own joints."""
    b = pz.ModelBuilder("gimbal")
    for i, axis in enumerate(np.eye(3)):
        b.joint(f"slide{i}", "prismatic", parent=f"s{i}", child=f"s{i + 1}", axis=axis, limits=(-2.0, 2.0))
    for i, axis in enumerate(np.eye(3)):
        b.joint(f"turn{i}", "continuous", parent=f"s{i + 3}", child=f"s{i + 4}", axis=axis)
    return b.build()


def ball() -> pz.Model:
    b = pz.ModelBuilder("ball")
    b.joint("ball", "spherical", parent="base", child="one", origin=pz.SE3.from_xyz_rpy([0, 0, 1], [0.2, 0.1, -0.3]))
    b.frame("tip", link="one", origin=pz.SE3.from_parts([0.4, 0.1, 0.2]))
    return b.build()


def brick() -> pz.Model:
    b = pz.ModelBuilder("brick")
    b.link("tip")
    return b.build(base="floating")


@pytest.mark.parametrize("axis", DIRECTIONS)
@pytest.mark.parametrize("make", [gimbal, ball, brick])
def test_a_half_turn_about_any_axis(make: Any, axis: Array) -> None:
    """There the rotation vector has two values, and its axis cannot be read off the antisymmetric part."""
    model = make()
    frame = model.frames[-2]
    for start in [model.neutral, *model.sample(3, seed=1)]:
        target = fk(model, frame, start)
        target[:3, :3] = Rotation.from_rotvec(math.pi * axis).as_matrix() @ target[:3, :3]
        if model.name == "ball":
            orientation = pz.SO3.from_matrix(target[:3, :3])
            solution = pz.solve(model, pz.OrientationTask(frame, orientation), q0=start)
            assert solution.success
            assert pose_error(fk(model, frame, solution.q), target)[1] <= 1.001e-6
        else:
            certified(model, pz.solve(model, pz.PoseTask(frame, pz.SE3.from_matrix(target)), q0=start), frame, target)


@pytest.mark.parametrize("slip", [0.0, 1e-12, -1e-9, 1e-7, -1e-4])
def test_a_half_turn_of_a_hand(slip: float) -> None:
    """The wrist has to turn by half a turn, give or take nothing, a rounding error, or a little."""
    model = pz.load("ur5e")
    solver = pz.Solver(model, pz.PoseTask("tool0"))
    for start in np.random.default_rng(1).uniform(-1.0, 1.0, (20, 6)) + model.home:
        target = moved(fk(model, "tool0", start), turn=[0.0, 0.0, math.pi + slip])
        certified(model, solver(target, start), "tool0", target)


@pytest.mark.parametrize("way", DIRECTIONS)
def test_an_axis_that_points_exactly_the_wrong_way_is_turned_round(way: Array) -> None:
    model = ball()
    start = model.sample(seed=2)
    now = fk(model, "tip", start)[:3, :3] @ way
    solution = pz.solve(model, pz.AxisTask("tip", axis=tuple(way), target=-now), q0=start)
    assert solution.success
    np.testing.assert_allclose(fk(model, "tip", solution.q)[:3, :3] @ way, -now, atol=2e-6)


def test_a_camera_with_its_back_to_what_it_should_look_at() -> None:
    model = brick()
    behind = [0.0, 0.0, -2.0]
    solution = pz.solve(model, pz.LookAtTask("tip", target=behind))
    assert solution.success
    seen = fk(model, "tip", solution.q)
    sight = behind - seen[:3, 3]
    np.testing.assert_allclose(seen[:3, 2], sight / np.linalg.norm(sight), atol=2e-6)


# Stretched arms --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 4, 10])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.75, 0.99])
def test_a_straight_arm_folds_to_a_target_on_its_own_line(n: int, share: float) -> None:
    """No joint can move the hand along the arm, so to first order nothing helps."""
    model = pz.load(f"planar{n}")
    target = [share * n, 0.0, 0.0]
    solution = pz.solve(model, pz.PositionTask("tool", target), q0=np.zeros(n))
    assert solution.success
    np.testing.assert_allclose(fk(model, "tool", solution.q)[:3, 3], target, atol=1.001e-6)


@pytest.mark.parametrize("name", ["ur5e", "panda", "iiwa14", "puma560", "stanford"])
@pytest.mark.parametrize("start", ["zero", "straight"])
def test_arms_leave_a_singular_start(name: str, start: str) -> None:
    model = pz.load(name)
    q0 = np.zeros(model.nq)
    if start == "straight":
        q0[1] = RIGHT
    q0 = np.clip(q0, model.lower, model.upper)
    solver = pz.Solver(model, pz.PoseTask(model.tip))
    for there in model.sample(25, seed=4):
        target = fk(model, model.tip, there)
        certified(model, solver(target, q0), model.tip, target)
    for there in np.clip(
        q0 + np.random.default_rng(5).normal(scale=0.1, size=(25, model.nq)), model.lower, model.upper
    ):
        target = fk(model, model.tip, there)
        certified(model, solver(target, q0), model.tip, target)


def test_a_singular_target_is_reached() -> None:
    """Stretched up or out, the last digits of the error are the hardest."""
    for name in ("ur5e", "iiwa14", "puma560"):
        model = pz.load(name)
        target = fk(model, model.tip, np.zeros(model.nq))
        solver = pz.Solver(model, pz.PoseTask(model.tip))
        for start in model.sample(20, seed=6):
            certified(model, solver(target, start), model.tip, target)


# Too many joints -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [10, 30])
def test_redundant_arms_reach_every_pose_in_their_plane(n: int) -> None:
    model = pz.load(f"planar{n}")
    solver = pz.Solver(model, pz.PoseTask("tool"))
    for there, start in zip(model.sample(40, seed=1), model.sample(40, seed=2), strict=True):
        target = fk(model, "tool", there)
        certified(model, solver(target, start), "tool", target)


def test_an_arm_with_joints_to_spare_moves_little_for_a_target_nearby() -> None:
    """The step of least length: as long as the pseudoinverse says, not more."""
    model = pz.load("planar10")
    solver = pz.Solver(model, pz.PositionTask("tool"))
    for start in model.sample(20, seed=3) * 0.5:
        pose = fk(model, "tool", start)[:3, 3]
        move = np.array([0.003, -0.002, 0.0])
        solution = solver(pose + move, start)
        assert solution.success
        least = np.linalg.pinv(model.jacobian("tool", start)[:2]) @ move[:2]
        assert np.linalg.norm(solution.q - start) < 1.05 * np.linalg.norm(least) + 1e-5


# Too few joints --------------------------------------------------------------------------------------------------


def five() -> pz.Model:
    """Yaw, three pitches and a tilt across them: every point and direction, but not the turn about the tool."""
    b = pz.ModelBuilder("five")
    up = pz.SE3.from_parts([0.0, 0.0, 0.4])
    axes = [(0, 0, 1), (0, 1, 0), (0, 1, 0), (0, 1, 0), (1, 0, 0)]
    for i, axis in enumerate(axes):
        b.joint(f"j{i}", "revolute", parent=f"l{i}", child=f"l{i + 1}", origin=up, axis=axis, limits=(-2.5, 2.5))
    b.frame("tool", link="l5", origin=pz.SE3.from_parts([0.0, 0.0, 0.15]))
    return b.build()


def twisted(model: pz.Model) -> list[Array]:
    """Poses of the tool that it could take but for a turn about the tool's own axis."""
    rng = np.random.default_rng(8)
    angles = rng.uniform(0.4, 2.8, 25) * rng.choice([-1.0, 1.0], 25)
    return [
        moved(fk(model, "tool", q), turn=[0, 0, angle])
        for q, angle in zip(model.sample(25, seed=9), angles, strict=True)
    ]


def test_five_joints_come_as_near_to_a_pose_as_they_can_and_say_why() -> None:
    model = five()
    solver = pz.Solver(model, pz.PoseTask("tool"))
    for target in twisted(model):
        solution = solver(target)
        assert not solution.success
        assert "5 joints cannot follow 6 rows" in solution.explain()
        assert "weight of 0" in solution.explain()

        def residual(q: Array, target: Array = target) -> Array:
            reached = fk(model, "tool", q)
            turn = Rotation.from_matrix(target[:3, :3] @ reached[:3, :3].T).as_rotvec()
            return np.concatenate([target[:3, 3] - reached[:3, 3], turn])

        here = float(residual(solution.q) @ residual(solution.q))
        assert solution.cost == pytest.approx(here, rel=1e-6)
        better = least_squares(residual, solution.q, bounds=(model.lower - 1e-9, model.upper + 1e-9), xtol=1e-12)
        assert 2.0 * better.cost > 0.999 * here


def test_five_joints_follow_five_rows() -> None:
    """The turn about the tool dropped, by a weight of 0 along the target's axes or by an aim in place of a turn."""
    model = five()
    weighted = pz.Solver(model, pz.PoseTask("tool", rotation_weight=(1.0, 1.0, 0.0), axes="target"))
    aimed = pz.Solver(model, [pz.PositionTask("tool"), pz.AxisTask("tool")])
    for target in twisted(model):
        for solution in (weighted(target), aimed([target[:3, 3], target[:3, 2]])):
            assert solution.success
            assert "cannot follow" not in solution.explain()
            reached = fk(model, "tool", solution.q)
            np.testing.assert_allclose(reached[:3, 3], target[:3, 3], atol=1.001e-6)
            # The rotation vector without its part along the tool still leaves the axis where it should be, for at a
            # solution all of it lies along the tool.
            np.testing.assert_allclose(reached[:3, 2], target[:3, 2], atol=4e-6)


def test_five_joints_reach_a_pose_that_is_theirs() -> None:
    model = five()
    solver = pz.Solver(model, pz.PoseTask("tool"))
    for there in model.sample(25, seed=9):
        target = fk(model, "tool", there)
        certified(model, solver(target), "tool", target)


def rounded(joints: int, digits: int) -> pz.Model:
    """A small arm of four or five joints, whose right angles have so many digits, as files do."""
    turn = round(math.pi / 2.0, digits)
    links = [(0.05, 0.0, 0.0), (0.1, turn, 0.0), (0.13, 0.0, 0.0), (0.12, 0.0, 0.0), (0.05, 0.0, turn)]
    b = pz.ModelBuilder("rounded")
    for i, (x, roll, pitch) in enumerate(links[:joints]):
        origin, ends = pz.SE3.from_xyz_rpy([x, 0.0, 0.0], [roll, pitch, 0.0]), (-2.5, 2.5)
        b.joint(f"j{i}", "revolute", parent=f"l{i}", child=f"l{i + 1}", origin=origin, axis=(0, 0, 1), limits=ends)
    b.frame("tool", link=f"l{joints}", origin=pz.SE3.from_xyz_rpy([0.06, 0.0, 0.0], [turn, 0.0, 0.0]))
    return b.build()


@pytest.mark.parametrize(("joints", "digits"), [(4, 3), (5, 3), (4, 5), (5, 5)])
def test_poses_that_a_rounded_file_has_no_place_for_are_told_from_those_out_of_reach(joints: int, digits: int) -> None:
    exact, model = rounded(joints, 15), rounded(joints, digits)
    solver, restarts = pz.Solver(model, pz.PoseTask("tool")), []
    for there in exact.sample(20, seed=1):
        target = exact.pose("tool", there)
        solution = solver(target)
        assert max(pose_error(fk(model, "tool", solution.q), target.matrix())) < 1e-3
        if solution.success:
            continue
        restarts.append(solution.restarts)
        assert solution.status is pz.Status.LOCAL_MINIMUM
        words = solution.explain()
        assert "cannot be met better from here" in words
        enough = {name: float(size) for name, size in re.findall(r"(\w+_tolerance)=(\S+?) ", words)}
        assert enough
        assert pz.solve(model, pz.PoseTask("tool", target, **enough)).success
        assert pz.Solver(model, pz.PoseTask("tool"), max_restarts=20)(target).stationary
    assert len(restarts) > 5
    assert np.median(restarts) < 1500  # 20,000 where the error were taken for a promise


@pytest.mark.parametrize("joints", [4, 5])
def test_poses_that_a_rounded_arm_can_take_are_found(joints: int) -> None:
    model = rounded(joints, 5)
    solver = pz.Solver(model, pz.PoseTask("tool"))
    for there in model.sample(100, seed=2):
        assert solver(model.pose("tool", there)).success


def test_a_descent_that_was_cut_short_goes_on_with_more_iterations() -> None:
    model = five()
    task = pz.PoseTask("tool")
    for k in range(55, 65):
        rng = np.random.default_rng(k)
        target = pz.SE3.from_xyz_rpy(0.4 * rng.uniform(-1.0, 1.0, 3), rng.uniform(-3.0, 3.0, 3))
        short = pz.Solver(model, task, max_restarts=8)(target)
        long = pz.Solver(model, task, max_restarts=8, max_iterations=20_000)(target)
        assert long.stationary
        assert long.status is not pz.Status.BUDGET
        assert short.stationary or "more max_iterations" in short.explain()


# Many tasks ------------------------------------------------------------------------------------------------------


def humanoid() -> tuple[pz.Model, list[str]]:
    if "g1" not in installed_robots():
        pytest.skip("example-robot-data is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pz.ModelWarning)
        model = pz.load("g1", base="floating")
    return model, ["left_rubber_hand", "right_rubber_hand", "left_ankle_roll_link", "right_ankle_roll_link"]


@pytest.mark.parametrize("start", ["near", "far", "home"])
def test_a_humanoid_puts_hands_and_feet_where_they_belong(start: str) -> None:
    model, frames = humanoid()
    solver = pz.Solver(model, [pz.PoseTask(frame) for frame in frames])
    rng = np.random.default_rng(1)
    for there, far in zip(model.sample(20, seed=1), model.sample(20, seed=2), strict=True):
        targets = [fk(model, frame, there) for frame in frames]
        near = np.clip(model.integrate(there, rng.normal(scale=0.1, size=model.nv)), model.lower, model.upper)
        solution = solver(targets, {"near": near, "far": far, "home": model.home}[start])
        for frame, target in zip(frames, targets, strict=True):
            certified(model, solution, frame, target)


def test_buss_mechanism_reaches_with_four_arms_at_once() -> None:
    model = pz.load("double_y")
    frames = ["e0", "e1", "e2", "e3"]
    solver = pz.Solver(model, [pz.PositionTask(frame) for frame in frames])
    for there in model.sample(30, seed=1):
        targets = [fk(model, frame, there)[:3, 3] for frame in frames]
        solution = solver(targets)
        assert solution.success
        for frame, target in zip(frames, targets, strict=True):
            np.testing.assert_allclose(fk(model, frame, solution.q)[:3, 3], target, atol=1.001e-6)


def test_a_pose_is_a_position_and_an_orientation() -> None:
    model = pz.load("panda")
    solver = pz.Solver(model, [pz.OrientationTask("panda_hand"), pz.PositionTask("panda_hand")])
    for there, start in zip(model.sample(20, seed=1), model.sample(20, seed=2), strict=True):
        target = fk(model, "panda_hand", there)
        solution = solver([pz.SO3.from_matrix(target[:3, :3]), target[:3, 3]], start)
        certified(model, solution, "panda_hand", target)


def test_two_targets_for_one_frame_are_met_in_the_middle() -> None:
    """The least of w1^2 |p - a|^2 + w2^2 |p - b|^2 is the weighted mean."""
    model = pz.load("iiwa14")
    a, b = np.array([0.5, 0.1, 0.5]), np.array([0.4, -0.2, 0.6])
    tasks = [pz.PositionTask(model.tip, a, weight=2.0), pz.PositionTask(model.tip, b)]
    solution = pz.solve(model, tasks)
    assert not solution.success
    np.testing.assert_allclose(fk(model, model.tip, solution.q)[:3, 3], (4.0 * a + b) / 5.0, atol=1e-4)
    left = [0.2 * np.linalg.norm(a - b), 0.8 * np.linalg.norm(a - b)]
    np.testing.assert_allclose([error.position for error in solution.errors], left, atol=1e-4)
    assert solution.cost == pytest.approx(left[0] ** 2 + (0.5 * left[1]) ** 2, rel=1e-3)


def test_two_frames_of_one_chain() -> None:
    """The elbow held while the hand is placed."""
    model = pz.load("iiwa14")
    solver = pz.Solver(model, [pz.PositionTask("iiwa_link_4"), pz.PoseTask("iiwa_link_ee")])
    for there, start in zip(model.sample(20, seed=1), model.sample(20, seed=2), strict=True):
        elbow, hand = fk(model, "iiwa_link_4", there), fk(model, "iiwa_link_ee", there)
        solution = solver([elbow[:3, 3], pz.SE3.from_matrix(hand)], start)
        certified(model, solution, "iiwa_link_ee", hand)
        np.testing.assert_allclose(fk(model, "iiwa_link_4", solution.q)[:3, 3], elbow[:3, 3], atol=1.001e-6)


# Far away --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", [1.0, 30.0, 300.0, 1e4])
def test_what_can_move_freely_goes_as_far_as_it_is_sent(distance: float) -> None:
    """A body that floats, and a crane on a long rail: the way is straight, however long."""
    b = pz.ModelBuilder("crane")
    b.joint("rail", "prismatic", parent="base", child="cart", axis=(1, 0, 0), limits=(0.0, 2e4))
    b.joint("boom", "revolute", parent="cart", child="boom")
    b.frame("tip", link="boom", origin=pz.SE3.from_parts([1.0, 0.0, 0.0]))
    solution = pz.solve(b.build(), pz.PositionTask("tip", [distance, 0.3, 0.0], tolerance=1e-5), q0=[0.0, 0.1])
    assert solution.success, solution
    target = pz.SE3.from_xyz_rpy([distance, -distance, 2.0], [1.0, 0.5, -1.0])
    assert pz.solve(brick(), pz.PoseTask("tip", target, position_tolerance=1e-5)).success


# Rotations and aims alone ----------------------------------------------------------------------------------------


def test_an_orientation_alone() -> None:
    model = pz.load("panda")
    solver = pz.Solver(model, pz.OrientationTask("panda_hand"))
    for there, start in zip(model.sample(20, seed=1), model.sample(20, seed=2), strict=True):
        target = fk(model, "panda_hand", there)
        solution = solver(pz.SO3.from_matrix(target[:3, :3]), start)
        assert solution.success
        assert pose_error(fk(model, "panda_hand", solution.q), target)[1] <= 1.001e-6
        assert solution.errors[0].position is None


@pytest.mark.parametrize("axis", [(0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (1.0, -2.0, 0.5)])
def test_looking_at_a_point(axis: tuple[float, float, float]) -> None:
    model = pz.load("panda")
    solver = pz.Solver(model, pz.LookAtTask("panda_hand", axis))
    along = np.array(axis) / np.linalg.norm(axis)
    for there, start in zip(model.sample(20, seed=1), model.sample(20, seed=2), strict=True):
        seen = fk(model, "panda_hand", there)
        point = seen[:3, 3] + 0.7 * seen[:3, :3] @ along
        solution = solver(point, start)
        assert solution.success
        reached = fk(model, "panda_hand", solution.q)
        sight = point - reached[:3, 3]
        cosine = float(sight @ reached[:3, :3] @ along / np.linalg.norm(sight))
        assert np.linalg.norm(np.cross(sight, reached[:3, :3] @ along)) / np.linalg.norm(sight) <= 1.001e-6
        assert cosine > 0.0
        assert solution.rotation_error == pytest.approx(math.acos(min(cosine, 1.0)), abs=1e-7)


def test_looking_at_itself_is_no_accident() -> None:
    """The line of sight has no direction there; the answer is a configuration all the same."""
    model = pz.load("panda")
    point = fk(model, "panda_hand", model.home)[:3, 3]
    solution = pz.solve(model, pz.LookAtTask("panda_hand", target=point))
    assert model.within_limits(solution.q)
    assert math.isfinite(solution.rotation_error)


def test_weights_leave_rows_free_along_the_axes_that_were_asked_for() -> None:
    """A position on a line: free along the target's x, held along its y and z."""
    model = pz.load("iiwa14")
    target = pz.SE3.from_xyz_rpy([0.4, 0.3, 0.5], [0.3, -0.4, 0.8])
    task = pz.PoseTask(model.tip, target, position_weight=(0, 1, 1), rotation_weight=0.0, axes="target")
    for start in model.sample(10, seed=1):
        solution = pz.solve(model, task, q0=start)
        assert solution.success
        off = matrix(target)[:3, :3].T @ (fk(model, model.tip, solution.q)[:3, 3] - target.xyz)
        np.testing.assert_allclose(off[1:], 0.0, atol=1.001e-6)
    in_world = pz.solve(model, pz.PositionTask(model.tip, target.xyz, weight=(1, 0, 1)), q0=model.sample(seed=3))
    off = fk(model, model.tip, in_world.q)[:3, 3] - target.xyz
    assert in_world.success
    np.testing.assert_allclose(off[[0, 2]], 0.0, atol=1.001e-6)
    assert abs(off[1]) > 1e-3


@pytest.mark.parametrize("length", [1e-2, 1e-3, 3e-5, 1e-5])
def test_tiny_arms_are_solved_with_positions_weighed_by_their_size(length: float) -> None:
    """The page says so of links of a millimetre and less; without the weight few of these are found."""
    rng = np.random.default_rng(3)
    builder, link = pz.ModelBuilder("tiny"), "world"
    for i in range(7):
        place = pz.SE3.from_parts(length * rng.uniform(-1.0, 1.0, 3))
        axis, child = rng.normal(size=3), f"link{i}"
        builder.joint(f"j{i}", "revolute", parent=link, child=child, origin=place, axis=axis, limits=(-2.8, 2.8))
        link = child
    model = builder.build()
    task = pz.PoseTask(link, position_weight=1.0 / length, position_tolerance=1e-6 * length)
    solver = pz.Solver(model, task)
    starts, ends = model.sample(60, seed=1), model.sample(60, seed=2)
    assert all(solver(model.pose(link, end), start).success for start, end in zip(starts, ends, strict=True))
