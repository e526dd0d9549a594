"""What is changed of a loaded robot, for a new model: a tool, limits, the base and a payload."""

import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.refusals import refused
from support.trees import composed, configurations, origins, reach, trees

import poise as pz
from poise.model.frame import WORLD
from poise.model.joint import JointKind

often = settings(max_examples=40)

poses = st.integers(0, 2**32 - 1).map(lambda seed: origins(np.random.default_rng(seed)))


def same(one: pz.SE3, other: pz.SE3, tolerance: float) -> None:
    np.testing.assert_allclose(one.matrix(), other.matrix(), atol=tolerance)


def gripper() -> pz.Model:
    """An arm of two hinges with two fingers, of which the second follows the first, and all that a model can have."""
    builder = pz.ModelBuilder("gripper")
    builder.joint("lift", "prismatic", parent="base", child="column", limits=(0.0, 1.0), velocity=0.5)
    builder.joint("turn", "continuous", parent="column", child="palm", origin=pz.SE3.from_parts([0.3, 0.0, 0.1]))
    axis = (0.0, 1.0, 0.0)
    builder.joint("left", "prismatic", parent="palm", child="l", axis=axis, limits=(0.0, 0.04), velocity=0.2)
    builder.joint(
        "right", "prismatic", parent="palm", child="r", axis=axis, limits=(-0.08, 0.0), velocity=0.4,
        mimic=pz.Mimic(joint="left", multiplier=-2.0),
    )  # fmt: skip
    builder.frame("eye", link="palm", origin=pz.SE3.from_xyz_rpy([0.0, 0.05, 0.0], [0.1, 0.2, 0.3]))
    builder.frame("door", link=WORLD, origin=pz.SE3.from_parts([2.0, 0.0, 0.0]))
    builder.mass("palm", 2.0, centre=(0.0, 0.0, 0.1), inertia=np.diag([0.01, 0.02, 0.03]))
    builder.shape("palm", pz.Sphere((0.0, 0.0, 0.0), 0.05))
    builder.shape(WORLD, pz.Sphere((0.0, 0.0, -1.0), 0.1))
    builder.disable("l", "r")
    builder.group("arm", ["lift", "turn"])
    builder.posture("up", {"lift": [0.9]})
    return builder.build(home="up")


def carried(model: pz.Model) -> tuple[Any, ...]:
    """What comes along, whatever is changed."""
    masses = {link: (mass, centre.tolist()) for link, (mass, centre) in model.masses.items()}
    inertias = {link: matrix.tolist() for link, matrix in model.inertias.items()}
    postures = {name: q.tolist() for name, q in model.postures.items()}
    return (
        model.name, model.links, model.groups, postures, masses, inertias, model.shapes, model.visuals, model.disabled,
        model.joint_names, model.home.tolist(),
    )  # fmt: skip


# A tool -----------------------------------------------------------------------------------------------------------


@often
@given(model=trees(), tool=poses, data=st.data())
def test_a_tool_stands_on_any_frame_wherever_the_robot_is(model: pz.Model, tool: pz.SE3, data: st.DataObject) -> None:
    frame = data.draw(st.sampled_from(model.frames))
    q = data.draw(configurations(model))
    more = model.with_frame("tool", link=frame, origin=tool)
    same(more.pose("tool", q), composed(model, frame, q) @ tool, 1e-12 * reach(model, q) * (1.0 + abs(tool.xyz).max()))
    assert {*more.frames} == {*model.frames, "tool"}
    assert "tool" not in model.frames


def test_a_tool_takes_everything_along() -> None:
    model = gripper()
    more = model.with_frame("tcp", link="eye", origin=[0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0])
    assert carried(more) == carried(model)
    assert more.frame("tcp").link == "palm"
    again = pickle.loads(pickle.dumps(more))
    same(again.pose("tcp", model.home), more.pose("tcp", model.home), 0.0)
    same(model.with_frame("here", link="palm").pose("here", model.home), model.pose("palm", model.home), 0.0)


@pytest.mark.parametrize(
    ("name", "link", "origin", "code", "words"),
    [
        ("eye", "palm", pz.SE3.identity(), "invalid-model", "has a frame 'eye' already; give the new one another name"),
        ("palm", "palm", pz.SE3.identity(), "invalid-model", "has a frame 'palm' already"),
        ("", "palm", pz.SE3.identity(), "invalid-model", "a text that is not empty"),
        ("tcp", "pam", pz.SE3.identity(), "unknown-name", "did you mean 'palm'"),
        ("tcp", "palm", [0.1, 0.0, 0.0], "wrong-shape", "origin"),
        ("tcp", "palm", pz.SE3(np.tile(pz.SE3.identity().array, (2, 1))), "wrong-shape", "origin"),
        ("tcp", "palm", pz.SE3.from_parts([1e18, 0.0, 0.0]), "out-of-range", "origin stands at"),
    ],
)
def test_a_tool_that_cannot_be_is_refused(name: str, link: str, origin: Any, code: str, words: str) -> None:
    with refused(code, words):
        gripper().with_frame(name, link=link, origin=origin)


# Limits -----------------------------------------------------------------------------------------------------------


def test_limits_are_those_that_are_stated_be_they_narrower_or_wider() -> None:
    model = gripper()
    other = model.with_limits({"lift": (-0.2, 0.5), "turn": (-1.0, 2.0)}, velocity={"lift": 0.7, "turn": 1.5})
    np.testing.assert_array_equal(other.lower, [-0.2, -1.0, 0.0])
    np.testing.assert_array_equal(other.upper, [0.5, 2.0, 0.04])
    np.testing.assert_array_equal(other.velocity, [0.7, 1.5, 0.2])
    assert other.joint("turn").kind is JointKind.REVOLUTE
    np.testing.assert_array_equal(other.home, [0.5, 0.0, 0.0])  # it was at 0.9
    np.testing.assert_array_equal(other.postures["up"], [0.9, 0.0, 0.0])
    np.testing.assert_array_equal(model.upper, [1.0, math.inf, 0.04])
    q = other.sample(seed=3)
    same(other.pose("eye", q), model.pose("eye", q), 0.0)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(other)).upper, other.upper)


def test_a_limit_may_be_none() -> None:
    other = gripper().with_limits({"lift": (-math.inf, math.inf)}, velocity={"lift": math.inf})
    assert other.lower[0] == -math.inf
    assert other.upper[0] == math.inf
    assert other.velocity[0] == math.inf


def test_answers_keep_the_limits_that_were_stated() -> None:
    arm = pz.load("ur5e").with_limits({"elbow_joint": (0.1, 3.0)})
    found = pz.solve_all(arm, pz.PoseTask("tool0", arm.pose("tool0", arm.sample(seed=2))))
    at = arm.index("elbow_joint")
    assert len(found) > 0
    assert all(0.1 <= q[at][0] <= 3.0 for q in found.q)


@often
@given(model=trees(), data=st.data())
def test_limits_of_any_tree_hold_its_home_and_its_samples(model: pz.Model, data: st.DataObject) -> None:
    able = [j for j in model.joints if j.kind not in (JointKind.FIXED, JointKind.SPHERICAL) and not j.mimic]
    alone = [j.name for j in able if not any(model.follows(o)[0] == j.name for o in model.joints if o.mimic)]
    names = data.draw(st.lists(st.sampled_from(alone), unique=True)) if alone else []
    if not names:
        return
    numbers = st.floats(-3.0, 3.0)
    limits = {name: tuple(sorted((data.draw(numbers), data.draw(numbers)))) for name in names}
    other = model.with_limits(limits)
    for joint in other.joints:
        if joint.nq:
            count = joint.nq if joint.quaternion_at is None else joint.quaternion_at
            at = slice(other.index(joint.name).start, other.index(joint.name).start + count)
            kept = limits.get(joint.name, (model.lower[at], model.upper[at]))
            np.testing.assert_array_equal(other.lower[at], np.broadcast_to(kept[0], count))
            np.testing.assert_array_equal(other.upper[at], np.broadcast_to(kept[1], count))
    assert other.within_limits(other.home)
    assert other.within_limits(other.sample(5, seed=1))


def test_a_base_that_moves_takes_limits_for_its_place() -> None:
    model = pz.load("go2", base="floating")
    other = model.with_limits({"root": ([-1.0, -2.0, 0.1], 1.0)}, velocity={"root": 0.5})
    np.testing.assert_array_equal(other.lower[:7], [-1.0, -2.0, 0.1, *[-math.inf] * 4])
    np.testing.assert_array_equal(other.upper[:7], [1.0, 1.0, 1.0, *[math.inf] * 4])
    np.testing.assert_array_equal(other.velocity[:6], 0.5)


def test_joints_that_move_together_are_named_together() -> None:
    model = gripper()
    wide = model.with_limits({"left": (0.0, 0.1), "right": (-0.2, 0.0)}, velocity={"left": 1.0, "right": 2.0})
    assert (wide.lower[2], wide.upper[2], wide.velocity[2]) == (0.0, 0.1, 1.0)
    narrow = model.with_limits({"right": (-0.02, 0.0)}, velocity={"right": 0.1})
    assert (narrow.upper[2], narrow.velocity[2]) == (0.01, 0.05)
    assert model.with_limits({"left": (0.01, 0.02)}).upper[2] == 0.02
    for stated, other in (({"left": (0.0, 0.1)}, "right"), ({"right": (-0.2, 0.0)}, "left")):
        with pytest.raises(ValueError, match=f"held to less by '{other}', which moves with it: name '{other}' too"):
            model.with_limits(stated)
    with refused("inconsistent", "'left'"):
        model.with_limits(velocity={"left": 0.3})
    with pytest.raises(pz.ModelError, match="no position in common"):
        model.with_limits({"left": (0.02, 0.03), "right": (-0.01, 0.0)})


@pytest.mark.parametrize(
    ("limits", "velocity", "code", "words"),
    [
        ({}, {}, "empty", "names no joint"),
        ({"lifd": (0.0, 1.0)}, {}, "unknown-name", "did you mean 'lift'"),
        ({}, {"lifd": 1.0}, "unknown-name", "did you mean 'lift'"),
        ({"lift": (1.0, 0.0)}, {}, "inconsistent", "'lift' are the wrong way round: lower 1 > upper 0"),
        ({"lift": (math.nan, 0.0)}, {}, "not-a-number", "limits"),
        ({"lift": (math.inf, math.inf)}, {}, "out-of-range", "'lift' are inf to inf"),
        ({"lift": (0.0, 1e300)}, {}, "out-of-range", "beyond 2^50"),
        ({"lift": 1.0}, {}, "wrong-length", "'lift' must be (lower, upper), got 1.0"),
        ({"lift": ([0.0, 1.0], 2.0)}, {}, "wrong-length", "'lift' must be a number or 1 of them"),
        ({"lift": ("low", "high")}, {}, "not-a-number", "'lift' holds 'low', which is no number"),
        ({}, {"lift": 0.0}, "not-positive", "velocity limit of 'lift' is 0; it must be above 0: model.lock(lift=...)"),
        ({}, {"lift": -1.0}, "not-positive", "must be above 0"),
        ({}, {"lift": math.nan}, "not-a-number", "no number"),
    ],
)
def test_limits_that_make_no_sense_are_refused(limits: Any, velocity: Any, code: str, words: str) -> None:
    with refused(code, words):
        gripper().with_limits(limits, velocity=velocity)


def test_a_fixed_joint_and_a_ball_take_no_limits() -> None:
    builder = pz.ModelBuilder("arm")
    builder.joint("mount", "fixed", parent="base", child="arm")
    builder.joint("ball", "spherical", parent="arm", child="hand")
    model = builder.build()
    with refused("no-limits", "'mount'"):
        model.with_limits({"mount": (0.0, 1.0)})
    with refused("no-limits", "'ball'"):
        model.with_limits({"ball": (0.0, 1.0)})
    assert model.with_limits(velocity={"ball": 2.0}).velocity.tolist() == [2.0, 2.0, 2.0]


# The base ---------------------------------------------------------------------------------------------------------


@often
@given(model=trees(), pose=poses, data=st.data())
def test_all_that_the_world_carries_is_where_it_was_times_the_pose(
    model: pz.Model, pose: pz.SE3, data: st.DataObject
) -> None:
    q = data.draw(configurations(model))
    other = model.with_base(pose)
    np.testing.assert_array_equal(other.lower, model.lower)
    assert other.joint_names == model.joint_names
    tolerance = 1e-12 * reach(model, q) * (1.0 + abs(pose.xyz).max())
    for frame in model.frames:
        seen = model.pose(frame, q)
        same(other.pose(frame, q), seen if model.frame(frame).link == WORLD else pose @ seen, tolerance)
    place = pose.act(model.centre_of_mass(q))
    np.testing.assert_allclose(other.centre_of_mass(q), place, atol=1e-12 + tolerance)


def test_a_mount_takes_everything_along_and_adds_up() -> None:
    model, table = gripper(), pz.SE3.from_xyz_rpy([0.0, 0.5, 0.8], [math.pi, 0.0, 0.3])
    other = model.with_base(table)
    assert carried(other) == carried(model)
    assert other.joints[0].name == "base_mount"
    twice = other.with_base(pz.SE3.from_parts([1.0, 0.0, 0.0]))
    assert len(twice.joints) == len(other.joints)
    same(twice.pose("base", model.home), pz.SE3.from_parts([1.0, 0.0, 0.0]) @ table, 1e-15)
    same(twice.pose("door", model.home), model.pose("door", model.home), 0.0)
    same(pickle.loads(pickle.dumps(other)).pose("eye", model.home), other.pose("eye", model.home), 0.0)
    with pytest.raises(pz.ShapeError, match="pose must be an SE3, 7 numbers"):
        model.with_base([0.0, 0.0, 1.0])


@pytest.mark.parametrize("name", ["ur5e", "panda"])
def test_a_mounted_arm_answers_as_the_arm_does_with_its_targets_moved(name: str) -> None:
    arm = pz.load(name)
    wall = pz.SE3.from_xyz_rpy([0.4, -1.0, 1.2], [0.3, 1.5, -2.0])
    mounted, q = arm.with_base(wall), arm.sample(seed=5)
    target = arm.pose(arm.tip, q)
    same(mounted.pose(arm.tip, q), wall @ target, 1e-12)
    answer = pz.solve(mounted, pz.PoseTask(arm.tip, wall @ target), q0=arm.home)
    assert answer.success
    same(wall @ arm.pose(arm.tip, answer.q), wall @ target, 1e-5)


def test_what_is_near_a_mounted_arm_is_what_was_near_the_arm() -> None:
    arm, wall = gripper().with_shapes({"palm": pz.Sphere((0.0, 0.0, 0.1), 0.05)}), pz.SE3.exp([1, 2, 3, 0.1, 2, 0.4])
    mounted, q = arm.with_base(wall), arm.sample(seed=5)
    ball = pz.Sphere((0.1, 0.1, 0.4), 0.05)
    near = arm.distance(q, pz.World({"ball": ball}))
    far = mounted.distance(q, pz.World({"ball": ball.placed(wall)}))
    assert near.pair == far.pair == ("palm", "ball")
    assert near.distance == pytest.approx(far.distance, abs=1e-12)
    np.testing.assert_allclose(wall.act(near.points), far.points, atol=1e-12)


def test_what_is_fixed_to_the_world_stays_there() -> None:
    up = gripper().with_base(pz.SE3.from_parts([0.0, 0.0, 5.0]))
    assert up.distance(up.home).distance == pytest.approx(up.pose("palm", up.home).xyz[2] + 1.0, abs=0.2)


def test_the_branches_of_a_mounted_arm_are_those_of_the_arm() -> None:
    arm = pz.load("ur5e")
    wall = pz.SE3.from_xyz_rpy([0.4, -1.0, 1.2], [math.pi, 0.2, 0.0])
    target = arm.pose("tool0", arm.sample(seed=7))
    these = pz.solve_all(arm, pz.PoseTask("tool0", target)).q
    those = pz.solve_all(arm.with_base(wall), pz.PoseTask("tool0", wall @ target)).q
    assert len(these) == len(those) > 1
    apart = np.abs(these[:, None] - those[None]).max(axis=-1)
    assert apart.min(axis=1).max() < 1e-6


def test_a_mounted_floating_base_stands_on_the_pose() -> None:
    dog = pz.load("go2", base="floating")
    stand = pz.SE3.from_xyz_rpy([1.0, 2.0, 3.0], [0.0, 0.0, 1.0])
    q = dog.sample(seed=1)
    same(dog.with_base(stand).pose("FL_foot", q), stand @ dog.pose("FL_foot", q), 1e-12)


# A payload --------------------------------------------------------------------------------------------------------


@often
@given(model=trees(), mass=st.floats(1e-3, 100.0), data=st.data())
def test_a_payload_pulls_the_centre_of_mass_to_itself(model: pz.Model, mass: float, data: st.DataObject) -> None:
    frame = data.draw(st.sampled_from([f for f in model.frames if model.frame(f).link != WORLD]))
    q = data.draw(configurations(model))
    centre = np.array([0.1, -0.2, 0.3])
    other = model.with_payload(mass, link=frame, centre=centre)
    assert other.mass == pytest.approx(model.mass + mass)
    pulled = model.mass * model.centre_of_mass(q) + mass * composed(model, frame, q).act(centre)
    np.testing.assert_allclose(other.centre_of_mass(q), pulled / other.mass, atol=1e-11 * reach(model, q))


def test_a_payload_takes_everything_else_along() -> None:
    model = gripper()
    other = model.with_payload(1.0, link="eye", centre=(0.0, 0.0, 0.2))
    assert carried(other)[:4] == carried(model)[:4]
    assert other.masses["palm"][0] == 3.0
    assert model.masses["palm"][0] == 2.0
    assert pickle.loads(pickle.dumps(other)).mass == 3.0
    balanced = pz.solve(other, pz.CentreOfMassTask(target=other.centre_of_mass(other.sample(seed=1))))
    assert balanced.success


@pytest.mark.parametrize(
    ("mass", "link", "centre", "code", "words"),
    [
        (0.0, "palm", (0, 0, 0), "out-of-range", "mass"),
        (-1.0, "palm", (0, 0, 0), "out-of-range", "above 0"),
        (math.nan, "palm", (0, 0, 0), "not-finite", "finite"),
        (math.inf, "palm", (0, 0, 0), "not-finite", "finite"),
        ("1", "palm", (0, 0, 0), "not-a-number", "finite number"),
        (1.0, "pam", (0, 0, 0), "unknown-name", "did you mean 'palm'"),
        (1.0, "door", (0, 0, 0), "invalid-model", "'world' has no mass"),
        (1.0, "palm", (0, 0), "wrong-shape", "centre"),
        (1.0, "palm", (0, 0, math.nan), "not-finite", "centre"),
    ],
)
def test_a_payload_that_cannot_be_is_refused(mass: Any, link: str, centre: Any, code: str, words: str) -> None:
    with refused(code, words):
        gripper().with_payload(mass, link=link, centre=centre)


@pytest.mark.parametrize("given", [{"limits": [(0.0, 1.0)]}, {"limits": 3}, {"velocity": 0.5}, {"velocity": []}])
def test_limits_of_joints_without_names_are_refused(given: Any) -> None:
    with refused("wrong-type", next(iter(given))):
        gripper().with_limits(**given)


def test_limits_that_look_like_degrees_are_asked_about() -> None:
    arm = pz.load("panda")
    with pytest.warns(UserWarning, match=r"'panda_joint1' are -90 to 90 rad, more than three turns: degrees\?"):
        arm.with_limits({"panda_joint1": (-90, 90)})
