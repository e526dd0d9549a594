"""Whether a solve is near and finds what is there: answers beside careful descents, jumps, reachable targets missed."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

import poise as pz

ARMS = ("panda", "iiwa14", "ur5e")
HUMANOID = "g1"
LIMBS = ("left_rubber_hand", "right_rubber_hand", "left_ankle_roll_link", "right_ankle_roll_link")
WAYS = (0.3, 0.6)
"""Motion of each joint between start and target, at most [rad]."""
STRIDE, JUMP = 3e-3, 0.5
"""Step of a target along a circle [m]; motion of a joint in it that is a jump [rad]."""
AT_LIMITS = 0.4
"""Share of joints that are put on a limit."""


@dataclass
class Near:
    """Answers beside those of the method "lm" from the same start alone."""

    robot: str
    problems: str
    judged: int
    """Problems in which "lm" stays near."""
    far: int
    """Of these, answers that are far."""
    median: float
    """Microseconds of a solve, and of one with select="first"."""
    first: float


@dataclass
class Reach:
    """Reachable targets from random starts."""

    robot: str
    problems: str
    count: int
    unsolved: int
    median: float
    slowest: float
    """Microseconds."""


def near(count: int, seed: int = 0) -> list[Near]:
    """`count` problems of each arm and way, and as many steps of circles."""
    rows = []
    for name in ARMS:
        arm = pz.load(name)
        task = pz.PoseTask(arm.tip)
        nearest, first = pz.Solver(arm, task), pz.Solver(arm, task, select="first")
        careful = pz.Solver(arm, task, method="lm", max_restarts=0)
        for way in WAYS:
            random, starts = np.random.default_rng(seed), arm.sample(count, seed=seed + 1)
            goals = np.clip(starts + random.uniform(-way, way, starts.shape), arm.lower, arm.upper)
            row, times, races = Near(name, f"{way} rad a joint", 0, 0, 0.0, 0.0), [], []
            for goal, start in zip(goals, starts, strict=True):
                target = arm.pose(arm.tip, goal)
                found, other = nearest(target, start), careful(target, start)
                times.append(found.time)
                races.append(first(target, start).time)
                length = np.abs(other.q - start).max()
                if other.success and length < 2.0 * way:
                    row.judged += 1
                    row.far += np.abs(found.q - start).max() > max(2.0 * way, 1.5 * length)
            row.median, row.first = microseconds(times), microseconds(races)
            rows.append(row)
        row, times, races = Near(name, f"circles, {1e3 * STRIDE:g} mm a step", 0, 0, 0.0, 0.0), [], []
        for target, start in circles(arm, nearest, count, seed):
            found = nearest(target, start)
            times.append(found.time)
            races.append(first(target, start).time)
            row.judged += 1
            if np.abs(found.q - start).max() > JUMP:
                other = careful(target, start)
                row.far += other.success and np.abs(other.q - start).max() <= JUMP
        row.median, row.first = microseconds(times), microseconds(races)
        rows.append(row)
    return rows


def circles(arm: pz.Model, solver: pz.Solver, count: int, seed: int) -> Iterator[tuple[pz.SE3, np.ndarray]]:
    """`count` steps of targets along circles of 5 to 30 cm, turned at will, each from the answer to the last."""
    random, steps, circle = np.random.default_rng(seed), 0, 0
    while True:
        circle += 1
        q = arm.sample(seed=seed + circle)
        pose, radius = arm.pose(arm.tip, q), random.uniform(0.05, 0.3)
        u, v = np.linalg.qr(random.normal(size=(3, 2)))[0].T
        for angle in np.arange(STRIDE / radius, 2.0 * np.pi, STRIDE / radius):
            place = pose.xyz + radius * ((np.cos(angle) - 1.0) * u + np.sin(angle) * v)
            target = pz.SE3.from_parts(place, pose.rotation)
            found = solver(target, q)
            if not found.success:
                break
            yield target, q
            q, steps = found.q, steps + 1
            if steps == count:
                return


def reach(count: int, seed: int = 0) -> list[Reach]:
    """Random targets of each arm, some with joints on their limits, and a thirtieth as many of a humanoid's limbs."""
    rows = [
        reached(name, (pz.load(name).tip,), count, seed, on_limits=on_limits)
        for name in ARMS
        for on_limits in (False, True)
    ]
    rows.append(reached(HUMANOID, LIMBS, max(count // 30, 1), seed, on_limits=False))
    return rows


def reached(name: str, tips: tuple[str, ...], count: int, seed: int, *, on_limits: bool) -> Reach:
    """Solve for poses of `tips` that random configurations have, from random starts."""
    model = pz.load(name)
    solver = pz.Solver(model, [pz.PoseTask(tip) for tip in tips])
    row = Reach(name, "joints on limits" if on_limits else f"{len(tips)} poses" * (len(tips) > 1), count, 0, 0.0, 0.0)
    random, times, block = np.random.default_rng(seed), [], 10_000
    for begin in range(0, count, block):
        goals, starts = (model.sample(min(block, count - begin), seed=random) for _ in range(2))
        if on_limits:
            limits = np.where(random.random(goals.shape) < 0.5, model.lower, model.upper)
            goals = np.where(random.random(goals.shape) < AT_LIMITS, limits, goals)
        targets = [model.pose(tip, goals) for tip in tips]
        for i, start in enumerate(starts):
            poses = [target[i] for target in targets]
            began = perf_counter()
            solution = solver(poses if len(poses) > 1 else poses[0], start)
            times.append(perf_counter() - began)
            row.unsolved += not solution.success
    row.median, row.slowest = microseconds(times), 1e6 * max(times)
    return row


def microseconds(seconds: list[float]) -> float:
    """Their median."""
    return 1e6 * float(np.median(seconds))


def show(rows: list[Near] | list[Reach]) -> None:
    """Print them as Markdown."""
    if isinstance(rows[0], Near):
        print("\n| robot | problems | where lm stays near | far | us | us, prefer first |\n|---|---|--:|--:|--:|--:|")
    else:
        print("\n| robot | reachable targets | count | unsolved | us | slowest, us |\n|---|---|--:|--:|--:|--:|")
    for row in rows:
        if isinstance(row, Near):
            print(f"| {row.robot} | {row.problems} | {row.judged} | {row.far} | {row.median:.2f} | {row.first:.2f} |")
        else:
            times = f"{row.median:.2f} | {row.slowest:.0f}"
            print(f"| {row.robot} | {row.problems} | {row.count} | {row.unsolved} | {times} |")
    sys.stdout.flush()
