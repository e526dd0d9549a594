"""Steps with the limits inside: against SciPy's bounded least squares, brute force over all faces, and one another."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from support.refusals import refused

import poise as pz
from poise.common.array import Array

PANDA, HAND = pz.load("panda"), pz.PoseTask("panda_hand")
LAMBDA = 0.1
FREE: dict[str, Any] = {"damping": LAMBDA, "max_step": math.inf, "max_error": None}


def cases(count: int) -> list[tuple[Array, pz.SE3]]:
    """Configurations of which some joints stand at or near their limits, and far targets."""
    rng = np.random.default_rng(0)
    out = []
    for k in range(count):
        q, low, high = PANDA.sample(seed=k), PANDA.lower, PANDA.upper
        near = rng.random(7)
        q = np.where(near < 0.3, low, np.where(near > 0.7, high - 0.02 * rng.random(7), q))
        out.append((q, PANDA.pose("panda_hand", PANDA.sample(seed=1000 + k))))
    return out


def problem(q: Array, target: pz.SE3) -> tuple[Array, Array]:
    """Rows and right side of the damped problem."""
    e, jacobian = pz.Solver(PANDA, HAND).linearise(q, target)
    return np.vstack([jacobian, LAMBDA * np.eye(7)]), np.concatenate([e, np.zeros(7)])


def cost(rows: Array, right: Array, x: Array) -> float:
    return float(np.sum((rows @ x - right) ** 2))


@pytest.mark.parametrize("way", ["box", "lagrange"])
def test_the_step_is_the_exact_minimum_within_the_limits(way: Any) -> None:
    ik = pz.Tracker(PANDA, HAND, pz.methods.BoundedLeastSquares(way=way, **FREE))
    pinned = 0
    for q, target in cases(200):
        rows, right = problem(q, target)
        low, high = PANDA.lower - q, PANDA.upper - q
        best = lsq_linear(rows, right, (np.minimum(low, -1e-300), np.maximum(high, 1e-300)), method="bvls", tol=1e-15).x
        step = ik.step(q, target) - q
        assert step == pytest.approx(best, abs=1e-8)
        pinned += int(((step <= low + 1e-12) | (step >= high - 1e-12)).sum())
    assert pinned > 300


def test_the_step_is_the_best_of_all_faces() -> None:
    """Brute force: each joint free, at its lower or at its upper limit."""
    ik = pz.Tracker(PANDA, HAND, pz.methods.BoundedLeastSquares(**FREE))
    for q, target in cases(4):
        rows, right = problem(q, target)
        low, high = PANDA.lower - q, PANDA.upper - q
        least = math.inf
        for face in itertools.product((0, 1, 2), repeat=7):
            free = np.array(face) == 0
            x = np.where(np.array(face) == 1, low, high)
            x[free] = np.linalg.lstsq(rows[:, free], right - rows[:, ~free] @ x[~free], rcond=None)[0]
            if ((x >= low - 1e-12) & (x <= high + 1e-12)).all():
                least = min(least, cost(rows, right, x))
        assert cost(rows, right, ik.step(q, target) - q) == pytest.approx(least, rel=1e-9)


def test_no_way_beats_the_box_and_clipping_is_the_worst() -> None:
    steps = {way: [] for way in ("box", "clamping", "clip")}
    for way, kept in steps.items():
        ik = pz.Tracker(PANDA, HAND, pz.methods.BoundedLeastSquares(way=way, **FREE))  # type: ignore[arg-type]
        for q, target in cases(100):
            kept.append(cost(*problem(q, target), ik.step(q, target) - q))
    box, clamping, clip = (np.array(steps[way]) for way in ("box", "clamping", "clip"))
    assert (clamping >= box * (1.0 - 1e-9)).all()
    assert (clip >= box * (1.0 - 1e-9)).all()
    assert np.median(clip) > 1.02 * np.median(clamping) > 1.02 * np.median(box)


def test_velocity_limits_are_bounds_of_the_box() -> None:
    ik = pz.Tracker(PANDA, HAND, pz.methods.BoundedLeastSquares(**FREE), dt=0.01)
    pace = PANDA.velocity * 0.01
    for q, target in cases(50):
        q = np.clip(q, PANDA.lower + 0.1, PANDA.upper - 0.1)
        rows, right = problem(q, target)
        best = lsq_linear(rows, right, (-pace, pace), method="bvls", tol=1e-15).x
        assert ik.step(q, target) - q == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize("way", ["box", "lagrange", "clamping", "clip", "slack"])
def test_limits_hold_at_every_step(way: Any) -> None:
    ik = pz.Tracker(PANDA, HAND, pz.methods.BoundedLeastSquares(way=way))
    for q, target in cases(10):
        for _ in range(40):
            q = ik.step(q, target).copy()
            assert PANDA.within_limits(q)


def test_slack_finds_the_same_optimum_from_inside_and_never_leaves_a_limit() -> None:
    target, ends = np.array([0.1, 0.2, 1.4]), {}
    for way in ("box", "slack"):
        method = pz.methods.BoundedLeastSquares(way=way, damping=0.3, max_error=None)  # type: ignore[arg-type]
        path = pz.Tracker(PANDA, pz.PositionTask("panda_hand"), method).rollout(
            PANDA.home, np.tile(target, (30000, 1, 1))
        )
        ends[way] = np.linalg.norm(PANDA.pose("panda_hand", path[-1]).xyz - target)
    assert ends["slack"] == pytest.approx(ends["box"], rel=2e-3)
    arm, task = elbow(), pz.PositionTask("tip")
    q, inside = np.array([0.3, 1.0]), elbow().pose("tip", [0.8, 0.0]).xyz
    stuck = pz.Tracker(arm, task, pz.methods.BoundedLeastSquares(way="slack"))
    loose = pz.Tracker(arm, task, pz.methods.BoundedLeastSquares(way="box"))
    assert stuck.step(q, inside)[1] == pytest.approx(1.0, abs=1e-12)
    assert loose.step(q, inside)[1] < 0.99


def test_the_step_of_slack_is_damped_least_squares_in_the_angles_of_the_sines() -> None:
    """q = middle + half sin y: the step in y, and what it makes of q."""
    ik = pz.Tracker(PANDA, HAND, pz.methods.BoundedLeastSquares(way="slack", **FREE))
    middle, half = 0.5 * (PANDA.upper + PANDA.lower), 0.5 * (PANDA.upper - PANDA.lower)
    for seed in range(20):
        q, there = PANDA.sample(2, seed=seed)
        target = PANDA.pose("panda_hand", there)
        e, jacobian = pz.Solver(PANDA, HAND).linearise(q, target)
        y = np.arcsin((q - middle) / half)
        changed = jacobian * (half * np.cos(y))
        turn = np.linalg.solve(changed.T @ changed + LAMBDA**2 * np.eye(7), changed.T @ e)
        np.testing.assert_allclose(ik.step(q, target), middle + half * np.sin(y + turn), rtol=0, atol=1e-9)


def test_the_step_of_a_penalty_is_that_of_the_sum_of_squares_with_it() -> None:
    rate = 30.0
    ik = pz.Tracker(PANDA, HAND, pz.methods.BoundedLeastSquares(way="penalty", penalty=rate, **FREE), limits=False)
    for seed in range(20):
        inside, there = PANDA.sample(2, seed=seed)
        q = inside + np.random.default_rng(seed).uniform(-1.0, 1.0, 7)
        target = PANDA.pose("panda_hand", there)
        e, jacobian = pz.Solver(PANDA, HAND, limits=False).linearise(q, target)
        beyond = np.maximum(q - PANDA.upper, 0.0) - np.maximum(PANDA.lower - q, 0.0)
        matrix = jacobian.T @ jacobian + LAMBDA**2 * np.eye(7) + rate * np.diag((beyond != 0.0).astype(float))
        expected = np.linalg.solve(matrix, jacobian.T @ e - rate * beyond)
        np.testing.assert_allclose(ik.step(q, target) - q, expected, rtol=0, atol=1e-9)


def elbow() -> pz.Model:
    """Two links of 1 m in the plane; each joint goes 1 rad either way."""
    builder, out = pz.ModelBuilder("elbow"), pz.SE3.from_parts([1.0, 0.0, 0.0])
    builder.joint("shoulder", "revolute", parent="base", child="upper", limits=(-1.0, 1.0))
    builder.joint("elbow", "revolute", parent="upper", child="lower", origin=out, limits=(-1.0, 1.0))
    builder.frame("tip", link="lower", origin=out)
    return builder.build()


def test_a_tenfold_penalty_breaks_the_limits_by_a_tenth() -> None:
    beyond = []
    for penalty in (100.0, 1000.0, 10000.0):
        method = pz.methods.BoundedLeastSquares(way="penalty", penalty=penalty, damping=0.05, max_error=None)
        arm, task = elbow(), pz.PositionTask("tip")
        way = np.tile(arm.pose("tip", [0.2, 1.8]).xyz, (3000, 1, 1))  # the elbow would have to bend by 1.8
        q = pz.Tracker(arm, task, method, limits=False).rollout(np.zeros(2), way)[-1]
        beyond.append(float(np.abs(q).max() - 1.0))
    assert beyond[0] > 1e-4
    assert beyond[0] / beyond[1] == pytest.approx(10.0, rel=0.2)
    assert beyond[1] / beyond[2] == pytest.approx(10.0, rel=0.2)


def test_a_penalty_is_refused_with_limits_on() -> None:
    with pytest.raises(ValueError, match="way='penalty' breaks the joint limits a little: pass limits=False"):
        pz.Tracker(PANDA, HAND, pz.methods.BoundedLeastSquares(way="penalty"))


def test_bad_settings_are_refused() -> None:
    with refused("unknown-word", "way"):
        pz.methods.BoundedLeastSquares(way="kind")  # type: ignore[arg-type]
    with refused("not-positive", "penalty"):
        pz.methods.BoundedLeastSquares(penalty=0.0)
    with refused("not-supported"):
        pz.methods.BoundedLeastSquares(damping=pz.damping.GainRatio())
