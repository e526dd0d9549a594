"""Every method keeps limits of swing and twist: after each step, from any start, no faster than the joints may go."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import poise as pz
from poise.methods.registry import METHODS

pytestmark = pytest.mark.filterwarnings("error")
KEEPING = [name for name, kind in METHODS.items() if kind.capabilities.limits]


def at(x: float) -> pz.SE3:
    return pz.SE3.from_parts([x, 0.0, 0.0])


def arm(speed: float | None = None) -> pz.Model:
    """A shoulder that goes farther forth than back, an elbow that is a hinge and twists, and a wrist."""
    b = pz.ModelBuilder("arm")
    b.joint(
        "shoulder", "spherical", parent="base", child="upper", axis=(1, 0, 0), swing=((-0.3, 1.2), (-0.5, 0.8)),
        twist=(-0.5, 0.2), velocity=speed,
    )  # fmt: skip
    b.joint(
        "elbow", "spherical", parent="upper", child="fore", axis=(1, 0, 0), across=(0, 0, 1),
        swing=((0.0, 2.4), (0.0, 0.0)), twist=(-0.3, 0.3), origin=at(0.3), velocity=speed,
    )  # fmt: skip
    b.joint(
        "wrist", "spherical", parent="fore", child="hand", axis=(1, 0, 0), swing=(1.2, 0.5), origin=at(0.3),
        velocity=speed,
    )  # fmt: skip
    b.frame("palm", link="hand", origin=at(0.1))
    return b.build()


ARM = arm()


def neck(swing: object, twist: object) -> pz.Model:
    b = pz.ModelBuilder("neck")
    b.joint("neck", "spherical", parent="base", child="head", swing=swing, twist=twist)
    return b.build()


def targets(model: pz.Model, count: int, seed: int) -> np.ndarray:
    """(count, 3) places of the palm, every third of them out of reach."""
    found = model.poses(model.sample(count, seed=seed), ["palm"]).array[:, 0, :3].copy()
    found[::3] *= 1.7
    return found


@pytest.mark.parametrize("name", KEEPING)
def test_no_step_leaves_them(name: str) -> None:
    tracker = pz.Tracker(ARM, pz.PositionTask("palm"), name)
    q = ARM.sample(seed=1)
    for target in targets(ARM, 9, 2):
        for _ in range(12):
            q = tracker.step(q, target)
            assert ARM.within_limits(q)


@pytest.mark.parametrize("name", ["dls", "sdls", "qp", "priority", "lm", "extended", "filtered", "ccd"])
def test_what_can_be_reached_is_reached_along_the_borders(name: str) -> None:
    tracker = pz.Tracker(ARM, pz.PositionTask("palm"), name)
    q, reached = ARM.sample(seed=1), 0
    goals = ARM.poses(ARM.sample(20, seed=2), ["palm"]).array[:, 0, :3]
    for goal in goals:
        for _ in range(200):
            q = tracker.step(q, goal)
        reached += bool(np.linalg.norm(ARM.pose("palm", q).xyz - goal) < 1e-6)
    assert reached >= 19


SWING, TWIST = ((-0.2, 0.9), (-0.3, 0.5)), (-0.4, 0.7)


@cache
def looks() -> np.ndarray:
    """(k, 4) quaternions of all that a neck within these can do, a degree apart."""
    angle, radius = np.meshgrid(np.linspace(0.0, 2.0 * math.pi, 361), np.linspace(0.0, 1.0, 21), indexing="ij")
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    x, y = np.where(x < 0.0, 0.2, 0.9) * x, np.where(y < 0.0, 0.3, 0.5) * y
    swings = Rotation.from_rotvec(np.stack([x, y, 0.0 * x], -1).reshape(-1, 3))
    turns = [Rotation.from_rotvec([0.0, 0.0, t]) for t in np.linspace(*TWIST, 45)]
    return np.vstack([(swings * turn).as_quat() for turn in turns])


@pytest.mark.parametrize("name", ["dls", "qp", "priority"])
def test_at_rest_a_head_looks_as_nearly_as_it_can(name: str) -> None:
    model = neck(SWING, TWIST)
    for seed in range(4):
        wanted = Rotation.from_rotvec(Rotation.random(random_state=seed).as_rotvec() * 0.6)
        tracker = pz.Tracker(model, pz.OrientationTask("head"), name)
        q = model.home
        for _ in range(400):
            q = tracker.step(q, pz.SO3.from_matrix(wanted.as_matrix()))
        assert model.within_limits(q)
        left = (wanted.inv() * Rotation.from_quat(q[[1, 2, 3, 0]])).magnitude()
        assert left <= 2.0 * math.acos(min(np.abs(looks() @ wanted.as_quat()).max(), 1.0)) + 2e-3


@pytest.mark.parametrize("updates", [1, 3])
@pytest.mark.parametrize("name", ["dls", "qp", "sdls"])
def test_speeds_are_kept_with_them(name: str, updates: int) -> None:
    model, dt = arm(speed=2.0), 0.02
    tracker = pz.Tracker(model, pz.PositionTask("palm"), name, dt=dt, updates=updates)
    q = model.sample(seed=5)
    for target in targets(model, 12, 6):
        for _ in range(8):
            after = tracker.step(q, target)
            assert model.within_limits(after)
            assert np.abs(model.difference(q, after)).max() <= 2.0 * dt * (1.0 + 1e-9)
            q = after


@pytest.mark.parametrize("name", ["dls", "qp"])
def test_what_starts_outside_comes_back_no_faster_than_it_may(name: str) -> None:
    model, dt = arm(speed=2.0), 0.02
    q = model.normalize(model.neutral + 0.6 * np.random.default_rng(3).normal(size=model.nq))
    assert not model.within_limits(q)
    assert model.within_limits(pz.Tracker(model, pz.PositionTask("palm"), name).step(q, [0.5, 0.1, 0.0]))
    tracker = pz.Tracker(model, pz.PositionTask("palm"), name, dt=dt)
    for _ in range(150):
        after = tracker.step(q, [0.5, 0.1, 0.0])
        assert np.abs(model.difference(q, after)).max() <= 2.0 * dt * (1.0 + 1e-9)
        q = after
    assert model.within_limits(q)


@pytest.mark.parametrize("name", ["dls", "qp"])
def test_characters_keep_them_side_by_side(name: str) -> None:
    q, steps = ARM.sample(9, seed=7), 30
    ways = np.stack([np.repeat(targets(ARM, 5, 8 + c), 6, axis=0) for c in range(9)])[:, :, None]
    tracker = pz.Tracker(ARM, pz.PositionTask("palm"), name)
    path = tracker.rollout(q, ways)
    assert ARM.within_limits(path)
    for c in (0, 8):
        alone = pz.Tracker(ARM, pz.PositionTask("palm"), name)
        at_last = q[c]
        for k in range(steps):
            at_last = alone.step(at_last, ways[c, k])
        assert np.abs(path[c, -1] - at_last).max() < 1e-6


angles = st.one_of(st.just(0.0), st.floats(1e-3, math.pi))


@settings(max_examples=60)
@given(
    ends=st.tuples(angles, angles, angles, angles),
    twist=st.tuples(st.floats(-3.0, 3.0), st.floats(0.0, 3.0)),
    seed=st.integers(0, 10**6),
    name=st.sampled_from(["dls", "qp", "priority"]),
)
def test_limits_of_any_shape_are_kept(
    ends: tuple[float, ...], twist: tuple[float, float], seed: int, name: str
) -> None:
    low, width = twist
    model = neck(((-ends[0], ends[1]), (-ends[2], ends[3])), (low, low + width))
    tracker = pz.Tracker(model, pz.OrientationTask("head"), name)
    q = model.sample(seed=seed)
    for turn in Rotation.random(5, random_state=seed):
        for _ in range(4):
            q = tracker.step(q, pz.SO3.from_matrix(turn.as_matrix()))
            assert model.within_limits(q)


def guarded() -> pz.Model:
    b = pz.ModelBuilder("arm")
    b.joint("shoulder", "spherical", parent="base", child="upper", axis=(1, 0, 0), swing=1.0, twist=(-0.5, 0.5))
    b.joint("elbow", "spherical", parent="upper", child="fore", axis=(1, 0, 0), swing=(1.5, 0.2), origin=at(0.3))
    b.frame("palm", link="fore", origin=at(0.3))
    b.shape("fore", pz.Capsule([0.0, 0.0, 0.0], [0.3, 0.0, 0.0], 0.04))
    return b.build()


def test_shapes_stay_apart_within_them() -> None:
    model = guarded()
    world = pz.World()
    world.add("ball", pz.Sphere((0.45, 0.2, 0.0), 0.1))
    limit = pz.CollisionLimit(world, min_distance=0.01)
    tracker = pz.Tracker(model, pz.PositionTask("palm"), limits=[limit], dt=0.01)
    q = model.home
    for target in ([0.4, 0.4, 0.1], [0.3, 0.1, 0.45], [0.5, 0.3, -0.2], [-0.5, 0.2, 0.0]):
        for _ in range(60):
            q = tracker.step(q, target)
            assert model.within_limits(q)
            assert tracker.nearest.distance >= 0.01 - 1e-9


def test_a_task_that_is_not_required_is_lessened_within_them() -> None:
    rng, good = np.random.default_rng(0), 0
    for q in ARM.sample(12, seed=4):
        goal = 0.7 * rng.normal(size=3)
        tasks = [pz.PositionTask("hand", ARM.pose("hand", q).xyz), pz.PositionTask("palm", goal, required=False)]
        found = pz.solve(ARM, tasks, q0=q, seed=1)
        assert found.success
        assert ARM.within_limits(found.q)
        # A tracker finds nothing better nearby.
        tracker, there = pz.Tracker(ARM, tasks), found.q
        for _ in range(200):
            there = tracker.step(there)
        good += bool(found.errors[1].position <= np.linalg.norm(ARM.pose("palm", there).xyz - goal) + 1e-3)
    assert good >= 11


def test_what_is_at_its_limits_is_told() -> None:
    model = neck(((-0.2, 0.9), (0.0, 0.0)), (-0.4, 0.7))
    tracker, q = pz.Tracker(model, pz.OrientationTask("head")), model.home
    wanted = pz.SO3.from_matrix((Rotation.from_rotvec([1.5, 0, 0]) * Rotation.from_rotvec([0, 0, -1.0])).as_matrix())
    for _ in range(50):
        q = tracker.step(q, wanted)
    told = {limit.name: limit.bound for limit in tracker.active_limits}
    assert told == pytest.approx({"neck.swing": 0.9, "neck.twist": -0.4}, abs=1e-8)
    assert "neck.twist is at its limit, -0.4" in tracker.explain()
    found = pz.solve(model, pz.OrientationTask("head", wanted))
    assert "pushed against them: neck (swing, 0.9), neck (twist, -0.4)" in found.explain()


def test_paths_and_all_solutions_keep_them() -> None:
    for seed in (0, 3):
        ends = ARM.poses(ARM.sample(2, seed=seed), ["palm"]).array[:, 0, :3]
        path = pz.solve_path(ARM, pz.PositionTask("palm"), np.linspace(*ends, 12), seed=0)
        assert path.success
        assert ARM.within_limits(path.q)
    found = pz.solve_all(ARM, pz.PositionTask("palm", ARM.pose("palm", ARM.sample(seed=3)).xyz), samples=8)
    assert len(found) > 3
    assert ARM.within_limits(found.q)


@pytest.mark.parametrize("dt", [None, 0.02])
def test_loops_stay_closed_within_them(dt: float | None) -> None:
    """Two arms of two balls each hold one thing."""
    b = pz.ModelBuilder("both")
    for side, y in (("left", 0.2), ("right", -0.2)):
        names = [f"{side}_{part}" for part in ("upper", "fore")]
        for name, parent, origin in zip(
            names, ("base", names[0]), (pz.SE3.from_parts([0, y, 0]), at(0.3)), strict=True
        ):
            b.joint(
                name, "spherical", parent=parent, child=name, axis=(1, 0, 0), origin=origin, swing=(1.4, 1.9),
                twist=(-0.4, 0.4), velocity=3.0,
            )  # fmt: skip
        b.frame(f"{side}_hand", link=names[1], origin=at(0.3))
    model, loop = b.build(), pz.LoopTask("left_hand", "right_hand")
    hand = pz.PositionTask("left_hand")
    found = pz.solve(model, [pz.PositionTask("left_hand", [0.4, 0.0, 0.1]), loop])
    assert found.success
    assert model.within_limits(found.q)
    tracker, q = pz.Tracker(model, [hand, loop], dt=dt), found.q
    for target in ([0.45, 0.05, -0.1], [0.3, -0.4, 0.2], [0.2, 0.1, 0.5]):
        for _ in range(40):
            after = tracker.step(q, [target, None])
            assert model.within_limits(after)
            assert np.linalg.norm(model.pose("left_hand", after).xyz - model.pose("right_hand", after).xyz) < 2e-7
            assert dt is None or np.abs(model.difference(q, after)).max() <= 3.0 * dt * (1.0 + 1e-9)
            q = after
