"""What a user writes who has a type checker: mypy, strict, and pyright have nothing to say here, and it runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import poise as pz
from poise.calibration import Measurements

ARM = pz.load("panda")
HAND = "panda_hand"
Q = np.array([0.1, 0.2, 0.1, -1.8, 0.1, 2.0, 0.3])


def ball() -> pz.World:
    return pz.World({"ball": pz.Sphere((2.0, 0.0, 0.5), 0.1)})


def shaped() -> pz.Model:
    return ARM.with_shapes({HAND: pz.Sphere((0.0, 0.0, 0.05), 0.05)})


def test_a_list_of_tasks_of_several_kinds_is_a_list_of_tasks() -> None:
    tasks = [pz.PositionTask(HAND, [0.4, 0.1, 0.5]), pz.PostureTask()]
    solution = pz.solve(ARM, tasks)
    q: npt.NDArray[np.float64] = solution.q
    assert solution.success
    assert pz.Solver(ARM, tasks)(q0=q).success
    assert pz.solve_batch(ARM, tasks, q0=[q, q]).success.all()
    step = pz.Tracker(ARM, tasks).step(q)
    assert step.shape == (7,)


def test_tasks_are_gathered_as_one_likes() -> None:
    tasks = [pz.PositionTask(frame, ARM.pose(frame, Q).xyz) for frame in (HAND, "panda_link4")]
    aims = [pz.AxisTask(HAND, axis=(0, 0, 1), target=ARM.pose(HAND, Q).matrix()[:3, 2]), *tasks]
    assert pz.solve(ARM, aims, q0=Q).success
    assert pz.solve(ARM, tuple(aims), q0=Q.tolist()).success


def solve_stated(model: pz.Model, tasks: Sequence[pz.Task]) -> pz.Solution:
    return pz.solve(model, tasks)


def test_tasks_go_through_functions_of_ones_own() -> None:
    point = pz.PositionTask(HAND, (0.4, 0.1, 0.5))
    assert solve_stated(ARM, [point]).success
    mixed: list[pz.Task | pz.PostureTask] = [point, pz.PostureTask(ARM.home)]
    assert pz.solve(ARM, mixed).success


def test_a_list_of_limits_of_several_kinds_is_a_list_of_limits() -> None:
    point = pz.PositionTask(HAND, [0.4, 0.1, 0.5])
    speeds = [pz.VelocityLimit(1.0), pz.AccelerationLimit(10.0)]
    tracker = pz.Tracker(ARM, point, dt=0.01, limits=speeds)
    assert ARM.within_limits(tracker.step(ARM.home))
    arm, near = shaped(), pz.CollisionLimit(ball())
    limits = [near, pz.AccelerationLimit(10.0)]
    assert pz.Tracker(arm, point, dt=0.01, limits=limits).step(arm.home).shape == (7,)
    apart = [near]
    assert pz.solve(arm, point, limits=apart).success


def test_a_path_is_timed_within_a_list_of_limits() -> None:
    arm, here = shaped(), ARM.pose(HAND, ARM.home)
    limits = [pz.CollisionLimit(ball()), pz.VelocityLimit(1.0), pz.AccelerationLimit(5.0)]
    line = pz.SE3(np.stack([(pz.SE3.from_parts([0, 0.01 * k, 0]) @ here).array for k in range(3)]))
    path = pz.solve_path(arm, pz.PoseTask(HAND), line, q0=arm.home, limits=limits)
    assert path.success
    times: npt.NDArray[np.float64] | None = path.times
    assert times is not None
    assert path.times[-1] == path.duration > 0.0
    assert np.diff(path.times).min() > 0.0


def test_targets_are_what_numpy_makes_arrays_of() -> None:
    goal = pz.PoseTask(HAND)
    pose = ARM.pose(HAND, Q)
    for target in (pose, pose.array, pose.array.tolist(), pose.matrix()):
        assert pz.Solver(ARM, goal)(target, Q).success
    for branch in pz.solve_all(ARM, goal, pose, samples=2):
        assert branch.q.shape == (7,)


def test_an_error_says_which_units_it_has() -> None:
    (error,) = pz.solve(ARM, pz.PositionTask(HAND, [2.0, 0.0, 0.5])).errors
    if error.position is not None:
        assert error.position > 0.1
    assert error.rotation is None
    tracker = pz.Tracker(ARM, [pz.PositionTask(HAND), pz.PoseTask(HAND)], dt=0.01)
    tracker.step(ARM.home, [[0.4, 0.1, 0.5], ARM.pose(HAND, ARM.home)])
    assert max(error.position for error in tracker.errors) > 0.0
    trace = pz.solve(ARM, pz.PositionTask(HAND, [0.4, 0.1, 0.5]), method="lm", trace=True).trace
    assert trace.error[-1] < 1e-6


@dataclass(frozen=True, kw_only=True)
class Wipe(pz.Task):
    """Stay on the plane z = slope x."""

    frame: str
    slope: float
    unit = "m"

    @staticmethod
    def residual(frames: Any, numbers: Any, out: Any) -> None:
        out[0] = frames[0, 2] - numbers[0] * frames[0, 0]


def test_a_task_of_ones_own_stands_among_the_others() -> None:
    tasks = [Wipe(frame=HAND, slope=0.8), pz.ConeTask(HAND, axis=(0, 0, 1), target=(0, 0, -1), angle=0.2)]
    assert pz.solve(ARM, tasks).success


def test_a_calibration_tells_arrays_and_words() -> None:
    q = ARM.sample(10, seed=1)
    measured = [
        Measurements(HAND, q, ARM.pose(HAND, q), std=(1e-4, 1e-3)),
        Measurements(HAND, q.tolist(), ARM.pose(HAND, q).xyz, std=1e-4),
    ]
    found = pz.calibrate(ARM, measured, free=["base", "panda_joint4.offset"], prior={"base.xyz": 1e-2})
    std: npt.NDArray[np.float64] = found.std
    result: pz.results.Calibration = found
    assert std.shape == (len(result.names),)
    assert ARM.pose(HAND, q).isclose(found.model.pose(HAND, q), atol=1e-9).all()
