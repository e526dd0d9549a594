"""A body that rests on contacts neither tips nor slips: what is held, what is refused, and who would give way."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from support.refusals import refused

import poise as pz
from poise.common.array import Array

SOLE = np.array([[x, y, 0.0] for x in (-0.1, 0.1) for y in (-0.05, 0.05)])
FEET = {"left": SOLE + np.array([0.0, 0.1, 0.0]), "right": SOLE - np.array([0.0, 0.1, 0.0])}
WALL: dict[str, Any] = {
    "contacts": {**FEET, "hand": [0.5, 0.0, 1.0]}, "normals": {"hand": (-1.0, 0.0, 0.0)}, "friction": 0.6,
}  # fmt: skip


def bowing() -> pz.Model:
    """A column of three parts on two hinges, and a slide that takes all of it along y."""
    builder = pz.ModelBuilder("column")
    builder.joint("slide", "prismatic", parent="ground", child="hips", axis=(0, 1, 0), limits=(-0.5, 0.5), velocity=1.0)
    for name, parent in (("waist", "hips"), ("neck", "chest")):
        child = "chest" if name == "waist" else "head"
        origin = pz.SE3.from_parts([0.0, 0.0, 0.8 if name == "waist" else 0.5])
        builder.joint(
            name,
            "revolute",
            parent=parent,
            child=child,
            axis=(0, 1, 0),
            origin=origin,
            limits=(-2.0, 2.0),
            velocity=2.0,
        )
        builder.mass(child, 20.0, centre=(0.0, 0.0, 0.3))
    builder.mass("hips", 10.0, centre=(0.0, 0.0, 0.4))
    builder.frame("top", link="head", origin=pz.SE3.from_parts([0.0, 0.0, 0.5]))
    return builder.build()


BODY = bowing()


def held(place: Array, contacts: Any, normals: Any = None, friction: float = 0.5, edges: int = 360) -> bool:
    """Whether forces of cones hold a weight at a place (2,): a program of its own, with very many edges."""
    forces, moments = [], []
    for name, points in contacts.items():
        normal = np.array((normals or {}).get(name, (0.0, 0.0, 1.0)))
        across = np.linalg.svd(normal[None])[2][1:]
        turns = 2.0 * math.pi * np.arange(edges)[:, None] / edges
        rays = normal + friction * (np.cos(turns) * across[0] + np.sin(turns) * across[1])
        for point in np.atleast_2d(points):
            forces.append(rays)
            moments.append(np.cross(point - [*place, 0.0], rays))
    matrix = np.hstack([np.vstack(forces), np.vstack(moments)]).T
    right = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    return bool(linprog(np.zeros(matrix.shape[1]), np.ones((1, matrix.shape[1])), [10.0], matrix, right).status == 0)


def test_on_a_level_floor_it_is_the_support_polygon_whatever_the_friction() -> None:
    support = pz.SupportTask(np.concatenate([*FEET.values()])[:, :2])
    for friction in (0.0, 0.3, {"left": 0.1, "right": 2.0}):
        task = pz.EquilibriumTask(FEET, friction=friction)
        assert len(task.corners) == 4
        for corner in support.corners:
            assert np.linalg.norm(task.corners - corner, axis=1).min() < 1e-6


def test_a_hand_at_a_wall_lets_a_body_lean_as_far_as_forces_allow() -> None:
    task = pz.EquilibriumTask(**WALL)
    assert task.corners[:, 0].max() > 0.3  # beyond the toes
    way = np.array([1.0, 0.0])
    far = float((task.corners @ way).max())
    assert held(np.array([far - 1e-4, 0.0]), **WALL)
    assert not held(np.array([far * 1.03, 0.0]), **WALL)


def test_answers_and_steps_are_held_and_what_would_give_way_has_a_name() -> None:
    task, top = pz.EquilibriumTask(**WALL, margin=0.01), pz.PositionTask("top", weight=(1, 1, 0))
    fine = pz.solve(BODY, [pz.PositionTask("top", [0.55, 0.0, 0.0], weight=(1, 1, 0)), task])
    assert fine.success, fine.explain()
    assert held(BODY.centre_of_mass(fine.q)[:2], **WALL)
    much = pz.solve(BODY, [pz.PositionTask("top", [0.3, 0.6, 0.0], weight=(1, 1, 0)), task])
    assert not much.success
    loop, q = pz.Tracker(BODY, [task, top], dt=0.01), BODY.home
    for tick in range(250):
        q = loop.step(q, [None, [0.0, -0.004 * tick, 0.0]])
        assert tick % 25 or held(BODY.centre_of_mass(q)[:2], **WALL)
    assert "left would lift" in loop.explain()


def test_a_floor_that_is_slippery_slips_before_it_tips() -> None:
    lean = {**WALL, "friction": {"left": 0.1, "right": 0.1, "hand": 0.1}}
    task = pz.EquilibriumTask(**lean)
    q = next(q for q in BODY.sample(300, seed=0) if BODY.centre_of_mass(q)[0] > task.corners[:, 0].max() + 0.01)
    assert pz.solve(BODY, task, q0=q).success
    words = task.at_sides(BODY, q)
    assert any("would slip" in word for word in words), words


def test_contacts_that_are_moved_make_another_task() -> None:
    near, far = (pz.EquilibriumTask({"foot": SOLE + np.array([x, 0.0, 0.0])}) for x in (0.0, 0.4))
    assert near.structure != far.structure
    np.testing.assert_allclose(far.corners.mean(axis=0) - near.corners.mean(axis=0), [0.4, 0.0], atol=1e-6)


def test_what_makes_no_sense_is_refused() -> None:
    with refused("empty", "contacts must name points"):
        pz.EquilibriumTask({})
    with pytest.raises(pz.ShapeError, match=r"contacts\['foot'\] must have shape"):
        pz.EquilibriumTask({"foot": [[0.0, 0.0]]})
    with refused("empty", "on one line alone"):
        pz.EquilibriumTask({"foot": [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]]})
    with refused("empty", "can hold no weight", "normals point out"):
        pz.EquilibriumTask(FEET, normals={"left": (0, 0, -1), "right": (0, 0, -1)})
    with refused("empty", "margin of 0.2 m leaves nothing"):
        pz.EquilibriumTask(FEET, margin=0.2)
    with refused("unknown-word", "'hand'", "'left', 'right'"):
        pz.EquilibriumTask(FEET, normals={"hand": (0, 0, 1)})
    with refused("wrong-type", "normals must go by name"):
        pz.EquilibriumTask(FEET, normals=[(0, 0, 1)])  # type: ignore[arg-type]
    with refused("empty", "friction has none for 'right'"):
        pz.EquilibriumTask(FEET, friction={"left": 0.5})
    with refused("negative", "friction of 'left' is -1.0"):
        pz.EquilibriumTask(FEET, friction={"left": -1.0, "right": 0.5})
    with refused("not-positive", "press is 0"):
        pz.EquilibriumTask(FEET, press=0.0)
