"""A Tracker that goes on from its own command, and how far that may be ahead of the measured q."""

import math
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from simulated import Simulated
from support.mechanisms import four_bar, gap
from support.refusals import refused

import poise as pz

Array = npt.NDArray[np.float64]
PANDA = pz.load("panda").with_shapes({"panda_hand": pz.Sphere((0.0, 0.0, 0.05), 0.1)})
HAND = pz.PoseTask("panda_hand")
HOME = np.array(PANDA.home)
HERE = PANDA.pose("panda_hand", HOME)
DT = 0.005
FREE = math.inf
LIMITS: dict[str, list[Any]] = {
    "none": [],
    "accelerations": [pz.AccelerationLimit(15.0)],
    "jerks": [pz.AccelerationLimit(15.0), pz.JerkLimit(600.0)],
    "shapes": [pz.CollisionLimit(pz.World({"ball": pz.Sphere((0.5, 0.45, 0.5), 0.1)}), self_collision=False)],
}


def beside(*xyz: float) -> pz.SE3:
    return pz.SE3.from_parts(HERE.xyz + np.array(xyz), HERE.rotation)


def around(tick: int) -> pz.SE3:
    return beside(0.05 * np.sin(0.01 * tick), 0.2 * np.sin(0.006 * tick), 0.0)


def ahead(q: Any, measured: Any) -> tuple[float, float, float]:
    """The largest of the joints [rad], and of the hand [m, rad], of one q or of many."""
    one, other = PANDA.pose("panda_hand", np.array(q)), PANDA.pose("panda_hand", np.array(measured))
    turn = 2.0 * np.arccos(np.minimum(1.0, np.abs(np.sum(one.wxyz * other.wxyz, axis=-1))))
    off = np.linalg.norm(one.xyz - other.xyz, axis=-1)
    return float(np.abs(np.array(q) - measured).max()), float(np.max(off)), float(np.max(turn))


def test_a_step_without_a_q_begins_where_the_last_one_led() -> None:
    told, left = pz.Tracker(PANDA, HAND, dt=DT), pz.Tracker(PANDA, HAND, dt=DT)
    q = told.step(HOME, around(0))
    assert np.array_equal(left.step(None, around(0), measured=HOME), q)
    for tick in range(1, 50):
        q = told.step(q, around(tick))
        assert np.array_equal(left.step(None, around(tick)), q)


def test_the_first_step_begins_at_the_measured_q_and_so_does_the_first_after_a_reset() -> None:
    loop = pz.Tracker(PANDA, HAND, dt=DT)
    with pytest.raises(ValueError, match="q is None, and no step has led anywhere yet: give q, or measured"):
        loop.step(None, around(0))
    for seed in (1, 2):
        start = PANDA.sample(seed=seed)
        assert np.abs(loop.step(None, around(0), measured=start) - start).max() <= PANDA.velocity.max() * DT + 1e-9
        loop.reset()
    with refused("needs", "q"):
        loop.step(None, around(0))


@pytest.mark.parametrize(
    ("method", "limits"),
    [(m, limits) for m in ("dls", "qp", "priority") for limits in LIMITS if (m, limits) != ("dls", "shapes")],
)
def test_a_limit_that_is_not_reached_changes_no_bit(method: str, limits: str) -> None:
    settings: Any = {"dt": DT, "limits": LIMITS[limits]}
    bare, bounded = pz.Tracker(PANDA, HAND, method, **settings), pz.Tracker(PANDA, HAND, method, **settings)
    q, measured = HOME, HOME
    for tick in range(160):
        q = bare.step(q, around(tick))
        assert np.array_equal(bounded.step(None, around(tick), measured=measured), q)
        assert not [limit for limit in bounded.active_limits if limit.kind == "following error"]
        measured = measured + 0.1 * (q - measured)  # a servo with a delay of 10 steps


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize(
    "following_error",
    [pz.FollowingErrorLimit(0.1, distance=FREE, angle=FREE), pz.FollowingErrorLimit(FREE, distance=0.05, angle=FREE)],
)
def test_an_arm_that_stands_still_keeps_its_command_within_its_limit(
    following_error: pz.FollowingErrorLimit, limits: str
) -> None:
    loop = pz.Tracker(PANDA, HAND, dt=DT, limits=LIMITS[limits], following_error=following_error)
    joints, way = 0.1 if following_error.distance == FREE else FREE, following_error.distance
    goal, path, velocity = beside(0.1, 0.4, -0.1), [], np.zeros(7)
    for _ in range(250):
        path.append(loop.step(None, goal, measured=HOME))
        assert (np.abs(loop.velocity) <= PANDA.velocity + 1e-9).all()
        if limits in ("accelerations", "jerks"):
            assert np.abs(loop.velocity - velocity).max() <= 15.0 * DT * (1 + 1e-9)
        velocity = loop.velocity
        if limits == "shapes":
            assert loop.nearest is not None
            assert loop.nearest.distance >= -1e-9
    far, off, _ = ahead(path, HOME)
    # Joints brake in time; of a frame straight steps foretell where it will be.
    assert far <= joints + 1e-9
    assert off <= way + (1e-5 if limits in ("none", "shapes") else 5e-3)
    held = [limit for limit in loop.active_limits if limit.kind == "following error"]
    assert held
    assert all(abs(limit.bound) in (0.1, 0.05) for limit in held)
    assert "waits for the measured q" in loop.explain()
    assert "brakes" not in loop.explain()
    if limits != "jerks":
        assert np.abs(velocity).max() < 1e-6


def test_the_command_goes_on_when_the_arm_does() -> None:
    loop = pz.Tracker(PANDA, HAND, dt=DT, following_error=pz.FollowingErrorLimit(0.1, distance=0.05, angle=0.1))
    goal, measured = beside(0.1, 0.3, -0.1), HOME
    for tick in range(1200):
        q = loop.step(None, goal, measured=measured)
        far, off, turn = ahead(q, measured)
        assert far <= 0.1 + 1e-9
        assert off <= 0.05 + 1e-3
        assert turn <= 0.1 + 2e-3
        if tick > 200:
            measured = measured + 0.05 * (q - measured)
    assert loop.errors[0].position < 1e-6
    assert not loop.active_limits
    assert np.linalg.norm(PANDA.pose("panda_hand", measured).xyz - goal.xyz) < 1e-6


@pytest.mark.parametrize("limits", ["none", "accelerations", "jerks"])
@pytest.mark.parametrize(
    "following_error",
    [pz.FollowingErrorLimit(0.2, distance=FREE, angle=FREE), pz.FollowingErrorLimit(FREE, distance=0.1, angle=0.3)],
)
def test_a_command_comes_back_to_an_arm_that_was_pushed_away(
    following_error: pz.FollowingErrorLimit, limits: str
) -> None:
    loop = pz.Tracker(PANDA, HAND, dt=DT, limits=LIMITS[limits], following_error=following_error)
    loop.step(None, HERE, measured=HOME)
    pushed, velocity = HOME + np.array([0.8, 0.3, -0.5, 0.2, 0.4, 0.1, -0.6]), loop.velocity
    for _ in range(400):
        q = loop.step(None, HERE, measured=pushed)
        assert (np.abs(loop.velocity) <= PANDA.velocity + 1e-9).all()
        if limits != "none":
            assert np.abs(loop.velocity - velocity).max() <= 15.0 * DT * (1 + 1e-9)
        velocity = loop.velocity
    far, off, turn = ahead(q, pushed)
    if following_error.distance == FREE:
        assert far <= 0.2 + (1e-9 if limits != "jerks" else 0.01)
    else:
        assert off <= 0.1 + 5e-3
        assert turn <= 0.3 + 0.015
    assert [limit for limit in loop.active_limits if limit.kind == "following error"]


def test_some_joints_have_a_limit_of_their_own() -> None:
    loop = pz.Tracker(
        PANDA, HAND, dt=DT, following_error=pz.FollowingErrorLimit({"panda_joint1": 0.05}, distance=FREE, angle=FREE)
    )
    for _ in range(400):
        q = loop.step(None, beside(0.1, 0.4, -0.1), measured=HOME)
    assert abs(q[0] - HOME[0]) == pytest.approx(0.05, abs=1e-9)
    assert np.abs(q - HOME)[1:].max() > 0.2
    (limit,) = [limit for limit in loop.active_limits if limit.kind == "following error"]
    assert (limit.name, limit.value, limit.bound) == ("panda_joint1", pytest.approx(0.05), 0.05)


def test_a_frame_that_is_seen_from_a_base_is_ahead_as_seen_from_there() -> None:
    """Joints below the base take it as far as they like: it is the base that they lead."""
    base, tool = "panda_link3", pz.SE3([0.0, 0.0, 0.2, 1, 0, 0, 0])
    task = pz.PoseTask("panda_hand", base=base, offset=tool)
    loop = pz.Tracker(PANDA, task, dt=DT, following_error=pz.FollowingErrorLimit(FREE, distance=0.05, angle=0.2))
    start, goal, seen = HOME + 0.1, PANDA.clip(HOME + 0.6), HOME.copy()
    seen[:3] = [1.0, -0.5, 1.5]

    def hand(q: Array) -> pz.SE3:
        return PANDA.pose(base, q).inverse() @ PANDA.pose("panda_hand", q) @ tool

    q = loop.step(start, hand(goal), measured=seen)
    for _ in range(300):
        q = loop.step(None, hand(goal), measured=seen)
    away = hand(seen).inverse() @ hand(q)
    far, turn = np.linalg.norm(away.xyz), np.linalg.norm(away.rotation.log())
    assert max(far / 0.05, turn / 0.2) == pytest.approx(1.0, abs=1e-4)
    np.testing.assert_array_equal(q[:3], start[:3])


def test_a_following_error_ends_where_the_limits_of_the_joints_do() -> None:
    """A measured q beyond them, as an encoder's zero can have it, draws the command to the limit at most."""
    loop = pz.Tracker(PANDA, HAND, dt=DT, following_error=pz.FollowingErrorLimit(0.1))
    beyond = HOME.copy()
    beyond[3] = PANDA.upper[3] + 0.5
    loop.step(HOME, HERE)
    for _ in range(400):
        q = loop.step(None, HERE, measured=beyond)
        assert PANDA.within_limits(q)
    assert q[3] == PANDA.upper[3]


@pytest.mark.parametrize("method", ["dls", "qp", "priority", "lm"])
def test_other_limits_hold_before_the_following_error(method: str) -> None:
    """Arms under tight jerks whose measured q lags, stops and is pushed, so that the limit of the following error moves
    like a wall."""
    rng = np.random.default_rng(0)
    for name, frame in [("panda", "panda_hand"), ("iiwa14", "iiwa_link_ee")] * 2:
        arm, jerk, acceleration, dt = pz.load(name), rng.uniform(5.0, 60.0), rng.uniform(1.0, 10.0), 0.01
        limits = [pz.AccelerationLimit(acceleration), pz.JerkLimit(jerk)]
        following_error = pz.FollowingErrorLimit(joints=rng.uniform(0.02, 0.4), distance=rng.uniform(0.02, 0.3))
        loop = pz.Tracker(arm, pz.PositionTask(frame), method, dt=dt, limits=limits, following_error=following_error)
        start = arm.sample(seed=rng)
        joint = rng.integers(arm.nq)
        start[joint] = arm.upper[joint] - 1e-3 if rng.random() < 0.5 else arm.lower[joint] + 1e-3
        path, measured, push, follows = [start], start, np.zeros(arm.nq), True
        for tick in range(300):
            if tick % 40 == 0:
                there = arm.pose(frame, arm.sample(seed=rng)).xyz
            if tick % 60 == 0:
                follows, push = rng.random() < 0.6, rng.normal(size=arm.nq) * (0.1 if rng.random() < 0.3 else 0.0)
            if follows:
                measured = measured + 0.1 * (path[-1] - measured)
            path.append(loop.step(None if tick else start, there, measured=arm.clip(measured + push)))
        assert all(arm.within_limits(q) for q in path)
        changes = np.diff(path, axis=0, prepend=[start])
        assert np.abs(np.diff(changes, axis=0)).max() <= acceleration * dt**2 * (1.0 + 1e-6)
        assert np.abs(np.diff(changes, 2, axis=0)).max() <= jerk * dt**3 * (1.0 + 1e-6) + 1e-14


def test_closed_loops_stay_closed_at_the_limit() -> None:
    bar = four_bar()
    start = pz.solve(bar, pz.JointCouplingTask({"crank": 1.0}, 1.0)).q
    loop = pz.Tracker(
        bar, pz.PositionTask("pen", weight=(1, 1, 0)), dt=0.01, following_error=pz.FollowingErrorLimit(0.2)
    )
    goal = bar.pose("pen", pz.solve(bar, pz.JointCouplingTask({"crank": 1.0}, 2.0), q0=start).q).xyz
    for _ in range(100):
        q = loop.step(None, goal, measured=start)
        assert gap(bar, q) < 1e-7
    assert 0.15 < np.abs(q - start).max() < 0.21


def test_a_tracker_that_was_pickled_goes_on_from_its_command() -> None:
    loop = pz.Tracker(PANDA, HAND, dt=DT, following_error=pz.FollowingErrorLimit(0.05))
    for _ in range(100):
        loop.step(None, beside(0.1, 0.4, -0.1), measured=HOME)
    twin = pickle.loads(pickle.dumps(loop))
    one, other = (some.step(None, beside(0.0, -0.4, 0.0), measured=HOME) for some in (loop, twin))
    assert np.array_equal(one, other)


def test_a_tracker_that_takes_over_goes_on_from_the_command_of_the_other() -> None:
    one, other = (pz.Tracker(PANDA, pz.PoseTask("panda_hand", gain=gain), dt=DT) for gain in (1.0, 0.5))
    other.take_over(one)
    with refused("needs"):
        other.step(None, around(0))
    for tick in range(50):
        q = one.step(None if tick else HOME, around(tick))
    other.take_over(one)
    found = other.step(None, around(50), measured=q - 0.05)
    other.take_over(one)
    assert np.array_equal(found, other.step(q, around(50)))
    other.reset()
    with refused("needs"):
        other.step(None, around(51))


@pytest.mark.parametrize("limits", ["none", "accelerations", "jerks"])
@pytest.mark.parametrize("dt", [0.002, 0.005, 0.02])
def test_limits_hold_from_the_last_step_of_a_tracker_to_the_next_of_another(limits: str, dt: float) -> None:
    before = pz.Tracker(PANDA, HAND, dt=DT, limits=LIMITS[limits])
    q = HOME
    for _ in range(30 if LIMITS[limits] else 3):
        q = before.step(q, beside(0.0, 0.4, -0.2))
    last = before.velocity
    assert np.abs(last).max() > 0.5
    after = pz.Tracker(PANDA, HAND, dt=dt, limits=LIMITS["accelerations"])
    after.take_over(before)
    for _ in range(20):
        q = after.step(q, beside(0.0, -0.4, 0.0))
        assert np.abs(after.velocity - last).max() <= 15.0 * dt * (1 + 1e-9)
        last = after.velocity


def test_a_tracker_without_times_has_no_velocities_to_take_over() -> None:
    timeless = pz.Tracker(PANDA, HAND)
    timeless.step(HOME, beside(0.0, 0.4, -0.2))
    with refused("no-dt"):
        pz.Tracker(PANDA, HAND, dt=DT, limits=LIMITS["accelerations"]).take_over(timeless)


def test_what_makes_no_sense_is_refused() -> None:
    for value in (0.0, -1.0, math.nan, True):
        with refused("not-positive", "FollowingErrorLimit"):
            pz.FollowingErrorLimit(value)
    with refused("not-positive", "distance"):
        pz.FollowingErrorLimit(distance=0)
    with refused("not-a-limit", "following_error"):
        pz.Tracker(PANDA, HAND, following_error=0.1)  # type: ignore[arg-type]
    with pytest.raises(pz.JointNotFound, match="joint1"):
        pz.Tracker(PANDA, HAND, following_error=pz.FollowingErrorLimit({"joint_1": 0.1})).step(
            None, HERE, measured=HOME
        )
    loop = pz.Tracker(PANDA, HAND, dt=DT)
    with pytest.raises(pz.ShapeError, match="measured must have 7 numbers"):
        loop.step(None, HERE, measured=np.zeros(6))
    with refused("not-finite", "measured"):
        loop.step(HOME, HERE, measured=HOME * np.nan)


# In MuJoCo ------------------------------------------------------------------------------------------------------------


def held(measured: bool, *, weightless: bool = False) -> float:
    """By how much the hand of a Panda has sunk after 2 s [m]; `weightless`: its servos are told of gravity."""
    kilograms = (4.97, 0.65, 3.23, 3.59, 1.23, 1.67, 0.74)  # Gaz et al. 2019, rounded
    masses = {f"panda_link{i + 1}": (m, (0.0, 0.0, 0.0)) for i, m in enumerate(kilograms)}
    masses["panda_hand"] = (0.73, (0.0, 0.0, 0.05))
    heavy = PANDA
    for link, (mass, centre) in masses.items():
        heavy = heavy.with_payload(mass, link=link, centre=centre)
    robot = Simulated(PANDA, HOME, masses, stiffness=600.0, damping=50.0, most=87.0)
    loop = pz.Tracker(PANDA, HAND, dt=DT)
    for _ in range(400):
        q = loop.step(robot.q, HERE) if measured else loop.step(None, HERE, measured=robot.q)
        robot.go(q, DT, heavy.gravity_torques(q) if weightless else None)
    return float(np.linalg.norm(PANDA.pose("panda_hand", robot.q).xyz - HERE.xyz))


def test_an_arm_under_gravity_sinks_with_the_measured_q_and_not_with_the_commanded_one() -> None:
    assert held(measured=False) < 0.02
    assert held(measured=True) > 0.1


def test_a_servo_that_is_told_of_gravity_holds_the_hand_where_it_shall_be() -> None:
    assert held(measured=False, weightless=True) < 1e-4


def stands(measured: bool) -> tuple[float, float]:
    """How high the pelvis of a G1 that reaches is after 3 s, and how far its hands are from their targets [m]."""
    body = pz.load("g1", base="floating")
    bend = {"hip_pitch": -0.4, "knee": 0.8, "ankle_pitch": -0.4}
    q = body.q({f"{side}_{joint}_joint": angle for side in ("left", "right") for joint, angle in bend.items()})
    feet, hands = ([f"{side}_{link}_link" for side in ("left", "right")] for link in ("ankle_roll", "wrist_yaw"))
    q[2] += 0.035 - body.pose(feet[0], q).xyz[2]
    corners = [(x, y, -0.03) for x in (-0.05, 0.12) for y in (-0.03, 0.03)]
    robot = Simulated(
        body, q, body.masses, stiffness=450.0, damping=11.0, most=120.0, soles=dict.fromkeys(feet, corners)
    )
    stand = [pz.PoseTask(foot, body.pose(foot, q)) for foot in feet]
    balance = pz.CentreOfMassTask(body.centre_of_mass(q), weight=(1, 1, 0))
    reach = [pz.PositionTask(hand, priority=1) for hand in hands]
    rest = pz.methods.TaskPriority(null_space=pz.criteria.RestPosture(q=q))
    loop = pz.Tracker(body, [*stand, balance, *reach], rest, dt=DT, limits=[pz.AccelerationLimit(40.0)])
    begin = [body.pose(hand, q).xyz for hand in hands]
    for tick in range(600):
        time = tick * DT
        way = np.array([min(0.1 * time, 0.15), 0.0, 0.03 * np.sin(3.0 * time)])
        goals = [None, None, None, *(place + way for place in begin)]
        q = loop.step(robot.q, goals) if measured else loop.step(None, goals, measured=robot.q)
        robot.go(q, DT)
    missed = max(
        float(np.linalg.norm(body.pose(hand, robot.q).xyz - place - way))
        for hand, place in zip(hands, begin, strict=True)
    )
    return float(robot.q[2]), missed


def test_a_humanoid_that_reaches_stands_on_with_the_commanded_q_and_not_with_the_measured_one() -> None:
    height, missed = stands(measured=False)
    assert height > 0.72
    assert missed < 0.1
    height, missed = stands(measured=True)
    assert height < 0.7 or missed > 0.15


def test_an_arm_that_was_blocked_for_long_goes_as_far_as_one_that_was_not() -> None:
    """While a command waits its steps are rounding, from which nothing is to be learned of the target."""
    home = PANDA.pose("panda_hand", PANDA.home)
    far = pz.SE3.from_parts(home.xyz + np.array([0.7, 0.4, 0.9]), home.rotation)
    left = []
    for blocked in (0, 100, 400):
        loop = pz.Tracker(PANDA, HAND, dt=DT, following_error=pz.FollowingErrorLimit(joints=0.1))
        q = PANDA.home
        for _ in range(blocked):
            q = loop.step(None, far, measured=PANDA.home)
        for _ in range(1500):
            q = loop.step(None, far, measured=q)
        left.append(loop.errors[0].position)
    assert left[1:] == pytest.approx([left[0]] * 2, abs=2e-3)
