"""What the papers prove of the methods and of one another, step by step, against plain NumPy on J and e."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import linalg, optimize
from support.trees import configurations, trees

import poise as pz
from poise.common.array import Array
from poise.model.joint import JointKind
from poise.robots import TEXTBOOK, planar

PANDA, DOUBLE = TEXTBOOK["panda"](), TEXTBOOK["double_y"]()
HAND = pz.PoseTask("panda_hand")
POINT = pz.PositionTask("panda_hand")
FREE: dict[str, Any] = {"max_step": math.inf, "max_error": None}


class Case:
    """A model, its tasks, a configuration and targets; J and e there."""

    def __init__(self, model: pz.Model, tasks: Any, q: Array, target: Any, *, limits: bool = False) -> None:
        self.model, self.tasks, self.q, self.target, self.limits = model, tasks, q, target, limits
        self.e, self.jacobian = pz.Solver(model, tasks, limits=limits).linearise(q, target)

    def step(self, method: Any) -> Array:
        """(nv,) the first step of a method from here."""
        tracker = pz.Tracker(self.model, self.tasks, method, limits=self.limits)
        return self.model.difference(self.q, tracker.step(self.q, self.target))

    def towards(self, target: Any) -> "Case":
        return Case(self.model, self.tasks, self.q, target, limits=self.limits)


def panda(seed: int, away: float = 0.3, task: Any = HAND) -> Case:
    """The Panda anywhere, its target some way off."""
    rng = np.random.default_rng(seed)
    q = PANDA.sample(seed=seed)
    pose = PANDA.pose(task.frame, q)
    place = pose.xyz + away * rng.normal(size=3)
    target = pz.SE3.from_parts(place, pz.SO3.from_rotvec(away * rng.normal(size=3)) @ pose.rotation)
    return Case(PANDA, task, q, target if task is HAND else place)


def double(seed: int) -> Case:
    """Buss's double Y: four points, 25 joints."""
    tasks = [pz.PositionTask(f"e{k}") for k in range(4)]
    q, there = DOUBLE.sample(2, seed=seed)
    return Case(DOUBLE, tasks, q, [DOUBLE.pose(task.frame, there).xyz for task in tasks])


def stretched(target: Any = (1.2, 0.7, 0.0)) -> Case:
    """Two links in a line, where J has lost a rank."""
    arm = planar(2)
    return Case(arm, pz.PositionTask(arm.tip), np.zeros(2), np.array(target))


def cases(seed: int) -> list[Case]:
    return [panda(seed), panda(seed, task=POINT), double(seed)]


def inverse(case: Case, method: Any) -> Array:
    """(n, m) what a linear method multiplies e with, measured by errors along one row after the other."""
    at = case.model.pose(case.tasks.frame, case.q)
    errors, steps = [], []
    for row in 0.1 * np.eye(len(case.e)):
        place = at.xyz + row[:3]
        target: Any = place
        if len(row) == 6:
            target = pz.SE3.from_parts(place, pz.SO3.from_rotvec(row[3:]) @ at.rotation)
        one = case.towards(target)
        errors.append(one.e)
        steps.append(one.step(method))
    return np.linalg.solve(np.array(errors), np.array(steps)).T


def size(x: Array) -> float:
    return float(np.linalg.norm(x))


# Damped least squares: eqs. 10, 11 and 14 -------------------------------------------------------------------------


@pytest.mark.parametrize("damping", [0.03, 0.3, 3.0])
@pytest.mark.parametrize("form", ["rows", "columns", "svd", "qr"])
@pytest.mark.parametrize("seed", range(3))
def test_all_forms_of_damped_least_squares_are_one(form: Any, damping: float, seed: int) -> None:
    for case in cases(seed):
        j, e, n = case.jacobian, case.e, case.jacobian.shape[1]
        expected = np.linalg.solve(j.T @ j + damping**2 * np.eye(n), j.T @ e)
        given = case.step(pz.methods.DampedLeastSquares(damping=damping, form=form, **FREE))
        np.testing.assert_allclose(given, expected, rtol=0, atol=1e-12 * (1.0 + size(expected)))


@pytest.mark.parametrize("seed", range(3))
def test_more_damping_means_shorter_steps_and_larger_remainders(seed: int) -> None:
    for case in cases(seed):
        dampings = np.geomspace(1e-2, 10.0, 25)
        steps = np.array([case.step(pz.methods.DampedLeastSquares(damping=float(x), **FREE)) for x in dampings])
        lengths = np.linalg.norm(steps, axis=1)
        left = np.linalg.norm(steps @ case.jacobian.T - case.e, axis=1)
        assert (np.diff(lengths) < 0.0).all()
        assert (np.diff(left) > 0.0).all()
        assert (lengths <= size(case.e) / (2.0 * dampings)).all()


@pytest.mark.parametrize("seed", range(3))
def test_damping_bounds_the_inverse(seed: int) -> None:
    for damping in (0.02, 0.1, 0.5):
        whole = inverse(panda(seed), pz.methods.DampedLeastSquares(damping=damping, **FREE))
        assert np.linalg.norm(whole, 2) <= (1.0 + 1e-9) / (2.0 * damping)


@pytest.mark.parametrize("seed", range(3))
def test_little_damping_is_the_pseudoinverse_and_much_the_transpose(seed: int) -> None:
    for case in cases(seed):
        pinv = np.linalg.pinv(case.jacobian) @ case.e
        little = case.step(pz.methods.DampedLeastSquares(damping=1e-6, form="svd", **FREE))
        np.testing.assert_allclose(little, pinv, rtol=0, atol=1e-6 * size(pinv))
        much = 1e6 * case.step(pz.methods.DampedLeastSquares(damping=1e3, **FREE))
        down = case.jacobian.T @ case.e
        np.testing.assert_allclose(much, down, rtol=0, atol=1e-4 * size(down))


# The transpose ----------------------------------------------------------------------------------------------------


def least_along(e: Array, fall: Array) -> float:
    """The alpha of least |e - alpha fall|, by a search."""
    return float(optimize.minimize_scalar(lambda alpha: size(e - alpha * fall), options={"xtol": 1e-12}).x)


@pytest.mark.parametrize("seed", range(4))
def test_of_what_joints_can_take_away_the_transpose_leaves_no_more_than_its_bound(seed: int) -> None:
    """And no more of the whole error than there was; beyond the range of J nothing falls."""
    tip = pz.PositionTask("tool")
    flat = [Case(planar(3), tip, np.zeros(3), [2.5, 1.0, 0.0])] if seed == 0 else []
    for case in [*flat, *cases(seed), stretched(np.random.default_rng(seed).normal(size=3) * [1.0, 1.0, 0.5])]:
        j, e = case.jacobian, case.e
        left, sigma, _ = np.linalg.svd(j, full_matrices=False)
        basis = left[:, sigma > 1e-9 * sigma[0]]
        kappa = (sigma[0] / sigma[basis.shape[1] - 1]) ** 2
        after = e - j @ case.step(pz.methods.JacobianTranspose(**FREE))
        slack = 1.0 + 1e-6
        assert size(basis.T @ after) <= slack * (kappa - 1.0) / (kappa + 1.0) * size(basis.T @ e) + 1e-9
        assert size(after) <= slack * size(e)
    if flat:  # one direction: the bound is 0, and of the whole error half a metre remains
        e, j = flat[0].e, flat[0].jacobian
        assert size(e - j @ flat[0].step(pz.methods.JacobianTranspose(**FREE))) == pytest.approx(0.5)


@pytest.mark.parametrize("seed", range(4))
def test_a_constant_damping_multiplies_the_error_along_each_singular_direction(seed: int) -> None:
    damping = 0.3
    for case in cases(seed):
        left, sigma, _ = np.linalg.svd(case.jacobian, full_matrices=False)
        after = case.e - case.jacobian @ case.step(pz.methods.DampedLeastSquares(damping=damping, **FREE))
        expected = damping**2 / (sigma**2 + damping**2) * (left.T @ case.e)
        np.testing.assert_allclose(left.T @ after, expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_a_tracker_takes_back_what_raised_the_error_and_keeps_what_did_not(seed: int) -> None:
    solver, ik = pz.Solver(PANDA, HAND), pz.Tracker(PANDA, HAND, "lm")
    target = PANDA.pose("panda_hand", PANDA.sample(seed=900 + seed))
    path = [PANDA.sample(seed=seed)]
    for _ in range(40):
        path.append(ik.step(path[-1], target).copy())
    costs = [float(np.sum(solver.linearise(q, target)[0] ** 2)) for q in path]
    raised = [k for k in range(1, 40) if costs[k] > costs[k - 1] * (1.0 + 1e-9)]
    assert raised
    for k in raised:
        np.testing.assert_allclose(path[k + 1], path[k - 1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_transpose_goes_as_far_down_as_the_linear_model_falls(seed: int) -> None:
    for case in cases(seed):
        j, e = case.jacobian, case.e
        down = j.T @ e
        assert e @ j @ down >= 0.0
        best = least_along(e, j @ down)
        np.testing.assert_allclose(
            case.step(pz.methods.JacobianTranspose(**FREE)), best * down, rtol=0, atol=1e-7 * size(down)
        )


@pytest.mark.parametrize("angle", [0.0, 0.7, 3.0])
def test_with_one_joint_the_transpose_is_newtons_step(angle: float) -> None:
    arm = planar(1)
    case = Case(arm, pz.PositionTask(arm.tip), np.array([angle]), np.array([0.3, 0.8, 0.0]))
    newton = case.step(pz.methods.Pseudoinverse(cutoff=0.0, **FREE))
    np.testing.assert_allclose(case.step(pz.methods.JacobianTranspose(**FREE)), newton, rtol=0, atol=1e-14)
    np.testing.assert_allclose(newton, np.linalg.pinv(case.jacobian) @ case.e, rtol=0, atol=1e-14)


# The pseudoinverse ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_the_forms_of_the_pseudoinverse_agree_and_are_of_least_length(seed: int) -> None:
    case = panda(seed)
    expected = np.linalg.pinv(case.jacobian) @ case.e
    bound = 1e-13 * np.linalg.cond(case.jacobian) ** 2 * size(expected)
    for method in (
        pz.methods.Pseudoinverse(cutoff=0.0, **FREE),
        pz.methods.Pseudoinverse(form="rows", **FREE),
        pz.methods.GaussNewton(**FREE),
    ):
        step = case.step(method)
        np.testing.assert_allclose(step, expected, rtol=0, atol=bound)
        np.testing.assert_allclose(linalg.null_space(case.jacobian).T @ step, 0.0, rtol=0, atol=bound)
    arm = planar(2)
    tall = Case(arm, pz.PositionTask(arm.tip), np.array([0.3, 1.2 + 0.1 * seed]), np.array([0.4, 0.9, 0.2]))
    expected = np.linalg.pinv(tall.jacobian) @ tall.e
    for method in (pz.methods.Pseudoinverse(cutoff=0.0, **FREE), pz.methods.Pseudoinverse(form="columns", **FREE)):
        np.testing.assert_allclose(tall.step(method), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_moore_and_penrose_would_know_it(seed: int) -> None:
    arm = planar(3)
    flat = Case(arm, pz.PositionTask(arm.tip), arm.sample(seed=seed), np.ones(3))
    for case in (panda(seed), panda(seed, task=POINT), flat, stretched()):
        j = case.jacobian
        g = inverse(case, pz.methods.Pseudoinverse(cutoff=1e-8, **FREE))
        bound = 1e-12 * (1.0 + np.linalg.norm(g, 2)) ** 2
        np.testing.assert_allclose(j @ g @ j, j, rtol=0, atol=bound)
        np.testing.assert_allclose(g @ j @ g, g, rtol=0, atol=bound * (1.0 + np.linalg.norm(g, 2)))
        np.testing.assert_allclose(j @ g, (j @ g).T, rtol=0, atol=bound)
        np.testing.assert_allclose(g @ j, (g @ j).T, rtol=0, atol=bound)


# Selectively damped least squares ---------------------------------------------------------------------------------


def selective(case: Case, widest: float, *, soft: bool) -> Array:
    """Buss and Kim's step, written anew."""
    j, m = case.jacobian, len(case.e)
    u, sigma, v = np.linalg.svd(j, full_matrices=False)
    reach = sum(np.linalg.norm(j[k : k + 3], axis=0) for k in range(0, m, 3))
    step = np.zeros(j.shape[1])
    for i in range(len(sigma)):
        if sigma[i] <= 1e-9 * sigma[0]:
            continue
        moved = sum(size(u[k : k + 3, i]) for k in range(0, m, 3))
        gamma = widest * min(1.0, moved * sigma[i] / (np.abs(v[i]) @ reach))
        phi = (u[:, i] @ case.e) / sigma[i] * v[i]
        longest = np.abs(phi).max()
        step += phi * (gamma / (gamma + longest) if soft else min(1.0, gamma / longest))
    longest = np.abs(step).max()
    if longest > widest:
        step *= widest / (widest + longest if soft else longest)
    return step


@pytest.mark.parametrize("clamps", ["hard", "soft"])
@pytest.mark.parametrize("seed", range(4))
def test_sdls_is_the_papers_step_or_the_programs(seed: int, clamps: Any) -> None:
    for case in [*cases(seed), stretched()]:
        for widest in (0.1, math.radians(45.0)):
            step = case.step(pz.methods.SelectivelyDamped(damping=0.0, max_error=None, max_angle=widest, clamps=clamps))
            expected = selective(case, widest, soft=clamps == "soft")
            np.testing.assert_allclose(step, expected, rtol=0, atol=1e-11)
            assert np.abs(step).max() <= widest * (1.0 + 1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_for_small_errors_sdls_is_the_pseudoinverse(seed: int) -> None:
    case = panda(seed, away=1e-6)
    expected = np.linalg.pinv(case.jacobian) @ case.e
    np.testing.assert_allclose(
        case.step(pz.methods.SelectivelyDamped(damping=0.0)), expected, rtol=0, atol=1e-9 * size(expected) + 1e-15
    )


@pytest.mark.parametrize("seed", range(4))
def test_each_singular_direction_has_a_clamp_of_its_own(seed: int) -> None:
    case, widest = panda(seed, task=POINT), 0.5
    u, _, v = np.linalg.svd(case.jacobian, full_matrices=False)
    at = PANDA.pose("panda_hand", case.q).xyz
    for i in range(3):
        for sign in (1.0, -1.0):
            step = case.towards(at + sign * 1e3 * u[:, i]).step(
                pz.methods.SelectivelyDamped(damping=0.0, max_error=None, max_angle=widest)
            )
            assert 0.0 < np.abs(step).max() <= widest * (1.0 + 1e-12)
            along = step @ v[i]
            assert sign * along > 0.0
            np.testing.assert_allclose(step, along * v[i], rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", ["sdls", "pinv", "filtered", pz.methods.DampedLeastSquares(form="svd")])
@pytest.mark.parametrize("seed", range(3))
def test_signs_of_singular_vectors_leave_no_trace(seed: int, method: Any) -> None:
    # Were a sign to matter, steps would jump as rotations of the decomposition change theirs along the way.
    case = panda(seed)
    steps = [
        Case(PANDA, HAND, case.q + 1e-3 * x * np.ones(7), case.target).step(method) for x in np.linspace(0.0, 1.0, 40)
    ]
    jumps = np.abs(np.diff(steps, axis=0)).max(axis=1)
    assert jumps.max() < 0.02
    np.testing.assert_array_equal(case.step(method), steps[0])


# Filters ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_filters_are_their_formulas(seed: int) -> None:
    for case in [*cases(seed), stretched()]:
        u, sigma, v = np.linalg.svd(case.jacobian, full_matrices=False)
        real = sigma > 1e-9 * sigma[0]
        safe = np.where(real, sigma, 1.0)
        narrow, widest = 0.3, 0.2
        own = (widest * np.exp(-((sigma / narrow) ** 2))) ** 2
        filters = [
            ({"filter": "truncated", "cutoff": 0.2}, np.where(sigma > 0.2 * sigma[0], 1.0 / safe, 0.0)),
            ({"filter": "gaussian", "epsilon": narrow, "max_damping": widest}, sigma / (sigma**2 + own)),
            (
                {"filter": "jparse", "cutoff": 0.3, "gain": 0.7},
                np.where(sigma > 0.3 * sigma[0], 1.0 / safe, 0.7 * sigma / (0.3 * sigma[0]) ** 2),
            ),
        ]
        for options, tau in filters:
            expected = v.T @ (np.where(real, tau, 0.0) * (u.T @ case.e))
            step = case.step(pz.methods.FilteredInverse(**options, **FREE))  # type: ignore[arg-type]
            np.testing.assert_allclose(step, expected, rtol=0, atol=1e-11 * (1.0 + size(expected)))


# The hybrid -------------------------------------------------------------------------------------------------------


def test_the_hybrid_is_newtons_step_where_that_is_sound_and_else_the_transpose() -> None:
    at = PANDA.pose("panda_hand", PANDA.home)
    sound = Case(PANDA, HAND, np.array(PANDA.home), at @ pz.SE3.from_rotvec([0.05, 0.1, 0.0], [0.03, 0.0, 0.02]))
    newton = np.linalg.pinv(sound.jacobian) @ sound.e
    np.testing.assert_allclose(sound.step(pz.methods.Hybrid(**FREE)), newton, rtol=0, atol=1e-12)
    singular = stretched()
    transpose = singular.step(pz.methods.JacobianTranspose(**FREE))
    np.testing.assert_array_equal(singular.step(pz.methods.Hybrid(**FREE)), transpose)
    down = singular.jacobian.T @ singular.e
    expected = (singular.e @ singular.jacobian @ down) / size(singular.jacobian @ down) ** 2 * down
    np.testing.assert_allclose(transpose, expected, rtol=0, atol=1e-14)


# Halley's method --------------------------------------------------------------------------------------------------


def errors_on_the_way(method: Any, q0: Array, target: pz.SE3) -> Array:
    solver, tracker = pz.Solver(PANDA, HAND, limits=False), pz.Tracker(PANDA, HAND, method, limits=False)
    q, out = q0, []
    for _ in range(6):
        out.append(size(solver.linearise(q, target)[0]))
        q = tracker.step(q, target).copy()
    return np.array(out)


@pytest.mark.parametrize("seed", range(5))
def test_halley_triples_the_exponent_of_the_error_and_newton_doubles_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    target = PANDA.pose("panda_hand", PANDA.home)
    q0 = PANDA.home + 0.1 * rng.normal(size=7)
    thrice = errors_on_the_way(pz.methods.Halley(damping=0.0, max_error=None), q0, target)
    twice = errors_on_the_way("gn", q0, target)
    for e, order, least in ((thrice, 3, 2.5), (twice, 2, 1.7)):
        above = e[e > 1e-15]
        orders = [math.log(above[k + 1]) / math.log(above[k]) for k in range(len(above) - 1) if above[k + 1] > 1e-13]
        assert orders, e
        assert min(orders) > least, (order, e)
    assert thrice[2] < 1e-3 * twice[2]


MOVING = [kind for kind in JointKind if kind is not JointKind.FIXED]


@given(st.data())
@settings(max_examples=60)
def test_halleys_jacobian_is_bent_by_half_its_change_along_newtons_step(data: st.DataObject) -> None:
    model = data.draw(trees(kinds=MOVING, limits=False, most=6, functions=True))
    frames = [name for name in model.frames if any(joint.nq for joint in model.root_path(model.frame(name).link))]
    assume(frames)
    frame, q = data.draw(st.sampled_from(frames)), data.draw(configurations(model))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    pose = model.pose(frame, q)
    turn = pz.SO3.from_rotvec(0.3 * rng.normal(size=3)) @ pose.rotation
    place = pose.xyz + 0.3 * rng.normal(size=3)
    which = data.draw(st.integers(0, 2))
    task = (pz.PoseTask, pz.PositionTask, pz.OrientationTask)[which](frame)
    target = (pz.SE3.from_parts(place, turn), place, turn)[which]
    case, damping, h = Case(model, task, q, target), 0.5, 1e-5
    m = len(case.e)

    def damped(a: Array) -> Array:
        return a.T @ np.linalg.solve(a @ a.T + damping**2 * np.eye(m), case.e)

    newton = damped(case.jacobian)
    solver = pz.Solver(model, task, limits=False)
    ahead, behind = (solver.linearise(model.integrate(q, x * h * newton), target)[1] for x in (1.0, -1.0))
    expected = damped(case.jacobian + 0.25 * (ahead - behind) / h)
    step = case.step(pz.methods.Halley(damping=damping, **FREE))
    large = 1.0 + float(np.abs(case.jacobian).max())
    np.testing.assert_allclose(step, expected, rtol=0, atol=1e-7 * large**2)


# Null-space terms: eq. 7 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", [HAND, POINT], ids=["pose", "position"])
@pytest.mark.parametrize(
    "kind",
    [pz.methods.Pseudoinverse, pz.methods.DampedLeastSquares, pz.methods.SelectivelyDamped, pz.methods.FilteredInverse],
)
@pytest.mark.parametrize("seed", range(3))
def test_null_space_terms_move_no_effector(kind: Any, task: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    middle, half = 0.5 * (PANDA.lower + PANDA.upper), 0.5 * (PANDA.upper - PANDA.lower)
    q = middle + 0.5 * half * rng.uniform(-1.0, 1.0, 7)
    at = PANDA.pose("panda_hand", q)
    target = at @ pz.SE3.from_rotvec([0.02, 0.0, 0.01], [0.0, 0.02, 0.01])
    case = Case(PANDA, task, q, target if task is HAND else target.xyz, limits=True)
    rest = rng.uniform(-0.3, 0.3, 7) + q
    widest = {} if kind is pz.methods.SelectivelyDamped else FREE
    plain = case.step(kind(**widest))
    gain = 0.3
    terms = [
        (pz.criteria.RestPosture(q=rest, gain=gain), gain * (rest - q)),
        (pz.criteria.JointCentring(gain=gain), -gain * 2.0 / 7.0 * (q - middle) / half**2),
    ]
    onto = np.eye(7) - np.linalg.pinv(case.jacobian) @ case.jacobian
    for term, phi in terms:
        part = case.step(kind(null_space=term, **widest)) - plain
        np.testing.assert_allclose(case.jacobian @ part, 0.0, rtol=0, atol=1e-12)
        np.testing.assert_allclose(part, onto @ phi, rtol=0, atol=1e-12)
        assert size(part) > 1e-4
