"""Many problems in one call: the same answers as the loop, whatever the order, the pieces and the threads."""

import pickle
import signal
import threading
import time
from collections import Counter

import numpy as np
import pytest
from independent import fk
from support.refusals import refused

import poise as pz
from poise.solving.search import batching
from poise.spatial import pose_of, rotation_of

POSE = pz.PoseTask("panda_hand")


@pytest.fixture(scope="module")
def panda() -> pz.Model:
    return pz.load("panda")


@pytest.fixture(scope="module")
def problems(panda: pz.Model) -> tuple[pz.SE3, np.ndarray]:
    return panda.pose("panda_hand", panda.sample(3000, seed=1)), panda.sample(3000, seed=2)


def two_arms() -> tuple[pz.Model, list[pz.Task]]:
    g1 = pz.load("g1", base="floating")
    return g1, [pz.PoseTask("left_rubber_hand"), pz.PoseTask("right_rubber_hand")]


CASES = {
    "pose": lambda: (pz.load("ur10"), [pz.PoseTask("tool0")]),
    "position": lambda: (pz.load("panda"), [pz.PositionTask("panda_hand")]),
    "orientation": lambda: (pz.load("iiwa14"), [pz.OrientationTask("iiwa_link_ee")]),
    "position and axis": lambda: (
        pz.load("panda"),
        [pz.PositionTask("panda_hand"), pz.AxisTask("panda_hand", axis=(0.0, 0.0, 1.0))],
    ),
    "slides": lambda: (pz.robots.stanford(), [pz.PoseTask("link6")]),
    "seen from a base": lambda: (pz.load("panda"), [pz.PoseTask("panda_hand", base="panda_link2")]),
    "two hands, free base": two_arms,
    "weights": lambda: (pz.load("panda"), [pz.PoseTask("panda_hand", rotation_weight=(1.0, 1.0, 0.0), axes="target")]),
}


def given(model: pz.Model, tasks: list[pz.Task], n: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Targets that random configurations fulfil, an array a task, and random starts."""
    q = model.sample(n, seed=3)
    goals = [task.fulfilled(model, q) for task in tasks]
    targets = [
        goal if task.frame_parts == ("position", "rotation") else goal[:, :3]
        for task, goal in zip(tasks, goals, strict=True)
    ]
    return [
        pz.SO3(wxyz=goal[:, 3:]) if task.frame_parts == ("rotation",) else target
        for task, goal, target in zip(tasks, goals, targets, strict=True)
    ], model.sample(n, seed=4)


def some(targets: list, rows: np.ndarray) -> list:
    return [rotation_of(t.wxyz[rows]) if isinstance(t, pz.SO3) else t[rows] for t in targets]


def solve(model, tasks, targets, q0, **settings) -> pz.results.SolutionBatch:
    return pz.solve_batch(model, tasks, targets if len(tasks) > 1 else targets[0], q0=q0, **settings)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("select", ["nearest", "first"])
def test_an_answer_depends_on_its_problem_alone(case, select, monkeypatch) -> None:
    model, tasks = CASES[case]()
    n = 300
    targets, q0 = given(model, tasks, n)
    found = solve(model, tasks, targets, q0, select=select, threads=1)
    shuffled = np.random.default_rng(5).permutation(n)
    monkeypatch.setattr(batching, "_CHUNK", 23)
    again = solve(model, tasks, some(targets, shuffled), q0[shuffled], select=select, threads=3)
    for name in ("q", "success", "position_errors", "rotation_errors", "iterations", "restarts", "distance", "cost"):
        assert np.array_equal(getattr(found, name)[shuffled], getattr(again, name), equal_nan=True), name
    alone = solve(model, tasks, some(targets, np.array([7])), q0[7], select=select)
    assert np.array_equal(alone.q[0], found.q[7])


@pytest.mark.parametrize("case", CASES)
def test_what_is_solved_is_solved_and_within_limits(case) -> None:
    model, tasks = CASES[case]()
    targets, q0 = given(model, tasks, 500)
    found = solve(model, tasks, targets, q0)
    assert found.success.mean() > 0.99
    assert model.within_limits(found.q)
    goals = found.goals.reshape(len(found), len(tasks), 7)
    for k, task in enumerate(tasks):
        left = task.judged(model, goals[:, k], found.q)[found.success]
        assert (left <= 1e-6 * (1.0 + 1e-6)).all()
        stated = np.nan_to_num(np.stack([found.position_errors[:, k], found.rotation_errors[:, k]], axis=1))
        # Whole turns are rounded, and so are two ways through forward kinematics.
        assert np.allclose(np.sort(left, axis=1)[:, -1], stated[found.success].max(axis=1), atol=1e-13)


def test_it_equals_the_loop_where_both_find_the_same_branch(panda, problems) -> None:
    targets, q0 = problems[0][:500], problems[1][:500]
    solver = pz.Solver(panda, POSE)
    found = solver.batch(targets, q0)
    same = 0
    for i, (target, start) in enumerate(zip(targets.array, q0, strict=True)):
        single = solver(pose_of(target), start)
        assert single.success == found.success[i]
        # A redundant arm has a line of solutions in each branch, so only a start next to it leads to the same.
        same += int(np.abs(single.q - found.q[i]).max() < 1e-4)
    assert same > 50
    q = panda.sample(500, seed=9)
    near = np.clip(q + np.random.default_rng(1).uniform(-0.02, 0.02, q.shape), panda.lower, panda.upper)
    close = panda.pose("panda_hand", q)
    many = solver.batch(close, near)
    loop = np.array([solver(pose_of(target), start).q for target, start in zip(close.array, near, strict=True)])
    assert (np.abs(many.q - loop).max(axis=1) < 1e-3).mean() > 0.97


def away(model: pz.Model, q: np.ndarray, target: np.ndarray) -> float:
    """How far the hand is from its target [m]."""
    return float(np.linalg.norm(fk(model, "panda_hand", q)[:3, 3] - target[:3]))


def test_near_starts_lead_to_near_answers(panda) -> None:
    q = panda.sample(2000, seed=6)
    q0 = np.clip(q + np.random.default_rng(7).uniform(-0.3, 0.3, q.shape), panda.lower, panda.upper)
    targets = panda.pose("panda_hand", q)
    found = pz.solve_batch(panda, POSE, targets, q0=q0)
    # The configuration that made the target is an answer; few are farther than half as far again.
    assert (found.distance < 1.5 * np.linalg.norm(q - q0, axis=1) + 0.05).mean() > 0.93
    assert np.allclose(found.distance, np.linalg.norm(found.q - q0, axis=1), atol=1e-9)


@pytest.mark.parametrize("best_effort", [True, False])
@pytest.mark.parametrize("robot", ["panda", "iiwa14"])
def test_a_start_beside_a_solution_is_not_left_for_one_that_is_far(robot: str, best_effort: bool) -> None:
    arm = pz.load(robot)
    q = arm.sample(5000, seed=5)
    way = np.random.default_rng(5).standard_normal(q.shape)
    q0 = arm.clip(q + 0.05 * way / np.linalg.norm(way, axis=1, keepdims=True))
    found = pz.solve_batch(arm, pz.PoseTask(arm.tip), arm.pose(arm.tip, q), q0=q0, best_effort=best_effort)
    assert found.success.all()
    assert found.distance.max() < 0.5
    assert np.allclose(found.distance, np.linalg.norm(found.q - q0, axis=1), atol=1e-9)
    first = np.argsort(-found.distance)[:8]  # alone as among the others
    again = pz.solve_batch(
        arm, pz.PoseTask(arm.tip), arm.pose(arm.tip, q[first]), q0=q0[first], best_effort=best_effort
    )
    assert np.array_equal(again.q, found.q[first])


def test_rows_that_are_no_numbers_are_reported_and_the_others_solved(panda, problems) -> None:
    targets, q0 = problems[0].array[:100].copy(), problems[1][:100].copy()
    targets[3, 0], targets[10, 3:] = np.nan, 0.0
    q0[20, 4] = np.inf
    found = pz.solve_batch(panda, POSE, targets, q0=q0)
    bad = np.isin(np.arange(100), [3, 10, 20])
    assert found.success[~bad].all()
    assert not found.success[bad].any()
    assert set(found.status[bad]) == {pz.Status.BAD_INPUT}
    assert np.isfinite(found.q[bad]).all()
    assert np.isnan(found.position_errors[[3, 10]]).all()
    np.testing.assert_allclose(found.position_errors[20, 0], away(panda, found.q[20], targets[20]), atol=1e-12)
    assert found[20].position_error == found.position_errors[20, 0]
    assert found.counts == Counter({pz.Status.CONVERGED: 97, pz.Status.BAD_INPUT: 3})
    assert "rows 3, 10, 20" in found.explain()
    assert "nan" in found[3].explain()
    assert "quaternion" in found[10].explain()
    assert "q0" in found[20].explain()
    clean = np.flatnonzero(~bad)
    without = pz.solve_batch(panda, POSE, targets[clean], q0=q0[clean])
    assert np.array_equal(without.q, found.q[clean])


def test_matrices_serve_and_one_that_is_no_pose_is_a_bad_row(panda, problems) -> None:
    matrices = problems[0][:20].matrix().copy()
    whole = pz.solve_batch(panda, POSE, matrices)
    assert whole.success.all()
    matrices[4, :3, :3] *= 2.0
    found = pz.solve_batch(panda, POSE, matrices)
    assert found.status[4] is pz.Status.BAD_INPUT
    assert np.array_equal(np.delete(found.q, 4, axis=0), np.delete(whole.q, 4, axis=0))
    matrices[4] = problems[0][4].matrix()
    matrices[4, 3, 3] += 1e-12  # a pose, to rounding
    found = pz.solve_batch(panda, POSE, matrices)
    assert found.success.all()
    assert np.array_equal(np.delete(found.q, 4, axis=0), np.delete(whole.q, 4, axis=0))


def test_targets_out_of_reach_get_the_closest_and_a_reason(panda, problems) -> None:
    targets = problems[0].array[:40].copy()
    targets[5, :3] = [3.0, 0.0, 0.0]
    found = pz.solve_batch(panda, POSE, targets)
    assert found.status[5] is pz.Status.UNREACHABLE
    assert found.success.sum() == 39
    single = pz.Solver(panda, POSE)(pz.SE3(targets[5]))
    assert np.array_equal(found.q[5], single.q)
    assert "beyond" in found[5].explain()


def test_an_empty_batch_and_a_batch_of_one(panda, problems) -> None:
    empty = pz.solve_batch(panda, POSE, np.zeros((0, 7)))
    assert len(empty) == 0
    assert empty.q.shape == (0, 7)
    assert empty.explain() == ""
    one = pz.solve_batch(panda, POSE, problems[0][:1])
    assert one.success.tolist() == [True]
    assert one[0].success


def test_arrays_may_lie_in_memory_as_they_like_and_stay_as_they_are(panda, problems) -> None:
    targets, q0 = problems[0][:9], problems[1][:9]
    rows = targets.array.copy()
    solver = pz.Solver(panda, POSE)
    expected = solver.batch(rows, q0)
    for count in (1, 9):
        some = slice(count)
        for turned in (np.asfortranarray, lambda x: np.repeat(x, 2, axis=1)[:, ::2], lambda x: x[::-1].copy()[::-1]):
            given = turned(rows[some]), turned(q0[some])
            for array in given:
                array.flags.writeable = False
            before = [array.copy() for array in given]
            found = solver.batch(*given)
            assert np.array_equal(found.q, expected.q[some])
            assert np.array_equal(found.goals, expected.goals[some])
            assert not any(np.shares_memory(array, found.goals) for array in given)
            assert all(map(np.array_equal, given, before))


def test_an_index_gives_a_solution_and_a_slice_a_batch(panda, problems) -> None:
    found = pz.solve_batch(panda, POSE, problems[0][:50], q0=problems[1][:50])
    single = found[-1]
    assert isinstance(single, pz.Solution)
    assert np.array_equal(single.q, found.q[49])
    assert single.status is pz.Status.CONVERGED
    assert single.errors[0].position == pytest.approx(found.position_errors[49, 0], rel=1e-12)
    assert "within" in single.explain()
    assert single.origin == "q0" or single.origin.startswith("stored or random start")
    part = found[10:20]
    assert isinstance(part, pz.results.SolutionBatch)
    assert np.array_equal(part.q, found.q[10:20])
    chosen = found[~found.success | (found.iterations > 3)]
    assert len(chosen) == int((~found.success | (found.iterations > 3)).sum())
    assert [s.iterations for s in found] == found.iterations.tolist()
    with pytest.raises(IndexError):
        found[50]


def test_postures_methods_priorities_and_a_limit_of_time_serve_too(panda, problems) -> None:
    targets = problems[0][:24]
    posture = pz.PostureTask(panda.home)
    near = pz.solve_batch(panda, [POSE, posture], [targets, None])
    away = pz.solve_batch(panda, POSE, targets)
    home = np.array(panda.home)
    assert np.linalg.norm(near.q - home, axis=1).mean() < np.linalg.norm(away.q - home, axis=1).mean()
    rest = panda.sample(24, seed=8)
    each = pz.solve_batch(panda, [POSE, posture], [targets, rest])
    single = pz.Solver(panda, [POSE, posture])([targets[5], rest[5]])
    assert np.array_equal(each.q[5], single.q)
    found = pz.solve_batch(panda, POSE, targets, threads=2, method="dls")
    loop = pz.Solver(panda, POSE, method="dls")
    assert [s.q.tolist() for s in found] == [loop(pose_of(t)).q.tolist() for t in targets.array]
    timed = pz.solve_batch(panda, POSE, targets, threads=2, max_time=60.0)
    np.testing.assert_array_equal(timed.q, away.q)
    levels = [pz.PositionTask("panda_hand"), pz.AxisTask("panda_hand", axis=(0, 0, 1), target=(0, 0, -1), priority=1)]
    assert pz.solve_batch(panda, levels, [targets.xyz, None]).success.mean() > 0.5


def test_without_restarts_there_is_no_start_but_q0(panda, problems) -> None:
    found = pz.solve_batch(panda, POSE, problems[0][:200], q0=problems[1][:200], max_restarts=0)
    assert (found.restarts == 0).all()
    assert (found.start == 0).all()
    assert 0.1 < found.success.mean() < 0.9


def test_without_limits_joints_may_leave_them(panda, problems) -> None:
    found = pz.solve_batch(panda, POSE, problems[0], q0=problems[1], limits=False)
    assert found.success.all()
    assert not panda.within_limits(found.q)


@pytest.mark.parametrize(
    ("targets", "q0", "code", "words"),
    [
        (np.zeros((3, 6)), None, "wrong-shape", "shape (3, 6)"),
        (np.zeros(7), None, "wrong-shape", "n poses"),
        (None, None, "no-target", "no target"),
        (np.zeros((3, 7)), np.zeros((2, 7)), "wrong-shape", "2 rows for 3 targets"),
        (np.zeros((3, 7)), np.zeros(6), "wrong-shape", "(7,)"),
        (np.zeros((3, 7)), "home", "wrong-shape", "q0"),
        ("here", None, "wrong-shape", "numbers"),
    ],
)
def test_what_has_the_wrong_shape_is_refused(panda, targets, q0, code: str, words: str) -> None:
    with refused(code, words):
        pz.solve_batch(panda, POSE, targets, q0=q0)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_a_posture_that_is_none_spoils_its_own_row_alone(panda, value) -> None:
    tasks = [pz.PostureTask(), pz.PositionTask("panda_hand")]
    postures, points = panda.sample(4, seed=1), panda.pose("panda_hand", panda.sample(4, seed=2)).xyz
    sound = pz.solve_batch(panda, tasks, [postures, points])
    spoilt = postures.copy()
    spoilt[2, 3] = value
    found = pz.solve_batch(panda, tasks, [spoilt, points])
    assert (found.q[[0, 1, 3]] == sound.q[[0, 1, 3]]).all()
    assert found.status[2] is pz.Status.BAD_INPUT
    assert f"target[0][3]{', ' if value == 1e200 else ''}" in found[2].explain()
    assert np.isfinite(found.q[2]).all()
    branches = pz.BranchSolver(panda, tasks, samples=1).batch([spoilt, points])
    assert list(branches.valid) == [True, True, False, True]
    assert "(row 2): target[0][3]" in branches.explain()


def test_a_zero_quaternion_in_a_posture_spoils_its_own_row_alone() -> None:
    builder = pz.ModelBuilder("brick")
    builder.link("body")
    brick = builder.build(base="floating")
    postures = brick.sample(3, seed=0)
    sound = pz.solve_batch(brick, pz.PostureTask(), postures)
    postures[1, 3:] = 0.0
    found = pz.solve_batch(brick, pz.PostureTask(), postures)
    assert list(found.success) == [True, False, True]
    assert (found.q[::2] == sound.q[::2]).all()
    assert "target[3:7] is a zero quaternion" in found[1].explain()


def test_the_row_says_which_of_several_targets_is_none(panda) -> None:
    tasks = [pz.PostureTask(), pz.PoseTask("panda_hand"), pz.PositionTask("panda_link4")]
    poses = np.tile([0.4, 0.1, 0.5, 0.0, 0.0, 0.0, 0.0], (2, 1))
    found = pz.solve_batch(panda, tasks, [panda.home, poses, np.full((2, 3), 0.3)])
    assert set(found.status) == {pz.Status.BAD_INPUT}
    assert "target[1] of PoseTask('panda_hand') has a zero quaternion" in found[0].explain()


def test_other_arguments_are_refused(panda, problems) -> None:
    two = [pz.PositionTask("panda_hand"), pz.AxisTask("panda_hand", axis=(0, 0, 1))]
    with pytest.raises(pz.ShapeError, match="list of 2"):
        pz.solve_batch(panda, two, problems[0].xyz)
    with refused("wrong-shape"):
        pz.solve_batch(panda, two, [problems[0].xyz, problems[0].xyz[:5]])
    for threads in (0, 1.5, True):
        with pytest.raises(ValueError, match="threads"):
            pz.solve_batch(panda, POSE, problems[0], threads=threads)


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals go to the main thread")
@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_returns_what_is_done(panda, problems, threads, monkeypatch) -> None:
    expected = pz.solve_batch(panda, POSE, problems[0]).q
    pieces = iter(range(100))
    solve_in_lanes = batching.Batch._solve_in_lanes

    def interrupted(self, scratch, piece):
        if next(pieces) == 5:
            signal.raise_signal(signal.SIGINT)
        time.sleep(0.02)
        return solve_in_lanes(self, scratch, piece)

    monkeypatch.setattr(batching, "_CHUNK", 100)
    monkeypatch.setattr(batching.Batch, "_solve_in_lanes", interrupted)
    with pytest.warns(RuntimeWarning, match="stopped by Ctrl-C"):
        found = pz.solve_batch(panda, POSE, problems[0], threads=threads)
    assert found.interrupted
    done = found.success
    assert 500 <= done.sum() < 3000
    assert np.array_equal(found.q[done], expected[done])
    assert np.isfinite(found.q[~done]).all()
    first = int(np.flatnonzero(~done)[0])
    assert found[first].status is pz.Status.INTERRUPTED
    assert "stopped" in found.explain()
    assert found[first].position_error == pytest.approx(
        away(panda, found.q[first], problems[0].array[first]), abs=1e-12
    )
    assert np.isfinite(found.position_errors).all()
    assert np.isfinite(found.rotation_errors).all()


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals go to the main thread")
@pytest.mark.usefixtures("ctrl_c")
def test_what_ctrl_c_left_says_how_far_it_is_from_each_target(panda, monkeypatch) -> None:
    def interrupted(self, scratch, k):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(batching.Batch, "_solve", interrupted)
    tasks = [pz.PositionTask("panda_hand"), pz.AxisTask("panda_hand"), pz.PostureTask()]
    posture = panda.home + 0.1
    targets = [[[0.4, 0.1, 0.5], [0.4, np.nan, 0.5]], [[0.0, 0.0, -1.0], [0.0, 0.0, 0.0]], posture]
    with pytest.warns(RuntimeWarning, match="stopped by Ctrl-C"):
        found = pz.solve_batch(panda, tasks, targets, threads=1)
    assert set(found.status) == {pz.Status.INTERRUPTED}
    position, axis, at_posture = found[0].errors
    pose = fk(panda, "panda_hand", found.q[0])
    assert position.position == pytest.approx(np.linalg.norm(pose[:3, 3] - [0.4, 0.1, 0.5]), abs=1e-12)
    assert axis.rotation == pytest.approx(np.arccos(-pose[2, 2]), abs=1e-7)
    assert at_posture.posture == pytest.approx(0.1)
    # What is no target leaves nothing that could be told, as if it had been looked at.
    assert np.isnan([found[1].errors[0].position, found[1].errors[1].rotation]).all()


def test_the_status_is_found_once_and_nobody_changes_it(panda, problems) -> None:
    targets = problems[0].array[:20].copy()
    targets[5, :3] = [3.0, 0.0, 0.0]
    found = pz.solve_batch(panda, POSE, targets)
    status = found.status
    assert found.status is status
    assert status[5] is pz.Status.UNREACHABLE
    assert not status.flags.writeable
    assert list(found[4:7].status) == list(status[4:7])


def test_any_number_of_threads_may_call_at_once(panda, problems) -> None:
    solver = pz.Solver(panda, POSE)
    expected = solver.batch(problems[0], problems[1]).q
    found = [None] * 4

    def work(i: int) -> None:
        found[i] = solver.batch(problems[0], problems[1], threads=2).q

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(q, expected) for q in found)


def test_a_solver_that_was_sent_gives_the_same(panda, problems) -> None:
    solver = pz.Solver(panda, POSE, seed=3)
    expected = solver.batch(problems[0][:200]).q
    assert np.array_equal(pickle.loads(pickle.dumps(solver)).batch(problems[0][:200]).q, expected)
    assert np.array_equal(pz.solve_batch(panda, POSE, problems[0][:200], seed=3).q, expected)


def test_a_bar_is_shown_where_it_is_asked_for(panda, problems, capsys) -> None:
    with_bar = pz.solve_batch(panda, POSE, problems[0], progress=True)
    assert "solving" in capsys.readouterr().err
    assert np.array_equal(with_bar.q, pz.solve_batch(panda, POSE, problems[0]).q)
    assert capsys.readouterr().err == ""


def test_what_is_not_found_soon_may_be_given_up(panda, problems) -> None:
    targets = problems[0].array[:200].copy()
    targets[::10, :3] = [3.0, 0.0, 0.0]
    found = pz.solve_batch(panda, POSE, targets, best_effort=False)
    assert set(found.status[::10]) == {pz.Status.BUDGET}
    assert panda.within_limits(found.q)
    assert (found.position_errors[::10, 0] > 1.0).all()
    np.testing.assert_allclose(
        found.position_errors[:, 0], np.linalg.norm(panda.pose("panda_hand", found.q).xyz - targets[:, :3], axis=1),
        atol=1e-9,
    )  # fmt: skip
    assert np.delete(found.success, slice(None, None, 10)).all()
    assert "spent before anything converged" in found[0].explain()
    whole = pz.solve_batch(panda, POSE, targets)
    assert np.array_equal(whole.success, found.success)
    soon = whole.success & (found.restarts <= 24)
    assert np.array_equal(whole.q[soon], found.q[soon])
    with pytest.raises(TypeError, match="best_effort"):
        pz.solve_batch(panda, POSE, targets, best_effort=1)


def test_an_error_in_a_thread_is_raised(panda, problems, monkeypatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(batching, "_CHUNK", 100)
    monkeypatch.setattr(batching.Batch, "_solve_in_lanes", fails)
    with pytest.raises(MemoryError, match="no room"):
        pz.solve_batch(panda, POSE, problems[0], threads=2)


def test_one_target_in_two_forms_is_one_target() -> None:
    arm = pz.load("ur5e")
    numbers = arm.pose("tool0", arm.sample(200, seed=1)).array * np.repeat([1.0, -1.0], (3, 4))
    task = pz.PoseTask("tool0")
    expected = pz.solve_batch(arm, task, pz.SE3(numbers)).q
    assert np.array_equal(pz.solve_batch(arm, task, numbers).q, expected)
    solver = pz.Solver(arm, task)
    assert all(np.array_equal(solver(row).q, q) for row, q in zip(numbers, expected, strict=True))


@pytest.mark.parametrize("index", [None, True, (0, 1)])
def test_what_is_no_index_is_refused(panda, problems, index) -> None:
    with refused("wrong-type"):
        pz.solve_batch(panda, POSE, problems[0][:3])[index]


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals go to the main thread")
@pytest.mark.usefixtures("ctrl_c")
def test_a_second_ctrl_c_leaves_no_half_of_a_batch(panda, problems, monkeypatch) -> None:
    solve_in_lanes = batching.Batch._solve_in_lanes
    pieces = iter(range(1000))

    def twice(self, scratch, piece):
        number = next(pieces)
        if number == 5:
            signal.raise_signal(signal.SIGINT)
        time.sleep(0.03)
        if number in (6, 7):
            signal.raise_signal(signal.SIGINT)
        time.sleep(0.03)
        return solve_in_lanes(self, scratch, piece)

    monkeypatch.setattr(batching, "_CHUNK", 50)
    monkeypatch.setattr(batching.Batch, "_solve_in_lanes", twice)
    with pytest.warns(RuntimeWarning, match="stopped by Ctrl-C"):
        found = pz.solve_batch(panda, POSE, problems[0], threads=2)
    time.sleep(0.2)
    assert set(found.status[~found.success]) == {pz.Status.INTERRUPTED}
    assert panda.within_limits(found.q)
    np.testing.assert_array_equal(found.q[~found.success], np.broadcast_to(panda.home, found.q[~found.success].shape))


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals go to the main thread")
@pytest.mark.usefixtures("ctrl_c")
def test_what_a_start_came_to_is_no_answer_where_ctrl_c_broke_off_its_search(panda, problems, monkeypatch) -> None:
    solve_in_lanes = batching.Batch._solve_in_lanes

    def stopped(self, scratch, piece):
        left = solve_in_lanes(self, scratch, piece)
        signal.raise_signal(signal.SIGINT)
        while not self._queue.stopped:
            time.sleep(0.001)
        return left

    monkeypatch.setattr(batching.Batch, "_solve_in_lanes", stopped)
    far = pz.SE3.from_parts(np.full((3, 3), 9.0))
    with pytest.warns(RuntimeWarning, match="stopped by Ctrl-C"):
        found = pz.solve_batch(panda, POSE, far, threads=2)
    assert set(found.status) == {pz.Status.INTERRUPTED}
    np.testing.assert_array_equal(found.q, np.broadcast_to(panda.home, found.q.shape))
    assert not found.iterations.any()


def test_one_stored_start_leads_where_a_random_one_does_not(panda, problems) -> None:
    targets, random = problems
    stored = pz.solve_batch(panda, POSE, targets, max_restarts=1, best_effort=False)
    drawn = pz.solve_batch(panda, POSE, targets, q0=random, max_restarts=0, best_effort=False)
    assert (stored.start[stored.success] == 1).all()
    assert stored.success.mean() > 0.65 > 0.6 > drawn.success.mean()
    assert stored.iterations[stored.success].mean() < 5.5 < 6.5 < drawn.iterations[drawn.success].mean()


def test_stored_starts_are_seen_from_a_free_root() -> None:
    g1 = pz.load("g1", base="floating")
    hand = pz.PoseTask("left_rubber_hand")
    far = np.array([50.0, -20.0, 3.0, 0.5, 0.5, -0.5, 0.5])
    there, q0 = g1.sample(400, seed=1), g1.sample(400, seed=2)
    there[:, :7] = q0[:, :7] = far
    found = pz.solve_batch(g1, hand, g1.pose("left_rubber_hand", there), q0=q0, select="first", max_restarts=1)
    assert found.success.all()
    assert np.linalg.norm(found.q[:, :3] - far[:3], axis=1).max() < 2.0


def test_a_task_has_its_own_target_whatever_was_solved_before(panda: pz.Model) -> None:
    for place in ([0.4, 0.1, 0.5], [0.3, -0.2, 0.4]):
        many = pz.solve_batch(panda, pz.PositionTask("panda_hand", place))
        np.testing.assert_allclose(panda.pose("panda_hand", many.q).xyz, [place], atol=1e-6)


def test_a_posture_may_be_the_tasks_own_or_one_for_all_or_one_a_row(panda: pz.Model) -> None:
    places = np.array([[0.4, 0.1, 0.5], [0.3, -0.2, 0.4]])
    for posture in (panda.home, panda.sample(seed=3)):
        one = [pz.solve(panda, [pz.PositionTask("panda_hand", place), pz.PostureTask(posture)]).q for place in places]
        own = [pz.PositionTask("panda_hand"), pz.PostureTask(posture)]
        other = [pz.PositionTask("panda_hand"), pz.PostureTask()]
        for tasks, given in ((own, None), (other, posture), (other, np.tile(posture, (2, 1)))):
            np.testing.assert_array_equal(pz.solve_batch(panda, tasks, [places, given]).q, one)


def test_what_was_given_up_says_how_to_learn_more_and_what_a_length_proves(panda: pz.Model) -> None:
    near, far = pz.solve_batch(panda, POSE, pz.SE3.from_parts([[0.0, 0.0, 0.333], [2.0, 0.0, 0.5]]), best_effort=False)
    assert near.status is far.status is pz.Status.BUDGET
    assert "beyond the longest reach" in far.explain()
    assert "beyond the longest reach" not in near.explain()
    for one in (near, far):
        assert one.explain().endswith("With best_effort=True it is searched for, and what stands in the way is said.")


def test_matrices_of_rounded_decimals_are_told_what_they_lack(panda: pz.Model) -> None:
    there = panda.pose("panda_hand", panda.sample(4, seed=5))
    rounded = there.matrix().round(4)
    many = pz.solve_batch(panda, POSE, rounded)
    assert set(many.status) == {pz.Status.BAD_INPUT}
    assert "a matrix holds no rotation to 1e-6; SE3.from_matrix(..., orthonormalise=True)" in many[0].explain()
    nearest = pz.SE3.from_matrix(rounded, orthonormalise=True)
    assert there.isclose(nearest, atol=2e-4).all()
    assert pz.solve_batch(panda, POSE, nearest).success.all()
