"""Robots with closed loops of the collection example-parallel-robots: are they closed, and do they follow.

    python benchmarks/mechanisms.py FOLDER [--targets 20]

FOLDER has a folder for each robot, with its `robot.urdf` and `robot.yaml`.  Random motors near those of the closed
configuration that is nearest to home lead a frame somewhere; `solve` is to come there from that configuration.  It
prints how many motors close the loops, how many of these poses are reached, the widest gap by poses alone, and the
time of a `close` and a `solve`.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

import poise as pz

FRAMES = {
    "5bar_linkage": "effector",
    "digit_like_2legs": "tarsus",
    "disney_like": "closedloop1_A",
    "kangaroo_like_2legs": "foot_right",
    "robot_delta": "effector",
    "talos_like": "foot",
}
"""The frame of each that is led."""
BALLS = {"kangaroo_like_2legs": {"*spherical*": "spherical"}}
"""Joints that are balls by their names alone."""
NEAR = {"revolute": 0.15, "continuous": 0.15, "prismatic": 0.01}
"""How far motors go, by kind [rad or m]."""


def gap(model: pz.Model, q: np.ndarray) -> float:
    """How far the origins of the worst loop are apart [m]; of a weld also its turn [rad]."""
    apart = [model.pose(loop.second, q).inverse() @ model.pose(loop.first, q) for loop in model.loops]
    kept = [slice(6 if loop.kind == "pose" else 3) for loop in model.loops]
    return max(float(np.linalg.norm(pose.log()[rows])) for pose, rows in zip(apart, kept, strict=True))


def judge(model: pz.Model, frame: str, targets: int) -> str:
    """What is printed of a robot."""
    rng, motors, times = np.random.default_rng(0), model.groups["actuated"], ([], [])
    places = [model.index(name).start for name in motors]
    near = [NEAR[str(model.joint(name).kind.value)] for name in motors]
    nearest = pz.solve(model, pz.PostureTask(target=model.home)).q
    start = model.close(nearest[places], q0=nearest)
    if not start.success:
        return start.message
    closed, reached, widest = 0, 0, gap(model, start.q)
    for _ in range(targets):
        began = time.process_time()
        led = model.close(start.q[places] + rng.uniform(-1.0, 1.0, len(places)) * near, q0=start.q)
        times[0].append(time.process_time() - began)
        if led.success:
            began = time.process_time()
            found = pz.solve(model, pz.PoseTask(frame, model.pose(frame, led.q)), q0=start.q)
            times[1].append(time.process_time() - began)
            closed, reached = closed + 1, reached + found.success
            widest = max(widest, gap(model, led.q))
    closing, solving = (1e3 * float(np.median(some)) if some else np.nan for some in times)
    return (
        f"{closed} of {targets} closed, {reached} reached, {widest:.1e}; close {closing:.2f} ms, solve {solving:.2f} ms"
    )


def main() -> None:
    """Judge all robots of a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--targets", type=int, default=20)
    given = parser.parse_args()
    warnings.simplefilter("ignore", pz.ModelWarning)
    for name, frame in FRAMES.items():
        model = pz.load(given.folder / name / "robot.urdf", joints=BALLS.get(name, {}))
        print(f"{name}: {judge(model, frame, given.targets)}", flush=True)


if __name__ == "__main__":
    main()
