"""Criteria of the null space: each is its formula's gradient, they add up, and no effector notices."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import linalg, optimize

import poise as pz
from poise.robots import TEXTBOOK
from poise.spatial import Array

PANDA = TEXTBOOK["panda"]()
HAND, POINT = pz.PoseTask("panda_hand"), pz.PositionTask("panda_hand")
OBSTACLES = np.array([[0.3, 0.2, 0.6], [-0.2, 0.5, 0.3]])
SPHERES = np.column_stack([OBSTACLES, [0.05, 0.1]])
Height = Callable[[pz.Model, Any, Array], float]


def truck() -> pz.Model:
    """Slides, a screw, a ball and a joint that follows another, in a tree."""
    builder = pz.ModelBuilder("truck")
    builder.joint("x", "prismatic", parent="world", child="cart", axis=(1, 0.2, 0), limits=(-1, 2))
    builder.joint("screw", "helical", parent="cart", child="mast", axis=(0, 0.1, 1), pitch=0.2, limits=(-3, 3))
    builder.joint("ball", "spherical", parent="mast", child="head", origin=pz.SE3.from_parts([0.1, 0.2, 1]))
    builder.joint("a", "revolute", parent="head", child="arm", origin=pz.SE3.from_xyz_rpy([0.4, 0, 0.1], [1, 0, 0.3]))
    there, beyond = pz.SE3.from_parts([0.3, 0.1, 0.2]), pz.SE3.from_parts([0.2, 0.1, 0.0])
    builder.joint("b", "revolute", parent="arm", child="hand", origin=there, axis=(0, 1, 0), limits=(-2, 2))
    half = pz.Mimic(joint="b", multiplier=-0.5)
    builder.joint("c", "revolute", parent="hand", child="tip", origin=beyond, axis=(1, 0, 0), mimic=half)
    builder.frame("tool", link="tip", origin=pz.SE3.from_parts([0.1, 0.0, 0.1]))
    return builder.build()


TRUCK = truck()


def at(model: pz.Model, task: Any, q: Array) -> Any:
    """The target that the task has reached at q."""
    pose = model.pose(task.frame, q)
    return {pz.PoseTask: pose, pz.PositionTask: pose.xyz, pz.OrientationTask: pose.rotation}[type(task)]


def moved(model: pz.Model, task: Any, q: Array, method: Any) -> Array:
    """(nv,) the first step with no error to lower: the null-space term alone."""
    tracker = pz.Tracker(model, task, method)
    return model.difference(q, tracker.step(q, at(model, task, q)))


def slope(height: Height, model: pz.Model, task: Any, q: Array) -> Array:
    """(nv,) the gradient by differences along velocities."""
    return optimize.approx_fprime(np.zeros(model.nv), lambda v: height(model, task, model.integrate(q, v)), 1e-6)


def rest(model: pz.Model, task: Any, q: Array) -> float:
    return 0.5 * float(np.sum((q - PANDA.home) ** 2))


def centring(model: pz.Model, task: Any, q: Array) -> float:
    middle, half = (model.upper + model.lower) / 2, (model.upper - model.lower) / 2
    return float(np.mean(((q - middle) / half) ** 2))


def distance(model: pz.Model, task: Any, q: Array) -> float:
    return float(np.sum((model.upper - model.lower) ** 2 / (4 * (model.upper - q) * (q - model.lower))))


def manipulability(model: pz.Model, task: Any, q: Array) -> float:
    _, j = pz.Solver(model, task, limits=False).linearise(q, at(model, task, q))
    values = np.linalg.svd(j, compute_uv=False)
    return -float(np.prod(values[values > 1e-9]))


def clearance(model: pz.Model, task: Any, q: Array, spheres: Array = SPHERES) -> float:
    total = 0.0
    for joint in model.root_path(model.frame(task.frame).link):
        if joint.kind is not pz.JointKind.FIXED:
            x = model.pose(joint.child, q).xyz - spheres[:, :3]
            size, r = np.linalg.norm(x, axis=1), spheres[:, 3]
            # The potential of the force 1 / (|x| - r).
            total -= float(np.log(size - r).sum())
    return total


CASES = [
    (PANDA, HAND, pz.RestPosture(gain=0.01), rest),
    (PANDA, HAND, pz.JointCentring(gain=0.01), centring),
    (PANDA, HAND, pz.LimitDistance(gain=0.001, longest=9.0), distance),
    (PANDA, HAND, pz.Manipulability(gain=0.01), manipulability),
    (PANDA, POINT, pz.Manipulability(gain=0.01), manipulability),
    (PANDA, HAND, pz.Clearance(obstacles=SPHERES, gain=0.001), clearance),
    (TRUCK, pz.PositionTask("tool"), pz.Manipulability(gain=0.01), manipulability),
    (TRUCK, pz.PoseTask("tool"), pz.Manipulability(gain=0.01), manipulability),
    (TRUCK, pz.OrientationTask("tool"), pz.Manipulability(gain=0.01), manipulability),
    (TRUCK, pz.PositionTask("tool"), pz.Clearance(obstacles=SPHERES, gain=0.001), clearance),
    (TEXTBOOK["planar4"](), pz.PositionTask("tool"), pz.Manipulability(gain=0.01), manipulability),
]


@pytest.mark.parametrize(("model", "task", "term", "height"), CASES)
@pytest.mark.parametrize("seed", range(2))
def test_a_criterion_goes_down_its_gradient_within_the_null_space(
    model: pz.Model, task: Any, term: Any, height: Height, seed: int
) -> None:
    q = model.sample(seed=seed)
    target: Any = at(model, task, q)
    _, j = pz.Solver(model, task, limits=False).linearise(q, target)
    gradient = slope(height, model, task, q)
    # Centring and the distance need the limits, with which the joints of the other cases might be held.
    limits = isinstance(term, pz.JointCentring | pz.LimitDistance)
    method = pz.Pseudoinverse(null_space=term, cutoff=0.0, max_step=9.0)
    step = model.difference(q, pz.Tracker(model, task, method, limits=limits).step(q, target))
    free = linalg.null_space(j, rcond=1e-9)
    expected = -term.gain * free @ (free.T @ gradient)
    assert np.linalg.norm(expected) > 1e-7
    np.testing.assert_allclose(step, expected, rtol=0, atol=1e-4 * np.linalg.norm(expected) + 1e-9)


@pytest.mark.parametrize("kind", [pz.Pseudoinverse, pz.DampedLeastSquares, pz.SelectivelyDamped, pz.FilteredInverse])
def test_criteria_add_up(kind: Any) -> None:
    terms = [
        pz.RestPosture(gain=0.01),
        pz.JointCentring(gain=0.02),
        pz.LimitDistance(gain=1e-4),
        pz.Manipulability(gain=0.03),
        pz.Clearance(obstacles=OBSTACLES, gain=0.001),
    ]
    q = PANDA.sample(seed=4)
    alone = sum(moved(PANDA, HAND, q, kind(null_space=term)) for term in terms)
    np.testing.assert_allclose(moved(PANDA, HAND, q, kind(null_space=tuple(terms))), alone, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(
        moved(PANDA, HAND, q, kind(null_space=terms)), moved(PANDA, HAND, q, kind(null_space=tuple(terms)))
    )


def test_the_distance_from_limits_asks_no_joint_for_more_than_its_longest() -> None:
    q = PANDA.lower + 1e-7
    term = pz.LimitDistance(gain=1.0, longest=0.05)
    _, j = pz.Solver(PANDA, POINT).linearise(q, PANDA.pose("panda_hand", q).xyz)
    free = linalg.null_space(j)
    tracker = pz.Tracker(PANDA, POINT, pz.Pseudoinverse(null_space=term, cutoff=0.0))
    step = tracker.step(q, PANDA.pose("panda_hand", q).xyz) - q
    np.testing.assert_allclose(step, np.maximum(free @ free.T @ np.full(7, 0.05), PANDA.lower - q), rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("term", "measure"),
    [
        (pz.Manipulability(gain=0.3), lambda q: -manipulability(PANDA, POINT, q)),
        (pz.Clearance(obstacles=SPHERES, gain=0.02), lambda q: -clearance(PANDA, POINT, q)),
        (pz.LimitDistance(gain=0.01), lambda q: -distance(PANDA, POINT, q)),
    ],
)
def test_along_a_still_target_the_criterion_gets_better(term: Any, measure: Callable[[Array], float]) -> None:
    q0 = PANDA.home
    tracker = pz.Tracker(PANDA, POINT, pz.Pseudoinverse(null_space=term))
    place = PANDA.pose("panda_hand", q0).xyz
    q = q0
    for _ in range(50):
        q = tracker.step(q, place).copy()
    assert measure(q) > measure(q0) + 1e-4
    np.testing.assert_allclose(PANDA.pose("panda_hand", q).xyz, place, rtol=0, atol=1e-3)


def test_a_point_is_a_sphere_without_a_radius() -> None:
    flat = np.column_stack([OBSTACLES, np.zeros(2)])
    q = PANDA.sample(seed=2)
    steps = [moved(PANDA, HAND, q, pz.Pseudoinverse(null_space=pz.Clearance(obstacles=o))) for o in (OBSTACLES, flat)]
    np.testing.assert_array_equal(*steps)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: pz.Clearance(obstacles=[]), pz.ShapeError, r"obstacles must be points \(k, 3\) or spheres"),
        (lambda: pz.Clearance(obstacles=[[1.0, 2.0]]), pz.ShapeError, r"got shape \(1, 2\)"),
        (lambda: pz.Clearance(obstacles=[1.0, 2.0, 3.0]), pz.ShapeError, r"got shape \(3,\)"),
        (lambda: pz.Clearance(obstacles=[[0, 0, 0, 1], [0, 0, 0, -1]]), ValueError, r"obstacles\[1\] has the radius"),
        (lambda: pz.Clearance(obstacles=[[0, 0, np.nan]]), ValueError, "obstacles"),
        (lambda: pz.Clearance(obstacles=OBSTACLES, gain=0.0), ValueError, "gain is 0.0"),
        (lambda: pz.Manipulability(gain=-1.0), ValueError, "gain is -1.0"),
        (lambda: pz.LimitDistance(longest=0.0), ValueError, "longest is 0.0"),
        (lambda: pz.Pseudoinverse(null_space=()), ValueError, "null_space is empty"),
        (lambda: pz.Pseudoinverse(null_space=(pz.RestPosture(), "up")), TypeError, "or None, got 'up'"),
        (
            lambda: pz.Pseudoinverse(null_space=(pz.RestPosture(), pz.RestPosture())),
            ValueError,
            "null_space holds 2 of RestPosture; make them one",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    "task", [pz.PositionTask("panda_hand", weight=2.0), pz.PoseTask("panda_hand", rotation_weight=0.5)]
)
def test_manipulability_is_of_tasks_without_weights(task: Any) -> None:
    with pytest.raises(ValueError, match=r"Manipulability needs tasks without weights.*panda_hand"):
        pz.Tracker(PANDA, task, pz.Pseudoinverse(null_space=pz.Manipulability()))
    with pytest.raises(ValueError, match="Manipulability is of positions and rotations"):
        pz.Tracker(PANDA, pz.LookAtTask("panda_hand"), pz.Pseudoinverse(null_space=pz.Manipulability()))
