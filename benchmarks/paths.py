"""Whole paths with obstacles, of TORM and CppFlow: the first that can be followed, the optimised one, and step by step.

They are those of `poise reproduce torm`; the robots and their capsules are in the wheel of jrl.
"""

import sys
import time
from dataclasses import dataclass

import numpy as np

import poise as pz
from poise_experiments.torm.problem import Problem, names, problem_of

UPDATES = 5
"""Of the Tracker, for each waypoint."""


@dataclass
class Followed:
    """One way along one path."""

    problem: str
    waypoints: int
    way: str
    """The first path, the optimised one, or step by step."""
    seconds: float
    """Of a call, the median."""
    status: str
    reached: int
    """Waypoints met, free of collision."""
    length: float
    """Sum of the lengths of all steps [rad and m]."""
    largest: float
    """Largest change of a joint in a step [rad or m]."""
    speed: float
    """Largest share of a joint's speed limit, where the waypoints are passed at even times, in one second a hundred."""
    clearance: float
    """The least distance between two shapes [m]."""


def paths(rounds: int) -> list[Followed]:
    """All paths of those robots whose files are there."""
    try:
        return [row for name in names() for row in _ways(problem_of(name), rounds)]
    except pz.ModelError as error:
        print(error)
        return []


def _ways(problem: Problem, rounds: int) -> list[Followed]:
    name, arm, task, poses, world = problem.name, problem.arm, problem.task, problem.poses, problem.world
    limits = [pz.CollisionLimit(world, min_distance=0.0)]
    rows = []
    for way, optimise in (("first", False), ("optimised", True)):
        pz.solve_path(arm, task, poses[:2], limits=limits, optimise=optimise)
        spent, path = [], None
        for _ in range(rounds):
            began = time.perf_counter()
            path = pz.solve_path(arm, task, poses, limits=limits, optimise=optimise)
            spent.append(time.perf_counter() - began)
        rows.append(_row(name, way, arm, task, poses, world, path.q, float(np.median(spent)), path.status.name))
    q, seconds = _step_by_step(arm, task, poses, limits, rows[0].waypoints)
    rows.append(_row(name, "step by step", arm, task, poses, world, q, seconds, ""))
    return rows


def _step_by_step(
    arm: pz.Model, task: pz.PoseTask, poses: pz.SE3, limits: list[pz.CollisionLimit], n: int
) -> tuple[np.ndarray, float]:
    """A Tracker, from the first solution on."""
    pz.Tracker(arm, task, limits=limits).step(arm.home, poses[0])  # loads the kernels
    began = time.perf_counter()
    q = pz.solve(arm, pz.PoseTask(task.frame, poses[0]), limits=limits).q
    tracker = pz.Tracker(arm, task, limits=limits)
    out = [q]
    for k in range(1, n):
        q = out[-1]
        for _ in range(UPDATES):
            q = tracker.step(q, poses[k])
        out.append(q)
    return np.array(out), time.perf_counter() - began


def _row(
    name: str, way: str, arm: pz.Model, task: pz.PoseTask, poses: pz.SE3, world: pz.World, q: np.ndarray,
    seconds: float, status: str,
) -> Followed:  # fmt: skip
    """Measured by the model's own kinematics and distances alone."""
    steps = arm.difference(q[:-1], q[1:])
    at = arm.pose(task.frame, q)
    away = np.linalg.norm(at.xyz - poses.xyz, axis=1)
    turned = 2.0 * np.arccos(np.minimum(np.abs((at.wxyz * poses.wxyz).sum(axis=1)), 1.0))
    distances = arm.distance(q, world).distance
    met = (away < 1e-3) & (turned < 1e-2) & (distances >= 0.0)
    speed = float((np.abs(steps) * 100.0 / arm.velocity).max())
    largest, length = float(np.abs(steps).max()), float(np.linalg.norm(steps, axis=1).sum())
    return Followed(name, len(q), way, seconds, status, int(met.sum()), length, largest, speed, float(distances.min()))


def show(rows: list[Followed]) -> None:
    """Print them as Markdown."""
    print("\n| path | way | ms | met | status | length [rad, m] | largest step | speed | clearance [m] |")
    print("|---|---|--:|--:|---|--:|--:|--:|--:|")
    for r in rows:
        status = r.status or ("" if r.reached == r.waypoints else "not all met")
        numbers = f"{r.length:.2f} | {r.largest:.4f} | {r.speed:.2f} | {r.clearance:.4f}"
        print(
            f"| {r.problem} | {r.way} | {1e3 * r.seconds:,.1f} | {r.reached} of {r.waypoints} | {status} | {numbers} |"
        )
    sys.stdout.flush()
