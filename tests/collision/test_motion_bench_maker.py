"""Poses of a hand among shelves, boxes and cages are solved, and free as Pinocchio and coal see a Panda's meshes."""

import importlib.metadata
import json
from functools import cache
from pathlib import Path
from typing import Any

import coal
import numpy as np
import pinocchio as pin
import pytest

import poise as pz
from poise.common.array import Array

FILE = Path(__file__).parents[1] / "data" / "motion_bench_maker.json"
PROBLEMS: list[dict[str, Any]] = [
    {**problem, "set": name} for name, some in json.loads(FILE.read_text())["problems"].items() for problem in some
]
SHARE = Path(str(importlib.metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share")))
URDF = SHARE / "example-robot-data/robots/panda_description/urdf/panda.urdf"
FINGERS, OPEN = ("panda_finger_joint1", "panda_finger_joint2"), 0.065
"""As wide apart as in the problems [m], which is beyond the limit of the file."""
LEAST = 0.001
"""[m]"""


@cache
def panda() -> pz.Model:
    return pz.load(URDF).with_limits(dict.fromkeys(FINGERS, (0.0, OPEN))).lock(dict.fromkeys(FINGERS, OPEN))


def shape(obstacle: dict[str, Any]) -> pz.Box | pz.Cylinder:
    pose = pz.SE3.from_xyz_wxyz(obstacle["xyz"], obstacle["wxyz"])
    if obstacle["type"] == "box":
        return pz.Box(pose, obstacle["size"])
    height, radius = obstacle["size"]
    return pz.Cylinder(pose, radius, height)


class Meshes:
    """The triangles of the file's meshes, as coal measures them from obstacles and from one another."""

    def __init__(self, obstacles: list[dict[str, Any]]) -> None:
        self.model = pin.buildModelFromUrdf(str(URDF))
        self.all = pin.buildGeomFromUrdf(self.model, str(URDF), pin.GeometryType.COLLISION, package_dirs=[str(SHARE)])
        joints = [geometry.parentJoint for geometry in self.all.geometryObjects]
        for number, each in enumerate(obstacles):
            geometry = coal.Box(*each["size"]) if each["type"] == "box" else coal.Cylinder(*reversed(each["size"]))
            pose = pin.SE3(pin.Quaternion(*each["wxyz"]), np.array(each["xyz"]))
            k = self.all.addGeometryObject(pin.GeometryObject(f"obstacle{number}", 0, pose, geometry))
            for i in np.flatnonzero(joints):
                self.all.addCollisionPair(pin.CollisionPair(int(i), k))
        self.outer = len(self.all.collisionPairs)
        for i, one in enumerate(joints):
            for k, other in enumerate(joints[:i]):
                if one != other and other != self.model.parents[one]:  # which a joint connects
                    self.all.addCollisionPair(pin.CollisionPair(k, i))

    def look(self, joints: Array) -> tuple[pin.SE3, float, float]:
        """Where the hand is, and the least distances from obstacles and between links [m]."""
        q, data, found = np.array([*joints, OPEN, OPEN]), self.model.createData(), self.all.createData()
        pin.computeDistances(self.model, data, self.all, found, q)
        pin.updateFramePlacements(self.model, data)
        distances = [result.min_distance for result in found.distanceResults]
        hand = data.oMf[self.model.getFrameId("panda_hand")].copy()
        return hand, min(distances[: self.outer]), min(distances[self.outer :])


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: f"{problem['set']} {problem['number']}")
def test_poses_are_solved_with_the_shapes_that_a_model_loads_with(problem: dict[str, Any]) -> None:
    arm, judge = panda(), Meshes(problem["obstacles"])
    world = pz.World({f"obstacle{k}": shape(each) for k, each in enumerate(problem["obstacles"])})
    goal, *_ = judge.look(np.array(problem["goal"]))
    limit = pz.CollisionLimit(world, min_distance=LEAST)
    task = pz.PoseTask("panda_hand", target=pz.SE3.from_matrix(goal.homogeneous))
    found = pz.solve(arm, task, limits=[limit])
    assert found.success, found.explain()
    assert arm.within_limits(found.q)
    hand, outer, own = judge.look(found.q)
    np.testing.assert_allclose(hand.homogeneous, goal.homogeneous, atol=1e-6)
    assert outer > LEAST - 1e-6
    assert own > 0.0
    seen = arm.distance(found.q, world, self_collision=False).distance
    assert outer - 1e-3 < seen < outer + 1e-6  # hulls of meshes hardly stand out


@pytest.mark.parametrize("name", ["cage", "table_pick"])
def test_poses_of_a_batch_are_all_found_and_free(name: str) -> None:
    problem = next(problem for problem in PROBLEMS if problem["set"] == name)
    arm, judge = panda(), Meshes(problem["obstacles"])
    world = pz.World({f"obstacle{k}": shape(each) for k, each in enumerate(problem["obstacles"])})
    q = arm.sample(240, seed=1)
    free = q[np.asarray(arm.distance(q, world).distance) > 1.5 * LEAST][:40]
    targets = arm.pose("panda_hand", free)
    limit = pz.CollisionLimit(world, min_distance=LEAST)
    found = pz.solve_batch(arm, pz.PoseTask("panda_hand"), targets, limits=[limit])
    assert len(free) == 40
    assert found.success.all()
    for answer, target in zip(found.q, targets, strict=True):
        hand, outer, _ = judge.look(answer)  # links that the SRDF lets meet do, in some of so many
        np.testing.assert_allclose(hand.homogeneous, target.matrix(), atol=1e-6)
        assert outer > LEAST - 1e-6


def test_some_of_the_poses_leave_no_room_for_capsules() -> None:
    arm, blocked = pz.fit_shapes(panda()).model, set()
    for problem in PROBLEMS:
        world = pz.World({f"obstacle{k}": shape(each) for k, each in enumerate(problem["obstacles"])})
        if arm.distance(np.array(problem["goal"]), world).distance < 0.0:
            blocked.add(problem["set"])
    assert len(blocked) >= 4
