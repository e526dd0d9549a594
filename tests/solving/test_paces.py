"""Limits of speed, acceleration, jerk and twist in a Tracker: kept at every step, whatever method and target."""

import math
import pickle
from collections.abc import Sequence
from typing import Any

import daqp
import numpy as np
import numpy.typing as npt
import pytest
from support.refusals import refused

import poise as pz
from poise.robots.planar import planar

Array = npt.NDArray[np.float64]
DT = 0.002
FAST, GENTLE = [pz.AccelerationLimit(20.0)], [pz.AccelerationLimit(20.0), pz.JerkLimit(600.0)]
PANDA, HAND = pz.load("panda"), pz.PoseTask("panda_hand")
POSED = [name for name, kind in pz.methods.METHODS.items() if kind.capabilities.tasks != "positions"]


def wanderer(*, follower: bool = True) -> pz.Model:
    """A free base, a ball and hinges, one of which another follows."""
    b = pz.ModelBuilder("wanderer")
    b.joint("base", "floating", parent="world", child="a", velocity=[1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
    ahead = pz.SE3.from_parts([0.4, 0.0, 0.0])
    b.joint("ball", "spherical", parent="a", child="b", origin=ahead, velocity=[3.0, 2.7, 2.3])
    b.joint("hinge", "revolute", parent="b", child="c", origin=ahead, axis=(0, 1, 0), limits=(-1, 1), velocity=2.3)
    mimic = pz.Mimic(joint="hinge", multiplier=-1.5) if follower else None
    b.joint("wrist", "revolute", parent="c", child="d", origin=ahead, axis=(1, 0, 0), velocity=4.0, mimic=mimic)
    b.frame("tip", link="d", origin=pz.SE3.from_parts([0.2, 0.1, 0.0]))
    return b.build()


def flat() -> pz.Model:
    """A vehicle on a plane with an arm."""
    b = pz.ModelBuilder("flat")
    b.joint("base", "planar", parent="world", child="a", velocity=[1.5, 1.5, 2.0])
    ahead = pz.SE3.from_parts([0.4, 0.0, 0.2])
    for i, (parent, child) in enumerate([("a", "b"), ("b", "c"), ("c", "d")]):
        b.joint(f"j{i}", "revolute", parent=parent, child=child, origin=ahead, axis=(0, 1, 0), limits=(-1.5, 1.5),
                velocity=3.0)  # fmt: skip
    b.frame("tip", link="d", origin=ahead)
    return b.build()


ROBOTS = {"panda": (PANDA, "panda_hand"), "planar": (planar(4), "tool"), "wanderer": (wanderer(), "tip")}


def motion(model: pz.Model, path: Array, dt: float = DT) -> tuple[Array, Array, Array]:
    """(steps, nv) velocities, accelerations and jerks of a path that begins at rest."""
    v = model.difference(path[:-1], path[1:]) / dt
    a = np.diff(v, axis=0, prepend=0.0 * v[:1]) / dt
    return v, a, np.diff(a, axis=0, prepend=0.0 * a[:1]) / dt


def keeps(model: pz.Model, path: Array, acceleration: Any = math.inf, jerk: Any = math.inf, dt: float = DT) -> None:
    """No limit is exceeded but by what the rounding of positions makes of it."""
    v, a, j = motion(model, path, dt)
    rounding = 2e-15 * max(1.0, float(np.abs(path).max()))
    assert np.isfinite(path).all()
    assert (path >= model.lower).all()
    assert (path <= model.upper).all()
    assert (np.abs(v) <= model.velocity * (1.0 + 1e-9) + rounding / dt).all()
    assert (np.abs(a) <= acceleration * (1.0 + 1e-9) + 2.0 * rounding / dt**2).all()
    assert (np.abs(j) <= jerk * (1.0 + 1e-9) + 4.0 * rounding / dt**3).all()


def run(ik: pz.Tracker, q: Array, goals: Sequence[Any], steps: int) -> Array:
    """(1 + steps * goals, nq) the way with so many steps to each goal, a pose or a place."""
    path = [q]
    for goal in goals:
        for _ in range(steps):
            path.append(ik.step(path[-1], goal).copy())
    return np.array(path)


@pytest.mark.parametrize("limits", [FAST, GENTLE])
@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("name", POSED)
def test_no_limit_is_exceeded_whatever_jumps(name: str, robot: str, limits: Any) -> None:
    model, tip = ROBOTS[robot]
    try:
        ik = pz.Tracker(model, pz.PositionTask(tip), name, dt=DT, limits=limits)
    except ValueError:
        pytest.skip("the method cannot move this robot")
    for seed in range(3):
        goals = [model.pose(tip, q).xyz * (1.5 if k == 1 else 1.0) for k, q in enumerate(model.sample(5, seed=seed))]
        ik.reset()
        path = run(ik, model.sample(seed=seed + 50), goals, 60 + 40 * seed)
        keeps(model, path, 20.0 if robot != "wanderer" else follower_limit(model, 20.0), jerk_of(model, limits))


def follower_limit(model: pz.Model, most: float) -> Array:
    """(nv,) of the wanderer, whose wrist turns 1.5 times as fast as the hinge that it follows."""
    found = np.full(model.nv, most)
    found[model.velocity_index("hinge")] = most / 1.5
    return found


def jerk_of(model: pz.Model, limits: Any) -> Any:
    if limits is FAST:
        return math.inf
    return follower_limit(model, 600.0) if model.name == "wanderer" else 600.0


@pytest.mark.parametrize("limits", [FAST, GENTLE])
@pytest.mark.parametrize("name", ["dls", "qp", "priority", "lm", "jt"])
def test_several_updates_keep_them_over_the_whole_step(name: str, limits: Any) -> None:
    for model, tip in (ROBOTS["panda"], ROBOTS["wanderer"]):
        ik = pz.Tracker(model, pz.PoseTask(tip), name, dt=DT, updates=5, limits=limits)
        goals = [model.pose(tip, q) for q in model.sample(4, seed=2)]
        path = run(ik, model.sample(seed=1), goals, 80)
        keeps(model, path, follower_limit(model, 20.0) if tip == "tip" else 20.0, jerk_of(model, limits))


@pytest.mark.parametrize("limits", [FAST, GENTLE])
@pytest.mark.parametrize("name", ["dls", "sdls", "lm", "jt"])
def test_eight_lanes_keep_them_and_go_where_each_goes_alone(name: str, limits: Any) -> None:
    for model, tip in (ROBOTS["panda"], ROBOTS["wanderer"]):
        ik = pz.Tracker(model, pz.PoseTask(tip), name, dt=DT, limits=limits)
        starts = model.sample(11, seed=3)
        goals = np.stack([np.repeat(model.pose(tip, model.sample(3, seed=c)).array, 30, axis=0) for c in range(11)])
        ways = ik.rollout(starts, goals[:, :, None])
        for start, way in zip(starts, ways, strict=True):
            path = np.vstack([start, way])
            keeps(model, path, follower_limit(model, 20.0) if tip == "tip" else 20.0, jerk_of(model, limits))
        if name != "lm":  # which judges its steps, and may judge one that gains nothing by its rounding
            alone = np.array([ik.rollout(start, goal[:, None]) for start, goal in zip(starts, goals, strict=True)])
            apart = np.abs(alone - ways).max(axis=(1, 2))
            # A step in which rounding decides whether the hardest jerk begins leads a little aside, in a few lanes.
            assert np.quantile(apart, 0.6) < 1e-6
            assert apart.max() < (0.03 if limits is GENTLE else 1e-6)
        ik.reset()
        path = zip([starts[0], *ways[0, :-1]], map(pz.SE3, goals[0]), strict=True)
        apart = np.abs(np.array([ik.step(q, goal) for q, goal in path]) - ways[0]).max(axis=1)
        assert np.quantile(apart, 0.6) < 1e-6
        assert apart.max() < 1e-3


@pytest.mark.parametrize("limits", [FAST, GENTLE])
@pytest.mark.parametrize("name", ["dls", "sdls", "lm", "qp", "priority"])
def test_a_target_is_reached_and_the_arm_rests_there(name: str, limits: Any) -> None:
    ik = pz.Tracker(PANDA, HAND, name, dt=DT, limits=limits)
    for seed in range(4):
        goal = np.clip(PANDA.home + np.random.default_rng(seed).normal(size=7) * 0.4, PANDA.lower + 0.1,
                       PANDA.upper - 0.1)  # fmt: skip
        target = PANDA.pose("panda_hand", goal)
        ik.reset()
        path = run(ik, np.array(PANDA.home), [target], 1500)
        keeps(PANDA, path, 20.0, 600.0 if limits is GENTLE else math.inf)
        assert PANDA.pose("panda_hand", path[-1]).xyz == pytest.approx(target.xyz, abs=1e-6)
        assert np.abs(np.diff(path[-50:], axis=0)).max() < 1e-8
        if limits is FAST:
            assert np.abs(np.diff(path, axis=0)).sum() < 2.0 * np.abs(path[-1] - path[0]).sum(), "no swinging"


def test_one_joint_brakes_for_its_limit_as_late_as_can_be() -> None:
    """Beside the fastest way, found by trying each step from the largest down."""
    model = pz.ModelBuilder("one")
    model.joint("j", "revolute", parent="world", child="a", limits=(-2.0, 1.0), velocity=3.0)
    model.frame("tip", link="a", origin=pz.SE3.from_parts([1.0, 0.0, 0.0]))
    arm, change = model.build(), 20.0 * DT**2
    x, v, best = 0.0, 0.0, []
    for _ in range(400):
        tried = np.linspace(v + change, v - change, 2001)[:, None]
        rest = x + np.maximum(tried - change * np.arange(90), 0.0).sum(axis=1)
        v = float(tried[(rest <= 1.0) & (tried[:, 0] <= 3.0 * DT)][0, 0]) if x < 1.0 - 1e-6 else 0.0
        x += v
        best.append(x)
    for name in ("dls", "qp"):
        ik = pz.Tracker(arm, pz.PositionTask("tip"), name, dt=DT, limits=FAST)
        path = run(ik, np.zeros(1), [np.array([math.cos(1.8), math.sin(1.8), 0.0])], 700)[:, 0]
        keeps(arm, path[:, None], 20.0)
        np.testing.assert_allclose(path[1:401], best, rtol=0, atol=2e-4)
        assert path[-1] == pytest.approx(1.0, abs=1e-12)


def braking(room: Array, slowing: float) -> Array:
    """The largest speed from which the way to rest fits the room."""
    k = np.floor((np.sqrt(1.0 + 8.0 * room / slowing) - 1.0) / 2.0)
    return (room + slowing * k * (k + 1.0) / 2.0) / (k + 1.0)


def test_the_step_of_qp_is_the_minimum_within_the_box() -> None:
    """daqp on the same box of speeds, accelerations, and braking for limits; later steps keep it too.

    What the step is to take of the errors is that share of the step without accelerations after which all joints can
    still stop at the target.
    """
    method = pz.methods.BoundedLeastSquares(damping=0.1, max_error=None, max_step=math.inf)
    change, none = 20.0 * DT**2, np.zeros(7, np.int32)
    ik, solver = pz.Tracker(PANDA, HAND, method, dt=DT, limits=FAST, settle=False), pz.Solver(PANDA, HAND)
    for seed in range(20):
        ik.reset()
        q, last, target = PANDA.sample(seed=seed), np.zeros(7), PANDA.pose("panda_hand", PANDA.sample(seed=seed + 100))
        for k in range(60):
            most, near = np.minimum(last + change, PANDA.velocity * DT), np.maximum(last - change, -PANDA.velocity * DT)
            high, low = (
                np.minimum(most, braking(PANDA.upper - q, change)),
                np.maximum(near, -braking(q - PANDA.lower, change)),
            )
            after = ik.step(q, target).copy()
            step = after - q
            assert (step <= high + 1e-10).all()
            assert (step >= low - 1e-10).all()
            if k == 0:
                e, j = solver.linearise(q, target)
                matrix, slope = j.T @ j + 0.01 * np.eye(7), -j.T @ e
                free, _, flag, _ = daqp.solve(
                    matrix, slope, np.zeros((0, 7)), PANDA.upper - q, PANDA.lower - q, none, primal_tol=1e-12
                )
                assert flag > 0
                share = braking(np.array(1.0), 0.7 * change / np.abs(free).max())
                slope = -j.T @ j @ free * share
                best, _, flag, _ = daqp.solve(matrix, slope, np.zeros((0, 7)), high, low, none, primal_tol=1e-12)
                assert flag > 0
                np.testing.assert_allclose(step, best, rtol=0, atol=1e-9)
            q, last = after, step


@pytest.mark.parametrize("limits", [[], FAST, GENTLE])
@pytest.mark.parametrize("name", ["dls", "qp", "priority", "sdls", "ccd"])
def test_a_start_outside_comes_back_at_bounded_speed(name: str, limits: Any) -> None:
    task = pz.PositionTask("panda_hand")
    try:
        ik = pz.Tracker(PANDA, task, name, dt=DT, limits=limits)
    except ValueError:
        pytest.skip("the method does not keep limits")
    for seed in range(3):
        q = np.array(PANDA.sample(seed=seed))
        q[1], q[5] = PANDA.upper[1] + 0.3, PANDA.lower[5] - 0.2
        goal = PANDA.pose("panda_hand", PANDA.sample(seed=seed + 10)).xyz
        path = run(ik, q, [goal], 400)
        v, a, j = motion(PANDA, path)
        assert (np.abs(v) <= PANDA.velocity * (1.0 + 1e-9)).all()
        assert (np.abs(a) <= (20.0 if limits else math.inf) * (1.0 + 1e-9)).all()
        assert (np.abs(j) <= (600.0 if limits is GENTLE else math.inf) * (1.0 + 1e-6)).all()
        inside = [bool(PANDA.within_limits(x)) for x in path]
        assert all(inside[inside.index(True) :]), "once within, it stays"
        assert inside.index(True) * DT < 0.6
        ik.reset()


@pytest.mark.parametrize("updates", [1, 3])
def test_the_twist_of_a_free_base_is_bounded_as_a_length(updates: int) -> None:
    for model, limits in ((wanderer(), []), (wanderer(), FAST), (wanderer(), GENTLE), (flat(), []), (flat(), FAST)):
        also = [*limits, pz.TwistLimit(linear=0.5, angular=0.8)]
        for name in ("dls", "qp", "lm"):
            ik = pz.Tracker(model, pz.PoseTask("tip"), name, dt=DT, updates=updates, limits=also)
            far = model.pose("tip", model.home).xyz + np.array([3.0, 2.0, 0.0])
            goals = [pz.SE3.from_rotvec(far, [0.3, 2.0, 0.4]), model.pose("tip", model.home)]
            path = run(ik, np.array(model.home), goals, 150)
            v, a, _ = motion(model, path)
            n = 3 if model.name == "wanderer" else 2
            linear, angular = np.linalg.norm(v[:, :n], axis=1), np.linalg.norm(v[:, n : 2 * n - (n == 2)], axis=1)
            assert linear.max() <= 0.5 * (1.0 + 1e-9)
            assert angular.max() <= 0.8 * (1.0 + 1e-9)
            assert linear.max() > (0.28 if limits is GENTLE else 0.45)
            if limits:
                assert (np.abs(a) <= 20.0 * (1.0 + 1e-9)).all()


@pytest.mark.parametrize("limits", [[], FAST])
def test_eight_lanes_come_back_from_outside_and_keep_their_twists(limits: Any) -> None:
    model = wanderer(follower=False)
    also = [*limits, pz.TwistLimit(linear=0.5, angular=0.8)]
    ik = pz.Tracker(model, pz.PoseTask("tip"), "dls", dt=DT, limits=also)
    starts = model.sample(9, seed=1)
    hinge = model.index("hinge").start
    starts[:, hinge] = np.linspace(-1.5, 1.5, 9)
    goals = np.stack([np.repeat(model.pose("tip", model.sample(3, seed=c)).array, 100, axis=0) for c in range(9)])
    ways = ik.rollout(starts, goals[:, :, None])
    for start, way, goal in zip(starts, ways, goals, strict=True):
        path = np.vstack([start, way])
        v, a, _ = motion(model, path)
        assert (np.abs(v) <= model.velocity * (1.0 + 1e-9)).all()
        assert np.linalg.norm(v[:, :3], axis=1).max() <= 0.5 * (1.0 + 1e-9)
        assert np.linalg.norm(v[:, 3:6], axis=1).max() <= 0.8 * (1.0 + 1e-9)
        assert np.abs(a).max() <= (20.0 if limits else math.inf) * (1.0 + 1e-9)
        assert abs(path[-1, hinge]) <= 1.0
        np.testing.assert_allclose(ik.rollout(start, goal[:, None]), way, rtol=0, atol=1e-6)


def test_what_moves_no_task_stays_where_it_is() -> None:
    """A hinge beyond its limits that no task moves."""
    q = np.array(PANDA.home)
    q[6] = PANDA.upper[6] + 0.2
    task = pz.PositionTask("panda_link4", [0.2, 0.1, 0.6])
    assert pz.Tracker(PANDA, task, dt=DT).step(q)[6] == q[6]
    assert pz.Tracker(PANDA, task).step(q)[6] == PANDA.upper[6], "without a time there is no speed"


def test_limits_are_of_single_joints_too() -> None:
    limits: Any = [
        pz.VelocityLimit({"panda_joint1": 0.5}),
        pz.AccelerationLimit({"panda_joint1": 5.0, "panda_joint4": 8.0}),
        pz.JerkLimit(np.array([math.inf] * 6 + [200.0])),
    ]
    ik = pz.Tracker(PANDA, HAND, dt=DT, limits=limits)
    path = run(ik, np.array(PANDA.home), [PANDA.pose("panda_hand", q) for q in PANDA.sample(3, seed=5)], 150)
    v, a, j = motion(PANDA, path)
    assert 0.45 < np.abs(v[:, 0]).max() <= 0.5 * (1.0 + 1e-9)
    assert np.abs(a[:, 0]).max() <= 5.0 * (1.0 + 1e-9)
    assert np.abs(a[:, 3]).max() <= 8.0 * (1.0 + 1e-9)
    assert np.abs(a[:, 1]).max() > 100.0
    assert np.abs(j[:, 6]).max() <= 200.0 * (1.0 + 1e-6)
    of_ball = pz.AccelerationLimit({"ball": [5.0, 6.0, 7.0], "wrist": 3.0})
    model = wanderer()
    path = run(pz.Tracker(model, pz.PoseTask("tip"), dt=DT, limits=[of_ball]), np.array(model.home),
               [model.pose("tip", q) for q in model.sample(3, seed=5)], 100)  # fmt: skip
    a = motion(model, path)[1]
    assert (np.abs(a[:, model.velocity_index("ball")]).max(axis=0) <= np.array([5.0, 6.0, 7.0]) * (1.0 + 1e-9)).all()
    assert np.abs(a[:, model.velocity_index("hinge")]).max() == pytest.approx(2.0), "a follower's limit"


def test_the_velocity_is_that_of_the_last_step_and_reset_forgets_it() -> None:
    ik = pz.Tracker(PANDA, HAND, dt=DT, limits=FAST)
    assert (ik.velocity == 0.0).all()
    target = PANDA.pose("panda_hand", PANDA.sample(seed=1))
    path = run(ik, np.array(PANDA.home), [target], 40)
    assert ik.velocity == pytest.approx((path[-1] - path[-2]) / DT, abs=1e-9)
    assert np.abs(ik.velocity).max() > 0.5
    again = pickle.loads(pickle.dumps(ik))
    want = ik.step(path[-1], target).copy()
    assert (again.step(path[-1], target) == want).all(), "a copy takes the velocity along"
    ik.reset()
    assert (ik.velocity == 0.0).all()
    assert np.abs(ik.step(path[-1], target) - path[-1]).max() <= 20.0 * DT**2 * (1.0 + 1e-9), "from rest"
    with refused("no-dt"):
        _ = pz.Tracker(PANDA, HAND).velocity


def test_the_velocity_that_counts_is_the_commanded_one() -> None:
    """Encoders say a little else, and steps are still even."""
    rng = np.random.default_rng(0)
    ik = pz.Tracker(PANDA, HAND, dt=DT, limits=FAST)
    target = PANDA.pose("panda_hand", PANDA.sample(seed=1))
    q, last = np.array(PANDA.home), np.zeros(7)
    for _ in range(300):
        measured = q + 1e-5 * rng.normal(size=7)
        after = ik.step(measured, target).copy()
        v = (after - measured) / DT
        assert (np.abs(v - last) <= 20.0 * DT * (1.0 + 1e-9)).all()
        q, last = after, v


@pytest.mark.parametrize("kind", [pz.AccelerationLimit, pz.JerkLimit, pz.VelocityLimit])
def test_what_is_no_limit_is_refused(kind: Any) -> None:
    for wrong in (0.0, -1.0, math.nan, "fast", True, {"panda_joint1": -2.0}, [1.0, math.nan], {}):
        with pytest.raises(ValueError, match=f"{kind.__name__} (holds|names no joint)"):
            kind(wrong)
    with pytest.raises(pz.JointNotFound, match="has no joint 'panda_joint'"):
        pz.Tracker(PANDA, HAND, dt=DT, limits=[kind({"panda_joint": 1.0})])
    with pytest.raises(pz.ShapeError, match=r"or 7 \(nv of panda\), got shape \(3,\)"):
        pz.Tracker(PANDA, HAND, dt=DT, limits=[kind([1.0, 2.0, 3.0])])
    with pytest.raises(pz.ShapeError, match="of 'panda_joint1' must have a number or 1"):
        pz.Tracker(PANDA, HAND, dt=DT, limits=[kind({"panda_joint1": [1.0, 2.0]})])
    with pytest.raises(ValueError, match=f"{kind.__name__} needs the time of a step: give the Tracker dt"):
        pz.Tracker(PANDA, HAND, limits=[kind(1.0)])


def test_a_twist_that_is_none_is_refused() -> None:
    with refused("empty"):
        pz.TwistLimit()
    for wrong in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="linear"):
            pz.TwistLimit(linear=wrong)
    with refused("no-such-part"):
        pz.Tracker(PANDA, HAND, dt=DT, limits=[pz.TwistLimit(1.0)])
    with refused("not-supported", "'hinge'"):
        pz.Tracker(wanderer(), pz.PoseTask("tip"), dt=DT, limits=[pz.TwistLimit(1.0, joint="hinge")])
    with refused("no-dt", "TwistLimit"):
        pz.Tracker(wanderer(), pz.PoseTask("tip"), limits=[pz.TwistLimit(1.0)])


def test_an_acceleration_below_rounding_is_refused() -> None:
    with pytest.raises(ValueError, match=r"acceleration of 'panda_joint1' changes the way of a step by 4\.0e-18"):
        pz.Tracker(PANDA, HAND, dt=DT, limits=[pz.AccelerationLimit(1e-12)])
