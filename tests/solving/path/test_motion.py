"""The motion that a path is: through all rows, and between them within the limits that it was timed with."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruckig import InputParameter, Ruckig, Trajectory
from support.refusals import refused
from ways import DOWN, across

import poise as pz
from poise.common.array import Array
from poise.solving.path.clock import Clock
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.limits import Rates
from poise.solving.path.timing import timed
from poise.solving.path.trajectory import Trajectory as Motion

TASK = pz.PoseTask("panda_hand")
NONE = np.inf


def stops() -> pz.SE3:
    place = [[0.4, 0.3, 0.5], [0.4, 0.3, 0.3], [0.4, -0.3, 0.5]]
    return pz.SE3(np.hstack([place, np.tile(DOWN, (3, 1))]))


def shares(path: pz.JointPath, velocity: object, acceleration: object, jerk: object = NONE) -> tuple[float, ...]:
    """The largest speed, acceleration and jerk of a joint, as shares of these limits, by differences of states at many
    times between all rows; and none of the states leaves the limits of the joints."""
    model = path.model
    n = 40 * len(path) + 1
    t = np.linspace(0.0, path.duration, n)
    q, v, a = path.at(t)
    assert model.within_limits(q)
    gap = t[1]
    out = []
    for before, after, most in (
        (np.zeros_like(v[1:]), model.difference(q[:-1], q[1:]), velocity), (v[:-1], v[1:], acceleration),
        (a[:-1], a[1:], jerk),
    ):  # fmt: skip
        out.append(float((np.abs(after - before) / gap / most).max()))
    # What is said of the state is so, and not of its differences alone.
    assert (np.abs(v) / velocity).max() <= 1.0 + 1e-6
    assert (np.abs(a) / acceleration).max() <= 1.0 + 1e-6
    return tuple(out)


@pytest.mark.parametrize("acceleration", [2.0, 10.0])
@pytest.mark.parametrize("velocity", [0.6, 3.0])
def test_limits_hold_between_the_rows(velocity: float, acceleration: float) -> None:
    path = pz.solve_path(pz.load("panda"), TASK, across(40), velocity=velocity, acceleration=acceleration)
    assert np.allclose(path.at(path.times).q, path.q, atol=1e-9)
    assert max(shares(path, velocity, acceleration)) <= 1.0 + 1e-6


def test_limits_hold_between_the_stations_of_a_plan() -> None:
    arm = pz.load("panda")
    path = pz.plan(arm, TASK, stops(), q0=arm.home, acceleration=8.0)
    assert np.allclose(path.at(path.times).q, path.q, atol=1e-9)
    assert max(shares(path, arm.velocity, 8.0)) <= 1.0 + 1e-6
    at = path.at(path.times[path.stations])
    assert np.abs(at.velocity).max() < 1e-4


@pytest.mark.parametrize("acceleration", [10.0, NONE])
@pytest.mark.parametrize("jerk", [100.0, 2000.0])
def test_jerks_are_kept(jerk: float, acceleration: float) -> None:
    arm = pz.load("panda")
    limits = [pz.JerkLimit(jerk)]
    path = pz.solve_path(arm, TASK, across(40), acceleration=acceleration, limits=limits)
    assert np.allclose(path.at(path.times).q, path.q, atol=1e-9)
    assert max(shares(path, arm.velocity, acceleration, jerk)) <= 1.0 + 1e-4
    begin, end = path.at([0.0, path.duration]).acceleration
    assert np.abs(begin).max() < 1e-6
    assert np.abs(end).max() < 1e-6
    planned = pz.plan(arm, TASK, stops(), acceleration=acceleration, limits=limits)
    assert max(shares(planned, arm.velocity, acceleration, jerk)) <= 1.0 + 1e-4


@pytest.mark.parametrize("way", [0.03, 0.4, 2.0])
@pytest.mark.parametrize("jerk", [100.0, 3000.0])
def test_a_straight_way_takes_little_more_than_the_least_time(way: float, jerk: float) -> None:
    """Beside Ruckig's, for one joint from rest to rest; without jerks the least."""
    arm, q = pz.load("planar2"), np.linspace(0.0, way, 30)[:, None] * [1.0, 0.5]
    still, most = np.zeros(30, dtype=bool), np.full(2, 2.0)
    asked = InputParameter(1)
    asked.current_position, asked.target_position = [0.0], [way]
    asked.max_velocity, asked.max_acceleration = [2.0], [10.0]
    _, trajectory = timed(
        arm,
        q,
        Rates(most, np.full(2, 10.0), np.full(2, NONE)),
        still,
        Clock(None),
        PathFeasibility(()),
        within_limits=True,
    )
    assert trajectory.duration == pytest.approx(_least(asked), rel=1e-4)
    asked.max_jerk = [jerk]
    _, trajectory = timed(
        arm,
        q,
        Rates(most, np.full(2, 10.0), np.full(2, jerk)),
        still,
        Clock(None),
        PathFeasibility(()),
        within_limits=True,
    )
    least = _least(asked)
    assert least * (1.0 - 1e-6) <= trajectory.duration <= 1.3 * least


def fastest(model: pz.Model, q: Array, velocity: float, acceleration: float) -> Motion:
    """The motion through rows q (n, nq) with these limits of every joint."""
    rates = Rates(np.full(model.nv, velocity), np.full(model.nv, acceleration), np.full(model.nv, NONE))
    still, nothing = np.zeros(len(q), dtype=np.bool_), PathFeasibility(())
    return timed(model, q, rates, still, Clock(None), nothing, within_limits=True)[1]


def test_rows_that_are_denser_save_little_time() -> None:
    """No time is lost between rows, where a curve bends to and fro or limits are looked at too rarely."""
    arm = pz.load("panda")
    few, many = (
        fastest(
            arm, arm.home + 0.5 * np.sin(np.linspace(0.0, 9.0, rows)[:, None] * np.linspace(0.4, 1.6, 7)), 2.0, 10.0
        )
        for rows in (60, 600)
    )
    assert few.duration <= 1.01 * many.duration


def test_a_long_way_with_few_rows_begins_as_fast_as_it_may() -> None:
    builder = pz.ModelBuilder("rail")
    builder.joint("rail", "prismatic", parent="base", child="cart", limits=(-1e3, 1e3))
    motion = fastest(builder.build(), np.linspace(0.0, 500.0, 3)[:, None], 1.0, 2.0)
    assert motion.duration == pytest.approx(500.0 + 0.5, rel=1e-4)


def test_a_path_rests_at_a_corner_and_not_in_a_bend_of_several_rows() -> None:
    arm, along, turn = pz.load("planar2"), np.linspace(0.0, 1.0, 20), np.arange(7) * np.pi / 3.0
    there, bend = np.stack([along, 0.0 * along], axis=1), np.stack([np.cos(turn), np.sin(turn)], axis=1)
    corner = np.concatenate([there, there[-1] + 0.9 * (there[1:] - there[0]) * [-1.0, 0.0] + there[1:, ::-1]])
    for q, row, moves in ((corner, 19, False), (0.3 * bend, 3, True)):
        motion = fastest(arm, q, 2.0, 10.0)
        assert (np.abs(motion.at(motion.when(motion.curve.s[row : row + 1])).velocity).max() > 0.5) == moves


def _least(asked: InputParameter) -> float:
    found = Trajectory(1)
    Ruckig(1).calculate(asked, found)
    return float(found.duration)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), rows=st.integers(2, 25), jerky=st.booleans(), time=st.sampled_from([None, 0.0]))
def test_any_rows_are_passed_within_all_limits(seed: int, rows: int, jerky: bool, time: float | None) -> None:
    """Smooth ones and sharp ones, some at a limit of a joint, some that stand still; also when no time is left."""
    rng = np.random.default_rng(seed)
    arm = pz.load("panda")
    along = np.linspace(0.0, rng.uniform(0.5, 8.0), rows)[:, None]
    q = arm.clip(arm.home + np.sin(along * rng.uniform(0.2, 2.0, 7)) * rng.uniform(0.0, 2.0, 7))
    q = np.repeat(q, rng.integers(1, 3, rows), axis=0)
    acceleration, jerk = rng.uniform(1.0, 20.0, 7), rng.uniform(50.0, 500.0, 7) if jerky else np.full(7, NONE)
    limits = Rates(arm.velocity, acceleration, jerk)
    times, trajectory = timed(
        arm, q, limits, np.zeros(len(q), dtype=bool), Clock(time), PathFeasibility(()), within_limits=True
    )
    assert (np.diff(times) >= 0.0).all()
    assert np.allclose(trajectory.at(times).q, q, atol=1e-6)
    t = np.linspace(0.0, trajectory.duration, 5001)
    state = trajectory.at(t)
    assert (np.maximum(arm.lower - state.q, state.q - arm.upper) <= 1e-13).all()
    if not trajectory.duration:
        return
    for some, most in ((state.q, arm.velocity), (state.velocity, acceleration), (state.acceleration, jerk)):
        assert (np.abs(np.diff(some, axis=0)) / t[1] <= most * (1.0 + 1e-3)).all()


@pytest.mark.parametrize("acceleration", [NONE, 1.0])
def test_what_is_no_more_than_rounding_takes_no_time(acceleration: float) -> None:
    """Where a joint that nothing slows down moves beside it, after a long while."""
    builder = pz.ModelBuilder("crane")
    builder.joint("rail", "prismatic", parent="base", child="cart", limits=(-2.0, 2.0))
    builder.joint("hook", "prismatic", parent="cart", child="hook", limits=(-1e4, 1e4))
    q = np.array([[0.0, 0.0], [0.0, 1e3], [1.0, np.nextafter(1e3, 2e3)], [1.0, 0.0]])
    rates = Rates(np.array([NONE, 10.0]), np.array([NONE, acceleration]), np.full(2, NONE))
    rests = np.zeros(len(q), dtype=np.bool_)
    times, trajectory = timed(builder.build(), q, rates, rests, Clock(None), PathFeasibility([]), within_limits=True)
    assert times[1] == times[2]
    assert np.isfinite(trajectory.at(np.linspace(0.0, trajectory.duration, 101)).q).all()
    assert np.isfinite(trajectory.at(times).q).all()


def test_a_floating_base_turns_within_its_limits() -> None:
    builder = pz.ModelBuilder("drone")
    builder.joint("arm", "revolute", parent="body", child="arm", limits=(-1.0, 1.0))
    builder.frame("tip", link="arm", origin=pz.SE3.from_parts([0.5, 0.0, 0.0]))
    drone = builder.build(base="floating")
    turn = np.linspace(0.0, 2.5, 30)
    poses = pz.SE3.from_rotvec(np.stack([turn, np.sin(turn), 0 * turn], 1), np.stack([0 * turn, 0 * turn, turn], 1))
    path = pz.solve_path(drone, pz.PoseTask("tip"), poses, velocity=1.0, acceleration=2.0)
    assert np.allclose(path.at(path.times).q, path.q, atol=1e-7)
    assert max(shares(path, 1.0, 2.0)) <= 1.0 + 1e-3


def test_nothing_is_cut_between_the_rows() -> None:
    """What is bent around a row keeps its distance too, as the straight way does."""
    arm = pz.load("panda").with_shapes({"panda_hand": pz.Capsule([0.0, -0.08, 0.04], [0.0, 0.08, 0.04], 0.03)})
    world = pz.World({"wall": pz.Box(pz.SE3.from_parts([0.4, 0.0, 0.25]), [0.3, 0.04, 0.5])})
    for limits in ([pz.AccelerationLimit(10.0)], [pz.AccelerationLimit(10.0), pz.JerkLimit(500.0)]):
        path = pz.plan(arm, TASK, stops(), limits=[pz.CollisionLimit(world, min_distance=0.02), *limits])
        assert path.success, path.explain()
        dense = path.at(np.linspace(0.0, path.duration, 3000)).q
        assert arm.distance(dense, world).distance.min() >= 0.02 - 5e-4


def test_without_accelerations_it_goes_straight_from_row_to_row() -> None:
    arm = pz.load("panda")
    for path in (pz.solve_path(arm, TASK, across(40)), pz.solve_path(arm, TASK, across(40), dt=0.1)):
        middle = 0.5 * (path.times[:-1] + path.times[1:])
        state = path.at(middle)
        assert np.allclose(state.q, 0.5 * (path.q[:-1] + path.q[1:]))
        assert np.allclose(state.velocity, path.steps / np.diff(path.times)[:, None])
        assert (state.acceleration == 0.0).all()


@pytest.mark.parametrize("dt", [0.001, 0.0137, 10.0])
@pytest.mark.parametrize("jerk", [500.0, NONE])
def test_a_path_is_resampled_within_its_limits(dt: float, jerk: float) -> None:
    arm = pz.load("panda")
    path = pz.plan(arm, TASK, stops(), limits=[pz.AccelerationLimit(8.0), pz.JerkLimit(jerk)])
    rows = path.resample(dt)
    assert np.allclose(np.diff(rows.times), dt)
    assert path.duration <= rows.duration * (1.0 + 1e-9)
    assert rows.duration < path.duration + dt
    assert np.array_equal(rows.at(rows.times).q, rows.q)
    assert np.allclose(rows.q[[0, -1]], path.q[[0, -1]], atol=1e-9)
    speeds = np.diff(rows.q, axis=0) / dt
    still = np.zeros((1, 7))
    hard = np.diff(np.concatenate([still, speeds, still]), axis=0) / dt
    jerks = np.diff(np.concatenate([still, hard, still]), axis=0) / dt
    assert (np.abs(speeds) / arm.velocity).max() <= 1.0 + 1e-6
    assert np.abs(hard).max() <= 8.0 * (1.0 + 1e-6)
    assert np.abs(jerks).max() <= jerk * (1.0 + 1e-4)
    assert len(rows.stations) == 3
    assert (np.diff(rows.stations) >= 0).all()
    assert rows.reached.all()
    if dt < 0.01:
        assert max(shares(rows, arm.velocity, 8.0, jerk)) <= 1.0 + 1e-3
        at = arm.pose("panda_hand", rows.q[rows.stations]).xyz
        assert np.abs(at - stops().xyz).max() < 1e-4  # it rests there
    assert rows.columns()["success"].all()


@pytest.mark.parametrize("dt", [0.004, 0.3])
def test_a_row_that_was_resampled_names_the_last_pose_that_was_passed(dt: float) -> None:
    """With the long dt, several poses are passed between two rows, and there are fewer rows than poses."""
    arm, poses = pz.load("panda"), across(40)
    poses[20, 0] = 2.0  # out of reach
    path = pz.solve_path(arm, TASK, poses, limits=[pz.AccelerationLimit(8.0)])
    rows = path.resample(dt)
    stretched = path.times * rows.duration / path.duration
    passed = [int(np.flatnonzero(rows.times >= t - 1e-9)[0]) for t in stretched]
    assert rows.stations.tolist() == passed
    columns = rows.columns()
    named = columns["waypoint"]
    assert named.compressed().tolist() == list({row: k for k, row in enumerate(passed)}.values())
    for row, waypoint in zip(np.flatnonzero(~np.ma.getmaskarray(named)), named.compressed(), strict=True):
        assert passed[waypoint] == row
        assert columns["position_error_m"][row] == path.position_errors[waypoint, 0]
    # Going to a row fails where one of the poses that it passes does.
    failed = {failure.waypoint for failure in path.failures}
    assert 20 in failed
    for k in failed:
        assert not columns["success"][passed[k]]
    assert columns["success"].sum() >= len(rows) - sum(passed[k] - passed[k - 1] + 1 for k in failed if k)


def test_paths_are_joined_where_they_meet() -> None:
    """A free way to a place, a line from there, and a free way back."""
    arm = pz.load("panda")
    limits = [pz.AccelerationLimit(8.0), pz.JerkLimit(800.0)]
    there = pz.plan(arm, TASK, across(40)[:1], q0=arm.home, limits=limits)
    line = pz.solve_path(arm, TASK, across(40), start=there.q[-1], limits=limits)
    assert line.success, line.explain()
    up = pz.PositionTask("panda_hand")
    back = pz.plan(arm, up, [[0.5, 0.0, 0.5]], q0=line.q[-1], limits=limits)
    whole = there.then(line, back)
    assert len(whole) == len(there) + len(line) + len(back) - 2
    assert whole.duration == pytest.approx(there.duration + line.duration + back.duration)
    assert np.allclose(whole.at(whole.times).q, whole.q, atol=1e-8)
    assert max(shares(whole, arm.velocity, 8.0, 800.0)) <= 1.0 + 1e-3
    assert len(whole.stations) == 1 + 40 + 1
    assert whole.position_errors.shape == (42, 2)
    assert np.isnan(whole.position_errors[:41, 1]).all()
    assert np.isnan(whole.position_errors[41, 0])
    assert whole.success
    assert "42 waypoints" in repr(whole)
    assert whole.resample(0.01).success
    with refused("inconsistent"):
        there.then(back)
    with pytest.raises(ValueError, match="has times and the other none"):
        _untimed(0.5).then(pz.solve_path(pz.load("planar2"), pz.PositionTask("tool"), [[1.0, 0.5, 0.0]], velocity=1.0))
    assert len(_untimed(0.5).then(_untimed(0.5))) == 1
    with pytest.raises(ValueError, match="is not joined: Not followed"):
        _untimed(0.5).then(_untimed(5.0))
    with pytest.raises(ValueError, match="they have other joints"):
        there.then(_untimed(0.5))


def test_what_is_still_in_all_parts_is_still_in_the_whole() -> None:
    arm, ways = pz.load("panda"), [{"still": ["panda_joint1", "panda_joint2"]}, {"still": "panda_joint2"}, {}]
    begin, parts = arm.home, list[pz.JointPath]()
    for way in ways:
        q = begin + np.where(np.arange(arm.nq) > 1, 0.05, 0.0)
        parts.append(pz.plan(arm, pz.PostureTask(q), [q], q0=begin, acceleration=5.0, **way))  # type: ignore[arg-type]
        begin = parts[-1].q[-1]
    first, second, third = parts
    assert first.model.still == {"panda_joint1", "panda_joint2"}
    assert first.then(second).model.still == {"panda_joint2"}
    assert not first.then(second, third).model.still
    back = pz.plan(arm, TASK, across(1), q0=second.q[-1], still="panda_joint1", acceleration=5.0)
    joined = second.then(back)  # either part moves what the other holds
    assert not joined.model.still
    assert joined.at(joined.duration).q == pytest.approx(back.q[-1], abs=1e-9)


def _untimed(y: float) -> pz.JointPath:
    return pz.solve_path(pz.load("planar2"), pz.PositionTask("tool"), [[1.0, y, 0.0]])


def test_what_is_asked_of_a_motion() -> None:
    arm = pz.load("panda")
    path = pz.solve_path(arm, TASK, across(40), acceleration=5.0)
    q, v, a = path.at(0.3)
    assert q.shape == (arm.nq,)
    assert v.shape == a.shape == (arm.nv,)
    assert path.at(np.zeros((2, 3))).q.shape == (2, 3, arm.nq)
    before, after = path.at([-1.0, path.duration + 1.0]).q
    assert np.allclose(before, path.q[0])
    assert np.allclose(after, path.q[-1])
    again = pickle.loads(pickle.dumps(path))
    assert np.array_equal(again.at(0.3).q, q)
    with refused("not-finite"):
        path.at(np.nan)
    with refused("wrong-shape", "t"):
        path.at("a")
    with refused("needs"):
        pz.solve_path(pz.load("planar3"), pz.PositionTask("tool"), [[1.0, 0.5, 0.0]]).at(0.0)
    alone = pz.solve_path(arm, TASK, across(40)[:1], acceleration=1.0)
    assert np.allclose(alone.at([0.0, 1.0]).q, alone.q[0])


def test_what_makes_no_clock_and_no_path_is_refused_by_name() -> None:
    arm = pz.load("panda")
    path = pz.solve_path(arm, pz.PoseTask("panda_hand"), across(40), acceleration=10.0)
    with refused("not-finite", "dt"):
        path.resample(np.inf)
    with refused("wrong-type"):
        path.then([path])  # type: ignore[arg-type]
    for straight in (1, True, None):
        with refused("not-a-sequence", "straight"):
            pz.plan(arm, pz.PoseTask("panda_hand"), stops()[:2], straight=straight)  # type: ignore[arg-type]
