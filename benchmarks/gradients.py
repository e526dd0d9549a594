"""What derivatives of answers cost against the solves that found them, as ratios of one run.

    python benchmarks/gradients.py

One gradient by all targets against one solve, from targets whose joints have moved a little from home; and, of a batch
of poses, cotangents of q pulled back to the targets, against the solves.  The least of several rounds counts, in
processor time of the thread, or for batches on the clock.  Where PyTorch is there, its backward pass against its
forward pass too.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import poise as pz

BATCH, FEWER = 100_000, 2_000
MANY_ROUNDS, ROUNDS = 100, 7


def least(clock: Callable[[], float], rounds: int, calls: int, *works: Callable[[], Any]) -> list[float]:
    """Seconds that each takes, at least, in rounds of all of them."""
    found: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, times in zip(works, found, strict=True):
            work()
            began = clock()
            for _ in range(calls):
                work()
            times.append((clock() - began) / calls)
    return [min(times) for times in found]


def alone(arm: pz.Model) -> None:
    """One answer at a time."""
    near = arm.pose(arm.tip, arm.home + 0.2)
    far = pz.SE3.from_parts(1.6 * near.xyz / np.linalg.norm(near.xyz), near.rotation)
    pose = pz.PoseTask(arm.tip)
    for name, tasks, target in (
        ("a pose", pose, near),
        ("a pose and a posture", [pose, pz.PostureTask()], [near, arm.home]),
        ("a pose out of reach", pose, far),
    ):
        solver = pz.Solver(arm, tasks)
        found = solver(target)
        works = (lambda: solver(target), lambda: found.gradient().by_target)  # noqa: B023
        solving, differing = least(time.thread_time, MANY_ROUNDS, 20, *works)
        print(f"{name}: a solve {1e6 * solving:.0f} us, a gradient {differing / solving:.2f} solves", flush=True)


def many(arm: pz.Model) -> None:
    """Batches."""
    poses, pose = arm.pose(arm.tip, arm.sample(BATCH, seed=1)), pz.PoseTask(arm.tip)
    solver, cotangents = pz.Solver(arm, pose), np.ones((BATCH, arm.nv))
    found = solver.batch(poses)
    works = (lambda: solver.batch(poses), lambda: found.gradient().vjp(cotangents))
    forward, backward = least(time.perf_counter, ROUNDS, 1, *works)
    print(f"{BATCH:,} poses: {forward:.3f} s, cotangents {backward / forward:.2f} of that", flush=True)
    two = pz.Solver(arm, [pose, pz.PostureTask()])
    targets, given = [poses[:FEWER], arm.sample(FEWER, seed=2)], cotangents[:FEWER]
    both = two.batch(targets)
    works = (lambda: two.batch(targets), lambda: both.gradient().vjp(given))
    forward, backward = least(time.perf_counter, ROUNDS, 1, *works)
    print(f"{FEWER:,} with postures: {forward:.3f} s, cotangents {backward / forward:.2f} of that", flush=True)
    try:
        import torch
    except ImportError:
        return
    import poise.torch

    ik = poise.torch.ik(solver, undefined="zero")
    for form, numbers in (("numbers", poses.array), ("matrices", poses.matrix())):
        given = torch.tensor(numbers, requires_grad=True)
        result = ik(given).sum()
        works = (lambda: ik(given), lambda: result.backward(retain_graph=True))  # noqa: B023
        forward, backward = least(time.perf_counter, ROUNDS, 1, *works)
        print(f"the same in PyTorch, {form}: forward {forward:.3f} s, backward {backward / forward:.2f}", flush=True)


if __name__ == "__main__":
    arm = pz.load("panda")
    alone(arm)
    many(arm)
