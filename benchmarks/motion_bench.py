"""Poses among shelves, boxes and cages: MotionBenchMaker's, solved and judged on the meshes of a Panda.

    python benchmarks/motion_bench.py tests/data/motion_bench_maker.json [min_distance]

That file has a dozen of the poses; any will do that is {"start": q, "problems": {set: [{"goal": q, "obstacles":
[{"type": "box" or "cylinder", "size": [m], "xyz", "wxyz"}]}]}}, with q of the seven joints [rad], the size of a box
along its axes, of a cylinder its height and radius.  All 700 are in vamp's resources/panda/problems.tar.bz2 (Chamzas et
al. 2022, doi:10.1109/LRA.2021.3133603).
A problem asks for the pose of the hand at its goal, free of collision.  Two tables, with the shapes that the model
loads with and with fitted capsules: how many are solved, how many of those are within 5 mm, 0.05 rad and the limits
and free by Pinocchio and coal, which have the triangles of the file's meshes and true cylinders; how many have no links
in each other, but for those that a joint connects; and the microseconds of CPU time of a call.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import thread_time_ns
from typing import Any

import coal
import numpy as np
import pinocchio as pin
from report import print_table
from robots import example
from scenes import HAND, MESHES, guarded_panda

import poise as pz

FINGERS, OPEN = ("panda_finger_joint1", "panda_finger_joint2"), 0.065
"""Which stand as wide apart as in MotionBenchMaker [m], 25 mm beyond the limit of the file."""
POSITION, ROTATION = 0.005, 0.05
"""What counts as there [m], [rad]."""
SIDES = 16
ROUNDS = 3
"""Times that each problem is solved; the median counts."""


@dataclass(frozen=True)
class Solved:
    """What came of one pose."""

    success: bool
    there: bool
    free: bool
    apart: bool
    took: float
    """[us]"""


def measured(arm: pz.Model, problem: Mapping[str, Any], start: Sequence[float], min_distance: float) -> Solved:
    """One pose, solved and judged."""
    judge = Meshes(problem["obstacles"])
    goal = judge.hand(problem["goal"])
    limit = pz.CollisionLimit(world_of(problem["obstacles"]), min_distance=min_distance)
    solver = pz.Solver(arm, pz.PoseTask(HAND), limits=[limit])
    target, took = pz.SE3.from_matrix(goal.homogeneous), []
    for _ in range(ROUNDS):
        before = thread_time_ns()
        answer = solver(target, start)
        took.append(1e-3 * (thread_time_ns() - before))
    reached = goal.actInv(judge.hand(answer.q))
    there = np.linalg.norm(reached.translation) < POSITION and np.linalg.norm(pin.log3(reached.rotation)) < ROTATION
    inside = ((answer.q >= judge.lower) & (answer.q <= judge.upper)).all()
    free, apart = judge.free(answer.q)
    return Solved(answer.success, bool(there and inside), free, apart, float(np.median(took)))


def world_of(obstacles: Sequence[Mapping[str, Any]]) -> pz.World:
    """The obstacles, with the prism of 16 sides around each cylinder."""
    world = pz.World()
    for number, each in enumerate(obstacles):
        pose = pz.SE3.from_xyz_wxyz(each["xyz"], each["wxyz"])
        shape: Any
        if each["type"] == "box":
            shape = pz.Box(pose, each["size"])
        else:
            height, radius = each["size"]
            angle = 2.0 * np.pi / SIDES * np.arange(SIDES)
            rim = np.column_stack([np.cos(angle), np.sin(angle)]) * radius / np.cos(np.pi / SIDES)
            ends = [np.column_stack([rim, np.full(SIDES, z)]) for z in (-0.5 * height, 0.5 * height)]
            shape = pz.ConvexHull(np.concatenate(ends), pose=pose)
        world.add(f"obstacle{number}", shape)
    return world


class Meshes:
    """Who judges: Pinocchio's kinematics, and coal on the triangles of the file's collision meshes."""

    file = str(example(MESHES))
    model = pin.buildModelFromUrdf(file)
    shapes = pin.buildGeomFromUrdf(model, file, pin.GeometryType.COLLISION, package_dirs=[str(example("").parents[1])])
    lower, upper = model.lowerPositionLimit[:7], model.upperPositionLimit[:7]

    def __init__(self, obstacles: Sequence[Mapping[str, Any]]) -> None:
        self.data, self.all = self.model.createData(), self.shapes.copy()
        links = list(self.all.geometryObjects)
        joints = [geometry.parentJoint for geometry in links]
        self.own = [
            (i, k)
            for i, one in enumerate(joints)
            for k, other in enumerate(joints[:i])
            if one != other and self.model.parents[one] != other and self.model.parents[other] != one
        ]
        self.others = []
        for number, each in enumerate(obstacles):
            shape = coal.Box(*each["size"]) if each["type"] == "box" else coal.Cylinder(*reversed(each["size"]))
            pose = pin.SE3(pin.Quaternion(*each["wxyz"]), np.array(each["xyz"]))
            k = self.all.addGeometryObject(pin.GeometryObject(f"obstacle{number}", 0, pose, shape))
            self.others += [(i, k) for i in range(len(links)) if joints[i] > 0]
        for i, k in [*self.own, *self.others]:
            self.all.addCollisionPair(pin.CollisionPair(i, k))
        self.found = self.all.createData()

    def hand(self, joints: Any) -> pin.SE3:
        """Its pose."""
        pin.framesForwardKinematics(self.model, self.data, np.array([*joints, OPEN, OPEN]))
        return self.data.oMf[self.model.getFrameId(HAND)].copy()

    def free(self, joints: Any) -> tuple[bool, bool]:
        """Whether no link is in an obstacle, and whether no link is in another that no joint connects to it."""
        q = np.array([*joints, OPEN, OPEN])
        pin.computeCollisions(self.model, self.data, self.all, self.found, q, False)
        hit = [result.isCollision() for result in self.found.collisionResults]
        return not any(hit[len(self.own) :]), not any(hit[: len(self.own)])


def main() -> None:
    """Both tables."""
    problems = json.loads(Path(sys.argv[1]).read_text())
    asked = float(sys.argv[2]) if len(sys.argv) > 2 else 0.001
    loaded = guarded_panda(MESHES).with_limits(dict.fromkeys(FINGERS, (0.0, OPEN)))
    loaded = loaded.lock(dict.fromkeys(FINGERS, OPEN))
    for shapes, arm in {"as loaded": loaded, "fitted capsules": pz.fit_shapes(loaded).model}.items():
        print(f"\nShapes {shapes}, {1e3 * asked:g} mm asked\n")
        rows = []
        for name, some in problems["problems"].items():
            done = [measured(arm, problem, problems["start"], asked) for problem in some]
            took = [each.took for each in done]
            good = [each for each in done if each.success]
            counts = [
                sum(each.there for each in good),
                sum(each.free for each in good),
                sum(each.apart for each in good),
            ]
            times = [f"{time:.0f}" for time in (np.median(took), np.quantile(took, 0.9), np.quantile(took, 0.99))]
            rows.append([name, *map(str, (len(done), len(good), *counts)), *times])
        columns = ["poses", "solved", "there", "free", "apart", "median us", "p90 us", "p99 us"]
        print_table(["set"], columns, rows)


if __name__ == "__main__":
    main()
