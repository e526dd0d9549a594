"""Fingers beside the body: they point as a person's do, wherever the arms go, within the limits of both."""

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from bodies import robot, skeleton
from fingered import FINGERS, closing, moved, person

import poise as pz
from poise.cli import main
from poise.common.array import Array
from poise.io.installed import installed_robots
from poise_motion.anatomy.fingers import fingers_of
from poise_motion.report.measures import limits

ALEX = "alex_psyonic_hands"
NAMES = ("index", "middle", "ring", "pinky")
PERSON = person()


def joints_of(model: pz.Model) -> list[str]:
    return [name for name in model.joint_names if any(finger in name for finger in (*NAMES, "thumb"))]


def columns(done: pz.results.Retargeted) -> Array:
    model = done.motion.model
    return done.motion.q[:, [model.index(name).start for name in joints_of(model)]]


def seen(places: dict[str, Array], side: str, wrist: str, knuckles: dict[str, str], bone: tuple[str, str]) -> Array:
    """(3,) where a bone points along the axes that the knuckles of a hand make."""
    along = np.mean([places[knuckles[name]] for name in NAMES[:3]], axis=0) - places[wrist]
    along /= np.linalg.norm(along)
    across = places[knuckles["index"]] - places[knuckles["pinky"]]
    palm = np.cross(across, along) if side == "Right" else np.cross(along, across)
    palm /= np.linalg.norm(palm)
    way = places[bone[1]] - places[bone[0]]
    return np.array([along, palm, np.cross(along, palm)]) @ way / np.linalg.norm(way)


def test_bones_point_as_those_of_the_person_by_pinocchio() -> None:
    source = moved(PERSON, closing(), waving=True)
    done = pz.retarget(source, robot(ALEX))
    model = done.motion.model
    oracle = pin.buildModelFromUrdf(str(installed_robots()[ALEX]), pin.JointModelFreeFlyer())
    data = oracle.createData()
    off = []
    for i in range(0, len(source), 7):
        q = pin.neutral(oracle)
        for name, value in model.named(done.motion.q[i]).items():
            if oracle.existJointName(name):
                q[oracle.joints[oracle.getJointId(name)].idx_q] = value
        pin.framesForwardKinematics(oracle, data, q)
        there = {frame.name: data.oMf[k].translation for k, frame in enumerate(oracle.frames)}
        here = dict(zip(PERSON.links, source.positions()[i], strict=True))
        for side in ("Left", "Right"):
            hand = f"mixamorig:{side}Hand"
            own = {name: f"{side}_{name}_L1" for name in NAMES}
            human = {name: f"{hand}{finger}1" for name, finger in zip(NAMES, FINGERS, strict=True)}
            for name, finger in zip(NAMES, FINGERS, strict=True):
                short = {"middle": "mid", "ring": "ring", "index": "index", "pinky": "pinky"}[name]
                anchor = next(k for k in there if k.startswith(f"{side}_{short}") and k.endswith("anchor"))
                for bones, ends in (
                    ((f"{side}_{name}_L1", f"{side}_{name}_L2"), (f"{hand}{finger}1", f"{hand}{finger}2")),
                    ((f"{side}_{name}_L2", anchor), (f"{hand}{finger}2", f"{hand}{finger}4")),
                ):
                    a = seen(there, side, f"{side}GripperYawLink", own, bones)
                    b = seen(here, side, hand, human, ends)
                    off.append(np.degrees(np.arccos(np.clip(a @ b, -1.0, 1.0))))
    assert np.mean(off) < 8.0
    assert np.max(off) < 25.0


def test_fingers_do_not_ask_where_the_arms_go() -> None:
    one, other = (pz.retarget(moved(PERSON, closing(20), waving=waving), robot(ALEX)) for waving in (False, True))
    np.testing.assert_allclose(columns(one), columns(other), atol=1e-4)
    assert np.ptp(columns(one), axis=0).max() > 1.0


def test_limits_of_joints_and_of_speeds_hold() -> None:
    model = robot(ALEX)
    slow = model.with_limits(velocity=dict.fromkeys(joints_of(model), 0.5))
    done = pz.retarget(moved(PERSON, closing(20)), slow)
    kept = limits(slow, done.motion.q, done.motion.times)
    assert kept.broken == kept.too_fast == 0.0
    assert "deg behind the source's, and as fast as its joints may go" in done.notes[-1]
    steps = np.abs(np.diff(columns(done), axis=0))
    assert steps.max() == pytest.approx(0.5 / 30.0, rel=1e-6)


def test_what_no_finger_of_people_does_is_brought_back_and_told() -> None:
    bends = closing(12)
    beyond, most = {**bends}, {**bends}
    beyond["Ring"], most["Ring"] = bends["Ring"].copy(), bends["Ring"].copy()
    beyond["Ring"][:6, 1], most["Ring"][:6, 1] = -1.5, np.radians(-15.0)
    noisy, human = (pz.retarget(moved(PERSON, angles), robot(ALEX)) for angles in (beyond, most))
    np.testing.assert_allclose(columns(noisy), columns(human), atol=0.02)
    told = [note for note in noisy.notes if "farther than people can" in note]
    assert [note.split(" farther")[0] for note in told] == [
        f"in 50.0% of the frames the source bends the {side} ring" for side in ("left", "right")
    ]
    assert not any("people" in note for note in human.notes)


def test_fingers_that_one_of_them_lacks_are_told_and_stay() -> None:
    done = pz.retarget(moved(person(("Thumb", "Index", "Middle")), closing(8)), robot(ALEX))
    assert (
        "left ring, left pinky, right ring, right pinky not carried over: person: no joint is called so" in done.notes
    )
    model = done.motion.model
    for name in joints_of(model):
        if "ring" in name or "pinky" in name:
            at = model.index(name)
            np.testing.assert_allclose(done.motion.q[:, at], model.home[at][0], atol=1e-9)
    bare = pz.BodyMap.found(PERSON, robot("g1"))
    assert bare.fingers == ()
    assert bare.missing["left_thumb"] == "g1_29dof_rev_1_0: the left hand has no fingers"


@pytest.mark.parametrize(
    ("wrist", "fingers"),
    [
        ("mixamorig:LeftHand", [f"mixamorig:LeftHand{name}1" for name in ("Thumb", *FINGERS)]),
        ("hand_l", ["thumb_01_l", "index_01_l", "middle_01_l", "ring_01_l", "pinky_01_l"]),
        ("L_Wrist", [f"L_{name}1" for name in ("Thumb", *FINGERS)]),
        ("Bip01 L Hand", [f"Bip01 L Finger{digit}" for digit in range(5)]),
        ("wrist.L", [f"finger{digit}-1.L" for digit in range(1, 6)]),
        ("leftHand", [f"left{name}Proximal" for name in ("Thumb", "Index", "Middle", "Ring", "Little")]),
    ],
)
def test_fingers_are_found_by_their_names(wrist: str, fingers: list[str]) -> None:
    places: dict[str, Any] = {wrist: (None, (0.0, 0.0, 1.0))}
    for k, name in enumerate(fingers):
        places[name] = (wrist, (0.1, 0.03 - 0.02 * k, 1.0))
    found = fingers_of(skeleton(places), {"left_wrist": wrist})
    assert list(found.items()) == [
        (f"left_{part}", name) for part, name in zip(("thumb", *NAMES), fingers, strict=True)
    ]


def test_a_map_names_fingers_and_a_command_carries_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A person's motion on the same person is the same, but for a finger that the map leaves out."""
    monkeypatch.chdir(tmp_path)
    moved(PERSON, closing(6)).save("fingers.bvh")
    moved(PERSON, closing(1)).save("person.bvh")
    words = ["retarget", "fingers.bvh", "person.bvh"]
    assert main([*words, "-o", "out.bvh", "--save-map", "map.toml"]) == 0
    printed = capsys.readouterr().out
    assert "direction of fingers, mean error" in printed
    text = Path("map.toml").read_text()
    assert text.count('left_index = "mixamorig:LeftHandIndex1"') == 2
    Path("map.toml").write_text("\n".join(line for line in text.splitlines() if not line.startswith("left_index")))
    assert main([*words, "--map", "map.toml", "-o", "less.bvh"]) == 0
    tips = {}
    for name in ("fingers", "out", "less"):
        motion = pz.load_motion(f"{name}.bvh")
        hand = motion.model.poses(motion.q, ["mixamorig:LeftHand"])[:, 0]
        tips[name] = {
            finger: hand.inverse().act(motion.positions([f"mixamorig:LeftHand{finger}3"])[:, 0]) for finger in FINGERS
        }
    for finger in FINGERS:
        np.testing.assert_allclose(tips["out"][finger], tips["fingers"][finger], atol=2e-3)
        assert (np.ptp(tips["less"][finger], axis=0).max() > 0.01) == (finger != "Index")
