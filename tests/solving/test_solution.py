"""A Solution says how it ended, what is left and why, in numbers that hold and sentences that can be read."""

import gc
import math
import re
import threading
import tracemalloc
import weakref
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from independent import fk, pose_error

import poise as pz
from poise.robots import TEXTBOOK
from poise.solving.arguments import lru_cache as kept_module

Array = npt.NDArray[np.float64]
HAND = "panda_hand"
REACHABLE = pz.SE3.from_xyz_rpy([0.4, 0.1, 0.5], [math.pi, 0.0, 0.0])
FAR = pz.SE3.from_parts([3.0, 0.0, 0.5])


def elbow() -> pz.Model:
    """Two links of a metre whose joints go no further than 1 rad."""
    b = pz.ModelBuilder("elbow")
    b.joint("shoulder", "revolute", parent="base", child="upper", limits=(-1, 1))
    b.joint("bend", "revolute", parent="upper", child="lower", origin=pz.SE3.from_parts([1, 0, 0]), limits=(-1, 1))
    b.frame("tip", link="lower", origin=pz.SE3.from_parts([1, 0, 0]))
    return b.build()


# How it ended ----------------------------------------------------------------------------------------------------


def test_every_status_is_a_sentence_of_its_own() -> None:
    messages = [status.message for status in pz.Status]
    assert len(set(messages)) == len(messages)
    assert all(len(message.split()) >= 5 and not message.endswith(".") for message in messages)


def test_solved() -> None:
    solution = pz.solve(pz.load("panda"), pz.PoseTask(HAND, REACHABLE))
    assert solution.success
    assert solution.status is pz.Status.CONVERGED
    assert solution.explain().startswith("Every task is within its tolerances: PoseTask('panda_hand') ")
    assert "Not reached" not in solution.explain()


@pytest.mark.parametrize("beyond", [0.427, 0.001, 25.0])
def test_beyond_the_reach_it_says_by_how_much(beyond: float) -> None:
    solution = pz.solve(pz.load("planar3"), pz.PositionTask("tool", [0.0, 3.0 + beyond, 0.0]))
    assert solution.status is pz.Status.UNREACHABLE
    text = solution.explain()
    assert text.startswith("Not reached: ")
    assert solution.status.message in text
    assert f"The target of 'tool' is {beyond:.3g} m beyond the longest reach of 3 m." in text
    assert solution.position_error == pytest.approx(beyond, rel=1e-4)


@pytest.mark.parametrize("name", [name for name in TEXTBOOK if not name.startswith(("planar", "y", "double"))])
def test_the_longest_reach_is_never_an_understatement(name: str) -> None:
    """No configuration brings the tip further from the first joint than the sentence says."""
    model = pz.load(name)
    text = pz.solve(model, pz.PositionTask(model.tip, [0.0, 0.0, 5.0])).explain()
    found = re.search(r"is ([0-9.e+-]+) m beyond the longest reach of ([0-9.e+-]+) m", text)
    assert found is not None
    beyond, reach = map(float, found.groups())
    tips = model.pose(model.tip, model.sample(5000, seed=1)).xyz
    # The sentence has three digits, and counts from a point of the first axis, which is upright.
    root = np.array([0.0, 0.0, 5.0 - beyond - reach])
    assert np.linalg.norm(tips - root, axis=1).max() <= reach + 0.01
    assert reach < 3.0


def test_a_slide_counts_in_the_reach() -> None:
    b = pz.ModelBuilder("gantry")
    b.joint("slide", "prismatic", parent="base", child="car", origin=pz.SE3.from_parts([0, 0, 1]), limits=(-2.0, 0.5))
    b.frame("tip", link="car", origin=pz.SE3.from_parts([0, 0, 0.25]))
    solution = pz.solve(b.build(), pz.PositionTask("tip", [0.0, 0.0, 10.0]))
    assert "8.25 m beyond the longest reach of 1.5 m." in solution.explain()  # from the middle of the slide
    assert solution.position_error == pytest.approx(10.0 - 1.75, rel=1e-6)


def test_a_floating_base_has_no_longest_reach() -> None:
    b = pz.ModelBuilder("brick")
    b.link("body")
    model = b.build(base="floating")
    held = pz.solve(model, [pz.PositionTask("body", [5.0, 0, 0]), pz.PositionTask("body", [-5.0, 0, 0])])
    assert not held.success
    assert "beyond the longest reach" not in held.explain()


def test_limits_in_the_way_are_named() -> None:
    solution = pz.solve(elbow(), pz.PositionTask("tip", [0.8, 0.9, 0.0]))
    assert solution.status is pz.Status.LIMIT
    text = solution.explain()
    assert "At their limits, and pushed against them: " in text
    assert "bend (upper, 1)" in text or "bend (lower, -1)" in text
    below = pz.solve(elbow(), pz.PositionTask("tip", [0.4, -1.9, 0.0]))
    assert "shoulder (lower, -1)" in below.explain()


def test_a_joint_at_its_limit_that_is_not_pushed_is_not_blamed() -> None:
    """The shoulder stands at its limit by the start alone; the target is beyond the arm's length."""
    solution = pz.solve(elbow(), pz.PositionTask("tip", [3.0 * math.cos(1.0), 3.0 * math.sin(1.0), 0.0]), q0=[1.0, 0.0])
    np.testing.assert_allclose(solution.q, [1.0, 0.0], atol=1e-3)
    assert solution.status is pz.Status.UNREACHABLE
    assert "bend" not in solution.explain()


def test_where_neither_reach_nor_limits_explain_it_the_starts_are_counted() -> None:
    """The hand of a planar arm cannot leave its plane, though the target is near enough."""
    solution = pz.solve(pz.load("planar3"), pz.PositionTask("tool", [1.0, 0.5, 0.4]), max_restarts=20)
    assert not solution.success
    assert solution.position_error == pytest.approx(0.4, abs=1e-6)
    assert solution.status is pz.Status.LOCAL_MINIMUM
    text = solution.explain()
    assert "All 21 starts came to rest short of the target; that is no proof that it cannot be reached." in text


def test_out_of_reach_is_said_only_where_a_length_proves_it() -> None:
    solution = pz.solve(pz.load("planar3"), pz.PositionTask("tool", [1.0, 0.5, 0.4]))
    assert solution.status is pz.Status.LOCAL_MINIMUM
    assert "out of reach" not in solution.explain()
    assert "All 201 starts came to rest short of the target; that is no proof" in solution.explain()


def test_without_limits_no_limit_is_blamed_and_no_reach_is_made_of_them() -> None:
    b = pz.ModelBuilder("slide")
    b.joint("slide", "prismatic", parent="base", child="car", axis=(0, 0, 1), limits=(-0.5, 0.5))
    b.joint("turn", "revolute", parent="car", child="wheel", axis=(0, 0, 1), limits=(-0.1, 0.1))
    b.frame("rim", link="wheel", origin=pz.SE3.from_parts([1, 0, 0]))
    model = b.build()
    task = pz.PositionTask("rim", [0.0, 1.0, 3.0])
    free = pz.solve(model, task, limits=False)
    assert free.success
    assert free.q[0] == pytest.approx(3.0, abs=1e-5)
    off = pz.solve(model, pz.PositionTask("rim", [0.0, 1.2, 3.0]), limits=False)
    assert not off.success
    assert off.status is pz.Status.LOCAL_MINIMUM
    assert "limit" not in off.explain()
    assert "beyond the longest reach" not in off.explain()


def test_what_is_left_is_said_of_every_task() -> None:
    model = pz.load("panda")
    solution = pz.solve(model, [pz.PositionTask(HAND, [3.0, 0.0, 0.5]), pz.AxisTask(HAND, target=[0, 0, -1])])
    text = solution.explain()
    position, axis = solution.errors
    assert f"PositionTask('panda_hand') {position.position:.3g} m" in text
    assert f"AxisTask('panda_hand') {axis.rotation:.3g} rad" in text


# Budgets ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("restarts", [0, 1, 7, 50])
def test_no_more_restarts_than_allowed(restarts: int) -> None:
    model = pz.load("panda")
    solver = pz.Solver(model, pz.PoseTask(HAND), max_restarts=restarts)
    assert solver(FAR).restarts == restarts
    for there, start in zip(model.sample(30, seed=1), model.sample(30, seed=2), strict=True):
        assert 0 <= solver(model.pose(HAND, there), start).restarts <= restarts


@pytest.mark.parametrize("iterations", [4, 6, 30])
def test_a_start_that_wins_has_taken_no_more_iterations_than_allowed(iterations: int) -> None:
    """Only when every restart is spent do the best candidates go on together, past that number."""
    model = pz.load("panda")
    solver = pz.Solver(model, pz.PoseTask(HAND), max_iterations=iterations, max_restarts=10**6)
    taken = []
    for there, start in zip(model.sample(50, seed=1), model.sample(50, seed=2), strict=True):
        solution = solver(model.pose(HAND, there), start)
        assert solution.success
        taken.append(solution.iterations)
    assert 1 <= max(taken) <= iterations


def test_at_the_target_no_iteration_is_needed() -> None:
    model = pz.load("panda")
    solution = pz.solve(model, pz.PoseTask(HAND, model.pose(HAND, model.home)))
    assert (solution.iterations, solution.restarts) == (0, 0)
    np.testing.assert_array_equal(solution.q, model.home)


def test_more_restarts_never_give_a_worse_answer_by_much() -> None:
    model = pz.load("iiwa14")
    few, many = (pz.Solver(model, pz.PoseTask(model.tip), max_restarts=n) for n in (0, 200))
    for k in range(10):
        target = pz.SE3.from_rotvec([1.2, 0.1 * k, 0.4], [0.3 * k, 0.5, -0.2])
        assert many(target).cost <= 1.01 * few(target).cost


def test_when_the_time_is_spent_the_best_so_far_comes_back() -> None:
    """With a billion restarts only the clock can end it."""
    model = pz.load("panda")
    solution = pz.Solver(model, pz.PoseTask(HAND), max_restarts=10**9, max_time=0.01)(FAR)
    assert solution.status is pz.Status.BUDGET
    assert not solution.success
    assert solution.status.message in solution.explain()
    assert model.within_limits(solution.q)
    assert solution.restarts > 0
    untimed = pz.solve(model, pz.PoseTask(HAND, FAR))
    assert solution.cost <= 1.05 * untimed.cost
    assert max(pose_error(fk(model, HAND, solution.q), FAR.matrix())) == pytest.approx(
        max(solution.position_error, solution.rotation_error), abs=1e-8
    )


@pytest.mark.parametrize("seconds", [1e-12, 1e-6, 1e-3])
def test_even_no_time_at_all_gives_an_answer(seconds: float) -> None:
    model = pz.load("panda")
    solver = pz.Solver(model, pz.PoseTask(HAND), max_restarts=10**9, max_time=seconds)
    for target in (REACHABLE, FAR):
        solution = solver(target)
        assert solution.status in (pz.Status.BUDGET, pz.Status.CONVERGED)
        assert model.within_limits(solution.q)
        assert solution.success == (max(pose_error(fk(model, HAND, solution.q), target.matrix())) <= 1e-6)
    assert solver(REACHABLE, solution.q).time > 0.0


def test_time_is_counted() -> None:
    solution = pz.solve(pz.load("panda"), pz.PoseTask(HAND, FAR))
    assert 0.0 < solution.time < 60.0


# What is in it ---------------------------------------------------------------------------------------------------


def test_errors_come_in_the_order_of_the_tasks() -> None:
    model = pz.load("panda")
    tasks: list[Any] = [
        pz.AxisTask(HAND, target=[0.0, 0.0, -1.0]),
        pz.PostureTask(),
        pz.PositionTask(HAND, [0.4, 0.1, 0.5]),
        pz.PoseTask("panda_link4", model.pose("panda_link4", model.home)),
        pz.LookAtTask(HAND, target=[0.4, 0.1, -2.0]),
        pz.OrientationTask("panda_link2", model.pose("panda_link2", model.home).rotation),
    ]
    errors = pz.solve(model, tasks).errors
    assert [error.task for error in errors] == [
        "AxisTask('panda_hand')",
        "PostureTask",
        "PositionTask('panda_hand')",
        "PoseTask('panda_link4')",
        "LookAtTask('panda_hand')",
        "OrientationTask('panda_link2')",
    ]
    filled = [(e.position is not None, e.rotation is not None, e.posture is not None) for e in errors]
    yes, no = True, False
    assert filled == [(no, yes, no), (no, no, yes), (yes, no, no), (yes, yes, no), (no, yes, no), (no, yes, no)]


def test_the_largest_error_of_all_tasks() -> None:
    model = pz.load("planar3")
    solution = pz.solve(model, [pz.PositionTask("tool", [5.0, 0, 0]), pz.PositionTask("link1", [9.0, 0, 0])])
    assert solution.position_error == max(error.position for error in solution.errors)
    assert solution.rotation_error == 0.0


def test_the_cost_is_the_weighted_sum_of_squares() -> None:
    """Weights are relative: the largest counts as 1."""
    model = pz.load("panda")
    task = pz.PoseTask(HAND, FAR, position_weight=2.0, rotation_weight=0.5)
    solution = pz.solve(model, task)
    position, rotation = pose_error(fk(model, HAND, solution.q), FAR.matrix())
    assert solution.cost == pytest.approx(position**2 + (0.25 * rotation) ** 2, rel=1e-6)
    assert solution.position_error == pytest.approx(position, rel=1e-8)
    assert solution.rotation_error == pytest.approx(rotation, rel=1e-6)


def test_a_row_of_weight_0_does_not_count_as_error() -> None:
    model = pz.load("planar2")
    solution = pz.solve(model, pz.PositionTask("tool", [1.2, 0.5, 7.0], weight=(1, 1, 0)))
    assert solution.success
    assert solution.position_error <= 1e-6


def test_named_is_q_by_name() -> None:
    b = pz.ModelBuilder("fingers")
    b.joint("grip", "revolute", parent="base", child="one", limits=(0, 1))
    mimic = pz.Mimic(joint="grip", multiplier=-2.0, offset=0.5)
    b.joint("other", "revolute", parent="one", child="two", origin=pz.SE3.from_parts([1, 0, 0]), mimic=mimic)
    b.frame("tip", link="two", origin=pz.SE3.from_parts([1, 0, 0]))
    model = b.build()
    target = fk(model, "tip", [0.4])[:3, 3]
    named = pz.solve(model, pz.PositionTask("tip", target), q0=[0.5]).named()
    assert list(named) == ["grip", "other"]
    assert named["grip"] == pytest.approx(0.4, abs=1e-5)
    assert named["other"] == pytest.approx(0.5 - 2.0 * named["grip"], abs=1e-15)
    assert {type(x) for x in named.values()} == {float}


def test_it_is_an_array_where_one_is_wanted() -> None:
    solution = pz.solve(pz.load("panda"), pz.PoseTask(HAND, REACHABLE))
    np.testing.assert_array_equal(np.asarray(solution), solution.q)
    assert np.asarray(solution, dtype=np.float32).dtype == np.float32
    copied = np.array(solution)
    copied[0] = 99.0
    assert solution.q[0] != 99.0


@pytest.mark.parametrize(
    ("task", "pattern"),
    [
        (
            pz.PoseTask(HAND, REACHABLE),
            r"Solution\(CONVERGED, \d+ iterations from ORIGIN, \S+e-\d+ m, \S+e-\d+ rad, [\d.]+ (us|ms|s)\)",
        ),
        (
            pz.PositionTask(HAND, [3.0, 0.0, 0.5]),
            r"Solution\(UNREACHABLE, \d+ iterations from ORIGIN, 2\.\de\+00 m, [\d.]+ (us|ms|s)\)",
        ),
        (
            pz.AxisTask(HAND, target=[0, 0, 1]),
            r"Solution\(CONVERGED, \d+ iterations from ORIGIN, \S+e-\d+ rad, [\d.]+ (us|ms|s)\)",
        ),
        (pz.PostureTask(), r"Solution\(CONVERGED, 0 iterations from q0, [\d.]+ (us|ms|s)\)"),
    ],
)
def test_it_prints_in_one_line(task: Any, pattern: str) -> None:
    origin = r"(q0|random start \d+ of \d+)"
    assert re.fullmatch(pattern.replace("ORIGIN", origin), repr(pz.solve(pz.load("panda"), task)))


# Memory ----------------------------------------------------------------------------------------------------------


def grown_by(calls: int, solver: pz.Solver, targets: list[Any]) -> int:
    """Bytes that so many calls leave behind."""
    for target in targets:
        solver(target).explain()
    gc.collect()
    tracemalloc.start()
    try:
        for k in range(calls):
            assert len(solver(targets[k % len(targets)]).errors) == len(solver.tasks)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def test_ten_thousand_calls_leave_nothing_behind() -> None:
    model = pz.load("panda")
    poses = [model.pose(HAND, q) for q in model.sample(20, seed=1)]
    assert grown_by(10_000, pz.Solver(model, pz.PoseTask(HAND)), poses) < 20_000
    both = pz.Solver(model, [pz.PoseTask(HAND), pz.PostureTask()])
    assert grown_by(500, both, [[pose, model.home] for pose in poses]) < 20_000


def test_solve_keeps_a_bounded_number_of_prepared_problems_and_forgets_the_least_recently_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kept_module, "_CACHED", 8)
    model = pz.load("planar2")
    prepared = model.queries.setdefault(kept_module._CACHE_KEY, OrderedDict())

    def ask(k: int) -> None:
        pz.solve(model, pz.PositionTask("tool", [1.2, 0.5, 0.0], tolerance=1e-6 * (1 + k)))

    for k in range(20):
        ask(0)
        ask(k)
        assert len(prepared) == min(k + 1, 8)
    often = next(reversed(prepared.values()))
    ask(0)
    assert next(reversed(prepared.values())) is not often
    kept = list(prepared.values())
    ask(0)
    # A task of the same structure is prepared once, whatever its target.
    for x in np.linspace(0.5, 1.5, 50):
        pz.solve(model, pz.PositionTask("tool", [x, 0.5, 0.0], tolerance=1e-6))
    assert list(prepared.values()) == kept


def test_a_model_with_a_prepared_solve_is_freed_without_the_cycle_collector() -> None:
    model = pz.load("planar2")
    assert pz.solve(model, pz.PositionTask("tool", [1.2, 0.5, 0.0])).success
    gone = weakref.ref(model)
    gc.disable()
    try:
        del model
        assert gone() is None
    finally:
        gc.enable()


def test_a_model_whose_prepared_solve_saw_shapes_is_freed_too() -> None:
    model = pz.load("panda_collision")
    limits = [pz.CollisionLimit(pz.World({"ball": pz.Sphere((0.5, 0.1, 0.5), 0.1)}))]
    pz.solve(model, pz.PositionTask(HAND, [0.4, 0.1, 0.5]), limits=limits)
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_threads_that_solve_the_same_tasks_do_not_mix_them_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many structures on many threads, while old ones make room: no mixing, no error."""
    monkeypatch.setattr(kept_module, "_CACHED", 8)
    model = pz.load("planar3")
    together = threading.Barrier(8)

    def work(thread: int) -> list[tuple[Array, Array]]:
        together.wait()
        out = []
        for k in range(60):
            angle = 0.1 * (60 * thread + k)
            target = np.array([2.0 * math.cos(angle), 2.0 * math.sin(angle), 0.0])
            solution = pz.solve(model, pz.PositionTask("tool", target, tolerance=1e-6 * (1 + k % 30)))
            assert solution.success
            out.append((target, solution.q))
        return out

    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(work, range(8)):
            for target, q in found:
                assert np.linalg.norm(fk(model, "tool", q)[:3, 3] - target) <= 3.1e-5
    assert len(model.queries[kept_module._CACHE_KEY]) <= 8


def test_steps_that_had_not_come_to_rest_are_told() -> None:
    b = pz.ModelBuilder("crane")
    for name, axis, parent in (("x", [1, 0, 0], "world"), ("y", [0, 1, 0], "x_link"), ("z", [0, 0, 1], "y_link")):
        b.joint(name, "prismatic", parent=parent, child=f"{name}_link", axis=axis, limits=(-3e3, 3e3))
    crane, limit = b.build(), pz.LinearLimit({"x": 1.0, "y": 1.0}, 700.0)
    goal = pz.PositionTask("z_link", [900.0, 600.0, 100.0])
    answer = pz.solve(crane, goal, limits=[limit])
    assert answer.status is pz.Status.LIMIT
    assert "had not come to rest" in answer.explain()
    assert "came to rest" not in answer.explain()
    nearer = pz.solve(crane, goal, limits=[limit], q0=answer.q)
    assert nearer.position_error < answer.position_error
