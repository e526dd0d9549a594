"""The judge: right answers pass, wrong ones and broken limits do not, whatever a solver says."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise as pz
from poise.bench.judge import judge
from poise.bench.problems import goals, targets_at

ARM = pz.load("panda")
TASKS: list[pz.Task] = [
    pz.PoseTask(ARM.tip),
    pz.PositionTask(ARM.tip),
    pz.OrientationTask(ARM.tip),
    pz.AxisTask(ARM.tip, axis=(1, 2, 3)),
    pz.LookAtTask(ARM.tip, axis=(0, 1, 1)),
]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task).__name__)
def test_the_configuration_that_made_a_target_reaches_it_and_another_does_not(task: pz.Task) -> None:
    q = ARM.sample(20, seed=1)
    wanted = goals(ARM, [task], targets_at(ARM, [task], q))
    verdict = judge(ARM, [task], wanted, q)
    assert verdict.reached.all()
    assert not verdict.outside.any()
    moved = q.copy()
    moved[:, 1:6] += 1e-4
    assert not judge(ARM, [task], wanted, moved).reached.any()


def test_distance_and_angle_are_those_of_the_poses() -> None:
    task = pz.PoseTask(ARM.tip)
    q, other = ARM.sample((2, 50), seed=2)
    verdict = judge(ARM, [task], goals(ARM, [task], targets_at(ARM, [task], other)), q)
    here, there = ARM.pose(ARM.tip, q).matrix(), ARM.pose(ARM.tip, other).matrix()
    turn = Rotation.from_matrix(there[:, :3, :3] @ here[:, :3, :3].swapaxes(1, 2))
    assert np.allclose(verdict.position[:, 0], np.linalg.norm(there[:, :3, 3] - here[:, :3, 3], axis=1))
    assert np.allclose(verdict.rotation[:, 0], turn.magnitude())


@pytest.mark.parametrize(
    "task",
    [
        pz.PoseTask(ARM.tip, position_weight=(1, 0, 2), rotation_weight=(0, 0, 1), axes="target"),
        pz.PoseTask(ARM.tip, position_weight=(0, 3, 1), rotation_weight=0.5),
        pz.PositionTask(ARM.tip, weight=(1, 1, 0)),
        pz.OrientationTask(ARM.tip, weight=(1, 1, 0), axes="target"),
        pz.PoseTask(ARM.tip, position_weight=(1, 0, 2), axes="target", base="panda_link3"),
        pz.PlaneTask(ARM.tip, (1, 2, 3)),
        pz.LineTask(ARM.tip, (1, 2, 3), base="panda_link3"),
        pz.DistanceTask(ARM.tip, 0.3),
        pz.ConeTask(ARM.tip, (0, 1, 1), angle=0.05),
        pz.JointCouplingTask({"panda_joint1": 1.0, "panda_joint2": -2.0}),
        pz.SwivelTask("panda_link2", "panda_link4", "panda_link7", base="panda_link1", angle=0.4),
        *TASKS,
    ],
)
def test_it_measures_what_a_solution_reports(task: pz.Task) -> None:
    (target,) = targets_at(ARM, [task], ARM.sample(1, seed=3))
    solution = pz.Solver(ARM, task, method="lm", max_iterations=2, max_restarts=0)(target)
    verdict = judge(ARM, [task], goals(ARM, [task], [target]), solution.q[None])
    assert not verdict.reached.any()
    assert verdict.position[0, 0] == pytest.approx(solution.position_error, rel=1e-9)
    assert verdict.rotation[0, 0] == pytest.approx(solution.rotation_error, rel=1e-9)


def test_a_limit_is_broken_by_however_little_though_the_target_is_reached() -> None:
    task = pz.PoseTask(ARM.tip)
    q = np.tile(ARM.home, (3, 1))
    wanted = goals(ARM, [task], targets_at(ARM, [task], q))
    q[1, 0] += 2.0 * math.pi
    q[2] = np.where(np.arange(ARM.nq) == 2, np.nextafter(ARM.upper, np.inf), q[2])
    verdict = judge(ARM, [task], wanted, q)
    assert verdict.reached.tolist() == [True, True, False]
    assert verdict.outside.tolist() == [False, True, True]


def test_all_tasks_count() -> None:
    tasks: list[pz.Task] = [pz.PositionTask(ARM.tip), pz.OrientationTask("panda_link3")]
    q, other = ARM.sample((2, 1), seed=4)
    both = targets_at(ARM, tasks, q)
    mixed = [(both[0][0], targets_at(ARM, tasks, other)[0][1])]
    assert judge(ARM, tasks, goals(ARM, tasks, both), q).reached.all()
    assert not judge(ARM, tasks, goals(ARM, tasks, mixed), q).reached.any()


def test_the_tolerances_are_those_of_the_task() -> None:
    q = ARM.sample(1, seed=5)
    target = targets_at(ARM, [pz.PositionTask(ARM.tip)], q)[0] + [0.01, 0, 0]
    for tolerance, reached in ((0.0101, True), (0.0099, False)):
        task = pz.PositionTask(ARM.tip, tolerance=tolerance)
        assert judge(ARM, [task], goals(ARM, [task], [target]), q).reached.tolist() == [reached]


def test_an_answer_that_is_no_number_fails() -> None:
    q = np.tile(ARM.home, (2, 1))
    q[1, 3] = np.nan
    verdict = judge(ARM, TASKS, goals(ARM, TASKS, targets_at(ARM, TASKS, np.tile(ARM.home, (2, 1)))), q)
    assert verdict.reached.tolist() == [True, False]
    assert verdict.outside.tolist() == [False, True]
    assert np.isinf(verdict.position[1]).all()
