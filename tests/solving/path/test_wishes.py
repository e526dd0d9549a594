"""What gives way along a path: soft tasks, later levels and a posture, as near as what comes before."""

import numpy as np
import pytest
from scipy.optimize import minimize
from support.mechanisms import COUPLER, CRANK, GROUND, ROCKER, four_bar, gap, rocker_angles
from support.refusals import refused

import poise as pz
from poise.common.array import Array

PANDA, N = pz.load("panda"), 12
LINE = np.stack([np.full(N, 0.5), np.linspace(-0.3, 0.3, N), np.full(N, 0.3)], axis=1)
PULL = pz.PositionTask("panda_hand")
DOWN = pz.SO3(wxyz=[0.0, 1.0, 0.0, 0.0])
ELBOW = np.array([0.3, 0.6, 0.5])
AWAY = pz.PositionTask("panda_link4", target=ELBOW, required=False)
"""An elbow that no arm can have there."""


def hand(q: Array) -> Array:
    return PANDA.pose("panda_hand", q).xyz


def elbow(q: Array) -> float:
    return float(np.linalg.norm(PANDA.pose("panda_link4", q).xyz - ELBOW))


def turned(q: Array) -> Array:
    """(3,) how the hand is turned against one that looks down [rad]."""
    return (DOWN.inverse() @ PANDA.pose("panda_hand", q).rotation).log()


def unbent(q: Array) -> float:
    return float(np.linalg.norm(q - PANDA.home))


def least(cost: object, q: Array, constraints: list[dict[str, object]]) -> float:
    """The least cost near q that SLSQP finds within the limits of the joints."""
    found = minimize(
        lambda x: cost(x) ** 2, q, method="SLSQP", bounds=list(zip(PANDA.lower, PANDA.upper, strict=True)),
        constraints=constraints, options={"ftol": 1e-14, "maxiter": 300},
    )  # fmt: skip
    return float(np.sqrt(found.fun))


def at(place: Array) -> dict[str, object]:
    return {"type": "eq", "fun": lambda q: hand(q) - place}


def looks_down() -> dict[str, object]:
    return {"type": "eq", "fun": turned}


@pytest.mark.parametrize("optimise", [True, False])
def test_a_soft_task_is_met_as_nearly_as_the_poses_leave(optimise: bool) -> None:
    path = pz.solve_path(PANDA, [PULL, AWAY], [LINE, None], optimise=optimise)
    assert path.success, path.explain()
    assert np.abs(hand(path.q) - LINE).max() < 1e-6
    left = np.array([elbow(q) for q in path.q])
    np.testing.assert_allclose(path.position_errors[:, 1], left, atol=1e-12)
    for k in (0, 5, 11):
        assert left[k] <= least(elbow, path.q[k], [at(LINE[k])]) + 2e-5
    assert left.min() > 0.1
    assert pz.jumps(path.q, PANDA) == []


def test_a_level_that_can_be_met_is_and_one_that_cannot_is_told_of() -> None:
    facing = pz.OrientationTask("panda_hand", target=DOWN, priority=1)
    path = pz.solve_path(PANDA, [PULL, facing], [LINE, None])
    assert path.success, path.explain()
    assert max(np.abs(turned(q)).max() for q in path.q) < 1e-5
    assert path.notes == ()
    missed = pz.PositionTask("panda_link4", target=ELBOW, priority=1)
    path = pz.solve_path(PANDA, [PULL, missed], [LINE, None])
    assert path.success, path.explain()
    assert np.abs(hand(path.q) - LINE).max() < 1e-6
    (note,) = path.notes
    assert "PositionTask('panda_link4')" in note
    assert "what comes before it leaves no more" in note


def test_a_posture_is_come_to_as_nearly_as_the_poses_and_soft_tasks_leave() -> None:
    posture = pz.PostureTask(PANDA.home)
    path = pz.solve_path(PANDA, [PULL, posture], [LINE, None])
    facing = pz.OrientationTask("panda_hand", target=DOWN, required=False)
    both = pz.solve_path(PANDA, [PULL, facing, posture], [LINE, None, None])
    assert path.success, path.explain()
    assert both.success, both.explain()
    for k in (0, 6, 11):
        assert unbent(path.q[k]) <= least(unbent, path.q[k], [at(LINE[k])]) + 1e-5
        assert np.abs(turned(both.q[k])).max() < 1e-5
        assert unbent(both.q[k]) <= least(unbent, both.q[k], [at(LINE[k]), looks_down()]) + 1e-4
    assert np.abs(hand(both.q) - LINE).max() < 1e-6


def test_postures_are_one_a_waypoint_and_of_all_joints() -> None:
    """The wrist does not move the elbow, and goes where the posture has it."""
    first = PANDA.home + np.array([0.0, 0.2, 0.0, 0.0, 0.3, -0.2, 0.4])
    postures = np.linspace(PANDA.home, first, N)
    places = PANDA.pose("panda_link4", postures).xyz
    path = pz.solve_path(PANDA, [pz.PositionTask("panda_link4"), pz.PostureTask()], [places, postures])
    assert path.success, path.explain()
    np.testing.assert_allclose(path.q, postures, atol=1e-5)


def test_what_must_hold_comes_before_what_gives_way() -> None:
    factors = np.array([0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0])
    free = pz.solve_path(PANDA, [PULL, AWAY], [LINE, None])
    most = float((free.q @ factors).max() - 0.15)
    limit = pz.LinearLimit({"panda_joint2": 1.0, "panda_joint4": -1.0}, most)
    path = pz.solve_path(PANDA, [PULL, AWAY], [LINE, None], limits=[limit, pz.AccelerationLimit(5.0)])
    assert path.success, path.explain()
    assert np.abs(hand(path.q) - LINE).max() < 1e-6
    assert (path.at(np.linspace(0.0, path.duration, 2001)).q @ factors).max() <= most + 1e-9
    for k in (0, 6, 11):
        within = {"type": "ineq", "fun": lambda q: most - q @ factors}
        assert elbow(path.q[k]) <= least(elbow, path.q[k], [at(LINE[k]), within]) + 1e-3


@pytest.mark.parametrize("closed", [True, False])
def test_a_circle_is_gone_round_with_a_posture(closed: bool) -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, 25)
    circle = np.stack([0.5 + 0.1 * np.cos(angle), 0.1 * np.sin(angle), np.full(25, 0.4)], axis=1)
    circle[-1] = circle[0]
    path = pz.solve_path(PANDA, [PULL, pz.PostureTask(PANDA.home)], [circle, None], closed=closed)
    assert path.success, path.explain()
    assert np.abs(path.q[-1] - path.q[0]).max() <= (0.0 if closed else 1e-3)


def test_a_plan_chooses_configurations_by_what_gives_way() -> None:
    stops = LINE[[0, 6, 11]]
    path = pz.plan(PANDA, [PULL, AWAY], [stops, None], acceleration=5.0)
    assert path.success, path.explain()
    q = path.q[path.stations]
    assert np.abs(hand(q) - stops).max() < 1e-6
    for k in range(3):
        assert elbow(q[k]) <= least(elbow, q[k], [at(stops[k])]) + 2e-5


def test_the_same_on_any_number_of_threads() -> None:
    one, two = (pz.solve_path(PANDA, [PULL, AWAY], [LINE, None], threads=n) for n in (1, 2))
    assert np.array_equal(one.q, two.q)


SOFT = pz.PositionTask("panda_hand", required=False)
FACING = pz.OrientationTask("panda_hand", target=DOWN, required=False)


def test_where_nothing_is_required_each_row_is_the_least_of_the_sum() -> None:
    path = pz.solve_path(PANDA, [SOFT, FACING, AWAY], [LINE, None, None])
    assert path.success, path.explain()
    assert pz.jumps(path.q, PANDA) == []
    np.testing.assert_allclose(path.position_errors[:, 0], np.linalg.norm(hand(path.q) - LINE, axis=1), atol=1e-12)
    for q, place in zip(path.q, LINE, strict=True):

        def left(x: Array, place: Array = place) -> float:
            return float(np.linalg.norm([*(hand(x) - place), *turned(x), *(PANDA.pose("panda_link4", x).xyz - ELBOW)]))

        assert left(q) <= least(left, q, []) + 1e-6


def test_a_line_that_may_be_missed_is_followed_where_it_can_be() -> None:
    path = pz.solve_path(PANDA, SOFT, LINE, acceleration=5.0)
    assert path.success, path.explain()
    assert np.abs(hand(path.q) - LINE).max() < 1e-6
    again = pz.solve_path(PANDA, SOFT, LINE, q0=path.q[0])
    assert np.array_equal(again.q[0], path.q[0])
    assert again.notes == ()


def test_a_path_begins_where_it_must_though_nothing_is_required() -> None:
    begin = pz.solve_path(PANDA, PULL, LINE).q[0]
    path = pz.solve_path(PANDA, [SOFT, AWAY], [LINE, None], start=begin)
    assert np.array_equal(path.q[0], begin)


def test_a_posture_alone_is_followed() -> None:
    postures = np.linspace(PANDA.home, PANDA.home + 0.3, N)
    path = pz.solve_path(PANDA, pz.PostureTask(), postures, velocity=1.0)
    assert path.success, path.explain()
    np.testing.assert_allclose(path.q, postures, atol=1e-9)
    assert path.singular_value == np.inf
    stops = pz.plan(PANDA, pz.PostureTask(), postures[[0, -1]])
    np.testing.assert_allclose(stops.q[stops.stations], postures[[0, -1]], atol=1e-9)


def test_what_is_required_later_gives_way_to_what_is_soft_before() -> None:
    facing = pz.OrientationTask("panda_hand", target=DOWN, priority=1)
    path = pz.solve_path(PANDA, [SOFT, facing], [LINE, None])
    assert path.success, path.explain()
    assert np.abs(hand(path.q) - LINE).max() < 1e-6
    assert max(np.abs(turned(q)).max() for q in path.q) < 1e-5


def test_a_straight_line_of_a_plan_that_may_be_missed_is_kept_to() -> None:
    stops = LINE[[0, 11]]
    path = pz.plan(PANDA, [SOFT, FACING], [stops, None], straight=[1])
    assert path.success, path.explain()
    places = hand(path.q)
    assert np.ptp(places[:, [0, 2]], axis=0).max() < 1e-3
    assert (np.diff(places[:, 1]) > 0.0).all()


def closed(crank: float) -> Array:
    """(3,) angles of a four-bar that is closed."""
    rocker = rocker_angles(crank)[0]
    x = GROUND + ROCKER * np.cos(rocker) - CRANK * np.cos(crank)
    y = ROCKER * np.sin(rocker) - CRANK * np.sin(crank)
    assert np.hypot(x, y) == pytest.approx(COUPLER)
    return np.array([crank, np.arctan2(y, x) - crank, rocker])


def test_a_posture_is_come_to_as_nearly_as_loops_leave_though_nothing_else_is_asked() -> None:
    bar = four_bar()
    wanted = np.array([closed(crank) for crank in (0.5, 0.6, 0.7)]) + np.array([0.1, -0.05, 0.1])
    path = pz.solve_path(bar, pz.PostureTask(), wanted)
    assert path.success, path.explain()
    assert max(gap(bar, q) for q in path.q) <= 1e-6
    way = np.array([closed(crank) for crank in np.linspace(0.2, 1.2, 100_001)])
    for q, near in zip(path.q, wanted, strict=True):
        np.testing.assert_allclose(q, way[np.linalg.norm(way - near, axis=1).argmin()], atol=2e-5)


def test_loops_stay_closed_that_tasks_of_a_later_level_alone_move() -> None:
    bar = four_bar()
    places = bar.pose("pen", np.array([closed(crank) for crank in (0.5, 0.6, 0.7)])).xyz
    for priority in (0, 1):
        task = pz.PositionTask("pen", weight=(1.0, 1.0, 0.0), priority=priority)
        path = pz.solve_path(bar, task, places)
        assert path.success, path.explain()
        assert max(gap(bar, q) for q in path.q) <= 1e-6
        np.testing.assert_allclose(bar.pose("pen", path.q).xyz, places, atol=1e-6)


def wild(n: int) -> Array:
    """Postures without any relation to one another."""
    return PANDA.sample(n, seed=1)


POSTURE, TURN = pz.PostureTask(), pz.OrientationTask("panda_hand", required=False)
SPEED, JUMP = {"dt": 0.1, "velocity": 1.0}, {"max_jump": 0.1}
ACCELERATION = {"dt": 0.1, "velocity": 2.0, "limits": [pz.AccelerationLimit(5.0)]}


@pytest.mark.parametrize(
    ("wish", "pace"),
    [
        pytest.param(POSTURE, ACCELERATION, id="posture-acceleration"),
        pytest.param(POSTURE, JUMP, id="posture-jump"),
        pytest.param(TURN, SPEED, id="turn-speed"),
        pytest.param(POSTURE, SPEED, id="posture-speed", marks=pytest.mark.slow),
        pytest.param(TURN, ACCELERATION, id="turn-acceleration", marks=pytest.mark.slow),
        pytest.param(TURN, JUMP, id="turn-jump", marks=pytest.mark.slow),
    ],
)
def test_what_gives_way_does_so_to_the_pace(wish: pz.Task, pace: dict[str, object]) -> None:
    """Alone the line can be followed; so it can be with wishes that no such pace could follow."""
    wanted = wild(N) if isinstance(wish, pz.PostureTask) else PANDA.pose("panda_hand", wild(N)).rotation
    eased = LINE * [1.0, 0.0, 1.0] + np.outer(-0.3 * np.cos(np.linspace(0.0, np.pi, N)), [0.0, 1.0, 0.0])
    alone = pz.solve_path(PANDA, PULL, eased, **pace)
    path = pz.solve_path(PANDA, [PULL, wish], [eased, wanted], **pace)
    assert alone.success, alone.explain()
    assert path.success, path.explain()
    assert np.abs(hand(path.q) - eased).max() < 1e-6
    assert any("What gives way is met less" in note for note in path.notes)


def test_a_posture_is_followed_as_fast_as_the_pace_allows() -> None:
    """One that is far away is come nearer to with each step, at full speed, and then stayed at."""
    begin = pz.solve_path(PANDA, PULL, LINE[:1]).q[0]
    free = pz.solve(PANDA, [pz.PositionTask("panda_hand", target=LINE[0]), pz.PostureTask(PANDA.home + 0.5)], q0=begin)
    still = np.repeat(LINE[:1], 40, axis=0)
    path = pz.solve_path(
        PANDA, [PULL, pz.PostureTask(free.q)], [still, None], start=begin, dt=0.1, velocity=0.5
    )  # fmt: skip
    assert path.success, path.explain()
    away = np.linalg.norm(PANDA.difference(path.q, np.broadcast_to(free.q, path.q.shape)), axis=1)
    assert away[-1] < 0.05 * away[0]


def test_postures_alone_give_way_to_the_pace() -> None:
    path = pz.solve_path(PANDA, pz.PostureTask(), wild(N), dt=0.1, velocity=1.0)
    assert path.success, path.explain()
    assert path.largest_step <= 0.1 * (1.0 + 1e-9)


def test_a_posture_with_a_tolerance_is_required() -> None:
    """A path or a plan that leads farther from it fails, and says by how much."""
    near = pz.solve_path(PANDA, [PULL, pz.PostureTask()], [LINE, None])
    left = float(np.abs(near.q - PANDA.home).max())
    for along in (pz.solve_path, pz.plan):
        met = along(PANDA, [PULL, pz.PostureTask(tolerance=1.2 * left)], [LINE, None])
        assert met.success, met.explain()
        assert np.abs(met.q[met.stations] - PANDA.home).max() <= 1.2 * left
        missed = along(PANDA, [PULL, pz.PostureTask(tolerance=0.1 * left)], [LINE, None])
        assert missed.status is pz.Status.LOCAL_MINIMUM
        assert "PostureTask" in missed.explain()
        assert f"its tolerance is {0.1 * left:.4g}" in missed.explain()


def test_two_postures_are_refused_as_everywhere() -> None:
    for along in (pz.solve_path, pz.plan):
        with refused("too-many", "PostureTask"):
            along(PANDA, [PULL, pz.PostureTask(), pz.PostureTask()], [LINE, None, None])
