"""What is looked at, without a browser: dragged targets, methods, obstacles, and whatever a panel may send."""

import math
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import poise as pz
from poise.common.array import Array
from poise.geometry.shapes import Box, Capsule, HalfSpace, Sphere
from poise.geometry.world import World
from poise.model.builder import ModelBuilder
from poise.model.joint import Mimic
from poise.model.model import Model
from poise.spatial import SE3
from poise.viewer.session.aims import TASK_KINDS, default_task, gizmo_of, kind_of, new_task
from poise.viewer.session.session import Moment, Session

PLANAR = pz.load("planar3")
PANDA = pz.load("panda")
METHODS = [None, "dls", "lm", "qp"]


def armoured() -> Model:
    """A planar arm of three links that are capsules."""
    model = pz.load("planar3")
    links = [joint.child for joint in model.joints if joint.nq]
    return model.with_shapes({link: Capsule((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 0.05) for link in links})


ARMOURED = armoured()


def mixed() -> Model:
    """A ball joint, a hinge, one that follows it, and a slide."""
    builder = ModelBuilder("mixed")
    along = SE3.from_parts((0.5, 0.0, 0.0))
    builder.joint("s", "spherical", parent="world", child="a")
    builder.joint("r", "revolute", parent="a", child="b", axis=(0, 1, 0), origin=along, limits=(-2.0, 2.0))
    mimic = Mimic(joint="r", multiplier=0.5)
    builder.joint("m", "revolute", parent="b", child="c", axis=(0, 1, 0), origin=along, mimic=mimic)
    builder.joint("p", "prismatic", parent="c", child="d", axis=(1, 0, 0), origin=along, limits=(0.0, 0.4))
    return builder.build()


def settled(session: Session, most: int = 400) -> Moment:
    """Ticks until nothing moves."""
    for _ in range(most):
        moment = session.tick()
        if moment.resting:
            return moment
    raise AssertionError(f"it moves after {most} ticks still: {moment.errors}")


def at(place: Any) -> list[float]:
    return [*place, 1.0, 0.0, 0.0, 0.0]


@contextmanager
def refused(session: Session, *words: str) -> Iterator[None]:
    """Within it, one change is refused in a sentence with these words, and all is as it was and works."""
    before = session.tasks, session.method, session.second, session.compared, session.apart, session.clearance
    goals, q, ghost = session.tick().goals.copy(), session.moment.q.copy(), session.moment.ghost is None
    yield
    assert len(session.refusal.split()) > 3, session.refusal
    for word in words:
        assert word in session.refusal
    after = session.tasks, session.method, session.second, session.compared, session.apart, session.clearance
    assert after == before
    moment = session.tick()
    assert (moment.goals == goals).all()
    assert moment.q == pytest.approx(q, abs=1e-6)
    assert (moment.ghost is None) == ghost


# Targets -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_dragged_target_is_reached(method: str | None) -> None:
    session = Session(PANDA, pz.PoseTask(PANDA.tip), method=method)
    for share in (0.5, 1.0):
        q = PANDA.interpolate(PANDA.home, PANDA.home + np.array([0.3, 0.2, -0.3, 0.2, 0.3, -0.2, 0.4]), share)
        want = PANDA.pose(PANDA.tip, q)
        assert session.drag(0, want.array)
        moment = settled(session)
        off = want.inverse() @ PANDA.pose(PANDA.tip, moment.q)
        assert np.linalg.norm(off.xyz) < 1e-4
        assert abs(off.array[3]) == pytest.approx(1.0, abs=1e-6)
        assert PANDA.within_limits(moment.q)
    session.release()
    assert pz.solve(PANDA, pz.PoseTask(PANDA.tip, want), q0=moment.q).success
    off = want.inverse() @ PANDA.pose(PANDA.tip, session.moment.q)
    assert np.linalg.norm(off.xyz) < 1e-6
    assert "on target" in session.moment.words
    assert session.moment.goals[0] == pytest.approx(want.array)


@pytest.mark.parametrize("method", METHODS)
def test_released_out_of_reach_the_target_snaps_to_what_was_reached(method: str | None) -> None:
    session = Session(PLANAR, pz.PositionTask("tool"), method=method)
    assert session.drag(0, at((3.0, 4.0, 0.0)))
    for _ in range(30):
        session.tick()
    session.release()
    moment = session.moment
    assert "out of reach" in moment.words
    reached = PLANAR.pose("tool", moment.q).xyz
    assert reached == pytest.approx([1.8, 2.4, 0.0], abs=1e-3)  # the arm is 3 m long and points there
    assert moment.goals[0, :3] == pytest.approx(reached)
    assert session.gizmo_pose(0)[:3] == pytest.approx(reached)  # type: ignore[index]
    later = settled(session)
    assert later.words == moment.words
    assert later.q == pytest.approx(moment.q, abs=1e-3)


def test_what_is_reached_is_on_target_and_what_is_not_has_its_digits() -> None:
    """What is left within the tolerances is noise, such as 1e-23 rad."""
    session = Session(PLANAR, pz.PositionTask("tool"), q=[0.3, 0.4, 0.5])
    assert settled(session).words == "At rest: PositionTask('tool') on target."
    session.drag(0, at((3.0, 4.0, 0.0)))  # 2 m more than the arm is long
    assert session.tick().errors[0].startswith("PositionTask('tool') ")
    assert session.moment.errors[0].endswith(" m")


def test_every_kind_of_task_is_offered_and_has_a_gizmo() -> None:
    for kind in TASK_KINDS:
        task = new_task(kind, "panda_hand", weight=2.0, priority=1)
        assert kind_of(task) == kind
        assert task.priority == 1
        assert gizmo_of(task) is not None
    with pytest.raises(KeyError):
        new_task("nonsense", "panda_hand")
    for weight in (-1.0, math.nan):
        with pytest.raises(ValueError, match="weight"):
            new_task("pose", "panda_hand", weight=weight)
    with pytest.raises(ValueError, match="priority"):
        new_task("pose", "panda_hand", priority=-1)


@pytest.mark.parametrize("kind", TASK_KINDS)
@settings(max_examples=40)
@given(numbers=st.lists(st.floats(-1.0, 1.0), min_size=7, max_size=7))
def test_goals_and_gizmos_are_inverse_to_each_other(kind: str, numbers: list[float]) -> None:
    """Of a gizmo that is put where the goal stands, the goal is asked for again; and so on from there."""
    if np.linalg.norm(numbers[3:]) < 1e-3:
        numbers[3] = 1.0
    model, task = MASSIVE, new_task(kind, "link")
    gizmo = gizmo_of(task)
    assert gizmo is not None
    goal = gizmo.goal(task, SE3(numbers).array)
    q = model.home
    stands = gizmo.stands(task, goal, model, q)
    assert np.linalg.norm(stands[3:]) == pytest.approx(1.0)
    again = gizmo.goal(task, stands)
    assert again == pytest.approx(goal, abs=1e-6)  # a quaternion a rounding away from a turn tells no more
    if not gizmo.slides:
        assert stands[:3] == pytest.approx(model.pose("link", q).xyz)
    else:
        assert stands[:3] == pytest.approx(goal[:3])


@pytest.mark.parametrize("direction", [(0, 0, 1), (0, 0, -1), (0, 1e-7, -1), (1e-9, 0, -1), (3, 0, 0), (0, -2e-3, 0)])
def test_the_axis_of_a_gizmo_is_the_direction_even_where_it_turns_over(direction: tuple[float, ...]) -> None:
    task = pz.AxisTask("link", target=direction)
    goal = task.goal(direction)
    stands = gizmo_of(task).stands(task, goal, MASSIVE, MASSIVE.home)  # type: ignore[union-attr]
    turned = SE3(stands).rotation.act(np.array([0.0, 0.0, 1.0]))
    assert turned == pytest.approx(np.array(direction) / np.linalg.norm(direction), abs=1e-6)


def massive() -> Model:
    builder = ModelBuilder("massive")
    builder.joint("s", "spherical", parent="world", child="link", origin=SE3.from_parts((0.1, 0.2, 0.3)))
    builder.mass("link", 2.0, centre=(0.0, 0.0, 0.5))
    return builder.build()


MASSIVE = massive()


@pytest.mark.parametrize("kind", TASK_KINDS)
def test_every_kind_of_task_is_led(kind: str) -> None:
    """Goals that another configuration fulfils are reached from home."""
    model = MASSIVE
    session = Session(model, new_task(kind, "link"))
    q = model.normalize([0.9, 0.3, 0.2, 0.1])
    task = session.tasks[0]
    pose = gizmo_of(task).stands(task, task.at(model, q), model, q)  # type: ignore[union-attr]
    assert session.drag(0, pose), session.refusal
    moment = settled(session)
    session.release()
    assert "on target" in session.moment.words
    assert session.moment.goals == pytest.approx(moment.goals)


# What a panel may send -----------------------------------------------------------------------------------------------

BAD_POSES: list[Any] = [
    [math.nan] * 7, at((math.inf, 0.0, 0.0)), at((1e300, 0.0, 0.0)), at((-1e17, 0.0, 0.0)), [0.0] * 7, [0.0] * 3, [],
    None, "here", [at((0.0, 0.0, 0.0))], [0.0, 0.0, 0.0, 1e-320, 0.0, 0.0, 0.0], {},
]  # fmt: skip


@pytest.mark.parametrize("pose", BAD_POSES, ids=lambda pose: str(pose)[:24])
@pytest.mark.parametrize("method", [None, "dls"])
def test_a_pose_that_is_none_changes_nothing_and_says_why(method: str | None, pose: Any) -> None:
    session = Session(PLANAR, pz.PositionTask("tool"), method=method)
    with refused(session):
        assert not session.drag(0, pose)
    assert session.drag(0, at((1.0, 1.0, 0.0)))
    assert session.refusal == ""
    assert PLANAR.pose("tool", settled(session).q).xyz == pytest.approx([1.0, 1.0, 0.0], abs=1e-4)


@settings(max_examples=100)
@given(st.lists(st.floats(width=64), min_size=7, max_size=7))
def test_no_seven_numbers_end_the_loop(pose: list[float]) -> None:
    session = Session(PLANAR, pz.PositionTask("tool"))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "overflow", RuntimeWarning)  # from the squares of numbers beyond 1e154
        taken = session.drag(0, pose)
    assert taken == (session.refusal == "")
    for _ in range(2):
        assert np.isfinite(session.tick().q).all()
    session.release()
    assert np.isfinite(session.tick().q).all()
    assert np.isfinite(session.moment.goals).all()


@pytest.mark.parametrize(
    "q", [[math.nan] * 3, [math.inf] * 3, [1e300] * 3, [0.0] * 2, None, "q", [[0.0] * 3] * 2], ids=str
)
def test_a_configuration_that_is_none_changes_nothing_and_says_why(q: Any) -> None:
    session = Session(PLANAR, pz.PositionTask("tool"))
    with refused(session):
        assert not session.put(q)


@pytest.mark.parametrize("k", [-1, 1, 99])
def test_a_target_that_is_not_there_is_refused(k: int) -> None:
    session = Session(PLANAR, pz.PositionTask("tool"))
    with refused(session, "no target"):
        assert not session.drag(k, at((1.0, 1.0, 0.0)))
    with refused(session, "no target"):
        assert not session.remove_task(k)
    with refused(session, "no target"):
        assert not session.replace_task(k, pz.PositionTask("tool"))


def test_what_cannot_be_is_refused_and_everything_works_on() -> None:
    session = Session(ARMOURED, pz.PositionTask("tool"), method="dls")
    for bad in (-1.0, math.nan, "wide", True):
        with refused(session, "min_distance"):
            assert not session.keep_apart(bad)  # type: ignore[arg-type]
    for unheard in (-1.0, math.nan, 0.0, math.inf, "much"):
        with refused(session, "gain"):
            assert not session.heed(unheard)  # type: ignore[arg-type]
    with refused(session, "no method 'nonsense'"):
        assert not session.use("nonsense")
    with refused(session, "no method 'nonsense'"):
        assert not session.compare("nonsense")
    with refused(session, "no frame 'elbow'"):
        assert not session.add_task(pz.PositionTask("elbow"))
    with refused(session, "cannot be looked at"):
        assert not session.add_task(pz.PostureTask())
    with refused(session, "is not LookAtTask"):
        assert not session.replace_task(0, pz.LookAtTask("tool"))
    with refused(session):
        assert not session.use(pz.methods.METHODS["lbfgs"](memory=10**12))
    with refused(session, "no shape 'ball'"):
        assert not session.remove_obstacle("ball")
    with refused(session, "no shape 'ball'"):
        assert not session.set_obstacle("ball", Sphere((0.0, 0.0, 0.0), 1.0))
    assert session.keep_apart(0.05)
    assert session.drag(0, at((1.0, 1.5, 0.0)))
    assert ARMOURED.pose("tool", settled(session).q).xyz == pytest.approx([1.0, 1.5, 0.0], abs=1e-3)


def test_a_refused_comparison_leaves_the_ghost_where_it_is() -> None:
    session = Session(PLANAR, pz.PositionTask("tool"))
    assert session.compare("dls")
    session.drag(0, at((1.0, 1.0, 0.0)))
    session.tick()
    ghost = session.moment.ghost
    assert ghost is not None
    assert not session.compare("nonsense")
    session._stir()
    assert np.abs(session.tick().ghost - ghost).max() < np.abs(session.moment.ghost - PLANAR.home).max()  # type: ignore[operator]


# Tasks and methods ---------------------------------------------------------------------------------------------------


def test_tasks_come_and_go_and_begin_where_the_robot_is() -> None:
    session = Session(PANDA)
    assert session.tick().resting
    assert session.moment.lead is None
    grown = [session.moment.structure]
    for kind in ("position", "axis"):
        assert session.add_task(new_task(kind, "panda_hand")), session.refusal
        moment = session.tick()
        grown.append(moment.structure)
        assert moment.q == pytest.approx(PANDA.home, abs=1e-6)
        assert len(moment.goals) == len(moment.errors) == len(session.tasks)
    want = PANDA.pose("panda_hand", PANDA.home).xyz + np.array([0.0, 0.2, -0.1])
    assert session.drag(0, at(want))
    before = PANDA.pose("panda_hand", PANDA.home).rotation.act(np.array([0.0, 0.0, 1.0]))
    q = settled(session).q
    assert PANDA.pose("panda_hand", q).xyz == pytest.approx(want, abs=1e-4)
    assert PANDA.pose("panda_hand", q).rotation.act(np.array([0.0, 0.0, 1.0])) == pytest.approx(before, abs=1e-4)
    assert session.remove_task(0)
    assert [kind_of(task) for task in session.tasks] == ["axis"]
    assert session.tick().goals[0, :3] == pytest.approx(before, abs=1e-6)
    assert session.remove_task(0)
    moment = session.tick()
    grown.append(moment.structure)
    assert moment.resting
    assert moment.goals.shape == (0, 7)
    assert sorted(set(grown)) == grown
    session.release()
    assert session.refusal == ""


def test_a_heavier_task_gets_nearer_and_a_prior_one_is_fulfilled() -> None:
    """Two places for one point 2 m apart: it stands between them as the weights say."""
    tasks = [pz.PositionTask("tool", weight=1.0), pz.PositionTask("tool", weight=1.0)]
    session = Session(PLANAR, tasks, q=[0.3, 0.8, 0.8], method="dls")
    session.drag(0, at((0.0, 1.5, 0.0)))
    session.drag(1, at((2.0, 1.5, 0.0)))
    assert PLANAR.pose("tool", settled(session).q).xyz == pytest.approx([1.0, 1.5, 0.0], abs=0.15)
    assert session.replace_task(0, replace(tasks[0], weight=3.0))
    # Rows are weighed by w, squares by w^2: 9 to 1.
    assert PLANAR.pose("tool", settled(session).q).xyz == pytest.approx([0.2, 1.5, 0.0], abs=0.25)
    assert session.replace_task(1, replace(tasks[1], priority=1)), session.refusal
    session.release()
    assert PLANAR.pose("tool", session.moment.q).xyz == pytest.approx([0.0, 1.5, 0.0], abs=1e-3)


def test_a_moment_is_of_one_piece_whatever_the_session_has_become() -> None:
    session = Session(PANDA, [pz.PositionTask("panda_hand"), pz.AxisTask("panda_hand")])
    moment = session.tick()
    poses = [session.gizmo_pose(k, moment) for k in range(2)]
    assert session.remove_task(0)
    for k, pose in enumerate(poses):
        assert session.gizmo_pose(k, moment) == pytest.approx(pose)
    assert len(moment.errors) == 2
    q, goals = moment.q.copy(), moment.goals.copy()
    session.drag(0, at((0.3, 0.0, 0.9)))
    session.random(3)
    session.tick()
    assert (moment.q == q).all()
    assert (moment.goals == goals).all()


def test_at_rest_nothing_is_solved() -> None:
    session = Session(PLANAR, pz.PositionTask("tool"))
    moment = settled(session)
    assert session._lead is not None
    calls = 0

    def counted(*_: Any) -> Any:
        nonlocal calls
        calls += 1
        return moment.q

    steps, session._lead = session._lead, _Counting(session._lead, counted)  # type: ignore[assignment]
    for _ in range(10):
        assert session.tick() is moment
    assert calls == 0
    session.world.add("far", Sphere((9.0, 9.0, 0.0), 0.1))
    assert session.tick() is not moment
    assert calls == 1
    session._lead = steps


class _Counting:
    def __init__(self, lead: Any, step: Any) -> None:
        self._lead, self.step = lead, step

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lead, name)


def test_the_ghost_follows_its_own_method() -> None:
    session = Session(PLANAR, pz.PositionTask("tool"), q=[0.3, 0.8, 0.8])
    assert session.tick().ghost is None
    assert session.compare("dls")
    assert session.compared
    session.drag(0, at((1.0, 1.5, 0.0)))
    moment = settled(session)
    assert moment.ghost is not None
    for q in (moment.q, moment.ghost):
        assert PLANAR.pose("tool", q).xyz == pytest.approx([1.0, 1.5, 0.0], abs=1e-4)
    ((_, trace),) = session.convergence()
    assert trace.error[-1] < 1e-3 * trace.error[0]
    assert session.put([0.1, 0.1, 0.1])
    assert session.tick().ghost == pytest.approx([0.1] * 3, abs=1e-6)
    assert session.compare(None, on=False)
    assert session.tick().ghost is None


def test_all_solutions_fulfil_the_targets() -> None:
    arm = pz.load("planar2")
    session = Session(arm, pz.PositionTask("tool"), q=[0.3, 0.8])
    session.drag(0, at((1.0, 1.0, 0.0)))
    many = session.all_solutions()
    assert len(many) == 2  # elbow up and elbow down
    for q in many:
        assert arm.pose("tool", q).xyz == pytest.approx([1.0, 1.0, 0.0], abs=1e-5)
    assert len(session.all_solutions(most=1)) == 1
    assert Session(arm).all_solutions().shape == (0, 2)


# Joints --------------------------------------------------------------------------------------------------------------


def test_a_configuration_takes_the_targets_along_and_stays_within_limits() -> None:
    session = Session(PANDA, pz.PoseTask(PANDA.tip))
    assert session.put(PANDA.upper + 1.0)
    moment = session.tick()
    assert moment.q == pytest.approx(PANDA.upper, abs=1e-6)
    assert session.at_limit(moment.q).all()
    assert moment.goals[0] == pytest.approx(PANDA.pose(PANDA.tip, moment.q).array, abs=1e-6)
    session.home()
    assert session.tick().q == pytest.approx(PANDA.home, abs=1e-6)
    assert not session.at_limit(PANDA.home).any()
    session.random(5)
    assert session.tick().q == pytest.approx(PANDA.sample(seed=5), abs=1e-6)
    assert not Session(PLANAR).at_limit(PLANAR.home).any()  # no limits


def test_a_robot_without_joints_breaks_nothing() -> None:
    builder = ModelBuilder("stone")
    builder.link("stone")
    model = builder.build()
    assert default_task(model) is None
    session = Session(model)
    assert session.tick().resting
    with refused(session, "does not move"):
        assert not session.add_task(pz.PositionTask("stone"))
    assert session.put([])
    session.home()
    session.random(1)
    session.release()
    assert session.all_solutions().shape == (0, 0)
    assert session.convergence() == []
    assert session.jacobian(np.zeros(0)) is None
    assert session.at_limit(np.zeros(0)).shape == (0,)
    with refused(session, "no target"):
        assert not session.remove_task(0)
    assert session.add_obstacle("ball", Sphere((0.0, 0.0, 0.0), 1.0))
    assert session.use("dls")
    assert session.compare("lm")
    assert session.tick().resting


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_ball_joints_mimics_and_slides_are_led(base: str) -> None:
    model = mixed()
    if base == "floating":
        builder = ModelBuilder("free")
        builder.link("body")
        builder.joint("r", "revolute", parent="body", child="d", axis=(0, 1, 0), limits=(-2.0, 2.0))
        model = builder.build(base="floating")
    task = default_task(model)
    assert isinstance(task, pz.PoseTask)
    session = Session(model, task)
    for seed in range(3):
        want = model.pose(model.tip, model.sample(seed=seed))
        assert session.drag(0, want.array)
        session.release()
        assert "on target" in session.moment.words
        assert model.pose(model.tip, session.moment.q).xyz == pytest.approx(want.xyz, abs=1e-5)
    session.random(4)
    q = settled(session).q
    assert model.normalize(q) == pytest.approx(q)
    assert model.within_limits(q)


def test_a_tip_that_few_joints_move_is_led_by_place_and_others_by_pose() -> None:
    assert isinstance(default_task(PLANAR), pz.PositionTask)
    assert isinstance(default_task(PANDA), pz.PoseTask)


# Obstacles -----------------------------------------------------------------------------------------------------------

LEAST = 0.05


def test_obstacles_from_other_threads_are_kept_away_from_at_every_tick() -> None:
    """A ball goes round the arm's side, boxes come and go; the target lies behind them."""
    world = World()
    session = Session(ARMOURED, pz.PositionTask("tool"), q=[0.2, 0.5, 0.5], world=world)
    assert session.keep_apart(LEAST), session.refusal
    assert session.add_obstacle("ball", Sphere((1.0, -1.2, 0.0), 0.2))
    ended, errors = threading.Event(), []
    step, moved = threading.Semaphore(0), threading.Semaphore(0)

    def disturb() -> None:
        try:
            for i in range(60):
                step.acquire()
                world.move("ball", SE3.from_parts((1.0 + 0.01 * i, -1.2, 0.0)))
                if i % 6 == 0:
                    world.add(f"box {i}", Box(SE3.from_parts((-1.5, -1.5 + 0.01 * i, 0.0)), (0.2, 0.2, 0.2)))
                if i % 6 == 3:
                    world.remove(f"box {i - 3}")
                session.drag(0, at((2.0, -0.5 - 0.01 * i, 0.0)))
                moved.release()
        except Exception as error:
            errors.append(error)
        finally:
            ended.set()

    thread = threading.Thread(target=disturb)
    thread.start()
    for _ in range(60):
        step.release()
        assert moved.acquire(timeout=20.0)
        moment = session.tick()
        near = ARMOURED.distance(moment.q, world)
        assert float(near) >= LEAST - 0.01  # the ball itself comes nearer by as much
    thread.join(20.0)
    assert ended.is_set()
    assert errors == []
    for _ in range(200):
        moment = session.tick()
    assert float(ARMOURED.distance(moment.q, world)) >= LEAST - 1e-4
    assert moment.nearest is not None
    assert moment.nearest.distance == pytest.approx(float(ARMOURED.distance(moment.q, world)))


def test_at_rest_the_asked_distance_holds_with_a_target_inside_an_obstacle() -> None:
    session = Session(ARMOURED, pz.PositionTask("tool"), q=[0.2, 0.5, 0.5])
    assert session.keep_apart(LEAST)
    assert session.add_obstacle("ball", Sphere((1.5, -1.0, 0.0), 0.3))
    session.drag(0, at((1.5, -1.0, 0.0)))
    for _ in range(200):
        moment = session.tick()
        assert float(ARMOURED.distance(moment.q, session.world)) >= LEAST - 1e-4
    session.release()
    assert "on target" not in session.moment.words
    assert float(ARMOURED.distance(session.moment.q, session.world)) >= LEAST - 1e-4
    for _ in range(20):
        moment = session.tick()
        assert float(ARMOURED.distance(moment.q, session.world)) >= LEAST - 1e-4


def test_an_obstacle_put_onto_the_arm_pushes_it_away_and_wakes_it() -> None:
    session = Session(ARMOURED, pz.PositionTask("tool"), q=[0.2, 0.5, 0.5])
    assert session.keep_apart(LEAST)
    assert session.add_obstacle("ball", Sphere((0.0, -3.0, 0.0), 0.1))
    settled(session)
    elbow = ARMOURED.pose("tool", session.moment.q).xyz
    assert session.set_obstacle("ball", Sphere((elbow[0] + 0.1, elbow[1], 0.0), 0.1))
    for _ in range(100):
        moment = session.tick()
    assert float(ARMOURED.distance(moment.q, session.world)) >= LEAST - 1e-4
    assert session.remove_obstacle("ball")
    session.tick()
    assert session.moment.nearest is None or session.moment.nearest.distance > LEAST


def test_without_shapes_nothing_can_be_kept_apart() -> None:
    session = Session(PLANAR, pz.PositionTask("tool"))
    with refused(session, "no collision shapes"):
        assert not session.keep_apart(LEAST)


def test_names_of_obstacles_that_are_none_or_taken_are_refused() -> None:
    session = Session(PLANAR, pz.PositionTask("tool"))
    ball = Sphere((2.0, 2.0, 0.0), 0.1)
    assert session.add_obstacle("ball", ball)
    for name, shape in (("", ball), (3, ball), ("ball", ball), ("other", "shape")):
        with refused(session):
            assert not session.add_obstacle(name, shape)  # type: ignore[arg-type]
    assert session.world.names == ("ball",)


@pytest.mark.parametrize(
    "shape",
    [Sphere((1.9, 1.6, 0.0), 0.1), Box(SE3.from_parts((1.9, 1.6, 0.0)), (0.2, 0.2, 0.2)),
     Capsule((1.9, 1.6, -0.1), (1.9, 1.6, 0.1), 0.1)],
    ids=["sphere", "box", "capsule"],
)  # fmt: skip
def test_heeded_obstacles_of_every_kind_turn_the_arm_away(shape: Any) -> None:
    """The tool stays, and the joints that the null space moves get farther from the obstacle."""
    q = np.array([0.9, -0.6, -0.9])
    session = Session(PLANAR, pz.PositionTask("tool"), q=q, method="dls")
    tool = PLANAR.pose("tool", q).xyz
    frames = [joint.child for joint in PLANAR.joints if joint.nq]
    middle = shape.pose.xyz

    def clearance(at: Array) -> float:
        return float(np.log(np.linalg.norm(PLANAR.poses(at, frames).xyz - middle, axis=1)).sum())

    assert session.heed(0.05)
    assert session.tick().q == pytest.approx(q, abs=1e-6)
    assert session.add_obstacle("it", shape)
    for _ in range(100):
        moment = session.tick()
    assert clearance(moment.q) > clearance(q) + 0.01
    assert PLANAR.pose("tool", moment.q).xyz == pytest.approx(tool, abs=0.02)
    assert session.remove_obstacle("it")
    assert session.heed(None)
    settled(session)


def test_heeding_needs_a_method_with_a_null_space_and_says_so_before_there_is_an_obstacle() -> None:
    session = Session(PLANAR, pz.PositionTask("tool"))
    with refused(session, "choose a method"):
        assert not session.heed(0.05)
    assert session.use("dls")
    assert session.heed(0.05)
    with refused(session, "choose a method"):
        assert not session.use(None)
    assert session.add_obstacle("ball", Sphere((9.0, 9.0, 0.0), 0.1))
    assert session.add_obstacle("floor", HalfSpace((0.0, 0.0, -1.0), (0.0, 0.0, 1.0)))
    for _ in range(3):
        session.tick()
    assert session.refusal == ""


def test_many_threads_change_it_while_it_ticks() -> None:
    """Nothing but refusals comes of it, and it works on."""
    session = Session(PLANAR, pz.PositionTask("tool"), method="dls")
    assert session.heed(0.05)
    errors: list[BaseException] = []

    def change(seed: int) -> None:
        rng = np.random.default_rng(seed)
        try:
            for _ in range(40):
                name = f"ball {rng.integers(3)}"
                choice = rng.integers(6)
                if choice == 0:
                    session.add_obstacle(name, Sphere((9.0, float(rng.uniform(5.0, 9.0)), 0.0), 0.1))
                elif choice == 1:
                    session.remove_obstacle(name)
                elif choice == 2:
                    session.add_task(pz.PositionTask("tool"))
                elif choice == 3 and len(session.tasks) > 1:
                    session.remove_task(len(session.tasks) - 1)
                elif choice == 4:
                    session.random(int(rng.integers(1000)))
                else:
                    session.drag(0, at((*rng.uniform(-2.0, 2.0, 2), 0.0)))
                moment = session.moment
                assert len(moment.errors) == len(moment.goals) == len(moment.tasks)
                for k in range(len(moment.goals)):
                    session.gizmo_pose(k, moment)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=change, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        session.tick()
    assert errors == []
    while len(session.tasks) > 1:
        assert session.remove_task(0)
    session.heed(None)
    session.drag(0, at((1.0, 1.0, 0.0)))
    assert PLANAR.pose("tool", settled(session).q).xyz == pytest.approx([1.0, 1.0, 0.0], abs=1e-3)


def test_reset_brings_back_where_it_began() -> None:
    model = pz.load("planar3")
    session = Session(model, pz.PositionTask("tool"), q=[0.1, 0.2, 0.3])
    session.random(3)
    session.reset()
    session.tick()
    np.testing.assert_allclose(session.moment.q, [0.1, 0.2, 0.3], rtol=0, atol=1e-9)
