"""The measures of a motion that was carried to a robot."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.common.errors import ShapeError
from poise.model.builder import ModelBuilder
from poise.model.model import Model
from poise.spatial import SO3
from poise_motion.anatomy.contact_schedule import Flags
from poise_motion.report.measures import Ground, Jerk, jerk, limits, rms, skate, tracking

PARTS = ("pelvis", "chest", "left_shoulder", "left_elbow", "left_wrist")


def body(seed: int = 0, frames: int = 4) -> Array:
    return np.random.default_rng(seed).normal(size=(frames, len(PARTS), 3))


def all_on(frames: int) -> Flags:
    return np.ones((frames, 1), dtype=bool)


# Tracking ---------------------------------------------------------------------------------------------------------


def test_nothing_is_off_where_all_is_met() -> None:
    places = body()
    found = tracking(PARTS, places, places, 1.7 * places + 3.0)
    assert not found.position.any()
    assert not found.relative.any()
    assert np.isnan(found.rotation).all()
    assert np.allclose(found.direction, 0.0, atol=1e-7)  # whatever the scale, and wherever the body is
    assert found.bones == ("left_elbow", "left_wrist")


def test_a_shift_of_all_is_no_error_from_the_root() -> None:
    places = body()
    found = tracking(PARTS, places + np.array([0.3, 0.0, 0.4]), places, places)
    assert np.allclose(found.position, 0.5)
    assert np.allclose(found.relative, 0.0)


def test_turns() -> None:
    places, rng = body(), np.random.default_rng(1)
    wanted = SO3.from_rotvec(rng.normal(size=(4, len(PARTS), 3)))
    angles = rng.uniform(0.0, 3.0, (4, len(PARTS)))
    axes = rng.normal(size=(4, len(PARTS), 3))
    axes /= np.linalg.norm(axes, axis=-1, keepdims=True)
    turns = (SO3.from_rotvec(angles[..., None] * axes) @ wanted).wxyz
    target = np.array(wanted.wxyz)
    target[:, 1] = np.nan
    found = tracking(PARTS, places, places, places, turns=-turns, target_turns=target).rotation
    hidden = np.ma.array(turns)
    hidden[0, 2, 1] = np.ma.masked
    with refused("masked", "turns[0, 2, 1]"):
        tracking(PARTS, places, places, places, turns=hidden, target_turns=target)
    assert np.isnan(found[:, 1]).all()
    assert np.allclose(np.delete(found, 1, axis=1), np.delete(angles, 1, axis=1))


def test_limbs_that_point_elsewhere() -> None:
    """A forearm that is bent by 40 degrees, and one that has no length in the source."""
    places = np.zeros((2, len(PARTS), 3))
    places[:, 3, 0], places[:, 4, 0] = 0.3, 0.6
    bent = places.copy()
    bent[0, 4] = bent[0, 3] + 0.3 * np.array([np.cos(np.radians(40.0)), 0.0, np.sin(np.radians(40.0))])
    source = places.copy()
    source[1, 4] = source[1, 3]
    found = tracking(PARTS, bent, bent, source).direction
    assert np.allclose(np.degrees(found), [[0.0, 40.0], [0.0, np.nan]], equal_nan=True)


def test_parts_that_are_left_out_are_passed_over() -> None:
    places = np.zeros((1, 2, 3))
    places[0, 1, 0] = 1.0
    found = tracking(("left_shoulder", "left_wrist"), places, places, places)
    assert found.bones == ("left_wrist",)
    with pytest.raises(ShapeError, match=r"places must have shape \(frames, 3, 3\)"):
        tracking(("a", "b", "c"), places, places, places)
    with pytest.raises(ShapeError, match="1, 1 and 2 frames"):
        tracking(("pelvis", "chest"), places, places, np.zeros((2, 2, 3)))


# Skating ----------------------------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(st.floats(24.0, 240.0), st.floats(0.0, 1.0))
def test_an_even_slide_is_as_fast_as_it_is(fps: float, speed: float) -> None:
    """At any number of frames a second."""
    times = np.arange(40) / fps
    path = np.zeros((40, 1, 3))
    path[:, 0, 1] = speed * times
    found = skate(("foot",), [path], times, all_on(40))
    assert np.allclose(found.speed, speed)
    assert found.fastest == pytest.approx(speed)
    assert found.share == float(speed > 0.3 + 1e-9) or abs(speed - 0.3) < 1e-6


def test_only_what_happens_in_contact_counts() -> None:
    """A foot that flies up to its contact and away from it does not skate; how it goes up is no matter either."""
    times = np.arange(60) / 30.0
    on = np.zeros((60, 1), dtype=bool)
    on[20:40] = on[50] = True
    path = np.zeros((60, 1, 3))
    path[:, 0, 0] = np.where(on[:, 0], 1.0, 5.0 * times)
    path[:, 0, 2] = np.random.default_rng(0).uniform(0.0, 0.1, 60)
    found = skate(("foot",), [path], times, on)
    assert found.share == 0.0
    assert np.isnan(found.speed[~on]).all()
    nothing = skate(("foot",), [path], times, np.zeros_like(on))
    assert np.isnan(nothing.share)
    assert np.isnan(nothing.fastest)


def test_points_that_do_not_touch_may_move() -> None:
    """A heel that lifts while the toe stands; but not one that slides on the ground."""
    times = np.arange(30) / 30.0
    path = np.zeros((30, 2, 3))
    path[:, 0, 0], path[:, 0, 2] = 2.0 * times, 0.05
    assert skate(("foot",), [path], times, all_on(30)).share == 0.0
    path[:, 0, 2] = 0.0
    sliding = skate(("foot",), [path], times, all_on(30))
    assert np.allclose(sliding.speed, 1.0)  # of both on average
    told = skate(("foot",), [path], times, all_on(30), touching=[np.tile([False, True], (30, 1))])
    assert told.fastest == 0.0


# The ground -------------------------------------------------------------------------------------------------------


def test_depths_and_contacts() -> None:
    lowest = np.array([0.1, -0.0005, -0.005, -0.02])
    heights = np.array([[0.5], [0.0], [0.019], [0.021]])
    on = np.array([[False], [True], [True], [True]])
    found = Ground(lowest, ("foot",), heights, on)
    assert (found.deeper(0.001), found.deeper(0.01)) == (0.5, 0.25)
    assert found.depth == 0.02
    assert found.kept == pytest.approx(2.0 / 3.0)
    above = Ground(lowest[:1], ("foot",), heights[:1], on[:1])
    assert above.depth == 0.0
    assert np.isnan(above.kept)


# Limits and jerk --------------------------------------------------------------------------------------------------


def arm(kind: str = "three hinges") -> Model:
    """A floating body with a shoulder of three hinges, or a ball in their place, and an elbow on a slide."""
    builder = ModelBuilder("arm")
    if kind == "ball":
        builder.joint("shoulder", "spherical", parent="body", child="upper", swing=1.0, velocity=3.0)
    else:
        for i, name in enumerate("xyz"):
            builder.joint(
                name, "revolute", parent="body" if i == 0 else "xyz"[i - 1], child=name, axis=np.eye(3)[i],
                limits=(-2.0, 2.0), velocity=3.0,
            )  # fmt: skip
    end = "upper" if kind == "ball" else "z"
    builder.joint("slide", "prismatic", parent=end, child="hand", limits=(0.0, 1.0))
    return builder.build(base="floating")


def test_limits() -> None:
    model = arm()
    q = np.tile(model.neutral, (5, 1))
    at = model.index("y").start
    q[:, at] = [0.0, 0.1, 1.9, 2.1, 2.0]
    q[:, 0] = [0.0, 50.0, 0.0, 50.0, 0.0]  # the body may go anywhere
    found = limits(model, q, 0.1 * np.arange(5.0))
    assert np.allclose(found.past, [0.0, 0.0, 0.0, 0.1, 0.0])
    assert (found.past > 0.0).tolist() == [False, False, False, True, False]
    assert found.broken == 0.2
    assert np.allclose(found.speed, np.array([1.0, 18.0, 2.0, 1.0]) / 3.0)
    assert found.too_fast == 0.25
    assert found.joints == ("x", "y", "z")
    joint, frame, angle = found.largest_jump
    assert (joint, frame) == ("y", 2)
    assert angle == pytest.approx(1.8)


def test_limits_of_a_ball() -> None:
    model = arm("ball")
    q = np.tile(model.neutral, (3, 1))
    at = model.index("shoulder").start
    for i, angle in enumerate((0.5, 1.2, 1.0 - 1e-9)):
        q[i, at : at + 4] = SO3.from_rotvec([angle, 0.0, 0.0]).wxyz
    found = limits(model, q, [0.0, 1.0, 2.0])
    assert found.past == pytest.approx([0.0, 0.2, 0.0])
    assert found.broken == pytest.approx(1.0 / 3.0)
    assert found.largest_jump[0] == "shoulder"
    assert found.largest_jump[2] == pytest.approx(0.7)


def test_a_robot_within_its_limits_breaks_none() -> None:
    model = pz.load("panda")
    assert limits(model, model.sample(200, seed=0), np.arange(200.0)).broken == 0.0


def test_one_frame_has_no_speed() -> None:
    model = arm()
    found = limits(model, model.neutral[None], [0.0])
    assert (found.broken, found.too_fast, found.largest_jump) == (0.0, 0.0, ("", 0, 0.0))
    assert not len(jerk(model, model.neutral[None], [0.0]))
    with pytest.raises(ShapeError, match=r"q must have shape \(2, 11\)"):
        limits(model, model.neutral[None], [0.0, 1.0])


@pytest.mark.parametrize("even", [True, False])
def test_the_jerk_of_a_cubic(even: bool) -> None:
    """Six times the leading number; of even frames to the last digits, of uneven ones in the limit."""
    model, rng = arm(), np.random.default_rng(2)
    steps = np.full(200, 0.005) if even else rng.uniform(0.0045, 0.0055, 200)
    times = np.cumsum(steps)
    q = np.tile(model.neutral, (200, 1))
    q[:, model.index("x").start] = 0.3 * times**3 - times
    q[:, model.index("z").start] = 0.4 * times**3 + times**2
    q[:, :3] = 100.0 * times[:, None] ** 3
    assert rms(jerk(model, q, times)) == pytest.approx(6.0 * 0.5, rel=1e-6 if even else 0.05)
    assert rms(jerk(model, q, times, joints=["z"])) == pytest.approx(2.4, rel=1e-6 if even else 0.05)
    assert rms(jerk(model, q, times, apart=4)) == pytest.approx(3.0, rel=1e-6 if even else 0.01)
    assert len(jerk(model, q, times, apart=4)) == 200 - 12
    assert np.isnan(rms(jerk(model, q[:3], times[:3])))


def test_what_is_faster_is_not_seen_in_frames_that_are_further_apart() -> None:
    model = arm()
    q = np.tile(model.neutral, (50, 1))
    q[::2, model.index("x").start] = 0.01
    times = np.arange(50) / 120.0
    assert rms(jerk(model, q, times)) > 1e4
    assert rms(jerk(model, q, times, apart=4)) == pytest.approx(0.0, abs=1e-6)
    assert Jerk(np.ones(3), np.full(3, 2.0)).ratio == 0.5
    assert np.isnan(Jerk(np.ones(3), np.zeros(3)).ratio)
    with refused("out-of-range", "apart"):
        jerk(model, q, times, apart=0)


def test_a_ball_counts_as_the_hinge_in_its_place() -> None:
    times = np.arange(100) / 60.0
    angles = np.sin(3.0 * times)
    hinges, ball = arm(), arm("ball")
    q = np.tile(hinges.neutral, (100, 1))
    q[:, hinges.index("y").start] = angles
    r = np.tile(ball.neutral, (100, 1))
    r[:, ball.index("shoulder")] = SO3.from_rotvec(angles[:, None] * [0.0, 1.0, 0.0]).wxyz
    assert np.allclose(jerk(hinges, q, times), jerk(ball, r, times), atol=1e-6)


def test_the_jerk_of_a_ball_does_not_depend_on_the_axes() -> None:
    times = np.arange(60) / 60.0
    turns = SO3.from_rotvec(np.cumsum(np.random.default_rng(0).normal(size=(60, 3)), axis=0) / 20.0)
    ball = arm("ball")
    q = np.tile(ball.neutral, (60, 1))
    q[:, ball.index("shoulder")] = turns.wxyz
    other = q.copy()
    other[:, ball.index("shoulder")] = (SO3.from_rpy([0.3, 0.4, 0.5]) @ turns).wxyz
    assert np.allclose(jerk(ball, q, times), jerk(ball, other, times), rtol=1e-6)
