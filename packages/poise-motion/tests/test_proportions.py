"""How a robot's body compares with a skeleton's: lengths, and the axes of parts."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from bodies import CONVENTIONS, LEFT, LEG, called, exercised, human, resting, robot, skeleton
from support.refusals import refused
from walker import NAMES as WALKER
from walker import parents, walk

import poise as pz
from poise_motion.anatomy.parts import SIDES
from poise_motion.anatomy.proportions import Proportions

NAMES, NAMED = called(CONVENTIONS["cmu"][0]), CONVENTIONS["cmu"][1]
PERSON = skeleton(human(NAMES, NAMED), name="person")
MOVING = exercised(PERSON, NAMES, NAMED)

Axes = npt.NDArray[np.float64]


def measured(source: pz.Motion | pz.Model, model: pz.Model) -> tuple[pz.BodyMap, Proportions]:
    body = pz.BodyMap.found(source, model)
    return body, Proportions.of(source, model, body)


def targets(motion: pz.Motion, body: pz.BodyMap, proportions: Proportions) -> dict[str, pz.SO3]:
    """By part, how the robot's frame is to be turned in each frame of the motion."""
    poses = motion.model.poses(motion.q, [body.source[part] for part in body.parts])
    return {part: poses[:, i].rotation @ pz.SO3(wxyz=proportions.offsets[part]) for i, part in enumerate(body.parts)}


def apart(a: pz.SO3, b: pz.SO3) -> float:
    """The largest angle between rotations, in degrees."""
    return float(np.degrees(np.linalg.norm((a.inverse() @ b).log(), axis=-1)).max())


def moved(model: pz.Model, *, seed: int = 1) -> pz.Motion:
    """A motion of a robot that stands in its place, with every joint on its way through half of its limits."""
    base = {name for name in model.joint_names if model.joint(name).kind == "floating"}
    goal = model.clip(model.interpolate(model.neutral, model.sample(60, seed=seed), 0.5))
    for name in base:
        goal[:, model.index(name)] = model.neutral[model.index(name)]
    return pz.Motion(model, np.arange(60) / 30.0, goal)


@pytest.mark.parametrize("name", ["talos", "romeo", "go2"])
def test_a_robot_is_as_large_as_itself_and_turned_as_itself(name: str, tmp_path: Path) -> None:
    """Its own motion, saved as the motion of a skeleton, asks for what it did."""
    model = robot(name)
    motion = moved(model)
    motion.save(tmp_path / "own.bvh")
    own = pz.load_motion(tmp_path / "own.bvh", unit=0.01)
    found = pz.BodyMap.found(model, model)
    body = pz.BodyMap(found.robot, found.robot, found.contacts)
    proportions = Proportions.of(own, model, body)
    for kind in ("leg", "arm", "trunk"):
        assert proportions.scales[kind] == pytest.approx(1.0, abs=0.01), kind
    poses = model.poses(motion.q, [body.robot[part] for part in body.parts])
    wanted = targets(own, body, proportions)
    for i, part in enumerate(body.parts):
        if not part.endswith("ankle"):  # it never stands
            assert apart(wanted[part], poses[:, i].rotation) < 5.0, part


def test_a_robot_with_hips_aside_is_about_as_itself(tmp_path: Path) -> None:
    """The hip of a G1 is in none of its links' origins, which are all that a skeleton tells."""
    model = robot("g1")
    motion = moved(model)
    motion.save(tmp_path / "own.bvh")
    own = pz.load_motion(tmp_path / "own.bvh", unit=0.01)
    found = pz.BodyMap.found(model, model)
    body = pz.BodyMap(found.robot, found.robot)
    proportions = Proportions.of(own, model, body)
    poses = model.poses(motion.q, [body.robot[part] for part in body.parts])
    for i, part in enumerate(body.parts):
        if not part.endswith("ankle"):
            assert apart(targets(own, body, proportions)[part], poses[:, i].rotation) < 12.0, part


# Lengths -------------------------------------------------------------------------------------------------------------


def lengths(a: str, b: str) -> float:
    return float(np.linalg.norm(np.subtract(LEFT[a], LEFT[b])))


def test_limbs_have_the_scale_of_their_bones() -> None:
    _, proportions = measured(MOVING, robot("talos"))
    thigh, shin = lengths("hip", "knee"), lengths("knee", "ankle")
    assert proportions.lengths["left_hip"][0] == pytest.approx(thigh)
    assert proportions.lengths["left_hip"][1] == pytest.approx(0.38, abs=1e-3)
    assert proportions.scales["leg"] == pytest.approx((0.38 + 0.325) / (thigh + shin), rel=1e-3)
    assert proportions.assumed == ()
    assert "left_hip" in str(proportions)
    assert "<table" in proportions._repr_html_()


def test_heights_of_hips_over_soles() -> None:
    """Talos stands with its hips 0.81 m over its soles, 0.107 m of it below the ankles."""
    _, proportions = measured(MOVING, robot("talos"))
    assert proportions.standing is not None
    assert proportions.ankles is not None
    assert proportions.ankles == pytest.approx((0.06, 0.107), abs=2e-3)
    legs = lengths("hip", "knee") + lengths("knee", "ankle")
    assert proportions.standing == pytest.approx((legs + 0.06, 0.38 + 0.325 + 0.107), abs=2e-3)


def test_sides_that_differ_are_one_scale() -> None:
    points = dict(human(NAMES, NAMED))
    for joint in ("LeftLeg", "LeftFoot", "LeftToeBase"):
        parent, place = points[joint]
        points[joint] = (parent, np.add(place, (0, 0, 0.04)))
    _, proportions = measured(skeleton(points), robot("talos"))
    assert proportions.lengths["left_hip"][0] == pytest.approx(proportions.lengths["right_hip"][0] - 0.04, abs=1e-3)
    _, same = measured(PERSON, robot("talos"))
    assert proportions.scales["leg"] == pytest.approx(same.scales["leg"] * 0.84 / 0.82, rel=2e-3)


@pytest.mark.parametrize("scale", [0.2, 1.0, 5.0])
def test_a_human_of_another_size(scale: float) -> None:
    big = skeleton(human(NAMES, NAMED, scale=scale))
    _, proportions = measured(big, robot("g1"))
    _, same = measured(PERSON, robot("g1"))
    for kind, value in same.scales.items():
        assert proportions.scales[kind] == pytest.approx(value / scale, rel=1e-9)
    for part, offset in same.offsets.items():
        assert apart(pz.SO3(wxyz=proportions.offsets[part]), pz.SO3(wxyz=offset)) < 1e-4


@pytest.mark.parametrize("scale", [0.01, 100.0])
def test_a_human_in_another_unit_is_refused(scale: float) -> None:
    giant = skeleton(human(NAMES, NAMED, scale=scale))
    with refused("out-of-range", "leg"):
        measured(giant, robot("g1"))


def test_a_bone_without_length_is_refused() -> None:
    points = dict(human(NAMES, NAMED))
    points["LeftLeg"] = (points["LeftLeg"][0], points["LeftUpLeg"][1])
    person = skeleton(points, name="person")
    body = pz.BodyMap.found(PERSON, robot("g1"))
    with refused("inconsistent", "'LeftUpLeg' and 'LeftLeg'"):
        Proportions.of(person, robot("g1"), body)


def test_a_map_that_does_not_fit_is_refused() -> None:
    body = pz.BodyMap({"pelvis": "Hips"}, {"pelvis": "plvis"})
    with pytest.raises(pz.FrameNotFound, match="did you mean 'pelvis'"):
        Proportions.of(PERSON, robot("g1"), body)


def test_without_legs_the_rest_is_the_mean() -> None:
    names = {part: name for part, name in NAMES.items() if part not in LEG}
    _, proportions = measured(skeleton(human(names, NAMED)), robot("g1"))
    assert proportions.standing is None
    assert proportions.ankles is None
    known = [proportions.scales[kind] for kind in ("arm", "shoulders")]
    assert proportions.scales["leg"] == pytest.approx(np.mean(known))
    assert any("the scale of the leg is the mean of the others" in word for word in proportions.assumed)


def test_without_toes_ankles_are_as_high_as_the_robots() -> None:
    names = {part: name for part, name in NAMES.items() if part != "toe"}
    _, proportions = measured(skeleton(human(names, NAMED)), robot("g1"))
    assert proportions.ankles is not None
    assert proportions.ankles[1] == pytest.approx(proportions.ankles[0] * proportions.scales["leg"])
    assert any("no toes" in word for word in proportions.assumed)


def test_feet_point_where_toes_do_also_where_the_robot_has_none() -> None:
    """A body that is turned above its feet has no other that tells."""
    motion = walk(seconds=0.5, stride=0.0)
    places = np.array(motion.positions(WALKER))
    turn = pz.SO3.from_rpy([0.0, 0.0, 0.5])
    for side in ("Left", "Right"):
        ankle, toe = (WALKER.index(side + name) for name in ("Foot", "Toe"))
        places[:, toe] = places[:, ankle] + (turn @ (places[:, toe] - places[:, ankle]))
    turned = pz.motion_from_positions(places, WALKER, parents(), fps=60.0)
    body, proportions = measured(turned, robot("g1"))
    assert "left_toe" not in body.robot
    for side in SIDES:
        pose = turned.model.poses(turned.q, [body.source[f"{side}_ankle"]])[:, 0]
        ahead = pose.rotation.act(proportions.source_axes[f"{side}_ankle"][:, 0])
        assert np.allclose(np.arctan2(ahead[:, 1], ahead[:, 0]), 0.5, atol=0.1)


def test_one_wrist_alone_has_no_scale() -> None:
    body = pz.BodyMap({"right_wrist": "RightHand"}, {"right_wrist": "panda_hand"})
    proportions = Proportions.of(MOVING, pz.load("panda"), body)
    assert set(proportions.scales.values()) == {1.0}
    assert np.isfinite(proportions.offsets["right_wrist"]).all()


# Axes ----------------------------------------------------------------------------------------------------------------


def world(axes: Axes, pose: pz.SE3) -> Axes:
    return np.asarray(pose.rotation.matrix() @ axes)


@pytest.mark.parametrize("source", [PERSON, MOVING], ids=["rest", "motion"])
def test_axes_at_rest(source: Any) -> None:
    """A T pose that looks along -y: elbows bend forwards, so palms are down; feet are flat."""
    _, proportions = measured(source, robot("talos"))
    turned = {part: world(proportions.source_axes[part], pz.SE3.identity()) for part in proportions.source_axes}
    upright = np.column_stack([(0, -1, 0), (1, 0, 0), (0, 0, 1)])
    for part in ("pelvis", "chest", "head", "left_ankle", "right_ankle"):
        assert np.allclose(turned[part], upright, atol=0.02), part
    left = np.column_stack([(0, -1, 0), (0, 0, 1), (-1, 0, 0)])
    right = np.column_stack([(0, -1, 0), (0, 0, -1), (1, 0, 0)])
    for part in ("shoulder", "elbow", "wrist"):
        assert np.allclose(turned[f"left_{part}"], left, atol=0.02), part
        assert np.allclose(turned[f"right_{part}"], right, atol=0.02), part
    for side in SIDES:
        assert np.allclose(turned[f"{side}_hip"][:, 1], (1, 0, 0), atol=0.02)
        thigh = np.subtract(LEFT["hip"], LEFT["knee"]) / lengths("hip", "knee")
        assert np.allclose(turned[f"{side}_hip"][:, 2], thigh, atol=0.02)


@pytest.mark.parametrize(
    ("name", "forward", "left", "up"),
    [
        ("g1", (1, 0, 0), (0, 1, 0), (0, 0, 1)),
        ("icub", (-1, 0, 0), (0, -1, 0), (0, 0, 1)),
        ("human", (1, 0, 0), (0, 0, -1), (0, 1, 0)),
    ],
)
def test_robots_stand_as_their_models_have_it(name: str, forward: Any, left: Any, up: Any) -> None:
    """The iCub looks along -x, and the human along x with y up."""
    model = robot(name)
    body, proportions = measured(PERSON, model)
    upright = np.column_stack([forward, left, up])
    for part in ("pelvis", "chest", "left_ankle", "right_ankle", "left_knee", "left_hip"):
        seen = world(proportions.robot_axes[part], model.pose(body.robot[part], model.neutral))
        assert np.allclose(seen, upright, atol=0.11), part


def test_a_forearm_that_points_forward_at_zero() -> None:
    """The G1's elbow is bent at zero: its forearm points forward, and what is forward of it is up."""
    model = robot("g1")
    body, proportions = measured(PERSON, model)
    seen = world(proportions.robot_axes["left_elbow"], model.pose(body.robot["left_elbow"], model.neutral))
    assert np.allclose(seen, np.column_stack([(0, 0, 1), (0, 1, 0), (-1, 0, 0)]), atol=0.1)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_rest_does_not_matter(seed: int) -> None:
    """What the robot shall do is in the motion, and not in how the frames of the skeleton lie."""
    model = robot("g1")
    body, proportions = measured(MOVING, model)
    other = resting(MOVING, seed)
    assert np.allclose(other.positions(), MOVING.positions(), atol=1e-12)
    again = Proportions.of(other, model, body)
    assert again.scales == pytest.approx(proportions.scales)
    a, b = targets(MOVING, body, proportions), targets(other, body, again)
    for part in body.parts:
        tilt = 15.0 if part.endswith("wrist") else 6.0  # which wrist is straight, only a rest can tell
        assert apart(a[part], b[part]) < tilt, part


@pytest.mark.parametrize("turn", [0.7, 3.0])
def test_where_it_looks_does_not_matter(turn: float) -> None:
    rotation = pz.SO3.from_rpy([0.0, 0.0, turn])
    points = {name: (parent, rotation.act(place)) for name, (parent, place) in human(NAMES, NAMED).items()}
    model = robot("g1")
    body, proportions = measured(PERSON, model)
    _, again = measured(skeleton(points), model)
    for part in body.parts:
        assert apart(rotation @ pz.SO3(wxyz=proportions.offsets[part]), pz.SO3(wxyz=again.offsets[part])) < 1e-4, part


def test_one_frame_is_enough() -> None:
    one = pz.Motion(PERSON, [0.0], MOVING.q[:1])
    _, proportions = measured(one, robot("g1"))
    _, rest = measured(PERSON, robot("g1"))
    for part, offset in rest.offsets.items():
        assert np.isfinite(proportions.offsets[part]).all(), part
        if "elbow" not in part and "wrist" not in part and "shoulder" not in part:
            assert apart(pz.SO3(wxyz=offset), pz.SO3(wxyz=proportions.offsets[part])) < 6.0, part


def test_arms_that_hang_at_rest_are_the_same() -> None:
    """A skeleton that rests with hanging arms asks for the same as one that rests in a T pose."""
    points = dict(human(NAMES, NAMED))
    for side in ("Left", "Right"):
        shoulder = np.array(points[f"{side}Arm"][1])
        for joint, down in (("ForeArm", 0.28), ("Hand", 0.53)):
            points[f"{side}{joint}"] = (points[f"{side}{joint}"][0], np.subtract(shoulder, (0, 0, down)))
    model = robot("talos")
    _, hanging = measured(skeleton(points), model)
    _, spread = measured(PERSON, model)
    for side, sign in (("left", 1), ("right", -1)):
        swing = pz.SO3.from_rotvec([0, sign * np.pi / 2, 0])
        for part in (f"{side}_shoulder", f"{side}_elbow", f"{side}_wrist"):
            lowered = swing @ pz.SO3(wxyz=spread.offsets[part])
            assert apart(lowered, pz.SO3(wxyz=hanging.offsets[part])) < 1e-4, part


def test_they_can_be_copied() -> None:
    _, proportions = measured(PERSON, robot("g1"))
    again = pickle.loads(pickle.dumps(proportions))
    assert str(again) == str(proportions)
    for part, offset in proportions.offsets.items():
        assert np.array_equal(again.offsets[part], offset)
        assert not again.offsets[part].flags.writeable
