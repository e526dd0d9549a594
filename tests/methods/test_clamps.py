"""Clamps of errors and of steps, and columns taken at the target, against NumPy."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import poise as pz
from poise.robots.buss import y

Array = npt.NDArray[np.float64]
Y = y()
EFFECTORS = [pz.PositionTask("e0"), pz.PositionTask("e1")]
SOLVER = pz.Solver(Y, EFFECTORS)
AT_REST = np.array([Y.pose(name, np.zeros(7)).xyz for name in ("e0", "e1")])
LAMBDA = 0.6


def rows(q: Array, targets: Array) -> tuple[Array, Array]:
    return SOLVER.linearise(q, list(targets))


def damped(jacobian: Array, e: Array) -> Array:
    out: Array = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + LAMBDA**2 * np.eye(len(e)), e)
    return out


def clamp_mag(e: Array, longest: npt.ArrayLike) -> Array:
    """Each triple of `e`, shortened to its own entry of `longest`."""
    blocks = e.reshape(-1, 3)
    sizes = np.linalg.norm(blocks, axis=1)
    return (blocks * np.minimum(1.0, longest / np.maximum(sizes, 1e-300))[:, None]).ravel()


def tracker(max_error: Any = None, max_step: float = math.inf, **settings: Any) -> pz.Tracker:
    method = pz.methods.DampedLeastSquares(damping=LAMBDA, max_error=max_error, max_step=max_step, **settings)
    return pz.Tracker(Y, EFFECTORS, method)


def poses(count: int) -> list[tuple[Array, Array]]:
    """Configurations, and targets at distances from 1 cm to 3 m."""
    rng = np.random.default_rng(2)
    out = []
    for _ in range(count):
        q = rng.uniform(-1.5, 1.5, 7)
        here = np.array([Y.pose(task.frame, q).xyz for task in EFFECTORS])
        way = rng.normal(size=(2, 3))
        way *= 10.0 ** rng.uniform(-2.0, 0.5, (2, 1)) / np.linalg.norm(way, axis=1, keepdims=True)
        out.append((q, here + way))
    return out


def test_errors_are_shortened_to_their_clamp_and_keep_their_direction() -> None:
    clamped = tracker(max_error=0.3)
    shortened = set()
    for q, targets in poses(50):
        e, jacobian = rows(q, targets)
        short = clamp_mag(e, 0.3)
        assert clamped.step(q, targets) - q == pytest.approx(damped(jacobian, short), abs=1e-10)
        shortened.add(bool((short != e).any()))
    assert shortened == {True, False}


def test_clamping_twice_is_clamping_once() -> None:
    """The clamped error's own target gives the same step, clamped or not."""
    clamped, plain = tracker(max_error=0.3), tracker()
    for q, targets in poses(50):
        e, _ = rows(q, targets)
        nearer = targets - (e - clamp_mag(e, 0.3)).reshape(2, 3)
        once = clamped.step(q, targets).copy()
        assert clamped.step(q, nearer) == pytest.approx(once, abs=1e-12)
        assert plain.step(q, nearer) == pytest.approx(once, abs=1e-12)


def test_errors_below_the_clamp_are_left_alone() -> None:
    clamped, plain = tracker(max_error=10.0), tracker()
    for q, targets in poses(20):
        assert (clamped.step(q, targets) == plain.step(q, targets)).all()


def test_places_and_rotations_have_their_own_clamps() -> None:
    arm = pz.load("panda")
    task = pz.PoseTask("panda_hand")
    method = pz.methods.DampedLeastSquares(
        damping=LAMBDA, max_error=pz.methods.ClampMag(position=0.05, rotation=0.2), max_step=math.inf
    )
    ik, solver = pz.Tracker(arm, task, method, limits=False), pz.Solver(arm, task)
    for seed in range(10):
        q, target = arm.sample(seed=seed), arm.pose("panda_hand", arm.sample(seed=100 + seed))
        e, jacobian = solver.linearise(q, target)
        assert (np.linalg.norm(e.reshape(2, 3), axis=1) > [0.05, 0.2]).all()
        assert ik.step(q, target) - q == pytest.approx(damped(jacobian, clamp_mag(e, [0.05, 0.2])), abs=1e-9)


def moving(step: int) -> Array:
    """Two targets that wander away from the Y at rest, and jump after 12 steps."""
    sway = 0.02 * step * np.array([[1.0, -0.6, 0.8], [-0.7, -1.0, 0.5]])
    return AT_REST + [[0.4, 0.3, -0.5], [0.1, -0.9, 0.6]] + sway + (0.9 if step >= 12 else 0.0)


def adaptive(targets: list[Array], base: float, released: bool) -> list[Array]:
    """The configurations that the rule leads to, from zero."""
    q, path = np.zeros(7), []
    e_before = np.zeros(6)
    before = np.zeros((2, 3))
    for step, target in enumerate(targets):
        e, jacobian = rows(q, target)
        longest = np.full(2, base)
        for i in range(2):
            reached = before[i] - np.array(Y.pose(f"e{i}", q).xyz)  # what is left of the last target
            if released:
                wrong = e_before[i : i + 3]
                longest[i] += max(0.0, np.linalg.norm(reached) - np.linalg.norm(wrong))
            else:
                own = e_before[3 * i : 3 * i + 3]
                longest[i] += max(0.0, np.linalg.norm(own) - np.linalg.norm(reached))
                if np.linalg.norm(target[i] - before[i]) > base:
                    longest[i] = math.inf
        if step == 0:
            longest[:] = math.inf
        q = q + damped(jacobian, clamp_mag(e, longest))
        e_before, before = e, target
        path.append(q)
    return path


@pytest.mark.parametrize("mode", ["adaptive", "buss_release"])
def test_an_adaptive_clamp_is_open_at_first_then_follows_what_the_last_step_gained(mode: str) -> None:
    clamp = pz.methods.ClampMag(position=0.15, mode=mode)  # type: ignore[arg-type]
    ik = tracker(max_error=clamp)
    targets = [moving(step) for step in range(24)]
    want = adaptive(targets, 0.15, mode == "buss_release")
    other = adaptive(targets, 0.15, mode != "buss_release")
    q = np.zeros(7)
    for step, target in enumerate(targets):
        q = ik.step(q, target).copy()
        assert q == pytest.approx(want[step], abs=1e-9)
    assert np.abs(want[-1] - other[-1]).max() > 1e-3, "the two rules differ on this way"
    assert ik.rollout(np.zeros(7), np.array(targets))[-1] == pytest.approx(want[-1], abs=1e-9)


@pytest.mark.parametrize(
    "method",
    [pz.methods.Hybrid, pz.methods.SelectivelyDamped, pz.methods.LevenbergMarquardt, pz.methods.JacobianTranspose],
)
def test_an_adaptive_clamp_is_open_only_once_for_every_method(method: Any) -> None:
    """From one pose twice: what the first step gained is 0, so the second has the clamp's own length."""
    target = AT_REST + np.array([[0.5, 0.2, 0.1], [-0.3, -0.6, 0.2]])
    fixed = pz.Tracker(Y, EFFECTORS, method(max_error=pz.methods.ClampMag(position=0.1)))
    ik = pz.Tracker(Y, EFFECTORS, method(max_error=pz.methods.ClampMag(position=0.1, mode="adaptive")))
    q = np.full(7, 0.2)
    ik.step(q, target)
    second = ik.step(q, target).copy()
    fixed.step(q, target)
    assert second == pytest.approx(fixed.step(q, target), abs=1e-12)


def test_reset_opens_the_adaptive_clamp_again() -> None:
    ik = tracker(max_error=pz.methods.ClampMag(position=0.1, mode="adaptive"))
    target = moving(0)
    q = np.zeros(7)
    wide = ik.step(q, target).copy()
    assert np.abs(ik.step(q, target) - wide).max() > 1e-3
    ik.reset()
    assert (ik.step(q, target) == wide).all()


def test_the_largest_step_keeps_its_direction() -> None:
    free, held = tracker(), tracker(max_step=0.05)
    for q, targets in poses(30):
        step, short = free.step(q, targets) - q, held.step(q, targets) - q
        longest = np.abs(step).max()
        assert short == pytest.approx(step * min(1.0, 0.05 / longest), abs=1e-12)
        assert np.abs(short).max() <= 0.05 * (1.0 + 1e-12)


def slider() -> pz.Model:
    """Turn, slide, turn, slide: a column of either kind before and behind the other."""
    builder = pz.ModelBuilder("slider")
    up = pz.SE3.from_parts([0.1, 0.0, 0.3])
    builder.joint("swing", "revolute", parent="world", child="a", axis=[0.0, 0.0, 1.0])
    builder.joint("lift", "prismatic", parent="a", child="b", axis=[0.0, 0.6, 0.8], origin=up)
    builder.joint("bend", "revolute", parent="b", child="c", axis=[0.0, 1.0, 0.0], origin=up)
    builder.joint("reach", "prismatic", parent="c", child="d", axis=[1.0, 0.0, 0.0], origin=up)
    return builder.build()


def at_target(model: pz.Model, frame: str, links: list[str], q: Array, target: Array) -> Array:
    """v x (t - p) for joints that turn and v for those that slide, from the poses of the links that they move."""
    out = []
    for joint, link in zip(model.joint_names, links, strict=True):
        pose, at = model.pose(link, q), model.joint(joint)
        axis = pose.rotation.matrix() @ np.array(at.axis)
        out.append(axis if at.kind is pz.JointKind.PRISMATIC else np.cross(axis, target - pose.xyz))
    return np.array(out).T


@pytest.mark.parametrize("seed", range(10))
def test_columns_at_the_target_are_those_of_the_axes_there(seed: int) -> None:
    model = slider()
    task, rng = pz.PositionTask("d"), np.random.default_rng(seed)
    settings: dict[str, Any] = {"damping": LAMBDA, "max_error": None, "max_step": math.inf}
    at_goal = pz.Tracker(model, task, pz.methods.DampedLeastSquares(jacobian="target", **settings))
    plain = pz.Tracker(model, task, pz.methods.DampedLeastSquares(**settings))
    q = rng.uniform(-1.0, 1.0, 4)
    here = np.array(model.pose("d", q).xyz)
    target = here + rng.normal(size=3)
    jacobian = at_target(model, "d", ["a", "b", "c", "d"], q, target)
    assert at_goal.step(q, target) - q == pytest.approx(damped(jacobian, target - here), abs=1e-12)
    usual = at_target(model, "d", ["a", "b", "c", "d"], q, here)
    assert pz.Solver(model, task).linearise(q, target)[1] == pytest.approx(usual, abs=1e-12)
    assert jacobian[:, [1, 3]] == pytest.approx(usual[:, [1, 3]], abs=0.0)
    near = here + 1e-7 * rng.normal(size=3)
    assert at_goal.step(q, near) - q == pytest.approx(plain.step(q, near) - q, abs=1e-12)


def test_columns_at_the_targets_of_several_effectors_stay_apart() -> None:
    """Each effector has its own target; joints of the other arm still have no column."""
    ik = tracker(jacobian="target")
    for q, targets in poses(10):
        jacobian = np.zeros((6, 7))
        for i, arm in enumerate(((0, 1, 3, 5), (0, 2, 4, 6))):
            for j in arm:
                pose, at = Y.pose(f"link{j}", q), Y.joint(f"j{j}")
                axis = pose.rotation.matrix() @ np.array(at.axis)
                jacobian[3 * i : 3 * i + 3, j] = np.cross(axis, targets[i] - pose.xyz)
        e, _ = rows(q, targets)
        assert ik.step(q, targets) - q == pytest.approx(damped(jacobian, e), abs=1e-10)
