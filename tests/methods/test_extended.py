"""The extended Jacobian: its rows against finite differences, closed paths, and the optimum against SciPy's."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import optimize
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.criteria import algorithmic_singularity, relax
from poise.robots import TEXTBOOK
from poise.robots.planar import planar
from poise.spatial import SE3

PANDA = TEXTBOOK["panda"]()
HAND = "panda_hand"
FOUR = planar(4, 0.4)
BENT = np.array([0.5, 0.4, 0.3, 0.6])
EXACT = pz.methods.ExtendedJacobian(max_error=None, max_step=math.inf)
TASKS = {
    "position": (pz.PositionTask(HAND), lambda pose: pose.xyz),
    "pose": (pz.PoseTask(HAND), lambda pose: pose),
    "orientation": (pz.OrientationTask(HAND), lambda pose: pose.rotation),
    "weights": (pz.PoseTask(HAND, position_weight=(1, 2, 3), rotation_weight=0.3), lambda pose: pose),
    "some rows": (pz.PoseTask(HAND, position_weight=(1, 0, 3), rotation_weight=(0, 2, 1)), lambda pose: pose),
}


MULTIPLE = {"lean": pz.Mimic(joint="turn", multiplier=-0.7, offset=0.2)}
BENT_RULES = {
    "lean": pz.Mimic(joint="turn", function=pz.JointFunction.polynomial([0.2, -0.7, 0.5, 0.2])),
    "slide": pz.Mimic(joint="screw", function=pz.JointFunction.natural_spline([-1, 0, 0.5, 2], [0.2, 0.0, 0.1, -0.3])),
    "screw": pz.Mimic(joint="last", function=pz.JointFunction.simm_spline([-1, 0, 1, 2], [0.3, 0.0, 0.4, 0.1])),
}


def screw_and_slide(rules: dict[str, pz.Mimic]) -> pz.Model:
    """A tree's branch with slides, a screw and joints that follow others."""
    builder = pz.ModelBuilder("mixed")
    builder.joint("turn", "revolute", parent="world", child="a", axis=(0, 0, 1))
    builder.joint("slide", "prismatic", parent="a", child="b", axis=(1, 0.2, 0), origin=SE3.from_parts([0.3, 0, 0.2]),
                  mimic=rules.get("slide"))  # fmt: skip
    builder.joint("screw", "helical", parent="b", child="c", axis=(0, 1, 0), pitch=0.1,
                  origin=SE3.from_parts([0.3, 0.1, 0]), mimic=rules.get("screw"))  # fmt: skip
    builder.joint("lean", "revolute", parent="c", child="d", axis=(1, 0, 0), origin=SE3.from_parts([0.2, 0, 0.1]),
                  mimic=rules["lean"])  # fmt: skip
    if len(rules) > 1:  # enough that something is left free
        builder.joint("more", "prismatic", parent="d", child="d2", axis=(0, 1, 1))
        builder.joint("far", "revolute", parent="d2", child="d3", axis=(0, 1, 0.3), origin=SE3.from_parts([0.1, 0, 0]))
    builder.joint(
        "last",
        "revolute",
        parent="d3" if len(rules) > 1 else "d",
        child="e",
        axis=(0, 0, 1),
        origin=SE3.from_parts([0.3, 0, 0]),
    )
    builder.frame("tool", link="e", origin=SE3.from_parts([0.2, 0.1, 0]))
    return builder.build()


def rows(model: pz.Model, task: Any, q: Array, to: Any) -> Array:
    """The Jacobian of the task at q."""
    jacobian: Array = pz.Solver(model, task, limits=False).linearise(q, to(model.pose(task.frame, q)))[1]
    return jacobian


def projector(jacobian: Array) -> Array:
    """Z Z^T, which no choice of a basis changes."""
    _, values, v = np.linalg.svd(jacobian)
    rank = int((values > 1e-9 * values[0]).sum())
    null: Array = v[rank:].T @ v[rank:]
    return null


def stacked_step(model: pz.Model, task: Any, q: Array, target: Any, to: Any, gradient: Any) -> Array:
    """The step from [J; E] dq = [e; -N grad g], E the derivative of N grad g, N = Z Z^T, by central differences."""
    e, jacobian = pz.Solver(model, task, limits=False).linearise(q, target)
    null = projector(jacobian)
    h = 1e-6
    columns = []
    for k in range(len(q)):
        up, down = q.copy(), q.copy()
        up[k] += h
        down[k] -= h
        slopes = [projector(rows(model, task, x, to)) @ gradient(x) for x in (up, down)]
        columns.append((slopes[0] - slopes[1]) / (2.0 * h))
    # Along Z alone: the rest of the derivative is how the basis turns, which dZ = -J^+ dJ Z leaves out.
    extended = null @ np.array(columns).T
    left, right = np.vstack([jacobian, extended]), np.concatenate([e, -null @ gradient(q)])
    step: Array = np.linalg.lstsq(left, right, rcond=1e-7)[0]
    return step


# The rows ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in TASKS if name != "some rows"])
def test_the_step_is_that_of_the_differentiated_optimality_condition(name: str) -> None:
    # A rotation without one of its rows is left to the quadratic convergence: its rows here follow the frame.
    task, to = TASKS[name]
    rest = PANDA.home
    tracker = pz.Tracker(PANDA, task, EXACT, limits=False)
    rng = np.random.default_rng(1)
    for _ in range(4):
        q = rest + rng.uniform(-0.2, 0.2, 7)
        target = to(SE3.from_xyz_rpy(rng.uniform(-0.02, 0.02, 3), rng.uniform(-0.02, 0.02, 3)) @ PANDA.pose(HAND, q))
        got = tracker.step(q, target) - q
        expected = stacked_step(PANDA, task, q, target, to, lambda x: x - rest)
        np.testing.assert_allclose(got, expected, rtol=0, atol=2e-6)


@pytest.mark.parametrize("rules", [MULTIPLE, BENT_RULES], ids=["multiples", "functions"])
def test_slides_screws_and_mimics_bend_as_they_should(rules: dict[str, pz.Mimic]) -> None:
    model = screw_and_slide(rules)
    q = np.array([0.3, 0.1, -0.2, 0.4])
    method = pz.methods.ExtendedJacobian(
        criterion=pz.criteria.RestPosture(q=q + 0.1), max_error=None, max_step=math.inf
    )
    target = model.pose("tool", q).xyz + np.array([0.01, -0.02, 0.01])
    task = pz.PositionTask("tool")
    got = pz.Tracker(model, task, method, limits=False).step(q, target) - q
    expected = stacked_step(model, task, q, target, lambda pose: pose.xyz, lambda x: x - q - 0.1)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-6)


def test_joint_centring_has_its_own_curvature() -> None:
    low, high = PANDA.lower, PANDA.upper
    half = 0.5 * (high - low)
    q = PANDA.home + 0.1
    method = pz.methods.ExtendedJacobian(criterion=pz.criteria.JointCentring(), max_error=None, max_step=math.inf)
    target = PANDA.pose(HAND, q).xyz + np.array([0.01, 0.0, 0.0])
    got = pz.Tracker(PANDA, pz.PositionTask(HAND), method).step(q, target) - q
    expected = stacked_step(
        PANDA, pz.PositionTask(HAND), q, target, lambda pose: pose.xyz,
        lambda x: 2.0 * (x - 0.5 * (low + high)) / (7 * half**2),
    )  # fmt: skip
    np.testing.assert_allclose(got, expected, rtol=0, atol=2e-6)


@pytest.mark.parametrize("name", TASKS)
def test_convergence_is_quadratic(name: str) -> None:
    task, to = TASKS[name]
    tracker = pz.Tracker(PANDA, task, EXACT, limits=False)
    q = PANDA.home + np.array([0.1, -0.1, 0.15, 0.1, -0.1, 0.1, 0.2])
    target = to(SE3.from_parts([0.03, 0.05, 0.0]) @ PANDA.pose(HAND, PANDA.home))
    sizes = []
    for _ in range(8):
        new = tracker.step(q, target).copy()
        sizes.append(float(np.abs(new - q).max()))
        q = new
    assert sizes[-1] < 1e-13
    falls = [after / before**2 for before, after in itertools.pairwise(sizes) if 1e-6 < before < 0.1]
    assert falls
    assert max(falls) < 10.0


@pytest.mark.parametrize("name", ["position", "pose"])
def test_convergence_is_quadratic_with_a_ball(name: str) -> None:
    builder = pz.ModelBuilder("shoulder")
    builder.joint("ball", "spherical", parent="world", child="a", origin=SE3.from_parts([0.1, 0.2, 0.3]))
    axes = [(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    for i, axis in enumerate(axes):
        builder.joint(f"j{i}", "revolute", parent="abcde"[i], child="bcdef"[i], axis=axis,
                      origin=SE3.from_parts([0.3, 0.05, 0.1]))  # fmt: skip
    builder.frame(HAND, link="f", origin=SE3.from_parts([0.2, 0.1, 0.0]))
    model, (task, to) = builder.build(), TASKS[name]
    q = model.integrate(model.home, np.array([0.2, -0.1, 0.3, 0.5, -0.4, 0.6, 0.7, -0.3]))
    rest = model.integrate(q, 0.1 * np.ones(8))
    target = to(SE3.from_parts([0.02, 0.03, -0.01]) @ model.pose(HAND, q))
    method = pz.methods.ExtendedJacobian(criterion=pz.criteria.RestPosture(q=rest), max_error=None, max_step=math.inf)
    tracker = pz.Tracker(model, task, method, limits=False)
    sizes = []
    for _ in range(12):
        new = tracker.step(q, target).copy()
        sizes.append(float(np.abs(model.difference(q, new)).max()))
        q = new
    assert sizes[-1] < 1e-12, sizes
    falls = [after / before**2 for before, after in itertools.pairwise(sizes) if 1e-6 < before < 0.05]
    assert falls
    assert max(falls) < 30.0, sizes


# Closed paths -----------------------------------------------------------------------------------------------------


def laps(model: pz.Model, start: Array, method: Any, radius: float, steps: int = 200, turns: int = 3) -> Array:
    """(turns,) how far q is from the start after each lap of the tip around a circle [rad]."""
    tip = model.pose(model.tip, start).xyz
    angle = 2.0 * math.pi * np.arange(1, turns * steps + 1) / steps
    goals = tip + radius * np.stack([np.cos(angle) - 1.0, np.sin(angle), 0.0 * angle], axis=1)
    tracker = pz.Tracker(model, pz.PositionTask(model.tip), method, updates=3, limits=False)
    path = tracker.rollout(start, goals[:, None])
    away = np.abs(path[steps - 1 :: steps] - start).max(axis=1)
    assert np.linalg.norm(model.pose(model.tip, path[-1]).xyz - tip) < 1e-9
    return np.asarray(away)


@pytest.mark.parametrize(
    ("model", "q", "radius"),
    [(FOUR, BENT, 0.25), (PANDA, PANDA.home + 0.05, 0.15)],
    ids=["planar", "panda"],
)
def test_closed_paths_come_back_where_the_pseudoinverse_drifts(model: pz.Model, q: Array, radius: float) -> None:
    method = pz.methods.ExtendedJacobian(criterion=pz.criteria.RestPosture(q=q), max_error=None)
    start = relax(model, pz.PositionTask(model.tip), q + 0.05, method)
    drift = laps(model, start, pz.methods.Pseudoinverse(max_step=math.inf), radius)
    assert drift[-1] > 1e-2
    assert (laps(model, start, method, radius) < 1e-6).all()


# The optimum ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["position", "pose"])
@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_is_that_of_sequential_quadratic_programming(name: str, seed: int) -> None:
    task, to = TASKS[name]
    rest = PANDA.home
    q = rest + np.random.default_rng(seed).uniform(-0.3, 0.3, 7)
    pose = PANDA.pose(HAND, q)
    solver = pz.Solver(PANDA, task, limits=False)
    found = relax(PANDA, task, q, pz.methods.ExtendedJacobian(), limits=False)
    e, _ = solver.linearise(found, to(pose))
    assert np.abs(e).max() < 1e-12
    best = optimize.minimize(
        lambda x: 0.5 * ((x - rest) ** 2).sum(), q, jac=lambda x: x - rest, method="SLSQP",
        constraints={"type": "eq", "fun": lambda x: solver.linearise(x, to(pose))[0],
                     "jac": lambda x: -solver.linearise(x, to(pose))[1]},
        options={"ftol": 1e-15, "maxiter": 500},
    )  # fmt: skip
    np.testing.assert_allclose(found, best.x, rtol=0, atol=1e-6)


def test_the_optimum_among_limits_holds_the_joint_that_they_stop() -> None:
    builder = pz.ModelBuilder("stopped")
    for i, limits in enumerate([(-3, 3), (-3, 0.45), (-3, 3), (-3, 3)]):
        place = SE3.from_parts([0.4 if i else 0.0, 0.0, 0.0])
        builder.joint(f"j{i}", "revolute", parent=f"l{i - 1}" if i else "world", child=f"l{i}", origin=place,
                      limits=limits)  # fmt: skip
    builder.frame("tool", link="l3", origin=SE3.from_parts([0.4, 0.0, 0.0]))
    arm, task, rest = builder.build(), pz.PositionTask("tool"), np.array([0.2, 1.0, 0.2, 0.3])
    method = pz.methods.ExtendedJacobian(criterion=pz.criteria.RestPosture(q=rest))
    found = relax(arm, task, [0.5, 0.4, 0.3, 0.6], method)
    target = arm.pose("tool", [0.5, 0.4, 0.3, 0.6]).xyz
    best = optimize.minimize(
        lambda x: 0.5 * ((x - rest) ** 2).sum(), found - 0.01, jac=lambda x: x - rest, method="SLSQP",
        bounds=list(zip(arm.lower, arm.upper, strict=True)),
        constraints={"type": "eq", "fun": lambda x: (arm.pose("tool", x).xyz - target)[:2],
                     "jac": lambda x: arm.jacobian("tool", x)[:2]},
        options={"ftol": 1e-15, "maxiter": 500},
    )  # fmt: skip
    assert relax(arm, task, [0.5, 0.4, 0.3, 0.6], method, limits=False)[1] > 0.46
    assert found[1] == 0.45
    np.testing.assert_allclose(found, best.x, rtol=0, atol=1e-6)


def width(model: pz.Model, q: Array) -> float:
    """The manipulability of a position in the plane."""
    jacobian = model.jacobian(model.tip, q)[:2]
    return math.sqrt(np.linalg.det(jacobian @ jacobian.T))


@pytest.mark.parametrize("seed", range(2))
def test_the_widest_pose_is_that_of_sequential_quadratic_programming(seed: int) -> None:
    q = BENT + np.random.default_rng(seed).uniform(-0.1, 0.1, 4)
    task, method = pz.PositionTask(FOUR.tip), pz.methods.ExtendedJacobian(criterion=pz.criteria.Manipulability())
    target = FOUR.pose(FOUR.tip, q).xyz
    found = relax(FOUR, task, q, method)
    best = optimize.minimize(
        lambda x: -width(FOUR, x), q, method="SLSQP",
        constraints={"type": "eq", "fun": lambda x: (FOUR.pose(FOUR.tip, x).xyz - target)[:2],
                     "jac": lambda x: FOUR.jacobian(FOUR.tip, x)[:2]},
        options={"ftol": 1e-15, "maxiter": 500},
    )  # fmt: skip
    assert width(FOUR, found) > width(FOUR, q) + 1e-3
    np.testing.assert_allclose(FOUR.pose(FOUR.tip, found).xyz, target, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found, best.x, rtol=0, atol=1e-5)
    assert algorithmic_singularity(FOUR, task, found, method).smallest > 0.0


OBSTACLES = np.array([[0.35, 0.3, 0.5], [-0.2, -0.4, 0.9]])


def nearness(q: Array) -> float:
    """What `Clearance` goes down, of the Panda's joints."""
    links = [joint.child for joint in PANDA.joints if joint.nq]
    return -sum(float(np.log(np.linalg.norm(PANDA.pose(link, q).xyz - o))) for link in links for o in OBSTACLES)


def crowding(q: Array) -> float:
    """What `LimitDistance` goes down."""
    low, high = PANDA.lower, PANDA.upper
    return float(np.sum((high - low) ** 2 / (4.0 * (high - q) * (q - low))))


@pytest.mark.parametrize(
    ("criterion", "value"),
    [(pz.criteria.Clearance(obstacles=OBSTACLES), nearness), (pz.criteria.LimitDistance(), crowding)],
)
@pytest.mark.parametrize("seed", range(2))
def test_the_optima_by_differences_are_least_along_the_free_direction(
    criterion: pz.criteria.Clearance | pz.criteria.LimitDistance, value: Callable[[Array], float], seed: int
) -> None:
    q = PANDA.home + np.random.default_rng(seed).uniform(-0.1, 0.1, 7)
    task, target = pz.PoseTask(HAND), PANDA.pose(HAND, q)
    solver = pz.Solver(PANDA, task)
    found = relax(PANDA, task, q, pz.methods.ExtendedJacobian(criterion=criterion))
    assert value(found) < value(q) - 1e-4
    e, jacobian = solver.linearise(found, target)
    assert np.abs(e).max() < 1e-12
    # One direction is free, and along it the criterion neither rises nor falls, and is least.
    along = np.linalg.svd(jacobian)[2][-1]
    step = 1e-4
    values = [value(relax_onto(solver, target, found + s * step * along)) for s in (-1.0, 0.0, 1.0)]
    assert (values[2] - values[0]) / (2.0 * step) == pytest.approx(0.0, abs=1e-5)
    assert values[0] + values[2] - 2.0 * values[1] > 0.0


def relax_onto(solver: pz.Solver, target: SE3, q: Array) -> Array:
    """The configuration near q that reaches the target, by Newton's steps."""
    for _ in range(5):
        e, jacobian = solver.linearise(q, target)
        q = q + np.linalg.pinv(jacobian) @ e
    return q


def test_the_widest_pose_comes_back_with_a_closed_path_and_its_jacobian_may_be_the_targets() -> None:
    for at in ("effector", "target"):
        method = pz.methods.ExtendedJacobian(criterion=pz.criteria.Manipulability(), max_error=None, jacobian=at)
        start = relax(FOUR, pz.PositionTask(FOUR.tip), BENT, method)
        assert (laps(FOUR, start, method, 0.1, turns=1) < 1e-6).all()


# Singularities ----------------------------------------------------------------------------------------------------


def test_the_measure_is_the_hessian_of_the_criterion_within_the_task() -> None:
    rest = np.array([0.4, 0.5, 0.3, 0.5])
    method, task = pz.methods.ExtendedJacobian(criterion=pz.criteria.RestPosture(q=rest)), pz.PositionTask(FOUR.tip)
    q = relax(FOUR, task, BENT, method)
    jacobian = rows(FOUR, task, q, lambda pose: pose.xyz)
    null = np.linalg.svd(jacobian)[2][2:]
    tracker = pz.Tracker(FOUR, task, pz.methods.GaussNewton(), updates=8)

    def within(u: Array) -> float:
        x = tracker.step(q + null.T @ u, FOUR.pose(FOUR.tip, q).xyz)
        return float(0.5 * ((x - rest) ** 2).sum())

    h = 1e-3
    hessian = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            di, dj = h * np.eye(2)[i], h * np.eye(2)[j]
            hessian[i, j] = (within(di + dj) - within(di - dj) - within(dj - di) + within(-di - dj)) / (4 * h * h)
    measure = algorithmic_singularity(FOUR, task, q, method)
    assert measure.smallest == pytest.approx(np.linalg.eigvalsh(hessian)[0], rel=1e-4)
    assert measure.determinant == pytest.approx(np.linalg.det(hessian), rel=1e-4)


def test_the_measure_is_taken_along_a_whole_path() -> None:
    task, goal = pz.PositionTask(FOUR.tip), FOUR.pose(FOUR.tip, BENT).xyz + np.array([0.05, -0.1, 0.0])
    path = pz.Tracker(FOUR, task, EXACT).rollout(BENT, np.tile(goal, (6, 1, 1)))
    trace = pz.solve(FOUR, pz.PositionTask(FOUR.tip, target=goal), q0=BENT, method=EXACT, trace=True).trace
    assert trace is not None
    for many in (path, path.reshape(2, 3, 4), trace.q):
        found = algorithmic_singularity(FOUR, task, many)
        assert np.shape(found.determinant) == np.shape(found.smallest) == many.shape[:-1]
        for place in np.ndindex(many.shape[:-1]):
            one = algorithmic_singularity(FOUR, task, many[place])
            assert np.asarray(found.determinant)[place] == pytest.approx(one.determinant, rel=1e-9)
            assert np.asarray(found.smallest)[place] == pytest.approx(one.smallest, rel=1e-9)


def test_an_algorithmic_singularity_lies_where_the_minimum_ends() -> None:
    # Two equal minima lie either side of a straight posture's saddle; between them E Z is not positive.
    task, method = (
        pz.PositionTask(FOUR.tip),
        pz.methods.ExtendedJacobian(criterion=pz.criteria.RestPosture(q=np.zeros(4))),
    )
    bent = relax(FOUR, task, np.array([0.9, -0.6, -0.7, -0.5]), method)
    assert algorithmic_singularity(FOUR, task, bent, method).smallest > 0.0
    away = pz.methods.ExtendedJacobian(criterion=pz.criteria.RestPosture(q=-8.0 * bent))
    assert algorithmic_singularity(FOUR, task, bent, away).smallest < 0.0


def test_off_the_minimum_the_step_still_lowers_the_criterion() -> None:
    task, rest = pz.PositionTask(FOUR.tip), BENT + 4.0 * np.random.default_rng(2).normal(size=4)
    method = pz.methods.ExtendedJacobian(criterion=pz.criteria.RestPosture(q=rest), max_error=None, max_step=1e-3)
    assert algorithmic_singularity(FOUR, task, BENT, method).smallest < 0.0
    tracker = pz.Tracker(FOUR, task, method)
    after = tracker.step(BENT, FOUR.pose(FOUR.tip, BENT).xyz)
    assert ((after - rest) ** 2).sum() < ((BENT - rest) ** 2).sum()


def test_without_freedom_it_is_newtons_method() -> None:
    two = planar(2, 0.5)
    q, target = np.array([0.4, 0.9]), np.array([0.4, 0.6, 0.0])
    task = pz.PositionTask(two.tip)
    got = pz.Tracker(two, task, EXACT).step(q, target).copy()
    expected = pz.Tracker(two, task, pz.methods.GaussNewton()).step(q, target)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-14)
    assert algorithmic_singularity(two, task, q).determinant == 1.0


def test_a_singular_jacobian_gives_a_finite_step() -> None:
    tracker = pz.Tracker(FOUR, pz.PositionTask(FOUR.tip), pz.methods.ExtendedJacobian())
    q = np.zeros(4)
    for _ in range(60):
        q = tracker.step(q, [0.9, 0.3, 0.0]).copy()
        assert np.isfinite(q).all()
    assert not tracker.failed


# Refusals ---------------------------------------------------------------------------------------------------------


def test_what_it_cannot_do_is_refused() -> None:
    with refused("not-supported", "'extended'"):
        pz.Tracker(PANDA, pz.AxisTask(HAND), "extended")
    with refused("wrong-type", "criterion"):
        pz.methods.ExtendedJacobian(criterion=3)  # type: ignore[arg-type]
    widest = pz.methods.ExtendedJacobian(criterion=pz.criteria.Manipulability())
    with refused("not-supported", "Manipulability"):
        pz.Tracker(PANDA, pz.PositionTask(HAND, weight=(2.0, 1.0, 1.0)), widest)
    builder = pz.ModelBuilder("ball")
    builder.joint("ball", "spherical", parent="world", child="head")
    builder.joint("turn", "revolute", parent="head", child="arm", origin=SE3.from_parts([0.3, 0, 0]))
    with refused("not-supported", "'ball'"):
        pz.Tracker(builder.build(), pz.PositionTask("arm"), widest)
    away = pz.methods.ExtendedJacobian(criterion=pz.criteria.Clearance(obstacles=[[0.0, 0.0, 1.0]]))
    with refused("not-supported", "'ball'"):
        pz.Tracker(builder.build(), pz.PositionTask("arm"), away)
    with refused("not-positive", "cutoff"):
        pz.methods.ExtendedJacobian(cutoff=0)
    with pytest.raises(ValueError, match="a PostureTask is no constraint: give the method criterion="):
        algorithmic_singularity(PANDA, [pz.PositionTask(HAND), pz.PostureTask()], PANDA.home)
    with pytest.raises(pz.ShapeError, match=r"q must have shape \(7,\), one configuration"):
        relax(PANDA, pz.PositionTask(HAND), PANDA.sample(2, seed=1))
