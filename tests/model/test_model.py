"""The model: configurations form a space, names lead to numbers, and derived models stand where the whole one does."""

import gc
import math
import re
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from support.trees import (
    ONE_AXIS,
    composed,
    configurations,
    position,
    reach,
    same_configuration,
    trees,
    velocities,
)

from poise.common.array import Array
from poise.common.errors import FrameNotFound, JointNotFound, ModelError, ShapeError
from poise.model.builder import ModelBuilder
from poise.model.frame import WORLD
from poise.model.joint import Joint, JointKind, Mimic
from poise.model.model import Model
from poise.spatial import SE3

often = settings(max_examples=40)

FAR = 3.0
"""Angular velocities below it are not a longer way round than another, even three of them along different axes."""


def hand() -> Model:
    """A wrist, a finger that closes and a thumb that follows it, with a tool."""
    builder = ModelBuilder("hand")
    builder.joint("wrist", "revolute", parent="arm", child="palm", limits=(-1, 2), velocity=3.0)
    builder.joint("finger", "prismatic", parent="palm", child="nail", axis=(1, 0, 0), limits=(0.0, 0.1))
    builder.joint(
        "thumb", "revolute", parent="palm", child="tip", limits=(-0.5, 0.1), mimic=Mimic(joint="finger", multiplier=-10)
    )
    builder.joint("ball", "spherical", parent="palm", child="eye", origin=SE3.from_parts([0, 0, 1]))
    builder.frame("tool", link="nail", origin=SE3.from_parts([0, 0, 0.2]))
    for link, mass in {"arm": 4.0, "palm": 2.0, "nail": 0.5, "eye": 0.25}.items():
        builder.mass(link, mass, centre=(0.1, mass, 0.0))
    builder.group("grip", ["finger", "wrist"])
    builder.posture("shut", {"finger": [0.05], "wrist": [0.5]})
    return builder.build(home="shut")


def turn(quaternion: Array) -> Rotation:
    return Rotation.from_quat(quaternion, scalar_first=True)


# The space of configurations -------------------------------------------------------------------------------------


@often
@given(st.data())
def test_integrate_takes_back_what_difference_says(data: st.DataObject) -> None:
    model = data.draw(trees())
    a, b = data.draw(configurations(model)), data.draw(configurations(model))
    assert same_configuration(model, model.integrate(a, model.difference(a, b)), b, 1e-12)


@often
@given(st.data())
def test_difference_takes_back_what_integrate_did(data: st.DataObject) -> None:
    model = data.draw(trees())
    q = data.draw(configurations(model))
    v = data.draw(velocities(model, FAR / math.sqrt(3.0)))
    np.testing.assert_allclose(model.difference(q, model.integrate(q, v)), v, rtol=0, atol=1e-12)


def test_batches_that_do_not_go_together_are_refused_by_their_shapes() -> None:
    model = hand()
    q, v = np.tile(model.home, (3, 1)), np.zeros((2, model.nv))
    with pytest.raises(ShapeError, match=r"q of shape \(3, \d\), v of shape \(2, \d\) do not go together"):
        model.integrate(q, v)
    with pytest.raises(ShapeError, match=r"q0 .* do not go together"):
        model.difference(q, q[:2])
    with pytest.raises(ShapeError, match=r"velocity .* do not go together"):
        model.inverse_dynamics(q, v, v[:1])
    assert model.integrate(q, v[:1]).shape == q.shape
    assert model.difference(q, q[0]).shape == (3, model.nv)


@often
@given(st.data())
def test_no_velocity_leads_nowhere_and_back_again_undoes(data: st.DataObject) -> None:
    model = data.draw(trees())
    q = data.draw(configurations(model))
    np.testing.assert_allclose(model.integrate(q, np.zeros(model.nv)), q, rtol=0, atol=1e-15)
    np.testing.assert_allclose(model.difference(q, q), 0.0, rtol=0, atol=1e-15)
    v = data.draw(velocities(model))
    there = model.integrate(q, v)
    assert same_configuration(model, model.integrate(there, -v), q, 1e-12)
    a, b = data.draw(configurations(model)), data.draw(configurations(model))
    back = model.difference(b, a)
    # Two ways round a half turn are equally short; a sample is never that close to one.
    np.testing.assert_allclose(model.difference(a, b), -back, rtol=0, atol=1e-9)


@often
@given(st.data())
def test_the_same_velocity_twice_is_twice_the_velocity(data: st.DataObject) -> None:
    model = data.draw(trees())
    q, v = data.draw(configurations(model)), data.draw(velocities(model))
    twice = model.integrate(model.integrate(q, v), v)
    assert same_configuration(model, twice, model.integrate(q, 2.0 * v), 1e-12)


@often
@given(st.data())
def test_interpolation_starts_ends_and_goes_straight(data: st.DataObject) -> None:
    model = data.draw(trees())
    a, b = data.draw(configurations(model)), data.draw(configurations(model))
    assert same_configuration(model, model.interpolate(a, b, 0.0), a, 1e-12)
    assert same_configuration(model, model.interpolate(a, b, 1.0), b, 1e-12)
    t = np.array([[0.0, 0.25], [0.5, 1.0]])
    way = model.interpolate(a, b, t)
    assert way.shape == (2, 2, model.nq)
    whole = model.difference(a, b)
    np.testing.assert_allclose(model.difference(a, way), t[..., None] * whole, rtol=0, atol=1e-12)
    for at in np.ndindex(2, 2):
        np.testing.assert_array_equal(way[at], model.interpolate(a, b, t[at]))


@often
@given(st.data())
def test_configurations_come_in_batches(data: st.DataObject) -> None:
    model = data.draw(trees(most=5))
    q = model.sample((3, 2), seed=data.draw(st.integers(0, 99)))
    v = data.draw(velocities(model))
    moved, away = model.integrate(q, v), model.difference(q[0, 0], q)
    assert moved.shape == q.shape
    assert away.shape == (3, 2, model.nv)
    for at in np.ndindex(3, 2):
        np.testing.assert_allclose(moved[at], model.integrate(q[at], v), rtol=0, atol=1e-15)
        np.testing.assert_allclose(away[at], model.difference(q[0, 0], q[at]), rtol=0, atol=1e-15)


@given(st.data())
@settings(max_examples=30)
def test_quaternions_turn_along_fixed_axes_and_numbers_add(data: st.DataObject) -> None:
    model = data.draw(trees(mimics=False))
    q, v = data.draw(configurations(model)), data.draw(velocities(model, 2.0))
    there = model.integrate(q, v)
    for joint in model.joints:
        if not joint.nq:
            continue
        at, speed = model.index(joint.name), v[model.velocity_index(joint.name)]
        before, after = q[at], there[at]
        if joint.quaternion_at is not None:
            turned = Rotation.from_rotvec(speed[-3:]) * turn(before[-4:])
            np.testing.assert_allclose(turn(after[-4:]).as_matrix(), turned.as_matrix(), rtol=0, atol=1e-14)
            before, after, speed = before[:-4], after[:-4], speed[:-3]
        np.testing.assert_array_equal(after, before + speed)


@often
@given(st.data())
def test_a_long_walk_keeps_quaternions_at_unit_length(data: st.DataObject) -> None:
    model = data.draw(trees(kinds=[JointKind.SPHERICAL, JointKind.FLOATING], most=2))
    q, v = model.home, data.draw(velocities(model, 5.0))
    for _ in range(50):
        q = model.integrate(q, v)
    for joint in model.joints:
        quaternion = q[model.index(joint.name)][joint.quaternion_at :]
        assert abs(np.linalg.norm(quaternion) - 1.0) < 1e-14


# Neutral, home, samples ------------------------------------------------------------------------------------------


@often
@given(st.data())
def test_neutral_is_zeros_and_no_turn_and_home_is_next_to_it(data: st.DataObject) -> None:
    model = data.draw(trees())
    for joint in model.joints:
        if joint.nq:
            numbers = model.neutral[model.index(joint.name)]
            np.testing.assert_allclose(joint.motion(numbers).array, SE3.identity().array, rtol=0, atol=0)
    np.testing.assert_array_equal(model.home, np.minimum(np.maximum(model.neutral, model.lower), model.upper))
    assert model.within_limits(model.home)


@often
@given(st.data())
def test_samples_depend_on_the_seed_alone_and_keep_the_limits(data: st.DataObject) -> None:
    model = data.draw(trees())
    seed = data.draw(st.integers(0, 2**64))
    q = model.sample((2, 4), seed=seed)
    assert q.shape == (2, 4, model.nq)
    assert model.within_limits(q)
    np.testing.assert_array_equal(q, model.sample((2, 4), seed=seed))
    np.testing.assert_array_equal(q, model.sample((2, 4), seed=np.random.default_rng(seed)))
    np.testing.assert_array_equal(model.sample(8, seed=seed), q.reshape(8, model.nq))
    np.testing.assert_array_equal(model.sample(np.int64(8), seed=seed), q.reshape(8, model.nq))  # type: ignore[arg-type]
    assert model.sample(seed=seed).shape == (model.nq,)
    free = model.upper > model.lower
    assert (q != model.sample((2, 4), seed=seed + 1))[..., free].all()
    for joint in model.joints:
        if joint.nq and joint.quaternion_at is not None:
            quaternion = q[..., model.index(joint.name)][..., joint.quaternion_at :]
            np.testing.assert_allclose(np.linalg.norm(quaternion, axis=-1), 1.0, rtol=0, atol=1e-14)


def test_samples_fill_limits_a_full_turn_and_a_metre_about_home() -> None:
    builder = ModelBuilder("mast")
    builder.joint("swing", "revolute", parent="ground", child="a", limits=(-0.3, 0.5))
    builder.joint("spin", "continuous", parent="a", child="b")
    builder.joint("slide", "prismatic", parent="b", child="c")
    builder.joint("screw", "helical", parent="c", child="d", pitch=0.1)
    builder.joint("push", "prismatic", parent="d", child="e", limits=(4.0, np.inf))
    builder.joint("roll", "planar", parent="e", child="f")
    mast = builder.build()
    q = mast.sample(4000, seed=3)
    low = [-0.3, -math.pi, -1, -math.pi, 4, -1, -1, -math.pi]
    high = [0.5, math.pi, 1, math.pi, 5, 1, 1, math.pi]
    assert ((q >= low) & (q <= high)).all()
    np.testing.assert_allclose(q.min(axis=0), low, rtol=0, atol=0.02)
    np.testing.assert_allclose(q.max(axis=0), high, rtol=0, atol=0.02)
    np.testing.assert_allclose(q.mean(axis=0), (np.array(low) + high) / 2, rtol=0, atol=0.12)


def test_sampled_rotations_are_uniform() -> None:
    builder = ModelBuilder("ball")
    builder.joint("ball", "spherical", parent="socket", child="ball")
    quaternions = builder.build().sample(20000, seed=0)
    directions = turn(quaternions).apply([0.0, 0.0, 1.0])
    np.testing.assert_allclose(directions.mean(axis=0), 0.0, atol=0.02)
    np.testing.assert_allclose(directions.T @ directions / 20000, np.eye(3) / 3.0, atol=0.02)
    # The mean angle of a uniform rotation is pi/2 + 2/pi.
    assert turn(quaternions).magnitude().mean() == pytest.approx(math.pi / 2 + 2 / math.pi, abs=0.02)


@pytest.mark.parametrize("limits", [(0.5, 0.5), (0.0, -0.0), (-0.0, 0.0)])
def test_a_joint_without_room_stays_where_it_is(limits: tuple[float, float]) -> None:
    builder = ModelBuilder("stuck")
    builder.joint("bolt", "revolute", parent="wall", child="plate", limits=limits)
    builder.joint("hinge", "revolute", parent="plate", child="door", limits=(-1, 1))
    stuck = builder.build()
    np.testing.assert_array_equal(stuck.sample(5, seed=0)[:, 0], limits[0])
    np.testing.assert_array_equal(stuck.home, [limits[0], 0.0])


def test_a_mimic_that_turns_the_other_way_may_leave_no_room() -> None:
    builder = ModelBuilder("gripper")
    builder.joint("left", "revolute", parent="palm", child="l", limits=(0.0, 0.5))
    follow = Mimic(joint="left", multiplier=-1)
    builder.joint("right", "revolute", parent="palm", child="r", limits=(0.0, 0.5), mimic=follow)
    builder.joint("wrist", "revolute", parent="arm", child="palm", limits=(-1, 1))
    gripper = builder.build()
    at = gripper.index("left")
    np.testing.assert_array_equal(gripper.sample(3, seed=0)[:, at], 0.0)
    np.testing.assert_array_equal(gripper.q(left=0.0)[at], 0.0)


# Names -----------------------------------------------------------------------------------------------------------


@often
@given(st.data())
def test_named_numbers_lead_back(data: st.DataObject) -> None:
    model = data.draw(trees())
    q = data.draw(configurations(model))
    named = model.named(q)
    assert list(named)[: model.nq] == list(model.coordinates)
    assert model.nq == len(set(model.coordinates))
    followers = [joint for joint in model.joints if joint.mimic]
    assert list(named)[model.nq :] == [joint.name for joint in followers]
    for joint in followers:
        assert named[joint.name] == pytest.approx(position(model, joint, q)[0], abs=1e-12)
    np.testing.assert_array_equal(model.q({name: named[name] for name in model.coordinates}), q)
    np.testing.assert_array_equal(model.q({name: q[model.index(name)] for name in model.joint_names}), q)
    np.testing.assert_array_equal(model.q(), model.home)


@often
@given(st.data())
def test_indices_tile_q_and_v_parents_first(data: st.DataObject) -> None:
    model = data.draw(trees())
    for count, index in ((model.nq, model.index), (model.nv, model.velocity_index)):
        places = [i for name in model.joint_names for i in range(count)[index(name)]]
        assert places == list(range(count))
    seen = {WORLD, *model.links} - {joint.child for joint in model.joints}
    for joint in model.joints:
        assert joint.parent in seen
        seen.add(joint.child)
    assert [link for link in model.links if link in seen] == list(model.links)


def test_q_sets_what_it_is_told_and_leaves_the_rest_at_home() -> None:
    model = hand()
    np.testing.assert_array_equal(model.home, [0.5, 0.05, 1, 0, 0, 0])
    np.testing.assert_array_equal(model.q(wrist=-0.5), [-0.5, 0.05, 1, 0, 0, 0])
    np.testing.assert_array_equal(model.q({"ball": [0, 1, 0, 0]}, finger=0.1), [0.5, 0.1, 0, 1, 0, 0])
    np.testing.assert_array_equal(model.q({"ball.qw": 0.6, "ball.qz": 0.8}), [0.5, 0.05, 0.6, 0, 0, 0.8])
    model.q()[0] = 9.0
    assert model.home[0] == 0.5, "what is given out is a copy"
    assert model.named(model.q(finger=0.02)) == {
        "wrist": 0.5,
        "finger": 0.02,
        "thumb": -0.2,
    } | dict(zip(("ball.qw", "ball.qx", "ball.qy", "ball.qz"), (1.0, 0.0, 0.0, 0.0), strict=True))


WRONG: list[tuple[Any, type[Exception], str]] = [
    (lambda m: m.q(wirst=0.1), JointNotFound, "no joint 'wirst'; did you mean 'wrist'"),
    (lambda m: m.q(thumb=0.1), ValueError, "thumb is 0.1, but it mimics finger, which at 0.05 takes it to -0.5: leave"),
    (lambda m: m.q(ball=0.1), ShapeError, r"ball must have shape \(4,\), got \(1,\)"),
    (lambda m: m.q(wrist=math.nan), ValueError, r"wrist\[0\] is nan"),
    (lambda m: m.joint("tumb"), JointNotFound, "hand has no joint 'tumb'; did you mean 'thumb'"),
    (lambda m: m.frame("tol"), FrameNotFound, "hand has no frame 'tol'; did you mean 'tool'"),
    (lambda m: m.frame("zzzz"), FrameNotFound, "available: 'arm', 'palm', 'nail', 'tip', 'eye', 'tool', 'world'"),
    (lambda m: m.index("fingr"), JointNotFound, "hand has no joint 'fingr'; did you mean 'finger'"),
    (lambda m: m.index("thumb"), JointNotFound, "the configuration of hand has no joint 'thumb'"),
    (lambda m: m.velocity_index("thumb"), JointNotFound, "the configuration of hand has no joint 'thumb'"),
    (lambda m: m.integrate(m.home[1:], np.zeros(m.nv)), ShapeError, r"q must have 6 numbers \(nq of hand\).*\(5,\)"),
    (lambda m: m.integrate(m.home, np.zeros(6)), ShapeError, r"v must have 5 numbers \(nv of hand\).*\(6,\)"),
    (lambda m: m.integrate(m.home, [0, 0, 0, math.inf, 0]), ValueError, r"v\[3\] is inf"),
    (lambda m: m.difference(m.home, m.home[:2]), ShapeError, r"q1 must have 6 numbers"),
    (lambda m: m.difference(m.home[:2], m.home), ShapeError, r"q0 must have 6 numbers"),
    (lambda m: m.named(m.sample(2, seed=0)), ShapeError, r"one configuration of shape \(6,\), got shape \(2, 6\)"),
    (lambda m: m.within_limits([1.0]), ShapeError, r"q must have 6 numbers"),
    (lambda m: m.lock(wirst=0.1), JointNotFound, "did you mean 'wrist'"),
    (lambda m: m.lock(wrist=2.5), ValueError, "cannot lock 'wrist' at .*2.5.* its limits are"),
    (lambda m: m.lock(wrist=[1, 2]), ShapeError, r"wrist must have shape \(1,\), got \(2,\)"),
    (lambda m: m.chain("plam", "nail"), FrameNotFound, "did you mean 'palm'"),
    (
        lambda m: m.chain("nail", "tip"),
        ModelError,
        "'nail' does not carry 'tip' in hand; the way to 'tip' is arm > palm > tip",
    ),
    (lambda m: m.chain("palm", "tip"), ModelError, r"'thumb' mimics 'finger', which is not between.*lock\(thumb=...\)"),
]


@pytest.mark.parametrize(("ask", "error", "message"), WRONG)
def test_what_is_wrong_with_a_question_is_said(ask: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ask(hand())


def test_a_tip_is_the_end_of_the_longest_chain() -> None:
    builder = ModelBuilder("fork")
    builder.joint("short", "revolute", parent="base", child="stub")
    builder.joint("long", "revolute", parent="base", child="middle")
    builder.joint("longer", "fixed", parent="middle", child="end")
    assert builder.build().tip == "end"


def test_what_a_model_holds_cannot_be_written() -> None:
    model = hand()
    for array in (model.lower, model.upper, model.velocity, model.home, model.neutral, model.postures["shut"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        model.masses["palm"][1][0] = 1.0
    with pytest.raises(TypeError):
        model.groups["more"] = ()  # type: ignore[index]
    with pytest.raises(TypeError):
        model.masses["tip"] = (1.0, np.zeros(3))  # type: ignore[index]
    with pytest.raises(TypeError):
        model.postures["more"] = model.home  # type: ignore[index]


@pytest.mark.parametrize("name", ["home", "joints", "nq", "tree", "neutral", "colour"])
def test_a_model_takes_no_attributes_and_says_what_to_do_instead(name: str) -> None:
    model = hand()
    way = r"of hand: a Model does not change; make another with its chain, lock or with_limits, with ModelBuilder"
    with pytest.raises(AttributeError, match=f"cannot set '{name}' {way}"):
        setattr(model, name, None)
    with pytest.raises(AttributeError, match=f"cannot delete '{name}' {way}"):
        delattr(model, name)


def test_what_is_worked_out_once_is_kept() -> None:
    model = hand()
    assert model.tree is model.tree
    assert model.neutral is model.neutral


def test_a_model_does_not_share_what_it_was_given() -> None:
    joint = Joint(name="slide", kind=JointKind.PRISMATIC, parent="base", child="cart", lower=(-1.0,), upper=(1.0,))
    home, centre, posture, group = np.array([0.5]), np.ones(3), np.array([0.1]), ["slide"]
    model = Model(
        *("cart", [joint], ["base", "cart"]),
        home=home,
        groups={"all": group},  # type: ignore[dict-item]
        postures={"ready": posture},
        masses={"cart": (2.0, centre)},
    )
    home[0], centre[0], posture[0] = 0.0, 0.0, 0.0
    group.clear()
    assert (model.home, model.postures["ready"], model.masses["cart"][1][0]) == (0.5, 0.1, 1.0)
    assert model.groups["all"] == ("slide",)


def test_a_model_that_nobody_needs_is_gone_at_once() -> None:
    model = hand()
    seen = weakref.ref(model)
    gc.collect()
    gc.disable()
    try:
        model.pose("tip", model.home)
        model.jacobian("tip", model.home)
        model.centre_of_mass_jacobian(model.home)
        model.named(model.home)
        model.sample(seed=0)
        model.root_path("tip")
        del model
        assert seen() is None
    finally:
        gc.enable()


# Limits ----------------------------------------------------------------------------------------------------------


@often
@given(st.data())
def test_limits_hold_of_every_joint_that_follows(data: st.DataObject) -> None:
    model = data.draw(trees())
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    q = np.where(rng.random(model.nq) < 0.7, model.sample(seed=rng), rng.uniform(-3.0, 3.0, model.nq))
    inside = True
    for joint in model.joints:
        own = position(model, joint, q)
        lower, upper = np.array(joint.lower), np.array(joint.upper)
        # A joint that follows at a limit may be outside by rounding.
        assume(not ((np.abs(own - lower) < 1e-9) | (np.abs(own - upper) < 1e-9)).any())
        inside &= bool(((own >= lower) & (own <= upper)).all())
    assert model.within_limits(q) == inside


@often
@given(st.data())
def test_at_a_limit_some_joint_is_at_one_of_its_own(data: st.DataObject) -> None:
    model = data.draw(trees(kinds=ONE_AXIS))
    for bound in (model.lower, model.upper):
        for i in np.flatnonzero(np.isfinite(bound)):
            q = np.array(model.home)
            q[i] = bound[i]
            rooms = [
                np.minimum(np.abs(own - joint.lower), np.abs(own - joint.upper))[0]
                for joint in model.joints
                if joint.size
                and (own := position(model, joint, q)).size
                and model.index(model.follows(joint)[0]).start == i
            ]
            assert min(rooms) < 1e-12


def test_limits_are_kept_with_no_slack() -> None:
    model = hand()
    np.testing.assert_array_equal(model.lower[:2], [-1.0, 0.0])
    np.testing.assert_allclose(model.upper[:2], [2.0, 0.05], rtol=1e-15)
    assert model.within_limits(model.q(wrist=2.0))
    assert not model.within_limits(model.q(wrist=np.nextafter(2.0, 3.0)))
    assert not model.within_limits([model.home, model.q(wrist=-1.1)])
    assert model.velocity.tolist() == [3.0, *[math.inf] * 4]


def test_followers_without_common_room_are_refused() -> None:
    builder = ModelBuilder("knot")
    builder.joint("a", "revolute", parent="base", child="x", limits=(0.5, 1.0))
    builder.joint("b", "revolute", parent="base", child="y", limits=(-1.0, 0.4), mimic=Mimic(joint="a"))
    with pytest.raises(ModelError, match="'b' mimics 'a', but their limits have no position in common"):
        builder.build()


def test_a_chain_of_followers_multiplies_through() -> None:
    builder = ModelBuilder("gears")
    builder.joint("c", "prismatic", parent="base", child="z", mimic=Mimic(joint="b", multiplier=-0.5, offset=0.1))
    builder.joint("b", "revolute", parent="base", child="y", mimic=Mimic(joint="a", multiplier=2.0, offset=1.0))
    builder.joint("a", "continuous", parent="base", child="x")
    gears = builder.build()
    assert gears.nq == 1
    assert gears.joint_names == ("a",)
    leader, function = gears.follows(gears.joint("c"))
    assert (leader, function.linear) == ("a", (-1.0, pytest.approx(-0.4)))
    assert gears.named([0.3]) == {"a": 0.3, "c": pytest.approx(-0.7), "b": pytest.approx(1.6)}
    assert gears.pose("z", [0.3]).xyz[2] == pytest.approx(-0.7)


# Bases and roots -------------------------------------------------------------------------------------------------


def test_a_floating_base_moves_along_the_worlds_axes() -> None:
    builder = ModelBuilder("drone")
    builder.joint("arm", "revolute", parent="body", child="rotor", origin=SE3.from_parts([1, 0, 0]))
    drone = builder.build(base="floating")
    assert (drone.nq, drone.nv, drone.joint_names) == (8, 7, ("root", "arm"))
    assert drone.coordinates[:7] == tuple(f"root.{x}" for x in ("x", "y", "z", "qw", "qx", "qy", "qz"))
    start = SE3.from_xyz_rpy([1, 2, 3], [0.4, -0.5, 2.0])
    q = drone.q(root=start.array)
    np.testing.assert_allclose(drone.pose("body", q).array, start.array, rtol=0, atol=1e-15)
    velocity = np.array([0.5, -0.25, 1.0, 0.3, 0.2, -0.1])
    moved = drone.pose("body", drone.integrate(q, [*velocity, 0.0]))
    np.testing.assert_allclose(moved.xyz, start.xyz + velocity[:3], rtol=0, atol=1e-15)
    turned = Rotation.from_rotvec(velocity[3:]) * turn(start.wxyz)
    np.testing.assert_allclose(moved.rotation.matrix(), turned.as_matrix(), rtol=0, atol=1e-14)
    np.testing.assert_allclose(drone.jacobian("body", q)[:, :6], np.eye(6), rtol=0, atol=1e-15)


def test_a_planar_base_slides_along_its_own_axes_then_turns() -> None:
    builder = ModelBuilder("cart")
    builder.joint("mast", "fixed", parent="cart", child="flag", origin=SE3.from_parts([0, 0, 2]))
    cart = builder.build(base="planar")
    assert (cart.nq, cart.nv, cart.coordinates) == (3, 3, ("root.x", "root.y", "root.angle"))
    pose = cart.pose("flag", [1.0, 2.0, 0.5])
    np.testing.assert_allclose(pose.array, SE3.from_xyz_rpy([1, 2, 2], [0, 0, 0.5]).array, rtol=0, atol=1e-15)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, -1), (0.6, 0, -0.8), (1, 2, 3)])
def test_a_planar_joint_stays_in_the_plane_normal_to_its_axis(axis: tuple[float, float, float]) -> None:
    builder = ModelBuilder("table")
    builder.joint("slide", "planar", parent="table", child="plate", axis=axis)
    table = builder.build()
    normal = np.array(axis) / np.linalg.norm(axis)
    moved = table.pose("plate", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, -0.4, 0.0]])
    np.testing.assert_allclose(moved.xyz @ normal, 0.0, rtol=0, atol=1e-15)
    x, y = moved.xyz[:2]
    np.testing.assert_allclose([x @ x, y @ y, x @ y], [1, 1, 0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(np.cross(x, y), normal, rtol=0, atol=1e-15)
    np.testing.assert_allclose(moved.xyz[2], 0.3 * x - 0.4 * y, rtol=0, atol=1e-15)
    np.testing.assert_allclose(table.pose("plate", [0, 0, 0.7]).rotation.log(), 0.7 * normal, rtol=0, atol=1e-15)


@pytest.mark.parametrize(("base", "size"), [("fixed", 0), ("planar", 3), ("floating", 7)])
def test_every_root_is_grounded(base: Any, size: int) -> None:
    builder = ModelBuilder("pair")
    builder.joint("a", "revolute", parent="left", child="x")
    builder.joint("b", "revolute", parent="right", child="y")
    builder.joint("c", "revolute", parent=WORLD, child="lamp")
    pair = builder.build(base=base)
    assert pair.nq == 3 + 2 * size
    assert (pair.joint_names[:2] == ("root_left", "root_right")) == (size > 0)
    q = pair.sample(seed=1)
    for frame in pair.frames:
        np.testing.assert_allclose(pair.pose(frame, q).matrix(), composed(pair, frame, q).matrix(), rtol=0, atol=1e-13)


# Derived models --------------------------------------------------------------------------------------------------


@often
@given(st.data())
def test_a_chain_stands_where_the_whole_does(data: st.DataObject) -> None:
    model = data.draw(trees(mimics=False))
    tip = data.draw(st.sampled_from(model.frames))
    path = model.root_path(model.frame(tip).link)
    assume(path)
    base = data.draw(st.sampled_from([path[0].parent, *(joint.child for joint in path)]))
    part = model.chain(base, tip)
    q = data.draw(configurations(model))
    kept = part.named(np.zeros(part.nq))
    own = np.array([model.named(q)[name] for name in kept])
    whole = model.pose(base, q).inverse() @ model.pose(tip, q)
    np.testing.assert_allclose(part.pose(tip, own).matrix(), whole.matrix(), rtol=0, atol=1e-12 * reach(model, q))
    for name, bound in zip(part.coordinates, np.stack([part.lower, part.upper, part.home], axis=-1), strict=True):
        i = model.coordinates.index(name)
        np.testing.assert_array_equal(bound, [model.lower[i], model.upper[i], model.home[i]])


def test_a_chain_of_a_root_alone_is_that_link() -> None:
    model = hand()
    alone = model.chain("arm", "arm")
    assert (alone.links, alone.nq) == (("arm",), 0)
    np.testing.assert_array_equal(alone.pose("arm", []).array, SE3.identity().array)


def test_a_chain_keeps_tools_postures_and_groups_of_its_joints() -> None:
    part = hand().chain("palm", "tool")
    assert part.joint_names == ("finger",)
    assert part.links == ("palm", "nail")
    assert {"tool", "nail", "palm"} <= set(part.frames)
    np.testing.assert_array_equal(part.postures["shut"], [0.05])
    np.testing.assert_array_equal(part.home, [0.05])
    assert part.groups["grip"] == ("finger",)


def test_a_chain_has_the_masses_of_its_links() -> None:
    whole = hand()
    part = whole.chain("palm", "tool")
    assert (whole.mass, part.mass) == (6.75, 2.5)
    assert part.masses.keys() == {"palm", "nail"}
    np.testing.assert_array_equal(part.masses["nail"][1], [0.1, 0.5, 0.0])
    expected = (2.0 * np.array([0.1, 2.0, 0.0]) + 0.5 * np.array([0.15, 0.5, 0.0])) / 2.5
    np.testing.assert_allclose(part.centre_of_mass([0.05]), expected, rtol=0, atol=1e-15)


@often
@given(st.data())
def test_locking_moves_nothing(data: st.DataObject) -> None:
    model = data.draw(trees())
    q = data.draw(configurations(model))
    assume(model.joint_names)
    held = data.draw(st.sets(st.sampled_from(model.joint_names)))
    locked = model.lock({name: q[model.index(name)] for name in held})
    assert locked.joint_names == tuple(name for name in model.joint_names if name not in held)
    rest = np.concatenate([np.zeros(0), *(q[model.index(name)] for name in locked.joint_names)])
    assert set(locked.frames) == set(model.frames)
    for frame in model.frames:
        ours, before = locked.pose(frame, rest), model.pose(frame, q)
        np.testing.assert_allclose(ours.matrix(), before.matrix(), rtol=0, atol=1e-12 * reach(model, q))
    assert locked.mass == model.mass
    centre = model.centre_of_mass(q)
    np.testing.assert_allclose(locked.centre_of_mass(rest), centre, rtol=0, atol=1e-12 * reach(model, q))
    kept = [i for name in locked.joint_names for i in range(model.nq)[model.index(name)]]
    np.testing.assert_array_equal(locked.lower, model.lower[kept])
    np.testing.assert_array_equal(locked.upper, model.upper[kept])
    np.testing.assert_array_equal(locked.home, model.home[kept])


def test_a_follower_is_locked_with_its_source_or_alone() -> None:
    model = hand()
    both = model.lock(finger=0.03)
    assert (both.joint("finger").kind, both.joint("thumb").kind) == (JointKind.FIXED, JointKind.FIXED)
    q = model.q(finger=0.03)
    rest = np.delete(q, 1)
    for frame in model.frames:
        np.testing.assert_allclose(both.pose(frame, rest).array, model.pose(frame, q).array, rtol=0, atol=1e-15)
    alone = model.lock(thumb=-0.2)
    assert alone.nq == model.nq
    assert alone.upper[1] == 0.1, "the thumb no longer narrows the finger's limits"
    expected = model.pose("tip", model.q(finger=0.02)).array
    np.testing.assert_allclose(alone.pose("tip", alone.q(finger=0.09)).array, expected, rtol=0, atol=1e-15)


def test_locking_leaves_the_model_as_it_was() -> None:
    model = hand()
    before = str(model), model.pose("tool", model.home).array
    model.lock(wrist=0.0)
    model.chain("palm", "tool")
    assert str(model) == before[0]
    np.testing.assert_array_equal(model.pose("tool", model.home).array, before[1])


# Print -----------------------------------------------------------------------------------------------------------


@often
@given(st.data())
def test_the_table_has_a_line_for_each_joint_that_moves(data: st.DataObject) -> None:
    model = data.draw(trees())
    title, head, *lines = str(model).split("\n")
    moving = [joint for joint in model.joints if joint.kind is not JointKind.FIXED]
    fixed = len(model.joints) - len(moving)
    assert title == (f"tree: nq {model.nq}, nv {model.nv}, {len(model.links)} links, {fixed} fixed joints [rad, m]")
    assert head.split() == ["joint", "kind", "lower", "upper", "parent", "child"]
    assert [line.split()[:2] for line in lines] == [[joint.name, joint.kind.value] for joint in moving]
    assert [line.split()[-2:] for line in lines] == [[joint.parent, joint.child] for joint in moving]
    starts = [head.index(word) for word in ("kind", "lower", "parent", "child")]
    for line, joint in zip(lines, moving, strict=True):
        cells = [line[a:].split(" ")[0] for a in starts]
        assert (cells[0], *cells[2:]) == (joint.kind.value, joint.parent, joint.child)
        assert (cells[1] == "=") == (joint.mimic is not None)
        if joint.size == 1 and not joint.mimic:
            assert cells[1] == f"{model.lower[model.index(joint.name)][0]:.4g}"


def test_the_table_of_a_hand() -> None:
    lines = str(hand()).split("\n")
    assert lines[0] == "hand: nq 6, nv 5, 5 links, 0 fixed joints [rad, m]"
    assert re.split(r"\s{2,}", lines[2]) == ["wrist", "revolute", "-1", "2", "arm", "palm"]
    assert re.split(r"\s{2,}", lines[3]) == ["finger", "prismatic", "0", "0.05", "palm", "nail"]
    assert re.split(r"\s{2,}", lines[4]) == ["thumb", "revolute", "= -10 finger", "+ 0", "palm", "tip"]
    assert lines[5].split() == ["ball", "spherical", "palm", "eye"]
    assert repr(hand()) == "Model('hand', 4 joints, nq=6, nv=5)"


def test_a_chain_from_the_world_stands_where_the_robot_stands() -> None:
    builder = ModelBuilder("arm")
    builder.joint("a", "revolute", parent="base", child="upper", origin=SE3.from_parts([0, 0, 0.5]), limits=(-1, 1))
    builder.joint("b", "revolute", parent="upper", child="lower", origin=SE3.from_parts([1, 0, 0]), limits=(-1, 1))
    arm = builder.build()
    whole = arm.chain("world", "lower")
    np.testing.assert_array_equal(whole.pose("lower", [0.3, -0.2]).array, arm.pose("lower", [0.3, -0.2]).array)
