"""A call that C answers gives what Python's gives, to the bit, and what C does not take is Python's."""

import ctypes
import pickle
import threading
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise.common.array import Array
from poise.kernels.fast_path import load_fast_path
from poise.model.scene import Scene

pytestmark = pytest.mark.skipif(
    load_fast_path() is None, reason="there is no library, of which the fast path is a part"
)

TURNS = [(0.3, 0.2, 0.1), (3.1, 0.0, 0.0), (0.0, 3.1, 0.0), (0.0, 0.0, -3.1), (np.pi, 0.0, 0.0)]


@pytest.fixture(scope="module")
def arm() -> pz.Model:
    return pz.load("panda")


def both(arm: pz.Model, tasks: Any, **settings: Any) -> tuple[pz.Solver, pz.Solver]:
    """A Solver whose calls C answers, and one whose calls Python does."""
    quick, plain = pz.Solver(arm, tasks, **settings), pz.Solver(arm, tasks, **settings)
    assert quick._search._line is not None
    plain._search._line = None
    return quick, plain


def taken(line: Any, *given: Any) -> bool:
    """Whether C has made the call."""
    return line.solve(*given) is not None


def same(a: pz.Solution, b: pz.Solution) -> None:
    assert a._told[4] == b._told[4]
    np.testing.assert_array_equal(a._raw, b._raw)
    np.testing.assert_array_equal(a.goal, b.goal)
    assert (a.explain(), a.status, a.origin) == (b.explain(), b.status, b.origin)
    assert a.model is b.model
    assert a.trace is None
    assert a.time > 0.0


def forms(pose: pz.SE3) -> list[Any]:
    """A target as people write it."""
    matrix, numbers = pose.matrix(), pose.array
    turned = numbers * [1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0]
    return [
        pose, matrix, numbers, [pose], (numbers,), np.asfortranarray(matrix), np.repeat(numbers, 2)[::2], turned,
        numbers.tolist(), matrix.tolist(), numbers.astype(np.float32), matrix[None], [matrix],
    ]  # fmt: skip


def test_targets_of_every_form(arm: pz.Model) -> None:
    quick, plain = both(arm, pz.PoseTask(arm.tip))
    for goal, start in arm.sample(40, seed=1).reshape(20, 2, -1):
        pose = arm.pose(arm.tip, goal)
        for target in forms(pose):
            same(quick(target, start), plain(target, start))
    for usual in (pose, pose.matrix(), pose.array, [pose]):
        assert taken(quick._search._line, arm, quick._search, usual, start)


@pytest.mark.parametrize("rpy", TURNS)
def test_matrices_of_every_turn(arm: pz.Model, rpy: tuple[float, float, float]) -> None:
    quick, plain = both(arm, pz.PoseTask(arm.tip), max_restarts=0)
    matrix = pz.SE3.from_xyz_rpy((0.4, 0.1, 0.4), rpy).matrix()
    same(quick(matrix), plain(matrix))


def test_starts_of_every_form(arm: pz.Model) -> None:
    quick, plain = both(arm, pz.PoseTask(arm.tip))
    target, start = arm.pose(arm.tip, arm.sample(seed=2)), arm.sample(seed=3)
    far = start + 10.0
    for q0 in (
        None,
        start,
        start.tolist(),
        np.repeat(start, 3)[::3],
        start.astype(np.float32),
        far,
        memoryview(bytearray(start.tobytes())).cast("d"),
    ):
        same(quick(target, q0), plain(target, q0))
    same(quick(target, start, seed=3), plain(target, start, seed=3))


def test_own_targets_and_several_tasks(arm: pz.Model) -> None:
    elbow = "panda_link4"
    q = arm.sample(seed=4)
    pose, point = arm.pose(arm.tip, q), arm.pose(elbow, q).xyz
    own, plain = both(arm, [pz.PoseTask(arm.tip, pose), pz.PositionTask(elbow, point)])
    other = arm.sample(seed=5)
    every: list[Any] = [
        None,
        [pose, point],
        (pose.matrix(), point),
        [arm.pose(arm.tip, other), arm.pose(elbow, other).xyz],
    ]
    for target in every:
        same(own(target), plain(target))
        assert taken(own._search._line, arm, own._search, target, None)
    same(own([None, point]), plain([None, point]))
    assert taken(own._search._line, arm, own._search, [None, point], None)
    single, slow = both(arm, pz.PositionTask(elbow))
    for target in (point, [point], point.tolist(), point[None]):
        same(single(target), slow(target))


ELBOW = "panda_link4"
WIDE = pz.RegionTask(ELBOW, pz.Sphere((0.0, 0.0, 0.3), 0.35))
AROUND = pz.World({"ball": pz.Sphere((0.4, 0.2, 0.4), 0.1)})
MORE: dict[str, tuple[list[pz.Task], dict[str, Any]]] = {
    "a range": ([WIDE], {}),
    "a posture": ([pz.PostureTask()], {}),
    "a posture with a tolerance": ([pz.PostureTask(tolerance=1.5)], {}),
    "a range and a posture": ([WIDE, pz.PostureTask()], {}),
    "a soft task": ([pz.PositionTask(ELBOW, (0.1, 0.1, 0.5), required=False, priority=1)], {}),
    "a sum": ([], {"limits": [pz.LinearLimit({"panda_joint1": 1.0, "panda_joint2": 1.0}, 1.0)]}),
    "shapes": ([], {"limits": [pz.CollisionLimit(AROUND, min_distance=0.02)]}),
    "time": ([], {"max_time": 60.0}),
    "a method": ([pz.PostureTask()], {"method": "dls"}),
}


@pytest.mark.parametrize("name", MORE)
def test_what_else_is_asked(arm: pz.Model, name: str) -> None:
    others, settings = MORE[name]
    model = arm.with_shapes({arm.tip: pz.Sphere((0, 0, 0), 0.05)}) if name == "shapes" else arm
    quick, plain = both(model, [pz.PositionTask(arm.tip), *others], **settings)
    done = 0
    for q, start in arm.sample(20, seed=6).reshape(10, 2, -1):
        target = [arm.pose(arm.tip, q).xyz, *(None for _ in others)]
        here, there = quick(target, start), plain(target, start)
        same(here, there)
        by_c = taken(quick._search._line, model, quick._search, target, start)
        assert by_c or quick._search.goes_on
        done += by_c
    assert done > 2


def test_time_that_is_over_ends_the_search(arm: pz.Model) -> None:
    quick, plain = both(arm, pz.PositionTask(arm.tip), max_time=1e-9)
    for solver in (quick, plain):
        found = solver((3.0, 0.0, 0.0))
        assert found.status is pz.Status.BUDGET
        assert found.budget == "time"


def test_shapes_that_moved_are_seen(arm: pz.Model) -> None:
    world = pz.World({"ball": pz.Sphere((0.0, 0.0, 3.0), 0.1)})
    model = arm.with_shapes({arm.tip: pz.Sphere((0, 0, 0), 0.05)})
    quick, _ = both(model, pz.PositionTask(arm.tip), limits=[pz.CollisionLimit(world, min_distance=0.02)])
    place = arm.pose(arm.tip, arm.home).xyz
    assert quick(place).success
    world.move("ball", pz.SE3.from_parts(place))
    assert quick(place).status is pz.Status.COLLISION
    world.move("ball", pz.SE3.from_parts(place + np.array((0.0, 0.0, 0.4))))
    assert quick(place).success


BAD: list[Any] = [
    None, "here", 3.0, np.zeros(7), np.full(7, np.nan), np.eye(3), -np.eye(4), np.diag([2.0, 1.0, 1.0, 1.0]), {}, [],
    np.array([1e300, 0, 0, 1, 0, 0, 0]), np.array([np.inf, 0, 0, 1, 0, 0, 0]), [np.eye(4), np.eye(4)], np.zeros((2, 7)),
    pz.SE3.from_parts(np.zeros((2, 3))), np.zeros(0), np.zeros((0, 4)), b"1234567",
]  # fmt: skip


@pytest.mark.parametrize("target", BAD, ids=range(len(BAD)))
def test_bad_targets_are_refused_in_the_same_words(arm: pz.Model, target: Any) -> None:
    refused_alike(*(lambda f=f: f(target) for f in both(arm, pz.PoseTask(arm.tip))))  # type: ignore[misc]


@pytest.mark.parametrize("q0", [3.0, "home", np.zeros(6), np.zeros((1, 7)), np.full(7, np.nan), np.full(7, 1e300)])
def test_bad_starts_are_refused_in_the_same_words(arm: pz.Model, q0: Any) -> None:
    pose = arm.pose(arm.tip, arm.home)
    refused_alike(*(lambda f=f: f(pose, q0) for f in both(arm, pz.PoseTask(arm.tip))))  # type: ignore[misc]


def refused_alike(quick: Callable[[], Any], plain: Callable[[], Any]) -> None:
    with pytest.raises((ValueError, TypeError)) as of_quick:
        quick()
    with pytest.raises((ValueError, TypeError)) as of_plain:
        plain()
    assert (of_quick.type, str(of_quick.value)) == (of_plain.type, str(of_plain.value))


def test_an_answer_is_the_callers_alone(arm: pz.Model) -> None:
    solver = pz.Solver(arm, pz.PoseTask(arm.tip))
    target = arm.pose(arm.tip, arm.sample(seed=6))
    first = solver(target)
    q = first.q.copy()
    second = solver(arm.pose(arm.tip, arm.sample(seed=7)))
    np.testing.assert_array_equal(first.q, q)
    second.q[:] = 0.0
    np.testing.assert_array_equal(second.q, 0.0)
    assert not first.goal.flags.writeable
    back = pickle.loads(pickle.dumps(first))
    same(back, first) if back.model is first.model else np.testing.assert_array_equal(back.q, q)


def test_solvers_travel(arm: pz.Model) -> None:
    solver = pz.Solver(arm, pz.PoseTask(arm.tip))
    target = arm.pose(arm.tip, arm.sample(seed=8))
    there = pickle.loads(pickle.dumps(solver))
    assert there._search._line is not None
    np.testing.assert_array_equal(there(target).q, solver(target).q)


def test_threads_share_a_solver(arm: pz.Model) -> None:
    solver = pz.Solver(arm, pz.PoseTask(arm.tip))
    targets = [arm.pose(arm.tip, q) for q in arm.sample(60, seed=9)]
    wanted = [solver(target).q for target in targets]
    found: list[list[Array]] = [[] for _ in range(4)]

    def work(mine: list[Array]) -> None:
        mine.extend(solver(target).q for target in targets)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for mine in found:
        np.testing.assert_array_equal(mine, wanted)


def trackers(arm: pz.Model, tasks: Any, **settings: Any) -> tuple[pz.Tracker, pz.Tracker]:
    quick, plain = pz.Tracker(arm, tasks, **settings), pz.Tracker(arm, tasks, **settings)
    assert quick._line is not None
    plain._line = None
    return quick, plain


@pytest.mark.parametrize("settings", [{}, {"dt": 0.01}, {"dt": 0.01, "limits": [pz.AccelerationLimit(8.0)]}])
def test_steps_of_a_robot_that_is_measured(arm: pz.Model, settings: dict[str, Any]) -> None:
    error = pz.FollowingErrorLimit(0.05, distance=0.03)
    quick, plain = trackers(arm, pz.PoseTask(arm.tip), following_error=error, **settings)
    there, measured = arm.pose(arm.tip, arm.sample(seed=10)), arm.home
    for k in range(60):
        seen = [measured, measured.tolist(), None, np.repeat(measured, 2)[::2]][k % 4 if k else 0]
        q, p = (one.step(None, there, measured=seen) for one in (quick, plain))
        np.testing.assert_array_equal(q, p)
        assert quick.active_limits == plain.active_limits
        measured = measured + 0.02 * (q - measured)
    assert [limit for limit in quick.active_limits if limit.kind == "following error"]
    assert quick._line.step(q, there, None, measured) is not None
    for wrong in (np.zeros(6), np.full(7, np.nan), np.full(7, 1e300), "here", 3.0):
        refused_alike(*(lambda t=t, m=wrong: t.step(q, there, measured=m) for t in (quick, plain)))  # type: ignore[misc]


@pytest.mark.parametrize("settings", [{}, {"dt": 0.01}, {"dt": 0.01, "limits": [pz.AccelerationLimit(8.0)]}])
def test_steps(arm: pz.Model, settings: dict[str, Any]) -> None:
    quick, plain = trackers(arm, pz.PoseTask(arm.tip), **settings)
    q, p = arm.home, arm.home
    out = np.empty(arm.nq)
    for k, goal in enumerate(np.linspace(arm.home, arm.sample(seed=10), 40)):
        pose = arm.pose(arm.tip, goal)
        target = forms(pose)[k % 3] if k % 7 else None
        start = None if k % 5 == 4 else q
        if k % 2:
            q = quick.step(start, target)
        else:
            q = quick.step(start, target, out=out)
            assert q is out
        p = plain.step(None if k % 5 == 4 else p, target)
        np.testing.assert_array_equal(q, p)
        np.testing.assert_array_equal(quick.velocity, plain.velocity) if "dt" in settings else None
        assert quick.explain() == plain.explain()


def test_a_step_of_several_points(arm: pz.Model) -> None:
    frames = ["panda_link4", arm.tip]
    quick, plain = trackers(arm, [pz.PositionTask(frame) for frame in frames])
    goal = arm.sample(seed=11)
    points = np.array([arm.pose(frame, goal).xyz for frame in frames])
    for target in (points, list(points), None, [None, points[1]]):
        np.testing.assert_array_equal(quick.step(arm.home, target), plain.step(arm.home, target))


def test_steps_are_refused_in_the_same_words(arm: pz.Model) -> None:
    quick, plain = trackers(arm, pz.PoseTask(arm.tip))
    pose = arm.pose(arm.tip, arm.home)
    given: list[tuple[Any, Any, Any]] = [
        (None, pose, None), (np.full(7, np.nan), pose, None), (np.zeros(3), pose, None), (arm.home, np.zeros(7), None),
        (arm.home, [pose, pose], None), (arm.home, pose, np.zeros(3)), (arm.home, pose, np.zeros(7, np.float32)),
        (arm.home, pose, list(arm.home)),
    ]  # fmt: skip
    for q, target, out in given:
        refused_alike(*(lambda t=t: t.step(q, target, out=out) for t in (quick, plain)))  # type: ignore[misc] # noqa: B023


def test_a_target_that_is_refused_in_part_changes_nothing(arm: pz.Model) -> None:
    frames = ["panda_link4", arm.tip]
    quick, _ = trackers(arm, [pz.PositionTask(frame) for frame in frames])
    before = [np.array(t) for t in quick.targets]
    with pytest.raises(ValueError, match="target"):
        quick.step(arm.home, [np.ones(3), np.ones(2)])
    for now, then in zip(quick.targets, before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_a_pose_out_of_a_table_by_columns(arm: pz.Model) -> None:
    quick, plain = both(arm, pz.PoseTask(arm.tip))
    poses = pz.SE3(np.asfortranarray(arm.pose(arm.tip, arm.sample(5, seed=12)).array))
    same(quick(poses[1]), plain(poses[1]))


def test_room_for_a_step_is_refused_in_the_same_words(arm: pz.Model) -> None:
    quick, plain = trackers(arm, pz.PoseTask(arm.tip))
    pose = arm.pose(arm.tip, arm.home)
    rooms: list[Any] = [memoryview(np.empty(7)), array("d", [0.0] * 7), np.empty((1, 7)), np.empty(())]  # type: ignore[arg-type]
    for out in rooms:
        refused_alike(*(lambda t=t: t.step(arm.home, pose, out=out) for t in (quick, plain)))  # type: ignore[misc] # noqa: B023


def test_an_interrupt_in_a_step_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    arm = pz.load("planar3").with_shapes({"link3": pz.Sphere((0.0, 0.0, 0.0), 0.05)})
    world = pz.World({"ball": pz.Sphere((0.0, 5.0, 0.0), 0.1)})
    tracker = pz.Tracker(arm, pz.PositionTask(arm.tip), limits=[pz.CollisionLimit(world)])
    assert tracker._line is not None
    point = arm.pose(arm.tip, arm.home).xyz
    q = tracker.step(arm.home, point)

    def interrupted(self: Any) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Scene, "sync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            tracker.step(q, point)
    assert tracker.step(q, point).shape == q.shape


def test_what_another_thread_sends_ends_a_long_search() -> None:
    class Stop(Exception):
        pass

    arm, ended = pz.load("panda"), []
    far = pz.SE3.from_xyz_rpy([0.6, 0.3, 0.36], [0.4, -1.2, 0.3])
    solver = pz.Solver(arm, pz.PoseTask(arm.tip), max_restarts=10**9, max_iterations=10**5)
    begun = threading.Event()

    def work() -> None:
        try:
            begun.set()
            solver(far)
        except Stop:
            ended.append(True)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert begun.wait(60)
    while thread.is_alive():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(Stop))
        thread.join(0.5)
    assert ended == [True]
    assert solver(arm.pose(arm.tip, arm.home)).success
