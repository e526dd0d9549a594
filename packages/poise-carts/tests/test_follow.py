"""A hand along poses while the base drives: on the poses, without slip, within wheels and curvature, or refused."""

from importlib import import_module

import numpy as np
import pytest
from rooms import CAR, DIFFERENTIAL, OMNI, rover
from scipy.integrate import cumulative_trapezoid

import poise as pz
from poise.extending import Array
from poise_carts import Cart, drive, follow
from poise_carts.arcs import seen_from

HAND = pz.PositionTask("hand")


def wall(count: int) -> Array:
    """(count, 3) places along a wall, five metres in all, with a bulge."""
    x = np.linspace(0.0, 5.0, count)
    return np.stack([x, 1.0 - 0.2 * np.exp(-((x - 2.5) ** 2)), np.full(count, 0.8)], axis=1)


def check(cart: Cart, path: pz.JointPath, places: Array) -> None:
    """That the hand is at the places, that all rows lie on arcs, none too tight, and that no wheel is too fast."""
    assert path.success, path.explain()
    assert path.model.pose("hand", path.q[path.stations]).xyz == pytest.approx(places, abs=1e-8)
    forwards, left, turn = seen_from(path.q[:-1, :3], path.q[1:, :3]).T
    assert np.abs(left * np.cos(0.5 * turn) - forwards * np.sin(0.5 * turn)).max() < 2e-9
    assert (np.hypot(forwards, left) * np.abs(turn) / 8.0).max() <= 1e-6 * (1.0 + 1e-6)
    assert (np.abs(turn) <= cart.curvature * np.hypot(forwards, left) + 1e-9).all()
    assert np.array_equal(path.model.clip(path.q), path.q)
    at = path.at(np.linspace(0.0, path.duration, 4000))
    assert np.abs(cart.rates(cart.twist(path.model, at.q, at.velocity))).max() <= 10.0 * (1.0 + 1e-3)


@pytest.mark.parametrize("cart", [CAR, DIFFERENTIAL])
def test_a_hand_goes_along_a_wall_while_the_base_drives(cart: Cart) -> None:
    places = wall(60)
    path = follow(cart, rover(), HAND, places)
    check(cart, path, places)
    assert np.ptp(path.q[:, 0]) > 3.0  # a reach of 0.7 m would not do
    assert np.array_equal(path.q, follow(cart, rover(), HAND, places).q)


@pytest.mark.parametrize("turn", [0.0, 1.5])
def test_a_car_goes_on_from_where_it_stands(turn: float) -> None:
    places, begin = wall(60), rover().home.copy()
    begin[2] = turn
    begin = pz.solve(rover(), pz.PositionTask("hand", places[0]), q0=begin).q
    path = follow(CAR, rover(), HAND, places, start=begin)
    check(CAR, path, places)
    assert np.array_equal(path.q[0], begin)


def test_forwards_alone() -> None:
    places = wall(60)[::-1]
    path = follow(CAR, rover(), HAND, places, cusps=False)
    check(CAR, path, places)
    assert (seen_from(path.q[:-1, :3], path.q[1:, :3])[:, 0] >= -1e-9).all()


def test_body_and_arm_keep_off_the_wall() -> None:
    places = wall(60)
    world = pz.World({
        "wall": pz.Box(pz.SE3.from_parts([2.5, 1.25, 0.75]), (8.0, 0.3, 1.5)),
        "column": pz.Cylinder(pz.SE3.from_parts([2.0, 0.0, 0.75]), 0.15, 1.5),
    })  # fmt: skip
    path = follow(DIFFERENTIAL, rover(), HAND, places, limits=[pz.CollisionLimit(world, min_distance=0.02)])
    check(DIFFERENTIAL, path, places)
    at = path.at(np.linspace(0.0, path.duration, 2000))
    assert path.model.distance(at.q, world).distance.min() >= 0.02 - 5e-4


def waves(count: int) -> Array:
    """(count, 3) places on waves along which a car has to turn as tightly as it can."""
    x = np.linspace(0.0, 2.5, count)
    return np.stack([x, 0.4 * np.sin(3.0 * x), np.full(count, 0.8)], axis=1)


def rolls(cart: Cart, path: pz.JointPath) -> None:
    """That no wheel slips in the motion of a path, that what they add up to is where it is, and that bounds hold."""
    t = np.linspace(0.0, path.duration, 40_001)
    at = path.at(t)
    forwards, sideways, turning = cart.twist(path.model, at.q, at.velocity).T
    assert np.abs(sideways).max() < 1e-6
    turn = at.q[0, 2] + cumulative_trapezoid(turning, t, initial=0.0)
    ways = [cumulative_trapezoid(forwards * part, t, initial=0.0) for part in (np.cos(turn), np.sin(turn))]
    assert np.abs(np.stack(ways, axis=1) + at.q[0, :2] - at.q[:, :2]).max() < 1e-6
    assert np.abs(at.acceleration).max() <= 2.0 * (1.0 + 1e-6)
    if np.isfinite(cart.curvature):
        assert (np.abs(turning) <= cart.curvature * np.abs(forwards) + 1e-5).all()
    assert np.abs(cart.rates(cart.twist(path.model, at.q, at.velocity))).max() <= 10.0 * (1.0 + 1e-6)


@pytest.mark.parametrize("cart", [CAR, DIFFERENTIAL])
@pytest.mark.parametrize("places", [wall(40), waves(50)])
def test_with_accelerations_no_wheel_slips_where_arcs_meet(cart: Cart, places: Array) -> None:
    path = follow(cart, rover(), HAND, places, acceleration=2.0)
    assert path.success, path.explain()
    assert not path.notes
    rolls(cart, path)
    assert path.model.pose("hand", path.q[path.stations]).xyz == pytest.approx(places, abs=1e-8)
    at = path.at(np.linspace(0.0, path.duration, 4000))
    speeds = np.abs(at.velocity[100:-100]).max(axis=1)
    assert cart is CAR or speeds.min() > 0.05  # it does not stop on its way


def test_a_cart_rests_where_a_pose_comes_twice() -> None:
    places = np.repeat(wall(20), [1] * 9 + [2] + [1] * 10, axis=0)
    path = follow(CAR, rover(), HAND, places, acceleration=2.0)
    assert path.success, path.explain()
    rolls(CAR, path)
    assert np.abs(path.at(path.times[path.stations[9]]).velocity).max() < 1e-6


def test_where_there_is_no_smooth_way_it_rests_at_each_pose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("poise_carts.follow"), "smooth_rows", lambda *_, **__: None)
    path = follow(CAR, rover(), HAND, wall(60), acceleration=2.0)
    assert path.success
    assert "From waypoint 0 to 59 the cart rests at each" in path.explain()
    rolls(CAR, path)
    assert np.abs(path.at(path.times[path.stations]).velocity).max() < 1e-6


def test_what_gives_way_is_come_to() -> None:
    places, posture = wall(60), np.tile(rover().home, (60, 1))
    posture[:, 6] = 0.5
    wish = pz.PostureTask(weight={"base": 0.0, "lift": 0.0, "shoulder": 0.0, "elbow": 0.0, "wrist": 1.0})
    path = follow(DIFFERENTIAL, rover(), [HAND, wish], [places, posture])
    check(DIFFERENTIAL, path, places)
    assert np.abs(path.q[:, 6] - 0.5).max() < 0.05
    assert np.abs(follow(DIFFERENTIAL, rover(), HAND, places).q[:, 6] - 0.5).max() > 0.2


def test_a_cart_that_goes_sideways_has_the_path_of_all() -> None:
    places = wall(20)
    path = follow(OMNI, rover(), HAND, places, seed=3)
    assert np.array_equal(path.q, pz.solve_path(OMNI.mounted(rover()), HAND, places, limits=OMNI.limits(), seed=3).q)


def test_what_cannot_be_followed_is_told() -> None:
    places = wall(20)
    high = follow(CAR, rover(), HAND, places + np.array([0.0, 0.0, 3.0]))
    assert high.status is not pz.Status.CONVERGED
    sideways = np.zeros((20, 7))
    sideways[:, 1], sideways[:, 3] = np.linspace(0.0, 2.0, 20), 1.0
    slides = follow(DIFFERENTIAL, rover(), pz.PoseTask("body"), sideways)
    assert slides.status is pz.Status.LOCAL_MINIMUM
    assert "no path was found on which the wheels roll" in slides.explain()
    spent = follow(DIFFERENTIAL, rover(), HAND, wall(200), max_time=0.1)
    assert spent.status is pz.Status.BUDGET
    elsewhere = follow(CAR, rover(), HAND, places, start=rover().home)
    assert "the path must begin at start" in elsewhere.explain()
    with pytest.raises(pz.InvalidValue, match="poses"):
        follow(CAR, rover(), HAND, places * np.nan)
    with pytest.raises(pz.InvalidValue, match="limits=False"):
        follow(CAR, rover(), HAND, places, limits=False)
    with pytest.raises(pz.InvalidValue, match="not both"):
        follow(CAR, rover(), HAND, places, q0=rover().home, start=rover().home)


def test_one_pose_and_several_tasks_with_rotations() -> None:
    assert len(follow(CAR, rover(), HAND, wall(2)[:1]).q) == 1
    level = pz.OrientationTask("hand", weight=(1.0, 1.0, 0.0))
    path = follow(CAR, rover(), [HAND, level], [wall(20), pz.SO3(wxyz=np.tile([1.0, 0.0, 0.0, 0.0], (20, 1)))])
    check(CAR, path, wall(20))


def test_drive_leads_to_where_it_begins() -> None:
    places = wall(60)
    way = follow(CAR, rover(), HAND, places)
    there = drive(CAR, rover(), pz.PostureTask(way.q[0], tolerance=1e-9), q0=rover().home)
    assert there.success, there.explain()
    whole = there.then(way)
    assert whole.duration == pytest.approx(there.duration + way.duration)
