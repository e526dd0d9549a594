"""Residuals and their Jacobians: against SciPy's rotation vectors, and against differences on random trees."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from kept import kept
from scipy.spatial.transform import Rotation
from support.trees import configurations, reach, trees

from poise.common.array import Array
from poise.kernels.algebra.rotations import aim_error, half_angle_ratio, rotation_error
from poise.kernels.machine.lanes import load, store
from poise.kernels.machine.layout import WIDTH
from poise.model.model import Model
from poise.solving.solvers.solver import Solver
from poise.spatial import SE3, SO3
from poise.tasks.aim import AxisTask, LookAtTask
from poise.tasks.base import Task
from poise.tasks.pose import OrientationTask, PoseTask, PositionTask

RATIO = 6e-10
"""Relative error of the polynomial for half an angle over its sine."""
NEAR = 5e-8
"""[rad] Within a thousandth of a half turn an angle is known from a cosine, to the root of a double's rounding."""
STEP = 1e-4
AXES = [np.array(v) / np.linalg.norm(v) for v in itertools.product((-1.0, 0.0, 1.0), repeat=3) if any(v)]
"""Along the axes, the diagonals of the faces and those of the cube, both ways."""

compiled = kept(_nrt=False, error_model="numpy")
seeds = st.integers(0, 2**32 - 1)


@compiled
def run_ratio(c, out):
    store(out, 0, half_angle_ratio(load(c, 0)))


@compiled
def run_rotation_error(g, r, out):
    e0, e1, e2 = rotation_error(
        (load(g, 0), load(g, 1), load(g, 2), load(g, 3), load(g, 4), load(g, 5), load(g, 6), load(g, 7), load(g, 8)),
        (load(r, 0), load(r, 1), load(r, 2), load(r, 3), load(r, 4), load(r, 5), load(r, 6), load(r, 7), load(r, 8)),
    )
    store(out, 0, e0), store(out, 1, e1), store(out, 2, e2)


@compiled
def run_aim_error(a, d, out):
    e0, e1, e2 = aim_error(load(a, 0), load(a, 1), load(a, 2), load(d, 0), load(d, 1), load(d, 2))
    store(out, 0, e0), store(out, 1, e1), store(out, 2, e2)


def in_both_widths(run: Any, *inputs: Array, turns: bool = True) -> Array:
    """(n, 3) results for (n, k) inputs: in eight lanes, after checking that single numbers give the same.

    Of `turns` the rotations are compared, for a half turn one way is one the other way.
    """
    count = len(inputs[0])
    results = []
    for first in range(0, count, WIDTH):
        # The last eight are filled up with the first.
        lanes = np.arange(first, first + WIDTH) % count
        out = np.zeros((3, WIDTH))
        run(*(np.ascontiguousarray(values[lanes].T) for values in inputs), out)
        results.append(out.T.copy())
    wide = np.concatenate(results)[:count]
    for i in range(count):
        single = np.zeros(3)
        run(*(np.ascontiguousarray(values[i]) for values in inputs), single)
        if turns:
            single, wide_one = Rotation.from_rotvec([single, wide[i]]).as_matrix()
            np.testing.assert_allclose(single, wide_one, rtol=0, atol=NEAR)
        else:
            np.testing.assert_allclose(single, wide[i], rtol=0, atol=1e-15)
    return wide


# Half an angle over its sine -------------------------------------------------------------------------------------


def test_half_an_angle_over_its_sine() -> None:
    half = np.concatenate([np.linspace(0.0, math.pi / 2, 4001), np.geomspace(1e-9, 0.1, 400)])
    true = np.where(half == 0.0, 1.0, half / np.where(half == 0.0, 1.0, np.sin(half)))
    ratio = in_both_widths(run_ratio, np.cos(half)[:, None], turns=False)[:, 0]
    assert np.abs(ratio / true - 1.0).max() < RATIO


# The turn to a rotation ------------------------------------------------------------------------------------------


def rotation_errors(goal: Rotation, current: Rotation) -> Array:
    """(n, 3) of n pairs."""
    return in_both_widths(run_rotation_error, goal.as_matrix().reshape(-1, 9), current.as_matrix().reshape(-1, 9))


def test_the_turn_to_a_rotation_is_scipys_rotation_vector() -> None:
    goal, current = Rotation.random(1000, random_state=1), Rotation.random(1000, random_state=2)
    true = (goal * current.inv()).as_rotvec()
    angles = np.linalg.norm(true, axis=1)
    far = angles < math.pi - 2e-3
    errors = rotation_errors(goal, current)
    assert (np.linalg.norm(errors - true, axis=1)[far] < RATIO * angles[far] + 1e-15).all()
    # Nowhere is the turn another one.
    np.testing.assert_allclose(
        (Rotation.from_rotvec(errors) * current).as_matrix(), goal.as_matrix(), rtol=0, atol=NEAR
    )


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-9, 1e-6, 1e-3, 1.0, 3.0])
def test_a_turn_of_any_size_keeps_its_digits(angle: float) -> None:
    current = Rotation.random(len(AXES), random_state=3)
    turn = angle * np.array(AXES)
    errors = rotation_errors(Rotation.from_rotvec(turn) * current, current)
    np.testing.assert_allclose(errors, turn, rtol=0, atol=RATIO * angle + 2e-15)


def test_half_turns_about_any_axis() -> None:
    axes = np.concatenate([AXES, Rotation.random(200, random_state=4).apply([0.0, 0.0, 1.0])])
    exact = 2.0 * axes[:, :, None] * axes[:, None, :] - np.eye(3)
    errors = in_both_widths(run_rotation_error, exact.reshape(-1, 9), np.tile(np.eye(3).ravel(), (len(axes), 1)))
    np.testing.assert_allclose(np.linalg.norm(errors, axis=1), math.pi, rtol=0, atol=NEAR)
    # Either way round is a half turn.
    np.testing.assert_allclose(np.abs(np.sum(errors * axes, axis=1)), math.pi, rtol=0, atol=NEAR)


@pytest.mark.parametrize("short", [1e-9, 1e-7, 1e-5, 0.99e-3, 1.01e-3, 1e-2])
def test_turns_that_are_almost_half_ones(short: float) -> None:
    rng = np.random.default_rng(5)
    axes = np.concatenate([AXES, Rotation.random(100, random_state=6).apply([0.0, 0.0, 1.0])])
    current = Rotation.random(len(axes), random_state=rng)
    for away in (-short, short):
        goal = Rotation.from_rotvec((math.pi + away) * axes) * current
        errors = rotation_errors(goal, current)
        reached = (Rotation.from_rotvec(errors) * current).as_matrix()
        np.testing.assert_allclose(reached, goal.as_matrix(), rtol=0, atol=NEAR)
        np.testing.assert_allclose(np.linalg.norm(errors, axis=1), math.pi - short, rtol=0, atol=NEAR)
        # The way round is the shorter one, as soon as it is told from the other.
        if short > 1e-6:
            np.testing.assert_allclose(errors, np.copysign(math.pi - short, -away) * axes, rtol=0, atol=1e-7)


# The turn to a direction -----------------------------------------------------------------------------------------


def check_aim(a: Array, d: Array, tolerance: float) -> None:
    errors = in_both_widths(run_aim_error, a, d)
    angles = np.arctan2(np.linalg.norm(np.cross(a, d), axis=1), np.sum(a * d, axis=1))
    np.testing.assert_allclose(np.linalg.norm(errors, axis=1), angles, rtol=0, atol=tolerance)
    np.testing.assert_allclose(Rotation.from_rotvec(errors).apply(a), d, rtol=0, atol=tolerance)
    np.testing.assert_allclose(np.sum(errors * a, axis=1), 0.0, rtol=0, atol=1e-13, err_msg="the spin is left alone")


def test_the_turn_to_a_direction_is_the_shortest() -> None:
    a, d = (Rotation.random(1000, random_state=seed).apply([0.0, 0.0, 1.0]) for seed in (7, 8))
    assert np.sum(a * d, axis=1).min() > -1.0 + 1e-5
    check_aim(a, d, 2e-9)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-9, 1e-6, 1e-3, 1.0, 3.0, math.pi - 2e-3])
def test_turns_to_a_direction_keep_their_digits(angle: float) -> None:
    rng = np.random.default_rng(9)
    a = np.array(AXES)
    normals = np.cross(a, rng.normal(size=(len(a), 3)))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    check_aim(a, Rotation.from_rotvec(angle * normals).apply(a), RATIO * angle + 1e-15 + 1e-15 / math.cos(angle / 2))


@pytest.mark.parametrize("off", [0.0, 1e-9, 1e-6, 1e-3])
def test_the_opposite_direction_is_half_a_turn_away(off: float) -> None:
    rng = np.random.default_rng(10)
    a = np.concatenate([AXES, Rotation.random(100, random_state=11).apply([0.0, 0.0, 1.0])])
    d = -a + off * rng.normal(size=a.shape)
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    # Any axis normal to a will do, so that the turn ends at -a.
    errors = in_both_widths(run_aim_error, a, d)
    opposite = np.sum(a * d, axis=1) < -1.0 + 0.9e-6
    np.testing.assert_allclose(np.linalg.norm(errors, axis=1)[opposite], math.pi, rtol=0, atol=1e-14)
    np.testing.assert_allclose(Rotation.from_rotvec(errors).apply(a)[opposite], -a[opposite], rtol=0, atol=1e-14)
    assert opposite.all() or off == 1e-3


# Residuals of tasks on random trees ------------------------------------------------------------------------------


def moving_frames(model: Model) -> list[str]:
    """Frames that a task can move."""
    return [name for name in model.frames if any(j.size for j in model.root_path(model.frame(name).link))]


def weights(rng: np.random.Generator) -> Sequence[float]:
    """Three, of which one may be 0."""
    some = [rng.choice([0.0, 0.5, 1.0, 2.0]), *rng.choice([0.5, 1.0, 2.0], 2)]
    return rng.permutation(some).tolist()


def tasks_and_targets(rng: np.random.Generator, frame: str, axes: Any) -> list[tuple[Task, Any, bool, bool]]:
    """Every type of task with random weights, a random target, and whether it has position and rotation rows."""
    place, turn = rng.uniform(-2.0, 2.0, 3), SO3(wxyz=rng.normal(size=4))
    axis = rng.normal(size=3)
    tilt = float(rng.uniform(0.2, 3.0))
    each, turning = weights(rng), weights(rng)
    return [
        (PoseTask(frame, axes=axes), SE3.from_parts(place, turn), True, True),
        (
            PoseTask(frame, position_weight=each, rotation_weight=turning, axes=axes),
            SE3.from_parts(place, turn),
            True,
            True,
        ),
        (PositionTask(frame), place, True, False),
        (PositionTask(frame, weight=each), place, True, False),
        (OrientationTask(frame), turn, False, True),
        (OrientationTask(frame, weight=turning, axes=axes), turn, False, True),
        (AxisTask(frame, axis), place, False, True),
        (AxisTask(frame, axis, weight=tilt), place, False, True),
        (LookAtTask(frame, axis), place, False, True),
        (LookAtTask(frame, axis, weight=tilt), place, False, True),
    ]


def right_jacobian(turn: Array) -> Array:
    """(3, 3) with exp(t + d) = exp(t) exp(this d), to first order in d."""
    angle = float(np.linalg.norm(turn))
    cross = np.cross(np.eye(3), turn)
    return np.asarray(
        np.eye(3) - (1.0 - math.cos(angle)) / angle**2 * cross + (angle - math.sin(angle)) / angle**3 * cross @ cross
    )


def apart_from_corners(model: Model, task: Task, target: Any, q: Array) -> None:
    """Discard what has no derivative: a half turn from the target, and a look from where the target is."""
    pose = model.pose(task.frame, q)
    if isinstance(task, PoseTask | OrientationTask):
        rotation = target.rotation if isinstance(target, SE3) else target
        assume(np.linalg.norm((rotation @ pose.rotation.inverse()).log()) < math.pi - 0.05)
    elif isinstance(task, AxisTask | LookAtTask):
        sight = target if isinstance(task, AxisTask) else target - pose.xyz
        distance = np.linalg.norm(sight)
        assume(distance > 0.1)
        assume(sight @ pose.rotation.act(task.axis) / distance > -0.99)


def differences(model: Model, solver: Solver, q: Array, target: Any) -> Array:
    """Gradient of half the sum of squares by five-point differences along each velocity."""
    out = np.zeros(model.nv)
    for k, weight in ((1, 8.0), (-1, -8.0), (2, -1.0), (-2, 1.0)):
        for v, moved in enumerate(model.integrate(q, k * STEP * np.eye(model.nv))):
            e, _ = solver.linearise(moved, target)
            out[v] += weight * 0.5 * (e @ e) / (12.0 * STEP)
    return out


@given(st.data())
@settings(max_examples=40)
def test_the_gradient_of_half_the_squares_is_what_the_jacobian_says(data: st.DataObject) -> None:
    model = data.draw(trees(most=5, limits=False))
    frames = moving_frames(model)
    assume(frames)
    frame, q = data.draw(st.sampled_from(frames)), data.draw(configurations(model))
    rng = np.random.default_rng(data.draw(seeds))
    axes = data.draw(st.sampled_from(["world", "target"]))
    which = data.draw(st.integers(0, 9))
    task, target, _, _ = tasks_and_targets(rng, frame, axes)[which]
    apart_from_corners(model, task, target, q)
    solver = Solver(model, task)
    e, jacobian = solver.linearise(q, target)
    size = reach(model, q) ** 2 * (1.0 + np.abs(jacobian).max()) * (1.0 + np.linalg.norm(e))
    np.testing.assert_allclose(-jacobian.T @ e, differences(model, solver, q, target), rtol=0, atol=1e-8 * size)


@given(st.data())
@settings(max_examples=40)
def test_rows_are_what_is_left_along_the_weighted_axes(data: st.DataObject) -> None:
    model = data.draw(trees(most=5, limits=False))
    frames = moving_frames(model)
    assume(frames)
    frame, q = data.draw(st.sampled_from(frames)), data.draw(configurations(model))
    axes = data.draw(st.sampled_from(["world", "target"]))
    rng = np.random.default_rng(data.draw(seeds))
    tasks = tasks_and_targets(rng, frame, axes)
    pose, geometric = model.pose(frame, q), model.jacobian(frame, q)
    size = reach(model, q)
    for task, target, has_position, has_rotation in tasks[:6]:
        position = np.broadcast_to(getattr(task, "position_weight", getattr(task, "weight", None)), 3)
        turning = np.broadcast_to(getattr(task, "rotation_weight", getattr(task, "weight", None)), 3)
        along, expected, rows = np.eye(3), [], []
        if has_rotation:
            apart_from_corners(model, task, target, q)
            rotation = target.rotation if isinstance(target, SE3) else target
            # Weights that are alike count alike along any axes, and their rows stay along the world's.
            weighted = np.ptp(turning) > 0.0 or (has_position and np.ptp(position) > 0.0)
            if weighted and task.axes == "target":  # type: ignore[attr-defined]
                along = rotation.matrix().T
        if has_position:
            left = (target.xyz if isinstance(target, SE3) else target) - pose.xyz
            expected.append(position * (along @ left))
            rows.append(position[:, None] * (along @ geometric[:3]))
        if has_rotation:
            left = (rotation @ pose.rotation.inverse()).log()
            expected.append(turning * (along @ left))
            derivative = np.linalg.inv(right_jacobian(left)) if np.ptp(turning) > 0.0 else np.eye(3)
            rows.append(turning[:, None] * (along @ derivative @ geometric[3:]))
        e, jacobian = Solver(model, task).linearise(q, target)
        np.testing.assert_allclose(e, np.concatenate(expected), rtol=0, atol=1e-8 * size)
        bent = has_rotation and np.ptp(turning) > 0.0  # and so made from what is left, which is as right as above
        np.testing.assert_allclose(jacobian, np.concatenate(rows), rtol=0, atol=(1e-8 if bent else 1e-11) * size)


@given(st.data())
@settings(max_examples=40)
def test_aims_turn_the_shortest_way_and_leave_the_spin(data: st.DataObject) -> None:
    model = data.draw(trees(most=5, limits=False))
    frames = moving_frames(model)
    assume(frames)
    frame, q = data.draw(st.sampled_from(frames)), data.draw(configurations(model))
    rng = np.random.default_rng(data.draw(seeds))
    pose = model.pose(frame, q)
    for task, target, _, _ in tasks_and_targets(rng, frame, "world")[6:]:
        apart_from_corners(model, task, target, q)
        sight = target if isinstance(task, AxisTask) else target - pose.xyz
        sight = sight / np.linalg.norm(sight)
        pointing = pose.rotation.act(task.axis)  # type: ignore[attr-defined]
        weight = task.weight  # type: ignore[attr-defined]
        e, jacobian = Solver(model, task).linearise(q, target)
        turned = Rotation.from_rotvec(e / weight).apply(pointing)
        np.testing.assert_allclose(turned, sight, rtol=0, atol=1e-8)
        assert abs(e @ pointing) < 1e-8
        np.testing.assert_allclose(pointing @ jacobian, 0.0, rtol=0, atol=1e-10 * reach(model, q))


@given(st.data())
@settings(max_examples=25)
def test_several_tasks_stack_their_rows(data: st.DataObject) -> None:
    model = data.draw(trees(most=6, limits=False))
    frames = moving_frames(model)
    assume(frames)
    rng = np.random.default_rng(data.draw(seeds))
    q = data.draw(configurations(model))
    picked = []
    for _ in range(data.draw(st.integers(2, 4))):
        choices = tasks_and_targets(rng, data.draw(st.sampled_from(frames)), "target")
        picked.append(choices[data.draw(st.integers(0, 9))])
        apart_from_corners(model, *picked[-1][:2], q)
    targets = [target for _, target, _, _ in picked]
    e, jacobian = Solver(model, [task for task, *_ in picked]).linearise(q, targets)
    singles = [Solver(model, task).linearise(q, target) for task, target, _, _ in picked]
    np.testing.assert_allclose(e, np.concatenate([one for one, _ in singles]), rtol=0, atol=1e-13)
    size = reach(model, q)
    np.testing.assert_allclose(jacobian, np.concatenate([one for _, one in singles]), rtol=0, atol=1e-13 * size)
