"""Calls between other work, in C and in Python: a loop makes a pose of a matrix before and copies the answer after.

    python benchmarks/rim.py [ROUNDS]

All ways of one round are called in turn on the same problems, with the caches emptied of them by work in between: the
median and the 99th percentile of each [us], and the ratio of the rim to the calls that Python makes. It needs a
library, see `python -m poise.build`.
"""

import sys
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

import numpy as np

import poise as pz
from poise.kernels.rim import rim

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
            pose = pz.SE3.from_matrix(matrix)
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


def main() -> None:
    """Print the figures."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    if rim() is None:
        raise SystemExit("there is no rim here: run python -m poise.build")
    for name in ARMS:
        arm = pz.load(name)
        task = pz.PoseTask(arm.tip)
        solver, plain = pz.Solver(arm, task), pz.Solver(arm, task)
        plain._search._line = None
        tracker, slow = pz.Tracker(arm, task, dt=0.002), pz.Tracker(arm, task, dt=0.002)
        slow._line = None
        q = arm.sample(2 * COUNT, seed=5)
        inputs = [(arm.pose(arm.tip, a).matrix(), b) for a, b in zip(q[:COUNT], q[COUNT:], strict=True)]
        near = [(arm.pose(arm.tip, a).matrix(), a + 0.01) for a in q[:COUNT]]
        calls = {
            "solver, Python": lambda T, q0, f=plain: f(T, q0).q,
            "solver": lambda T, q0, f=solver: f(T, q0).q,
            "solve, a new task": lambda T, q0, arm=arm: pz.solve(arm, pz.PoseTask(arm.tip, T), q0=q0).q,
        }
        steps = {
            "step, Python": lambda T, q0, f=slow.step: f(q0, T),
            "step": lambda T, q0, f=tracker.step: f(q0, T),
        }
        for title, ways, some in ((name, calls, inputs), (f"{name}, near", calls, near), (name, steps, near)):
            runs: dict[str, list[list[int]]] = {way: [] for way in ways}
            for _ in range(rounds):
                for way, found in timed(ways, some).items():
                    runs[way].append(found)
            told(title, runs, next(iter(ways)))


if __name__ == "__main__":
    main()
