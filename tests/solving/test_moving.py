"""`use=` and `still=`: what may not move stays, and what may move does as in a model that has no other joints."""

import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.mechanisms import delta, gap
from support.refusals import refused

import poise as pz

METHODS = ("dls", "jt", "ccd", "fabrik", "sdls", "qp", "priority", "lm", "das", "pairwise")


def cell(*arms: str) -> pz.Model:
    """Arms of six joints on one track, and a positioner of two that carries the part."""
    b = pz.ModelBuilder("cell")
    b.joint("track", "prismatic", parent="floor", child="carriage", axis=(1, 0, 0), limits=(-2, 2), velocity=1.0)
    for k, arm in enumerate(arms):
        link = "carriage"
        heights, axes = (0.5, 0.15, 0.5, 0.4, 0.05, 0.1), ((0, 0, 1), (0, 1, 0), (0, 1, 0), (0, 1, 0), (0, 0, 1))
        for i, (z, axis) in enumerate(zip(heights, (*axes, (0, 1, 0)), strict=True)):
            origin = pz.SE3.from_parts([0.0, 0.6 * k if i == 0 else 0.1 * (i in (1, 4)), z])
            child = f"{arm}_link{i}"
            b.joint(
                f"{arm}_{i}", "revolute", parent=link, child=child, axis=axis, origin=origin, limits=(-2.8, 2.8),
                velocity=2.0,
            )  # fmt: skip
            link = child
        b.frame(f"{arm}_tool", link=link, origin=pz.SE3.from_parts([0.0, 0.0, 0.12]))
        b.mass(link, 2.0)
        b.group(arm, [f"{arm}_{i}" for i in range(6)])
    b.joint(
        "tilt", "revolute", parent="floor", child="cradle", axis=(0, 1, 0), limits=(-1.5, 1.5), velocity=1.0,
        origin=pz.SE3.from_parts([0.7, 0.3, 0.2]),
    )  # fmt: skip
    b.joint(
        "table", "revolute", parent="cradle", child="part", limits=(-3.1, 3.1), velocity=1.0,
        origin=pz.SE3.from_parts([0.0, 0.0, 0.1]),
    )  # fmt: skip
    b.group("positioner", ["tilt", "table"])
    return b.build()


CELL, PAIR = cell("arm"), cell("left", "right")
START = CELL.q(track=0.2, arm_1=0.3, arm_2=0.9, arm_3=0.5, arm_4=0.2, arm_5=0.4, tilt=0.2)
SEAM = pz.PoseTask("arm_tool", pz.SE3.from_xyz_wxyz([0.05, 0.0, 0.35], [0, 1, 0, 0]), base="part")


def places(model: pz.Model, *joints: str) -> npt.NDArray[np.intp]:
    return np.concatenate([np.arange(model.nq)[model.index(joint)] for joint in joints])


def reached(model: pz.Model, still: tuple[str, ...], seed: int) -> pz.SE3:
    """A pose of the tool that the others reach from START, in the world."""
    q = model.sample(seed=seed)
    at = places(model, *still)
    q[at] = START[at]
    return model.pose("arm_tool", q)


@pytest.mark.parametrize(
    ("chosen", "still"),
    [
        ({"still": "track"}, {"track"}),
        ({"still": ["track", "positioner"]}, {"track", "tilt", "table"}),
        ({"use": "arm"}, {"track", "tilt", "table"}),
        ({"use": ["arm", "table"]}, {"track", "tilt"}),
        ({"use": "arm_tool"}, {"tilt", "table"}),
        ({"use": "arm_tool", "still": "arm_link1"}, {"track", "tilt", "table", "arm_0", "arm_1"}),
    ],
)
def test_joints_are_named_by_themselves_their_groups_and_what_they_carry(
    chosen: dict[str, Any], still: set[str]
) -> None:
    solver = pz.Solver(CELL, SEAM, **chosen)
    assert solver.model.still == still
    held = places(CELL, *still)
    for seed in range(5):
        found = solver(q0=CELL.sample(seed=seed))
        assert np.array_equal(found.q[held], CELL.sample(seed=seed)[held])
        assert not {solver.velocities[k] for k in range(len(solver.velocities))} & {*held}


@pytest.mark.parametrize("seed", range(4))
def test_solving_is_as_on_the_model_whose_other_joints_are_locked(seed: int) -> None:
    task, rest = pz.PoseTask("arm_tool", reached(CELL, ("track", "arm_0"), seed)), places(CELL, "track", "arm_0")
    locked = CELL.lock(track=START[rest[0]], arm_0=START[rest[1]])
    found = pz.solve(CELL, task, q0=START, still=["track", "arm_0"])
    other = pz.solve(locked, task, q0=np.delete(START, rest))
    assert found.status is other.status
    if found.success:
        assert np.allclose(np.delete(found.q, rest), other.q, atol=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_of_an_arm_with_a_closed_form_the_answer_is_that_of_the_locked_model(seed: int) -> None:
    rest = places(CELL, "track", "tilt", "table")
    locked, q0 = CELL.lock(track=START[0], tilt=START[7], table=START[8]), np.delete(START, rest)
    for pose in (reached(CELL, ("track", "tilt", "table"), seed), pz.SE3.from_parts([3.0, 0.1 * seed, 0.5])):
        found = pz.solve(CELL, pz.PoseTask("arm_tool", pose), q0=START, use="arm")
        other = pz.solve(locked, pz.PoseTask("arm_tool", pose), q0=q0)
        assert np.array_equal(np.delete(found.q, rest), other.q)
        assert np.array_equal(found.q[rest], START[rest])
        assert (found.status, found.distance, found.origin) == (other.status, other.distance, other.origin)
        assert found.errors == other.errors
        assert (found.certificate is None) == (other.certificate is None)
        again = pz.Solver(CELL, pz.PoseTask("arm_tool"), use="arm")(pose, START)
        assert np.array_equal(again.q, found.q)
    task = pz.PoseTask("arm_tool", reached(CELL, ("track", "tilt", "table"), seed))
    first = pz.solve(CELL, task, q0=START, use="arm", select="first")
    assert first.success
    assert first.origin != "a closed form"
    beyond = START.copy()
    beyond[[0, 1]] = 5.0, 4.0
    outside = pz.solve(CELL, pz.PoseTask("arm_tool", CELL.pose("arm_tool", START)), q0=beyond, use="arm")
    assert outside.q[0] == 5.0
    assert "'track' stands still beyond its limits." in outside.explain()
    assert "pulled in to the limits, arm_0 from 4 to 2.8" in outside.explain()


def test_calls_one_after_the_other_give_what_the_first_gives() -> None:
    """What stands still is locked once for as long as it stands there, and the next calls go another way."""
    rest = places(CELL, "track", "tilt", "table")
    solver = pz.Solver(CELL, pz.PoseTask("arm_tool"), use="arm")
    for seed in range(12):
        q0, pose = START.copy(), reached(CELL, ("track", "tilt", "table"), seed % 4)
        q0[0] = 0.2 + 0.1 * (seed // 4 % 2)  # there, elsewhere and back again
        alone = pz.Solver(CELL, pz.PoseTask("arm_tool"), use="arm")(pose, q0)
        batch = pz.solve_batch(CELL, pz.PoseTask("arm_tool"), [pose.array], q0=q0, use="arm")[0]
        for target in (pose, pose.array, pose.matrix()):
            found = solver(target, q0)
            again = solver(target, q0.tolist())
            assert np.allclose(found.q, alone.q, atol=1e-12)
            assert np.array_equal(found.q, again.q)
            assert np.array_equal(found.q[rest], q0[rest])
            assert (found.status, found.origin) == (alone.status, alone.origin) == (batch.status, batch.origin)
            assert np.allclose(found.q, batch.q, atol=1e-12)
            assert found.explain() == again.explain()
    assert np.array_equal(pickle.loads(pickle.dumps(solver))(pose, q0).q, solver(pose, q0).q)
    assert np.array_equal(solver(pose, q0, seed=5).q, solver(pose, q0).q)
    ready = solver(pose).q
    assert np.array_equal(ready, solver(pose, CELL.home).q)
    q0[3] = np.nan
    with refused("not-finite", "q0[3]"):
        solver(pose, q0)
    with refused("not-finite", "target"):
        solver(np.full(7, np.nan), START)
    own = [pz.Solver(CELL, pz.PoseTask("arm_tool", reached(CELL, ("track",), seed)), use="arm") for seed in (1, 2)]
    for each in (*own, *own):  # each has its own target, though the model keeps one search for both
        assert np.array_equal(each(q0=START).q, each(each.tasks[0].target, START).q)


def test_what_stands_still_beyond_its_limits_stays_there_in_every_function_and_is_told() -> None:
    beyond, word = START.copy(), "'track' stands still beyond its limits."
    beyond[0] = 2.5
    here = CELL.pose("arm_tool", beyond)
    there = pz.SE3.from_parts(here.xyz + np.array([0.02, 0.01, -0.03]), here.rotation)
    poses, task = np.stack([here.array, there.array]), pz.PoseTask("arm_tool", there)
    for more in ({}, {"select": "first"}, {"method": "lm"}, {"still": ["track", "positioner"]}):
        found = pz.solve(CELL, task, q0=beyond, **{"still": "track", **more})
        assert found.success, more
        assert found.q[0] == 2.5
        assert found.explain().endswith(word)
    assert (pz.solve_batch(CELL, [task], [poses], q0=beyond, still="track").q[:, 0] == 2.5).all()
    branches = pz.solve_all(CELL, task, q0=beyond, still=["track", "positioner"]).q
    assert len(branches)
    assert (branches[:, 0] == 2.5).all()
    tracker = pz.Tracker(CELL, task, dt=0.02, still="track")
    assert tracker.step(beyond)[0] == 2.5
    assert word in tracker.explain()
    for call, begin in ((pz.solve_path, "q0"), (pz.solve_path, "start"), (pz.plan, "q0")):
        path = call(CELL, pz.PoseTask("arm_tool"), poses, still="track", **{begin: beyond})
        assert path.success, path.explain()
        assert (path.q[:, 0] == 2.5).all()
        assert word in path.notes
    free = pz.solve(CELL, task, q0=beyond, still="track", limits=False)
    assert (free.q[0], word in free.explain()) == (2.5, False)
    assert not pz.solve(CELL, task, q0=beyond, still="track").gradient().by_target[0][0].any()
    far = pz.solve(CELL, pz.PoseTask("arm_tool", pz.SE3.from_parts([5.0, 0.0, 0.5])), q0=beyond, still="track")
    assert far.certificate is not None
    assert far.certificate.still == {"track": (2.5,)}
    assert far.certificate.verify(CELL)


def test_a_ball_that_stands_still_beyond_its_limits_stays_there() -> None:
    b = pz.ModelBuilder("ball")
    b.joint(
        "ball",
        "spherical",
        parent="floor",
        child="bone",
        axis=(0, 0, 1),
        swing=0.3,
        twist=(-0.2, 0.2),
    )
    b.joint("slide", "prismatic", parent="bone", child="tip", axis=(0, 0, 1), limits=(0.1, 2.0))
    model = b.build()
    q0 = model.q({"ball": pz.SO3.from_rotvec([0.8, 0.0, 0.0]).wxyz, "slide": 0.5})
    task = pz.PositionTask("tip", 2.0 * model.pose("tip", q0).xyz)
    found = pz.solve(model, task, q0=q0, still="ball")
    assert found.success, found.explain()
    assert np.array_equal(found.q[:4], q0[:4])
    assert "'ball' stands still beyond its limits." in found.explain()
    path = pz.plan(model, pz.PositionTask("tip"), task.target[None], q0=q0, still="ball")
    assert path.success, path.explain()
    assert (path.q[:, :4] == q0[:4]).all()


@pytest.mark.parametrize("method", METHODS)
def test_steps_are_those_of_the_locked_model(method: str) -> None:
    rest = places(CELL, "track", "tilt", "table")
    locked = CELL.lock(track=START[0], tilt=START[7], table=START[8])
    task = pz.PositionTask("arm_tool", CELL.pose("arm_tool", START).xyz + np.array([0.05, -0.03, 0.02]))
    trackers = pz.Tracker(CELL, task, method, dt=0.02, use="arm"), pz.Tracker(locked, task, method, dt=0.02)
    q, other = START, np.delete(START, rest)
    for _ in range(10):
        q, other = trackers[0].step(q), trackers[1].step(other)
        assert np.array_equal(q[rest], START[rest])
        assert np.allclose(np.delete(q, rest), other, atol=1e-12)


def test_paths_and_plans_leave_it_where_it_is() -> None:
    held = places(CELL, "track", "tilt")
    locked = CELL.lock(track=START[0], tilt=START[7])
    poses = pz.SE3.from_xyz_wxyz(np.linspace([0.1, -0.1, 0.35], [0.1, 0.1, 0.35], 12), [0, 1, 0, 0])
    for call, some in ((pz.solve_path, poses), (pz.plan, poses[[0, 11]])):
        path = call(CELL, SEAM, some, q0=START, still=["track", "tilt"])
        other = call(locked, SEAM, some, q0=np.delete(START, held))
        assert path.success
        assert np.array_equal(path.q[:, held], np.tile(START[held], (len(path.q), 1)))
        assert path.length == pytest.approx(other.length, rel=0.02)
    moved = pz.solve_path(CELL, SEAM, poses, q0=START)
    assert np.ptp(moved.q[:, held], axis=0).max() > 1e-3


def test_batches_take_what_stands_still_from_each_start() -> None:
    starts = np.array([CELL.sample(seed=seed) for seed in range(20)])
    held = places(CELL, "track", "tilt", "table")
    targets = pz.SE3.from_xyz_wxyz(np.tile([0.0, 0.0, 0.3], (20, 1)), [0, 1, 0, 0])
    found = pz.solve_batch(CELL, SEAM, targets, q0=starts, use="arm")
    assert np.array_equal(found.q[:, held], starts[:, held])
    assert 3 <= found.success.sum() < 20  # of others the part is too far from the track
    seen = CELL.pose("part", found.q).inverse() @ CELL.pose("arm_tool", found.q)
    assert np.allclose(seen.xyz[found.success], [0.0, 0.0, 0.3], atol=1e-4)


def test_a_batch_from_one_place_is_that_of_the_locked_model_and_of_single_solves() -> None:
    still = ("track", "tilt", "table")
    held = places(CELL, *still)
    locked = CELL.lock({name: START[CELL.index(name)] for name in still})
    poses = np.stack(
        [*(reached(CELL, still, seed).array for seed in range(30)), [3.0, 0, 0.5, 1, 0, 0, 0], [np.nan] * 7]
    )
    task = pz.PoseTask("arm_tool")
    for starts in (START, START + np.where(np.isin(np.arange(CELL.nq), held), 0.0, 0.1 * np.arange(32)[:, None] / 32)):
        found = pz.Solver(CELL, task, use="arm").batch(poses, starts)
        other = pz.Solver(locked, task).batch(poses, np.delete(starts, held, axis=-1))
        assert np.array_equal(np.delete(found.q, held, axis=1), other.q)
        assert np.array_equal(found.q[:, held], np.tile(START[held], (32, 1)))
        assert [*found.status] == [*other.status]
        assert np.array_equal(found.distance, other.distance, equal_nan=True)
        assert found.success[:30].all()
    one = pz.solve(CELL, pz.PoseTask("arm_tool", pz.SE3(poses[3])), q0=START, use="arm")
    assert np.allclose(pz.Solver(CELL, task, use="arm").batch(poses, START).q[3], one.q, atol=1e-9)
    bad = np.tile(START, (2, 1))
    bad[0, 1] = np.nan
    assert [*pz.Solver(CELL, task, use="arm").batch(poses[:2], bad).success] == [False, True]


@pytest.mark.parametrize("column", [0, 1, 7])
def test_a_row_that_is_no_start_changes_no_other_answer_of_a_batch(column: int) -> None:
    still = ("track", "tilt", "table")
    poses = np.stack([reached(CELL, still, seed).array for seed in range(6)])
    solver = pz.Solver(CELL, pz.PoseTask("arm_tool"), use="arm")
    starts = np.tile(START, (6, 1))
    starts[0, column] = np.nan
    found, others = solver.batch(poses, starts), solver.batch(poses[1:], starts[1:])
    assert found.status[0] is pz.Status.BAD_INPUT
    assert np.array_equal(found.q[1:], others.q)
    assert others.success.all()
    assert np.isfinite(found.q[0]).all()


def test_all_solutions_are_those_of_the_locked_model() -> None:
    task, rest = pz.PoseTask("arm_tool", CELL.pose("arm_tool", START)), places(CELL, "track", "tilt", "table")
    exact = pz.solve_all(CELL.lock(track=START[0], tilt=START[7], table=START[8]), task, q0=np.delete(START, rest))
    found = pz.solve_all(CELL, task, q0=START, use="arm")
    assert len(found) == len(exact) > 1
    assert np.array_equal(found.q[:, rest], np.tile(START[rest], (len(found), 1)))
    assert np.allclose(np.delete(found.q, rest, axis=1), exact.q, atol=1e-6)
    many = pz.BranchSolver(CELL, task, use="arm").batch(CELL.pose("arm_tool", START).array[None], START)
    assert np.allclose(many[0], found.q, atol=1e-9)


def test_what_only_a_still_base_could_reach_is_refused_with_a_certificate() -> None:
    there = pz.SE3.from_parts([2.6, 0.0, 0.6])
    far = pz.PoseTask("arm_tool", there)
    assert pz.solve(CELL, far, q0=START).success
    found = pz.solve(CELL, far, q0=START, still="track")
    proof = found.certificate
    assert found.status is pz.Status.UNREACHABLE
    assert proof is not None
    assert proof.still == {"track": (0.2,)}
    assert proof.verify(CELL)
    assert "'track'" in found.explain()
    assert pz.solve_all(CELL, far, q0=START, still="track").certificate is not None
    # From nearer by it is in reach, and what proved the other place proves nothing there.
    near = START.copy()
    near[0] = 1.8
    assert pz.solve(CELL, far, q0=near, still="track").success
    path = pz.plan(CELL, pz.PoseTask("arm_tool"), there.array[None], q0=START, still="track")
    assert path.first_failure is not None
    assert path.first_failure.status is pz.Status.UNREACHABLE


def test_a_certificate_by_boxes_holds_for_what_may_move() -> None:
    # The place is in reach of the tool, and turned so it is not with the first joint where it stands.
    target = pz.SE3.from_xyz_wxyz([0.2, 0.9, 1.0], [0.5, 0.5, 0.5, 0.5])
    found = pz.solve(CELL, pz.PoseTask("arm_tool", target), q0=START, still=["track", "arm_0", "arm_4"])
    assert not found.success
    proof = found.certificate
    assert proof is not None
    assert proof.kind == "boxes"
    assert set(proof.still) == {"track", "arm_0", "arm_4"}
    assert proof.verify(CELL)
    assert pz.solve(CELL, pz.PoseTask("arm_tool", target), q0=START).status is not pz.Status.UNREACHABLE


def test_two_arms_share_a_track_and_a_positioner() -> None:
    both = [
        pz.PoseTask("left_tool", pz.SE3.from_xyz_wxyz([0.0, -0.15, 0.3], [0, 1, 0, 0]), base="part"),
        pz.PoseTask("right_tool", pz.SE3.from_xyz_wxyz([0.0, 0.15, 0.3], [0, 1, 0, 0]), base="part"),
    ]
    start = PAIR.q(tilt=0.1)
    assert pz.solve(PAIR, both, q0=start).success
    # One arm holds its place on the part while the other, and what both share, moves.
    led = pz.solve(PAIR, both, q0=start, still="positioner")
    assert led.success
    assert np.array_equal(led.q[places(PAIR, "tilt", "table")], start[places(PAIR, "tilt", "table")])
    with pytest.raises(pz.InvalidValue, match="no joint of cell that may move"):
        pz.solve(PAIR, both, q0=start, use="left")


@pytest.mark.parametrize("limits", [True, False])
def test_a_posture_does_not_move_what_stands_still(limits: bool) -> None:
    posture = pz.PostureTask(CELL.q(track=1.0, arm_2=1.2, tilt=-1.0))
    tasks = [pz.PositionTask("arm_tool", CELL.pose("arm_tool", START).xyz), posture]
    held = places(CELL, "track", "tilt", "table")
    found = pz.solve(CELL, tasks, q0=START, use="arm", limits=limits)
    assert found.success
    assert np.array_equal(found.q[held], START[held])
    q = pz.Tracker(CELL, tasks, use="arm", limits=limits).rollout(START, [np.tile(tasks[0].target, (5, 1)), None])
    assert np.array_equal(q[:, held], np.tile(START[held], (5, 1)))
    assert np.abs(q[-1] - START).max() > 1e-3


def test_sums_of_joints_count_what_stands_still() -> None:
    task = pz.JointCouplingTask({"track": 2.0, "arm_1": 1.0, "arm_2": -1.0}, 0.7)
    found = pz.solve(CELL, task, q0=START, still="track")
    assert found.success
    assert found.q[0] == START[0]
    assert 2.0 * found.q[0] + found.q[2] - found.q[3] == pytest.approx(0.7, abs=1e-6)


def test_a_limit_of_a_sum_counts_what_stands_still_as_a_limit_of_the_rest() -> None:
    """With the track at 0.2, where it stands."""
    point = CELL.pose("arm_tool", CELL.q(track=0.2, arm_1=0.9, arm_2=0.9, arm_3=0.3)).xyz
    task, points = pz.PositionTask("arm_tool", point), np.linspace(CELL.pose("arm_tool", START).xyz, point, 2)

    def answers(coefficients: dict[str, float], most: float) -> list[npt.NDArray[np.float64]]:
        chosen: Any = {"still": "track", "limits": [pz.LinearLimit(coefficients, most)]}
        found = [pz.solve(CELL, task, q0=START, method=method, **chosen) for method in (None, "qp")]
        assert all(each.success for each in found)
        tracker, q = pz.Tracker(CELL, task, dt=0.05, **chosen), START
        for _ in range(30):
            q = tracker.step(q)
        assert tracker.active_limits[0].kind == "linear"
        return [
            *(each.q for each in found),
            pz.solve_batch(CELL, [task], [np.tile(point, (2, 1))], q0=START, **chosen).q,
            np.array(q),
            pz.plan(CELL, task, points, q0=START, **chosen).q,
            found[0].gradient().by_target[0],
        ]

    summed, alone = answers({"track": 1.0, "arm_1": 1.0}, 0.7), answers({"arm_1": 1.0}, 0.5)
    for one, other in zip(summed, alone, strict=True):
        assert np.allclose(one, other, atol=1e-9)
    assert pz.solve(CELL, task, q0=START, still="track").q[2] > 0.5
    beyond = pz.solve(
        CELL, task, q0=START, still=["track", "tilt"], limits=[pz.LinearLimit({"track": 1, "tilt": 1}, 0.3)]
    )
    assert beyond.status is pz.Status.LIMIT
    assert "is exceeded by 0.1" in beyond.explain()


def test_the_centre_of_mass_moves_by_what_may_move() -> None:
    task = pz.CentreOfMassTask(PAIR.centre_of_mass(PAIR.sample(seed=3)), weight=(1, 1, 0))
    found = pz.solve(PAIR, task, q0=PAIR.home, use="right")
    assert np.array_equal(found.q[places(PAIR, "track")], PAIR.home[:1])
    assert np.array_equal(found.q[places(PAIR, *PAIR.groups["left"])], PAIR.home[places(PAIR, *PAIR.groups["left"])])


def test_what_was_solved_once_is_kept_for_the_joints_that_may_move() -> None:
    one, other = pz.Solver(CELL, SEAM, use="arm"), pz.Solver(CELL, SEAM, still=["track", "positioner"])
    assert one.model is other.model
    assert pz.Solver(CELL, SEAM).model is CELL
    assert pz.Solver(one.model, SEAM, still="arm_0").model.still == {"track", "tilt", "table", "arm_0"}


def test_trackers_take_over_where_the_same_joints_stand_still() -> None:
    first, second = (pz.Tracker(CELL, SEAM, dt=0.01, use="arm") for _ in range(2))
    q = first.step(START)
    second.take_over(first)
    assert np.array_equal(second.step(None), first.step(q))
    with pytest.raises(pz.InvalidValue, match="same joints still"):
        pz.Tracker(CELL, SEAM, dt=0.01).take_over(first)


def test_velocities_that_are_damped_are_those_that_may_move() -> None:
    tasks = [SEAM, pz.DampingTask(weight=0.3)]
    q = pz.Tracker(CELL, tasks, dt=0.02, use="arm").step(START)
    assert np.array_equal(q[places(CELL, "track", "tilt", "table")], START[places(CELL, "track", "tilt", "table")])
    with pytest.raises(pz.InvalidValue, match="'track', which stands still"):
        pz.Tracker(CELL, [SEAM, pz.DampingTask(joints=["track"])], dt=0.02, use="arm")


def test_a_floating_base_stands_still_as_a_whole() -> None:
    b = pz.ModelBuilder("walker")
    b.joint("hip", "spherical", parent="body", child="thigh")
    b.joint("knee", "revolute", parent="thigh", child="shin", axis=(0, 1, 0), origin=pz.SE3.from_parts([0, 0, -0.4]))
    b.frame("foot", link="shin", origin=pz.SE3.from_parts([0, 0, -0.4]))
    walker = b.build(base="floating")
    q0 = walker.sample(seed=2)
    base = walker.joint_names[0]
    target = walker.pose("foot", np.concatenate([q0[walker.index(base)], walker.sample(seed=5)[7:]])).xyz
    found = pz.solve(walker, pz.PositionTask("foot", target), q0=q0, still=base)
    assert found.success
    assert np.array_equal(found.q[walker.index(base)], walker.normalize(q0)[walker.index(base)])
    hung = pz.solve(walker, pz.PositionTask("foot", target), q0=q0, still=["hip", "knee"])
    assert np.array_equal(hung.q[7:], walker.normalize(q0)[7:])


@pytest.mark.parametrize(
    ("chosen", "kind", "words"),
    [
        ({"use": np.array([0, 1])}, pz.InvalidType, "must name joints, groups or frames"),
        ({"still": [True, False]}, pz.InvalidType, "must name joints, groups or frames"),
        ({"use": "amr"}, pz.JointNotFound, "did you mean 'arm'"),
        ({"use": []}, pz.InvalidValue, "no joint of cell may move"),
        ({"still": ["arm", "track", "positioner"]}, pz.InvalidValue, "no joint of cell may move"),
        ({"use": "world"}, pz.InvalidValue, "stands for no joint that moves"),
    ],
)
def test_what_names_no_joints_is_refused(chosen: dict[str, Any], kind: type[Exception], words: str) -> None:
    for call in (pz.solve, pz.Solver, pz.BranchSolver, pz.Tracker, pz.solve_all):
        with pytest.raises(kind, match=words):
            call(CELL, SEAM, **chosen)


@pytest.mark.parametrize("seed", [0, 9, 28])
def test_random_starts_beside_soft_tasks_leave_the_others_where_they_are(seed: int) -> None:
    shaped = PAIR.with_shapes({f"left_link{i}": pz.Sphere([0.0, 0.0, 0.05], 0.05) for i in (2, 3, 4, 5)})
    q0, rng = PAIR.sample(seed=seed), np.random.default_rng(seed)
    place = PAIR.pose("left_tool", PAIR.sample(seed=seed + 500)).xyz
    balls = pz.World({f"ball{k}": pz.Sphere(place + 0.25 * rng.normal(size=3), 0.15) for k in range(5)})
    wish = pz.PositionTask("left_link2", 0.4 * rng.normal(size=3) + np.array([0, 0, 1]), required=False)
    for still, stays in ((None, ("right", "positioner")), ("track", ("right", "positioner", "track"))):
        found = pz.solve(
            shaped, [pz.PositionTask("left_tool", place), wish], q0=q0, limits=[pz.CollisionLimit(balls)], still=still,
            max_restarts=3,
        )  # fmt: skip
        at = places(PAIR, *(joint for name in stays for joint in PAIR.groups.get(name, (name,))))
        assert np.array_equal(found.q[at], q0[at])


def test_loops_stay_closed_by_what_may_move() -> None:
    robot = delta()
    q0 = robot.close([0.3, 0.2, 0.4], actuated=["motor0", "motor1", "motor2"]).q
    at = places(robot, "motor1")
    lower = pz.PositionTask("plate", robot.pose("plate", q0).xyz + np.array([0.0, 0.0, -0.02]), weight=(0, 0, 1))
    found = pz.solve(robot, lower, q0=q0, still="motor1")
    assert found.success
    assert gap(robot, found.q) < 1e-6
    assert np.array_equal(found.q[at], q0[at])
    tracker, q = pz.Tracker(robot, lower, dt=0.02, still="motor1"), q0
    for _ in range(60):
        q = tracker.step(q)
        assert gap(robot, q) < 1e-6
        assert np.array_equal(q[at], q0[at])
    assert tracker.errors[0].position is not None
    assert tracker.errors[0].position < 1e-4


def test_rows_are_those_of_all_joints_without_the_columns_of_what_stands_still() -> None:
    held = places(CELL, "track", "tilt", "table")
    e, jacobian = pz.Solver(CELL, SEAM, use="arm").linearise(START)
    every, whole = pz.Solver(CELL, SEAM).linearise(START)
    assert np.array_equal(e, every)
    assert not jacobian[:, held].any()
    assert np.allclose(np.delete(jacobian, held, axis=1), np.delete(whole, held, axis=1), atol=1e-14)
    gradient = pz.solve(CELL, SEAM, q0=START, use="arm").gradient()
    assert not gradient.by_target[0][held].any()
