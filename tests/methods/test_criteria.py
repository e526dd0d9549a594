"""Criteria of the null space: each is its formula's gradient, they add up, and no effector notices."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import linalg, optimize
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.robots import TEXTBOOK

PANDA = TEXTBOOK["panda"]()
HAND, POINT = pz.PoseTask("panda_hand"), pz.PositionTask("panda_hand")
OBSTACLES = np.array([[0.3, 0.2, 0.6], [-0.2, 0.5, 0.3]])
SPHERES = np.column_stack([OBSTACLES, [0.05, 0.1]])
Height = Callable[[pz.Model, Any, Array], float]


HALF = pz.Mimic(joint="b", multiplier=-0.5)
CURVED = pz.Mimic(joint="b", function=pz.JointFunction.polynomial([0.1, -0.5, 0.3, 0.2, -0.05]))
SPLINED = pz.Mimic(joint="a", function=pz.JointFunction.natural_spline([-3, -1, 0, 1, 3], [0.3, 0.1, -0.1, 0.2, 0.5]))


def truck(half: pz.Mimic = HALF, x: pz.Mimic | None = None) -> pz.Model:
    """Slides, a screw, a ball and joints that follow others, in a tree."""
    builder = pz.ModelBuilder("truck")
    builder.joint("x", "prismatic", parent="world", child="cart", axis=(1, 0.2, 0), limits=(-1, 2), mimic=x)
    builder.joint("screw", "helical", parent="cart", child="mast", axis=(0, 0.1, 1), pitch=0.2, limits=(-3, 3))
    builder.joint("ball", "spherical", parent="mast", child="head", origin=pz.SE3.from_parts([0.1, 0.2, 1]))
    builder.joint("a", "revolute", parent="head", child="arm", origin=pz.SE3.from_xyz_rpy([0.4, 0, 0.1], [1, 0, 0.3]))
    there, beyond = pz.SE3.from_parts([0.3, 0.1, 0.2]), pz.SE3.from_parts([0.2, 0.1, 0.0])
    builder.joint("b", "revolute", parent="arm", child="hand", origin=there, axis=(0, 1, 0), limits=(-2, 2))
    builder.joint("c", "revolute", parent="hand", child="tip", origin=beyond, axis=(1, 0, 0), mimic=half)
    builder.frame("tool", link="tip", origin=pz.SE3.from_parts([0.1, 0.0, 0.1]))
    return builder.build()


TRUCK, BENT = truck(), truck(CURVED, SPLINED)


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


def near_box(box: pz.Box, point: Array) -> tuple[Array, float]:
    """The nearest point of the surface of a box, and how far the point is from it, inside negative."""
    half, local = 0.5 * np.array(box.size), box.pose.inverse().act(point)
    found: list[tuple[float, Array]] = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            low, high = -half, half.copy()
            low, high[axis] = low.copy(), side * half[axis]
            low[axis] = high[axis]
            # The face as a thin box: least squares within bounds, an independent way to its nearest point.
            face = optimize.lsq_linear(np.eye(3), local, (low - 1e-14, high + 1e-14), method="bvls").x
            found.append((float(np.linalg.norm(face - local)), face))
    size, nearest = min(found, key=lambda pair: pair[0])
    inside = bool((np.abs(local) < half).all())
    return box.pose.act(nearest), -size if inside else size


def near(shape: Any, point: Array) -> tuple[Array, float]:
    """The unit vector away from a shape's nearest point, and how far the point is from it, inside negative."""
    if isinstance(shape, pz.Box):
        nearest, room = near_box(shape, point)
        return (point - nearest) / room, room
    core = np.array(shape.centre) if isinstance(shape, pz.Sphere) else np.array(shape.start)
    if isinstance(shape, pz.Capsule):
        along = np.array(shape.end) - core
        share = optimize.minimize_scalar(
            lambda t: float(np.linalg.norm(point - core - t * along)),
            bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-12},
        ).x  # fmt: skip
        ends = min((0.0, float(share), 1.0), key=lambda t: float(np.linalg.norm(point - core - t * along)))
        core = core + ends * along
    size = float(np.linalg.norm(point - core))
    return (point - core) / size, size - shape.radius


SHAPES = (
    pz.Box(pz.SE3.from_xyz_rpy([0.5, 0.5, 0.3], [0.3, 0.2, 1.0]), [0.2, 0.1, 0.3]),
    pz.Sphere([-0.2, 0.5, 0.3], 0.1),
    pz.Capsule([0.6, -0.4, 0.1], [0.5, -0.5, 0.6], 0.05),
)


def from_shapes(frames: tuple[str, ...]) -> Height:
    def height(model: pz.Model, task: Any, q: Array) -> float:
        return -sum(math.log(near(shape, model.pose(name, q).xyz)[1]) for name in frames for shape in SHAPES)

    return height


ON_PANDA, ON_TRUCK = ("panda_hand", "panda_link4", "panda_link6"), ("tool", "head", "cart", "tip")
CASES = [
    (PANDA, POINT, pz.criteria.Clearance(obstacles=SHAPES, gain=0.001, frames=ON_PANDA), from_shapes(ON_PANDA)),
    (
        TRUCK,
        pz.PositionTask("tool"),
        pz.criteria.Clearance(obstacles=SHAPES, gain=0.001, frames=ON_TRUCK),
        from_shapes(ON_TRUCK),
    ),
    (PANDA, HAND, pz.criteria.RestPosture(gain=0.01), rest),
    (PANDA, HAND, pz.criteria.JointCentring(gain=0.01), centring),
    (PANDA, HAND, pz.criteria.LimitDistance(gain=0.001, longest=9.0), distance),
    (PANDA, HAND, pz.criteria.Manipulability(gain=0.01), manipulability),
    (PANDA, POINT, pz.criteria.Manipulability(gain=0.01), manipulability),
    (PANDA, HAND, pz.criteria.Clearance(obstacles=SPHERES, gain=0.001), clearance),
    (TRUCK, pz.PositionTask("tool"), pz.criteria.Manipulability(gain=0.01), manipulability),
    (TRUCK, pz.PoseTask("tool"), pz.criteria.Manipulability(gain=0.01), manipulability),
    (TRUCK, pz.OrientationTask("tool"), pz.criteria.Manipulability(gain=0.01), manipulability),
    (TRUCK, pz.PositionTask("tool"), pz.criteria.Clearance(obstacles=SPHERES, gain=0.001), clearance),
    (BENT, pz.PositionTask("tool"), pz.criteria.Manipulability(gain=0.01), manipulability),
    (BENT, pz.OrientationTask("tool"), pz.criteria.Manipulability(gain=0.01), manipulability),
    (BENT, pz.PositionTask("tool"), pz.criteria.Clearance(obstacles=SPHERES, gain=0.001), clearance),
    (TEXTBOOK["planar4"](), pz.PositionTask("tool"), pz.criteria.Manipulability(gain=0.01), manipulability),
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
    limits = isinstance(term, pz.criteria.JointCentring | pz.criteria.LimitDistance)
    method = pz.methods.Pseudoinverse(null_space=term, cutoff=0.0, max_step=9.0)
    step = model.difference(q, pz.Tracker(model, task, method, limits=limits).step(q, target))
    free = linalg.null_space(j, rcond=1e-9)
    expected = -term.gain * free @ (free.T @ gradient)
    assert np.linalg.norm(expected) > 1e-7
    np.testing.assert_allclose(step, expected, rtol=0, atol=1e-4 * np.linalg.norm(expected) + 1e-9)


@pytest.mark.parametrize(
    "kind",
    [pz.methods.Pseudoinverse, pz.methods.DampedLeastSquares, pz.methods.SelectivelyDamped, pz.methods.FilteredInverse],
)
def test_criteria_add_up(kind: Any) -> None:
    terms = [
        pz.criteria.RestPosture(gain=0.01),
        pz.criteria.JointCentring(gain=0.02),
        pz.criteria.LimitDistance(gain=1e-4),
        pz.criteria.Manipulability(gain=0.03),
        pz.criteria.Clearance(obstacles=OBSTACLES, gain=0.001),
    ]
    q = PANDA.sample(seed=4)
    alone = sum(moved(PANDA, HAND, q, kind(null_space=term)) for term in terms)
    np.testing.assert_allclose(moved(PANDA, HAND, q, kind(null_space=tuple(terms))), alone, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(
        moved(PANDA, HAND, q, kind(null_space=terms)), moved(PANDA, HAND, q, kind(null_space=tuple(terms)))
    )


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_distance_from_limits_asks_no_joint_for_more_than_its_longest(side: float) -> None:
    q = PANDA.lower + 1e-7 if side > 0.0 else PANDA.upper - 1e-7
    term = pz.criteria.LimitDistance(gain=1.0, longest=0.05)
    _, j = pz.Solver(PANDA, POINT).linearise(q, PANDA.pose("panda_hand", q).xyz)
    free = linalg.null_space(j)
    tracker = pz.Tracker(PANDA, POINT, pz.methods.Pseudoinverse(null_space=term, cutoff=0.0))
    step = tracker.step(q, PANDA.pose("panda_hand", q).xyz) - q
    expected = np.clip(free @ free.T @ np.full(7, 0.05 * side), PANDA.lower - q, PANDA.upper - q)
    np.testing.assert_allclose(step, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("radius", [0.0, 0.1])
def test_an_obstacle_that_is_touched_or_entered_still_repels(radius: float) -> None:
    q = PANDA.sample(seed=2)
    elbow = PANDA.pose("panda_link4", q).xyz
    centre = elbow + np.array([3e-2, -2e-2, 1e-2]) * (1.0 if radius else 1e-3)
    term = pz.criteria.Clearance(obstacles=[[*centre, radius]], gain=1e-9)
    gone = moved(PANDA, POINT, q, pz.methods.Pseudoinverse(null_space=term, cutoff=0.0))
    # No nearer than 1e-4 m the force grows no more; there it is that on the elbow, before which all others are small.
    x = elbow - centre
    force = 1e-9 * x / (max(float(np.linalg.norm(x)), 1e-4) * 1e-4)
    _, j = pz.Solver(PANDA, POINT, limits=False).linearise(q, PANDA.pose("panda_hand", q).xyz)
    free = linalg.null_space(j)
    expected = free @ free.T @ PANDA.jacobian("panda_link4", q)[:3].T @ force
    np.testing.assert_allclose(gone, expected, rtol=0, atol=0.02 * np.linalg.norm(expected))


@pytest.mark.parametrize(
    ("term", "measure"),
    [
        (pz.criteria.Manipulability(gain=0.3), lambda q: -manipulability(PANDA, POINT, q)),
        (pz.criteria.Clearance(obstacles=SPHERES, gain=0.02), lambda q: -clearance(PANDA, POINT, q)),
        (pz.criteria.LimitDistance(gain=0.01), lambda q: -distance(PANDA, POINT, q)),
    ],
)
def test_along_a_still_target_the_criterion_gets_better(term: Any, measure: Callable[[Array], float]) -> None:
    q0 = PANDA.home
    tracker = pz.Tracker(PANDA, POINT, pz.methods.Pseudoinverse(null_space=term))
    place = PANDA.pose("panda_hand", q0).xyz
    q = q0
    for _ in range(50):
        q = tracker.step(q, place).copy()
    assert measure(q) > measure(q0) + 1e-4
    np.testing.assert_allclose(PANDA.pose("panda_hand", q).xyz, place, rtol=0, atol=1e-3)


def test_a_point_is_a_sphere_without_a_radius() -> None:
    flat = np.column_stack([OBSTACLES, np.zeros(2)])
    q = PANDA.sample(seed=2)
    steps = [
        moved(PANDA, HAND, q, pz.methods.Pseudoinverse(null_space=pz.criteria.Clearance(obstacles=o)))
        for o in (OBSTACLES, flat)
    ]
    np.testing.assert_array_equal(*steps)


def cart() -> pz.Model:
    """A point that moves along all axes while its task, the direction of its frame, leaves it alone."""
    builder = pz.ModelBuilder("cart")
    for parent, child, axis in (("world", "a", (1, 0, 0)), ("a", "b", (0, 1, 0)), ("b", "c", (0, 0, 1))):
        builder.joint(child, "prismatic", parent=parent, child=child, axis=axis, limits=(-9, 9))
    builder.frame("point", link="c", origin=pz.SE3.from_parts([0.1, -0.2, 0.3]))
    return builder.build()


CART = cart()
numbers, lengths = st.floats(-1.0, 1.0), st.floats(0.05, 1.0)
points = st.tuples(numbers, numbers, numbers)
shapes = st.one_of(
    st.builds(pz.Sphere, points, lengths),
    st.builds(pz.Capsule, points, points, lengths),
    st.builds(pz.Box, st.builds(pz.SE3.from_xyz_rpy, points, points), st.tuples(lengths, lengths, lengths)),
)


@settings(max_examples=40)
@given(shape=shapes, place=points)
def test_the_force_is_away_from_the_nearest_point_and_one_over_the_distance(shape: Any, place: Any) -> None:
    q = np.array(place)
    point = q + np.array([0.1, -0.2, 0.3])
    away, room = near(shape, point)
    assume(abs(room) > 1e-3 and np.linalg.norm(away) > 0.5)  # not where the force is cut
    around = [near(shape, point + 1e-4 * x)[0] for x in np.vstack([np.eye(3), -np.eye(3)])]
    assume(np.abs(around - away).max() < 0.1)  # nor where two points of the surface are as near
    method = pz.methods.Pseudoinverse(
        null_space=pz.criteria.Clearance(obstacles=[shape], gain=1e-6, frames=("point",)), max_step=9.0
    )
    ik = pz.Tracker(CART, pz.OrientationTask("point"), method)
    expected = 1e-6 / max(room, 1e-4) * away
    np.testing.assert_allclose(ik.step(q) - q, expected, rtol=0, atol=1e-6 * np.linalg.norm(expected) + 1e-14)
    still = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (2, 1, 1, 1))
    lanes = ik.rollout(np.array([q, q]), still)[:, 0] - q
    np.testing.assert_allclose(lanes, [expected] * 2, rtol=0, atol=1e-6 * np.linalg.norm(expected) + 1e-14)


def test_on_the_core_of_a_shape_the_force_is_finite_and_leads_out_of_it() -> None:
    middle = np.array([0.1, -0.2, 0.3])
    for shape in (
        pz.Capsule(middle - np.array([0, 0, 1]), middle + np.array([0, 0, 1]), 0.1),
        pz.Box(pz.SE3.from_parts(middle), [3, 1, 2]),
    ):
        method = pz.methods.Pseudoinverse(
            null_space=pz.criteria.Clearance(obstacles=[shape], gain=1e-6, frames=("point",))
        )
        ik = pz.Tracker(CART, pz.OrientationTask("point"), method)
        step = ik.step(np.zeros(3))
        assert not ik.failed
        np.testing.assert_allclose(np.linalg.norm(step), 1e-2, rtol=1e-9)
        assert abs(step[2]) < 1e-12


def test_a_sphere_is_a_row_of_centre_and_radius() -> None:
    q = PANDA.sample(seed=2)
    balls = [pz.Sphere(row[:3], row[3]) for row in SPHERES]
    steps = [
        moved(PANDA, HAND, q, pz.methods.Pseudoinverse(null_space=pz.criteria.Clearance(obstacles=o)))
        for o in (SPHERES, balls)
    ]
    np.testing.assert_array_equal(*steps)
    ends = [pz.Capsule(row[:3], row[:3], row[3]) for row in SPHERES]
    rounded = moved(PANDA, HAND, q, pz.methods.Pseudoinverse(null_space=pz.criteria.Clearance(obstacles=ends)))
    np.testing.assert_allclose(rounded, steps[0], rtol=0, atol=1e-12)


def test_without_frames_the_joints_origins_are_pushed() -> None:
    q = PANDA.sample(seed=5)
    names = tuple(j.child for j in PANDA.root_path("panda_hand") if j.kind is not pz.JointKind.FIXED)
    steps = [
        moved(PANDA, HAND, q, pz.methods.Pseudoinverse(null_space=pz.criteria.Clearance(obstacles=SHAPES, frames=f)))
        for f in (None, names)
    ]
    np.testing.assert_allclose(*steps, rtol=0, atol=1e-12)


def test_frames_that_cannot_be_pushed_are_refused() -> None:
    def prepare(*frames: str) -> None:
        pz.Tracker(
            PANDA,
            pz.PositionTask("panda_link5"),
            pz.methods.Pseudoinverse(null_space=pz.criteria.Clearance(obstacles=SHAPES, frames=frames)),
        )

    prepare("panda_link5", "panda_link1")
    with pytest.raises(pz.FrameNotFound, match="has no frame 'panda_hnad'; did you mean 'panda_hand'"):
        prepare("panda_hnad")
    with pytest.raises(ValueError, match=r"'panda_link0', which does not move: leave it out of frames"):
        prepare("panda_link1", "panda_link0")
    with pytest.raises(ValueError, match=r"'panda_hand', which hangs on the joint 'panda_joint6', and that moves none"):
        prepare("panda_hand")


@pytest.mark.parametrize(
    ("make", "code", "words"),
    [
        (
            lambda: pz.criteria.Clearance(obstacles=SHAPES[0]),
            "not-a-sequence",
            "obstacles must be a sequence of shapes; put the Box in a list",
        ),
        (
            lambda: pz.criteria.Clearance(obstacles=[*SHAPES, [1, 2, 3]]),
            "not-a-shape",
            "obstacles[3] is [1, 2, 3]: make it a Sphere",
        ),
        (
            lambda: pz.criteria.Clearance(obstacles=SHAPES, frames="hand"),
            "not-a-sequence",
            "frames",
        ),
        (lambda: pz.criteria.Clearance(obstacles=SHAPES, frames=(1,)), "not-a-sequence", "frames"),
        (lambda: pz.criteria.Clearance(obstacles=SHAPES, frames=()), "empty", "frames"),
        (lambda: pz.criteria.Clearance(obstacles=[]), "wrong-shape", "obstacles"),
        (lambda: pz.criteria.Clearance(obstacles=[[1.0, 2.0]]), "wrong-shape", "got shape (1, 2)"),
        (lambda: pz.criteria.Clearance(obstacles=[1.0, 2.0, 3.0]), "wrong-shape", "got shape (3,)"),
        (
            lambda: pz.criteria.Clearance(obstacles=[[0, 0, 0, 1], [0, 0, 0, -1]]),
            "negative",
            "obstacles[1]",
        ),
        (lambda: pz.criteria.Clearance(obstacles=[[0, 0, np.nan]]), "not-finite", "obstacles"),
        (lambda: pz.criteria.Clearance(obstacles=OBSTACLES, gain=0.0), "not-positive", "gain"),
        (lambda: pz.criteria.Manipulability(gain=-1.0), "not-positive", "gain"),
        (lambda: pz.criteria.LimitDistance(longest=0.0), "not-positive", "longest"),
        (lambda: pz.methods.Pseudoinverse(null_space=()), "empty", "null_space"),
        (
            lambda: pz.methods.Pseudoinverse(null_space=(pz.criteria.RestPosture(), "up")),
            "wrong-type",
            "or None, got 'up'",
        ),
        (
            lambda: pz.methods.Pseudoinverse(null_space=(pz.criteria.RestPosture(), pz.criteria.RestPosture())),
            "too-many",
            "null_space",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(make: Any, code: str, words: str) -> None:
    with refused(code, words):
        make()


@pytest.mark.parametrize(
    "task", [pz.PositionTask("panda_hand", weight=(2.0, 1.0, 1.0)), pz.PoseTask("panda_hand", rotation_weight=0.5)]
)
def test_manipulability_is_of_tasks_without_weights(task: Any) -> None:
    with refused("not-supported", "Manipulability"):
        pz.Tracker(PANDA, task, pz.methods.Pseudoinverse(null_space=pz.criteria.Manipulability()))
    with refused("not-supported", "Manipulability"):
        pz.Tracker(
            PANDA, pz.LookAtTask("panda_hand"), pz.methods.Pseudoinverse(null_space=pz.criteria.Manipulability())
        )


@pytest.mark.parametrize("criterion", [pz.criteria.JointCentring(), pz.criteria.LimitDistance()])
def test_a_criterion_of_limits_needs_some(criterion: pz.criteria.JointCentring | pz.criteria.LimitDistance) -> None:
    builder = pz.ModelBuilder("wheel")
    builder.joint("axle", "continuous", parent="base", child="rim")
    with pytest.raises(ValueError, match=r"reads the joint limits, and wheel has none: leave it out"):
        pz.Tracker(builder.build(), pz.PositionTask("rim"), pz.methods.DampedLeastSquares(null_space=criterion))


def test_an_infinite_gain_is_refused() -> None:
    with refused("not-finite", "gain"):
        pz.criteria.RestPosture(gain=math.inf)
    with refused("not-finite", "position_stiffness"):
        pz.methods.DasSlotineSheridan(position_stiffness=math.inf)
