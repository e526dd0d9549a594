"""Twists as targets: where they lead, that nothing drifts, and that an arm that was held back turns back at once."""

import math
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.refusals import refused

import poise as pz

Array = npt.NDArray[np.float64]
PANDA = pz.load("panda")
HAND = pz.PoseTask("panda_hand")
HOME = np.array(PANDA.home)
HERE = PANDA.pose("panda_hand", HOME)
DT = 0.002
vectors = st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3).map(np.array)
few = settings(max_examples=25)


def close(one: pz.SE3, other: pz.SE3, within: float = 1e-12) -> bool:
    return float(np.abs((one.inverse() @ other).log()).max()) < within


def rounds(tracker: pz.Tracker, q: Array, target: Any, steps: int) -> Array:
    for _ in range(steps):
        q = tracker.step(q, target)
    return q


@few
@given(linear=vectors, angular=vectors)
def test_a_twist_moves_the_target_in_the_stated_frame(linear: Array, angular: Array) -> None:
    """Against the exponential of rigid motions, over a step of a tenth of a second."""
    world, tool = (pz.Tracker(PANDA, HAND, dt=0.1, max_target_lead=(1.0, 1.5)) for _ in range(2))
    world.step(HOME, pz.Twist(linear, angular))
    turned = pz.SO3.from_rotvec(0.1 * angular) @ HERE.rotation
    assert close(pz.SE3(world.targets[0]), pz.SE3.from_parts(HERE.xyz + 0.1 * linear, turned))
    tool.step(HOME, pz.Twist(linear, angular, frame="tool"))
    assert close(pz.SE3(tool.targets[0]), HERE @ pz.SE3.exp(0.1 * np.concatenate([linear, angular])))


def test_nothing_drifts_whatever_q_says() -> None:
    """The target is moved from where it is, not from where a noisy arm is."""
    noise, tracker, q = np.random.default_rng(0), pz.Tracker(PANDA, HAND, dt=DT), HOME
    twist = pz.Twist([0.0, 0.1, 0.0], [0.0, 0.0, 0.2])
    tracker.step(HOME, twist)
    first = pz.SE3(tracker.targets[0])
    for _ in range(500):
        q = tracker.step(q + noise.normal(scale=1e-4, size=7), twist)
    there = pz.SE3.from_parts(np.add(first.xyz, [0.0, 0.1, 0.0]), pz.SO3.from_rotvec([0.0, 0.0, 0.2]) @ first.rotation)
    assert close(pz.SE3(tracker.targets[0]), there, 1e-10)
    for _ in range(500):
        q = tracker.step(q + noise.normal(scale=1e-4, size=7), pz.Twist())
    assert close(pz.SE3(tracker.targets[0]), there, 1e-10), "a twist of nothing holds the place"
    assert close(PANDA.pose("panda_hand", rounds(tracker, q, None, 50)), there, 1e-6)


def test_it_begins_at_the_frame_and_goes_on_from_the_target() -> None:
    q = PANDA.sample(seed=4)
    tracker = pz.Tracker(PANDA, pz.PoseTask("panda_hand", HERE), dt=DT)
    tracker.step(q, pz.Twist())
    assert close(pz.SE3(tracker.targets[0]), PANDA.pose("panda_hand", q)), "not at the home of the model"
    near = pz.SE3.from_parts([0.02, 0.0, 0.0]) @ PANDA.pose("panda_hand", q)
    tracker.step(q, near)
    tracker.step(q, pz.Twist([0.0, 0.0, 0.5]))
    assert close(pz.SE3(tracker.targets[0]), pz.SE3.from_parts([0.0, 0.0, 0.001]) @ near)
    tracker.reset()
    tracker.step(HOME, pz.Twist([0.0, 0.0, 0.5]))
    assert close(pz.SE3(tracker.targets[0]), pz.SE3.from_parts([0.0, 0.0, 0.001]) @ HERE)


def test_tasks_take_the_part_that_they_lead() -> None:
    tasks = [pz.PositionTask("panda_hand"), pz.OrientationTask("panda_hand"), pz.PositionTask("panda_link4")]
    tracker = pz.Tracker(PANDA, tasks, dt=DT)
    elbow = PANDA.pose("panda_link4", HOME).xyz
    tracker.step(HOME, [pz.Twist([0.0, 0.0, 1.0], frame="tool"), pz.Twist(angular=[1.0, 0.0, 0.0]), elbow])
    np.testing.assert_allclose(tracker.targets[0], [*(HERE.xyz + DT * HERE.rotation.matrix()[:, 2]), 0, 0, 0, 0])
    turned = pz.SO3.from_rotvec([DT, 0.0, 0.0]) @ HERE.rotation
    np.testing.assert_allclose(tracker.targets[1], [0, 0, 0, *turned.wxyz], atol=1e-15)
    np.testing.assert_allclose(tracker.targets[2][:3], elbow)


def test_a_task_with_a_base_is_moved_along_the_axes_of_its_base() -> None:
    tracker = pz.Tracker(PANDA, pz.PositionTask("panda_hand", base="panda_link2"), dt=DT)
    before = PANDA.pose("panda_link2", HOME).inverse() @ HERE
    tracker.step(HOME, pz.Twist([1.0, 0.0, 0.0]))
    np.testing.assert_allclose(tracker.targets[0, :3], np.add(before.xyz, [DT, 0.0, 0.0]), atol=1e-15)


def test_the_arm_goes_as_fast_as_the_twist() -> None:
    tracker, q = pz.Tracker(PANDA, HAND, dt=DT), rounds(pz.Tracker(PANDA, HAND, dt=DT), HOME, pz.Twist(), 5)
    q = rounds(tracker, q, twist := pz.Twist([0.1, 0.1, 0.0], [0.0, 0.3, 0.0]), 200)
    went = PANDA.jacobian("panda_hand", q) @ (tracker.step(q, twist) - q) / DT
    np.testing.assert_allclose(went, [0.1, 0.1, 0.0, 0.0, 0.3, 0.0], atol=1e-3)


@pytest.mark.parametrize("kind", ["reach", "wall"])
def test_an_arm_that_was_held_back_turns_back_at_once(kind: str) -> None:
    """Pushed for three seconds against the end of its reach, or a wall, it is back after hundredths, not seconds."""
    speed, arm, limits = 0.3, PANDA, []
    if kind == "wall":
        arm = PANDA.with_shapes({"panda_hand": pz.Sphere((0.0, 0.0, 0.0), 0.05)})
        limits = [pz.CollisionLimit(pz.World({"wall": pz.HalfSpace((0.65, 0.0, 0.0), (-1.0, 0.0, 0.0))}))]
    tracker = pz.Tracker(arm, pz.PositionTask("panda_hand"), dt=DT, limits=limits)
    q = rounds(tracker, HOME, pz.Twist([speed, 0.0, 0.0]), 1500)
    held = arm.pose("panda_hand", q).xyz[0]
    assert 0.09 <= tracker.targets[0, 0] - held <= 0.1 + 1e-9, "led by no more than the lead"
    steps, there = 0, held
    while there > held - 1e-4:
        q, steps = tracker.step(q, pz.Twist([-speed, 0.0, 0.0])), steps + 1
        there = arm.pose("panda_hand", q).xyz[0]
        assert steps * DT < 0.1 * 0.1 / speed + 0.02, "a tenth of the lead at the speed of the twist, and some steps"


@few
@given(linear=vectors, angular=vectors, back=vectors, frame=st.sampled_from(["world", "tool"]))
def test_the_target_is_never_farther_ahead_than_the_lead(
    linear: Array, angular: Array, back: Array, frame: Any
) -> None:
    tracker, q = pz.Tracker(PANDA, HAND, dt=0.02, max_target_lead=(0.05, 0.2)), HOME
    for k in range(60):
        before = PANDA.pose("panda_hand", q)
        q = tracker.step(q, pz.Twist(5.0 * (linear if k < 30 else back), 5.0 * angular, frame))
        target = pz.SE3(tracker.targets[0])
        assert np.linalg.norm(target.xyz - before.xyz) <= 0.05 * (1.0 + 1e-9)
        assert np.linalg.norm((target.rotation @ before.rotation.inverse()).log()) <= 0.2 * (1.0 + 1e-9)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (([1.0, 0.0],), "wrong-shape", "linear"),
        (([1.0, 0.0, math.nan],), "not-finite", "linear[2]"),
        (([1.0, 0.0, 0.0], [0.0, math.inf, 0.0]), "not-finite", "angular[1]"),
        (([1.0, 0.0, 0.0], [0.0, 0.0, 0.0], "hand"), "unknown-word", "frame"),
    ],
)
def test_what_is_no_velocity_is_refused(arguments: Any, code: str, words: str) -> None:
    with refused(code, words):
        pz.Twist(*arguments)


def test_what_a_twist_cannot_move_is_refused() -> None:
    twist = pz.Twist([0.1, 0.0, 0.0], [0.0, 0.1, 0.0])
    with refused("no-dt", "dt"):
        pz.Tracker(PANDA, HAND).step(HOME, twist)
    timed = pz.Tracker(PANDA, HAND, dt=DT)
    with pytest.raises(ValueError, match="to `step`"):
        timed.aim(twist)
    for task, words in (
        (pz.PositionTask("panda_hand"), "target has angular velocity, and PositionTask.* has no rotation"),
        (pz.OrientationTask("panda_hand"), "target has linear velocity, and OrientationTask.* has no position"),
        (pz.AxisTask("panda_hand", axis=(0, 0, 1)), "AxisTask.* takes none"),
    ):
        with pytest.raises(ValueError, match=words):
            pz.Tracker(PANDA, task, dt=DT).step(HOME, twist)
    with pytest.raises(pz.ShapeError, match="2 targets"):
        pz.Tracker(PANDA, [HAND, pz.PositionTask("panda_link4")], dt=DT).step(HOME, twist)


@pytest.mark.parametrize("lead", [0.0, -1.0, (0.1, 2.0), (0.1, 0.2, 0.3), "far", True, None])
def test_a_lead_that_is_none_is_refused(lead: Any) -> None:
    with pytest.raises(ValueError, match="lead"):
        pz.Tracker(PANDA, HAND, dt=DT, max_target_lead=lead)


def test_without_a_bound_the_target_goes_on() -> None:
    tracker = pz.Tracker(PANDA, pz.PositionTask("panda_hand"), dt=DT, max_target_lead=math.inf)
    rounds(tracker, HOME, pickle.loads(pickle.dumps(pz.Twist([1.0, 0.0, 0.0]))), 1500)
    np.testing.assert_allclose(tracker.targets[0, :3], np.add(HERE.xyz, [3.0, 0.0, 0.0]), atol=1e-9)


def test_a_quaternion_that_was_written_in_place_may_have_any_length() -> None:
    tracker = pz.Tracker(PANDA, HAND, dt=DT)
    tracker.step(HOME, HERE)
    tracker.targets[0, 3:] *= 3.0
    tracker.step(HOME, pz.Twist([0.0, 0.0, 1.0], frame="tool"))
    assert close(pz.SE3(tracker.targets[0]), HERE @ pz.SE3.from_parts([0.0, 0.0, DT]))


@pytest.mark.parametrize("part", ["linear", "angular"])
def test_a_velocity_beyond_all_numbers_is_refused(part: str) -> None:
    with pytest.raises(ValueError, match=f"{part} is .*2.50"):
        pz.Twist(**{part: [1e300, 0.0, 0.0]})
