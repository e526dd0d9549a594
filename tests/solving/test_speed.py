"""A Tracker at a part of the model's velocity limits."""

import pickle
from typing import Any

import numpy as np
import pytest
from support.refusals import refused

import poise as pz


def steps(tracker: pz.Tracker, q: np.ndarray, count: int) -> np.ndarray:
    """(count, nq) velocities of so many steps [rad/s]."""
    out = []
    for _ in range(count):
        after = tracker.step(q).copy()
        out.append((after - q) / 0.01)
        q = after
    return np.array(out)


@pytest.mark.parametrize("method", ["dls", "qp", "priority"])
@pytest.mark.parametrize("speed", [0.25, 0.5, 1.0])
def test_no_joint_goes_faster_than_its_part(method: str, speed: float) -> None:
    arm = pz.load("panda")
    target = arm.pose(arm.tip, arm.sample(seed=3))
    tracker = pz.Tracker(arm, pz.PoseTask(arm.tip, target), method, dt=0.01, speed=speed)
    share = np.abs(steps(tracker, arm.home, 40)) / arm.velocity
    assert share.max() <= speed + 1e-9
    assert share.max() >= 0.9 * speed  # and it makes use of it


def test_a_rollout_and_a_copy_keep_the_speed() -> None:
    arm = pz.load("ur5e")
    tracker = pz.Tracker(arm, pz.PoseTask("tool0"), dt=0.01, speed=0.1)
    targets = pz.SE3(np.tile(arm.pose("tool0", arm.sample(seed=3)).array, (30, 1)))
    for one in (tracker, pickle.loads(pickle.dumps(tracker))):
        path = np.vstack([arm.home, one.rollout(arm.home, targets)])
        assert (np.abs(np.diff(path, axis=0)) / 0.01 <= 0.1 * arm.velocity + 1e-9).all()


def test_the_way_round_is_as_slow() -> None:
    arm = pz.load("ur5e")
    tracker = pz.Tracker(arm, pz.PoseTask("tool0"), "qp", dt=0.01, speed=0.2, explore=True)
    tracker.aim(arm.pose("tool0", arm.sample(seed=9)))
    assert (np.abs(steps(tracker, arm.home, 400)) <= 0.2 * arm.velocity + 1e-9).all()


@pytest.mark.parametrize(
    ("speed", "code"),
    [
        *((speed, "out-of-range") for speed in (0.0, -0.5, 1.5)),
        (float("nan"), "not-finite"),
        *((speed, "not-a-number") for speed in (True, "fast", None)),
    ],
)
def test_a_speed_that_is_no_part_is_refused(speed: Any, code: str) -> None:
    arm = pz.load("ur5e")
    with refused(code, "speed"):
        pz.Tracker(arm, pz.PoseTask("tool0"), dt=0.01, speed=speed)


def test_a_speed_needs_a_time_and_limits() -> None:
    arm = pz.load("ur5e")
    with pytest.raises(ValueError, match=r"speed=0.5 needs the time of a step: give the Tracker dt"):
        pz.Tracker(arm, pz.PoseTask("tool0"), speed=0.5)
    with pytest.raises(ValueError, match=r"planar3 has none: state them with model.with_limits\(velocity="):
        pz.Tracker(pz.load("planar3"), pz.PositionTask("tool"), dt=0.01, speed=0.5)
