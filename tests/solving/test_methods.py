"""solve with a method of the caller's choice: its answers, its statuses and its trace."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from independent import fk, matrix, pose_error
from support.refusals import refused

import poise as pz
from poise.robots.planar import planar

Array = npt.NDArray[np.float64]
PANDA = pz.load("panda")
IIWA = pz.load("iiwa14")
ABLE = [name for name, kind in pz.methods.METHODS.items() if kind.capabilities.tasks != "positions"]
"""The methods that can follow a pose."""


def reachable(seed: int) -> pz.SE3:
    return IIWA.pose("iiwa_link_ee", IIWA.sample(seed=seed))


@pytest.mark.parametrize("name", ABLE)
def test_what_converged_is_right_and_what_did_not_says_so(name: str) -> None:
    """By forward kinematics of another's making, with tolerances that a linear method can reach."""
    limits = pz.methods.METHODS[name].capabilities.limits
    solved = 0
    for seed in range(8):
        goal = reachable(seed)
        task = pz.PoseTask("iiwa_link_ee", goal, position_tolerance=1e-4, rotation_tolerance=1e-3)
        found = pz.solve(IIWA, task, q0=IIWA.sample(seed=90 + seed), method=name, limits=limits, max_restarts=20)
        position, rotation = pose_error(fk(IIWA, "iiwa_link_ee", found.q), matrix(goal))
        assert (position <= 1e-4 and rotation <= 1e-3) == found.success
        assert found.position_error == pytest.approx(position, abs=1e-9)
        assert found.rotation_error == pytest.approx(rotation, abs=1e-7)
        assert found.success == (found.status is pz.Status.CONVERGED)
        assert 0 <= found.iterations <= pz.methods.METHODS[name].iterations
        assert 0 <= found.restarts <= 20
        solved += found.success
        if limits:
            assert (found.q >= IIWA.lower).all()
            assert (found.q <= IIWA.upper).all()
    assert solved >= 6


@pytest.mark.parametrize("name", pz.methods.METHODS)
def test_the_same_seed_gives_the_same_answer(name: str) -> None:
    task = pz.PositionTask("panda_hand", [0.3, 0.5, 0.4])
    solver = pz.Solver(PANDA, task, method=name, limits=False, max_restarts=5, max_iterations=40)
    want = solver(seed=4)
    solver([0.5, -0.3, 0.3], seed=9)
    again = solver(seed=4)
    assert (again.q == want.q).all()
    assert (again.iterations, again.restarts, again.status) == (want.iterations, want.restarts, want.status)
    fresh = pz.solve(PANDA, task, method=name, limits=False, max_restarts=5, max_iterations=40, seed=4)
    assert (fresh.q == want.q).all()


@pytest.mark.parametrize("name", pz.methods.METHODS)
def test_a_start_at_the_target_takes_no_iteration(name: str) -> None:
    q = PANDA.sample(seed=5)
    task = pz.PositionTask("panda_hand", PANDA.pose("panda_hand", q).xyz)
    found = pz.solve(PANDA, task, q0=q, method=name, limits=False)
    assert (found.iterations, found.restarts) == (0, 0)
    assert (found.q == q).all()


@pytest.mark.parametrize("name", ["dls", "jt", "lm"])
def test_too_few_iterations_are_a_status(name: str) -> None:
    task = pz.PoseTask("panda_hand", PANDA.pose("panda_hand", PANDA.sample(seed=8)))
    found = pz.solve(PANDA, task, method=name, max_iterations=2, max_restarts=0)
    assert found.status is pz.Status.BUDGET
    assert found.budget == "iterations"
    assert found.iterations <= 2
    assert found.position_error < np.linalg.norm(task.target.xyz - PANDA.pose("panda_hand", PANDA.home).xyz) + 1.0


@pytest.mark.parametrize("name", ["dls", "lm", "sdls"])
def test_out_of_reach_is_a_status_with_the_closest_configuration(name: str) -> None:
    found = pz.solve(planar(2), pz.PositionTask("tool", [3.0, 4.0, 0.0]), q0=[0.3, 0.5], method=name)
    assert found.status is pz.Status.UNREACHABLE
    assert found.position_error == pytest.approx(3.0, abs=1e-2)
    assert "out of reach" in found.explain()


def test_steps_that_are_no_numbers_are_a_status() -> None:
    model, task = turret(), pz.PositionTask("tool", [0.5, 0.4, 0.3])  # stretched at zero
    found = pz.solve(model, task, q0=np.zeros(3), method=pz.methods.Pseudoinverse(form="rows"), max_restarts=0)
    assert found.status is pz.Status.NOT_FINITE
    assert "damp the method" in found.status.message
    assert np.isfinite(found.q).all()
    damped = pz.solve(model, task, q0=np.zeros(3), method=pz.methods.DampedLeastSquares(damping=0.1))
    assert damped.success


def turret() -> pz.Model:
    """An arm of a turn about z and two about y, with links of 1 m; stretched, it can move up and sideways only."""
    builder, out = pz.ModelBuilder("turret"), pz.SE3.from_parts([1.0, 0.0, 0.0])
    builder.joint("turn", "revolute", parent="base", child="a")
    builder.joint("lift", "revolute", parent="a", child="b", axis=[0.0, 1.0, 0.0])
    builder.joint("bend", "revolute", parent="b", child="c", axis=[0.0, 1.0, 0.0], origin=out)
    builder.frame("tool", link="c", origin=out)
    return builder.build()


@pytest.mark.parametrize(("form", "size"), [("rows", 3), ("columns", 4)])
def test_a_form_that_is_singular_in_every_pose_is_refused(form: Any, size: int) -> None:
    method = pz.methods.Pseudoinverse(form=form)
    with pytest.raises(ValueError, match=f"independent {form}, and of these {size} only 2 ever are"):
        pz.Tracker(planar(4), pz.PositionTask("tool"), method)


def test_joint_centring_without_limits_is_refused() -> None:
    method = pz.methods.Pseudoinverse(null_space=pz.criteria.JointCentring())
    with refused("conflict"):
        pz.Tracker(pz.load("panda"), pz.PoseTask("panda_hand"), method, limits=False)


def test_what_is_explained_counts_the_starts_of_the_method() -> None:
    """A method makes one start at a time, so three restarts are four starts."""
    found = pz.solve(
        planar(3, [1.0, 0.2, 0.1]), pz.PositionTask("tool", [0.1, 0.0, 0.0]), q0=[0.3, 0.5, 0.4], method="lm",
        max_restarts=3,
    )  # fmt: skip
    assert not found.success
    assert found.restarts == 3
    assert "12 starts" not in found.explain()
    assert "11 starts" not in found.explain()


@pytest.mark.parametrize("name", pz.methods.METHODS)
def test_a_trace_tells_the_truth(name: str) -> None:
    task = pz.PositionTask("panda_hand", [0.3, 0.5, 0.4])
    solver = pz.Solver(PANDA, task, method=name, limits=False, max_iterations=25, max_restarts=0, trace=True)
    found = solver(None, PANDA.home)
    trace = found.trace
    assert trace is not None
    rows = len(trace.error)
    assert 2 <= rows <= 26
    shapes = (trace.error.shape, trace.step.shape, trace.damping.shape, trace.singular_values.shape, trace.q.shape)
    assert shapes == ((rows,), (rows,), (rows,), (rows, 3), (rows, 7))
    assert (trace.q[0] == PANDA.home).all()
    for k in range(rows):
        assert trace.error[k] == pytest.approx(np.linalg.norm(fk(PANDA, "panda_hand", trace.q[k])[:3, 3] - task.target))
        _, jacobian = solver.linearise(trace.q[k])
        assert trace.singular_values[k] == pytest.approx(np.linalg.svd(jacobian, compute_uv=False), abs=1e-9)
    assert (trace.damping >= 0.0).all()
    if name not in ("lm", "ccd", "fabrik"):  # which may take a step back, or do not step all joints at once
        moved = np.abs(np.diff(trace.q, axis=0)).max(axis=1)
        assert trace.step[:-1] == pytest.approx(moved, abs=1e-12)
    if found.success:
        assert found.iterations == rows - 1
        assert (found.q == trace.q[-1]).all()
    assert pz.solve(PANDA, task, method=name, limits=False).trace is None


def test_a_trace_is_of_the_last_start() -> None:
    task = pz.PositionTask("panda_hand", [3.0, 0.0, 0.0])
    trace = pz.solve(PANDA, task, method="dls", max_restarts=2, max_iterations=5, trace=True).trace
    assert trace is not None
    assert len(trace.q) == 6
    assert np.abs(trace.q[0] - PANDA.home).max() > 0.1


def test_a_trace_needs_a_method() -> None:
    with pytest.raises(ValueError, match="a trace is of one method's iterations; name one, such as method='lm'"):
        pz.solve(PANDA, pz.PositionTask("panda_hand", [0.3, 0.5, 0.4]), trace=True)


def test_without_limits_a_joint_may_leave_them() -> None:
    q = np.clip(PANDA.home, PANDA.lower, PANDA.upper)
    q[3] = 0.4  # beyond the upper limit
    task = pz.PoseTask("panda_hand", PANDA.pose("panda_hand", q))
    free = pz.solve(PANDA, task, q0=q + 0.05, method="lm", limits=False)
    assert free.success
    assert free.q[3] > PANDA.upper[3]
    kept = pz.solve(PANDA, task, q0=q + 0.05, method="lm", max_restarts=3)
    assert (kept.q <= PANDA.upper).all()


@pytest.mark.parametrize("name", ["dls", "jt", "sdls"])
def test_time_is_a_limit(name: str) -> None:
    task = pz.PositionTask("panda_hand", [3.0, 0.0, 0.0])
    found = pz.solve(PANDA, task, method=name, max_restarts=10**7, max_time=0.01)
    assert found.status is pz.Status.BUDGET
    assert found.restarts < 10**7
    assert np.isfinite(found.q).all()
    plenty = pz.PositionTask("panda_hand", [0.4, 0.1, 0.5])
    assert pz.solve(PANDA, plenty, method=name, max_time=60.0).success


@pytest.mark.parametrize("name", ["dls", "lm", "sdls", "pinv"])
def test_a_posture_is_kept_near_within_the_tasks(name: str) -> None:
    rest = PANDA.sample(seed=2)
    goal = PANDA.pose("panda_hand", PANDA.sample(seed=1)).xyz
    tasks = [pz.PositionTask("panda_hand", goal, tolerance=1e-5), pz.PostureTask(rest)]
    plain = pz.solve(PANDA, tasks[0], method=name)
    near = pz.solve(PANDA, tasks, method=name)
    assert near.success
    assert fk(PANDA, "panda_hand", near.q)[:3, 3] == pytest.approx(goal, abs=1.1e-5)
    assert np.linalg.norm(near.q - rest) < np.linalg.norm(plain.q - rest)
    assert near.errors[1].posture == pytest.approx(np.abs(near.q - rest).max())


@pytest.mark.parametrize("name", ABLE)
def test_several_tasks_are_met_together(name: str) -> None:
    q = PANDA.sample(seed=6)
    tasks: list[Any] = [
        pz.PositionTask("panda_link5", PANDA.pose("panda_link5", q).xyz, tolerance=1e-4),
        pz.OrientationTask("panda_hand", PANDA.pose("panda_hand", q).rotation, tolerance=1e-3),
    ]
    limits = pz.methods.METHODS[name].capabilities.limits
    found = pz.solve(PANDA, tasks, method=name, limits=limits, max_restarts=50)
    assert found.success
    assert fk(PANDA, "panda_link5", found.q)[:3, 3] == pytest.approx(tasks[0].target, abs=1e-4)
    assert pose_error(fk(PANDA, "panda_hand", found.q), matrix(PANDA.pose("panda_hand", q)))[1] <= 1e-3


def walker() -> pz.Model:
    """A free body with one arm of two joints."""
    builder = pz.ModelBuilder("walker")
    builder.joint("base", "floating", parent="world", child="body")
    out = pz.SE3.from_parts([0.4, 0.0, 0.1])
    builder.joint("shoulder", "revolute", parent="body", child="upper", axis=[0.0, 1.0, 0.0], origin=out)
    builder.joint("elbow", "revolute", parent="upper", child="lower", axis=[0.0, 0.0, 1.0], origin=out)
    return builder.build()


@pytest.mark.parametrize("name", ["jt", "dls", "sdls", "lm", "gn", "pinv"])
def test_a_floating_base_moves_too_and_its_quaternion_stays_one(name: str) -> None:
    model = walker()
    goal = pz.SE3.from_xyz_rpy([1.5, -0.4, 0.8], [0.3, -0.7, 1.1])
    task = pz.PoseTask("lower", goal, position_tolerance=1e-4, rotation_tolerance=1e-4)
    found = pz.solve(model, task, method=name, max_restarts=10)
    assert found.success
    position, rotation = pose_error(fk(model, "lower", found.q), matrix(goal))
    assert position <= 1e-4
    assert rotation <= 1e-4
    at = model.index("base").start + 3
    assert math.isclose(float(np.linalg.norm(found.q[at : at + 4])), 1.0, abs_tol=1e-12)


@pytest.mark.parametrize("name", pz.methods.METHODS)
def test_a_trace_changes_nothing(name: str) -> None:
    model = pz.load("panda")
    limits = pz.methods.METHODS[name].capabilities.limits
    task = pz.PositionTask("panda_hand", [0.4, 0.3, 0.5])
    plain, traced = (
        pz.solve(model, task, method=name, limits=limits, max_restarts=2, max_iterations=60, trace=trace)
        for trace in (False, True)
    )
    assert (plain.q == traced.q).all()
    assert plain.iterations == traced.iterations
