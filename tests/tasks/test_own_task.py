"""A task of the user's own, in a file of its own: this one.  It works wherever those of the package do."""

import copy
import math
import multiprocessing
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from support.refusals import refused

import poise as pz
from poise.bench.judge import judge
from poise.own import load, store
from poise.solving.problem.problem import Problem, pack
from poise.solving.problem.rows import rows_at
from poise.solving.problem.workspace import Bound
from poise.solving.solvers.warmup import task_kinds


@dataclass(frozen=True, kw_only=True)
class Wipe(pz.Task):
    """Stay on the plane z = slope x."""

    frame: str
    slope: float
    rows = 1
    unit = "m"

    def residual(frames, numbers, out):  # type: ignore[no-untyped-def]
        out[0] = (frames[0, 2] - numbers[0] * frames[0, 0]) / math.sqrt(1.0 + numbers[0] ** 2)


@dataclass(frozen=True, kw_only=True)
class SlopedWipe(Wipe):
    """The same with derivatives."""

    def jacobian(frames, numbers, out):  # type: ignore[no-untyped-def]
        length = math.sqrt(1.0 + numbers[0] ** 2)
        for i in range(6):
            out[0, i] = 0.0
        out[0, 0], out[0, 2] = -numbers[0] / length, 1.0 / length


@dataclass(frozen=True, kw_only=True)
class WideWipe(pz.Task):
    """The same for eight problems at once, and with a slope that the target tells."""

    frame: str
    target: float | None = None
    rows = 1
    unit = "m"
    lanes = True

    def residual(frames, numbers, out):  # type: ignore[no-untyped-def]
        store(out, 0, load(frames, 2) - load(numbers, 0) * load(frames, 0))

    def jacobian(frames, numbers, out):  # type: ignore[no-untyped-def]
        zero = 0.0 * load(frames, 0)
        store(out, 0, zero - load(numbers, 0)), store(out, 1, zero), store(out, 2, zero + 1.0)
        store(out, 3, zero), store(out, 4, zero), store(out, 5, zero)


@dataclass(frozen=True, kw_only=True)
class Level(pz.Task):
    """Hold two frames at one height, as far apart as `target` says, with both y axes alike: five rows."""

    frames: tuple[str, ...]
    target: float | None = None
    rows = 5

    @staticmethod
    def residual(frames: Any, numbers: Any, out: Any) -> None:
        out[0] = frames[1, 2] - frames[0, 2]
        square = 0.0
        for i in range(3):
            square += (frames[1, i] - frames[0, i]) ** 2
        out[1] = square - numbers[0] ** 2
        for i in range(3):
            out[2 + i] = frames[1, 4 + 3 * i] - frames[0, 4 + 3 * i]


def chain() -> pz.Model:
    """Two arms of five hinges on one column, some of which slide; one joint follows another."""
    axes = [(0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)]
    builder = pz.ModelBuilder("arms")
    builder.joint("column", "prismatic", parent="floor", child="body", axis=(0, 0, 1), limits=(0.0, 0.5))
    for side, y in (("l", 0.2), ("r", -0.2)):
        for i in range(5):
            builder.joint(
                f"{side}{i}", "revolute", parent=f"{side}link{i - 1}" if i else "body", child=f"{side}link{i}",
                axis=axes[i % 3], origin=pz.SE3.from_parts([0.3, 0.0 if i else y, 0.1]), limits=(-2.5, 2.5),
            )  # fmt: skip
    builder.joint("ball", "spherical", parent="rlink4", child="wrist", origin=pz.SE3.from_parts([0.1, 0.0, 0.0]))
    builder.joint(
        "follower",
        "revolute",
        parent="llink4",
        child="finger",
        axis=(0, 0, 1),
        mimic=pz.Mimic(joint="l1", multiplier=-0.5),
    )
    builder.frame("grip", link="finger", origin=pz.SE3.from_xyz_rpy([0.1, 0.05, 0.0], [0.3, 0.2, 0.1]))
    return builder.build()


MODEL = chain()
TASKS: dict[str, pz.Task] = {
    "plain": Wipe(frame="grip", slope=0.4, weight=2.0),
    "sloped": SlopedWipe(frame="wrist", slope=0.4),
    "wide": WideWipe(frame="grip", target=0.4),
    "several": Level(frames=("grip", "wrist"), target=0.3, weight=(1.0, 1.0, 0.5, 2.0, 1.0)),
    "one in the world": Level(frames=("floor", "wrist"), target=0.3),
}


def off_plane(model: pz.Model, frame: str, q: np.ndarray, slope: float) -> float:
    x, _, z = model.pose(frame, q).xyz
    return float((z - slope * x) / math.hypot(1.0, slope))


@pytest.mark.parametrize("name", TASKS)
def test_the_jacobian_is_the_residual_s_derivative_with_the_sign_of_the_others(name: str) -> None:
    solver = pz.Solver(MODEL, TASKS[name])
    for seed in range(3):
        q = MODEL.sample(seed=seed)
        _, jacobian = solver.linearise(q)
        ways = 1e-6 * np.eye(MODEL.nv)
        ends = [[solver.linearise(MODEL.integrate(q, sign * way))[0] for way in ways] for sign in (1.0, -1.0)]
        numeric = (np.array(ends[0]) - np.array(ends[1])).T / 2e-6
        np.testing.assert_allclose(jacobian, -numeric, atol=1e-8)


def test_a_residual_reads_truth_values_as_numbers() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Sided(Wipe):
        up: bool
        axes: tuple[bool, ...]

    assert Sided(frame="grip", slope=0.4, up=True, axes=(True, False)).numbers == (0.4, 1.0, 1.0, 0.0)


def test_a_row_is_minus_the_residual_times_its_weight() -> None:
    q = MODEL.sample(seed=1)
    e, _ = pz.Solver(MODEL, TASKS["plain"]).linearise(q)
    np.testing.assert_allclose(e, [-2.0 * off_plane(MODEL, "grip", q, 0.4), 0.0, 0.0], atol=1e-15)
    e, _ = pz.Solver(MODEL, TASKS["several"]).linearise(q)
    left, right = MODEL.pose("grip", q), MODEL.pose("wrist", q)
    apart = right.xyz - left.xyz
    turned = right.rotation.matrix()[:, 1] - left.rotation.matrix()[:, 1]
    np.testing.assert_allclose(e[:3], [-apart[2], 0.09 - apart @ apart, -0.5 * turned[0]], atol=1e-12)
    np.testing.assert_allclose(e[3:], [-2.0 * turned[1], -turned[2], 0.0], atol=1e-12)


@dataclass(frozen=True, kw_only=True)
class Together(pz.Task):  # three frames at one point, and as much again of the first
    frames: tuple[str, str, str]
    rows = 9
    unit = "m"

    def residual(frames: Any, numbers: Any, out: Any) -> None:
        for i in range(3):
            out[i] = frames[1, i] - frames[0, i]
            out[3 + i] = frames[2, i] - frames[0, i]
            out[6 + i] = frames[0, i]


def test_every_row_of_many_has_its_weight_and_the_tasks_beside_have_theirs() -> None:
    frames, point = ("grip", "wrist", "floor"), [0.3, -0.2, 0.4]
    q, each = MODEL.sample(seed=1), np.linspace(1.0, 3.0, 9)
    for weight in (2.0, tuple(each)):
        given = np.broadcast_to(weight, 9)
        plain = [Together(frames=frames), pz.PositionTask("wrist")]
        weighed = [Together(frames=frames, weight=weight), pz.PositionTask("wrist", weight=(1.0, 2.0, 3.0))]
        (e, jacobian), (f, other) = (pz.Solver(MODEL, some).linearise(q, [None, point]) for some in (plain, weighed))
        scale = np.concatenate([given, [1.0, 2.0, 3.0]])
        np.testing.assert_allclose(f, scale * e, atol=1e-15)
        np.testing.assert_allclose(other, scale[:, None] * jacobian, atol=1e-15)


@pytest.mark.parametrize("method", [None, "lm", "priority"])
def test_it_is_solved_beside_others(method: str | None) -> None:
    tasks = [Wipe(frame="grip", slope=0.4), pz.AxisTask("grip", (0, 0, 1), (0.1, 0.2, -1.0))]
    answer = pz.solve(MODEL, tasks, method=method, q0=MODEL.sample(seed=4))
    assert answer.success, answer.explain()
    assert off_plane(MODEL, "grip", answer.q, 0.4) == pytest.approx(0.0, abs=1e-6)
    assert answer.errors[0].position == pytest.approx(abs(off_plane(MODEL, "grip", answer.q, 0.4)), abs=1e-12)
    assert answer.errors[0].rotation is None


def test_eight_lanes_find_what_is_far() -> None:
    """From a start at the limits, a search takes all eight lanes, of plain functions and of wide ones."""
    q = MODEL.sample(seed=11)
    pose = MODEL.pose("grip", q)
    slope = float(pose.xyz[2] / pose.xyz[0])
    start = MODEL.q(l0=2.4, l1=-2.4, l2=2.4, l3=-2.4)
    for task in (Wipe(frame="grip", slope=slope), WideWipe(frame="grip", target=slope)):
        answer = pz.solve(MODEL, [task, pz.PoseTask("grip", pose)], q0=start)
        assert answer.success, answer.explain()
        assert off_plane(MODEL, "grip", answer.q, slope) == pytest.approx(0.0, abs=1e-6)


def test_what_cannot_be_reached_is_told_in_its_unit() -> None:
    high = pz.PositionTask("grip", [0.6, 0.2, 0.5])
    answer = pz.solve(MODEL, [high, Wipe(frame="grip", slope=-1.0)])
    assert not answer.success
    assert f"Wipe('grip') {answer.errors[1].position:.3g} m" in answer.explain()
    far = Level(frames=("grip", "floor"), target=99.0)
    answer = pz.solve(MODEL, far)
    e, _ = pz.Solver(MODEL, far).linearise(answer.q)
    assert answer.errors[0].residual == pytest.approx(np.linalg.norm(e))


def test_a_tracker_follows_it_in_levels() -> None:
    model, q = pz.load("panda"), pz.load("panda").home
    point = model.pose("panda_hand", q).xyz + np.array([0.0, 0.1, 0.05])
    loop = pz.Tracker(model, [Wipe(frame="panda_hand", slope=0.5), pz.PositionTask("panda_hand", priority=1)])
    for _ in range(100):
        q = loop.step(q, [None, point]).copy()
    hand = model.pose("panda_hand", q).xyz
    assert off_plane(model, "panda_hand", q, 0.5) == pytest.approx(0.0, abs=1e-6)
    assert hand[1] == pytest.approx(point[1], abs=1e-3)  # along the plane the second level is free
    assert abs(hand[2] - point[2]) > 1e-2


@pytest.mark.parametrize("kind", ["plain", "sloped", "wide", "several"])
def test_eight_characters_are_led_as_each_alone(kind: str) -> None:
    tracker = pz.Tracker(MODEL, TASKS[kind], "dls", limits=False)
    starts = MODEL.sample(8, seed=5)
    targets = np.broadcast_to(tracker.targets, (8, 5, 1, 7)).copy()
    if TASKS[kind].takes_target:
        targets[..., 0] = np.linspace(0.2, 0.5, 8)[:, None, None]
    together = tracker.rollout(starts, targets)
    assert not tracker.failed
    for k in (0, 3, 7):
        np.testing.assert_allclose(together[k], tracker.rollout(starts[k], targets[k]), atol=1e-9)


def test_methods_are_compared_on_it() -> None:
    arm = pz.load("panda")
    comparison = pz.compare(arm, Wipe(frame="panda_hand", slope=0.5), methods=["lm", "dls"], count=5)
    assert comparison["lm"].solved.all()
    assert comparison["lm"].position_error.max() <= 1e-6
    assert comparison.unit == "m"
    with pytest.raises(ValueError, match=r"WideWipe\('panda_hand'\) tells no targets within reach: give it target_at"):
        pz.compare(arm, WideWipe(frame="panda_hand"), methods=["lm"], count=5)
    assert pz.compare(arm, WideWipe(frame="panda_hand"), [0.5, 0.6], methods=["lm"])["lm"].solved.all()


@pytest.mark.parametrize("name", TASKS)
def test_the_judge_measures_what_a_solution_reports(name: str) -> None:
    task, q = TASKS[name], MODEL.sample(seed=2)
    goal = task.goal(task.target)
    verdict = judge(MODEL, [task], goal[None], q[None])
    search = pz.Solver(MODEL, task)._search
    solved = search.tasks.of_frames[0]  # its largest weight is 1
    e, _ = rows_at(MODEL, [solved], search.bound, q, goal)
    sizes = [
        np.linalg.norm(e[3 * i : 3 * i + 3] / np.where(np.array(b.weight) == 0.0, 1.0, b.weight))
        for i, b in enumerate(solved.blocks)
    ]
    np.testing.assert_allclose(task.judged(MODEL, goal[None], q[None])[0], sizes, rtol=1e-9)
    assert not verdict.reached.any()


def test_it_can_be_copied_and_sent() -> None:
    task = Level(frames=("grip", "wrist"), target=0.3)
    for again in (copy.deepcopy(task), pickle.loads(pickle.dumps(task))):
        assert again.structure == task.structure
        assert repr(again) == repr(task)
    problem = pack(MODEL, [Wipe(frame="grip", slope=0.4), WideWipe(frame="wrist"), task])
    ours = rows_of(problem)
    np.testing.assert_array_equal(rows_of(pickle.loads(pickle.dumps(problem))), ours)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        np.testing.assert_array_equal(pool.apply(rows_of, (problem,)), ours)


def rows_of(problem: Problem) -> np.ndarray:
    """The residual rows of two targets without a number and 0.2."""
    goal = np.array([0.2, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0] * 3)
    return rows_at(MODEL, [], Bound(problem), MODEL.sample(seed=4), goal)[0]


def test_fields_are_numbers_that_nobody_changes() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Given(pz.Task):
        frame: str
        points: Any
        pose: pz.SE3
        rows = 1

    points = np.array([[1.0, 2.0], [3.0, 4.0]])
    task = Given(frame="grip", points=points, pose=pz.SE3.from_parts([5.0, 6.0, 7.0]))
    points[:] = 0.0
    assert task.numbers == (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 1.0, 0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="read-only"):
        task.points[0, 0] = 1.0


def test_a_base_of_tasks_and_every_kind_of_the_house_is_warmed_up() -> None:
    kinds = task_kinds()
    named = {getattr(pz, name) for name in pz.__all__ if name.endswith("Task")}
    assert named <= set(kinds)
    assert all(issubclass(kind, pz.Task) and kind.__module__.startswith("poise.tasks.") for kind in kinds)


# Errors ----------------------------------------------------------------------------------------------------------


def made(*, rows: Any = 1, **functions: Any) -> pz.Task:
    """A task about the grip with these functions."""
    return dataclass(frozen=True, kw_only=True)(
        type("Mine", (pz.Task,), {"__annotations__": {"frame": str}, "rows": rows, **functions})
    )(frame="grip")


def too_many(frames: Any, numbers: Any, out: Any) -> None:
    out[0] = 1.0
    out[1] = 2.0


def one(frames: Any, numbers: Any, out: Any) -> None:
    out[0] = frames[0, 0]


def no_number(frames: Any, numbers: Any, out: Any) -> None:
    out[0] = math.nan


def raising(frames: Any, numbers: Any, out: Any) -> None:
    raise RuntimeError("not today")


def returning(frames: Any, numbers: Any, out: Any) -> Any:
    out[0] = 1.0
    return out


def wrong(frames: Any, numbers: Any, out: Any) -> None:
    for i in range(6):
        out[0, i] = 0.0
    out[0, 1] = 1.0


def listed(frames: Any, numbers: Any, out: Any) -> None:
    out[0] = float(str(frames[0, 0]).count("1").bit_length()) + eval("0.0")


@pytest.mark.parametrize(
    ("task", "code", "words"),
    [
        (made(), "own-function", "Mine('grip') has no residual: give its class residual(frames, numbers, out)"),
        (made(residual=one, rows=0), "not-whole", "rows"),
        (made(residual=too_many), "own-function", "residual of Mine('grip') raises IndexError at q = ["),
        (made(residual=one, rows=2), "own-function", "residual of Mine('grip') leaves out[1] without a finite number"),
        (made(residual=no_number), "own-function", "residual of Mine('grip') leaves out[0] without a finite number"),
        (made(residual=raising), "own-function", "residual of Mine('grip') raises RuntimeError at q ="),
        (made(residual=returning), "own-function", "returns something; it must write into its third argument"),
        (
            made(residual=one, jacobian=wrong),
            "own-function",
            "jacobian of Mine('grip') is not that of its residual: at",
        ),
        (made(residual=listed), "own-function", "residual of Mine is not compiled by Numba:"),
        (
            made(residual=one, frames=()),
            "own-function",
            "Mine() names no frame: give it a field such as frame: str, or frames",
        ),
        (made(residual=one, frames=("floor",)), "nothing-moves", "Mine('floor') never moves"),
    ],
)
def test_what_does_not_work_is_said(task: pz.Task, code: str, words: str) -> None:
    with refused(code, words):
        pz.Solver(MODEL, task)


@dataclass(frozen=True, kw_only=True)
class OnlyBelow(pz.Task):
    """Height 0.8, forgotten above 0.5."""

    frame: str
    rows = 1
    unit = "m"

    def residual(frames, numbers, out):  # type: ignore[no-untyped-def]
        if frames[0, 2] < 0.5:
            out[0] = frames[0, 2] - 0.8


def test_a_row_that_is_not_written_in_some_pose_is_not_fulfilled_there() -> None:
    arm = pz.load("panda")
    assert arm.pose("panda_hand", arm.home).xyz[2] > 0.5
    assert not pz.solve(arm, OnlyBelow(frame="panda_hand"), max_restarts=8).success


def test_wrong_arguments_are_said() -> None:
    with pytest.raises(pz.FrameNotFound, match="girp"):
        pz.Solver(MODEL, Wipe(frame="girp", slope=0.0))
    with pytest.raises(pz.ShapeError, match=r"weight must be one number or 5, one a row, got shape \(3,\)"):
        Level(frames=("grip", "wrist"), weight=(1, 1, 1))
    with refused("out-of-range", "weight"):
        Wipe(frame="grip", slope=0.0, weight=-1)
    with refused("not-whole", "priority"):
        Wipe(frame="grip", slope=0.0, priority=0.5)  # type: ignore[arg-type]
    with pytest.raises(pz.ShapeError, match="takes no target, give None"):
        pz.Solver(MODEL, Wipe(frame="grip", slope=0.0))(1.0)
    with refused("not-supported"):
        pz.Tracker(MODEL, Wipe(frame="grip", slope=0.0), "ccd")
    with refused("no-target", "WideWipe"):
        pz.solve(MODEL, WideWipe(frame="grip"))


# Un-jitted -------------------------------------------------------------------------------------------------------


def everything() -> list[Any]:
    """Rows of all tasks, and the way of two characters, as numbers."""
    q = MODEL.sample(seed=3)
    values: list[Any] = []
    for task in TASKS.values():
        values += [part.tolist() for part in pz.Solver(MODEL, task).linearise(q)]
        tracker = pz.Tracker(MODEL, task, "dls", limits=False)
        targets = np.broadcast_to(tracker.targets, (2, 2, 1, 7))
        values.append(tracker.rollout(MODEL.sample(2, seed=5), targets).tolist())
    return values


def test_it_runs_in_plain_python_too() -> None:
    pytest.importorskip("numba", reason="a function of a user's is guarded by what compiles it")
    run = subprocess.run(
        [sys.executable, __file__],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
    )
    for ours, theirs in zip(everything(), eval(run.stdout), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


if __name__ == "__main__":
    print(everything())
