"""The law of Das, Slotine and Sheridan, against the paper's formulas written anew."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.robots import TEXTBOOK, planar

PANDA, TEN = TEXTBOOK["panda"](), TEXTBOOK["planar10"]()
HAND = pz.PoseTask("panda_hand")
FREE: dict[str, Any] = {"max_step": math.inf, "max_null_step": math.inf}
seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=25)
FIELD = ((2.5, 1.6, 0.0), (4.5, -0.6, 0.0), (6.0, 1.8, 0.0))


def truck(n: int = 3) -> pz.Model:
    """A planar arm on two slides."""
    builder = pz.ModelBuilder("truck")
    builder.joint("x", "prismatic", parent="world", child="rail", axis=(1, 0, 0), limits=(-20, 20))
    builder.joint("y", "prismatic", parent="rail", child="l0", axis=(0, 1, 0), limits=(-20, 20))
    for i in range(n):
        origin = pz.SE3.from_parts([0.0 if i == 0 else 1.0, 0.0, 0.0])
        builder.joint(f"j{i}", "revolute", parent=f"l{i}", child=f"l{i + 1}", axis=(0, 0, 1), origin=origin)
    builder.frame("tool", link=f"l{n}", origin=pz.SE3.from_parts([1.0, 0.0, 0.0]))
    return builder.build()


def step(model: pz.Model, task: Any, q: Array, target: Any, method: Any) -> Array:
    return model.difference(q, pz.Tracker(model, task, method, limits=False).step(q, target))


def rows(model: pz.Model, task: Any, q: Array, target: Any) -> tuple[Array, Array]:
    return pz.Solver(model, task, limits=False).linearise(q, target)


def places(model: pz.Model, q: Array) -> Array:
    """(..., joints, 3) the joints' origins."""
    return np.stack([model.pose(j.child, q).xyz for j in model.joints if j.nv], axis=-2)


# The step ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_without_stiffness_and_s_alpha_is_that_of_buss(seed: int) -> None:
    q, there = PANDA.sample(2, seed=seed)
    target = PANDA.pose("panda_hand", there)
    steps = [
        step(PANDA, HAND, q, target, kind(max_step=math.inf))
        for kind in (pz.methods.DasSlotineSheridan, pz.methods.JacobianTranspose)
    ]
    np.testing.assert_allclose(steps[0], steps[1], rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("angle", [0.0, 0.7, 3.0])
def test_with_one_joint_it_is_newtons_step(angle: float) -> None:
    arm = planar(1)
    task, q, target = pz.PositionTask(arm.tip), np.array([angle]), np.array([0.3, 0.8, 0.0])
    newton = step(arm, task, q, target, pz.methods.Pseudoinverse(cutoff=0.0, max_step=math.inf))
    np.testing.assert_allclose(
        step(arm, task, q, target, pz.methods.DasSlotineSheridan(**FREE)), newton, rtol=0, atol=1e-14
    )


def alpha_of(j: Array, e: Array, stiffness: Array, s: Array) -> tuple[float, float]:
    """alpha = N / 2D and the change of V that appendix A predicts."""
    y = j @ (s * (j.T @ (stiffness * e)))
    over, under = (stiffness * e) @ y, 0.5 * y @ (stiffness * y)
    return over / (2.0 * under), -(over**2) / (4.0 * under)


@pytest.mark.parametrize("seed", range(4))
def test_alpha_and_the_fall_of_v_are_those_of_appendix_a(seed: int) -> None:
    rng = np.random.default_rng(seed)
    stiffness = np.repeat([3.0, 0.5], 3)
    method = pz.methods.DasSlotineSheridan(position_stiffness=3.0, rotation_stiffness=0.5, **FREE)
    q = PANDA.sample(seed=seed)
    pose = PANDA.pose("panda_hand", q)
    ratios = []
    for size in (1e-2, 1e-3, 1e-4):
        turn, way = rng.normal(size=(2, 3)) * size
        target = pz.SE3.from_parts(pose.xyz + way, pz.SO3.from_rotvec(turn) @ pose.rotation)
        e, j = rows(PANDA, HAND, q, target)
        alpha, fall = alpha_of(j, e, stiffness, np.ones(7))
        gone = step(PANDA, HAND, q, target, method)
        np.testing.assert_allclose(gone, alpha * j.T @ (stiffness * e), rtol=1e-11, atol=1e-15)
        after, _ = rows(PANDA, HAND, q + gone, target)
        ratios.append(abs((0.5 * after @ (stiffness * after) - 0.5 * e @ (stiffness * e)) / fall - 1.0))
    assert ratios[0] < 0.2
    assert ratios[2] < 0.03 * ratios[0] or ratios[2] < 1e-4


@pytest.mark.parametrize("share", [0.3, 1.7])
def test_a_share_of_alpha_is_that_share_of_the_step(share: float) -> None:
    q, there = PANDA.sample(2, seed=0)
    target = PANDA.pose("panda_hand", there)
    whole, part = (step(PANDA, HAND, q, target, pz.methods.DasSlotineSheridan(alpha=a, **FREE)) for a in (1.0, share))
    np.testing.assert_allclose(part, share * whole, rtol=1e-13)


@pytest.mark.parametrize("share", [0.0, -1.0, math.nan, "1", True, 2.0])
def test_a_share_of_alpha_with_which_the_error_grows_is_refused(share: Any) -> None:
    with pytest.raises(ValueError, match=r"^alpha is "):
        pz.methods.DasSlotineSheridan(alpha=share)


@pytest.mark.parametrize("far", [0.4, 4.0, 12.0])
def test_s_is_that_of_appendix_b(far: float) -> None:
    model, task = truck(), pz.PositionTask("tool")
    q, target = np.array([0.0, 0.0, 0.4, 0.9, -0.5]), np.array([2.0 + far, 1.0, 0.0])
    e, j = rows(model, task, q, target)
    limit, stiffness, s = 0.5, np.ones(3), np.ones(5)
    size = float(np.linalg.norm(alpha_of(j, e, stiffness, s)[0] * j.T @ e))
    assert (size > limit) == (far > 0.4)
    if size > limit:
        s[2:] = 1.0 / size
    expected = alpha_of(j, e, stiffness, s)[0] * s * (j.T @ e)
    gone = step(model, task, q, target, pz.methods.DasSlotineSheridan(vehicle_limit=limit, **FREE))
    np.testing.assert_allclose(gone, expected, rtol=1e-12)


def test_s_lets_the_vehicle_go_first_and_changes_nothing_without_one() -> None:
    model, task = truck(), pz.PositionTask("tool")
    q, target = np.array([0.0, 0.0, 0.4, 0.9, -0.5]), np.array([30.0, 20.0, 0.0])
    plain = step(model, task, q, target, pz.methods.DasSlotineSheridan(**FREE))
    first = step(model, task, q, target, pz.methods.DasSlotineSheridan(vehicle_limit=0.2, **FREE))
    assert np.linalg.norm(first[:2]) > np.linalg.norm(plain[:2])
    assert np.linalg.norm(first[2:]) < 0.9 * np.linalg.norm(plain[2:])
    q, target = TEN.sample(seed=1), np.array([3.0, 1.0, 0.0])
    both = [
        step(TEN, pz.PositionTask("tool"), q, target, pz.methods.DasSlotineSheridan(vehicle_limit=x, **FREE))
        for x in (None, 0.1)
    ]
    np.testing.assert_allclose(both[0], both[1], rtol=1e-12)


@pytest.mark.parametrize(("far", "above"), [(0.5, False), (0.8, False), (4.0, True), (12.0, True)])
def test_beside_the_slides_the_arm_turns_by_the_inverse_of_the_step_s_length(far: float, above: bool) -> None:
    """So a vehicle goes first where that length is above 1, and the arm where it is below."""
    model, task = truck(), pz.PositionTask("tool")
    q, target = np.array([0.0, 0.0, 0.4, 0.9, -0.5]), np.array([2.0 + far, 1.0, 0.0])
    plain = step(model, task, q, target, pz.methods.DasSlotineSheridan(**FREE))
    weighed = step(model, task, q, target, pz.methods.DasSlotineSheridan(vehicle_limit=0.2, **FREE))
    length = float(np.linalg.norm(plain))
    assert length > 0.2
    assert (length > 1.0) == above
    np.testing.assert_allclose(weighed[2:] / weighed[0], plain[2:] / plain[0] / length, rtol=1e-9)
    careful = step(model, task, q, target, pz.methods.DasSlotineSheridan(vehicle_limit=1.0, **FREE))
    np.testing.assert_allclose(careful, weighed if above else plain, rtol=1e-12)


# The null space ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("singular", [False, True])
def test_the_null_space_term_moves_no_effector_to_first_order(seed: int, singular: bool) -> None:
    q = np.zeros(10) if singular else TEN.sample(seed=seed)
    task, target = pz.PositionTask("tool"), TEN.pose("tool", q).xyz
    field = np.random.default_rng(seed).uniform([-6, -6, 0], [6, 6, 0], (4, 3))
    rest = np.full(10, 0.3)
    terms = (pz.criteria.RestPosture(q=rest, gain=0.05), pz.criteria.Clearance(obstacles=field, gain=0.02))
    gone = step(TEN, task, q, target, pz.methods.DasSlotineSheridan(null_space=terms, **FREE))
    _, j = rows(TEN, task, q, target)
    h = 0.05 * (q - rest)
    for k, place in enumerate(places(TEN, q)):
        x = place - field
        jk = np.array([[-(place - p)[1], (place - p)[0], 0.0] for p in places(TEN, q)[:k]]).reshape(k, 3).T
        h[:k] -= 0.02 * jk.T @ (x / (x**2).sum(axis=1)[:, None]).sum(axis=0)
    expected = -(h - np.linalg.pinv(j, rcond=1e-9) @ (j @ h))
    np.testing.assert_allclose(gone, expected, rtol=0, atol=1e-11 * np.linalg.norm(h))
    assert np.linalg.norm(j @ gone) <= 1e-12 * np.linalg.norm(h) * max(1.0, np.linalg.norm(j, 2))


def test_the_null_space_step_is_shortened_as_a_whole() -> None:
    q, task = TEN.sample(seed=3), pz.PositionTask("tool")
    near = (tuple(places(TEN, q)[5] + np.array([1e-3, 0.0, 0.0])),)
    for longest in (0.05, 0.2):
        method = pz.methods.DasSlotineSheridan(null_space=pz.criteria.Clearance(obstacles=near), max_null_step=longest)
        gone = step(TEN, task, q, TEN.pose("tool", q).xyz, method)
        assert np.linalg.norm(gone) == pytest.approx(longest, rel=1e-9)


def test_obstacles_repel_and_with_the_printed_sign_attract() -> None:
    q, task = np.array([0.55, -0.1, -0.15, -0.15, -0.15, -0.1, -0.1, 0, 0, 0.1]), pz.PositionTask("tool")
    start = TEN.pose("tool", q).xyz
    way = start + (np.array([7.0, -2.5, 0.0]) - start) * np.linspace(0.02, 1.0, 50)[:, None]

    def clearance(**how: Any) -> float:
        method = pz.methods.DasSlotineSheridan(max_step=math.inf, **how)
        path = pz.Tracker(TEN, task, method, updates=20).rollout(q, way[:, None])
        return float(np.linalg.norm(places(TEN, path)[:, :, None] - np.array(FIELD), axis=-1).min())

    terms = (pz.criteria.RestPosture(gain=0.02), pz.criteria.Clearance(obstacles=FIELD, gain=0.05))
    without = clearance(null_space=pz.criteria.RestPosture(gain=0.02))
    assert clearance(null_space=terms) > without + 0.1
    assert clearance(null_space=terms, beta_rule=False) > without + 0.1
    assert clearance(null_space=terms, literal_sign=True) < 0.05


# V ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_v_never_grows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, there = TEN.sample(2, seed=seed) * 0.4
    rest = rng.normal(size=10) * 0.3
    target = TEN.pose("tool", there).xyz
    terms = (
        pz.criteria.RestPosture(q=rest, gain=0.02),
        pz.criteria.Clearance(obstacles=rng.uniform(-8, 8, (3, 3)), gain=0.01),
    )
    method = pz.methods.DasSlotineSheridan(null_space=terms, max_step=0.1, max_null_step=0.02)
    tracker = pz.Tracker(TEN, pz.PositionTask("tool"), method, settle=False)
    beta, values, second = 1.0, [], []
    for k in range(300):
        away = float((q - rest) @ (q - rest))
        if k:
            r = second[-1]
            beta = r / away if away > r else 1.0
        second.append(beta**2 * away)
        x = target - TEN.pose("tool", q).xyz
        values.append(0.5 * float(x @ x) + 0.5 * second[-1])
        q = tracker.step(q, target).copy()
    assert (np.diff(second) <= 1e-12).all(), "the part of the null space, always"
    assert (np.diff(values) <= 1e-9).all(), "the whole, where steps are short"


def repulsion(q: Array, field: Array) -> Array:
    """(10,) sum of J_j^T x / |x|^2 over the joints and obstacles, x from an obstacle to the joint."""
    out, at = np.zeros(10), places(TEN, q)
    for k, place in enumerate(at):
        x = place - field
        jk = np.array([[-(place - p)[1], (place - p)[0], 0.0] for p in at[:k]]).reshape(k, 3).T
        out[:k] += jk.T @ (x / (x**2).sum(axis=1)[:, None]).sum(axis=0)
    return out


@quick
@given(seeds, st.floats(0.001, 0.5), st.floats(0.001, 0.5), st.booleans())
def test_the_law_with_its_own_clamps_and_the_part_of_v_that_never_grows(
    seed: int, gain: float, push: float, rule: bool
) -> None:
    """Every step of a loop with the method's own step rule is that of the paper's formulas, and so is its beta."""
    rng = np.random.default_rng(seed)
    q, there = TEN.sample(2, seed=seed) * rng.uniform(0.1, 1.0)
    rest, field = rng.normal(size=10) * 0.3, np.append(rng.uniform(-8, 8, (3, 2)), np.zeros((3, 1)), axis=1)
    task, target = pz.PositionTask("tool"), TEN.pose("tool", there).xyz
    terms = (pz.criteria.RestPosture(q=rest, gain=gain), pz.criteria.Clearance(obstacles=field, gain=push))
    tracker = pz.Tracker(TEN, task, pz.methods.DasSlotineSheridan(null_space=terms, beta_rule=rule), settle=False)
    beta, second = 1.0, math.inf
    for _ in range(12):
        away = float((q - rest) @ (q - rest))
        if rule:
            beta = second / away if away > second else 1.0
            assert beta**2 * away <= second * (1.0 + 1e-12)
            second = beta**2 * away
        e, j = rows(TEN, task, q, target)
        down = j.T @ e
        assume(np.linalg.norm(j @ down) > 1e-6)
        assume(np.linalg.svd(j, compute_uv=False)[1] > 1e-3)
        phi = gain * (rest - q) + push * repulsion(q, field)
        null = beta * (phi - np.linalg.pinv(j, rcond=1e-9) @ (j @ phi))
        expected = (down @ down) / float((j @ down) @ (j @ down)) * down
        expected = expected + null * min(1.0, 0.2 / np.linalg.norm(null)) if np.linalg.norm(null) > 0.0 else expected
        expected = expected * min(1.0, math.radians(30.0) / np.abs(expected).max())
        gone = tracker.step(q, target) - q
        np.testing.assert_allclose(gone, expected, rtol=0, atol=1e-10)
        q = q + gone


@settings(max_examples=200)
@given(seeds, st.floats(-4.0, 1.0), st.floats(0.01, 100.0))
def test_the_part_of_v_that_is_the_error_falls_where_the_step_is_short_for_it(
    seed: int, distance: float, stiffness: float
) -> None:
    """It must where L alpha c |e| < 2 - c: there the linear model falls by more than the L |dq|^2 / 2 left out.

    c <= 1 is what the clamps leave of the step, L a bound of the second derivative of the effector's place.
    """
    rng = np.random.default_rng(seed)
    q, task = TEN.sample(seed=seed), pz.PositionTask("tool")
    target = TEN.pose("tool", q).xyz + np.append(10.0**distance * rng.normal(size=2), 0.0)
    e, j = rows(TEN, task, q, target)
    down = j.T @ e
    assume(np.linalg.norm(j @ down) > 1e-9)
    alpha = float(down @ down) / float((j @ down) @ (j @ down))
    c = min(1.0, math.radians(30.0) / (alpha * np.abs(down).max()))
    gone = step(TEN, task, q, target, pz.methods.DasSlotineSheridan(position_stiffness=stiffness))
    np.testing.assert_allclose(gone, c * alpha * down, rtol=1e-10, atol=1e-15)
    left = np.linalg.norm(target - TEN.pose("tool", q + gone).xyz)
    bend = 0.5 * float((np.cumsum(gone) ** 2).sum())
    assert left <= np.linalg.norm(e - j @ gone) + bend + 1e-12
    curvature = 55.0  # (dq_1 + ... + dq_i)^2 <= i |dq|^2, summed over ten links of 1 m
    if curvature * alpha * c * np.linalg.norm(e) < 2.0 - c:
        assert left < np.linalg.norm(e)


def test_the_part_of_v_that_is_the_error_may_grow_where_the_null_space_moves_an_effector_that_has_arrived() -> None:
    q, task = TEN.sample(seed=3), pz.PositionTask("tool")
    here = TEN.pose("tool", q).xyz
    gone = step(TEN, task, q, here, pz.methods.DasSlotineSheridan(null_space=pz.criteria.RestPosture(gain=0.1)))
    left = float(np.linalg.norm(TEN.pose("tool", q + gone).xyz - here))
    assert 1e-6 < left <= 0.5 * float((np.cumsum(gone) ** 2).sum())


def test_beta_is_its_rule_and_a_new_target_begins_anew() -> None:
    task, rest = pz.PositionTask("tool"), np.zeros(10)
    q = np.full(10, 0.01)
    terms = (pz.criteria.RestPosture(q=rest, gain=0.01), pz.criteria.Clearance(obstacles=FIELD, gain=0.1))
    make = lambda rule: pz.methods.DasSlotineSheridan(null_space=terms, beta_rule=rule, **FREE)  # noqa: E731
    target = TEN.pose("tool", q).xyz
    tracker = pz.Tracker(TEN, task, make(True))
    one = tracker.step(q, target).copy()
    np.testing.assert_allclose(one - q, step(TEN, task, q, target, make(False)), rtol=1e-12)
    r, away = q @ q, one @ one
    assert away > r, "the obstacles push off the posture"
    whole = step(TEN, task, one, target, make(False))
    task_part = step(TEN, task, one, target, pz.methods.DasSlotineSheridan(**FREE))
    gone = tracker.step(one, target) - one
    np.testing.assert_allclose(gone - task_part, r / away * (whole - task_part), rtol=1e-9, atol=1e-13)
    other = target + np.array([0.0, 0.01, 0.0])
    np.testing.assert_allclose(
        tracker.step(one, other) - one, step(TEN, task, one, other, make(False)), rtol=1e-9, atol=1e-13
    )


def test_eight_characters_go_as_one_does() -> None:
    terms = (
        pz.criteria.RestPosture(gain=0.02),
        pz.criteria.Clearance(obstacles=[[0.3, 0.2, 0.6]], gain=0.01),
        pz.criteria.Manipulability(gain=0.1),
    )
    tracker = pz.Tracker(PANDA, HAND, pz.methods.DasSlotineSheridan(null_space=terms, vehicle_limit=0.2), updates=3)
    starts = PANDA.sample(3, seed=4)
    targets = PANDA.pose("panda_hand", PANDA.sample(15, seed=5)).array.reshape(3, 5, 1, 7)
    together = tracker.rollout(starts, targets)
    for start, target, path in zip(starts, targets, together, strict=True):
        np.testing.assert_allclose(tracker.rollout(start, target), path, rtol=0, atol=1e-8)


def test_solve_reaches_targets() -> None:
    for seed in range(5):
        target = PANDA.pose("panda_hand", PANDA.sample(seed=seed)).xyz
        answer = pz.solve(PANDA, pz.PositionTask("panda_hand", target, tolerance=1e-4), method="das")
        assert answer.success


@pytest.mark.parametrize("name", ["position_stiffness", "rotation_stiffness", "max_null_step", "vehicle_limit"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, "1", True])
def test_settings_are_positive(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name} is .*; it must be a positive number"):
        pz.methods.DasSlotineSheridan(**{name: value})


def test_the_printed_sign_needs_obstacles() -> None:
    with refused("needs", "literal_sign"):
        pz.methods.DasSlotineSheridan(literal_sign=True)
