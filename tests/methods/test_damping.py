"""Damping rules against their formulas, written anew on NumPy's singular values."""

import math
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import brentq

import poise as pz
from poise.methods.damping import DampingRule
from poise.robots.planar import planar

Array = npt.NDArray[np.float64]
RNG = np.random.default_rng
ARMS: dict[str, tuple[pz.Model, pz.PoseTask | pz.PositionTask, int]] = {
    "planar2": (planar(2), pz.PositionTask("tool"), 2),
    "planar4": (planar(4, 0.4), pz.PositionTask("tool"), 2),
    "panda": (pz.load("panda"), pz.PoseTask("panda_hand"), 6),
    "iiwa14 position": (pz.load("iiwa14"), pz.PositionTask("iiwa_link_ee"), 3),
}
"""Model, task, and the rank that its Jacobian has in general: a planar arm never moves along z."""
SOLVERS = {arm: pz.Solver(model, task, limits=False) for arm, (model, task, _) in ARMS.items()}


def aimed(arm: str, q: Array, e: Array) -> pz.SE3 | Array:
    """The target from which `arm` at `q` is away by `e`: metres first, then a rotation vector."""
    model, task, _ = ARMS[arm]
    here = model.pose(task.frame, q)
    if isinstance(task, pz.PositionTask):
        return here.xyz + e
    return pz.SE3.from_parts(here.xyz + e[:3], pz.SO3.from_rotvec(e[3:]) @ here.rotation)


def first(arm: str, rule: DampingRule, q: Array, target: pz.SE3 | Array) -> tuple[float, Array]:
    """lambda^2 of the first update from `q`, and its step."""
    model, task, _ = ARMS[arm]
    trace = pz.solve(
        model,
        type(task)(task.frame, target),
        q0=q,
        method=pz.methods.DampedLeastSquares(damping=rule, max_error=None, max_step=math.inf),
        limits=False,
        max_iterations=1,
        max_restarts=0,
        trace=True,
    ).trace
    assert trace is not None
    return float(trace.damping[0]), trace.q[1] - trace.q[0]


def rows(arm: str, q: Array, target: pz.SE3 | Array) -> tuple[Array, Array]:
    """Errors and their Jacobian."""
    return SOLVERS[arm].linearise(q, target)


def values(arm: str, jacobian: Array) -> Array:
    """Singular values, largest first, without those that are zero in every pose."""
    return np.linalg.svd(jacobian, compute_uv=False)[: ARMS[arm][2]]


def damped(jacobian: Array, e: Array, squares: npt.ArrayLike) -> Array:
    """sum sigma_i / (sigma_i^2 + lambda_i^2) v_i u_i^T e, over the singular values that are not zero."""
    u, s, vt = np.linalg.svd(jacobian, full_matrices=False)
    s = np.where(s > 1e-9 * s[0], s, 0.0)
    bottom = s**2 + squares
    out: Array = vt.T @ (np.divide(s, bottom, out=np.zeros_like(s), where=bottom > 0.0) * (u.T @ e))
    return out


def problems(arm: str, count: int, largest: float = 0.5) -> Iterator[tuple[Array, pz.SE3 | Array]]:
    """Random poses, every other one next to a singular one, with errors of all sizes up to `largest`."""
    model, task, _ = ARMS[arm]
    rng = RNG(7)
    for k, q in enumerate(model.sample(count, seed=3)):
        if k % 2:
            q = q * np.where(rng.random(model.nq) < 0.5, 1.0, 0.02)
        e = rng.normal(size=3 if isinstance(task, pz.PositionTask) else 6)
        if arm.startswith("planar"):
            e[2] = 0.0
        yield q, aimed(arm, q, e / np.linalg.norm(e) * largest * 10.0 ** rng.uniform(-2.0, 0.0))


def below(s: float, epsilon: float, largest: float) -> float:
    return (1.0 - (s / epsilon) ** 2) * largest**2 if s < epsilon else 0.0


def manipulability(s: Array, k0: float, w0: float) -> float:
    w = float(np.prod(s))
    return k0 * (1.0 - w / w0) ** 2 if w < w0 else 0.0


def max_norm(e: Array, s: float, longest: float) -> float:
    d = float(np.linalg.norm(e)) / longest
    if s >= d:
        return 0.0
    return s * (d - s) if s >= 0.5 * d else 0.25 * d * d


def secular(jacobian: Array, e: Array, longest: float) -> float:
    """The root of |dq(p)| = longest by bisection, for which p <= (|e| / (2 longest))^2."""

    def over(p: float) -> float:
        return float(np.linalg.norm(damped(jacobian, e, p))) - longest

    if over(0.0) <= 0.0:
        return 0.0
    return float(brentq(over, 0.0, (0.51 * np.linalg.norm(e) / longest) ** 2 + 1e-12, xtol=1e-18, rtol=1e-14))


FORMULAS: list[tuple[DampingRule, Callable[[Array, Array, Array], float]]] = [
    (pz.damping.Constant(0.3), lambda jacobian, e, s: 0.09),
    (pz.damping.Constant(0.0), lambda jacobian, e, s: 0.0),
    (pz.damping.NakamuraHanafusa(0.02, 0.3), lambda jacobian, e, s: manipulability(s, 0.02, 0.3)),
    (pz.damping.ChiaveriniSicilianoEgeland(0.2, 0.07), lambda jacobian, e, s: below(s[-1], 0.2, 0.07)),
    (pz.damping.ChanLawrence(0.4, 0.01), lambda jacobian, e, s: 0.4 * 0.5 * e @ e + 1e-4),
    (pz.damping.Sugihara(3e-3), lambda jacobian, e, s: 0.5 * e @ e + 3e-3),
    (pz.damping.MaxNorm(0.3), lambda jacobian, e, s: max_norm(e, s[-1], 0.3)),
    (pz.damping.DeoWalker(0.3), lambda jacobian, e, s: secular(jacobian, e, 0.3)),
    (pz.damping.RateBound(0.3, 10.0, 0.02), lambda jacobian, e, s: max(0.25 * e @ e / 0.09, 0.0) + 4e-4),
    (pz.damping.GainRatio(), lambda jacobian, e, s: (jacobian**2).sum(axis=0).max()),
]


@pytest.mark.parametrize(("rule", "formula"), FORMULAS, ids=lambda x: repr(x) if not callable(x) else "")
@pytest.mark.parametrize("arm", ARMS)
def test_every_rule_is_its_formula_and_the_step_is_the_damped_one(
    arm: str, rule: DampingRule, formula: Callable[[Array, Array, Array], float]
) -> None:
    active = 0
    for q, target in problems(arm, 40):
        e, jacobian = rows(arm, q, target)
        s = values(arm, jacobian)
        if rule == pz.damping.Constant(0.0) and (s[-1] < 1e-6 or s.size < e.size):
            continue  # no damping is no step there, in rows
        want = formula(jacobian, e, s)
        got, step = first(arm, rule, q, target)
        assert got == pytest.approx(want, rel=1e-7, abs=1e-12)
        best = damped(jacobian, e, got)
        assert step == pytest.approx(best, rel=1e-6, abs=1e-6 * max(1.0, float(np.abs(best).max())))
        active += want > 0.0
    assert active >= 8 or rule == pz.damping.Constant(0.0)


@pytest.mark.parametrize("arm", ARMS)
def test_manipulability_damping_is_continuous_at_its_edge_and_k0_at_a_singular_pose(arm: str) -> None:
    q, target = next(problems(arm, 1))
    _, jacobian = rows(arm, q, target)
    w = float(np.prod(values(arm, jacobian)))
    assert first(arm, pz.damping.NakamuraHanafusa(0.5, w * (1.0 + 1e-6)), q, target)[0] == pytest.approx(0.0, abs=1e-11)
    assert first(arm, pz.damping.NakamuraHanafusa(0.5, w * (1.0 - 1e-6)), q, target)[0] == 0.0
    straight = np.zeros(ARMS[arm][0].nq)  # stretched, or straight up
    e = np.array([0.03, 0.01, 0.0, 0.02, 0.05, 0.04])[: len(rows(arm, q, target)[0])]
    assert values(arm, rows(arm, straight, aimed(arm, straight, e))[1])[-1] < 1e-9 or arm == "panda"
    if arm != "panda":
        assert first(arm, pz.damping.NakamuraHanafusa(0.5, 0.1), straight, aimed(arm, straight, e))[0] == pytest.approx(
            0.5
        )


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("kind", [pz.damping.MaciejewskiKlein, pz.damping.Chiaverini])
def test_estimated_values_follow_the_smallest_ones_along_a_path(arm: str, kind: type[pz.damping.Chiaverini]) -> None:
    """From the trace alone: what is damped is the smallest direction, or the two smallest, and no other."""
    model, task, _ = ARMS[arm]
    rule = kind(epsilon=5.0, max_damping=0.1, floor=1e-2)  # a wide epsilon, so that it always damps
    q, target = list(problems(arm, 9, largest=1.0))[8]
    trace = pz.solve(
        model,
        type(task)(task.frame, target),
        q0=q,
        method=pz.methods.DampedLeastSquares(damping=rule, max_error=None, max_step=1e-3),
        limits=False,
        max_iterations=60,
        max_restarts=0,
        trace=True,
    ).trace
    assert trace is not None
    assert len(trace.q) >= 30
    for k in range(15, len(trace.q) - 1):
        e, jacobian = rows(arm, trace.q[k], target)
        s = values(arm, jacobian)
        estimate = 5.0 * math.sqrt(1.0 - (trace.damping[k] - 1e-4) / 1e-2)
        assert estimate == pytest.approx(s[-1], abs=1e-6)
        squares = np.full(min(jacobian.shape), 1e-4)
        two = 2 if kind is pz.damping.Chiaverini else 1
        for i in range(len(s) - two, len(s)):
            squares[i] += below(s[i], 5.0, 0.1)
        step = damped(jacobian, e, squares)
        step *= min(1.0, 1e-3 / np.abs(step).max())
        assert trace.q[k + 1] - trace.q[k] == pytest.approx(step, abs=1e-6)


@pytest.mark.parametrize("kind", [pz.damping.MaciejewskiKlein, pz.damping.Chiaverini])
def test_estimates_at_rest_are_the_singular_values_to_six_digits(kind: type[pz.damping.Chiaverini]) -> None:
    rule = kind(epsilon=5.0, max_damping=0.1, floor=1e-2)
    q, target = next(problems("panda", 1))
    model, task, _ = ARMS["panda"]
    ik = pz.Tracker(
        model, task, pz.methods.DampedLeastSquares(damping=rule, max_error=None, max_step=1e-9), limits=False
    )
    for _ in range(60):
        step = ik.step(q, target) - q
    e, jacobian = rows("panda", q, target)
    s = np.linalg.svd(jacobian, compute_uv=False)
    squares = np.full(6, 1e-4)
    for i in (5,) if kind is pz.damping.MaciejewskiKlein else (4, 5):
        squares[i] += below(s[i], 5.0, 0.1)
    want = damped(jacobian, e, squares)
    assert step / np.abs(step).max() == pytest.approx(want / np.abs(want).max(), abs=1e-6)


@pytest.mark.parametrize("arm", ARMS)
def test_a_trust_region_is_met_exactly_or_not_needed(arm: str) -> None:
    seen = set()
    for q, target in problems(arm, 60):
        e, jacobian = rows(arm, q, target)
        whole = np.linalg.pinv(jacobian, rcond=1e-9) @ e
        square, step = first(arm, pz.damping.DeoWalker(0.25), q, target)
        if np.linalg.norm(whole) <= 0.25:
            assert square == 0.0
            assert step == pytest.approx(whole, abs=1e-9)
        else:
            assert np.linalg.norm(step) == pytest.approx(0.25, abs=1e-10)
        seen.add(square > 0.0)
    assert seen == {True, False}


def test_the_max_norm_rule_holds_its_bound_whatever_the_error() -> None:
    """Errors along the worst singular direction, and along random ones, at all distances."""
    for arm in ("planar2", "panda"):
        rng = RNG(5)
        model, _, rank = ARMS[arm]
        ratios = []
        for q in model.sample(1000, seed=11):
            e, jacobian = rows(arm, q, aimed(arm, q, np.zeros(6)[: 3 if arm == "planar2" else 6]))
            u, s, _ = np.linalg.svd(jacobian)
            e = u[:, int(rng.integers(rank))] if rng.random() < 0.7 else u[:, :rank] @ rng.normal(size=rank)
            e = e / np.linalg.norm(e) * 0.2 * s[rank - 1] * rng.uniform(0.2, 4.0)
            if np.linalg.norm(e) < 1e-5:
                continue
            _, step = first(arm, pz.damping.MaxNorm(0.2), q, aimed(arm, q, e))
            ratios.append(np.linalg.norm(step) / 0.2)
        assert max(ratios) <= 1.0 + 1e-7
        assert max(ratios) > 0.999, "the bound is tight"


def test_the_rate_bound_grows_with_the_change_of_the_jacobian() -> None:
    model, task, _ = ARMS["panda"]
    q, target = list(problems("panda", 3))[2]
    rule = pz.damping.RateBound(longest=50.0, change=3.0, floor=0.01)
    trace = pz.solve(
        model,
        pz.PoseTask(task.frame, target),
        q0=q,
        method=pz.methods.DampedLeastSquares(damping=rule, max_error=None, max_step=0.05),
        limits=False,
        max_iterations=6,
        max_restarts=0,
        trace=True,
    ).trace
    assert trace is not None
    jacobians = [rows("panda", x, target)[1] for x in trace.q]
    for k in range(1, len(trace.q)):
        e, _ = rows("panda", trace.q[k], target)
        bound = 1.25 * np.linalg.norm(jacobians[k] - jacobians[k - 1]) / 3.0
        assert bound > 0.25 * e @ e / 2500.0
        assert trace.damping[k] == pytest.approx(bound + 1e-4, rel=1e-9)


@pytest.mark.parametrize(
    "method",
    [pz.methods.LevenbergMarquardt(), pz.methods.DampedLeastSquares(damping=pz.damping.GainRatio(), max_error=None)],
)
def test_gain_ratio_never_keeps_a_step_that_raises_the_error(method: pz.methods.LevenbergMarquardt) -> None:
    """A raised error is seen once, then the arm is back where it was with more damping."""
    model, *_ = ARMS["panda"]
    raised = 0
    for seed in range(20):
        target = model.pose("panda_hand", model.sample(seed=seed))
        trace = pz.solve(
            model, pz.PoseTask("panda_hand", target), method=method, max_restarts=0, trace=True, max_iterations=60
        ).trace
        assert trace is not None
        best = trace.error[0]
        for k in range(1, len(trace.error)):
            if trace.error[k] > best * (1.0 + 1e-9) and k + 1 < len(trace.error):
                raised += 1
                assert trace.error[k + 1] == pytest.approx(best, rel=1e-9)
                assert trace.q[k + 1] == pytest.approx(trace.q[k - 1], abs=1e-12)
                assert trace.damping[k] > trace.damping[k - 1]
            best = min(best, trace.error[k])
    assert raised > 5


SWEPT = [
    pz.damping.Constant(0.1),
    pz.damping.NakamuraHanafusa(0.06, 0.14),
    pz.damping.MaciejewskiKlein(),
    pz.damping.Chiaverini(),
    pz.damping.ChiaveriniSicilianoEgeland(),
    pz.damping.ChanLawrence(),
    pz.damping.Sugihara(),
    pz.damping.DeoWalker(),
    pz.damping.MaxNorm(),
    pz.damping.RateBound(),
    pz.damping.GainRatio(),
]
LOCAL = (pz.damping.NakamuraHanafusa, pz.damping.ChiaveriniSicilianoEgeland, pz.damping.DeoWalker, pz.damping.MaxNorm)
"""Rules that promise no damping away from singular poses; the estimated ones promise their floor there."""


@pytest.mark.parametrize("rule", SWEPT, ids=repr)
@pytest.mark.parametrize("arm", ["planar2", "iiwa14 position"])
def test_through_a_singular_pose_the_damping_is_continuous_and_the_step_bounded(arm: str, rule: DampingRule) -> None:
    """The elbow goes through the stretched pose, where the pseudoinverse's steps have no bound."""
    away = 1.2
    elbow = np.linspace(-away, away, 481)
    start = np.array([0.3, 0.0]) if arm == "planar2" else np.array([0.4, 1.3, 0.0, 0.0, 0.0, 0.0, 0.0])
    joint = 1 if arm == "planar2" else 3
    e = np.array([0.04, 0.03, 0.0]) if arm == "planar2" else np.array([0.02, 0.01, 0.02])
    squares, lengths, wild = [], [], []
    for x in elbow:
        q = start.copy()
        q[joint] = x
        target = aimed(arm, q, e)
        square, step = first(arm, rule, q, target)
        squares.append(square), lengths.append(np.linalg.norm(step))
        wild.append(np.linalg.norm(np.linalg.pinv(rows(arm, q, target)[1], rcond=1e-12) @ e))
    got = np.array(squares)
    assert np.abs(np.diff(got)).max() <= 0.1 * got.max()
    assert max(wild) > 5.0 or arm != "planar2"
    assert max(lengths) < 1.0
    if isinstance(rule, LOCAL):
        assert got[0] == got[-1] == 0.0
        assert got.max() > 0.0
    if isinstance(rule, (pz.damping.MaciejewskiKlein, pz.damping.Chiaverini)):
        assert got[0] == pytest.approx(rule.floor**2)
        assert got[240] == pytest.approx(rule.floor**2 + rule.max_damping**2, rel=1e-3)
    if isinstance(rule, (pz.damping.DeoWalker, pz.damping.MaxNorm, pz.damping.RateBound)):
        assert max(lengths) <= rule.longest * (1.0 + 1e-9)
