"""Animals on robots with four legs, judged by Pinocchio's kinematics."""

from functools import cache
from importlib.metadata import distribution
from typing import Any, Literal

import numpy as np
import pinocchio as pin
import pytest
from bodies import robot
from dog import dog
from walker import walk

import poise as pz
from poise.common.array import Array
from poise_motion.anatomy.foot_geometry import lowest
from poise_motion.anatomy.four_legs import on_four

UNITREE = tuple(tuple(f"{leg}_{part}" for part in ("thigh", "calf", "foot")) for leg in ("FL", "FR", "RL", "RR"))
ANYBOTICS = tuple(tuple(f"{leg}_{part}" for part in ("THIGH", "SHANK", "FOOT")) for leg in ("LF", "RF", "LH", "RH"))
LEGS = {"go2": UNITREE, "a1": UNITREE, "anymal": ANYBOTICS}
FILES = {
    "go2": "go2_description/urdf/go2.urdf",
    "a1": "a1_description/urdf/a1.urdf",
    "anymal": "anymal_b_simple_description/robots/anymal.urdf",
}
FORWARD = "anymal"
"""The robot whose hind knees point forward."""


@cache
def carried(what: Literal["trot", "turn", "sit"], name: str) -> pz.results.Retargeted:
    return pz.retarget(dog(what, seconds=4.0 if what == "sit" else 2.0), robot(name))


@cache
def judge(name: str) -> Any:
    """The robot in Pinocchio."""
    robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    return pin.buildModelFromUrdf(f"{robots}/{FILES[name]}", pin.JointModelFreeFlyer())


def legs(done: pz.results.Retargeted, name: str) -> Array:
    """(legs, frames, 3, 3) where hip, knee and foot of each leg are, by Pinocchio."""
    made, model = judge(name), done.motion.model
    data = made.createData()
    frames = [[made.getFrameId(part) for part in leg] for leg in LEGS[name]]
    out = np.empty((4, len(done.motion), 3, 3))
    for i, row in enumerate(done.motion.q):
        q = pin.neutral(made)
        q[:7] = row[[0, 1, 2, 4, 5, 6, 3]]
        for joint in model.joints:
            if joint.nq == 1:
                q[made.joints[made.getJointId(joint.name)].idx_q] = row[model.index(joint.name)][0]
        pin.framesForwardKinematics(made, data, q)
        out[:, i] = [[data.oMf[frame].translation for frame in leg] for leg in frames]
    return out


def between(one: Array, other: Array) -> Array:
    """(...,) angles between ways (..., 3) [deg]."""
    cosine = (one * other).sum(axis=-1) / np.linalg.norm(one, axis=-1) / np.linalg.norm(other, axis=-1)
    return np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))


@pytest.mark.parametrize("name", LEGS)
@pytest.mark.parametrize("what", ["trot", "turn", "sit"])
def test_a_dog(what: Literal["trot", "turn", "sit"], name: str) -> None:
    """Its legs are held as the dog's, what stands stands, nothing is in the ground, and no joint is past its limit."""
    done = carried(what, name)
    report, places = done.report, legs(done, name)
    middle = "Leg" if name == FORWARD else "Foot"
    off = []
    for leg, joints in zip(
        places,
        [[f"{side}{part}" for part in ("Arm", "ForeArm", "HandSite")] for side in ("Left", "Right")]
        + [[f"{side}{part}" for part in ("UpLeg", middle, "FootSite")] for side in ("Left", "Right")],
        strict=True,
    ):
        body = done.source.positions(joints)
        off.append(between(leg[:, 1:] - leg[:, :-1], body[:, 1:] - body[:, :-1]))
    assert np.mean(off) < (30.0 if what == "sit" else 25.0)
    assert done.contacts.on.mean() > (0.3 if what == "trot" else 0.4)
    model = done.motion.model
    feet = [model.frame(done.body.robot[part]).link for part in done.contacts.parts]
    assert (np.abs(lowest(model, done.motion.q, links=feet))[done.contacts.on] < 0.02).mean() > 0.95
    assert lowest(done.motion.model, done.motion.q).min() > -0.01
    assert report.limits.broken == report.limits.too_fast == 0.0


@pytest.mark.parametrize("name", LEGS)
def test_the_trunk_follows_the_line_from_hips_to_shoulders(name: str) -> None:
    done = carried("turn", name)
    places = legs(done, name)
    trunk = places[:2, :, 0].mean(axis=0) - places[2:, :, 0].mean(axis=0)
    body = done.source.positions(["LeftArm", "RightArm", "LeftUpLeg", "RightUpLeg"])
    assert between(trunk, body[:, :2].mean(axis=1) - body[:, 2:].mean(axis=1)).mean() < 3.0


def test_knees_are_where_the_robots_can_be() -> None:
    """Unitree's point back, as hocks do; ANYmal's hind ones forward, as stifles do; it stands on paws."""
    motion = dog("trot", seconds=0.5)
    for name, knee in (("go2", "LeftFoot"), ("a1", "LeftFoot"), ("anymal", "LeftLeg")):
        source = pz.BodyMap.found(motion, robot(name)).source
        assert source["left_knee"] == knee
        assert source["left_elbow"] == "LeftForeArm"
        assert (source["left_ankle"], source["left_wrist"]) == ("LeftFootSite", "LeftHandSite")
        assert "left_toe" not in source


@pytest.mark.parametrize("what", ["trot", "turn", "sit"])
def test_joints_that_go_round_do_not(what: Literal["trot", "turn", "sit"]) -> None:
    """ANYmal's limits are one and a half turns either way."""
    done = carried(what, "anymal")
    joints = [joint.name for joint in done.motion.model.joints if joint.nq == 1]
    q = np.stack([done.motion.q[:, done.motion.model.index(name)][:, 0] for name in joints], axis=1)
    assert np.abs(q).max() < np.pi
    moves = np.diff(q, axis=0)
    back = (moves[1:] * moves[:-1] < 0.0) & (np.minimum(np.abs(moves[1:]), np.abs(moves[:-1])) > 0.02)
    assert not (back[1:] & back[:-1]).any()


def test_hind_knees_are_seldom_at_a_limit() -> None:
    for name in ("go2", "a1"):
        done = carried("trot", name)
        model = done.motion.model
        for joint in ("RL_calf_joint", "RR_calf_joint"):
            q = done.motion.q[:, model.index(joint)][:, 0]
            low, high = model.lower[model.index(joint)][0], model.upper[model.index(joint)][0]
            assert ((q < low + 1e-3) | (q > high - 1e-3)).mean() < 0.25


def test_who_walks_upright_is_no_animal() -> None:
    """A person's hands lead the legs in front, as they are."""
    motion = walk(seconds=0.5)
    body = pz.BodyMap.found(motion, robot("go2"))
    assert not on_four(motion, body.source)
    assert on_four(dog("sit"), pz.BodyMap.found(dog("sit"), robot("go2")).source)
    assert body.source["left_ankle"] == "LeftFoot"
    assert body.source["left_wrist"] == "LeftHand"
