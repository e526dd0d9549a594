"""The pairwise extended Jacobian: equations 8 and 9 from the page, what the step is, and where the rank fails."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.robots import TEXTBOOK
from poise.robots.planar import planar
from poise_experiments.soch_lorencz.problem import jacobian, pairs

LENGTHS = np.array([0.9, 0.6, 0.9, 1.5, 1.5, 0.9])
ARM = planar(6, LENGTHS.tolist())
TIP = pz.PositionTask(ARM.tip)
PANDA = TEXTBOOK["panda"]()
HAND = "panda_hand"
FREE = {"max_error": None, "max_step": math.inf}
_angles = st.lists(st.floats(-3.0, 3.0), min_size=6, max_size=6).map(np.array)


def step(model: pz.Model, tasks: Any, q: Array, target: Any, **fields: Any) -> Array:
    """The change of q that one update makes."""
    tracker = pz.Tracker(model, tasks, pz.methods.PairwiseJacobian(**{**FREE, **fields}), limits=False)
    return tracker.step(q, target) - q


def ends(q: Array) -> Array:
    """x_i of all pairs, then y_i: equation 8, each in the frame of the segment before."""
    x = [LENGTHS[i] * math.cos(q[i]) + LENGTHS[i + 1] * math.cos(q[i] + q[i + 1]) for i in range(5)]
    y = [LENGTHS[i] * math.sin(q[i]) + LENGTHS[i + 1] * math.sin(q[i] + q[i + 1]) for i in range(5)]
    return np.array(x + y)


def twist_rows(model: pz.Model, q: Array, joints: Sequence[str], tip: str, length: float) -> Array:
    """(6 pairs, nv) the relative twists of a chain of `joints`, from the model's own Jacobians: of the link of joint
    i + 1, at the origin of the joint after it, against the link before joint i."""
    frames = [*(model.joint(name).child for name in joints), tip]
    rows = []
    for one, two, then in zip(joints, joints[1:], frames[2:], strict=False):
        point = model.pose(then, q).xyz
        at = [model.velocity_index(one).start, model.velocity_index(two).start]
        own = model.jacobian(model.joint(two).child, q)
        linear = own[:3] + np.cross(own[3:].T, point - model.pose(model.joint(two).child, q).xyz).T
        block = np.zeros((6, model.nv))
        block[:3, at], block[3:, at] = linear[:, at], length * own[3:][:, at]
        rows.append(block)
    return np.vstack(rows)


# The rows ---------------------------------------------------------------------------------------------------------


@given(q=_angles)
def test_the_rows_of_the_pairs_are_the_derivatives_of_equation_8(q: Array) -> None:
    expected = optimize.approx_fprime(q, ends, 1e-7)
    np.testing.assert_allclose(pairs(q, LENGTHS), expected, rtol=0, atol=1e-5)


@settings(max_examples=30)
@given(q=_angles, weight=st.floats(0.05, 3.0), solver=st.sampled_from(["lu", "orthogonal"]))
def test_the_printed_step_solves_equation_9_by_least_squares(q: Array, weight: float, solver: str) -> None:
    target = np.array([1.0, 0.5, 0.0])
    stacked = np.vstack([weight * pairs(q, LENGTHS), jacobian(q, LENGTHS)])
    right = np.concatenate([np.zeros(10), (target - ARM.pose(ARM.tip, q).xyz)[:2]])
    expected = np.linalg.lstsq(stacked, right, rcond=None)[0]
    got = step(ARM, TIP, q, target, weight=weight, form="printed", solver=solver)
    scale = np.abs(expected).max()
    allowed = 1e-14 * np.linalg.cond(stacked) ** (2 if solver == "lu" else 1) + 1e-13
    np.testing.assert_allclose(got, expected, rtol=0, atol=100.0 * allowed * scale)


@pytest.mark.parametrize("solver", ["lu", "orthogonal"])
def test_the_twists_of_an_arm_in_space_are_those_of_its_jacobians(solver: str) -> None:
    joints = [f"panda_joint{i}" for i in range(1, 8)]
    for q, there in zip(PANDA.sample(5, seed=1), PANDA.sample(5, seed=2), strict=True):
        target = PANDA.pose(HAND, there)
        e, main = pz.Solver(PANDA, pz.PoseTask(HAND)).linearise(q, target)
        metric = twist_rows(PANDA, q, joints, HAND, 0.3)
        got = step(PANDA, pz.PoseTask(HAND), q, target, weight=0.2, length=0.3, solver=solver)
        expected = np.linalg.solve(main.T @ main + 0.04 * metric.T @ metric, main.T @ e)
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-10)


def test_every_branch_of_a_tree_has_its_pairs() -> None:
    builder = pz.ModelBuilder("fork")
    rng = np.random.default_rng(2)
    for name, parent in (("a", "world"), ("b", "a"), ("c", "b"), ("d", "b"), ("e", "d")):
        place = pz.SE3.from_xyz_rpy(rng.uniform(-0.5, 0.5, 3), rng.uniform(-1.0, 1.0, 3))
        builder.joint(f"to {name}", "revolute", parent=parent, child=name, origin=place, axis=rng.normal(size=3))
    for tip in "ce":
        builder.frame(f"tip {tip}", link=tip, origin=pz.SE3.from_parts([0.3, 0.1, 0.0]))
    fork = builder.build()
    tasks = [pz.PositionTask("tip c"), pz.PositionTask("tip e")]
    q, there = fork.sample(2, seed=3)
    target = [fork.pose(task.frame, there).xyz for task in tasks]
    e, main = pz.Solver(fork, tasks).linearise(q, target)
    metric = np.zeros((fork.nv, fork.nv))
    for one, two, point in (("a", "b", "c"), ("b", "c", "tip c"), ("b", "d", "e"), ("d", "e", "tip e")):
        own = fork.jacobian(two, q)
        own[:3] += np.cross(own[3:].T, fork.pose(point, q).xyz - fork.pose(two, q).xyz).T
        own[3:] *= 0.5
        at = [fork.velocity_index(f"to {link}").start for link in (one, two)]
        metric[np.ix_(at, at)] += own[:, at].T @ own[:, at]
    got = step(fork, tasks, q, target, weight=0.3, length=0.5)
    expected = np.linalg.solve(main.T @ main + 0.09 * metric, main.T @ e)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-10)


def test_slides_screws_and_balls_have_their_own_twists() -> None:
    builder = pz.ModelBuilder("mixed")
    place = pz.SE3.from_xyz_rpy([0.3, 0.1, 0.2], [0.2, -0.3, 0.4])
    builder.joint("slide", "prismatic", parent="world", child="a", axis=(1, 0.2, 0))
    builder.joint("screw", "helical", parent="a", child="b", axis=(0, 1, 0), pitch=0.3, origin=place)
    builder.joint("ball", "spherical", parent="b", child="c", origin=place)
    builder.joint("turn", "revolute", parent="c", child="d", axis=(0, 0, 1), origin=place)
    builder.frame("tool", link="d", origin=place)
    model = builder.build()
    q, there = model.sample(2, seed=7)
    target = model.pose("tool", there)
    e, main = pz.Solver(model, pz.PoseTask("tool")).linearise(q, target)
    metric = np.zeros((6, 6))
    names, points = ("slide", "screw", "ball", "turn"), ("c", "d", "tool")
    for one, two, then in zip(names, names[1:], points, strict=False):
        link = model.joint(two).child
        own = model.jacobian(link, q)
        arm = model.pose(then, q).xyz - model.pose(link, q).xyz
        own[:3] += np.cross(own[3:].T, arm).T
        own[3:] *= 0.4
        at = [*range(6)[model.velocity_index(one)], *range(6)[model.velocity_index(two)]]
        metric[np.ix_(at, at)] += own[:, at].T @ own[:, at]
    expected = np.linalg.solve(main.T @ main + 0.25 * metric, main.T @ e)
    tracker = pz.Tracker(model, pz.PoseTask("tool"), pz.methods.PairwiseJacobian(weight=0.5, length=0.4, **FREE))  # type: ignore[arg-type]
    gone = model.difference(q, tracker.step(q, target))
    np.testing.assert_allclose(gone, expected, rtol=0, atol=1e-10)


def test_joints_that_follow_share_a_column() -> None:
    builder = pz.ModelBuilder("finger")
    for i in range(3):
        builder.joint(
            f"j{i}", "revolute", parent=f"l{i - 1}" if i else "world", child=f"l{i}", axis=(0, 0, 1),
            origin=pz.SE3.from_parts([0.5 if i else 0.0, 0, 0]),
            mimic=pz.Mimic(joint="j1", multiplier=0.8) if i == 2 else None,
        )  # fmt: skip
    builder.frame("tool", link="l2", origin=pz.SE3.from_parts([0.5, 0, 0]))
    finger, q = builder.build(), np.array([0.4, 0.9])
    target = np.array([0.5, 0.9, 0.0])
    together = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.8]])
    angles = together @ q
    lengths = np.full(3, 0.5)
    metric, main = pairs(angles, lengths) @ together, jacobian(angles, lengths) @ together
    error = (target - finger.pose("tool", q).xyz)[:2]
    expected = np.linalg.solve(main.T @ main + 0.09 * metric.T @ metric, main.T @ error)
    got = step(finger, pz.PositionTask("tool"), q, target, weight=0.3, form="printed")
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)


# What the step is -------------------------------------------------------------------------------------------------


def test_it_is_least_squares_damped_in_the_metric_of_the_pairs() -> None:
    q, target, w = np.array([0.3, 0.5, -0.4, 0.7, 0.2, 0.6]), np.array([2.0, 1.0, 0.0]), 0.7
    main, error = jacobian(q, LENGTHS), (target - ARM.pose(ARM.tip, q).xyz)[:2]
    metric = pairs(q, LENGTHS).T @ pairs(q, LENGTHS)
    root = np.linalg.cholesky(metric).T
    # In the coordinates u = root dq the metric is I, and damped least squares with lambda = w is what is left.
    changed = main @ np.linalg.inv(root)
    damped = changed.T @ np.linalg.solve(changed @ changed.T + w * w * np.eye(2), error)
    got = step(ARM, TIP, q, target, weight=w, form="printed")
    np.testing.assert_allclose(root @ got, damped, rtol=0, atol=1e-12)


def test_with_pairs_that_weigh_all_joints_alike_it_is_damped_least_squares() -> None:
    # Three slides at right angles: each pair gives the two rows of an identity, the middle one twice.
    builder = pz.ModelBuilder("gantry")
    builder.joint("x", "prismatic", parent="world", child="a", axis=(1, 0, 0))
    builder.joint("y", "prismatic", parent="a", child="b", axis=(0, 1, 0))
    builder.frame("tool", link="b")
    gantry = builder.build()
    q, target = np.array([0.1, 0.2]), np.array([0.6, -0.3, 0.4])
    tracker = pz.Tracker(gantry, pz.PositionTask("tool"), pz.methods.DampedLeastSquares(damping=0.3, **FREE))  # type: ignore[arg-type]
    expected = tracker.step(q, target) - q
    for solver in ("lu", "orthogonal"):
        got = step(gantry, pz.PositionTask("tool"), q, target, weight=0.3, solver=solver)
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-15)


def test_a_small_weight_gives_the_weighted_pseudoinverse_and_not_the_plain_one() -> None:
    q, error = np.array([0.3, 0.5, -0.4, 0.7, 0.2, 0.6]), np.array([0.05, -0.03])
    target = ARM.pose(ARM.tip, q).xyz + np.append(error, 0.0)
    main = jacobian(q, LENGTHS)
    inverse = np.linalg.inv(pairs(q, LENGTHS).T @ pairs(q, LENGTHS))
    weighted = inverse @ main.T @ np.linalg.solve(main @ inverse @ main.T, error)
    got = step(ARM, TIP, q, target, weight=1e-5, form="printed")
    assert np.linalg.norm(got - weighted) < 1e-9
    assert np.linalg.norm(got - np.linalg.pinv(main) @ error) > 1e-3


def test_orthogonal_columns_keep_the_digits_that_normal_equations_lose() -> None:
    q, target = np.zeros(6), np.array([6.2, 0.3, 0.0])
    stacked = np.vstack([1e-6 * pairs(q, LENGTHS), jacobian(q, LENGTHS)])
    right = np.concatenate([np.zeros(10), (target - ARM.pose(ARM.tip, q).xyz)[:2]])
    exact = np.linalg.lstsq(stacked, right, rcond=1e-18)[0]
    error = {
        solver: float(np.abs(step(ARM, TIP, q, target, weight=1e-6, form="printed", solver=solver) - exact).max())
        for solver in ("lu", "orthogonal")
    }
    assert error["orthogonal"] < 1e-8
    assert error["lu"] > 100.0 * error["orthogonal"]


# The rank ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("q", "rank"), [([0.7, 0.0], 1), ([0.7, math.pi, math.pi, math.pi], 3), ([0.7, 0.4], 2)], ids=str
)
def test_the_printed_rows_lose_rank_where_the_paper_says_that_they_cannot(q: list[float], rank: int) -> None:
    stacked = np.vstack([pairs(np.array(q), np.ones(len(q))), jacobian(np.array(q), np.ones(len(q)))])
    assert np.linalg.matrix_rank(stacked, rtol=1e-9) == rank


def test_the_twists_keep_the_rank_there() -> None:
    for q in ([0.7, 0.0], [0.7, math.pi, math.pi, math.pi]):
        arm = planar(len(q))
        joints = [joint.name for joint in arm.joints if joint.nv]
        metric = twist_rows(arm, np.array(q), joints, arm.tip, 1.0)
        assert np.linalg.svd(metric, compute_uv=False)[len(q) - 1] > 0.1
        target = arm.pose(arm.tip, np.array(q)).xyz + np.array([0.1, 0.1, 0.0])
        got = step(arm, pz.PositionTask(arm.tip), np.array(q), target, weight=0.1)
        assert np.abs(got).max() < 1.0


@pytest.mark.filterwarnings("ignore:a step of this Tracker:RuntimeWarning")
def test_a_singular_printed_system_is_marked_or_leads_far_and_never_silent() -> None:
    arm = planar(2)
    method = pz.methods.PairwiseJacobian(form="printed", solver="lu", **FREE)  # type: ignore[arg-type]
    tracker = pz.Tracker(arm, pz.PositionTask(arm.tip), method)
    q = tracker.step(np.zeros(2), [1.5, 0.0, 0.0])
    assert np.isfinite(q).all()
    assert tracker.failed


# Refusals ---------------------------------------------------------------------------------------------------------


def test_the_printed_form_is_for_planar_chains_and_says_what_else_serves() -> None:
    printed = pz.methods.PairwiseJacobian(form="printed")
    way = "take form='twists', which serves any tree"
    with pytest.raises(ValueError, match=f"the axes of panda are not parallel: {way}"):
        pz.Tracker(PANDA, pz.PositionTask(HAND), printed)
    with pytest.raises(ValueError, match=rf"one PositionTask, not PoseTask\('tool'\): {way}"):
        pz.Tracker(ARM, pz.PoseTask("tool"), printed)
    with refused("not-supported"):
        pz.Tracker(ARM, [TIP, TIP], printed)
    builder = pz.ModelBuilder("slide")
    builder.joint("a", "revolute", parent="world", child="a")
    builder.joint("b", "prismatic", parent="a", child="b", axis=(1, 0, 0))
    with pytest.raises(ValueError, match=f"moves hinges only, and slide has others: {way}"):
        pz.Tracker(builder.build(), pz.PositionTask("b"), printed)


@pytest.mark.parametrize(
    ("field", "value", "code", "words"),
    [
        ("weight", 0.0, "not-positive", "weight"),
        ("length", -1.0, "not-positive", "length"),
        ("form", "paper", "unknown-word", "form"),
        ("solver", "qr", "unknown-word", "solver"),
    ],
)
def test_settings_that_make_no_sense_are_refused(field: str, value: Any, code: str, words: str) -> None:
    with refused(code, words):
        pz.methods.PairwiseJacobian(**{field: value})


def test_eight_characters_step_as_one_does() -> None:
    starts, theres = PANDA.sample(5, seed=4), PANDA.sample(5, seed=5)
    goals = np.stack([np.tile(PANDA.pose(HAND, q).array, (4, 1, 1)) for q in theres])
    for solver in ("lu", "orthogonal"):
        tracker = pz.Tracker(PANDA, pz.PoseTask(HAND), pz.methods.PairwiseJacobian(solver=solver))
        together = tracker.rollout(starts, goals)
        alone = np.stack([tracker.rollout(q, way) for q, way in zip(starts, goals, strict=True)])
        np.testing.assert_allclose(together, alone, rtol=0, atol=1e-9)
