"""Every solution of a pose: how many, how many of the others' are among ours, and how long it takes."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

import poise as pz

ARMS = ("ur10", "ur5e", "puma560", "panda", "iiwa14")
SAMPLES = 64
"""Values of a seventh joint."""
NEAR = 1e-6
"""A pose is reached to this [m, and per entry of the rotation matrix]."""
SAME = 1e-4
"""Two solutions are one if their joints differ by no more, but for whole turns [rad]."""
SLOW = 200
"""Targets of arms with seven joints, at most."""


@dataclass(frozen=True)
class Row:
    """One library on one arm; joint limits do not count."""

    arm: str
    peer: str
    alone: float
    """A target by itself, from Python [microseconds, median]."""
    batch: float | None
    """A target among many [microseconds]."""
    found: float
    """Solutions of a target that reach it, on the average."""
    missed: float
    """Those of this library that poise does not have, of all targets together."""
    ratio: float
    """Times the time of poise, of a target by itself."""


def branches(count: int) -> list[Row]:
    """The arms, each with the libraries that are installed and know it."""
    return [row for name in ARMS for row in measured(name, count)]


def measured(name: str, count: int) -> list[Row]:
    """One arm."""
    model = pz.load(name)
    swept = model.nq > 6
    poses = model.pose(model.tip, model.sample(min(count, SLOW) if swept else count, seed=1))
    targets = poses.matrix()
    every = pz.BranchSolver(model, pz.PoseTask(model.tip), limits=False, samples=SAMPLES)
    each = [poses[i] for i in range(len(targets))]
    ours, alone = timed(lambda i: every(each[i]), len(each))
    q = [found.q for found in ours]
    every.batch(poses)
    began = perf_counter()
    every.batch(poses)
    batch = 1e6 * (perf_counter() - began) / len(each)
    rows = [Row(name, "poise", alone, batch, float(np.mean([len(x) for x in q])), 0, 1.0)]
    for peer, make in PEERS.items():
        if swept and peer == "eaik":
            continue  # it takes one value of the seventh joint when an arm is made
        try:
            solve = make(model)
        except ImportError as error:
            print(f"{peer} is missing: pip install {peer} ({error})")
            continue
        try:
            theirs, time = timed(lambda i, solve=solve: solve(targets[i]), len(each))
        except ValueError as error:
            print(f"{peer} cannot do {name}: {error}")
            continue
        reached = [
            np.array([x for x in np.atleast_2d(found) if x.size and reaches(model, x, target)]).reshape(-1, model.nq)
            for found, target in zip(theirs, targets, strict=True)
        ]
        missed = sum(apart(x, mine) > SAME for some, mine in zip(reached, q, strict=True) for x in some)
        # With a seventh joint each takes other values of it.
        many = float(np.mean([len(x) for x in reached]))
        rows.append(Row(name, peer, time, None, many, float("nan") if swept else missed, time / alone))
    return rows


def timed(solve: Callable[[int], Any], count: int) -> tuple[list[Any], float]:
    """What it gives for each target, and the median time [microseconds]."""
    solve(0)
    out, seconds = [], np.empty(count)
    for i in range(count):
        began = perf_counter()
        found = solve(i)
        seconds[i] = perf_counter() - began
        out.append(found)
    return out, 1e6 * float(np.median(seconds))


def reaches(model: pz.Model, q: np.ndarray, target: np.ndarray) -> bool:
    """Whether q is a solution."""
    return bool(np.abs(model.pose(model.tip, q).matrix() - target).max() < NEAR)


def apart(q: np.ndarray, others: np.ndarray) -> float:
    """How far the nearest of `others` is from q, but for whole turns [rad]."""
    if not len(others):
        return np.inf
    return float(np.abs((others - q + np.pi) % (2 * np.pi) - np.pi).max(axis=1).min())


def screws(model: pz.Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(n, 3) directions of the axes at q = 0, (n + 1, 3) ways from each to the next, (3, 3) rotation of the tip."""
    zero = np.zeros(model.nq)
    twists, tip = model.jacobian(model.tip, zero, reference="world").T, model.pose(model.tip, zero)
    axes = twists[:, 3:]
    places = np.cross(axes, twists[:, :3])
    return axes, np.diff(np.vstack([np.zeros(3), places, tip.xyz]), axis=0), tip.rotation.matrix()


def eaik(model: pz.Model) -> Callable[[np.ndarray], np.ndarray]:
    """EAIK, from the axes; its least-squares answers are left out."""
    from eaik.pybindings.EAIK import Robot

    axes, ways, turn = screws(model)
    robot = Robot(np.asfortranarray(axes.T), np.asfortranarray(ways.T), turn, [], True)

    def solve(target: np.ndarray) -> np.ndarray:
        found = robot.calculate_IK(target)
        return np.array(found.Q)[~np.array(found.is_LS, dtype=bool)]

    return solve


def ssik(model: pz.Model) -> Callable[[np.ndarray], np.ndarray]:
    """ssik, from the axes, without limits."""
    import ssik

    axes, ways, turn = screws(model)
    robot = ssik.Manipulator.from_axes(axes, ways)
    robot.prepare()
    back = np.eye(4)
    back[:3, :3] = turn.T

    def solve(target: np.ndarray) -> np.ndarray:
        return np.array([found.q for found in robot.solve(target @ back, respect_limits=False)])

    return solve


PEERS = {"eaik": eaik, "ssik": ssik}


def show(rows: list[Row]) -> None:
    """Print them as Markdown."""
    print(f"\nevery solution of a random pose, limits left out, {SAMPLES} values of a seventh joint")
    print("\n| arm | | a target [us] | in a batch [us] | solutions | not among poise's | times poise |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for row in rows:
        batch = "-" if row.batch is None else f"{row.batch:.3g}"
        missed = "-" if np.isnan(row.missed) else f"{row.missed:.0f}"
        print(f"| {row.arm} | {row.peer} | {row.alone:.3g} | {batch} | {row.found:.2f} | {missed} | {row.ratio:.1f} |")
