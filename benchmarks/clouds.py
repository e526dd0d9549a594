"""A pit among hills as boxes, as a cloud of points and as a height map: updates, distances and solves, in turns.

All times are of the processor, and each has a ratio to a solve among boxes in the same run; the boxes are the ground
without hills.  Poses are of configurations that are free in all of them, and starts are random.
"""

import sys
from collections.abc import Callable, Sequence
from time import process_time_ns

import numpy as np
from report import print_table
from robots import example

import poise as pz
from poise.clouds import HeightMap, PointCloud, without_robot
from poise.common.array import Array

HAND, ASKED = "panda_hand", 0.01
SIDE, EDGE, RADIUS = 300, 0.01, 0.008
"""Cells along x and along y, their edge and the radius of points [m]."""
ROUNDS, QUERIES, SOLVES = 15, 400, 200


def hills(side: int = SIDE) -> Array:
    """(side, side) heights over three metres, a pit of half a metre where the arm stands among them [m]."""
    y, x = (np.mgrid[0:side, 0:side] + 0.5) * (SIDE * EDGE / side) - 0.5 * SIDE * EDGE
    heights = 0.05 + 0.03 * np.sin(20.0 * x) * np.cos(15.0 * y)
    heights[np.hypot(x, y) < 0.25] = -0.2
    return heights


def seen() -> Array:
    """(100,489, 3) points of the same ground [m], closer to each other than the cells."""
    side = 317
    y, x = (np.mgrid[0:side, 0:side] + 0.5) * (SIDE * EDGE / side) - 0.5 * SIDE * EDGE
    return np.column_stack([x.ravel(), y.ravel(), hills(side).ravel()])


def grounds() -> dict[str, pz.World]:
    """The worlds by name, boxes first."""
    around = [(0.9, 0.0, 1.2, 3.0), (-0.9, 0.0, 1.2, 3.0), (0.0, 0.9, 0.6, 1.2), (0.0, -0.9, 0.6, 1.2)]
    boxes = [pz.Box(pz.SE3.from_parts((x, y, -1.0)), (a, b, 2.1)) for x, y, a, b in around]
    rough = hills() + np.random.default_rng(0).normal(scale=3e-3, size=(SIDE, SIDE))
    return {
        "4 boxes": pz.World(boxes),
        "100,489 points": pz.World({"ground": PointCloud(seen(), RADIUS)}),
        "300 x 300 heights": pz.World({"ground": HeightMap(hills(), EDGE)}),
        "the same with 3 mm of noise": pz.World({"ground": HeightMap(rough, EDGE)}),
    }


def took(call: Callable[[], object]) -> float:
    """[us] of the processor"""
    before = process_time_ns()
    call()
    return 1e-3 * (process_time_ns() - before)


def updates(arm: pz.Model) -> dict[str, list[float]]:
    """A picture, from the array to the distance that a limit asks next, and the robot taken out of one [us]."""
    points, heights, q = seen(), hills(), arm.home
    world = pz.World({"points": PointCloud(points, RADIUS), "heights": HeightMap(heights, EDGE)})

    def taken_over(name: str, shape: Callable[[], PointCloud | HeightMap]) -> Callable[[], object]:
        return lambda: (world.replace(name, shape()), arm.distance(q, world))

    calls: dict[str, Callable[[], object]] = {
        "update of 100,489 points": taken_over("points", lambda: PointCloud(points, RADIUS)),
        "update of 300 x 300 heights": taken_over("heights", lambda: HeightMap(heights, EDGE)),
        "100,489 points without the robot": lambda: without_robot(points, arm, q),
    }
    rows: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS + 1):
        for name, call in calls.items():
            rows[name].append(took(call))
    return {name: row[1:] for name, row in rows.items()}


def looks(arm: pz.Model, worlds: dict[str, pz.World]) -> dict[str, list[float]]:
    """Distances at random configurations [us]."""
    rows: dict[str, list[float]] = {name: [] for name in worlds}
    for q in arm.sample(QUERIES + 1, seed=1):
        for name, world in worlds.items():
            rows[name].append(took(lambda q=q, world=world: arm.distance(q, world)))
    return {f"distance, {name}": row[1:] for name, row in rows.items()}


def solves(arm: pz.Model, worlds: dict[str, pz.World]) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Solves [us], and how many are good."""
    free = [q for q in arm.sample(20 * SOLVES, seed=3) if all(_free(arm, q, w) for w in worlds.values())][:SOLVES]
    goals, starts = [arm.pose(HAND, q) for q in free], arm.sample(len(free), seed=7)
    solvers = {
        name: pz.Solver(arm, pz.PoseTask(HAND), limits=[pz.CollisionLimit(world, min_distance=ASKED)])
        for name, world in worlds.items()
    }
    rows, good = {name: [] for name in worlds}, dict.fromkeys(worlds, 0)
    for solver in solvers.values():
        solver(goals[0], starts[0])
    for goal, start in zip(goals, starts, strict=True):
        for name, solver in solvers.items():
            before = process_time_ns()
            answer = solver(goal, start)
            rows[name].append(1e-3 * (process_time_ns() - before))
            apart = arm.distance(answer.q, worlds[name]).distance >= ASKED - 1e-9
            good[name] += answer.success and apart and np.linalg.norm(arm.pose(HAND, answer.q).xyz - goal.xyz) < 1e-5
    notes = {f"solve, {name}": f"{count} of {len(goals)} solved and apart" for name, count in good.items()}
    return {f"solve, {name}": row for name, row in rows.items()}, notes


def _free(arm: pz.Model, q: Array, world: pz.World) -> bool:
    return arm.distance(q, world).distance >= ASKED


def main() -> None:
    """Print the tables."""
    worlds, cells = grounds(), []
    for links in ("panda_collision", "panda"):
        arm = pz.load(str(example(f"panda_description/urdf/{links}.urdf")))
        looked = looks(arm, worlds)
        solved, notes = solves(arm, worlds)
        base = float(np.median(solved["solve, 4 boxes"]))
        for name, row in (updates(arm) | looked | solved).items():
            kind = "capsules" if links == "panda_collision" else "hulls"
            cells.append([kind, name, notes.get(name, ""), *_figures(row, base)])
    print("\nA Panda in a pit among hills, processor time\n")
    print_table(["links", "what", ""], ["median us", "p99 us", "x solve, 4 boxes"], cells)
    sys.stdout.flush()


def _figures(row: Sequence[float], base: float) -> list[str]:
    return [f"{np.median(row):.1f}", f"{np.quantile(row, 0.99):.1f}", f"{np.median(row) / base:.2f}"]


if __name__ == "__main__":
    main()
