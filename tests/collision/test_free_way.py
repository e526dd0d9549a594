"""Straight ways that kernels call free: of chains with joints of all kinds, among shapes of all kinds."""

import numpy as np
import pytest

import poise as pz
from poise.clouds import HeightMap, PointCloud
from poise.model.joint_function import JointFunction
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.walk import Walk
from poise.solving.requirements.clearance import Clearance

JOINTS = ("revolute", "prismatic", "helical", "spherical", "floating")
Convex = pz.Sphere | pz.Capsule | pz.Box | pz.Cylinder | pz.ConvexHull
EDGES, LOOKS = 60, 200
FREELY = 3e-3
"""A way on which all is so far apart [m] is called free."""


def placed(rng: np.random.Generator, away: float) -> pz.SE3:
    return pz.SE3.from_parts(rng.uniform(-away, away, 3), pz.SO3.from_rotvec(rng.normal(size=3)))


def convex(rng: np.random.Generator, pose: pz.SE3) -> Convex:
    """Any convex shape, about 0.2 m large."""
    a, b, c = rng.uniform(0.05, 0.2, 3)
    kind = rng.integers(5)
    if kind == 0:
        return pz.Sphere(pose.xyz, 0.5 * a)
    if kind == 1:
        return pz.Capsule(pose @ np.array([0.0, 0.0, -a]), pose @ np.array([0.0, 0.0, a]), 0.4 * b)
    if kind == 2:
        return pz.Box(pose, [a, b, c])
    if kind == 3:
        return pz.Cylinder(pose, 0.5 * a, b)
    return pz.ConvexHull(rng.normal(scale=0.06, size=(12, 3)), 0.01, pose=pose)


def branches(rng: np.random.Generator) -> pz.Model:
    """Two chains of three links, the last joint of which follows one of the first chain, along a line or a curve."""
    builder, parent = pz.ModelBuilder("branches"), {"a": "world", "b": "world"}
    curve = JointFunction.polynomial([0.1, -0.4, 0.5]) if rng.integers(2) else None
    follows = pz.Mimic(joint="a1", function=curve) if curve else pz.Mimic(joint="a1", multiplier=-0.7)
    for name in ("a0", "a1", "b0", "b1", "a2", "b2"):
        kind = "revolute" if name in ("a1", "b2") else str(rng.choice(JOINTS[: 5 if name[1] == "0" else 4]))
        builder.joint(
            name, kind, parent=parent[name[0]], child=f"link {name}", origin=placed(rng, 0.3), axis=rng.normal(size=3),
            limits=(-2.0, 2.0) if name == "a1" else None, pitch=0.05 if kind == "helical" else 0.0,
            mimic=follows if name == "b2" else None,
        )  # fmt: skip
        parent[name[0]] = f"link {name}"
    shapes = {
        f"link {name}": [convex(rng, placed(rng, 0.1)) for _ in range(2)] for name in ("a0", "a1", "a2", "b1", "b2")
    }
    return builder.build().with_shapes(shapes)


def around(rng: np.random.Generator) -> pz.World:
    """Eleven convex shapes, a floor, a cloud and a height map."""
    world = pz.World({f"{k}": convex(rng, placed(rng, 0.8)) for k in range(11)})
    world.add("floor", pz.HalfSpace([0.0, 0.0, -0.8], [0.1, 0.0, 1.0]))
    world.add("cloud", PointCloud(rng.uniform(0.4, 0.6, (40, 3)), 0.02))
    heights = HeightMap(rng.uniform(0.0, 0.1, (9, 9)), 0.1, pose=pz.SE3.from_parts([0.0, 0.0, -0.7]))
    world.add("heights", heights)
    return world


@pytest.mark.parametrize("seed", [2, 3, 4, 8, 9])
def test_ways_are_called_free_where_all_of_them_is(seed: int) -> None:
    """By distances at many configurations, which know nothing of planes and bounds."""
    rng = np.random.default_rng(seed)
    model, told, missed = branches(rng), 0, 0
    least = [0.0, 0.02][seed % 2]
    clearance = Clearance(model, pz.CollisionLimit(around(rng), min_distance=least))
    moved = np.ones(model.nq, dtype=np.bool_)
    for k in range(EDGES):
        q0 = model.integrate(model.neutral, rng.normal(scale=0.5, size=model.nv))
        q1 = model.clip(model.integrate(q0, rng.normal(scale=(0.02, 0.1, 0.4)[k % 3], size=model.nv)))
        slack = clearance(model.interpolate(q0, q1, np.linspace(0.0, 1.0, LOOKS))).min()
        free = Walk(model, PathFeasibility([clearance]), q0, q1, moved).straight() is not None
        assert slack >= 0.0 or not free
        assert free or slack < FREELY
        told, missed = told + free, missed + (slack < 0.0)
    assert told > 5
    assert missed > 5


@pytest.mark.parametrize("joints", [1, 2, 3])
def test_an_arc_bends_into_what_its_middle_passes(joints: int) -> None:
    """A tip a metre from its axis, about which joints share the turn, goes along a slab in the middle of its way."""
    builder, parent = pz.ModelBuilder("arm"), "world"
    for k in range(joints):
        builder.joint(f"{k}", "revolute", parent=parent, child=f"link {k}")
        parent = f"link {k}"
    arm = builder.build().with_shapes({parent: pz.Sphere([1.0, 0.0, 0.0], 0.1)})
    moved = np.ones(arm.nq, dtype=np.bool_)
    for gap in (1e-3, 0.01, 0.018, 0.022):
        slab = pz.Box(pz.SE3.from_parts([0.85 - gap, 0.0, 0.0]), [0.1, 2.0, 2.0])
        clearance = Clearance(arm, pz.CollisionLimit(pz.World({"slab": slab}), min_distance=0.0))
        ends = [np.full(arm.nq, share / joints) for share in (-0.2, 0.2)]
        free = Walk(arm, PathFeasibility([clearance]), *ends, moved).straight() is not None
        assert free == (gap > 1.0 - np.cos(0.2))
