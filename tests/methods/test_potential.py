"""A user's criterion: it is what it would be if it were the library's own, and says what is wrong with it."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import linalg, optimize
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.criteria import algorithmic_singularity, relax
from poise.robots import TEXTBOOK

PANDA = TEXTBOOK["panda"]()
POINT = pz.PositionTask("panda_hand")
HOME, MIDDLE, HALF = PANDA.home.copy(), 0.5 * (PANDA.upper + PANDA.lower), 0.5 * (PANDA.upper - PANDA.lower)
GOAL = np.array([0.4, 0.1, 0.5])
Function = Callable[..., Any]


def away(q: Array) -> float:
    return 0.5 * float(((q - HOME) ** 2).sum())


def from_home(q: Array, out: Array) -> None:
    for i in range(q.shape[0]):
        out[i] = q[i] - HOME[i]


def off_centre(q: Array) -> float:
    return float(np.mean(((q - MIDDLE) / HALF) ** 2))


def from_centre(q: Array, out: Array) -> None:
    out += 2.0 / q.size * (q - MIDDLE) / HALF**2


def wave(q: Array) -> float:
    """No quadratic function: its Hessian changes, and couples the joints."""
    return float(np.sum(np.cosh(0.5 * (q - HOME)))) + 0.3 * math.sin(q[1] + q[3])


def slope(q: Array, out: Array) -> None:
    for i in range(q.shape[0]):
        out[i] = 0.5 * math.sinh(0.5 * (q[i] - HOME[i]))
    out[1] += 0.3 * math.cos(q[1] + q[3])
    out[3] += 0.3 * math.cos(q[1] + q[3])


def bend(q: Array, out: Array) -> None:
    for i in range(q.shape[0]):
        out[i, i] = 0.25 * math.cosh(0.5 * (q[i] - HOME[i]))
    for i in (1, 3):
        for j in (1, 3):
            out[i, j] -= 0.3 * math.sin(q[1] + q[3])


OWN = pz.criteria.Potential(away, from_home, gain=0.02)
METHODS: list[Callable[..., Any]] = [
    pz.methods.Pseudoinverse,
    pz.methods.SelectivelyDamped,
    pz.methods.FilteredInverse,
    pz.methods.DasSlotineSheridan,
    pz.methods.TaskPriority,
    lambda **own: pz.methods.TaskPriority(form="chiaverini", **own),
    lambda **own: pz.methods.DampedLeastSquares(damping=pz.damping.DeoWalker(0.1), **own),
]
KINDS = ["pinv", "sdls", "filtered", "das", "priority", "chiaverini", "dls"]


# It is what it says -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS, ids=KINDS)
def test_it_leads_where_the_librarys_own_criterion_of_the_same_formula_leads(method: Callable[..., Any]) -> None:
    goals, q = np.tile(GOAL, (40, 1, 1)), PANDA.home + 0.2
    for own, theirs in [
        (OWN, pz.criteria.RestPosture(gain=0.02)),
        (pz.criteria.Potential(off_centre, from_centre, gain=0.3), pz.criteria.JointCentring(gain=0.3)),
    ]:
        paths = [pz.Tracker(PANDA, POINT, method(null_space=term)).rollout(q, goals) for term in (own, theirs)]
        np.testing.assert_allclose(*paths, rtol=0, atol=1e-12)
        without = pz.Tracker(PANDA, POINT, method()).rollout(q, goals)
        assert np.abs(paths[0] - without).max() > 1e-3


def test_it_adds_to_the_others() -> None:
    q = PANDA.sample(seed=4)
    there = PANDA.pose("panda_hand", q).xyz
    terms = (pz.criteria.JointCentring(gain=0.02), OWN, pz.criteria.Clearance(obstacles=[[0.3, 0.2, 0.6]], gain=0.001))
    steps = [
        pz.Tracker(PANDA, POINT, pz.methods.Pseudoinverse(null_space=term)).step(q, there) - q
        for term in (terms, *terms)
    ]
    np.testing.assert_allclose(steps[0], sum(steps[1:]), rtol=0, atol=1e-12)


def test_its_gradient_is_by_velocities_where_a_joint_is_a_ball_or_moves_others() -> None:
    builder = pz.ModelBuilder("cart")
    builder.joint("idle", "revolute", parent="world", child="lamp")
    builder.joint("slide", "prismatic", parent="world", child="cart", axis=(1, 0.2, 0), limits=(-1, 2))
    builder.joint("ball", "spherical", parent="cart", child="head", origin=pz.SE3.from_parts([0.1, 0.2, 1]))
    builder.joint("a", "revolute", parent="head", child="arm", origin=pz.SE3.from_parts([0.4, 0, 0.1]))
    builder.joint("b", "revolute", parent="arm", child="tip", mimic=pz.Mimic(joint="a", multiplier=-0.5))
    builder.frame("tool", link="tip", origin=pz.SE3.from_parts([0.1, 0.3, 0.1]))
    model = builder.build()
    slide, ball, turn, idle = (model.index(name).start for name in ("slide", "ball", "a", "idle"))
    at = tuple(model.velocity_index(name).start for name in ("slide", "ball", "a", "idle"))

    def value(q: Array) -> float:
        lean = 0.3 * q[ball] + 0.7 * q[ball + 1] - 0.2 * q[ball + 2] + 0.5 * q[ball + 3]
        return float(lean + q[slide] * q[turn] + q[idle] * q[turn])

    def gradient(q: Array, out: Array) -> None:
        w, x, y, z = q[ball], q[ball + 1], q[ball + 2], q[ball + 3]
        out[at[0]] = q[turn]
        out[at[1]] = 0.5 * (-0.3 * x + 0.7 * w + 0.2 * z + 0.5 * y)
        out[at[1] + 1] = 0.5 * (-0.3 * y + 0.7 * z - 0.2 * w - 0.5 * x)
        out[at[1] + 2] = 0.5 * (-0.3 * z - 0.7 * y - 0.2 * x + 0.5 * w)
        out[at[2]] = q[slide] + q[idle]
        out[at[3]] = q[turn]

    q, task = model.sample(seed=3), pz.PositionTask("tool")
    there = model.pose("tool", q).xyz
    method = pz.methods.Pseudoinverse(
        null_space=pz.criteria.Potential(value, gradient, gain=0.01), cutoff=0.0, max_step=9.0
    )
    step = model.difference(q, pz.Tracker(model, task, method).step(q, there))
    free = linalg.null_space(pz.Solver(model, task).linearise(q, there)[1], rcond=1e-9)
    found = optimize.approx_fprime(np.zeros(model.nv), lambda v: value(model.integrate(q, v)), 1e-7)
    found[at[3]] = 0.0  # the idle joint moves no task
    expected = -0.01 * free @ (free.T @ found)
    expected[at[3]] = 0.0
    assert np.linalg.norm(expected) > 1e-4
    np.testing.assert_allclose(step, expected, rtol=0, atol=1e-7)


def test_lambdas_closures_and_numbas_functions_serve_alike() -> None:
    numba = pytest.importorskip("numba")

    def scaled(factor: float) -> tuple[Function, Function]:
        def slopes(q: Array, out: Array) -> None:
            out[:] = factor * (q - HOME)

        return (lambda q: factor * 0.5 * ((q - HOME) ** 2).sum()), slopes

    q = PANDA.home + 0.1
    steps = []
    for value, gradient, gain in [
        (away, from_home, 0.02),
        (*scaled(2.0), 0.01),
        (*scaled(4.0), 0.005),
        (numba.njit(away), numba.njit("void(f8[::1], f8[::1])")(from_home), 0.02),
    ]:
        term = pz.criteria.Potential(value, gradient, gain=gain)
        steps.append(pz.Tracker(PANDA, POINT, pz.methods.Pseudoinverse(null_space=term)).step(q, GOAL).copy())
    for step in steps[1:]:
        np.testing.assert_allclose(step, steps[0], rtol=0, atol=1e-14)


def test_eight_characters_go_where_each_would_go_alone() -> None:
    ik = pz.Tracker(PANDA, POINT, pz.methods.DampedLeastSquares(null_space=OWN))
    q = HOME + np.linspace(-0.2, 0.2, 11)[:, None]
    goals = np.tile(GOAL, (11, 5, 1, 1)) + 0.01 * np.arange(11)[:, None, None, None]
    together = ik.rollout(q, goals)
    for c in range(11):
        np.testing.assert_array_equal(together[c], ik.rollout(q[c], goals[c]))


def test_solve_takes_it_too() -> None:
    task = pz.PositionTask("panda_hand", target=GOAL)
    answer = pz.solve(PANDA, task, method=pz.methods.Pseudoinverse(null_space=OWN), max_restarts=0)
    assert answer.success


# Numbers that are none --------------------------------------------------------------------------------------------


def spoilt(q: Array, out: Array) -> None:
    out[0] = math.nan if q[0] < -0.5 else 0.0


def raising(q: Array, out: Array) -> None:
    if q[0] < -0.5:
        raise ArithmeticError("no such place")


@pytest.mark.filterwarnings("ignore:a step of this Tracker:RuntimeWarning")
@pytest.mark.parametrize("method", METHODS, ids=KINDS)
@pytest.mark.parametrize("gradient", [spoilt, raising])
def test_where_it_is_no_number_the_update_fails_and_the_next_one_is_sound(
    method: Callable[..., Any], gradient: Function
) -> None:
    ik = pz.Tracker(PANDA, POINT, method(null_space=pz.criteria.Potential(lambda q: 0.0, gradient)))
    bad, good = HOME.copy(), HOME.copy()
    bad[0], good[0] = -1.0, 0.1
    np.testing.assert_array_equal(ik.step(bad, GOAL), bad)
    assert ik.failed
    after = ik.step(good, GOAL).copy()
    assert not ik.failed
    np.testing.assert_allclose(after, pz.Tracker(PANDA, POINT, method()).step(good, GOAL), rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore:a step of this Tracker:RuntimeWarning")
@pytest.mark.parametrize("gradient", [spoilt, raising])
def test_so_it_is_with_a_hessian(gradient: Function) -> None:
    def flat(q: Array, out: Array) -> None:
        out[0, 0] = math.nan if q[0] < -0.5 else 0.0

    ik = pz.Tracker(
        PANDA, POINT, pz.methods.ExtendedJacobian(criterion=pz.criteria.Potential(lambda q: 0.0, gradient, flat))
    )
    bad = HOME.copy()
    bad[0] = -1.0
    np.testing.assert_array_equal(ik.step(bad, GOAL), bad)
    assert ik.failed
    after = ik.step(HOME, GOAL)
    assert not ik.failed
    assert np.isfinite(after).all()
    assert np.abs(after - HOME).max() > 1e-3


# With a Hessian: the extended Jacobian ----------------------------------------------------------------------------


@pytest.mark.parametrize("task", [POINT, pz.PoseTask("panda_hand")], ids=["position", "pose"])
@pytest.mark.parametrize("seed", range(2))
def test_the_optimum_of_the_extended_jacobian_is_that_of_quadratic_programming(task: Any, seed: int) -> None:
    q = HOME + np.random.default_rng(seed).uniform(-0.3, 0.3, 7)
    pose = PANDA.pose("panda_hand", q)
    target = pose.xyz if task is POINT else pose
    method = pz.methods.ExtendedJacobian(criterion=pz.criteria.Potential(wave, slope, bend))
    found = relax(PANDA, task, q, method, limits=False)
    solver = pz.Solver(PANDA, task, limits=False)

    def gradient(x: Array) -> Array:
        out = np.zeros(7)
        slope(x, out)
        return out

    best = optimize.minimize(
        wave, q, jac=gradient, method="SLSQP",
        constraints={"type": "eq", "fun": lambda x: solver.linearise(x, target)[0],
                     "jac": lambda x: -solver.linearise(x, target)[1]},
        options={"ftol": 1e-15, "maxiter": 500},
    )  # fmt: skip
    np.testing.assert_allclose(found, best.x, rtol=0, atol=1e-6)
    assert algorithmic_singularity(PANDA, task, found, method).smallest > 0.0


def test_the_measure_of_a_quadratic_function_is_that_of_the_rest_posture() -> None:
    def flat(q: Array, out: Array) -> None:
        for i in range(q.shape[0]):
            out[i, i] = 1.0

    own, theirs = (
        algorithmic_singularity(PANDA, POINT, HOME + 0.1, pz.methods.ExtendedJacobian(criterion=term))
        for term in (pz.criteria.Potential(away, from_home, flat), pz.criteria.RestPosture())
    )
    assert own.determinant == pytest.approx(theirs.determinant, rel=1e-12)
    assert own.smallest == pytest.approx(theirs.smallest, rel=1e-12)


# Refusals ---------------------------------------------------------------------------------------------------------


def unknown(q: Array, out: Array) -> None:
    out[0] = eval("0.0")


def defines(q: Array, out: Array) -> None:
    class Inner:
        pass

    assert Inner


LISTED = [1.0, 2.0]


@pytest.mark.parametrize(
    ("gradient", "message"),
    [
        (lambda q, out: out.fill(0.0 * LISTED[0]), "compiled by Numba: .* of what is around it only numbers, tuples"),
        (defines, r"gradient of the Potential is not compiled by Numba: Use of unsupported opcode .*write into"),
        (unknown, r"gradient of the Potential is not compiled by Numba: \w+.*write into its second argument"),
        (
            lambda q, out: out.__setitem__(9, 1.0),
            r"gradient of the Potential raises IndexError at q = .* out of bounds",
        ),
        (lambda q, out: q.__setitem__(0, 1.0), "gradient of the Potential raises ValueError .* read-only"),
        (lambda q, out: 2.0 * q, "gradient of the Potential returns something; it must write into its second"),
        (lambda q, out: out.fill(1.0), r"is not that of its value: .* it gives 1 for entry \[\d\], .* value give 0"),
    ],
)
def test_a_gradient_that_does_not_work_is_refused_when_a_method_is_prepared(gradient: Function, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pz.Tracker(PANDA, POINT, pz.methods.Pseudoinverse(null_space=pz.criteria.Potential(lambda q: 0.0, gradient)))


@pytest.mark.parametrize(
    ("make", "code", "words"),
    [
        (lambda: pz.criteria.Potential(away, None), "own-function", "must be a function gradient(q, out), got None"),  # type: ignore[arg-type]
        (lambda: pz.criteria.Potential(3, from_home), "own-function", "value"),  # type: ignore[arg-type]
        (lambda: pz.criteria.Potential(away, away), "own-function", "must take gradient(q, out): too many positional"),
        (lambda: pz.criteria.Potential(away, from_home, away), "own-function", "must take hessian(q, out)"),
        (lambda: pz.criteria.Potential(away, from_home, gain=0.0), "not-positive", "gain"),
        (
            lambda: pz.methods.ExtendedJacobian(criterion=pz.criteria.Potential(away, from_home)),
            "needs",
            "the Potential has no hessian, which the method 'extended' needs: give it hessian=f",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(make: Any, code: str, words: str) -> None:
    with refused(code, words):
        make()


def test_a_hessian_that_is_not_the_gradients_is_refused() -> None:
    def wrong(q: Array, out: Array) -> None:
        out[0, 1] = 2.0

    with refused("own-function", "hessian of the Potential is not that of its gradient"):
        pz.Tracker(PANDA, POINT, pz.methods.ExtendedJacobian(criterion=pz.criteria.Potential(wave, slope, wrong)))
    with refused("own-function", "value of the Potential raises TypeError"):
        pz.Tracker(PANDA, POINT, pz.methods.Pseudoinverse(null_space=pz.criteria.Potential(lambda q: None, slope)))  # type: ignore[arg-type,return-value]
