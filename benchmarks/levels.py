"""The same solves on each level of instructions that the library has, and as Numba compiles them for this CPU.

    python benchmarks/levels.py [ROUNDS]

A process a level, one after the other in each round: times in one run, as ratios to `native`, and how far the answers
are from those of `native`.  It needs a library, see `python -m poise.build`, and Numba.
"""

import json
import os
import subprocess
import sys
from statistics import median

import numpy as np

from poise.kernels.machine.library import NATIVE, library

COUNT = 1000
ROBOTS = ("panda", "iiwa14", "ur10")


def measure() -> None:
    """Solve, and print the least of a few medians [us] and the answers, of each robot."""
    from time import perf_counter_ns

    import poise as pz

    found = {}
    for name in ROBOTS:
        arm = pz.load(name)
        q = arm.sample(2 * COUNT, seed=5)
        solver = pz.Solver(arm, pz.PoseTask(arm.tip))
        targets = [arm.pose(arm.tip, each) for each in q[:COUNT]]
        medians = []
        for _ in range(5):
            times, answers = [], []
            for target, start in zip(targets, q[COUNT:], strict=True):
                begun = perf_counter_ns()
                solution = solver(target, start)
                times.append(perf_counter_ns() - begun)
                answers.append(solution.q)
            medians.append(median(times) / 1e3)
        found[name] = min(medians), np.array(answers).tolist()
    print(json.dumps(found))


def run(level: str) -> dict[str, tuple[float, list[list[float]]]]:
    """What a process with this level prints."""
    environment = {**os.environ, "POISE_CPU": level}
    done = subprocess.run([sys.executable, __file__, "measure"], env=environment, check=True, capture_output=True)
    return json.loads(done.stdout)


def main(rounds: int = 3) -> None:
    """Print a line a robot and level."""
    ahead = library()
    assert ahead is not None, "there is no library here: python -m poise.build"
    levels = (NATIVE, *ahead.usable)
    found = [{level: run(level) for level in levels} for _ in range(rounds)]
    print("robot     level     us a call  by native  farthest answer [rad]")
    for name in ROBOTS:
        here = np.array(found[0][NATIVE][name][1])
        for level in levels:
            least = min(each[level][name][0] for each in found)
            ratio = median(each[level][name][0] / each[NATIVE][name][0] for each in found)
            apart = np.abs(np.array(found[0][level][name][1]) - here).max()
            print(f"{name:9} {level:9} {least:9.2f} {ratio:10.2f}  {apart:.2g}")


if __name__ == "__main__":
    measure() if sys.argv[1:] == ["measure"] else main(*map(int, sys.argv[1:]))
