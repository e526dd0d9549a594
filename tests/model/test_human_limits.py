"""Limits of human joints by name: which joints are known, which way they bend, what people do."""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.refusals import refused

import poise as pz
from poise.model.human import parts_of

pytestmark = pytest.mark.filterwarnings("error")
ASSIMP = Path("/usr/share/assimp/models/BVH")

STYLES = {
    "CMU": """Hips LHipJoint {}UpLeg {}Leg {}Foot {}ToeBase LowerBack Spine Spine1 Neck Neck1 Head {}Shoulder {}Arm
        {}ForeArm {}Hand {}HandIndex1""",
    "Mixamo": """mixamorig:Hips mixamorig:{}UpLeg mixamorig:{}Leg mixamorig:{}Foot mixamorig:{}ToeBase mixamorig:Spine
        mixamorig:Spine1 mixamorig:Spine2 mixamorig:Neck mixamorig:Head mixamorig:{}Shoulder mixamorig:{}Arm
        mixamorig:{}ForeArm mixamorig:{}Hand""",
    "Biped": """Bip01_Pelvis Bip01_{0[0]}_Thigh Bip01_{0[0]}_Calf Bip01_{0[0]}_Foot Bip01_{0[0]}_Toe0 Bip01_Spine
        Bip01_Spine1 Bip01_Neck Bip01_Head Bip01_{0[0]}_Clavicle Bip01_{0[0]}_UpperArm Bip01_{0[0]}_Forearm
        Bip01_{0[0]}_Hand""",
    "SMPL": """pelvis {0[0]}_Hip {0[0]}_Knee {0[0]}_Ankle {0[0]}_Foot Spine1 Spine2 Spine3 Neck Head {0[0]}_Collar
        {0[0]}_Shoulder {0[0]}_Elbow {0[0]}_Wrist {0[0]}_Hand""",
    "Unreal": """root thigh_{1} calf_{1} foot_{1} ball_{1} spine_01 spine_02 neck_01 head clavicle_{1} upperarm_{1}
        lowerarm_{1} hand_{1} index_01_{1}""",
}
LIMB = ["hip", "knee", "ankle", "toe", "collar", "shoulder", "elbow", "wrist"]


def names_of(style: str) -> list[str]:
    sides = (("Left", "l"), ("Right", "r"))
    both = [[w.format(*side) for side in sides] if "{" in w else [w] for w in STYLES[style].split()]
    return [name for names in both for name in names]


@pytest.mark.parametrize("style", STYLES)
def test_names_are_known(style: str) -> None:
    found = list(parts_of(names_of(style)))
    for side in ("left", "right"):
        assert [part for part, s, _ in found if s == side] == LIMB
    assert len({name for *_, name in found}) == len(found)
    assert {part for part, s, _ in found if not s} == {"spine", "neck"}
    assert not [name for *_, name in found if "ndex" in name or "HipJoint" in name]


def test_a_shoulder_alone_is_an_upper_arm_and_a_foot_alone_an_ankle() -> None:
    found = {(part, side): name for part, side, name in parts_of(["LeftShoulder", "LeftElbow", "LeftFoot", "RightHip"])}
    assert found == {
        ("shoulder", "left"): "LeftShoulder", ("elbow", "left"): "LeftElbow", ("ankle", "left"): "LeftFoot",
        ("hip", "right"): "RightHip",
    }  # fmt: skip


def person(arms: str = "out", up: int = 2) -> pz.Model:
    """A skeleton of BVH's kind that looks along x, its left at y, z up (or, with up=1, along z, its left at x)."""
    b = pz.ModelBuilder("person")
    turn = np.roll(np.eye(3), up - 2, axis=0)

    def bone(name: str, parent: str, *offset: float) -> None:
        kind = "floating" if parent == "world" else "spherical"
        b.joint(name, kind, parent=parent, child=name, origin=pz.SE3.from_parts(turn @ np.array(offset)))

    bone("Hips", "world", 0, 0, 0)
    bone("Spine", "Hips", 0, 0, 0.1)
    bone("Neck", "Spine", 0, 0, 0.5)
    b.frame("top", link="Neck", origin=pz.SE3.from_parts(turn @ [0.0, 0.0, 0.25]))
    for side, y in (("Left", 1.0), ("Right", -1.0)):
        bone(f"{side}UpLeg", "Hips", 0, 0.1 * y, -0.05)
        bone(f"{side}Leg", f"{side}UpLeg", 0, 0.02 * y, -0.4)
        bone(f"{side}Foot", f"{side}Leg", 0, 0, -0.4)
        bone(f"{side}Toe", f"{side}Foot", 0.15, 0, -0.05)
        out = np.array([0.0, y, 0.0] if arms == "out" else [0.0, 0.05 * y, -1.0])
        bone(f"{side}Arm", "Spine", 0, 0.18 * y, 0.45)
        bone(f"{side}ForeArm", f"{side}Arm", *(0.3 * out))
        bone(f"{side}Hand", f"{side}ForeArm", *(0.25 * out))
    return b.build()


# (joint of the left side, axis and degrees of a turn in the world, whether a person can); x forward, y left, z up.
MOVES = [
    ("UpLeg", "y", -100, True), ("UpLeg", "y", 40, False), ("UpLeg", "x", 40, True), ("UpLeg", "x", -35, False),
    ("UpLeg", "z", 40, True), ("Leg", "y", 130, True), ("Leg", "y", -20, False), ("Foot", "y", 40, True),
    ("Foot", "y", 60, False), ("Foot", "y", -50, False), ("Toe", "y", -60, True), ("Toe", "y", 60, False),
]  # fmt: skip
ARMS = {
    "out": [
        ("Arm", "z", -120, True), ("Arm", "z", 100, False), ("Arm", "x", 80, True), ("Arm", "x", 100, False),
        ("Arm", "x", -120, True), ("ForeArm", "z", -140, True), ("ForeArm", "z", 30, False), ("Hand", "x", -75, True),
        ("Hand", "x", 75, False), ("Hand", "z", -40, False),
    ],
    "down": [
        ("Arm", "y", -170, True), ("Arm", "y", 80, False), ("Arm", "x", 170, True), ("Arm", "x", -60, False),
        ("ForeArm", "y", -140, True), ("ForeArm", "y", 30, False), ("Hand", "x", -75, True), ("Hand", "y", -40, False),
    ],
}  # fmt: skip


@pytest.mark.parametrize("up", ["z", "y"])
@pytest.mark.parametrize("arms", ["out", "down"])
def test_joints_bend_as_a_person_does(arms: str, up: str) -> None:
    plain = person(arms, {"z": 2, "y": 1}[up])
    model = plain.with_limits(pz.human_limits(plain, up=up))
    turn = np.roll(np.eye(3), {"z": 2, "y": 1}[up] - 2, axis=0)
    for name, axis, degrees, can in MOVES + ARMS[arms]:
        for side, mirrored in (("Left", 1.0), ("Right", -1.0)):
            # A mirror across the plane of x and z turns the other way about x and z.
            angle = np.radians(degrees) * (1.0 if axis == "y" else mirrored)
            q = model.neutral.copy()
            at = model.index(f"{side}{name}")
            q[at] = Rotation.from_rotvec(angle * turn @ np.eye(3)["xyz".index(axis)]).as_quat()[[3, 0, 1, 2]]
            assert model.within_limits(q) is can, (side, name, axis, degrees)


def test_any_pose_that_stands_serves_and_others_are_refused() -> None:
    model = person()
    rng = np.random.default_rng(0)
    # The same person, whose joints have frames that stand anyhow at the pose given.
    b = pz.ModelBuilder("odd")
    frames = {"world": np.eye(3)} | {j.child: Rotation.random(random_state=rng).as_matrix() for j in model.joints}
    for joint in model.joints:
        mount = frames[joint.parent].T @ joint.origin.xyz
        b.joint(joint.name, joint.kind.value, parent=joint.parent, child=joint.child, origin=pz.SE3.from_parts(mount))
    b.frame("top", link="Neck", origin=pz.SE3.from_parts(frames["Neck"].T @ [0.0, 0.0, 0.25]))
    odd, q = b.build(), np.zeros(model.nq)
    for joint in odd.joints:
        local = Rotation.from_matrix(frames[joint.parent].T @ frames[joint.child])
        q[odd.index(joint.name).stop - 4 : odd.index(joint.name).stop] = local.as_quat()[[3, 0, 1, 2]]
    with refused("not-supported"):
        pz.human_limits(odd)
    limited, told = odd.with_limits(pz.human_limits(odd, q)), model.with_limits(pz.human_limits(model))
    assert limited.within_limits(q)
    for seed in range(200):
        turned = model.integrate(model.neutral, 0.5 * np.random.default_rng(seed).normal(size=model.nv))
        same = q.copy()
        for joint in odd.joints:
            if joint.kind is pz.JointKind.SPHERICAL:
                at = odd.index(joint.name)
                turn = Rotation.from_quat(np.roll(turned[at], -1)).as_matrix()
                local = frames[joint.parent].T @ turn @ frames[joint.child]
                same[at] = Rotation.from_matrix(local).as_quat()[[3, 0, 1, 2]]
        for one, other in zip(limited.ball_limits, told.ball_limits, strict=True):
            place = slice(one.place, one.place + 4)
            assert one.inside(same[place]) == other.inside(turned[place])
    with refused("no-such-part"):
        pz.human_limits(pz.load("panda"))


def test_a_person_reaches_and_squats_within_them() -> None:
    plain = person()
    model = plain.with_limits(pz.human_limits(plain))
    feet = [pz.PoseTask(f"{side}Foot", model.pose(f"{side}Foot", model.home)) for side in ("Left", "Right")]
    tracker = pz.Tracker(model, [*feet, pz.PositionTask("Neck"), pz.PositionTask("LeftHand")], "qp")
    q = model.home
    for k in range(120):
        low = pz.SE3.from_parts([0.1, 0.0, 0.55 - 0.004 * min(k, 80)]).xyz
        q = tracker.step(q, [None, None, low, [0.35, 0.2, 0.4]])
        assert model.within_limits(q)
    assert max(error.position for error in tracker.errors[:2]) < 1e-6
    assert tracker.errors[3].position < 1e-3


@pytest.mark.skipif(not ASSIMP.is_dir(), reason="needs Debian's assimp-testmodels")
@pytest.mark.parametrize(("name", "most"), [("01_01", 0.015), ("01_03", 0.2)])
def test_what_people_did_is_all_but_within_them(name: str, most: float) -> None:
    motion = pz.load_motion(ASSIMP / f"{name}.bvh")
    model = motion.model.with_limits(pz.human_limits(motion.model))
    balls = [joint.name for joint in model.joints if joint.ball is not None]
    assert len(balls) == 22
    outside = {
        joint: 1.0 - ball.inside(motion.q[:, ball.place : ball.place + 4]).mean()
        for joint, ball in zip(balls, model.ball_limits, strict=True)
    }
    assert max(outside.values()) <= most
    assert np.mean(list(outside.values())) <= 0.02
