"""How a Tracker with accelerations and jerks goes to its target: as without them, where it does not need them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import ruckig
from scipy.optimize import lsq_linear

import poise as pz

Array = npt.NDArray[np.float64]
Way = Callable[[float], Array]
ARMS: dict[str, tuple[str, Any, float, list[float]]] = {
    "panda": ("panda_hand", pz.PoseTask, 1.0, [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785]),
    "ur5e": ("tool0", pz.PoseTask, 1.0, [0.3, -1.4, 1.6, -1.7, -1.5, 0.2]),
    "iiwa14": ("iiwa_link_ee", pz.PoseTask, 1.0, [0.3, 0.5, 0.2, -1.4, 0.1, 0.8, 0.0]),
    "so101": ("gripper_frame_link", pz.PositionTask, 0.4, [0.1, -0.5, 0.6, 0.5, 0.1, 0.2]),
    "xarm7": ("link_eef", pz.PoseTask, 1.0, [0.2, -0.4, 0.1, 0.9, 0.1, 1.2, 0.1]),
}
"""Frame, task, how far it is led beside the others, and a start."""


class Arm:
    """A robot, its task, and where it starts."""

    def __init__(self, name: str) -> None:
        self.frame, task, self.size, start = ARMS[name]
        self.model, self.start = pz.load(name), np.array(start)
        self.task = task(self.frame)
        self.here = self.model.pose(self.frame, self.start)
        self.places = task is pz.PositionTask

    def follow(self, way: Array, dt: float, method: str = "dls", updates: int = 1, **limits: float) -> Array:
        """(steps + 1, nq) the way of a Tracker towards each row of `way` (steps, 3), its rotation as at the start."""
        stated: list[Any] = [
            kind(limits[name])
            for name, kind in (("acceleration", pz.AccelerationLimit), ("jerk", pz.JerkLimit))
            if name in limits
        ]
        ik = pz.Tracker(self.model, self.task, method, dt=dt, updates=updates, limits=stated or True)
        targets = way if self.places else np.hstack([way, np.tile(self.here.wxyz, (len(way), 1))])
        return np.vstack([self.start, ik.rollout(self.start, targets[:, None])])

    def places_of(self, path: Array) -> Array:
        """(steps, 3) where the frame is at each row of `path`."""
        return np.asarray(self.model.pose(self.frame, path).xyz)

    def smooth(self, kind: str, speed: float, dt: float, steps: int) -> Array:
        """(steps, 3) a line, a sine or three sines at once, at about `speed` [m/s], which begin at rest."""
        t, reach = np.arange(steps) * dt, 0.08 * self.size
        s = np.clip(t / 0.6, 0.0, 1.0)
        begin, w = s**3 * (10.0 - 15.0 * s + 6.0 * s**2), speed / reach
        if kind == "line":
            x = speed * (0.6 * (2.5 * s**4 - 3.0 * s**5 + s**6) + np.maximum(t - 0.6, 0.0))
            moved = np.outer(x, [0.0, 0.9, -0.4])
        elif kind == "sine":
            moved = np.outer(begin * reach * np.sin(w * t), [0.0, 1.0, 0.0])
        else:
            several = [np.sin(w * t), np.sin(1.7 * w * t + 1.0) - np.sin(1.0), np.sin(0.6 * w * t)]
            moved = 0.6 * reach * (begin * np.array(several)).T
        return np.asarray(self.here.xyz + moved)


def changes(path: Array, dt: float) -> tuple[Array, Array]:
    """Accelerations and jerks of a path that begins at rest."""
    v = np.diff(path, axis=0, prepend=path[:1])
    a = np.diff(v, axis=0) / dt**2
    return a, np.diff(a, axis=0) / dt


def rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


@pytest.mark.parametrize("kind", ["line", "sine", "three sines"])
@pytest.mark.parametrize("name", ARMS)
def test_limits_that_are_not_needed_are_not_felt(name: str, kind: str) -> None:
    arm = Arm(name)
    for speed, dt in ((0.03, 0.002), (0.1, 0.01), (0.2, 0.001), (0.3, 0.02)):
        way = arm.smooth(kind, speed * arm.size, dt, int(0.9 / dt))
        free = arm.follow(way, dt)
        a, j = (1.3 * np.abs(x).max() for x in changes(free, dt))
        for limits in ({"acceleration": a}, {"jerk": j}, {"acceleration": a, "jerk": j}):
            assert (arm.follow(way, dt, **limits) == free).all()


@pytest.mark.parametrize("name", ["panda", "ur5e"])
def test_nor_are_they_over_several_updates(name: str) -> None:
    arm = Arm(name)
    way = arm.smooth("sine", 0.1, 0.005, 300)
    free = arm.follow(way, 0.005, updates=3)
    a, j = (np.abs(x).max() for x in changes(free, 0.005))
    for limits, off in (({"acceleration": 1.3 * a}, 1e-12), ({"jerk": 4.0 * j}, 1e-9)):
        np.testing.assert_allclose(arm.follow(way, 0.005, updates=3, **limits), free, rtol=0, atol=off)


@pytest.mark.parametrize("method", ["qp", "priority", "sdls", "lm", "hybrid", "ccd"])
def test_nor_are_they_by_any_method(method: str) -> None:
    arm = Arm("panda")
    way = arm.smooth("three sines", 0.15, 0.005, 200)
    free = arm.follow(way, 0.005, method)
    a, j = (1.3 * np.abs(x).max() for x in changes(free, 0.005))
    np.testing.assert_allclose(arm.follow(way, 0.005, method, acceleration=a), free, rtol=0, atol=1e-9)
    np.testing.assert_allclose(arm.follow(way, 0.005, method, acceleration=a, jerk=j), free, rtol=0, atol=1e-9)


LIMITS = [{"acceleration": 15.0}, {"jerk": 300.0}, {"acceleration": 15.0, "jerk": 1000.0}]


def shortest(model: pz.Model, start: Array, end: Array, acceleration: float = 1e4, jerk: float = 1e8) -> float:
    """The time of the fastest stop at `end` from rest, by Ruckig [s]."""
    n = model.nq
    asked, found = ruckig.InputParameter(n), ruckig.Trajectory(n)
    asked.current_position, asked.target_position = list(start), list(end)
    asked.max_velocity = [float(v) for v in model.velocity]
    asked.max_acceleration, asked.max_jerk = [acceleration] * n, [jerk] * n
    assert ruckig.Ruckig(n).calculate(asked, found) == ruckig.Result.Working
    return float(found.duration)


@pytest.mark.parametrize("limits", LIMITS, ids=lambda x: "-".join(x))
@pytest.mark.parametrize("name", ARMS)
def test_a_jump_is_reached_in_time_and_not_overshot(name: str, limits: dict[str, float]) -> None:
    arm = Arm(name)
    for dt in (0.002, 0.01):
        for offset in ([0.0, 0.15, -0.1], [0.02, 0.0, 0.01]):
            jump = arm.size * np.array(offset)
            far = float(np.linalg.norm(jump))
            path = arm.follow(np.tile(arm.here.xyz + jump, (int(1.2 / dt), 1)), dt, **limits)
            left = arm.places_of(path) - arm.here.xyz - jump
            assert (left @ jump).max() <= 0.02 * far * far
            away = np.linalg.norm(left, axis=1)
            arrived = (len(away) - np.argmax(away[::-1] > 0.02 * far) - 1) * dt
            assert arrived <= 1.5 * shortest(arm.model, path[0], path[-1], **limits)
            assert away[-1] < 1e-6, "it rests there"


@pytest.mark.parametrize(("acceleration", "jerk"), [(10.0, 200.0), (15.0, 300.0)])
def test_an_arm_comes_to_rest_before_a_target_beyond_its_reach(acceleration: float, jerk: float) -> None:
    arm, dt = Arm("panda"), 0.004
    limits = [pz.AccelerationLimit(acceleration), pz.JerkLimit(jerk)]
    for seed in (10, 11):
        start, there = arm.model.sample(2, seed=seed)
        far = arm.model.pose(arm.frame, there)
        goal = np.concatenate([1.7 * far.xyz, far.wxyz])
        path = pz.Tracker(arm.model, arm.task, dt=dt, limits=limits).rollout(start, np.tile(goal, (5000, 1, 1)))
        assert np.abs(np.diff(path[-500:], axis=0)).max() / dt < 0.05


def test_rounding_is_not_amplified_beside_a_jerk() -> None:
    arm = Arm("panda").model
    ik = pz.Tracker(arm, pz.PoseTask("panda_hand"), dt=0.008, limits=[pz.AccelerationLimit(15.0), pz.JerkLimit(300.0)])
    for seed in range(8):
        poses = arm.pose("panda_hand", arm.sample(4, seed=seed))
        goals = np.repeat(np.concatenate([poses.xyz, poses.wxyz], axis=-1), 150, axis=0)[:, None, :]
        alone = ik.rollout(arm.home, goals)
        beside = ik.rollout(np.tile(arm.home, (8, 1)), np.tile(goals, (8, 1, 1, 1)))
        np.testing.assert_allclose(beside[3], alone, rtol=0, atol=1e-6)


@pytest.mark.parametrize("limits", LIMITS, ids=lambda x: "-".join(x))
@pytest.mark.parametrize("name", ["panda", "so101"])
def test_noise_is_filtered(name: str, limits: dict[str, float]) -> None:
    arm = Arm(name)
    for dt in (0.002, 0.01):
        steps = int(2.0 / dt)
        for way in (np.tile(arm.here.xyz, (steps, 1)), arm.smooth("sine", 0.05 * arm.size, dt, steps)):
            left = []
            for seed in range(8):  # of a single run the figure lies anywhere from 0.75 to 1.25
                path = arm.follow(way + 0.0015 * np.random.default_rng(seed).normal(size=(steps, 3)), dt, **limits)
                left.append((arm.places_of(path)[1:] - way)[steps // 4 :])
            assert rms(np.array(left)) < 0.0015 * 1.1


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("name", ["panda", "ur5e"])
def test_what_exceeds_the_limits_now_and_then_is_caught_up_with(name: str, order: int) -> None:
    """Beside the least squares of a whole motion of each joint that keeps the limits and knows the future.

    It may leave the target's way when the limits first bite, no sooner, as a tracker does that feels no limit before.
    """
    arm, dt = Arm(name), 0.01
    way = arm.smooth("three sines", 0.2, dt, 200)
    free = arm.follow(way, dt)
    most = 0.85 * float(np.abs(changes(free, dt)[order - 2]).max())
    path = arm.follow(way, dt, **{"acceleration" if order == 2 else "jerk": most})
    best = np.stack([nearest(x, most * dt**order, order) for x in free.T], axis=1)
    assert rms(arm.places_of(path)[1:] - way) <= 2.0 * rms(arm.places_of(best)[1:] - way)
    assert rms(changes(path, dt)[0]) <= 1.5 * rms(changes(best, dt)[0])


def nearest(x: Array, most: float, order: int) -> Array:
    """The nearest to x, by least squares, whose differences of this order are within `most`, from where x's are not."""
    n = len(x)
    beyond = np.abs(np.diff(x, order)) > most
    if not beyond.any():
        return x
    first = int(np.argmax(beyond)) + order
    sums = np.tril(np.ones((n - first, n - first)))
    for _ in range(order - 1):
        sums = sums @ np.tril(np.ones((n - first, n - first)))
    drift = np.array(x[:first])
    for _ in range(first, n):  # as it goes on with no difference of this order
        drift = np.append(
            drift, 2.0 * drift[-1] - drift[-2] if order == 2 else 3.0 * (drift[-1] - drift[-2]) + drift[-3]
        )
    found = lsq_linear(sums * most, x[first:] - drift[first:], (-1.0, 1.0), tol=1e-10)
    return np.asarray(np.append(x[:first], drift[first:] + most * sums @ found.x))
