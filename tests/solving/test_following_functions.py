"""What is solved, tracked and refused where joints follow others by functions; kinematics: tests/model."""

import math
from typing import Any

import numpy as np
import pytest
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.solving.problem.chain import chain_of

F = pz.JointFunction
TIGHT: dict[str, Any] = {"position_tolerance": 1e-11, "rotation_tolerance": 1e-11}
SLIDES = F.natural_spline([-2.5, -1.0, 0.0, 1.0, 2.5], [0.1, 0.05, 0.0, 0.1, 0.3])
TURNS = F.polynomial([0.0, 0.3, 0.1, 0.01])


def arm() -> pz.Model:
    """Six hinges, and a slide and a hinge that follow the third: it is the knee of a linkage."""
    b, parent = pz.ModelBuilder("arm"), "base"
    for i, axis in enumerate([(0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]):
        b.joint(f"j{i}", "revolute", parent=parent, child=f"l{i}", axis=axis, limits=(-2.5, 2.5), velocity=2.0,
                origin=pz.SE3.from_parts([0.05, 0, 0.3]))  # fmt: skip
        parent = f"l{i}"
        if i == 2:
            b.joint("slide", "prismatic", parent=parent, child="rod", mimic=pz.Mimic(joint="j2", function=SLIDES))
            parent = "rod"
        if i == 3:
            b.joint("turn", "revolute", parent=parent, child="fork", axis=(0, 1, 0), limits=(-1, 1), velocity=1.0,
                    mimic=pz.Mimic(joint="j2", function=TURNS))  # fmt: skip
            parent = "fork"
    b.frame("tip", link=parent, origin=pz.SE3.from_parts([0, 0.05, 0.1]))
    return b.build()


ARM = arm()
POSE = pz.PoseTask("tip")


def test_poses_are_reached_one_by_one_and_in_lanes() -> None:
    goals = ARM.pose("tip", ARM.sample(32, seed=1))
    answers = pz.solve_batch(ARM, POSE, goals)
    assert answers.success.all()
    assert (answers.q >= ARM.lower).all()
    assert (answers.q <= ARM.upper).all()
    assert np.abs(TURNS(answers.q[:, 2])).max() <= 1.0
    away = ARM.pose("tip", answers.q).inverse() @ goals
    assert np.linalg.norm(away.xyz, axis=1).max() < 1e-5
    one = pz.solve(ARM, pz.PoseTask("tip", target=goals[3]))
    assert one.success
    many = pz.solve_all(ARM, POSE, goals[3])
    assert any(np.allclose(one.q, other.q, atol=1e-3) for other in many)


@pytest.mark.parametrize("method", ["gn", "halley", "lm", "qp", "bfgs", "pairwise"])
def test_methods_converge(method: str) -> None:
    q = np.array([0.4, 0.5, 0.8, -0.3, 0.6, 0.2])
    goal = ARM.pose("tip", q)
    answer = pz.Solver(ARM, POSE, method=method)(goal, q + 0.05)
    assert answer.success, answer


def test_a_tracker_keeps_limits_and_speeds_of_followers() -> None:
    ends = ARM.sample(6, seed=4)
    ends[:, 2] = [1.8, -2.0, 1.85, 0.0, 1.8, 1.0]  # where the hinge that follows turns fastest, and back
    dt, goals = 0.01, ARM.pose("tip", ends)
    tracker, q = pz.Tracker(ARM, POSE, dt=dt), ARM.home
    path = [q]
    for k in range(6):
        for _ in range(150):
            q = tracker.step(q, goals[k]).copy()
            path.append(q)
    followed = TURNS(np.array(path)[:, 2])
    assert np.abs(followed).max() <= 1.0
    speeds = np.abs(np.diff(followed)) / dt
    assert 0.7 < speeds.max() <= 1.0


def test_a_stated_speed_of_a_follower_holds_too() -> None:
    dt, limits = 0.01, [pz.VelocityLimit({"slide": 0.02})]
    tracker, q = pz.Tracker(ARM, POSE, dt=dt, limits=limits), ARM.home
    goal, path = ARM.pose("tip", ARM.sample(seed=4)), [ARM.home[2]]
    for _ in range(60):
        q = tracker.step(q, goal).copy()
        path.append(q[2])
    speeds = np.abs(np.diff(SLIDES(np.array(path)))) / dt
    assert 0.002 < speeds.max() <= 0.02


def test_a_gradient_is_that_of_differences() -> None:
    q = np.array([0.4, 0.5, 0.8, -0.3, 0.6, 0.2])
    goal, h = ARM.pose("tip", q), 1e-5
    found = pz.Solver(ARM, pz.PoseTask("tip", **TIGHT))(goal, q)
    ways = [pz.SE3.from_parts(x) for x in h * np.eye(3)]
    solver = pz.Solver(ARM, pz.PoseTask("tip", **TIGHT))

    def moved(way: Any, sign: float) -> Array:
        return solver(pz.SE3.from_parts(goal.xyz + sign * way.xyz, goal.rotation), found.q).q

    expected = np.array([(moved(way, 1.0) - moved(way, -1.0)) / (2.0 * h) for way in ways]).T
    gradient = pz.solve(ARM, pz.PoseTask("tip", target=goal, **TIGHT), q0=q).gradient()
    np.testing.assert_allclose(gradient.by_target[0][:, :3], expected, rtol=0, atol=1e-6)


def test_a_gradient_of_what_is_out_of_reach_heeds_how_followers_curve() -> None:
    """It inverts the Hessian of the squared distance, to which a function adds its curvature."""
    b = pz.ModelBuilder("two")
    b.joint("lead", "revolute", parent="base", child="upper", limits=(-2, 2))
    bend = pz.Mimic(joint="lead", function=F.polynomial([0.3, 0.5, 0.6]))
    b.joint("bend", "revolute", parent="upper", child="lower", origin=pz.SE3.from_parts([1, 0, 0]), mimic=bend)
    b.frame("tip", link="lower", origin=pz.SE3.from_parts([1, 0, 0]))
    model = b.build()
    place, h = np.array([1.4, 1.2, 0.3]), 1e-4

    def answer(at: Array) -> pz.Solution:
        task = pz.PositionTask("tip", target=at, required=False, tolerance=1e-9)
        return pz.solve(model, task, q0=[0.2])

    found = answer(place)
    steps = h * np.eye(3)[:2]
    expected = [(answer(place + step).q - answer(place - step).q)[0] / (2.0 * h) for step in steps]
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(found.gradient().by_target[0][0, :2], expected, rtol=2e-3, atol=1e-4)


def test_chains_know_where_followers_end() -> None:
    axes = chain_of(ARM, "tip", None, pz.SE3.identity(), limits=True).axes
    low, high = SLIDES.image(ARM.lower[2], ARM.upper[2])
    slide = next(axis for axis in axes if axis.slide)
    assert (slide.centre - slide.half, slide.centre + slide.half) == pytest.approx((low, high))
    turn = axes[6]
    assert (turn.centre - turn.half, turn.centre + turn.half) == pytest.approx(TURNS.image(ARM.lower[2], ARM.upper[2]))
    free = chain_of(ARM, "tip", None, pz.SE3.identity(), limits=False).axes
    assert next(axis for axis in free if axis.slide).half == math.inf


def test_what_is_linear_in_joints_or_moves_one_after_the_other_is_refused() -> None:
    with refused("not-supported", "'turn' follows 'j2' by a function: name 'j2'"):
        pz.Solver(ARM, pz.JointCouplingTask({"turn": 1.0}, 0.0))
    with refused("not-supported", "the LinearLimit is linear in q"):
        pz.Tracker(ARM, POSE, dt=0.01, limits=[pz.LinearLimit({"turn": 1.0}, 0.5)])
    with refused("not-supported", "another follows 'j2' by a function"):
        pz.Solver(ARM, POSE, method="ccd")


def test_a_hand_follows_landmarks_with_fingers_that_curl_by_a_function() -> None:
    from poise.solving.tracking.landmark_descent import LandmarkDescent, Pinch

    b = pz.ModelBuilder("finger")
    b.joint("bend", "revolute", parent="palm", child="bone", axis=[0, 1, 0], limits=(-0.1, 1.5))
    curl = pz.Mimic(joint="bend", function=F.simm_spline([-0.1, 0.4, 1.0, 1.5], [0.0, 0.3, 1.2, 1.4]))
    at = pz.SE3.from_parts([0.1, 0, 0])
    b.joint("curl", "revolute", parent="bone", child="end", axis=[0, 1, 0], origin=at, mimic=curl)
    b.frame("tip", link="end", origin=pz.SE3.from_parts([0.05, 0, 0]))
    finger = b.build()
    follows = LandmarkDescent(
        finger, [pz.VectorTask("palm", "tip")], [(0, 1)], landmarks=2, scale=1.0, huber=0.02, regularization=1e-9,
        alpha=1.0, pinch=Pinch(), limits=True,
    )  # fmt: skip
    tip = np.array([0.09, 0.0, -0.09])  # which it cannot reach: the least is where the curvature counts
    path = np.empty((1, 1))
    assert follows.follow(np.array([[[0.0, 0.0, 0.0], tip]]), path, np.array([0.2]))
    x = np.linspace(-0.1, 1.5, 16001)
    nearest = np.linalg.norm(finger.pose("tip", x[:, None]).xyz - tip, axis=1).argmin()
    assert path[0, 0] == pytest.approx(x[nearest], abs=1e-3)


def test_limits_of_a_follower_are_stated_anew() -> None:
    less = ARM.with_limits({"turn": (-0.2, 0.5)}, velocity={"turn": 0.4})
    assert TURNS(less.upper[2]) == pytest.approx(0.5)
    assert TURNS(less.lower[2]) == pytest.approx(-0.2)
    assert less.velocity[2] == pytest.approx(0.4 / TURNS.steepest(less.lower[2], less.upper[2]))
    with refused("inconsistent", "held to less by 'turn'"):
        ARM.with_limits({"j2": (-2.0, 2.2)})
