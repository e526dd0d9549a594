"""What a step returns, and what a Tracker tells of it."""

import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.refusals import refused

import poise as pz

Array = npt.NDArray[np.float64]
PANDA = pz.load("panda")
HAND = pz.PoseTask("panda_hand")
HOME = np.array(PANDA.home)


def poses(count: int) -> list[pz.SE3]:
    return [PANDA.pose("panda_hand", PANDA.sample(seed=seed)) for seed in range(count)]


def test_each_step_has_an_array_of_its_own() -> None:
    tracker, q, path = pz.Tracker(PANDA, HAND), HOME, []
    for target in poses(5):
        q = tracker.step(q, target)
        path.append(q)
    kept = np.array(path)
    tracker.step(q, poses(1)[0])
    np.testing.assert_array_equal(path, kept)
    assert len({tuple(x) for x in path}) == 5
    path[0][:] = 0.0
    np.testing.assert_array_equal(path[1], kept[1])


def test_a_step_fills_an_array_of_the_callers() -> None:
    steps = poses(6)
    plain, filling, in_place = (pz.Tracker(PANDA, HAND) for _ in range(3))
    q, log, own = HOME, np.empty((len(steps), 7)), HOME.copy()
    columns = np.empty((7, len(steps)))
    for k, target in enumerate(steps):
        given = HOME if k == 0 else log[k - 1]
        assert filling.step(given, target, out=log[k]) is not None
        assert in_place.step(own, target, out=own) is own, "the array itself, and q may be the same"
        q = plain.step(q, target, out=columns[:, k])
        np.testing.assert_array_equal(log[k], q)
        np.testing.assert_array_equal(own, q)


@pytest.mark.parametrize(
    ("out", "code", "words"),
    [
        (np.empty(7, dtype=np.float32), "not-an-array", "float64"),
        ([0.0] * 7, "not-an-array", "got list"),
        (np.empty(6), "wrong-shape", "shape (7,)"),
        (np.empty((1, 7)), "wrong-shape", "got shape (1, 7)"),
        (np.broadcast_to(0.0, 7), "not-an-array", "read-only"),
    ],
)
def test_what_cannot_take_an_answer_is_refused_before_the_step(out: Any, code: str, words: str) -> None:
    tracker, other = pz.Tracker(PANDA, HAND), pz.Tracker(PANDA, HAND)
    with refused(code, words):
        tracker.step(HOME, poses(1)[0], out=out)
    np.testing.assert_array_equal(tracker.step(HOME), other.step(HOME))


def test_errors_are_of_the_last_q_against_the_targets_as_they_are_now() -> None:
    tracker = pz.Tracker(PANDA, [pz.PositionTask("panda_hand"), pz.OrientationTask("panda_link6")])
    goal = PANDA.pose("panda_hand", PANDA.sample(seed=1))
    q = tracker.step(HOME, [goal.xyz, goal.rotation])
    for wanted in (goal, PANDA.pose("panda_hand", PANDA.sample(seed=2))):
        tracker.aim([wanted.xyz, wanted.rotation])
        place, turn = tracker.errors
        assert place.position == pytest.approx(np.linalg.norm(wanted.xyz - PANDA.pose("panda_hand", q).xyz), abs=1e-15)
        assert (place.rotation, turn.position) == (None, None)
        left = (wanted.rotation @ PANDA.pose("panda_link6", q).rotation.inverse()).log()
        assert turn.rotation == pytest.approx(np.linalg.norm(left), abs=1e-12)
        assert f"{place.position:.3g} m" in tracker.explain()


def test_errors_are_those_of_a_solution() -> None:
    goal = PANDA.pose("panda_hand", PANDA.sample(seed=1))
    sol = pz.solve(PANDA, pz.PoseTask("panda_hand", goal))
    tracker = pz.Tracker(PANDA, HAND)
    tracker.step(sol.q, goal)
    tracker.targets[0, 0] += 0.25
    (left,) = tracker.errors
    assert left.task == sol.errors[0].task
    assert left.position == pytest.approx(0.25, abs=1e-5)


def test_before_the_first_step_there_is_nothing_to_tell() -> None:
    tracker = pz.Tracker(PANDA, HAND, dt=0.01)
    for _ in range(2):
        assert tracker.explain() == "No step has been taken."
        for name in ("errors", "active_limits", "nearest"):
            with pytest.raises(ValueError, match="call step first"):
                getattr(tracker, name)
        tracker.step(HOME, poses(1)[0])
        assert tracker.errors
        tracker.reset()


def kinds(tracker: pz.Tracker) -> dict[str, str]:
    return {limit.name: limit.kind for limit in tracker.active_limits}


def test_joints_at_a_limit_are_named_with_it() -> None:
    """A hand that is turned on and on brings joints to their limits, below or above."""
    tracker, q, seen = pz.Tracker(PANDA, HAND, dt=0.05), HOME, set()
    for turn in [*[1.0] * 80, *[-1.0] * 160]:
        q = tracker.step(q, pz.Twist(angular=[0.0, 0.0, turn]))
        room = np.minimum(q - PANDA.lower, PANDA.upper - q)
        at = {name for name, x in zip(PANDA.coordinates, room, strict=True) if x <= 1e-6}
        assert {limit.name for limit in tracker.active_limits if limit.kind == "position"} == at
        for limit in tracker.active_limits:
            if limit.kind == "position":
                i = PANDA.coordinates.index(limit.name)
                seen.add((limit.name, limit.bound))
                assert limit.bound in (PANDA.lower[i], PANDA.upper[i])
                assert limit.value == q[i]
                assert f"{limit.name} is at its limit, {limit.bound:.4g}" in tracker.explain()
    assert len(seen) >= 2


def a_hand_with_fingers() -> pz.Model:
    """A link that turns, and four fingers beside it, which begin at their lower limits."""
    build = pz.ModelBuilder("fingers")
    build.joint("arm", "revolute", parent="world", child="link", axis=[0, 0, 1], limits=(-2, 2))
    for i in range(4):
        build.joint(f"finger{i}", "revolute", parent="link", child=f"tip{i}", axis=[0, 1, 0], limits=(0, 1))
    build.frame("end", link="link", origin=pz.SE3.from_parts([0.3, 0, 0]))
    return build.build()


@pytest.mark.parametrize("accelerated", [False, True])
def test_a_joint_that_rests_in_its_posture_at_a_limit_is_held_by_none(accelerated: bool) -> None:
    hand = a_hand_with_fingers()
    limits = [pz.AccelerationLimit(20.0)] if accelerated else True
    tracker = pz.Tracker(hand, [pz.PositionTask("end"), pz.PostureTask()], dt=0.01, limits=limits)
    target, q = hand.pose("end", hand.q(arm=0.3)).xyz, hand.home
    beyond = hand.q(finger2=-0.5)
    for posture, held in ((hand.home, set()), (beyond, {"finger2"})):
        for _ in range(20):
            q = tracker.step(q, [target, posture])
        assert {limit.name for limit in tracker.active_limits} == held
        assert ("finger" in tracker.explain()) == bool(held)


@pytest.mark.parametrize("method", ["dls", "qp"])
@pytest.mark.parametrize("updates", [1, 3])
def test_joints_at_their_speed_are_named(method: str, updates: int) -> None:
    tracker, q = pz.Tracker(PANDA, HAND, method, dt=0.002, updates=updates), HOME
    goal = PANDA.pose("panda_hand", PANDA.sample(seed=5))
    for _ in range(20):
        q = tracker.step(q, goal)
        fast = np.abs(tracker.velocity) >= PANDA.velocity * (1.0 - 1e-6)
        named = {name for name, kind in kinds(tracker).items() if kind == "velocity"}
        assert named == {name for name, yes in zip(PANDA.coordinates, fast, strict=True) if yes}
        assert fast.any()
    some = next(limit for limit in tracker.active_limits if limit.kind == "velocity")
    at = PANDA.coordinates.index(some.name)
    assert some.bound == pytest.approx(np.copysign(PANDA.velocity[at], tracker.velocity[at]), rel=1e-9)
    assert some.value == pytest.approx(tracker.velocity[at], rel=1e-9)


def test_accelerations_and_braking_are_named() -> None:
    """A slide gathers speed, goes at its speed, brakes before the end of its range, and stands there."""
    builder = pz.ModelBuilder("slider")
    builder.joint("x", "prismatic", parent="world", child="cart", axis=(1, 0, 0), limits=(-1, 1), velocity=1.0)
    tracker = pz.Tracker(
        builder.build(), pz.PositionTask("cart"), dt=0.01, limits=[pz.AccelerationLimit(2.0)], settle=False
    )
    q, last, story = np.array([-1.0]), 0.0, []
    for _ in range(400):
        q = tracker.step(q, [9.0, 0.0, 0.0])
        speed, active = float(tracker.velocity[0]), tracker.active_limits
        for limit in active:
            if limit.kind == "acceleration":
                assert limit.value == pytest.approx((speed - last) / 0.01, abs=1e-6)
                assert abs(limit.bound) == pytest.approx(2.0)
            if limit.kind == "velocity":
                assert abs(speed) == pytest.approx(1.0)
        names = {limit.kind for limit in active}
        if not story or story[-1] != names:
            story.append(names)
        last = speed
    assert q == pytest.approx([1.0], abs=1e-9)
    assert {"acceleration"} in story[:1], "away from the start"
    assert {"velocity"} in story
    assert any(names & {"braking", "acceleration"} for names in story[story.index({"velocity"}) + 1 :])
    assert story[-1] == {"position"}


def test_each_limit_of_a_joint_is_named_once() -> None:
    tracker = pz.Tracker(PANDA, pz.PositionTask("panda_hand"), dt=0.002, limits=[pz.JerkLimit(300.0)])
    q, jerks = HOME, 0
    for _ in range(40):  # a jump: some joints have room for one speed alone
        q = tracker.step(q, [0.5, 0.3, 0.5])
        found = [(limit.kind, limit.name) for limit in tracker.active_limits]
        assert len(found) == len(set(found))
        jerks += sum(kind == "jerk" for kind, _ in found)
    assert jerks > 40


def test_limits_of_several_joints_and_of_shapes_are_named() -> None:
    fold = pz.LinearLimit({"panda_joint2": 1.0, "panda_joint4": -1.0}, 2.5)
    tracker, q = pz.Tracker(PANDA, pz.PositionTask("panda_hand"), "qp", limits=[fold]), HOME
    for _ in range(100):
        q = tracker.step(q, [0.3, 0.0, 0.1])
    assert kinds(tracker) == {"panda_joint2 and panda_joint4": "linear"}
    assert tracker.active_limits[0].value == pytest.approx(q[1] - q[3], abs=1e-12)
    assert tracker.nearest is None

    ball = PANDA.with_shapes({"panda_hand": pz.Sphere((0.0, 0.0, 0.0), 0.05)})
    wall = pz.World({"wall": pz.HalfSpace((0.65, 0.0, 0.0), (-1.0, 0.0, 0.0))})
    apart = pz.Tracker(ball, pz.PositionTask("panda_hand"), dt=0.01, limits=[pz.CollisionLimit(wall)])
    q = apart.step(HOME, [0.8, 0.0, 0.5])
    assert not [limit for limit in apart.active_limits if limit.kind == "distance"]
    for _ in range(300):
        q = apart.step(q)
    (near,) = [limit for limit in apart.active_limits if limit.kind == "distance"]
    assert set(near.name.split(" and ")) == {"panda_hand", "wall"}
    assert near.value == pytest.approx(0.65 - 0.05 - ball.pose("panda_hand", q).xyz[0], abs=1e-12)
    assert apart.nearest is not None
    assert (near.value, near.bound) == (apart.nearest.distance, 0.01)
    assert "panda_hand" in apart.explain()


def test_a_free_base_at_its_twist_is_named() -> None:
    builder = pz.ModelBuilder("crawler")
    builder.joint("base", "floating", parent="world", child="body")
    crawler = builder.build()
    rate = pz.TwistLimit(linear=0.4, angular=1.0)
    tracker, q = pz.Tracker(crawler, pz.PositionTask("body"), dt=0.01, limits=[rate]), np.array(crawler.home)
    for _ in range(10):
        q = tracker.step(q, [3.0, 2.0, 0.0])
    assert kinds(tracker) == {"base": "twist"}
    assert tracker.active_limits[0].bound == pytest.approx(0.4)


def test_a_copy_tells_the_same() -> None:
    tracker, q = pz.Tracker(PANDA, HAND, dt=0.002, max_target_lead=0.3), HOME
    for _ in range(3):
        q = tracker.step(q, poses(1)[0])
    again = pickle.loads(pickle.dumps(tracker))
    assert again.errors == tracker.errors
    assert again.active_limits == tracker.active_limits
    np.testing.assert_array_equal(again.step(q), tracker.step(q))


def test_what_a_step_tells_is_refused_while_another_thread_steps() -> None:
    tracker = pz.Tracker(PANDA, HAND, dt=0.002)
    tracker.step(HOME, poses(1)[0])
    with tracker._entered():  # as a step of another thread is
        for ask in ("errors", "velocity", "active_limits", "nearest"):
            with pytest.raises(RuntimeError, match="another thread"):
                getattr(tracker, ask)
        with pytest.raises(RuntimeError, match="another thread"):
            tracker.explain()
    assert tracker.errors


def test_of_a_step_that_was_refused_nothing_is_told() -> None:
    tracker = pz.Tracker(PANDA, HAND, dt=0.01)
    q = tracker.step(HOME, poses(1)[0])
    velocity, far = tracker.velocity, PANDA.sample(seed=1)
    for given, why in (((far, "no pose"), "target must be"), ((np.full(7, np.nan), None), "q.0. is nan")):
        with pytest.raises(ValueError, match=why):
            tracker.step(*given)
        for name in ("velocity", "errors", "active_limits", "nearest"):
            with refused("needs"):
                getattr(tracker, name)
        assert "refused" in tracker.explain()
    again = tracker.step(q)
    np.testing.assert_allclose(tracker.velocity, (again - q) / 0.01, atol=1e-12)
    assert np.abs(tracker.velocity - velocity).max() < 1.0


def test_targets_are_taken_all_or_none() -> None:
    figure = pz.load("double_y")
    tracker = pz.Tracker(figure, [pz.PositionTask("e0"), pz.PositionTask("e1")], dt=0.01)
    before = tracker.targets.copy()
    with refused("wrong-shape", "target[1]"):
        tracker.step(figure.home, [[1.0, 2.0, 3.0], "here"])
    np.testing.assert_array_equal(tracker.targets, before)


def test_a_dt_is_a_time_that_a_step_can_take() -> None:
    for dt in (np.inf, 1e300):
        with refused("out-of-range", "dt"):
            pz.Tracker(PANDA, HAND, dt=dt)


def test_one_number_in_a_list_is_a_target() -> None:
    turn = pz.JointCouplingTask({"panda_joint1": 1.0})
    for target in (0.3, [0.3], np.array([0.3])):
        assert abs(pz.Solver(PANDA, turn)(target).q[0] - 0.3) < 1e-6


def test_targets_that_are_no_numbers_are_refused() -> None:
    tracker = pz.Tracker(PANDA, HAND, dt=0.01)
    for none in (pz.Twist([0.1, 0.0, 0.0]), "there", [[1.0, 2.0], [3.0]]):
        with refused("wrong-shape", "targets"):
            tracker.rollout(HOME, none)
        with refused("wrong-shape", "targets"):
            tracker.targets = none
