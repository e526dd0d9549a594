"""Free ways of a Panda from MotionBenchMaker's start to its goals: `plan`, beside OMPL and, where it is built, VAMP.

    python benchmarks/plans.py [COUNT] [SET ...]

    python3 -m venv .venv-plans
    .venv-plans/bin/pip install "ompl==2.0.0" -e "..[robots]"
    .venv-plans/bin/pip install vamp-planner    # needs a C++ compiler and Eigen

Of the first COUNT problems of each set (10; four sets, or all seven where MOTION_BENCH_MAKER names the archive
`resources/panda/problems.tar.bz2` of vamp-planner's source distribution): how many are solved, the length of the way in
the joints [rad], and the processor time that it takes to find.  OMPL's RRT-Connect has its own shortcuts behind it, a
minute for each of both, and asks the collision checker that `plan` asks, one configuration at a time, every 0.02 rad.
Its length is the shortest of three runs.  VAMP has spheres of its own for the arm, and boxes around cylinders, so its
problems are not the same to the millimetre; its RRT-Connect is followed by its simplification.  "ratio" is the mean of
our length by theirs, over problems that both solve, and "farthest" the largest.
"""

import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from report import print_table

import poise as pz
from poise.common.array import Array
from poise.solving.requirements.clearance import Clearance
from poise_experiments.motion_bench_maker.problem import START, Problem, panda
from poise_experiments.motion_bench_maker.sets import problem_sets

COUNT, RUNS, SECONDS = 10, 3, 60.0
LIMITS = {"panda_joint4": (-3.1416, 0.0873)}
"""As VAMP has them [rad]: four goals of the data set are beyond those of the robot's file."""
STEP = 0.02
"""Between two configurations that OMPL looks at [rad]."""
Found = tuple[float, float]
"""Length [rad], infinite where nothing was found, and seconds of processor time."""


def length(q: Array) -> float:
    """The sum of the lengths of all steps [rad]."""
    return float(np.linalg.norm(np.diff(q, axis=0), axis=1).sum())


def by_poise(arm: pz.Model, problem: Problem) -> Found:
    """`plan` to the goal's joints."""
    keep = [pz.CollisionLimit(problem.world, min_distance=0.0)]
    begun = process_time()
    goal = pz.PostureTask(problem.goal, tolerance=1e-6)
    path = pz.plan(arm, goal, [problem.goal], q0=np.array(START), limits=keep, max_time=60.0)
    return length(path.q) if path.success else np.inf, process_time() - begun


def by_ompl(arm: pz.Model, problem: Problem) -> Found:
    """The shortest of several runs, and the seconds of the first that found one."""
    from ompl import base, geometric, util

    util.setLogLevel(util.LogLevel.LOG_NONE)
    free = Clearance(arm, pz.CollisionLimit(problem.world, min_distance=0.0))

    def is_free(state: Any) -> bool:
        return bool(free(np.array([[state[i] for i in range(arm.nq)]]))[0] >= 0.0)

    found = [_run(arm, problem, base, geometric, is_free) for _ in range(RUNS)]
    solved = [one for one in found if np.isfinite(one[0])]
    return (min(one[0] for one in solved), solved[0][1]) if solved else found[0]


def _run(arm: pz.Model, problem: Problem, base: Any, geometric: Any, is_free: Callable[[Any], bool]) -> Found:
    space, bounds = base.RealVectorStateSpace(arm.nq), base.RealVectorBounds(arm.nq)
    for i, (low, high) in enumerate(zip(arm.lower, arm.upper, strict=True)):
        bounds.setLow(i, float(low))
        bounds.setHigh(i, float(high))
    space.setBounds(bounds)
    setup = geometric.SimpleSetup(space)
    setup.setStateValidityChecker(is_free)
    information = setup.getSpaceInformation()
    information.setStateValidityCheckingResolution(STEP / space.getMaximumExtent())
    ends = space.allocState(), space.allocState()
    for state, numbers in zip(ends, (START, problem.goal), strict=True):
        for i, number in enumerate(numbers):
            state[i] = float(number)
    setup.setStartAndGoalStates(*ends)
    setup.setPlanner(geometric.RRTConnect(information))
    begun = process_time()
    if not setup.solve(SECONDS) or not setup.haveExactSolutionPath():
        return np.inf, process_time() - begun
    setup.simplifySolution(SECONDS)
    return setup.getSolutionPath().length(), process_time() - begun


def by_vamp(arm: pz.Model, problem: Problem) -> Found:
    """The shortest of several runs, with seeds of its own, and the seconds of the first that found one."""
    import vamp

    world = vamp.Environment()
    for each in problem.obstacles:
        edges = each.size if each.kind == "box" else (2.0 * each.size[1], 2.0 * each.size[1], each.size[0])
        world.add_cuboid(vamp.Cuboid(each.pose.xyz, each.pose.rotation.rpy(), 0.5 * np.array(edges)))
    module, planner, settings, simplify = vamp.configure_robot_and_planner_with_kwargs("panda", "rrtc")
    found, seconds, sampler = [], 0.0, module.halton()
    for _ in range(RUNS):
        begun = process_time()
        result = planner(list(START), [problem.goal.tolist()], world, settings, sampler)
        if result.solved:
            found.append(module.simplify(result.path, world, simplify, sampler).path.cost())
        seconds = process_time() - begun if len(found) < 2 else seconds
    return min(found, default=np.inf), seconds


def peers() -> dict[str, Callable[[pz.Model, Problem], Found]]:
    """Those that are installed."""
    from importlib.util import find_spec

    there = {"OMPL": ("ompl", by_ompl), "VAMP": ("vamp", by_vamp)}
    for name, (module, _) in there.items():
        if find_spec(module) is None:
            print(f"{name} is not installed, and left out")
    return {name: find for name, (module, find) in there.items() if find_spec(module) is not None}


def main() -> None:
    """A table for each set."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    arm, finders = panda().with_limits(LIMITS), {"poise": by_poise} | peers()
    for name, problems in problem_sets().items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        found = {who: np.array([find(arm, each) for each in problems[:count]]) for who, find in finders.items()}
        ours, rows = found["poise"][:, 0], []
        for who, each in found.items():
            solved = np.isfinite(each[:, 0])
            numbers = [f"{solved.sum()}", f"{each[solved, 0].mean():.2f}", f"{1e3 * np.median(each[:, 1]):.1f}"]
            ratios = (ours / each[:, 0])[solved & np.isfinite(ours)]
            numbers += ["", ""] if who == "poise" else [f"{ratios.mean():.2f}", f"{ratios.max(initial=0.0):.2f}"]
            rows.append([who, *numbers])
        print(f"\n{name}, {len(problems[:count])} problems\n")
        print_table(["by"], ["solved", "rad", "median ms", "ratio", "farthest"], rows)


if __name__ == "__main__":
    main()
