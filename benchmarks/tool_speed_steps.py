"""Steps of a Tracker with a ToolSpeedLimit, beside the same without: how much more time they take.

A hand follows a target that swings to and fro at a share of the speed that it may have; at a share of 0 the limit is so
high that it is never met, and at one above 1 the hand goes at it nearly all the time.

python benchmarks/tool_speed_steps.py
"""

import time
from typing import Any

import numpy as np

import poise as pz

SPEED = 0.25
"""Of the tool [m/s]."""
PERIOD = 3.0
"""Of the target's swing [s]."""
STEPS, ROUNDS = 1500, 5
SETTLED = 0.5
"""Until then nothing is timed: the hand, which is at rest, catches up with its target at its limits [s]."""
PACES: dict[str, list[Any]] = {
    "speeds": [],
    "accelerations": [pz.AccelerationLimit(10.0)],
    "jerks": [pz.AccelerationLimit(10.0), pz.JerkLimit(300.0)],
}


def target(model: pz.Model, frame: str, q: np.ndarray, speed: float, dt: float) -> np.ndarray:
    """(SETTLED / dt + STEPS, 7) poses that begin where q (nq,) is, and go at most so fast [m/s]."""
    turn, count = 2.0 * np.pi / PERIOD, round(SETTLED / dt) + STEPS
    angle, poses = turn * dt * np.arange(count), np.tile(model.pose(frame, q).array, (count, 1))
    poses[:, :2] += speed / turn * np.stack([0.7 * (np.cos(angle) - 1.0), np.sin(angle)], axis=1)
    return poses


def took(tracker: pz.Tracker, q: np.ndarray, poses: np.ndarray) -> float:
    """Seconds of processor time a step, of the last STEPS of those from q (nq,) along `poses` (..., 7)."""
    tracker.reset()
    for pose in poses[:-STEPS]:
        q = tracker.step(q, pose)
    began = time.process_time()
    for pose in poses[-STEPS:]:
        q = tracker.step(q, pose)
    return (time.process_time() - began) / STEPS


def run() -> None:
    """Print a row an arm, time step, pace and share: microseconds a step without and with the limit, their ratio."""
    print(f"{'arm':<6} {'dt [s]':>7} {'limits':<14} {'share':>6} {'without [us]':>13} {'with [us]':>10} {'ratio':>6}")
    for name, frame in (("panda", "panda_hand"), ("ur5e", "tool0")):
        model = pz.load(name)
        q = np.array(model.home) + (0.0 if model.home.any() else 0.3 * np.array([1.0, -3.0, 4.0, -1.0, 2.0, 1.0]))
        for dt in (0.002, 0.01):
            for pace, limits in PACES.items():
                for share in (0.0, 0.25, 0.5, 0.8, 1.2):
                    most = 50.0 if share == 0.0 else SPEED
                    safe = pz.ToolSpeedLimit(frame, linear=most, angular=4.0 * most)
                    trackers = [
                        pz.Tracker(model, pz.PoseTask(frame), "dls", dt=dt, limits=[*limits, *some])
                        for some in ([], [safe])
                    ]
                    poses = target(model, frame, q, SPEED * (share or 0.5), dt)
                    without, bounded = np.median(
                        [[took(tracker, q, poses) for tracker in trackers] for _ in range(ROUNDS)], axis=0
                    )
                    print(
                        f"{name:<6} {dt:7g} {pace:<14} {share:6g} {1e6 * without:13.2f} {1e6 * bounded:10.2f} "
                        f"{bounded / without:6.3f}",
                        flush=True,
                    )


if __name__ == "__main__":
    run()
