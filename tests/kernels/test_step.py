"""One step of the solver: against NumPy's linear algebra, and the same in either width."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from kept import kept
from support.trees import configurations, reach, trees

from poise.common.array import Array
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, splat, store
from poise.kernels.machine.layout import GOAL, WIDTH
from poise.kernels.machine.views import narrow, problem_at, wide
from poise.kernels.solver.ends import aim_at, evaluate
from poise.kernels.solver.pose_step import hold_for_pose, pose_direction
from poise.kernels.solver.step import advance, direction, hold
from poise.model.builder import ModelBuilder
from poise.model.model import Model
from poise.quaternions import quaternion_product
from poise.robots import TEXTBOOK
from poise.solving.problem.problem import pack
from poise.solving.problem.workspace import Bound
from poise.solving.solvers.solver import Solver
from poise.spatial import SE3, SO3
from poise.tasks.aim import AxisTask, LookAtTask
from poise.tasks.base import Task
from poise.tasks.pose import OrientationTask, PoseTask, PositionTask

GAIN, FLOOR = 0.03, 1e-11
"""Damping for each unit of the cost, and beside it."""

compiled = kept(_nrt=False, error_model="numpy")
seeds = st.integers(0, 2**32 - 1)


@kernel
def _descend(p, w, start, before, gain, rejected, bold, count, out):
    nq, na = len(start), len(w.step)
    for i in range(nq):
        store(w.q, i, load(start, i)), store(w.before, i, load(before, i))
    at = 0
    for _ in range(count):
        cost, score = evaluate(p, w)
        damping = cost * load(gain, 0) + FLOOR
        store(out, at, cost), store(out, at + 1, score), store(out, at + 2, damping)
        at += 3
        for i in range(nq):
            store(out, at + i, load(w.q, i))
        at += nq
        hold(p, w)
        direction(p, w, load(bold, 0) > 0.5, damping)
        for i in range(na):
            store(out, at + i, load(w.step, i)), store(out, at + na + i, load(w.free, i))
        at += 2 * na
        if len(p.effectors) == 1 and p.effectors[0].rows < 0:
            hold_for_pose(p, w)
            pose_direction(p, w, load(bold, 0) > 0.5, damping)
        for i in range(na):
            store(out, at + i, load(w.step, i)), store(out, at + na + i, load(w.free, i))
        at += 2 * na
        advance(p, w, load(rejected, 0) < 0.5, splat(w.q, 0.25))
    for i in range(nq):
        store(out, at + i, load(w.q, i)), store(out, at + nq + i, load(w.before, i))


@compiled
def descend_alone(words, routines, goal, start, before, gain, rejected, bold, work, count, out):
    """`count` steps from `start`, each damped by `gain` times the cost there; see Descent for what is kept of them."""
    p = problem_at(words)
    w = narrow(p, work, routines)
    if not aim_at(p, goal, w.target):
        return False
    _descend(p, w, start, before, gain, rejected, bold, count, out)
    return True


@compiled
def descend_in_lanes(words, routines, goal, start, before, gain, rejected, bold, work, count, out, target):
    """The same in eight lanes."""
    p = problem_at(words)
    w = wide(p, work, routines)
    if not aim_at(p, goal, target):
        return False
    for i in range(len(target)):
        store(w.target, i, target[i])
    _descend(p, w, start, before, gain, rejected, bold, count, out)
    return True


@dataclass
class Descent:
    """What `descend` saw, an entry a step."""

    cost: Array
    score: Array
    damping: Array
    q: Array
    general: Array
    """The step from there, by the kernel for any tasks."""
    general_free: Array
    step: Array
    """The step that was made: by the kernel for single poses if it is one."""
    free: Array
    after: Array
    """Where the last step led."""
    before: Array
    """Where it goes back to if it was no good."""


class Problem:
    """Tasks on a model, as the kernels read them."""

    def __init__(self, model: Model, tasks: list[Task], targets: list[Any]) -> None:
        self.model, self.tasks, self.targets = model, tasks, targets
        self.packed = pack(model, tasks)
        self.goal = np.concatenate([task.goal(target) for task, target in zip(tasks, targets, strict=True)])
        self.active = list(self.packed.velocities)
        self.solver = Solver(model, tasks)

    def rows(self, q: Array) -> tuple[Array, Array]:
        """Residual rows and their Jacobian, as the solver gives them."""
        return self.solver.linearise(q, self.targets if len(self.tasks) > 1 else self.targets[0])

    def descend(
        self,
        start: Array,
        count: int = 1,
        *,
        gain: float | Array = GAIN,
        before: Array | None = None,
        rejected: float | Array = 0.0,
        bold: float | Array = 0.0,
    ) -> Descent:
        """From `start` (nq,), or from (nq, WIDTH) in eight lanes."""
        width, nq, na = start.shape[1:], self.model.nq, len(self.active)
        out = np.full((count * (3 + nq + 4 * na) + 2 * nq, *width), np.nan)
        bound = Bound(self.packed)
        given = (
            *(self.goal, start, start if before is None else before),
            *(np.full((1, *width), value, dtype=np.float64) for value in (gain, rejected, bold)),
            *(np.zeros((bound.rows, *width)), count, out),
        )
        if width:
            target = np.zeros(GOAL * len(self.tasks))
            assert descend_in_lanes(self.packed.words, bound.wide_routines, *given, target)
        else:
            assert descend_alone(self.packed.words, bound.routines, *given)
        steps = out[: -2 * nq].reshape(count, -1, *width)
        one, two, three, *rest = np.split(steps, np.cumsum([1, 1, 1, nq, na, na, na]), axis=1)
        return Descent(one[:, 0], two[:, 0], three[:, 0], *rest, out[-2 * nq : -nq], out[-nq:])

    def expected(self, q: Array, damping: float, bold: bool) -> tuple[Array, Array]:
        """(active,) the damped least-squares step and which joints are free, from the rows and NumPy."""
        e, jacobian = self.rows(q)
        gradient = jacobian.T @ e
        free = np.ones(self.model.nv)
        for joint in self.model.joints:
            if joint.nq and joint.kind != "spherical":
                plain = 3 if joint.kind == "floating" else joint.nq
                at_q = np.arange(self.model.nq)[self.model.index(joint.name)][:plain]
                at_v = np.arange(self.model.nv)[self.model.velocity_index(joint.name)][:plain]
                out_low = (q[at_q] <= self.model.lower[at_q]) & (gradient[at_v] < 0.0)
                out_high = (q[at_q] >= self.model.upper[at_q]) & (gradient[at_v] > 0.0)
                free[at_v[out_low | out_high]] = 0.0
        held = jacobian * free
        row, wanted = 0, e.copy()
        for task in self.tasks:
            if bold and isinstance(task, PoseTask) and task.weighing == 0:
                # A bold step to a whole pose goes along its screw.
                wanted[row : row + 3] = SE3.from_rotvec(e[row : row + 3], e[row + 3 : row + 6]).log()[:3]
            row += 6 if isinstance(task, PoseTask) else 3
        step = held.T @ np.linalg.solve(held @ held.T + damping * np.eye(len(e)), wanted)
        return step[self.active], free[self.active]


def moving_frames(model: Model) -> list[str]:
    """Frames that a task can move."""
    return [name for name in model.frames if any(j.size for j in model.root_path(model.frame(name).link))]


def any_task(rng: np.random.Generator, frame: str, q: Array, model: Model) -> tuple[Task, Any]:
    """A task about `frame` with random weights, and a target near where it stands at `q`."""
    pose = model.pose(frame, q)
    near = SE3.from_rotvec(0.3 * rng.normal(size=3), 0.3 * rng.normal(size=3)) @ pose
    weight = rng.choice([0.0, 0.5, 1.0, 2.0], 3).tolist()
    axis = rng.normal(size=3)
    return [
        (PoseTask(frame), near),
        (PoseTask(frame, position_weight=weight, rotation_weight=0.5, axes="target"), near),
        (PositionTask(frame), near.xyz),
        (PositionTask(frame, weight=weight), near.xyz),
        (OrientationTask(frame, weight=weight), near.rotation),
        (AxisTask(frame, axis), near.rotation.act(axis)),
        (LookAtTask(frame, axis, weight=2.0), near.act(2.0 * axis)),
    ][rng.integers(7)]


@st.composite
def problems(draw: st.DrawFn, most: int = 3) -> tuple[Problem, Array]:
    """A random tree with tasks, and (WIDTH, nq) configurations, some of them at limits."""
    model = draw(trees(most=6))
    frames = moving_frames(model)
    assume(frames)
    starts = np.stack([draw(configurations(model)) for _ in range(WIDTH)])
    rng = np.random.default_rng(draw(seeds))
    picked = [any_task(rng, draw(st.sampled_from(frames)), starts[0], model) for _ in range(draw(st.integers(1, most)))]
    assume(any(task.weighted_rows for task, _ in picked))
    return Problem(model, [task for task, _ in picked], [target for _, target in picked]), starts


def lanes(values: Array) -> Array:
    """(n, WIDTH) of (WIDTH, n)."""
    return np.ascontiguousarray(values.T)


def moved(model: Model, q: Array, step: Array) -> Array:
    """(nq,) where the step (nv,) leads: numbers within their limits, quaternions by their first-order turn."""
    out = np.clip(model.integrate(q, step), model.lower, model.upper)
    for joint in model.joints:
        if joint.nq and joint.quaternion_at is not None:
            at = slice(model.index(joint.name).start + joint.quaternion_at, model.index(joint.name).stop)
            turn = np.concatenate([[0.0], 0.5 * step[model.velocity_index(joint.name)][-3:]])
            turned = q[at] + quaternion_product(turn, q[at])
            out[at] = turned / np.linalg.norm(turned)
    return out


# Against NumPy ---------------------------------------------------------------------------------------------------


@given(problems())
@settings(max_examples=50)
def test_a_step_is_the_damped_least_squares_step_of_the_free_joints(drawn: tuple[Problem, Array]) -> None:
    problem, starts = drawn
    bold = np.arange(WIDTH) % 4 == 1
    seen = problem.descend(lanes(starts), bold=bold)
    for lane, q in enumerate(starts):
        damping = seen.damping[0, lane]
        assume(damping > 1e-6)
        step, free = problem.expected(q, damping, bold[lane])
        np.testing.assert_array_equal(seen.free[0, :, lane], free)
        # What rounding does to a system of this damping, and to errors next to a half turn, as for the costs below; the
        # screw's series is good to a thousandth there.
        tolerance = 1e-13 * reach(problem.model, q) ** 2 / damping + 1e-9 * np.abs(step).max(initial=0.0)
        if bold[lane]:
            tolerance += 2e-3 * np.abs(step).max(initial=0.0)
        np.testing.assert_allclose(seen.step[0, :, lane], step, rtol=0, atol=tolerance)


@pytest.mark.parametrize("angle", [1e-6, 0.1, 1.0, 2.0])
def test_a_free_body_steps_boldly_straight_along_its_screw(angle: float) -> None:
    builder = ModelBuilder("body")
    builder.joint("free", "floating", parent="ground", child="body")
    body = builder.build()
    rng = np.random.default_rng(0)
    axis = rng.normal(size=3)
    away = SE3.from_rotvec(rng.normal(size=3), angle * axis / np.linalg.norm(axis))
    start = body.sample(seed=1)
    goal = away @ body.pose("body", start)
    problem = Problem(body, [PoseTask("body")], [goal])
    step = problem.descend(start, gain=0.0, bold=1.0).step[0]
    # Both motions begin at the body's origin, so that the twist is the logarithm seen from there.
    here = SE3.from_parts(start[:3])
    expected = (here.inverse() @ goal @ body.pose("body", start).inverse() @ here).log()
    np.testing.assert_allclose(step, expected, rtol=0, atol=1e-9 + 2e-5 * angle**8)


@given(problems())
@settings(max_examples=40)
def test_costs_and_scores_are_those_of_the_rows(drawn: tuple[Problem, Array]) -> None:
    problem, starts = drawn
    seen = problem.descend(lanes(starts))
    for lane, q in enumerate(starts):
        e, _ = problem.rows(q)
        # Next to a half turn a rounding grows.
        assert seen.cost[0, lane] == pytest.approx(e @ e, rel=1e-9, abs=1e-20)
        ratios, row = [], 0
        for task in problem.tasks:
            for weight, tolerance in rows_of(task):
                used = np.array(weight) > 0.0
                left = e[row : row + 3][used] / np.array(weight)[used]
                ratios.append(left @ left / tolerance**2)
                row += 3
        assert seen.score[0, lane] == pytest.approx(max(ratios), rel=1e-9, abs=1e-9)


def rows_of(task: Task) -> list[tuple[Any, float]]:
    """Weights and tolerance of each block of three rows."""
    return [(block.weight, block.tolerance) for block in task.blocks]


# Going on, and going back ----------------------------------------------------------------------------------------


@given(problems())
@settings(max_examples=40)
def test_a_lane_goes_on_where_the_error_fell_and_back_where_it_grew(drawn: tuple[Problem, Array]) -> None:
    problem, starts = drawn
    model = problem.model
    before = np.roll(starts, 1, axis=0)
    rejected = np.arange(WIDTH) % 2
    seen = problem.descend(lanes(starts), before=lanes(before), rejected=rejected)
    touched = set(problem.active)
    for lane in range(WIDTH):
        q, step = starts[lane], np.zeros(model.nv)
        step[problem.active] = seen.step[0, :, lane]
        if rejected[lane]:
            quarter = before[lane] + 0.25 * (q - before[lane])
            after, kept = np.clip(quarter, model.lower, model.upper), before[lane]
        else:
            after, kept = moved(model, q, step), q
        for joint in model.joints:
            if not joint.nq or model.velocity_index(joint.name).start not in touched:
                continue
            at = np.arange(model.nq)[model.index(joint.name)]
            expected = after[at]
            if joint.quaternion_at is not None:
                turn = expected[joint.quaternion_at :]
                length = np.linalg.norm(turn)
                assume(length > 0.1)
                expected[joint.quaternion_at :] = turn / length
            np.testing.assert_allclose(seen.after[at, lane], expected, rtol=0, atol=1e-13)
            np.testing.assert_allclose(seen.before[at, lane], kept[at], rtol=0, atol=1e-15)


@given(problems())
@settings(max_examples=30)
def test_no_step_leaves_the_limits(drawn: tuple[Problem, Array]) -> None:
    problem, starts = drawn
    seen = problem.descend(lanes(starts), 12)
    for q in (*seen.q, seen.after):
        assert problem.model.within_limits(q.T)


def test_steps_of_growing_damping_lead_down_from_anywhere() -> None:
    """A step along the gradient is too short to miss: the cost falls by what the linear rows say."""
    arm = TEXTBOOK["panda"]()
    starts = 0.8 * arm.sample(WIDTH, seed=0) + 0.2 * arm.home
    tip = arm.pose("panda_hand", arm.sample(seed=1))
    for task, target in ((PositionTask("panda_hand"), tip.xyz), (LookAtTask("panda_hand"), tip.xyz)):
        problem = Problem(arm, [task], [target])
        start = problem.descend(lanes(starts), gain=1e4)
        after = problem.descend(start.after).cost[0]
        gradients = [problem.rows(q) for q in starts]
        for lane, (e, jacobian) in enumerate(gradients):
            fall = 2.0 * (jacobian.T @ e)[problem.active] @ start.step[0, :, lane]
            assert start.cost[0, lane] - after[lane] == pytest.approx(fall, rel=1e-2)


# The same in either width ----------------------------------------------------------------------------------------


@given(problems())
@settings(max_examples=40)
def test_eight_lanes_step_as_eight_single_runs_do(drawn: tuple[Problem, Array]) -> None:
    problem, starts = drawn
    bold = np.arange(WIDTH) % 2
    wide = problem.descend(lanes(starts), bold=bold)
    for lane, q in enumerate(starts):
        single = problem.descend(q, bold=bold[lane])
        assert single.cost[0] == pytest.approx(wide.cost[0, lane], rel=1e-12, abs=1e-20)
        assert single.score[0] == pytest.approx(wide.score[0, lane], rel=1e-12, abs=1e-8)
        damping = single.damping[0]
        tolerance = 1e-14 * reach(problem.model, q) ** 2 / min(damping, 1.0) + 1e-12
        np.testing.assert_allclose(single.step[0], wide.step[0, :, lane], rtol=0, atol=tolerance)
        np.testing.assert_allclose(single.after, wide.after[:, lane], rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", ["panda", "ur5e", "stanford"])
def test_descents_of_arms_agree_in_either_width(name: str) -> None:
    arm = TEXTBOOK[name]()
    starts = arm.sample(WIDTH, seed=2)
    for seed, several in ((3, False), (4, True)):
        there = arm.sample(seed=seed)
        tip = arm.pose(arm.tip, there)
        # Not the last joint's own axis: its gradient is zero, and rounding would decide whether a limit holds it.
        axis = np.array([0.6, 0.0, 0.8])
        tasks: list[Task] = [PositionTask(arm.tip), AxisTask(arm.tip, axis)] if several else [PoseTask(arm.tip)]
        problem = Problem(arm, tasks, [tip.xyz, tip.rotation.act(axis)] if several else [tip])
        wide = problem.descend(lanes(starts), 5)
        for lane, q in enumerate(starts):
            single = problem.descend(q, 5)
            np.testing.assert_allclose(single.q[0], wide.q[0, :, lane], rtol=0, atol=0)
            np.testing.assert_allclose(single.cost[:2], wide.cost[:2, lane], rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(single.after, wide.after[:, lane], rtol=0, atol=1e-9)


@given(st.data())
@settings(max_examples=40)
def test_a_single_pose_has_the_step_of_any_tasks(data: st.DataObject) -> None:
    model = data.draw(trees(most=6))
    frames = moving_frames(model)
    assume(frames)
    frame = data.draw(st.sampled_from(frames))
    starts = np.stack([data.draw(configurations(model)) for _ in range(WIDTH)])
    rng = np.random.default_rng(data.draw(seeds))
    goal = SE3.from_parts(rng.uniform(-2.0, 2.0, 3), SO3(wxyz=rng.normal(size=4)))
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], (2, 3)) if data.draw(st.booleans()) else np.ones((2, 3))
    task = PoseTask(frame, position_weight=weights[0].tolist(), rotation_weight=weights[1].tolist())
    problem = Problem(model, [task], [goal])
    gains, bold = 10.0 ** rng.uniform(-3.0, 1.0, WIDTH), rng.choice([0.0, 1.0], WIDTH)
    wide = problem.descend(lanes(starts), gain=gains, bold=bold)
    size = max(reach(model, q) for q in starts)
    np.testing.assert_array_equal(wide.free, wide.general_free)
    np.testing.assert_allclose(wide.step, wide.general, rtol=0, atol=1e-12 * size**2)
    for lane, q in enumerate(starts):
        one = problem.descend(q, gain=gains[lane], bold=bold[lane])
        np.testing.assert_allclose(one.step, one.general, rtol=0, atol=1e-12 * size**2)
        np.testing.assert_allclose(one.step, wide.step[..., lane], rtol=0, atol=1e-12 * size**2)
