"""Calls between other work, in C and in Python: a loop makes a pose of a matrix before and copies the answer after.

    python benchmarks/fast_path.py [ROUNDS]

All ways of one round are called in turn on the same problems, with the caches emptied of them by work in between: the
median and the 99th percentile of each [us], and the ratio of the fast path to the calls that Python makes. It needs a
library, see `python -m poise.build`.
"""

import sys
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

import numpy as np
from g1 import g1_boxed

import poise as pz
from poise.kernels.fast_path import load_fast_path

COUNT = 1000
ARMS = ("panda", "iiwa14", "ur10")
NOISE = np.random.default_rng(1).normal(size=(160, 160))


def between() -> None:
    """What else a loop does."""
    (NOISE @ NOISE[:, :40]).sum()
    sorted({str(i): i for i in range(60)})


def timed(ways: dict[str, Callable[[Any, Any], Any]], inputs: list[Any]) -> dict[str, list[int]]:
    """[ns] of each way on the same inputs, one after the other."""
    times: dict[str, list[int]] = {name: [] for name in ways}
    kept = np.empty(len(inputs[0][1]))
    for matrix, q0 in inputs:
        for name, way in ways.items():
            between()
            pose = list(map(pz.SE3.from_matrix, matrix)) if isinstance(matrix, list) else pz.SE3.from_matrix(matrix)
            begun = perf_counter_ns()
            kept[:] = way(pose, q0)
            times[name].append(perf_counter_ns() - begun)
    return times


def told(title: str, times: dict[str, list[list[int]]], base: str) -> None:
    """A line a way."""
    figures = {
        name: np.median([np.percentile(x, (50, 99)) for x in runs], axis=0) / 1e3 for name, runs in times.items()
    }
    for name, (middle, late) in figures.items():
        ratios = figures[name] / figures[base]
        print(f"{title:10} {name:22} {middle:6.1f} us {late:7.1f} us p99   {ratios[0]:.2f} {ratios[1]:.2f}")


def raced(title: str, model: pz.Model, frames: list[str], starts: Any, rounds: int) -> None:
    """Lines for a robot whose frames are led from configurations near those that fulfil the targets, and far ones."""
    single = len(frames) == 1
    tasks = [pz.PoseTask(frame) for frame in frames]
    solver, plain = pz.Solver(model, tasks), pz.Solver(model, tasks)
    plain._search._line = None
    tracker, slow = pz.Tracker(model, tasks, dt=0.002), pz.Tracker(model, tasks, dt=0.002)
    slow._line = None

    def targets(q: Any) -> Any:
        poses = [model.pose(frame, q).matrix() for frame in frames]
        return poses[0] if single else poses

    def stated(poses: Any) -> list[pz.PoseTask]:
        return [pz.PoseTask(frame, T) for frame, T in zip(frames, [poses] if single else poses, strict=True)]

    far = [(targets(a), b) for a, b in zip(starts, np.roll(starts, 1, axis=0), strict=True)]
    near = [(targets(a), model.integrate(a, np.full(model.nv, 0.01))) for a in starts]
    calls = {
        "solver, in Python": lambda T, q0: plain(T, q0).q,
        "solver": lambda T, q0: solver(T, q0).q,
        "solve, new tasks": lambda T, q0: pz.solve(model, stated(T), q0=q0).q,
    }
    steps = {"step, in Python": lambda T, q0: slow.step(q0, T), "step": lambda T, q0: tracker.step(q0, T)}
    for name, ways, some in ((title, calls, far), (f"{title}, near", calls, near), (title, steps, near)):
        runs: dict[str, list[list[int]]] = {way: [] for way in ways}
        for _ in range(rounds):
            for way, found in timed(ways, some).items():
                runs[way].append(found)
        told(name, runs, next(iter(ways)))


def main() -> None:
    """Print the figures."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    if load_fast_path() is None:
        raise SystemExit("there is no C fast path here: run python -m poise.build")
    for name in ARMS:
        arm = pz.load(name)
        raced(name, arm, [arm.tip], arm.sample(COUNT, seed=5), rounds)
    body, stance, _ = g1_boxed(1, fingers=False)
    frames = ["left_ankle_roll_link", "right_ankle_roll_link", "left_wrist_yaw_link", "right_wrist_yaw_link"]
    steps = np.random.default_rng(5).uniform(-0.1, 0.1, (COUNT // 5, body.nv))
    raced("G1", body, frames, body.clip(body.integrate(stance, steps)), rounds)


if __name__ == "__main__":
    main()
