"""What a user waits for before and around the first solve: import, compilation, process time of the command."""

import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np
from robots import Robot, panda

import poise as pz
from poise.kernels.machine.jit import entry_point, prepare
from poise.kernels.machine.kinds import WHOLE

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

FIRST_ANSWER = """
from time import perf_counter
begin = perf_counter()
import numpy
loaded = perf_counter()
import poise as pz
goal = pz.PoseTask("panda_hand", target=pz.SE3.from_xyz_rpy([0.4, 0.1, 0.5], [3.14159, 0.0, 0.0]))
assert pz.solve(pz.load("panda"), goal).success
print(loaded - begin, perf_counter() - loaded)
"""


FIRST_TRACKER = """
import sys
from time import perf_counter
import poise as pz
arm = pz.load(sys.argv[1])
goal = pz.PoseTask(sys.argv[2], target=pz.SE3.from_xyz_rpy([0.4, 0.1, 0.5], [3.14159, 0.0, 0.0]))
assert pz.solve(arm, goal).success
begin = perf_counter()
pz.Tracker(arm, goal).step(arm.home)
print(perf_counter() - begin)
begin = perf_counter()
pz.solve(arm, goal, method="sdls")
print(perf_counter() - begin)
"""


def startup() -> dict[str, float]:
    """Seconds by what is measured: the median of its repeats."""
    arm = panda()
    humanoid = pz.load("talos_full", base="floating")
    soles = ("left_sole_link", "right_sole_link", "gripper_left_base_link", "gripper_right_base_link")
    solve = [sys.executable, "-c", FIRST_SOLVE, str(arm.urdf), *arm.tips]
    command = [sys.executable, "-m", "poise", "solve", str(arm.urdf), "--frame", *arm.tips]
    command += ["--xyz", "0.4", "0.1", "0.5", "--rpy", "3.14159", "0", "0"]
    warmup = [sys.executable, "-m", "poise", "warmup"]
    bare = [sys.executable, "-c", "import numpy"]
    answer = [sys.executable, "-c", FIRST_ANSWER]
    follow = [sys.executable, "-c", FIRST_TRACKER, str(arm.urdf), *arm.tips]
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as other:
        begin = perf_counter()
        output(command, POISE_CACHE_DIR=other)
        whole = perf_counter() - begin
        fresh = float(output(solve, POISE_CACHE_DIR=cache))
        tracker, method = map(float, output(follow, POISE_CACHE_DIR=cache).split())
        beside = [map(float, output(answer, POISE_CACHE_DIR=cache).split()) for _ in range(REPEATS + 1)][1:]
        numpy, first = map(statistics.median, zip(*beside, strict=True))
        begin = perf_counter()
        output(warmup, POISE_CACHE_DIR=other)
        warm = perf_counter() - begin
        return {
            "`poise solve`, the whole process, fresh cache": whole,
            "a first Tracker, after a first solve": tracker,
            "a first solve by another method (sdls), after that": method,
            "`poise warmup`, after a first solve": warm,
            "import poise": median_of([sys.executable, "-c", IMPORT]),
            "import, load, first solve, kernels compiled: fresh cache": fresh,
            "import, load, first solve, kernels loaded: warm cache": median_of(solve, POISE_CACHE_DIR=cache),
            "import numpy, as a scale": numpy,
            "after that, by name: import poise, load, first solve": first,
            "`python -c 'import numpy'`, the whole process, as a scale": process_time(bare),
            "`poise solve`, the whole process, warm cache": process_time(command, POISE_CACHE_DIR=cache),
            "pz.Solver(arm, goal), prepared": prepare_time(pz.load(str(arm.urdf)), arm.tips[:1]),
            "the same of Talos with four poses": prepare_time(humanoid, soles),
            **call_times(arm),
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


def prepare_time(model: pz.Model, frames: Sequence[str]) -> float:
    """Median time to prepare a solver [s]."""
    times, goals = [], [pz.PoseTask(frame) for frame in frames]
    for _ in range(20 * REPEATS):
        begin = perf_counter()
        pz.Solver(model, goals)
        times.append(perf_counter() - begin)
    return statistics.median(times)


def call_times(robot: Robot) -> dict[str, float]:
    """What a call of a Solver takes that has nothing to do, and how much of that is Python's [s]."""
    arm = pz.load(str(robot.urdf))
    solver, q = pz.Solver(arm, pz.PoseTask(robot.tips[0])), np.array(arm.home)
    target = arm.pose(robot.tips[0], q)
    solver(target, q)
    search = solver._search
    (scratch,) = search.bound.idle
    whole = each(lambda: solver(target, q))
    kernel = each(lambda: search.bound.run(scratch.address))
    prepare(nothing)
    return {
        "a call of a Solver that is at its target": whole,
        "of it Python's": whole - kernel,
        "an entry point that does nothing": each(lambda: nothing(0)) - each(lambda: None),
    }


@entry_point(WHOLE)
def nothing(address: int) -> int:
    """An entry point that does nothing."""
    return address


def each(call: Callable[[], object], count: int = 1000) -> float:
    """The least mean time of a call over many loops [s]."""
    least = math.inf
    for _ in range(200):
        begin = perf_counter()
        for _ in range(count):
            call()
        least = min(least, (perf_counter() - begin) / count)
    return least


def output(command: list[str], **environment: str) -> str:
    """What a process prints; raises CalledProcessError if it fails."""
    done = subprocess.run(command, env=os.environ | environment, check=True, capture_output=True, text=True)
    return done.stdout
