"""A task that is not required: what it costs beside a pose, and how near its error comes to the least that is known."""

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from scipy.optimize import minimize

import poise as pz

STARTS = 6
"""Runs of SciPy's SLSQP for each case, the first from the answer of poise."""
LEVEL = 1e-4
"""A cost that is less by this part of the other is lower."""
MET = 1e-6
"""What SLSQP may leave of the required rows [m or rad]."""


@dataclass(frozen=True)
class Soft:
    """One arm and what is required of it; times are microseconds a call."""

    name: str
    solved: float
    """Percent that CONVERGED."""
    lowest: float
    """Percent of which no run of SLSQP found a lower error."""
    median: float
    p99: float
    pose: float
    """A pose of a Panda, in the same process."""
    slsqp: float
    """One run of SLSQP from a random start."""


def soft(count: int) -> list[Soft]:
    """The required part of a reachable pose, with a random rotation or place beside it."""
    so100, panda = pz.load("so100"), pz.load("panda")
    usual = pose(panda, count)
    return [
        one("so100, position required", so100, "gripper", pz.PositionTask, pz.OrientationTask, count, usual),
        one("Panda, position required", panda, "panda_hand", pz.PositionTask, pz.OrientationTask, count, usual),
        one("Panda, orientation required", panda, "panda_hand", pz.OrientationTask, pz.PositionTask, count, usual),
    ]


def pose(arm: pz.Model, count: int) -> float:
    """A random pose from a random start, median."""
    solver, seconds = pz.Solver(arm, pz.PoseTask("panda_hand")), []
    targets, starts = arm.pose("panda_hand", arm.sample(count, seed=1)), arm.sample(count, seed=2)
    for target, start in zip(targets, starts, strict=True):
        began = perf_counter()
        solver(target, start)
        seconds.append(perf_counter() - began)
    return 1e6 * float(np.median(seconds))


def one(name: str, arm: pz.Model, frame: str, required: Any, wished: Any, count: int, usual: float) -> Soft:
    """One arm."""
    solver = pz.Solver(arm, [required(frame), wished(frame, required=False)])
    hard, easy = pz.Solver(arm, required(frame)), pz.Solver(arm, wished(frame))
    rng = np.random.default_rng(0)
    seconds, peers, solved, lowest = [], [], 0, 0
    for there, start, *others in zip(*(arm.sample(count, seed=seed) for seed in range(STARTS + 1)), strict=True):
        reached, away = arm.pose(frame, there), pz.SE3.from_rotvec(rng.normal(scale=0.4, size=3), rng.normal(size=3))
        beside = {pz.PositionTask: reached.xyz + away.xyz, pz.OrientationTask: away.rotation}[wished]
        goals = [reached.xyz if required is pz.PositionTask else reached.rotation, beside]
        began = perf_counter()
        answer = solver(goals, start)
        seconds.append(perf_counter() - began)
        solved += answer.success
        e, _ = easy.linearise(answer.q, goals[1])
        known = np.inf
        for k, begin in enumerate([answer.q, *others]):
            began = perf_counter()
            known = min(known, slsqp(arm, hard, easy, goals, begin))
            if k:
                peers.append(perf_counter() - began)
        mine = 0.5 * float(e @ e)
        lowest += mine <= known * (1.0 + LEVEL) + 1e-12
    micro = 1e6 * np.array(seconds)
    shares = 100.0 * solved / count, 100.0 * lowest / count
    return Soft(
        name, *shares, float(np.median(micro)), float(np.quantile(micro, 0.99)), usual, 1e6 * float(np.median(peers))
    )


def slsqp(arm: pz.Model, hard: pz.Solver, easy: pz.Solver, goals: list[Any], start: np.ndarray) -> float:
    """The error at which SciPy comes to rest, half of its square; infinite where the required rows are not met."""

    def cost(q: np.ndarray) -> tuple[float, np.ndarray]:
        e, jacobian = easy.linearise(q, goals[1])
        return 0.5 * float(e @ e), -jacobian.T @ e

    found = minimize(
        cost, start, jac=True, method="SLSQP", bounds=list(zip(arm.lower, arm.upper, strict=True)),
        constraints={
            "type": "eq",
            "fun": lambda q: hard.linearise(q, goals[0])[0],
            "jac": lambda q: -hard.linearise(q, goals[0])[1],
        },
        options={"maxiter": 300, "ftol": 1e-14},
    )  # fmt: skip
    return float(found.fun) if np.abs(hard.linearise(found.x, goals[0])[0]).max() < MET else np.inf


def show(rows: list[Soft]) -> None:
    """Print them as Markdown."""
    print("\n| as well as it goes | solved | lowest | median us | p99 us | a Panda's pose us | one run of SLSQP us |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for row in rows:
        print(
            f"| {row.name} | {row.solved:.1f} % | {row.lowest:.1f} % | {row.median:.0f} | {row.p99:.0f} "
            f"| {row.pose:.1f} | {row.slsqp:.0f} |"
        )
