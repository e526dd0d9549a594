"""What can be misread: taken where it has one meaning, refused or asked about where it has not."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.refusals import refused

import poise as pz

Array = npt.NDArray[np.float64]
HAND = "panda_hand"
ARM = pz.load("panda")
PLACE = np.array([0.4, 0.1, 0.5])
POSE = pz.SE3.from_xyz_rpy(PLACE, [3.14159, 0, 0])
FIVE = ARM.pose(HAND, ARM.sample(5, seed=1))
DEGREES = np.degrees(ARM.postures["ready"])
RESTING = pz.methods.DampedLeastSquares(null_space=pz.criteria.RestPosture(q=DEGREES))


def chain(joints: int, *, limits: tuple[float, float] = (-2.0, 2.0)) -> pz.Model:
    """Joints in a row whose axes are not in a plane."""
    b, parent = pz.ModelBuilder(f"chain{joints}"), "base"
    for i in range(joints):
        origin = pz.SE3.from_xyz_rpy([0.2, 0, 0], [0.7 * i, 0.4, 0])
        b.joint(f"j{i}", "revolute", parent=parent, child=f"l{i}", origin=origin, limits=limits)
        parent = f"l{i}"
    b.frame("tip", link=parent, origin=pz.SE3.from_parts([0.1, 0, 0.05]))
    return b.build()


# One task and its target -----------------------------------------------------------------------------------------

ONE: list[tuple[pz.Task, list[Any]]] = [
    (pz.PoseTask(HAND), [POSE, POSE.array, POSE.matrix(), POSE.array.tolist(), POSE.matrix().tolist()]),
    (pz.PositionTask(HAND), [PLACE, PLACE.tolist(), tuple(PLACE.tolist()), PLACE.astype(np.float32).astype(float)]),
    (pz.OrientationTask(HAND), [POSE.rotation]),
    (pz.AxisTask(HAND), [[0, 0, -1], np.array([0.0, 0, -1])]),
]


@pytest.mark.parametrize(("task", "target"), [(task, target) for task, targets in ONE for target in targets])
@pytest.mark.parametrize("listed", [False, True])
def test_one_task_takes_its_target_bare_or_in_a_list(task: pz.Task, target: Any, listed: bool) -> None:
    asked: Any = [task] if listed else task
    solver, tracker = pz.Solver(ARM, asked), pz.Tracker(ARM, asked)
    wanted, led = solver(target).q, tracker.step(ARM.home, target).copy()
    for one in ([target], (target,)):
        np.testing.assert_array_equal(solver(one).q, wanted)
        tracker.reset()
        np.testing.assert_array_equal(tracker.step(ARM.home, one), led)
        tracker.reset()
        tracker.aim(one)
        np.testing.assert_array_equal(tracker.step(ARM.home), led)
    assert pz.compare(ARM, asked, [[target], target], methods=["lm"], q0=ARM.home)["lm"].success == 1.0


def test_an_array_of_one_row_is_one_target() -> None:
    position, pose = pz.Solver(ARM, [pz.PositionTask(HAND)]), pz.Solver(ARM, [pz.PoseTask(HAND)])
    np.testing.assert_array_equal(position(PLACE[None]).q, position(PLACE).q)
    np.testing.assert_array_equal(pose(POSE.array[None]).q, pose(POSE).q)
    np.testing.assert_array_equal(pose(POSE.matrix()[None]).q, pose(POSE).q)


def test_a_posture_is_no_list_of_targets_and_may_be_in_one() -> None:
    solver = pz.Solver(ARM, [pz.PostureTask()])
    q = ARM.sample(seed=1)
    for target in (q, q.tolist(), [q], [q.tolist()]):
        np.testing.assert_allclose(solver(target).q, q, atol=1e-12)
    slide = pz.ModelBuilder("slide")
    slide.joint("slide", "prismatic", parent="base", child="car", limits=(-1, 1))
    assert pz.Solver(slide.build(), pz.PostureTask())([0.3]).q == [0.3]


@pytest.mark.parametrize(
    ("task", "targets", "count"),
    [
        (pz.PoseTask(HAND), FIVE, 5),
        (pz.PoseTask(HAND), FIVE.array, 5),
        (pz.PoseTask(HAND), FIVE.array[:4], 4),
        (pz.PoseTask(HAND), FIVE.matrix(), 5),
        (pz.PoseTask(HAND), [FIVE[i] for i in range(5)], 5),
        (pz.PoseTask(HAND), FIVE[:1], 1),
        (pz.PositionTask(HAND), FIVE.xyz, 5),
        (pz.PositionTask(HAND), FIVE.xyz[:1].tolist(), 1),
        (pz.OrientationTask(HAND), FIVE.rotation, 5),
        (pz.AxisTask(HAND), [[0, 0, 1.0], [1.0, 0, 0]], 2),
    ],
)
def test_a_batch_of_one_task_takes_its_rows_bare_or_in_a_list(task: pz.Task, targets: Any, count: int) -> None:
    wanted = pz.solve_batch(ARM, task, targets)
    assert len(wanted) == count
    found = pz.solve_batch(ARM, [task], [targets])
    np.testing.assert_array_equal(found.q, wanted.q)
    np.testing.assert_array_equal(pz.Solver(ARM, [task]).batch((targets,)).q, wanted.q)


@pytest.mark.parametrize("one", [POSE, POSE.array, POSE.matrix()])
def test_a_list_of_one_pose_is_a_batch_of_one(one: Any) -> None:
    np.testing.assert_array_equal(pz.solve_batch(ARM, pz.PoseTask(HAND), [one]).goals, [POSE.array])


def test_branches_and_paths_take_a_list_of_one_too() -> None:
    task = pz.PoseTask(HAND)
    np.testing.assert_array_equal(pz.solve_all(ARM, [task], [POSE]).q, pz.solve_all(ARM, task, POSE).q)
    solver = pz.BranchSolver(ARM, [task])
    np.testing.assert_array_equal(solver.batch([FIVE]).q, solver.batch(FIVE).q)
    line = pz.SE3.from_parts(PLACE + np.linspace(0, 0.05, 4)[:, None] * [0, 1, 0], POSE.rotation)
    np.testing.assert_array_equal(pz.solve_path(ARM, [task], [line]).q, pz.solve_path(ARM, task, line).q)


def test_none_in_a_list_of_targets_is_the_target_of_its_task() -> None:
    own = ARM.pose(ARM.tip, ARM.sample(seed=3))
    tasks = [pz.PositionTask(ARM.tip), pz.OrientationTask(ARM.tip, own.rotation)]
    solver = pz.Solver(ARM, tasks)
    np.testing.assert_array_equal(solver([own.xyz, None]).q, solver([own.xyz, own.rotation]).q)
    with refused("no-target", "target[0]"):
        solver([None, None])


def test_several_poses_for_one_task_are_refused() -> None:
    words = r"target must be one, for there is one task, got 2: solve_batch and a rollout take many"
    with pytest.raises(pz.ShapeError, match=words):
        pz.Solver(ARM, [pz.PoseTask(HAND)])([POSE, POSE])
    with pytest.raises(pz.ShapeError, match=r"target must have shape \(3,\), got \(2, 3\)"):
        pz.Solver(ARM, [pz.PositionTask(HAND)])([PLACE, PLACE])


# The model -------------------------------------------------------------------------------------------------------

TASK = pz.PoseTask(HAND, POSE)
TAKES_A_MODEL: dict[str, Callable[[Any], Any]] = {
    "solve": lambda m: pz.solve(m, TASK),
    "Solver": lambda m: pz.Solver(m, TASK),
    "Tracker": lambda m: pz.Tracker(m, TASK),
    "solve_batch": lambda m: pz.solve_batch(m, TASK, FIVE),
    "solve_all": lambda m: pz.solve_all(m, TASK),
    "BranchSolver": lambda m: pz.BranchSolver(m, TASK),
    "solve_path": lambda m: pz.solve_path(m, TASK, FIVE),
    "plan": lambda m: pz.plan(m, TASK, FIVE),
    "compare": lambda m: pz.compare(m, TASK),
    "reach": lambda m: pz.reach(m),
    "view": lambda m: pz.view(m),
}


@pytest.mark.parametrize("call", TAKES_A_MODEL.values(), ids=TAKES_A_MODEL)
def test_a_name_or_a_file_is_to_be_loaded_first(call: Callable[[Any], Any]) -> None:
    with refused("not-a-model", "pz.load('panda')"):
        call("panda")
    with refused("not-a-model", "pz.load('arm.urdf')"):
        call(Path("arm.urdf"))
    with pytest.raises(TypeError, match="got PoseTask"):
        call(TASK)


def test_the_model_comes_before_the_tasks() -> None:
    with pytest.raises(TypeError, match="the model comes first, then the tasks"):
        pz.solve(TASK, ARM)  # type: ignore[arg-type]


# Nothing asked ---------------------------------------------------------------------------------------------------

NOTHING = pz.PoseTask(HAND, POSE, position_weight=0.0, rotation_weight=(0.0, 0.0, 0.0))


@pytest.mark.parametrize("name", ["solve", "Solver", "Tracker", "solve_batch", "solve_all", "solve_path", "compare"])
@pytest.mark.parametrize("tasks", [NOTHING, [NOTHING, pz.PositionTask(HAND, PLACE, weight=0.0)]])
def test_tasks_that_ask_for_nothing_are_not_solved(name: str, tasks: Any) -> None:
    targets = FIVE if tasks is NOTHING else [FIVE, FIVE.xyz]
    calls: dict[str, Callable[[], Any]] = {
        "solve": lambda: pz.solve(ARM, tasks),
        "Solver": lambda: pz.Solver(ARM, tasks, method="dls"),
        "Tracker": lambda: pz.Tracker(ARM, tasks),
        "solve_batch": lambda: pz.solve_batch(ARM, tasks, targets),
        "solve_all": lambda: pz.solve_all(ARM, tasks),
        "solve_path": lambda: pz.solve_path(ARM, tasks, targets),
        "compare": lambda: pz.compare(ARM, tasks, methods=["lm"]),
    }
    with pytest.raises(
        ValueError, match=r"every weight of PoseTask\('panda_hand'\).* is 0, so nothing is asked of panda"
    ):
        calls[name]()


def test_a_task_among_others_may_be_switched_off() -> None:
    both = pz.solve(ARM, [NOTHING, pz.PositionTask(HAND, PLACE)])
    assert both.success
    np.testing.assert_allclose(ARM.pose(HAND, both.q).xyz, PLACE, atol=1e-6)


# Millimetres and degrees -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "task", [pz.PositionTask(HAND, 1e3 * PLACE), pz.PoseTask(HAND, pz.SE3.from_parts(1e3 * PLACE))]
)
def test_a_target_that_would_be_in_reach_as_millimetres_is_asked_about(task: pz.Task) -> None:
    solution = pz.solve(ARM, task)
    assert solution.status is pz.Status.UNREACHABLE
    assert "is 647 m beyond the longest reach of 0.9863 m: millimetres? Lengths are in metres." in solution.explain()
    (row,) = pz.solve_batch(ARM, task)
    assert "millimetres?" in row.explain()


@pytest.mark.parametrize("place", [[2.0, 0.5, 0.5], [0.0, 0.0, 9.0], [4e4, 0.0, 0.0]])
def test_a_target_that_is_just_far_is_not(place: list[float]) -> None:
    assert "millimetres" not in pz.solve(ARM, pz.PositionTask(HAND, place)).explain()


def test_a_start_that_is_pulled_in_is_told_of() -> None:
    solver = pz.Solver(ARM, TASK)
    words = solver(None, np.zeros(7)).explain()
    assert words.startswith("Every task is within its tolerances")
    assert words.endswith(" q0 was pulled in to the limits, panda_joint4 from 0 to -0.0698.")
    words = solver(pz.SE3.from_parts([3, 0, 0]), np.zeros(7)).explain()
    assert words.startswith("Not reached")
    assert words.endswith("q0 was pulled in to the limits, panda_joint4 from 0 to -0.0698.")
    for start in (None, ARM.home, ARM.lower, ARM.upper, ARM.upper + 1e-12):
        assert "q0" not in solver(None, start).explain()
    assert "pulled in" not in pz.solve(ARM, TASK, q0=np.zeros(7), limits=False).explain()
    q0 = np.zeros(7)
    solution = solver(None, q0)
    q0[:] = ARM.home  # what is told is of the start as it was
    assert "panda_joint4 from 0 to" in solution.explain()


def test_a_start_in_degrees_is_asked_about() -> None:
    words = pz.solve(ARM, TASK, q0=DEGREES).explain()
    assert "panda_joint2 from -45 to -1.7628" in words
    assert words.endswith(" and 1 more: degrees? numpy.radians makes them radians.")
    beyond = np.where(np.arange(7) == 3, 40.0, ARM.home)  # 40 degrees would be beyond the limits too
    assert "degrees" not in pz.solve(ARM, TASK, q0=beyond).explain()


@pytest.mark.parametrize(
    ("ask", "what"),
    [
        (lambda: pz.solve(ARM, [TASK, pz.PostureTask(DEGREES)], max_restarts=0), "the target of the PostureTask"),
        (lambda: pz.solve_batch(ARM, TASK, FIVE, q0=DEGREES), "q0"),
        (lambda: pz.solve_batch(ARM, TASK, FIVE, q0=np.tile(DEGREES, (5, 1))), "q0"),
        (lambda: pz.solve_path(ARM, TASK, FIVE[:1], q0=DEGREES), "q0"),
        (lambda: pz.Tracker(ARM, TASK, RESTING), "q of the RestPosture"),
    ],
)
def test_other_configurations_in_degrees_are_asked_about(ask: Callable[[], Any], what: str) -> None:
    with pytest.warns(UserWarning, match=rf"^{what} is far beyond the limits of panda in radians: degrees\?"):
        ask()


def test_angles_by_name_in_degrees_are_asked_about_where_they_are_stated() -> None:
    words = r"panda_joint4 is far beyond its limits in radians: degrees\? numpy.radians makes them radians"
    with pytest.warns(UserWarning, match=words) as caught:
        ARM.q(panda_joint2=0.3, panda_joint4=-90.0, panda_joint6=90.0)
    assert [Path(one.filename) for one in caught] == [Path(__file__)]
    ARM.q(panda_joint4=-1.57)
    ARM.q(panda_joint1=14.0)  # two turns may be meant
    ARM.q(panda_joint1=400.0)  # and these are no degrees of it
    with pytest.raises(ValueError, match=r"'panda_joint4' at -90: .* -3.0718 to -0.0698; degrees\? numpy.radians"):
        ARM.lock(panda_joint4=-90.0)
    with pytest.raises(ValueError, match=r"cannot lock 'panda_joint4' at 1.5: its limits are -3.0718 to -0.0698$"):
        ARM.lock(panda_joint4=1.5)
    with pytest.raises(ValueError, match=r"angle is 20\.0; it must be from 0 to pi: degrees\? numpy.radians"):
        pz.ConeTask("panda_hand", axis=(0, 0, 1), target=(0, 0, -1), angle=20)


@pytest.mark.parametrize(
    "ask",
    [
        lambda q: pz.solve(ARM, [TASK, pz.PostureTask(q)], max_restarts=0),
        lambda q: pz.Tracker(ARM, [TASK, pz.PostureTask()]).step(ARM.home, [FIVE[0], q]),
        lambda q: ARM.q(panda_joint4=float(q[3])),
        lambda q: pz.SO3.from_rpy(q[:3]),
        lambda q: pz.SE3.from_xyz_rpy([0, 0, 0], q[:3]),
    ],
    ids=["posture", "followed posture", "by name", "a rotation", "a pose"],
)
def test_in_a_loop_the_question_is_asked_once(ask: Callable[[Any], Any]) -> None:
    """Python's filter folds what has one text, from one place."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for i in range(20):
            ask(DEGREES * (1.0 - 1e-3 * i))
    assert [str(one.message).partition(":")[2] for one in caught] == [" degrees? numpy.radians makes them radians"]


def test_limits_in_degrees_are_asked_about_where_they_are_stated() -> None:
    with pytest.warns(UserWarning, match=r"joint 'j0' has limits of -170 to 170 rad, .*: degrees\?") as caught:
        chain(1, limits=(-170, 170))
    assert [Path(one.filename) for one in caught] == [Path(__file__)]
    chain(1, limits=(-12.6, 12.6))
    chain(1, limits=(-1e9, 1e9))  # a file's word for none


def test_a_table_in_degrees_is_asked_about() -> None:
    with pytest.warns(
        UserWarning, match=r"DH row 2 of 'dh' holds more than a whole turn in radians: degrees\?"
    ) as caught:
        pz.from_dh([pz.DH(a=1, alpha=0, d=0), pz.DH(a=0, alpha=-90, d=0.5)])
    assert [Path(one.filename) for one in caught] == [Path(__file__)]


# Advice ----------------------------------------------------------------------------------------------------------

POINT = np.array([0.15, 0.1, 0.2])
TURN = pz.SO3.from_rpy([1, 2, 3])
DROP, AXIS, FREE, SOFT, LEAVE = (
    "drop rows with a weight of 0",
    "use a PositionTask with an AxisTask, which leaves the turn about the axis free",
    "use a PositionTask, which leaves the rotation free",
    "give the position a PositionTask and the rotation an OrientationTask with required=False",
    "leave out the task that matters least",
)
ADVICE: list[tuple[str, list[pz.Task], dict[int, list[str]]]] = [
    (
        "pose",
        [pz.PoseTask("tip", pz.SE3.from_parts(POINT, TURN))],
        {1: [DROP], 2: [DROP], 3: [DROP, FREE, SOFT], 4: [DROP, FREE, SOFT], 5: [DROP, AXIS, SOFT]},
    ),
    ("position", [pz.PositionTask("tip", POINT)], {1: [DROP], 2: [DROP]}),
    ("orientation", [pz.OrientationTask("tip", TURN)], {1: [DROP], 2: [DROP]}),
    ("axis", [pz.AxisTask("tip", target=(0, 0, 1))], {1: []}),
    ("plane", [pz.PlaneTask("tip", target=(0.1, 0, 3))], {}),
    (
        "position and axis",
        [pz.PositionTask("tip", POINT), pz.AxisTask("tip", target=(0, 0, 1))],
        {k: [DROP, LEAVE] for k in (1, 2, 3, 4)},
    ),
    (
        "two positions",
        [pz.PositionTask("tip", POINT), pz.PositionTask("l0", POINT)],
        {k: [DROP, LEAVE] for k in (1, 2, 3, 4, 5)},
    ),
    (
        "pose and position",
        [pz.PoseTask("tip", pz.SE3.from_parts(POINT, TURN)), pz.PositionTask("l0", POINT)],
        {4: [DROP, FREE, SOFT, LEAVE], 6: [DROP, AXIS, SOFT, LEAVE]},
    ),
]


def test_a_range_that_is_fulfilled_asks_for_no_joints() -> None:
    """One that is not counts, for it stands in the way."""
    arm = chain(6)
    far = pz.PoseTask("tip", pz.SE3.from_parts([50.0, 0.0, 0.0]))
    for size, counts in ((99.0, False), (1e-3, True)):
        region = pz.RegionTask("l2", pz.Box(size=[size] * 3, pose=pz.SE3.from_parts([0.0, 0.0, 30.0 * counts])))
        near = pz.DistanceTask("l3", (0.0, 90.0), target=(0.0, 0.0, 0.0))
        words = pz.solve(arm, [far, region, near], max_restarts=2).explain()
        assert ("6 joints cannot follow 9 rows" in words) == counts
        assert ("cannot follow" in words) == counts


@pytest.mark.parametrize(("tasks", "ways"), [case[1:] for case in ADVICE], ids=[case[0] for case in ADVICE])
@pytest.mark.parametrize("joints", [1, 2, 3, 4, 5, 6, 7])
def test_nobody_is_told_to_use_what_is_used_already(tasks: list[Any], ways: dict[int, list[str]], joints: int) -> None:
    model = chain(joints)
    solution = pz.solve(model, tasks, max_restarts=4)
    words = solution.explain()
    if solution.success:
        assert "cannot follow" not in words
        return
    rows = sum(task.weighted_rows for task in tasks)
    few = f"{joints} joint{'s' * (joints > 1)} cannot follow {rows} rows in general"
    assert (few in words) == (joints < rows)
    if joints in ways:
        assert (f"{few}: {', or '.join(ways[joints])}." if ways[joints] else f"{few}.") in words
    told = words.partition(few)[2]
    alone = {type(task).__name__ for task in tasks}
    if alone == {"PositionTask"}:
        assert "PositionTask" not in told.partition("At their limits")[0]


# Words of refusals -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ask", "code", "words"),
    [
        (
            lambda: pz.PositionTask(HAND, POSE),
            "wrong-shape",
            "target must be a point of shape (3,), got a pose: give its .xyz",
        ),
        (lambda: pz.OrientationTask(HAND, POSE), "wrong-shape", "target must be an SO3, got SE3; give its .rotation"),
        (lambda: pz.PoseTask(HAND, FIVE), "wrong-shape", "target"),
        (lambda: pz.PoseTask(HAND, [0.4, 0.1, 0.5, 3.1, 0, 0]), "wrong-shape", "got shape (6,);"),
        (lambda: pz.PostureTask(weight=[1, -1]), "negative", "weight[1]"),
        (
            lambda: pz.solve(ARM, pz.PoseTask(HAND)),
            "no-target",
            "PoseTask has no target; give it one, as in PoseTask(..., target=",
        ),
        (
            lambda: pz.Solver(ARM, pz.AxisTask(HAND), method="fabrik", limits=False),
            "not-supported",
            "not AxisTask('panda_hand'): choose another method, such as 'lm'",
        ),
    ],
)
def test_a_refusal_says_what_to_do(ask: Callable[[], Any], code: str, words: str) -> None:
    with refused(code, words):
        ask()


WITH_POSTURE = [pz.PoseTask(HAND), pz.PostureTask()]
RAGGED = [0.1, [0.2, 0.3], *([0.0] * (ARM.nq - 2))]


def rows() -> tuple[Any, Any]:
    """Poses (5, 7) and postures (5, nq), of which the fifth number of the third is none."""
    poses, postures = ARM.pose(HAND, ARM.sample(5, seed=1)).array.copy(), ARM.sample(5, seed=2)
    poses[2, 4] = postures[2, 4] = np.nan
    return poses, postures


def test_a_row_of_a_path_that_is_none_is_named_by_its_task_and_its_waypoint() -> None:
    bad_poses, bad_postures = rows()
    postures, poses = ARM.sample(5, seed=2), ARM.pose(HAND, ARM.sample(5, seed=1)).array
    coordinate = ARM.coordinates[4]
    for along in (pz.solve_path, pz.plan):
        with refused("not-finite", "poses[0][2][4]"):
            along(ARM, WITH_POSTURE, [bad_poses, postures])
        with pytest.raises(ValueError, match=rf"^poses\[1\]\[2\]\[4\] of the PostureTask, '{coordinate}', is nan"):
            along(ARM, WITH_POSTURE, [poses, bad_postures])


def test_a_target_of_a_rollout_that_is_none_is_named_by_its_step_and_its_character() -> None:
    bad, _ = rows()
    good = ARM.pose(HAND, ARM.sample(5, seed=1)).array
    tracker = pz.Tracker(ARM, pz.PoseTask(HAND), dt=0.01)
    with refused("not-finite", "step 2: target[4] of PoseTask("):
        tracker.rollout(ARM.home, [bad])
    many = np.stack([good] * 11 + [bad])
    with refused("not-finite", "step 2 of character 11: target[4] of PoseTask("):
        tracker.rollout(np.stack([ARM.home] * 12), [many], threads=2)


def test_one_target_too_many_beside_a_posture_is_counted() -> None:
    tracker = pz.Tracker(ARM, WITH_POSTURE, dt=0.01)
    words = "target must be 2 targets, one a task in their order, or one without that of the PostureTask, got 3"
    with pytest.raises(pz.ShapeError, match=words):
        tracker.step(ARM.home, [POSE, ARM.home, ARM.home])
    rows = "targets must be a list of 2, one a task with a row a problem, or one without that of the PostureTask, got 3"
    with pytest.raises(pz.ShapeError, match=rows):  # as two of them would be one a task
        tracker.rollout(ARM.home, [POSE, POSE, POSE])


TWO = [pz.PoseTask(HAND), pz.PositionTask("panda_link4")]


@pytest.mark.parametrize(
    ("given", "got"),
    [
        (np.array(0.5), "an array of shape ()"),
        (np.zeros(7), "an array of shape (7,)"),
        (POSE, "one pose"),
        ([POSE] * 3, "3"),
        ("here", "'here'"),
        (0.5, "0.5"),
    ],
)
def test_what_is_not_one_target_a_task_is_refused_in_the_same_words_everywhere(given: Any, got: str) -> None:
    one, rows = "target must be 2 targets, one a task in their order", "a list of 2, one a task with a row a problem"
    tracker = pz.Tracker(ARM, TWO)
    asks: list[tuple[Callable[[], Any], str]] = [
        (lambda: pz.Solver(ARM, TWO)(given), one),
        (lambda: tracker.step(ARM.home, given), one),
        (lambda: tracker.aim(given), one),
        (lambda: pz.solve_batch(ARM, TWO, given), f"targets must be {rows}"),
        (lambda: pz.solve_path(ARM, TWO, given), f"poses must be {rows}"),
    ]
    if isinstance(given, list):  # an array is one of all steps
        asks.append((lambda: tracker.rollout(ARM.home, given), f"targets must be {rows}"))
    for ask, words in asks:
        with refused("wrong-shape", f"{words}, got {got}"):
            ask()


def test_a_wrong_shape_is_said_of_the_argument_that_it_is_of() -> None:
    with refused("wrong-shape", "poses of PoseTask('panda_hand') must be n poses"):
        pz.solve_path(ARM, pz.PoseTask(HAND), POSE)
    with refused("wrong-shape", "target must have shape (3,), got (7,)"):  # and not of a target[0], which nobody gave
        pz.Tracker(ARM, [pz.PositionTask(HAND), pz.PostureTask()]).step(ARM.home, ARM.home)


def test_two_poses_in_an_array_are_no_pose_and_posture() -> None:
    tracker = pz.Tracker(ARM, WITH_POSTURE)  # of nq = 7
    with refused("wrong-shape", "target must be one pose, got a batch of (2,)"):
        tracker.step(ARM.home, np.tile(POSE.array, (2, 1)))


@pytest.mark.parametrize(
    "ask",
    [
        lambda: pz.PostureTask(RAGGED),
        lambda: pz.Solver(ARM, WITH_POSTURE)([POSE, RAGGED]),
        lambda: pz.Tracker(ARM, WITH_POSTURE).step(ARM.home, [POSE, RAGGED]),
        lambda: pz.Tracker(ARM, WITH_POSTURE).rollout(ARM.home, [POSE.array[None], [ARM.home, RAGGED]]),
        lambda: pz.solve(ARM, pz.PoseTask(HAND, target=POSE), q0=RAGGED),
        lambda: pz.Tracker(ARM, pz.PoseTask(HAND)).step(RAGGED, POSE),
        lambda: pz.solve_path(ARM, pz.PoseTask(HAND), POSE.array[None], start=RAGGED),
        lambda: pz.solve_batch(ARM, pz.PoseTask(HAND), POSE.array[None], q0=[RAGGED]),
    ],
)
def test_lists_of_different_lengths_are_no_numbers(ask: Callable[[], Any]) -> None:
    with pytest.raises(pz.ShapeError, match=r"^(target|targets|q|q0|start)\b.* must .*numbers.*, got \[") as told:
        ask()
    assert "inhomogeneous" not in str(told.value)


@pytest.mark.parametrize(
    "ask",
    [
        lambda degrees: pz.Solver(ARM, WITH_POSTURE)([POSE, degrees]),
        lambda degrees: pz.Tracker(ARM, WITH_POSTURE).step(ARM.home, [POSE, degrees]),
        lambda degrees: setattr(pz.Tracker(ARM, WITH_POSTURE), "posture", degrees),
        lambda degrees: pz.Tracker(ARM, WITH_POSTURE).rollout(ARM.home, [POSE.array[None], degrees[None]]),
        lambda degrees: pz.solve_path(ARM, WITH_POSTURE, [POSE.array[None], degrees]),
        lambda degrees: pz.plan(ARM, WITH_POSTURE, [POSE.array[None], degrees[None]]),
        lambda degrees: pz.solve_batch(ARM, WITH_POSTURE, [POSE.array[None], degrees[None]]),
    ],
    ids=["solver", "step", "posture", "rollout", "path", "plan", "batch"],
)
def test_a_posture_in_degrees_is_asked_about_wherever_it_is_given(ask: Callable[[Any], Any]) -> None:
    with pytest.warns(UserWarning, match=r"the target of the PostureTask is .* degrees\? numpy.radians"):
        ask(DEGREES)
