"""The operator's program: what it leads by, what edits do, what holds, and what it refuses."""

import math
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.model.proximity import nearest_of_many
from poise.robots.das import FIELDS
from poise.solving.arguments.twist import Lead
from poise.solving.requirements.collision import CollisionLimit
from poise.viewer.operator.control_law import Law
from poise.viewer.operator.program import Program
from poise.viewer.operator.robots import ROBOTS, ten_links, truck
from poise.viewer.operator.setup import Obstacle, Setup
from poise.viewer.session.guided import REFUSALS
from poise_experiments.das import problem
from poise_experiments.das.problem import LIMIT

DT = 1.0 / 60.0
BALL = pz.Sphere((4.5, -0.6, 0.0), 0.3)
quick = settings(max_examples=40)


def program(**given: Any) -> Program:
    robot = ten_links()
    return Program(robot.model, robot.frame, start=robot.start, **given)


def lead(program: Program, ticks: int) -> Array:
    """(ticks, nq) the way."""
    return np.array([program.tick(DT).q for _ in range(ticks)])


def nearest(program: Program, path: Array) -> float:
    """The least distance of a link from an obstacle, by the scene."""
    world = program.moment.setup.world()
    scene = CollisionLimit(world, self_collision=False).scene(program.model)
    return float(nearest_of_many(scene, np.array(path)).distance.min())


# The law --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("terms", [problem.NONE, problem.POSTURE, problem.STRONG, problem.RULED])
def test_it_leads_by_the_law_of_the_paper(terms: str) -> None:
    field = FIELDS["crowded"]
    told = {
        problem.NONE: Law(posture_gain=0.0, obstacle_gain=0.0, max_step=math.inf),
        problem.POSTURE: Law(posture_gain=0.05, obstacle_gain=0.0, max_step=math.inf),
        problem.STRONG: Law(posture_gain=0.02, obstacle_gain=0.05, max_step=math.inf),
        problem.RULED: Law(posture_gain=0.02, obstacle_gain=0.05, beta=None, max_step=math.inf),
    }
    ours = program(setup=Setup(desired=(0.0,) * 10, law=told[terms], updates=problem.UPDATES))
    for i, (x, y) in enumerate(field.obstacles):
        ours.add(f"point {i}", pz.Sphere((x, y, 0.0)))
    ours.record()
    for target in problem.way(field):
        ours.aim(target)
        ours.tick(DT)
    attempt = ours.stop()
    expected = problem.cross(field, replace(problem.methods(field)[terms])).path
    if terms in (problem.NONE, problem.POSTURE):
        np.testing.assert_array_equal(attempt.q[1:], expected)
    np.testing.assert_allclose(attempt.q[1:], expected, rtol=0.0, atol=1e-9)


def test_a_tick_is_an_update_of_a_tracker_with_the_settings() -> None:
    ours = program()
    ours.tune(alpha=0.5, vehicle_limit=0.3, position_stiffness=2.0, beta=0.5, posture_gain=0.3)
    ours.aim((8.0, 2.0, 0.0))
    q = np.array(ours.moment.q)
    method = pz.methods.DasSlotineSheridan(
        alpha=0.5, vehicle_limit=0.3, position_stiffness=2.0, beta_rule=False,
        null_space=pz.criteria.RestPosture(gain=0.15),
    )  # fmt: skip
    ik = pz.Tracker(ours.model, pz.PositionTask("tool"), method, settle=False, dt=DT)
    for row in lead(ours, 20):
        q = ik.step(q, (8.0, 2.0, 0.0)).copy()
        np.testing.assert_array_equal(row, q)


def test_k_pulls_to_the_desired_joints_and_the_hand_stays() -> None:
    ours, desired = program(), np.linspace(0.3, -0.3, 10)
    ours.tune(posture_gain=0.2, obstacle_gain=0.0)
    lead(ours, 200)
    before = ours.moment
    ours.desire(desired)
    lead(ours, 200)
    after = ours.moment
    away = [float(np.linalg.norm(s.q - desired)) for s in (before, after)]
    assert away[1] < 0.8 * away[0]
    assert np.linalg.norm(after.hand.xyz - before.hand.xyz) < 0.02


def test_without_k_the_desired_joints_change_nothing() -> None:
    ours = program()
    ours.tune(posture_gain=0.0)
    ours.desire(np.full(10, 0.1))
    still = ours.moment.q
    np.testing.assert_allclose(lead(ours, 20)[-1], still, rtol=0.0, atol=1e-12)


def test_k_obs_pushes_the_arm_off_an_obstacle_that_is_moved_towards_it() -> None:
    gaps = []
    for gain in (0.0, 0.02, 0.1):
        ours = program()
        ours.tune(posture_gain=0.0, obstacle_gain=gain)
        ours.add("ball", pz.Sphere((4.0, -3.0, 0.0), 0.1))
        for y in np.linspace(-3.0, 1.0, 60):
            ours.move("ball", (4.0, y, 0.0))
            ours.tick(DT)
        lead(ours, 60)
        gaps.append(nearest(ours, ours.moment.q[None]))
        assert ours.moment.position_error < 0.05
    assert 1.2 * gaps[0] < gaps[1] < gaps[2]


def test_an_obstacle_that_does_not_repel_is_not_there_for_the_law() -> None:
    ways = []
    for repels in (None, False, True):
        ours = program()
        if repels is not None:
            ours.add("ball", BALL, repels=repels)
        ways.append(lead(ours, 5))
    assert np.abs(ways[0] - ways[1]).max() < 0.05  # no point of it goes faster than 10 m/s
    assert np.abs(ways[0] - ways[2]).max() > 1e-3


def test_s_lets_the_vehicle_go_first() -> None:
    turns = []
    for limit in (None, LIMIT):
        robot = truck()
        ours = Program(robot.model, robot.frame, start=robot.start)
        ours.tune(vehicle_limit=limit, posture_gain=0.0, max_step=math.inf)
        ours.aim((30.0, 15.0, 0.0))
        turns.append(float(np.linalg.norm((ours.tick(DT).q - np.array(robot.start))[2:])))
    assert turns[1] < 0.8 * turns[0]


@pytest.mark.parametrize("name", ["dls", "qp", "jt", "ccd"])
def test_any_method_may_lead(name: str) -> None:
    ours = program()
    ours.add("ball", pz.Sphere((4.5, -3.0, 0.0), 0.3))
    ours.choose(name)
    ours.aim((8.0, 2.0, 0.0))
    lead(ours, 300)
    assert ours.moment.position_error < 0.05
    ours.choose(None)
    assert ours.moment.setup.full_method == program().moment.setup.full_method.__class__(
        null_space=ours.moment.setup.full_method.terms, beta_rule=False
    )


# What stops -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [None, "dls", "qp", "priority"])
def test_driven_through_obstacles_it_keeps_clear(method: str | None) -> None:
    ours = program(setup=Setup(desired=(0.0,) * 10, min_distance=0.05))
    ours.tune(obstacle_gain=0.0)
    ours.choose(method)
    ours.add("ball", BALL, stops=True, repels=False)
    ours.add("box", pz.Box(pz.SE3.from_parts((8.0, -1.6, 0.0)), (0.5, 0.3, 1.0)), stops=True, repels=False)
    ours.add("bar", pz.Capsule((6.0, 2.0, -1.0), (6.0, 2.0, 1.0), 0.2), stops=True, repels=False)
    assert nearest(ours, ours.moment.q[None]) > 0.05
    rows = []
    for velocity in ((-2.0, -3.0, 0.0), (0.0, 4.0, 0.0), (2.0, -1.0, 0.0)):
        ours.drive(velocity)
        rows.append(lead(ours, 150))
        assert ours.moment.trouble is None
    path = np.vstack(rows)
    assert np.abs(path[-1] - path[0]).max() > 0.1
    assert nearest(ours, path) > 0.05 - 1e-6


def test_without_the_limit_the_same_drive_goes_through() -> None:
    ours = program()
    ours.tune(obstacle_gain=0.0)
    ours.add("ball", BALL, repels=False)
    ours.drive((-2.0, -3.0, 0.0))
    assert nearest(ours, lead(ours, 150)) < 0.0
    ours.reset()
    ours.heed("ball", stops=True)
    ours.drive((-2.0, -3.0, 0.0))
    assert nearest(ours, lead(ours, 150)) > 0.0


def test_an_obstacle_that_is_pushed_onto_the_arm_pushes_it_away() -> None:
    ours = program(setup=Setup(desired=(0.0,) * 10, min_distance=0.05))
    ours.tune(obstacle_gain=0.0)
    ours.add("ball", pz.Sphere((4.0, -2.0, 0.0), 0.3), stops=True, repels=False)
    for y in np.linspace(-2.0, 0.5, 600):
        ours.move("ball", (4.0, y, 0.0))
        ours.tick(DT)
    lead(ours, 200)
    assert nearest(ours, ours.moment.q[None]) > 0.045


def test_a_law_is_left_alone_that_is_near_nothing() -> None:
    ways = []
    for stops in (False, True):
        ours = program()
        ours.add("far", pz.Sphere((0.0, 50.0, 0.0), 1.0), stops=stops, repels=False)
        ours.drive((-0.5, -0.5, 0.0))
        ways.append(lead(ours, 60))
    assert np.abs(ways[0] - ways[1]).max() < 0.05  # no point of it goes faster than 10 m/s


def test_joint_limits_and_speeds_hold() -> None:
    model = pz.load("panda")
    ours = Program(model, "panda_hand", turns=True)
    ours.drive((0.5, 0.8, -0.4), (0.0, 2.0, 0.0), frame="tool")
    path = np.vstack([ours.moment.q, lead(ours, 300)])
    assert (path >= model.lower).all()
    assert (path <= model.upper).all()
    assert (np.abs(np.diff(path, axis=0)) <= model.velocity * DT * (1.0 + 1e-9)).all()


def test_a_model_without_shapes_is_kept_clear_by_its_skeleton() -> None:
    model = pz.load("planar5")
    assert not model.shapes
    ours = Program(model, "tool", start=[0.3] * 5, setup=Setup(desired=(0.3,) * 5, min_distance=0.1))
    ours.add("ball", pz.Sphere((2.0, -0.9, 0.0), 0.4), stops=True, repels=False)
    ours.drive((0.0, -3.0, 0.0))
    places = fields_of(model, lead(ours, 200))
    assert min(_to_segments(row, np.array([2.0, -0.9])) for row in places) > 0.5 - 1e-6


def fields_of(model: pz.Model, path: Array) -> Array:
    """(n, links + 1, 2) the joints and the tool."""
    names = [joint.child for joint in model.joints]
    return np.stack([model.pose(name, path).xyz[:, :2] for name in names], axis=1)


def _to_segments(points: Array, centre: Array) -> float:
    along = np.diff(points, axis=0)
    share = np.clip(((centre - points[:-1]) * along).sum(1) / (along * along).sum(1), 0.0, 1.0)
    return float(np.linalg.norm(points[:-1] + share[:, None] * along - centre, axis=1).min())


# The target -----------------------------------------------------------------------------------------------------------


def guided(turns: bool) -> Program:
    return Program(pz.load("panda"), "panda_hand", turns=turns, lead=Lead(0.2, 0.4))


@quick
@given(st.tuples(*[st.floats(-50.0, 50.0)] * 6), st.sampled_from(["world", "tool"]), st.booleans())
def test_a_driven_target_is_never_farther_ahead_than_the_lead(v: tuple[float, ...], frame: Any, turns: bool) -> None:
    ours = guided(turns)
    ours.drive(v[:3], v[3:] if turns else (0.0, 0.0, 0.0), frame=frame)
    for _ in range(10):
        hand, before = ours.moment.hand, ours.moment.position_error
        target = ours.tick(DT).target
        assert np.linalg.norm(target.xyz - hand.xyz) <= max(0.2, before) + 1e-9
        turned = float(np.linalg.norm((target.rotation @ hand.rotation.inverse()).log()))
        assert turned <= (0.4 if any(v[3:]) else math.pi) + 1e-9 if turns else turned < 1e-9


def test_a_drive_is_integrated_along_the_axes_that_are_named() -> None:
    for frame in ("world", "tool"):
        ours = guided(turns=True)
        hand = ours.moment.hand
        way = np.array([1.0, 0.0, 0.0])
        along = hand.rotation.act(way) if frame == "tool" else way
        ours.drive(way, frame=frame)  # type: ignore[arg-type]
        there = ours.tick(DT).target
        np.testing.assert_allclose(there.xyz, hand.xyz + DT * along, atol=1e-15)
        np.testing.assert_array_equal(there.wxyz, hand.wxyz)
        ours.reset()
        ours.drive(angular=way, frame=frame)  # type: ignore[arg-type]
        turned = ours.tick(DT).target
        np.testing.assert_allclose((turned.rotation @ hand.rotation.inverse()).log(), DT * along, atol=1e-12)


def test_keys_that_are_let_go_stop_the_target() -> None:
    ours = program()
    ours.drive((-1.0, 0.0, 0.0))
    lead(ours, 10)
    ours.drive()
    there = ours.moment.target
    lead(ours, 10)
    np.testing.assert_array_equal(ours.moment.target.xyz, there.xyz)


def test_a_target_that_was_aimed_far_away_is_not_brought_nearer_by_a_drive() -> None:
    ours = program()
    ours.aim((0.0, 30.0, 0.0))
    ours.drive((0.0, 0.1, 0.0))
    assert ours.tick(DT).target.xyz[1] > 29.0


# Pause, step, reset ---------------------------------------------------------------------------------------------------


def test_paused_it_rests_and_a_step_is_one_update() -> None:
    ours, other = program(), program()
    for each in (ours, other):
        each.aim((8.0, 2.0, 0.0))
        each.tick(DT)
    ours.pause()
    np.testing.assert_array_equal(lead(ours, 5)[-1], other.moment.q)
    ours.step()
    other.tick(DT)
    np.testing.assert_array_equal(ours.moment.q, other.moment.q)
    assert ours.moment.paused
    assert ours.moment.ticks == 2
    ours.resume()
    np.testing.assert_array_equal(lead(ours, 3), lead(other, 3))


def test_reset_goes_back_to_the_start_and_what_follows_is_the_same() -> None:
    ours = program()
    ours.aim((8.0, 2.0, 0.0))
    first = lead(ours, 30)
    ours.reset()
    assert ours.moment.time == 0.0
    np.testing.assert_array_equal(ours.moment.q, ten_links().start)
    np.testing.assert_array_equal(ours.moment.target.array, ours.moment.hand.array)
    ours.aim((8.0, 2.0, 0.0))
    np.testing.assert_array_equal(lead(ours, 30), first)
    ours.reset(np.full(10, 0.1))
    lead(ours, 5)
    ours.reset()
    np.testing.assert_array_equal(ours.moment.q, np.full(10, 0.1))


def test_an_edit_keeps_the_joints_where_they_are() -> None:
    ours = program()
    ours.aim((8.0, 2.0, 0.0))
    lead(ours, 10)
    q = ours.moment.q
    ours.tune(posture_gain=1.0)
    ours.add("ball", BALL, stops=True)
    ours.choose("dls")
    np.testing.assert_array_equal(ours.moment.q, q)


def test_what_is_around_may_change_its_shape_and_go() -> None:
    ours = program()
    ours.add("it", BALL)
    ours.reshape("it", pz.Box(BALL.pose, (1.0, 1.0, 1.0)))
    assert ours.moment.setup.obstacle("it").shape == pz.Box(BALL.pose, (1.0, 1.0, 1.0))
    ours.move("it", pz.SE3.from_parts((1.0, 5.0, 0.0)))
    assert ours.moment.setup.obstacle("it").shape == pz.Box(pz.SE3.from_parts((1.0, 5.0, 0.0)), (1.0, 1.0, 1.0))
    ours.heed("it", repels=False)
    assert ours.moment.setup.obstacle("it") == Obstacle(
        name="it", shape=pz.Box(pz.SE3.from_parts((1.0, 5.0, 0.0)), (1.0, 1.0, 1.0)), repels=False
    )
    ours.remove("it")
    assert ours.moment.setup.obstacles == ()


@pytest.mark.parametrize("name", ROBOTS)
def test_the_default_robots_run(name: str) -> None:
    robot = ROBOTS[name]()
    ours = Program(robot.model, robot.frame, start=robot.start)
    ours.drive((-0.5, 0.5, 0.0))
    assert ours.moment.hand.xyz[0] > lead_to(ours, 20)


def lead_to(ours: Program, ticks: int) -> float:
    lead(ours, ticks)
    return float(ours.moment.hand.xyz[0])


# Refusals -------------------------------------------------------------------------------------------------------------

NAN = math.nan
REFUSED: list[tuple[Callable[[Program], Any], str]] = [
    (lambda p: p.aim((NAN, 0.0, 0.0)), r"target\[0\] is nan"),
    (lambda p: p.aim((1e300, 0.0, 0.0)), r"target\[0\] is 1e\+300"),
    (lambda p: p.aim((1.0, 2.0)), "target must be an SE3"),
    (lambda p: p.aim("there"), "target must be numbers"),
    (lambda p: p.aim(None), "target"),
    (lambda p: p.aim([0.0] * 7), "zero quaternion"),
    (lambda p: p.drive((NAN, 0.0, 0.0)), r"linear\[0\] is nan"),
    (lambda p: p.drive((0.0, 0.0)), "linear must have shape"),
    (lambda p: p.drive((0.0,) * 3, (0.0, math.inf, 0.0)), r"angular\[1\] is inf"),
    (lambda p: p.drive(frame="hand"), "frame is 'hand'; it must be one of 'world', 'tool'"),  # type: ignore[arg-type]
    (lambda p: p.tune(alpha=NAN), "alpha is nan"),
    (lambda p: p.tune(alpha=2.5), "alpha is 2.5"),
    (lambda p: p.tune(gamma=1.0), "the law has no 'gamma'"),
    (lambda p: p.tune(posture_gain=-1.0), "posture_gain is -1.0"),
    (lambda p: p.tune(obstacle_gain="much"), "obstacle_gain is 'much'"),
    (lambda p: p.tune(beta=math.inf), "beta is inf"),
    (lambda p: p.tune(vehicle_limit=0.0), "vehicle_limit is 0.0"),
    (lambda p: p.tune(position_stiffness=0.0), "position_stiffness is 0.0"),
    (lambda p: p.choose("prioriti"), "no method 'prioriti'; did you mean 'priority'"),
    (lambda p: p.choose(pz.methods.DampedLeastSquares(null_space=pz.criteria.RestPosture())), "leave null_space out"),
    (lambda p: p.choose(7), "method must be a short name"),  # type: ignore[arg-type]
    (lambda p: p.desire([0.0] * 9), "desired must have 10 numbers"),
    (lambda p: p.desire([NAN] * 10), r"desired\[0\] is nan"),
    (lambda p: p.desire([[0.0] * 10]), "desired must be one configuration"),
    (lambda p: p.keep(min_distance=-0.1), "min_distance is -0.1"),
    (lambda p: p.keep(updates=0), "updates"),
    (lambda p: p.keep(updates=10**9), "updates is 1000000000"),
    (lambda p: p.keep(self_collision=1), "self_collision must be True or False"),
    (lambda p: p.keep(speed=1), "there is no setting 'speed'"),
    (lambda p: p.add("ball", BALL), "there is an obstacle 'ball' already"),
    (lambda p: p.add("", BALL), "is no name for an obstacle"),
    (lambda p: p.add(" a", BALL), "is no name for an obstacle"),
    (lambda p: p.add(7, BALL), "the name of an obstacle must be a str"),  # type: ignore[arg-type]
    (lambda p: p.add("floor", pz.HalfSpace((0, 0, 0), (0, 0, 1))), "must be a Sphere, a Capsule or a Box"),  # type: ignore[arg-type]
    (lambda p: p.add("x", BALL, stops="yes"), "stops of the obstacle 'x' must be True or False"),  # type: ignore[arg-type]
    (lambda p: p.move("bal", (0.0, 0.0, 0.0)), "the scene has no shape 'bal'; did you mean 'ball'"),
    (lambda p: p.move("ball", (NAN, 0.0, 0.0)), "is nan"),
    (lambda p: p.reshape("ball", None), "the obstacle 'ball' must be a Sphere"),  # type: ignore[arg-type]
    (lambda p: p.heed("ball", repels=3), "repels of the obstacle 'ball' must be True or False"),  # type: ignore[arg-type]
    (lambda p: p.remove("none"), "the scene has no shape 'none'"),
    (lambda p: p.tick(0.0), "dt is 0.0"),
    (lambda p: p.tick(NAN), "dt is nan"),
    (lambda p: p.tick(5.0), "a tick takes at most 1 s"),
    (lambda p: p.reset([0.0]), "start must have 10 numbers"),
    (lambda p: p.stop(), "nothing is being recorded"),
    (lambda p: p.commit("best"), "there is no attempt 'best'; there are: none"),
    (lambda p: p.discard("best"), "there is no attempt 'best'"),
    (lambda p: p.record("\n"), "is no name for an attempt"),
]


@pytest.mark.parametrize(("edit", "message"), REFUSED)
def test_what_makes_no_sense_is_refused_in_a_sentence_and_changes_nothing(
    edit: Callable[[Program], Any], message: str
) -> None:
    ours = program()
    ours.add("ball", BALL, stops=True)
    ours.aim((8.0, 2.0, 0.0))
    ours.tick(DT)
    before, work = ours.moment, ours.work
    with pytest.raises(REFUSALS, match=message):
        edit(ours)
    assert ours.moment is before
    assert ours.work == work
    other = program()
    other.add("ball", BALL, stops=True)
    other.aim((8.0, 2.0, 0.0))
    other.tick(DT)
    np.testing.assert_array_equal(lead(ours, 3), lead(other, 3))


def test_limits_are_asked_of_desired_joints_and_starts() -> None:
    ours = Program(pz.load("panda"), "panda_hand")
    for edit in (ours.desire, ours.reset):
        with refused("outside-limits", "limits"):
            edit(np.full(ours.model.nq, 3.0))


def test_a_robot_that_cannot_be_guided_is_refused() -> None:
    with pytest.raises(pz.FrameNotFound, match="no frame 'hand'"):
        Program(pz.load("planar5"), "hand")
    with refused("nothing-moves", "'link0'"):
        Program(pz.load("planar5"), "link0")
    with refused("not-a-bool", "turns"):
        Program(pz.load("planar5"), turns=1)  # type: ignore[arg-type]
    with refused("outside-limits", "'panda_joint1'"):
        Program(pz.load("panda"), "panda_hand", start=[9.0] * pz.load("panda").nq)


def test_a_step_that_fails_is_told_and_the_joints_stay() -> None:
    ours = Program(pz.load("planar3"), "tool", start=[0.0] * 3)
    ours.tune(posture_gain=0.0)
    ours.choose(pz.methods.DampedLeastSquares(damping=0.0, form="rows", max_error=None))
    ours.aim((2.0, 0.0, 0.0))
    for _ in range(2):
        shown = ours.tick(DT)
        assert shown.trouble is not None
        assert "damp the method" in shown.trouble
        np.testing.assert_array_equal(shown.q, [0.0] * 3)
    ours.choose(None)
    ours.aim((1.0, 2.0, 0.0))
    assert ours.tick(DT).trouble is None
    assert np.abs(ours.moment.q).max() > 0.0


# Threads --------------------------------------------------------------------------------------------------------------


def test_ticks_go_on_while_a_method_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, begun, go_on = program(), threading.Event(), threading.Event()
    ours.tick(DT)
    make = Program._tracker_for

    def slowly(self: Program, *given: Any) -> Any:
        begun.set()
        assert go_on.wait(60.0)
        return make(self, *given)

    monkeypatch.setattr(Program, "_tracker_for", slowly)
    editor = threading.Thread(target=ours.tune, kwargs={"alpha": 0.5})
    editor.start()
    assert begun.wait(60.0)
    lead(ours, 3)
    assert ours.moment.setup.law.alpha == 1.0
    go_on.set()
    editor.join()
    assert ours.moment.setup.law.alpha == 0.5
    assert ours.moment.ticks == 4


def test_edits_of_two_threads_are_both_made() -> None:
    ours = program()

    def adds(which: int) -> None:
        for i in range(6):
            ours.add(f"{which} {i}", pz.Sphere((0.0, 20.0 + which, float(i)), 0.2))

    threads = [threading.Thread(target=adds, args=(which,)) for which in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ours.moment.setup.obstacles) == 18


def test_threads_edit_and_look_while_it_runs() -> None:
    ours, stop, wrong = program(), threading.Event(), []

    def edits(which: int) -> None:
        rng = np.random.default_rng(which)
        name = f"ball {which}"
        try:
            for i in range(8):
                ours.add(name, pz.Sphere((4.0, 3.0 + which, 0.0), 0.2), stops=bool(i % 2))
                ours.move(name, (4.0, 3.0 + rng.uniform(), 0.0))
                ours.tune(posture_gain=float(rng.uniform()))
                ours.desire(rng.uniform(-0.1, 0.1, 10))
                ours.drive(rng.uniform(-1.0, 1.0, 3))
                with pytest.raises(REFUSALS):
                    ours.aim((NAN, 0.0, 0.0))
                ours.remove(name)
        except BaseException as error:
            wrong.append(error)

    def looks() -> None:
        try:
            while not stop.wait(1e-3):  # or it takes a core from what it looks at
                shown = ours.moment
                np.testing.assert_array_equal(ours.model.pose("tool", shown.q).array, shown.hand.array)
                assert not shown.q.flags.writeable
        except BaseException as error:
            wrong.append(error)

    editors = [threading.Thread(target=edits, args=(i,)) for i in (0, 1)]
    looker = threading.Thread(target=looks)
    for thread in (*editors, looker):
        thread.start()
    while any(thread.is_alive() for thread in editors):
        assert ours.tick(DT).trouble is None
    stop.set()
    for thread in (*editors, looker):
        thread.join()
    assert not wrong
    assert ours.moment.setup.obstacles == ()
