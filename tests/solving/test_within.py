"""What must hold in an answer, whatever else is asked for: it does, and where it is not reached it changes nothing."""

import pickle
import threading
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import poise as pz
from poise.common.array import Array

ARM = pz.load("panda_collision")
HAND = "panda_hand"
POSE = pz.PoseTask(HAND)
SUM = pz.LinearLimit({"panda_joint2": 1.0, "panda_joint4": 1.0}, -1.9)
FAR = pz.LinearLimit({"panda_joint2": 1.0, "panda_joint4": 1.0}, 50.0)
BALL = pz.World({"ball": pz.Sphere((0.45, 0.0, 0.4), 0.15)})
APART = pz.CollisionLimit(BALL, min_distance=0.01)
AWAY = pz.CollisionLimit(pz.World({"ball": pz.Sphere((9.0, 0.0, 0.4), 0.15)}), min_distance=0.0, self_collision=False)


def summed(q: Array) -> Array:
    return np.asarray(q)[..., 1] + np.asarray(q)[..., 3]


def room(q: Array) -> Array:
    return np.asarray(ARM.distance(np.atleast_2d(q), BALL).distance)


def within(count: int, seed: int) -> Array:
    q = ARM.sample(60 * count, seed=seed)
    return q[(summed(q) <= -1.9) & (room(q) > 0.011)][:count]


@pytest.mark.parametrize("limits", [[FAR], [AWAY], [FAR, AWAY]], ids=["sum", "shapes", "both"])
@pytest.mark.parametrize(
    "tasks",
    [
        POSE,
        [pz.PositionTask(HAND), pz.OrientationTask(HAND, required=False)],
        [pz.PositionTask(HAND), pz.PostureTask(ARM.home)],
        [pz.PositionTask(HAND), pz.OrientationTask(HAND, priority=1)],
    ],
    ids=["pose", "soft", "posture", "levels"],
)
def test_what_is_not_reached_changes_no_bit(limits: list[Any], tasks: Any) -> None:
    goals = ARM.pose(HAND, ARM.sample(20, seed=4))
    free, held = pz.Solver(ARM, tasks), pz.Solver(ARM, tasks, limits=limits)
    for goal in goals:
        target: Any = goal
        if isinstance(tasks, list):
            target = [goal.xyz, None if isinstance(tasks[1], pz.PostureTask) else goal.rotation]
        one, other = free(target), held(target)
        np.testing.assert_array_equal(one.q, other.q)
        assert one.status is other.status


@pytest.mark.parametrize("name", ["panda_collision", "ur5e", "puma560", "kinova"])
def test_poses_within_sums_of_joints_are_found(name: str) -> None:
    """Targets of configurations that keep them: each is found again, on arms with and without a closed form."""
    arm = pz.load(name)
    one, other = arm.joint_names[1], arm.joint_names[2]
    i, j = arm.index(one).start, arm.index(other).start
    q = arm.sample(400, seed=2)
    most = float(np.quantile(q[:, i] - q[:, j], 0.2))
    goals = arm.pose(arm.tip, q[q[:, i] - q[:, j] <= most][:40])
    limits = [pz.LinearLimit({one: 1.0, other: -1.0}, most)]
    solver = pz.Solver(arm, pz.PoseTask(arm.tip), limits=limits)
    batch = solver.batch(goals)
    assert batch.success.all()
    for answer in (*(solver(goal) for goal in goals), *batch):
        assert answer.success
        assert answer.q[i] - answer.q[j] <= most + 1e-9
        assert answer.position_error < 1e-5


def test_all_solutions_are_those_that_hold() -> None:
    arm = pz.load("ur5e")
    goals = arm.pose(arm.tip, arm.sample(10, seed=3))
    limit = pz.LinearLimit({"elbow_joint": 1.0, "wrist_1_joint": 0.5}, 0.3)
    for turns in (False, True):
        plain = pz.BranchSolver(arm, pz.PoseTask(arm.tip), turns=True)
        held = pz.BranchSolver(arm, pz.PoseTask(arm.tip), limits=[limit], turns=turns)
        batch = held.batch(goals)
        for k, goal in enumerate(goals):
            every = plain(goal).q
            every = every[every[:, 2] + 0.5 * every[:, 3] <= 0.3 + 1e-12]
            found = held(goal)
            if turns:
                np.testing.assert_allclose(found.q, every, atol=1e-12)
            else:
                assert {tuple(q) for q in found.q} <= {tuple(q) for q in every}
                assert len(found) == len({branch.number for branch in found})
            np.testing.assert_array_equal(batch[k], found.q)


def test_all_solutions_among_obstacles() -> None:
    goals = ARM.pose(HAND, within(4, seed=6))
    for goal in goals:
        found = pz.solve_all(ARM, POSE, goal, limits=[APART, SUM])
        free = pz.solve_all(ARM, POSE, goal).q
        assert 0 < len(found) < len(free)
        assert (room(found.q) >= 0.01 - 1e-9).all()
        assert (summed(found.q) <= -1.9 + 1e-9).all()
        assert len(found) == np.count_nonzero((room(free) >= 0.01) & (summed(free) <= -1.9))


def test_a_soft_task_comes_as_near_as_a_sum_lets_it() -> None:
    """Beside SciPy, from the same start and from that answer."""
    goals = ARM.pose(HAND, ARM.sample(12, seed=8))
    turn = pz.OrientationTask(HAND, required=False)
    solver = pz.Solver(ARM, [pz.PositionTask(HAND), turn], limits=[SUM])
    for goal in goals:
        answer = solver([goal.xyz, goal.rotation])
        assert summed(answer.q) <= -1.9 + 1e-9
        if not answer.success:
            continue

        def left(q: Array, goal: pz.SE3 = goal) -> float:
            return float(np.sum((ARM.pose(HAND, q).rotation.inverse() @ goal.rotation).log() ** 2))

        def missed(q: Array, goal: pz.SE3 = goal) -> Array:
            return np.asarray(ARM.pose(HAND, q).xyz - goal.xyz)

        rest = minimize(
            left, answer.q, method="SLSQP", bounds=list(zip(ARM.lower, ARM.upper, strict=True)),
            constraints=[{"type": "eq", "fun": missed}, {"type": "ineq", "fun": lambda q: -1.9 - summed(q)}],
        )  # fmt: skip
        if np.abs(missed(rest.x)).max() < 1e-6:
            assert left(answer.q) <= float(rest.fun) + 1e-4


@pytest.mark.parametrize("limits", [[SUM], [APART], [SUM, APART]], ids=["sum", "shapes", "both"])
def test_an_answer_that_is_not_reached_holds_too(limits: list[Any]) -> None:
    """The middle of the ball is reached by nothing that keeps its distance; a far place by nothing at all."""
    rng = np.random.default_rng(0)
    solver = pz.Solver(ARM, [pz.PositionTask(HAND)], limits=limits)
    for place in (
        [0.45, 0.0, 0.4],
        [0.45, 0.05, 0.42],
        [2.0, 0.0, 0.5],
        [0.0, 0.0, 0.05],
        *rng.uniform(-1, 1, (20, 3)),
    ):
        answer = solver(place)
        if SUM in limits:
            assert summed(answer.q) <= -1.9 + 1e-9
        if APART in limits:
            assert room(answer.q)[0] >= 0.01 - 1e-9
        assert ARM.within_limits(answer.q)
        assert answer.explain()


def test_what_stands_in_the_way_is_named() -> None:
    blocked = pz.solve(ARM, pz.PositionTask(HAND, [0.45, 0.0, 0.4]), limits=[APART])
    assert blocked.status is pz.Status.COLLISION
    assert "'ball'" in blocked.explain()
    assert "q keeps them apart" in blocked.explain()
    bent = pz.LinearLimit({"panda_joint4": 1.0}, -2.6)
    held = pz.solve(ARM, pz.PositionTask(HAND, [0.75, 0.0, 0.5]), limits=[bent])
    assert held.status is pz.Status.LIMIT
    assert "LinearLimit(" in held.explain()


@pytest.mark.parametrize("method", [None, "dls"])
def test_a_limit_that_is_exceeded_is_named_and_by_how_much(method: str | None) -> None:
    """Two that contradict one another, and one of a joint that moves no task: no posture was asked for, and no step
    would help."""
    elbow = [pz.LinearLimit({"panda_joint4": 1.0}, -2.0), pz.LinearLimit({"panda_joint4": -1.0}, 1.0)]
    finger = [pz.LinearLimit({ARM.joint_names[-1]: 1.0}, -0.5)]
    for limits in (elbow, finger):
        found = pz.solve(ARM, pz.PositionTask(HAND, [0.45, 0.0, 0.4]), limits=limits, method=method)
        assert found.status is pz.Status.LIMIT
        (place,) = range(*ARM.index(next(iter(limits[0].coefficients))).indices(ARM.nq))
        for limit, sign in zip(limits, (1.0, -1.0), strict=False):
            beyond = sign * float(found.q[place]) - limit.most
            named = f"{limit!r} is exceeded by {beyond:.3g} rad or m" in found.explain()
            assert named == (beyond > 0.0)
        assert "posture" not in found.explain()
        assert "come nearer" not in found.explain()


def test_the_same_alone_in_batches_in_threads_and_in_other_processes() -> None:
    goals = ARM.pose(HAND, ARM.sample(9, seed=5))
    tasks = [
        pz.PositionTask(HAND),
        pz.OrientationTask(HAND, required=False),
        pz.PositionTask("panda_link4", priority=1),
    ]
    elbow = ARM.pose("panda_link4", ARM.home).xyz
    solver = pz.Solver(ARM, tasks, limits=[SUM, APART], max_restarts=6)
    alone = np.array([solver([goal.xyz, goal.rotation, elbow]).q for goal in goals])
    many = [goals.xyz, goals.rotation, np.tile(elbow, (9, 1))]
    for threads in (1, 2):
        np.testing.assert_array_equal(solver.batch(many, threads=threads).q, alone)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(solver)).batch(many).q, alone)
    fresh, got = pz.Solver(ARM, tasks, limits=[SUM, APART], max_restarts=6), dict[int, Array]()

    def some(start: int) -> None:
        for k in range(start, 9, 4):
            got[k] = fresh([goals[k].xyz, goals[k].rotation, elbow]).q

    threads_ = [threading.Thread(target=some, args=(k,)) for k in range(4)]
    for thread in threads_:
        thread.start()
    for thread in threads_:
        thread.join()
    np.testing.assert_array_equal([got[k] for k in range(9)], alone)
    assert (summed(alone) <= -1.9 + 1e-9).all()
    assert (room(alone) >= 0.01 - 1e-9).all()


def cluttered(model: pz.Model, seed: int) -> tuple[pz.CollisionLimit, Array]:
    """Boxes and balls at random around an arm's home, and a q that is free of them."""
    rng, centre = np.random.default_rng([seed, 5]), model.pose(model.links[-1], model.home).xyz
    shapes = []
    for k in range(6):
        place = centre + rng.uniform(-0.5, 0.5, 3)
        box = k % 2 == 1
        sizes = rng.uniform(0.05, 0.25, 3) if box else rng.uniform(0.05, 0.12)
        shapes.append(pz.Box(pz.SE3.from_xyz_wxyz(place, [1, 0, 0, 0]), sizes) if box else pz.Sphere(place, sizes))
    limit = pz.CollisionLimit(pz.World(shapes))
    return limit, next(q for q in model.sample(60, seed=seed) if limit.is_kept(model, q))


@pytest.mark.parametrize("seed", [1, 4, 6, 7, 8, 11])
def test_what_gives_way_costs_no_solution(seed: int) -> None:
    """What is found without a posture, or without an orientation that need not be, is with it."""
    arm = pz.load("ur5e")
    limit, free = cluttered(arm, seed)
    goal, posture = arm.pose("tool0", free), arm.sample(1, seed=900 + seed)[0]
    place = pz.PositionTask("tool0", target=goal.xyz)
    turned = pz.OrientationTask("tool0", target=arm.pose("tool0", posture).rotation, required=False)
    for must, wish in (
        (place, turned),
        (place, pz.PostureTask(posture)),
        (pz.PoseTask("tool0", target=goal), pz.PostureTask(posture)),
        (pz.PoseTask("tool0", target=goal), pz.PositionTask("forearm_link", target=goal.xyz, required=False)),
    ):
        assert pz.solve(arm, must, limits=[limit]).success
        found = pz.solve(arm, [must, wish], limits=[limit])
        assert found.success, found.explain()
        assert limit.is_kept(arm, found.q)
        assert found.errors[0].position == pytest.approx(np.linalg.norm(arm.pose("tool0", found.q).xyz - goal.xyz))
        away = np.abs(arm.difference(found.q, posture)).max()
        if isinstance(wish, pz.PostureTask):
            assert found.errors[1].posture == pytest.approx(away)
        moved = np.linalg.norm(arm.difference(arm.home, found.q))
        assert found.distance == pytest.approx(moved)
