"""The derivatives of answers, held against central differences of what says nothing of derivatives of answers.

Where something is to be least, that is the root of the conditions of rest, which SciPy finds from poses and Jacobians
alone, each condition written out here; else a solve from the answer itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import root
from support.mechanisms import four_bar, puppet

import poise as pz
from poise.common.array import Array
from poise.solving.gradients.gradient import SolutionGradient

TIGHT: dict[str, Any] = {"position_tolerance": 1e-12, "rotation_tolerance": 1e-12}
WORST = 1e-6
"""The largest relative error of a derivative."""
Grad = Callable[[Array], Array]
Rows = Callable[[Array], tuple[Array, Array]]


@pytest.fixture(scope="module")
def panda() -> pz.Model:
    return pz.load("panda")


def twisted(pose: pz.SE3, twist: Array) -> pz.SE3:
    """The pose after a twist along the axes in which it is stated."""
    return pz.SE3.from_parts(pose.xyz + twist[:3], pz.SO3.from_rotvec(twist[3:]) @ pose.rotation)


def differences(answer: Callable[[Array], Array], count: int, step: float) -> Array:
    """(nq, count) central differences, the error of the second order taken out (Richardson 1911)."""

    def slope(way: Array) -> Array:
        return (answer(way) - answer(-way)) / (2.0 * float(way.max()))

    ways = step * np.eye(count)
    return np.array([(4.0 * slope(way) - slope(2.0 * way)) / 3.0 for way in ways]).T


def assert_near(found: Array, expected: Array, worst: float = WORST) -> None:
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= worst * max(1.0, float(np.abs(expected).max()))


def at_rest(q: Array, free: Array, grad: Grad, rows: Rows | None = None) -> Array:
    """(nq,) the root near q of grad = J^T y, c = 0 over the free joints."""

    def whole(x: Array) -> Array:
        out = q.copy()
        out[free] = x[: free.sum()]
        return out

    def conditions(x: Array) -> Array:
        at = whole(x)
        c, jacobian = (np.zeros(0), np.zeros((0, len(q)))) if rows is None else rows(at)
        return np.concatenate([(grad(at) - jacobian.T @ x[free.sum() :])[free], c])

    held = np.zeros((0, len(q))) if rows is None else rows(q)[1]
    y = np.linalg.lstsq(held[:, free].T, grad(q)[free], rcond=None)[0]
    found = root(conditions, np.concatenate([q[free], y]), tol=1e-14)
    assert np.abs(found.fun).max() < 1e-10
    return whole(found.x)


def pose_rows(model: pz.Model, frame: str, target: pz.SE3) -> Rows:
    def rows(q: Array) -> tuple[Array, Array]:
        pose = model.pose(frame, q)
        turn = (target.rotation @ pose.rotation.inverse()).log()
        return np.concatenate([target.xyz - pose.xyz, turn]), -model.jacobian(frame, q)

    return rows


def free_of(model: pz.Model, q: Array) -> Array:
    return np.asarray((q > model.lower + 1e-7) & (q < model.upper - 1e-7))


def squares_of(rows: Rows, weights: Array) -> Grad:
    def grad(q: Array) -> Array:
        c, jacobian = rows(q)
        return np.asarray((weights**2 * c) @ jacobian)

    return grad


# A pose alone ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", ["panda", "ur5e", "iiwa14"])
def test_a_pose_is_followed_by_the_least_change(robot: str) -> None:
    arm = pz.load(robot)
    tip, seen = arm.tip, 0
    for seed in range(12):
        target = arm.pose(tip, arm.sample(seed=seed))
        solver = pz.Solver(arm, pz.PoseTask(tip, target, **TIGHT), max_restarts=0)
        found = pz.solve(arm, pz.PoseTask(tip, target, **TIGHT))
        gradient = found.gradient()
        if gradient.status != "smooth" or np.linalg.cond(arm.jacobian(tip, found.q)) > 100.0:
            continue
        if np.minimum(found.q - arm.lower, arm.upper - found.q).min() < 1e-3:
            continue
        assert gradient.least_change is (arm.nv > 6)
        expected = differences(lambda way: solver(twisted(target, way), found.q).q, 6, 2e-5)  # noqa: B023
        assert_near(gradient.by_target[0], expected, 1e-5 if robot == "panda" else WORST)
        assert_near(gradient.by_target[0], np.linalg.pinv(arm.jacobian(tip, found.q)), 1e-9)
        seen += 1
    assert seen >= 4


def test_a_limit_that_nothing_pushes_to_is_one_sided_and_differences_from_both_sides_show_it(panda: pz.Model) -> None:
    arm, tip, seen = panda, panda.tip, 0
    for seed in range(60):
        target = arm.pose(tip, arm.sample(seed=seed))
        found = pz.solve(arm, pz.PoseTask(tip, target, **TIGHT))
        gradient = found.gradient()
        if gradient.status == "smooth":
            continue
        assert gradient.status == "one-sided"
        held = [name for name, free in zip(arm.coordinates, free_of(arm, found.q), strict=True) if not free]
        assert all(name in gradient.reason for name in held)
        if len(held) > 1 or np.minimum(found.q - arm.lower, arm.upper - found.q).min() > 0.0:
            continue
        joint = arm.coordinates.index(held[0])
        solver = pz.Solver(arm, pz.PoseTask(tip, target, **TIGHT), max_restarts=0)
        way = 1e-5 * np.linalg.pinv(arm.jacobian(tip, found.q))[joint]
        way *= (1.0 if found.q[joint] > 0.0 else -1.0) * 1e-5 / np.linalg.norm(way)  # pushes the joint out
        out, back = ((solver(twisted(target, s * way), found.q).q - found.q) / (s * 1e-5) for s in (1.0, -1.0))
        assert_near(gradient.by_target[0] @ way / 1e-5, out, 5e-3)
        assert np.abs(out - back).max() > 1e-2
        seen += 1
    assert seen >= 2


@pytest.mark.parametrize("drawn", ["not", "to a limit", "aside"])
def test_in_a_corner_of_the_limits_the_derivative_is_that_of_one_side(panda: pz.Model, drawn: str) -> None:
    """Two joints stop the motion that leaves the hand where it is, each one way: on one side there is no answer."""
    rng, h, names = np.random.default_rng(3), 1e-4, panda.coordinates
    for q in panda.sample(6, seed=11):
        jacobian = panda.jacobian(panda.tip, q)
        along = np.linalg.svd(jacobian)[2][-1]
        i, j = np.argsort(-np.abs(along))[:2]
        ends = [(panda.lower[k], q[k]) if s * along[k] > 0.0 else (q[k], panda.upper[k]) for k, s in ((i, 1), (j, -1))]
        arm = panda.with_limits({names[i]: ends[0], names[j]: ends[1]})
        target = arm.pose(arm.tip, q)
        to = {"not": None, "to a limit": q + 0.5 * along, "aside": q - 0.3 * along + 0.1 * rng.standard_normal(7)}[
            drawn
        ]
        posture = [] if to is None else [pz.PostureTask(arm.clip(to), tolerance=50.0)]
        solver = pz.Solver(arm, [pz.PoseTask(arm.tip, **TIGHT), *posture])
        found = solver([target] if to is None else [target, None], q)
        gradient = found.gradient()
        assert np.abs(found.q - q).max() < 1e-5
        assert gradient.status == "one-sided"
        assert names[i] in gradient.reason or names[j] in gradient.reason
        assert_near(jacobian @ gradient.by_target[0], np.eye(6))
        if to is None:
            continue
        twist = rng.standard_normal(6)
        way = gradient.by_target[0] @ twist
        side = 1.0 if arm.within_limits(np.where(np.abs(way) > 1e-9, q + h * way, q)) else -1.0
        there, away = (solver([twisted(target, s * h * twist), None], q) for s in (side, -side))
        assert_near((there.q - gradient.q) / (side * h), way, 0.05)
        assert not away.success or np.abs(away.q - q).max() > 0.05


def test_a_singular_answer_says_so_and_gives_no_number(panda: pz.Model) -> None:
    arm = pz.load("planar2")
    found = pz.solve(arm, pz.PositionTask("tool", arm.pose("tool", [0.3, 0.0]).xyz), q0=[0.3, 0.0])
    gradient = found.gradient()
    assert gradient.status == "undefined"
    assert "singular" in gradient.reason
    with pytest.raises(ValueError, match="no derivative"):
        _ = gradient.by_target
    with pytest.raises(ValueError, match="no derivative"):
        _ = gradient.vjp([1.0, 0.0]).by_target
    assert repr(gradient) == "SolutionGradient(undefined)"


def test_a_plane_and_a_line_are_a_point_and_the_turn_of_an_axis() -> None:
    arm = pz.load("ur5e")
    pose = arm.pose(arm.tip, arm.sample(seed=1))
    turned = [pz.OrientationTask(arm.tip, target=pose.rotation, tolerance=1e-12)]
    line, plane = pose.rotation.matrix()[:, :2].T

    def answer(way: Array, q0: Array | None = None) -> pz.Solution:
        d, e = way[:6], way[6:]
        axes = [pz.SO3.from_rotvec(w).act(n) for w, n in ((d[3:], line), (e[3:], plane + line))]
        tasks = [
            pz.LineTask(arm.tip, direction=axes[0], target=pose.xyz + d[:3], tolerance=1e-12),
            pz.PlaneTask(arm.tip, normal=axes[1], target=pose.xyz + 0.1 * plane - 0.1 * line + e[:3], tolerance=1e-12),
        ]
        return pz.solve(arm, [*tasks, *turned], q0=q0, max_restarts=20 if q0 is None else 0)

    found = answer(np.zeros(12))
    assert found.success
    gradient = found.gradient()
    assert gradient.status == "smooth"
    expected = differences(lambda way: answer(way, found.q).q, 12, 2e-5)
    assert_near(np.hstack(gradient.by_target[:2]), expected)


def test_a_posture_alone_is_followed(panda: pz.Model) -> None:
    gradient = pz.solve(panda, pz.PostureTask(panda.home + 0.1)).gradient()
    assert gradient.status == "smooth"
    assert_near(gradient.by_target[0], np.eye(panda.nv), 1e-6)


def test_a_planar_arm_follows_in_its_plane_alone() -> None:
    arm = pz.load("planar3")
    q = np.array([0.3, 0.7, -0.5])
    gradient = pz.solve(arm, pz.PoseTask("tool", arm.pose("tool", q)), q0=q).gradient()
    assert gradient.status == "smooth"
    assert_near(gradient.by_target[0], np.linalg.pinv(arm.jacobian("tool", q)), 1e-6)


# Where something is to be least ----------------------------------------------------------------------------------


def test_a_posture_beside_a_pose(panda: pz.Model) -> None:
    arm, tip, active = panda, panda.tip, 0
    for seed in range(10):
        rest, target = arm.sample(seed=100 + seed), arm.pose(tip, arm.sample(seed=seed))
        weights = np.linspace(0.5, 1.5, 7)
        found = pz.solve(arm, [pz.PoseTask(tip, target, **TIGHT), pz.PostureTask(rest, weight=weights)])
        gradient = found.gradient()
        if gradient.status != "smooth":
            continue
        q, free = gradient.q, free_of(arm, gradient.q)
        assert np.abs(q - found.q).max() < 1e-3
        active += not free.all()

        def answer(twist: Array, r: Array, w: Array) -> Array:
            rows = pose_rows(arm, tip, twisted(target, twist))  # noqa: B023
            return at_rest(q, free, lambda at: w**2 * (at - r), rows)  # noqa: B023

        o = np.zeros(6)
        assert_near(gradient.by_target[0], differences(lambda x: answer(x, rest, weights), 6, 1e-4))  # noqa: B023
        assert_near(gradient.by_target[1], differences(lambda x: answer(o, rest + x, weights), 7, 1e-4))  # noqa: B023
        assert_near(gradient.by_weights[1], differences(lambda x: answer(o, rest, weights + x), 7, 1e-4))  # noqa: B023
        assert np.array_equal(gradient.by_posture, gradient.by_target[1])
        assert not gradient.by_weights[0].any()
        if active == 2:
            break
    assert active == 2


def test_the_weight_of_a_row_alone_of_a_pose_out_of_reach(panda: pz.Model) -> None:
    arm, tip = panda, panda.tip
    for seed in range(3):
        pose, weights = arm.pose(tip, arm.sample(seed=seed)), np.repeat([1.4, 0.9 + 0.3 * seed], 3)
        target = pz.SE3.from_parts(1.6 * pose.xyz / np.linalg.norm(pose.xyz), pose.rotation)

        def solve(w: Array, **start: Any) -> Any:
            task = pz.PoseTask(tip, target, position_weight=tuple(w[:3]), rotation_weight=tuple(w[3:]))  # noqa: B023
            return pz.solve(arm, task, **start)

        found = solve(weights)
        assert found.errors[0].rotation > 0.02
        near = differences(lambda x: solve(weights + x, q0=found.q, max_restarts=0).gradient().q, 6, 1e-4)  # noqa: B023
        assert_near(found.gradient().by_weights[0], near)


def test_a_target_out_of_reach_with_weights_and_limits(panda: pz.Model) -> None:
    arm, tip, active = panda, panda.tip, 0
    for seed in range(8):
        pose = arm.pose(tip, arm.sample(seed=seed))
        target = pz.SE3.from_parts(1.6 * pose.xyz / np.linalg.norm(pose.xyz), pose.rotation)
        gradient = pz.solve(arm, pz.PoseTask(tip, target, position_weight=2.0)).gradient()
        assert gradient.status == "smooth"
        q, free = gradient.q, free_of(arm, gradient.q)
        active += not free.all()

        def answer(twist: Array, weights: Array) -> Array:
            rows = pose_rows(arm, tip, twisted(target, twist))  # noqa: B023
            return at_rest(q, free, squares_of(rows, np.repeat(weights, 3)))  # noqa: B023

        assert_near(gradient.by_target[0], differences(lambda x: answer(x, np.array([2.0, 1.0])), 6, 1e-4))
        by_weights = gradient.by_weights[0].reshape(7, 2, 3).sum(2)
        assert_near(by_weights, differences(lambda x: answer(np.zeros(6), np.array([2.0, 1.0]) + x), 2, 1e-4))
        assert np.abs(by_weights @ [2.0, 1.0]).max() < 1e-8  # all weights times one factor change nothing
        if active == 2:
            break
    assert active == 2


def test_tasks_that_are_not_required(panda: pz.Model) -> None:
    arm, tip = panda, panda.tip
    for seed in range(2):
        place = arm.pose(tip, arm.sample(seed=seed)).xyz
        turn, elbow = arm.pose(tip, arm.sample(seed=seed + 70)), arm.pose("panda_link4", arm.sample(seed=seed + 7)).xyz
        tasks = [
            pz.PositionTask(tip, place, tolerance=1e-12),
            pz.OrientationTask(tip, turn.rotation, required=False, weight=0.5),
            pz.PositionTask("panda_link4", elbow, required=False, weight=2.0),
        ]
        gradient = pz.solve(arm, tasks).gradient()
        assert gradient.status == "smooth"
        q, free = gradient.q, free_of(arm, gradient.q)

        def answer(way: Array) -> Array:
            to = [
                pose_rows(arm, frame, pz.SE3.from_parts(xyz, pz.SO3.from_rotvec(way[3:6]) @ turn.rotation))  # noqa: B023
                for frame, xyz in ((tip, place + way[:3]), ("panda_link4", elbow + way[6:]))  # noqa: B023
            ]
            turned = squares_of(to[0], np.array([0.0, 0, 0, 0.5, 0.5, 0.5]))
            led = squares_of(to[1], np.array([2.0, 2, 2, 0, 0, 0]))

            def held(at: Array) -> tuple[Array, Array]:
                c, jacobian = to[0](at)
                return c[:3], jacobian[:3]

            return at_rest(q, free, lambda at: turned(at) + led(at), held)  # noqa: B023

        assert_near(np.hstack(gradient.by_target), differences(answer, 9, 1e-4))


@pytest.mark.parametrize("kind", ["ball", "cone", "shapes"])
def test_a_border_of_a_range_and_shapes_that_touch(panda: pz.Model, kind: str) -> None:
    """What must hold is held to its border by a posture beyond it."""
    link, tip, seen = "panda_link4", panda.tip, 0
    arm = (
        panda.with_shapes({link: pz.Capsule((0.0, 0.0, -0.05), (0.0, 0.0, 0.05), 0.05)}) if kind == "shapes" else panda
    )
    for seed in range(8):
        rest, begin = arm.sample(seed=500 + seed), arm.sample(seed=seed)
        place, middle, pose = arm.pose(tip, begin).xyz, arm.pose(link, begin).xyz, arm.pose(tip, begin)
        axis, limits, more = pose.rotation.matrix()[:, 2], True, list[pz.Task]()
        world = None
        if kind == "ball":
            more = [pz.RegionTask(link, pz.Sphere(tuple(middle), 0.1))]
        elif kind == "cone":
            more = [pz.ConeTask(tip, (0.0, 0.0, 1.0), target=axis, angle=0.3)]
        else:
            free_q = pz.solve(arm, [pz.PositionTask(tip, place), pz.PostureTask(rest)]).q
            at = arm.pose(link, free_q)
            world = pz.World({"ball": pz.Sphere(tuple(at.act([0.1, 0.05, 0.05])), 0.08)})
            limits = [pz.CollisionLimit(world, min_distance=0.02, self_collision=False)]
        tasks = [pz.PositionTask(tip, place, tolerance=1e-10), *more, pz.PostureTask(rest)]
        found = pz.solve(arm, tasks, limits=limits)
        if not found.success:
            continue
        gradient = found.gradient()
        if gradient.status != "smooth":
            continue
        q, free = gradient.q, free_of(arm, gradient.q)

        def beyond(at: Array) -> float:
            if kind == "ball":
                return float(np.linalg.norm(arm.pose(link, at).xyz - middle)) - 0.1  # noqa: B023
            if kind == "cone":
                now = arm.pose(tip, at).rotation.matrix()[:, 2]
                return float(np.arctan2(np.linalg.norm(np.cross(now, axis)), now @ axis)) - 0.3  # noqa: B023
            return 0.02 - float(arm.distance(at, world, self_collision=False).distance)  # noqa: B023

        if beyond(q) < -1e-6:
            continue

        def answer(way: Array) -> Array:
            rows = pose_rows(arm, tip, pz.SE3.from_parts(place + way[:3]))  # noqa: B023

            def held(at: Array) -> tuple[Array, Array]:
                c, jacobian = rows(at)  # noqa: B023
                side = [(beyond(at + h) - beyond(at - h)) / 2e-5 for h in 1e-5 * np.eye(7)]  # noqa: B023
                return np.append(c[:3], beyond(at)), np.vstack([jacobian[:3], side])  # noqa: B023

            return at_rest(q, free, lambda at: at - rest - way[3:], held)  # noqa: B023

        assert_near(np.hstack([gradient.by_target[0], gradient.by_posture]), differences(answer, 10, 1e-3), 1e-5)
        seen += 1
        break
    assert seen


def bent(arm: pz.Model, seed: int) -> tuple[Array, list[Any]]:
    """A place for the hand, and the tasks that ask for it; hand and fore are turned towards some other posture."""
    rest, place = arm.sample(seed=seed + 50), 1.05 * arm.pose("hand", arm.sample(seed=seed)).xyz
    hand, fore = (arm.pose(frame, rest).rotation for frame in ("hand", "fore"))
    turns = [
        pz.OrientationTask("hand", hand, required=False),
        pz.OrientationTask("fore", fore, required=False, weight=0.5),
    ]
    return place, [pz.PositionTask("hand", place, tolerance=1e-10), *turns]


def test_balls_at_limits_of_swing_and_twist() -> None:
    """They stay there, and the hand follows; what else moves is as differences of solves have it."""
    arm, seen = puppet(), 0
    for seed in range(0, 14, 2):
        place, tasks = bent(arm, seed)
        found = pz.solve(arm, tasks)
        gradient = found.gradient()
        met = [ball.met(gradient.q[ball.place : ball.place + 4]) for ball in arm.ball_limits]
        if not found.success or gradient.status != "smooth" or not any(met):
            continue
        assert_near(arm.jacobian("hand", gradient.q)[:3] @ gradient.by_target[0], np.eye(3), 1e-9)
        solver, turns = pz.Solver(arm, tasks, max_restarts=0), [task.target for task in tasks[1:]]

        def answer(way: Array) -> Array:
            moved = solver([place + way, *turns], gradient.q).gradient().q  # noqa: B023
            return np.array(arm.difference(gradient.q, moved))  # noqa: B023

        expected = differences(answer, 3, 1e-4)
        if np.abs(expected).max() > 100.0:  # a solve went elsewhere
            continue
        assert_near(gradient.by_target[0], expected)
        moved = arm.integrate(gradient.q, 1e-4 * gradient.by_target[0][:, 0])
        for ball, kinds in zip(arm.ball_limits, met, strict=True):
            rooms = dict(zip(("swing", "twist"), ball.margins(moved[ball.place : ball.place + 4]), strict=True))
            assert all(abs(rooms[kind]) < 1e-6 for kind in kinds)
        seen += 1
    assert seen >= 2


def test_an_answer_that_ended_beside_a_limit_rests_at_it() -> None:
    """A step to rest that would leave swing or twist ends there, and does not go on beyond."""
    arm, rng, seen = puppet(), np.random.default_rng(0), 0
    for seed in (2, 6, 10):
        found = pz.solve(arm, bent(arm, seed)[1])
        gradient = found.gradient()
        balls = [(slice(ball.place, ball.place + 4), ball) for ball in arm.ball_limits]
        if not found.success or gradient.status != "smooth" or not any(b.met(gradient.q[at]) for at, b in balls):
            continue
        for way in rng.uniform(-1e-3, 1e-3, (20, arm.nv)):
            q = arm.integrate(gradient.q, way)
            if min(float(np.min(ball.margins(q[at]))) for at, ball in balls) < 1e-5:
                continue
            found.q[:] = q
            beside = found.gradient()
            if "falls" in beside.reason:  # without the limit nothing is least there
                continue
            assert np.abs(arm.difference(gradient.q, beside.q)).max() < 1e-9
            assert_near(beside.by_target[0], gradient.by_target[0])
            seen += 1
    assert seen >= 3


def test_a_humanoid_with_four_tasks_and_a_posture() -> None:
    body = pz.load("g1", base="floating")
    bend = {"hip_pitch": -0.4, "knee": 0.8, "ankle_pitch": -0.4}
    q = body.q({f"{side}_{joint}_joint": angle for side in ("left", "right") for joint, angle in bend.items()})
    feet, hand = [f"{side}_ankle_roll_link" for side in ("left", "right")], "left_wrist_yaw_link"
    stand = [pz.PoseTask(foot, body.pose(foot, q), **TIGHT) for foot in feet]
    place = body.pose(hand, q).xyz + np.array([0.15, 0.05, 0.1])
    balance = pz.CentreOfMassTask(body.centre_of_mass(q), weight=(1, 1, 0), tolerance=1e-12)
    tasks = [*stand, balance, pz.PositionTask(hand, place, tolerance=1e-12), pz.PostureTask(q)]
    gradient = pz.solve(body, tasks, q0=q).gradient()
    assert gradient.status == "smooth"
    assert [part.shape[1] for part in gradient.by_target] == [6, 6, 3, 3, body.nv]
    jacobian = np.vstack([*(body.jacobian(foot, gradient.q) for foot in feet), body.jacobian(hand, gradient.q)[:3]])
    by_hand = np.vstack([np.zeros((12, 3)), np.eye(3)])
    assert_near(jacobian @ gradient.by_target[3], by_hand, 1e-9)
    assert np.abs(body.centre_of_mass_jacobian(gradient.q)[:2] @ gradient.by_target[3]).max() < 1e-9
    solver = pz.Solver(body, tasks, max_restarts=0)

    def answer(way: Array) -> Array:
        moved = solver([*(task.target for task in tasks[:3]), place + way, q], gradient.q).gradient().q
        return np.array(body.difference(gradient.q, moved))

    assert_near(gradient.by_target[3], differences(answer, 3, 1e-3))


# Placements ------------------------------------------------------------------------------------------------------


def elsewhere(model: pz.Model, name: str, twist: Array) -> pz.Model:
    """The model with the origin of a joint or a frame moved."""
    if name in model.joint_names:
        joints = [replace(j, origin=twisted(j.origin, twist)) if j.name == name else j for j in model.joints]
        return model._with(joints=joints)
    frames = [replace(f, origin=twisted(f.origin, twist)) if f.name == name else f for f in model._own_frames()]
    return model._with(frames=frames)


@pytest.mark.parametrize("kind", ["posture", "out of reach"])
def test_joints_frames_and_tools_that_stand_elsewhere(panda: pz.Model, kind: str) -> None:
    arm = panda.with_frame("tool", link=panda.tip, origin=pz.SE3.from_xyz_rpy([0.05, 0.02, 0.1], [0.3, 0.2, 0.1]))
    offset = pz.SE3.from_xyz_rpy([0.01, 0.02, 0.03], [0.1, 0.1, 0.2])
    for seed in (0, 3):
        target, rest = arm.pose("tool", arm.sample(seed=seed)) @ offset, arm.sample(seed=50 + seed)
        if kind == "posture":
            tasks: Sequence[pz.Task] = [pz.PoseTask("tool", target, offset=offset, **TIGHT), pz.PostureTask(rest)]
        else:
            target = pz.SE3.from_parts(2.0 * target.xyz / np.linalg.norm(target.xyz), target.rotation)
            tasks = [pz.PoseTask("tool", target, offset=offset)]
        gradient = pz.solve(arm, tasks).gradient()
        assert gradient.status == "smooth"
        q, free = gradient.q, free_of(arm, gradient.q)

        def answer(model: pz.Model, tool: pz.SE3) -> Array:
            rows = pose_rows(model.with_frame("end", link="tool", origin=tool), "end", target)  # noqa: B023
            if kind == "posture":
                return at_rest(q, free, lambda at: at - rest, rows)  # noqa: B023
            return at_rest(q, free, squares_of(rows, np.ones(6)))  # noqa: B023

        for name in ("panda_joint1", "panda_joint4", "tool"):
            expected = differences(lambda x: answer(elsewhere(arm, name, x), offset), 6, 1e-4)  # noqa: B023
            assert_near(gradient.by_placement(name), expected)
        assert_near(gradient.by_offset(), differences(lambda x: answer(arm, twisted(offset, x)), 6, 1e-4))


def test_the_length_of_a_link_in_a_loop() -> None:
    """Of a four-bar whose crank is led: its rocker follows, and goes elsewhere with the coupler's length."""
    bar = four_bar()
    task = pz.JointCouplingTask({"crank": 1.0}, target=1.0)
    found = pz.solve(bar, task)
    gradient = found.gradient()
    assert gradient.status == "smooth"

    def closed(crank: float, length: float) -> Array:
        origin = np.array([length, 0.0, 0.0, 0.0, 0.0, 0.0])
        model = elsewhere(bar, "coupler_end", origin)
        return pz.solve(model, replace(task, target=1.0 + crank), q0=found.q).q

    assert_near(gradient.by_target[0], differences(lambda x: closed(x[0], 0.0), 1, 1e-4))
    assert_near(gradient.by_placement("coupler_end")[:, :1], differences(lambda x: closed(0.0, x[0]), 1, 1e-4))


# Many, one number, and words -------------------------------------------------------------------------------------


def same(one: SolutionGradient, parts: tuple[Array, ...], i: int) -> bool:
    return all(np.array_equal(a, b[i]) for a, b in zip(one.by_target, parts, strict=True))


def test_a_batch_is_its_loop_to_the_bit(panda: pz.Model) -> None:
    targets = panda.pose(panda.tip, panda.sample(200, seed=1))
    numbers = targets.array.copy()
    numbers[7, 0], numbers[9] = np.nan, [9.0, 9.0, 9.0, 1.0, 0.0, 0.0, 0.0]
    found = pz.solve_batch(panda, pz.PoseTask(panda.tip), numbers)
    gradients, cotangents = found.gradient(), np.random.default_rng(0).normal(size=(200, 7))
    pulled = gradients.vjp(cotangents)
    assert set(gradients.status) == {"smooth", "one-sided", "undefined"}
    assert gradients.status[7] == "undefined"
    assert "numbers that make none" in found[7].gradient().reason
    for i, solution in enumerate(found):
        one = solution.gradient()
        assert one.status == gradients.status[i]
        if one.status == "undefined":
            assert np.isnan(gradients.by_target[0][i]).all()
        else:
            assert same(one, gradients.by_target, i)
            assert same(one.vjp(cotangents[i]), pulled, i)
    assert len(gradients) == 200
    assert "smooth" in repr(gradients)
    with pytest.raises(pz.ShapeError, match="a row a problem"):
        gradients.vjp(np.ones(7))


def test_a_batch_of_other_problems_is_its_loop_to_the_bit(panda: pz.Model) -> None:
    """A place within reach or out of it, a direction that gives way, a posture, and a ball that may stop links."""
    shaped = panda.with_shapes({"panda_link4": pz.Sphere((0.0, 0.0, 0.0), 0.06)})
    apart = pz.CollisionLimit(pz.World({"ball": pz.Sphere((0.3, 0.0, 0.5), 0.1)}), self_collision=False)
    look = pz.AxisTask(panda.tip, (0.0, 0.0, 1.0), required=False)
    places = panda.pose(panda.tip, panda.sample(6, seed=3)).xyz * np.where(np.arange(6) == 1, 3.0, 1.0)[:, None]
    for tasks, targets, limits in (
        ([pz.PositionTask(panda.tip), pz.PostureTask()], [places, panda.sample(6, seed=4)], [apart]),
        ([pz.PositionTask(panda.tip), look], [places, np.tile([0.0, 0.0, 1.0], (6, 1))], True),
    ):
        found = pz.solve_batch(shaped, tasks, targets, limits=limits)
        gradients, cotangents = found.gradient(), np.random.default_rng(0).normal(size=(6, 7))
        pulled = gradients.vjp(cotangents)
        for i, one in enumerate(answer.gradient() for answer in found):
            assert one.status == gradients.status[i]
            if one.status == "undefined":
                assert all(np.isnan(part[i]).all() for part in gradients.by_target)
            else:
                assert same(one, gradients.by_target, i)
                assert same(one.vjp(cotangents[i]), pulled, i)
        assert "smooth" in gradients.status


def test_one_number_costs_no_more_than_its_row(panda: pz.Model) -> None:
    tasks = [pz.PositionTask(panda.tip, [0.4, 0.1, 0.5]), pz.PostureTask(panda.home)]
    gradient = pz.solve(panda, tasks).gradient()
    number = np.arange(7.0)
    pulled = gradient.vjp(number)
    for whole, row in zip(gradient.by_target, pulled.by_target, strict=True):
        np.testing.assert_allclose(row, number @ whole, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(pulled.by_placement("panda_joint3"), number @ gradient.by_placement("panda_joint3"))
    with pytest.raises(pz.ShapeError, match="cotangent"):
        gradient.vjp(np.ones(6))


@pytest.mark.parametrize(
    ("ask", "kind", "words"),
    [
        (lambda g: g.by_placement("panda_joint9"), KeyError, "no joint or frame 'panda_joint9'; did you mean"),
        (lambda g: g.by_placement("panda_link4"), ValueError, "is placed by its joint: name 'panda_joint4'"),
        (lambda g: g.by_offset(1), ValueError, "is not about one frame"),
        (lambda g: g.by_offset(2), IndexError, "there is no task 2: this answer has 2, counted from 0"),
        (lambda g: g.vjp(np.full(7, np.nan)), ValueError, "finite"),
    ],
)
def test_what_makes_no_sense_gets_a_sentence(
    panda: pz.Model, ask: Callable[[SolutionGradient], Any], kind: type[Exception], words: str
) -> None:
    gradient = pz.solve(panda, [pz.PositionTask(panda.tip, [0.4, 0.1, 0.5]), pz.PostureTask(panda.home)]).gradient()
    with pytest.raises(kind, match=words):
        ask(gradient)


def test_an_answer_that_slides_along_a_sphere_has_no_derivative() -> None:
    """The nearest points of a sphere to its centre are all of it: a small change of the target leads across it."""
    arm, (frame, place) = pz.load("panda"), ("panda_hand", (0.4, 0.1, 0.5))
    away = pz.DistanceTask(frame, (0.1, 0.6), target=place)
    found = pz.solve(arm, [pz.PositionTask(frame, place), away], max_restarts=3)
    assert found.status is pz.Status.LOCAL_MINIMUM
    gradient = found.gradient()
    assert gradient.status == "undefined"
    with pytest.raises(pz.InvalidValue, match="degenerate: what is to be least is flat there"):
        _ = gradient.by_target
