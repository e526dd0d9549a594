"""What a user waits for before and around the first solve: import, compilation, process time of the command."""

import os
import statistics
import subprocess
import sys
import tempfile
from time import perf_counter

from robots import Robot, arms

import poise as pz

REPEATS = 7
"""Processes a row, except with a fresh cache, of which one is slow enough."""

IMPORT = """
from time import perf_counter
begin = perf_counter()
import poise
print(perf_counter() - begin)
"""

FIRST_SOLVE = """
import sys
from time import perf_counter
begin = perf_counter()
import poise as pz
arm = pz.load(sys.argv[1])
goal = pz.PoseTask(sys.argv[2], target=pz.SE3.from_xyz_rpy([0.4, 0.1, 0.5], [3.14159, 0.0, 0.0]))
assert pz.solve(arm, goal).success
print(perf_counter() - begin)
"""


def startup() -> dict[str, float]:
    """Seconds by what is measured: the median of its repeats."""
    panda = arms()[0]
    solve = [sys.executable, "-c", FIRST_SOLVE, str(panda.urdf), *panda.tips]
    command = [sys.executable, "-m", "poise", "solve", str(panda.urdf), "--frame", *panda.tips]
    command += ["--xyz", "0.4", "0.1", "0.5", "--rpy", "3.14159", "0", "0"]
    with tempfile.TemporaryDirectory() as cache:
        fresh = float(output(solve, POISE_CACHE_DIR=cache))
        return {
            "import poise": median_of([sys.executable, "-c", IMPORT]),
            "import, load, first solve, kernels compiled: fresh cache": fresh,
            "import, load, first solve, kernels loaded: warm cache": median_of(solve, POISE_CACHE_DIR=cache),
            "`poise solve`, the whole process, warm cache": process_time(command, POISE_CACHE_DIR=cache),
            "pz.Solver(arm, goal), prepared": prepare_time(panda),
        }


def median_of(command: list[str], **environment: str) -> float:
    """Median of what the processes print [s]."""
    return statistics.median(float(output(command, **environment)) for _ in range(REPEATS))


def process_time(command: list[str], **environment: str) -> float:
    """Median time from start to end of a process [s]."""
    times = []
    for _ in range(REPEATS + 1):
        begin = perf_counter()
        output(command, **environment)
        times.append(perf_counter() - begin)
    # The first may compile kernels that only the command uses.
    return statistics.median(times[1:])


def prepare_time(robot: Robot) -> float:
    """Median time to prepare a solver [s]."""
    arm, times = pz.load(str(robot.urdf)), []
    goal = pz.PoseTask(robot.tips[0])
    for _ in range(20 * REPEATS):
        begin = perf_counter()
        pz.Solver(arm, goal)
        times.append(perf_counter() - begin)
    return statistics.median(times)


def output(command: list[str], **environment: str) -> str:
    """What a process prints; raises CalledProcessError if it fails."""
    done = subprocess.run(command, env=os.environ | environment, check=True, capture_output=True, text=True)
    return done.stdout
