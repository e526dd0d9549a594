"""Wheels: what they turn by, against the textbook's formulas and against a hub that is followed."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rooms import CAR, DIFFERENTIAL, MECANUM, OMNI, TRICYCLE, rover

import poise as pz
from poise_carts import Cart, Wheel

speeds = st.floats(-2.0, 2.0)
ALL = (CAR, DIFFERENTIAL, MECANUM, OMNI, TRICYCLE)


@given(speeds, speeds)
def test_of_a_differential_drive_each_side_is_ahead_by_half_the_track(v: float, w: float) -> None:
    left, right = DIFFERENTIAL.rates([v, 0.0, w])
    assert [left, right] == pytest.approx([(v - 0.2 * w) / 0.1, (v + 0.2 * w) / 0.1])


@given(speeds, speeds, speeds)
def test_mecanum_wheels_turn_as_the_textbook_has_it(vx: float, vy: float, w: float) -> None:
    half = 0.225 + 0.2
    expected = [vx - vy - half * w, vx + vy + half * w, vx + vy - half * w, vx - vy + half * w]
    assert MECANUM.rates([vx, vy, w]) == pytest.approx(np.array(expected) / 0.1)


@given(speeds, speeds, speeds)
def test_omniwheels_turn_by_what_goes_along_the_circle(vx: float, vy: float, w: float) -> None:
    around = 2.0 * np.pi * np.arange(3) / 3
    expected = (-np.sin(around) * vx + np.cos(around) * vy + 0.3 * w) / 0.1
    assert OMNI.rates([vx, vy, w]) == pytest.approx(expected)


@given(st.floats(0.1, 2.0), st.floats(-1.0, 1.0), st.sampled_from([-1.0, 1.0]))
def test_the_front_wheels_of_a_car_point_along_their_ways(v: float, share: float, way: float) -> None:
    w = share * CAR.curvature * v
    steers, rates = CAR.steers([way * v, 0.0, w]), CAR.rates([way * v, 0.0, w])
    for wheel, steer, rate in zip(CAR.wheels, steers, rates, strict=True):
        along = np.array([np.cos(steer), np.sin(steer)]) * rate * wheel.radius
        assert along == pytest.approx([way * v - w * wheel.y, w * wheel.x], abs=1e-12)
    inner, outer = np.abs(steers[2:]).max(), np.abs(steers[2:]).min()
    if abs(share) > 0.01:
        assert 1.0 / math.tan(outer) - 1.0 / math.tan(inner) == pytest.approx(0.4 / 0.45)  # Ackermann's condition


def test_a_tricycle_turns_on_the_spot_about_its_rear_axle() -> None:
    assert TRICYCLE.curvature == math.inf
    assert TRICYCLE.steers([0.0, 0.0, 1.0])[2] == pytest.approx(0.5 * np.pi)
    held = Cart.tricycle(wheelbase=0.5, track=0.4, radius=0.1, speed=10.0, steer=0.6)
    assert held.curvature == pytest.approx(math.tan(0.6) / 0.5)


@pytest.mark.parametrize("cart", ALL)
@given(twist=st.tuples(speeds, speeds, speeds))
def test_no_wheel_is_too_fast_where_no_hub_is(cart: Cart, twist: tuple[float, float, float]) -> None:
    at = np.array(twist) * ([1.0, 1.0, 1.0] if cart.sideways else [1.0, 0.0, 1.0])
    hubs = np.array([[at[0] - at[2] * wheel.y, at[1] + at[2] * wheel.x] for wheel in cart.wheels])
    share = (np.linalg.norm(hubs, axis=1) / [wheel.hub_speed for wheel in cart.wheels]).max()
    if share > 1e-6:
        assert (np.abs(cart.rates(at / share)) <= 10.0 * (1.0 + 1e-12)).all()


@pytest.mark.parametrize("cart", ALL)
def test_a_tracker_reaches_without_slip_within_the_speeds_of_the_wheels(cart: Cart) -> None:
    model, dt = cart.mounted(rover()), 0.01
    tasks = [*cart.rolling(model), pz.PositionTask("hand", [2.0, 0.4, 0.6], priority=1)]
    loop = pz.Tracker(model, tasks if cart.rolling(model) else tasks[0], "priority", dt=dt, limits=cart.limits())
    q = model.home
    for _ in range(400):
        step = cart.rolled(model, q, loop.step(q))
        middle, v = 0.5 * (q + step), model.difference(q, step) / dt
        forwards, sideways, turning = cart.twist(model, middle, v)
        if not cart.sideways:
            assert abs(sideways) < 1e-12  # on an arc the chord leads where the heading is half way
            assert abs(turning) / cart.curvature <= abs(forwards) * (1.0 + 1e-3) + 1e-12
        assert np.abs(cart.rates(cart.twist(model, middle, v))).max() <= 10.0 * (1.0 + 1e-6)
        q = step
    assert model.pose("hand", q).xyz == pytest.approx([2.0, 0.4, 0.6], abs=1e-4)


def test_a_cart_needs_one_planar_joint() -> None:
    with pytest.raises(pz.InvalidValue, match="0 planar joints"):
        CAR.base(pz.load("planar2"))
    with pytest.raises(pz.InvalidValue, match="'elbow' is revolute"):
        Cart.differential(track=0.4, radius=0.1, speed=1.0, joint="elbow").base(rover())
    assert CAR.mounted(CAR.mounted(rover())).frames == CAR.mounted(rover()).frames


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("differential", {"track": 0.0}),
        ("ackermann", {"steer": 1.6}),
        ("tricycle", {"steer": 2.0}),
        ("omni", {"wheels": 2}),
        ("mecanum", {"speed": -1.0}),
    ],
)
def test_what_makes_no_cart_is_refused_by_its_name(kind: str, wrong: dict[str, float]) -> None:
    axles = {"wheelbase": 0.5, "track": 0.4}
    usual = {
        "differential": {"track": 0.4},
        "ackermann": {**axles, "steer": 0.5},
        "tricycle": axles,
        "omni": {"distance": 0.3},
        "mecanum": axles,
    }
    (name,) = wrong
    with pytest.raises(pz.InvalidValue, match=name):
        getattr(Cart, kind)(**{"radius": 0.1, "speed": 10.0, **usual[kind], **wrong})


def test_a_wheel_that_no_kind_has_can_be_stated() -> None:
    sideways = Wheel("side", 0.2, 0.0, 0.1, 10.0, heading=0.5 * np.pi, rollers=0.5 * np.pi)
    assert sideways.rate(np.array([3.0, 1.0, 0.0])) == pytest.approx(10.0)
    with pytest.raises(pz.InvalidValue, match="rollers"):
        Wheel("slides", 0.0, 0.0, 0.1, 10.0, rollers=0.0)
    with pytest.raises(pz.InvalidValue, match="wheels is empty"):
        Cart(())
    with pytest.raises(pz.InvalidValue, match="rollers is nan"):
        Wheel("slides", 0.0, 0.0, 0.1, 10.0, rollers=math.nan)
    with pytest.raises(pz.InvalidValue, match="x is nan"):
        Wheel("nowhere", math.nan, 0.0, 0.1, 10.0)
    with pytest.raises(pz.InvalidValue, match="side, side"):
        Cart((sideways, sideways))


def test_hubs_of_another_cart_are_not_taken_for_its_own() -> None:
    narrow = Cart.differential(track=0.2, radius=0.1, speed=10.0).mounted(rover())
    with pytest.raises(pz.InvalidValue, match="cart_left"):
        DIFFERENTIAL.mounted(narrow)
    mounted = DIFFERENTIAL.mounted(rover())
    assert DIFFERENTIAL.mounted(mounted) is mounted


def test_a_twist_of_other_shapes_is_refused() -> None:
    model = rover()
    with pytest.raises(pz.ShapeError, match="q must"):
        DIFFERENTIAL.twist(model, model.home[:3], np.zeros(model.nv))
    with pytest.raises(pz.ShapeError, match="v must"):
        DIFFERENTIAL.twist(model, model.home, np.zeros(2))
