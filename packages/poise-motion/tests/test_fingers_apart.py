"""Fingers that close into things, and those that are left out: what is told of them."""

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from bodies import robot
from fingered import closing, moved, person
from support.refusals import refused

import poise as pz
from poise.solving.requirements.limits import Limits
from poise_motion.anatomy.proportions import Proportions
from poise_motion.follow.following import columns_of
from poise_motion.follow.self_collision import collision_notes, what_stands
from poise_motion.hands.finger_paths import finger_paths
from poise_motion.reference.bodies import Robot


def test_fingers_that_close_into_things_are_told_by_themselves() -> None:
    """No posture was looked for in which a finger is apart, so none was found wanting."""
    hand, arm = "mixamorig:LeftHand", "mixamorig:RightHand"
    tips = [f"{hand}{name}3" for name in ("Index", "Middle")]
    model = person().with_shapes({link: pz.Sphere((0.0, 0.0, 0.0), 0.005) for link in (hand, arm, *tips)})
    place = dict(zip(model.links, model.poses(model.neutral, model.links).xyz, strict=True))
    balls = {"cup": (tips[0], 0.001), "jug": (tips[1], 0.002), "wall": (arm, 0.004)}
    world = pz.World(
        {name: pz.Sphere(place[at] + [0.0, 0.0, 0.01 - deep], 0.005) for name, (at, deep) in balls.items()}
    )
    fingers = tuple(f"{hand}{name}{k}" for name in ("Index", "Middle") for k in (1, 2, 3))
    body = Robot(model, {}, {}, {}, {}, {}, {}, 1.0, fingers)
    told = collision_notes(pz.CollisionLimit(world, min_distance=0.0), body, model.neutral[None])
    assert told[1:] == [
        f"nearer than they may be: {arm} and wall by up to 4 mm; no posture was found that keeps them apart",
        "fingers are nearer than they may be, for they do not move for a CollisionLimit: "
        f"{tips[1]} and jug by up to 2 mm, {tips[0]} and cup by up to 1 mm",
    ]


def test_a_shin_touches_nothing_where_the_foot_is_a_link_of_its_own() -> None:
    frames = {"left_wrist": "FL_foot", "right_wrist": "FR_calf", "left_ankle": "RL_hip"}
    go2 = Robot(robot("go2"), frames, {}, {}, {}, {}, {}, 1.0)
    assert [what_stands(go2, part) for part in frames] == [["FL_foot"], ["FR_calf", "FR_foot"], ["RL_hip"]]


@pytest.fixture(scope="module")
def motion() -> pz.Motion:
    return moved(person(("Index", "Middle")), closing(2))


def less(body: pz.BodyMap, *, source: Sequence[str] = (), robot: Sequence[str] = ()) -> pz.BodyMap:
    """The map without these parts."""
    those, others = (
        {part: frame for part, frame in column.items() if part not in gone}
        for column, gone in ((body.source, source), (body.robot, robot))
    )
    return pz.BodyMap(those, others, contacts=body.contacts)


def test_fingers_without_their_wrist_are_told(motion: pz.Motion) -> None:
    model = motion.model
    body = less(pz.BodyMap.found(motion, model), source=["left_wrist", "right_wrist"], robot=["right_wrist"])
    done = pz.retarget(motion, model, body=body)
    assert "left index, left middle not carried over: the map has no left_wrist in its source" in done.notes
    assert (
        "right index, right middle not carried over: the map has no right_wrist in its source and robot" in done.notes
    )
    again = pickle.loads(pickle.dumps(done))
    assert again.notes == done.notes
    np.testing.assert_array_equal(again.motion.q, done.motion.q)


def test_a_finger_of_the_other_hand_is_refused(motion: pz.Motion) -> None:
    found = less(pz.BodyMap.found(motion, motion.model), source=["right_index"], robot=["right_index"])
    frames = {**found.robot, "left_index": "mixamorig:RightHandIndex1"}
    for name, body in (
        ("robot", pz.BodyMap(found.source, frames)),
        ("source", pz.BodyMap(frames, found.robot)),
    ):
        with pytest.raises(
            ValueError,
            match=f"^{name}.left_index is 'mixamorig:RightHandIndex1', which is not beneath 'mixamorig:LeftHand', its",
        ):
            body.check(motion, motion.model)


@pytest.mark.parametrize(("gone", "lost"), [((), False), (("elbow",), True), (("shoulder", "elbow"), True)])
def test_one_finger_needs_its_arm(motion: pz.Motion, gone: Sequence[str], lost: bool) -> None:
    """One knuckle does not show a palm."""
    parts = ["left_middle", *(f"left_{part}" for part in gone)]
    body = less(pz.BodyMap.found(motion, motion.model), source=parts, robot=parts)
    made = Proportions.of(motion, motion.model, body)
    assert ("left_index" not in made.fingers) == lost
    told = finger_paths(motion, motion.model, body, made, 1.0 / 30.0, limits=Limits.of(True)).notes
    assert any(note.startswith("left index not carried over: how the palm lies") for note in told) == lost


@pytest.mark.parametrize(("smooth", "code"), [("a", "not-a-number"), (-1.0, "negative"), (np.nan, "not-finite")])
def test_a_time_that_is_none_is_refused(motion: pz.Motion, smooth: Any, code: str) -> None:
    with refused(code, "smooth"):
        pz.retarget(motion, motion.model, smooth=smooth)


def test_ball_joints_do_not_twist(motion: pz.Motion) -> None:
    """Knuckles that go round and round turn no finger about its own bone."""
    model, t = motion.model, np.linspace(0.0, 4.0 * np.pi, 25)
    v = np.zeros((len(t), model.nv))
    joints = ["mixamorig:LeftHandIndex1", "mixamorig:LeftHandMiddle1"]
    for joint in joints:
        v[:, model.velocity_index(joint)] = np.stack([0.0 * t, 0.6 - 0.4 * np.cos(t), 0.25 * np.sin(t)], axis=1)
    round_ = pz.Motion(model, t / 4.0, model.integrate(np.tile(model.neutral, (len(t), 1)), v))
    body = pz.BodyMap.found(round_, model)
    made = finger_paths(round_, model, body, Proportions.of(round_, model, body), 0.13, limits=Limits.of(True))
    q = round_.q.copy()
    q[:, columns_of(model, made.joints)] = made.q
    assert np.degrees(np.abs(model.difference(round_.q, q)).max()) < 5.0
