"""How near a posture task comes to a posture, and what it costs, beside the best of many independent starts."""

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from robots import Robot, arms

import poise as pz

STARTS = 40
"""Independent starts for each case."""
NEAR = 1.02
"""Times the distance of the best of them: what counts as as near."""


@dataclass(frozen=True)
class Drawn:
    """One arm; times are medians [microseconds], a solve of the pose alone and one with the posture."""

    name: str
    near: float
    """Percent of the cases within NEAR of the best of STARTS answers, each drawn to the posture where it is."""
    nearer: float
    """Percent that are nearer than it by the same factor."""
    worst: float
    """The largest ratio of distances."""
    pose: float
    posture: float


def postures(count: int) -> list[Drawn]:
    """Random poses, starts and postures for each arm."""
    return [drawn(robot, count) for robot in arms()]


def drawn(robot: Robot, count: int) -> Drawn:
    """One arm; the distance is that of all joints together."""
    model, task = pz.load(str(robot.urdf)), pz.PoseTask(robot.tips[0])
    cases, starts = model.sample((count, 3), seed=1), model.sample((count, STARTS), seed=2)
    plain, chosen = pz.Solver(model, task), pz.Solver(model, [task, pz.PostureTask()])
    alone = pz.Solver(model, [task, pz.PostureTask()], max_restarts=0)
    ratios, seconds = np.empty(count), np.empty((count, 2))
    for i, (there, q0, rest) in enumerate(cases):
        pose = model.pose(robot.tips[0], there)
        answers = [alone([pose, rest], start, seed=seed) for seed, start in enumerate(starts[i])]
        best = min((float(np.linalg.norm(a.q - rest)) for a in answers if a.success), default=np.inf)
        began = perf_counter()
        plain(pose, q0)
        middle = perf_counter()
        q = chosen([pose, rest], q0).q
        seconds[i] = middle - began, perf_counter() - middle
        ratios[i] = float(np.linalg.norm(q - rest)) / best
    shares = 100.0 * float(np.mean(ratios <= NEAR)), 100.0 * float(np.mean(ratios < 1.0 / NEAR))
    micro = 1e6 * np.median(seconds, axis=0)
    return Drawn(robot.name, *shares, float(ratios.max()), float(micro[0]), float(micro[1]))


def show(rows: list[Drawn]) -> None:
    """Print them as Markdown."""
    print(f"\n| poise beside {STARTS} starts | within 2 % | nearer by 2 % | worst | pose us | with posture us |")
    print("|---|--:|--:|--:|--:|--:|")
    for row in rows:
        print(
            f"| {row.name} | {row.near:.1f} % | {row.nearer:.1f} % | {row.worst:.2f} | {row.pose:.1f} "
            f"| {row.posture:.1f} |"
        )
