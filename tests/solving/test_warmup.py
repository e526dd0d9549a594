"""What `poise warmup` compiles is all that the library ever compiles of its own."""

import subprocess
import sys

import pytest

from poise.cli import main
from poise.kernels.machine.jit import compiler

# In a process of its own, for what is compiled in this one waits no more.
LEFT_OUT = """
from poise.kernels.machine.jit import Kernel, Role
from poise.solving.solvers.warmup import jobs, modules

told = [getattr(job[0], "function", job[0]) for job in jobs()]
for module in modules():
    for name, value in vars(module).items():
        kept = isinstance(value, Kernel) and value.role in (Role.ENTRY, Role.ROUTINE)
        if kept and value.__module__ == module.__name__:
            if not any(value is each for each in told):
                print(module.__name__, name)
"""

USED = """
from numba.core import event
recorder = event.RecordingListener()
event.register("numba:compile", recorder)

import numpy as np
import poise as pz
from poise.robots.planar import planar
from poise.solving.tracking.optimum import relax

panda, hand = pz.load("panda"), "panda_hand"
goal, home = panda.pose(hand, panda.home), panda.home
place = pz.PositionTask(hand, goal.xyz)

# Tasks that are not required, of every kind of start and finish.
least = pz.OrientationTask(hand, pz.SO3.from_rpy([2.0, 0.0, 0.3]), required=False)
pz.solve(panda, [place, least])
pz.solve_batch(panda, [pz.PositionTask(hand), least], [[goal.xyz] * 9, None])
pz.solve(panda, [place, pz.PostureTask()])

# The least of a criterion.
five = planar(5)
relax(five, pz.PositionTask("tool"), np.full(5, 0.4), limits=False)

# Shapes, and how fast distances grow.
world = pz.World({"ball": pz.Sphere((0.6, 0.4, 0.5), 0.1)})
armed = pz.load("example-robot-data/panda_collision")
apart = pz.CollisionLimit(world, min_distance=0.01)
armed.distance(armed.home, world)
pz.solve(armed, pz.PoseTask(hand, armed.pose(hand, armed.home)), limits=[apart])
pz.Tracker(armed, pz.PoseTask(hand, armed.pose(hand, armed.home)), dt=0.01, limits=[apart]).step(armed.home)
line = [pz.SE3.from_parts(goal.xyz + [0.0, y, 0.0], goal.rotation) for y in np.linspace(0.0, 0.1, 6)]
pz.solve_path(armed, pz.PoseTask(hand), line, limits=[apart])
pz.solve_path(panda, pz.PoseTask(hand), line)

# Ranges, several levels, eight characters, closed forms, maps.
region = pz.RegionTask(hand, pz.HalfSpace((0.0, 0.0, 0.1), (0.0, 0.0, -1.0)))
pz.Tracker(panda, [place, region], dt=0.01).step(home)
pz.Tracker(panda, [place, pz.OrientationTask(hand, priority=1)]).step(home)
ur = pz.load("ur5e")
pz.solve_all(ur, pz.PoseTask(ur.tip, ur.pose(ur.tip, ur.home + 0.3)))
pz.reach(ur, grid=0.3, orientations=0, budget=1)
panda.jacobian(hand, home)
print(len(recorder.buffer))
"""


def test_it_knows_of_every_function_that_is_kept() -> None:
    run = subprocess.run([sys.executable, "-c", LEFT_OUT], capture_output=True, text=True, timeout=300, check=True)
    assert run.stdout == ""


def test_nothing_is_compiled_after_it(capsys: pytest.CaptureFixture[str]) -> None:
    compiler()
    assert main(["warmup", "--json"]) == 0
    capsys.readouterr()
    run = subprocess.run([sys.executable, "-c", USED], capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    assert (run.stdout, run.stderr) == ("0\n", "")
