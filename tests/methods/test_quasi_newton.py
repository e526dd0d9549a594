"""BFGS and L-BFGS-B: minimisation of the sum of squares, against SciPy's and against least squares."""

from typing import Any

import numpy as np
import pytest
from scipy import optimize
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.robots import TEXTBOOK

PANDA = TEXTBOOK["panda"]()
HAND = "panda_hand"
POSE = pz.PoseTask(HAND)


def cost(solver: pz.Solver, q: Array, target: Any) -> float:
    e, _ = solver.linearise(q, target)
    return float(e @ e)


def way(model: pz.Model, task: Any, method: Any, q0: Array, target: Any, count: int, *, limits: bool = True) -> Array:
    """(count + 1, nq) where the updates lead."""
    tracker = pz.Tracker(model, task, method, limits=limits)
    path = [q0]
    for _ in range(count):
        path.append(tracker.step(path[-1], target).copy())
    return np.array(path)


def beyond() -> tuple[Array, pz.SE3]:
    """A start, and a pose that the Panda misses with several joints at their limits."""
    return PANDA.sample(seed=3), pz.SE3.from_xyz_rpy([0.2, -0.9, 0.9], [0.5, 2.5, 1.0])


# The gradient and the first step ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_the_gradient_is_minus_twice_jacobian_transpose_e(seed: int) -> None:
    solver = pz.Solver(PANDA, POSE)
    q, target = PANDA.sample(seed=seed), PANDA.pose(HAND, PANDA.sample(seed=seed + 50))
    e, jacobian = solver.linearise(q, target)
    expected = optimize.approx_fprime(q, lambda x: cost(solver, x, target), 1e-7)
    np.testing.assert_allclose(-2.0 * jacobian.T @ e, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("method", ["bfgs", "lbfgs"])
def test_the_first_step_goes_along_the_gradient(method: str) -> None:
    q, target = PANDA.sample(seed=1), PANDA.pose(HAND, PANDA.sample(seed=2))
    e, jacobian = pz.Solver(PANDA, POSE).linearise(q, target)
    gone = way(PANDA, POSE, method, q, target, 1, limits=False)[1] - q
    down = jacobian.T @ e
    assert gone @ down / np.linalg.norm(gone) / np.linalg.norm(down) == pytest.approx(1.0, abs=1e-12)


# What is minimised ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "limits"), [("bfgs", False), ("lbfgs", False), ("lbfgs", True)])
@pytest.mark.parametrize("seed", range(6))
def test_the_sum_of_squares_never_rises(method: str, limits: bool, seed: int) -> None:
    solver, target = pz.Solver(PANDA, POSE, limits=limits), PANDA.pose(HAND, PANDA.sample(seed=seed))
    path = way(PANDA, POSE, method, PANDA.sample(seed=seed + 20), target, 60, limits=limits)
    costs = np.array([cost(solver, q, target) for q in path])
    assert (np.diff(costs) <= 1e-14 * np.sqrt(costs[:-1])).all(), "but for the rounding of e"
    assert costs[-1] < 0.5 * costs[0]


@pytest.mark.parametrize(("method", "limits"), [("bfgs", False), ("lbfgs", False), ("lbfgs", True)])
def test_reachable_poses_are_reached_as_levenberg_marquardt_reaches_them(method: str, limits: bool) -> None:
    solvers = [pz.Solver(PANDA, POSE, method=name, limits=limits, max_restarts=0) for name in (method, "lm")]
    solved = np.zeros(2, dtype=int)
    for q, q0 in zip(PANDA.sample(60, seed=1), PANDA.sample(60, seed=2), strict=True):
        answers = [solver(PANDA.pose(HAND, q), q0=q0) for solver in solvers]
        solved += [answer.success for answer in answers]
        for answer in answers:
            assert not limits or PANDA.within_limits(answer.q)
            assert not answer.success or max(answer.position_error, answer.rotation_error) <= 1e-6
    assert solved[0] >= 0.9 * solved[1] > 15


@pytest.mark.parametrize("memory", [1, 3, 8, 40])
def test_any_memory_arrives(memory: int) -> None:
    answer = pz.solve(PANDA, pz.PoseTask(HAND, target=PANDA.pose(HAND, PANDA.sample(seed=8))),
                      method=pz.methods.LBFGS(memory=memory), max_iterations=2000)  # fmt: skip
    assert answer.success


@pytest.mark.parametrize("limits", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_out_of_reach_the_optimum_is_that_of_scipy(limits: bool, seed: int) -> None:
    arm = TEXTBOOK["planar4"]()
    if limits:
        builder = pz.ModelBuilder("tight")
        for i in range(4):
            origin = pz.SE3.from_parts([0.0 if i == 0 else 1.0, 0.0, 0.0])
            parent = "base" if i == 0 else f"l{i - 1}"
            builder.joint(f"j{i}", "revolute", parent=parent, child=f"l{i}", origin=origin, axis=[0, 0, 1],
                          limits=(-0.5, 0.7))  # fmt: skip
        builder.frame("tip", link="l3", origin=pz.SE3.from_parts([1.0, 0.0, 0.0]))
        arm = builder.build()
    frame = "tip" if limits else arm.tip
    task = pz.PositionTask(frame)
    target = np.array([-1.0 + 0.3 * seed, -2.0, 0.0]) if limits else np.array([3.0, 5.0 - seed, 0.4])
    solver = pz.Solver(arm, task, limits=limits)
    q0 = np.random.default_rng(seed).uniform(-0.4, 0.4, 4)

    def value(q: Array) -> tuple[float, Array]:
        e, jacobian = solver.linearise(q, target)
        return float(e @ e), -2.0 * jacobian.T @ e

    bounds = list(zip(arm.lower, arm.upper, strict=True))
    theirs = optimize.minimize(value, q0, jac=True, method="L-BFGS-B", bounds=bounds, tol=1e-15)
    for name in ("lbfgs",) if limits else ("bfgs", "lbfgs"):
        q = way(arm, task, name, q0, target, 200, limits=limits)[-1]
        assert arm.within_limits(q)
        assert value(q)[0] == pytest.approx(theirs.fun, rel=1e-8)
        if limits:
            np.testing.assert_allclose(q, theirs.x, rtol=0, atol=1e-4)
            assert ((q == arm.lower) | (q == arm.upper)).any(), "limits are active, exactly"
    least = pz.solve(arm, pz.PositionTask(frame, target=target), method="lm", q0=q0, limits=limits, max_restarts=0)
    assert cost(solver, least.q, target) == pytest.approx(theirs.fun, rel=1e-6)


def test_with_limits_in_the_way_it_ends_where_no_free_joint_descends() -> None:
    q0, target = beyond()
    solver = pz.Solver(PANDA, POSE)
    q = way(PANDA, POSE, "lbfgs", q0, target, 400)[-1]
    e, jacobian = solver.linearise(q, target)
    down = jacobian.T @ e
    held = ((q <= PANDA.lower) & (down < 0.0)) | ((q >= PANDA.upper) & (down > 0.0))
    assert held.any()
    np.testing.assert_allclose(down[~held], 0.0, rtol=0, atol=1e-5)


def test_joints_at_limits_are_left_out_of_the_curvature() -> None:
    # Counted in, they spoil the steps of the others: twice as many are needed.
    solver, counts = pz.Solver(PANDA, POSE), []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        target = pz.SE3.from_rotvec(2.0 * rng.normal(size=3), rng.uniform(-1.2, 1.2, 3) * [1.0, 1.0, 0.5])
        path = way(PANDA, POSE, "lbfgs", PANDA.sample(seed=seed), target, 150)
        assert ((path[-1] == PANDA.lower) | (path[-1] == PANDA.upper)).any()
        costs = np.array([cost(solver, q, target) for q in path])
        counts.append(int(np.argmax(costs <= costs[-1] * (1.0 + 1e-6))))
    assert np.median(counts) <= 36


# Limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("method", ["bfgs", "lbfgs"])
def test_limits_hold_at_every_update(seed: int, method: str) -> None:
    rng = np.random.default_rng(seed)
    target = pz.SE3.from_rotvec(3.0 * rng.normal(size=3), rng.uniform(-1.5, 1.5, 3))
    for q in way(PANDA, POSE, method, PANDA.sample(seed=seed), target, 50):
        assert PANDA.within_limits(q)


@pytest.mark.parametrize("memory", [0, -1, 2.5, True])
def test_a_memory_of_nothing_is_refused(memory: Any) -> None:
    with pytest.raises(ValueError, match="memory is"):
        pz.methods.LBFGS(memory=memory)


@pytest.mark.parametrize("method", [pz.methods.BFGS, pz.methods.LBFGS])
def test_no_step_is_longer_than_allowed(method: Any) -> None:
    with refused("not-positive", "max_step"):
        method(max_step=0.0)
    target = PANDA.pose(HAND, PANDA.sample(seed=4))
    path = way(PANDA, POSE, method(max_step=0.05), PANDA.sample(seed=5), target, 30, limits=False)
    longest = np.abs(np.diff(path, axis=0)).max(axis=1)
    assert longest.max() == pytest.approx(0.05, rel=1e-9)


@pytest.mark.parametrize(("method", "limits"), [("bfgs", False), ("lbfgs", True)])
def test_no_joint_goes_faster_than_it_can(method: str, limits: bool) -> None:
    tracker = pz.Tracker(PANDA, POSE, method, dt=0.01, limits=limits)
    q, target = PANDA.sample(seed=5), PANDA.pose(HAND, PANDA.sample(seed=4))
    for _ in range(50):
        before, q = q, tracker.step(q, target).copy()
        assert (np.abs(q - before) <= PANDA.velocity * 0.01 * (1.0 + 1e-9)).all()


# Goals add up; every joint counts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["bfgs", "lbfgs"])
def test_goals_add_up(method: str) -> None:
    model = TEXTBOOK["y"]()
    frames = ("e0", "e1")
    tasks = [pz.PositionTask(frame, weight=w) for frame, w in zip(frames, (1.0, 2.0), strict=True)]
    q0 = model.sample(seed=1)
    beside = np.array([[0.0, 0.0, 0.5], [0.3, 0.0, 0.5]])
    points = list(beside + [model.pose(frame, model.sample(seed=2)).xyz for frame in frames])
    singles = [pz.Solver(model, task, limits=False) for task in tasks]

    def total(q: Array) -> float:
        return sum(cost(solver, q, point) for solver, point in zip(singles, points, strict=True))

    q = way(model, tasks, method, q0, points, 400, limits=False)[-1]
    assert total(q) < total(q0)
    gradient = optimize.approx_fprime(q, total, 1e-7)
    np.testing.assert_allclose(gradient, 0.0, rtol=0, atol=1e-4)


@pytest.mark.parametrize("method", ["bfgs", "lbfgs"])
def test_a_floating_base_and_balls_are_moved(method: str) -> None:
    builder = pz.ModelBuilder("walker")
    builder.joint("root", "floating", parent="world0", child="body")
    for side, y in (("left", 0.3), ("right", -0.3)):
        builder.joint(
            f"{side}_hip", "spherical", parent="body", child=f"{side}_thigh", origin=pz.SE3.from_parts([0, y, 0])
        )
        builder.joint(f"{side}_knee", "revolute", parent=f"{side}_thigh", child=f"{side}_shin", axis=[0, 1, 0],
                      origin=pz.SE3.from_parts([0, 0, -0.5]), limits=(0.0, 2.5))  # fmt: skip
        builder.frame(f"{side}_foot", link=f"{side}_shin", origin=pz.SE3.from_parts([0, 0, -0.5]))
    model = builder.build()
    tasks = [pz.PoseTask("left_foot"), pz.PoseTask("right_foot"), pz.PoseTask("body")]
    there = model.integrate(model.home, np.random.default_rng(3).uniform(0.0, 0.6, model.nv))
    targets = [model.pose(task.frame, there) for task in tasks]
    solver = pz.Solver(model, tasks, method=method, limits=method == "lbfgs", max_restarts=0)
    answer = solver(targets, q0=model.home)
    assert answer.success, answer
    assert answer.iterations < 150


# What is remembered -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["bfgs", "lbfgs"])
def test_a_reset_forgets_the_curvature_and_a_moving_target_does_not(method: str) -> None:
    q0, target = PANDA.sample(seed=1), PANDA.pose(HAND, PANDA.sample(seed=2))
    moved = target @ pz.SE3.from_parts([0.01, 0.0, 0.0])
    tracker = pz.Tracker(PANDA, POSE, method, limits=False)
    q = q0
    for _ in range(12):
        q = tracker.step(q, target).copy()
    learnt = tracker.step(q, moved).copy()
    tracker.reset()
    fresh = tracker.step(q, moved).copy()
    np.testing.assert_array_equal(fresh, way(PANDA, POSE, method, q, moved, 1, limits=False)[1])
    assert np.abs(learnt - fresh).max() > 1e-4


@pytest.mark.parametrize("method", ["bfgs", "lbfgs"])
def test_convergence_is_superlinear(method: str) -> None:
    solver, target = pz.Solver(PANDA, POSE, limits=False), PANDA.pose(HAND, PANDA.home)
    q0 = PANDA.home + 0.05
    away = [cost(solver, q, target) ** 0.5 for q in way(PANDA, POSE, method, q0, target, 40, limits=False)]
    slow = [cost(solver, q, target) ** 0.5 for q in way(PANDA, POSE, "jt", q0, target, 40, limits=False)]
    assert away[-1] < 1e-7
    assert away[-1] < 1e-3 * slow[-1]


@pytest.mark.parametrize(("method", "limits"), [("bfgs", False), ("lbfgs", True)])
def test_a_rollout_is_the_steps_one_after_the_other(method: str, limits: bool) -> None:
    goals = [PANDA.pose(HAND, PANDA.home + 0.02 * k).array for k in range(10)]
    tracker = pz.Tracker(PANDA, POSE, method, limits=limits)
    path = tracker.rollout(PANDA.home, np.array(goals)[:, None])
    q = np.array(PANDA.home)
    for goal, there in zip(goals, path, strict=True):
        q = tracker.step(q, pz.SE3(goal)).copy()
        np.testing.assert_allclose(q, there, rtol=0, atol=1e-12)
